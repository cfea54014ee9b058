package tui

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/trace"
)

// sandbox is a run whose scheduler is the reader: who steps, who is paused, who
// dies, what gets lost, how much time passes. Every move replays the whole run
// from its schedule, so that undo goes back any number of moves, and no branch
// that was tried is ever lost.
type sandbox struct {
	*player
	*challenge // or nil, if it goes on from a run

	cfg  sim.Config
	here *branch
	rows []choiceRow
	row  int
	col  int
}

// branch is a move in the tree of those that were tried.
type branch struct {
	parent *branch
	tried  []*branch
	last   int        // the one of those tried that was last gone to
	made   []sim.Move // most often one; a restart is two
	depth  int
}

// choiceRow is an actor, and what can be done with it.
type choiceRow struct {
	name    string
	ink     ink
	choices []moveChoice
}

// moveChoice is a move that can be made, by its name.
type moveChoice struct {
	name  string
	moves []sim.Move
}

// sandboxName is what schedules say instead of a scenario: there is no script.
const sandboxName = "sandbox"

// openSandbox goes on from where the player stands, with the moves that led there.
func (p *player) openSandbox() outcome {
	s, err := newSandbox(p)
	if err != nil {
		p.notice = "No way on from here: " + err.Error()
		return outcome{}
	}
	return outcome{open: s}
}

func newSandbox(from *player) (*sandbox, error) {
	schedule, err := sim.ParseSchedule(from.reel.trace.Schedule, scenarios.FindStrategy)
	if err != nil {
		return nil, err
	}
	schedule.Config.Scenario = sandboxName
	s := &sandbox{player: newPlayer(from.stage, from.strategy, from.scenario), cfg: schedule.Config, here: &branch{}}
	s.title, s.below = "Your turn", s.drawChoices
	for _, m := range prefix(schedule, from.pos) {
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

// singles takes moves apart, so that each can be undone; the script's notes are left out.
func singles(moves []sim.Move) []sim.Move {
	var all []sim.Move
	for _, m := range moves {
		switch {
		case m.Note > 0, m.Fault == (sim.Aftermath{}):
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

// add makes a move the next one of this branch, and goes there.
func (s *sandbox) add(made []sim.Move) {
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
func (s *sandbox) replay(b *branch) error {
	t, err := scenarios.Replay(sim.Schedule{Config: s.cfg, Moves: b.moves()})
	if err != nil {
		return err
	}
	s.here = b
	s.display(newReel(t), len(t.Events))
	s.offer()
	return nil
}

// goTo goes to a branch that was there before.
func (s *sandbox) goTo(b *branch) {
	if err := s.replay(b); err != nil {
		s.notice = err.Error()
	}
}

// offer lists the moves that can be tried here.
func (s *sandbox) offer() {
	s.rows = nil
	if s.challenge != nil {
		s.offerSearchable()
	} else {
		s.offerAll()
	}
	s.row = min(s.row, len(s.rows)-1)
	s.col = min(s.col, len(s.rows[s.row].choices)-1)
}

func (s *sandbox) offerAll() {
	all := sim.Set(0)
	one := func(name string, m sim.Move) moveChoice { return moveChoice{name, []sim.Move{m}} }
	for i, c := range s.cfg.Clients {
		st := &s.now.Clients[i]
		if st.Crashed || st.Stopped {
			continue
		}
		all |= sim.SetOf(i)
		freeze := one("pause", sim.Move{Fault: sim.Pause{Client: c.Name}})
		if s.frozen(c.Name) {
			freeze = one("resume", sim.Move{Fault: sim.Resume{Client: c.Name}})
		}
		s.rows = append(s.rows, choiceRow{c.Name, clientInk(i), []moveChoice{
			one("step", sim.Move{Who: sim.SetOf(i), Count: 1}), freeze, one("crash", sim.Move{Fault: sim.Crash{Client: c.Name}}),
			one("lose reply", sim.Move{Fault: sim.Drop{Client: c.Name, Reply: true}}), one("lose request", sim.Move{Fault: sim.Drop{Client: c.Name}}),
		}})
	}
	if all != 0 {
		s.rows = append(s.rows, choiceRow{"all", inkStrong, []moveChoice{one("step", sim.Move{Who: all, Count: 1})}})
	}
	s.rows = append(s.rows, choiceRow{"time", inkStrong, []moveChoice{
		one("1ms", sim.Move{Wait: time.Millisecond}), one("100ms", sim.Move{Wait: 100 * time.Millisecond}), one("1s", sim.Move{Wait: time.Second}),
		one("a lease: "+trace.Brief(s.cfg.TTL), sim.Move{Wait: s.cfg.TTL}),
	}})
	for i := range s.now.Nodes {
		name := s.reel.trace.Nodes[i]
		stop := one("down", sim.Move{Fault: sim.Down{Node: name}})
		if !s.now.Nodes[i].Up {
			stop = one("up", sim.Move{Fault: sim.Up{Node: name}})
		}
		s.rows = append(s.rows, choiceRow{name, inkStrong, []moveChoice{stop, one("lose the key", sim.Move{Fault: sim.Evict{Node: name}})}})
	}
}

// frozen reports whether the reader has paused a client, and not let it go since.
func (s *sandbox) frozen(client string) bool {
	frozen := false
	for _, m := range s.here.moves() {
		switch m.Fault {
		case sim.Pause{Client: client}:
			frozen = true
		case sim.Resume{Client: client}, sim.Crash{Client: client}:
			frozen = false
		}
	}
	return frozen
}

func (s *sandbox) start() tea.Cmd { return s.ask() }

func (s *sandbox) update(msg tea.Msg) (tea.Cmd, outcome) {
	switch msg := msg.(type) {
	case click:
		s.player.clicked(msg)
	case exported:
		return s.player.update(msg)
	case hinted:
		s.heed(msg)
	case tea.KeyMsg:
		s.notice = ""
		cmd, out := s.typed(msg)
		if s.challenge != nil && s.asked != s.here && !out.close {
			cmd = tea.Batch(cmd, s.ask())
		}
		return cmd, out
	}
	return nil, outcome{}
}

func (s *sandbox) typed(k tea.KeyMsg) (tea.Cmd, outcome) {
	switch {
	case key.Matches(k, s.keys.Close):
		return s.challenge.quit(), outcome{close: true}
	case key.Matches(k, s.keys.Hint):
		s.showHint()
	case key.Matches(k, s.keys.Scenario) && s.challenge != nil:
		return nil, s.goalPicker()
	case key.Matches(k, s.keys.Up):
		s.row = max(s.row-1, 0)
	case key.Matches(k, s.keys.Down):
		s.row = min(s.row+1, len(s.rows)-1)
	case key.Matches(k, s.keys.Back):
		s.col = max(s.col-1, 0)
	case key.Matches(k, s.keys.Forward):
		s.col++
	case key.Matches(k, s.keys.Enter):
		s.try(s.rows[s.row].choices[s.col])
	case key.Matches(k, s.keys.Undo):
		s.undo()
	case key.Matches(k, s.keys.Redo):
		s.redo()
	case key.Matches(k, s.keys.Next):
		s.switchBranch(1)
	case key.Matches(k, s.keys.Previous):
		s.switchBranch(-1)
	case key.Matches(k, s.keys.Export):
		return nil, s.exportPicker(s.reel.trace, s.player)
	case key.Matches(k, s.keys.Save):
		return s.save(), outcome{}
	case key.Matches(k, s.keys.Copy):
		return s.copySchedule(), outcome{}
	case key.Matches(k, s.keys.View), key.Matches(k, s.keys.Source), key.Matches(k, s.keys.In), key.Matches(k, s.keys.Out), key.Matches(k, s.keys.Evidence),
		key.Matches(k, s.keys.Pane), key.Matches(k, s.keys.PageUp), key.Matches(k, s.keys.PageDown):
		if !s.moves(k) {
			s.looks(k)
		}
	}
	s.col = min(s.col, len(s.rows[s.row].choices)-1)
	return nil, outcome{}
}

// try makes a move, on a new branch if others were tried here before.
func (s *sandbox) try(c moveChoice) {
	for i, b := range s.here.tried {
		if sameMoves(b.made, c.moves) {
			s.here.last = i
			s.goTo(b)
			return
		}
	}
	from, events, before := s.here, s.reel.last(), s.reel.trace.Schedule
	s.add(c.moves)
	step := c.moves[0].Count > 0
	err := s.replay(s.here)
	// A step is one that shows: starting a thread, say, leaves no event.
	for n := 1; err == nil && step && s.reel.last() == events && n < mostSilent; n++ {
		s.here.made[0].Count++
		err = s.replay(s.here)
	}
	switch {
	case err != nil:
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the word that stands for it in schedules
		}
		s.forget(from)
		s.notice = "That can't be done: " + err.Error() + "."
	case s.reel.last() == events && s.reel.trace.Schedule == before,
		s.reel.last() == events && step:
		s.forget(from)
		s.goTo(from)
		s.notice = "That changes nothing: " + s.rows[s.row].name + " has nothing to do."
	}
}

// mostSilent is how many steps in a row may leave no event.
const mostSilent = 8

func sameMoves(a, b []sim.Move) bool { return slices.EqualFunc(a, b, sameMove) }

// sameMove: a step is the same however many silent ones it took.
func sameMove(a, b sim.Move) bool {
	return a.Who == b.Who && a.Wait == b.Wait && a.Fault == b.Fault
}

// forget takes back a move that could not be made.
func (s *sandbox) forget(from *branch) {
	from.tried = from.tried[:len(from.tried)-1]
	from.last = max(len(from.tried)-1, 0)
	s.here = from
}

func (s *sandbox) undo() {
	if s.here.parent == nil {
		s.notice = "This is the beginning."
		return
	}
	s.goTo(s.here.parent)
}

func (s *sandbox) redo() {
	if len(s.here.tried) == 0 {
		s.notice = "Nothing was tried from here on yet."
		return
	}
	s.goTo(s.here.tried[s.here.last])
}

// switchBranch goes to what else was tried in place of the last move.
func (s *sandbox) switchBranch(by int) {
	up := s.here.parent
	if up == nil || len(up.tried) < 2 {
		s.notice = "Nothing else was tried in place of the last move."
		return
	}
	up.last = (up.last + by + len(up.tried)) % len(up.tried)
	s.goTo(up.tried[up.last])
}

// save writes the run so far as a scenario, which states what it breaks: the goal,
// or else the worst.
func (s *sandbox) save() tea.Cmd {
	verdict := s.reel.trace.Verdict()
	var code trace.Code
	switch {
	case s.challenge != nil && s.known && s.refused == nil && s.reached():
		code = s.goal
	case len(verdict) > 0:
		code = verdict[0]
	default:
		s.notice = "A scenario states what it breaks, and nothing is broken yet."
		return nil
	}
	t, schedule := s.reel.trace, sim.Schedule{Config: s.cfg, Moves: s.here.moves()}
	return saveScenario(s.player, t, func(string) ([]byte, error) {
		return scenarios.FromSchedule("Scheduled by hand: "+code.Named(), code.Name()+" ("+code.String()+")", "Schedule: "+t.Schedule, code, schedule)
	})
}

// copySchedule hands the schedule to the terminal's clipboard.
func (s *sandbox) copySchedule() tea.Cmd {
	text := s.reel.trace.Schedule
	s.notice = "The schedule is in the clipboard, if the terminal has one: lockstep replay plays it, and so does pasting it here."
	return func() tea.Msg {
		s.clipboard(text)
		return nil
	}
}

// paste takes over a schedule, with its own setup and strategy.
func (s *sandbox) paste(text string) {
	schedule, err := sim.ParseSchedule(text, scenarios.FindStrategy)
	if err != nil {
		s.notice = err.Error()
		return
	}
	strategy := s.lib.strategy(schedule.Config.Strategy.Name)
	was, at := s.cfg, s.here
	schedule.Config.Scenario = sandboxName
	s.cfg, s.here = schedule.Config, &branch{}
	for _, m := range singles(schedule.Moves) {
		s.add([]sim.Move{m})
	}
	err = s.replay(s.here)
	if strategy < 0 || err != nil {
		s.cfg, s.here = was, at
		s.notice = fmt.Sprintf("That schedule can't be played: %v.", err)
		return
	}
	if s.challenge != nil && !sameSetup(was, s.cfg) {
		left := s.challenge
		s.challenge = nil
		s.offer()
		go left.quit()() // it may have to wait for an answer
		s.notice = "Another setup than the search's: there are no hints for it."
	}
	s.strategy, s.title = strategy, "Your turn"
	s.display(s.reel, s.pos) // with the new strategy's source
}

func (s *sandbox) footerKeys() []key.Binding {
	k := &s.keys
	hint := []key.Binding(nil)
	if s.challenge != nil {
		hint = []key.Binding{k.Hint, as(k.Scenario, "goal")}
	}
	keys := []key.Binding{as(k.Enter, "do it"), pair(k.Up, k.Down, "who"), pair(k.Back, k.Forward, "what"), k.Undo}
	keys = append(keys, hint...)
	return append(keys, k.Redo, pair(k.Previous, k.Next, "branch"),
		as(k.View, viewNames[(s.view+1)%views]), k.Source, k.Copy, k.Export, k.Save, pair(k.In, k.Out, "zoom"), k.Evidence, k.Close, k.Mouse, k.Help, k.Quit)
}

func (s *sandbox) help() page {
	k := &s.keys
	p := page{
		title: "your turn",
		about: "You are the scheduler. Get two clients into the critical section at once, or break something else: choose who steps, let time pass, " +
			"pause, crash, lose messages, stop servers. Undo goes back as far as you like, and what you have tried stays: redo and the branch keys go there again. " +
			"A client that could act while time passes, and isn't let, is paused. Hints are for games of your own, which the matrix opens, and the search.",
		keys: []key.Binding{as(k.Up, "actor above"), as(k.Down, "actor below"), as(k.Back, "choice before"), as(k.Forward, "choice after"), as(k.Enter, "make the move"),
			k.Undo, k.Redo, as(k.Previous, "branch before"), as(k.Next, "branch after"), as(k.Copy, "copy the schedule"), k.Export, k.Save, as(k.Evidence, "round the evidence"),
			as(k.View, "next view"), k.Source, k.In, k.Out, k.Pane, k.PageUp, k.PageDown},
		signs: append(s.theme.legend(), codeMeanings()...),
	}
	if s.challenge != nil {
		p.about = "You are the scheduler, and the goal is to break the lock: choose who steps, let time pass, and use the faults that there are. " +
			"This is " + boundsWords(&s.bounds) + ". To let time pass while a client could act is to pause it. " +
			"Hints come from a search of all that can follow: how far it is at least, and the first move of the least way, which has the fewest faults, then the fewest switches " +
			"from one client to another, then the fewest steps. Undo goes back as far as you like, and what you have tried stays."
		p.keys = append(p.keys, as(k.Hint, "the next move"), as(k.Scenario, "another goal"))
	}
	p.keys = append(p.keys, k.always()...)
	return p
}

// drawChoices lists, in the narration's place, who can be made to do what.
func (s *sandbox) drawChoices(c *canvas, r rect) {
	said := s.standing(r.w)
	for i, l := range said {
		c.line(r.x, r.y+i, r.w, l)
	}
	r.y += len(said) - 1
	room := r.h - len(said)
	first := inSight(max(s.row-room/2, 0), s.row, room, len(s.rows))
	for i := first; i < len(s.rows) && i-first < room; i++ {
		row := s.rows[i]
		mark := "  "
		if i == s.row {
			mark = s.theme.pointer + " "
		}
		if i == first && first > 0 || i-first == room-1 && i < len(s.rows)-1 {
			mark = s.theme.more + mark[len(mark)-1:] // there is more that way
		}
		l := line{{mark, inkHere}, {padded(row.name, 6), row.ink}}
		for j, choice := range row.choices {
			if i == s.row && j == s.col {
				l = append(l, span{"[" + choice.name + "]", inkPick}, span{" ", inkPlain})
				continue
			}
			l = append(l, span{" " + choice.name + "  ", inkPlain})
		}
		c.line(r.x, r.y+1+i-first, r.w, l)
	}
}

// standing says what is to be done, and how far it is, in a row or two.
func (s *sandbox) standing(width int) []line {
	text := "Get two clients into the critical section. " + plural(s.here.depth, "move") + "."
	if c := s.challenge; c != nil {
		text = "Goal: " + s.goal.String() + ", " + s.goal.Name() + "."
		if c.known && c.refused == nil && !c.reached() && s.here.depth > 0 {
			text += " " + c.sofar()
		}
	}
	if up := s.here.parent; up != nil && len(up.tried) > 1 {
		text += fmt.Sprintf(" Branch %d of %d.", up.last+1, len(up.tried))
	}
	first := line{{" " + text, inkStrong}}
	if s.challenge == nil {
		return []line{first}
	}
	how, k := s.challenge.words(&s.keys)
	if next := (line{{"  " + how, k}}); first.width()+next.width() <= width {
		return []line{append(first, next...)}
	}
	lines := []line{first}
	for _, text := range wrap(how, width-2) {
		lines = append(lines, line{{" " + text, k}})
	}
	return lines
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
