package present

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// againMsg is the new run of a lock that was shown under another version of its script.
type againMsg struct {
	scenario *scenarios.Scenario
	lock     string
	run      *trace.Trace
}

// first is the first showing under the script of the one at hand.
func (p *Present) first() int {
	return slices.IndexFunc(p.showings, func(s scenarios.Showing) bool { return s.Scenario.Name == p.showings[p.at].Scenario.Name })
}

// note keeps the run's verdict. Where its script has changed, the first run under it is made again, unseen: its old
// verdict counts as long as the new one is the same.
func (p *Present) note(changed bool) tea.Cmd {
	if p.Run == nil {
		return nil
	}
	p.seen[p.at] = p.Run.Verdict()
	first := p.first()
	if _, shown := p.seen[first]; !changed || !shown || first == p.at {
		return nil
	}
	run, seed, st, sc := p.Library.Run, p.Seed, p.showings[first].Strategy, p.Library.Scenarios[scenarioOf(p.Library, &p.showings[first])]
	return func() tea.Msg {
		t, err := run(sc, st, seed)
		if err != nil {
			return nil
		}
		return againMsg{sc, st.Name, t}
	}
}

// learn takes in the outcome of a run, if its script is still that.
func (p *Present) learn(m againMsg) {
	if sc := p.Library.Scenario(m.scenario); sc >= 0 {
		p.Grid.Learn(sc, p.Library.Strategy(m.lock), m.run)
	}
}

// contrast says at the end of a run what the first one under the same script has shown and this one hasn't, and
// the other way round: as long as that one would show the same.
func (p *Present) contrast(t *draw.Paragraphs) {
	here, first := &p.showings[p.at], p.first()
	before, known := p.seen[first]
	if !known || first == p.at || len(before) == 0 || p.showings[first].Strategy.Name == here.Strategy.Name {
		return
	}
	if would := p.Grid.At(scenarioOf(p.Library, &p.showings[first]), p.Library.Strategy(p.showings[first].Strategy.Name)); !would.Known || !slices.Equal(would.Verdict, before) {
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
		text = strings.TrimSpace(text + " None of that here. " + here.Scenario.Elsewhere(here.Strategy.Name))
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
