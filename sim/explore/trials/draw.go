package trials

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/offers"
	"lockstep/sim/fault"
	"lockstep/sim/trace"
)

// Drawer draws random schedules while it plays them.
type Drawer struct {
	*rand.Rand
	Player
	Ops    []Op            // of the last run
	Polite bool            // let time pass only where it is nobody's fault
	Kinds  *bounds.Budget  // the kinds of fault that may be drawn are those with a count; nil: all
	Spans  []time.Duration // waits that are likely to matter

	budget bounds.Budget // of a schedule within bounds
}

// Draw plays a random schedule, with up to three faults and some waits.
func (d *Drawer) Draw(cfg sim.Config) error {
	if err := d.start(cfg); err != nil {
		return err
	}
	clients := len(cfg.Clients)
	length := float64(14 * clients * cfg.Clients[0].Cycles * len(cfg.Nodes))
	faults := float64([...]int{0, 0, 1, 1, 1, 1, 2, 3}[d.IntN(8)])
	waits := float64([...]int{0, 1, 1, 2, 2, 3, 4}[d.IntN(7)])
	switches := d.hurry()
	left := int(faults)
	at := d.IntN(len(d.Config.Clients))
	d.Polite = d.IntN(2) == 0
	for n := 0; n < int(6*length) && d.World.Err() == nil; n++ {
		failed := left > 0 && d.Float64() < d.risk()*faults/length && d.fault()
		if failed {
			left--
			switches = d.hurry()
		}
		if d.Float64() < waits/length || failed && d.IntN(4) == 0 {
			d.pass()
			switches = d.hurry()
			if d.IntN(2) == 0 {
				at = d.IntN(len(d.Config.Clients))
			}
		}
		if d.Float64() < 2/length {
			d.Free()
		}
		if d.Float64() < switches || !d.World.Ready(sim.SetOf(at)) {
			at = d.Another(at)
		}
		if d.Make(Op{Who: at, Count: 1}) {
			continue
		}
		if n > int(2*length) && d.IntN(10) == 0 {
			return d.World.Err()
		}
		next, any := d.World.Next()
		switch {
		case any && next > d.World.Now() && d.IntN(5) > 0:
			d.Make(Op{Wait: next - d.World.Now()})
		case any && next > d.World.Now():
			d.Make(Op{Wait: d.Span()})
		case !d.Free():
			return d.World.Err()
		}
	}
	return d.World.Err()
}

// start begins a run without ops.
func (d *Drawer) start(cfg sim.Config) error {
	d.Ops = d.Ops[:0]
	return d.Begin(cfg)
}

// risk is how much likelier a fault is now than where nobody has the lock.
func (d *Drawer) risk() float64 {
	for i := range len(d.Config.Clients) {
		if c := &d.World.State().Clients[i]; c.Phase == trace.PhaseHold || c.Phase == trace.PhaseWork {
			return 2
		}
	}
	return 0.7
}

// hurry draws how often clients take turns until something else happens.
func (d *Drawer) hurry() float64 { return [...]float64{0.02, 0.1, 0.3, 0.6}[d.IntN(4)] }

// pass lets time pass. A polite drawer lets clients that would be paused finish their cycles,
// unless a fault or another client keeps them from it.
func (d *Drawer) pass() {
	if d.Polite {
		for i := range len(d.Config.Clients) {
			for n := 0; n < 60 && d.Pauses(i) && d.Make(Op{Who: i, Count: 1}); n++ {
			}
		}
	}
	d.Make(Op{Wait: d.Span()})
}

// Make makes an op and keeps it, if it did anything.
func (d *Drawer) Make(o Op) bool {
	if !d.Do(&o) {
		return false
	}
	if last := len(d.Ops) - 1; last >= 0 {
		switch l := &d.Ops[last]; {
		case o.Count > 0 && l.Count > 0 && l.Who == o.Who:
			l.Count += o.Count
			return true
		case o.Wait > 0 && l.Wait > 0:
			l.Wait += o.Wait
			return true
		}
	}
	d.Ops = append(d.Ops, o)
	return true
}

// Another returns a client that can act, if any can.
func (d *Drawer) Another(at int) int {
	first := d.IntN(len(d.Config.Clients))
	for n := range len(d.Config.Clients) {
		if i := (first + n) % len(d.Config.Clients); i != at && d.World.Ready(sim.SetOf(i)) {
			return i
		}
	}
	return at
}

// Free lets a request that is held up go on, if there is any.
func (d *Drawer) Free() bool {
	who := d.IntN(len(d.Config.Clients))
	for n := range len(d.Config.Clients) {
		name := d.Config.Clients[(who+n)%len(d.Config.Clients)].Name
		if d.Make(Op{Faults: []fault.Fault{fault.Free{Client: name, N: 1 + d.IntN(2)}}}) || d.Make(Op{Faults: []fault.Fault{fault.Free{Client: name, N: 1}}}) {
			return true
		}
	}
	return false
}

// fault draws a fault, and reports whether it happened.
func (d *Drawer) fault() bool {
	faults := d.DrawFault()
	if len(faults) == 0 || !d.allowed(faults[len(faults)-1]) {
		return false
	}
	return d.Make(Op{Faults: faults})
}

// allowed reports whether a fault may be drawn.
func (d *Drawer) allowed(f fault.Fault) bool {
	kind, counts := KindOf(f)
	return d.Kinds == nil || !counts || d.Kinds[kind] > 0
}

// DrawFault draws a fault, with all its moves; there are none if it drew one that doesn't fit
// the setting.
func (d *Drawer) DrawFault() []fault.Fault {
	who, node := d.IntN(len(d.Config.Clients)), d.IntN(len(d.Config.Nodes))
	if d.Config.Replicas > 0 && d.IntN(3) > 0 {
		return d.FaultOf(bounds.Failover, who, node)
	}
	switch d.IntN(12) {
	case 0, 1, 10, 11:
		return d.FaultOf(bounds.Crash, who, node)
	case 2, 3:
		return d.FaultOf(bounds.ReplyLost, who, node)
	case 4:
		return d.FaultOf(bounds.HoldRequest, who, node)
	case 5, 6:
		return d.FaultOf(bounds.Duplicate, who, node)
	case 7:
		if d.Config.Replicas > 0 {
			return nil // no bounds have both
		}
		return d.FaultOf(bounds.Restart, who, node)
	case 8:
		return d.FaultOf(bounds.ClientClock, who, node)
	}
	if d.Config.Replicas == 0 && d.IntN(2) == 0 {
		return d.FaultOf(bounds.ServerClock, who, node)
	}
	kind := bounds.Evict
	if further := len(bounds.Budget{}) - int(kind); further > 1 { // kinds that stand behind it
		kind += bounds.FaultKind(d.IntN(further))
	}
	return d.FaultOf(kind, who, node)
}

// FaultOf is a fault of a kind that hits a client or a node, with all its moves.
func (d *Drawer) FaultOf(kind bounds.FaultKind, who, node int) (f []fault.Fault) {
	client, server := d.Config.Clients[who].Name, fmt.Sprintf("n%d", node+1)
	switch kind {
	case bounds.Duplicate: // seldom one of those that a search doesn't copy
		return []fault.Fault{fault.Duplicate{Client: client, N: 1 + d.IntN([...]int{bounds.Repeatable, bounds.Repeatable, 3 * bounds.Repeatable}[d.IntN(3)])}}
	case bounds.ClientClock:
		return []fault.Fault{fault.WallStep{Client: client, By: d.jump()}}
	case bounds.ServerClock:
		return []fault.Fault{fault.NodeStep{Node: server, By: d.jump()}}
	case bounds.Failover:
		if d.lags {
			return []fault.Fault{fault.Down{Node: server}, fault.Failover{To: server + "r1"}}
		}
		return []fault.Fault{fault.Lag{Replica: server + "r1", By: 1000 * time.Hour}}
	}
	b := bounds.Bounds{TTL: d.Config.TTL}
	b.Faults[kind] = 1
	offers := append(offers.All(&b, true, who, nil), offers.All(&b, false, node, nil)...)
	for _, m := range offers[0].Moves {
		f = append(f, m.Fault)
	}
	return f
}

// jump is a span by which a clock jumps.
func (d *Drawer) jump() time.Duration {
	by := (&bounds.Bounds{TTL: d.Config.TTL}).ClockJump()
	if d.IntN(2) == 0 {
		return -by
	}
	return by
}

// Span is some time in whole milliseconds: of any order of magnitude, near a fraction of the
// TTL, round, or about as long as until something is due.
func (d *Drawer) Span() time.Duration {
	ttl := d.Config.TTL.Milliseconds()
	ms := int64(0)
	if len(d.Spans) > 0 && d.IntN(3) == 0 {
		return max(time.Millisecond, d.known()+time.Duration(d.IntN(5)-2)*time.Millisecond)
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
		next, any := d.World.Next()
		if any {
			ms = (next - d.World.Now()).Milliseconds() + d.Int64N(3) - 1
		}
	case 11:
		ms = d.magnitude(60 * 24 * time.Hour.Milliseconds())
	}
	return time.Duration(max(1, ms)) * time.Millisecond
}

// known is a span that is likely to matter, or by which a TTL is longer or shorter than that.
func (d *Drawer) known() time.Duration {
	s := d.Spans[d.IntN(len(d.Spans))]
	if d.IntN(3) == 0 {
		return (d.Config.TTL - s).Abs()
	}
	return s
}

// magnitude draws from 1 to limit so that each order of magnitude is as likely.
func (d *Drawer) magnitude(limit int64) int64 {
	return int64(math.Exp(d.Float64() * math.Log(float64(limit))))
}
