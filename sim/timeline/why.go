package timeline

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/trace"
)

// The reasons of answers come from the state of Redis at the command that decided them: whose record there was, and since
// when, or how the last one went. Of a lock on several servers no single command decides.

// whyEntry is why a call of Acquire, whose first command is the event at from, came out as it does at the event at to.
func (q *quiz) whyEntry(from, to int) string {
	holders := q.Holders(q.StateAt(to + 1))
	if len(q.s.Primary) > 1 {
		return holders
	}
	client, granted := q.Events[to].Client, q.Events[to].Kind == trace.KindGranted
	for i := to - 1; i >= from; i-- {
		e := &q.Events[i]
		if e.Kind != trace.KindExecute || e.Client != client || e.Copy || e.Node == trace.None {
			continue
		}
		if rec := q.StateAt(i + 1).LockRecord(e.Node); granted && (rec == nil || rec.Written != e.Seq) {
			continue // the one that stored the record decides
		}
		why := q.found(i, client)
		if rec := q.StateAt(i).LockRecord(e.Node); granted && rec != nil && rec.Owner.Client != client {
			why = strings.TrimSuffix(why, ".") + fmt.Sprintf(", and %s's %s replaced it.", q.Clients[client], strings.ToUpper(e.Args[0]))
		}
		if o := &q.Events[to]; o.Kind == trace.KindTimeout || o.Kind == trace.KindFailed {
			why = trace.Capital(q.Actor(o)) + " " + q.Text(o) + ". " + why
		}
		return why + " " + q.proof(e)
	}
	return holders
}

// whyRelease is the reason for the effect of a release's command at an event.
func (q *quiz) whyRelease(i int) string {
	e := &q.Events[i]
	before, after := q.s.LockRecord(e.Node), q.StateAt(i+1).LockRecord(e.Node)
	why, token := q.found(i, e.Client), q.tokenOf(e)
	switch name := strings.ToUpper(e.Args[0]); {
	case before == nil:
	case after == nil && (name == "DEL" || name == "UNLINK"):
		why = strings.TrimSuffix(why, ".") + ", and " + name + " doesn't ask whose it is."
	case after != nil && after.Value == before.Value && token != "" && slices.Contains(e.Args, token) && before.Value != token:
		why = strings.TrimSuffix(why, ".") + fmt.Sprintf(": %s. The command compares that with %s, and leaves it.", before.Value, token)
	}
	return why + " " + q.proof(e)
}

// tokenOf is the token of the acquisition to which a command belongs, or nothing if it has none.
func (q *quiz) tokenOf(e *trace.Event) string {
	i := slices.IndexFunc(q.Events, func(g trace.Event) bool { return g.Kind == trace.KindGranted && g.Client == e.Client && g.Acq == e.Acq })
	if i < 0 {
		return ""
	}
	return q.Events[i].Token
}

// whyWrite is why the resource takes a write, or doesn't.
func (q *quiz) whyWrite(i int) string {
	e := &q.Events[i]
	why := trace.Capital(q.Actor(e)) + " " + q.Text(e)
	if e.Kind != trace.KindWrite || e.Fence != 0 {
		return why
	}
	mine := q.s.Clients[e.Client].Lease.Granted
	for c := range q.s.Clients {
		if at := q.s.Clients[c].Lease.Granted; mine != trace.None && at > mine {
			return fmt.Sprintf("It carries no fencing token, so the resource can't tell that %s got the lock later, at %s.", q.Clients[c], trace.Brief(q.Events[at-1].At))
		}
	}
	return why
}

// found says which record of the lock a client's command found at an event, and since when, or why there was none.
func (q *quiz) found(i, client int) string {
	rec := q.StateAt(i).LockRecord(q.Events[i].Node)
	if rec == nil {
		why := q.gone(i)
		if rest, is := strings.CutPrefix(why, "At "); is {
			why = "at " + rest
		}
		return "Redis had no record: " + why
	}
	whose := "somebody's"
	if rec.Owner != trace.Nobody {
		if whose = q.Clients[rec.Owner.Client] + "'s"; rec.Owner.Client == client {
			whose += " own"
		}
	}
	return fmt.Sprintf("Redis had %s record, since %s.", whose, trace.Brief(q.Events[rec.Written-1].At))
}

// gone is why Redis has no record before an event, as a sentence: the last event by which one went, or that a replica took over without it;
// of several servers, how the last one of each went.
func (q *quiz) gone(before int) string {
	for i := before - 1; i >= 0 && len(q.s.Primary) == 1; i-- {
		if why := q.unreplicated(i); why != "" {
			return why
		}
		if q.Events[i].Node != q.StateAt(before).Primary[0] || !q.removes(i) {
			continue // a record that only another server had is not asked about
		}
		whose, e := q.removed(i)
		switch at := trace.Brief(e.At); {
		case e.Kind == trace.KindExpire:
			return fmt.Sprintf("%s expired at %s.", trace.Capital(whose), at)
		case e.Kind == trace.KindExecute && e.Client != trace.None:
			return fmt.Sprintf("%s's %s removed %s at %s.", q.Clients[e.Client], strings.ToUpper(e.Args[0]), whose, at)
		default:
			return fmt.Sprintf("At %s %s %s.", at, q.Actor(e), q.unchanged(e))
		}
	}
	return q.goneFromEach(before)
}

// removes reports whether the lock's record goes from a server at an event.
func (q *quiz) removes(i int) bool {
	return slices.ContainsFunc(q.Events[i].Changes, func(c trace.Change) bool { return c.Key == q.Key && c.After == nil })
}

// removed says whose record goes at an event, and by which: the cause of a replicated write is the command that it follows.
func (q *quiz) removed(i int) (whose string, by *trace.Event) {
	e := &q.Events[i]
	whose = "the record"
	if rec := q.StateAt(i).LockRecord(e.Node); rec != nil && rec.Owner != trace.Nobody {
		whose = q.Clients[rec.Owner.Client] + "'s record"
	}
	if e.Kind == trace.KindReplicate && e.Ref > 0 {
		e = &q.Events[e.Ref-1]
	}
	return whose, e
}

// unchanged is the text of an event without its changes, which are known.
func (q *quiz) unchanged(e *trace.Event) string {
	what, _, _ := strings.Cut(q.Text(e), "  [")
	return what
}

// goneFromEach says of each server how its last record has gone before an event, and which have had none: those together that it has
// happened to alike, with the instant of the last.
func (q *quiz) goneFromEach(before int) string {
	type loss struct {
		what  string // with a verb, and a preposition for the servers
		nodes []string
		last  int // the event
	}
	var all []loss
	never := loss{}
	for n, name := range q.Nodes {
		i := before - 1
		for i >= 0 && (q.Events[i].Node != n || !q.removes(i)) {
			i--
		}
		if i < 0 {
			never.nodes = append(never.nodes, name)
			continue
		}
		whose, e := q.removed(i)
		what := fmt.Sprintf("%s was lost (%s) on", whose, q.unchanged(e))
		switch {
		case e.Kind == trace.KindExpire:
			what = whose + " expired on"
		case e.Kind == trace.KindExecute && e.Client != trace.None:
			what = fmt.Sprintf("%s's %s removed %s from", q.Clients[e.Client], strings.ToUpper(e.Args[0]), whose)
		}
		at := slices.IndexFunc(all, func(l loss) bool { return l.what == what })
		if at < 0 {
			at, all = len(all), append(all, loss{what: what})
		}
		all[at].nodes, all[at].last = append(all[at].nodes, name), max(all[at].last, i)
	}
	if len(all) == 0 {
		return "Nobody has stored one."
	}
	slices.SortFunc(all, func(a, b loss) int { return a.last - b.last })
	var parts []string
	for _, l := range all {
		parts = append(parts, fmt.Sprintf("%s %s %s %s", l.what, trace.List(l.nodes), map[bool]string{true: "at", false: "by"}[len(l.nodes) == 1], trace.Brief(q.Events[l.last].At)))
	}
	if len(never.nodes) > 0 {
		parts = append(parts, fmt.Sprintf("on %s nobody has stored one", trace.List(never.nodes)))
	}
	return trace.Capital(strings.Join(parts, "; ")) + "."
}

// unreplicated says of an event by which a replica took over that the record of the server before it had not come to it. It is empty for any
// other event, and if there was no such record.
func (q *quiz) unreplicated(i int) string {
	e := &q.Events[i]
	if e.Kind != trace.KindFailover {
		return ""
	}
	old := q.StateAt(i).Primary[0]
	for j := i - 1; j >= 0; j-- {
		o := &q.Events[j]
		change := slices.IndexFunc(o.Changes, func(c trace.Change) bool { return c.Key == q.Key })
		switch {
		case change < 0 || o.Node != old && o.Node != e.Node || o.Node == old && o.Kind == trace.KindDown: // its record went with it
			continue
		case o.Node == e.Node || o.Changes[change].After == nil: // the replica has had one, or it went otherwise
			return ""
		}
		whose := "the record"
		if rec := q.StateAt(j + 1).LockRecord(old); rec != nil && rec.Owner != trace.Nobody {
			whose = q.Clients[rec.Owner.Client] + "'s record"
		}
		return fmt.Sprintf("%s became the master at %s without %s, as what %s stored at %s had not come to it by then.", q.Nodes[e.Node], trace.Brief(e.At), whose, q.Nodes[old], trace.Brief(o.At))
	}
	return ""
}

// proof is an executed command as evidence: its number, and Redis's reply.
func (q *quiz) proof(e *trace.Event) string {
	return fmt.Sprintf("(#%d, reply: %s)", e.Seq, e.Reply)
}
