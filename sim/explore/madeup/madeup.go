// Package madeup has locks that are made up from steps, most of them wrong: tests compare a search's answers
// about them with those of others.
package madeup

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/strategies"
)

// A step is a script on the lock's key, on a mark beside it, and with the client's token and the TTL.
type step struct{ name, text string }

// acquires answer 1 if they store the record.
var acquires = []step{
	{"", `if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return 1 end return 0`},
	{"over", `redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1`},
	{"marks", `if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return 1 end redis.call("SET", KEYS[2], "1", "PX", ARGV[2]) return 0`},
	{"over-mark", `if redis.call("DEL", KEYS[2]) == 1 or redis.call("EXISTS", KEYS[1]) == 0 then redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1 end
redis.call("SET", KEYS[2], "1", "PX", ARGV[2]) return 0`},
	{"notes", `if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then redis.call("SET", KEYS[2], ARGV[1], "PX", ARGV[2]) return 1 end return 0`},
	{"inherits", `local v = redis.call("GET", KEYS[2]) if v and v ~= ARGV[1] and redis.call("EXISTS", KEYS[1]) == 0 then redis.call("SET", KEYS[1], v, "PX", ARGV[2]) return 0 end
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then redis.call("SET", KEYS[2], ARGV[1]) return 1 end return 0`},
	{restores, `if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return 1 end return 0`},
}

// restores is the step after which a client that was refused stores the holder's token again, if the record is
// gone by then: it knows the token of another.
const restores = "restores"

// releases answer 1 if they have found the client's record.
var releases = []step{
	{"", `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`},
	{"others", `local v = redis.call("GET", KEYS[1]) if v and v ~= ARGV[1] then redis.call("DEL", KEYS[1]) return 0 end return redis.call("DEL", KEYS[1])`},
	{"all", `return redis.call("DEL", KEYS[1])`},
	{"marked", `if redis.call("GET", KEYS[1]) == ARGV[1] or redis.call("DEL", KEYS[2]) == 1 then return redis.call("DEL", KEYS[1]) end return 0`},
	{"leaves-mark", `if redis.call("EXISTS", KEYS[2]) == 1 then redis.call("DEL", KEYS[1]) return 0 end
if redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("SET", KEYS[2], "1", "PX", ARGV[2]) return redis.call("DEL", KEYS[1]) end return 0`},
	{"noted", `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
if redis.call("GET", KEYS[1]) == redis.call("GET", KEYS[2]) then redis.call("DEL", KEYS[1]) end return 0`},
	{"notes", `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end redis.call("SET", KEYS[2], ARGV[1], "PX", ARGV[2]) return 0`},
	{"keeps", `if redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("PERSIST", KEYS[1]) end return 1`},
	{"again", `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
if redis.call("EXISTS", KEYS[1], KEYS[2]) == 1 then redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) end return 0`},
	{"unless", `if redis.call("EXISTS", KEYS[2]) == 0 and redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end return redis.call("DEL", KEYS[1])`},
}

// Number is the number of locks.
var Number = len(acquires) * len(releases)

// Lock returns the nth lock.
func Lock(n int, timeout time.Duration) strategies.Strategy {
	a, r := acquires[n%len(acquires)], releases[n/len(acquires)]
	acquire, release := redis.NewScript(a.text), redis.NewScript(r.text)
	s := strategies.Strategy{Name: "made-up:" + a.name + ":" + r.name, Nodes: 1, Timeout: timeout, Retry: strategies.Retry{Tries: 1},
		Scripts: []*redis.Script{acquire, release}}
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return &lock{nodes[0], key, o, acquire, release, a.name == restores}
	}
	return s
}

type lock struct {
	rdb              *redis.Client
	key              string
	opt              strategies.Options
	acquire, release *redis.Script
	restores         bool
}

func (l *lock) run(ctx context.Context, s *redis.Script, token string, otherwise error) error {
	n, err := s.Run(ctx, l.rdb, []string{l.key, l.key + ":mark"}, token, l.opt.TTL.Milliseconds()).Int()
	if err == nil && n == 0 {
		err = otherwise
	}
	return err
}

// Acquire runs the first script.
func (l *lock) Acquire(ctx context.Context) (*strategies.Lease, error) {
	token, sent := l.opt.Token(), l.opt.Clock.Monotonic()
	err := l.run(ctx, l.acquire, token, strategies.ErrNotAcquired)
	if l.restores && errors.Is(err, strategies.ErrNotAcquired) {
		if holder, failed := l.rdb.Get(ctx, l.key).Result(); failed == nil {
			return nil, errors.Join(err, l.rdb.SetNX(ctx, l.key, holder, l.opt.TTL).Err())
		}
	}
	if err != nil {
		return nil, err
	}
	return &strategies.Lease{Token: token, Deadline: sent + l.opt.TTL - l.opt.TTL/100}, nil
}

// Release runs the second.
func (l *lock) Release(ctx context.Context, lease *strategies.Lease) error {
	return l.run(ctx, l.release, lease.Token, strategies.ErrNotHeld)
}
