// Package door is the first screen: a lock that has just failed, and the ways into the program.
package door

import (
	"fmt"
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim/timeline"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
	"lockstep/tui/screen"
)

// The run on the door: the mistake that most readers have made themselves. Libraries without
// it show the first step of their course.
const (
	shownLock     = "naive-del"
	shownScenario = "late-release"
)

// Door is the list of the ways in, above a run at the instant of its violation.
//
// Invariant: 0 <= at < len(ways).
type Door struct {
	*screen.App
	at                 int
	strategy, scenario int // of the run, places in the library
	serial             int // of the question for the run
	run                *timeline.Timeline
	pos                int // in the run: its first failure
	failed             error
	axes               pane.Axes
	menu               draw.Rectangle // of the last frame: clicks refer to it
	rows               int            // that an entry takes there
}

// way is an entry of the list.
type way struct {
	name  string
	about func(*Door) string // one line
	more  func(*Door) string // another, for tall windows
	to    func(*Door) screen.OpenMsg
}

var ways = []way{
	{"Watch a lock fail",
		func(d *Door) string { return d.Keys.Enter.Help().Key + " plays the run below, from its start" },
		func(d *Door) string {
			return "It plays by itself, waits a while at questions, and stops where it breaks or on " + d.Keys.Play.Help().Key + "."
		},
		func(d *Door) screen.OpenMsg {
			return screen.PlayMsg{Strategy: d.strategy, Scenario: d.scenario, Playing: true}
		}},
	{"The course", (*Door).lesson,
		func(d *Door) string {
			if _, next := d.next(); next != "" {
				return "Next: " + next + "."
			}
			return "From the need for a lock to the choice of one: each answers the failure of the last."
		},
		func(d *Door) screen.OpenMsg { return screen.CourseMsg{} }},
	{"Break it yourself", (*Door).levels,
		func(d *Door) string {
			return "Pauses, crashes and lost messages are yours, too. Hints come from a search."
		},
		func(d *Door) screen.OpenMsg { return screen.LevelsMsg{} }},
	{"Which lock should I use?",
		func(d *Door) string { return "for your own system: three questions" },
		func(d *Door) string {
			return "Each lock is judged by the verdicts of runs, and each of them can be played."
		},
		func(d *Door) screen.OpenMsg { return screen.DecideMsg{} }},
	{"All runs",
		func(d *Door) string {
			return fmt.Sprintf("to look up: %d locks, each in %d scenarios", len(d.Library.Strategies), len(d.Library.Scenarios))
		},
		func(d *Door) string {
			return "Scenarios have pauses, crashes, lost messages and so on. Each verdict is computed now."
		},
		func(d *Door) screen.OpenMsg { return screen.RunsMsg{Strategy: d.strategy, Scenario: d.scenario} }},
}

// New is the door with the cursor on its first way.
func New(app *screen.App) *Door {
	d := &Door{App: app, strategy: app.Library.Strategy(shownLock), scenario: app.Library.Named(shownScenario)}
	if d.strategy < 0 || d.scenario < 0 {
		d.strategy, d.scenario = 0, 0
		if len(app.Library.Lessons) > 0 {
			step := app.Library.Lessons[0].Steps[0]
			d.strategy, d.scenario = app.Library.Strategy(step.Strategy), app.Library.Named(step.Scenario)
		}
	}
	return d
}

// ranMsg is the run on the door.
type ranMsg struct {
	serial int
	run    *timeline.Timeline
	err    error
}

// Start has the run made. The first frame does not wait for it.
func (d *Door) Start() tea.Cmd {
	d.serial = d.Serial()
	serial, lib, seed := d.serial, d.Library, d.Seed
	sc, st := lib.Scenarios[d.scenario], lib.Strategies[d.strategy]
	return func() tea.Msg {
		t, err := lib.Run(sc, st, seed)
		if err != nil {
			return ranMsg{serial: serial, err: err}
		}
		return ranMsg{serial: serial, run: timeline.New(t)}
	}
}

// Update takes a key, a click, or the run.
func (d *Door) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case ranMsg:
		d.show(msg)
	case screen.Click:
		return d.clicked(msg)
	case tea.KeyMsg:
		return d.typed(msg)
	}
	return nil, screen.Outcome{}
}

// show puts the cursor of the run on its first failure, or on its end.
func (d *Door) show(msg ranMsg) {
	if msg.serial != d.serial {
		return
	}
	d.run, d.failed, d.axes = msg.run, msg.err, pane.Axes{}
	if d.run == nil {
		return
	}
	d.pos = d.run.Last()
	if i := slices.IndexFunc(d.run.Breaches, func(b timeline.Breach) bool { return b.Code.Failure() }); i >= 0 {
		d.pos = d.run.Breaches[i].Pos
	}
}

func (d *Door) typed(k tea.KeyMsg) (tea.Cmd, screen.Outcome) {
	switch {
	case key.Matches(k, d.Keys.Up):
		d.at = max(d.at-1, 0)
	case key.Matches(k, d.Keys.Down):
		d.at = min(d.at+1, len(ways)-1)
	case key.Matches(k, d.Keys.First):
		d.at = 0
	case key.Matches(k, d.Keys.Last):
		d.at = len(ways) - 1
	case key.Matches(k, d.Keys.Enter):
		return nil, d.goIn()
	case key.Matches(k, d.Keys.Course):
		return nil, screen.Outcome{To: screen.CourseMsg{}}
	case key.Matches(k, d.Keys.Guess):
		if i := int(k.Runes[0] - '1'); i >= 0 && i < len(ways) {
			d.at = i
			return nil, d.goIn()
		}
	}
	return nil, screen.Outcome{}
}

func (d *Door) goIn() screen.Outcome { return screen.Outcome{To: ways[d.at].to(d)} }

// clicked goes in at a click; the wheel moves the cursor.
func (d *Door) clicked(c screen.Click) (tea.Cmd, screen.Outcome) {
	switch {
	case c.Wheel != 0:
		d.at = min(max(d.at+c.Wheel, 0), len(ways)-1)
	case c.In(d.menu) && d.rows > 0:
		d.at = min((c.Y-d.menu.Y)/d.rows, len(ways)-1)
		return nil, d.goIn()
	}
	return nil, screen.Outcome{}
}

// FooterKeys are the keys that work here, the most useful first.
func (d *Door) FooterKeys() []key.Binding {
	k := &d.Keys
	return []key.Binding{screen.Pair(k.Up, k.Down, "choose"), screen.As(k.Enter, "go in"), d.digits(), k.Course, k.Mouse, k.Help, k.Quit}
}

// digits choose a way by its number.
func (d *Door) digits() key.Binding {
	return screen.Bind(fmt.Sprintf("1-%d", len(ways)), "go in", "1", "2", "3", "4", "5")
}

// Help explains the screen and its keys.
func (d *Door) Help() screen.Page {
	k := &d.Keys
	return screen.Page{
		Title: "Lockstep",
		About: "Lockstep runs real lock code against real Redis commands in simulated time (virtual time: the run has a clock of its own, and ten seconds of it need no wait): through crashes, pauses, wrong clocks and lost messages. " +
			"It shows when two clients hold the same lock, and why. It is " + audience + ". " + d.ownScript() + " On every screen ? explains the keys, and esc goes back to the screen before, in the end to this one.",
		Keys: append([]key.Binding{screen.As(k.Up, "up"), screen.As(k.Down, "down"), screen.As(k.First, "first"), screen.As(k.Last, "last"),
			screen.As(k.Enter, "go in"), d.digits(), screen.As(k.Course, "the course")}, k.Mouse, k.Help, k.Quit, k.Suspend),
		Signs: append(pane.Legend(&d.Theme.Glyphs, d.run), screen.CodeSigns()...),
	}
}

// audience names the program's users.
const audience = "for engineers who choose a lock, and those who learn or teach how they fail"

// ownScript tells of scripts and talks, which have no entry: they begin outside.
func (d *Door) ownScript() string {
	return d.Rename("A script of your own: lockstep new lesson.yaml writes one, lockstep run naive-del lesson.yaml plays it. A talk: lockstep new talk.txt writes one, lockstep present talk.txt shows it.")
}

// lesson tells where the reader is in the course. A step counts as seen when its run was, wherever that was opened.
func (d *Door) lesson() string {
	seen, steps := 0, 0
	for _, l := range d.Library.Lessons {
		for _, step := range l.Steps {
			steps++
			if d.Progress.Played(l.Name, step.ID()) {
				seen++
			}
		}
	}
	next, _ := d.next()
	switch {
	case seen == 0:
		return fmt.Sprintf("to learn or to teach: %d lessons, %d steps", len(d.Library.Lessons), steps)
	case next == 0:
		return fmt.Sprintf("to learn or to teach: all %d steps seen", steps)
	}
	said := fmt.Sprintf("to learn: %d of %d steps seen", seen, steps)
	lesson, _ := d.Progress.LastSeen()
	switch {
	case d.rows > 1: // the row below names the next one
		return said
	case lesson == "": // nothing was opened there
		return said + "; start: lesson 1"
	}
	return fmt.Sprintf("%s; next: lesson %d", said, next)
}

// next is the lesson, from 1, with the first step that wasn't played, and its title; 0 if all were, and without a
// title if none was.
func (d *Door) next() (lesson int, title string) {
	any := false
	for i, l := range d.Library.Lessons {
		for _, step := range l.Steps {
			switch {
			case d.Progress.Played(l.Name, step.ID()):
				any = true
			case lesson == 0:
				lesson, title = i+1, fmt.Sprintf("lesson %d, %s", i+1, l.Title)
			}
		}
	}
	return lesson, draw.Either(any, title, "")
}

// levels says how far the reader has come with the game.
func (d *Door) levels() string {
	won := 0
	all := scenarios.Levels()
	for i := range all {
		if _, is := d.Progress.Won(all[i].Name()); is {
			won++
		}
	}
	if won == 0 {
		return fmt.Sprintf("to try: %s in which you say who runs next", draw.Plural(len(all), "level"))
	}
	return fmt.Sprintf("%d of %s won; you say who runs next", won, draw.Plural(len(all), "level"))
}

// failures are the violations that the event at the cursor completes.
func (d *Door) failures() []timeline.Breach {
	_, fresh := d.run.Breached(d.pos)
	return fresh
}
