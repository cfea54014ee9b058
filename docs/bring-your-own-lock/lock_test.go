package shop

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/locktest"
	"lockstep/strategies"
)

func acquire(ctx context.Context, rdb *redis.Client, key string, o strategies.Options) (string, error) {
	token := o.Token()
	return token, Lock(ctx, rdb, key, token, o.TTL)
}

func TestLock(t *testing.T) {
	locktest.Holds(t, strategies.Strategy{New: locktest.Functions(acquire, Unlock, ErrTaken)})
}
