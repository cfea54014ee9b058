package strategies

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Watchdog needs no guess of how long the work will take: a second thread keeps
// the lease alive for as long as the process lives.
//
//	acquire   SET key token PX ttl NX
//	          meanwhile a second thread, every ttl/3, EVALSHA (EVAL where the
//	          server lacks the script): if GET key == token then PEXPIRE key ttl
//	release   stop the second thread; EVALSHA (EVAL likewise):
//	          if GET key == token then DEL key
//
// Source: Redisson's RLock, without its re-entrancy.
//
// Renewal shows that the process lives, not that the work goes on: a
// worker that hangs, beside a thread that doesn't, keeps everybody out for ever.
// And if the lease is lost all the same, since the whole process was paused or
// Redis out of reach for too long, the second thread finds that out, and the
// worker isn't told.
type Watchdog struct {
	rdb *redis.Client
	key string
	opt Options
}

// compareAndExpire prolongs the key if it still holds the caller's token.
var compareAndExpire = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 0`)

// NewWatchdog locks key on one Redis server.
func NewWatchdog(rdb *redis.Client, key string, o Options) *Watchdog {
	return &Watchdog{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists,
// and has it prolonged until Release. The lease has no deadline: the caller
// counts on the lock until it releases it.
func (l *Watchdog) Acquire(ctx context.Context) (*Lease, error) {
	lease, err := retry(ctx, l.opt, l.try)
	if err != nil {
		return nil, err
	}
	alive, stop := context.WithCancel(context.WithoutCancel(ctx)) // the caller's patience was for Acquire
	lease.stop = stop
	l.opt.Go(func() { l.renew(alive, lease) })
	return lease, nil
}

func (l *Watchdog) try(ctx context.Context) (*Lease, error) {
	token := l.opt.Token()
	won, err := setPXNX(ctx, l.rdb, l.key, token, l.opt.TTL)
	if err != nil {
		return nil, err
	}
	if !won {
		return nil, ErrNotAcquired
	}
	return &Lease{Token: token}, nil
}

// renew goes on past errors, for which it has two more tries before the key
// expires, until it is stopped or finds the lock in other hands.
func (l *Watchdog) renew(alive context.Context, lease *Lease) {
	third := (l.opt.TTL / 3).Truncate(time.Millisecond) // Redisson counts in these
	for {
		if err := l.opt.Clock.Sleep(alive, third); err != nil || alive.Err() != nil {
			return
		}
		if err := l.Extend(alive, lease); errors.Is(err, ErrNotHeld) {
			return
		}
	}
}

// Extend prolongs the key if it still holds the lease's token. The second thread
// does nothing else; the caller need not.
func (l *Watchdog) Extend(ctx context.Context, lease *Lease) error {
	ttl := l.opt.TTL.Milliseconds()
	extended, err := compareAndExpire.Run(ctx, l.rdb, []string{l.key}, lease.Token, ttl).Int()
	if err != nil {
		return err
	}
	if extended == 0 {
		return ErrNotHeld
	}
	return nil
}

// Release stops the second thread, and deletes the key if it still holds the
// lease's token.
func (l *Watchdog) Release(ctx context.Context, lease *Lease) error {
	lease.stop() // first: a renewal after DEL would hit another's record
	deleted, err := compareAndDelete.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int()
	if err != nil {
		return err
	}
	if deleted == 0 {
		return ErrNotHeld
	}
	return nil
}
