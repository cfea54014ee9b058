package outside

import (
	"go/types"
	"slices"
	"strings"
)

// What to do instead of each kind of thing.
const (
	aClock   = "no time passes on the machine's clock in a search: ask Options.Clock"
	aZone    = "a search has no time zone but the machine's: use UTC"
	aWait    = "no time passes on the machine's clock in a search, so it would come to no end, or at once: wait by Options.Clock.Sleep, in a thread by Options.Go"
	aDraw    = "a search can't try what else is drawn: use Options.Token and Options.Random"
	aChoice  = "if several are ready, one is drawn, and a search can't try the others: ask for one after another"
	anOrder  = "the order is drawn, and a search can't try the others: take a slice, or sort the keys"
	anIdent  = "all clients of a search are one process on one machine: use Options.Token"
	aSetting = "all clients of a search have the machine's: make it a field of the lock"
	aWorld   = "a search has nothing but Redis, and can't undo it or see what it returns"
	aServer  = "a search has no servers but those of the clients that the constructor is given: use these"
	aRuntime = "a search's process isn't the client's: leave it out"
	aGlobal  = "all clients of a search share it, and processes never do: keep it in a field of the lock"
	aForeign = "what it does isn't Go, and isn't followed"
	aRaw     = "what it leads to can't be followed: leave it out"
)

// wholly are those of Go's own library of which all functions count.
var wholly = map[string]string{
	"math/rand":       aDraw,
	"math/rand/v2":    aDraw,
	"crypto/rand":     aDraw,
	"hash/maphash":    aDraw,
	"os/exec":         aWorld,
	"os/signal":       aWorld,
	"os/user":         anIdent,
	"net/http":        aWorld,
	"net/rpc":         aWorld,
	"net/smtp":        aWorld,
	"database/sql":    aWorld,
	"log/syslog":      aWorld,
	"plugin":          aForeign,
	"runtime/metrics": aRuntime,
	"syscall":         aWorld,
	"weak":            aRuntime,
	"C":               aForeign,
}

// functions are single ones, by package; methods have their type before them.
var functions = map[string]map[string]string{
	"time": all("Now Since Until", aClock, "Sleep After AfterFunc Tick NewTimer NewTicker Timer.Reset Ticker.Reset", aWait,
		"Local Time.Local LoadLocation", aZone),
	"context": all("WithTimeout WithTimeoutCause WithDeadline WithDeadlineCause",
		"no time passes on the machine's clock in a search, so it would never come: leave it out, or ask Options.Clock for how long anything has taken"),
	"os": all("Getpid Getppid Hostname Getuid Geteuid Getgid Getegid Getgroups Executable Getwd", anIdent,
		"Args Getenv LookupEnv Environ ExpandEnv UserHomeDir UserCacheDir UserConfigDir TempDir", aSetting,
		"Open OpenFile OpenRoot OpenInRoot NewFile Create CreateTemp ReadFile WriteFile ReadDir Remove RemoveAll Rename Link Symlink Mkdir MkdirAll MkdirTemp "+
			"Stat Lstat Truncate Chmod Chown Lchown Chtimes Setenv Unsetenv Clearenv Pipe FindProcess StartProcess DirFS CopyFS Chdir Readlink Exit Stdin", aWorld),
	"runtime":       all("NumGoroutine NumCPU NumCgoCall GOMAXPROCS GC ReadMemStats SetFinalizer AddCleanup Stack Version GOROOT", aRuntime),
	"runtime/debug": all("FreeOSMemory ReadGCStats ReadBuildInfo SetGCPercent SetMaxStack SetMaxThreads SetMemoryLimit Stack", aRuntime),
	"reflect": all("Value.Call Value.CallSlice Value.Method Value.MethodByName Method MakeFunc NewAt Value.UnsafePointer Value.UnsafeAddr Type.Method Type.MethodByName "+
		"Select", aRaw),
	"path/filepath": all("Glob Walk WalkDir EvalSymlinks Abs", aWorld),
	"crypto/tls":    all("Dial DialWithDialer Listen Dialer.Dial Dialer.DialContext LoadX509KeyPair", aWorld),
	"log":           all("Prefix Flags Writer", aGlobal),
	"mime":          all("AddExtensionType TypeByExtension ExtensionsByType", aGlobal),
	"runtime/pprof": all("Lookup NewProfile Profiles Profile.Count Profile.Add Profile.Remove", aRuntime),
	"encoding/gob":  all("Register RegisterName", aGlobal),
	"expvar":        all("Get Do Int.Value Int.String Float.Value Float.String String.Value String.String Map.Get Map.Do Map.String", aGlobal),
	"flag":          all("Arg Args NArg NFlag Lookup Set Parse Parsed Visit VisitAll CommandLine", aSetting),
	simulator:       all("NewSystemClock SystemClock.Now SystemClock.Monotonic SystemClock.Sleep", aClock, "RandomToken", aDraw, "Goroutine", "virtual time doesn't reach it: start threads by Options.Go"),
	"net": all("Dial DialTimeout DialIP DialTCP DialUDP DialUnix Dialer.Dial Dialer.DialContext Listen ListenIP ListenTCP ListenUDP ListenUnix ListenPacket ListenConfig.Listen "+
		"LookupHost LookupIP LookupAddr LookupCNAME LookupTXT LookupSRV LookupMX LookupNS LookupPort Resolver.LookupHost Resolver.LookupIP Resolver.LookupIPAddr "+
		"ResolveTCPAddr ResolveUDPAddr ResolveIPAddr Interfaces InterfaceAddrs InterfaceByName InterfaceByIndex FileConn DefaultResolver", aWorld),
	goRedis: all("NewClient NewClusterClient NewFailoverClient NewFailoverClusterClient NewUniversalClient NewRing NewSentinelClient", aServer),
}

const (
	// simulator is the package of the interface that locks have here.
	simulator = "lockstep/strategies"
	goRedis   = "github.com/redis/go-redis/v9"
)

// all makes a part of the table, from pairs of names and the reason against them.
func all(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		for _, name := range strings.Fields(pairs[i]) {
			m[name] = pairs[i+1]
		}
	}
	return m
}

// forbidden returns the reason against a function or variable of Go's own library, or "".
func forbidden(path, name string) string {
	if why := wholly[path]; why != "" {
		return why
	}
	return functions[path][name]
}

// readers are packages whose functions change no argument in a way that anybody notices, or
// change a value that isn't the lock's: where a log goes, or a test.
var readers = words("errors regexp regexp/syntax log log/slog context text/template html/template encoding/base64 encoding/hex encoding/base32 " +
	"encoding/binary strconv unicode unicode/utf8 testing time fmt net/netip net/url path cmp unique hash/crc32 hash/crc64 go/token embed crypto/tls crypto/x509")

// reading reports whether a function leaves its receiver and arguments unchanged.
func reading(pkg, name string) bool {
	switch pkg {
	case "":
		return true // a method of the language's own error
	case "net/url": // whose Values are a map
		return name != "Set" && name != "Add" && name != "Del" && name != "UnmarshalBinary"
	case "log":
		return !strings.HasPrefix(name, "Set")
	case "regexp":
		return name != "Longest" && name != "UnmarshalText"
	case "text/template", "html/template":
		return strings.HasPrefix(name, "Execute") || name == "Must" || name == "Name" || name == "DefinedTemplates"
	case "fmt":
		return !strings.Contains(name, "can") // Scan, Sscanf
	case "strings", "bytes":
		return !strings.HasPrefix(name, "Write") && !strings.HasPrefix(name, "Read") && !strings.HasPrefix(name, "Reset") && name != "Grow" && name != "Next" && name != "Truncate" &&
			name != "Seek" && !strings.HasPrefix(name, "Unread")
	case "encoding/json", "encoding/xml", "encoding/gob":
		return strings.HasPrefix(name, "Marshal")
	case "encoding/binary", "encoding/base32", "encoding/base64", "encoding/hex":
		return !strings.HasPrefix(name, "Put") && name != "Read" && name != "Encode" && name != "Decode"
	case "net/netip", "time":
		return !strings.HasPrefix(name, "Unmarshal") && name != "GobDecode"
	case "slices":
		return !strings.HasPrefix(name, "Sort") && name != "Reverse" && name != "Delete" && name != "Insert" && name != "Replace" && !strings.HasPrefix(name, "Compact") && name != "DeleteFunc"
	case "maps":
		return name != "Copy" && name != "DeleteFunc" && name != "Insert"
	case "reflect":
		return !strings.Contains(name, "Set") && !slices.Contains([]string{"Copy", "Clear", "Send", "TrySend", "Recv", "TryRecv", "Next", "Reset"}, name)
	}
	if pkg == goRedis {
		return name != "AddHook" && name != "RegisterPushNotificationHandler"
	}
	return readers[pkg] || ours(pkg)
}

// fills returns which of its arguments a function changes that only reads the others, counted with its receiver, and
// whether that is a writer.
func fills(pkg, name string) (arg int, writer, is bool) {
	switch pkg {
	case "errors":
		return 1, false, name == "As"
	case "unicode/utf8":
		return 0, false, name == "EncodeRune"
	case "fmt":
		return 0, true, strings.HasPrefix(name, "Fprint")
	case "encoding/binary":
		return 0, true, name == "Write"
	case "text/template", "html/template":
		return 1, true, strings.HasPrefix(name, "Execute")
	}
	return 0, false, false
}

// remembers reports whether a writer of Go's own keeps the bytes written, to be read from it. Others go to logs and
// connections; those of the lock's own are called.
func remembers(t types.Type) bool {
	if p, is := t.(*types.Pointer); is {
		t = p.Elem()
	}
	named, is := t.(*types.Named)
	if !is || named.Obj().Pkg() == nil {
		return false
	}
	switch path := named.Obj().Pkg().Path(); path {
	case "bytes", "strings", "bufio", "hash":
		return true
	default:
		return strings.HasPrefix(path, "hash/")
	}
}

func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// ours reports whether a package is go-redis's or the simulator's, whose code isn't read. External tests of
// the simulator's own have locks in them.
func ours(path string) bool {
	return !strings.HasSuffix(path, external) && (strings.HasPrefix(path, "github.com/redis/go-redis/") || path == "lockstep/sim" ||
		strings.HasPrefix(path, "lockstep/sim/") && !strings.Contains(path, "/testdata/") || path == simulator)
}
