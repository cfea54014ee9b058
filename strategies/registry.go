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

	// Scripts are the Lua scripts that it calls by their digest. A server that has
	// been in use for a while has them in its cache.
	Scripts []*redis.Script

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
			Name:    "setnx-expire",
			Summary: "SETNX, EXPIRE, DEL: whoever dies between the first two blocks for ever",
			Source:  "Chinese article, wrong lock 1; English article; Laravel until 2020",
			File:    "setnx_expire.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			New: single(NewSetNXExpire),
		},
		{
			Name:    "incr-expire",
			Summary: "INCR and EXPIRE in Lua, DEL: a count has no owner",
			Source:  "Chinese article, a reader's comment",
			File:    "incr_expire.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Counter: true,
			New:     single(NewIncrExpire), Scripts: []*redis.Script{incrExpire},
		},
		{
			Name:    "timestamp-del",
			Summary: "SETNX of a stamp; GET, DEL and SETNX once it has passed: two can take over",
			Source:  "Japanese article on GETSET locks, part 5, first half",
			File:    "timestamp_del.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			New: single(NewTimestampDel),
		},
		{
			Name:    "getset-equal",
			Summary: "SETNX of a stamp; GET and GETSET once it has passed: losers overwrite the winner's",
			Source:  "Chinese article, wrong lock 2",
			File:    "getset_equal.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			New: single(NewGetSetEqual),
		},
		{
			Name:    "getset-expired",
			Summary: "SETNX of a stamp; GET, GETSET, EXPIRE; TTL, DEL: losers overwrite, and wipe the expiry",
			Source:  "Japanese article on GETSET locks, the complete code",
			File:    "getset_expired.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			New: single(NewGetSetExpired),
		},
		{
			Name:    "naive-del",
			Summary: "SET NX PX with a unique token, DEL: releases anybody's lock",
			Source:  "Chinese article, wrong release 1",
			File:    "naive_del.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			New: single(NewNaiveDel),
		},
		{
			Name:    "get-then-del",
			Summary: "SET NX PX with a unique token, GET, DEL: the key can change hands between the two",
			Source:  "Chinese article, wrong release 2",
			File:    "get_then_del.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			New: single(NewGetThenDel),
		},
		{
			Name:    "fixed-value",
			Summary: "SET NX PX with one value for all, compare-and-delete in Lua: everyone owns it",
			Source:  "English article on RedLock-Hyperf, on the uniqueness of the value",
			File:    "fixed_value.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			New: single(NewFixedValue), Scripts: []*redis.Script{compareAndDelete},
		},
		{
			Name:    "setpx-lua",
			Summary: "SET NX PX with a unique token, compare-and-delete in Lua: right on one server",
			Source:  "Chinese and English articles, the correct lock; Redis documentation",
			File:    "setpx_lua.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			New: single(NewSetPXLua), Scripts: []*redis.Script{compareAndDelete},
		},
		{
			Name:    "redlock",
			Summary: "SET NX PX on five servers, a majority wins: right within its assumptions",
			Source:  "Redis documentation, the Redlock algorithm; redlock-rb; English article",
			File:    "redlock.go", Nodes: 5, Timeout: 50 * time.Millisecond,
			Retry:   Retry{Tries: 3, Jitter: 200 * time.Millisecond},
			Scripts: []*redis.Script{compareAndDelete},
			New: func(nodes []*redis.Client, key string, o Options) Lock {
				return NewRedlock(nodes, key, o)
			},
		},
		{
			Name:    "redlock-hyperf",
			Summary: "Redlock as shipped: wall clock, four of five, one node's error ends it without clean-up",
			Source:  "English article, its SDK: zonghay/redlock-hyperf, 2021",
			File:    "redlock_hyperf.go", Nodes: 5, Timeout: goRedisTimeout, // the library sets none of its own
			Retry: Retry{Tries: 2, Delay: 100 * time.Millisecond, Jitter: 100 * time.Millisecond},
			Need:  hyperfQuorum,
			New: func(nodes []*redis.Client, key string, o Options) Lock {
				return NewRedlockHyperf(nodes, key, o)
			},
		},
	}
}
