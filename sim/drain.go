package sim

import (
	"slices"
	"time"

	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// Drain ends a run: clients that are still trying are stopped, and if nobody alive
// holds the lock, the probe finds out whether it can still be had. It asks at once;
// again whenever a request that was still under way has arrived; if it is refused,
// again when all else that is under way has come to pass, a TTL later; and at last
// after ten years. Nothing in the world changes by itself after that (no expiry,
// no message, no timer is left, and stamps of any clock have passed), so a
// refusal then is a refusal for ever.
func (w *World) Drain() error { return w.Inject(Drain{}) }

func (w *World) drain() {
	probe := w.clients[len(w.clients)-1]
	if !w.finishClients() {
		return
	}
	w.runOut(func() Set {
		if probe.threads[0].Over || w.monitor.Repeats() {
			return 0
		}
		return SetOf(probe.Index) | w.keepers()
	})
}

// finishClients lets every client of the script finish what it is in the middle of, and
// stops those that would only go on trying. It reports whether the lock ought to
// be free now: no live lease, no acquisition half-way.
func (w *World) finishClients() bool {
	w.runOut(func() Set {
		var busy Set
		for _, c := range w.script() {
			switch t := c.threads[0]; {
			case t.Over || !t.Started || c.frozen || c.hung:
			case w.idle(c):
				w.stop(c)
			default:
				busy |= SetOf(c.Index)
			}
		}
		return busy
	})
	for _, c := range w.script() {
		t := c.threads[0]
		if w.state.Clients[c.Index].Lease.Live && !c.hung || t.Started && !t.Over && !c.hung && w.owns(c.Index) {
			return false
		}
	}
	for _, c := range w.script() {
		if t := c.threads[0]; t.Started && !c.hung && (!t.Over || slices.ContainsFunc(c.threads, func(t *thread) bool { return !t.Over })) {
			w.stop(c)
		}
	}
	return true
}

// keepers are the clients whose main thread hangs: their other threads go on for
// ever, and belong to the world in which the probe asks.
func (w *World) keepers() (set Set) {
	for _, c := range w.script() {
		if c.hung && !c.crashed {
			set |= SetOf(c.Index)
		}
	}
	return set
}

func (w *World) script() []*client { return w.clients[:len(w.clients)-1] }

// idle: between two acquisitions, or inside Acquire without having got anywhere.
func (w *World) idle(c *client) bool {
	switch w.state.Clients[c.Index].Phase {
	case trace.PhaseIdle:
		return true
	case trace.PhaseAcquire:
		return !w.owns(c.Index) && !w.awaits(c)
	}
	return false
}

// awaits reports whether something that a client has sent is under way or waits at its
// server, or a reply to it is under way. A WAIT whose client has given it up is waited
// for by nobody.
func (w *World) awaits(c *client) bool {
	return slices.ContainsFunc(c.conns, func(conn *conn) bool {
		waits := conn.blocked != nil
		return !(waits && conn.Closed) && (waits || len(conn.requests.queue) > 0 || len(conn.replies.queue) > 0)
	})
}

// runOut lets the clients that who names act until there are none, or nothing
// happens any more.
func (w *World) runOut(who func() Set) {
	w.moves.muted = true
	defer func() { w.moves.muted = false }()
	for {
		if set := who(); set == 0 || !w.Step(set) {
			return
		}
	}
}

// arrival is when the next request of a client of the script will arrive that was
// sent before the end. It may yet change who gets the lock. (What a hung client's
// other threads send has no end.)
func (w *World) arrival() (next time.Duration, any bool) {
	for i := range w.timers.items {
		t := &w.timers.items[i]
		if t.kind != timerRequest || !w.alive(t) || t.msg.client >= len(w.script()) || w.clients[t.msg.client].hung {
			continue
		}
		if !any || t.at < next {
			next, any = t.at, true
		}
	}
	return next, any
}

// patience is how long the probe waits before it asks for the second, and then for
// the last time.
func (w *World) patience(refusals int) time.Duration {
	if refusals > 1 {
		return process.LastPatience
	}
	last := w.now
	for i := range w.timers.items {
		if t := &w.timers.items[i]; w.alive(t) {
			last = max(last, t.at)
		}
	}
	for _, n := range w.nodes {
		last = max(last, n.LastExpiry())
	}
	return last - w.now + w.cfg.TTL
}

func (w *World) owns(client int) bool {
	for n := range w.state.Nodes {
		if r := w.state.LockRecord(n); r != nil && r.Owner == w.state.Acquisition(client) {
			return true
		}
	}
	return false
}

func (w *World) stop(c *client) {
	for _, t := range c.threads {
		t.Kill()
	}
	c.leaseGen++
	w.emit(&trace.Event{Kind: trace.KindStop, Client: c.Index, Node: trace.None, Ref: trace.None, Acq: c.Acquired})
}
