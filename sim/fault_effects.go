package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// The effects of faults: fault.go has the types, and the table of all kinds.

func halfName(reply bool) string {
	if reply {
		return "reply"
	}
	return "request"
}

func (f Crash) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	return func() error {
		w.emitOf(c, trace.Event{Kind: trace.KindCrash})
		c.crashed = true
		c.leaseGen++
		for _, t := range c.threads {
			t.Kill()
		}
		return nil
	}, err
}

func (f Pause) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	if err == nil && c.frozen {
		err = NoEffect(f.Client + " is paused already")
	}
	return func() error {
		c.frozen = true
		if !c.paused || c.held {
			w.hold(c, "")
		}
		return nil
	}, err
}

func (f Resume) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	if err == nil && !c.frozen {
		err = NoEffect(f.Client + " is not paused")
	}
	return func() error {
		c.frozen = false
		if !c.couldAct() {
			w.release(c) // its work goes on from here, and not when it ends
		}
		return nil
	}, err
}

func (f Hang) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	if err == nil && c.hung {
		err = NoEffect(f.Client + " hangs already")
	}
	return func() error {
		c.hung = true
		w.emitOf(c, trace.Event{Kind: trace.KindHang})
		return nil
	}, err
}

func (f EndThread) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	if err == nil && !slices.ContainsFunc(c.threads[1:], func(t *thread) bool { return !t.Over }) {
		err = fmt.Errorf("%s has no second thread", f.Client)
	}
	return func() error {
		for _, t := range c.threads[1:] {
			if !t.Over {
				t.Kill()
				w.emitOf(c, trace.Event{Kind: trace.KindThreadEnd, Thread: t.Index})
			}
		}
		return nil
	}, err
}

func (f Throw) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	switch {
	case err != nil:
	case c.hung:
		err = NoEffect(f.Client + "'s main thread has stopped already")
	case !w.state.Clients[c.Index].Lease.Inside:
		err = fmt.Errorf("%s is not in the critical section", f.Client)
	}
	return func() error {
		w.emitOf(c, trace.Event{Kind: trace.KindLeave, Phase: trace.PhaseHold})
		c.hung = true
		w.emitOf(c, trace.Event{Kind: trace.KindHang, Note: "an exception"})
		return nil
	}, err
}

func (f Exit) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	if err == nil && !w.state.Clients[c.Index].Lease.Believed {
		err = fmt.Errorf("%s does not hold the lock", f.Client)
	}
	return func() error {
		w.emitOf(c, trace.Event{Kind: trace.KindExit})
		c.ReleaseApart()
		return nil
	}, err
}

func (f WallStep) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	if err != nil {
		return nil, err
	}
	if err := withinSpan(c.Wall.Offset, f.By); err != nil {
		return nil, fmt.Errorf("%s's clock %w", f.Client, err)
	}
	return func() error {
		c.Wall.Offset += f.By
		w.emitOf(c, trace.Event{Kind: trace.KindWallStep, By: f.By})
		return nil
	}, nil
}

// withinSpan checks that a clock stays within the bounds of Validate, outside of which it
// could overflow.
func withinSpan(offset, by time.Duration) error {
	if by < -trace.MaxSpan || by > trace.MaxSpan {
		return fmt.Errorf("cannot jump by %s, but by up to %s", by, trace.MaxSpan)
	}
	if off := offset + by; off < -trace.MaxSpan || off > trace.MaxSpan {
		return fmt.Errorf("would be off by %s, and can be by %s", off, trace.MaxSpan)
	}
	return nil
}

// delaySpan checks the delay of a message.
func delaySpan(d time.Duration) error {
	if d < 0 || d > trace.MaxSpan {
		return fmt.Errorf("a message cannot take %s: it can take 0s to %s", d, trace.MaxSpan)
	}
	return nil
}

func (f NodeStep) enabled(w *World) (effect, error) {
	n, err := w.node(f.Node)
	if err != nil {
		return nil, err
	}
	if err := withinSpan(n.Offset, f.By); err != nil {
		return nil, fmt.Errorf("%s's clock %w", f.Node, err)
	}
	return func() error {
		w.emitAt(n, trace.Event{Kind: trace.KindNodeStep, By: f.By, Changes: n.Step(f.By)})
		return nil
	}, nil
}

func (f Drop) enabled(w *World) (effect, error) {
	m, err := w.underWay(f.Client, f.Reply)
	return func() error {
		w.lose(m, f.Reply)
		return nil
	}, err
}

func (f Delay) enabled(w *World) (effect, error) {
	if err := delaySpan(f.By); err != nil {
		return nil, err
	}
	m, err := w.underWay(f.Client, f.Reply)
	return func() error {
		m.gen++ // the arrival that was planned is off
		m.held = false
		m.here = false
		kind := timerRequest
		if f.Reply {
			kind = timerReply
		}
		w.timers.push(timer{at: w.now + f.By, kind: kind, gen: m.gen, msg: m})
		longer := f.By
		if f.Reply {
			longer = 0
		}
		w.networkEvent(m, longer, fmt.Sprintf("%s's %s is held up for %s: %s", f.Client, halfName(f.Reply), trace.Duration(f.By), m.content()))
		return nil
	}, err
}

func (f LoseReply) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	if err == nil && !w.Ready(SetOf(c.Index)) {
		if m := w.inFlight(c.Index, true); m != nil {
			return func() error {
				w.lose(m, true)
				return nil
			}, nil
		}
		if m := w.inFlight(c.Index, false); m != nil {
			return func() error {
				w.losesReplyTo(m)
				return nil
			}, nil
		}
	}
	return w.arrange(f.Client, losesReply, "the reply to %s's next request will be lost")
}

func (f Hold) enabled(w *World) (effect, error) {
	return w.arrange(f.Client, isHeld, "%s's next request will be held up")
}

// arrange sets the fault that a client's next request will meet with.
func (w *World) arrange(client string, next nextRequest, note string) (effect, error) {
	c, err := w.living(client)
	return func() error {
		c.nextRequest = next
		w.emitOf(c, trace.Event{Kind: trace.KindNetwork, Note: fmt.Sprintf(note, client)})
		return nil
	}, err
}

func (f Free) enabled(w *World) (effect, error) {
	m, err := w.held(f.Client, f.N)
	return func() error {
		m.held = false
		w.timers.push(timer{at: w.now, kind: timerRequest, gen: m.gen, msg: m})
		w.networkEvent(m, 0, fmt.Sprintf("%s's request goes on: %s", f.Client, trace.CommandText(m.args)))
		return nil
	}, err
}

func (f LoseHeldReply) enabled(w *World) (effect, error) {
	m, err := w.held(f.Client, f.N)
	return func() error {
		w.losesReplyTo(m)
		return nil
	}, err
}

// losesReplyTo has the reply to a request that is under way lost.
func (w *World) losesReplyTo(m *message) {
	m.arranged = losesReply
	w.networkEvent(m, 0, fmt.Sprintf("the reply to %s's request will be lost: %s", w.clients[m.client].Name, trace.CommandText(m.args)))
}

// held returns the nth of a client's held requests, in the order of sending, from 1.
func (w *World) held(client string, nth int) (*message, error) {
	c, err := w.client(client)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, m := range w.sentMessages {
		if m.client != c.Index || !m.held {
			continue
		}
		if n++; n == nth {
			return m, nil
		}
	}
	if n == 0 {
		return nil, fmt.Errorf("no request of %s is held up", client)
	}
	return nil, fmt.Errorf("%s has %d requests that are held up, and no %d", client, n, nth)
}

func (f Duplicate) enabled(w *World) (effect, error) {
	if err := delaySpan(f.After); err != nil {
		return nil, err
	}
	c, err := w.client(f.Client)
	if err != nil {
		return nil, err
	}
	last := w.executed(c, max(1, f.N))
	switch {
	case last == nil && f.N > 1:
		return nil, fmt.Errorf("%s has sent fewer than %d requests that could arrive twice", f.Client, f.N)
	case last == nil:
		return nil, fmt.Errorf("%s has sent nothing that could arrive twice", f.Client)
	case last.queued():
		return nil, fmt.Errorf("%s's %s is part of a transaction: nobody sends it again without the rest", f.Client, trace.CommandText(last.args))
	}
	return func() error {
		again := w.newMessage()
		*again = *last
		again.copy, again.executed, again.reply, again.gen, again.lost = true, trace.None, nil, 0, false
		again.node = last.conn.node().Index // a client that sends again sends to the master of today
		w.timers.push(timer{at: w.now + f.After, kind: timerRequest, msg: again})
		w.networkEvent(last, 0, fmt.Sprintf("%s's request will arrive once more, in %s: %s", f.Client, trace.Duration(f.After), trace.CommandText(last.args)))
		return nil
	}, nil
}

func (f Cut) enabled(w *World) (effect, error) {
	what := "is cut"
	if f.Direction != Both {
		what += " for " + f.Direction.String()
	}
	return w.onLink(f.Client, f.Node, what, func(l *link) {
		l.cutRequest = l.cutRequest || f.Direction != Replies
		l.cutReply = l.cutReply || f.Direction != Requests
	})
}

func (f Heal) enabled(w *World) (effect, error) {
	return w.onLink(f.Client, f.Node, "is whole again", func(l *link) { l.cutRequest, l.cutReply = false, false })
}

func (f Slow) enabled(w *World) (effect, error) {
	if err := cmp.Or(delaySpan(f.Request), delaySpan(f.Reply)); err != nil {
		return nil, err
	}
	return w.onLink(f.Client, f.Node, fmt.Sprintf("takes %s for a request, %s for a reply", trace.Duration(f.Request), trace.Duration(f.Reply)), func(l *link) { l.request, l.reply = f.Request, f.Reply })
}

func (f Down) enabled(w *World) (effect, error) { return w.stops(f.Node, "", (*redis.Node).Down) }

func (f Unplug) enabled(w *World) (effect, error) {
	return w.stops(f.Node, "loses power", (*redis.Node).PowerCut)
}

// stops is the end of a node's process, in a way that decides what its disk keeps. The note
// is empty for the common way.
func (w *World) stops(node, note string, way func(*redis.Node, time.Duration) []trace.Change) (effect, error) {
	n, err := w.node(node)
	if err == nil && !n.Up {
		err = NoEffect(node + " is down already")
	}
	return func() error {
		subscribers := slices.Clone(n.Subscribers())
		w.emitAt(n, trace.Event{Kind: trace.KindDown, Note: note, Changes: way(n, w.now)})
		w.unblock(n, "")
		w.disconnect(n, subscribers)
		return nil
	}, err
}

func (f Up) enabled(w *World) (effect, error) {
	n, err := w.node(f.Node)
	if err == nil && n.Up {
		err = NoEffect(f.Node + " is up already")
	}
	return func() error {
		changes, err := n.Start(w.now)
		if err != nil {
			return err
		}
		note := "empty: it persists nothing"
		if n.Persistence != redis.PersistNone {
			note = fmt.Sprintf("with what appendfsync %s had kept", n.Persistence)
		}
		w.emitAt(n, trace.Event{Kind: trace.KindUp, Note: note, Changes: changes})
		return nil
	}, err
}

func (f Evict) enabled(w *World) (effect, error) {
	n, err := w.node(f.Node)
	if err == nil && w.state.LockRecord(n.Index) == nil {
		err = fmt.Errorf("%s has nothing to evict", f.Node)
	}
	return func() error {
		w.push(n, w.emitAt(n, trace.Event{Kind: trace.KindEvict, Changes: n.Evict(w.now, w.cfg.RecordKey())}))
		return nil
	}, err
}

func (f Occupy) enabled(w *World) (effect, error) {
	n, err := w.node(f.Node)
	switch {
	case err != nil:
	case !n.Up:
		err = fmt.Errorf("%s is down", f.Node)
	case w.state.LockRecord(n.Index) != nil:
		err = fmt.Errorf("%s has a record under the lock's key", f.Node)
	}
	return func() error {
		w.emitAt(n, trace.Event{Kind: trace.KindStray, Changes: n.Occupy(w.now, w.cfg.RecordKey())})
		return nil
	}, err
}

func (f ForgetScripts) enabled(w *World) (effect, error) {
	n, err := w.node(f.Node)
	return func() error {
		n.ForgetScripts()
		w.emitAt(n, trace.Event{Kind: trace.KindFlush})
		return nil
	}, err
}

func (Update) enabled(w *World) (effect, error) {
	if w.cfg.Workload != trace.Cache {
		return nil, fmt.Errorf("there is no database: the workload is %s", w.cfg.Workload)
	}
	return func() error {
		w.store.database++
		w.emit(&trace.Event{Kind: trace.KindUpdate, Client: trace.None, Node: trace.None, Ref: trace.None, Value: w.store.database})
		return nil
	}, nil
}

func (Drain) enabled(w *World) (effect, error) {
	return func() error {
		w.drain()
		return nil
	}, nil
}

func (w *World) onLink(client, node, what string, change func(*link)) (effect, error) {
	c, err := w.client(client)
	if err != nil {
		return nil, err
	}
	n, err := w.node(node)
	return func() error {
		l := w.link(c.Index, n.Index)
		change(l)
		w.emit(&trace.Event{Kind: trace.KindNetwork, Client: c.Index, Node: n.Index, Ref: trace.None, Acq: c.Acquired, By: l.request,
			Note: fmt.Sprintf("the link between %s and %s %s", client, node, what)})
		return nil
	}, err
}

// networkEvent tells what has befallen a message. If that is a request which is on its way for longer, it says by how much.
func (w *World) networkEvent(m *message, longer time.Duration, note string) {
	w.emit(&trace.Event{Kind: trace.KindNetwork, Client: m.client, Node: m.node, Ref: m.sent, Acq: m.acq, By: longer, Note: note})
}

func (w *World) client(name string) (*client, error) {
	if i, found := w.Client(name); found {
		return w.clients[i], nil
	}
	return nil, fmt.Errorf("there is no client %q", name)
}

// living finds a client by name. It fails with a NoEffect if the client has crashed.
func (w *World) living(name string) (*client, error) {
	c, err := w.client(name)
	if err == nil && c.crashed {
		err = NoEffect(name + " has crashed")
	}
	return c, err
}

func (w *World) node(name string) (*redis.Node, error) {
	var names []string
	for _, n := range w.nodes {
		if n.Name == name {
			return n, nil
		}
		names = append(names, n.Name)
	}
	return nil, fmt.Errorf("there is no node %q, only %s", name, trace.List(names))
}

// executed returns the nth of a client's requests, counted back from the one that was executed
// last, or nil if it has none. Copies and those that were refused don't count.
func (w *World) executed(c *client, n int) *message {
	var all []*message
	for _, m := range w.sentMessages {
		if m.client == c.Index && m.executed != trace.None && m.failed == nil && !m.copy && !m.pushed {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *message) int { return b.executed - a.executed })
	if n > len(all) {
		return nil
	}
	return all[n-1]
}

func (w *World) underWay(client string, reply bool) (*message, error) {
	c, err := w.client(client)
	if err != nil {
		return nil, err
	}
	if m := w.inFlight(c.Index, reply); m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("no %s of %s is under way", halfName(reply), client)
}
