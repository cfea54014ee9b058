package explore

import (
	"lockstep/sim/monitor"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// longTime is more than anything but a record without expiry lasts.
const longTime = 20 * 24 * 3600 * 1000

// deadlocked reports whether the lock can never be had again, at an end at which
// nobody is left who holds it: a further client asks at once, when all that is
// stored has had the time to expire, and after a long time.
func (x *explorer) deadlocked() bool {
	before := x.blank()
	before.copyFrom(&x.s)
	found, stats := x.found, x.stats // what the probe meets with is nobody's near miss
	defer func() {
		x.s.copyFrom(&before)
		x.found, x.stats = found, stats
	}()
	for try := 1; try <= 3; try++ {
		if x.ask() {
			return false
		}
		if try < 3 {
			x.wait(try)
		}
	}
	return x.onlyOrphans()
}

// ask lets the probe ask for the lock once. It reports whether it got it.
func (x *explorer) ask() bool {
	i := x.probe()
	for began := false; x.err == nil; {
		t, any := x.next(i)
		if !any {
			by, due := x.due()
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

// wait lets the time pass after which the probe asks again.
func (x *explorer) wait(try int) {
	by := int32(longTime)
	if try == 1 {
		by = x.ttl
		for _, n := range x.s.nodes {
			for _, k := range x.servers.Snapshot(n.snapshot).Keys {
				if k.Left != redis.Immortal {
					by = max(by, int32(k.Left)+1+x.ttl)
				}
			}
		}
	}
	x.advance(by)
	c := &x.s.clients[x.probe()]
	c.due[0] = 0
	x.settle(x.probe())
}

// onlyOrphans reports whether it is only for the records of the dead that the lock can't
// be had. Whoever owns a record at an end is dead or has left it behind.
func (x *explorer) onlyOrphans() bool {
	free, orphans := 0, 0
	for _, n := range x.s.nodes {
		held := false
		for _, k := range x.servers.Snapshot(n.snapshot).Keys {
			held = held || k.Name == x.cfg.Key
		}
		switch {
		case !held || int(n.owner.Client) == x.probe():
			free++
		case n.owner != monitor.Nobody:
			orphans++
		}
	}
	return monitor.OnlyOrphans(free, orphans, x.quorum)
}
