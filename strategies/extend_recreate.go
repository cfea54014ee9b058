package strategies

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// ExtendRecreate prolongs its lease, or takes it anew without saying so.
//
//	acquire   SET key token PX ttl NX
//	extend    EVALSHA (EVAL where the server lacks the script):
//	          if GET key == token then PEXPIRE key ttl,
//	          otherwise SET key token NX PX ttl
//	release   EVALSHA (EVAL likewise): if GET key == token then DEL key
//
// Source: redsync's WithSetNXOnExtend (its pull request 149), on one server.
//
// It is meant for servers that lose keys in a restart, so that a lease lives on
// while most of the others still have it. But a key that is gone does not tell
// why: it may have expired, and somebody else may have had the lock and released
// it since. The caller is told that its lease goes on, and goes on with the
// value that it read before the other one wrote.
type ExtendRecreate struct {
	rdb *redis.Client
	key string
	opt Options
}

// expireOrCreate prolongs the key if it holds the caller's token, and stores it
// if there is none.
var expireOrCreate = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("PEXPIRE", KEYS[1], ARGV[2])
elseif redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2], "NX") then
  return 1
end
return 0`)

// NewExtendRecreate locks key on one Redis server.
func NewExtendRecreate(rdb *redis.Client, key string, o Options) *ExtendRecreate {
	return &ExtendRecreate{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists.
func (l *ExtendRecreate) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *ExtendRecreate) try(ctx context.Context) (*Lease, error) {
	token := l.opt.Token()
	sent := l.opt.Clock.Monotonic() // before the command: Redis starts counting later, never earlier
	won, err := setPXNX(ctx, l.rdb, l.key, token, l.opt.TTL)
	if err != nil {
		return nil, err
	}
	if !won {
		return nil, ErrNotAcquired
	}
	return &Lease{Token: token, Deadline: sent + l.opt.TTL - drift(l.opt.TTL)}, nil
}

// Extend prolongs the key unless it holds another's token. It makes no
// difference to it whether the lease's own was there all along.
func (l *ExtendRecreate) Extend(ctx context.Context, lease *Lease) error {
	sent := l.opt.Clock.Monotonic()
	ttl := l.opt.TTL.Milliseconds()
	extended, err := expireOrCreate.Run(ctx, l.rdb, []string{l.key}, lease.Token, ttl).Int()
	if err != nil {
		return err
	}
	if extended == 0 {
		return ErrNotHeld
	}
	lease.Deadline = sent + l.opt.TTL - drift(l.opt.TTL)
	return nil
}

// Release deletes the key if it still holds the lease's token.
func (l *ExtendRecreate) Release(ctx context.Context, lease *Lease) error {
	deleted, err := compareAndDelete.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int()
	if err != nil {
		return err
	}
	if deleted == 0 {
		return ErrNotHeld
	}
	return nil
}
