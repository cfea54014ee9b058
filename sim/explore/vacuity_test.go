package explore

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/sim"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// rightMutant is the correct lock, to be changed by a test.
func rightMutant() mutant { return mutant{acquire: rightAcquire, release: rightRelease} }

// renamed is a lock that makes its record's key from the key that it is given.
func renamed(s strategies.Strategy, name func(key string, o strategies.Options) string) strategies.Strategy {
	inner := s.New
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return inner(nodes, name(key, o), o)
	}
	return s
}

// searched within default bounds for DG, FR and PD.
func searchDefaults(t *testing.T, s strategies.Strategy, change ...func(*Bounds)) (*Result, error) {
	t.Helper()
	b := Defaults(s)
	b.Codes = trace.Verdict{trace.DG, trace.FR, trace.PD}
	for _, f := range change {
		f(&b)
	}
	return Run(context.Background(), b, Options{})
}

// TestRecordUnderAnotherName: whatever a lock calls its record, the search finds the same,
// and the schedules that it prints do, too.
func TestRecordUnderAnotherName(t *testing.T) {
	blind := rightMutant()
	blind.release = func(ctx context.Context, m *mutant, _ *strategies.Lease) error {
		return m.nodes[0].Del(ctx, m.key).Err()
	}
	immortal := rightMutant()
	immortal.acquire = func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		token := m.Token()
		return &strategies.Lease{Token: token}, m.set(ctx, m.nodes[0], token, 0)
	}
	fenced := mutant{acquire: fencedAcquire, release: rightRelease}
	for _, lock := range []struct {
		name  string
		m     mutant
		found string
	}{{"right", rightMutant(), "ok"}, {"blind DEL", blind, "DG FR"}, {"no expiry", immortal, "PD"}, {"with a counter beside it", fenced, "ok"}}[:testenv.Quick(2, 4)] {
		for i, name := range []string{"lock:{}", "lock", "{lock}:lock", "lock.lock", "locks, all/of=them"} {
			if !testenv.Some(i, 10) {
				continue
			}
			s := renamed(mutantStrategy(lock.m, 1), func(string, strategies.Options) string { return name })
			s.NoTTL = lock.name == "no expiry"
			r, err := searchDefaults(t, s)
			if err != nil {
				t.Errorf("%s as %q: %s", lock.name, name, err)
				continue
			}
			if r.Bounds.Record != name || r.Found.String() != lock.found || !r.Complete || r.Undecided != "" {
				t.Errorf("%s as %q: record %q, %s, %q, %q", lock.name, name, r.Bounds.Record, r.Found, r.Why, r.Undecided)
			}
			for _, v := range r.Violated {
				again(t, s, v)
			}
		}
	}
}

// again plays the schedule that a counterexample prints.
func again(t *testing.T, s strategies.Strategy, v *Counterexample) {
	t.Helper()
	plan, err := sim.ParseSchedule(v.Trace.Schedule, func(string) (strategies.Strategy, error) { return s, nil })
	if err != nil {
		t.Fatal(err)
	}
	w, err := sim.New(plan.Config)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // nothing is written
	if err := errors.Join(w.Reset(plan.Config, true), w.Play(plan.Moves, nil)); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Trace(); err != nil || got.Hash != v.Trace.Hash || !strings.Contains(got.Verdict().String(), v.Code.String()) {
		t.Errorf("the schedule gives %v, %v\n%s", got.Verdict(), err, v.Trace.Schedule)
	}
}

// TestEarlierRequestArrivesTwice: not only the last request of a client can. A's SETNX that
// arrives once more after its release is harmful; after its grant it isn't.
func TestEarlierRequestArrivesTwice(t *testing.T) {
	m := rightMutant()
	m.acquire = func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		token := m.Token()
		return &strategies.Lease{Token: token}, m.set(ctx, m.nodes[0], token, 0)
	}
	s := mutantStrategy(m, 1)
	s.NoTTL = true
	r, err := searchDefaults(t, s, func(b *Bounds) { b.Faults = Budget{Duplicate: 1} })
	if err != nil {
		t.Fatal(err)
	}
	v := r.Find(trace.PD)
	if v == nil || !strings.Contains(v.Trace.Schedule, "duplicate/A/0s/2") && !strings.Contains(v.Trace.Schedule, "duplicate/B/0s/2") {
		t.Fatalf("%s %v", r.Found, v)
	}
	again(t, s, v)
}

// TestExtendUntried: a result says that a lock can extend, and that no caller did.
func TestExtendUntried(t *testing.T) {
	extends := rightMutant()
	extends.extend = rightExtend
	fails := extends
	fails.extend = func(context.Context, *mutant, *strategies.Lease) error { return strategies.ErrNotHeld }
	for _, tt := range []struct {
		m               mutant
		extend, untried bool
	}{{rightMutant(), false, false}, {extends, false, true}, {extends, true, false}, {fails, true, true}} {
		r, err := searchDefaults(t, mutantStrategy(tt.m, 1), func(b *Bounds) { b.Faults, b.Extend = Budget{}, tt.extend })
		if err != nil || r.Vacuity.Unextended != tt.untried {
			t.Errorf("%+v: %+v, %v", tt, r.Vacuity, err)
		}
	}
}

// TestRecordOnSeveralServers: it has one name on all of them.
func TestRecordOnSeveralServers(t *testing.T) {
	testenv.Long(t)
	m := mutant{acquire: vote(majority, true, always), release: unvote}
	s := renamed(mutantStrategy(m, 3), func(key string, _ strategies.Options) string { return "my:" + key })
	r, err := searchDefaults(t, s, func(b *Bounds) { b.Faults = Budget{} })
	if err != nil || r.Bounds.Record != "my:lock" || !r.Holds(trace.DG) {
		t.Errorf("%v %v", r, err)
	}
}

// TestRecordRefused: the search says why it can't tell the lock's record, and what to do.
func TestRecordRefused(t *testing.T) {
	testenv.Long(t) // TestRecordUnderAnotherName is short
	beside := func(key func(*mutant, *strategies.Lease) string, release bool) mutant {
		m := rightMutant()
		m.acquire = func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			l, err := rightAcquire(ctx, m)
			if err == nil {
				err = m.nodes[0].Set(ctx, key(m, l), "x", m.TTL).Err()
			}
			return l, err
		}
		m.release = func(ctx context.Context, m *mutant, l *strategies.Lease) error {
			if release {
				m.nodes[0].Del(ctx, key(m, l))
			}
			return rightRelease(ctx, m, l)
		}
		return m
	}
	owner := func(m *mutant, _ *strategies.Lease) string { return m.key + ":owner" }
	apart := rightMutant()
	apart.acquire = func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		l := &strategies.Lease{Token: m.Token()}
		for i, n := range m.nodes {
			if won, err := n.SetNX(ctx, m.key+string(rune('a'+i)), l.Token, m.TTL).Result(); err != nil || !won {
				return nil, errors.Join(strategies.ErrNotAcquired, err)
			}
		}
		return l, nil
	}
	perCycle := mutant{
		acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			l := &strategies.Lease{Token: m.Token()}
			return l, m.nodes[0].Set(ctx, "lock:"+l.Token[1:2], "x", m.TTL).Err()
		},
		release: func(ctx context.Context, m *mutant, l *strategies.Lease) error {
			return m.nodes[0].Del(ctx, "lock:"+l.Token[1:2]).Err()
		}}
	for _, tt := range []struct {
		name  string
		s     strategies.Strategy
		named string
		want  string
	}{
		{"two keys", mutantStrategy(beside(owner, true), 1), "",
			`the keys "lock" and "lock:owner" could each be the lock's record: they are there while A has the lock, and its release removes "lock" and "lock:owner"; name it: set Bounds.Record to one of them`},
		{"a key that was never there", mutantStrategy(rightMutant(), 1), "mine",
			`the record is said to be "mine", and when A had the lock there was no such key: there was "lock"`},
		{"a key for each client", renamed(mutantStrategy(rightMutant(), 1), func(key string, o strategies.Options) string { return key + ":" + o.Token()[:1] }), "",
			`A's record is "lock:A", and B's is "lock:B": clients that lock different keys keep nobody out; the key must depend on nothing but the key that New is given`},
		{"a key for each cycle", mutantStrategy(perCycle, 1), "",
			`A's record is "lock:2" in one cycle, and "lock:3" in another: a search needs a lock that has one record; the key must depend on nothing but the key that New is given`},
		{"a key for each server", mutantStrategy(apart, 3), "",
			`the record must have one name on all servers, and A stores "locka" on n1, "lockb" on n2 and "lockc" on n3`},
	} {
		_, err := searchDefaults(t, tt.s, func(b *Bounds) { b.Record = tt.named; b.Cycles = 2 })
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v\nexpected %s", tt.name, err, tt.want)
		}
	}
	// Two keys of which one is named, and two of which the release leaves one.
	for _, tt := range []struct {
		m     mutant
		named string
	}{{beside(owner, true), "lock"}, {beside(owner, false), ""}} {
		r, err := searchDefaults(t, mutantStrategy(tt.m, 1), func(b *Bounds) { b.Record, b.Faults = tt.named, Budget{} })
		if err != nil || r.Bounds.Record != "lock" || r.Found != nil {
			t.Errorf("%v %v", r, err)
		}
	}
}

// TestUndecided: a search of a lock that never gets to run says so, and holds nothing.
func TestUndecided(t *testing.T) {
	failing := rightMutant()
	failing.acquire = func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		return nil, m.nodes[0].Eval(ctx, "return redis.error_reply('ERR syntax error')", nil).Err()
	}
	refusing := rightMutant()
	refusing.acquire = func(context.Context, *mutant) (*strategies.Lease, error) { return nil, strategies.ErrNotAcquired }
	once := rightMutant()
	once.release = func(context.Context, *mutant, *strategies.Lease) error { return nil }
	for _, tt := range []struct {
		name, want string
		m          mutant
		v          Vacuity
	}{
		{"its own error", `the lock was never acquired, even with nothing going wrong: its own Acquire fails with ERR syntax error (at sim/explore/vacuity_test.go:`, failing, Vacuity{}},
		{"refuses", "the lock was never acquired, even with nothing going wrong: its Acquire refuses a lock that nobody has", refusing, Vacuity{}},
		{"no record", "the lock's record was never seen: Acquire returned a lease, and had stored no key that was still there", mutant{
			acquire: func(context.Context, *mutant) (*strategies.Lease, error) { return &strategies.Lease{}, nil },
			release: func(context.Context, *mutant, *strategies.Lease) error { return nil }}, Vacuity{Granted: true, Reacquired: true, Unseen: true}},
		{"once", onceOnly, once, Vacuity{Granted: true, Stays: "lock"}},
	} {
		r, err := searchDefaults(t, mutantStrategy(tt.m, 1), func(b *Bounds) { b.Faults = Budget{} })
		if err != nil {
			t.Fatalf("%s: %s", tt.name, err)
		}
		if !r.Complete || !strings.HasPrefix(r.Undecided, tt.want) || r.Holds(trace.FR) {
			t.Errorf("%s: complete %t, holds FR %t, %q\nexpected %q", tt.name, r.Complete, r.Holds(trace.FR), r.Undecided, tt.want)
		}
		got := r.Vacuity
		got.Failure = ""
		if got.Granted != tt.v.Granted || got.Reacquired != tt.v.Reacquired || got.Unseen != tt.v.Unseen || got.Stays != tt.v.Stays {
			t.Errorf("%s: %+v", tt.name, r.Vacuity)
		}
	}
}

// TestSoloOfTheCatalogue: the record of every lock of the catalogue is the key that it is
// given, so their schedules need not name it.
func TestSoloOfTheCatalogue(t *testing.T) {
	for _, s := range strategies.All() {
		b := Defaults(s)
		v, err := rehearse(&b)
		if err != nil || b.Record != "lock" || !v.Granted || v.undecided(&b) != "" {
			t.Errorf("%s: record %q, %+v, %v", s.Name, b.Record, v, err)
		}
		cfg, err := b.Config()
		if err != nil || cfg.Record != "" {
			t.Errorf("%s: %q %v", s.Name, cfg.Record, err)
		}
	}
}
