package strategies

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// Reentrant lets its owner in again, and counts how often.
//
//	acquire   EVALSHA (EVAL where the server lacks the script): if there is no key,
//	          or one with the owner's field: HINCRBY key owner 1, PEXPIRE key ttl
//	extend    as acquire
//	release   EVALSHA (EVAL likewise), once for each time: if the key has the
//	          owner's field: HINCRBY key owner -1; at 0 DEL key, otherwise PEXPIRE
//
// Source: Redisson's RLock with a lease time, its hash and its scripts, without
// its notifications.
//
// The owner is a thread of a process, not an acquisition, and so nothing tells
// two leases of one owner apart. A release that comes after its lease is over
// takes away from the next one. An owner that enters again after having lost the
// lock in between is let in as if it had never been out. And an entry whose reply was
// lost counts: its owner enters once more, leaves as often as it knows of, and
// keeps everybody out until the key expires.
type Reentrant struct {
	rdb   *redis.Client
	key   string
	opt   Options
	owner string
}

// countIn counts its owner in, unless another has the lock, and returns how often
// it is inside now; 0 is refused. Redisson's returns the rest of the TTL
// instead, to wait for.
var countIn = redis.NewScript(`
if redis.call("EXISTS", KEYS[1]) == 1 and redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then
  return 0
end
local count = redis.call("HINCRBY", KEYS[1], ARGV[1], 1)
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return count`)

// countOut counts its owner out once, and returns how often it is still inside; -1
// if it wasn't.
var countOut = redis.NewScript(`
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then
  return -1
end
local count = redis.call("HINCRBY", KEYS[1], ARGV[1], -1)
if count > 0 then
  redis.call("PEXPIRE", KEYS[1], ARGV[2])
else
  redis.call("DEL", KEYS[1])
end
return count`)

// NewReentrant locks key on one Redis server for one thread of the process:
// another thread needs another one.
func NewReentrant(rdb *redis.Client, key string, o Options) *Reentrant {
	return &Reentrant{rdb: rdb, key: key, opt: o, owner: o.Token()}
}

// Acquire enters, for the first time or once more, unless another is inside.
func (l *Reentrant) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *Reentrant) try(ctx context.Context) (*Lease, error) {
	lease := &Lease{Token: l.owner}
	if err := l.enter(ctx, lease); err != nil {
		return nil, err
	}
	return lease, nil
}

// Extend enters once more, which prolongs the lease.
func (l *Reentrant) Extend(ctx context.Context, lease *Lease) error {
	if err := l.enter(ctx, lease); !errors.Is(err, ErrNotAcquired) {
		return err
	}
	return ErrNotHeld
}

func (l *Reentrant) enter(ctx context.Context, lease *Lease) error {
	sent := l.opt.Clock.Monotonic() // before the command: Redis starts counting later, never earlier
	count, err := countIn.Run(ctx, l.rdb, []string{l.key}, l.owner, l.opt.TTL.Milliseconds()).Int()
	if err != nil {
		return err
	}
	if count == 0 {
		return ErrNotAcquired
	}
	lease.Deadline = sent + l.opt.TTL - drift(l.opt.TTL)
	lease.holds++
	return nil
}

// Release leaves as often as the lease was entered. It returns ErrNotHeld if
// that is more often than Redis has counted.
func (l *Reentrant) Release(ctx context.Context, lease *Lease) error {
	for ; lease.holds > 0; lease.holds-- {
		count, err := countOut.Run(ctx, l.rdb, []string{l.key}, l.owner, l.opt.TTL.Milliseconds()).Int()
		if err != nil {
			return err
		}
		if count < 0 {
			return ErrNotHeld
		}
	}
	return nil
}
