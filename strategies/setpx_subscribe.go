package strategies

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// SetPXSubscribe is SetPXLua for many waiters: one that is refused doesn't ask again and
// again, but waits until the holder publishes that it has released.
//
//	acquire   SET key token PX ttl NX
//	          refused: SUBSCRIBE key:released, and once that is confirmed SET again
//	          refused again: PTTL key, wait for a message for at most that long, SET again
//	release   EVALSHA (EVAL where the server lacks the script):
//	          if GET key == token then DEL key, PUBLISH key:released token
//
// Source: Redisson's RLock (RedissonLock.lock, pubsub/LockPubSub).
//
// A message is a hint and no more. It is sent at most once and is not kept: a waiter whose
// subscription comes a moment too late misses it, and so does one whose connection breaks;
// and a holder that crashes never sends it. So a waiter tries once more when its subscription
// is confirmed, never waits for longer than the record can live, and asks by SET however the
// wait has ended. The safety is that of SetPXLua; without the second attempt, or with a wait
// for a message alone, a lost message would be a waiter that sleeps for ever.
type SetPXSubscribe struct {
	rdb *redis.Client
	key string
	opt Options
}

// compareDeleteAndPublish deletes the key if it still holds the caller's token, and wakes the
// waiters. In one script: a message before the deletion would wake them for nothing, and a
// crash in between would not wake them at all.
var compareDeleteAndPublish = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  redis.call("DEL", KEYS[1])
  redis.call("PUBLISH", ARGV[2], ARGV[1])
  return 1
end
return 0`)

// NewSetPXSubscribe locks key on one Redis server.
func NewSetPXSubscribe(rdb *redis.Client, key string, o Options) *SetPXSubscribe {
	return &SetPXSubscribe{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists. While it does,
// Acquire waits for the holder's message, or until the record must have expired.
func (l *SetPXSubscribe) Acquire(ctx context.Context) (*Lease, error) {
	lease, err := l.try(ctx)
	if !errors.Is(err, ErrNotAcquired) || l.opt.Retry.Tries == 1 {
		return lease, err
	}
	sub := l.rdb.Subscribe(ctx, l.channel())
	defer sub.Close() //nolint:errcheck // whatever it says, the connection is gone
	if _, err := sub.ReceiveTimeout(ctx, l.opt.TTL); err != nil {
		return nil, err
	}
	for n := 2; ; n++ {
		lease, err := l.try(ctx)
		if !errors.Is(err, ErrNotAcquired) || n == l.opt.Retry.Tries {
			return lease, err
		}
		if err := l.wait(ctx, sub); err != nil {
			return nil, err
		}
	}
}

func (l *SetPXSubscribe) try(ctx context.Context) (*Lease, error) {
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

// wait returns when it is worth while to try again: at a message, or when the record has had
// the time to expire.
func (l *SetPXSubscribe) wait(ctx context.Context, sub *redis.PubSub) error {
	left, err := l.rdb.PTTL(ctx, l.key).Result()
	switch {
	case err != nil:
		return err
	case left == -2: // the record is gone
		return ctx.Err()
	case left == -1: // it has no expiry, so no lock of this kind has stored it
		left = l.opt.TTL
	}
	// Redis drops a key a millisecond after its TTL is 0, and to ReceiveTimeout 0 is for ever.
	_, err = sub.ReceiveTimeout(ctx, left+time.Millisecond)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		err = nil
	}
	return errors.Join(err, ctx.Err())
}

// Release deletes the key if it still holds the lease's token, and tells the waiters.
func (l *SetPXSubscribe) Release(ctx context.Context, lease *Lease) error {
	deleted, err := compareDeleteAndPublish.Run(ctx, l.rdb, []string{l.key}, lease.Token, l.channel()).Int()
	if err != nil {
		return err
	}
	if deleted == 0 {
		return ErrNotHeld
	}
	return nil
}

func (l *SetPXSubscribe) channel() string { return l.key + ":released" }
