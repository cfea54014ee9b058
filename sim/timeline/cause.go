package timeline

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/trace"
)

// Cause tells in one sentence how a violation came about: the failure or the pause that it
// began with, how a client's record went, who got the lock then, and the violation. It says
// only what is in the trace up to the violation's last event. Where none of that came
// before, it is the violation alone.
func (t *Timeline) Cause(b Breach) string {
	c := causes{Timeline: t, s: t.NewState(), of: b}
	for i := range b.Last() - 1 {
		e := &t.Events[i]
		c.take(e)
		c.s.Apply(e)
	}
	clauses := c.chosen(b)
	if len(clauses) == 0 {
		return b.Text + "."
	}
	return strings.Join(clauses, ", ") + "; so " + b.Text + "."
}

// clause is an event that can be a cause, in words.
type clause struct {
	kind    clauseKind
	seq     int
	until   int  // of a pause: Seq of the event that ends it, or a greater one than there is
	who     int  // the client that it happens to, or trace.None
	expires bool // a record goes by itself
	own     bool // a client gives the lock back
	text    string
}

type clauseKind uint8

const (
	sleeps clauseKind = iota // a client is paused: a cause if its record expires meanwhile
	ends                     // a client crashes, or gives up: a cause of what stays behind
	fails                    // a server or a clock fails
	loses                    // a client's record goes
	gets                     // a client gets the lock
)

// causes collects clauses. s is the state before the event at hand.
type causes struct {
	*Timeline
	s   *trace.State
	of  Breach
	all []clause
}

func (c *causes) add(kind clauseKind, e *trace.Event, who int, format string, args ...any) {
	text := fmt.Sprintf(format, args...) + " at " + trace.Brief(e.At)
	c.all = append(c.all, clause{kind: kind, seq: e.Seq, until: len(c.Events) + 1, who: who, expires: e.Kind == trace.KindExpire,
		own: kind == loses && e.Client == who, text: text})
}

// take adds the clause of an event, if it can be a cause.
func (c *causes) take(e *trace.Event) {
	switch e.Kind {
	case trace.KindPause:
		name := c.Clients[e.Client]
		if work, ended := c.WorkBefore(e); ended {
			name += ", whose work of " + trace.Brief(work) + " has ended,"
		}
		c.add(sleeps, e, e.Client, "%s is paused", name)
	case trace.KindResume:
		if x := c.last(func(x *clause) bool { return x.kind == sleeps && x.who == e.Client }); x != nil {
			x.until = e.Seq
		}
	case trace.KindCrash:
		c.add(ends, e, e.Client, "%s crashes", c.Clients[e.Client])
	case trace.KindTimeout:
		c.add(ends, e, e.Client, "%s gives up waiting for a reply", c.Clients[e.Client])
	case trace.KindWallStep:
		c.add(fails, e, e.Client, "%s's clock jumps", c.Clients[e.Client])
	case trace.KindNodeStep:
		c.add(fails, e, trace.None, "%s's clock jumps", c.Nodes[e.Node])
	case trace.KindFailover:
		c.add(fails, e, trace.None, "%s takes over", c.Nodes[e.Node])
	case trace.KindDown:
		c.add(fails, e, trace.None, "%s goes down", c.Nodes[e.Node])
	case trace.KindGranted:
		c.takeGrant(e)
	case trace.KindExpire, trace.KindEvict, trace.KindExecute:
		c.takeLoss(e)
	}
}

// takeGrant adds the clause of a grant. A client gets the lock when it is told so, as in every other
// view. Where it is the storing of its record that proves the violation, the clause is of that, so that
// sentence and evidence name one instant.
func (c *causes) takeGrant(e *trace.Event) {
	name := c.Clients[e.Client]
	seq := c.s.Clients[e.Client].Lease.Granter
	if !slices.Contains(c.of.Events, seq) {
		c.add(gets, e, e.Client, "%s gets the lock", name)
		return
	}
	stored, where := &c.Events[seq-1], "Redis"
	if len(c.Nodes) > 1 && stored.Node != trace.None {
		where = c.Nodes[stored.Node]
	}
	c.add(gets, stored, e.Client, "%s stores %s's record", where, name)
}

// takeLoss adds the clause of an event by which a client's record goes.
func (c *causes) takeLoss(e *trace.Event) {
	rec := c.s.LockRecord(e.Node)
	if rec == nil || rec.Owner == trace.Nobody {
		return
	}
	owner := rec.Owner.Client
	name := c.Clients[owner]
	for i := range e.Changes {
		ch := &e.Changes[i]
		switch gone := ch.After == nil; {
		case ch.Key != c.s.Key:
		case e.Kind == trace.KindExpire:
			c.add(loses, e, owner, "%s's record expires", name)
		case e.Kind == trace.KindEvict:
			c.add(loses, e, owner, "%s drops %s's record", c.Nodes[e.Node], name)
		case e.Client == trace.None:
		case owner == e.Client && gone:
			c.add(loses, e, owner, "%s releases the lock", name)
		case owner != e.Client && gone:
			c.add(loses, e, owner, "%s's %s removes %s's record", c.Clients[e.Client], strings.ToUpper(e.Args[0]), name)
		case owner != e.Client && ch.Before != nil && ch.After.Value != ch.Before.Value:
			c.add(loses, e, owner, "%s's %s overwrites %s's record", c.Clients[e.Client], strings.ToUpper(e.Args[0]), name)
		}
	}
}

// chosen are the clauses that lead to a violation, in order: the pause or the failure, the
// last loss of a record, and the last grant after it to another client. A client's own
// release is a loss only if another client got the lock since.
func (c *causes) chosen(b Breach) (texts []string) {
	switch b.Code {
	case trace.PD, trace.BD, trace.FN:
		return c.leftBehind(b)
	case trace.DG, trace.OV, trace.SW, trace.FR, trace.GAP:
	default:
		return nil
	}
	parts, from := c.parts(b)
	var pause, grant *clause
	loss := c.last(func(x *clause) bool {
		return x.kind == loses && parts[x.who] && x.seq > from && (!x.own || c.granted(x) != nil)
	})
	if loss != nil {
		grant = c.granted(loss)
		pause = c.last(func(x *clause) bool {
			return x.kind == sleeps && loss.expires && x.who == loss.who && x.seq < loss.seq && loss.seq < x.until
		})
	}
	fault := c.last(func(x *clause) bool { return x.kind == fails && x.seq >= from && (x.who == trace.None || parts[x.who]) })
	found := slices.DeleteFunc([]*clause{pause, loss, grant, fault}, func(x *clause) bool { return x == nil })
	slices.SortFunc(found, func(x, y *clause) int { return x.seq - y.seq })
	for _, x := range found {
		texts = append(texts, x.text)
	}
	return texts
}

// granted is the last grant after a loss to another client, or nil.
func (c *causes) granted(loss *clause) *clause {
	return c.last(func(x *clause) bool { return x.kind == gets && x.seq > loss.seq && x.who != loss.who })
}

// leftBehind is the crash or the silence after which a record stays, if that is what the
// violation begins with, or the failure of a server.
func (c *causes) leftBehind(b Breach) (texts []string) {
	who := c.Events[b.Events[0]-1].Client
	if x := c.last(func(x *clause) bool { return x.kind == ends && x.who == who || x.kind == fails && x.who == trace.None }); x != nil {
		texts = append(texts, x.text)
	}
	return texts
}

// last is the last clause of which something is true, or nil.
func (c *causes) last(ok func(*clause) bool) *clause {
	for i := len(c.all) - 1; i >= 0; i-- {
		if ok(&c.all[i]) {
			return &c.all[i]
		}
	}
	return nil
}

// parts are the clients that take part in a violation, and the Seq of the first of the calls
// of Acquire that they made last.
func (c *causes) parts(b Breach) (clients map[int]bool, from int) {
	clients, from = map[int]bool{}, b.Last()
	for _, seq := range b.Events {
		client := c.Events[seq-1].Client
		if client == trace.None || clients[client] {
			continue
		}
		clients[client] = true
		for i := b.Last() - 1; i >= 0; i-- {
			if e := &c.Events[i]; e.Client == client && e.Kind == trace.KindAcquire {
				from = min(from, e.Seq)
				break
			}
		}
	}
	return clients, from
}
