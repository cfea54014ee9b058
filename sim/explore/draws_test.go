package explore

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/space"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// drawer is the correct lock, whose Acquire draws a number first and does something with it.
func drawer(below time.Duration, then func(ctx context.Context, m *mutant, n time.Duration) error) strategies.Strategy {
	m := rightMutant()
	m.acquire = func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		if err := then(ctx, m, m.Random(below)); err != nil {
			return nil, err
		}
		return rightAcquire(ctx, m)
	}
	return mutantStrategy(m, 1)
}

// TestDrawsAreChosen: a branch that one random number in twenty takes is found, and the
// schedule that shows it replays.
func TestDrawsAreChosen(t *testing.T) {
	for i, tt := range []struct {
		name  string
		below time.Duration
		bad   func(n time.Duration) bool
	}{
		{"one in twenty", 20, func(n time.Duration) bool { return n == 13 }},
		{"the least", time.Hour, func(n time.Duration) bool { return n == 0 }},
		{"the greatest", time.Second, func(n time.Duration) bool { return n == 999*time.Millisecond }},
		{"an eighth of a range", time.Second, func(n time.Duration) bool { return n > 600*time.Millisecond && n < 725*time.Millisecond }},
	} {
		if !testenv.Some(i, 4) {
			continue
		}
		s := drawer(tt.below, func(ctx context.Context, m *mutant, n time.Duration) error {
			if tt.bad(n) {
				return m.nodes[0].Del(ctx, m.key).Err()
			}
			return nil
		})
		r, err := searchDefaults(t, s, func(b *Bounds) { b.Cycles, b.Faults = testenv.Quick(1, b.Cycles), Budget{} })
		if err != nil {
			t.Fatalf("%s: %s", tt.name, err)
		}
		v := r.Find(trace.DG)
		if v == nil || r.Find(trace.FR) == nil {
			t.Errorf("%s: found %s", tt.name, r.Found)
			continue
		}
		again(t, s, v)
		if r.Draws == 0 {
			t.Errorf("%s: the result counts no draws", tt.name)
		}
		if text := v.Trace.Schedule; !strings.Contains(text, ",draws=true,") || !strings.Contains(text, "B~") {
			t.Errorf("%s: %s", tt.name, text)
		}
	}
}

// TestDrawsDecideLater: what a number decides behind a sleep that is as long, a reply later, or in the next cycle, is
// found.
func TestDrawsDecideLater(t *testing.T) {
	testenv.Long(t)
	in := func(n, from, to time.Duration) bool { return n > from && n < to }
	for name, then := range map[string]func(context.Context, *mutant, time.Duration) error{
		"after a sleep": func(ctx context.Context, m *mutant, n time.Duration) error {
			if err := m.Clock.Sleep(ctx, time.Second+n); err != nil || !in(n, 950*time.Millisecond, 990*time.Millisecond) {
				return err
			}
			return m.nodes[0].Del(ctx, m.key).Err()
		},
		"after a reply": func(ctx context.Context, m *mutant, n time.Duration) error {
			if err := m.Clock.Sleep(ctx, n); err != nil {
				return err
			}
			if got, err := m.nodes[0].Exists(ctx, m.key).Result(); err != nil || got == 0 || !in(n, 310*time.Millisecond, 345*time.Millisecond) {
				return err
			}
			return m.nodes[0].Del(ctx, m.key).Err()
		},
	} {
		if name == "after a reply" && !testenv.Whole() {
			continue // for time
		}
		r, err := searchDefaults(t, drawer(time.Second, then), func(b *Bounds) { b.Faults, b.Cycles = Budget{}, 1 })
		if err != nil || r.Find(trace.DG) == nil {
			t.Errorf("%s: %v, %v", name, r.Summary(), err)
		}
	}
	s := drawer(time.Second, func(_ context.Context, m *mutant, n time.Duration) error {
		last := m.last
		if m.last = n; !in(last, 700*time.Millisecond, 735*time.Millisecond) {
			return nil
		}
		return m.nodes[0].Del(context.Background(), m.key).Err()
	})
	r, err := searchDefaults(t, s, func(b *Bounds) { b.Faults = Budget{} })
	if err != nil || r.Find(trace.DG) == nil {
		t.Errorf("in the next cycle: %v, %v", r.Summary(), err)
	}
}

// TestHarmlessDraws: a jitter changes no verdict, and adds no more sleeps than three.
func TestHarmlessDraws(t *testing.T) {
	testenv.Long(t) // TestDrawsAreChosen is short
	s := drawer(300*time.Millisecond, func(ctx context.Context, m *mutant, n time.Duration) error { return m.Clock.Sleep(ctx, n) })
	r, err := searchDefaults(t, s, func(b *Bounds) { b.Cycles = 1 })
	if err != nil || !r.Holds(trace.DG) || !r.Holds(trace.FR) || !r.Holds(trace.PD) {
		t.Fatalf("%v, %v", r.Found, err)
	}
}

// TestDraws: the numbers between which a search chooses. What one decides may come later,
// where the next step is neither a command nor a sleep.
func TestDraws(t *testing.T) {
	twenty := []time.Duration{0, 10, 19, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18}
	for _, tt := range []struct {
		below time.Duration
		then  func(ctx context.Context, m *mutant, n time.Duration) error
		want  []time.Duration
	}{
		{1, func(context.Context, *mutant, time.Duration) error { return nil }, []time.Duration{0}},
		{20, func(context.Context, *mutant, time.Duration) error { return nil }, twenty},
		{20, func(ctx context.Context, m *mutant, n time.Duration) error {
			if n%5 == 3 {
				return strategies.ErrNotAcquired
			}
			return nil
		}, twenty},
		{20, func(ctx context.Context, m *mutant, n time.Duration) error {
			if n%5 == 3 {
				return m.nodes[0].Del(ctx, m.key).Err()
			}
			return m.nodes[0].Set(ctx, "other", int(n), 0).Err()
		}, []time.Duration{0, 10, 19, 3}},
		{time.Second, func(ctx context.Context, m *mutant, n time.Duration) error { return m.Clock.Sleep(ctx, n) },
			[]time.Duration{0, 500 * time.Millisecond, 999 * time.Millisecond}},
		{time.Second, func(ctx context.Context, m *mutant, n time.Duration) error {
			return m.nodes[0].Set(ctx, "other", "x", m.TTL+n).Err()
		}, []time.Duration{0, 500 * time.Millisecond, 999 * time.Millisecond}},
	} {
		m, err := space.NewModel(Defaults(drawer(tt.below, tt.then)), false)
		if err != nil {
			t.Fatal(err)
		}
		x := m.Explorer()
		x.Begin()
		var all []time.Duration
		for len(all) == 0 {
			x.Visit(x.StateID())
			for _, c := range x.Enabled() {
				if c.Kind == space.Draws {
					all = append(all, time.Duration(c.Number))
				}
			}
			x.Choose(space.Choice{Kind: space.Acts})
		}
		if len(all) != len(tt.want) {
			t.Errorf("below %s: %v, expected %v", tt.below, all, tt.want)
		}
		for i := range min(len(all), len(tt.want)) {
			if all[i] != tt.want[i] {
				t.Errorf("below %s: %v, expected %v", tt.below, all, tt.want)
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNewDoesNothing: a number that a constructor draws can't be chosen, a thread that it starts
// would begin before the run, and there is neither time nor a server. Each is refused by name, with
// the line; none is left out in silence.
func TestNewDoesNothing(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		what string
		does func(rdb *redis.Client, o strategies.Options)
	}{
		{"draws a random number", func(_ *redis.Client, o strategies.Options) { o.Random(time.Second) }},
		{"looks at a clock, or sleeps", func(_ *redis.Client, o strategies.Options) { o.Clock.Now() }},
		{"looks at a clock, or sleeps", func(_ *redis.Client, o strategies.Options) { o.Clock.Monotonic() }},
		{"looks at a clock, or sleeps", func(_ *redis.Client, o strategies.Options) { _ = o.Clock.Sleep(ctx, time.Second) }},
		{"sends a command", func(rdb *redis.Client, _ strategies.Options) { rdb.Del(ctx, "lock") }},
		{"starts a thread", func(rdb *redis.Client, o strategies.Options) {
			o.Go(func() {
				if o.Clock.Sleep(ctx, 10*time.Second) == nil {
					rdb.Del(ctx, "lock") // whoever has it
				}
			})
		}},
	} {
		s := mutantStrategy(rightMutant(), 1)
		inner := s.New
		s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			c.does(nodes[0], o)
			return inner(nodes, key, o)
		}
		_, err := searchDefaults(t, s)
		want := "draws_test.go:LINE: New " + c.what + ", and a run begins only after it: do that in Acquire"
		if err == nil || !strings.HasSuffix(regexp.MustCompile(`:\d+:`).ReplaceAllString(err.Error(), ":LINE:"), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
