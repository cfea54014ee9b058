package tui

import (
	"fmt"

	"lockstep/sim"
	"lockstep/sim/timeline"
)

// narration is what stands below the timeline: the evidence of the violation at
// hand first, then what the lesson and the scenario say here.
func (p *player) narration(width int) []line {
	t := teller{width: min(width, longestLine)}
	p.tellEvidence(&t)
	p.tellLesson(&t)
	if p.pupil != nil && p.pos >= p.reel.Told() {
		t.gap()
		p.tellNext(&t)
	}
	if p.pupil == nil && p.pos > 0 && p.pos == p.reel.Last() {
		t.gap()
		p.tellEnd(&t)
	}
	for _, n := range p.reel.Said(p.pos) {
		t.gap()
		p.tellNote(&t, n)
	}
	if len(t.lines) == 0 {
		k := &p.keys
		t.add(inkDim, "", fmt.Sprintf("%s lets the next event happen, %s everything up to the %s, and %s everything up to the next violation.",
			k.Forward.Help().Key, k.Next.Help().Key, either(len(p.reel.Chapters) > 0, "next chapter", "end"), k.Violation.Help().Key))
	}
	return t.lines
}

func (p *player) tellNote(t *teller, n sim.Note) {
	switch text := n.Prose(); n.Kind {
	case sim.NoteAsk:
		if n.Answer != "" && p.reel.Before(n.Seq) != p.pos { // what is asked for has changed since, perhaps
			text = "At " + instantOf(p.reel, &n) + ": " + text
		}
		t.add(inkStrong, "? ", text)
		if n.Answer == "" {
			return
		}
		for _, s := range p.answer(n) {
			t.add(s.ink, "  ", s.text)
		}
	case sim.NoteMissed:
		t.add(inkDim, "~ ", text)
	default:
		t.add(inkPlain, "", text)
	}
}

// tellEvidence says what broke, and numbers the events that prove it, as they are
// numbered on the ruler and in the trace. It stands where the violation is
// complete, and at each of the events.
func (p *player) tellEvidence(t *teller) {
	r := p.reel
	here := p.lit()
	for i, b := range r.Breaches {
		if b.Pos == p.pos || i == p.picked && p.pos > 0 && p.evidence(r.Event(p.pos).Seq) > 0 {
			t.add(inkBreach, "!! ", fmt.Sprintf("%s: %s", b.Code, b.Text))
			if i != p.picked {
				continue
			}
			for n, seq := range here {
				e := r.Event(r.After(seq))
				t.add(inkPlain, fmt.Sprintf("   %d ", n+1), fmt.Sprintf("%s  #%d  %s %s", sim.Brief(e.At), e.Seq, r.Actor(e), r.Text(e)))
			}
		}
	}
}

// tellLesson opens a lesson.
func (p *player) tellLesson(t *teller) {
	if p.pupil == nil || p.pos > 0 {
		return
	}
	l, rung := p.pupil.at()
	text := l.Text
	if p.pupil.rung > 0 {
		text = "Now with " + rung.Strategy + "."
		if before := l.Rungs[p.pupil.rung-1]; before.Strategy == rung.Strategy {
			text = "The same lock once more, but now: " + p.lib.scenarios[p.scenario].Title + "."
		}
	}
	t.gap()
	t.add(inkStrong, "", text)
}

// tellEnd says what the run came to, and why: in the scenario's words if it has any
// for this verdict, and else in the monitors'.
func (p *player) tellEnd(t *teller) {
	verdict := p.reel.Verdict()
	f := finding{known: true, verdict: verdict}
	t.lines = append(t.lines, line{{" ", inkPlain}, f.sign(&p.theme.glyphs), {" " + f.words(), inkStrong}})
	sc, lock := p.lib.scenarios[p.scenario], p.reel.Strategy
	if want, known := sc.Expect(lock); p.title == "" && known && want.String() == verdict.String() && sc.Because(lock) != "" {
		t.add(inkPlain, "", sc.Because(lock))
		return
	}
	for _, b := range p.reel.Breaches {
		t.add(inkPlain, "", fmt.Sprintf("%s: %s", b.Code, b.Text))
	}
}

// tellNext says what the rung came to, and how the course goes on.
func (p *player) tellNext(t *teller) {
	_, rung := p.pupil.at()
	t.add(inkStrong, "", rung.Text)
	next := p.pupil.next()
	if next == nil {
		t.add(inkStrong, "", "That was the course.")
		return
	}
	l, rung := next.at()
	text := "goes on with " + rung.Strategy
	switch {
	case next.lesson != p.pupil.lesson:
		text = "goes on with the next lesson, " + l.Title
	case p.lib.named(rung.Scenario) != p.scenario:
		text += " under " + rung.Scenario
	}
	t.add(inkDim, p.keys.Rung.Help().Key+" ", text+".")
}

// asks reports whether a question stands at exactly this position.
func asks(r *timeline.Timeline, pos int) bool {
	return asked(r, pos) != nil
}
