package fuzz

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/strategies"
)

// lock is a lock of the collection. It is made of three functions, each of which is right
// unless it is set.
type lock struct {
	rdb   *redis.Client
	nodes []*redis.Client
	key   string
	strategies.Options

	acquire func(context.Context, *lock) (*strategies.Lease, error)
	release func(context.Context, *lock, *strategies.Lease) error
	extend  func(context.Context, *lock, *strategies.Lease) error

	// What some locks remember from one cycle to the next.
	cached  *strategies.Lease
	until   time.Duration
	count   int64
	pending bool
	atomic  atomic.Pointer[strategies.Lease]
	table   sync.Map
	channel chan *strategies.Lease
	closed  chan struct{}
	reply   *redis.BoolCmd
}

// steps is what a lock of the collection does; nil is right.
type steps struct {
	acquire func(context.Context, *lock) (*strategies.Lease, error)
	release func(context.Context, *lock, *strategies.Lease) error
	extend  func(context.Context, *lock, *strategies.Lease) error
}

func (l *lock) Acquire(ctx context.Context) (*strategies.Lease, error) {
	for n := 1; ; n++ {
		lease, err := l.acquire(ctx, l)
		if err != strategies.ErrNotAcquired || n == l.Retry.Tries { //nolint:errorlint // it is never wrapped here
			return lease, err
		}
		if err := l.Clock.Sleep(ctx, l.Retry.Delay); err != nil {
			return nil, err
		}
	}
}

func (l *lock) Release(ctx context.Context, lease *strategies.Lease) error {
	return l.release(ctx, l, lease)
}

// prolonged is a lock that can extend.
type prolonged struct{ *lock }

func (p prolonged) Extend(ctx context.Context, lease *strategies.Lease) error {
	return p.extend(ctx, p.lock, lease)
}

var (
	compareDelete = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)
	compareExpire = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`)
	compareSwap   = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("SET", KEYS[1], ARGV[2]) return 1 end return 0`)
)

// custom makes a lock of the collection.
func custom(name, why string, s steps, adapt ...func(*subject)) *subject {
	h := &subject{name: name, why: why, strategy: strategies.Strategy{Name: name, Nodes: 1, Timeout: 3 * time.Second, Retry: strategies.Retry{Tries: 1, Delay: 200 * time.Millisecond}}}
	h.strategy.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		l := &lock{closed: make(chan struct{}), rdb: nodes[0], nodes: nodes, key: key, Options: o, acquire: s.acquire, release: s.release, extend: s.extend}
		if l.acquire == nil {
			l.acquire = take
		}
		if l.release == nil {
			l.release = give
		}
		if l.extend != nil {
			return prolonged{l}
		}
		return l
	}
	for _, change := range adapt {
		change(h)
	}
	return h
}

func fences(s *subject)    { s.strategy.Fences = true }
func forever(s *subject)   { s.strategy.NoTTL = true }
func extending(s *subject) { s.extends = true }
func drawing(s *subject)   { s.draws = true }
func twice(s *subject)     { s.tries = 2 }

// grace is what a lease ends earlier than its record.
func (l *lock) grace() time.Duration { return l.TTL/100 + 2*time.Millisecond }

// lease returns a lease that counts from a reading of the clock.
func (l *lock) lease(token string, from time.Duration) *strategies.Lease {
	return &strategies.Lease{Token: token, Deadline: from + l.TTL - l.grace()}
}

// set stores the record unless there is one, under a name.
func (l *lock) set(ctx context.Context, key, token string) error {
	return l.setFor(ctx, key, token, l.TTL)
}

// setFor is set for a record of another life.
func (l *lock) setFor(ctx context.Context, key, token string, life time.Duration) error {
	won, err := l.rdb.SetNX(ctx, key, token, life).Result()
	if err == nil && !won {
		err = strategies.ErrNotAcquired
	}
	return err
}

// take, give and prolong are right.
func take(ctx context.Context, l *lock) (*strategies.Lease, error) {
	token, sent := l.Token(), l.Clock.Monotonic()
	if err := l.set(ctx, l.key, token); err != nil {
		return nil, err
	}
	return l.lease(token, sent), nil
}

func give(ctx context.Context, l *lock, lease *strategies.Lease) error {
	return held(compareDelete.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int())
}

func prolong(ctx context.Context, l *lock, lease *strategies.Lease) error {
	sent := l.Clock.Monotonic()
	if err := held(compareExpire.Run(ctx, l.rdb, []string{l.key}, lease.Token, l.TTL.Milliseconds()).Int()); err != nil {
		return err
	}
	lease.Deadline = sent + l.TTL - l.grace()
	return nil
}

func held(n int, err error) error {
	if err == nil && n == 0 {
		err = strategies.ErrNotHeld
	}
	return err
}

// seize stores the record whether or not there is one.
func seize(ctx context.Context, l *lock) (*strategies.Lease, error) {
	token, sent := l.Token(), l.Clock.Monotonic()
	if err := l.rdb.Set(ctx, l.key, token, l.TTL).Err(); err != nil {
		return nil, err
	}
	return l.lease(token, sent), nil
}

// del deletes the record, whoever's it is.
func del(ctx context.Context, l *lock, _ *strategies.Lease) error {
	return l.rdb.Del(ctx, l.key).Err()
}

func refused(err error) bool { return err == strategies.ErrNotAcquired } //nolint:errorlint // it is never wrapped here
