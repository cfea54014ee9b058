package libraries

import (
	"context"
	"testing"

	"github.com/bsm/redislock"

	"lockstep/sim/bubble"
	"lockstep/sim/explore"
	"lockstep/sim/explore/locktest"
)

func TestMyLock(t *testing.T) {
	lock := bubble.Strategy(t, bubble.Library{New: func(p *bubble.Process) bubble.Lock {
		locker := redislock.New(p.Redis(0)) // a go-redis client of the first server; p.Dial(0) is a net.Conn
		var held *redislock.Lock
		return bubble.Lock{
			Acquire: func(ctx context.Context) (err error) {
				held, err = locker.Obtain(ctx, p.Key, p.TTL, nil)
				return err
			},
			Release:  func(ctx context.Context) error { return held.Release(ctx) },
			Refusals: []error{redislock.ErrNotObtained},
			Losses:   []error{redislock.ErrLockNotHeld},
		}
	}})
	locktest.Holds(t, lock, func(b *explore.Bounds) { b.Cycles = 1 })
}
