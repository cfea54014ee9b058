package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/explore/locktest"
	"lockstep/sim/explore/report"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// witness is a testing.TB that records its log and whether it failed.
type witness struct {
	testing.TB
	ctx    context.Context
	failed bool
	text   strings.Builder
}

func (w *witness) Helper()                  {}
func (w *witness) Name() string             { return "TestMine/a lock" }
func (w *witness) Context() context.Context { return w.ctx }

func (w *witness) Output() io.Writer { return &w.text }

func (w *witness) Log(args ...any)            { fmt.Fprintln(&w.text, args...) }
func (w *witness) Logf(f string, args ...any) { w.Log(fmt.Sprintf(f, args...)) }

func (w *witness) Error(args ...any)            { w.failed = true; w.Log(args...) }
func (w *witness) Errorf(f string, args ...any) { w.Error(fmt.Sprintf(f, args...)) }

func watching(t *testing.T) *witness { return &witness{TB: t, ctx: t.Context()} }

// says checks whether the witness failed, and that its log has matches of these regular
// expressions, in this order.
func (w *witness) says(t *testing.T, failed bool, lines ...string) {
	t.Helper()
	text := w.text.String()
	if w.failed != failed {
		t.Errorf("failed: %t", w.failed)
	}
	rest := text
	for _, line := range lines {
		at := regexp.MustCompile("(?m)" + line).FindStringIndex(rest)
		if at == nil {
			t.Fatalf("no %q, in this order, in\n%s", line, text)
		}
		rest = rest[at[1]:]
	}
}

var errTaken = errors.New("taken")

// take is SET NX PX.
func take(ctx context.Context, rdb *redis.Client, key string, o strategies.Options) (string, error) {
	token := o.Token()
	won, err := rdb.SetNX(ctx, key, token, o.TTL).Result()
	if err == nil && !won {
		err = fmt.Errorf("%s is %w", key, errTaken)
	}
	return token, err
}

// drop is a plain DEL.
func drop(ctx context.Context, rdb *redis.Client, key, _ string) error {
	return rdb.Del(ctx, key).Err()
}

var compareAndDelete = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// compare is the right one.
func compare(ctx context.Context, rdb *redis.Client, key, token string) error {
	return compareAndDelete.Run(ctx, rdb, []string{key}, token).Err()
}

// mine makes a strategy of two functions.
func mine(acquire func(context.Context, *redis.Client, string, strategies.Options) (string, error),
	release func(context.Context, *redis.Client, string, string) error) strategies.Strategy {
	return strategies.Strategy{New: locktest.Functions(acquire, release, errTaken)}
}

// small bounds, for faults of a lock that show at once.
func small(b *explore.Bounds) { b.Cycles, b.Faults = 2, explore.Budget{} }

// TestPassSaysWhatItCovered: the log of a pass has its bounds and near misses, and all else
// that it covered.
func TestPassSaysWhatItCovered(t *testing.T) {
	w := watching(t)
	r := locktest.Holds(w, mine(take, compare))
	w.says(t, false, `^TestMine_a_lock: holds within these bounds$`,
		`^  DG +double grant: holds within these bounds$`, `^  PD +permanent deadlock: holds within these bounds$`,
		`^  covered +every schedule within these bounds; `,
		`^  clients +A and B, each of which asks for the lock twice`, `^  servers +1 server, .*; the TTL is 12s`, `^  order +every order`,
		`^  faults +in one schedule at most 1 crash of a client and 1 pause of a client$`, `^  not in it lost replies, `,
		`^  states +`+report.Grouped(r.States)+` situations, which are all`,
		`^  near +what kept schedules from going wrong, over all choices: [1-9][\d,]* refusals`, `^  not idle`)
	for _, c := range []trace.Code{trace.DG, trace.FR, trace.PD} {
		if !r.Holds(c) {
			t.Errorf("%s isn't excluded", c)
		}
	}
}

// TestFailureIsReadable: a failure names the violation, shows the least schedule with the
// lines of the lock's own file and how to replay it, and names no path of this machine.
func TestFailureIsReadable(t *testing.T) {
	w := watching(t)
	locktest.Holds(w, mine(take, drop), func(b *explore.Bounds) { b.Codes = trace.Verdict{trace.FR} })
	w.says(t, true, `^locktest_test.go:\d+: FR, foreign release: A's DEL removes B's record$`, `^TestMine_a_lock: violated \(FR\)$`,
		`^locktest_test.go:\d+: FR, foreign release: A's DEL`, `^FR is a foreign release: a client's command removed`,
		`^the least schedule has 1 fault, 2 switches between clients, \d+ steps$`, `^  fault +A is paused for 12\.001s \(tried without: no FR\)$`,
		`A: SET lock A1-\w+ EX 12 NX = OK  \[lock = A1-\w+ \(12s left\)\] +locktest_test.go:\d+$`,
		`A +pause`, `n1 +expire`, `B: SET lock B1-`, `A +resume`, `A: DEL lock = 1  \[lock gone\] +locktest_test.go:\d+$`, `!! FR  A's DEL removes B's record`,
		`again: locktest.Replay\(t, lock, "lockstep1,TestMine_a_lock,least-FR,[^"]*"\)`, `^open: +go test -run '\^TestMine\$/\^a lock\$' -artifacts writes it`, `^  covered +every schedule within these bounds`, `^  clients +A and B`)
	if text := w.text.String(); strings.Contains(text, "(/") || strings.Contains(text, " /") {
		t.Errorf("an absolute path in\n%s", text)
	}
}

// TestReplay: the schedule that a failure prints can be replayed; with another lock the
// same schedule need not fail.
func TestReplay(t *testing.T) {
	w := watching(t)
	r := locktest.Holds(w, mine(take, drop))
	schedule := regexp.MustCompile(`again: locktest.Replay\(t, lock, "([^"]*)"\)`).FindStringSubmatch(w.text.String())[1]
	if first := r.Violated[0]; schedule != first.Schedule.String() || schedule != first.Trace.Schedule {
		t.Errorf("printed %s\nresult  %s\ntrace   %s", schedule, first.Schedule, first.Trace.Schedule)
	}

	w = watching(t)
	locktest.Replay(w, mine(take, drop), schedule)
	w.says(t, true, `A: DEL lock = 1 `, `!! FR`, `^TestMine_a_lock: FR, foreign release`)
	w = watching(t)
	locktest.Replay(w, mine(take, compare), schedule)
	w.says(t, false, `A: EVAL .* = 0`)
	w = watching(t)
	locktest.Replay(w, mine(take, drop), schedule, trace.PD)
	w.says(t, false, `!! FR`) // but that code was not asked for
	w = watching(t)
	locktest.Replay(w, mine(take, drop), "lockstep0,x")
	w.says(t, true, `a schedule begins with "lockstep1"`)
}

// TestRecordOfAnotherName: a lock may make its record's key from the key that it is given. The
// printed schedule names the record, and Replay finds it where a schedule doesn't.
func TestRecordOfAnotherName(t *testing.T) {
	named := func(s strategies.Strategy) strategies.Strategy {
		inner := s.New
		s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			return inner(nodes, "lock:"+key, o)
		}
		return s
	}
	w := watching(t)
	locktest.Holds(w, named(mine(take, compare)), small)
	w.says(t, false, `DG +double grant: holds within these bounds`)
	w = watching(t)
	locktest.Holds(w, named(mine(take, drop)), func(b *explore.Bounds) { b.Codes = trace.Verdict{trace.FR} })
	w.says(t, true, `A: DEL lock:lock = 1`, `!! FR`, `again: locktest.Replay\(t, lock, "[^"]*,record=lock%3Alock,`)
	schedule := regexp.MustCompile(`again: locktest.Replay\(t, lock, "([^"]*)"\)`).FindStringSubmatch(w.text.String())[1]
	for _, text := range []string{schedule, strings.Replace(schedule, "record=lock%3Alock,", "", 1)} {
		w = watching(t)
		locktest.Replay(w, named(mine(take, drop)), text)
		w.says(t, true, `!! FR`)
	}
}

// TestBreaks: exactly the codes that are expected, no fewer and no more.
func TestBreaks(t *testing.T) {
	for _, tt := range []struct {
		name    string
		release func(context.Context, *redis.Client, string, string) error
		want    trace.Verdict
		failed  bool
		says    string
	}{
		{"as expected", drop, trace.Verdict{trace.FR, trace.DG}, false, `!! FR`},
		{"more", drop, trace.Verdict{trace.FR}, true, `expected to show FR, and shows DG FR$`},
		{"less", compare, trace.Verdict{trace.FR}, true, `expected to show FR, and holds within these bounds$`},
		{"looked for because it is expected", compare, trace.Verdict{trace.OV}, false, `!! OV`},
	}[:testenv.Quick(3, 4)] {
		t.Run(tt.name, func(t *testing.T) {
			w := watching(t)
			locktest.Breaks(w, mine(take, tt.release), tt.want)
			w.says(t, tt.failed, tt.says)
		})
	}
}

// TestNondeterminismIsNamed: a lock that picks its tokens from a map cannot be searched, and
// the error has the line at which it behaves differently.
func TestNondeterminismIsNamed(t *testing.T) {
	own := func(ctx context.Context, rdb *redis.Client, key string, o strategies.Options) (string, error) {
		pool := map[string]bool{}
		for n := range 1000 {
			pool[fmt.Sprint("t", n)] = true
		}
		for token := range pool { // in another order each time
			o.Token = func() string { return token }
		}
		return take(ctx, rdb, key, o)
	}
	w := watching(t)
	if r := locktest.Holds(w, mine(own, compare)); r != nil {
		t.Error("there is a result")
	}
	w.says(t, true, `cannot be searched: the lock is not deterministic at sim/explore/locktest/locktest_test.go:\d+: having seen the same, [AB] once goes on with SET lock t\d+ .* and once with SET lock t\d+`)
}

// TestAlwaysFails: a lock whose Acquire ends in an error every time is never acquired,
// and a search that finds nothing there is no proof.
func TestAlwaysFails(t *testing.T) {
	wrongType := func(ctx context.Context, rdb *redis.Client, key string, _ strategies.Options) (string, error) {
		rdb.HSet(ctx, key, "owner", "x")
		return "", rdb.Get(ctx, key).Err()
	}
	w := watching(t)
	locktest.Holds(w, mine(wrongType, compare), small, func(b *explore.Bounds) { b.Codes = trace.Verdict{trace.DG} })
	w.says(t, true, `^TestMine_a_lock: not decided, because the lock was never acquired, even with nothing going wrong: its own Acquire fails with WRONGTYPE .* \(at sim/explore/locktest/locktest_test.go:\d+\)$`)
	w = watching(t)
	locktest.Breaks(w, mine(wrongType, compare), trace.Verdict{trace.DG}, small)
	w.says(t, true, `: not decided, because the lock was never acquired, even with nothing going wrong`)
}

// TestPanicsFail: panics in Acquire, in Release on one path only, in the constructor, and
// by FailNow in a helper fail the test.
func TestPanicsFail(t *testing.T) {
	here := `^TestMine_a_lock: not decided, because the lock cannot be searched: [AB]'s code panics at sim/explore/locktest/locktest_test.go:\d+: `
	for _, tt := range []struct {
		name, says string
		lock       strategies.Strategy
	}{
		{"acquire", here + `.*index out of range`, mine(func(context.Context, *redis.Client, string, strategies.Options) (string, error) {
			var held []string
			return held[len(t.Name())], nil
		}, compare)},
		{"only after a loss", here + `lost it`, mine(take, func(ctx context.Context, rdb *redis.Client, key, token string) error {
			if rdb.Get(ctx, key).Val() != token {
				panic("lost it")
			}
			return compare(ctx, rdb, key, token)
		})},
		{"constructor", here + `no tenant`, strategies.Strategy{New: func([]*redis.Client, string, strategies.Options) strategies.Lock { panic("no tenant") }}},
		{"FailNow", here + `runtime.Goexit ends its thread`, mine(take, func(context.Context, *redis.Client, string, string) error {
			(&testing.T{}).FailNow()
			return nil
		})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := watching(t)
			locktest.Holds(w, tt.lock)
			w.says(t, true, tt.says)
		})
	}
	w := watching(t)
	locktest.Replay(w, mine(func(context.Context, *redis.Client, string, strategies.Options) (string, error) { panic("at once") }, drop), // The schedule is of another lock.
		"lockstep1,x,y,seed=1,key=lock,ttl=12s,timeout=3s,latency=0s,retry=1/0s/0s,workload=counter,resource=plain,cold=false,replicas=0,lag=0s,A=1/0s/0s/0s/1/false/false/false/false/false,n1=none/0s,--,A:9")
	w.says(t, true, `A's code panics at sim/explore/locktest/locktest_test.go:\d+: at once`)
}

// TestGoroutinesAreNamed: a goroutine that Options.Go has not started may not use Redis.
func TestGoroutinesAreNamed(t *testing.T) {
	aside := func(ctx context.Context, rdb *redis.Client, key string, o strategies.Options) (token string, err error) {
		done := make(chan bool)
		go func() {
			defer close(done)
			token, err = take(ctx, rdb, key, o)
		}()
		<-done
		return token, err
	}
	w := watching(t)
	locktest.Holds(w, mine(aside, compare))
	w.says(t, true, `cannot be searched: [AB]'s code panics at sim/explore/locktest/locktest_test.go:\d+: a goroutine that is not one of its threads`)
}

// TestManyGoroutinesAreNamed: neither do several of them at once, on connections of their own or
// with the clock, end the process.
func TestManyGoroutinesAreNamed(t *testing.T) {
	tries := 5
	if testenv.CI() {
		tries = 20
	}
	for name, use := range map[string]func(ctx context.Context, rdb *redis.Client, key string, o strategies.Options){
		"connections": func(ctx context.Context, rdb *redis.Client, key string, o strategies.Options) { rdb.Get(ctx, key) },
		"clocks":      func(_ context.Context, _ *redis.Client, _ string, o strategies.Options) { o.Clock.Now() },
	} {
		t.Run(name, func(t *testing.T) {
			aside := func(ctx context.Context, rdb *redis.Client, key string, o strategies.Options) (string, error) {
				var all sync.WaitGroup
				for range 8 {
					all.Go(func() { use(ctx, rdb, key, o) })
				}
				all.Wait()
				return take(ctx, rdb, key, o)
			}
			for range tries {
				w := watching(t)
				locktest.Holds(w, mine(aside, compare))
				w.says(t, true, `cannot be searched: [AB]'s code panics at sim/explore/locktest/locktest_test.go:\d+: a goroutine that is not one of its threads`)
			}
		})
	}
}

// TestEndlessIsNamed: a lock that asks again and again is stopped after a number of
// operations, and the error gives that.
func TestEndlessIsNamed(t *testing.T) {
	testenv.Long(t)
	spin := func(ctx context.Context, rdb *redis.Client, key string, o strategies.Options) (string, error) {
		for {
			if token, err := take(ctx, rdb, key, o); err == nil {
				return token, nil
			}
		}
	}
	w := watching(t)
	locktest.Holds(w, mine(spin, compare), func(b *explore.Bounds) { b.Cycles, b.Faults = 1, explore.Budget{} })
	w.says(t, true, `cannot be searched: [AB] has done \d+ operations and comes to no end at sim/explore/locktest/locktest_test.go:\d+`)
}

// TestClosuresAreRemembered: variables of a closure that outlive a cycle make a difference
// in the next: the lock that a refusal makes careless is found, also by a search that was told
// that there are none.
func TestClosuresAreRemembered(t *testing.T) {
	lock := strategies.Strategy{New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		refused := false
		return locktest.Functions(func(ctx context.Context, rdb *redis.Client, key string, o strategies.Options) (string, error) {
			if refused {
				token := o.Token()
				return token, rdb.Set(ctx, key, token, o.TTL).Err()
			}
			token, err := take(ctx, rdb, key, o)
			refused = errors.Is(err, errTaken)
			return token, err
		}, compare, errTaken)(nodes, key, o)
	}}
	w := watching(t)
	locktest.Breaks(w, lock, trace.Verdict{trace.DG, trace.FR}, small)
	w.says(t, false, `!! DG`)
	w = watching(t)
	locktest.Breaks(w, lock, trace.Verdict{trace.DG, trace.FR}, small, func(b *explore.Bounds) { b.Remembers = false })
	w.says(t, false, `!! DG`, `^  memory +Remembers = false is left aside: the lock's code keeps things where a search doesn't see them, at$`,
		`^ +sim/explore/locktest/locktest_test.go:\d+$`)
}

// TestClosuresAreRead: a release of which the 300th is another is further than any trial of a search goes; the source
// shows that there is something to count it in, and without a bound on cycles that is refused. A closure that keeps
// nothing isn't.
func TestClosuresAreRead(t *testing.T) {
	testenv.Long(t)
	forever := func(b *explore.Bounds) {
		b.Remembers, b.Cycles, b.Codes, b.Faults = false, explore.Any, trace.Verdict{trace.FR}, explore.Budget{}
	}
	counts := strategies.Strategy{New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		n := 0
		return locktest.Functions(take, func(ctx context.Context, rdb *redis.Client, key, token string) error {
			if n++; n == 300 {
				return rdb.Del(ctx, key).Err()
			}
			return compare(ctx, rdb, key, token)
		}, errTaken)(nodes, key, o)
	}}
	w := watching(t)
	if r := locktest.Holds(w, counts, forever); r != nil {
		t.Errorf("it is searched: %s", r.Summary())
	}
	w.says(t, true, `not decided, because its code remembers what a search without a bound on cycles doesn't see:\n  sim/explore/locktest/locktest_test.go:\d+: the variable n: .*set Remembers\nKeep it in the lock's fields`)

	right := strategies.Strategy{New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		most := 3
		return locktest.Functions(take, func(ctx context.Context, rdb *redis.Client, key, token string) error {
			if most < 0 {
				return rdb.Del(ctx, key).Err()
			}
			return compare(ctx, rdb, key, token)
		}, errTaken)(nodes, key, o)
	}}
	w = watching(t)
	locktest.Holds(w, right, forever)
	w.says(t, false, `holds for every schedule`)
}

// TestSeveralNodes: a lock on three nodes, with and without a majority.
func TestSeveralNodes(t *testing.T) {
	testenv.Long(t)
	redlock, _ := strategies.Get("redlock")
	w := watching(t)
	locktest.Holds(w, strategies.Strategy{New: redlock.New, Nodes: 3})
	w.says(t, false, `^  clients +A and B, each of which asks for the lock once`, `^  servers +3 servers`)

	anyNode := func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		asked := 0 // whoever is refused by one node asks the next, and one is enough
		ask := func(ctx context.Context, _ *redis.Client, key string, o strategies.Options) (token string, err error) {
			for asked = range nodes {
				if token, err = take(ctx, nodes[asked], key, o); !errors.Is(err, errTaken) {
					break
				}
			}
			return token, err
		}
		release := func(ctx context.Context, _ *redis.Client, key, token string) error {
			return compare(ctx, nodes[asked], key, token)
		}
		return locktest.Functions(ask, release, errTaken)(nodes, key, o)
	}
	w = watching(t)
	locktest.Breaks(w, strategies.Strategy{New: anyNode, Nodes: 3}, trace.Verdict{trace.DG})
	w.says(t, false, `!! DG`)
}

// TestUnfinished: a search that was cut off proves nothing, and says why.
func TestUnfinished(t *testing.T) {
	w := watching(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the bell rang"))
	w.ctx = ctx
	locktest.Holds(w, mine(take, compare), func(b *explore.Bounds) {
		b.Clients, b.Cycles, b.Faults = 4, 9, explore.Budget{4, 9, 9, 9, 9}
	})
	w.says(t, true, `: not decided, because the search did not come to its end: the bell rang$`,
		`^  DG +double grant: not decided, because the search did not`, `^  covered +not every schedule within these bounds: the bell rang$`)
}

// odd is a lock on whose sleeps and deadlines no millisecond is whole: it waits for a third of
// the TTL, with jitter, before it asks, and its lease is over after two thirds.
type odd struct {
	rdb *redis.Client
	key string
	o   strategies.Options
	// careless: it takes the lock without asking if it waits long enough
	careless bool
}

func (l *odd) Acquire(ctx context.Context) (*strategies.Lease, error) {
	if err := l.o.Clock.Sleep(ctx, l.o.TTL/3+l.o.Random(time.Millisecond)); err != nil {
		return nil, err
	}
	sent, token := l.o.Clock.Monotonic(), l.o.Token()
	won, err := l.rdb.SetNX(ctx, l.key, token, l.o.TTL).Result()
	switch {
	case err != nil:
		return nil, err
	case !won && l.careless:
		return &strategies.Lease{Token: token, Deadline: sent + l.o.TTL/7}, l.rdb.Set(ctx, l.key, token, l.o.TTL).Err()
	case !won:
		return nil, strategies.ErrNotAcquired
	}
	return &strategies.Lease{Token: token, Deadline: sent + 2*l.o.TTL/3}, nil
}

func (l *odd) Release(ctx context.Context, lease *strategies.Lease) error {
	return compare(ctx, l.rdb, l.key, lease.Token)
}

// TestOddTimes: TTLs, sleeps and deadlines need not be whole in any unit. Sleeps are rounded,
// which the bounds say; and a schedule found that way can be replayed.
func TestOddTimes(t *testing.T) {
	lock := func(careless bool) strategies.Strategy {
		return strategies.Strategy{New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			return &odd{nodes[0], key, o, careless}
		}}
	}
	for i, ttl := range []time.Duration{1001 * time.Millisecond, time.Second, 7 * time.Millisecond} {
		if !testenv.CI() || !testenv.Some(i, 6) {
			continue // for time: the one that is careless has its sleeps rounded, too
		}
		w := watching(t)
		r := locktest.Holds(w, lock(false), func(b *explore.Bounds) { b.TTL = ttl })
		w.says(t, false, `^TestMine_a_lock: holds within these bounds; the code was tried with clocks and TTLs each (83|1)ms up to (2.002s|2s|14ms), one at a time: what it does only between two of these, or only after two unusual ones, isn't covered; of the random numbers that it draws a few were tried in each range: what others lead to, such as a sleep of another length, isn't covered$`, `each such`)
		if r == nil || !r.Bounds.WholeSleeps {
			t.Error("its sleeps were not rounded")
		}
	}
	w := watching(t)
	locktest.Holds(w, lock(true), small, func(b *explore.Bounds) { b.TTL = time.Second })
	w.says(t, true, `^locktest_test.go:\d+: DG, double grant`, `goes on|sleep|acquire`, `,tick=1ms,`)
	schedule := regexp.MustCompile(`again: locktest.Replay\(t, lock, "([^"]*)"\)`).FindStringSubmatch(w.text.String())[1]
	w = watching(t)
	locktest.Replay(w, lock(true), schedule)
	w.says(t, true, `^TestMine_a_lock: DG, double grant`)
}

// answers is a lock whose Acquire returns what it is told to.
type answers struct {
	lease *strategies.Lease
	err   error
}

func (a *answers) Acquire(context.Context) (*strategies.Lease, error) { return a.lease, a.err }
func (a *answers) Release(context.Context, *strategies.Lease) error   { return nil }

// TestAcquireAnswers: an Acquire that returns neither a lease nor an error is named with its
// line. Of a lease and an error the error counts, as for every caller in Go.
func TestAcquireAnswers(t *testing.T) {
	lock := func(a answers) strategies.Strategy {
		return strategies.Strategy{New: func([]*redis.Client, string, strategies.Options) strategies.Lock {
			own := a
			return &own
		}}
	}
	w := watching(t)
	if r := locktest.Holds(w, lock(answers{})); r != nil {
		t.Error("there is a result")
	}
	w.says(t, true, `^TestMine_a_lock: not decided, because the lock cannot be searched: [AB]'s lock at sim/explore/locktest/locktest_test.go:\d+: Acquire returns neither a lease nor an error: it must return`)
	w = watching(t)
	locktest.Holds(w, lock(answers{&strategies.Lease{}, errors.New("no luck")}), small)
	w.says(t, true, `not decided, because the lock was never acquired, even with nothing going wrong: its own Acquire fails with no luck`)
}

// moving is a lock with a thread that moves the deadline of the lease, and prolongs no record.
type moving struct {
	strategies.Lock
	strategies.Options
}

func (m *moving) Acquire(ctx context.Context) (*strategies.Lease, error) {
	lease, err := m.Lock.Acquire(ctx)
	if err == nil {
		lease.Deadline = m.Clock.Monotonic() + m.TTL/2
		m.Go(func() { lease.Deadline += m.TTL })
	}
	return lease, err
}

// TestMovedDeadline: a lease of which the caller is told another deadline than by Acquire or Extend is refused,
// as nobody would judge that.
func TestMovedDeadline(t *testing.T) {
	w := watching(t)
	locktest.Holds(w, strategies.Strategy{New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return &moving{mine(take, compare).New(nodes, key, o), o}
	}}, small)
	w.says(t, true, `^TestMine_a_lock: not decided, because the lock cannot be searched: [AB]'s lock at sim/explore/locktest/locktest_test.go:\d+: the deadline of a lease has become another while no Extend ran`)
}

// TestNothingToSearch: a description without a lock.
func TestNothingToSearch(t *testing.T) {
	w := watching(t)
	locktest.Holds(w, strategies.Strategy{})
	w.says(t, true, `has no New`)
	w = watching(t)
	locktest.Holds(w, mine(take, compare), func(b *explore.Bounds) { b.TTL = 1500 * time.Microsecond })
	w.says(t, true, `cannot be searched: the TTL of a search must be in whole milliseconds, as Redis counts, and 1.5ms isn't`)
	w = watching(t)
	locktest.Holds(w, mine(take, compare), func(b *explore.Bounds) { b.Timeout = time.Microsecond })
	w.says(t, true, `the timeout of a search must be in whole milliseconds, and 1µs isn't`)
}

// extender is a lock of two functions, with an Extend that stores the record anew and looks at
// nothing.
type extender struct {
	strategies.Lock
	rdb *redis.Client
	key string
	strategies.Options
}

func (e *extender) Extend(ctx context.Context, lease *strategies.Lease) error {
	return e.rdb.Set(ctx, e.key, lease.Token, e.TTL).Err()
}

// TestStrictConstructors: a constructor that refuses an empty key, or a TTL that is shorter than the
// search's, hides no Extend. Where it leaves open whether there is one, callers are to extend.
func TestStrictConstructors(t *testing.T) {
	strict := func(least time.Duration, extends bool) strategies.Strategy {
		return strategies.Strategy{New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			if key == "" || o.TTL < least {
				panic("the key is empty, or the TTL is too short")
			}
			l := locktest.Functions(take, compare, errTaken)(nodes, key, o)
			if extends {
				return &extender{l, nodes[0], key, o}
			}
			return l
		}}
	}
	one := func(b *explore.Bounds) { b.Cycles, b.TTL, b.Codes = 1, 20*time.Second, trace.Verdict{trace.FR} }
	for _, least := range []time.Duration{20 * time.Second, 10 * time.Second}[:testenv.Quick(1, 2)] {
		w := watching(t)
		locktest.Holds(w, strict(least, true), one)
		w.says(t, true, `FR, foreign release`)
	}
	w := watching(t)
	locktest.Holds(w, strict(10*time.Second, false), one)
	w.says(t, false, `holds within these bounds`)
	w = watching(t)
	locktest.Holds(w, strict(20*time.Second, false), one)
	w.says(t, true, `not decided, because no lease was ever extended`)
	w = watching(t)
	locktest.Holds(w, strict(20*time.Second, false), one, func(b *explore.Bounds) { b.Extend = false })
	w.says(t, false, `holds within these bounds`)
}

// TestExtendIsCalled: where a lock can extend a lease, callers do, unless the bounds say
// otherwise; then the log says that nobody did.
func TestExtendIsCalled(t *testing.T) {
	lock := strategies.Strategy{New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return &extender{locktest.Functions(take, compare, errTaken)(nodes, key, o), nodes[0], key, o}
	}}
	one := func(b *explore.Bounds) { b.Cycles, b.Codes = 1, trace.Verdict{trace.FR} }
	w := watching(t)
	locktest.Holds(w, lock, one)
	w.says(t, true, `FR, foreign release`, `A: SET lock A1-\w+ EX 12 = OK`)
	w = watching(t)
	locktest.Holds(w, lock, one, func(b *explore.Bounds) { b.Extend = false })
	w.says(t, false, `^  UNTRIED +the lock can extend a lease, and no caller did`)
}

// racer is a lock of two functions whose Extend looks first and prolongs afterwards.
type racer struct {
	extender
}

func (r *racer) Extend(ctx context.Context, lease *strategies.Lease) error {
	if held, err := r.rdb.Get(ctx, r.key).Result(); err != nil || held != lease.Token {
		return errors.Join(err, strategies.ErrNotHeld)
	}
	return r.rdb.PExpire(ctx, r.key, r.TTL).Err()
}

// TestExtensionsAreJudged: nobody has to ask for the code of extensions if callers extend, and who has
// told them not to isn't told that nobody did.
func TestExtensionsAreJudged(t *testing.T) {
	lock := strategies.Strategy{New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return &racer{extender{locktest.Functions(take, compare, errTaken)(nodes, key, o), nodes[0], key, o}}
	}}
	w := watching(t)
	locktest.Holds(w, lock, func(b *explore.Bounds) { b.Cycles = 1 })
	w.says(t, true, `GAP, broken continuity`)
	w = watching(t)
	locktest.Holds(w, lock, func(b *explore.Bounds) { b.Extend = false })
	w.says(t, false, `holds within these bounds`, `^  UNTRIED`)
}

// TestPromisesTooMuch: a fault in the bounds that never finds an occasion fails the test, and
// so do callers that are to extend leases of a lock that can't.
func TestPromisesTooMuch(t *testing.T) {
	w := watching(t)
	locktest.Holds(w, mine(take, compare), small, func(b *explore.Bounds) { b.Faults[explore.ClientClock] = 1 }) // no client looks at it
	w.says(t, true, `: no schedule had a jump of a client's wall clock, for want of an occasion; apart from that, holds within these bounds`, `^the bounds promise more`)
	w = watching(t)
	locktest.Holds(w, mine(take, compare), small, func(b *explore.Bounds) { b.Extend = true })
	w.says(t, true, `: not decided, because no lease was ever extended, though the callers are to extend theirs`)
}

// TestArtifacts: a failing search leaves each least schedule as a page, if it is told where to.
func TestArtifacts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pages")
	t.Setenv("LOCKSTEP_ARTIFACTS", dir)
	w := watching(t)
	locktest.Holds(w, mine(take, drop), small, func(b *explore.Bounds) { b.Faults[explore.Pause] = 1 })
	for _, code := range []string{"DG", "FR"} {
		file := filepath.Join(dir, "TestMine_a_lock-"+code+".html")
		w.says(t, true, `^open: +`+regexp.QuoteMeta(file)+`$`)
		page, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(page), "least-"+code) {
			t.Errorf("%v: %d bytes that don't mention %s", err, len(page), code)
		}
	}
}

// stale is a lock that another may take over five seconds after it was asked for first, by the machine's
// clock: never, as long as no time passes on that.
func stale(ctx context.Context, rdb *redis.Client, key string, o strategies.Options) (string, error) {
	began := time.Now()
	for {
		token, err := take(ctx, rdb, key, o)
		if !errors.Is(err, errTaken) || o.Retry.Tries < 2 && time.Since(began) < 5*time.Second {
			return token, err
		}
		if err := rdb.Del(ctx, key).Err(); err != nil {
			return "", err
		}
	}
}

// TestOutside: nobody is told that a lock holds which goes by the machine's clock, unless its author gives the reason.
func TestOutside(t *testing.T) {
	w := watching(t)
	locktest.Holds(w, mine(stale, compare), small)
	w.says(t, true, `^TestMine_a_lock: not decided, because its code goes by what a search doesn't have:$`,
		`^  sim/explore/locktest/locktest_test.go:\d+: time.Now: no time passes .* ask Options.Clock$`,
		`^  sim/explore/locktest/locktest_test.go:\d+: time.Since: `, `//lockstep:outside REASON$`)
	if strings.Contains(w.text.String(), "holds") {
		t.Errorf("it says that something holds:\n%s", w.text.String())
	}

	w = watching(t)
	locktest.Holds(w, mine(func(ctx context.Context, rdb *redis.Client, key string, o strategies.Options) (string, error) {
		began := time.Now()                                //lockstep:outside it is measured
		defer func() { t.Logf("%s", time.Since(began)) }() //lockstep:outside it is measured
		return take(ctx, rdb, key, o)
	}, compare), small)
	w.says(t, false, `holds within these bounds$`, `^  assumed +time.Now has no influence on what the lock does, as .*locktest_test.go:\d+\s+says: it is measured$`, `^  assumed +time.Since `)
}

// TestUnread: nothing is said of a lock whose source can't be read, unless the reason why that doesn't matter is given; then
// the result says that it was assumed. What is read is kept for a process, so each case is one.
func TestUnread(t *testing.T) {
	const child = "LOCKTEST_UNREAD_CHILD"
	if os.Getenv(child) != "" {
		locktest.Holds(t, mine(take, compare), small)
		return
	}
	for _, c := range []struct {
		reason string
		failed bool
		lines  []string
	}{
		{"", true, []string{`TestUnread: not decided, because its source can't be read: .*go command required`, `LOCKSTEP_UNREAD=REASON$`}},
		{"reviewed", false, []string{`TestUnread: holds within these bounds$`, `assumed +the lock goes by no clock but Options.Clock`, `LOCKSTEP_UNREAD says\s+so:\s+reviewed`}},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestUnread$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1", "PATH=", "LOCKSTEP_UNREAD="+c.reason)
		out, err := cmd.CombinedOutput()
		w := &witness{failed: err != nil}
		w.text.Write(out)
		w.says(t, c.failed, c.lines...)
		if c.failed && strings.Contains(string(out), "holds") {
			t.Errorf("it says that something holds:\n%s", out)
		}
	}
}
