// Package libraries has lock libraries as the simulator's clients, unmodified: see
// docs/libraries.md, which its tests make. It is a module of its own, so that the program
// depends on none of them.
package libraries

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	pools "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"lockstep/sim/bubble"
	"lockstep/strategies"
)

// Redislock is bsm/redislock with the token that a client of this name has, or with random ones
// if token is nil.
func Redislock(token func(name string) string) func(*bubble.Process) bubble.Lock {
	return func(p *bubble.Process) bubble.Lock {
		locker := redislock.New(p.Redis(0))
		var held *redislock.Lock
		o := redislock.Options{RetryStrategy: again(p.Retry)}
		if token != nil {
			o.Token = token(p.Name)
		}
		return bubble.Lock{
			Acquire: func(ctx context.Context) (err error) {
				held, err = locker.Obtain(ctx, p.Key, p.TTL, &o)
				return err
			},
			Release:  func(ctx context.Context) error { return held.Release(ctx) },
			Extend:   func(ctx context.Context) error { return held.Refresh(ctx, p.TTL, nil) },
			Token:    func() string { return held.Token() },
			Refusals: []error{redislock.ErrNotObtained},
			Losses:   []error{redislock.ErrLockNotHeld, redislock.ErrNotObtained},
		}
	}
}

// again is a policy of retries as redislock has them. It never asks again after the lock's TTL.
func again(r strategies.Retry) redislock.RetryStrategy {
	switch {
	case r.Tries == 1:
		return redislock.NoRetry()
	case r.Tries == 0:
		return backoff(r)
	}
	return redislock.LimitRetry(backoff(r), r.Tries-1)
}

type backoff strategies.Retry

// NextBackoff implements redislock.RetryStrategy.
func (b backoff) NextBackoff() time.Duration { return pause(strategies.Retry(b)) }

// pause is the time until the next try. Its jitter comes from crypto/rand, which the simulator
// seeds.
func pause(r strategies.Retry) time.Duration {
	if r.Jitter == 0 {
		return r.Delay
	}
	n, err := rand.Int(rand.Reader, big.NewInt(int64(r.Jitter)))
	if err != nil {
		panic(err) // it never fails
	}
	return r.Delay + time.Duration(n.Int64())
}

// Redsync is go-redsync/redsync on as many servers as the run has, with these options.
func Redsync(o ...redsync.Option) func(*bubble.Process) bubble.Lock {
	return func(p *bubble.Process) bubble.Lock {
		var nodes []pools.Pool
		for i := range p.Nodes {
			nodes = append(nodes, goredis.NewPool(p.Redis(i)))
		}
		tries := p.Retry.Tries
		if tries == 0 {
			tries = 1000 // for ever
		}
		o := append([]redsync.Option{redsync.WithExpiry(p.TTL), redsync.WithTries(tries), redsync.WithRetryDelayFunc(func(int) time.Duration { return pause(p.Retry) })}, o...)
		m := redsync.New(nodes...).NewMutex(p.Key, o...)
		return bubble.Lock{
			Acquire: func(ctx context.Context) error { return refusal(m.LockContext(ctx)) },
			Release: func(ctx context.Context) error { return loss(m.UnlockContext(ctx)) },
			Extend:  func(ctx context.Context) error { return loss(m.ExtendContext(ctx)) },
			Until:   m.Until,
			Token:   m.Value,
		}
	}
}

// refusal tells the simulator which of redsync's errors mean that another has the lock.
func refusal(err error) error {
	var taken *redsync.ErrTaken
	if errors.Is(err, redsync.ErrFailed) || errors.As(err, &taken) {
		return fmt.Errorf("%w: %w", strategies.ErrNotAcquired, err)
	}
	return err
}

// loss tells the simulator which results of redsync mean that the lock was lost.
func loss(done bool, err error) error {
	var taken *redsync.ErrTaken
	switch {
	case done:
		return nil
	case err == nil:
		return strategies.ErrNotHeld
	case errors.As(err, &taken), errors.Is(err, redsync.ErrLockAlreadyExpired), errors.Is(err, redsync.ErrExtendFailed):
		return fmt.Errorf("%w: %w", strategies.ErrNotHeld, err)
	}
	return err
}
