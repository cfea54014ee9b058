package sim

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"lockstep/sim/claims"
	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Each assumption of a claim is broken here, to see that it is one. Beside it
// stands, as often as not, something that looks like it and does no harm.

// breach is a run in which an assumption doesn't hold. Without an assumption it is
// a run in which all of them hold.
type breach struct {
	assumption, how string
	play            func(t *testing.T) string // what came of it
	want            string
}

// tryBreaches plays the breaches of a claim. They are those that claims.All
// lists, and each shows what the claim says is never shown.
func tryBreaches(t *testing.T, claim int, all []breach) {
	t.Helper()
	c := claims.All[claim-1]
	if name := c.Proof + "Assumptions"; t.Name() != name {
		t.Errorf("claims.All has claim %d broken by %s, and this is %s", claim, name, t.Name())
	}
	listed, played, held := map[string]bool{}, map[string]bool{}, 0
	for _, a := range c.Assumptions {
		for _, b := range a.Breaches {
			listed[a.Text+": "+b.Text] = true
		}
	}
	for _, b := range all {
		shows := slices.ContainsFunc(c.Never, func(code string) bool { return slices.Contains(strings.Fields(b.want), code) })
		switch name := b.assumption + ": " + b.how; {
		case b.assumption == "":
			held++
			if shows {
				t.Errorf("%s: %s, though all assumptions hold", b.how, b.want)
			}
		case !listed[name]:
			t.Errorf("claims.All lacks %q", name)
		case played[name]:
			t.Errorf("%q is broken twice", name)
		default:
			played[name] = true
		}
		t.Run(b.assumption, func(t *testing.T) {
			t.Run(b.how, func(t *testing.T) {
				if got := b.play(t); got != b.want {
					t.Errorf("%s, expected %s", got, b.want)
				}
			})
		})
	}
	for name := range listed {
		if !played[name] {
			t.Errorf("nothing here breaks %q", name)
		}
	}
	if held == 0 {
		t.Error("no run in which all assumptions hold: what is broken may never have been whole")
	}
}

// play makes a world and returns the verdict of what is done in it.
func play(cfg Config, do func(t *testing.T, w *World)) func(*testing.T) string {
	return func(t *testing.T) string {
		w := newWorld(t, cfg)
		do(t, w)
		mustGoOn(t, w)
		t.Log(strings.Join(story(w), "\n"))
		return w.Verdict().String()
	}
}

// enters lets a client try: until it is at work, or through.
func enters(w *World, client int) {
	for w.Position(client).Phase != trace.PhaseWork && !w.Position(client).Over && w.Step(SetOf(client)) {
	}
}

// holding is the situation of most breaches: A has the lock and works for a
// minute; then something happens, and B tries.
func holding(s strategies.Strategy, change func(*Config), happens func(t *testing.T, w *World)) func(*testing.T) string {
	cfg := configOf(s, "A", "B")
	cfg.Retry.Tries, cfg.Clients[0].Work, cfg.Clients[1].Work = 1, time.Minute, time.Minute
	if change != nil {
		change(&cfg)
	}
	return play(cfg, func(t *testing.T, w *World) {
		until(t, w, "A", trace.KindEnter)
		happens(t, w)
		enters(w, 1)
	})
}

// overrun: A works longer than its lease, and leaves; B gets the lock; A releases
// as it does, C tries.
func overrun(strategy string, where trace.Kind) func(*testing.T) string {
	cfg := configOf(named(strategy), "A", "B", "C")
	cfg.Retry.Tries, cfg.Clients[1].Work, cfg.Clients[2].Work = 1, time.Minute, time.Minute
	return play(cfg, func(t *testing.T, w *World) {
		until(t, w, "A", trace.KindLeave)
		if where != trace.KindLeave {
			until(t, w, "A", where) // its check says that all is well
		}
		w.Wait(10 * time.Second)
		until(t, w, "B", trace.KindEnter)
		until(t, w, "A", trace.KindDone)
		enters(w, 2)
	})
}

func wait(d time.Duration) func(*testing.T, *World) {
	return func(_ *testing.T, w *World) { w.Wait(d) }
}

func faults(all ...fault.Fault) func(*testing.T, *World) {
	return func(t *testing.T, w *World) { inject(t, w, all...) }
}

func persisting(p redis.Persistence) func(*Config) {
	return func(cfg *Config) { cfg.Nodes[0].Persistence = p }
}

func slowed(rate float64) func(*Config) {
	return func(cfg *Config) { cfg.Clients[0].Rate = rate }
}

func replicated(cfg *Config) { cfg.Replicas, cfg.Lag = 1, 10*time.Millisecond }

func TestClaim1Assumptions(t *testing.T) {
	setpx := named("setpx-lua")
	const (
		key    = "no unexpired record of the lock is lost"
		clock  = "the server's clock does not jump forward"
		rates  = "clocks differ in speed by less than the margin that the lock takes off its lease"
		unique = "the token is unique to the acquisition"
		touch  = "nothing but compare-and-delete and compare-and-extend touches the lock's record"
		send   = "the deadline is the monotonic reading before the send, plus the TTL, less a margin for clock speeds"
	)
	after := func(d time.Duration, f fault.Fault) func(*testing.T, *World) {
		return func(t *testing.T, w *World) {
			w.Wait(d)
			inject(t, w, f, fault.Up{Node: "n1"})
		}
	}
	// Of two replicas the first has A's record when one of them is made the master.
	promoted := func(to string) func(*testing.T) string {
		cfg := configOf(setpx, "A", "B")
		cfg.Retry.Tries, cfg.Clients[0].Work, cfg.Clients[1].Work = 1, time.Minute, time.Minute
		cfg.Replicas, cfg.Lag = 2, time.Minute
		return play(cfg, func(t *testing.T, w *World) {
			inject(t, w, fault.Lag{Replica: "n1r1", By: time.Millisecond})
			until(t, w, "A", trace.KindEnter)
			w.Wait(10 * time.Millisecond)
			inject(t, w, fault.Failover{To: to})
			enters(w, 1)
		})
	}
	tryBreaches(t, 1, []breach{
		{"", "nothing happens", holding(setpx, nil, wait(9*time.Second)), "ok"},
		{key, "a restart without persistence", holding(setpx, nil, faults(fault.Down{Node: "n1"}, fault.Up{Node: "n1"})), "DG OV"},
		{"", "a restart with persistence of every write", holding(setpx, persisting(redis.PersistAlways), faults(fault.Down{Node: "n1"}, fault.Up{Node: "n1"})), "ok"},
		{key, "a power cut within the second that everysec may lose", holding(setpx, persisting(redis.PersistEverysec), after(900*time.Millisecond, fault.Unplug{Node: "n1"})), "DG OV"},
		{"", "a power cut after that second", holding(setpx, persisting(redis.PersistEverysec), after(time.Second, fault.Unplug{Node: "n1"})), "ok"},
		{"", "a restart of the process within that second", holding(setpx, persisting(redis.PersistEverysec), after(900*time.Millisecond, fault.Down{Node: "n1"})), "ok"},
		{key, "an eviction", holding(setpx, nil, faults(fault.Evict{Node: "n1"})), "DG OV"},
		{key, "FLUSHALL", holding(strangerSends("FLUSHALL"), stranger, strangerActs), "DG OV FR"},
		{key, "a failover to a replica that has not got the lock's record", holding(setpx, replicated, faults(fault.Failover{To: "n1r1"})), "DG OV"},
		{key, "a failover to one that has not got it, where another has", promoted("n1r2"), "DG OV"},
		{"", "a failover to that other one", promoted("n1r1"), "ok"},
		{key, "a failover, and a holder that stays with the old master", holding(setpx, replicated, faults(fault.Failover{To: "n1r1", Stay: []string{"A"}})), "DG OV"},
		{"", "a failover to one that has got it", holding(setpx, replicated, func(t *testing.T, w *World) {
			w.Wait(10 * time.Millisecond)
			inject(t, w, fault.Failover{To: "n1r1"})
		}), "ok"},
		{clock, "a jump of a TTL", holding(setpx, nil, faults(fault.NodeStep{Node: "n1", By: 10 * time.Second})), "DG OV"},
		{"", "a jump back", holding(setpx, nil, faults(fault.NodeStep{Node: "n1", By: -10 * time.Second})), "ok"},
		{rates, "a client's clock is 2% slow", holding(setpx, slowed(0.98), wait(10*time.Second)), "DG OV"},
		{"", "a client's clock is 1% slow", holding(setpx, slowed(0.99), wait(10*time.Second)), "OV"},
		{unique, "one value for all", overrun("fixed-value", trace.KindLeave), "DG OV FR"},
		{unique, "one token for all acquisitions of a process", sameTokenAgain(func(l *toyLock) string { return l.Token()[:1] }), "DG OV"},
		{"", "a token for each", sameTokenAgain(func(l *toyLock) string { return l.Token() }), "ok"},
		{touch, "a plain DEL", overrun("naive-del", trace.KindLeave), "DG OV FR"},
		{touch, "a GET and then a DEL", overrun("get-then-del", trace.KindReceive), "DG OV FR"},
		{touch, "WATCH without MULTI", afterTheCheck(t, "setpx-watch-bare", 2), "DG OV FR"},
		{"", "WATCH, with MULTI", afterTheCheck(t, "setpx-watch", 2), "ok"},
		{touch, "an extension that checks first", extendsLate("extend-unchecked"), "DG OV FR GAP"},
		{touch, "a stranger's DEL", holding(strangerSends("DEL", "lock"), stranger, strangerActs), "DG OV FR"},
		{send, "counted from the reply", slowReply(func(l *toyLock, _, _ time.Duration) time.Duration {
			return l.Clock.Monotonic() + l.TTL
		}), "DG"},
		{send, "less what the wall clock says it took", slowReply(func(l *toyLock, _, wall time.Duration) time.Duration {
			return l.Clock.Monotonic() + l.TTL - wall
		}), "DG"},
		{"", "counted from the send", slowReply(func(l *toyLock, sent, _ time.Duration) time.Duration { return sent + l.TTL }), "ok"},
		{send, "without the margin", holding(toy(toyTake, toyKeep), slowed(0.995), wait(10*time.Second+10*time.Millisecond)), "DG OV"},
		{"", "with it", holding(setpx, slowed(0.995), wait(10*time.Second+10*time.Millisecond)), "OV"},
	})
}

// strangerSends is a right lock, but for a third client, which sends something
// else in the place of acquiring.
func strangerSends(args ...any) strategies.Strategy {
	return toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		if strings.HasPrefix(l.Token(), "X") {
			l.rdb.Do(ctx, args...)
			return nil, strategies.ErrNotAcquired
		}
		return toyTake(ctx, l)
	}, toyKeep)
}

func stranger(cfg *Config) {
	cfg.Clients = append(cfg.Clients, process.Config{Name: "X", Rate: 1, Cycles: 1})
}

func strangerActs(t *testing.T, w *World) { until(t, w, "X", trace.KindRefused) }

// sameTokenAgain: A acquires and releases twice; its first release arrives once
// more while it has the lock for the second time; B tries.
func sameTokenAgain(token func(*toyLock) string) func(*testing.T) string {
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		mine, sent := token(l), l.Clock.Monotonic()
		won, err := l.rdb.SetNX(ctx, l.key, mine, l.TTL).Result()
		switch {
		case err != nil:
			return nil, err
		case !won:
			return nil, strategies.ErrNotAcquired
		}
		return &strategies.Lease{Token: mine, Deadline: sent + l.TTL}, nil
	}, func(ctx context.Context, l *toyLock, lease *strategies.Lease) error {
		return deleteOwn.Run(ctx, l.rdb, []string{l.key}, lease.Token).Err()
	}, deleteOwn)
	cfg := configOf(s, "A", "B")
	cfg.Clients[0].Cycles, cfg.Clients[1].Work = 2, time.Minute
	return play(cfg, func(t *testing.T, w *World) {
		until(t, w, "A", trace.KindReleased)
		inject(t, w, fault.Duplicate{Client: "A", After: 500 * time.Millisecond, N: 1})
		until(t, w, "A", trace.KindEnter)
		w.Wait(600 * time.Millisecond)
		enters(w, 1)
	})
}

var deleteOwn = goredis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("DEL", KEYS[1])
end
return 0`)

// afterTheCheck: A has received so many replies of its release when its lease
// ends; B gets the lock; A's release goes on, C tries.
func afterTheCheck(t *testing.T, strategy string, replies int) func(*testing.T) string {
	t.Helper()
	cfg := configOf(named(strategy), "A", "B", "C")
	cfg.Retry.Tries, cfg.Clients[1].Work, cfg.Clients[2].Work = 1, time.Minute, time.Minute
	return play(cfg, func(t *testing.T, w *World) {
		until(t, w, "A", trace.KindRelease)
		for range replies {
			until(t, w, "A", trace.KindReceive)
		}
		w.Wait(10 * time.Second)
		until(t, w, "B", trace.KindEnter)
		until(t, w, "A", trace.KindDone)
		enters(w, 2)
	})
}

// extendsLate: A's extension has checked when its lease ends; B gets the lock.
func extendsLate(strategy string) func(*testing.T) string {
	cfg := configOf(named(strategy), "A", "B")
	cfg.Retry.Tries, cfg.Clients[0].Extend, cfg.Clients[1].Work = 1, true, time.Minute
	return play(cfg, func(t *testing.T, w *World) {
		until(t, w, "A", trace.KindExtend)
		until(t, w, "A", trace.KindReceive)
		w.Wait(10 * time.Second)
		until(t, w, "B", trace.KindEnter)
		until(t, w, "A", trace.KindExtended)
	})
}

// slowReply: A's reply takes five seconds, in which its wall clock is set back by
// as much. So it has less of its lease left than it might think; B tries when the
// record has expired. deadline is given what the monotonic clock said before the
// send, and how long it took by the wall clock.
func slowReply(deadline func(l *toyLock, sent, wall time.Duration) time.Duration) func(*testing.T) string {
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		before, sent := l.Clock.Now(), l.Clock.Monotonic()
		lease, err := toyTake(ctx, l)
		if err == nil {
			lease.Deadline = deadline(l, sent, l.Clock.Now().Sub(before))
		}
		return lease, err
	}, toyKeep)
	cfg := configOf(s, "A", "B")
	cfg.Timeout = time.Minute
	return play(cfg, func(t *testing.T, w *World) {
		until(t, w, "A", trace.KindSend)
		w.Wait(time.Millisecond)
		inject(t, w, fault.Delay{Client: "A", Reply: true, By: 5 * time.Second}, fault.WallStep{Client: "A", By: -5 * time.Second})
		until(t, w, "A", trace.KindGranted)
		w.Wait(5 * time.Second)
		until(t, w, "B", trace.KindGranted)
	})
}

// asleep: A is paused between its read and its write; B comes, reads, and works;
// A wakes up, and goes on.
func asleep(s strategies.Strategy, pause time.Duration, change func(*Config)) func(*testing.T) string {
	return asleepAfter(trace.KindRead, s, pause, change)
}

func asleepAfter(where trace.Kind, s strategies.Strategy, pause time.Duration, change func(*Config)) func(*testing.T) string {
	cfg := configOf(s, "A", "B")
	cfg.Retry.Tries, cfg.Clients[1].Work = 1, time.Second
	if change != nil {
		change(&cfg)
	}
	return play(cfg, func(t *testing.T, w *World) {
		until(t, w, "A", where)
		w.Wait(pause)
		enters(w, 1)
		if w.Position(1).Phase == trace.PhaseWork {
			until(t, w, "B", trace.KindRead)
		}
		run(t, w, "A")
		run(t, w)
	})
}

func withResource(r Resource) func(*Config) { return func(cfg *Config) { cfg.Resource = r } }

// TestClaim2: the right locks, none of which has granted anything twice.
func TestClaim2(t *testing.T) {
	for _, name := range []string{"setpx-lua", "setpx-watch", "setpx-delex", "redlock"} {
		for caller, checks := range map[string]bool{"does not look at its lease": false, "looks at its lease before it writes": true} {
			t.Run(name+", whose holder "+caller, func(t *testing.T) {
				cfg := configOf(named(name), "A", "B")
				cfg.Retry.Tries = 1
				cfg.Clients[0].Checks = checks
				got := play(cfg, func(t *testing.T, w *World) {
					until(t, w, "A", trace.KindRead)
					until(t, w, "A", trace.KindWake)
					if checks { // it looks, all is well, and here it is paused
						until(t, w, "A", trace.KindClock)
					}
					w.Wait(11 * time.Second)
					until(t, w, "B", trace.KindRead)
					run(t, w, "A")
				})(t)
				if got != "SW OV" {
					t.Errorf("%s, expected SW OV", got)
				}
			})
		}
	}
	if got := asleep(named("fenced"), 11*time.Second, withResource(Fenced))(t); got != "OV" {
		t.Errorf("fenced: %s, expected OV", got)
	}
}

func TestClaim2Assumptions(t *testing.T) {
	tryBreaches(t, 2, []breach{
		{"", "a pause of eleven seconds", asleep(named("setpx-lua"), 11*time.Second, nil), "SW OV"},
		{"the pause is longer than what is left of the lease", "a shorter one", asleep(named("setpx-lua"), 9*time.Second, nil), "ok"},
		{"", "tokens, and a resource that checks them", asleep(named("fenced"), 11*time.Second, withResource(Fenced)), "OV"},
		{"the resource checks the tokens", "a resource that takes every access", asleep(named("fenced"), 11*time.Second, nil), "SW OV"},
	})
}

func TestClaim3Assumptions(t *testing.T) {
	const away = 11 * time.Second
	fenced, late := named("fenced"), named("fenced-late")
	mint := func(fence func(l *toyLock) int64) strategies.Strategy {
		return toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
			lease, err := toyTake(ctx, l)
			if err == nil {
				lease.Fence = fence(l)
			}
			return lease, err
		}, toyKeep)
	}
	meanwhile := func(change func(*Config), all ...fault.Fault) func(*testing.T) string {
		cfg := configOf(fenced, "A", "B")
		cfg.Retry.Tries, cfg.Resource = 1, Fenced
		change(&cfg)
		return play(cfg, func(t *testing.T, w *World) {
			until(t, w, "A", trace.KindRead)
			inject(t, w, all...)
			w.Wait(away)
			until(t, w, "B", trace.KindRead)
			run(t, w)
		})
	}
	// A is held up after its first command, which gave it the lock.
	minting := func(s strategies.Strategy) func(*testing.T) string {
		cfg := configOf(s, "A", "B")
		cfg.Retry.Tries, cfg.Resource = 1, Fenced
		return play(cfg, func(t *testing.T, w *World) {
			until(t, w, "A", trace.KindSend)
			w.Wait(away)
			until(t, w, "B", trace.KindRead)
			run(t, w)
		})
	}
	// A is at work with its lease and its token, and B comes.
	beside := func(change func(*process.Config), all ...fault.Fault) func(*testing.T) string {
		cfg := configOf(fenced, "A", "B")
		cfg.Retry.Tries, cfg.Resource, cfg.Clients[0].Work = 1, Fenced, 5*time.Second
		change(&cfg.Clients[1])
		return play(cfg, func(t *testing.T, w *World) {
			until(t, w, "A", trace.KindRead)
			inject(t, w, all...)
			run(t, w)
		})
	}
	plain := func(*Config) {}
	tryBreaches(t, 3, []breach{
		{"", "a pause", asleep(fenced, away, withResource(Fenced)), "OV"},
		{"the token is minted with the grant, in one step", "a token drawn by a later command", minting(late), "SW OV"},
		{"", "the same delay, and a token from the script that grants", minting(fenced), "OV"},
		{"", "a token drawn late, but before anything happened", asleep(late, away, withResource(Fenced)), "OV"},
		{"tokens increase strictly", "a reading of the client's wall clock", asleepAfter(trace.KindEnter, mint(func(l *toyLock) int64 { return l.Clock.Now().UnixMilli() }), away,
			func(cfg *Config) { cfg.Resource, cfg.Clients[0].Offset = Fenced, time.Minute }), "SW OV"},
		{"tokens increase strictly", "the same token for all", asleep(mint(func(*toyLock) int64 { return 7 }), away, withResource(Fenced)), "SW OV"},
		{"the counter is durable", "a restart without persistence", meanwhile(plain, fault.Down{Node: "n1"}, fault.Up{Node: "n1"}), "SW OV"},
		{"", "a restart that loses nothing", meanwhile(persisting(redis.PersistAlways), fault.Down{Node: "n1"}, fault.Up{Node: "n1"}), "OV"},
		{"the counter is durable", "a failover to a replica that lags", meanwhile(replicated, fault.Failover{To: "n1r1"}), "SW OV"},
		{"the counter is durable", "the same, and a holder that stays with the old master", meanwhile(replicated, fault.Failover{To: "n1r1", Stay: []string{"A"}}), "SW OV"},
		{"the resource registers the tokens of readers", "a resource that looks at writes only", asleep(fenced, away, withResource(FencedWrites)), "SW OV"},
		{"the resource refuses lower tokens", "a resource that takes every access", asleep(fenced, away, nil), "SW OV"},
		{"every access carries its token", "a lock that draws none", asleep(named("setpx-lua"), away, withResource(Fenced)), "SW OV"},
		{"every access carries its token", "a caller that goes ahead though the lock service doesn't answer", beside(func(c *process.Config) { c.FailOpen = true }, fault.Cut{Client: "B", Node: "n1", Direction: fault.Both}), "SW OV"},
		{"", "a caller that gives up if the lock service doesn't answer", beside(func(*process.Config) {}, fault.Cut{Client: "B", Node: "n1", Direction: fault.Both}), "ok"},
		{"every access carries its token", "a caller that goes ahead though it was refused", beside(func(c *process.Config) { c.FallThrough = true }), "SW OV"},
		{"", "a caller that gives up if it is refused", beside(func(*process.Config) {}), "ok"},
	})
}

// TestClaim4Assumptions: mostly A has n1, n2 and n3, and no more; then one of them
// lets it down, and B gets n3, n4 and n5.
func TestClaim4Assumptions(t *testing.T) {
	redlock := named("redlock")
	bare := func(s strategies.Strategy, change func(*Config), happens func(*testing.T, *World)) func(*testing.T) string {
		cfg := configOf(s, "A", "B")
		cfg.Retry.Tries, cfg.Clients[0].Work, cfg.Clients[1].Work = 1, time.Minute, time.Minute
		if change != nil {
			change(&cfg)
		}
		return play(cfg, func(t *testing.T, w *World) {
			inject(t, w, fault.Cut{Client: "A", Node: "n4", Direction: fault.Both}, fault.Cut{Client: "A", Node: "n5", Direction: fault.Both})
			until(t, w, "A", trace.KindEnter)
			happens(t, w)
			enters(w, 1)
		})
	}
	// dark: A has all five votes when some servers lose power, and start again empty.
	dark := func(nodes ...string) func(*testing.T) string {
		return holding(redlock, nil, func(t *testing.T, w *World) {
			for _, n := range nodes {
				inject(t, w, fault.Unplug{Node: n}, fault.Up{Node: n})
			}
		})
	}
	// B is refused while A works, and cleans up after itself; then C tries.
	cleansUp := func(tokens process.Tokens) func(*testing.T) string {
		cfg := configOf(redlock, "A", "B", "C")
		cfg.Tokens, cfg.Retry.Tries, cfg.Clients[0].Work, cfg.Clients[2].Work = tokens, 1, time.Minute, time.Minute
		return play(cfg, func(t *testing.T, w *World) {
			until(t, w, "A", trace.KindEnter)
			until(t, w, "B", trace.KindDone)
			enters(w, 2)
		})
	}
	third := func(cfg *Config) { cfg.Nodes[2].Persistence = redis.PersistAlways }
	const (
		lost  = "no record that a holder counts on is lost during its lease"
		early = "the clock is read before the first send"
		wall  = "elapsed time is measured on a monotonic clock"
	)
	tryBreaches(t, 4, []breach{
		{"", "nothing happens", bare(redlock, nil, func(*testing.T, *World) {}), "ok"},
		{"the servers fail independently of each other", "three of five lose power together", dark("n1", "n2", "n3"), "DG OV"},
		{"", "one of five loses power", dark("n3"), "ok"},
		{"", "two of five lose power", dark("n2", "n3"), "ok"},
		{"a holder has a true majority", "half of an even number", halves(t, 2), "DG OV"},
		{"", "more than half of an even number", halves(t, 3), "ok"},
		{lost, "a restart without persistence", bare(redlock, nil, faults(fault.Down{Node: "n3"}, fault.Up{Node: "n3"})), "DG OV"},
		{lost, "an eviction", bare(redlock, nil, faults(fault.Evict{Node: "n3"})), "DG OV"},
		{lost, "a power cut within the second that everysec may lose", bare(redlock, func(cfg *Config) { cfg.Nodes[2].Persistence = redis.PersistEverysec }, faults(fault.Unplug{Node: "n3"}, fault.Up{Node: "n3"})), "DG OV"},
		{"", "a restart with persistence of every write", bare(redlock, third, faults(fault.Down{Node: "n3"}, fault.Up{Node: "n3"})), "ok"},
		{"", "a server that stays away until all leases are over", bare(redlock, nil, func(t *testing.T, w *World) {
			inject(t, w, fault.Down{Node: "n3"})
			w.Wait(10 * time.Second)
			inject(t, w, fault.Up{Node: "n3"})
		}), "OV"},
		{"the token is unique to the acquisition", "one token for all", cleansUp(process.SameTokens), "DG OV FR"},
		{"", "a token for each", cleansUp(process.UniqueTokens), "ok"},
		{"no server's clock jumps forward", "a jump of a TTL", bare(redlock, nil, faults(fault.NodeStep{Node: "n3", By: 10 * time.Second})), "DG OV"},
		{"", "a jump of a client's wall clock", bare(redlock, nil, faults(fault.WallStep{Client: "A", By: -time.Hour})), "ok"},
		{"clocks differ in speed by less than the margin that the lock takes off its lease", "a client's clock is 3% slow", bare(redlock, slowed(0.97), func(_ *testing.T, w *World) {
			w.Wait(10010*time.Millisecond - w.Now())
		}), "DG OV"},
		{"the deadline leaves a margin for clock speeds", "a deadline of a full TTL, on a clock that is 0.5% slow", votesSlowly(0.995, quorumLock{}), "DG"},
		{"", "a deadline with an allowance, on the same clock", votesSlowly(0.995, quorumLock{allowance: 100 * time.Millisecond}), "ok"},
		{"", "a full TTL from the first send, on a right clock", votesSlowly(1, quorumLock{}), "ok"},
		{early, "read after the first vote", votesSlowly(1, quorumLock{readAfter: 1}), "DG"},
		{early, "read after the last vote", votesSlowly(1, quorumLock{readAfter: 3}), "DG"},
		{wall, "on a wall clock that is set back", setBack("redlock-wall-clock"), "DG OV"},
		{"", "the same, on a monotonic clock", setBack("redlock"), "OV"},
	})
}

// halves: of four servers A reaches two and B the others.
func halves(t *testing.T, need int) func(*testing.T) string {
	t.Helper()
	cfg := configOf(quorumLock{need: need}.strategy(4), "A", "B")
	cfg.Clients[0].Work, cfg.Clients[1].Work = time.Minute, time.Minute
	return play(cfg, func(t *testing.T, w *World) {
		inject(t, w, fault.Cut{Client: "A", Node: "n3", Direction: fault.Both}, fault.Cut{Client: "A", Node: "n4", Direction: fault.Both}, fault.Cut{Client: "B", Node: "n1", Direction: fault.Both}, fault.Cut{Client: "B", Node: "n2", Direction: fault.Both})
		enters(w, 0)
		enters(w, 1)
	})
}

// quorumLock is Redlock with parts that can be left out. It releases nothing.
type quorumLock struct {
	need      int           // votes; 0 is a majority
	readAfter int           // after how many votes it reads the clock
	allowance time.Duration // for drift

	nodes []*goredis.Client
	key   string
	opt   strategies.Options
}

func (q quorumLock) strategy(nodes int) strategies.Strategy {
	if q.need == 0 {
		q.need = nodes/2 + 1
	}
	return strategies.Strategy{
		Name: "toy", Nodes: nodes, Timeout: 50 * time.Millisecond, Retry: strategies.Retry{Tries: 1}, Need: func(int) int { return q.need },
		New: func(nodes []*goredis.Client, key string, o strategies.Options) strategies.Lock {
			l := q
			l.nodes, l.key, l.opt = nodes, key, o
			return &l
		},
	}
}

func (q *quorumLock) Acquire(ctx context.Context) (*strategies.Lease, error) {
	token, votes, start := q.opt.Token(), 0, time.Duration(0)
	for i, n := range q.nodes {
		if i == q.readAfter {
			start = q.opt.Clock.Monotonic()
		}
		if won, err := n.SetNX(ctx, q.key, token, q.opt.TTL).Result(); err == nil && won {
			votes++
		}
	}
	if q.readAfter == len(q.nodes) {
		start = q.opt.Clock.Monotonic()
	}
	deadline := start + q.opt.TTL - q.allowance
	if votes < q.need || q.opt.Clock.Monotonic() >= deadline {
		return nil, strategies.ErrNotAcquired
	}
	return &strategies.Lease{Token: token, Deadline: deadline}, nil
}

func (q *quorumLock) Release(context.Context, *strategies.Lease) error { return nil }

// votesSlowly: A cannot reach n3, and n1's vote takes half a second to arrive. B
// asks when that vote has just expired: n1 and n3 are a majority.
func votesSlowly(rate float64, q quorumLock) func(*testing.T) string {
	cfg := configOf(q.strategy(3), "A", "B")
	cfg.Timeout, cfg.Clients[0].Rate, cfg.Clients[0].Work = time.Second, rate, time.Minute
	return play(cfg, func(t *testing.T, w *World) {
		inject(t, w, fault.Slow{Client: "A", Node: "n1", Request: time.Millisecond, Reply: 500 * time.Millisecond}, fault.Cut{Client: "A", Node: "n3", Direction: fault.Both})
		until(t, w, "A", trace.KindGranted)
		w.Wait(10*time.Second + 5*time.Millisecond - w.Now())
		until(t, w, "B", trace.KindGranted)
	})
}

// setBack: A is paused for most of a lease between its votes, and its wall clock
// is set back by as much.
func setBack(strategy string) func(*testing.T) string {
	cfg := configOf(named(strategy), "A", "B")
	cfg.Retry.Tries, cfg.Clients[0].Work, cfg.Clients[1].Work = 1, time.Minute, time.Minute
	return play(cfg, func(t *testing.T, w *World) {
		inject(t, w, fault.Cut{Client: "A", Node: "n4", Direction: fault.Both}, fault.Cut{Client: "A", Node: "n5", Direction: fault.Both})
		until(t, w, "A", trace.KindReceive)
		w.Wait(9 * time.Second)
		inject(t, w, fault.WallStep{Client: "A", By: -9 * time.Second})
		until(t, w, "A", trace.KindEnter)
		w.Wait(2 * time.Second)
		enters(w, 1)
	})
}

// TestClaim5Assumptions: A dies, and B asks again and again.
func TestClaim5Assumptions(t *testing.T) {
	// dies lets A act until these events, and perhaps something happen, before it dies.
	dies := func(s strategies.Strategy, last []trace.Kind, change func(*Config), happens ...fault.Fault) func(*testing.T) string {
		cfg := configOf(s, "A", "B")
		cfg.Retry = strategies.Retry{Tries: 1}
		cfg.Clients[1].Insist = 100 * time.Millisecond
		if change != nil {
			change(&cfg)
		}
		return func(t *testing.T) string {
			w := newWorld(t, cfg)
			for _, kind := range last {
				until(t, w, "A", kind)
			}
			inject(t, w, happens...)
			inject(t, w, fault.Crash{Client: "A"})
			return recovery(t, w, 10*time.Millisecond)
		}
	}
	once, twice := []trace.Kind{trace.KindSend}, []trace.Kind{trace.KindSend, trace.KindSend}
	const (
		together = "the TTL is set together with the record"
		stamps   = "where the record is a stamp, clocks agree"
		hung     = "the holder is dead and not hung"
	)
	fast := func(cfg *Config) { cfg.Clients[0].Offset = 12 * time.Second }
	tryBreaches(t, 5, []breach{
		{"", "it dies when it has sent its command", dies(named("setpx-lua"), once, nil), "in time"},
		{together, "there is none", dies(named("setnx"), once, nil), "PD"},
		{together, "it is set by a second command", dies(named("setnx-expire"), once, nil), "PD"},
		{"", "the second command has been sent", dies(named("setnx-expire"), twice, nil), "in time"},
		{"nothing that the dead client sent is still under way", "a request that arrives five seconds later", func(t *testing.T) string {
			w := newWorld(t, configOf(named("setpx-lua"), "A", "B"))
			until(t, w, "A", trace.KindSend)
			inject(t, w, fault.Delay{Client: "A", Reply: false, By: 5 * time.Second}, fault.Crash{Client: "A"})
			return recovery(t, w, 6*time.Second) // till then nobody asks
		}, "late"},
		{"", "the same request, which arrives at once", func(t *testing.T) string {
			w := newWorld(t, configOf(named("setpx-lua"), "A", "B"))
			until(t, w, "A", trace.KindSend)
			inject(t, w, fault.Crash{Client: "A"})
			return recovery(t, w, 6*time.Second)
		}, "in time"},
		{"the server's clock does not jump back", "a jump of five seconds", dies(named("setpx-lua"), []trace.Kind{trace.KindGranted}, nil, fault.NodeStep{Node: "n1", By: -5 * time.Second}), "late"},
		{"", "a jump forward", dies(named("setpx-lua"), []trace.Kind{trace.KindGranted}, nil, fault.NodeStep{Node: "n1", By: 5 * time.Second}), "in time"},
		{stamps, "a dead client's clock that was fast", dies(named("getset-equal"), once, fast), "late"},
		{"", "the same clock, where the record is none", dies(named("setpx-lua"), once, fast), "in time"},
		{hung, "a thread that goes on renewing", func(t *testing.T) string {
			cfg := configOf(named("watchdog"), "A", "B")
			cfg.TTL = 9 * time.Second
			w := newWorld(t, cfg)
			until(t, w, "A", trace.KindEnter)
			inject(t, w, fault.Hang{Client: "A"})
			return recovery(t, w, 10*time.Millisecond)
		}, "PD"},
		{"", "a process that dies with its threads", func(t *testing.T) string {
			cfg := configOf(named("watchdog"), "A", "B")
			cfg.TTL = 9 * time.Second
			w := newWorld(t, cfg)
			until(t, w, "A", trace.KindEnter)
			inject(t, w, fault.Crash{Client: "A"})
			return recovery(t, w, 10*time.Millisecond)
		}, "in time"},
	})
}

// recovery says when B gets the lock, counted from now, if it asks after idle, and
// then every so often: in time is within a TTL, two round trips, and the fifth of a
// second that a client takes at most to ask again. If it never does, the probe says
// whether anybody can.
func recovery(t *testing.T, w *World, idle time.Duration) string {
	t.Helper()
	from := w.Now()
	w.Wait(idle)
	for w.Now()-from < 30*time.Second && !w.Position(1).Over && w.Step(everybody(w)) {
	}
	for i := range w.trace.Events {
		if e := &w.trace.Events[i]; e.Kind == trace.KindGranted && e.Client == 1 {
			if e.At-from <= w.cfg.TTL+4*w.cfg.Latency+200*time.Millisecond {
				return "in time"
			}
			return "late"
		}
	}
	return drained(t, w)
}
