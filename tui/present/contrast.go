package present

import (
	"fmt"
	"slices"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// note keeps what the run shows. Where the script has changed, what other locks have shown under it is forgotten.
func (p *Present) note(again bool) {
	for i := range p.showings {
		if again && p.showings[i].Scenario.Name == p.showings[p.at].Scenario.Name {
			delete(p.seen, i)
		}
	}
	if p.Run != nil {
		p.seen[p.at] = p.Run.Verdict()
	}
}

// contrast says at the end of a run what the first one under the same script has shown and this one hasn't, and
// the other way round.
func (p *Present) contrast(t *draw.Paragraphs) {
	here := &p.showings[p.at]
	first := slices.IndexFunc(p.showings, func(s scenarios.Showing) bool { return s.Scenario.Name == here.Scenario.Name })
	before, known := p.seen[first]
	if !known || first == p.at || len(before) == 0 || p.showings[first].Strategy.Name == here.Strategy.Name {
		return
	}
	now := p.Run.Verdict()
	without := func(a, b trace.Verdict) trace.Verdict {
		return slices.DeleteFunc(slices.Clone(a), func(c trace.Code) bool { return slices.Contains(b, c) })
	}
	text := fmt.Sprintf("Run %d, with %s, has shown %s.", first+1, p.showings[first].Strategy.Name, trace.List(words(before)))
	gone, more := without(before, now), without(now, before)
	switch still := without(before, gone); {
	case len(now) == 0:
		text += " None of that here."
	case len(still) == 0:
		text += " None of that here, but " + trace.List(words(more)) + "."
	case len(gone) > 0:
		text += " Not here: " + trace.List(words(gone)) + ". Here, too: " + trace.List(words(still)) + "."
	default:
		text += " So has this one."
	}
	if still := len(before) - len(gone); still > 0 && len(more) > 0 {
		text += " Only here: " + trace.List(words(more)) + "."
	}
	ink := draw.Plain
	if len(gone) > 0 && len(more) == 0 {
		ink = draw.Good
	}
	t.Gap()
	t.Add(ink, "", text)
}

// words are the names of codes, and the codes.
func words(codes trace.Verdict) (names []string) {
	for _, c := range codes {
		names = append(names, fmt.Sprintf("%s (%s)", c.Name(), c))
	}
	return names
}
