package strategies

import (
	"context"
	"errors"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// TimestampOverwritten is timestamp-del as its source prints it: the answer of GET
// goes into the variable that holds the new stamp.
//
//	acquire   SETNX key value, where value is now+ttl
//	          if refused: value = GET key; if that is < now: DEL key;
//	          either way SETNX key value again, and so on
//	release   DEL key
//
// Source: the Japanese article on GETSET locks, part 5, its code. Stamps are Unix
// seconds, and a key that is gone reads as an empty value, which is lower than any
// stamp, as PHP's false and null are.
//
// Only a client whose first SETNX succeeds stores a stamp of its own. Any other
// stores the one that it has read: the expired stamp that it has just deleted, so that the
// next to come takes the lock over at once; or the stamp of the holder that it has
// waited for, which ends when that holder's lease would have ended. So two clients
// are inside without any race. In all else it fails as timestamp-del does.
type TimestampOverwritten struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewTimestampOverwritten locks key on one Redis server.
func NewTimestampOverwritten(rdb *redis.Client, key string, o Options) *TimestampOverwritten {
	return &TimestampOverwritten{rdb: rdb, key: key, opt: o}
}

// Acquire stores the end of the lease under the key, or else a stamp that was
// stored there before.
func (l *TimestampOverwritten) Acquire(ctx context.Context) (*Lease, error) {
	value := strconv.FormatInt(l.opt.Clock.Now().Add(l.opt.TTL).Unix(), 10)
	return retry(ctx, l.opt, func(ctx context.Context) (*Lease, error) {
		return l.try(ctx, &value)
	})
}

// try stores the value, as often as it can delete an expired one.
func (l *TimestampOverwritten) try(ctx context.Context, value *string) (*Lease, error) {
	for {
		won, err := setNX(ctx, l.rdb, l.key, *value)
		if err != nil {
			return nil, err
		}
		if won {
			return &Lease{Token: *value}, nil
		}
		*value, err = l.rdb.Get(ctx, l.key).Result() // the stamp of this Acquire is lost here
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		stamp, _ := strconv.ParseInt(*value, 10, 64) // no stamp reads as 0: long expired
		if stamp >= l.opt.Clock.Now().Unix() {
			return nil, ErrNotAcquired
		}
		if err := l.rdb.Del(ctx, l.key).Err(); err != nil {
			return nil, err
		}
	}
}

// Release deletes the key, whoever's it is.
func (l *TimestampOverwritten) Release(ctx context.Context, _ *Lease) error {
	return l.rdb.Del(ctx, l.key).Err()
}
