package fuzz

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/strategies"
)

var deleteAndPublish = redis.NewScript(`if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
	redis.call("DEL", KEYS[1])
	redis.call("PUBLISH", "freed", ARGV[1])
	return 1`)

func giveAndTell(ctx context.Context, l *lock, lease *strategies.Lease) error {
	return held(deleteAndPublish.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int())
}

// listens is the right acquisition, except that one who is refused waits for a message for up to so long, and then does
// what it is told. hears reports whether it has had one.
func listens(span time.Duration, then func(ctx context.Context, l *lock, hears bool) (*strategies.Lease, error)) acquire {
	return func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		lease, err := take(ctx, l)
		if !refused(err) {
			return lease, err
		}
		sub := l.rdb.Subscribe(ctx, "freed")
		defer sub.Close() //nolint:errcheck // it is gone
		if _, err := sub.ReceiveTimeout(ctx, l.TTL); err != nil {
			return nil, err
		}
		if lease, err := take(ctx, l); !refused(err) {
			return lease, err
		}
		_, err = sub.ReceiveTimeout(ctx, span)
		var late net.Error
		if timeout := errors.As(err, &late) && late.Timeout(); err != nil && !timeout {
			return nil, err
		}
		return then(ctx, l, err == nil)
	}
}

func asksAgain(ctx context.Context, l *lock, _ bool) (*strategies.Lease, error) { return take(ctx, l) }

// pops is an acquisition by a token that lies in a list or a sorted set, which the first client puts there.
func pops(put, pop func(context.Context, *lock) error) acquire {
	return func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		first, err := l.rdb.SetNX(ctx, "begun", 1, 0).Result()
		if err == nil && first {
			err = put(ctx, l)
		}
		if err != nil {
			return nil, err
		}
		return leasedBy(l, pop(ctx, l))
	}
}

// leasedBy is the lease of a client that has popped the token, unless that has failed.
func leasedBy(l *lock, err error) (*strategies.Lease, error) {
	switch {
	case errors.Is(err, redis.Nil):
		return nil, strategies.ErrNotAcquired
	case err != nil:
		return nil, err
	}
	return &strategies.Lease{Token: l.Token()}, nil
}

func push(ctx context.Context, l *lock) error { return l.rdb.RPush(ctx, "free", "token").Err() }

func pop(ctx context.Context, l *lock) error {
	return l.rdb.BLPop(ctx, 4*time.Second, "free").Err()
}

func add(ctx context.Context, l *lock) error {
	return l.rdb.ZAdd(ctx, "free", redis.Z{Member: "token"}).Err()
}

func popLeast(ctx context.Context, l *lock) error {
	return l.rdb.BZPopMin(ctx, 4*time.Second, "free").Err()
}

// gives gives a token back.
func gives(put func(context.Context, *lock) error) release {
	return func(ctx context.Context, l *lock, _ *strategies.Lease) error { return put(ctx, l) }
}

// hears is an acquisition that waits for the record to go, by a keyspace notification, and then does what it is told.
func hears(then acquire) acquire {
	return func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		lease, err := take(ctx, l)
		if !refused(err) {
			return lease, err
		}
		if err := l.rdb.ConfigSet(ctx, "notify-keyspace-events", "Kgx").Err(); err != nil {
			return nil, err
		}
		sub := l.rdb.Subscribe(ctx, "__keyspace@0__:"+l.key)
		defer sub.Close() //nolint:errcheck // it is gone
		if _, err := sub.ReceiveTimeout(ctx, l.TTL); err != nil {
			return nil, err
		}
		if lease, err := take(ctx, l); !refused(err) {
			return lease, err
		}
		for {
			got, err := sub.ReceiveTimeout(ctx, 5*time.Second)
			if err != nil {
				return nil, errors.Join(err, strategies.ErrNotAcquired)
			}
			if m, is := got.(*redis.Message); is && m.Payload != "expire" {
				return then(ctx, l)
			}
		}
	}
}

// listeners are locks that wait for messages, or at their server.
var listeners = []*subject{
	custom("listens", "", steps{acquire: listens(5*time.Second, asksAgain), release: giveAndTell}),
	custom("listens-as-long-as-it-lives", "", steps{release: giveAndTell, acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		left, err := l.rdb.PTTL(ctx, l.key).Result()
		if err != nil {
			return nil, err
		}
		return listens(max(left, 0)+time.Millisecond, asksAgain)(ctx, l)
	}}),
	custom("message-is-a-grant", "B takes the message for the lock, and stores its record over C's, who has asked meanwhile", steps{
		release: giveAndTell,
		acquire: listens(5*time.Second, func(ctx context.Context, l *lock, hears bool) (*strategies.Lease, error) {
			if !hears {
				return nil, strategies.ErrNotAcquired
			}
			return seize(ctx, l)
		})}),
	custom("silence-is-a-grant", "nobody has said anything for 8s, so B thinks that the holder is dead", steps{
		release: giveAndTell,
		acquire: listens(8*time.Second, func(ctx context.Context, l *lock, hears bool) (*strategies.Lease, error) {
			if hears {
				return take(ctx, l)
			}
			return seize(ctx, l)
		})}),
	custom("hears-it-go", "", steps{acquire: hears(take)}),
	custom("gone-is-a-grant", "B hears that the record is gone, and stores its own over C's", steps{acquire: hears(seize)}),
	custom("waits-in-line", "", steps{acquire: pops(push, pop), release: gives(push)}, forever),
	custom("two-in-line", "each client that finds no list puts a token there", steps{release: gives(push),
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			n, err := l.rdb.LLen(ctx, "free").Result()
			if err == nil && n == 0 {
				err = push(ctx, l)
			}
			if err != nil {
				return nil, err
			}
			return leasedBy(l, pop(ctx, l))
		}}, forever),
	custom("tired-in-line", "who has waited for 4s in vain takes the lock all the same", steps{release: gives(push),
		acquire: pops(push, func(ctx context.Context, l *lock) error {
			if err := pop(ctx, l); !errors.Is(err, redis.Nil) {
				return err
			}
			return nil
		})}, forever),
	custom("least-of-a-set", "", steps{acquire: pops(add, popLeast), release: gives(add)}, forever),
	custom("any-of-a-set", "each client adds a member of its own, and takes the least", steps{release: gives(add),
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if err := l.rdb.ZAdd(ctx, "free", redis.Z{Score: 1, Member: l.Token()}).Err(); err != nil {
				return nil, err
			}
			if err := popLeast(ctx, l); err != nil {
				return nil, err
			}
			return &strategies.Lease{Token: l.Token()}, nil
		}}, forever),
}
