package game

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/tui/debrief"
	"lockstep/tui/draw"
	"lockstep/tui/levels"
)

// debriefMsg is the same moves under another lock.
type debriefMsg struct {
	of *quest
	debrief.Other
}

// review replays the moves under another lock, and has a search say whether any schedule
// breaks that one.
func (s *Game) review() tea.Cmd {
	c, run := s.quest, s.Run.Trace
	parts, err := debrief.Stretches(s.cfg, s.here)
	if err != nil {
		return nil
	}
	l := debrief.Level{Find: s.NewGuide, Bounds: *c.bounds, Goal: c.goal, Known: c.withstands}
	candidates := levels.Rivals(s.cfg.Strategy)
	return func() tea.Msg { return debriefMsg{c, l.Replay(candidates, run, parts)} }
}

// broken is the line of code by which a game was won, with the client whose command it was, and the line's text.
func (s *Game) broken() (at trace.Source, by int, text string) {
	if !s.won() {
		return at, trace.None, ""
	}
	return debrief.Broken(s.Run.Trace, s.goal)
}

// debriefing is the text on a win: in brief, or with all that it has shown.
func (s *Game) debriefing(width int) []draw.Line {
	w := debrief.Win{Run: s.Run.Trace, Goal: s.goal, Moral: s.moral, Score: s.score(), Other: s.debrief, Next: s.onward(), Theme: s.Theme}
	if s.unfolded {
		if s.replayed() {
			w.Replay = fmt.Sprintf("%s plays them with %s.", s.Keys.Strategy.Help().Key, s.debrief.Lock)
		}
		return w.More(width)
	}
	return w.Brief(width)
}

// score has the moves, the faults and the hints of the win, beside the least.
func (s *Game) score() debrief.Score {
	c := s.quest
	return debrief.Score{Moves: s.here.Depth, Least: c.parMoves, Taken: c.hint.Taken, Par: c.par.Cost, Hints: c.hints, Others: s.root.Size() - s.here.Depth}
}

// onward says which level comes next, and by which key, and that there is more to say of this one.
func (s *Game) onward() string {
	text, more := "All levels are won", ""
	if next := levels.Unwon(s.App, s.level+1); next >= 0 {
		text = fmt.Sprintf("%s goes on to level %d, %s", trace.Capital(s.Keys.Enter.Help().Key), next+1, scenarios.Levels()[next].Title)
	}
	if !s.unfolded {
		more = "; " + s.Keys.Down.Help().Key + " tells more about this win"
	}
	return text + more + "."
}
