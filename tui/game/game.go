// Package game has the screen on which the reader is the scheduler: levels, each with a lock
// to break, and games that go on from any run.
package game

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/code"
	"lockstep/tui/draw"
	"lockstep/tui/layout"
	"lockstep/tui/levels"
	"lockstep/tui/pane"
	"lockstep/tui/picker"
	"lockstep/tui/player"
	"lockstep/tui/screen"
	"lockstep/tui/tried"
	"lockstep/tui/views"
)

// Game is a run whose scheduler is the reader, who decides which client goes on, what goes
// wrong, how much time passes. Every move replays the whole run from its schedule, so that undo goes
// back any number of moves. All that was tried is kept in the reader's progress, at once.
//
// Invariant: Run is the run of here.Moves(), the moves from the root of the tree to here.
type Game struct {
	*player.Player
	*quest // or nil, if it goes on from a run

	cfg      sim.Config
	file     string // the name under which the game is kept
	root     *tried.Branch
	here     *tried.Branch
	now      time.Duration          // at here; its last event may have been earlier
	menu     map[string][]sim.Offer // of a game without bounds: the faults that can be chosen, by client or server
	options  []option
	clients  int      // options that are clients': those that let time pass follow
	waits    int      // of these
	next     []option // by client: its step
	at       int      // the option at the cursor, or none on arrival: enter may have been pressed once too often on the way here
	first    int      // the first option in sight
	still    string   // why no time can pass, if none can
	advice   string   // the hint that was given here
	most     int      // options that there have been at a time: the rows for them stay
	plan     layout.Game
	scroll   int           // of the debrief
	beyond   int           // how far that goes
	unfolded bool          // the debrief has all that the win has shown
	recent   int           // the client to which the cursor came last
	met      trace.Verdict // the codes besides the goal whose meaning was told
	before   int           // the level from whose win enter came here, or none: enter may have been pressed once too often
	coded    bool          // where there is no room for both: the code is shown, and not the diagram
}

// New goes on from a position of a run, with the moves that led there. The moves tried from
// other positions of the same run are there, too.
func New(st *screen.App, from screen.SandboxMsg) (*Game, error) {
	schedule, err := sim.ParseSchedule(from.Trace.Schedule, scenarios.FindStrategy)
	if err != nil {
		return nil, err
	}
	name := sim.Label(schedule.Config.Scenario)
	schedule.Config.Scenario = tried.Label
	s := newGame(player.New(st, from.Strategy, from.Scenario), schedule.Config, "run."+schedule.Config.Strategy.Name+"."+name)
	here := s.root
	for _, m := range tried.Prefix(schedule, from.Pos) {
		made := []sim.Move{m}
		if here.Child(made) == nil {
			here.Grow(made)
		}
		here = here.Child(made)
	}
	s.here = here
	return s, s.arrive()
}

// newGame is the game of that name as it was left, or a new one.
func newGame(p *player.Player, cfg sim.Config, file string) *Game {
	p.Asks, p.Steady, p.Names = false, true, true // the reader decides what comes
	s := &Game{Player: p, cfg: cfg, file: file, before: none}
	s.Title, s.root, s.coded = "Your turn", &tried.Branch{}, cfg.Strategy.File != ""
	s.recall()
	if s.here == nil {
		s.here = s.root
	}
	return s
}

// replay shows the run up to a branch, and stays where it is if there is none.
func (s *Game) replay(b *tried.Branch) error {
	schedule := sim.Schedule{Config: s.cfg, Moves: b.Moves()}
	t, err := scenarios.Replay(schedule)
	if err != nil {
		return err
	}
	if s.quest == nil {
		if s.menu, err = scenarios.Offers(schedule); err != nil {
			return err
		}
	}
	if s.now, err = scenarios.Clock(schedule); err != nil {
		return err
	}
	s.outdate()
	s.here, s.scroll, s.unfolded, s.Now = b, 0, false, s.now
	s.Display(timeline.New(t), len(t.Events))
	s.offer()
	s.at = s.goesOn()
	return nil
}

// arrive shows the run as it was left, with the cursor on no move.
func (s *Game) arrive() error {
	err := s.replay(s.here)
	s.at = none
	return err
}

// goesOn is the place of the option by which the client that acted last goes on, or 0.
func (s *Game) goesOn() int {
	if len(s.here.Made) == 0 {
		return 0
	}
	who := s.here.Made[len(s.here.Made)-1].Who
	return max(slices.IndexFunc(s.options, func(o option) bool {
		return o.client != trace.None && who.Has(o.client) && o.moves[0].Count > 0
	}), 0)
}

// Start asks for a hint.
func (s *Game) Start() tea.Cmd { return s.ask() }

// Update takes a key, a click, or the result of something that was asked for.
func (s *Game) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case screen.Click:
		s.clicked(msg)
	case picker.ExportedMsg, screen.RefusedMsg:
		return s.Player.Update(msg)
	case hintMsg:
		return s.heed(msg), screen.Outcome{}
	case debriefMsg:
		if s.quest == msg.of {
			s.debrief = &msg.Other
		}
	default: // a step of the playing
		return s.Player.Update(msg)
	case tea.KeyMsg:
		s.Notice = ""
		if s.quest != nil {
			s.wanted = false
		}
		cmd, out := s.typed(msg)
		if s.Notice == "" && s.Pos == s.Run.Last() {
			s.Notice = s.advice
		}
		if s.quest != nil && s.asked != s.here && !out.Close {
			cmd = tea.Batch(cmd, s.ask())
		}
		return cmd, out
	}
	return nil, screen.Outcome{}
}

func (s *Game) typed(k tea.KeyMsg) (tea.Cmd, screen.Outcome) {
	switch {
	case key.Matches(k, s.Keys.Close):
		if s.LeaveEvidence() || s.LeaveView() {
			return nil, screen.Outcome{}
		}
		return s.quest.quit(), screen.Outcome{Close: true}
	case key.Matches(k, s.Keys.Scenario):
		return nil, screen.Outcome{Open: s.Levels()}
	case key.Matches(k, s.Keys.Enter) && s.won():
		return nil, s.nextLevel()
	case key.Matches(k, s.Keys.Strategy) && s.won():
		return nil, s.sameMovesElsewhere()
	case key.Matches(k, s.Keys.Export):
		return nil, picker.Export(s.App, s.Run.Trace, s.Player)
	case key.Matches(k, s.Keys.Save):
		return s.save(), screen.Outcome{}
	case key.Matches(k, s.Keys.Copy):
		return s.copySchedule(), screen.Outcome{}
	case key.Matches(k, s.Keys.Play) && s.Run.Last() > 0:
		return s.TogglePlay(), screen.Outcome{}
	case key.Matches(k, s.Keys.Play):
		s.Notice = fmt.Sprintf("There is no move to replay yet: %s choose one, and %s makes it.", screen.Pair(s.Keys.Up, s.Keys.Down, "").Help().Key, s.Keys.Enter.Help().Key)
		return nil, screen.Outcome{}
	case key.Matches(k, s.Keys.Violation, s.Keys.Evidence) && len(s.Run.Violations) == 0:
		s.Notice = "Nothing is broken yet" + draw.Either(s.quest != nil, ": the goal is still to be reached.", ".") // more may come, unlike in a run that is over
		return nil, screen.Outcome{}
	}
	s.steer(k)
	return nil, screen.Outcome{}
}

// steer handles the keys that choose, make and unmake moves, and those that change how the
// run is shown.
func (s *Game) steer(k tea.KeyMsg) {
	switch {
	case key.Matches(k, s.Keys.Hint): // before the key that goes back, with which it shares one
		s.showHint()
	case key.Matches(k, s.Keys.Up):
		s.move(-1)
	case key.Matches(k, s.Keys.Down):
		s.move(1)
	case key.Matches(k, s.Keys.PageUp):
		s.move(-screen.ScrollPage)
	case key.Matches(k, s.Keys.PageDown):
		s.move(screen.ScrollPage)
	case key.Matches(k, s.Keys.Guess):
		s.choose(int(k.Runes[0] - '1'))
	case key.Matches(k, s.Keys.Enter, s.Keys.Forward):
		s.act()
	case key.Matches(k, s.Keys.Undo, s.Keys.Back):
		s.undo()
	case key.Matches(k, s.Keys.Redo):
		s.redo()
	case key.Matches(k, s.Keys.Next):
		s.switchBranch(1)
	case key.Matches(k, s.Keys.Previous):
		s.switchBranch(-1)
	case key.Matches(k, s.Keys.First):
		s.goTo(s.root)
	case key.Matches(k, s.Keys.Source):
		s.coded = !s.coded
	case key.Matches(k, s.Keys.View):
		s.nextView(k)
	case key.Matches(k, s.Keys.In), key.Matches(k, s.Keys.Out), key.Matches(k, s.Keys.Evidence), key.Matches(k, s.Keys.Violation):
		s.Adjust(k)
	}
}

// act makes the move at the cursor. On arrival it puts the cursor on the first.
func (s *Game) act() {
	switch {
	case s.won() || len(s.options) == 0:
	case s.at == none:
		s.at = 0
		s.Notice = fmt.Sprintf("%s again makes the move at %s; %s choose another.", s.Keys.Enter.Help().Key, s.Theme.Pointer, screen.Pair(s.Keys.Up, s.Keys.Down, "").Help().Key)
	default:
		s.try(s.options[s.at])
	}
}

// choose makes the move of that number, from 0. A key that has none says so: it would seem to be broken.
func (s *Game) choose(n int) {
	switch {
	case s.won():
		s.Notice = fmt.Sprintf("The goal is reached: %s goes on, %s starts it anew.", s.Keys.Enter.Help().Key, s.Keys.First.Help().Key)
	case n < 0 || n >= len(s.options):
		are := draw.Either(len(s.options) == 1, "is ", "are ")
		s.Notice = fmt.Sprintf("There %s%s: no number %d.", are, draw.Plural(len(s.options), "move"), n+1)
	default:
		s.at = n
		s.try(s.options[n])
	}
}

// nextView goes round the views of the run. Where there is no room for both, the clients'
// code is one of them.
func (s *Game) nextView(k tea.KeyMsg) {
	switch {
	case s.won() && s.plan.Diagram.Empty() && s.plan.Code.Empty():
		s.Notice = "The words take the diagram's place here: " + s.Keys.Up.Help().Key + " folds them, and brings it back."
		return
	case s.coded && !s.plan.Both():
		s.coded = false
		s.Notice = "view: " + s.View()
		return
	}
	s.coded = s.NextView() == views.Timeline
	s.Adjust(k)
	if s.coded && !s.plan.Both() {
		s.Notice = "view: code"
	}
}

// move moves the cursor in the list of options, or unfolds, scrolls and folds the debrief.
func (s *Game) move(by int) {
	switch {
	case s.won() && !s.unfolded:
		s.unfolded = by > 0
		return
	case s.won():
		s.unfolded = s.scroll > 0 || by > 0
		s.scroll = max(s.scroll+by, 0)
		return
	}
	s.at = max(min(s.at+by, len(s.options)-1), 0) // also where no move is left
}

// clicked makes the move that was clicked at, or moves the cursor of the diagram.
func (s *Game) clicked(c screen.Click) {
	r := s.plan.Moves
	switch {
	case c.Wheel != 0 && c.In(r):
		s.move(c.Wheel)
	case c.In(r) && !s.won():
		n := s.first + c.Y - r.Y
		if c.X-r.X >= s.plan.Left {
			n += s.plan.Rows
		} else if c.Y-r.Y >= s.plan.Rows {
			return
		}
		if n < len(s.options) {
			s.at = n
		}
	default:
		s.Clicked(c)
	}
}

// try makes a move, on a new branch if others were tried here before.
func (s *Game) try(o option) {
	s.Notice = "" // it was about a move before
	b := s.here.Child(o.moves)
	if b == nil {
		from := s.here
		b = from.Grow(o.moves)
		if err := s.replay(b); err != nil {
			from.Tried = from.Tried[:len(from.Tried)-1]
			from.Last = max(len(from.Tried)-1, 0)
			if inner := errors.Unwrap(err); inner != nil {
				err = inner // without the word that stands for it in schedules
			}
			s.Notice = "That can't be done: " + err.Error() + "."
			return
		}
		s.explain()
		s.keep()
		return
	}
	s.goTo(b)
}

// save writes the run so far as a scenario, which states the code that it violates: the
// goal, or else the worst.
func (s *Game) save() tea.Cmd {
	verdict := s.Run.Verdict()
	var code trace.Code
	switch {
	case s.won():
		code = s.goal
	case len(verdict) > 0:
		code = verdict[0]
	default:
		s.Notice = "A scenario states what it breaks, and nothing is broken yet."
		return nil
	}
	t, schedule := s.Run.Trace, sim.Schedule{Config: s.cfg, Moves: s.here.Moves()}
	return picker.SaveScenario(s.Player, t, func(string) ([]byte, error) {
		return scenarios.FromSchedule("Scheduled by hand: "+code.Named(), code.Name()+" ("+code.String()+")", "Schedule: "+t.Schedule, code, schedule)
	})
}

// copySchedule hands the schedule to the terminal's clipboard.
func (s *Game) copySchedule() tea.Cmd {
	text := s.Run.Schedule
	s.Notice = s.Rename("Copied, if the terminal can: lockstep replay plays it, or paste it here.")
	return func() tea.Msg {
		s.Clipboard(text)
		return nil
	}
}

// Paste takes over a schedule. Moves in the game's own setup go on as a branch of it, those
// in another setup are a game of their own, without a goal.
func (s *Game) Paste(text string) {
	schedule, err := sim.ParseSchedule(text, scenarios.FindStrategy)
	if err != nil {
		s.Notice = err.Error()
		return
	}
	schedule.Config.Scenario = tried.Label
	strategy := s.Library.Strategy(schedule.Config.Strategy.Name)
	if strategy < 0 {
		s.Notice = "That schedule is of a lock which is not in the list: " + schedule.Config.Strategy.Name + "."
		return
	}
	was := *s
	if tried.Setup(schedule.Config) != tried.Setup(s.cfg) {
		s.root, s.cfg, s.quest, s.file = &tried.Branch{}, schedule.Config, nil, "pasted."+schedule.Config.Strategy.Name
		s.here = s.root
	}
	here := s.root
	for _, m := range tried.Singles(schedule.Moves) {
		here = here.Grow([]sim.Move{m})
	}
	if err := s.replay(here); err != nil {
		*s = was
		s.Notice = "That schedule can't be played: " + err.Error() + "."
		return
	}
	if was.quest != nil && s.quest == nil {
		was.quest.leave()
		s.Notice = "Another setup than the level's: there are no hints for it."
	}
	s.Strategy = strategy
	s.Display(s.Run, s.Pos) // with the new strategy's source
	s.keep()
}

// FooterKeys are the keys that work here, the most useful first.
func (s *Game) FooterKeys() []key.Binding {
	k := &s.Keys
	enter, arrows := k.Enter.Help().Key+" ", screen.Pair(k.Up, k.Down, "").Help().Key
	do, choose := "1-9 "+enter, arrows+" " // enter makes the move at the cursor
	if s.at == none {
		do, choose = "1-9 ", arrows+" "+enter
	}
	keys := []key.Binding{screen.Bind(strings.TrimSpace(do), "do it", k.Enter.Keys()...), screen.Bind(strings.TrimSpace(choose), "choose", k.Up.Keys()...), k.Undo}
	if s.quest != nil {
		keys = append(keys, k.Hint)
	}
	if s.won() {
		read := screen.As(k.Down, "more")
		if s.unfolded {
			read = screen.Pair(k.Up, k.Down, draw.Either(s.beyond > 0, "scroll", "fold"))
		}
		keys = []key.Binding{screen.As(k.Enter, s.leadsTo()), read, screen.As(k.First, "restart"), k.Undo, screen.As(k.Play, "replay")}
		if s.replayed() {
			keys = slices.Insert(keys, 3, screen.As(k.Strategy, "see "+s.debrief.Lock))
		}
	}
	keys = append(keys, screen.As(k.Scenario, "levels"), screen.As(k.View, s.viewLeadsTo()))
	if len(s.Run.Breaches) > 0 {
		keys = append(keys, k.Violation, k.Evidence)
	}
	if len(s.here.Tried) > 0 {
		keys = append(keys, k.Redo)
	}
	return append(keys, screen.Pair(k.Previous, k.Next, "branch"), k.Copy, k.Export, k.Save, screen.As(k.Play, "replay"), screen.Pair(k.In, k.Out, "zoom"), k.Close, k.Mouse, k.Help, k.Quit)
}

// leadsTo is where enter leads after a win.
func (s *Game) leadsTo() string {
	if next := levels.Unwon(s.App, s.level+1); next >= 0 {
		return fmt.Sprintf("level %d", next+1)
	}
	return "next level"
}

// Help explains the screen and its keys.
func (s *Game) Help() screen.Page {
	k := &s.Keys
	p := screen.Page{
		Title: "your turn",
		About: "You are the scheduler. The list has every move that can be made now: a client's next command, what can go wrong with it, and the instants at which " +
			"something happens by itself. While time passes, a client that has begun and could act is paused; where the level allows no pause, time waits for it. The name beside a line of code is the client that stands there; before the first move all names are where they will begin. " +
			"Undo goes back as far as you like. What you have tried stays, also when you quit: redo and the branch keys go there again.",
		Keys: []key.Binding{screen.As(k.Up, "move above"), screen.As(k.Down, "move below"), screen.As(k.Enter, "make the move"), screen.Bind("1-9", "make that move"),
			k.Undo, k.Redo, screen.As(k.Previous, "branch before"), screen.As(k.Next, "branch after"), screen.As(k.First, "the beginning"), screen.As(k.Scenario, "the levels"),
			screen.As(k.Copy, "copy the schedule"), k.Export, k.Save, screen.As(k.Play, "replay it so far"), screen.As(k.Violation, "to the violation"), screen.As(k.Evidence, "round the evidence"),
			screen.As(k.View, "the next view, named beside the key"), k.In, k.Out},
		Signs: slices.Concat(pane.Legend(&s.Theme.Glyphs, s.Run), code.Signs(&s.Theme.Glyphs, s.Run), screen.CodeSigns()),
	}
	if s.quest != nil {
		p.About += " This is " + screen.BoundsText(s.bounds) + ". Hints come from a search of all that can follow. They lead to the goal by the least schedule: " +
			"the one with the fewest faults, then the fewest changes from one client to another, then the fewest steps. A move is a row of the list, of whichever client; " +
			"it takes several steps where others' steps between them would change nothing."
		if slices.Contains(s.Run.Clients, trace.Probe) {
			p.About += " The " + trace.Probe + " is " + trace.ProbeAsks + "."
		}
		p.Keys = append(p.Keys, screen.As(k.Hint, "a hint; again, the next move"), screen.As(k.Strategy, "when won, your moves with another lock"))
	}
	p.Keys = append(p.Keys, k.Always()...)
	return p
}

// Levels is the list of all levels, on top of the game that it opens them in.
func (s *Game) Levels() screen.Screen {
	l := levels.New(s.App)
	l.Back = "the game" // elsewhere esc leads home from the list
	if s.quest != nil && s.level != none {
		l.At, l.Back = s.level, fmt.Sprintf("level %d", s.level+1)
	}
	l.Choose = func(i int) (tea.Cmd, screen.Outcome) {
		if err := s.play(i); err != nil {
			s.Notice = err.Error()
		}
		return s.ask(), screen.Outcome{Close: true}
	}
	return l
}

// play goes on with a level on this screen.
func (s *Game) play(level int) error {
	g, err := NewLevel(s.App, level)
	if err != nil {
		return err
	}
	s.quest.leave()
	*s = *g
	return nil
}

// nextLevel goes on with the next level that is not won yet.
func (s *Game) nextLevel() screen.Outcome {
	next := levels.Unwon(s.App, s.level+1)
	if next < 0 {
		s.Notice = "You have won all levels."
		return screen.Outcome{}
	}
	won := s.level
	if err := s.play(next); err != nil {
		s.Notice = err.Error()
		return screen.Outcome{}
	}
	if s.before = won; won != none && s.here == s.root {
		s.Notice = fmt.Sprintf("%s goes back to level %d, which you have won.", s.Keys.Undo.Help().Key, won+1)
	}
	return screen.Outcome{}
}

// replayed reports whether the same moves were replayed under a lock of the list.
func (s *Game) replayed() bool {
	return s.debrief != nil && s.debrief.Run != nil && s.Library.Strategy(s.debrief.Lock) >= 0
}

// sameMovesElsewhere opens the run of the same moves under the other lock, where it parts from the reader's.
func (s *Game) sameMovesElsewhere() screen.Outcome {
	if !s.replayed() {
		s.Notice = "There is no other lock's run of the same moves, or not yet."
		return screen.Outcome{}
	}
	return screen.Outcome{To: screen.FindingMsg{Strategy: s.Library.Strategy(s.debrief.Lock), Trace: s.debrief.Run, Sought: s.goal, Own: true, From: tried.Decided(s.debrief.Run, s.goal)}}
}
