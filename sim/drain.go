package sim

import (
	"slices"
	"time"

	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// Drain ends a run. It stops clients that are still trying, and if no live client holds
// the lock, the probe tries to acquire it: at once; again whenever a request that was in
// flight has arrived; after a first refusal, again a TTL after all timers and expiries are
// over; and if an orphaned record obstructs it even then, at last after ten years. It doesn't ask where clients go
// on asking in vain in a livelock; it does where they have done so and have come to their end. Nothing in the world changes by itself after that (no
// expiry, message or timer is left, and stamps of any clock have passed), so a refusal
// then is a refusal for ever.
func (w *World) Drain() error { return w.Inject(fault.Drain{}) }

func (w *World) drain() {
	probe := w.clients[len(w.clients)-1]
	done := w.allDone() // before finishClients stops those that aren't
	if !w.finishClients() {
		return
	}
	w.runOut(func() Set {
		if probe.threads[0].Over || w.monitor.Repeats() && !done {
			return 0
		}
		return SetOf(probe.Index) | w.keepers()
	})
	if _, due := w.Next(); !due && w.err == nil && (done || !w.monitor.Repeats()) && probe.threads[0].waiting && w.state.Clients[probe.Index].Phase == trace.PhaseAcquire {
		w.monitor.NeverAnswered(probe.Index, w.now, w.events)
	}
}

// allDone reports whether all clients of the script that have begun have come to their end.
func (w *World) allDone() bool {
	return !slices.ContainsFunc(w.script(), func(c *client) bool { return c.threads[0].Started && !c.threads[0].Over })
}

// finishClients lets every client of the script finish its current work, and stops the
// clients that would only go on trying. It reports whether the lock ought to be free now:
// no lease is live, and no acquisition is half-way.
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

// keepers returns the clients whose main thread hangs. Their other threads go on for ever,
// so they run while the probe asks.
func (w *World) keepers() (set Set) {
	for _, c := range w.script() {
		if c.hung && !c.crashed {
			set |= SetOf(c.Index)
		}
	}
	return set
}

func (w *World) script() []*client { return w.clients[:len(w.clients)-1] }

// idle reports whether a client is between two acquisitions, or inside Acquire with no
// record of its own and no reply to come.
func (w *World) idle(c *client) bool {
	switch w.state.Clients[c.Index].Phase {
	case trace.PhaseIdle:
		return true
	case trace.PhaseAcquire:
		return !w.owns(c.Index) && !w.awaits(c)
	}
	return false
}

// awaits reports whether a request or a reply of a client is in flight or waits at its
// server. A WAIT that its client has given up doesn't count. It scans all connections that
// the client opened in the run.
func (w *World) awaits(c *client) bool {
	return slices.ContainsFunc(c.conns, func(conn *conn) bool {
		waits := conn.blocked != nil
		return !(waits && conn.Closed) && (waits || len(conn.requests.queue) > 0 || len(conn.replies.queue) > 0)
	})
}

// runOut makes moves of the clients that who returns, until it returns none or nothing is
// due any more.
func (w *World) runOut(who func() Set) {
	w.moves.muted = true
	defer func() { w.moves.muted = false }()
	for {
		if set := who(); set == 0 || !w.Step(set) {
			return
		}
	}
}

// arrival returns the instant of the next arrival of a request from a client of the
// script, which may still change the holder of the lock. Requests of hung clients don't
// count, because their other threads never stop sending.
func (w *World) arrival() (next time.Duration, any bool) {
	for i := range w.timers.items {
		t := &w.timers.items[i]
		if t.kind != timerRequest || t.msg.hangsUp || !w.alive(t) || t.msg.client >= len(w.script()) || w.clients[t.msg.client].hung {
			continue
		}
		if !any || t.at < next {
			next, any = t.at, true
		}
	}
	return next, any
}

// patience returns the probe's wait after so many refusals. The first lasts until a TTL
// after every timer and expiry, the second for [process.LastPatience].
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
	w.emitOf(c, trace.Event{Kind: trace.KindStop})
}
