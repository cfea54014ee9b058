package certificate_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim"
	"lockstep/sim/explore/certificate"
	"lockstep/sim/process"
	simredis "lockstep/sim/redis"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// lock is a right lock, except that whoever is refused takes the record over if he may.
type lock struct {
	rdb *redis.Client
	key string
	strategies.Options
	may condition
}

var release = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

func (l *lock) Acquire(ctx context.Context) (*strategies.Lease, error) {
	token, sent := l.Token(), l.Clock.Monotonic()
	won, err := l.rdb.SetNX(ctx, l.key, token, l.TTL).Result()
	switch {
	case err != nil:
		return nil, err
	case !won && !l.may(ctx, l, sent):
		return nil, strategies.ErrNotAcquired
	case !won:
		err = l.rdb.Set(ctx, l.key, token, l.TTL).Err()
	}
	return &strategies.Lease{Token: token, Deadline: sent + l.TTL}, err
}

func (l *lock) Release(ctx context.Context, lease *strategies.Lease) error {
	n, err := release.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int()
	if err == nil && n == 0 {
		err = strategies.ErrNotHeld
	}
	return err
}

// condition is when a client that is refused takes the record over.
type condition = func(ctx context.Context, l *lock, since time.Duration) bool

// forgeries are locks of which the engine comes to few situations, if it only ever does what is in a
// certificate that was written for the purpose.
var forgeries = map[string]struct {
	may func() condition // of a new process
	why string
}{
	"between two multiples of the grid": {func() condition {
		return func(ctx context.Context, l *lock, _ time.Duration) bool {
			left, err := l.rdb.PTTL(ctx, l.key).Result()
			return err == nil && left > 0 && left < l.TTL/3
		}
	}, "violates DG"},
	"after a long wait": {func() condition {
		return func(_ context.Context, l *lock, since time.Duration) bool {
			return l.Clock.Monotonic()-since > 5*l.TTL
		}
	}, "goes on in another way after a long wait"},
	"by the server's clock": {func() condition {
		return func(ctx context.Context, l *lock, _ time.Duration) bool {
			yes, err := late.Run(ctx, l.rdb, nil).Bool()
			return err == nil && yes
		}
	}, "goes on in another way after a long wait"},
	"in the fifth cycle, counted by a closure": {func() condition {
		n := 0
		return func(context.Context, *lock, time.Duration) bool { n++; return n > 4 }
	}, "leads to a situation that the certificate doesn't have"},
	"never, but looks after a long wait": {func() condition {
		return func(ctx context.Context, l *lock, since time.Duration) bool {
			if l.Clock.Monotonic()-since > 5*l.TTL {
				_ = l.rdb.Get(ctx, l.key).Err()
			}
			return false
		}
	}, "goes on in another way after a long wait"},
}

var late = redis.NewScript(`if tonumber(redis.call("TIME")[1]) > 1300 then return 1 end return 0`)

const ttl = 3 * time.Second

// forged writes a certificate that a lock violates no DG.
func forged(t *testing.T, may func() condition) (*certificate.Certificate, certificate.Options) {
	t.Helper()
	s := strategies.Strategy{Name: "forged", Nodes: 1, Timeout: ttl, Scripts: []*redis.Script{release, late}, New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return &lock{rdb: nodes[0], key: key, Options: o, may: may()}
	}}
	cfg := sim.Config{Strategy: s, Scenario: "explore", Key: "lock", TTL: ttl, Timeout: ttl, Retry: strategies.Retry{Tries: 1}, Seed: 1, Draws: true, Nodes: []simredis.Config{{}}}
	for _, name := range []string{"A", "B"} {
		cfg.Clients = append(cfg.Clients, process.Config{Name: name, Rate: 1, Cycles: certificate.Cycles})
	}
	opt := certificate.Options{Resolve: func(string) (strategies.Strategy, error) { return s, nil }}
	h := certificate.Header{Lock: s.Name, Places: 2, Codes: []string{"DG"}, Grid: ttl, Far: ttl}
	c, err := certificate.Forge(h, cfg, opt.Resolve, 6000)
	if err != nil {
		t.Fatal(err)
	}
	return c, opt
}

// TestForged: a certificate is refuted although each move from each of its situations leads to one of
// them, and none violates what it claims. If that takes a violation, the engine alone shows it.
func TestForged(t *testing.T) {
	testenv.LongRaced(t)
	for name, f := range forgeries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "between two multiples of the grid" && name != "after a long wait" {
				testenv.Long(t) // those two end by a violation, and by another way on
			}
			c, opt := forged(t, f.may)
			_, err := certificate.Check(t.Context(), c, opt)
			var refuted *certificate.Refuted
			if !errors.As(err, &refuted) || !strings.Contains(err.Error(), f.why) {
				t.Fatalf("%d situations, and the check says %v; it should say that it %s", len(c.Rows), err, f.why)
			}
			if f.why == "violates DG" && (refuted.Row != trace.None || !slices.Contains(verdict(t, refuted.Schedule, opt.Resolve), trace.DG)) {
				t.Errorf("the engine doesn't show it: %v", err)
			}
		})
	}
}

// verdict is that of the engine's run of a schedule.
func verdict(t *testing.T, text string, resolve certificate.Resolve) trace.Verdict {
	t.Helper()
	s, err := sim.ParseSchedule(text, resolve)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sim.New(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // nothing is written
	if err := errors.Join(w.Reset(s.Config, false), w.Play(s.Moves, nil)); err != nil {
		t.Fatal(err)
	}
	return w.Verdict()
}

// TestForgedSpans: a header whose spans can't be added up is refused.
func TestForgedSpans(t *testing.T) {
	testenv.LongRaced(t)
	c, opt := forged(t, func() condition { return func(context.Context, *lock, time.Duration) bool { return false } })
	for _, spans := range [][2]time.Duration{{ttl, 1 << 61 / ttl * ttl}, {1 << 61 / ttl * ttl, 1 << 61 / ttl * ttl}, {time.Millisecond, time.Hour}} {
		c.Grid, c.Far = spans[0], spans[1]
		if _, err := certificate.Check(t.Context(), c, opt); err == nil || !strings.Contains(err.Error(), "these don't fit") {
			t.Errorf("grid %s, up to %s: %v", spans[0], spans[1], err)
		}
	}
}
