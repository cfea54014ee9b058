package player

import (
	"fmt"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// narration stands below the timeline: the evidence of the violation at hand first,
// then the words of the lesson and of the scenario.
func (p *Player) narration(width int) []draw.Line {
	t := draw.Paragraphs{Width: min(width, draw.LongestLine)}
	p.tellEvidence(&t)
	p.tellLesson(&t)
	if p.lesson != nil && p.Pos >= p.Run.Told() {
		t.Gap()
		p.tellNext(&t)
	}
	if p.lesson == nil && p.Pos > 0 && p.Pos == p.Run.Last() {
		t.Gap()
		p.tellEnd(&t)
	}
	for _, n := range p.Run.Said(p.Pos) {
		t.Gap()
		p.tellNote(&t, n)
	}
	if len(t.Lines) == 0 {
		k := &p.Keys
		t.Add(draw.Dim, "", fmt.Sprintf("%s lets the next event happen, %s everything up to the %s, and %s everything up to the next violation.",
			k.Forward.Help().Key, k.Next.Help().Key, draw.Either(len(p.Run.Chapters) > 0, "next chapter", "end"), k.Violation.Help().Key))
	}
	return t.Lines
}

func (p *Player) tellNote(t *draw.Paragraphs, n trace.Note) {
	switch text := n.Prose(); n.Kind {
	case trace.NoteAsk:
		if n.Answer != "" && p.Run.Before(n.Seq) != p.Pos { // the answer may have changed since
			text = "At " + instantOf(p.Run, &n) + ": " + text
		}
		t.Add(draw.Strong, "? ", text)
		if n.Answer == "" {
			return
		}
		for _, s := range p.answer(n) {
			t.Add(s.Ink, "  ", s.Text)
		}
	case trace.NoteMissed:
		t.Add(draw.Dim, "~ ", text)
	default:
		t.Add(draw.Plain, "", text)
	}
}

// tellEvidence says what broke, and numbers the events that prove it, as they are
// numbered on the ruler and in the trace. It stands where the violation is
// complete, and at each of the events.
func (p *Player) tellEvidence(t *draw.Paragraphs) {
	tl := p.Run
	here := p.lit()
	for i, b := range tl.Breaches {
		if b.Pos == p.Pos || i == p.picked && p.Pos > 0 && p.evidence(tl.Event(p.Pos).Seq) > 0 {
			t.Add(draw.Breach, "!! ", fmt.Sprintf("%s: %s", b.Code, b.Text))
			if i != p.picked {
				continue
			}
			for n, seq := range here {
				e := tl.Event(tl.After(seq))
				t.Add(draw.Plain, fmt.Sprintf("   %d ", n+1), fmt.Sprintf("%s  #%d  %s %s", trace.Brief(e.At), e.Seq, tl.Actor(e), tl.Text(e)))
			}
		}
	}
}

// tellLesson opens a lesson.
func (p *Player) tellLesson(t *draw.Paragraphs) {
	if p.lesson == nil || p.Pos > 0 {
		return
	}
	l, step := p.lesson.at()
	text := l.Text
	if p.lesson.step > 0 {
		text = "Now with " + step.Strategy + "."
		if before := l.Steps[p.lesson.step-1]; before.Strategy == step.Strategy {
			text = "The same lock once more, but now: " + p.Library.Scenarios[p.scenario].Title + "."
		}
	}
	t.Gap()
	t.Add(draw.Strong, "", text)
}

// tellEnd gives the verdict of the run, and the reason: in the scenario's words if it has any
// for this verdict, and else in the monitors'.
func (p *Player) tellEnd(t *draw.Paragraphs) {
	verdict := p.Run.Verdict()
	f := screen.Cell{Known: true, Verdict: verdict}
	t.Lines = append(t.Lines, draw.Line{draw.Text(" ", draw.Plain), f.Sign(&p.Theme.Glyphs), draw.Text(" "+f.Text(), draw.Strong)})
	sc, lock := p.Library.Scenarios[p.scenario], p.Run.Strategy
	want, known := sc.Expect(lock)
	if why := screen.Reason(sc, lock); p.Title == "" && known && want.String() == verdict.String() && why != "" {
		t.Add(draw.Plain, "", why)
		return
	}
	for _, b := range p.Run.Breaches {
		t.Add(draw.Plain, "", fmt.Sprintf("%s: %s", b.Code, b.Text))
	}
}

// tellNext gives the outcome of the step, and the next one.
func (p *Player) tellNext(t *draw.Paragraphs) {
	_, step := p.lesson.at()
	t.Add(draw.Strong, "", step.Text)
	next := p.lesson.next()
	if next == nil {
		t.Add(draw.Strong, "", "That was the course.")
		return
	}
	l, step := next.at()
	text := "goes on with " + step.Strategy
	switch {
	case next.lesson != p.lesson.lesson:
		text = "goes on with the next lesson, " + l.Title
	case p.Library.Named(step.Scenario) != p.scenario:
		text += " under " + step.Scenario
	}
	t.Add(draw.Dim, p.Keys.NextStep.Help().Key+" ", text+".")
}

// asks reports whether a question stands at exactly this position.
func asks(tl *timeline.Timeline, pos int) bool {
	return asked(tl, pos) != nil
}
