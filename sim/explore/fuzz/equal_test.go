package fuzz

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestEqualRecordsStoredAnew: a record that is removed and stored again within one script or transaction, with the value that it
// had, is another client's from then on, whatever stores it. These locks announce a release before it; somebody takes the
// record over then, and the release removes the new one.
func TestEqualRecordsStoredAnew(t *testing.T) {
	const leaving = `local leaving = redis.call("EXISTS", KEYS[2]) == 1 if leaving then `
	inScript := func(text string) acquire {
		script := redis.NewScript(leaving + text)
		return func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			got, err := script.Run(ctx, l.rdb, []string{l.key, l.key + ":leaving", l.key + ":new"}).Int()
			if err == nil && got == 0 {
				err = strategies.ErrNotAcquired
			}
			return &strategies.Lease{Token: l.Token()}, err
		}
	}
	const ifFree = ` if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end `
	for name, take := range map[string]acquire{
		"SETNX":    inScript(`redis.call("DEL", KEYS[1], KEYS[2]) end return redis.call("SETNX", KEYS[1], "1")`),
		"SET-NX":   inScript(`redis.call("DEL", KEYS[1], KEYS[2]) end if redis.call("SET", KEYS[1], "1", "NX") then return 1 end return 0`),
		"INCR":     inScript(`redis.call("DEL", KEYS[1], KEYS[2]) end` + ifFree + `return redis.call("INCR", KEYS[1])`),
		"APPEND":   inScript(`redis.call("DEL", KEYS[1], KEYS[2]) end` + ifFree + `return redis.call("APPEND", KEYS[1], "1")`),
		"HINCRBY":  inScript(`redis.call("DEL", KEYS[1], KEYS[2]) end` + ifFree + `return redis.call("HINCRBY", KEYS[1], "n", 1)`),
		"DECR":     inScript(`redis.call("DECR", KEYS[1]) redis.call("DEL", KEYS[2]) end if redis.call("GET", KEYS[1]) == "1" then return 0 end return redis.call("INCR", KEYS[1])`),
		"PEXPIRE":  inScript(`redis.call("PEXPIRE", KEYS[1], 0) redis.call("DEL", KEYS[2]) end return redis.call("SETNX", KEYS[1], "1")`),
		"GETDEL":   inScript(`redis.call("GETDEL", KEYS[1]) redis.call("DEL", KEYS[2]) end return redis.call("SETNX", KEYS[1], "1")`),
		"RENAMENX": inScript(`redis.call("DEL", KEYS[1], KEYS[2]) end redis.call("SET", KEYS[3], "1") local n = redis.call("RENAMENX", KEYS[3], KEYS[1]) redis.call("DEL", KEYS[3]) return n`),
		"COPY":     inScript(`redis.call("DEL", KEYS[1], KEYS[2]) end redis.call("SET", KEYS[3], "1") local n = redis.call("COPY", KEYS[3], KEYS[1]) redis.call("DEL", KEYS[3]) return n`),
		"EXEC": func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			left, err := l.rdb.Exists(ctx, l.key+":leaving").Result()
			if err != nil {
				return nil, err
			}
			won := l.rdb.SetNX
			if left == 1 {
				won = func(ctx context.Context, key string, value any, _ time.Duration) (stored *redis.BoolCmd) {
					_, _ = l.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
						p.Del(ctx, key, key+":leaving")
						stored = p.SetNX(ctx, key, value, 0)
						return nil
					})
					return stored
				}
			}
			stored, err := won(ctx, l.key, "1", 0).Result()
			if err == nil && !stored {
				err = strategies.ErrNotAcquired
			}
			return &strategies.Lease{Token: l.Token()}, err
		},
	} {
		s := custom("anew-by-"+name, "", steps{acquire: take, release: func(ctx context.Context, l *lock, _ *strategies.Lease) error {
			if err := l.rdb.Set(ctx, l.key+":leaving", 1, 0).Err(); err != nil {
				return err
			}
			return l.rdb.Del(ctx, l.key, l.key+":leaving").Err()
		}}).strategy
		s.NoTTL = true
		b := explore.Defaults(s)
		b.Cycles, b.Faults, b.Codes, b.Record = 1, explore.Budget{}, trace.Verdict{trace.FR}, "lock"
		r, err := explore.Run(t.Context(), b, explore.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if len(r.Violated) != 1 {
			t.Errorf("%s: %s", name, r.Summary())
		}
	}
}
