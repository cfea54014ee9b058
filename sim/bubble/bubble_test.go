package bubble_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/explore"
	"lockstep/sim/explore/locktest"
	"lockstep/sim/fault"
	"lockstep/sim/process"
	sredis "lockstep/sim/redis"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// mutex is a lock library as people write them: it takes time from package time, draws its
// tokens from crypto/rand, and asks all servers at once.
type mutex struct {
	nodes []*redis.Client
	key   string
	ttl   time.Duration
	delay func() time.Duration // between two tries; nil is one try

	token string
	until time.Time
	twice bool // its release compares in the client
}

var (
	errTaken = errors.New("taken")
	errLost  = errors.New("lost")
)

func (m *mutex) lock(ctx context.Context) error {
	b := make([]byte, 4)
	_, _ = rand.Read(b)
	m.token = hex.EncodeToString(b)
	for {
		begun := time.Now()
		votes := m.all(func(c *redis.Client) bool {
			_, err := c.SetArgs(ctx, m.key, m.token, redis.SetArgs{Mode: "NX", TTL: m.ttl}).Result()
			return err == nil
		})
		if m.until = begun.Add(m.ttl); votes > len(m.nodes)/2 && time.Now().Before(m.until) {
			return nil
		}
		_ = m.unlock(ctx)
		if m.delay == nil {
			return errTaken
		}
		<-time.After(m.delay()) // of the bubble
		m.delay = nil
	}
}

func (m *mutex) unlock(ctx context.Context) error {
	votes := m.all(func(c *redis.Client) bool {
		if m.twice {
			return c.Get(ctx, m.key).Val() == m.token && c.Del(ctx, m.key).Val() == 1
		}
		n, _ := c.Eval(ctx, `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`, []string{m.key}, m.token).Int()
		return n == 1
	})
	if votes <= len(m.nodes)/2 {
		return errLost
	}
	return nil
}

// all asks all servers at once, and counts those that say yes.
func (m *mutex) all(ask func(*redis.Client) bool) (votes int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, c := range m.nodes {
		wg.Go(func() {
			if ask(c) {
				mu.Lock()
				defer mu.Unlock()
				votes++
			}
		})
	}
	wg.Wait()
	return votes
}

// library makes a Library of the mutex, which may be changed.
func library(nodes int, change func(*mutex)) bubble.Library {
	return bubble.Library{Nodes: nodes, New: func(p *bubble.Process) bubble.Lock {
		m := &mutex{key: p.Key, ttl: p.TTL}
		for i := range p.Nodes {
			m.nodes = append(m.nodes, p.Redis(i))
		}
		if change != nil {
			change(m)
		}
		return bubble.Lock{Acquire: m.lock, Release: m.unlock, Until: func() time.Time { return m.until }, Token: func() string { return m.token },
			Refusals: []error{errTaken}, Losses: []error{errLost}}
	}}
}

// crashes bounds a search to one crash, and pauses to one pause: the test is of the bubbles.
func crashes(b *explore.Bounds) { b.Cycles, b.Faults[explore.Pause] = 1, 0 }

func pauses(b *explore.Bounds) { b.Cycles, b.Faults[explore.Crash] = 1, 0 }

func TestALibraryHolds(t *testing.T) {
	testenv.LongRaced(t)
	var states []int64
	for range testenv.Quick(1, 2) {
		r := locktest.Holds(t, bubble.Strategy(t, library(1, nil)), crashes)
		states = append(states, r.States)
	}
	if first, last := states[0], states[len(states)-1]; first != last {
		t.Errorf("%d states, and then %d: the same search must find the same", first, last)
	}
}

func TestAReleaseInTwoIsFound(t *testing.T) {
	testenv.Longest(t)
	two := library(1, func(m *mutex) { m.twice = true })
	r := locktest.Breaks(t, bubble.Strategy(t, two), trace.Verdict{trace.FR}, pauses)
	if r == nil || len(r.Violated) == 0 || !strings.Contains(text(r.Violated[0].Trace), "GET lock") {
		t.Error("the least schedule doesn't show the GET of the release")
	}
}

// What wavers is refused: the search would be about a lock that nobody has.
func TestRandomDelaysAreRefused(t *testing.T) {
	wavers := library(1, func(m *mutex) {
		m.delay = func() time.Duration { return time.Duration(mrand.IntN(1000)) * time.Millisecond }
	})
	b := locktest.Defaults(bubble.Strategy(t, wavers))
	b.Cycles = 1
	_, err := explore.Run(t.Context(), b, explore.Options{})
	if err == nil || !strings.Contains(err.Error(), "is not deterministic") {
		t.Errorf("the search ends with %v, and must say that the lock wavers", err)
	}
}

// world starts a run of one client, or of two, with the library.
func world(t *testing.T, l bubble.Library, clients ...string) (*sim.World, *bubble.Stats) {
	t.Helper()
	s, stats := bubble.Measured(t, l)
	cfg := sim.Config{Strategy: s, Key: "lock", TTL: 12 * time.Second, Timeout: s.Timeout, Latency: time.Millisecond}
	for _, name := range clients {
		cfg.Clients = append(cfg.Clients, process.Config{Name: name, Rate: 1, Cycles: 1})
	}
	cfg.Nodes = make([]sredis.Config, s.Nodes)
	w, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	if err := w.Reset(cfg, true); err != nil {
		t.Fatal(err)
	}
	return w, stats
}

// play lets the clients go on until none has anything left to do, and returns the trace.
func play(t *testing.T, w *sim.World) *trace.Trace {
	t.Helper()
	for w.Step(1<<8 - 1) {
	}
	tr, err := w.Trace()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// first returns the instant of the first event of a kind.
func first(t *testing.T, tr *trace.Trace, kind trace.Kind) time.Duration {
	t.Helper()
	for i := range tr.Events {
		if tr.Events[i].Kind == kind {
			return tr.Events[i].At
		}
	}
	t.Fatalf("there is no %s in\n%s", kind, text(tr))
	return 0
}

func inject(t *testing.T, w *sim.World, faults ...fault.Fault) {
	t.Helper()
	for _, f := range faults {
		if err := w.Inject(f); err != nil {
			t.Fatal(err)
		}
	}
}

// Requests to several servers are under way at the same time: two that time out cost one timeout.
func TestRequestsOverlap(t *testing.T) {
	w, _ := world(t, library(5, nil), "A")
	inject(t, w, fault.Cut{Client: "A", Node: "n2"}, fault.Cut{Client: "A", Node: "n4"})
	tr := play(t, w)
	if at := first(t, tr, trace.KindGranted); at != 5*time.Second {
		t.Errorf("granted at %s: the two timeouts of 5s don't overlap", at)
	}
	if at := first(t, tr, trace.KindReleased); at < 10*time.Second || at > 10*time.Second+100*time.Millisecond {
		t.Errorf("released at %s, and each of the two calls waits once", at)
	}
}

// A library that sleeps does so in the world, to the fraction of a millisecond.
func TestSleepsAreTheWorlds(t *testing.T) {
	again := library(1, func(m *mutex) { m.delay = func() time.Duration { return 1500 * time.Microsecond } })
	w, stats := world(t, again, "A")
	inject(t, w, fault.Down{Node: "n1"})
	tr := play(t, w)
	slept := first(t, tr, trace.KindSleep)
	if woke := first(t, tr, trace.KindWake); woke-slept != 1500*time.Microsecond {
		t.Errorf("asleep from %s to %s", slept, woke)
	}
	if stats.Processes != 4 { // the probe asks as well
		t.Errorf("%d processes, and for each of two one was to be run ahead to find the timer", stats.Processes)
	}
}

// The bubble's clock is the client's: a process that was paused until its lease was over refuses
// the lock that Redis has given it.
func TestTimeIsFed(t *testing.T) {
	w, _ := world(t, library(1, nil), "A")
	for w.State().LockRecord(0) == nil && w.Step(1) {
	}
	inject(t, w, fault.Pause{Client: "A"})
	w.Wait(12 * time.Second)
	inject(t, w, fault.Resume{Client: "A"})
	if tr := play(t, w); first(t, tr, trace.KindRefused) < 12*time.Second {
		t.Error("it was refused too early")
	}
}

// The stream of random bytes is the client's own, and nobody else's.
func TestRandomBytesAreSeeded(t *testing.T) {
	token := func(who string) string {
		w, _ := world(t, library(1, nil), who)
		tr := play(t, w)
		for i := range tr.Events {
			if tr.Events[i].Kind == trace.KindGranted {
				return tr.Events[i].Token
			}
		}
		return ""
	}
	a, again, b := token("A"), token("A"), token("B")
	if a == "" || a != again || a == b {
		t.Errorf("A draws %q and %q, B draws %q", a, again, b)
	}
	var x, y [8]byte
	_, _ = rand.Read(x[:])
	_, _ = rand.Read(y[:])
	if x == y {
		t.Error("outside of a bubble crypto/rand repeats itself")
	}
}

// A library that waits within a call for what can't come is told, and so is one that panics.
func TestAWaitForNothing(t *testing.T) {
	for _, c := range []struct {
		name, want string
		acquire    func(context.Context) error
	}{
		{"waits", "waits within a call", func(context.Context) error { <-make(chan int); return nil }},
		{"panics", "out of the library", func(context.Context) error { panic("out of the library") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := bubble.Library{New: func(*bubble.Process) bubble.Lock { return bubble.Lock{Acquire: c.acquire} }}
			w, _ := world(t, l, "A")
			defer func() {
				if v := recover(); !strings.Contains(fmt.Sprint(v), c.want) {
					t.Errorf("it ends with %v, which says nothing of %q", v, c.want)
				}
			}()
			play(t, w)
		})
	}
}

// A timer that goes off while a reply is awaited is heeded late, and counted.
func TestTimersThatRaceAreCounted(t *testing.T) {
	l := bubble.Library{New: func(p *bubble.Process) bubble.Lock {
		c, other := p.Redis(0), p.Redis(0)
		return bubble.Lock{
			Acquire: func(ctx context.Context) error {
				time.AfterFunc(time.Second, func() { other.Set(ctx, "beat", 1, 0) })
				return c.Set(ctx, p.Key, "x", p.TTL).Err()
			},
			Release: func(ctx context.Context) error { return c.Del(ctx, p.Key).Err() },
		}
	}}
	w, stats := world(t, l, "A")
	inject(t, w, fault.Cut{Client: "A", Node: "n1"})
	play(t, w)
	if stats.Early != 1 {
		t.Errorf("%d timers went off while a reply was awaited, and there was one", stats.Early)
	}
}

func text(tr *trace.Trace) string {
	var b strings.Builder
	_ = tr.Plain(&b)
	return b.String()
}

// TestProcessesEnd: of the thousands of processes that a search begins, none is left that is not under way.
func TestProcessesEnd(t *testing.T) {
	l := library(1, nil)
	var begun, ended atomic.Int64 // progress is told while processes begin and end
	mutex := l.New
	l.New = func(p *bubble.Process) bubble.Lock {
		begun.Add(1)
		p.AtEnd(func() { ended.Add(1) })
		return mutex(p)
	}
	s := bubble.Strategy(t, l)
	s.Patience = time.Minute // however busy the machine is
	most := int64(0)
	left := func() { most = max(most, begun.Load()-ended.Load()) }
	b := locktest.Defaults(s)
	crashes(&b)
	if _, err := explore.Run(t.Context(), b, explore.Options{Workers: 1, Progress: func(explore.Progress) { left() }}); err != nil {
		t.Fatal(err)
	}
	if left(); begun.Load() < 100 || most > 20 {
		t.Errorf("%d processes were begun, and up to %d were left at a time", begun.Load(), most)
	}
}
