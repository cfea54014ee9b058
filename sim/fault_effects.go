package sim

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"lockstep/sim/fault"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// The effects of faults: package fault has their types, and the table of all kinds.

// effect carries out a fault, in the state of the world in which it was enabled.
type effect func() error

// NoEffect is the error of a fault that would change nothing now, with the reason. Such a
// fault may be injected all the same.
type NoEffect string

// Error returns the reason.
func (e NoEffect) Error() string { return string(e) }

// enabling has the effect of one kind of fault.
type enabling struct {
	kind reflect.Type
	// enable returns the fault's effect in this state of the world, or the reason why it
	// can't happen: a [NoEffect] if it would change nothing.
	enable func(w *World, f fault.Fault) (effect, error)
}

// of is the entry of a kind of fault, by the method that has its effect.
func of[T fault.Fault](enable func(*World, T) (effect, error)) enabling {
	return enabling{reflect.TypeFor[T](), func(w *World, f fault.Fault) (effect, error) { return enable(w, f.(T)) }}
}

// enablings has the effects of all kinds of fault.
var enablings = byType(
	of((*World).enableCrash), of((*World).enablePause), of((*World).enableResume), of((*World).enableHang), of((*World).enableEndThread),
	of((*World).enableThrow), of((*World).enableExit), of((*World).enableWallStep), of((*World).enableNodeStep), of((*World).enableDrop),
	of((*World).enableDelay), of((*World).enableLoseReply), of((*World).enableHold), of((*World).enableFree), of((*World).enableLoseHeldReply),
	of((*World).enableDuplicate), of((*World).enableCut), of((*World).enableHeal), of((*World).enableSlow), of((*World).enableDown),
	of((*World).enableUnplug), of((*World).enableUp), of((*World).enableEvict), of((*World).enableOccupy), of((*World).enableForgetScripts),
	of((*World).enableUpdate), of((*World).enableDrain), of((*World).enableLag), of((*World).enableFailover), of((*World).enableRejoin),
)

func byType(all ...enabling) map[reflect.Type]enabling {
	by := map[reflect.Type]enabling{}
	for _, e := range all {
		by[e.kind] = e
	}
	return by
}

// enabled returns a fault's effect now, or the reason why it can't happen.
func (w *World) enabled(f fault.Fault) (effect, error) {
	e, has := enablings[reflect.TypeOf(f)]
	if !has {
		panic(fmt.Sprintf("sim: enablings, in sim/fault_effects.go, has no entry for %T", f))
	}
	return e.enable(w, f)
}

func (w *World) enableCrash(f fault.Crash) (effect, error) {
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

func (w *World) enablePause(f fault.Pause) (effect, error) {
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

func (w *World) enableResume(f fault.Resume) (effect, error) {
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

func (w *World) enableHang(f fault.Hang) (effect, error) {
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

func (w *World) enableEndThread(f fault.EndThread) (effect, error) {
	c, err := w.living(f.Client)
	if err == nil && !slices.ContainsFunc(c.threads[1:], func(t *thread) bool { return !t.Over }) {
		err = fmt.Errorf("%s has no second thread", f.Client)
	}
	return func() error {
		for _, t := range c.threads[1:] {
			if !t.Over {
				t.End()
				w.emitOf(c, trace.Event{Kind: trace.KindThreadEnd, Thread: t.Index})
			}
		}
		return nil
	}, err
}

func (w *World) enableThrow(f fault.Throw) (effect, error) {
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

func (w *World) enableExit(f fault.Exit) (effect, error) {
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

func (w *World) enableWallStep(f fault.WallStep) (effect, error) {
	c, err := w.living(f.Client)
	if err != nil {
		return nil, err
	}
	if err := fault.CheckJump(c.Wall.Offset, f.By); err != nil {
		return nil, fmt.Errorf("%s's clock %w", f.Client, err)
	}
	return func() error {
		c.Wall.Offset += f.By
		w.emitOf(c, trace.Event{Kind: trace.KindWallStep, By: f.By})
		return nil
	}, nil
}

func (w *World) enableNodeStep(f fault.NodeStep) (effect, error) {
	n, err := w.node(f.Node)
	if err != nil {
		return nil, err
	}
	if err := fault.CheckJump(n.Offset, f.By); err != nil {
		return nil, fmt.Errorf("%s's clock %w", f.Node, err)
	}
	return func() error {
		w.emitAt(n, trace.Event{Kind: trace.KindNodeStep, By: f.By, Changes: n.Step(f.By)})
		return nil
	}, nil
}

func (w *World) enableDrop(f fault.Drop) (effect, error) {
	m, err := w.underWay(f.Client, f.Reply)
	return func() error {
		w.lose(m, f.Reply)
		return nil
	}, err
}

func (w *World) enableDelay(f fault.Delay) (effect, error) {
	if err := fault.CheckDelay(f.By); err != nil {
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
		w.networkEvent(m, longer, fmt.Sprintf("%s's %s is held up for %s: %s", f.Client, fault.Half(f.Reply), trace.Duration(f.By), m.content()))
		return nil
	}, err
}

func (w *World) enableLoseReply(f fault.LoseReply) (effect, error) {
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

func (w *World) enableHold(f fault.Hold) (effect, error) {
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

func (w *World) enableFree(f fault.Free) (effect, error) {
	m, err := w.held(f.Client, f.N)
	return func() error {
		m.held = false
		w.timers.push(timer{at: w.now, kind: timerRequest, gen: m.gen, msg: m})
		w.networkEvent(m, 0, fmt.Sprintf("%s's request goes on: %s", f.Client, trace.CommandText(m.args)))
		return nil
	}, err
}

func (w *World) enableLoseHeldReply(f fault.LoseHeldReply) (effect, error) {
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

func (w *World) enableDuplicate(f fault.Duplicate) (effect, error) {
	if err := fault.CheckDelay(f.After); err != nil {
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

func (w *World) enableCut(f fault.Cut) (effect, error) {
	what := "is cut"
	if f.Direction != fault.Both {
		what += " for " + f.Direction.String()
	}
	return w.onLink(f.Client, f.Node, what, func(l *link) {
		l.cutRequest = l.cutRequest || f.Direction != fault.Replies
		l.cutReply = l.cutReply || f.Direction != fault.Requests
	})
}

func (w *World) enableHeal(f fault.Heal) (effect, error) {
	return w.onLink(f.Client, f.Node, "is whole again", func(l *link) { l.cutRequest, l.cutReply = false, false })
}

func (w *World) enableSlow(f fault.Slow) (effect, error) {
	if err := cmp.Or(fault.CheckDelay(f.Request), fault.CheckDelay(f.Reply)); err != nil {
		return nil, err
	}
	return w.onLink(f.Client, f.Node, fmt.Sprintf("takes %s for a request, %s for a reply", trace.Duration(f.Request), trace.Duration(f.Reply)), func(l *link) { l.request, l.reply = f.Request, f.Reply })
}

func (w *World) enableDown(f fault.Down) (effect, error) {
	return w.stops(f.Node, "", (*redis.Node).Down)
}

func (w *World) enableUnplug(f fault.Unplug) (effect, error) {
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

func (w *World) enableUp(f fault.Up) (effect, error) {
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

func (w *World) enableEvict(f fault.Evict) (effect, error) {
	n, err := w.node(f.Node)
	if err == nil && w.state.LockRecord(n.Index) == nil {
		err = fmt.Errorf("%s has nothing to evict", f.Node)
	}
	return func() error {
		w.push(n, w.befalls(n, trace.KindEvict, n.Evict(w.now, w.cfg.RecordKey())))
		return nil
	}, err
}

func (w *World) enableOccupy(f fault.Occupy) (effect, error) {
	n, err := w.node(f.Node)
	switch {
	case err != nil:
	case !n.Up:
		err = fmt.Errorf("%s is down", f.Node)
	case w.state.LockRecord(n.Index) != nil:
		err = fmt.Errorf("%s has a record under the lock's key", f.Node)
	}
	return func() error {
		w.befalls(n, trace.KindStray, n.Occupy(w.now, w.cfg.RecordKey()))
		return nil
	}, err
}

// befalls emits the event of changes at a server that no client has asked for. A master's replicas hear of them as of
// any write. The result is the event's number.
func (w *World) befalls(n *redis.Node, kind trace.Kind, changes []trace.Change) (seq int) {
	seq = w.emitAt(n, trace.Event{Kind: kind, Changes: changes})
	w.propagate(n, changes, &message{client: trace.None, executed: seq})
	return seq
}

func (w *World) enableForgetScripts(f fault.ForgetScripts) (effect, error) {
	n, err := w.node(f.Node)
	return func() error {
		n.ForgetScripts()
		w.emitAt(n, trace.Event{Kind: trace.KindFlush})
		return nil
	}, err
}

func (w *World) enableUpdate(_ fault.Update) (effect, error) {
	if w.cfg.Workload != trace.Cache {
		return nil, fmt.Errorf("there is no database: the workload is %s", w.cfg.Workload)
	}
	return func() error {
		w.store.database++
		w.emit(&trace.Event{Kind: trace.KindUpdate, Client: trace.None, Node: trace.None, Ref: trace.None, Value: w.store.database})
		return nil
	}, nil
}

func (w *World) enableDrain(_ fault.Drain) (effect, error) {
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
	return nil, fmt.Errorf("no %s of %s is under way", fault.Half(reply), client)
}
