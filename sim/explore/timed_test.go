package explore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// timedLock is a lock to which true time matters, in one of two ways that don't show when a
// client runs alone from the start.
type timedLock struct {
	rdb *redis.Client
	key string
	strategies.Options
	ask func(context.Context, *timedLock) error
}

func (l *timedLock) Acquire(ctx context.Context) (*strategies.Lease, error) {
	return &strategies.Lease{}, l.ask(ctx, l)
}

func (l *timedLock) Release(ctx context.Context, _ *strategies.Lease) error {
	return l.rdb.Del(ctx, l.key).Err()
}

func timed(ask func(context.Context, *timedLock) error) strategies.Strategy {
	return strategies.Strategy{Name: "timed", Nodes: 1, Timeout: 3 * time.Second,
		New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			return &timedLock{rdb: nodes[0], key: key, Options: o, ask: ask}
		}}
}

// lateLook looks at the wall clock only when it is refused, and takes the lock over
// if it is later than some hour.
func lateLook(ctx context.Context, l *timedLock) error {
	won, err := l.rdb.SetNX(ctx, l.key, l.Token(), 0).Result()
	if won || err != nil {
		return err
	}
	if l.Clock.Now().Before(trace.Epoch.Add(l.TTL)) {
		return strategies.ErrNotAcquired
	}
	return l.rdb.Set(ctx, l.key, l.Token(), 0).Err()
}

// serverTime stores a stamp of the server's own clock, and takes over what is older.
func serverTime(ctx context.Context, l *timedLock) error {
	now, err := l.rdb.Time(ctx).Result()
	if err != nil {
		return err
	}
	stamp := now.Add(l.TTL).UnixMilli()
	won, err := l.rdb.SetNX(ctx, l.key, stamp, 0).Result()
	if won || err != nil {
		return err
	}
	old, err := l.rdb.Get(ctx, l.key).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	if old >= now.UnixMilli() {
		return strategies.ErrNotAcquired
	}
	return l.rdb.Set(ctx, l.key, stamp, 0).Err()
}

var serverStamp = redis.NewScript(`
local now = tonumber(redis.call("TIME")[1])
local old = redis.call("GET", KEYS[1])
if old and tonumber(old) >= now then return 0 end
redis.call("SET", KEYS[1], now + 12)
return 1`)

// serverScript does so in a script, which it calls by its digest.
func serverScript(ctx context.Context, l *timedLock) error {
	won, err := serverStamp.Run(ctx, l.rdb, []string{l.key}).Int()
	if err == nil && won == 0 {
		return strategies.ErrNotAcquired
	}
	return err
}

// serverWord does so in a script that is told the command's name.
func serverWord(ctx context.Context, l *timedLock) error {
	const script = `
local now = tonumber(redis.call(ARGV[1])[1])
local old = redis.call("GET", KEYS[1])
if old and tonumber(old) >= now then return 0 end
redis.call("SET", KEYS[1], now + 12)
return 1`
	won, err := l.rdb.Eval(ctx, script, []string{l.key}, "time").Int()
	if err == nil && won == 0 {
		return strategies.ErrNotAcquired
	}
	return err
}

// TestTimeThatShowsLate: true time belongs to the state as soon as a clock that shows it may
// be read, wherever in a schedule that is; without it a takeover would be missed.
func TestTimeThatShowsLate(t *testing.T) {
	testenv.Long(t)
	for name, ask := range map[string]func(context.Context, *timedLock) error{
		"a wall clock, when refused": lateLook, "the server's clock": serverTime, "the server's clock, in a script": serverScript,
		"the server's clock, in a script that is told so": serverWord,
	} {
		t.Run(name, func(t *testing.T) {
			b := Defaults(timed(ask))
			b.Cycles = 1
			r, err := Run(context.Background(), b, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Find(trace.OV) == nil {
				t.Errorf("%d states, and nobody has taken over: %v", r.States, r.Found)
			}
			b.Faults = Budget{1, 3, 1, 1, 1, 1, 1, 1, Evict: 1}
			expectAgreement(t, b, 300)
			g, err := NewGuide(Defaults(timed(ask)), trace.OV)
			if err != nil {
				t.Fatal(err)
			}
			if h, err := g.From(context.Background(), nil); err != nil || !h.Reachable {
				t.Errorf("%+v, %v", h, err)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCountsInSeconds: a lock that compares its stamp with a later reading of its clock, both in whole
// seconds, changes its mind where a second begins. Taken for instants of their own, these were more
// than a search can stop at.
func TestCountsInSeconds(t *testing.T) {
	testenv.Long(t)
	b := Defaults(strategy(t, "getset-redisio"))
	b.Cycles, b.Codes, b.Faults = 1, trace.Verdict{trace.DG, trace.PD}, Budget{Crash: 1, Pause: 1}
	r, err := Run(context.Background(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete || !r.Holds(trace.PD) || r.Find(trace.DG) == nil {
		t.Errorf("%s, after %d states: %s", r.Found, r.States, r.Why)
	}
}
