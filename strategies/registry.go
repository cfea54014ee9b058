package strategies

import (
	"context"
	"embed"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

//go:embed *.go
var source embed.FS

// Strategy is an entry of the catalogue: a way to lock, and the facts needed
// to run it and to talk about it.
type Strategy struct {
	Name    string // as on the command line
	Summary string // one line: its commands, and its weakness
	Source  string // who published it
	File    string // the file of this package that implements it

	// Like names the lock of the catalogue that it fares like: a built-in scenario
	// states its verdict only where that, or the reason for it, differs. LikeBecause
	// says what the two have in common.
	Like, LikeBecause string
	// Instead has the commands that it sends in the place of that lock's, by the words for those:
	// a scenario's text on that lock is told of this one with these words.
	Instead map[string]string

	// Nodes is how many independent Redis servers it runs on by default.
	Nodes int
	// Timeout is the client's read timeout: how long a command waits for its
	// reply before it fails (go-redis's ReadTimeout).
	Timeout time.Duration
	// Retry is the policy of the source: one try where its code answers yes or no.
	Retry Retry

	// NoTTL: the record carries neither an expiry nor a stamp that anybody reads, so a lease
	// never ends by itself.
	NoTTL bool
	// Counter: the record's value counts attempts. A refused attempt changes it
	// in place, without thereby taking the record over.
	Counter bool
	// Need is how many of its nodes a holder must have, where that isn't a majority.
	Need func(nodes int) int

	// Resends is how often the client library itself sends a command again after a
	// network error (go-redis's MaxRetries); 0 is never.
	Resends int
	// Replicas is how many replicas of its server it needs.
	Replicas int
	// Fences: its leases carry fencing tokens, so it is meant for a resource that
	// checks them.
	Fences bool

	// Seeds: its tokens are the seed of random values of its own, which have nothing to do with
	// the texts of the tokens.
	Seeds bool

	// Scripts are the Lua scripts that it calls by their digest. A server that has
	// been in use for a while has them in its cache.
	Scripts []*redis.Script

	// Assumes is set of a lock that keeps something where a search can't see it, such as in
	// another process. It says what the search takes for granted of that.
	Assumes string
	// Patience is how long of real time its code may go on without a command or a look at the
	// clock, if that is more than usual; 0 is as usual. Package process has the usual time.
	Patience time.Duration

	// New makes a process's instance of the lock on key.
	New func(nodes []*redis.Client, key string, o Options) Lock
}

// Quorum is how many nodes a holder of this strategy's lock must have.
func (s Strategy) Quorum() int {
	if s.Need != nil {
		return s.Need(s.Nodes)
	}
	return s.Nodes/2 + 1
}

// Extends reports whether the strategy's leases can be prolonged by their holder. To find out it
// makes a lock: see [Strategy.Idle]. It says yes of a constructor that panics there: a caller
// that relies on it learns that no lease can be extended; after a no nobody would miss the extensions.
func (s Strategy) Extends() (can bool) {
	can = true
	defer func() { _ = recover() }()
	_, can = s.Idle().(Extender)
	return can
}

// Idle makes a lock in a world in which nothing happens: a constructor may draw a token, look at
// its clock, or add a hook to its Redis clients, which have no server and are closed. Its arguments
// are like those of a search, as a constructor may refuse an empty key or a short TTL.
func (s Strategy) Idle() Lock {
	nodes := make([]*redis.Client, s.Nodes)
	for i := range nodes {
		nodes[i] = redis.NewClient(&redis.Options{
			MaxRetries:               -1,
			Dialer:                   func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed },
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled, EndpointType: maintnotifications.EndpointTypeNone}, // or it asks the DNS
		})
		defer nodes[i].Close() //nolint:errcheck // it has no connection
	}
	return s.New(nodes, "lock", Options{TTL: 12 * time.Second, Retry: Retry{Tries: 1}, Clock: stopped{}, Token: func() string { return "token" },
		Random: func(time.Duration) time.Duration { return 0 }, Go: func(func()) {}})
}

// stopped is a clock that stands still.
type stopped struct{}

func (stopped) Now() time.Time                             { return time.Unix(0, 0) }
func (stopped) Monotonic() time.Duration                   { return 0 }
func (stopped) Sleep(context.Context, time.Duration) error { return nil }

// Code is the text of the file that implements the strategy.
func (s Strategy) Code() string {
	text, found := Text(s.File)
	if !found {
		panic("strategies: " + s.Name + " names a file that is not embedded: " + s.File)
	}
	return text
}

// Text is the source of a file of this package, as an event names it without the
// package: code that several strategies share is in none of their own files.
func Text(file string) (text string, found bool) {
	b, err := source.ReadFile(file)
	return string(b), err == nil
}

// Files lists the files of this package, without its tests.
func Files() (names []string) {
	entries, err := source.ReadDir(".")
	if err != nil {
		panic(err) // it is embedded
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "_test.go") {
			names = append(names, e.Name())
		}
	}
	return names
}

// byName is the catalogue to look things up in: every name in every scenario is.
var byName = sync.OnceValue(func() map[string]Strategy {
	all := map[string]Strategy{}
	for _, s := range All() {
		all[s.Name] = s
	}
	if err := checkLikes(All()); err != nil {
		panic("the catalogue is broken: " + err.Error()) // a test makes sure that this never ships
	}
	return all
})

// checkLikes refuses a lock that is like one that isn't there, or, by way of
// others, like itself.
func checkLikes(all []Strategy) error {
	like := map[string]string{}
	for _, s := range all {
		like[s.Name] = s.Like
	}
	for _, s := range all {
		chain := []string{s.Name}
		for at := s.Like; at != ""; at = like[at] {
			if _, known := like[at]; !known {
				return fmt.Errorf("%s is like %q, and there is no such lock", chain[len(chain)-1], at)
			}
			chain = append(chain, at)
			if at == s.Name {
				return fmt.Errorf("%s is in the end like itself: %s", s.Name, strings.Join(chain, ", like "))
			}
			if len(chain) > len(all) {
				break // a cycle that it leads into, which is reported of a lock in it
			}
		}
	}
	return nil
}

// Get finds a strategy by name.
func Get(name string) (Strategy, bool) {
	s, found := byName()[name]
	return s, found
}

// Nearest is the first lock that has something, of the named one, the one that it
// is like, and so on; or "" if none of them has it.
func Nearest(name string, has func(name string) bool) string {
	for name != "" && !has(name) {
		name = byName()[name].Like
	}
	return name
}

// Reworded is a text about a lock, given by its name, told of one that is like it: with the commands
// that this one sends in the place of those.
func Reworded(name, of, said string) string {
	if name == of || said == "" {
		return said
	}
	s := byName()[name]
	if said = Reworded(s.Like, of, said); len(s.Instead) == 0 {
		return said
	}
	var theirs []string
	for words := range s.Instead {
		theirs = append(theirs, regexp.QuoteMeta(words))
	}
	slices.Sort(theirs)
	slices.Reverse(theirs) // "SET with NX" before "SET"
	return regexp.MustCompile(`\b(?:`+strings.Join(theirs, "|")+`)\b`).ReplaceAllStringFunc(said, func(words string) string { return s.Instead[words] })
}

// single adapts a constructor of a one-server lock.
func single[L Lock](construct func(*redis.Client, string, Options) L) func([]*redis.Client, string, Options) Lock {
	return func(nodes []*redis.Client, key string, o Options) Lock { return construct(nodes[0], key, o) }
}

// nodes adapts a constructor of a lock on several servers.
func nodes[L Lock](construct func([]*redis.Client, string, Options) L) func([]*redis.Client, string, Options) Lock {
	return func(nodes []*redis.Client, key string, o Options) Lock { return construct(nodes, key, o) }
}
