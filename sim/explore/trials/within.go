package trials

import (
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/trace"
)

// turns is the number of runs of one client in a schedule within bounds, at most: a violation by two or three
// clients nearly always shows in few.
const turns = 10

// Within plays a random schedule that bounds contain: clients run by turns, a few steps each, up to the next phase of a
// cycle, or to the end of one. Time passes between, for any span, while somebody waits or, as often as they may be paused,
// where somebody could go on.
func (d *Drawer) Within(cfg sim.Config, b *bounds.Budget) error {
	if err := d.start(cfg); err != nil {
		return err
	}
	d.budget = *b
	idle, faults, at := 0, 0, d.IntN(len(cfg.Clients))
	for n := 2 + d.IntN([...]int{3, turns - 1}[d.IntN(2)]); n > 0 && idle < 6 && d.World.Err() == nil; n-- {
		ran := d.run(at)
		if faults < 3 && d.IntN(6) == 0 && d.affords() {
			faults++
		}
		if d.IntN(8) == 0 {
			d.Free()
		}
		if !ran || d.IntN(3) > 0 {
			d.let()
		}
		if !ran { // it waits for something
			idle++
			n++
		}
		if d.IntN(4) > 0 {
			at = d.Another(at)
		}
	}
	return d.World.Err()
}

// longest is the number of steps of one client without another's, at most.
const longest = 80

// usual is the number of steps of a common lock's cycle.
const usual = 20

// run lets a client act, and reports whether it could: so many steps, or up to where it is granted the lock or refused, or
// goes on from there to the next phase, or to the end of its cycle.
func (d *Drawer) run(i int) (ran bool) {
	phase := func() trace.Phase { return d.World.State().Clients[i].Phase }
	was, way, left := phase(), d.IntN(5), longest
	if way < 2 {
		left = 1 + d.IntN(usual)
	}
	for ; left > 0 && d.Make(Op{Who: i, Count: 1}); left-- {
		ran = true
		if now := phase(); way >= 2 && way < 4 && now != was && now != trace.PhaseAcquire || way == 4 && d.between(i) {
			break
		}
	}
	return ran
}

// affords makes a fault happen for which there is room in the bounds.
func (d *Drawer) affords() bool {
	var kinds []bounds.FaultKind
	for k, n := range d.budget {
		if kind := bounds.FaultKind(k); kind != bounds.Pause && d.cost.Faults[k] < n {
			kinds = append(kinds, kind)
		}
	}
	if d.lags { // and the replica takes over
		kinds = append(kinds, bounds.Failover, bounds.Failover)
	}
	if len(kinds) == 0 {
		return false
	}
	return d.Make(Op{Faults: d.FaultOf(kinds[d.IntN(len(kinds))], d.IntN(len(d.Config.Clients)), d.IntN(len(d.Config.Nodes)))})
}

// let lets time pass, up to where more clients would be paused than may be. If they would be at once, they go on first
// to where they aren't any more.
func (d *Drawer) let() {
	span := max(time.Millisecond, d.Span())
	if next, any := d.World.Next(); any && next > d.World.Now() && d.IntN(3) == 0 {
		span = next - d.World.Now()
	}
	if !d.room() {
		for i := range d.Config.Clients {
			for n := 0; n < longest && d.Pauses(i) && d.Make(Op{Who: i, Count: 1}); n++ {
			}
		}
	}
	for end := d.World.Now() + span; d.World.Now() < end && d.World.Err() == nil && d.room(); {
		to := end
		if next, any := d.World.Next(); any && next > d.World.Now() {
			to = min(next, end)
		}
		d.Make(Op{Wait: to - d.World.Now()})
	}
}

// room reports whether as many clients may be paused as would be if time passed now.
func (d *Drawer) room() bool {
	n := 0
	for i := range d.Config.Clients {
		if d.Pauses(i) {
			n++
		}
	}
	most := d.budget[bounds.Pause]
	return most == bounds.Any || int(d.cost.Faults[bounds.Pause])+n <= int(most)
}

// rest lets all clients act until each is between two cycles, done, or dead, and reports whether they are: not if more would
// have to be paused for that than may be.
func (d *Drawer) rest() bool {
	for range longest {
		all := true
		for i := range d.Config.Clients {
			for n := 0; n < longest && !d.rests(i) && d.Make(Op{Who: i, Count: 1}); n++ {
			}
			all = all && d.rests(i)
		}
		if all {
			return true
		}
		next, any := d.World.Next()
		if !any || next <= d.World.Now() || !d.room() {
			return false
		}
		d.Make(Op{Wait: next - d.World.Now()})
	}
	return false
}

// rests reports whether a client is between two cycles, done, or dead.
func (d *Drawer) rests(i int) bool {
	return d.World.State().Clients[i].Crashed || d.between(i) || !d.World.Ready(sim.SetOf(i)) && d.World.State().Clients[i].Phase == trace.PhaseIdle
}
