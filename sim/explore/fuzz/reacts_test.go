package fuzz

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/strategies"
)

// reaction is what a lock on one server does about commands that fail. With zeros, it is right.
type reaction struct {
	takes   int // how it takes the lock
	fails   int // what it does when that fails
	refused int // what it does when it is refused
	counts  int // from when it counts its lease
	gives   int // how it gives the lock back
	again   int // what it does when that fails
	renews  int // whether it renews its lease, and what it does when that fails
}

func (r reaction) String() string {
	return fmt.Sprintf("reaction-%d-%d-%d-%d-%d-%d-%d", r.takes, r.fails, r.refused, r.counts, r.gives, r.again, r.renews)
}

func drawReaction(rng *rand.Rand) reaction {
	r := reaction{}
	for range 2 + rng.IntN(4) {
		switch rng.IntN(9) {
		case 0, 1:
			r.takes = rng.IntN(6)
		case 2, 3, 4:
			r.fails = rng.IntN(8)
		case 5:
			r.refused = rng.IntN(4)
		case 6:
			r.counts = rng.IntN(4)
		case 7:
			r.gives, r.again = rng.IntN(4), rng.IntN(5)
		case 8:
			r.renews = rng.IntN(5)
		}
	}
	return r
}

// try sends the commands that take the lock, and reports whether it got it.
func (r reaction) try(ctx context.Context, l *lock, token string) (won bool, err error) {
	switch r.takes {
	case 1:
		won, err = l.rdb.SetNX(ctx, l.key, token, 0).Result()
		if err == nil && won {
			_, err = l.rdb.PExpire(ctx, l.key, l.TTL).Result()
		}
	case 2:
		var set *redis.BoolCmd
		_, err = l.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
			set = p.SetNX(ctx, l.key, token, 0)
			p.PExpire(ctx, l.key, l.TTL)
			return nil
		})
		won = err == nil && set.Val()
	case 3:
		var get *redis.StringCmd
		_, err = l.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			p.SetNX(ctx, l.key, token, l.TTL)
			get = p.Get(ctx, l.key)
			return nil
		})
		won = err == nil && get.Val() == token
	case 4:
		err = l.rdb.Watch(ctx, func(tx *redis.Tx) error {
			if n, err := tx.Exists(ctx, l.key).Result(); err != nil || n > 0 {
				return err
			}
			_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Set(ctx, l.key, token, l.TTL)
				return nil
			})
			won = err == nil
			return err
		}, l.key)
		if err == redis.TxFailedErr { //nolint:errorlint // it is never wrapped
			err = nil
		}
	case 5:
		won, err = l.rdb.SetNX(ctx, l.key, token, 2*l.TTL).Result()
	default:
		won, err = l.rdb.SetNX(ctx, l.key, token, l.TTL).Result()
	}
	return won, err
}

func (r reaction) owns(ctx context.Context, l *lock, token string) bool {
	v, err := l.rdb.Get(ctx, l.key).Result()
	return err == nil && v == token
}

func (r reaction) acquire(ctx context.Context, l *lock) (*strategies.Lease, error) {
	token, sent := l.Token(), l.Clock.Monotonic()
	won, err := r.try(ctx, l, token)
	if err != nil {
		switch r.fails {
		case 1:
			won = r.owns(ctx, l, token)
			err = nil
		case 2:
			if r.counts == 1 {
				sent = l.Clock.Monotonic()
			}
			won, err = r.try(ctx, l, token)
			if err == nil && !won {
				won = r.owns(ctx, l, token)
			}
		case 3:
			err = nil
			_ = compareDelete.Run(ctx, l.rdb, []string{l.key}, token).Err()
		case 4:
			_ = compareDelete.Run(ctx, l.rdb, []string{l.key}, token).Err()
			token, sent = l.Token(), l.Clock.Monotonic()
			won, err = r.try(ctx, l, token)
		case 5:
			_, err = l.rdb.Get(ctx, l.key).Result()
			won = err != nil && err != redis.Nil //nolint:errorlint // it is never wrapped
			err = nil
		case 6:
			err = nil
		case 7:
			n, failed := compareDelete.Run(ctx, l.rdb, []string{l.key}, token).Int()
			if failed == nil && n == 1 {
				token, sent = l.Token(), l.Clock.Monotonic()
				won, err = r.try(ctx, l, token)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if !won {
		switch r.refused {
		case 1:
			won = r.owns(ctx, l, token)
		case 2:
			if left, err := l.rdb.PTTL(ctx, l.key).Result(); err == nil && left == -1 {
				_ = l.rdb.PExpire(ctx, l.key, l.TTL).Err()
			}
		case 3:
			_ = compareDelete.Run(ctx, l.rdb, []string{l.key}, token).Err()
		}
	}
	if !won {
		return nil, strategies.ErrNotAcquired
	}
	if r.counts == 2 {
		sent = l.Clock.Monotonic()
	}
	if r.counts == 3 && l.Clock.Monotonic()-sent > l.TTL/2 {
		_ = compareDelete.Run(ctx, l.rdb, []string{l.key}, token).Err()
		return nil, strategies.ErrNotAcquired
	}
	return l.lease(token, sent), nil
}

func (r reaction) release(ctx context.Context, l *lock, lease *strategies.Lease) error {
	give := func() (int, error) {
		switch r.gives {
		case 1:
			v, err := l.rdb.Get(ctx, l.key).Result()
			if err != nil || v != lease.Token {
				return 0, err
			}
			n, err := l.rdb.Del(ctx, l.key).Result()
			return int(n), err
		case 2:
			if l.Clock.Monotonic() > lease.Deadline {
				return 0, nil
			}
			n, err := l.rdb.Del(ctx, l.key).Result()
			return int(n), err
		case 3:
			n, err := l.rdb.Del(ctx, l.key).Result()
			return int(n), err
		}
		return compareDelete.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int()
	}
	n, err := give()
	if err != nil {
		switch r.again {
		case 1:
			n, err = give()
		case 2:
			if r.owns(ctx, l, lease.Token) {
				n, err = give()
			}
		case 3:
			var d int64
			d, err = l.rdb.Del(ctx, l.key).Result()
			n = int(d)
		case 4:
			_ = l.rdb.PExpire(ctx, l.key, time.Millisecond).Err()
		}
	}
	return held(n, err)
}

func (r reaction) extend(ctx context.Context, l *lock, lease *strategies.Lease) error {
	sent := l.Clock.Monotonic()
	renew := func() (int, error) {
		if r.renews == 4 {
			n, err := l.rdb.PExpire(ctx, l.key, l.TTL).Result()
			if n {
				return 1, err
			}
			return 0, err
		}
		return compareExpire.Run(ctx, l.rdb, []string{l.key}, lease.Token, l.TTL.Milliseconds()).Int()
	}
	n, err := renew()
	if err != nil {
		switch r.renews {
		case 2:
			sent = l.Clock.Monotonic()
			n, err = renew()
		case 3:
			if r.owns(ctx, l, lease.Token) {
				n, err = 1, nil
			}
		}
	}
	if err := held(n, err); err != nil {
		return err
	}
	lease.Deadline = l.lease(lease.Token, sent).Deadline
	return nil
}

func (r reaction) subject() *subject {
	s := steps{acquire: r.acquire, release: r.release}
	if r.renews > 0 {
		s.extend = r.extend
	}
	return custom(r.String(), "", s)
}
