package strategies

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// Fenced numbers its leases, so that the resource can tell an old one from a new.
//
//	acquire   EVALSHA (EVAL where the server lacks the script):
//	          if SET key token NX PX ttl then INCR key:fence
//	release   EVALSHA (EVAL likewise): if GET key == token then DEL key
//
// Source: Martin Kleppmann, "How to do distributed locking", 2016.
//
// The number goes along with every access to the resource, reads included, and
// the resource refuses any that is lower than one it has seen. So a holder that
// was paused for longer than its lease may wake up inside the critical section
// with somebody else, but can do no harm there. Record and number come into
// being in one script; otherwise the older lease could get the higher number.
// The counter must never go back: a server that loses it numbers new leases
// lower than old ones.
type Fenced struct {
	rdb *redis.Client
	key string
	opt Options
}

// lockAndCount stores the caller's token unless one is stored, and returns the
// number of tokens stored so far; 0 means refused.
var lockAndCount = redis.NewScript(`
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
  return redis.call("INCR", KEYS[2])
end
return 0`)

// fenceKey is the counter's key, beside the lock and without an expiry. In a
// cluster both must be on one node, so there the key needs a hash tag: the
// fence of {orders}:lock is {orders}:lock:fence.
func fenceKey(key string) string { return key + ":fence" }

// NewFenced locks key on one Redis server.
func NewFenced(rdb *redis.Client, key string, o Options) *Fenced {
	return &Fenced{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists,
// and draws the lease's number.
func (l *Fenced) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *Fenced) try(ctx context.Context) (*Lease, error) {
	token, ttl := l.opt.Token(), l.opt.TTL.Milliseconds()
	sent := l.opt.Clock.Monotonic() // before the command: Redis starts counting later, never earlier
	fence, err := lockAndCount.Run(ctx, l.rdb, []string{l.key, fenceKey(l.key)}, token, ttl).Int64()
	if err != nil {
		return nil, err
	}
	if fence == 0 {
		return nil, ErrNotAcquired
	}
	return &Lease{Token: token, Deadline: sent + l.opt.TTL - drift(l.opt.TTL), Fence: fence}, nil
}

// Release deletes the key if it still holds the lease's token. The counter stays.
func (l *Fenced) Release(ctx context.Context, lease *Lease) error {
	deleted, err := compareAndDelete.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int()
	if err != nil {
		return err
	}
	if deleted == 0 {
		return ErrNotHeld
	}
	return nil
}
