package space

import (
	"lockstep/sim"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/flight"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// longTime is longer than any record with an expiry lasts, in milliseconds: 20 days.
const longTime = 20 * 24 * 3600 * 1000

// ending is the part of a packed state on which it depends whether that is a deadlock: its
// nodes, the requests that wait at them, and true time in a timed model; and its clients, unless all are gone.
type ending struct {
	clients [bounds.MaxClients]uint32
	nodes   [sim.MaxNodes]uint32
	held    uint32
	now     int32
}

// Ending returns that part of the packed state that the explorer views.
func (x *Explorer) Ending(state []uint32) ending {
	e := ending{now: x.world.now, held: x.world.held}
	copy(e.nodes[:], state[x.Bounds.Clients:x.Width-1])
	if !x.habits.endless && !x.Over() {
		copy(e.clients[:], state[:x.Bounds.Clients])
	}
	return e
}

// DeadlockedIn is [Explorer.Deadlocked] for a packed state. The explorer goes on viewing the state that
// it views.
func (x *Explorer) DeadlockedIn(state []uint32) bool {
	x.unpack(state, &x.s)
	return x.Deadlocked()
}

// Deadlocked reports whether the lock can never be acquired again, at the end of a schedule,
// when no live client holds it. A further client, the probe, asks for it at once, after all
// records have had the time to expire, and after a long time. The state stays as it is.
func (x *Explorer) Deadlocked() bool {
	if !x.habits.endless && x.keepsLock() {
		return false
	}
	before := x.blank()
	before.copyFrom(&x.s)
	found, stats := x.Found, x.Stats // the probe's violations and near misses don't count
	defer func() {
		x.s.copyFrom(&before)
		x.Found, x.Stats = found, stats
	}()
	for try := 1; try <= 3; try++ {
		if x.ask() {
			return false
		}
		if try < 3 {
			x.wait(try)
		}
	}
	orphans := x.onlyOrphans()
	stats.Stuck = stats.Stuck || !orphans
	return orphans
}

// ask lets the probe ask for the lock once, and reports whether it was granted that.
func (x *Explorer) ask() bool {
	i := x.probe()
	for began := false; x.Err == nil; {
		t, any := x.readyOf(i)
		if !any {
			by, due := x.Due()
			if !due {
				return false
			}
			x.advance(by)
			continue
		}
		c := &x.s.clients[i]
		if began && c.Phase == trace.PhaseIdle {
			return false
		}
		if c.Believes {
			return true
		}
		began = began || c.Phase == trace.PhaseAcquire
		x.perform(i, t, goes)
		if p := &x.history(i).Threads[0]; began && !p.Over && p.Kind == process.OpSleep && c.Phase == trace.PhaseIdle {
			return c.Believes
		}
	}
	return false
}

// wait lets the time pass that lies between the probe's tries.
func (x *Explorer) wait(try int) {
	by := int32(longTime)
	if try == 1 {
		by = x.ttl
		for left := range flight.Patience(x.ids.helds.Get(x.s.world.held)) {
			by = max(by, spanOf(min(int64(left), longTime)+int64(x.ttl)))
		}
		for _, n := range x.s.nodes {
			for _, k := range x.Servers.Snapshot(n.snapshot).Keys {
				if k.Left != redis.Immortal {
					by = max(by, spanOf(min(k.Left, longTime)+1+int64(x.ttl)))
				}
			}
		}
	}
	x.advance(by)
	c := &x.s.clients[x.probe()]
	c.due[0] = 0
	x.settle(x.probe())
}

// onlyOrphans reports whether only orphaned records keep the probe from acquiring the lock.
// At the end of a schedule, an owner of a record has crashed or left it behind, as the probe may have at a try.
func (x *Explorer) onlyOrphans() bool {
	free, orphans := 0, 0
	for _, n := range x.s.nodes {
		switch {
		case !x.Servers.Records(n.snapshot) || n.owner == monitor.Owner{Client: int16(x.probe()), N: x.s.clients[x.probe()].Acquired}:
			free++
		case n.owner != monitor.Nobody:
			orphans++
		}
	}
	return monitor.OnlyOrphans(free, orphans, x.quorum)
}
