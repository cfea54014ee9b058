package export

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// mermaidMost bounds a diagram, in bytes: Mermaid refuses more than 50,000 letters unless
// its page is configured otherwise, which a diagram cannot do.
const mermaidMost = 50_000

// Mermaid returns the run as a sequence diagram: clients, nodes and store as participants,
// every command and every reply in order, the run's notes as notes, and a red ground under
// the events that broke a property. It leaves out clock readings, sleeps and events that
// the commands imply; critical sections are activation bars.
//
// A run that is too long for Mermaid loses its least important events: first the commands
// that changed nothing, then all commands. If that is not enough, only the proofs of
// violations stay, or if there is none, the beginning. The diagram states the place and the
// number of omitted events.
func Mermaid(t *trace.Trace) string {
	m := &mermaid{annotated: read(t)}
	items := m.items()
	text := m.document(items)
	for _, least := range []weight{changing, telling} {
		if len(text) > mermaidMost {
			text = m.document(m.leaveOut(items, least))
		}
	}
	if len(text) > mermaidMost {
		least := changing
		if len(m.Violations) > 0 {
			least = proving
		}
		text = m.document(m.cutShort(m.leaveOut(items, least), mermaidMost-len(m.document(nil))))
	}
	return text
}

// weight is the importance of a piece of the diagram.
type weight uint8

const (
	routine  weight = iota // a command that changed nothing, and a refusal
	changing               // a command that did
	telling                // a change of a client or a node, and a note
	proving                // a part of the proof of a violation
)

type mermaid struct{ *annotated }

// item is a piece of the diagram.
type item struct {
	lines  []string
	seq    int // of the event, or 0
	weight weight
}

func (m *mermaid) document(items []item) string {
	var b strings.Builder
	b.WriteString("sequenceDiagram\n")
	line := func(format string, args ...any) { fmt.Fprintf(&b, "    "+format+"\n", args...) }
	title := mermaidText(fmt.Sprintf("%s under %s: %s", m.Strategy, m.Scenario, m.Verdict()), unbroken)
	line("accTitle: %s", title)
	line("accDescr: %s", mermaidText(describe(m.Trace), unbroken))
	line("title %s", title)
	for i, name := range m.Clients {
		if m.takesPart(i) {
			line("participant c%d as %s", i, mermaidText(name, unbroken))
		}
	}
	for i, name := range m.Nodes {
		line("participant n%d as %s", i, mermaidText(name, unbroken))
	}
	line("participant resource")
	for _, it := range items {
		for _, l := range it.lines {
			line("%s", l)
		}
	}
	return b.String()
}

func (m *mermaid) items() []item {
	var items []item
	note, now := 0, time.Duration(0)
	passes := func(at time.Duration) {
		if gone := at - now; gone > 0 && gone >= m.TTL/4 {
			items = append(items, item{lines: []string{m.all("... " + trace.Brief(gone) + " later ...")}, weight: telling})
		}
		now = at
	}
	said := func(upTo int) {
		for ; note < len(m.Notes) && m.Notes[note].Seq <= upTo; note++ {
			passes(m.Notes[note].At)
			items = append(items, item{lines: []string{m.said(&m.Notes[note])}, weight: proving})
		}
	}
	weights, busy := m.weigh(), make([]bool, len(m.Clients))
	for i := range m.Events {
		e := &m.Events[i]
		said(e.Seq)
		line := m.event(e)
		if line == "" && m.Proves(e) {
			line = m.over(e, m.Text(e))
		}
		if line == "" {
			continue
		}
		passes(e.At)
		items = append(items, item{append(m.alarm(e, line), activation(e, busy)...), e.Seq, weights[e.Seq]})
	}
	said(math.MaxInt)
	return items
}

// unsaid are the kinds of event that go without saying in a sequence diagram, with
// the reason. Any other is a message if the timeline has an arrow for it, and
// otherwise a note over its lane.
var unsaid = map[trace.Kind]string{
	trace.KindNone:     "it does not occur",
	trace.KindAcquire:  "the first command tells",
	trace.KindRelease:  "its command tells",
	trace.KindReleased: "the reply tells",
	trace.KindExtend:   "its command tells",
	trace.KindClock:    "it changes nothing by itself",
	trace.KindSleep:    "the time that passes is said",
	trace.KindWake:     "the time that passes is said",
	trace.KindDone:     "the client's messages end",
	trace.KindStop:     "the client's messages end",
}

// event is the line for one event, or nothing for one that goes without saying.
func (m *mermaid) event(e *trace.Event) string {
	if unsaid[e.Kind] != "" {
		return ""
	}
	message := func(text, arrow string, ends ...any) string {
		return fmt.Sprintf(arrow, ends...) + ": " + stamped(e, text)
	}
	switch timeline.ArrowOf(e) {
	case timeline.ToNode:
		return message(trace.CommandText(e.Args), "c%d->>n%d", e.Client, e.Node)
	case timeline.FromNode:
		if e.Kind == trace.KindDisconnect {
			return message(m.Disconnection(e), "n%d--xc%d", e.Node, e.Client)
		}
		return message(e.Reply, "n%d-->>c%d", e.Node, e.Client)
	case timeline.ToStore:
		return message(m.Text(e), "c%d->>resource", e.Client)
	case timeline.FromStore:
		return message(m.Text(e), "resource--xc%d", e.Client)
	}
	if e.Kind != trace.KindExecute {
		return m.over(e, m.Text(e))
	}
	switch {
	case e.Copy:
		return m.over(e, "once more, "+m.Text(e))
	case len(e.Changes) > 0:
		return m.over(e, e.Effect())
	}
	return "" // the reply tells
}

// over is a note over the participants whom an event befell.
func (m *mermaid) over(e *trace.Event, text string) string {
	who := "resource"
	switch {
	case m.Doer(e) != trace.None:
		who = fmt.Sprintf("c%d", e.Client)
	case timeline.NodeOf(e) != trace.None:
		who = fmt.Sprintf("n%d", e.Node)
	case e.Client != trace.None && e.Node != trace.None: // the network's doing, between the two
		who = fmt.Sprintf("c%d,n%d", e.Client, e.Node)
	}
	return fmt.Sprintf("Note over %s: %s", who, stamped(e, text))
}

// all is a note over everybody.
func (m *mermaid) all(text string) string {
	from := "n0"
	for i := len(m.Clients) - 1; i >= 0; i-- {
		if m.takesPart(i) {
			from = fmt.Sprintf("c%d", i)
		}
	}
	return fmt.Sprintf("Note over %s,resource: %s", from, mermaidText(text, wide))
}

func (m *mermaid) said(n *trace.Note) string {
	text := n.Prose()
	switch n.Kind {
	case trace.NoteAsk:
		text = "? " + text
	case trace.NoteMissed:
		text = "~ " + text
	}
	if n.Answer != "" {
		text += " (answer: " + n.Answer + ")"
	}
	return m.all(text)
}

// alarm puts an event that proves a violation on red ground, with the name of the violation
// beneath it.
func (m *mermaid) alarm(e *trace.Event, line string) []string {
	if !m.Proves(e) {
		return []string{line}
	}
	lines := []string{"rect rgba(213, 94, 0, 0.3)", line}
	for _, i := range m.broken[e.Seq] {
		v := &m.Violations[i]
		lines = append(lines, m.all(fmt.Sprintf("%[1]s %[2]s %[3]s %[1]s %[4]s (%[5]s)", severity(v.Code), v.Code, strings.ToUpper(v.Code.Name()), v.Text, seqs(v.Events))))
	}
	return append(lines, "end")
}

// activation draws critical sections as bars. Mermaid refuses to end one that has not begun.
func activation(e *trace.Event, busy []bool) []string {
	switch e.Kind {
	case trace.KindEnter:
		if !busy[e.Client] {
			busy[e.Client] = true
			return []string{fmt.Sprintf("activate c%d", e.Client)}
		}
	case trace.KindLeave, trace.KindCrash:
		if busy[e.Client] {
			busy[e.Client] = false
			return []string{fmt.Sprintf("deactivate c%d", e.Client)}
		}
	}
	return nil
}

// weigh returns the weights of events by Seq. Both halves of a request weigh as much as its
// effect.
func (m *mermaid) weigh() map[int]weight {
	w := map[int]weight{trace.None: routine}
	for i := range m.Events {
		e := &m.Events[i]
		own := telling
		switch e.Kind {
		case trace.KindSend, trace.KindRefused:
			own = routine
		case trace.KindReceive, trace.KindDisconnect:
			own = min(w[e.Ref], changing)
		case trace.KindExecute, trace.KindUnreachable:
			if own = routine; len(e.Changes) > 0 {
				own = changing
			}
			w[e.Ref] = max(w[e.Ref], own)
		case trace.KindExpire, trace.KindReplicate, trace.KindRead, trace.KindWrite, trace.KindQuery:
			own = changing
		}
		if m.Proves(e) {
			own = proving
		}
		w[e.Seq] = own
	}
	return w
}

// leaveOut replaces runs of lighter items by a note about them. Critical sections lose their
// bars, because one of their ends may be missing.
func (m *mermaid) leaveOut(items []item, least weight) []item {
	var kept []item
	for i := 0; i < len(items); {
		from := i
		for i < len(items) && items[i].weight < least {
			i++
		}
		switch out := items[from:i]; len(out) {
		case 0:
			kept = append(kept, items[i].withoutBars())
			i++
		case 1:
			kept = append(kept, out[0].withoutBars())
		default:
			kept = append(kept, item{lines: []string{m.leftOut(out)}})
		}
	}
	return kept
}

func (it item) withoutBars() item {
	it.lines = slices.DeleteFunc(slices.Clone(it.lines), func(l string) bool {
		return strings.HasPrefix(l, "activate ") || strings.HasPrefix(l, "deactivate ")
	})
	return it
}

// leftOut describes the items omitted in one place.
func (m *mermaid) leftOut(out []item) string {
	var seqs []int
	heaviest := routine
	for _, it := range out {
		heaviest = max(heaviest, it.weight)
		if it.seq != 0 {
			seqs = append(seqs, it.seq)
		}
	}
	what := "events are left out"
	if heaviest == routine {
		what = "messages that changed nothing are left out"
	}
	if len(seqs) == 0 {
		return m.all("... time passes ...")
	}
	return m.all(fmt.Sprintf("... %d %s, #%d to #%d ...", len(seqs), what, seqs[0], seqs[len(seqs)-1]))
}

// cutShort keeps as many items as there are bytes for, and says that it is not all.
func (m *mermaid) cutShort(items []item, most int) []item {
	end := item{lines: []string{m.all("... the rest is left out: the run is too long for a diagram ...")}}
	const indent = len("    \n")
	most -= len(end.lines[0]) + indent
	for i := range items {
		for _, l := range items[i].lines {
			most -= len(l) + indent
		}
		if most < 0 {
			return append(slices.Clone(items[:i]), end)
		}
	}
	return items
}

// stamped begins a text with the event's number and instant.
func stamped(e *trace.Event, text string) string {
	return mermaidText(fmt.Sprintf("#%d %s  %s", e.Seq, trace.Brief(e.At), text), narrow)
}

// How many columns a line of text has: over everybody, over one participant or
// one arrow, and where Mermaid knows no line breaks.
const (
	wide     = 72
	narrow   = 42
	unbroken = math.MaxInt
)

// mermaidText makes text fit for Mermaid: one line with breaks marked in it, and
// all that Mermaid, or the HTML that it makes, would take for its own written as
// character references.
func mermaidText(s string, columns int) string {
	var b strings.Builder
	for i, line := range fold(s, columns) {
		if i > 0 {
			b.WriteString("<br/>")
		}
		for _, r := range line {
			if strings.ContainsRune("#;:<>&%$\\\"`{}", r) || !unicode.IsPrint(r) {
				fmt.Fprintf(&b, "#%d;", r)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}
