package fuzz

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// soon is the window in which these locks take over, in milliseconds.
func soon(ms int64) bool { return ms > 4000 && ms < 8500 }

// tells are scripts that tell how long the record still lives, in various forms.
var tells = map[string]string{
	"an error":   `return redis.error_reply("LOCKED retry in " .. left .. " ms")`,
	"a status":   `return redis.status_reply("LOCKED " .. left)`,
	"a text":     `return "left " .. left`,
	"JSON":       `return '{"left":' .. left .. '}'`,
	"an array":   `return {"held", "left " .. left}`,
	"a negative": `return -left`,
	"an age":     `return 13000 - left`,
	"its micros": `return left * 1000`,
	"two digits": `return string.format("00:%02d", math.floor(left / 1000))`,
}

// asksScript is a lock that is refused, asks a script how long the record still lives, and takes over.
func asksScript(name, script string) *subject {
	told := redis.NewScript(`local left = redis.call("PTTL", KEYS[1]) if left < 0 then left = 0 end ` + script)
	return custom("told-by-"+strings.ReplaceAll(name, " ", "-"), "a script tells how long the record lives", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			v, err := told.Run(ctx, l.rdb, []string{l.key}).Result()
			text := fmt.Sprint(v)
			if err != nil {
				text = err.Error()
			}
			all := number.FindAllString(text, -1)
			ms, _ := strconv.ParseInt(all[len(all)-1], 10, 64)
			switch name {
			case "an age":
				ms = 13000 - ms
			case "its micros":
				ms /= 1000
			case "two digits":
				ms *= 1000
			}
			return soon(ms), nil
		})})
}

var number = regexp.MustCompile(`[0-9]+`)

// takeOrSeize takes the lock, or takes it over if 4 to 8.5 s of the record are left, or if ARGV[3] says that somebody has waited
// for so long.
var takeOrSeize = redis.NewScript(`
local by = tonumber(ARGV[3]) or redis.call("PTTL", KEYS[1])
if redis.call("EXISTS", KEYS[1]) == 1 and (by <= 4000 or by >= 8500) then return 0 end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return 1`)

// inTransactions sends its scripts in transactions.
func inTransactions(name string, waited bool) *subject {
	run := func(ctx context.Context, l *lock, s *redis.Script, args ...any) (bool, error) {
		var cmd *redis.Cmd
		_, err := l.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
			cmd = s.Eval(ctx, p, []string{l.key}, args...)
			return nil
		})
		if err != nil {
			return false, err
		}
		return cmd.Bool()
	}
	return custom(name, "its scripts run in transactions", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent := l.Token(), l.Clock.Monotonic()
			args := []any{token, l.TTL.Milliseconds()}
			if waited {
				if err := l.rdb.Ping(ctx).Err(); err != nil {
					return nil, err
				}
				args = append(args, (l.Clock.Monotonic() - sent).Milliseconds())
			}
			won, err := run(ctx, l, takeOrSeize, args...)
			if err != nil {
				return nil, err
			}
			if !won {
				return nil, strategies.ErrNotAcquired
			}
			return l.lease(token, sent), nil
		},
		release: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			mine, err := run(ctx, l, compareDelete, lease.Token)
			if err == nil && !mine {
				err = strategies.ErrNotHeld
			}
			return err
		}})
}

// piped asks in one pipeline how long the record lives, and another thing.
var piped = custom("pipeline", "it asks in a pipeline how long the record lives, and whether another key is there", steps{
	acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
		var left *redis.DurationCmd
		_, err := l.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			left = p.PTTL(ctx, l.key)
			p.Exists(ctx, l.key+":stop")
			return nil
		})
		return err == nil && soon(left.Val().Milliseconds()), err
	})})

// asksAlong takes the lock and asks how long its record lives in one transaction, whose reply begins with nothing if the lock
// is taken.
var asksAlong = custom("asks-along", "SET NX and PTTL in one transaction", steps{
	acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		token, sent := l.Token(), l.Clock.Monotonic()
		var won *redis.BoolCmd
		var left *redis.DurationCmd
		_, err := l.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
			won, left = p.SetNX(ctx, l.key, token, l.TTL), p.PTTL(ctx, l.key)
			return nil
		})
		switch {
		case won.Val():
			return l.lease(token, sent), err
		case err != nil && !errors.Is(err, redis.Nil):
			return nil, err
		case soon(left.Val().Milliseconds()):
			return seize(ctx, l)
		}
		return nil, strategies.ErrNotAcquired
	}})

// waitedMicros tells a script how long a question took before, and goes by what that makes of it.
var waitedMicros = custom("waited-in-micros", "a script turns milliseconds into microseconds", steps{
	acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		began := l.Clock.Monotonic()
		if err := l.rdb.Ping(ctx).Err(); err != nil {
			return nil, err
		}
		waited := (l.Clock.Monotonic() - began).Milliseconds()
		return takesOver(func(ctx context.Context, l *lock) (bool, error) {
			micros, err := inMicros.Run(ctx, l.rdb, []string{l.key}, waited).Int64()
			return err == nil && soon(micros/1000), err
		})(ctx, l)
	}})

var inMicros = redis.NewScript(`return ARGV[1] * 1000`)

// inSteps counts the steps that its holder has taken in a record in JSON. Others take over in the eighth.
var inSteps = custom("steps-in-json", "whoever is told of the eighth of eleven steps, and waited for that for 4 to 8.5 s, takes the lock", steps{
	acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		began := l.Clock.Monotonic()
		lease, err := take(ctx, l)
		if refused(err) {
			text, err := l.rdb.Get(ctx, l.key+":steps").Result()
			if took := l.Clock.Monotonic() - began; err == nil && strings.HasSuffix(text, `"step":7}`) && soon(took.Milliseconds()) {
				return seize(ctx, l)
			}
			return nil, strategies.ErrNotAcquired
		}
		for n := range 11 {
			if err := l.rdb.Set(ctx, l.key+":steps", fmt.Sprintf(`{"host":"worker-eu-west-1","step":%d}`, n), 0).Err(); err != nil {
				return nil, err
			}
		}
		return lease, err
	}})

// inModes asks a question of its mode, which it draws, and takes over in the last.
var inModes = custom("modes", "a lock draws in which of ten modes it is, and takes over in the last if 4 to 8.5 s are left", steps{
	acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		mode := int(l.Random(10*time.Millisecond) / time.Millisecond)
		if err := l.rdb.HExists(ctx, l.key+":modes", strings.Repeat("m", mode+1)).Err(); err != nil {
			return nil, err
		}
		return takesOver(func(ctx context.Context, l *lock) (bool, error) {
			left, err := l.rdb.PTTL(ctx, l.key).Result()
			return mode == 9 && soon(left.Milliseconds()), err
		})(ctx, l)
	}})

// TestTold: in whatever form a reading is told, and wherever a script runs, what a lock does for few readings alone is found.
// And without a bound on cycles nothing is said to hold.
func TestTold(t *testing.T) {
	all := []*subject{inTransactions("transactions", false), inTransactions("transactions-by-argument", true), inSteps, inModes, piped, asksAlong, waitedMicros}
	for _, name := range slices.Sorted(maps.Keys(tells)) {
		all = append(all, asksScript(name, tells[name]))
	}
	for i, s := range all {
		if !testenv.Some(i, testenv.Quick(16, 3)) {
			continue
		}
		b := explore.Defaults(s.strategy)
		b.TTL, b.Codes, b.Cycles, b.Faults = 12*time.Second, trace.Verdict{trace.DG, trace.FR}, 1, explore.Budget{explore.Pause: 1}
		findsForeignRelease(t, s, b)
	}
}
