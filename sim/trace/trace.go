package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Trace is the complete list of a run's events, with notes and violations. Every view of a
// run shows its Trace and nothing else.
type Trace struct {
	Strategy string
	Scenario string // its name, or the path of the user's file
	Title    string
	Seed     uint64
	Schedule string // replays to the same events, byte for byte
	Hash     string // of the events, see seal; the same schedule always gives the same

	Clients []string // names, by index
	Nodes   []string // the masters, then their replicas
	Masters int      // the number of nodes that are masters at first
	Key     string
	TTL     time.Duration
	Counter bool // the lock record counts attempts

	Workload Workload
	Need     int // the number of nodes that a holder needs

	Events     []Event
	Notes      []Note
	Violations []Violation // by the event that completed each, then by severity

	Expected   string // the verdict that the author of a script expects of this lock; empty if there is none
	AtLeast    bool   // it is those codes, and perhaps others
	ExpectedAt string // where the script says so, as file:line; empty if that is unknown
	Holds      []Hold // of the clients of such a script, in its order
}

// Note is a remark at a point of a run. Notes are not events: they change nothing and are not
// hashed.
type Note struct {
	At   time.Duration
	Seq  int // it stands before the event with this Seq
	Kind NoteKind
	Text string
	// Index is the note's place in its scenario, so that a schedule can refer to it.
	Index int
	// Answer is the computed answer of a question, and About its subject: the holders,
	// the record, or the verdict. A note that a thread stood still through a step that waits, "wait"; one that a fault was not made, [Unmade].
	Answer, About string
	// Asked is a question with the moment of which it is asked, if a view has worded it.
	Asked string
}

// Subjects of notes for a script's author.
const (
	Unmade = "unmade" // a fault of the script was not made under this strategy
	Setup  = "setup"  // the world has more than the script asks for, as the strategy needs it
	// LeftOut: the rest of the script is left out under this strategy, as its author wants it.
	LeftOut = "left out"
)

// NoteKind is the purpose of a note.
type NoteKind uint8

// The kinds of note.
const (
	NoteSay    NoteKind = iota // narration
	NoteAsk                    // a question to the class; Answer is computed
	NoteMissed                 // for the script's author: a step that this strategy made impossible, or a question that is asked elsewhere
)

var noteMarks = [...]string{NoteSay: "#", NoteAsk: "?", NoteMissed: "~"}

// Violation is a finding of the monitor: the property that broke, the instant, and the events
// that prove it, in order. There is at least one event.
type Violation struct {
	Code   Code
	At     time.Duration
	Events []int // Seqs
	Text   string
}

// Verdict is the set of codes that a run showed, worst first.
type Verdict []Code

// Verdict returns the verdict on the run.
func (t *Trace) Verdict() Verdict { return VerdictOf(t.Violations) }

// VerdictOf returns the set of codes of these violations, worst first.
func VerdictOf(vs []Violation) Verdict {
	var v Verdict
	for _, x := range vs {
		if !slices.Contains(v, x.Code) {
			v = append(v, x.Code)
		}
	}
	slices.Sort(v)
	return v
}

// Sorted returns the verdict with its codes worst first, each once.
func (v Verdict) Sorted() Verdict {
	s := slices.Clone(v)
	slices.Sort(s)
	return slices.Compact(s)
}

// Failures are those of the codes that count against a lock, in their order.
func (v Verdict) Failures() Verdict {
	return slices.DeleteFunc(slices.Clone(v), func(c Code) bool { return !c.Failure() })
}

// String returns the codes with spaces between them, or "ok".
func (v Verdict) String() string {
	if len(v) == 0 {
		return "ok"
	}
	words := make([]string, len(v))
	for i, c := range v {
		words[i] = c.String()
	}
	return strings.Join(words, " ")
}

// Worst returns the worst code, or "ok".
func (v Verdict) Worst() string {
	if len(v) == 0 {
		return "ok"
	}
	return v[0].String()
}

// NewState returns the state before the first event.
func (t *Trace) NewState() *State {
	return newState(t.Key, t.Counter, t.Workload, len(t.Clients), len(t.Nodes), t.Masters)
}

// StateAt returns the state after the first n events.
func (t *Trace) StateAt(n int) *State {
	s := t.NewState()
	for i := range t.Events[:n] {
		s.Apply(&t.Events[i])
	}
	return s
}

// Rebuilds returns the number of rebuilds of the cache's entry, counted by the queries of the
// database, and the number of those that were needed: see [StoreState].
func (t *Trace) Rebuilds() (made, needed int) {
	s := &t.StateAt(len(t.Events)).Store
	return s.Queries, s.Queries - s.Needless
}

func fenceText(fence int64) string {
	if fence == 0 {
		return ""
	}
	return fmt.Sprintf(" (fence %d)", fence)
}

func (t *Trace) changesText(e *Event) string {
	if len(e.Changes) == 0 {
		return ""
	}
	return "  [" + e.Effect() + "]"
}

// Effect describes the event's changes to its node's keys. It is empty if there are none.
func (e *Event) Effect() string {
	parts := make([]string, len(e.Changes))
	for i, c := range e.Changes {
		parts[i] = c.text(e.At)
	}
	return strings.Join(parts, "; ")
}

// Line returns the event on one line, as Plain prints it.
func (t *Trace) Line(e *Event) string {
	return fmt.Sprintf("%12s  #%-4d %-*s %-15s %s", Instant(e.At), e.Seq, t.ActorColumn(), t.Actor(e), e.Kind, t.Text(e))
}

// ActorColumn returns the number of columns for actors in lists of events: as many as the longest name
// has, within bounds.
func (t *Trace) ActorColumn() int {
	const least, most = 6, 20
	column := least
	for _, names := range [][]string{t.Clients, t.Nodes} {
		for _, name := range names {
			column = max(column, utf8.RuneCountInString(name))
		}
	}
	for i := range t.Events {
		if kinds[t.Events[i].Kind].by == byStore {
			return min(max(column, len(resource)), most)
		}
	}
	return min(column, most)
}

// Plain writes the run as text, in one format for terminals, logs and golden files, with lines for who held the lock
// when, if there are any: a view of the run knows that. It fails only if w does.
func (t *Trace) Plain(w io.Writer, holders ...string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s under %s: %s\n", t.Strategy, t.Scenario, t.Verdict())
	if t.Title != "" {
		fmt.Fprintf(&b, "%s\n", t.Title)
	}
	b.WriteByte('\n')
	note := 0
	for i := range t.Events {
		for ; note < len(t.Notes) && t.Notes[note].Seq <= t.Events[i].Seq; note++ {
			writeNote(&b, &t.Notes[note])
		}
		fmt.Fprintln(&b, t.Line(&t.Events[i]))
		for _, v := range t.Violations {
			if v.Last() == t.Events[i].Seq {
				fmt.Fprintf(&b, "%12s  !! %s  %s\n", "", v.Code, v.Text)
			}
		}
	}
	for ; note < len(t.Notes); note++ {
		writeNote(&b, &t.Notes[note])
	}
	b.WriteByte('\n')
	if len(holders) > 0 {
		b.WriteString("who held the lock: its record in Redis, and the client's belief\n")
	}
	for _, line := range holders {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	t.plainFooter(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func writeNote(b *strings.Builder, n *Note) {
	for i, line := range strings.Split(strings.TrimRight(n.Text, "\n"), "\n") {
		mark := noteMarks[n.Kind]
		if i > 0 {
			mark = " "
		}
		fmt.Fprintf(b, "%s %s\n", mark, line)
	}
}

// writeAnswers answers the questions at the end: below each, the answer would be read before one has thought of any.
func (t *Trace) writeAnswers(b *strings.Builder) {
	for i := range t.Notes {
		if n := &t.Notes[i]; n.Answer != "" {
			asked := n.Prose()
			switch {
			case n.Asked != "":
				asked = n.Asked
			case n.About != "verdict":
				asked = fmt.Sprintf("at %s, before #%d: %s", Brief(n.At), n.Seq, asked)
			}
			fmt.Fprintf(b, "answer    %s %s\n", asked, n.Answer)
		}
	}
}

func (t *Trace) plainFooter(b *strings.Builder) {
	fmt.Fprintf(b, "verdict   %s\n", t.Verdict())
	for _, v := range t.Violations {
		line := ""
		if at := t.LineOf(&v); at != "" {
			line = "; " + at
		}
		fmt.Fprintf(b, "  %-3s %s: %s  (events %s%s)\n", v.Code, v.Code.Name(), v.Text, seqList(v.Events), line)
	}
	t.writeAnswers(b)
	if text, _ := t.Expectation(); text != "" {
		fmt.Fprintf(b, "%s\n", text)
		if steps := t.Missed(); steps > 0 {
			fmt.Fprintf(b, "missed    %d of the script's steps did not do what the script asks for: marked %s\n", steps, noteMarks[NoteMissed])
		}
	}
	if t.Workload == Cache {
		made, needed := t.Rebuilds()
		fmt.Fprintf(b, "rebuilds  %d, needed %d\n", made, needed)
	}
	fmt.Fprintf(b, "hash      %s\n", t.Hash)
	fmt.Fprintf(b, "schedule  %s\n", t.Schedule)
}

// Fared says how a client fared that has nothing more to do, by the answer that it got last.
func (t *Trace) Fared(client int) string {
	name := t.Clients[client]
	for i := len(t.Events) - 1; i >= 0; i-- {
		if e := &t.Events[i]; e.Client == client {
			switch e.Kind {
			case KindRefused:
				return name + " has been refused, and is through."
			case KindFailed:
				return name + " has been told of an error, and is through."
			case KindReleased, KindReleaseFailed, KindLeave:
				return name + " has had the lock, and is through."
			case KindCrash:
				return name + " is dead."
			}
		}
	}
	return name + " is through."
}

// Missed counts the steps of a script that this strategy made impossible.
func (t *Trace) Missed() (steps int) {
	for i := range t.Notes {
		if n := &t.Notes[i]; n.Kind == NoteMissed && (n.About == "" || n.About == Unmade) {
			steps++
		}
	}
	return steps
}

func seqList(seqs []int) string {
	parts := make([]string, len(seqs))
	for i, s := range seqs {
		parts[i] = fmt.Sprintf("#%d", s)
	}
	return strings.Join(parts, ", ")
}

// LineOf is the line of the lock that sent the command by which a violation is complete, such as naive_del.go:49: "" if no
// command did it.
func (t *Trace) LineOf(v *Violation) string {
	e := &t.Events[v.Last()-1]
	if e.Kind != KindExecute || e.Source.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(e.Source.File), e.Source.Line)
}

// Last returns the Seq of the event that completed the violation.
func (v *Violation) Last() int { return v.Events[len(v.Events)-1] }

type jsonEvent struct {
	Seq    int    `json:"seq"`
	AtNS   int64  `json:"at_ns"`
	Actor  string `json:"actor"`
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Source Source `json:"source"`
}

type jsonViolation struct {
	Code   string `json:"code"`
	AtNS   int64  `json:"at_ns"`
	Events []int  `json:"events"`
	Text   string `json:"text"`
}

type jsonRebuilds struct {
	Made   int `json:"made"`
	Needed int `json:"needed"`
}

type jsonNote struct {
	Before int    `json:"before"`
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Answer string `json:"answer,omitempty"`
}

var noteNames = [...]string{NoteSay: "say", NoteAsk: "ask", NoteMissed: "missed"}

// MarshalJSON returns the run as one object, with the same words as Plain.
func (t *Trace) MarshalJSON() ([]byte, error) {
	out := struct {
		Strategy   string          `json:"strategy"`
		Scenario   string          `json:"scenario"`
		Seed       uint64          `json:"seed"`
		Hash       string          `json:"hash"`
		Schedule   string          `json:"schedule"`
		Verdict    []string        `json:"verdict"`
		Expected   string          `json:"expected,omitempty"`
		Violations []jsonViolation `json:"violations"`
		Rebuilds   *jsonRebuilds   `json:"rebuilds,omitempty"` // of the workload cache
		Events     []jsonEvent     `json:"events"`
		Notes      []jsonNote      `json:"notes"`
	}{t.Strategy, t.Scenario, t.Seed, t.Hash, t.Schedule, t.Verdict().Strings(), t.Expected, []jsonViolation{}, nil, []jsonEvent{}, []jsonNote{}}
	for _, v := range t.Violations {
		out.Violations = append(out.Violations, jsonViolation{v.Code.String(), int64(v.At), v.Events, v.Text})
	}
	if t.Workload == Cache {
		made, needed := t.Rebuilds()
		out.Rebuilds = &jsonRebuilds{made, needed}
	}
	for i := range t.Events {
		e := &t.Events[i]
		out.Events = append(out.Events, jsonEvent{e.Seq, int64(e.At), t.Actor(e), e.Kind.String(), t.Text(e), e.Source})
	}
	for _, n := range t.Notes {
		out.Notes = append(out.Notes, jsonNote{n.Seq, n.Kind.String(), n.Text, n.Answer})
	}
	return json.Marshal(out)
}

// Strings lists the codes; the list is empty for ok.
func (v Verdict) Strings() []string {
	words := make([]string, len(v))
	for i, c := range v {
		words[i] = c.String()
	}
	return words
}
