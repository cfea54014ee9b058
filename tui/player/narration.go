package player

import (
	"cmp"
	"fmt"
	"slices"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/events"
	"lockstep/tui/facts"
	"lockstep/tui/pane"
	"lockstep/tui/quiz"
	"lockstep/tui/screen"
	"lockstep/tui/told"
)

// Narration stands below the timeline: the cause of the violation at hand and its evidence
// first, then the words of the lesson and of the scenario. Where all of it doesn't fit into
// the rows, the gaps between its parts go, then the ends of long evidence, then evidence, and then
// the key that goes on, which the footer has, too; the words are never cut.
func (p *Player) Narration(width, rows int) []draw.Line {
	s := p.fitting(width, rows)
	lines, hint := s.Squeezed(rows)
	if len(lines) > rows {
		lines = slices.Delete(lines, hint.From, hint.To)
	}
	return lines
}

// fitting is the narration as far as it fits into rows: with each choice of a question in a line of its own, and the evidence
// whole, and a question that is judged told again; or without that; or with the choices in columns, or in one paragraph; or with each event of the evidence in one line, too.
func (p *Player) fitting(width, rows int) told.Story {
	var list told.Story
	if s := p.story(width, true, quiz.Recalling); !p.Scrolls && s.Least() <= rows {
		return s
	}
	asks, carried := p.quiz.At(p.Pos) != nil, p.quiz.Carried(p.Pos) // the choices of one that is carried on have the rows that are left
	if asks {
		list = p.story(width, true, quiz.List)
		if list.Least() <= rows || p.Scrolls && rows == 0 && !carried { // the presenter asks for the rows that it would take
			return list
		}
		if s := p.story(width, true, quiz.Columns); s.Least() <= rows && !p.Scrolls {
			return s
		}
	}
	s := p.story(width, true, quiz.Paragraph)
	if asks && p.Scrolls && !carried && s.Least() > rows {
		return list
	}
	if s.Least() > rows {
		s = p.story(width, false, quiz.Paragraph)
	}
	s.RunTogether = asks
	return s
}

// tellRefusal tells that a client has just been told that it may not, or no longer; that it doesn't get the lock speaks neither for that nor against it.
func (p *Player) tellRefusal(t *draw.Paragraphs) {
	at := p.Run.Finished(p.Pos)
	if text := p.Run.Refusal(at); text != "" {
		t.Add(draw.Good, draw.Either(p.Run.Event(at).Kind == trace.KindReject, p.Theme.Reject, p.Theme.Fails)+" ", text)
	} else if p.Run.TurnedAway(at) {
		t.Add(draw.Plain, p.Theme.Refused+" ", p.Run.Clients[p.Run.Event(at).Client]+" is refused the lock: its Acquire has returned without it.")
	}
}

// story is the narration with the evidence whole, or each event of it in one line; and with the choices of a question in a form.
func (p *Player) story(width int, whole bool, form quiz.Form) told.Story {
	t := draw.Paragraphs{Width: min(width, max(p.Measure, draw.Measure(width)))}
	if p.quiz.Turned(p.Pos) {
		p.quiz.Ask(&t, p.Pos, p.teller(form, whole))
		return told.Story{Lines: t.Lines, Scrolls: p.Scrolls, Width: width - 1, More: p.more}
	}
	p.quiz.Recap(&t, p.Pos, p.Recaps)
	early := p.quiz.Early(p.Pos)
	if early {
		p.quiz.Judge(&t, p.Pos, p.teller(form, whole))
		if p.quiz.MoreAnswers(p.Pos) {
			return told.Story{Lines: t.Lines, Scrolls: p.Scrolls, Width: width - 1, More: p.more}
		}
		t.Gap()
	}
	p.tellCause(&t)
	s := told.Story{Evidence: told.Part{From: len(t.Lines)}, Scrolls: p.Scrolls, Width: width - 1, More: p.more}
	s.Current = p.tellEvidence(&t, width-1, whole)
	s.Evidence.To = len(t.Lines)
	p.tellStop(&t)
	words, led := p.words(whole)
	if !led {
		p.tellRefusal(&t)
	}
	if !early {
		p.quiz.Judge(&t, p.Pos, p.teller(form, whole))
	}
	p.tellLesson(&t)
	if p.lesson == nil && p.Pos > 0 && p.Pos == p.Run.Last() {
		t.Gap()
		p.tellEnd(&t)
		s.Hint = p.tellCourse(&t)
	}
	if whole {
		p.tellAside(&t)
	}
	p.tellWords(&t, words, led)
	if p.lesson != nil && p.Pos >= p.Run.Told() { // last, as it answers a question that the words above may ask
		t.Gap()
		s.Hint = p.tellNext(&t)
	}
	p.quiz.Ask(&t, p.Pos, p.teller(form, whole))
	if len(t.Lines) == 0 && !p.Teaching {
		k := &p.Keys
		far := draw.Either(len(p.Run.Chapters) == 0, k.Last.Help().Key+" everything up to the end", k.Next.Help().Key+" everything up to the next chapter")
		t.Add(draw.Dim, "", fmt.Sprintf("%s lets the next event happen, %s, and %s everything up to the next violation.", k.Forward.Help().Key, far, k.Violation.Help().Key))
	}
	s.Lines = t.Lines
	return s
}

// words are the notes that are told at the cursor, and led reports whether one of them has led to the last event.
func (p *Player) words(whole bool) (notes []trace.Note, led bool) {
	for _, n := range p.quiz.Told(p.Pos, p.forClass()) {
		before := p.Run.Before(n.Seq)
		if p.Run.Past(&n, p.Pos) || p.Fresh && before <= p.Before() {
			continue // all of them have gone on since, or the stop before has told it
		} else if !whole && !p.Scrolls && before < p.Pos && len(p.shown()) > 0 {
			continue // they have been read: the clients' beliefs are to keep their rows where a property breaks
		}
		notes, led = append(notes, n), led || before < p.Pos
	}
	return notes, led
}

// tellWords tells notes, and the refusal of a client in the last event between those that have led to it and those on the events to come.
func (p *Player) tellWords(t *draw.Paragraphs, notes []trace.Note, refused bool) {
	marked := ""
	for _, n := range notes {
		if refused && p.Run.Before(n.Seq) == p.Pos {
			p.tellRefusal(t)
			refused = false
		}
		t.Gap()
		was := marked
		marked = p.Run.Marked(&n, p.Pos, p.Run.Now(p.Pos))
		p.tellNote(t, n, draw.Either(marked != was, marked, ""))
	}
	if refused {
		p.tellRefusal(t)
	}
}

// tellAside explains a number that the reader may stumble over, where nothing of more weight is told: a class has an author's story to follow.
func (p *Player) tellAside(t *draw.Paragraphs) {
	text := cmp.Or(facts.Millisecond(p.Run, p.Pos), facts.Drift(p.Run, p.Pos))
	if text != "" && len(p.shown()) == 0 && !p.Teaching && p.quiz.At(p.Pos) == nil {
		t.Gap()
		t.Add(draw.Dim, "", text)
	}
}

func (p *Player) tellNote(t *draw.Paragraphs, n trace.Note, mark string) {
	text, own := mark+n.Prose(), p.scripted() && p.Library.Scenarios[p.scenario].Path() != ""
	switch n.Kind {
	case trace.NoteAsk:
		t.Add(draw.Strong, "? ", text)
	case trace.NoteMissed:
		t.Add(draw.Dim, draw.Either(own, "~ ", ""), text) // the mark is for the author of a script
	default:
		t.Add(draw.Plain, "", text)
	}
}

// shown are the violations that are told at the cursor: those that are complete there, and
// the one whose evidence the reader goes round. A reader who merely goes back is told of none that is complete only later.
func (p *Player) shown() (all []timeline.Breach) {
	for i, b := range p.Run.Breaches {
		if b.Pos == p.Pos || i == p.picked && p.proving {
			all = append(all, b)
		}
	}
	return all
}

// tellCause says in a sentence how each violation came about.
func (p *Player) tellCause(t *draw.Paragraphs) {
	for _, b := range p.shown() {
		k := draw.Breach
		if !b.Code.Failure() {
			k = draw.Strong
		}
		head, what := b.Code.String()+": ", ""
		if b.Pos > p.Pos {
			head, what = "", "evidence for "+b.Code.String()+", which comes at "+trace.Brief(b.At)+": "
		}
		t.Add(k, pane.SignOf(b.Code)+" "+head, what+p.Run.Cause(b))
	}
}

// tellEvidence numbers the events that prove the violation at hand, as they are numbered on
// the ruler and in the trace: whole, or each in one line. They stand where the violation is complete,
// and at each of the events. The result are the lines of the event at the cursor.
func (p *Player) tellEvidence(t *draw.Paragraphs, width int, whole bool) told.Part {
	lines, from, to := events.Evidence(p.Run, p.lit(), p.Pos, width, whole, p.Theme)
	begin := len(t.Lines)
	t.Lines = append(t.Lines, lines...)
	return told.Part{From: begin + from, To: begin + to}
}

// Before is the stop before the cursor of the key that goes on.
func (p *Player) Before() int { return p.quiz.PreviousTold(p.Pos, p.forClass()) }

// more says that so many events of the evidence, or all, have no row here. That at the cursor has one above.
func (p *Player) more(n int, all bool) string {
	e := p.Run.Event(p.Pos)
	all = all && (e == nil || p.evidence(e.Seq) == 0)
	return fmt.Sprintf("(%s: %s)", p.Keys.Evidence.Help().Key, draw.Either(all, draw.Plural(n, "event")+" of evidence", draw.Plural(n, "more event")))
}

// Remedy is a lock that withstands the violation at hand under the same script, or nil. A class may be shown that lock next, and
// isn't told what it will see.
func (p *Player) Remedy() *screen.Remedy {
	if p.forClass() {
		return nil
	}
	return p.Remedies.For(p.shown())
}

// tellStop names a lock that withstands the violation at hand.
func (p *Player) tellStop(t *draw.Paragraphs) {
	if r := p.Remedy(); r != nil {
		text := r.Text("compare: " + p.Keys.Compare.Help().Key + ", " + p.Keys.Enter.Help().Key)
		aside := draw.Either(p.Rehearsing, "~ ", "")
		if !r.Recommended() { // it fails here, too, or is bad: that is nothing to tick
			t.Add(draw.Plain, aside, text)
			return
		}
		t.Add(draw.Good, aside+p.Theme.Granted+" ", text)
	}
}

// tellLesson opens a lesson.
func (p *Player) tellLesson(t *draw.Paragraphs) {
	if p.lesson == nil || p.Pos > 0 {
		return
	}
	t.Gap()
	t.Add(draw.Strong, "", p.lesson.Opening())
}

func (p *Player) tellEnd(t *draw.Paragraphs) {
	e := told.Ending{Run: p.Run, Scenario: p.Library.Scenarios[p.scenario], Library: p.Library, Theme: p.Theme, Free: p.Title != "", ForClass: p.forClass(), Rehearsing: p.Rehearsing}
	e.Tell(t)
}

// tellCourse says at the end of a run that is a step of the course what that goes on with: that part is returned. Nobody in a room is to
// be led there.
func (p *Player) tellCourse(t *draw.Paragraphs) told.Part {
	place := p.placeInCourse()
	if place == nil || p.Teaching {
		return told.Part{}
	}
	t.Gap()
	from := len(t.Lines)
	t.Add(draw.Dim, "", "In the course this is "+place.String()+": "+p.Keys.NextStep.Help().Key+" "+place.Onward()+".")
	return told.Part{From: from, To: len(t.Lines)}
}

// tellNext gives the outcome of the step, and then the next one: that part is returned.
func (p *Player) tellNext(t *draw.Paragraphs) told.Part {
	_, step := p.lesson.At()
	t.Add(draw.Strong, "", step.Text)
	from := len(t.Lines)
	text := p.lesson.Onward()
	if text == "" {
		t.Add(draw.Strong, "", "That was the course. "+p.Keys.Close.Help().Key+" goes back; the first screen leads on: to the game, and to the lock for your own system.")
		return told.Part{}
	}
	t.Add(draw.Dim, p.Keys.NextStep.Help().Key+" ", text+".")
	return told.Part{From: from, To: len(t.Lines)}
}
