package timeline

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"lockstep/sim/trace"
)

// Tenure is when a client had the lock up to a position: as Redis saw it, and as the client did.
type Tenure struct {
	Client   int
	Recorded []Stay // its record was on the server, or on enough of several
	Believed []Stay // it believed that it held the lock
}

// Stay is a stretch of positions: half-open. Next is beyond the position that was asked about where it lasts still.
type Stay struct {
	First, Next int
	Lapsed      int // of a belief: the position from which the lease was over by the client's own clock, or trace.None
}

// Tenures are those of the clients that have had a part in the run by a position, without the probe: nothing that happens later is in
// them.
func (t *Timeline) Tenures(pos int) (all []Tenure) {
	for i, name := range t.Clients {
		if name == trace.Probe || !t.Begun(i, pos) {
			continue
		}
		all = append(all, Tenure{
			Client:   i,
			Recorded: t.stays(pos, func(m *Moment) bool { return m.Quorum.Owner == i }, func(*Moment) bool { return false }),
			Believed: t.stays(pos, func(m *Moment) bool { return m.Clients[i].Believed }, func(m *Moment) bool { return !m.Clients[i].Live }),
		})
	}
	return all
}

func (t *Timeline) stays(pos int, is, lapsed func(*Moment) bool) (all []Stay) {
	lasts := false
	for p := range pos + 1 {
		m := &t.Moments[p]
		now := is(m)
		if now && !lasts {
			all = append(all, Stay{First: p, Lapsed: trace.None})
		}
		if lasts = now; !now {
			continue
		}
		s := &all[len(all)-1]
		s.Next = p + 1
		switch over := lapsed(m); {
		case over && s.Lapsed == trace.None:
			s.Lapsed = p
		case !over: // prolonged, though late
			s.Lapsed = trace.None
		}
	}
	return all
}

// Describe tells a tenure in one line, without the client's name. Of a record or a belief that hasn't been it says "yet", until the run ends.
func (t *Timeline) Describe(h *Tenure, pos int) string {
	over := pos == t.Last()
	if len(h.Recorded) == 0 && len(h.Believed) == 0 {
		if over {
			return "never had it"
		}
		return "hasn't had it yet"
	}
	records := "record"
	if t.Need > 1 {
		records = fmt.Sprintf("record on %d of %d nodes or more", t.Need, t.Masters)
	}
	texts := []string{"no " + records, "believed at no time"}
	if !over {
		texts = []string{"no " + records + " yet", "not believed yet"}
	}
	if len(h.Recorded) > 0 {
		texts[0] = records + " " + t.listed(h.Recorded, pos, func(e *trace.Event) string { return t.removal(h.Client, e) })
	}
	if len(h.Believed) > 0 {
		texts[1] = "believed " + t.listed(h.Believed, pos, func(e *trace.Event) string {
			switch e.Kind {
			case trace.KindRelease, trace.KindExit:
				return t.release(e, pos)
			case trace.KindCrash:
				return "crashed"
			}
			return ""
		})
	}
	return strings.Join(texts, "; ")
}

// release says how a client gave the lock up at an event, as far as is known at a position: its belief is over, whatever comes of its
// request, which may have removed another's record.
func (t *Timeline) release(begun *trace.Event, pos int) string {
	for i := range t.Events[:pos] {
		switch e := &t.Events[i]; {
		case e.Seq <= begun.Seq || e.Client != begun.Client:
		case e.Kind == trace.KindReleased:
			return "until its release"
		case e.Kind == trace.KindReleaseFailed:
			return "until its release, which failed"
		}
	}
	return "releasing"
}

// listed tells stays with their instants, and how each ended.
func (t *Timeline) listed(all []Stay, pos int, end func(*trace.Event) string) string {
	var texts []string
	for _, s := range all {
		text := "since " + trace.Brief(t.When(s.First))
		if s.Next <= pos {
			text = trace.Brief(t.When(s.First)) + " to " + trace.Brief(t.When(s.Next))
			if t.When(s.First) == t.When(s.Next) {
				text = "at " + trace.Brief(t.When(s.First)) + " only"
			}
			if why := end(t.Event(s.Next)); why != "" {
				text += " (" + why + ")"
			}
		}
		switch {
		case s.Lapsed == s.First: // it learned of its lease when that was over
			text += ", its lease over before that"
		case s.Lapsed != trace.None:
			text += ", its lease over from " + trace.Brief(t.When(s.Lapsed))
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", and ")
}

// removal says how an event has ended that a client's record was there, or was on enough nodes.
func (t *Timeline) removal(client int, e *trace.Event) string {
	switch e.Kind {
	case trace.KindExpire:
		if given, known := t.Given(e); known { // Redis keeps a record through its last millisecond: without a word it reads like an error
			return fmt.Sprintf("expired, 1ms past its %s", trace.Duration(given))
		}
		return "expired"
	case trace.KindEvict:
		return "evicted"
	case trace.KindStray:
		return "overwritten by another program"
	case trace.KindDown:
		return t.Nodes[e.Node] + " down"
	case trace.KindFailover:
		return "lost in the failover"
	case trace.KindExecute:
		if owner := t.Moments[t.After(e.Seq)].Quorum.Owner; owner != trace.None && owner != client {
			return "replaced by " + t.Clients[e.Client]
		}
		name := t.Clients[e.Client]
		switch {
		case e.Client != client || e.Phase != trace.PhaseRelease:
			return "deleted by " + name
		case t.outlived(e):
			return "deleted by " + name + "'s earlier release"
		}
		return "released by " + name
	}
	if e.Kind.Fault() && e.Node != trace.None {
		return "dropped by " + t.Nodes[e.Node]
	}
	return ""
}

// outlived tells whether a command that removes a record of its own client's belongs to an earlier acquisition than the record.
func (t *Timeline) outlived(e *trace.Event) bool {
	for _, before := range slices.Backward(t.Events[:e.Seq-1]) {
		if before.Node == e.Node && slices.ContainsFunc(before.Changes, func(c trace.Change) bool { return c.Key == t.Key }) {
			return before.Client == e.Client && before.Acq > e.Acq
		}
	}
	return false
}

// Plain writes a run as text, with the list of who held the lock when, and with the answers as of the moments of which a screen asks.
func Plain(w io.Writer, of *trace.Trace) error {
	t := New(of)
	var list []string
	for _, h := range t.Tenures(t.Last()) {
		list = append(list, fmt.Sprintf("%s: %s", t.Clients[h.Client], t.Describe(&h, t.Last())))
	}
	worded := *of
	worded.Notes = slices.Clone(of.Notes)
	for _, q := range t.Questions() {
		if i := slices.IndexFunc(worded.Notes, func(n trace.Note) bool { return q.Script && n.Kind == trace.NoteAsk && n.Index == q.Note }); i >= 0 {
			worded.Notes[i].Asked = q.Text
		}
	}
	return worded.Plain(w, list...)
}
