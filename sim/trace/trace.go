package trace

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Trace is the complete list of a run's events with what was said about them.
// Everything that anyone sees of a run is a view of its Trace.
type Trace struct {
	Strategy string
	Scenario string // its name, or the path of the user's file
	Title    string
	Seed     uint64
	Schedule string // replays to the same events, byte for byte
	Hash     string // of the events; the same schedule always gives the same

	Clients []string // names, by index
	Nodes   []string // the masters, then their replicas
	Masters int      // how many of them are masters at first
	Key     string
	TTL     time.Duration
	Counter bool // the lock record counts attempts

	Workload Workload
	Need     int // how many nodes a holder needs

	Events     []Event
	Notes      []Note
	Violations []Violation // by the event that completed each, then by severity
}

// Note is something said about a run at a point of it. Notes are not events:
// they change nothing and are not hashed.
type Note struct {
	At   time.Duration
	Seq  int // it stands before the event with this Seq
	Kind NoteKind
	Text string
	// Index is the note's place in its scenario, so that a schedule can refer to it.
	Index int
	// Answer is what a question's right answer turned out to be.
	Answer string
}

// NoteKind says what a note is for.
type NoteKind uint8

// The kinds of note.
const (
	NoteSay    NoteKind = iota // narration
	NoteAsk                    // a question to the class; Answer is computed
	NoteMissed                 // the script wanted something that this strategy made impossible
)

var noteMarks = [...]string{NoteSay: "#", NoteAsk: "?", NoteMissed: "~"}

// Violation is what a monitor reports: which property broke, when, and the
// events that prove it, in order.
type Violation struct {
	Code   Code
	At     time.Duration
	Events []int // Seqs
	Text   string
}

// Verdict is the set of codes that a run showed, worst first.
type Verdict []Code

// Verdict is what the monitors said of the run.
func (t *Trace) Verdict() Verdict { return VerdictOf(t.Violations) }

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

// Sorted is the verdict with its codes worst first, each once.
func (v Verdict) Sorted() Verdict {
	s := slices.Clone(v)
	slices.Sort(s)
	return slices.Compact(s)
}

// String is the codes with spaces between them, or "ok".
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

// Worst is the code to show where there is room for one, or "ok".
func (v Verdict) Worst() string {
	if len(v) == 0 {
		return "ok"
	}
	return v[0].String()
}

// NewState is the state before the first event.
func (t *Trace) NewState() *State {
	return newState(t.Key, t.Counter, t.Workload, len(t.Clients), len(t.Nodes), t.Masters)
}

// StateAt is the state after the first n events.
func (t *Trace) StateAt(n int) *State {
	s := t.NewState()
	for i := range t.Events[:n] {
		s.Apply(&t.Events[i])
	}
	return s
}

// Rebuilds is how often the cache's entry was rebuilt, counted by the queries of
// the database, and how many of these were needed: see StoreState.
func (t *Trace) Rebuilds() (made, needed int) {
	s := &t.StateAt(len(t.Events)).Store
	return s.Queries, s.Queries - s.Needless
}

// Actor is who did it: a client, a node, or the store.
func (t *Trace) Actor(e *Event) string {
	switch e.Kind {
	case KindExecute, KindExpire, KindEvict, KindFlush, KindReplicate, KindSync, KindFailover, KindUnreachable, KindDown, KindUp, KindNodeStep:
		return t.Nodes[e.Node]
	case KindLost, KindNetwork:
		return "net"
	case KindReject, KindUpdate:
		return "store"
	}
	if e.Thread > 0 {
		return fmt.Sprintf("%s/%d", t.Clients[e.Client], e.Thread+1)
	}
	return t.Clients[e.Client]
}

// Text is what happened, in words, without when and by whom.
func (t *Trace) Text(e *Event) string {
	if text, ok := t.clientText(e); ok {
		return text
	}
	return t.worldText(e)
}

func (t *Trace) clientText(e *Event) (string, bool) {
	switch e.Kind {
	case KindWant:
		return "wants what is cached", true
	case KindAcquire:
		return "wants the lock", true
	case KindGranted:
		text := "has the lock"
		if e.Token != "" {
			text += ", token " + e.Token
		}
		if e.Fence != 0 {
			text += fmt.Sprintf(", fence %d", e.Fence)
		}
		if e.By == Never {
			return text + ", no deadline", true
		}
		return fmt.Sprintf("%s, lease until %s", text, Instant(e.By)), true
	case KindRefused:
		return "is refused", true
	case KindFailed:
		return "gives up: " + e.Note, true
	case KindEnter:
		return "enters the critical section", true
	case KindLeave:
		return "leaves the critical section", true
	case KindRelease:
		return "releases", true
	case KindReleased:
		return "is done releasing", true
	case KindReleaseFailed:
		return "release failed: " + e.Note, true
	case KindExtend:
		return "extends", true
	case KindExtended:
		return "extended, lease until " + Instant(e.By), true
	case KindExtendFailed:
		return "extension failed: " + e.Note, true
	case KindDone:
		return "has finished", true
	case KindLapse:
		return "lease lapses: its own clock reads the deadline", true
	case KindClock:
		return fmt.Sprintf("reads its %s clock: %s", e.Note, Instant(e.By)), true
	case KindSleep:
		return "sleeps for " + Duration(e.By), true
	case KindWake:
		return "wakes up", true
	case KindPause:
		return "is paused", true
	case KindResume:
		return "goes on after " + Duration(e.By), true
	case KindCrash:
		return "crashes", true
	case KindHang:
		return "main thread hangs, for good", true
	case KindThreadEnd:
		return "ends without a word", true
	case KindWallStep:
		return "wall clock jumps by " + Duration(e.By), true
	case KindStop:
		return "is stopped: the run is over", true
	}
	return "", false
}

func (t *Trace) worldText(e *Event) string {
	switch e.Kind {
	case KindSend:
		return "-> " + t.Nodes[e.Node] + "  " + CommandText(e.Args)
	case KindExecute:
		return t.Clients[e.Client] + ": " + CommandText(e.Args) + " = " + e.Reply + t.changesText(e)
	case KindReceive:
		return "<- " + t.Nodes[e.Node] + "  " + e.Reply
	case KindTimeout:
		return fmt.Sprintf("no reply from %s in %s: timeout", t.Nodes[e.Node], Duration(e.By))
	case KindUnreachable:
		why := "is down"
		if e.Note != "" {
			why = e.Note
		}
		return fmt.Sprintf("%s: %s's %s is not answered", why, t.Clients[e.Client], CommandText(e.Args))
	case KindDisconnect:
		return fmt.Sprintf("<- %s  connection refused", t.Nodes[e.Node])
	case KindRead:
		return t.Workload.readText(e.Value) + fenceText(e.Fence)
	case KindWrite:
		return t.Workload.writeText(e.Value) + fenceText(e.Fence)
	case KindQuery:
		return fmt.Sprintf("queries the database: version %d%s", e.Value, fenceText(e.Fence))
	case KindUpdate:
		return fmt.Sprintf("the database has version %d from now on", e.Value)
	case KindReject:
		return fmt.Sprintf("refuses %s: %s", t.Clients[e.Client], e.Note)
	case KindExpire:
		return "expires" + t.changesText(e)
	case KindEvict:
		return "evicts" + t.changesText(e)
	case KindReplicate:
		return "gets what " + t.Clients[e.Client] + " wrote" + t.changesText(e)
	case KindSync:
		return e.Note + t.changesText(e)
	case KindFailover:
		return e.Note
	case KindFlush:
		return "forgets its scripts"
	case KindNodeStep:
		return "clock jumps by " + Duration(e.By) + t.changesText(e)
	case KindDown:
		return "goes down" + t.changesText(e)
	case KindUp:
		return "comes back, " + e.Note + t.changesText(e)
	}
	return e.Note
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

// Effect is what the event did to its node's keys, or nothing.
func (e *Event) Effect() string {
	parts := make([]string, len(e.Changes))
	for i, c := range e.Changes {
		parts[i] = c.text(e.At)
	}
	return strings.Join(parts, "; ")
}

// Line is the event on one line: the form that is hashed and printed.
func (t *Trace) Line(e *Event) string { return string(t.appendLine(nil, e)) }

// appendLine is written out because every event of every run passes through it to
// be hashed.
func (t *Trace) appendLine(b []byte, e *Event) []byte {
	at := Instant(e.At)
	b = append(column(b, "", 12-len(at)), at...)
	b = append(b, "  #"...)
	b = append(column(b, strconv.Itoa(e.Seq), 4), ' ')
	b = append(column(b, t.Actor(e), 6), ' ')
	b = append(column(b, e.Kind.String(), 15), ' ')
	return append(b, t.Text(e)...)
}

// column appends a text, and spaces up to the width.
func column(b []byte, text string, width int) []byte {
	b = append(b, text...)
	for n := utf8.RuneCountInString(text); n < width; n++ {
		b = append(b, ' ')
	}
	return b
}

// Seal computes the trace's hash from all its lines.
func (t *Trace) Seal() {
	h := fnv.New64a()
	var line []byte
	for i := range t.Events {
		line = append(t.appendLine(line[:0], &t.Events[i]), '\n')
		h.Write(line) //nolint:errcheck // a hash never fails
	}
	t.Hash = fmt.Sprintf("%016x", h.Sum64())
}

// Plain prints the run as text, for people without a screen, for logs, for
// golden files: one format for all.
func (t *Trace) Plain(w io.Writer) error {
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
	if n.Answer != "" {
		fmt.Fprintf(b, "  (answer: %s)\n", n.Answer)
	}
}

func (t *Trace) plainFooter(b *strings.Builder) {
	fmt.Fprintf(b, "verdict   %s\n", t.Verdict())
	for _, v := range t.Violations {
		fmt.Fprintf(b, "  %-3s %s: %s  (events %s)\n", v.Code, v.Code.Name(), v.Text, seqList(v.Events))
	}
	if t.Workload == Cache {
		made, needed := t.Rebuilds()
		fmt.Fprintf(b, "rebuilds  %d, needed %d\n", made, needed)
	}
	fmt.Fprintf(b, "hash      %s\n", t.Hash)
	fmt.Fprintf(b, "schedule  %s\n", t.Schedule)
}

func seqList(seqs []int) string {
	parts := make([]string, len(seqs))
	for i, s := range seqs {
		parts[i] = fmt.Sprintf("#%d", s)
	}
	return strings.Join(parts, ", ")
}

// Last is the Seq of the event that completed the violation.
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

// MarshalJSON gives the run as one object, made of the same words as Plain.
func (t *Trace) MarshalJSON() ([]byte, error) {
	out := struct {
		Strategy   string          `json:"strategy"`
		Scenario   string          `json:"scenario"`
		Seed       uint64          `json:"seed"`
		Hash       string          `json:"hash"`
		Schedule   string          `json:"schedule"`
		Verdict    []string        `json:"verdict"`
		Violations []jsonViolation `json:"violations"`
		Rebuilds   *jsonRebuilds   `json:"rebuilds,omitempty"` // of the workload cache
		Events     []jsonEvent     `json:"events"`
		Notes      []jsonNote      `json:"notes"`
	}{t.Strategy, t.Scenario, t.Seed, t.Hash, t.Schedule, t.Verdict().Strings(), []jsonViolation{}, nil, []jsonEvent{}, []jsonNote{}}
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

// Strings lists the codes, and nothing for ok.
func (v Verdict) Strings() []string {
	words := make([]string, len(v))
	for i, c := range v {
		words[i] = c.String()
	}
	return words
}
