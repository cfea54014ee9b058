package explore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/naming"
	"lockstep/sim/explore/space"
	requests "lockstep/sim/explore/spent"
	"lockstep/sim/process"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// A search has the same result or error with any number of workers: for a lock that fails
// where no schedule goes, for threads that an earlier cycle has left, for an endless history.
func TestAnyNumberOfWorkersSaysTheSame(t *testing.T) {
	t.Parallel()
	if !testenv.Raced { // where races are looked for, it runs anyway
		testenv.Longest(t)
	}
	looks := func(m *mutant, n int) {
		for range n {
			m.Clock.Monotonic()
		}
	}
	acquires := map[string]func(ctx context.Context, m *mutant) (*strategies.Lease, error){
		"panics where nobody goes": func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			l, err := rightAcquire(ctx, m)
			if err != nil {
				looks(m, 20)
				m.Clock.Sleep(ctx, 20*time.Second)
				panic("boom")
			}
			return l, err
		},
		"threads in some cycles": func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			l, err := rightAcquire(ctx, m)
			if err != nil {
				looks(m, 6)
				return nil, err
			}
			m.Go(func() { looks(m, 3); m.nodes[0].Get(ctx, m.key) })
			return l, err
		},
		"no end in some cycles": func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
			l, err := rightAcquire(ctx, m)
			if err != nil {
				looks(m, 600)
			}
			return l, err
		},
	}
	counts := []int{1, 8}
	switch {
	case testenv.Raced: // for time
		delete(acquires, "no end in some cycles")
		counts = []int{8, 2}
	case testenv.Whole():
		counts = []int{1, 8, 2}
	}
	for name, acquire := range acquires {
		t.Run(name, func(t *testing.T) {
			m := mutant{acquire: acquire, release: rightRelease}
			b := Bounds{Strategy: mutantStrategy(m, 1), Clients: 2, Cycles: 2, TTL: 12 * time.Second, Codes: trace.Verdict{trace.DG}}
			switch name {
			case "panics where nobody goes":
				b.Switches = 1
			case "threads in some cycles":
				if !testenv.Raced { // for time
					b.Faults[Pause] = 1
				}
			}
			first := ""
			for _, workers := range counts {
				r, err := Run(context.Background(), b, Options{Workers: workers, Patience: time.Minute})
				said := fmt.Sprint(err)
				if err == nil {
					said = fmt.Sprint(r.Complete, r.States, r.Transitions, r.Commands, r.Operations, r.Found, r.Near)
				}
				if first == "" {
					first = said
				}
				if said != first {
					t.Fatalf("%d workers: %s; and one: %s", workers, said, first)
				}
			}
			t.Log(first)
		})
	}
}

// A lock that can't be made is an error of the search, whichever worker makes it.
func TestConstructorPanics(t *testing.T) {
	for _, workers := range []int{1, 8} {
		var made atomic.Int64
		s := mutantStrategy(mutant{acquire: rightAcquire, release: rightRelease}, 1)
		right := s.New
		s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			if made.Add(1) > 12 {
				panic("pool exhausted")
			}
			return right(nodes, key, o)
		}
		b := Bounds{Strategy: s, Clients: 2, Cycles: 2, TTL: 12 * time.Second, Faults: Budget{Crash: 1, Pause: 1, ReplyLost: 1}}
		_, err := Run(context.Background(), b, Options{Workers: workers, Patience: time.Minute})
		var p *process.Panic
		if !errors.As(err, &p) {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

// A lock that starts one more thread now and then is not deterministic.
func TestThreadsThatWaver(t *testing.T) {
	var n atomic.Int64
	m := mutant{release: rightRelease, acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		l, err := rightAcquire(ctx, m)
		if n.Add(1)%3 == 0 {
			m.Go(func() { m.Clock.Sleep(ctx, time.Second) })
		}
		return l, err
	}}
	b := Bounds{Strategy: mutantStrategy(m, 1), Clients: 2, Cycles: 1, TTL: 12 * time.Second, Faults: Budget{Crash: 1, Pause: 1, ReplyLost: 1}}
	_, err := Run(context.Background(), b, Options{Workers: 2})
	var wild *behaviour.Nondeterminism
	if !errors.As(err, &wild) {
		t.Errorf("nobody noticed: %v", err)
	}
}

// The error of a nondeterministic lock names the probe, too, which asks for the lock at a
// schedule's end.
func TestProbeThatWavers(t *testing.T) {
	var n atomic.Int64
	m := mutant{release: rightRelease, acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		l, err := rightAcquire(ctx, m)
		if l != nil && strings.HasPrefix(l.Token, trace.Probe) && n.Add(1)%2 == 0 {
			m.Clock.Monotonic()
		}
		return l, err
	}}
	b := Bounds{Strategy: mutantStrategy(m, 1), Clients: 2, Cycles: 1, TTL: 12 * time.Second, Faults: Budget{Crash: 1, Pause: 1, ReplyLost: 1}}
	for workers := 1; workers <= 2; workers++ {
		_, err := Run(context.Background(), b, Options{Workers: workers, Patience: time.Minute})
		var wild *behaviour.Nondeterminism
		if !errors.As(err, &wild) || wild.Client != trace.Probe {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

// Keys that several workers add to a memo at the same time are all there, with one id each.
func TestMemoOfMany(t *testing.T) {
	const workers, keys = 8, 20_000
	m := intern.NewMemo[int, int]()
	var numbers [workers][keys]uint32
	together(workers, func(w int) {
		for _, k := range order(w, keys) {
			numbers[w][k] = m.Put(k, -k)
			if v, known := m.Get(k); !known || *v != -k {
				t.Errorf("%d is not remembered", k)
			}
		}
	})
	if m.Len() != keys {
		t.Errorf("%d keys are %d", keys, m.Len())
	}
	for w := range workers {
		if numbers[w] != numbers[0] {
			t.Fatal("a key has two numbers")
		}
	}
	all := slices.Sorted(slices.Values(numbers[0][:]))
	if all[0] != 1 || all[keys-1] != keys || len(slices.Compact(all)) != keys {
		t.Error("two keys have one number, or one has none")
	}
}

// States that several workers add to the visited set at the same time are there once, and
// whole.
func TestVisitedByMany(t *testing.T) {
	const workers = 8
	states := testenv.Quick(20_000, 100_000)
	for _, width := range []int{1, 3, 9} {
		v := intern.NewVisited(width)
		state := func(n int) []uint32 {
			s := make([]uint32, width)
			for i := range s {
				s[i] = uint32(n >> (7 * i))
			}
			s[0] = uint32(n)
			return s
		}
		together(workers, func(w int) {
			var batch []uint32
			var digests []uint64
			for i, n := range order(w, states) {
				if batch = append(batch, state(n)...); i%50 == 49 {
					digests = v.AddAll(batch, digests)
					batch = batch[:0]
				}
			}
			v.AddAll(batch, digests)
		})
		sizes, total := v.Sizes()
		if total != states {
			t.Errorf("width %d: %d states are %d", width, states, total)
		}
		seen := map[uint32]bool{}
		for i, n := range sizes {
			all := v.Read(i, 0, n, nil)
			for at := 0; at < len(all); at += width {
				s := all[at : at+width]
				if seen[s[0]] || !slices.Equal(s, state(int(s[0]))) {
					t.Fatalf("width %d: %v is there twice, or torn", width, s)
				}
				seen[s[0]] = true
			}
		}
	}
}

func together(n int, do func(worker int)) {
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() { do(w) })
	}
	wg.Wait()
}

// order returns a permutation that differs between workers, and is the same in each run.
func order(worker, n int) []int { return rand.New(rand.NewPCG(uint64(worker), 1)).Perm(n) }

// TestDoneIsNameless: a client is known to be done with its tokens by any names of clients and tokens. If it were not,
// the number of situations would depend on the names under which a worker was the first to meet with them.
func TestDoneIsNameless(t *testing.T) {
	b := closing(t, "watchdog")
	b.Faults = Budget{}
	m, err := space.NewModel(b, true)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s := &search{Model: m, opt: Options{Workers: 1}}
	if err := s.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	of := requests.In(m.Clients, m.Servers)
	of.Learn(1)
	met, done := map[uint32]bool{}, 0
	for id := range uint32(m.Clients.Outcomes.Len()) {
		from := m.Clients.Outcomes.Entries.At(id + 1).Key.From
		first := from
		for came := m.Clients.At(first).Came(); came.From != 0; came = m.Clients.At(first).Came() {
			first = came.From
		}
		if slices.Contains(m.Clients.Begin[:b.Clients], first) { // and not of the probe
			met[from] = true
		}
	}
	for from := range met {
		for _, r := range naming.Reversals(b.Clients) {
			to, err := m.Clients.Rename(from, r)
			if err != nil {
				t.Fatal(err)
			}
			if of.Done(from) != of.Done(to) {
				t.Errorf("history %d: %t, and under other names %t", from, of.Done(from), of.Done(to))
			}
			if of.Done(from) && from != to {
				done++
			}
		}
	}
	if done == 0 || done == len(met) {
		t.Errorf("done after %d of %d histories", done, len(met))
	}
}
