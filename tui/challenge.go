package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// challenge is what a sandbox of its own has: a goal, the faults that may happen
// on the way, and a guide who knows how far it is.
type challenge struct {
	bounds  explore.Bounds
	goal    trace.Code
	guide   *guide
	number  int // of the last question: answers to earlier ones are dropped
	cancel  context.CancelFunc
	asked   *branch // where it was put
	known   bool    // the answer is there
	hint    explore.Hint
	par     explore.Hint
	refused error // why there is no hint
}

// hinter knows how far it is; see [explore.Guide].
type hinter interface {
	From(context.Context, []sim.Move) (explore.Hint, error)
	Close() error
}

// guide is asked in the background, one question at a time.
type guide struct {
	mu     sync.Mutex
	bounds explore.Bounds
	goal   trace.Code
	find   func(explore.Bounds, trace.Code) (hinter, error)
	real   hinter        // or nil, if nobody has asked yet
	par    *explore.Hint // from the beginning
	closed bool
}

// hinted is the answer to a question.
type hinted struct {
	of        *challenge
	number    int
	hint, par explore.Hint
	err       error
}

// goals are what a sandbox can be played for.
var goals = trace.Verdict{trace.OV, trace.DG, trace.SW, trace.FR, trace.PD, trace.FN}

// usualGoal is what a lock can be broken for: one whose records never expire by
// themselves lets no second client in, but it can be lost for ever.
func usualGoal(st strategies.Strategy) trace.Code {
	if st.NoTTL {
		return trace.PD
	}
	return trace.OV
}

// newChallenge is a sandbox that begins with nothing, in the setup that searches
// run in, so that what they know can be told.
func newChallenge(st *stage, strategy int, b explore.Bounds, goal trace.Code) (*sandbox, error) {
	cfg, err := b.Config()
	if err != nil {
		return nil, err
	}
	cfg.Scenario = sandboxName
	s := &sandbox{player: newPlayer(st, strategy, 0), cfg: cfg, here: &branch{}}
	s.challenge = &challenge{bounds: b, goal: goal, guide: &guide{find: st.newGuide, bounds: b, goal: goal}}
	s.title, s.below = "Your turn", s.drawChoices
	return s, s.replay(s.here)
}

// sameSetup reports whether schedules of one setup can be told of by the other's guide.
func sameSetup(a, b sim.Config) bool {
	return sim.Schedule{Config: a}.String() == sim.Schedule{Config: b}.String()
}

// openChallenge opens one, or says why not.
func (st *stage) openChallenge(strategy int, b explore.Bounds, goal trace.Code) (outcome, error) {
	s, err := newChallenge(st, strategy, b, goal)
	if err != nil {
		return outcome{}, err
	}
	return outcome{open: s}, nil
}

// game is a strategy's: the one that was left, with all that was tried in it, or a new
// one. The bounds are the search's own, and make sense for every lock in the catalogue.
func (st *stage) game(strategy int) outcome {
	if s := st.games[strategy]; s != nil && s.challenge != nil && s.strategy == strategy {
		c := s.challenge
		c.guide = &guide{find: st.newGuide, bounds: c.bounds, goal: c.goal}
		s.notice = ""
		return outcome{open: s}
	}
	lock := st.lib.strategies[strategy]
	out, err := st.openChallenge(strategy, explore.Defaults(lock), usualGoal(lock))
	if s, is := out.open.(*sandbox); is && err == nil {
		st.games[strategy] = s
	}
	return out
}

// ask has the guide look how far it is from here. The question before is dropped.
func (s *sandbox) ask() tea.Cmd {
	c := s.challenge
	if c == nil {
		return nil
	}
	if c.cancel != nil {
		c.cancel()
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.number = s.serial()
	c.cancel, c.asked, c.known = cancel, s.here, false
	number, g, moves := c.number, c.guide, s.here.moves()
	return func() tea.Msg {
		defer cancel()
		h, par, err := g.from(ctx, moves)
		return hinted{c, number, h, par, err}
	}
}

func (g *guide) from(ctx context.Context, moves []sim.Move) (h, par explore.Hint, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return h, par, errors.New("nobody asks any more")
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
func (g *guide) close() tea.Msg {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if g.real != nil {
		_ = g.real.Close() // nothing is written
		g.real = nil
	}
	return nil
}

// heed takes an answer in.
func (s *sandbox) heed(h hinted) {
	if c := s.challenge; c == h.of && c.number == h.number {
		c.known, c.hint, c.par, c.refused = true, h.hint, h.par, h.err
		s.offer() // the next instant is known now
	}
}

// quit leaves the guide, who would think on.
func (c *challenge) quit() tea.Cmd {
	if c == nil {
		return nil
	}
	if c.cancel != nil {
		c.cancel()
	}
	c.number = 0
	return c.guide.close
}

// goalPicker chooses what to play for; what was done so far stays.
func (s *sandbox) goalPicker() outcome {
	items, current := make([]choice, len(goals)), 0
	for i, g := range goals {
		items[i] = choice{g.String(), g.Name() + ": " + g.Meaning(), func() span { return span{} }}
		if g == s.challenge.goal {
			current = i
		}
	}
	return outcome{open: &picker{stage: s.stage, title: "What do you want to break?", items: items, at: current, current: current,
		about: "What a lock can do wrong, and what that means.", choose: func(i int) (tea.Cmd, outcome) {
			old := s.challenge
			s.challenge = &challenge{bounds: old.bounds, goal: goals[i], guide: &guide{find: s.newGuide, bounds: old.bounds, goal: goals[i]}}
			return tea.Batch(old.quit(), s.ask()), outcome{close: true}
		}}}
}

// showHint names the first move of the least way on, and puts the cursor on it.
func (s *sandbox) showHint() {
	c := s.challenge
	switch {
	case c == nil:
		s.notice = "Hints are for games of your own: " + s.keys.Sandbox.Help().Key + " in the matrix opens one."
	case !c.known:
		s.notice = "Thinking."
	case c.refused != nil:
		s.notice = "No hint: " + c.refused.Error() + "."
	case c.reached():
		s.notice = "You are there."
	case !c.par.Reachable:
		s.notice = "There is no way at all: " + s.keys.Scenario.Help().Key + " takes another goal."
	case !c.hint.Reachable:
		s.notice = "There is no way on from here: " + s.keys.Undo.Help().Key + " takes a move back."
	default:
		s.pointAt(c.hint.Next)
	}
}

func (s *sandbox) pointAt(next []sim.Move) {
	for i, row := range s.rows {
		for j, choice := range row.choices {
			if sameMove(choice.moves[0], next[0]) {
				s.row, s.col = i, j
				s.notice = "Hint: " + row.name + ", " + choice.name + "."
				return
			}
		}
	}
	_, text, _ := strings.Cut(sim.Schedule{Config: s.cfg, Moves: next}.String(), ",--,")
	s.notice = "Hint: " + text + ", as schedules write it."
}

// reached: a deadlock is one once nothing is left to be done.
func (c *challenge) reached() bool {
	return c.hint.Reached || c.hint.Reachable && c.hint.Steps == 0
}

// sofar is what the schedule has cost, in what costs are counted in: a move can be
// many steps.
func (c *challenge) sofar() string {
	text := "So far " + plural(c.hint.Taken.Steps, "step")
	if c.hint.Taken.Faults > 0 {
		text += " and " + plural(c.hint.Taken.Faults, "fault")
	}
	return text + "."
}

// words is how it stands, in a sentence.
func (c *challenge) words(k *keyMap) (string, ink) {
	switch {
	case !c.known:
		return "Thinking.", inkDim
	case c.refused != nil:
		return "No hint here: " + c.refused.Error() + ".", inkBreach
	case c.reached():
		return fmt.Sprintf("There! Yours: %s; least: %s.", costWords(c.hint.Taken), costWords(c.par.Cost)), inkGood
	case !c.par.Reachable:
		return "No schedule with " + faultWords(&c.bounds) + " gets there; " + k.Scenario.Help().Key + " takes another goal.", inkStrong
	case !c.hint.Reachable:
		return "No longer reachable from here; " + k.Undo.Help().Key + " takes a move back.", inkBreach
	}
	text := "From here " + plural(c.hint.Steps, "step")
	if c.hint.Faults > 0 {
		text += " and " + plural(c.hint.Faults, "fault")
	}
	return text + " at least.", inkPlain
}

func costWords(c explore.Cost) string {
	faults := "no fault"
	if c.Faults > 0 {
		faults = plural(c.Faults, "fault")
	}
	return faults + ", " + pluralES(c.Switches, "switch") + ", " + plural(c.Steps, "step")
}

// offerSearchable lists the moves that a search makes, too: those for which the
// bounds have faults.
func (s *sandbox) offerSearchable() {
	c := s.challenge
	faults := func(client bool, i int) (choices []moveChoice) {
		for _, o := range c.bounds.Offers(client, i, s.here.moves()) {
			choices = append(choices, moveChoice{o.Label, o.Moves})
		}
		return choices
	}
	for i, cl := range s.cfg.Clients {
		st := &s.now.Clients[i]
		if st.Crashed || st.Stopped {
			continue
		}
		step := moveChoice{"step", []sim.Move{{Who: sim.SetOf(i), Count: 1}}}
		s.rows = append(s.rows, choiceRow{cl.Name, clientInk(i), append([]moveChoice{step}, faults(true, i)...)})
	}
	wait := func(name string, d time.Duration) moveChoice { return moveChoice{name, []sim.Move{{Wait: d}}} }
	pass := choiceRow{"time", inkStrong, nil}
	if due := c.hint.Due; c.known && due > 0 {
		pass.choices = append(pass.choices, wait("until something is due: "+trace.Brief(due), due))
	}
	pass.choices = append(pass.choices, wait("a lease: "+trace.Brief(s.cfg.TTL), s.cfg.TTL), wait("1s", time.Second))
	s.rows = append(s.rows, pass)
	for i := range s.cfg.Nodes {
		if choices := faults(false, i); choices != nil {
			s.rows = append(s.rows, choiceRow{s.reel.trace.Nodes[i], inkStrong, choices})
		}
	}
}
