// Package game has the screens in which the reader is the scheduler: the sandbox, which goes
// on from a run, and the game of breaking a lock, with a goal and with hints.
package game

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
	"lockstep/tui/picker"
	"lockstep/tui/player"
	"lockstep/tui/screen"
)

// Sandbox is a run whose scheduler is the reader: which client steps, is paused or
// crashes, which message is lost, how much time passes. Every move replays the whole run
// from its schedule, so that undo goes back any number of moves, and no branch that was
// tried is ever lost.
//
// Invariant: Run is the run of here.moves(), the moves from the root of the tree to here.
type Sandbox struct {
	*player.Player
	*challenge // or nil, if it goes on from a run

	cfg  sim.Config
	here *branch
	menu map[string][]sim.Offer // the faults that can be chosen, by client or server
	rows []choiceRow
	row  int
	col  int
}

// branch is a node in the tree of the moves that were tried. The root has no move.
//
// Invariants: depth is the number of branches above it; last is an index of tried, or 0.
type branch struct {
	parent *branch
	tried  []*branch
	last   int        // the index of the child visited last
	made   []sim.Move // usually one; a restart is two
	depth  int
}

// choiceRow is an actor with its moves.
type choiceRow struct {
	name    string
	ink     draw.Ink
	choices []moveChoice
}

// moveChoice is a move that can be made, with its name.
type moveChoice struct {
	name  string
	moves []sim.Move
}

// sandboxName is what schedules say instead of a scenario: there is no script.
const sandboxName = "sandbox"

// New goes on from a position of a run, with the moves that led there.
func New(st *screen.App, from screen.SandboxMsg) (*Sandbox, error) {
	schedule, err := sim.ParseSchedule(from.Trace.Schedule, scenarios.FindStrategy)
	if err != nil {
		return nil, err
	}
	schedule.Config.Scenario = sandboxName
	s := &Sandbox{Player: player.New(st, from.Strategy, from.Scenario), cfg: schedule.Config, here: &branch{}}
	s.Title, s.Below = "Your turn", s.drawChoices
	for _, m := range prefix(schedule, from.Pos) {
		s.add([]sim.Move{m})
	}
	return s, s.replay(s.here)
}

// prefix are the moves of a schedule, one by one, that lead to its first n
// events, or to the next instant at which a move begins.
func prefix(s sim.Schedule, events int) []sim.Move {
	all := singles(s.Moves)
	enough := func(n int) bool {
		t, err := scenarios.Replay(sim.Schedule{Config: s.Config, Moves: all[:n]})
		return err != nil || len(t.Events) >= events
	}
	low, high := 0, len(all)
	for low < high { // more moves never make fewer events
		if mid := (low + high) / 2; enough(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return all[:low]
}

// singles splits moves into single steps, so that each can be undone. It drops the
// script's notes.
func singles(moves []sim.Move) []sim.Move {
	var all []sim.Move
	for _, m := range moves {
		switch {
		case m.Note > 0, m.Fault == (sim.Drain{}):
		case m.Count > 1:
			for range m.Count {
				all = append(all, sim.Move{Who: m.Who, Count: 1})
			}
		default:
			all = append(all, m)
		}
	}
	return all
}

// add appends a move to this branch, and goes there.
func (s *Sandbox) add(made []sim.Move) {
	b := &branch{parent: s.here, made: slices.Clone(made), depth: s.here.depth + 1}
	s.here.tried = append(s.here.tried, b)
	s.here.last = len(s.here.tried) - 1
	s.here = b
}

// moves are those from the beginning to a branch.
func (b *branch) moves() []sim.Move {
	if b.parent == nil {
		return nil
	}
	return append(b.parent.moves(), b.made...)
}

// replay shows the run up to a branch, and stays where it is if there is none.
func (s *Sandbox) replay(b *branch) error {
	schedule := sim.Schedule{Config: s.cfg, Moves: b.moves()}
	t, err := scenarios.Replay(schedule)
	if err != nil {
		return err
	}
	if s.menu, err = scenarios.Offers(schedule); err != nil {
		return err
	}
	s.here = b
	s.Display(timeline.New(t), len(t.Events))
	s.offer()
	return nil
}

// goTo goes to an existing branch.
func (s *Sandbox) goTo(b *branch) {
	if err := s.replay(b); err != nil {
		s.Notice = err.Error()
	}
}

// offer lists the moves that can be tried here.
func (s *Sandbox) offer() {
	s.rows = nil
	if s.challenge != nil {
		s.offerSearchable()
	} else {
		s.offerAll()
	}
	s.row = min(s.row, len(s.rows)-1)
	s.col = min(s.col, len(s.rows[s.row].choices)-1)
}

func (s *Sandbox) offerAll() {
	all := sim.Set(0)
	one := func(name string, m sim.Move) moveChoice { return moveChoice{name, []sim.Move{m}} }
	for i, c := range s.cfg.Clients {
		st := &s.State.Clients[i]
		if st.Crashed || st.Stopped {
			continue
		}
		all |= sim.SetOf(i)
		step := one("step", sim.Move{Who: sim.SetOf(i), Count: 1})
		s.rows = append(s.rows, choiceRow{c.Name, draw.ClientInk(i), append([]moveChoice{step}, s.faults(c.Name)...)})
	}
	if all != 0 {
		s.rows = append(s.rows, choiceRow{"all", draw.Strong, []moveChoice{one("step", sim.Move{Who: all, Count: 1})}})
	}
	s.rows = append(s.rows, choiceRow{timeRow, draw.Strong, []moveChoice{
		one("1ms", sim.Move{Wait: time.Millisecond}), one("100ms", sim.Move{Wait: 100 * time.Millisecond}), one("1s", sim.Move{Wait: time.Second}),
		one("a lease: "+trace.Brief(s.cfg.TTL), sim.Move{Wait: s.cfg.TTL}),
	}})
	for i := range s.State.Nodes {
		name := s.Run.Nodes[i]
		s.rows = append(s.rows, choiceRow{name, draw.Strong, s.faults(name)})
	}
}

// faults lists the faults that can be chosen for a client or a server.
func (s *Sandbox) faults(actor string) (choices []moveChoice) {
	for _, o := range s.menu[actor] {
		choices = append(choices, moveChoice{o.Label, []sim.Move{{Fault: o.Fault}}})
	}
	return choices
}

// Start asks for a hint.
func (s *Sandbox) Start() tea.Cmd { return s.ask() }

// Update takes a key, a click, or the result of something that was asked for.
func (s *Sandbox) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case screen.Click:
		s.Player.Clicked(msg)
	case picker.ExportedMsg:
		return s.Player.Update(msg)
	case hintMsg:
		s.heed(msg)
	case tea.KeyMsg:
		s.Notice = ""
		cmd, out := s.typed(msg)
		if s.challenge != nil && s.asked != s.here && !out.Close {
			cmd = tea.Batch(cmd, s.ask())
		}
		return cmd, out
	}
	return nil, screen.Outcome{}
}

func (s *Sandbox) typed(k tea.KeyMsg) (tea.Cmd, screen.Outcome) {
	switch {
	case key.Matches(k, s.Keys.Close):
		return s.challenge.quit(), screen.Outcome{Close: true}
	case key.Matches(k, s.Keys.Hint):
		s.showHint()
	case key.Matches(k, s.Keys.Scenario) && s.challenge != nil:
		return nil, s.goalPicker()
	case key.Matches(k, s.Keys.Up):
		s.row = max(s.row-1, 0)
	case key.Matches(k, s.Keys.Down):
		s.row = min(s.row+1, len(s.rows)-1)
	case key.Matches(k, s.Keys.Back):
		s.col = max(s.col-1, 0)
	case key.Matches(k, s.Keys.Forward):
		s.col++
	case key.Matches(k, s.Keys.Enter):
		s.try(s.rows[s.row].choices[s.col])
	case key.Matches(k, s.Keys.Undo):
		s.undo()
	case key.Matches(k, s.Keys.Redo):
		s.redo()
	case key.Matches(k, s.Keys.Next):
		s.switchBranch(1)
	case key.Matches(k, s.Keys.Previous):
		s.switchBranch(-1)
	case key.Matches(k, s.Keys.Export):
		return nil, picker.Export(s.App, s.Run.Trace, s.Player)
	case key.Matches(k, s.Keys.Save):
		return s.save(), screen.Outcome{}
	case key.Matches(k, s.Keys.Copy):
		return s.copySchedule(), screen.Outcome{}
	case key.Matches(k, s.Keys.View), key.Matches(k, s.Keys.Source), key.Matches(k, s.Keys.In), key.Matches(k, s.Keys.Out), key.Matches(k, s.Keys.Evidence),
		key.Matches(k, s.Keys.Pane), key.Matches(k, s.Keys.PageUp), key.Matches(k, s.Keys.PageDown):
		s.Adjust(k)
	}
	s.col = min(s.col, len(s.rows[s.row].choices)-1)
	return nil, screen.Outcome{}
}

// try makes a move, on a new branch if others were tried here before.
func (s *Sandbox) try(c moveChoice) {
	for i, b := range s.here.tried {
		if sameMoves(b.made, c.moves) {
			s.here.last = i
			s.goTo(b)
			return
		}
	}
	from, events, before := s.here, s.Run.Last(), s.Run.Schedule
	s.add(c.moves)
	step := c.moves[0].Count > 0
	err := s.replay(s.here)
	// A move goes on to a visible step: starting a thread, say, leaves no event.
	for n := 1; err == nil && step && s.Run.Last() == events && n < mostSilent; n++ {
		s.here.made[0].Count++
		err = s.replay(s.here)
	}
	switch {
	case err != nil:
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the word that stands for it in schedules
		}
		s.forget(from)
		s.Notice = "That can't be done: " + err.Error() + "."
	case s.Run.Last() == events && s.Run.Schedule == before,
		s.Run.Last() == events && step:
		s.forget(from)
		s.goTo(from)
		s.Notice = "That changes nothing: " + s.rows[s.row].name + " has nothing to do."
	}
}

// mostSilent is the greatest number of steps in a row that may leave no event.
const mostSilent = 8

func sameMoves(a, b []sim.Move) bool { return slices.EqualFunc(a, b, sameMove) }

// sameMove compares moves. The number of silent steps in one makes no difference.
func sameMove(a, b sim.Move) bool {
	return a.Who == b.Who && a.Wait == b.Wait && a.Draw == b.Draw && reflect.DeepEqual(a.Fault, b.Fault) // some faults have lists
}

// forget removes a move that could not be made.
func (s *Sandbox) forget(from *branch) {
	from.tried = from.tried[:len(from.tried)-1]
	from.last = max(len(from.tried)-1, 0)
	s.here = from
}

func (s *Sandbox) undo() {
	if s.here.parent == nil {
		s.Notice = "This is the beginning."
		return
	}
	s.goTo(s.here.parent)
}

func (s *Sandbox) redo() {
	if len(s.here.tried) == 0 {
		s.Notice = "Nothing was tried from here on yet."
		return
	}
	s.goTo(s.here.tried[s.here.last])
}

// switchBranch goes to another move that was tried in place of the last one.
func (s *Sandbox) switchBranch(by int) {
	up := s.here.parent
	if up == nil || len(up.tried) < 2 {
		s.Notice = "Nothing else was tried in place of the last move."
		return
	}
	up.last = (up.last + by + len(up.tried)) % len(up.tried)
	s.goTo(up.tried[up.last])
}

// save writes the run so far as a scenario, which states the code that it violates: the
// goal, or else the worst.
func (s *Sandbox) save() tea.Cmd {
	verdict := s.Run.Verdict()
	var code trace.Code
	switch {
	case s.challenge != nil && s.known && s.refused == nil && s.reached():
		code = s.goal
	case len(verdict) > 0:
		code = verdict[0]
	default:
		s.Notice = "A scenario states what it breaks, and nothing is broken yet."
		return nil
	}
	t, schedule := s.Run.Trace, sim.Schedule{Config: s.cfg, Moves: s.here.moves()}
	return picker.SaveScenario(s.Player, t, func(string) ([]byte, error) {
		return scenarios.FromSchedule("Scheduled by hand: "+code.Named(), code.Name()+" ("+code.String()+")", "Schedule: "+t.Schedule, code, schedule)
	})
}

// copySchedule hands the schedule to the terminal's clipboard.
func (s *Sandbox) copySchedule() tea.Cmd {
	text := s.Run.Schedule
	s.Notice = "The schedule is in the clipboard, if the terminal has one: lockstep replay plays it, and so does pasting it here."
	return func() tea.Msg {
		s.Clipboard(text)
		return nil
	}
}

// Paste takes over a schedule, with its own setup and strategy.
func (s *Sandbox) Paste(text string) {
	schedule, err := sim.ParseSchedule(text, scenarios.FindStrategy)
	if err != nil {
		s.Notice = err.Error()
		return
	}
	strategy := s.Library.Strategy(schedule.Config.Strategy.Name)
	was, at := s.cfg, s.here
	schedule.Config.Scenario = sandboxName
	s.cfg, s.here = schedule.Config, &branch{}
	for _, m := range singles(schedule.Moves) {
		s.add([]sim.Move{m})
	}
	err = s.replay(s.here)
	if strategy < 0 || err != nil {
		s.cfg, s.here = was, at
		s.Notice = fmt.Sprintf("That schedule can't be played: %v.", err)
		return
	}
	if s.challenge != nil && !sameSetup(was, s.cfg) {
		left := s.challenge
		s.challenge = nil
		s.offer()
		go left.quit()() // the adviser may be busy with an answer
		s.Notice = "Another setup than the search's: there are no hints for it."
	}
	s.Strategy, s.Title = strategy, "Your turn"
	s.Display(s.Run, s.Pos) // with the new strategy's source
}

// FooterKeys are the keys that work here, the most useful first.
func (s *Sandbox) FooterKeys() []key.Binding {
	k := &s.Keys
	hint := []key.Binding(nil)
	if s.challenge != nil {
		hint = []key.Binding{k.Hint, screen.As(k.Scenario, "goal")}
	}
	keys := []key.Binding{screen.As(k.Enter, "do it"), screen.Pair(k.Up, k.Down, "who"), screen.Pair(k.Back, k.Forward, "what"), k.Undo}
	keys = append(keys, hint...)
	return append(keys, k.Redo, screen.Pair(k.Previous, k.Next, "branch"),
		screen.As(k.View, s.NextView()), k.Source, k.Copy, k.Export, k.Save, screen.Pair(k.In, k.Out, "zoom"), k.Evidence, k.Close, k.Mouse, k.Help, k.Quit)
}

// Help explains the screen and its keys.
func (s *Sandbox) Help() screen.Page {
	k := &s.Keys
	p := screen.Page{
		Title: "your turn",
		About: "You are the scheduler. Get two clients into the critical section at once, or break something else: choose who steps, let time pass, " +
			"pause, crash, lose messages, stop servers. Undo goes back as far as you like, and what you have tried stays: redo and the branch keys go there again. " +
			"A client that could act while time passes, and isn't let, is paused. Hints are for games of your own, which the matrix opens, and the search.",
		Keys: []key.Binding{screen.As(k.Up, "actor above"), screen.As(k.Down, "actor below"), screen.As(k.Back, "choice before"), screen.As(k.Forward, "choice after"), screen.As(k.Enter, "make the move"),
			k.Undo, k.Redo, screen.As(k.Previous, "branch before"), screen.As(k.Next, "branch after"), screen.As(k.Copy, "copy the schedule"), k.Export, k.Save, screen.As(k.Evidence, "round the evidence"),
			screen.As(k.View, "next view"), k.Source, k.In, k.Out, k.Pane, k.PageUp, k.PageDown},
		Signs: append(pane.Legend(&s.Theme.Glyphs), screen.CodeSigns()...),
	}
	if s.challenge != nil {
		p.About = "You are the scheduler, and the goal is to break the lock: choose who steps, let time pass, and use the faults that there are. " +
			"This is " + screen.BoundsText(&s.bounds) + ". To let time pass while a client could act is to pause it. " +
			"Hints come from a search of all that can follow: how far it is at least, and the first move of the least way, which has the fewest faults, then the fewest switches " +
			"from one client to another, then the fewest steps. Undo goes back as far as you like, and what you have tried stays."
		p.Keys = append(p.Keys, screen.As(k.Hint, "the next move"), screen.As(k.Scenario, "another goal"))
	}
	p.Keys = append(p.Keys, k.Always()...)
	return p
}

// drawChoices lists, in the narration's place, the moves of each actor.
func (s *Sandbox) drawChoices(c *draw.Canvas, r draw.Rectangle) {
	said := s.standing(r.W)
	for i, l := range said {
		c.Line(r.X, r.Y+i, r.W, l)
	}
	r.Y += len(said) - 1
	room := r.H - len(said)
	first := draw.InSight(max(s.row-room/2, 0), s.row, room, len(s.rows))
	for i := first; i < len(s.rows) && i-first < room; i++ {
		row := s.rows[i]
		mark := "  "
		if i == s.row {
			mark = s.Theme.Pointer + " "
		}
		if i == first && first > 0 || i-first == room-1 && i < len(s.rows)-1 {
			mark = s.Theme.More + mark[len(mark)-1:] // there is more that way
		}
		l := draw.Line{draw.Text(mark, draw.Here), draw.Text(draw.Pad(row.name, 6), row.ink)}
		for j, choice := range row.choices {
			if i == s.row && j == s.col {
				l = append(l, draw.Text("["+choice.name+"]", draw.Pick), draw.Text(" ", draw.Plain))
				continue
			}
			l = append(l, draw.Text(" "+choice.name+"  ", draw.Plain))
		}
		c.Line(r.X, r.Y+1+i-first, r.W, l)
	}
}

// standing is the goal and the distance to it, in a row or two.
func (s *Sandbox) standing(width int) []draw.Line {
	text := "Get two clients into the critical section. " + draw.Plural(s.here.depth, "move") + "."
	if c := s.challenge; c != nil {
		text = "Goal: " + s.goal.String() + ", " + s.goal.Name() + "."
		if c.known && c.refused == nil && !c.reached() && s.here.depth > 0 {
			text += " " + c.sofar()
		}
	}
	if up := s.here.parent; up != nil && len(up.tried) > 1 {
		text += fmt.Sprintf(" Branch %d of %d.", up.last+1, len(up.tried))
	}
	first := draw.Line{draw.Text(" "+text, draw.Strong)}
	if s.challenge == nil {
		return []draw.Line{first}
	}
	how, k := s.challenge.outlook(&s.Keys)
	if next := (draw.Line{draw.Text("  "+how, k)}); first.Width()+next.Width() <= width {
		return []draw.Line{append(first, next...)}
	}
	lines := []draw.Line{first}
	for _, text := range draw.Wrap(how, width-2) {
		lines = append(lines, draw.Line{draw.Text(" "+text, k)})
	}
	return lines
}
