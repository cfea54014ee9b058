package fuzz

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/monitor"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

var pairSeconds = flag.Int("pair-seconds", 0, "adv: how long each lock")
var pairEndless = flag.Bool("pair-endless", false, "adv: no bounds on cycles")
var pairLag = flag.Bool("pair-lag", false, "adv: short lags")
var pairOnly = flag.Int("pair-only", -1, "adv: variant")
var pairLocks = flag.String("pair-locks", "", "adv: names")

// pairDrawer draws schedules in which faults hit close together.
type pairDrawer struct {
	*fuzzer
	timeout time.Duration
	spent   map[string]int
}

func (d *pairDrawer) name(i int) string { return d.config.Clients[i].Name }

// close draws a fault that hits client c, or the server n.
func (d *pairDrawer) near(kind explore.FaultKind, c, n int) []sim.Fault {
	client, node := d.name(c), fmt.Sprintf("n%d", n+1)
	switch kind {
	case explore.Crash:
		return []sim.Fault{sim.Crash{Client: client}}
	case explore.ReplyLost:
		if d.IntN(2) == 0 {
			return []sim.Fault{sim.LoseHeldReply{Client: client, N: 1 + d.IntN(2)}}
		}
		return []sim.Fault{sim.LoseReply{Client: client}}
	case explore.HoldRequest:
		return []sim.Fault{sim.Hold{Client: client}}
	case explore.Duplicate:
		after := time.Duration(0)
		if d.IntN(3) == 0 {
			after = d.near1()
		}
		return []sim.Fault{sim.Duplicate{Client: client, After: after, N: 1 + d.IntN(3)}}
	case explore.Restart:
		return []sim.Fault{sim.Down{Node: node}, sim.Up{Node: node}}
	case explore.ClientClock:
		return []sim.Fault{sim.WallStep{Client: client, By: d.jump()}}
	case explore.ServerClock:
		return []sim.Fault{sim.NodeStep{Node: node, By: d.jump()}}
	case explore.Evict:
		return []sim.Fault{sim.Evict{Node: node}}
	case explore.Failover:
		if d.lags {
			return []sim.Fault{sim.Down{Node: node}, sim.Failover{To: node + "r1"}}
		}
		by := 1000 * time.Hour
		if d.IntN(2) == 0 && *pairLag {
			by = d.near1()
		}
		return []sim.Fault{sim.Lag{Replica: node + "r1", By: by}}
	}
	return nil
}

// near1 is a span that matters.
func (d *pairDrawer) near1() time.Duration {
	ttl, to := d.s.ttl, d.timeout
	next := time.Duration(0)
	if at, any := d.world.Next(); any {
		next = at - d.world.Now()
	}
	all := []time.Duration{ttl, to, ttl / 2, ttl - to, to - ttl, next, next - ttl, next - to, next / 2, ttl + time.Second, to - time.Millisecond, ttl - time.Millisecond, next, next}
	s := all[d.IntN(len(all))] + time.Duration(d.IntN(3)-1)*time.Millisecond
	if d.IntN(5) == 0 {
		return d.span()
	}
	return max(time.Millisecond, s.Round(time.Millisecond))
}

func (d *pairDrawer) drawPair() error {
	d.s = *d.given
	d.ops = d.ops[:0]
	if err := d.begin(d.s); err != nil {
		return err
	}
	var kinds []explore.FaultKind
	for i := range len(explore.Budget{}) {
		k := explore.FaultKind(i)
		if k != explore.Pause && !(d.s.replica && k.OnMaster()) && !(k == explore.Failover && !d.s.replica) {
			kinds = append(kinds, k)
		}
	}
	n := 2
	if d.IntN(3) == 0 {
		n = 3
	}
	var chosen []explore.FaultKind
	for range n {
		k := kinds[d.IntN(len(kinds))]
		chosen = append(chosen, k)
		if k == explore.Failover {
			chosen = append(chosen, k)
		}
	}
	c, node := d.IntN(d.s.clients), d.IntN(len(d.config.Nodes))
	length := 14 * d.s.clients * d.s.cycles * max(1, len(d.config.Nodes))
	start := d.IntN(length)
	if d.IntN(2) == 0 {
		start = d.IntN(12)
	}
	left := chosen
	at := d.IntN(d.s.clients)
	switches := [...]float64{0.02, 0.1, 0.3}[d.IntN(3)]
	waits := [...]float64{0, 0.01, 0.03}[d.IntN(3)]
	patient := d.IntN(2) == 0
	stuck := 0
	for i := 0; i < 5*length && d.world.Err() == nil; i++ {
		if i >= start && len(left) > 0 && d.IntN(3) > 0 {
			who := c
			if d.IntN(5) == 0 {
				who = d.IntN(d.s.clients)
			}
			at := node
			if d.IntN(5) == 0 {
				at = d.IntN(len(d.config.Nodes))
			}
			if d.make(op{faults: d.near(left[0], who, at)}) {
				left = left[1:]
			} else if d.IntN(20) == 0 {
				left = left[1:]
			}
			if d.IntN(3) == 0 {
				d.make(op{who: c, count: 1 + d.IntN(2)})
			}
		}
		if i >= start && d.Float64() < 0.08 {
			d.free()
		}
		if d.Float64() < waits || i >= start && d.Float64() < 2*waits {
			if patient {
				d.polite = true
				for j := range d.s.clients {
					for n := 0; n < 60 && d.pauses(j) && d.make(op{who: j, count: 1}); n++ {
					}
				}
			}
			d.make(op{wait: d.near1()})
		}
		if d.Float64() < switches || !d.world.Ready(sim.SetOf(at)) {
			at = d.another(at)
		}
		if d.make(op{who: at, count: 1}) {
			continue
		}
		next, any := d.world.Next()
		switch {
		case any && next > d.world.Now() && d.IntN(3) > 0:
			d.make(op{wait: next - d.world.Now()})
		case any && next > d.world.Now():
			d.make(op{wait: d.near1()})
		case !d.free():
			if stuck++; stuck > 3 {
				return d.world.Err()
			}
		}
	}
	return d.world.Err()
}

// runPair is run with such a schedule.
func (d *pairDrawer) runPair() error {
	d.counts.runs++
	if err := d.drawPair(); err != nil {
		if strings.Contains(err.Error(), "the run was stopped") {
			return nil
		}
		return err
	}
	cost, verdict := d.player.spent(), d.verdict()
	if d.IntN(3) == 0 && d.deadlocks() {
		verdict = append(slices.Clone(verdict), trace.PD)
	}
	for _, c := range verdict {
		if slices.Contains(monitor.Searched(), c) {
			d.counts.violations++
			d.judge(c, &cost)
		}
	}
	return nil
}

func TestAdvPairs(t *testing.T) {
	testenv.Long(t)
	if *pairSeconds == 0 {
		t.Skip()
	}
	rng := rand.New(rand.NewPCG(*seed, 77))
	var all []*subject
	for _, name := range strings.Split(*pairLocks, ",") {
		if name == "quorum3" || name == "quorum5" {
			nodes := 3
			if name == "quorum5" {
				nodes = 5
			}
			q := drawQuorum(rng, nodes)
			all = append(all, q.subject())
			continue
		}
		if name == "reaction" {
			all = append(all, drawReaction(rng).subject())
			continue
		}
		for _, s := range subjects() {
			if s.name == name {
				all = append(all, s)
			}
		}
	}
	for i, s := range all {
		for variant := 0; ; variant++ {
			if variant == 10 || variant >= 2 && s.nodes > 0 {
				break
			}
			if *pairOnly >= 0 && variant != *pairOnly {
				continue
			}
			of := *s
			sd := *seed*1000 + uint64(i*10+variant)
			at := setting{clients: 2, cycles: 1, ttl: 12 * time.Second, seed: 1, tries: max(1, of.tries), extend: of.extends}
			to := 3 * time.Second
			if of.strategy.Timeout > 0 {
				to = of.strategy.Timeout
			}
			switch variant {
			case 0:
				at.ttl = 900 * time.Millisecond
				if of.strategy.Nodes > 1 {
					to = 2 * time.Second
				}
			case 1:
				at.cycles = 2
				if of.strategy.Nodes > 1 {
					at.cycles = 1
				}
			case 2:
				at.ttl, at.checks = 2*time.Second, true
			case 3:
				at.tries = 2
				at.ttl = 900 * time.Millisecond
			case 4:
				at.extend = of.strategy.Extends()
				at.ttl = 2 * time.Second
			case 5:
				at.ttl = 4 * time.Second
				at.replica = of.strategy.Nodes == 1
			}
			if variant > 5 {
				at.ttl = []time.Duration{900, 1000, 1500, 2000, 3000, 4000, 6000, 12000}[rng.IntN(8)] * time.Millisecond
				to = []time.Duration{500, 1000, 2000, 3000}[rng.IntN(4)] * time.Millisecond
				at.tries = 1 + rng.IntN(3)/2
				at.cycles = 1 + rng.IntN(2)
				at.extend = of.strategy.Extends() && rng.IntN(2) == 0
				at.checks = !at.extend && !*pairEndless && rng.IntN(4) == 0
				if rng.IntN(4) == 0 {
					at.clients = 3
				}
			}
			if *pairEndless && (at.checks || at.tries > 1) {
				at.checks = false
			}
			if of.ttl > 0 {
				at.ttl = of.ttl
			}
			of.strategy.Timeout = to
			_ = strategies.Strategy{}
			f := newFuzzer(&of, sd)
			f.limit = *stateLimit
			f.given = &at
			d := &pairDrawer{fuzzer: f, timeout: to}
			start := time.Now()
			for time.Since(start) < time.Duration(*pairSeconds)*time.Second {
				if err := d.runPair(); err != nil {
					fmt.Fprintf(os.Stderr, "%s seed %d: %v\n", of.name, sd, err)
					break
				}
			}
			fmt.Fprintf(os.Stderr, "%s variant %d seed %d: %d runs, %d violations, %d searches, %d too big, %d found, %d refused, %d misses, %d beyond\n", of.name, variant, sd, f.counts.runs, f.counts.violations,
				len(f.answers), f.counts.tooBig, len(f.shown), len(f.refused), len(f.misses), f.counts.beyond)
			for _, m := range f.misses {
				fmt.Fprintf(os.Stderr, "MISS %s timeout=%s tries=%d\n", m, to, at.tries)
			}
			for _, m := range f.refused {
				if strings.Contains(m.says, "one of them is wrong") || strings.Contains(m.says, " choices of schedule ") {
					fmt.Fprintf(os.Stderr, "DISAGREES %s timeout=%s tries=%d\n", m, to, at.tries)
				} else if testing.Verbose() {
					fmt.Fprintf(os.Stderr, "REFUSED %s\n", m.says)
				}
			}
			for _, m := range f.shaky {
				fmt.Fprintf(os.Stderr, "UNSTEADY %s\n", m)
			}
			f.close() //nolint:errcheck // nothing is written
		}
	}
}
