package strategies

import (
	"embed"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed *.go
var source embed.FS

// Strategy is an entry of the catalogue: a way to lock, and what must be known
// to run it and to talk about it.
type Strategy struct {
	Name    string // as on the command line
	Summary string // one line: what it sends, and what it falls to
	Source  string // who published it
	File    string // the file of this package that implements it

	// Nodes is how many independent Redis servers it runs on by default.
	Nodes int
	// Timeout is the client's read timeout: how long a command waits for its
	// reply before it fails (go-redis's ReadTimeout).
	Timeout time.Duration
	// Retry is the policy of the source.
	Retry Retry

	// NoTTL: the record carries neither an expiry nor a stamp, so a lease never ends by itself.
	NoTTL bool
	// Counter: the record's value counts attempts. A refused attempt changes it
	// in place, without thereby taking the record over.
	Counter bool

	// New makes a process's instance of the lock on key.
	New func(nodes []*redis.Client, key string, o Options) Lock
}

// Quorum is how many nodes a holder of this strategy's lock must have.
func (s Strategy) Quorum() int { return s.Nodes/2 + 1 }

// Code is the text of the file that implements the strategy.
func (s Strategy) Code() string {
	text, err := source.ReadFile(s.File)
	if err != nil {
		panic("strategies: " + s.Name + " names a file that is not embedded: " + s.File)
	}
	return string(text)
}

// Get finds a strategy by name.
func Get(name string) (Strategy, bool) {
	for _, s := range All() {
		if s.Name == name {
			return s, true
		}
	}
	return Strategy{}, false
}

// single adapts a constructor of a one-server lock.
func single[L Lock](construct func(*redis.Client, string, Options) L) func([]*redis.Client, string, Options) Lock {
	return func(nodes []*redis.Client, key string, o Options) Lock { return construct(nodes[0], key, o) }
}

// goRedisTimeout is go-redis's default ReadTimeout.
const goRedisTimeout = 3 * time.Second

// pollForever is what the articles' blocking locks do: ask again every so often.
var pollForever = Retry{Delay: 200 * time.Millisecond}

// All lists the catalogue, from the oldest mistake to the best answer.
func All() []Strategy {
	return []Strategy{
		{
			Name:    "setnx",
			Summary: "SETNX, DEL: no expiry, so a dead holder blocks for ever",
			Source:  "Japanese article on GETSET locks, part 4",
			File:    "setnx.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			NoTTL: true,
			New:   single(NewSetNX),
		},
		{
			Name:    "setpx-lua",
			Summary: "SET NX PX with a unique token, compare-and-delete in Lua: right on one server",
			Source:  "Chinese and English articles, the correct lock; Redis documentation",
			File:    "setpx_lua.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			New: single(NewSetPXLua),
		},
	}
}
