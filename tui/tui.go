// Package tui is the terminal interface: rooms that show a run, drawn with a
// cell grid of their own. Everything that it shows of a run comes from the
// run's trace.
//
// The root routes keys, clicks and results to rooms, which stand on a stage: what
// there is to play, what is known of it, how far the reader has come, the keys,
// the looks. Home is the matrix, the course its lessons, the player one run,
// compare two of them, the sandbox one whose scheduler is the reader, with a goal
// and hints if it is a game of its own; the search is all schedules within bounds,
// and what it finds is shown in a player; pickers and help are lists and text on
// top of them. A further screen is one more room.
//
// The player draws its panes (timeline, ladder, trace or state; the event and the
// holders; the narration; the source) where the layout puts them. Layouts are pure
// functions of the window's size, the timeline one of a scene and the width.
package tui

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"lockstep/scenarios"
	"lockstep/strategies"
	"lockstep/tui/progress"
	"lockstep/tui/quiet"
)

// By now bubbletea, which this package imports, has not asked its question.
func init() { quiet.Restore() }

// Options are what to play first, and how it is to look.
type Options struct {
	Strategy strategies.Strategy // what to play; without a Scenario the matrix is shown
	Scenario *scenarios.Scenario
	Seed     uint64
	Theme    string // auto, dark, light or mono
	ASCII    bool   // draw without box characters
	NoColor  bool   // no colours, as for mono; so does the environment's NO_COLOR
	Exports  []Export
}

func (o Options) mono() bool {
	return o.NoColor || o.Theme == "mono" || os.Getenv("NO_COLOR") != ""
}

// Run shows the interface on the terminal until the user quits, or a signal ends it.
func Run(o Options) error {
	renderer := newRenderer(lipgloss.NewRenderer(os.Stdout), o.Theme, o.mono())
	return show(newRoot(newLibrary(), progress.Open(progress.Path()), o, newTheme(renderer, o.mono(), o.ASCII)))
}

// show runs a model on the terminal, and gives the terminal back however it ends:
// bubbletea sees to panics, SIGINT and SIGTERM.
func show(m tea.Model) error {
	p := tea.NewProgram(m, tea.WithAltScreen())
	defer onHangup(p.Quit)()
	_, err := p.Run()
	if errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}

// onHangup calls do on SIGHUP, which bubbletea leaves to the system: it would end
// the program with the terminal still raw. The result stops the listening.
func onHangup(do func()) (stop func()) {
	hangup, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hangup, syscall.SIGHUP)
	go func() {
		select {
		case <-hangup:
			do()
		case <-done:
		}
	}()
	return func() {
		signal.Stop(hangup)
		close(done)
	}
}
