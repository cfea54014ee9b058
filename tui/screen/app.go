package screen

import (
	"context"
	"io"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/progress"
)

// App is shared by all screens: the library, the outcomes of its runs, the reader's
// progress, the keys, the theme, and the services that they use. Only the router's goroutine uses it.
type App struct {
	Library  *Library
	Grid     *Grid           // the outcome of each lock in each scenario
	Progress *progress.Store // in the course, and with predictions
	Keys     KeyMap
	Theme    *draw.Theme
	Seed     uint64              // of all runs
	Teaching bool                // questions are for a class: nobody's answers are scored
	Exports  []Export            // the forms in which runs can be written
	Stale    map[int]string      // by scenarios that are shown as they were before: why their files can't be run as they are
	Rename   func(string) string // has the commands that a text suggests begin as the reader called the program
	services
	asked int // see serial
}

// services are the means of a screen that tests replace.
type services struct {
	Clipboard func(string)                         // hands a text to the terminal's
	Now       func() time.Time                     // to measure time outside of any run
	After     func(time.Duration, tea.Msg) tea.Cmd // sends a message later
	// NewGuide gives hints on how to reach a goal.
	NewGuide func(explore.Bounds, trace.Code) (Guide, error)
	// Explore searches all schedules.
	Explore func(context.Context, explore.Bounds, explore.Options) (*explore.Result, error)
}

// Guide knows how far a goal is; see [explore.Guide].
type Guide interface {
	From(context.Context, []sim.Move) (explore.Hint, error)
	Close() error
}

// SearchMemory is the limit of the heap, in bytes, while a search is under way or a
// hint is looked for: a laptop can spare as much.
const SearchMemory = 2 << 30

// NewApp has a matrix of which nothing is known yet.
func NewApp(lib *Library, p *progress.Store, t *draw.Theme, seed uint64, exports []Export) *App {
	return &App{
		Library: lib, Grid: newGrid(lib, seed), Progress: p, Keys: newKeyMap(&t.Glyphs), Theme: t, Seed: seed, Exports: exports, Stale: map[int]string{}, Rename: func(text string) string { return text },
		services: services{Clipboard: termenv.Copy, Now: time.Now, After: after, Explore: explore.Run, NewGuide: newGuide},
	}
}

// after sends a message once some time has passed.
func after(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

func newGuide(b explore.Bounds, goal trace.Code) (Guide, error) {
	g, err := explore.NewGuide(b, goal)
	if err != nil {
		return nil, err
	}
	g.Memory = SearchMemory
	return g, nil
}

// Serial numbers the questions that are answered in the background: runs, searches, timers. All
// screens get all answers, so no two questions of any screens have the same number.
func (app *App) Serial() int {
	app.asked++
	return app.asked
}

// Export is a form in which a run can be handed on.
type Export struct {
	Name, About string // for the list of forms
	Extension   string // of its files, with the dot
	Write       func(io.Writer, *trace.Trace) error
}
