package game

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/picker"
	"lockstep/tui/player"
	"lockstep/tui/screen"
)

// challenge makes a sandbox a game: it has a goal, the faults that may happen
// on the way, and an adviser that computes the distance to the goal.
//
// Invariant: hint, par and refused are meaningful only while known is true.
type challenge struct {
	bounds  explore.Bounds
	goal    trace.Code
	adviser *adviser
	number  int // of the last question: answers to earlier ones are dropped
	cancel  context.CancelFunc
	asked   *branch // where it was put
	known   bool    // the answer is there
	hint    explore.Hint
	par     explore.Hint
	refused error // why there is no hint
}

// adviser answers questions in the background, one at a time.
type adviser struct {
	mu     sync.Mutex
	bounds explore.Bounds
	goal   trace.Code
	find   func(explore.Bounds, trace.Code) (screen.Guide, error)
	real   screen.Guide  // or nil before the first question
	par    *explore.Hint // from the beginning
	closed bool
}

// hintMsg is the answer to a question.
type hintMsg struct {
	of        *challenge
	number    int
	hint, par explore.Hint
	err       error
}

// goals are the codes that a game can be played for.
var goals = trace.Verdict{trace.OV, trace.DG, trace.SW, trace.FR, trace.PD, trace.FN}

// usualGoal is the code that a lock can be broken for: a lock whose records never expire by
// themselves lets no second client in, but it can be lost for ever.
func usualGoal(st strategies.Strategy) trace.Code {
	if st.NoTTL {
		return trace.PD
	}
	return trace.OV
}

// NewChallenge is a sandbox that begins with nothing, in the setup that searches
// run in, so that their results hold for it.
func NewChallenge(st *screen.App, m screen.ChallengeMsg) (*Sandbox, error) {
	b, goal := m.Bounds, usualGoal(m.Bounds.Strategy)
	if m.Found != nil && slices.Contains(goals, *m.Found) {
		goal = *m.Found
	}
	cfg, err := b.Config()
	if err != nil {
		return nil, err
	}
	cfg.Scenario = sandboxName
	s := &Sandbox{Player: player.New(st, m.Strategy, 0), cfg: cfg, here: &branch{}}
	s.challenge = &challenge{bounds: b, goal: goal, adviser: &adviser{find: st.NewGuide, bounds: b, goal: goal}}
	s.Title, s.Below = "Your turn", s.drawChoices
	return s, s.replay(s.here)
}

// sameSetup reports whether the guide of one setup has hints for schedules of the other.
func sameSetup(a, b sim.Config) bool {
	return sim.Schedule{Config: a}.String() == sim.Schedule{Config: b}.String()
}

// Reopen makes ready to play a game again, with all that was tried in it. It reports
// whether it is still a game of breaking that lock.
func (s *Sandbox) Reopen(strategy int) bool {
	if s.challenge == nil || s.Strategy != strategy {
		return false
	}
	c := s.challenge
	c.adviser = &adviser{find: s.NewGuide, bounds: c.bounds, goal: c.goal}
	s.Notice = ""
	return true
}

// ask has the guide compute the distance from here. The previous question is dropped.
func (s *Sandbox) ask() tea.Cmd {
	c := s.challenge
	if c == nil {
		return nil
	}
	if c.cancel != nil {
		c.cancel()
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.number = s.Serial()
	c.cancel, c.asked, c.known = cancel, s.here, false
	number, g, moves := c.number, c.adviser, s.here.moves()
	return func() tea.Msg {
		defer cancel()
		h, par, err := g.from(ctx, moves)
		return hintMsg{c, number, h, par, err}
	}
}

func (g *adviser) from(ctx context.Context, moves []sim.Move) (h, par explore.Hint, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return h, par, errors.New("the game was left")
	}
	if g.real == nil {
		if g.real, err = g.find(g.bounds, g.goal); err != nil {
			return h, par, err
		}
	}
	if g.par == nil {
		if par, err = g.real.From(ctx, nil); err != nil {
			return h, par, err
		}
		g.par = &par
	}
	h, err = g.real.From(ctx, moves)
	return h, *g.par, err
}

// close ends a guide, once it has given its last answer.
func (g *adviser) close() tea.Msg {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if g.real != nil {
		_ = g.real.Close() // nothing is written
		g.real = nil
	}
	return nil
}

// heed takes an answer, unless a later question has been asked.
func (s *Sandbox) heed(h hintMsg) {
	if c := s.challenge; c == h.of && c.number == h.number {
		c.known, c.hint, c.par, c.refused = true, h.hint, h.par, h.err
		s.offer() // the next instant is known now
	}
}

// quit leaves the adviser, which would go on searching.
func (c *challenge) quit() tea.Cmd {
	if c == nil {
		return nil
	}
	if c.cancel != nil {
		c.cancel()
	}
	c.number = 0
	return c.adviser.close
}

// goalPicker chooses another goal; the moves made so far stay.
func (s *Sandbox) goalPicker() screen.Outcome {
	items, current := make([]picker.Item, len(goals)), 0
	for i, g := range goals {
		items[i] = picker.Item{Name: g.String(), About: g.Name() + ": " + g.Meaning(), Badge: func() draw.Span { return draw.Span{} }}
		if g == s.challenge.goal {
			current = i
		}
	}
	return screen.Outcome{Open: &picker.Picker{App: s.App, Title: "What do you want to break?", Items: items, At: current, Current: current,
		About: "What a lock can do wrong, and what that means.", Choose: func(i int) (tea.Cmd, screen.Outcome) {
			old := s.challenge
			s.challenge = &challenge{bounds: old.bounds, goal: goals[i], adviser: &adviser{find: s.NewGuide, bounds: old.bounds, goal: goals[i]}}
			return tea.Batch(old.quit(), s.ask()), screen.Outcome{Close: true}
		}}}
}

// showHint names the first move of the least way on, and puts the cursor on it.
func (s *Sandbox) showHint() {
	c := s.challenge
	switch {
	case c == nil:
		s.Notice = "Hints are for games of your own: " + s.Keys.Sandbox.Help().Key + " in the matrix opens one."
	case !c.known:
		s.Notice = "Thinking."
	case c.refused != nil:
		s.Notice = "No hint: " + c.refused.Error() + "."
	case c.reached():
		s.Notice = "You are there."
	case !c.par.Reachable:
		s.Notice = "There is no way at all: " + s.Keys.Scenario.Help().Key + " takes another goal."
	case !c.hint.Reachable:
		s.Notice = "There is no way on from here: " + s.Keys.Undo.Help().Key + " takes a move back."
	default:
		s.pointAt(c.hint.Next)
	}
}

func (s *Sandbox) pointAt(next []sim.Move) {
	for i, row := range s.rows {
		for j, choice := range row.choices {
			if sameMove(choice.moves[0], next[0]) {
				s.row, s.col = i, j
				s.Notice = "Hint: " + row.name + ", " + choice.name + "."
				return
			}
		}
	}
	if len(next) == 1 && next[0].Wait > 0 { // to an instant at which nothing is due by itself, or past one
		s.row = slices.IndexFunc(s.rows, func(r choiceRow) bool { return r.name == timeRow })
		row, name := &s.rows[s.row], trace.Brief(next[0].Wait)
		row.choices = slices.Insert(row.choices, 0, moveChoice{name, next})
		s.col, s.Notice = 0, "Hint: "+row.name+", "+name+"."
		return
	}
	_, text, _ := strings.Cut(sim.Schedule{Config: s.cfg, Moves: next}.String(), ",--,")
	s.Notice = "Hint: " + text + ", as schedules write it."
}

// reached reports whether the goal is. A deadlock is one only once nothing is left to do.
func (c *challenge) reached() bool {
	return c.hint.Reached || c.hint.Reachable && c.hint.Steps == 0
}

// sofar is the cost of the schedule, in steps and faults. A move can be many steps.
func (c *challenge) sofar() string {
	text := "So far " + draw.Plural(c.hint.Taken.Steps, "step")
	if c.hint.Taken.Faults > 0 {
		text += " and " + draw.Plural(c.hint.Taken.Faults, "fault")
	}
	return text + "."
}

// outlook is the distance to the goal in a sentence, with its ink.
func (c *challenge) outlook(k *screen.KeyMap) (string, draw.Ink) {
	switch {
	case !c.known:
		return "Thinking.", draw.Dim
	case c.refused != nil:
		return "No hint here: " + c.refused.Error() + ".", draw.Breach
	case c.reached():
		return fmt.Sprintf("There! Yours: %s; least: %s.", screen.CostText(c.hint.Taken), screen.CostText(c.par.Cost)), draw.Good
	case !c.par.Reachable:
		return "No schedule with " + screen.FaultsText(&c.bounds) + " gets there; " + k.Scenario.Help().Key + " takes another goal.", draw.Strong
	case !c.hint.Reachable:
		return "No longer reachable from here; " + k.Undo.Help().Key + " takes a move back.", draw.Breach
	}
	text := "From here " + draw.Plural(c.hint.Steps, "step")
	if c.hint.Faults > 0 {
		text += " and " + draw.Plural(c.hint.Faults, "fault")
	}
	return text + " at least.", draw.Plain
}

// offerSearchable lists the moves that a search makes, too: those for which the
// bounds have faults.
func (s *Sandbox) offerSearchable() {
	for i := range s.cfg.Clients {
		if st := &s.State.Clients[i]; !st.Crashed && !st.Stopped {
			s.rows = append(s.rows, s.clientMoves(i))
		}
	}
	s.rows = append(s.rows, s.timeMoves())
	for i := range s.cfg.Nodes {
		if row := s.nodeMoves(i); row.choices != nil {
			s.rows = append(s.rows, row)
		}
	}
}

func (s *Sandbox) clientMoves(client int) choiceRow {
	step := moveChoice{"step", []sim.Move{{Who: sim.SetOf(client), Count: 1}}}
	return choiceRow{s.cfg.Clients[client].Name, draw.ClientInk(client), append([]moveChoice{step}, s.offered(true, client)...)}
}

// offered are the faults of a client or a node for which the bounds have a budget.
func (s *Sandbox) offered(client bool, i int) (choices []moveChoice) {
	for _, o := range s.challenge.bounds.Offers(client, i, s.here.moves()) {
		choices = append(choices, moveChoice{o.Label, o.Moves})
	}
	return choices
}

// timeRow is the name of the row of choices by which time passes.
const timeRow = "time"

func (s *Sandbox) timeMoves() choiceRow {
	wait := func(name string, d time.Duration) moveChoice { return moveChoice{name, []sim.Move{{Wait: d}}} }
	row := choiceRow{timeRow, draw.Strong, nil}
	if due := s.hint.Due; s.known && due > 0 {
		row.choices = append(row.choices, wait("until something is due: "+trace.Brief(due), due))
	}
	row.choices = append(row.choices, wait("a lease: "+trace.Brief(s.cfg.TTL), s.cfg.TTL), wait("1s", time.Second))
	return row
}

// nodeMoves has no choices if the bounds have no faults of nodes.
func (s *Sandbox) nodeMoves(node int) choiceRow {
	return choiceRow{s.Run.Nodes[node], draw.Strong, s.offered(false, node)}
}
