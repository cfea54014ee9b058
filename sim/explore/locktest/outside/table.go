package outside

import "strings"

// What to do instead of each kind of thing.
const (
	aClock   = "no time passes on the machine's clock in a search: ask Options.Clock"
	aWait    = "no time passes on the machine's clock in a search, so it would come to no end, or at once: wait by Options.Clock.Sleep, in a thread by Options.Go"
	aDraw    = "a search can't try what else is drawn: use Options.Token and Options.Random"
	anIdent  = "all clients of a search are one process on one machine: use Options.Token"
	aWorld   = "a search has nothing but Redis, and can't undo it or see what it returns"
	aGlobal  = "all clients of a search share it, and processes never do: keep it in a field of the lock"
	aForeign = "what it does isn't Go, and isn't followed"
)

// packages are those of Go's own library of which all functions count.
var packages = map[string]string{
	"math/rand":    aDraw,
	"math/rand/v2": aDraw,
	"crypto/rand":  aDraw,
	"hash/maphash": aDraw,
	"os/exec":      aWorld,
	"os/user":      anIdent,
	"net/http":     aWorld,
	"net/rpc":      aWorld,
	"database/sql": aWorld,
	"log/syslog":   aWorld,
	"plugin":       aForeign,
	"syscall":      aWorld,
	"C":            aForeign,
}

// functions are single ones, by package.
var functions = map[string]map[string]string{
	"time": all("Now Since Until", aClock, "Sleep After AfterFunc Tick NewTimer NewTicker", aWait),
	"context": all("WithTimeout WithTimeoutCause WithDeadline WithDeadlineCause",
		"no time passes on the machine's clock in a search, so it would never come: leave it out, or ask Options.Clock for how long anything has taken"),
	"os": all("Getpid Getppid Hostname Getuid Geteuid Getgid Getegid", anIdent,
		"Open OpenFile OpenRoot Create CreateTemp ReadFile WriteFile ReadDir Remove RemoveAll Rename Link Symlink Mkdir MkdirAll MkdirTemp "+
			"Stat Lstat Truncate Chtimes Setenv Unsetenv Clearenv Pipe FindProcess StartProcess DirFS CopyFS Chdir Readlink", aWorld),
	simulator: all("NewSystemClock", aClock, "RandomToken", aDraw, "Goroutine", "virtual time doesn't reach it: start threads by Options.Go"),
	"net": all("Dial DialTimeout DialIP DialTCP DialUDP DialUnix Listen ListenIP ListenTCP ListenUDP ListenUnix ListenPacket "+
		"LookupHost LookupIP LookupAddr LookupCNAME LookupTXT LookupSRV Interfaces InterfaceAddrs InterfaceByName", aWorld),
}

// simulator is the package of the interface that locks have here.
const simulator = "lockstep/strategies"

// all makes a part of the table, from pairs of names and what to say of them.
func all(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		for _, name := range strings.Fields(pairs[i]) {
			m[name] = pairs[i+1]
		}
	}
	return m
}

// forbidden returns what is to be said of a function of Go's own library, or "".
func forbidden(path, name string) string {
	if why := packages[path]; why != "" {
		return why
	}
	return functions[path][name]
}

// ours reports whether a package is go-redis's or the simulator's, whose code isn't read. Tests of
// the simulator's own have locks in them, and the catalogue is the simulator's.
func ours(path string) bool {
	return strings.HasPrefix(path, "github.com/redis/go-redis/") || path == "lockstep/sim" ||
		strings.HasPrefix(path, "lockstep/sim/") && !strings.Contains(path, "/testdata/") || path == simulator
}
