package strategies

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// nodes adapts a constructor of a lock on several servers.
func nodes[L Lock](construct func([]*redis.Client, string, Options) L) func([]*redis.Client, string, Options) Lock {
	return func(nodes []*redis.Client, key string, o Options) Lock { return construct(nodes, key, o) }
}

// more lists what goes beyond the articles: what libraries do, and what people
// do to get round the flaws of the locks in All.
func more() []Strategy {
	return []Strategy{
		{
			Name:    "getset-redisio",
			Summary: "SETNX of a stamp; GET and GETSET once it has passed; DEL if it has not: GETSET's flaws all the same",
			Source:  "Redis documentation, the old page of SETNX",
			File:    "getset_redisio.go", Nodes: 1, Timeout: goRedisTimeout,
			Retry: Retry{Delay: time.Second}, // "sleep one second (for instance) and retry"
			New:   single(NewGetSetRedisIO),
		},
		{
			Name:    "setpx-delex",
			Summary: "SET NX PX with a unique token, DELEX IFEQ: right on one server, without a script",
			Source:  "Redis 8.4 documentation, DELEX",
			File:    "setpx_delex.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			New: single(NewSetPXDelEx),
		},
		{
			Name:    "setpx-watch",
			Summary: "SET NX PX with a unique token; WATCH, GET, MULTI, DEL, EXEC: right on one server, without a script",
			Source:  "redis-py before 3.0, done right; Redis in Action",
			File:    "setpx_watch.go", Nodes: 1, Timeout: goRedisTimeout, Retry: redisPyPoll,
			New: single(NewSetPXWatch),
		},
		{
			Name:    "setpx-watch-bare",
			Summary: "SET NX PX with a unique token; WATCH, GET, DEL: without MULTI nobody heeds the watch",
			Source:  "redis-py before 3.0, pull request 1031",
			File:    "setpx_watch_bare.go", Nodes: 1, Timeout: goRedisTimeout, Retry: redisPyPoll,
			New: single(NewSetPXWatchBare),
		},
		{
			Name:    "setpx-autoretry",
			Summary: "setpx-lua over a client that sends lost commands again: refused by its own key",
			Source:  "go-redis's default of MaxRetries; its issue 2985",
			File:    "setpx_autoretry.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Resends: 3,
			New:     single(NewSetPXAutoRetry), Scripts: []*redis.Script{compareAndDelete},
		},
		{
			Name:    "setpx-wait",
			Summary: "SET NX PX, WAIT for one replica of two: lost if the other one is promoted",
			Source:  "Redis documentation, WAIT; Redisson 5256",
			File:    "setpx_wait.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Replicas: 2,
			New:      single(NewSetPXWait), Scripts: []*redis.Script{compareAndDelete},
		},
		{
			Name:    "pxat-client-clock",
			Summary: "SET NX PXAT by the client's clock: if that is slow, the key is dead before its time",
			Source:  "rueidislock's default",
			File:    "pxat_client_clock.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			New: single(NewPXATClientClock), Scripts: []*redis.Script{lockUntil, compareAndDelete},
		},
		{
			Name:    "reentrant",
			Summary: "a hash that counts its owner's entries: the owner is a thread, not an acquisition",
			Source:  "Redisson's RLock with a lease time",
			File:    "reentrant.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			New: single(NewReentrant), Scripts: []*redis.Script{countIn, countOut},
		},
		{
			Name:    "extend-unchecked",
			Summary: "setpx-lua, extended by GET and PEXPIRE: the key can change hands between the two",
			Source:  "hand-written locks; redisson 84",
			File:    "extend_unchecked.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			New: single(NewExtendUnchecked), Scripts: []*redis.Script{compareAndDelete},
		},
		{
			Name:    "extend-recreate",
			Summary: "setpx-lua, extended by PEXPIRE or else SET NX: a lease that was lost seems unbroken",
			Source:  "redsync's WithSetNXOnExtend",
			File:    "extend_recreate.go", Nodes: 1, Timeout: goRedisTimeout,
			Retry: Retry{Tries: 32, Delay: 50 * time.Millisecond, Jitter: 200 * time.Millisecond},
			New:   single(NewExtendRecreate), Scripts: []*redis.Script{expireOrCreate, compareAndDelete},
		},
		{
			Name:    "watchdog",
			Summary: "setpx-lua, extended by a second thread until released: a worker that hangs blocks for ever",
			Source:  "Redisson's RLock",
			File:    "watchdog.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			New: single(NewWatchdog), Scripts: []*redis.Script{compareAndExpire, compareAndDelete},
		},
		{
			Name:    "fenced-late",
			Summary: "SET NX PX, then INCR for a fencing token: the stale lease can get the higher one",
			Source:  "a common mistake",
			File:    "fenced_late.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Fences: true,
			New:    single(NewFencedLate), Scripts: []*redis.Script{compareAndDelete},
		},
		{
			Name:    "fenced",
			Summary: "SET NX PX and INCR in Lua: a fencing token with every lease, for the resource to check",
			Source:  "Martin Kleppmann, How to do distributed locking, 2016",
			File:    "fenced.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Fences: true,
			New:    single(NewFenced), Scripts: []*redis.Script{lockAndCount, compareAndDelete},
		},
		{
			Name:    "redlock-no-elapsed",
			Summary: "Redlock that counts its lease from the last vote: over before the caller thinks",
			Source:  "hand-written Redlocks; in effect node-redlock",
			File:    "redlock_no_elapsed.go", Nodes: 5, Timeout: 50 * time.Millisecond,
			Retry:   Retry{Tries: 11, Delay: 100 * time.Millisecond, Jitter: 200 * time.Millisecond},
			Scripts: []*redis.Script{compareAndDelete},
			New:     nodes(NewRedlockNoElapsed),
		},
		{
			Name:    "redlock-wall-clock",
			Summary: "Redlock that measures on the wall clock: if it is set back, a lease that is over is granted",
			Source:  "redlock-py, node-redlock, redlock-php",
			File:    "redlock_wall_clock.go", Nodes: 5, Timeout: 50 * time.Millisecond, Retry: redlockPyRetry,
			Scripts: []*redis.Script{compareAndDelete},
			New:     nodes(NewRedlockWallClock),
		},
		{
			Name:    "redlock-strict-errors",
			Summary: "Redlock that fails if any node fails, and leaves its keys: one node down stops it",
			Source:  "redlock-py",
			File:    "redlock_strict_errors.go", Nodes: 5, Timeout: 50 * time.Millisecond, Retry: redlockPyRetry,
			Scripts: []*redis.Script{compareAndDelete},
			New:     nodes(NewRedlockStrictErrors),
		},
	}
}

var (
	// redisPyPoll is how redis-py's lock waits.
	redisPyPoll = Retry{Delay: 100 * time.Millisecond}
	// redlockPyRetry is without any jitter.
	redlockPyRetry = Retry{Tries: 3, Delay: 200 * time.Millisecond}
)
