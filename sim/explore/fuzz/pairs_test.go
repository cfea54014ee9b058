package fuzz

import (
	"cmp"
	"math/rand/v2"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/explore/trials"
	"lockstep/sim/fault"
	"lockstep/sim/testenv"
	"lockstep/strategies"
)

// closer draws schedules in which two or three faults hit the same client or the same server shortly one after the
// other, at any place: uniform ones seldom have a request that is held up and whose reply is lost.
type closer struct{ *drawer }

// near is a fault of a kind that hits a client or a node, with all its moves.
func (d closer) near(kind explore.FaultKind, who, node int) []fault.Fault {
	client := d.Config.Clients[who].Name
	switch {
	case kind == explore.ReplyLost && d.IntN(2) == 0:
		return []fault.Fault{fault.LoseHeldReply{Client: client, N: 1 + d.IntN(2)}}
	case kind == explore.Duplicate:
		after := time.Duration(0)
		if d.IntN(3) == 0 {
			after = d.soon()
		}
		return []fault.Fault{fault.Duplicate{Client: client, After: after, N: 1 + d.IntN(3)}}
	}
	return d.FaultOf(kind, who, node)
}

// soon is a span that is likely to matter: a TTL, a timeout, or until so long before the next instant at which
// anything is due.
func (d closer) soon() time.Duration {
	if d.IntN(5) == 0 {
		return d.Span()
	}
	ttl, timeout, next := d.s.ttl, d.Config.Timeout, time.Duration(0)
	if at, any := d.World.Next(); any {
		next = at - d.World.Now()
	}
	spans := [...]time.Duration{ttl, ttl, timeout, timeout, ttl / 2, ttl - timeout, timeout - ttl, next, next, next, next / 2, next - ttl, next - timeout}
	s := spans[d.IntN(len(spans))] + time.Duration(d.IntN(3)-1)*time.Millisecond
	return max(time.Millisecond, s.Round(time.Millisecond))
}

// kindsFor draws the kinds of fault of a schedule. A failover has two parts.
func (d closer) kindsFor() (kinds []explore.FaultKind) {
	for n := 2 + d.IntN(3)/2; len(kinds) < n; {
		switch k := explore.FaultKind(d.IntN(len(explore.Budget{}))); {
		case k == explore.Pause || d.s.replica && k.OnMaster() || !d.s.replica && k == explore.Failover:
		case k == explore.Failover:
			kinds, n = append(kinds, k, k), n+1
		default:
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// draw plays such a schedule.
func (d closer) draw(*subject) error {
	d.s, d.Ops = *d.given, d.Ops[:0]
	if err := d.begin(d.s); err != nil {
		return err
	}
	left, who, node := d.kindsFor(), d.IntN(d.s.clients), d.IntN(len(d.Config.Nodes))
	length := 14 * d.s.clients * d.s.cycles * len(d.Config.Nodes)
	start, at := d.IntN([...]int{12, length}[d.IntN(2)]), d.IntN(d.s.clients)
	switches, waits := [...]float64{0.02, 0.1, 0.3}[d.IntN(3)], [...]float64{0, 0.01, 0.03}[d.IntN(3)]
	d.Polite = d.IntN(2) == 0
	for n := 0; n < 5*length && d.World.Err() == nil; n++ {
		if n >= start {
			left = d.strike(left, who, node)
			if d.Float64() < 0.08 {
				d.Free()
			}
		}
		if d.Float64() < waits {
			d.passes()
		}
		if d.Float64() < switches || !d.World.Ready(sim.SetOf(at)) {
			at = d.Another(at)
		}
		if !d.Make(op{Who: at, Count: 1}) && !d.idles() {
			break
		}
	}
	return d.World.Err()
}

// strike makes the next fault, if it is time for that, and returns those that are left.
func (d closer) strike(left []explore.FaultKind, who, node int) []explore.FaultKind {
	if len(left) == 0 || d.IntN(3) == 0 {
		return left
	}
	if d.IntN(5) == 0 {
		who, node = d.IntN(d.s.clients), d.IntN(len(d.Config.Nodes))
	}
	if !d.Make(op{Faults: d.near(left[0], who, node)}) && d.IntN(20) > 0 {
		return left
	}
	if d.IntN(3) == 0 {
		d.Make(op{Who: who, Count: 1 + d.IntN(2)})
	}
	return left[1:]
}

// passes lets time pass, if the schedule is polite after those have gone on who would be paused.
func (d closer) passes() {
	for i := range d.s.clients {
		for n := 0; d.Polite && n < 60 && d.Pauses(i) && d.Make(op{Who: i, Count: 1}); n++ {
		}
	}
	d.Make(op{Wait: d.soon()})
}

// idles lets something happen where no client can act, and reports whether anything could.
func (d closer) idles() bool {
	next, any := d.World.Next()
	switch in := next - d.World.Now(); {
	case any && in > 0 && d.IntN(3) > 0:
		return d.Make(op{Wait: in})
	case any && in > 0:
		return d.Make(op{Wait: d.soon()})
	}
	return d.Free()
}

// TestEveryKindIsDrawn: random schedules have faults of every kind that a search makes, and count them as such.
func TestEveryKindIsDrawn(t *testing.T) {
	of, _ := strategies.Get("setpx-lua")
	d := &drawer{player: &player{subject: &subject{name: of.Name, strategy: of}}}
	d.Rand = rand.New(rand.NewPCG(*seed, 5))
	defer d.Close() //nolint:errcheck // nothing is written
	var drawn, near explore.Budget
	for n := range 400 {
		if d.s = d.setting(d.subject); n%4 == 0 {
			d.s.replica = true
		}
		if err := d.begin(d.s); err != nil {
			t.Fatal(err)
		}
		if f := d.DrawFault(); len(f) > 0 {
			if k, counts := trials.KindOf(f[len(f)-1]); counts {
				drawn[k]++
			}
		}
		for _, kind := range (closer{d}).kindsFor() {
			f := closer{d}.near(kind, 0, 0)
			if k, counts := trials.KindOf(f[len(f)-1]); !counts || k != kind {
				t.Fatalf("%s is drawn as %s, which counts as another kind", kind, f)
			}
			near[kind]++
		}
	}
	for k := range drawn {
		if kind := explore.FaultKind(k); kind != explore.Pause && (drawn[k] == 0 || near[k] == 0) {
			t.Errorf("of %s %d are drawn, and %d near others: see drawFault", kind.Words(2), drawn[k], near[k])
		}
	}
}

// settingNear draws a setting in which the TTL is shorter or longer than the timeout.
func settingNear(rng *rand.Rand, of *subject) *setting {
	ttls := [...]time.Duration{900, 1000, 1500, 2000, 3000, 4000, 6000, 12000}
	s := &setting{clients: 2 + rng.IntN(4)/3, cycles: 1 + rng.IntN(2), ttl: ttls[rng.IntN(len(ttls))] * time.Millisecond, seed: 1, tries: max(of.tries, 1+rng.IntN(3)/2)}
	s.extend = of.strategy.Extends() && rng.IntN(2) == 0
	s.replica = of.strategy.Nodes == 1 && rng.IntN(4) == 0
	if of.strategy.Nodes > 1 {
		s.clients, s.cycles = 2, 1
	}
	of.strategy.Timeout = [...]time.Duration{500, 1000, 2000, 3000}[rng.IntN(4)] * time.Millisecond
	return s
}

// fuzzClosely plays such schedules of a lock, and reports.
func fuzzClosely(t *testing.T, of *subject, at *setting, seed uint64, endless bool, times int) {
	t.Helper()
	f := newFuzzer(of, seed)
	defer f.Close() //nolint:errcheck // nothing is written
	f.limit, f.endless, f.given = *stateLimit, endless, at
	f.draws = closer{&f.drawer}.draw
	for range times * *runs {
		if err := f.run(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s, TTL %s, timeout %s, seed %d, without bounds %t: %d runs, %d violations, %d searches, %d too big, %d found", of.name, at.ttl, of.strategy.Timeout, seed, endless,
		f.counts.runs, f.counts.violations, len(f.answers), f.counts.tooBig, len(f.shown))
	f.report(t)
}

// TestFaultsCloseTogether: the search finds what schedules show in which faults hit the same client or server, of locks
// on one server that react to errors in many ways, within bounds and without.
func TestFaultsCloseTogether(t *testing.T) {
	testenv.Long(t)
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 77))
	for n := range drawn(testenv.Count(1, 40)) {
		of := drawReaction(rng).subject()
		at, times := settingNear(rng, of), 100
		if n == 0 { // only a lost reply to a request that was held up breaks it alone
			of = reaction{}.subject()
			at = &setting{clients: 2, cycles: 1, ttl: 900 * time.Millisecond, seed: 1, tries: 1}
			times = 1000
		}
		fuzzClosely(t, of, at, *seed*1000+uint64(n), n%2 == 1, times)
	}
}

// fives are locks on five servers, of which most have one thing wrong.
var fives = []quorum{
	{need: 3}, {need: 2}, {need: 4}, {need: 3, checks: never}, {need: 3, checks: late}, {need: 3, cleans: granting}, {need: 3, cleans: nowhere},
	{need: 3, frees: granting}, {need: 3, frees: firstAlone}, {need: 3, tells: 2}, {need: 3, blindly: true}, {need: 3, stops: true, frees: granting}, {need: 3, breaks: true}, {need: 3, token: 2},
}

// TestFaultsOnFiveServers: likewise, of locks on five servers. A search of one takes several seconds.
func TestFaultsOnFiveServers(t *testing.T) {
	testenv.Longest(t)
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 78))
	for n, q := range fives {
		q.nodes, q.tries = 5, cmp.Or(q.tries, 1)
		of := q.subject()
		at := settingNear(rng, of)
		at.tries = 1
		fuzzClosely(t, of, at, *seed*1000+uint64(n), false, 100)
	}
}
