package game

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/fault"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/adviser"
	"lockstep/tui/debrief"
	"lockstep/tui/deeds"
	"lockstep/tui/draw"
	"lockstep/tui/levels"
	"lockstep/tui/player"
	"lockstep/tui/progress"
	"lockstep/tui/screen"
	"lockstep/tui/tried"
)

// quest makes a game one to be won: it has a goal, the faults that may happen on the way,
// and an adviser.
//
// Invariant: hint, par, ahead, parMoves and refused are meaningful only while known is true.
type quest struct {
	level      int // in the list, or none: within bounds of the reader's own
	title      string
	task       string
	moral      string
	bounds     *explore.Bounds
	goal       trace.Code
	withstands string           // the lock that the same moves don't break so, or empty
	adviser    *adviser.Adviser // computes the distance to the goal
	number     int              // of the last question: answers to earlier ones are dropped
	cancel     context.CancelFunc
	asked      *tried.Branch // where it was put
	known      bool          // the answer is there
	wanted     bool          // the last key was that for a hint, and the answer wasn't there
	hint       explore.Hint
	par        explore.Hint
	ahead      int                        // moves of the least way on
	parMoves   int                        // moves of the least way from the beginning
	distances  map[*tried.Branch]distance // where it was computed
	refused    error                      // why there is no hint
	debrief    *debrief.Other             // once it is won, and the same moves were replayed
	drained    bool                       // the run that is shown goes on to its end, which the goal needs
	hints      int                        // given since the level was opened
	nudged     *tried.Branch              // where a hint has said what to look at
	recalled   *tried.Branch              // where a hint has said which moves gained nothing
}

// distance is how far the goal is by the least way, if there is one.
type distance struct {
	moves, faults int
	reachable     bool
}

// grain is how many steps of a client are one move.
func (c *quest) grain() (g tried.Grain) {
	if c != nil {
		g = tried.GrainOf(c.bounds, c.goal)
	}
	return g
}

// none is the place of no level, and of no option.
const none = -1

// hintMsg is the answer to a question.
type hintMsg struct {
	of              *quest
	number          int
	hint, par       explore.Hint
	ahead, parMoves int
	err             error
}

// Goals are the codes that a game can be played for.
var Goals = trace.Verdict{trace.OV, trace.DG, trace.SW, trace.FR, trace.PD, trace.FN}

// deadlock is the same of PD in a few words, for a row of the least window.
const deadlock = "all finished or dead, a record left for ever"

// usualGoal is the code that a lock can be broken for: a lock whose records never expire by
// themselves lets no second client in, but it can be lost for ever.
func usualGoal(st strategies.Strategy) trace.Code {
	if st.NoTTL {
		return trace.PD
	}
	return trace.OV
}

// NewLevel is a level, as it was left.
func NewLevel(st *screen.App, level int) (*Game, error) {
	all := scenarios.Levels()
	l := &all[level]
	strategy := st.Library.Strategy(l.Strategy)
	if strategy < 0 {
		return nil, fmt.Errorf("the lock %s is not in the list", l.Strategy)
	}
	b := l.Bounds(st.Library.Strategies[strategy])
	s, err := newQuest(st, strategy, l.Name(), &quest{level: level, title: fmt.Sprintf("Level %d of %d", level+1, len(all)), task: l.Task, moral: l.Moral,
		bounds: &b, goal: l.Goal, withstands: l.Withstands})
	if err == nil {
		s.Title = l.Title
		if level == levels.Longest() && !s.begun() && s.Notice == "" {
			s.Notice = "This level is the longest: to leave it for later, " + s.Keys.Scenario.Help().Key + " lists the others."
		}
		if s.begun() {
			s.seen()
		}
	}
	return s, err
}

// NewChallenge is a game within bounds of the reader's own, for a code that a search has
// found, or for the lock's usual one.
func NewChallenge(st *screen.App, m screen.ChallengeMsg) (*Game, error) {
	b, goal := m.Bounds, usualGoal(m.Bounds.Strategy)
	if m.Found != nil && slices.Contains(Goals, *m.Found) {
		goal = *m.Found
	}
	name := "own." + b.Strategy.Name + "." + goal.String() + "." + sim.Label(screen.BoundsText(&b))
	return newQuest(st, m.Strategy, name, &quest{level: none, task: "Break it: " + goal.Meaning() + ".", bounds: &b, goal: goal})
}

// newQuest begins, or goes on with, a game that has a goal. It is in the setup that searches
// run in, so that their results hold for it.
func newQuest(st *screen.App, strategy int, file string, q *quest) (*Game, error) {
	cfg, err := q.bounds.Config()
	if err != nil {
		return nil, err
	}
	cfg.Scenario = tried.Label
	s := newGame(player.New(st, strategy, 0), cfg, file)
	q.adviser = adviser.New(st.NewGuide, *q.bounds, q.goal, cfg)
	q.distances = map[*tried.Branch]distance{}
	s.quest = q
	return s, s.arrive()
}

// ask has the guide compute the distance from here. The previous question is dropped.
func (s *Game) ask() tea.Cmd {
	c := s.quest
	if c == nil {
		return nil
	}
	if c.cancel != nil {
		c.cancel()
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.number = s.Serial()
	c.cancel, c.asked, c.known, c.debrief, c.drained = cancel, s.here, false, nil, false
	number, g, moves, grain := c.number, c.adviser, s.here.Moves(), s.grain()
	return func() tea.Msg {
		defer cancel()
		h, par, err := g.From(ctx, moves)
		if err != nil {
			return hintMsg{of: c, number: number, err: err}
		}
		h.Path, par.Path = grain.Postponed(g.Config, moves, h.Path, c.goal), grain.Postponed(g.Config, nil, par.Path, c.goal)
		return hintMsg{c, number, h, par, tried.Count(g.Config, moves, h.Path, grain), tried.Count(g.Config, nil, par.Path, grain), nil}
	}
}

// heed takes an answer, unless a later question has been asked. A win is remembered, and the
// same moves are replayed under the other lock.
func (s *Game) heed(h hintMsg) tea.Cmd {
	c := s.quest
	if c == nil || c != h.of || c.number != h.number {
		return nil
	}
	c.known, c.hint, c.par, c.ahead, c.parMoves, c.refused = true, h.hint, h.par, h.ahead, h.parMoves, h.err
	if h.err == nil {
		c.distances[s.here] = distance{h.ahead, h.hint.Cost.Faults, h.hint.Reachable}
	}
	if !s.won() {
		s.offerDue()
		if c.wanted {
			c.wanted = false
			s.showHint()
		}
		return nil
	}
	if c.wanted { // nothing is left to hint at
		c.wanted, s.Notice = false, ""
	}
	s.drain()
	if s.at == none && s.Notice == "" { // it was won before
		s.Notice = "You have won this one: " + s.Keys.First.Help().Key + " starts it anew, and keeps what you have tried."
	}
	if c.level != none {
		all := scenarios.Levels()
		s.Progress.Win(all[c.level].Name(), progress.Win(c.hint.Taken))
	}
	return s.review()
}

// offerDue adds the instant at which something is due by the search's account, if nothing
// in the list leads there.
func (s *Game) offerDue() {
	due := s.hint.Due
	if due == 0 || slices.ContainsFunc(s.options, func(o option) bool { return o.moves[0].Wait == due }) {
		return
	}
	o, paused := s.wait(due)
	if !s.mayPause(len(paused)) {
		if s.waits == 0 {
			s.still = stands(paused, s.bounds.Faults[explore.Pause])
		}
		return
	}
	i := s.clients
	for i < s.clients+s.waits && s.options[i].moves[0].Wait < due { // they are in order
		i++
	}
	s.options, s.still = slices.Insert(s.options, i, o), ""
	s.waits++
}

// drain shows what becomes of the run in the end, if only that proves the goal: a deadlock
// is proven by a client that asks in vain.
func (s *Game) drain() {
	if slices.Contains(s.Run.Verdict(), s.goal) {
		return
	}
	t, err := scenarios.Replay(sim.Schedule{Config: s.cfg, Moves: append(s.here.Moves(), sim.Move{Fault: fault.Drain{}})})
	if err != nil {
		s.Notice = err.Error()
		return
	}
	tl := timeline.New(t)
	s.Display(tl, tl.Last())
	s.drained = true
}

// quit leaves the adviser, which would go on searching.
func (c *quest) quit() tea.Cmd {
	if c == nil {
		return nil
	}
	if c.cancel != nil {
		c.cancel()
	}
	c.number = 0
	return func() tea.Msg {
		c.adviser.Close()
		return nil
	}
}

// leave quits in the background: the adviser may be busy with an answer.
func (c *quest) leave() {
	if c != nil {
		go c.quit()()
	}
}

// won reports whether the goal is reached. A deadlock is one only once nothing is left to do.
func (c *quest) won() bool {
	return c != nil && c.known && c.refused == nil && (c.hint.Reached || c.hint.Reachable && c.hint.Steps == 0)
}

// showHint says what to look at for the move with which the least way on begins; asked again, it names the move, and
// puts the cursor on it.
func (s *Game) showHint() {
	c := s.quest
	switch {
	case c == nil:
		s.Notice = "Hints are for levels: " + s.Keys.Scenario.Help().Key + " lists them."
	case !c.known:
		c.wanted = true
		s.Notice = "Thinking: the hint comes with the answer."
	case c.refused != nil:
		s.Notice = "No hint: " + c.refused.Error() + "."
	case c.won():
		s.Notice = "The goal is reached."
	case !c.par.Reachable:
		s.Notice = "No schedule reaches this goal: " + s.Keys.Scenario.Help().Key + " lists the levels."
	case !c.hint.Reachable:
		s.Notice = fmt.Sprintf("The goal went out of reach with your %s: %s takes a move back.", s.lost(), s.Keys.Undo.Help().Key)
	case c.recalled != s.here && s.detour() > 0:
		c.recalled = s.here
		s.advise(fmt.Sprintf("Hint: your last %s gained nothing; %s takes %s back, %s again goes on.", draw.Either(s.detour() == 1, "move", fmt.Sprintf("%d moves", s.detour())), s.Keys.Undo.Help().Key, draw.Either(s.detour() == 1, "it", "one"), s.Keys.Hint.Help().Key))
	case c.nudged != s.here && len(s.options) > 1:
		c.nudged = s.here
		c.hints++
		s.advise("Hint: " + s.thought() + " " + s.Keys.Hint.Help().Key + " again names the move.")
	default:
		c.nudged = s.here
		c.hints++
		s.pointAt(c.hint)
	}
}

// detour is how many of the last moves have brought the goal no nearer: before them the least way took no more moves
// and no more faults than it takes now.
func (s *Game) detour() (moves int) {
	for b := s.here.Parent; b != nil; b = b.Parent {
		if d, known := s.distances[b]; known && d.reachable && d.moves <= s.ahead && d.faults <= s.hint.Cost.Faults {
			moves = s.here.Depth - b.Depth
		}
	}
	return moves
}

// lost names the move with which the goal went out of reach. A game that was left and is taken up again doesn't know of each position whether
// it could be reached from there.
func (s *Game) lost() string {
	first := s.here
	for b := first.Parent; b != nil; b = b.Parent {
		d, known := s.distances[b]
		if known && d.reachable || first.Depth == 1 {
			break
		}
		if !known {
			return fmt.Sprintf("move %d, or one before it", first.Depth)
		}
		first = b
	}
	return fmt.Sprintf("move %d", first.Depth)
}

// thought says what to look at, so that the reader can find the move that comes next.
func (s *Game) thought() string {
	o, _ := s.hinted(s.hint)
	m := deeds.Move{Does: o.does, Pauses: strings.HasSuffix(o.name, " paused)")}
	for _, made := range o.moves {
		if made.Fault != nil {
			m.Fault = made.Fault
		}
		for i := range s.cfg.Clients {
			if o.client == i || made.Count > 0 && made.Who.Has(i) {
				m.Client, m.Begun, m.Wakes = s.cfg.Clients[i].Name, s.Run.Begun(i, s.Run.Last()), s.State.Clients[i].Paused
			}
		}
	}
	return m.Thought()
}

// pointAt puts the cursor on the move that begins the least way on. Where no move in the
// list does, the way's own first move is put before the others.
func (s *Game) pointAt(h explore.Hint) {
	o, i := s.hinted(h)
	if i < 0 {
		s.options, i = slices.Insert(s.options, 0, o), 0
	}
	s.at = i
	s.advise("Hint: " + o.name + draw.Either(len(s.options) == 1, " (the only move here).", "."))
}

// advise shows a hint, which stays as long as the position in which it was asked for.
func (s *Game) advise(text string) { s.advice, s.Notice = text, text }

// outdate takes back the hint of a position that is left, however that came about.
func (s *Game) outdate() {
	if s.Notice == s.advice {
		s.Notice = ""
	}
	s.advice = ""
}

// hinted is the move that begins the least way on, and its place in the list, or -1.
func (s *Game) hinted(h explore.Hint) (option, int) {
	if i := slices.IndexFunc(s.options, func(o option) bool { return tried.Begins(h.Path, o.moves) }); i >= 0 {
		return s.options[i], i
	}
	o := option{ink: draw.Strong, client: trace.None, moves: h.Next}
	switch m := h.Next[0]; {
	case m.Wait > 0 && len(h.Next) == 1:
		o, _ = s.wait(m.Wait)
	default:
		o.name = tried.Text(s.cfg, h.Next)
		if t, events, err := s.peek(h.Next...); err == nil && len(events) > 0 {
			e := &events[len(events)-1]
			o.name = t.Actor(e) + ": " + t.Text(e)
		}
	}
	return o, -1
}

// outlook is how the reader stands to the goal in a sentence, which has one row of a width, with its ink.
func (s *Game) outlook(width int) (string, draw.Ink) {
	c, k := s.quest, &s.Keys
	switch {
	case !c.known:
		return "Thinking.", draw.Dim
	case errors.As(c.refused, new(*explore.BudgetError)):
		return "Against the rules: " + c.refused.Error() + "; " + k.Undo.Help().Key + " takes it back.", draw.Breach
	case c.refused != nil:
		return "No hint here: " + c.refused.Error() + ".", draw.Breach
	case !c.par.Reachable:
		return "No schedule with " + screen.FaultsText(c.bounds) + " gets there; " + k.Scenario.Help().Key + " lists the levels.", draw.Strong
	case !c.hint.Reachable:
		return fmt.Sprintf("Out of reach since your %s; %s takes a move back.", s.lost(), k.Undo.Help().Key), draw.Breach
	}
	best := debrief.Cost(c.parMoves, c.par.Cost)
	if s.here.Depth == 0 {
		return "Best found: " + best + ": can you match it?", draw.Plain
	}
	text, ink := s.unjudged(), draw.Strong
	if text == "" {
		text, ink = "So far "+draw.Plural(s.here.Depth, "move")+". ", draw.Plain
	}
	if c.nudged == s.here {
		return shortened(text+s.left()+".", " from here", width), ink
	}
	all := text + "Best found from the start: " + best
	return shortened(all+"; "+k.Hint.Help().Key+" gives a hint.", " from the start", width), ink
}

// left is how far the goal is from here, which is told with a hint alone: beside each move it would say which of them is the right one.
func (s *Game) left() string {
	text := "Best found from here: "
	if before, known := s.distances[s.here.Parent]; known && before.moves == s.ahead {
		text += "still " // by another move it could have been fewer
	}
	text += draw.Plural(s.ahead, "move")
	if n := s.hint.Cost.Faults; n > 0 {
		text += " with " + draw.Plural(n, "fault")
	}
	return text
}

// shortened is a text without some of its words, where only so it fits into a row.
func shortened(text, words string, width int) string {
	if draw.Width(text) > width-1 {
		return strings.Replace(text, words, "", 1)
	}
	return text
}

// unjudged says of a goal that is judged at the end alone who has still to act where nothing else is missing: the records then
// look like the goal already. It is empty elsewhere.
func (s *Game) unjudged() string {
	var missing []string
	begun := false
	for i := range s.cfg.Clients {
		if st := &s.State.Clients[i]; !st.Crashed && !st.Stopped {
			missing = append(missing, s.cfg.Clients[i].Name)
			begun = begun || s.Run.Begun(i, s.Run.Last())
		}
	}
	switch {
	case s.goal != trace.PD || s.hint.Cost.Faults > 0 || missing == nil:
		return ""
	case !begun:
		return "Not won yet: " + trace.List(missing) + draw.Either(len(missing) > 1, " have", " has") + " still to ask. "
	}
	return "Not won yet: " + trace.List(missing) + draw.Either(len(missing) > 1, " are", " is") + " not finished. "
}
