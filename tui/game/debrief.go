package game

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/levels"
	"lockstep/tui/tried"
)

// debriefMsg is the same moves, replayed under a lock that no schedule of the level breaks as they broke the first.
type debriefMsg struct {
	of     *quest
	lock   string // may show other codes
	run    *trace.Trace
	same   bool // its clients did the same at the same times; else the moves were adapted to its commands
	proven bool // no schedule within the bounds breaks that lock so
	err    error
}

// review replays the moves under another lock, and has a search say whether any schedule
// breaks that one.
func (s *Game) review() tea.Cmd {
	c := s.quest
	candidates := levels.Rivals(s.cfg.Strategy)
	if c.withstands != "" {
		candidates = []string{c.withstands}
	}
	run, parts := s.Run.Trace, []scenarios.Stretch{}
	for _, b := range s.here.Line() {
		schedule := sim.Schedule{Config: s.cfg, Moves: b.Moves()}
		t, err := scenarios.Replay(schedule)
		if err != nil {
			return nil
		}
		now, err := scenarios.Clock(schedule)
		if err != nil {
			return nil
		}
		parts = append(parts, scenarios.Stretch{Moves: b.Made, Events: len(t.Events), Now: now})
	}
	find, bounds, goal := s.NewGuide, *c.bounds, c.goal
	return func() tea.Msg {
		m := debriefMsg{of: c}
		for _, name := range candidates {
			other, known := strategies.Get(name)
			if !known {
				continue
			}
			b := bounds
			b.Strategy, b.Resource = other, resourceOf(other)
			g, err := find(b, goal)
			if err != nil {
				m.err = err
				continue
			}
			h, err := g.From(context.Background(), nil)
			_ = g.Close() // nothing is written
			if err != nil || h.Reachable && c.withstands == "" {
				continue
			}
			m.lock, m.proven = name, !h.Reachable
			cfg, err := b.Config()
			if err != nil {
				m.err = err
				continue
			}
			cfg.Scenario = "same-moves"
			if m.run, m.same, m.err = scenarios.SameMoves(cfg, run, parts, goal == trace.PD); m.err == nil {
				m.run.Title = draw.Either(m.same, "The same moves", "Your moves, adapted")
			}
			return m
		}
		return m
	}
}

func resourceOf(s strategies.Strategy) sim.Resource {
	if s.Fences {
		return sim.Fenced
	}
	return sim.Plain
}

// broken is the line of code by which a game was won, that whose command completed the violation, with
// the client whose command it was, and the line's text.
func (s *Game) broken() (at trace.Source, by int, text string) {
	if !s.won() {
		return at, trace.None, ""
	}
	i := slices.IndexFunc(s.Run.Violations, func(v trace.Violation) bool { return v.Code == s.goal })
	if i < 0 {
		return at, trace.None, ""
	}
	t, v := s.Run.Trace, &s.Run.Violations[i]
	for i := len(v.Events) - 1; i >= 0; i-- {
		e := &t.Events[v.Events[i]-1]
		file := path.Base(e.Source.File)
		code, known := strategies.Text(file)
		if e.Source.File == "" || !known {
			continue
		}
		lines := strings.Split(code, "\n")
		if e.Source.Line < 1 || e.Source.Line > len(lines) {
			continue
		}
		return trace.Source{File: file, Line: e.Source.Line}, e.Client, strings.TrimSpace(lines[e.Source.Line-1])
	}
	return at, trace.None, ""
}

// debriefing says what broke, on which line, and which lock withstands; then, after a gap, what the level teaches, what the win took, what
// else the codes above the screen are, and what came of the same moves with the other lock: what the words of that mean comes last.
func (s *Game) debriefing(width int) []draw.Line {
	t := draw.Paragraphs{Width: width}
	for i := range s.Run.Violations {
		v := &s.Run.Violations[i]
		if v.Code != s.goal {
			continue
		}
		t.Add(draw.Breach, "!! ", v.Code.Name()+": "+v.Text+".")
		if at, by, text := s.broken(); text != "" {
			t.Add(draw.Plain, "   ", fmt.Sprintf("%s! in the code: %s:%d  %s", draw.ShortNames(s.Run.Clients)[by], at.File, at.Line, text))
		}
		break
	}
	s.tellWhichWithstands(&t)
	t.Gap()
	if s.moral != "" {
		t.Add(draw.Strong, "", s.moral)
	}
	t.Add(draw.Plain, "", s.score())
	own := s.Run.Verdict()
	s.tellCodes(&t, own)
	s.tellProbe(&t)
	s.tellOther(&t)
	if s.debrief != nil && s.debrief.run != nil {
		s.tellCodes(&t, slices.DeleteFunc(s.debrief.run.Verdict(), func(c trace.Code) bool { return slices.Contains(own, c) }))
	}
	return t.Lines
}

// tellWhichWithstands names the lock that no schedule of the level breaks so.
func (s *Game) tellWhichWithstands(t *draw.Paragraphs) {
	switch d := s.debrief; {
	case d == nil:
		t.Add(draw.Dim, "", "Replaying the same moves under another lock.")
	case d.proven:
		t.Add(draw.Good, s.Theme.Granted+" ", fmt.Sprintf("%s withstands: no schedule of this level shows %s with it; all were searched.%s", d.lock, s.goal, otherFlaws(d.lock)))
	}
}

// tellOther says what came of the same moves with the other lock.
func (s *Game) tellOther(t *draw.Paragraphs) {
	switch d := s.debrief; {
	case d == nil:
	case d.run != nil:
		text := tried.Elsewhere(d.lock, d.run, d.same, s.goal)
		if slices.Contains(d.run.Verdict(), s.goal) {
			t.Add(draw.Breach, s.Theme.Bad+" ", text)
			break
		}
		t.Add(draw.Plain, "", text)
	case d.err == nil:
		t.Add(draw.Dim, "", fmt.Sprintf("No lock that was tried is free of %s within the same bounds.", s.goal))
	case d.err != nil:
		t.Add(draw.Dim, "", "The same moves can't be replayed under another lock: "+d.err.Error())
	}
}

// otherFlaws names the levels that are about a lock: that it is free of one code recommends nothing.
func otherFlaws(lock string) string {
	about := levels.About(lock, nil)
	if about == nil {
		return ""
	}
	return fmt.Sprintf(" What breaks %s: %s.", lock, levels.Numbered(about))
}

// tellCodes explains codes, but for the goal, which is explained already.
func (s *Game) tellCodes(t *draw.Paragraphs, codes trace.Verdict) {
	for _, code := range codes {
		if code != s.goal {
			t.Add(draw.Dim, "", fmt.Sprintf("%s, %s: %s.", code, code.Name(), draw.Either(meant[code] != "", meant[code], code.Meaning())))
		}
	}
}

// tellProbe says who the client is that comes last, if one does.
func (s *Game) tellProbe(t *draw.Paragraphs) {
	if i := slices.Index(s.Run.Clients, trace.Probe); i >= 0 && s.Run.Begun(i, s.Run.Last()) {
		t.Add(draw.Dim, "", "The "+trace.Probe+" is "+trace.ProbeAsks+".")
	}
}
