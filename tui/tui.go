// Package tui is the terminal interface: it starts the program on a terminal, and
// knows which screen answers which message.
//
// The router of package screen takes keys, clicks and results to the screens, which
// share an app: the runs to play, the outcomes known so far, how far the reader has
// come, the keys, the theme. A package is a family of screens: door is the first screen, runs
// the matrix, course the lessons, decide the choice of a lock, player one run, present the runs of a playlist, compare two of them, game a run whose scheduler
// is the reader, search all schedules within bounds, picker the lists on top of them.
// They import screen, the panes that show a run (package pane), its questions (package quiz), and the means to draw
// them (package draw), and not each other; but for game and present, which show their runs as a player does, and
// for the lists, which any of them opens. A further screen is one more message in
// package screen, and one more case in this package.
//
// Everything that is shown of a run comes from the run's trace.
package tui

import (
	"os"
	"os/signal"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/background"
	"lockstep/tui/draw"
	"lockstep/tui/progress"
	"lockstep/tui/quiet"
	"lockstep/tui/screen"
)

// By now bubbletea, which this package imports, has not asked its question.
func init() { quiet.Restore() }

// Options are the screen to open first, and its look. Without any it is the door.
type Options struct {
	Strategy strategies.Strategy // the lock of the run, or of the game
	Scenario *scenarios.Scenario // open this run in the player
	Course   bool                // open the list of lessons
	Lesson   int                 // open this lesson, counted from 1, at its first step
	Game     bool                // open the game of breaking Strategy, or without one the levels
	Level    int                 // open this level of it, counted from 1
	Goal     *trace.Code         // of the game; nil is the lock's usual goal
	Present  *scenarios.Playlist // present its runs, one after another
	Seed     uint64
	Theme    string // auto, dark, light or mono
	ASCII    bool   // draw without box characters
	NoColor  bool   // no colours, as for mono; so does the environment's NO_COLOR
	Exports  []Export
	Rename   func(string) string // has the commands that a text suggests begin as the reader called the program; nil leaves them
}

// Export is a form in which a run can be handed on.
type Export = screen.Export

func (o Options) mono() bool {
	return o.NoColor || o.Theme == "mono" || os.Getenv("NO_COLOR") != ""
}

// Run shows the interface on the terminal until the user quits, or a signal ends it.
func Run(o Options) error {
	if o.Theme == "auto" && !o.mono() {
		o.Theme = draw.Either(background.Dark(os.Stdout), "dark", "light")
	}
	renderer := draw.NewRenderer(lipgloss.NewRenderer(os.Stdout), o.Theme, o.mono())
	return show(newRoot(screen.NewLibrary(), progress.Open(progress.Path()), o, draw.NewTheme(renderer, o.mono(), o.ASCII)))
}

// show runs a model on the terminal, and gives the terminal back however it ends:
// bubbletea sees to panics.
func show(m tea.Model) error {
	p := tea.NewProgram(m, tea.WithAltScreen(), tea.WithoutSignalHandler())
	defer onSignal(p.Quit)()
	_, err := p.Run()
	return err
}

// onSignal calls do on a signal that would end the program with the terminal still raw. bubbletea would leave
// SIGHUP to the system, and begin to listen for the others on a goroutine, which may be after it has made
// the terminal raw. The result stops the listening.
func onSignal(do func()) (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			do()
		case <-done:
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
