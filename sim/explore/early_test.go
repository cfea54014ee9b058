package explore

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/space"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestWaitsThatEndAtWill: a search in which waits end at any time comes to all situations to which one
// comes in which they end when they do. Spans aside, as its grid is another.
func TestWaitsThatEndAtWill(t *testing.T) {
	testenv.Long(t)
	b := closing(t, "watchdog")
	b.Faults[ReplyLost], b.Timeout = 0, b.TTL
	if testenv.Whole() {
		b.Faults[ReplyLost] = Any
	}
	all, states, _ := situations(t, b, false, timeless)
	b.Waits = bounds.WaitsMustEnd
	exact, more, _ := situations(t, b, false, timeless)
	t.Logf("%d states, %d situations without spans; with exact waits %d and %d", states, len(all), more, len(exact))
	maps.DeleteFunc(exact, func(s string, _ bool) bool { return all[s] })
	for s := range exact {
		t.Errorf("%d situations are met with only where waits end when they do, such as %s", len(exact), s)
		break
	}
	if len(all) < 500 {
		t.Errorf("only %d situations", len(all))
	}
}

// timeless describes what two clients, their threads and the server are in, without names and spans. A
// thread whose wait is over, and that hasn't gone on, may as well wait still.
func timeless(x *space.Explorer, state []uint32) string {
	x.Visit(state)
	outline := woken.ReplaceAllString(spans.ReplaceAllString(x.Outline(), ""), "${1}true$2")
	clients, records, _ := strings.Cut(outline, "n1\n")
	a, b, _ := strings.Cut(clients, "B ")
	return min(a[2:]+b, b+a[2:]) + records
}

// spans are those of an outline, and the numbers of acquisitions, which are names.
var spans = regexp.MustCompile(`acquisition [0-9]+|for -?[0-9]+ms|of -?[0-9]+/[0-9]+`)

// woken is a thread of an outline whose next operation is to read a reply, or to end a sleep: of each one,
// whether it is over, whether it waits, and whether it has a reply.
var woken = regexp.MustCompile(`([ce]false)false(true|false)`)

// stealer is right, because it takes a record away only if that is still there after two lives of it. Its
// thread does nothing.
type stealer struct{ tokenLock }

func (l *stealer) Acquire(ctx context.Context) (*strategies.Lease, error) {
	l.Go(func() {})
	lease, err := l.tokenLock.Acquire(ctx)
	if !errors.Is(err, strategies.ErrNotAcquired) {
		return lease, err
	}
	holder, failed := l.rdb.Get(ctx, l.key).Result()
	if failed != nil {
		return nil, err
	}
	if failed := l.Clock.Sleep(ctx, 2*l.TTL); failed != nil {
		return nil, failed
	}
	return nil, errors.Join(err, compareDelete.Run(ctx, l.rdb, []string{l.key}, holder).Err())
}

// TestEarlyWakesProveNothing: what only waits that end too early violate is not violated.
func TestEarlyWakesProveNothing(t *testing.T) {
	testenv.Long(t)
	s := strategies.Strategy{Name: "stealer", Nodes: 1, Timeout: 12 * time.Second, Scripts: []*redis.Script{compareDelete}}
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return &stealer{tokenLock{rdb: nodes[0], key: key, Options: o, script: compareDelete}}
	}
	b := Bounds{Strategy: s, Clients: 2, Cycles: Any, TTL: 12 * time.Second, Faults: Budget{Pause: Any}, Codes: trace.Verdict{trace.DG, trace.FR, trace.PD}}
	r, err := Run(context.Background(), b, Options{Memory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if r.Answer() != HoldsAlways || r.Bounds.Waits != bounds.WaitsMustEnd {
		t.Errorf("%s, waits %d", r.Summary(), r.Bounds.Waits)
	}
}

// TestFineWaits: where the lock's spans make too many instants, its waits end at any time. What that
// violates is looked for within small bounds.
func TestFineWaits(t *testing.T) {
	testenv.Long(t)
	for name, want := range map[string]Answer{"setpx-lua": HoldsAlways, "naive-del": Violated} {
		b := closing(t, name)
		b.Timeout = 70 * time.Millisecond
		r, err := Run(context.Background(), b, Options{Memory: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		least := slices.ContainsFunc(r.Violated, func(v *Counterexample) bool { return v.Within == nil })
		if r.Answer() != want || r.Bounds.Waits != WaitsEndAtWill || r.Grid != b.TTL || least {
			t.Errorf("%s: %s, waits %d at multiples of %s", name, r.Summary(), r.Bounds.Waits, r.Grid)
		}
	}
}

// asking is a lock whose lease lasts for as long as Redis says that the record lives, less a second: that is over, and has
// a deadline, if a second is left.
type asking struct{ tokenLock }

func (l *asking) Acquire(ctx context.Context) (*strategies.Lease, error) {
	token := l.Token()
	if won, err := l.rdb.SetNX(ctx, l.key, token, l.TTL).Result(); err != nil || !won {
		return nil, errors.Join(err, strategies.ErrNotAcquired)
	}
	asked := l.Clock.Monotonic()
	left, err := l.rdb.PTTL(ctx, l.key).Result()
	if err != nil {
		return nil, err
	}
	if holder, err := l.rdb.Get(ctx, l.key).Result(); err != nil || holder != token {
		return nil, strategies.ErrNotAcquired
	}
	return &strategies.Lease{Token: token, Deadline: asked + left - time.Second}, nil
}

// TestDeadlineIsNotNothing: a deadline at or before a client's first reading of its clock is over, and not one that the lock
// doesn't tell.
func TestDeadlineIsNotNothing(t *testing.T) {
	s := tokenStrategy(tokenLock{})
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return &asking{tokenLock{rdb: nodes[0], key: key, Options: o, script: compareDelete}}
	}
	r, err := Run(t.Context(), Bounds{Strategy: s, Clients: 2, Cycles: 1, TTL: 12 * time.Second, Faults: Budget{Pause: 1}, Codes: trace.Verdict{trace.DG}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Finding(trace.DG); f.Answer != HoldsWithin {
		t.Error(f)
	}
}
