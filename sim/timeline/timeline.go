// Package timeline computes the contents of every picture of a run: the lanes, the bars in
// them, the marks of the events, the axis on which waiting is compressed, and the alignment
// of two runs. It knows neither cells nor pixels nor colours: the terminal and the exports
// draw its results.
//
// It needs only a [trace.Trace].
package timeline

import (
	"fmt"
	"math"
	"slices"
	"time"

	"lockstep/sim/trace"
)

// Timeline is a trace made ready for drawing. A position counts events: at
// position k the first k of them have happened, and their state lasts
// until position k+1. Hence every stretch of positions here is half-open.
//
// Invariants: len(Moments) == len(Events)+1. Chapters ascend strictly, Breaches
// ascend by Pos. A Timeline is never changed once it is made, so that many
// views may share it.
type Timeline struct {
	*trace.Trace
	Moments  []Moment // by position
	Chapters []int    // the positions with notes
	Breaches []Breach
	Begins   []int // by client: the index of the first event in which it has a part, or trace.None
	Gaps     []Gap // by position

	evidence map[int]bool // Seqs of the events that prove a violation
	decisive map[int]bool // Seqs of the sends whose commands changed something
	fatal    map[int]bool // Seqs of those whose commands prove a violation
	weights  []weight     // by event
	passages []passage    // of requests that are held up, or on a slow link
	slow     map[link]bool
}

// link is that between a client and a node. It is slow as long as a request takes longer on it than the fastest of the run.
type link struct{ client, node int }

// passage is how long a client's request, that of the event sent, is on its way: from one position up to another.
type passage struct{ client, sent, from, to int }

// Breach is a violation with the position at which its last event has happened.
type Breach struct {
	Pos int
	*trace.Violation
}

// New folds the trace once. The trace must not change afterwards.
func New(t *trace.Trace) *Timeline {
	tl := &Timeline{Trace: t, evidence: map[int]bool{}, decisive: map[int]bool{}, fatal: map[int]bool{}, slow: map[link]bool{}, Begins: slices.Repeat([]int{trace.None}, len(t.Clients))}
	tl.Moments = make([]Moment, 0, len(t.Events)+1)
	s := t.NewState()
	tl.Moments = append(tl.Moments, momentOf(s, t.Need))
	var replaced []int // by failover: the server that was the master until then
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind == trace.KindFailover {
			replaced = append(replaced, s.Primary[e.Value])
		}
		s.Apply(e)
		tl.Moments = append(tl.Moments, momentOf(s, t.Need))
		tl.travels(i, e)
		if c := e.Client; c != trace.None && e.Kind != trace.KindStop && e.Kind != trace.KindDone && tl.Begins[c] == trace.None {
			tl.Begins[c] = i
		}
	}
	tl.retire(replaced)
	for i := range t.Notes {
		tl.Chapters = append(tl.Chapters, tl.Before(t.Notes[i].Seq))
	}
	slices.Sort(tl.Chapters)
	tl.Chapters = slices.Compact(tl.Chapters)
	for i := range t.Violations {
		v := &t.Violations[i]
		for _, seq := range v.Events {
			tl.evidence[seq] = true
		}
		tl.Breaches = append(tl.Breaches, Breach{tl.After(v.Last()), v})
	}
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == trace.KindExecute {
			tl.fatal[e.Ref] = tl.fatal[e.Ref] || tl.Proves(e)
			tl.decisive[e.Ref] = tl.decisive[e.Ref] || len(e.Changes) > 0
		}
	}
	tl.weigh()
	return tl
}

// travels notes by an event which requests are on their way for longer than others are.
func (t *Timeline) travels(i int, e *trace.Event) {
	sent := trace.None
	switch on := (link{e.Client, e.Node}); {
	case e.HeldUp():
		sent = e.Ref
	case e.OfLink():
		t.slow[on] = e.By > t.fastest()
	case e.Kind == trace.KindSend && t.slow[on]:
		sent = e.Seq
	}
	if sent != trace.None {
		t.passages = append(t.passages, passage{e.Client, sent, i + 1, len(t.Events) + 1})
	}
	for n := range t.passages {
		if p := &t.passages[n]; p.sent == e.Ref && (e.Kind == trace.KindExecute || e.Kind == trace.KindLost || e.Kind == trace.KindUnreachable) {
			p.to = min(p.to, i+1)
		}
	}
}

// fastest is how long the fastest request of the run takes.
func (t *Timeline) fastest() time.Duration {
	least := time.Duration(math.MaxInt64)
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == trace.KindExecute && e.Ref != trace.None {
			least = min(least, e.At-t.When(t.After(e.Ref)))
		}
	}
	return least
}

// Last returns the position after the last event.
func (t *Timeline) Last() int { return len(t.Events) }

// Event returns the event that led to a position, or nil at the beginning.
func (t *Timeline) Event(pos int) *trace.Event {
	if pos == 0 {
		return nil
	}
	return &t.Events[pos-1]
}

// When returns the instant of the event that led to a position.
func (t *Timeline) When(pos int) time.Duration {
	if pos == 0 {
		return 0
	}
	return t.Events[pos-1].At
}

// Now returns the instant that a screen shows at a position: that of the event that led to it, or, where time has
// passed before the words that are told or asked there, theirs. A violation stands at its own.
func (t *Timeline) Now(pos int) time.Duration {
	now := t.When(pos)
	if _, fresh := t.Breached(pos); len(fresh) > 0 {
		return now
	}
	for i := range t.Notes {
		if n := &t.Notes[i]; n.At > now && t.Before(n.Seq) == pos {
			now = n.At
		}
	}
	return now
}

// Before returns the position just before the event with this Seq: the place of a note that
// was made then.
func (t *Timeline) Before(seq int) int {
	i, _ := slices.BinarySearchFunc(t.Events, seq, func(e trace.Event, seq int) int { return e.Seq - seq })
	return i
}

// After returns the position to which the event with this Seq leads.
func (t *Timeline) After(seq int) int { return min(t.Before(seq)+1, t.Last()) }

// Shown is the instant of the events after a position, up to another, for a place in which all of them are drawn: of the last change of a
// record, as a reply that follows it unseen is later, or else of the last event.
func (t *Timeline) Shown(from, to int) time.Duration {
	for pos := to; pos > max(from, 0); pos-- {
		if e := t.Event(pos); len(e.Changes) > 0 {
			return e.At
		}
	}
	return t.When(to)
}

// Chapter counts, from 1, the chapters that have begun at a position.
func (t *Timeline) Chapter(pos int) int {
	i, found := slices.BinarySearch(t.Chapters, pos)
	if found {
		i++
	}
	return i
}

// Said returns the notes of the chapter that has begun last at a position.
func (t *Timeline) Said(pos int) []trace.Note {
	n := t.Chapter(pos)
	if n == 0 {
		return nil
	}
	var said []trace.Note
	for _, note := range t.Notes {
		if t.Before(note.Seq) == t.Chapters[n-1] {
			said = append(said, note)
		}
	}
	return said
}

// Marked says, to be told before a note's words, how far the run has come in them on a screen that shows an instant. A
// script tells a step before it happens: so the words of a chapter are marked as next, and then as in progress,
// until the next chapter begins or the story is over, whatever their tense. Afterwards, and where nothing happens before the
// next words, they have the note's instant, if the screen shows another one and the beliefs or records are others.
func (t *Timeline) Marked(n *trace.Note, pos int, shown time.Duration) string {
	at, when := t.Before(n.Seq), trace.Brief(n.At)
	switch {
	case n.Kind == trace.NoteSay && !t.Over(pos) && t.leads(n):
		switch {
		case at == pos && n.At == shown:
			return "Next: "
		case at == pos && n.At > shown:
			return "Next, at " + when + ": "
		}
		begins := t.When(at + 1) // a step may wait before anything happens in it, and others may have been at it before
		if at == 0 || begins == shown || n.At == shown || begins-n.At > Burst {
			return "In progress: "
		}
		return "From " + trace.Brief(begins) + " on: "
	case n.At != shown && (at == pos || !t.SameHolders(at, pos)):
		return "(at " + when + ") " // in brackets: it is none of the author's words
	}
	return ""
}

// Burst is the span within which events are taken for one step: a step that begins later after its words isn't dated by them, and a later
// consequence is part of another step.
const Burst = 100 * time.Millisecond

// Past reports whether a note's words are told no more at a position: they led to the events since, and the story is over, with other
// beliefs or records than theirs or with the run.
func (t *Timeline) Past(n *trace.Note, pos int) bool {
	at := t.Before(n.Seq)
	return at < pos && t.Over(pos) && !t.Over(at) && (t.Ended(pos) || !t.SameHolders(at, pos))
}

// leads reports whether anything happens between a note and the words after it.
func (t *Timeline) leads(n *trace.Note) bool {
	rest := t.Notes[slices.Index(t.Notes, *n)+1:]
	i := slices.IndexFunc(rest, func(o trace.Note) bool { return o.Kind == trace.NoteSay })
	return i < 0 || t.Before(rest[i].Seq) > t.Before(n.Seq)
}

// Heads are the marks of events, as at the ruler, their instants and their numbers, in columns, for lists of the events that prove a violation.
func (t *Timeline) Heads(seqs []int) (heads []string) {
	instant, number := 0, 0
	for _, seq := range seqs {
		e := t.Event(t.After(seq))
		instant, number = max(instant, len(trace.Brief(e.At))), max(number, len(fmt.Sprint(e.Seq)))
	}
	for i, seq := range seqs {
		e := t.Event(t.After(seq))
		mark := fmt.Sprintf("[%d]", i+1)
		heads = append(heads, fmt.Sprintf("%-*s %-*s  #%-*d  ", len(fmt.Sprintf("[%d]", len(seqs))), mark, instant, trace.Brief(e.At), number, e.Seq))
	}
	return heads
}

// PlaceIn is where another version of the run stands at the same place as this one at a position: as far behind the
// beginning of the chapter with the same words, or else of that with the same number. The beginning and the end stay.
func (t *Timeline) PlaceIn(other *Timeline, pos int) int {
	n := t.Chapter(pos)
	switch {
	case pos == t.Last():
		return other.Last()
	case pos == 0 || n == 0 || len(other.Chapters) == 0:
		return min(pos, other.Last())
	}
	begin := other.Chapters[min(n, len(other.Chapters))-1]
	for _, at := range other.Chapters {
		if slices.EqualFunc(t.Said(pos), other.Said(at), func(a, b trace.Note) bool { return a.Kind == b.Kind && a.Text == b.Text }) {
			begin = at
			break
		}
	}
	return max(begin, min(begin+pos-t.Chapters[n-1], other.NextChapter(begin)-1))
}

// Moved says that a position of another version of the run is of another instant than one of this run, or nothing.
func (t *Timeline) Moved(pos int, other *Timeline, at int) string {
	if t.Now(pos) == other.Now(at) {
		return ""
	}
	return fmt.Sprintf(" It stood at %s, and now at %s.", trace.Brief(t.Now(pos)), trace.Brief(other.Now(at)))
}

// NextChapter returns the position of the next chapter, or the last position.
func (t *Timeline) NextChapter(pos int) int {
	if n := t.Chapter(pos); n < len(t.Chapters) {
		return t.Chapters[n]
	}
	return t.Last()
}

// PreviousChapter returns the position of the last chapter that began before pos, or 0.
func (t *Timeline) PreviousChapter(pos int) int {
	i, _ := slices.BinarySearch(t.Chapters, pos)
	if i == 0 {
		return 0
	}
	return t.Chapters[i-1]
}

// Told returns the position at which the story is over: its last note is shown, its last
// violation complete. Without violations that is the end of the run.
func (t *Timeline) Told() int {
	end := t.Watched()
	if n := len(t.Chapters); n > 0 {
		end = max(end, t.Chapters[n-1])
	}
	return end
}

// Watched returns the position from which on the run counts as watched: its last violation is complete, or without any its end.
func (t *Timeline) Watched() int {
	if n := len(t.Breaches); n > 0 {
		return t.Breaches[n-1].Pos
	}
	return t.Last()
}

// Breached returns the violations that are complete at a position, and as fresh those that
// the last event before it completed.
func (t *Timeline) Breached(pos int) (all, fresh []Breach) {
	for i, b := range t.Breaches {
		if b.Pos > pos {
			return t.Breaches[:i], fresh
		}
		if b.Pos == pos {
			fresh = append(fresh, b)
		}
	}
	return t.Breaches, fresh
}

// Refusal says that the resource has just refused an access, or that a client has just been told that its release or
// its extension has failed, and why; it is empty at every other position. A fence that holds is no violation, nor is a
// lock that spares another client's record, and yet a run is there to show them.
func (t *Timeline) Refusal(pos int) string {
	e := t.Event(pos)
	if e == nil || !refuses(e.Kind) {
		return ""
	}
	client := t.Clients[e.Client]
	switch e.Kind {
	case trace.KindReleaseFailed:
		return fmt.Sprintf("%s's release fails: %s.", client, e.Note)
	case trace.KindExtendFailed:
		return fmt.Sprintf("%s's extension fails: %s.", client, e.Note)
	}
	text := fmt.Sprintf("The resource refuses %s, whose access changes nothing: %s.", client, e.Note)
	if newer := t.newer(pos); newer != trace.None {
		text += fmt.Sprintf(" A fence (fencing token) is the number that comes with the lock: %s has got %d, and %s %d.", client, e.Fence, t.Clients[t.Event(newer).Client], t.Event(newer).Fence)
	}
	if t.overlapped(pos) {
		text += fmt.Sprintf(" Two clients have overlapped (OV), but %s's stale access does no harm.", client)
	}
	return text
}

// newer is the position of the last access that the resource took with a newer fence than the one that it refuses at a position, or None.
func (t *Timeline) newer(pos int) int {
	for at := pos - 1; at > 0; at-- {
		if e := t.Event(at); (e.Kind == trace.KindRead || e.Kind == trace.KindWrite) && e.Fence > t.Event(pos).Fence {
			return at
		}
	}
	return trace.None
}

// overlapped reports whether two clients have been in the critical section at once up to a position.
func (t *Timeline) overlapped(pos int) bool {
	return slices.ContainsFunc(t.Breaches, func(b Breach) bool { return b.Code == trace.OV && b.Pos <= pos })
}

// Withstood says what the resource refused in a run that breaks something and yet does no harm to the data: a fence doesn't keep two
// clients apart, but their writes. It is empty of a run in which nothing is refused, or something is lost all the same.
func (t *Timeline) Withstood() string {
	first, others := trace.None, 0
	for i := range t.Events {
		switch {
		case t.Events[i].Kind != trace.KindReject:
		case first == trace.None:
			first = i
		default:
			others++
		}
	}
	if first == trace.None || slices.ContainsFunc(t.Breaches, func(b Breach) bool { return b.Code.Harm() == trace.Damages }) {
		return ""
	}
	e, access := &t.Events[first], "access"
	for _, before := range t.Events[:first] {
		switch {
		case before.Client != e.Client:
		case before.Kind == trace.KindEnter:
			access = "access"
		case before.Kind == trace.KindRead:
			access = "write" // a holder reads once, and then writes
		}
	}
	text := fmt.Sprintf("The resource refused %s's %s at %s: %s", t.Clients[e.Client], access, trace.Brief(e.At), e.Note)
	switch {
	case others == 1:
		text += "; and another access"
	case others > 1:
		text += fmt.Sprintf("; and %d others", others)
	}
	if t.overlapped(t.Last()) {
		text = "Two clients overlapped, but t" + text[1:]
	}
	return text + ". No update that it took was lost."
}

// NextRefusal returns the first position after pos, and before another one, with a Refusal, or else that other one.
func (t *Timeline) NextRefusal(pos, before int) int {
	for i := pos + 1; i < before; i++ {
		if refuses(t.Event(i).Kind) {
			return i
		}
	}
	return before
}

// refuses are the kinds of events in which a client is told that it may not, or no longer.
func refuses(k trace.Kind) bool {
	return k == trace.KindReject || k == trace.KindReleaseFailed || k == trace.KindExtendFailed
}

// TurnedAway reports whether a client has just been refused the lock for the first time. It may try often, and so may the
// probe, who comes to see whether anybody can have the lock.
func (t *Timeline) TurnedAway(pos int) bool {
	e := t.Event(pos)
	if e == nil || e.Kind != trace.KindRefused || t.Probing(e) {
		return false
	}
	for at := range pos {
		if o := t.Event(at); o != nil && o.Kind == e.Kind && o.Client == e.Client {
			return false
		}
	}
	return true
}

// Through is the position at which the client of an event is through with it: the event's own or, if the client finishes with the next event, and in
// the same instant, that one's.
func (t *Timeline) Through(pos int) int {
	if pos > 0 && pos < t.Last() {
		if e, next := t.Event(pos), t.Event(pos+1); next.Kind == trace.KindDone && next.Client == e.Client && next.At == e.At {
			return pos + 1
		}
	}
	return pos
}

// Finished is the position of the event with which its client is through at a position: that one, or the one before.
func (t *Timeline) Finished(pos int) int {
	if t.Through(pos-1) == pos {
		return pos - 1
	}
	return pos
}

// Proves reports whether the event is among those that prove a violation.
func (t *Timeline) Proves(e *trace.Event) bool { return t.evidence[e.Seq] }

// Completes reports whether the event is the last that a violation needed.
func (t *Timeline) Completes(e *trace.Event) bool {
	return slices.ContainsFunc(t.Breaches, func(b Breach) bool { return b.Last() == e.Seq })
}

// Ended reports whether a run is over at a position: the probe has come and gone. A schedule that
// is cut short, a game and a server that is being watched have no such position.
func (t *Timeline) Ended(pos int) bool {
	e := t.Event(pos)
	return e != nil && pos == t.Last() && e.Kind == trace.KindDone && t.Probing(e)
}

// Over reports whether the story is over at a position: all that clients do after it is the probe's.
func (t *Timeline) Over(pos int) bool { return pos >= t.StoryEnd() }

// StoryEnd is the first position at which the story is over.
func (t *Timeline) StoryEnd() int {
	for pos := t.Last(); pos > 0; pos-- {
		if e := t.Event(pos); e.Client != trace.None && !t.Probing(e) && e.Kind != trace.KindStop && e.Kind != trace.KindDone {
			return pos
		}
	}
	return 0
}

// Probing reports whether the event belongs to the probe, which comes after the
// story and only asks whether the lock can still be had.
func (t *Timeline) Probing(e *trace.Event) bool {
	return e.Client != trace.None && t.Clients[e.Client] == trace.Probe
}

// Begun reports whether a client has had a part in an event before a position.
func (t *Timeline) Begun(client, pos int) bool {
	return t.Begins[client] != trace.None && pos > t.Begins[client]
}

// LatestBreach is the index of the first of the breaches that are complete last at a position or before it, or -1.
func (t *Timeline) LatestBreach(pos int) int {
	latest := -1
	for i, b := range t.Breaches {
		if b.Pos <= pos && (latest < 0 || b.Pos > t.Breaches[latest].Pos) {
			latest = i
		}
	}
	return latest
}
