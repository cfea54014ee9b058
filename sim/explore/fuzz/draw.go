package fuzz

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/fault"
	"lockstep/sim/trace"
)

// drawer draws random schedules while it plays them.
type drawer struct {
	*rand.Rand
	*player
	s      setting
	ops    []op
	polite bool            // let time pass only where it is nobody's fault
	given  *setting        // of every run, or nil: it is drawn
	kinds  *explore.Budget // the kinds of fault that may be drawn are those with a count; nil: all
}

// setting draws what a run is configured with.
func (d *drawer) setting(of *subject) setting {
	s := setting{clients: 2, cycles: 1 + d.IntN(3)/2, ttl: 12 * time.Second, seed: 1, tries: max(1, of.tries), extend: of.extends}
	if d.IntN(3) == 0 {
		s.clients = 3
	}
	if d.IntN(8) == 0 {
		s.cycles = 3
	}
	if of.strategy.Nodes > 1 && (of.nodes == 0 || d.IntN(3) > 0) {
		s.cycles = 1
	}
	if of.ttl > 0 {
		s.ttl = of.ttl
	} else if d.IntN(4) == 0 {
		s.ttl = [...]time.Duration{3 * time.Second, 900 * time.Millisecond}[d.IntN(2)]
	}
	if of.draws {
		s.seed = d.Uint64N(1000)
	}
	if of.strategy.Extends() && d.IntN(2) == 0 {
		s.extend = true
	}
	s.checks = d.IntN(6) == 0
	s.replica = of.strategy.Nodes == 1 && of.strategy.Replicas == 0 && d.IntN(10) == 0
	return s
}

// draw plays a random schedule, with up to three faults and some waits.
func (d *drawer) draw(of *subject) error {
	if d.given != nil {
		d.s = *d.given
	} else {
		d.s = d.setting(of)
	}
	d.ops = d.ops[:0]
	if err := d.begin(d.s); err != nil {
		return err
	}
	length := float64(14 * d.s.clients * d.s.cycles * max(1, of.strategy.Nodes))
	faults := float64([...]int{0, 0, 1, 1, 1, 1, 2, 3}[d.IntN(8)])
	waits := float64([...]int{0, 1, 1, 2, 2, 3, 4}[d.IntN(7)])
	switches := d.hurry()
	left := int(faults)
	at := d.IntN(d.s.clients)
	d.polite = d.IntN(2) == 0
	for n := 0; n < int(6*length) && d.world.Err() == nil; n++ {
		failed := left > 0 && d.Float64() < d.risk()*faults/length && d.fault()
		if failed {
			left--
			switches = d.hurry()
		}
		if d.Float64() < waits/length || failed && d.IntN(4) == 0 {
			d.pass()
			switches = d.hurry()
			if d.IntN(2) == 0 {
				at = d.IntN(d.s.clients)
			}
		}
		if d.Float64() < 2/length {
			d.free()
		}
		if d.Float64() < switches || !d.world.Ready(sim.SetOf(at)) {
			at = d.another(at)
		}
		if d.make(op{who: at, count: 1}) {
			continue
		}
		if n > int(2*length) && d.IntN(10) == 0 {
			return d.world.Err()
		}
		next, any := d.world.Next()
		switch {
		case any && next > d.world.Now() && d.IntN(5) > 0:
			d.make(op{wait: next - d.world.Now()})
		case any && next > d.world.Now():
			d.make(op{wait: d.span()})
		case !d.free():
			return d.world.Err()
		}
	}
	return d.world.Err()
}

// risk is how much likelier a fault is now than where nobody has the lock.
func (d *drawer) risk() float64 {
	for i := range d.s.clients {
		if c := &d.world.State().Clients[i]; c.Phase == trace.PhaseHold || c.Phase == trace.PhaseWork {
			return 2
		}
	}
	return 0.7
}

// hurry draws how often clients take turns until something else happens.
func (d *drawer) hurry() float64 { return [...]float64{0.02, 0.1, 0.3, 0.6}[d.IntN(4)] }

// pass lets time pass. The polite let those finish their cycles who would be paused, unless a
// fault or another client keeps them from it.
func (d *drawer) pass() {
	if d.polite {
		for i := range d.s.clients {
			for n := 0; n < 60 && d.pauses(i) && d.make(op{who: i, count: 1}); n++ {
			}
		}
	}
	d.make(op{wait: d.span()})
}

// make makes an op and keeps it, if it did anything.
func (d *drawer) make(o op) bool {
	if !d.do(&o) {
		return false
	}
	if last := len(d.ops) - 1; last >= 0 && o.count > 0 && d.ops[last].count > 0 && d.ops[last].who == o.who {
		d.ops[last].count += o.count
		return true
	}
	d.ops = append(d.ops, o)
	return true
}

// another returns a client that can act, if any can.
func (d *drawer) another(at int) int {
	first := d.IntN(d.s.clients)
	for n := range d.s.clients {
		if i := (first + n) % d.s.clients; i != at && d.world.Ready(sim.SetOf(i)) {
			return i
		}
	}
	return at
}

func (d *drawer) free() bool {
	who := d.IntN(d.s.clients)
	for n := range d.s.clients {
		name := d.config.Clients[(who+n)%d.s.clients].Name
		if d.make(op{faults: []fault.Fault{fault.Free{Client: name, N: 1 + d.IntN(2)}}}) || d.make(op{faults: []fault.Fault{fault.Free{Client: name, N: 1}}}) {
			return true
		}
	}
	return false
}

// fault draws a fault, and reports whether it happened.
func (d *drawer) fault() bool {
	faults := d.drawFault()
	if len(faults) == 0 || !d.allowed(faults[len(faults)-1]) {
		return false
	}
	return d.make(op{faults: faults})
}

// allowed reports whether a fault may be drawn.
func (d *drawer) allowed(f fault.Fault) bool {
	kind, counts := kindOf(f)
	return d.kinds == nil || !counts || d.kinds[kind] > 0
}

// drawFault draws a fault, with all its moves; there are none if it drew one that doesn't fit
// the setting.
func (d *drawer) drawFault() []fault.Fault {
	who, node := d.IntN(d.s.clients), d.IntN(len(d.config.Nodes))
	if d.s.replica && d.IntN(3) > 0 {
		return d.faultOf(explore.Failover, who, node)
	}
	switch d.IntN(12) {
	case 0, 1, 10, 11:
		return d.faultOf(explore.Crash, who, node)
	case 2, 3:
		return d.faultOf(explore.ReplyLost, who, node)
	case 4:
		return d.faultOf(explore.HoldRequest, who, node)
	case 5, 6:
		after := time.Duration(0)
		if d.IntN(2) == 0 {
			after = d.span()
		}
		return []fault.Fault{fault.Duplicate{Client: d.config.Clients[who].Name, After: after}}
	case 7:
		if d.s.replica {
			return nil // no bounds have both
		}
		return d.faultOf(explore.Restart, who, node)
	case 8:
		return d.faultOf(explore.ClientClock, who, node)
	}
	if !d.s.replica && d.IntN(2) == 0 {
		return d.faultOf(explore.ServerClock, who, node)
	}
	kind := explore.Evict
	if further := len(explore.Budget{}) - int(kind); further > 1 { // kinds that stand behind it
		kind += explore.FaultKind(d.IntN(further))
	}
	return d.faultOf(kind, who, node)
}

// faultOf is a fault of a kind that hits a client or a node, with all its moves.
func (d *drawer) faultOf(kind explore.FaultKind, who, node int) (f []fault.Fault) {
	client, server := d.config.Clients[who].Name, fmt.Sprintf("n%d", node+1)
	switch kind {
	case explore.ClientClock:
		return []fault.Fault{fault.WallStep{Client: client, By: d.jump()}}
	case explore.ServerClock:
		return []fault.Fault{fault.NodeStep{Node: server, By: d.jump()}}
	case explore.Failover:
		if d.lags {
			return []fault.Fault{fault.Down{Node: server}, fault.Failover{To: server + "r1"}}
		}
		return []fault.Fault{fault.Lag{Replica: server + "r1", By: 1000 * time.Hour}}
	}
	b := explore.Bounds{TTL: d.s.ttl}
	b.Faults[kind] = 1
	offers := append(explore.Offers(&b, true, who, nil), explore.Offers(&b, false, node, nil)...)
	for _, m := range offers[0].Moves {
		f = append(f, m.Fault)
	}
	return f
}

// jump is a span by which a clock jumps.
func (d *drawer) jump() time.Duration {
	by := d.s.ttl + 2*time.Second
	if d.IntN(2) == 0 {
		return -by
	}
	return by
}

// span is some time in whole milliseconds: of any order of magnitude, near a fraction of the
// TTL, round, or about as long as until something is due.
func (d *drawer) span() time.Duration {
	ttl := d.s.ttl.Milliseconds()
	ms := int64(0)
	if n := len(d.subject.spans); n > 0 && d.IntN(2) == 0 {
		return max(time.Millisecond, d.subject.spans[d.IntN(n)]+time.Duration(d.IntN(5)-2)*time.Millisecond)
	}
	switch d.IntN(12) {
	case 0, 1, 2:
		ms = d.Int64N(2 * ttl)
	case 3, 4:
		ms = d.magnitude(100 * ttl)
	case 5, 6, 7:
		parts := 1 + d.Int64N(4)
		ms = ttl*(1+d.Int64N(2*parts))/parts + d.Int64N(5) - 2
	case 8, 9:
		ms = 1000*(1+d.Int64N(40)) + d.Int64N(3) - 1
	case 10:
		next, any := d.world.Next()
		if any {
			ms = (next - d.world.Now()).Milliseconds() + d.Int64N(3) - 1
		}
	case 11:
		ms = d.magnitude(60 * 24 * time.Hour.Milliseconds())
	}
	return time.Duration(max(1, ms)) * time.Millisecond
}

// magnitude draws from 1 to limit so that each order of magnitude is as likely.
func (d *drawer) magnitude(limit int64) int64 {
	return int64(math.Exp(d.Float64() * math.Log(float64(limit))))
}
