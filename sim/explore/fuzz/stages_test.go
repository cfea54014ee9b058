package fuzz

import (
	"context"
	"encoding/json"
	"fmt"
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

var (
	// begun takes the lock, and says in another key in which stage its holder is, or takes it over: while the holder is in
	// the stage that ARGV[3] names, if 4 to 8.5 s of the record are left. With ARGV[4] that is decided by how long the
	// client has waited.
	begun = redis.NewScript(`
if redis.call("EXISTS", KEYS[1]) == 1 then
	local by = tonumber(ARGV[4] or redis.call("PTTL", KEYS[1]))
	if redis.call("GET", KEYS[2]) ~= ARGV[3] or by <= 4000 or by >= 8500 then return 0 end
end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
redis.call("SET", KEYS[2], ARGV[3])
return 1`)
	// reserved takes the lock, or has a waiter reserve the next turn. If a third has that, it takes the lock over where
	// 4 to 9 s are left.
	reserved = redis.NewScript(`
local holder = redis.call("GET", KEYS[1])
if holder then
	if redis.call("EXISTS", KEYS[2]) == 0 then redis.call("SET", KEYS[2], ARGV[1], "PX", ARGV[2]) end
	local left, next = redis.call("PTTL", KEYS[1]), redis.call("GET", KEYS[2])
	if next == holder or next == ARGV[1] or left <= 4000 or left >= 9000 then return 0 end
end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return 1`)
)

// inStages is a lock whose holder says in which stage it is, by texts of which the first is a dying one's.
func inStages(name, says string, waited bool, stages ...string) *subject {
	return custom(name, says, steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent := l.Token(), l.Clock.Monotonic()
			args := []any{token, l.TTL.Milliseconds(), stages[0]}
			if waited {
				if err := l.rdb.Ping(ctx).Err(); err != nil {
					return nil, err
				}
				args = append(args, (l.Clock.Monotonic() - sent).Milliseconds())
			}
			won, err := begun.Run(ctx, l.rdb, []string{l.key, l.key + ":stage"}, args...).Bool()
			if err != nil {
				return nil, err
			}
			if !won {
				return nil, strategies.ErrNotAcquired
			}
			for _, stage := range stages[1:] {
				if err := l.rdb.Set(ctx, l.key+":stage", stage, 0).Err(); err != nil {
					return nil, err
				}
			}
			return l.lease(token, sent), nil
		}})
}

// toldStages has the record say it in JSON, and others look at how long the answer took.
func toldStages(stages ...string) *subject {
	return custom("stages-in-json", "whoever is told of the last stage, and waited for that for 4 to 9 s, takes the lock", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			began := l.Clock.Monotonic()
			lease, err := take(ctx, l)
			if !refused(err) {
				for _, stage := range stages {
					text, _ := json.Marshal(map[string]any{"stage": stage, "host": "worker-eu-west-1"}) //nolint:errchkjson // it can be
					if err := l.rdb.Set(ctx, l.key+":stage", text, 0).Err(); err != nil {
						return nil, err
					}
				}
				return lease, err
			}
			var told struct{ Stage string }
			text, err := l.rdb.Get(ctx, l.key+":stage").Bytes()
			if err != nil || json.Unmarshal(text, &told) != nil {
				return nil, strategies.ErrNotAcquired
			}
			if took := l.Clock.Monotonic() - began; told.Stage == stages[len(stages)-1] && took > 4*time.Second && took < 9*time.Second {
				return seize(ctx, l)
			}
			return nil, strategies.ErrNotAcquired
		}})
}

// stagesInJSON are the texts of stages, as one process writes them.
func stagesInJSON(stages ...string) (texts []string) {
	for _, stage := range stages {
		texts = append(texts, fmt.Sprintf(`{"host":"worker-eu-west-1","stage":%q}`, stage))
	}
	return texts
}

// askedAt writes down when it has asked, and takes the lock if that was 4 to 8 s after the record's stamp.
func askedAt(ctx context.Context, l *lock) (*strategies.Lease, error) {
	sent, now := l.Clock.Monotonic(), l.Clock.Now().UnixMilli()
	token := fmt.Sprintf("%d %s", now, l.Token())
	err := l.set(ctx, l.key, token)
	if !refused(err) {
		return l.lease(token, sent), err
	}
	if err := l.rdb.SetNX(ctx, l.key+":asked", now, l.TTL).Err(); err != nil {
		return nil, err
	}
	holder, err := l.rdb.Get(ctx, l.key).Result()
	if err != nil {
		return nil, strategies.ErrNotAcquired
	}
	asked, err := l.rdb.Get(ctx, l.key+":asked").Int64()
	if err != nil {
		return nil, strategies.ErrNotAcquired
	}
	stamp, _, _ := strings.Cut(holder, " ")
	since, _ := strconv.ParseInt(stamp, 10, 64)
	if waited := asked - since; waited <= 4000 || waited >= 8000 {
		return nil, strategies.ErrNotAcquired
	}
	return seize(ctx, l)
}

// staged are locks that take over within a few seconds, and only in one state of several, of which a text or a token tells.
var staged = []*subject{
	inStages("stages-in-a-key", "a script takes over in the first stage, as long texts say", false, stagesInJSON("pending", "checked", "held")...),
	inStages("stages-in-numbers", "a script takes over in the first stage, as great numbers say", false, "4000", "2000", "2001", "3000"),
	inStages("stages-by-argument", "a script is told how long somebody has waited, and takes over in the first stage", true, stagesInJSON("pending", "armed", "booked", "checked", "held")...),
	toldStages("active", "busy", "copying", "draining", "flushing", "stopping"),
	custom("reserved", "two who wait, and one of them takes over once the other has reserved the next turn", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent := l.Token(), l.Clock.Monotonic()
			for range 2 {
				won, err := reserved.Run(ctx, l.rdb, []string{l.key, l.key + ":next"}, token, l.TTL.Milliseconds()).Bool()
				if err != nil {
					return nil, err
				}
				if won {
					return l.lease(token, sent), nil
				}
			}
			return nil, strategies.ErrNotAcquired
		}}),
	custom("two-stamps", "it compares a stamp that it has written and read back with the record's", steps{acquire: askedAt}),
}

// TestStages: what a lock does in one state alone, at few readings, is found within bounds that contain it; and without a
// bound on cycles nothing is said to hold.
func TestStages(t *testing.T) {
	for i, s := range staged {
		if !testenv.Some(i, testenv.Quick(6, 2)) {
			continue
		}
		b := explore.Defaults(s.strategy)
		b.TTL, b.Codes, b.Faults = 12*time.Second, trace.Verdict{trace.DG, trace.FR}, explore.Budget{explore.Pause: 1}
		findsForeignRelease(t, s, b)
	}
}
