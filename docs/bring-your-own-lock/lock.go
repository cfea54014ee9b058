// Package shop is an example of a module with locks of its own.
package shop

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrTaken means that somebody else has the lock.
var ErrTaken = errors.New("the lock is taken")

// Lock takes a lock for ttl. The token must be another one each time.
func Lock(ctx context.Context, rdb *redis.Client, key, token string, ttl time.Duration) error {
	ok, err := rdb.SetNX(ctx, key, token, ttl).Result()
	if err != nil {
		return err
	}
	if !ok {
		return ErrTaken
	}
	return nil
}

var release = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("DEL", KEYS[1])
end
return 0`)

// Unlock gives the lock back, if it is still the caller's.
func Unlock(ctx context.Context, rdb *redis.Client, key, token string) error {
	return release.Run(ctx, rdb, []string{key}, token).Err()
}

// UnlockInTwo does it in two steps: that is the mistake.
func UnlockInTwo(ctx context.Context, rdb *redis.Client, key, token string) error {
	stored, err := rdb.Get(ctx, key).Result()
	if err != nil || stored != token {
		return err
	}
	return rdb.Del(ctx, key).Err()
}
