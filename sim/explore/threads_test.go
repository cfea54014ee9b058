package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/space"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// busy is a made-up lock that starts threads, each of which sleeps and does something, again and again, until it
// is stopped.
type busy struct {
	threads [][]task
	settles time.Duration // it sleeps so long before it has acquired
	delay   time.Duration // and so long after a refusal
	late    bool          // its threads are stopped after the command that releases
}

// task is what a thread does, and how long it sleeps before.
type task struct {
	after time.Duration
	does  string
}

func (b busy) String() string {
	var threads []string
	for _, tasks := range b.threads {
		threads = append(threads, fmt.Sprint(tasks))
	}
	return fmt.Sprintf("threads %s, settles for %s, delay %s, late %t", strings.Join(threads, " and "), b.settles, b.delay, b.late)
}

// drawBusy makes such a lock up, for a TTL of 12 seconds.
func drawBusy(rng *rand.Rand) (b busy) {
	spans := []time.Duration{4 * time.Second, 4 * time.Second, 8 * time.Second, 12 * time.Second}
	does := []string{"extends", "extends", "looks", "nothing", "deletes", "stops"}
	for range 1 + rng.IntN(2) {
		var tasks []task
		for range 1 + rng.IntN(2) {
			tasks = append(tasks, task{spans[rng.IntN(len(spans))], does[rng.IntN(len(does))]})
		}
		b.threads = append(b.threads, tasks)
	}
	if rng.IntN(3) == 0 {
		b.settles = spans[rng.IntN(len(spans))]
	}
	if rng.IntN(3) == 0 {
		b.delay = spans[rng.IntN(len(spans))]
	}
	b.late = rng.IntN(2) == 0
	return b
}

// busyLock is a busy lock on a server.
type busyLock struct {
	busy
	rdb  *redis.Client
	key  string
	stop context.CancelFunc
	strategies.Options
}

func (l *busyLock) Acquire(ctx context.Context) (*strategies.Lease, error) {
	token := l.Token()
	won, err := l.rdb.SetNX(ctx, l.key, token, l.TTL).Result()
	if err != nil {
		return nil, err
	}
	if !won {
		if l.delay > 0 {
			err = l.Clock.Sleep(ctx, l.delay)
		}
		return nil, errors.Join(strategies.ErrNotAcquired, err)
	}
	alive, stop := context.WithCancel(context.WithoutCancel(ctx))
	for _, tasks := range l.threads {
		l.Go(func() { l.work(alive, tasks, token) })
	}
	if l.settles > 0 {
		if err := l.Clock.Sleep(ctx, l.settles); err != nil {
			stop()
			return nil, err
		}
	}
	l.stop = stop
	return &strategies.Lease{Token: token}, nil
}

func (l *busyLock) work(alive context.Context, tasks []task, token string) {
	for {
		for _, t := range tasks {
			if l.Clock.Sleep(alive, t.after) != nil || alive.Err() != nil {
				return
			}
			switch t.does {
			case "extends":
				if n, err := compareExpire.Run(alive, l.rdb, []string{l.key}, token, l.TTL.Milliseconds()).Int(); err == nil && n == 0 {
					return
				}
			case "looks":
				l.rdb.Get(alive, l.key)
			case "deletes":
				compareDelete.Run(alive, l.rdb, []string{l.key}, token)
			case "stops":
				return
			}
		}
	}
}

func (l *busyLock) Release(ctx context.Context, lease *strategies.Lease) error {
	if !l.late {
		l.stop()
	}
	err := held(compareDelete.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int())
	l.stop()
	return err
}

// TestThreadsThatWakeAtWill: as TestWaitsThatEndAtWill, with made-up locks of a thread or two. Those that
// have too many states with exact waits say nothing.
func TestThreadsThatWakeAtWill(t *testing.T) {
	testenv.Long(t)
	const seed = 1
	t.Logf("seed %d", seed)
	compared := 0
	for n := range uint64(60) {
		if !testenv.Whole() && n != 1 { // the first that is small enough to compare
			continue
		}
		l := drawBusy(rand.New(rand.NewPCG(seed, n)))
		s := strategies.Strategy{Name: "busy", Nodes: 1, Timeout: 12 * time.Second, Scripts: []*redis.Script{compareDelete, compareExpire}}
		s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			return &busyLock{busy: l, rdb: nodes[0], key: key, Options: o}
		}
		b := Bounds{Strategy: s, Clients: 2, Cycles: Any, TTL: 12 * time.Second, Faults: Budget{Pause: Any}, Codes: trace.Verdict{trace.DG, trace.FR, trace.PD}}
		if n%3 == 1 {
			b.Faults[Crash] = Any
		}
		if n%3 == 2 {
			b.Faults[ReplyLost] = Any
		}
		all, states, err := fewSituations(b)
		if err != nil {
			t.Logf("%d, %s: %v", n, l, err)
			continue
		}
		b.Waits = bounds.WaitsMustEnd
		exact, more, err := fewSituations(b)
		if err != nil {
			t.Logf("%d, %s: with exact waits: %v", n, l, err)
			continue
		}
		compared++
		t.Logf("%d, %s: %d states, %d situations without spans; with exact waits %d and %d", n, l, states, len(all), more, len(exact))
		maps.DeleteFunc(exact, func(s string, _ bool) bool { return all[s] })
		for s := range exact {
			t.Errorf("%d, %s: %d situations are met with only where waits end when they do, such as %s", n, l, len(exact), s)
			break
		}
	}
	if t.Logf("%d compared", compared); compared == 0 {
		t.Error("these locks show nothing")
	}
}

// fewSituations describes the states of a search without spans, unless it ends early or has too many.
func fewSituations(b Bounds) (set map[string]bool, states int, why error) {
	most := int64(60_000)
	if testenv.Whole() {
		most = 1_500_000
	}
	set = map[string]bool{}
	why = withModel(b, func(m *space.Model) error {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		s, err := rounds(ctx, m, Options{Progress: func(p Progress) {
			if p.States > most {
				stop()
			}
		}})
		switch {
		case errors.Is(err, unfit.ErrWokeEarly):
			return errors.New("it doesn't hold")
		case err != nil:
			return err
		case s.why != "":
			return errors.New(s.why)
		}
		v, x := s.visited.(*inMemory), m.Explorer()
		for shard, n := range v.to {
			for at := range n {
				states++
				set[timeless(x, v.State(shard, at))] = true
			}
		}
		return nil
	})
	return set, states, why
}

// TestThreadsAreStated: a result says that the threads of a client act by turns, if the lock has any.
func TestThreadsAreStated(t *testing.T) {
	for name, want := range map[string]bool{"watchdog": true, "setpx-lua": false} {
		lock, _ := strategies.Get(name)
		b := Defaults(lock)
		b.Cycles, b.Faults = 1, Budget{}
		r, err := Run(context.Background(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Threads != want {
			t.Errorf("%s has threads of its own: %t", name, r.Threads)
		}
	}
}
