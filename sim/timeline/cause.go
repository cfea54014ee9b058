package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim/trace"
)

// Cause tells in one sentence how a violation came about: the failure or the pause that it
// began with, how a client's record went, who got the lock then, and the violation. It draws
// only on the trace up to the violation's last event. Where none of that came
// before, it is the violation alone. A command that completes it has its line of the lock.
//
// It names only the causes. Between two grants these are the loss of one's record on a server where
// the other one's was stored afterwards, the pause in which it expired, the failures by which it went, and the sending of a
// command that was under way meanwhile. Of a record that stays they are the end of its owner, with the message that it waited for,
// and the failures that kept it.
func (t *Timeline) Cause(b Breach) string {
	var clauses []string
	for _, x := range t.clauses(b) {
		clauses = append(clauses, x.text)
	}
	text := b.Text
	if at := t.LineOf(b.Violation); at != "" {
		text += " (" + at + ")"
	}
	text += "."
	if len(clauses) == 0 {
		return text
	}
	return strings.Join(clauses, ", ") + "; so " + text
}

// clauses are the events that Cause names, in order.
func (t *Timeline) clauses(b Breach) []*clause {
	c := causes{Timeline: t, s: t.NewState(), of: b, had: map[int]int{}}
	for i := range b.Last() - 1 {
		e := &t.Events[i]
		c.take(e)
		c.s.Apply(e)
		c.keepStored(e)
	}
	return c.chosen(b)
}

// Parties are the clients that take part in a violation: those of the events that prove it, and those of the events that
// its Cause names.
func (t *Timeline) Parties(b Breach) (clients []int) {
	seqs := slices.Clone(b.Events)
	for _, x := range t.clauses(b) {
		seqs, clients = append(seqs, x.seq), append(clients, x.who)
	}
	for _, seq := range seqs {
		clients = append(clients, t.Events[seq-1].Client)
	}
	slices.Sort(clients)
	return slices.DeleteFunc(slices.Compact(clients), func(c int) bool { return c == trace.None })
}

// Command is the client's command by which a violation between two acquisitions came about: the last one that proves it, or
// else that by which the one's record went. It is nil where a failure, an expiry or a clock did it.
func (t *Timeline) Command(b Breach) *trace.Event {
	switch b.Code {
	case trace.DG, trace.OV, trace.SW:
	default:
		return nil
	}
	for _, seq := range slices.Backward(b.Events) {
		if e := &t.Events[seq-1]; e.Kind == trace.KindExecute && e.Client != trace.None {
			return e
		}
	}
	for _, x := range slices.Backward(t.clauses(b)) {
		if x.kind == loses && x.event == trace.KindExecute && t.Events[x.seq-1].Client != x.who {
			return &t.Events[x.seq-1]
		}
	}
	return nil
}

// Overslept reports whether a violation is that of a client which is paused in the critical section until its lease is over,
// and goes on there: under any lock with a lease others can have it by then. Where something went wrong before that, or where
// the accesses carry fencing tokens, which a resource can refuse, it reports false.
func Overslept(t *trace.Trace, code trace.Code) bool {
	i := slices.IndexFunc(t.Violations, func(v trace.Violation) bool { return v.Code == code })
	if i < 0 || code != trace.OV && code != trace.SW {
		return false
	}
	v := &t.Violations[i]
	if slices.ContainsFunc(t.Violations, func(o trace.Violation) bool {
		return o.Last() <= v.Last() && o.Code != trace.OV && o.Code != trace.SW && o.Code.Failure()
	}) {
		return false
	}
	late := map[int]bool{}
	s := t.NewState()
	for i := range v.Last() {
		e := &t.Events[i]
		if e.Kind == trace.KindLapse && s.Clients[e.Client].Lease.Inside && s.Clients[e.Client].Paused {
			late[e.Client] = true
		}
		if code == trace.SW && e.Fence != 0 {
			return false
		}
		if s.Apply(e); e.Kind == trace.KindLeave {
			delete(late, e.Client)
		}
	}
	return slices.ContainsFunc(v.Events, func(seq int) bool { return late[t.Events[seq-1].Client] })
}

// clause is an event that can be a cause, in words.
type clause struct {
	kind  clauseKind
	seq   int
	until int // of a pause: Seq of the event that ends it, or a greater one than there is
	who   int // the client that it happens to, or trace.None
	acq   int // the N of its acquisition then
	node  int // the server where it happens, or trace.None
	event trace.Kind
	text  string
}

type clauseKind uint8

const (
	sleeps clauseKind = iota // a client is paused: a cause if its record expires meanwhile
	ends                     // a client crashes, or gives up: a cause of a record that stays behind
	fails                    // a server or a clock fails
	loses                    // a client's record goes
	gets                     // a client gets the lock
)

// causes collects clauses. s is the state before the event at hand.
type causes struct {
	*Timeline
	s      *trace.State
	of     Breach
	all    []clause
	stores []storing
	had    map[int]int // whose record a server had when it last went down; the server's number is the key
}

// storing is a command that stored an acquisition's record.
type storing struct {
	seq, node int
	of        trace.Acquisition
}

func (c *causes) keepStored(e *trace.Event) {
	if e.Kind != trace.KindExecute {
		return
	}
	if r := c.s.LockRecord(e.Node); r != nil && r.Written == e.Seq && r.Owner != trace.Nobody {
		c.stores = append(c.stores, storing{e.Seq, e.Node, r.Owner})
	}
}

func (c *causes) add(kind clauseKind, e *trace.Event, who int, format string, args ...any) {
	x := clause{kind: kind, seq: e.Seq, until: len(c.Events) + 1, who: who, node: e.Node, event: e.Kind,
		text: fmt.Sprintf(format, args...) + " at " + trace.Brief(e.At)}
	if who != trace.None {
		x.acq = c.s.Clients[who].Acquired
	}
	c.all = append(c.all, x)
}

// take adds the clause of an event, if it can be a cause.
func (c *causes) take(e *trace.Event) {
	switch e.Kind {
	case trace.KindPause:
		name := c.Clients[e.Client]
		if work, ended := c.WorkBefore(e); ended {
			name += ", whose work of " + trace.Brief(work) + " has ended,"
		}
		what := "is paused"
		if e.Held() {
			what = "is held up"
		}
		c.add(sleeps, e, e.Client, "%s %s", name, what)
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
		c.add(fails, e, trace.None, "%s takes over%s", c.Nodes[e.Node], c.lacked(e.Node))
	case trace.KindDown:
		c.add(fails, e, trace.None, "%s goes down", c.Nodes[e.Node])
		delete(c.had, e.Node)
		if r := c.s.LockRecord(e.Node); r != nil && r.Owner != trace.Nobody {
			c.had[e.Node] = r.Owner.Client
		}
	case trace.KindUp:
		c.takeReturn(e)
	case trace.KindGranted:
		c.takeGrant(e)
	case trace.KindExpire, trace.KindExecute:
		c.takeLoss(e)
	default:
		if e.Kind.Fault() && e.Node != trace.None {
			c.takeLoss(e)
		}
	}
}

// lacked says whose record, of those whose lease is live, the only master's replica doesn't have.
func (c *causes) lacked(replica int) string {
	var names []string
	r := c.s.LockRecord(replica)
	for i := range c.s.Clients {
		if c.Masters == 1 && c.s.Clients[i].Lease.Live && (r == nil || r.Owner != c.s.Acquisition(i)) {
			names = append(names, c.Clients[i]+"'s")
		}
	}
	if names == nil {
		return ""
	}
	return " without " + strings.Join(names, " and ") + " record"
}

// takeReturn adds the clause of a server's return without the record that it had when it went down: it is by that, and not by its going down, that
// another gets the lock.
func (c *causes) takeReturn(e *trace.Event) {
	owner, had := c.had[e.Node]
	if had && !slices.ContainsFunc(e.Changes, func(ch trace.Change) bool { return ch.Key == c.s.Key && ch.After != nil }) {
		c.add(fails, e, trace.None, "%s comes back without %s's record", c.Nodes[e.Node], c.Clients[owner])
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
	x := c.storedClause(&c.Events[seq-1])
	x.who, x.acq = e.Client, c.s.Clients[e.Client].Acquired
	c.all = append(c.all, *x)
}

// storedClause is the clause of a command that stores its client's record.
func (c *causes) storedClause(e *trace.Event) *clause {
	where := "Redis"
	if len(c.Nodes) > 1 && e.Node != trace.None {
		where = c.Nodes[e.Node]
	}
	return &clause{kind: gets, seq: e.Seq, who: e.Client, node: e.Node, event: e.Kind,
		text: where + " stores " + c.Clients[e.Client] + "'s record at " + trace.Brief(e.At)}
}

// on says on which of several servers a record is.
func (c *causes) on(node int) string {
	if len(c.s.Primary) > 1 {
		return " on " + c.Nodes[node]
	}
	return ""
}

// takeLoss adds the clause of an event by which a client's record goes.
func (c *causes) takeLoss(e *trace.Event) {
	rec := c.s.LockRecord(e.Node)
	if rec == nil || rec.Owner == trace.Nobody {
		return
	}
	owner, before := rec.Owner.Client, len(c.all)
	name := c.Clients[owner]
	for i := range e.Changes {
		ch := &e.Changes[i]
		switch gone := ch.After == nil; {
		case ch.Key != c.s.Key:
		case e.Kind == trace.KindExpire:
			c.add(loses, e, owner, "%s's record%s expires", name, c.on(e.Node))
		case e.Kind.Fault() && gone:
			c.add(loses, e, owner, "%s drops %s's record", c.Nodes[e.Node], name)
		case e.Client == trace.None:
		case owner == e.Client && gone && e.Acq < rec.Owner.N && e.Ref != trace.None:
			c.add(loses, e, owner, "%s's %s, sent at %s, removes %s's newer record", name, strings.ToUpper(e.Args[0]), trace.Brief(c.Events[e.Ref-1].At), name)
		case owner == e.Client && gone:
			c.add(loses, e, owner, "%s releases the lock", name)
		case owner != e.Client && gone:
			c.add(loses, e, owner, "%s's %s removes %s's record", c.Clients[e.Client], strings.ToUpper(e.Args[0]), name)
		case owner != e.Client && ch.Before != nil && ch.After.Value != ch.Before.Value:
			c.add(loses, e, owner, "%s's %s overwrites %s's record", c.Clients[e.Client], strings.ToUpper(e.Args[0]), name)
		}
	}
	for i := range c.all[before:] {
		c.all[before+i].acq = rec.Owner.N
	}
}

// chosen are the clauses that lead to a violation, in order.
func (c *causes) chosen(b Breach) (found []*clause) {
	switch b.Code {
	case trace.PD, trace.BD, trace.FN:
		found = c.leftBehind(b)
	case trace.DG, trace.OV, trace.SW, trace.FR:
		found = c.between(b)
	case trace.GAP:
		found = c.interrupted(b)
	}
	found = slices.DeleteFunc(found, func(x *clause) bool { return x == nil })
	slices.SortStableFunc(found, func(x, y *clause) int { return x.seq - y.seq })
	return found
}

// party is an acquisition that takes part in a violation, and the Seq of its event in the evidence.
type party struct {
	trace.Acquisition
	seq int
}

// parties are the acquisition that completes a violation, and the other one.
func (c *causes) parties(b Breach) (both [2]party, ok bool) {
	last := &c.Events[b.Last()-1]
	if last.Client == trace.None {
		return both, false
	}
	both[0] = party{c.acquisition(last.Client, last.Seq), last.Seq}
	for _, seq := range b.Events {
		if e := &c.Events[seq-1]; b.Code == trace.SW && e.Client == last.Client {
			both[0].seq = seq // the value that it read then is out of date
			break
		}
	}
	if b.Code == trace.FR {
		if last.Node == trace.None {
			return both, false
		}
		r := c.s.LockRecord(last.Node)
		if r == nil || r.Owner == trace.Nobody {
			return both, false
		}
		both[1] = party{r.Owner, r.Written}
		return both, true
	}
	for _, seq := range slices.Backward(b.Events) {
		e := &c.Events[seq-1]
		if e.Client == trace.None || e.Client == last.Client {
			continue
		}
		switch e.Kind {
		case trace.KindGranted, trace.KindExtended, trace.KindEnter, trace.KindRead, trace.KindWrite, trace.KindQuery:
			both[1] = party{c.acquisition(e.Client, seq), seq}
			return both, true
		}
	}
	return both, false
}

// acquisition is a client's acquisition at an event.
func (c *causes) acquisition(client, seq int) trace.Acquisition {
	a := trace.Acquisition{Client: client}
	for i := range seq {
		if e := &c.Events[i]; e.Client == client && e.Kind == trace.KindAcquire {
			a.N++
		}
	}
	return a
}

// between are the clauses of a violation between two acquisitions: the last loss of the one's record by
// which the other one could store its own, the pause in which it expired, the grant that it led to, and
// a failure.
func (c *causes) between(b Breach) []*clause {
	both, ok := c.parties(b)
	if !ok {
		return nil
	}
	var loss, grant *clause
	take := func(led func(x *clause, newer party) bool) {
		for i, older := range both {
			x := c.last(func(x *clause) bool { return x.kind == loses && x.of() == older.Acquisition && led(x, both[1-i]) })
			if x != nil && (loss == nil || x.seq > loss.seq) {
				loss, grant = x, c.granted(x, both[1-i])
			}
		}
	}
	take(func(x *clause, newer party) bool { // of several servers the one that is evidence
		return slices.Contains(b.Events, x.seq) && c.stored(newer, x.node, x.seq)
	})
	if loss == nil {
		take(func(x *clause, newer party) bool { return c.stored(newer, x.node, x.seq) })
	}
	if loss == nil { // the newer record was out of date when it came, so that nothing was stored
		take(func(x *clause, newer party) bool { return x.seq < newer.seq && slices.Contains(b.Events, x.seq) })
	}
	asleep, sent := c.asleep(loss), c.sentBefore(b, loss)
	if sent != nil && asleep != nil && sent.who == asleep.who {
		asleep = nil // the command that breaks the lock was under way already
	}
	return []*clause{asleep, sent, loss, grant, c.failure(b, both, loss)}
}

// sentBefore is the sending of the command that is the violation, if a record went while it was under way: held up, on a slow
// link, or as a copy of one that had arrived.
func (c *causes) sentBefore(b Breach, loss *clause) *clause {
	e := &c.Events[b.Last()-1]
	if loss == nil || e.Kind != trace.KindExecute || e.Ref == trace.None || e.Ref > loss.seq {
		return nil
	}
	send := &c.Events[e.Ref-1]
	arrived := slices.ContainsFunc(c.Events[e.Ref:e.Seq-1], func(x trace.Event) bool { return x.Kind == trace.KindExecute && x.Ref == e.Ref })
	text := fmt.Sprintf("%s sends %s at %s, which arrives %s at %s", c.Clients[e.Client], strings.ToUpper(e.Args[0]), trace.Brief(send.At),
		map[bool]string{true: "once more", false: "only"}[arrived], trace.Brief(e.At))
	return &clause{seq: send.Seq, who: e.Client, node: e.Node, event: send.Kind, text: text}
}

// interrupted are the clauses of an extension after the lock was lost: the loss that proves it.
func (c *causes) interrupted(b Breach) []*clause {
	proves := func(kind clauseKind) *clause {
		return c.last(func(x *clause) bool { return x.kind == kind && slices.Contains(b.Events, x.seq) })
	}
	loss := proves(loses)
	return []*clause{c.asleep(loss), loss, proves(fails)}
}

func (x *clause) of() trace.Acquisition { return trace.Acquisition{Client: x.who, N: x.acq} }

// stored reports whether a party's record was stored on a server at an event or later, and before
// the party did its part of the violation.
func (c *causes) stored(p party, node, from int) bool {
	return slices.ContainsFunc(c.stores, func(st storing) bool {
		return st.of == p.Acquisition && st.node == node && from <= st.seq && st.seq <= p.seq
	})
}

// asleep is the pause of a client in which its record expired, or nil.
func (c *causes) asleep(loss *clause) *clause {
	if loss == nil || loss.event != trace.KindExpire {
		return nil
	}
	return c.last(func(x *clause) bool {
		return x.kind == sleeps && x.who == loss.who && x.seq < loss.seq && loss.seq < x.until
	})
}

// granted is the grant after a loss: that the client is told so, or else that its record is stored, if
// that proves the violation.
func (c *causes) granted(loss *clause, p party) *clause {
	x := c.last(func(x *clause) bool { return x.kind == gets && x.of() == p.Acquisition })
	if x == nil && c.of.Code == trace.FR && slices.ContainsFunc(c.stores, func(st storing) bool { return st.seq == p.seq }) {
		x = c.storedClause(&c.Events[p.seq-1])
	}
	if x == nil || x.seq <= loss.seq {
		return nil // its own command took the lock over
	}
	return x
}

// failure is the last failure that contributed. One that is evidence did. A client's clock that jumped
// did if the client has read it since. A server's failure did if the one party's record was stored
// before it and the other's on that server after it, unless the first one's record was lost there later
// and by itself; or if the fencing tokens began anew with it.
func (c *causes) failure(b Breach, both [2]party, loss *clause) *clause {
	return c.last(func(x *clause) bool {
		switch {
		case x.kind != fails:
			return false
		case slices.Contains(b.Events, x.seq):
			return true
		case x.who != trace.None:
			return c.readsClock(x, both)
		}
		for i, older := range both {
			newer := both[1-i]
			if !c.storedBefore(older, x.seq) || !c.stored(newer, x.node, x.seq) {
				continue
			}
			switch {
			case c.fence(older) > 0 && c.fence(newer) > 0 && c.fence(newer) <= c.fence(older) && x.event != trace.KindNodeStep:
				return true
			case loss == nil:
				return true
			case x.event == trace.KindNodeStep:
				return x.node == loss.node && x.seq < loss.seq
			}
		}
		return false
	})
}

func (c *causes) readsClock(jump *clause, both [2]party) bool {
	for _, p := range both {
		for seq := jump.seq + 1; p.Client == jump.who && seq < p.seq; seq++ {
			if e := &c.Events[seq-1]; e.Client == p.Client && e.Kind == trace.KindClock && e.Note == "wall" {
				return true
			}
		}
	}
	return false
}

func (c *causes) storedBefore(p party, seq int) bool {
	return slices.ContainsFunc(c.stores, func(st storing) bool { return st.of == p.Acquisition && st.seq < seq })
}

// fence is the fencing token with which an acquisition was granted, or 0.
func (c *causes) fence(p party) int64 {
	for i := range c.Events[:p.seq] {
		if e := &c.Events[i]; e.Client == p.Client && e.Kind == trace.KindGranted && c.acquisition(p.Client, e.Seq) == p.Acquisition {
			return e.Fence
		}
	}
	return 0
}

// leftBehind is the crash or the silence after which a record stays, if the violation begins
// with that. Or else it is the failure of a server that is down when a client is refused; or that has
// the record then, because a replica with it took over, or because its owner had still to act. Of several servers that are
// down it is all of them.
func (c *causes) leftBehind(b Breach) []*clause {
	refused := b.Last()
	if b.Code != trace.FN && len(b.Events) > 1 {
		refused = b.Events[1]
	}
	s, owner := c.NewState(), trace.Nobody
	for i := range refused - 1 {
		s.Apply(&c.Events[i])
	}
	for n := range s.Nodes {
		if r := s.LockRecord(n); r != nil && r.Written == b.Events[0] {
			owner = r.Owner
		}
	}
	x := c.last(func(x *clause) bool { return x.kind == ends && x.of() == owner && x.seq < refused })
	if x != nil {
		return []*clause{c.lost(x), x}
	}
	x = c.last(func(x *clause) bool {
		if x.kind != fails || x.who != trace.None || x.seq >= refused {
			return false
		}
		r := s.LockRecord(x.node)
		has := r != nil && r.Owner == owner
		return !s.Nodes[x.node].Up || has && (x.event == trace.KindFailover || c.acts(owner.Client, x.seq, refused))
	})
	if x == nil || x.event != trace.KindDown || s.Nodes[x.node].Up {
		return []*clause{x}
	}
	return c.fallen(func(x *clause) bool { return x.seq < refused && !s.Nodes[x.node].Up })
}

// lost is the loss of the message for which a client waits until it gives up, or nil.
func (c *causes) lost(ends *clause) *clause {
	e := &c.Events[ends.seq-1]
	for _, l := range slices.Backward(c.Events[:ends.seq-1]) {
		if ends.event != trace.KindTimeout || l.Kind != trace.KindLost || l.Client != e.Client || l.Command != e.Command {
			continue
		}
		client, node, word := c.Clients[l.Client], c.Nodes[l.Node], strings.ToUpper(l.Args[0])
		text := fmt.Sprintf("%s's %s to %s is lost at %s", client, word, node, trace.Brief(l.At))
		if slices.ContainsFunc(c.Events[l.Ref:l.Seq-1], func(x trace.Event) bool { return x.Kind == trace.KindExecute && x.Ref == l.Ref }) {
			text = fmt.Sprintf("%s's reply to %s's %s is lost at %s", node, client, word, trace.Brief(l.At))
		}
		return &clause{seq: l.Seq, who: l.Client, node: l.Node, event: l.Kind, text: text}
	}
	return nil
}

// fallen are the clauses of the servers that are down, one for all that go down at one instant.
func (c *causes) fallen(down func(*clause) bool) (found []*clause) {
	var at []time.Duration
	names := map[time.Duration][]string{}
	for i := range c.all {
		x := &c.all[i]
		if x.event != trace.KindDown || !down(x) {
			continue
		}
		now := c.Events[x.seq-1].At
		if names[now] = append(names[now], c.Nodes[x.node]); len(names[now]) == 1 {
			at, found = append(at, now), append(found, x)
		}
	}
	for i, now := range at {
		if len(names[now]) > 1 {
			found[i].text = trace.List(names[now]) + " go down at " + trace.Brief(now)
		}
	}
	return found
}

// acts reports whether a client does anything between two events.
func (c *causes) acts(client, from, to int) bool {
	return slices.ContainsFunc(c.Events[from:to-1], func(e trace.Event) bool { return e.Client == client && e.Kind != trace.KindExecute })
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
