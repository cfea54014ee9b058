// Package player shows one run, event by event: of the library, of a lesson of the course,
// or one that a search has found. It puts the panes where the layout says, asks and judges
// predictions, and looks for text in the trace.
package player

import (
	"fmt"
	"slices"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/code"
	"lockstep/tui/draw"
	"lockstep/tui/facts"
	"lockstep/tui/find"
	"lockstep/tui/ladder"
	"lockstep/tui/layout"
	"lockstep/tui/lesson"
	"lockstep/tui/pane"
	"lockstep/tui/picker"
	"lockstep/tui/quiz"
	"lockstep/tui/screen"
	"lockstep/tui/views"
)

// Player shows one run, and moves a cursor through it. Screens that embed it display runs
// of their own, in a layout of their own.
//
// Invariants, once there is a run: 0 <= Pos <= Run.Last(); State is the state after the
// first Pos events; picked is none or an index of Run.Breaches.
type Player struct {
	*screen.App
	lesson *lesson.Place // where in the course the run belongs, or nil

	Strategy, scenario int  // places in the library, of the run that is shown or being computed
	load               int  // the number of the last load: results of earlier ones are dropped
	from               int  // where to begin in the first
	autoplay           bool // the first run plays by itself
	watched            bool // playing goes on by itself at questions, slowly enough to read, and tells their answers
	loading            bool
	rerun              bool // the run being computed is of a new version of the script that is shown
	failed             error
	Run                *timeline.Timeline  // or nil, as long as there is none
	file               string              // the strategy's own
	code               map[string][]string // lines, by file

	Pos             int          // the cursor: the number of events that have happened
	previous, State *trace.State // at Pos-1 and Pos
	zoom            int
	axes            pane.Axes
	view            views.View
	source          bool
	picked          int          // the violation whose evidence is lit, or none
	proving         bool         // the key that goes round its evidence has left its position
	back            int          // where that key was pressed first, or none
	quiz            *quiz.Quiz   // of the run
	again           map[int]bool // by the positions of its questions: it had been answered before, and doesn't count
	find            find.Finder
	focus           panel
	overflows       bool // the pane in focus has more than it has rows for
	scroll          [panels]int
	Notice          string // until the next key
	tick            int    // the number of the timer that may move the cursor
	playing         bool
	left            time.Duration // the rest of the stay here behind the timer that is set
	speed           int
	plan            layout.Layout  // of the last frame: clicks refer to it
	drawn           pane.Drawn     // in the last frame
	unexplained     []draw.Sign    // of it
	spare           int            // rows of a screen with a layout of its own, for those
	above           draw.Rectangle // the rule above the diagram, if nothing else stands there

	Asks         bool                // for predictions
	OwnQuestions bool                // of a script that asks some itself, no others; of a script in a file it is always so
	Settled      []timeline.Question // in runs before, with their answers: they are not asked again

	Steady bool // no row of the diagram comes or goes as the run goes on: for layouts of their own

	Scrolls bool // the words that have no row can be scrolled to
	Names   bool // the header has its name before each code, where there is room
	Fresh   bool // words that the stop before has told are left out
	Recaps  bool // the words for the steps that the picture shows are told once more

	Rehearsing bool // for a class that isn't there yet: the author is told the texts for an author
	Untold     bool // the code tells no answer: it has no comments, and not the lines that head its file, as long as a question is to come

	Measure int // the greatest width of the words, if it is more than that of prose elsewhere

	Remedies screen.Remedies // other locks, by the failures of this run that they don't show

	Sought *trace.Code // the violation that a search was after, or nil

	Title string        // instead of the scenario's
	Now   time.Duration // at the end of the run, where time has passed since its last event
}

// Quiz has the questions of the run at hand.
func (p *Player) Quiz() *quiz.Quiz { return p.quiz }

// Awaited reports whether there is no run yet, but one is to come.
func (p *Player) Awaited() bool { return p.Run == nil && p.loading }

// none is the index of no violation.
const none = -1

// panel is one that can have more to show than it has rows for.
type panel uint8

const (
	panelTold panel = iota
	panelState
	panelSource
	panelTrace
	panels
)

// scrolls is the pane that the arrows scroll in a view, until another is chosen.
var scrolls = map[views.View]panel{views.Trace: panelTrace, views.State: panelState, views.Holders: panelState}

var panelNames = [...]string{"narration", "state", "source", "trace"}

// loadedMsg is the result of a run.
type loadedMsg struct {
	load     int
	run      *timeline.Timeline
	remedies screen.Remedies
	err      error
	narrated int          // the note to go to, or -1
	of       screen.Stamp // of the scenario's file, before it was run
}

// tickMsg says that a step of the playing is due.
type tickMsg int

// New plays a strategy under a scenario, both places in the library, from the beginning.
func New(app *screen.App, strategy, scenario int) *Player {
	return &Player{App: app, speed: usualSpeed, Strategy: strategy, scenario: scenario, picked: none, quiz: quiz.Without(nil), again: map[int]bool{}, Asks: true}
}

// Open begins at a position.
func Open(app *screen.App, m screen.PlayMsg) *Player {
	p := New(app, m.Strategy, m.Scenario)
	p.from, p.autoplay = m.From, m.Playing
	return p
}

// OpenLesson is a player that plays a step of a lesson, and knows the next one.
func OpenLesson(app *screen.App, m screen.LessonMsg) *Player {
	place := &lesson.Place{Library: app.Library, Lesson: m.Lesson, Step: m.Step}
	l, step := place.At()
	app.Progress.See(l.Name, step.ID())
	st, sc := place.Run()
	p := New(app, st, sc)
	p.lesson = place
	return p
}

// scripted reports whether a scenario steers the run.
func (p *Player) scripted() bool { return p.Title == "" && p.Sought == nil }

// inCourse calls do with each step of the course that plays this very run, however it was opened, and
// reports whether there is any. Runs of a search or a game are none.
func (p *Player) inCourse(do func(lesson, step string)) bool {
	return !p.loading && p.scripted() && p.Library.Steps(p.Strategy, p.scenario, do)
}

// forClass reports whether nothing is told that is for the script's author.
func (p *Player) forClass() bool { return p.Teaching && !p.Rehearsing }

// scores reports whether predictions count here: in the course alone, and not for a class.
func (p *Player) scores() bool { return !p.Teaching && p.lesson != nil }

// Start has the run made.
func (p *Player) Start() tea.Cmd { return p.open(p.Strategy, p.scenario) }

// open computes a run in the background. The run that is shown stays until the new one is there.
func (p *Player) open(strategy, scenario int) tea.Cmd {
	narrated := -1
	if p.Run != nil && scenario == p.scenario {
		if notes := p.Run.Said(p.Pos); len(notes) > 0 {
			narrated = notes[0].Index
		}
	}
	p.Strategy, p.scenario = strategy, scenario
	return p.reload(narrated)
}

func (p *Player) reload(narrated int) tea.Cmd {
	p.load = p.Serial()
	p.loading, p.playing, p.rerun = true, false, false
	load, lib, seed, st, sc, next := p.load, *p.Library, p.Seed, p.Strategy, p.scenario, p.lesson.NextLocks()
	_, stale := p.Stale[sc]
	return func() tea.Msg {
		of := screen.StampOf(lib.Scenarios[sc].Path())
		if stale { // it isn't that version which is run
			of = screen.Stamp{}
		}
		t, err := lib.Run(lib.Scenarios[sc], lib.Strategies[st], seed)
		if err != nil {
			return loadedMsg{load: load, err: err, of: of}
		}
		return loadedMsg{load: load, run: timeline.New(t), remedies: lib.Remedies(sc, st, t, next), narrated: narrated, of: of}
	}
}

// choose opens another run than the course's.
func (p *Player) choose(strategy, scenario int) (tea.Cmd, screen.Outcome) {
	p.lesson = nil
	return p.open(strategy, scenario), screen.Outcome{Close: true}
}

// placeInCourse is the first step of the course that plays this run, if the course goes on from there, or nil.
func (p *Player) placeInCourse() *lesson.Place {
	if !p.scripted() {
		return nil
	}
	place := lesson.Of(p.Library, p.Strategy, p.scenario)
	if place == nil || place.Next() == nil {
		return nil
	}
	return place
}

// nextStep goes on in the course.
func (p *Player) nextStep() tea.Cmd {
	if p.lesson == nil {
		p.lesson = p.placeInCourse()
	}
	if p.lesson == nil {
		p.Notice = "No lesson has this run. The first screen leads to the course."
		return nil
	}
	next := p.lesson.Next()
	if next == nil {
		p.Notice = "That was the last step of the course."
		return nil
	}
	l, step := next.At()
	p.Progress.See(l.Name, step.ID())
	p.lesson = next
	p.Strategy, p.scenario = next.Run()
	return p.reload(-1)
}

// show puts a run on the screen. After a change of strategy it goes to where the
// story was, so that the class sees the same moment under another lock.
func (p *Player) show(l loadedMsg) {
	if l.load != p.load {
		return
	}
	p.loading = false
	if l.err != nil && p.rerun && p.Run != nil { // see reread
		p.from = 0
		p.fail(l.err)
		return
	}
	p.failed, p.Remedies = l.err, l.remedies
	if p.rerun {
		delete(p.Stale, p.scenario)
	}
	if l.err != nil {
		p.Run, p.picked, p.quiz, p.Notice = nil, none, quiz.Without(nil), ""
		p.find.Renew(nil)
		return
	}
	p.scroll, p.zoom = [panels]int{}, 0
	p.Grid.Learn(p.scenario, p.Strategy, l.run.Trace)
	from := p.from
	p.from = 0
	if p.rerun {
		p.showAgain(l.run, from)
		return
	}
	at := slices.IndexFunc(l.run.Notes, func(n trace.Note) bool { return n.Index == l.narrated })
	if l.narrated >= 0 && at >= 0 {
		p.Display(l.run, l.run.Before(l.run.Notes[at].Seq))
		return
	}
	p.Display(l.run, min(from, l.run.Last()))
}

// showAgain shows a new version of a script at the place where the old one stood, and says so: also if that place has moved.
func (p *Player) showAgain(run *timeline.Timeline, from int) {
	p.Notice = changed + draw.Either(p.forClass(), "a new run", run.Outcome()) + "." // no class is told how its run will end
	if p.Run == nil {
		p.Display(run, min(from, run.Last()))
		return
	}
	old, told, was, asked := p.Run, p.quiz, p.Pos, p.question() != nil
	p.Display(run, old.PlaceIn(run, was))
	p.quiz.Resume(told, was, p.Pos)
	p.Notice += old.Moved(was, run, p.Pos) + draw.Either(asked && p.question() == nil, " Its question is gone.", "")
}

// Display shows a run at a position.
func (p *Player) Display(tl *timeline.Timeline, pos int) {
	st := p.Library.Strategies[p.Strategy]
	p.Run, p.Pos, p.axes = tl, pos, pane.Axes{}
	p.file, p.code = st.File, map[string][]string{}
	p.picked, p.quiz = none, quiz.Without(tl)
	if p.Asks {
		p.quiz = quiz.Of(tl)
	}
	if p.OwnQuestions {
		p.quiz.Stay()
	}
	if sc := p.Library.Scenarios[p.scenario]; (p.OwnQuestions || sc.Path() != "") && sc.Asks() {
		p.quiz.OnlyScript()
	}
	p.quiz.Leave(p.Settled)
	p.find.Renew(tl)
	p.previous, p.State = tl.StateAt(max(pos-1, 0)), tl.StateAt(pos)
	p.arrived()
}

// goTo moves the cursor.
func (p *Player) goTo(pos int) {
	was := p.Pos
	if pos = min(max(pos, 0), p.Run.Last()); pos == was {
		return
	}
	p.Pos = pos
	if pos == was+1 { // the usual step needs no look back to the beginning
		p.previous, p.State = p.State, p.State.Clone()
		p.State.Apply(p.Run.Event(pos))
	} else {
		p.previous = p.Run.StateAt(max(pos-1, 0))
		p.State = p.Run.StateAt(pos)
	}
	p.arrived()
	if p.Pos >= p.Run.Watched() { // wherever it is watched; a run that is opened there has not been
		p.inCourse(p.Progress.Play)
	}
}

// arrived brings the state that depends on the cursor up to date.
func (p *Player) arrived() {
	p.proving, p.back = false, none
	p.quiz.See(p.Pos)
	p.scroll[panelTold], p.scroll[panelSource], p.scroll[panelTrace] = 0, 0, 0
	if p.Pos == 0 {
		p.picked = none // at the beginning no violation is told in advance
	}
	if p.picked == none || p.Run.Breaches[p.picked].Pos != p.Pos {
		if i := slices.IndexFunc(p.Run.Breaches, func(b timeline.Breach) bool { return b.Pos == p.Pos }); i >= 0 {
			p.picked = i
		}
	}
	if p.Scrolls && p.picked != none && p.Run.Breaches[p.picked].Pos > p.Pos { // a room that is led back has not come to that one
		p.picked = p.Run.LatestBreach(p.Pos)
	}
}

// Update takes a key, a click, or the result of something that was asked for.
func (p *Player) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case loadedMsg:
		p.show(msg)
		if p.autoplay && p.Run != nil {
			p.autoplay, p.watched = false, true
			p.quiz.OnlyFew()
			p.Notice = p.playsOn()
			return p.TogglePlay(), screen.Outcome{}
		}
		return p.watch(msg.load, msg.of), screen.Outcome{}
	case watchMsg:
		return p.look(msg), screen.Outcome{}
	case fileMsg:
		return p.reread(msg), screen.Outcome{}
	case screen.HiddenMsg:
		if p.playing {
			p.rest()
		}
	case tickMsg:
		return p.played(int(msg)), screen.Outcome{}
	case picker.ExportedMsg:
		if msg.From == p {
			p.Notice = msg.Text()
		}
	case screen.RefusedMsg:
		p.Notice = "No way on from here: " + msg.Err.Error()
	case screen.Click:
		p.Notice = ""
		p.Clicked(msg)
	case tea.KeyMsg:
		p.Notice = ""
		if p.find.Asking() {
			p.search(msg)
			return nil, screen.Outcome{}
		}
		return p.typed(msg)
	}
	return nil, screen.Outcome{}
}

// Typing reports whether a text to look for is being typed.
func (p *Player) Typing() bool { return p.find.Asking() }

func (p *Player) typed(k tea.KeyMsg) (tea.Cmd, screen.Outcome) {
	switch {
	case key.Matches(k, p.Keys.Close):
		return nil, screen.Outcome{Close: !p.LeaveEvidence() && !p.leaveSearch() && !p.leaveSource() && !p.LeaveView()}
	case key.Matches(k, p.Keys.Strategy):
		return nil, screen.Outcome{Open: p.strategyPicker()}
	case key.Matches(k, p.Keys.Scenario):
		return nil, screen.Outcome{Open: p.scenarioPicker()}
	case key.Matches(k, p.Keys.Compare):
		return nil, screen.Outcome{Open: p.comparePicker()}
	case key.Matches(k, p.Keys.Explore):
		return nil, screen.Outcome{To: p.searchMsg()}
	case key.Matches(k, p.Keys.NextStep):
		return p.nextStep(), screen.Outcome{}
	case key.Matches(k, p.Keys.Present):
		if p.lesson != nil {
			return nil, screen.Outcome{To: p.lesson.Present()}
		}
		p.Notice = p.Keys.Present.Help().Key + " presents a lesson: in the course, and in the steps that it opens."
	case p.Run == nil:
		return nil, screen.Outcome{}
	case key.Matches(k, p.Keys.Export):
		return nil, picker.Export(p.App, p.Run.Trace, p)
	case key.Matches(k, p.Keys.Sandbox):
		return nil, screen.Outcome{To: screen.SandboxMsg{Strategy: p.Strategy, Scenario: p.scenario, Trace: p.Run.Trace, Pos: p.Pos}}
	case key.Matches(k, p.Keys.Play):
		return p.TogglePlay(), screen.Outcome{}
	case p.playing && p.watched && key.Matches(k, p.Keys.Enter):
		return p.skip(), screen.Outcome{}
	case p.moves(k):
		p.playing, p.watched = false, false
	case p.counts():
		return p.stopClock(k), screen.Outcome{}
	default:
		p.looks(k)
	}
	return nil, screen.Outcome{}
}

// leaveSource closes the code that stands in the place of the diagram, and reports whether there was any.
func (p *Player) leaveSource() bool {
	if !p.source || p.Run == nil || !p.plan.Main.Empty() {
		return false
	}
	p.source = false
	return true
}

// LeaveView goes back to the first view, and reports whether another one was shown.
func (p *Player) LeaveView() bool {
	if p.Run == nil || p.view == views.Timeline {
		return false
	}
	p.view, p.focus = views.Timeline, scrolls[views.Timeline]
	return true
}

// searchMsg asks for a search within bounds that have the faults of this run.
func (p *Player) searchMsg() screen.SearchMsg {
	msg := screen.SearchMsg{Strategy: p.Strategy}
	if p.Run != nil {
		msg.Run = p.Run.Trace
	}
	return msg
}

// moves handles the keys that move the cursor.
func (p *Player) moves(k tea.KeyMsg) bool {
	switch {
	case key.Matches(k, p.Keys.Forward):
		if p.Pos == p.Run.Last() {
			p.Notice = p.ending()
		}
		p.goTo(p.Pos + 1)
	case key.Matches(k, p.Keys.Back):
		p.goTo(p.Pos - 1)
	case key.Matches(k, p.Keys.First):
		p.goTo(0)
	case key.Matches(k, p.Keys.Last):
		p.goTo(p.Run.Last())
	case key.Matches(k, p.Keys.Next):
		p.nextChapter()
	case key.Matches(k, p.Keys.Previous):
		p.goTo(p.Run.PreviousChapter(p.Pos))
	case key.Matches(k, p.Keys.Violation):
		p.toViolation()
	case key.Matches(k, p.Keys.Evidence):
		p.toEvidence()
	case key.Matches(k, p.Keys.Match):
		p.toMatch(1)
	case key.Matches(k, p.Keys.MatchBack):
		p.toMatch(-1)
	default:
		return false
	}
	return true
}

// nextChapter goes to the next chapter, or to a violation on the way there. In a lesson it stops at
// an open question, too, and says so; from there it passes over the others.
func (p *Player) nextChapter() {
	to := p.quiz.ToViolation(p.Pos, p.Run.NextChapter(p.Pos))
	if p.lesson != nil && p.question() == nil {
		if stop := p.quiz.ToQuestion(p.Pos, to); stop != to {
			to = stop
			p.Notice = "A question first: " + p.Keys.Next.Help().Key + " again passes over those before the next " + p.stretch() + "."
		}
	}
	p.goTo(to)
}

// Retreat goes back by one key, to where Advance has stopped before. It reports whether there was any such place.
func (p *Player) Retreat() bool {
	back := p.Run != nil && p.quiz.GoBack(p.Pos)
	if back || p.Run == nil || p.Pos == 0 {
		return back
	}
	p.goTo(p.quiz.PreviousTold(p.Pos, p.forClass()))
	return true
}

// looks handles the keys that change how the same moment is shown.
func (p *Player) looks(k tea.KeyMsg) {
	switch {
	case key.Matches(k, p.Keys.In):
		p.zoom = min(p.zoom+1, pane.MostZoom)
	case key.Matches(k, p.Keys.Out):
		p.zoom = max(p.zoom-1, -pane.MostZoom)
	case key.Matches(k, p.Keys.View):
		if p.plan.Main.Empty() && !p.plan.Source.Empty() { // the code is in its place
			p.source = !p.source
			p.focus = scrolls[p.view]
			return
		}
		p.view = p.NextView()
		p.focus = scrolls[p.view]
		p.Notice = p.view.Ahead(p.Pos == p.Run.Last()) + draw.Either(p.view == views.Timeline || p.InEvidence(), "", "; "+p.Keys.Close.Help().Key+" goes back to the timeline") // and from the evidence to where that was called for
	case key.Matches(k, p.Keys.Source):
		p.source = !p.source
	case key.Matches(k, p.Keys.Search):
		p.find.Ask(find.Match)
	case key.Matches(k, p.Keys.Filter):
		p.find.Ask(find.Filter)
	case key.Matches(k, p.Keys.Guess):
		p.guess(int(k.Runes[0] - '0'))
	case key.Matches(k, p.Keys.Enter):
		stood := p.watched
		p.playing, p.watched = false, false // else its timer passes the position to which the key has come
		if !p.Advance() {
			p.Notice = p.ending()
		} else if stood && p.Notice == "" { // it has played by itself until then
			p.rest()
		}
	case key.Matches(k, p.Keys.Teach):
		p.Teaching = !p.Teaching
		p.Notice = draw.Either(p.Teaching, "For a class: questions wait, and nothing is scored.", "Your predictions are scored again.")
	case key.Matches(k, p.Keys.Faster):
		p.setSpeed(p.speed + 1)
	case key.Matches(k, p.Keys.Slower):
		p.setSpeed(p.speed - 1)
	case key.Matches(k, p.Keys.Pane):
		for range panels {
			if p.focus = (p.focus + 1) % panels; p.sees(p.focus) {
				break
			}
		}
		p.Notice = p.Keys.Up.Help().Key + " and " + p.Keys.Down.Help().Key + " scroll: " + panelNames[p.focus]
	case key.Matches(k, p.Keys.Up):
		p.scroll[p.focus]--
	case key.Matches(k, p.Keys.Down):
		p.scroll[p.focus]++
	case key.Matches(k, p.Keys.PageUp):
		p.scroll[p.focus] -= screen.ScrollPage
	case key.Matches(k, p.Keys.PageDown):
		p.scroll[p.focus] += screen.ScrollPage
	}
}

// ending says that nothing more comes, and in a lesson which key goes on.
func (p *Player) ending() string {
	if p.lesson != nil && p.lesson.Next() != nil {
		return "The run ends here; " + p.Keys.NextStep.Help().Key + " goes on in the course."
	}
	return "The run ends here."
}

// Adjust handles the keys that show the same moment otherwise, and those that go round
// its evidence: for screens in which other keys move the cursor.
func (p *Player) Adjust(k tea.KeyMsg) {
	if !p.moves(k) {
		p.looks(k)
	}
}

// View is the name of the view that is shown.
func (p *Player) View() string { return p.view.String() }

// NextView is the view that the key for it leads to.
func (p *Player) NextView() views.View { return p.view.Next(!p.plan.State.Empty()) }

// sees reports whether a pane has a place in the last frame.
func (p *Player) sees(which panel) bool {
	switch which {
	case panelState:
		return !p.plan.State.Empty() || (p.view == views.State || p.view == views.Holders) && !p.plan.Main.Empty()
	case panelSource:
		return !p.plan.Source.Empty()
	case panelTrace:
		return !p.plan.Trace.Empty() || p.view == views.Trace && !p.plan.Main.Empty()
	}
	return true
}

// Clicked goes to the event under the mouse.
func (p *Player) Clicked(c screen.Click) {
	if p.Run == nil {
		return
	}
	p.playing = false
	switch main, trace := p.plan.Main, p.plan.Trace; {
	case c.Wheel != 0:
		p.goTo(p.Pos + c.Wheel)
	case c.In(main) && p.view == views.Timeline:
		width := main.W - pane.LabelWidth
		a := p.axes.Of(p.Run, width, p.zoom)
		p.goTo(a.At(c.X - main.X - pane.LabelWidth + a.Window(p.Pos, width)))
	case c.In(main) && p.view == views.Ladder && c.Y > main.Y:
		p.goTo(ladder.At(p.listing(main), p.Run, p.Pos, c.Y-main.Y, p.Theme))
	case c.In(trace):
		p.goTo(p.eventAt(trace, c.Y-trace.Y))
	case c.In(main) && p.view == views.Trace:
		p.goTo(p.eventAt(p.listing(main), c.Y-main.Y))
	}
}

// eventAt is the position of the event in a row of the trace as it was drawn.
func (p *Player) eventAt(r draw.Rectangle, row int) int {
	if _, at := p.traceLines(r); row < len(at) {
		return at[row]
	}
	return p.Pos
}

func (p *Player) toViolation() {
	if len(p.Run.Breaches) == 0 {
		p.Notice = "No property breaks in this run."
		return
	}
	next := slices.IndexFunc(p.Run.Breaches, func(b timeline.Breach) bool { return b.Pos > p.Pos })
	if p.Pos == 0 && p.Sought != nil {
		next = slices.IndexFunc(p.Run.Breaches, func(b timeline.Breach) bool { return b.Code == *p.Sought })
	}
	if p.picked != none && p.picked+1 < len(p.Run.Breaches) && p.Run.Breaches[p.picked+1].Pos == p.Pos {
		next = p.picked + 1 // another one that the same event completed
	}
	if next < 0 {
		next = 0
		p.Notice = "Back at "
	}
	p.Notice += facts.Breach(p.Run, next, p.narrow(), p.Keys.Violation.Help().Key)
	if len(p.Run.Breaches) == 1 {
		p.Notice = draw.Either(p.Run.Breaches[0].Pos == p.Pos, "There is no other violation in this run.", "")
	}
	p.picked = next
	p.goTo(p.Run.Breaches[next].Pos)
}

// toEvidence goes round the events that prove the violation that was last shown.
func (p *Player) toEvidence() {
	if p.picked == none {
		p.Notice = "First " + p.Keys.Violation.Help().Key + " goes to a violation; then " + p.Keys.Evidence.Help().Key + " goes round its evidence."
		return
	}
	events := p.Run.Breaches[p.picked].Events
	next := 0
	for i, seq := range events {
		if p.Run.After(seq) == p.Pos {
			next = (i + 1) % len(events)
		}
	}
	picked, back := p.picked, p.back
	if back == none {
		back = p.Pos
	}
	p.goTo(p.Run.After(events[next]))
	p.picked, p.back = picked, back // also where other violations are complete
	p.proving = p.Pos != p.Run.Breaches[picked].Pos
	p.Notice = fmt.Sprintf("evidence %d of %d", next+1, len(events)) + facts.WentBack(p.Run, p.Pos, back, p.Keys.Close.Help().Key)
}

// InEvidence reports whether the keys that leave the screen and go on lead back from evidence first.
func (p *Player) InEvidence() bool { return p.Run != nil && p.back != none && p.back != p.Pos }

// LeaveEvidence goes back to where the evidence was called for, and reports whether it was gone round.
func (p *Player) LeaveEvidence() bool {
	if !p.InEvidence() {
		return false
	}
	picked := p.picked
	p.goTo(p.back)
	p.picked = picked
	p.Notice = "Back at " + trace.Brief(p.Run.Now(p.Pos)) + ", from the evidence."
	return true
}

// The lists.

func (p *Player) strategyPicker() *picker.Picker {
	return picker.Strategies(p.App, "Which lock?  (the scenario stays, and the place in it)", p.scenario, p.Strategy, func(i int) (tea.Cmd, screen.Outcome) {
		return p.choose(i, p.scenario)
	})
}

// comparePicker asks which lock to compare with. The cursor is on one that withstands the violation at hand, or else the
// first that has such a lock.
func (p *Player) comparePicker() *picker.Picker {
	list := picker.Compare(p.App, p.scenario, p.Strategy, p.Pos)
	if p.Run == nil {
		return list
	}
	r := p.Remedies.For(p.shown())
	for i := 0; i < len(p.Run.Breaches) && (r == nil || !r.Betters()); i++ { // elsewhere on the one that the words will name first
		r = p.Remedies.For(p.Run.Breaches[i : i+1])
	}
	switch {
	case r != nil && r.Betters():
		list.At = r.Strategy
	case slices.ContainsFunc(p.Run.Breaches, func(b timeline.Breach) bool { return b.Code.Failure() }):
		list.About = "None of the locks that are tried as remedies withstands what this run shows. " + list.About
	}
	return list
}

func (p *Player) scenarioPicker() *picker.Picker {
	return picker.Scenarios(p.App, "What happens to it?  (the lock stays)", p.scenario, p.Strategy, func(i int) (tea.Cmd, screen.Outcome) {
		return p.choose(p.Strategy, i)
	})
}

// stretch is as far as the keys for it go: a run in which nothing is said has no
// chapters.
func (p *Player) stretch() string {
	if p.Run != nil && len(p.Run.Chapters) == 0 {
		return "end"
	}
	return "chapter"
}

// FooterKeys are the keys that work here, the most useful first.
func (p *Player) FooterKeys() []key.Binding {
	k := &p.Keys
	if p.Run == nil && p.failed != nil { // there is nothing to move in
		return []key.Binding{screen.As(k.Strategy, "lock"), k.Scenario, k.Explore, k.Help, k.Quit}
	}
	play := screen.As(k.Play, draw.Either(p.playing, "stop", k.Play.Help().Desc))
	parts := screen.Pair(k.Previous, k.Next, "chapter")
	if p.Run != nil && len(p.Run.Chapters) == 0 {
		parts = screen.Pair(k.First, k.Last, "ends")
	}
	step := screen.Pair(k.Back, k.Forward, "step")
	list := []key.Binding{step, screen.As(k.Violation, draw.Either(p.narrow(), "violation", "to violation")), play, parts}
	if p.Run != nil && p.Run.Ended(p.Pos) && len(p.Run.Breaches) == 0 { // that there is none is known now
		list = slices.Delete(list, 1, 2)
	}
	named := p.Run != nil && p.Remedies.For(p.shown()) != nil // the words do it: see tellStop
	if named {
		list = slices.Insert(list, 1, k.Compare)
	}
	if p.overflows {
		list = slices.Insert(list, 1, screen.Pair(k.Up, k.Down, "more"))
	}
	on := screen.As(k.Enter, draw.Either(p.InEvidence(), "back", "go on"))
	proven := p.picked != none && len(p.Run.Breaches) > 0 && (p.Run.Breaches[p.picked].Pos == p.Pos || p.Pos > 0 && p.evidence(p.Run.Event(p.Pos).Seq) > 0)
	if proven {
		list = slices.Insert(list, 0, screen.As(k.Evidence, "evidence"))
	}
	switch {
	case p.find.Asking():
		return []key.Binding{screen.As(k.Enter, draw.Either(p.find.Filters(), "filter", "find")), screen.As(k.Close, "leave it"), screen.Bind("ctrl+c", "quit", "ctrl+c")}
	case p.quiz.Takes(p.Pos) != nil:
		list = slices.Concat(p.GuessKeys(), []key.Binding{on}, list)
	case p.lesson != nil && p.Run != nil && p.Pos >= p.Run.Told():
		if p.Pos < p.Run.Last() {
			list = slices.Insert(list, 0, on)
		}
		if p.lesson.Next() != nil {
			list = slices.Insert(list, 0, screen.As(k.NextStep, "continue"))
		}
	case proven:
		list = slices.Insert(list, 0, on)
		if p.watched && !p.playing { // it has stopped by itself
			list = slices.Insert(list, 0, screen.As(play, "play on"))
		}
	case p.Run != nil && p.Pos < p.Run.Last():
		list = slices.Insert(list, 0, on)
	case p.Run != nil && p.placeInCourse() != nil:
		list = slices.Insert(list, 0, screen.As(k.NextStep, "course"), k.Compare)
		named = true
	}
	shown := p.footer(proven)
	if p.Run != nil {
		list = shown.In(list)
	}
	if p.playing {
		list = views.First(list, play)
	}
	return append(list, shown.Others(named, proven, p.lesson != nil, p.Run == nil || len(p.Run.Chapters) > 0)...)
}

// narrow reports whether the last frame had no room beside the diagram, and its footer has few words for each key.
func (p *Player) narrow() bool { return p.plan.Header.W < layout.SideFrom }

// footer is the state of the views, for the footer.
func (p *Player) footer(proven bool) *views.Footer {
	back := p.InEvidence() // esc ends the search, and goes back from evidence, before it closes the view
	return &views.Footer{Keys: &p.Keys, Shown: p.view, Next: p.NextView(), Source: p.source && p.plan.Main.Empty(), Out: p.find.Only+p.find.Query == "" && !back,
		Ended: p.Run != nil && p.Pos == p.Run.Last(), Narrow: p.narrow(), Proven: proven, Playing: p.playing}
}

// Help explains the screen and its keys.
func (p *Player) Help() screen.Page {
	return screen.Page{
		Title: "the player",
		About: "One run, event by event. It opens at its beginning, unless you come from an instant of it. Events to the right of the cursor have not happened yet. A row is a client, a server or the resource, and two " +
			"clients' bars in one column are two holders. Everything here comes from the run's trace, which --plain prints.",
		Keys:  views.Keys(&p.Keys),
		Signs: slices.Concat(pane.Legend(&p.Theme.Glyphs, p.Run), code.Signs(&p.Theme.Glyphs, p.Run), screen.CodeSigns()),
	}
}
