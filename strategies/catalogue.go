package strategies

import (
	"time"

	"github.com/redis/go-redis/v9"
)

// goRedisTimeout is go-redis's default ReadTimeout.
const goRedisTimeout = 3 * time.Second

var (
	// oneTry is the policy of code that tells its caller yes or no, and leaves it to
	// the caller whether to ask again.
	oneTry = Retry{Tries: 1}
	// loop asks again at once, for ever.
	loop = Retry{}
	// pollForever is for locks that wait in ways of their own, or that come from no
	// particular code: they ask again every so often.
	pollForever = Retry{Delay: 200 * time.Millisecond}
	// redisPyPoll is how redis-py's lock waits.
	redisPyPoll = Retry{Delay: 100 * time.Millisecond}
	// redlockPyRetry is without any jitter.
	redlockPyRetry = Retry{Tries: 3, Delay: 200 * time.Millisecond}
)

// All lists the catalogue in the order of teaching: from the oldest mistake to
// the best answer on one server, then the locks on several.
func All() []Strategy {
	return []Strategy{
		{
			Name:    "setnx",
			Summary: "SETNX, DEL: no expiry, so a dead holder blocks for ever",
			Source:  "Japanese article, part 4",
			File:    "setnx.go", Nodes: 1, Timeout: goRedisTimeout, Retry: oneTry,
			NoTTL: true,
			New:   single(NewSetNX),
		},
		{
			Name:    "setnx-expire",
			Summary: "SETNX, EXPIRE, DEL: a crash between the first two blocks for ever",
			Source:  "Chinese article, wrong lock 1; English article, acquire lock; laravel/framework 26645, before it",
			File:    "setnx_expire.go", Nodes: 1, Timeout: goRedisTimeout, Retry: oneTry,
			Like: "naive-del", LikeBecause: "a key with an expiry, deleted by a DEL that compares nothing; the expiry comes a command later",
			Instead: map[string]string{"SET with NX": "SETNX"},
			New:     single(NewSetNXExpire),
		},
		{
			Name:    "incr-expire",
			Summary: "INCR and EXPIRE in Lua, DEL: a count has no owner",
			Source:  "Chinese article, a reader's comment",
			File:    "incr_expire.go", Nodes: 1, Timeout: goRedisTimeout, Retry: oneTry,
			Like: "naive-del", LikeBecause: "a key with an expiry, deleted by a DEL that compares nothing",
			Counter: true,
			New:     single(NewIncrExpire), Scripts: []*redis.Script{incrExpire},
		},
		{
			Name:    "timestamp-del",
			Summary: "SETNX of a stamp; GET, DEL and SETNX once it has passed: two can take over",
			Source:  "Japanese article, part 5, first half",
			File:    "timestamp_del.go", Nodes: 1, Timeout: goRedisTimeout, Retry: loop,
			Like: "getset-equal", LikeBecause: "both read the holder's stamp by the clients' clocks; only the takeover differs",
			New: single(NewTimestampDel),
		},
		{
			Name:    "timestamp-overwritten",
			Summary: "timestamp-del as printed: GET overwrites the new stamp, so a takeover stores the expired one again",
			Source:  "Japanese article, part 5, its code",
			File:    "timestamp_overwritten.go", Nodes: 1, Timeout: goRedisTimeout, Retry: loop,
			Like: "timestamp-del", LikeBecause: "the same commands; only the value of a second SETNX differs",
			New: single(NewTimestampOverwritten),
		},
		{
			Name:    "getset-redisio",
			Summary: "SETNX of a stamp; GET and GETSET once it has passed; DEL if it has not: GETSET's flaws all the same",
			Source:  "Redis documentation, SETNX",
			File:    "getset_redisio.go", Nodes: 1, Timeout: goRedisTimeout,
			Like: "getset-equal", LikeBecause: "the same takeover; only the release looks at the stamp",
			Retry: Retry{Delay: time.Second}, // "sleep one second (for instance) and retry"
			New:   single(NewGetSetRedisIO),
		},
		{
			Name:    "getset-equal",
			Summary: "SETNX of a stamp; GET and GETSET once it has passed: losers overwrite the winner's",
			Source:  "Chinese article, wrong lock 2",
			File:    "getset_equal.go", Nodes: 1, Timeout: goRedisTimeout, Retry: oneTry,
			New: single(NewGetSetEqual),
		},
		{
			Name:    "getset-expired",
			Summary: "SETNX of a stamp; GET, GETSET, EXPIRE; TTL, DEL: losers overwrite, and wipe the expiry",
			Source:  "Japanese article, the complete code",
			File:    "getset_expired.go", Nodes: 1, Timeout: goRedisTimeout, Retry: Retry{Delay: 2 * time.Second},
			Like: "getset-equal", LikeBecause: "the same takeover; the key has an expiry besides",
			New: single(NewGetSetExpired),
		},
		{
			Name:    "naive-del",
			Summary: "SET NX PX with a unique token, DEL: releases anybody's lock",
			Source:  "Chinese article, wrong release 1",
			File:    "naive_del.go", Nodes: 1, Timeout: goRedisTimeout, Retry: oneTry,
			New: single(NewNaiveDel),
		},
		{
			Name:    "get-then-del",
			Summary: "SET NX PX with a unique token, GET, DEL: the key can change hands between the two",
			Source:  "Chinese article, wrong release 2",
			File:    "get_then_del.go", Nodes: 1, Timeout: goRedisTimeout, Retry: oneTry,
			Like: "setpx-lua", LikeBecause: "the same SET and the same comparison; only the deletion is a second command",
			New: single(NewGetThenDel),
		},
		{
			Name:    "setpx-watch-bare",
			Summary: "SET NX PX with a unique token; WATCH, GET, DEL: without MULTI nobody heeds the watch",
			Source:  "redis-py 1031, before it",
			File:    "setpx_watch_bare.go", Nodes: 1, Timeout: goRedisTimeout, Retry: redisPyPoll,
			Like: "get-then-del", LikeBecause: "a WATCH without MULTI has no effect",
			New: single(NewSetPXWatchBare),
		},
		{
			Name:    "fixed-value",
			Summary: "SET NX PX with one value for all, compare-and-delete in Lua: everyone owns it",
			Source:  "English article, on the uniqueness of the value",
			File:    "fixed_value.go", Nodes: 1, Timeout: goRedisTimeout, Retry: oneTry,
			Like: "naive-del", LikeBecause: "its comparison always succeeds, so its release is a DEL",
			New: single(NewFixedValue), Scripts: []*redis.Script{compareAndDelete},
		},
		{
			Name:    "pxat-client-clock",
			Summary: "SET NX PXAT by the client's clock: if that is slow, the key is dead before its time",
			Source:  "rueidislock, as it comes",
			File:    "pxat_client_clock.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Like: "setpx-lua", LikeBecause: "the same lock where the client's clock agrees with the server's",
			New: single(NewPXATClientClock), Scripts: []*redis.Script{lockUntil, compareAndDelete},
		},
		{
			Name:    "extend-unchecked",
			Summary: "setpx-lua, extended by GET and PEXPIRE: the key can change hands between the two",
			Source:  "hand-written locks; redisson 84",
			File:    "extend_unchecked.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Like: "setpx-lua", LikeBecause: "the same lock until it is extended",
			New: single(NewExtendUnchecked), Scripts: []*redis.Script{compareAndDelete},
		},
		{
			Name:    "extend-recreate",
			Summary: "setpx-lua, extended by PEXPIRE or else SET NX: a lease that was lost seems unbroken",
			Source:  "redsync 149, its WithSetNXOnExtend",
			File:    "extend_recreate.go", Nodes: 1, Timeout: goRedisTimeout,
			Like: "extend-unchecked", LikeBecause: "both are setpx-lua until they are extended",
			Retry: Retry{Tries: 32, Delay: 50 * time.Millisecond, Jitter: 200 * time.Millisecond},
			New:   single(NewExtendRecreate), Scripts: []*redis.Script{expireOrCreate, compareAndDelete},
		},
		{
			Name:    "reentrant",
			Summary: "a hash that counts its owner's entries: the owner is a thread, not an acquisition",
			Source:  "Redisson RLock, with a lease time",
			File:    "reentrant.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Like: "setpx-lua", LikeBecause: "an expiry and a compared owner, in a hash",
			New: single(NewReentrant), Scripts: []*redis.Script{countIn, countOut},
		},
		{
			Name:    "setpx-autoretry",
			Summary: "setpx-lua over a client that sends lost commands again: refused by its own key",
			Source:  "go-redis, its default of MaxRetries; go-redis 2985",
			File:    "setpx_autoretry.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Like: "setpx-lua", LikeBecause: "the same lock as long as nothing is lost",
			Resends: 3,
			New:     single(NewSetPXAutoRetry), Scripts: []*redis.Script{compareAndDelete},
		},
		{
			Name:    "setpx-get",
			Summary: "SET NX GET PX, sent again with the same token when no reply comes: recognises its own record",
			Source:  "Redis documentation, SET; go-redis 2985, its cure",
			File:    "setpx_get.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Like: "setpx-lua", LikeBecause: "the same lock as long as every reply arrives",
			New: single(NewSetPXGet), Scripts: []*redis.Script{compareAndDelete},
		},
		{
			Name:    "setpx-subscribe",
			Summary: "setpx-lua whose release publishes: waiters sleep until the message, or until the record has expired",
			Source:  "Redisson RLock",
			File:    "setpx_subscribe.go", Nodes: 1, Timeout: goRedisTimeout,
			Like: "setpx-lua", LikeBecause: "the same SET and the same comparison; only the wait between two attempts differs",
			New: single(NewSetPXSubscribe), Scripts: []*redis.Script{compareDeleteAndPublish},
		},
		{
			Name:    "setpx-watch",
			Summary: "SET NX PX with a unique token; WATCH, GET, MULTI, DEL, EXEC: right within its assumptions, without a script",
			Source:  "redis-py 1031, done right; Redis in Action",
			File:    "setpx_watch.go", Nodes: 1, Timeout: goRedisTimeout, Retry: redisPyPoll,
			Like: "setpx-lua", LikeBecause: "a transaction under WATCH compares and deletes at once, as the script does",
			New: single(NewSetPXWatch),
		},
		{
			Name:    "setpx-delex",
			Summary: "SET NX PX with a unique token, DELEX IFEQ: right within its assumptions, without a script",
			Source:  "Redis documentation, DELEX",
			File:    "setpx_delex.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Like: "setpx-lua", LikeBecause: "DELEX IFEQ compares and deletes at once, as the script does",
			New: single(NewSetPXDelEx),
		},
		{
			Name:    "setpx-lua",
			Summary: "SET NX PX with a unique token, compare-and-delete in Lua: right within its assumptions",
			Source:  "Chinese article, its lock; English article, its lock; Redis documentation, distributed locks",
			File:    "setpx_lua.go", Nodes: 1, Timeout: goRedisTimeout, Retry: oneTry,
			New: single(NewSetPXLua), Scripts: []*redis.Script{compareAndDelete},
		},
		{
			Name:    "watchdog",
			Summary: "setpx-lua, extended by a second thread until released: a worker that hangs blocks for ever",
			Source:  "Redisson RLock",
			File:    "watchdog.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Like: "setpx-lua", LikeBecause: "the same lock, and its record is renewed",
			New: single(NewWatchdog), Scripts: []*redis.Script{compareAndExpire, compareAndDelete},
		},
		{
			Name:    "setpx-wait",
			Summary: "SET NX PX, WAIT for one replica of two: lost if the other one is promoted",
			Source:  "Redis documentation, WAIT; redisson 5256",
			File:    "setpx_wait.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Like: "setpx-lua", LikeBecause: "the same lock, and it waits for a replica",
			Replicas: 2,
			New:      single(NewSetPXWait), Scripts: []*redis.Script{compareAndDelete},
		},
		{
			Name:    "fenced-late",
			Summary: "SET NX PX, then INCR for a fencing token: the stale lease can get the higher one",
			Source:  "a common mistake",
			File:    "fenced_late.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Like: "fenced", LikeBecause: "the same tokens, drawn a command later",
			Fences: true,
			New:    single(NewFencedLate), Scripts: []*redis.Script{compareAndDelete},
		},
		{
			Name:    "fenced",
			Summary: "SET NX PX and INCR in Lua: a fencing token with every lease, for the resource to check",
			Source:  "Kleppmann 2016",
			File:    "fenced.go", Nodes: 1, Timeout: goRedisTimeout, Retry: pollForever,
			Like: "setpx-lua", LikeBecause: "the same lock; the resource checks its tokens",
			Fences: true,
			New:    single(NewFenced), Scripts: []*redis.Script{lockAndCount, compareAndDelete},
		},
		{
			Name:    "redlock-no-elapsed",
			Summary: "Redlock that counts its lease from the last vote: over before the caller thinks",
			Source:  "hand-written Redlocks; node-redlock 5, in effect",
			File:    "redlock_no_elapsed.go", Nodes: 5, Timeout: 50 * time.Millisecond,
			Like: "redlock", LikeBecause: "the same votes, not timed",
			Retry:   Retry{Tries: 11, Delay: 100 * time.Millisecond, Jitter: 200 * time.Millisecond},
			Scripts: []*redis.Script{compareAndDelete},
			New:     nodes(NewRedlockNoElapsed),
		},
		{
			Name:    "redlock-wall-clock",
			Summary: "Redlock that measures on the wall clock: if it is set back, a lease that is over is granted",
			Source:  "redlock-py; node-redlock 5; redlock-php",
			File:    "redlock_wall_clock.go", Nodes: 5, Timeout: 50 * time.Millisecond, Retry: redlockPyRetry,
			Like: "redlock", LikeBecause: "the same votes, timed by another clock",
			Scripts: []*redis.Script{compareAndDelete},
			New:     nodes(NewRedlockWallClock),
		},
		{
			Name:    "redlock-strict-errors",
			Summary: "Redlock that fails if any node fails, and leaves its keys: one node down stops it",
			Source:  "redlock-py",
			File:    "redlock_strict_errors.go", Nodes: 5, Timeout: 50 * time.Millisecond, Retry: redlockPyRetry,
			Like: "redlock", LikeBecause: "the same votes while every node answers",
			Scripts: []*redis.Script{compareAndDelete},
			New:     nodes(NewRedlockStrictErrors),
		},
		{
			Name:    "redlock-hyperf",
			Summary: "Redlock as shipped: wall clock, four of five, one node's error ends it without clean-up",
			Source:  "English article, its SDK; redlock-hyperf",
			File:    "redlock_hyperf.go", Nodes: 5, Timeout: goRedisTimeout, // the library sets none of its own
			Like: "redlock-wall-clock", LikeBecause: "the same votes by the same clock while every node answers, but four are needed",
			Retry: Retry{Tries: 2, Delay: 100 * time.Millisecond, Jitter: 100 * time.Millisecond},
			Need:  hyperfQuorum,
			New: func(nodes []*redis.Client, key string, o Options) Lock {
				return NewRedlockHyperf(nodes, key, o)
			},
		},
		{
			Name:    "redlock",
			Summary: "SET NX PX on five servers, a majority wins: right within its assumptions",
			Source:  "Redis documentation, distributed locks; redlock-rb; English article, the algorithm",
			File:    "redlock.go", Nodes: 5, Timeout: 50 * time.Millisecond,
			Retry:   Retry{Tries: 3, Jitter: 200 * time.Millisecond},
			Scripts: []*redis.Script{compareAndDelete},
			New: func(nodes []*redis.Client, key string, o Options) Lock {
				return NewRedlock(nodes, key, o)
			},
		},
	}
}
