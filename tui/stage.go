package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/tui/progress"
)

// stage is what all screens share: what there is to play, what is known of it, how
// far the reader has come, the keys, the theme. Only the router's goroutine uses it.
type stage struct {
	lib     *library
	board   *board
	diary   *progress.Diary
	keys    keyMap
	theme   *theme
	seed    uint64
	exports []Export
	services
	numbers int // see serial
}

// services are the means of a screen that tests replace.
type services struct {
	clipboard func(string)                         // hands a text to the terminal's
	now       func() time.Time                     // for what takes time outside of any run
	after     func(time.Duration, tea.Msg) tea.Cmd // sends a message later
	newGuide  func(explore.Bounds, sim.Code) (hinter, error)
	explore   func(context.Context, explore.Bounds, explore.Options) (*explore.Result, error)
}

// hinter knows how far a goal is; see [explore.Guide].
type hinter interface {
	From(context.Context, []sim.Move) (explore.Hint, error)
	Close() error
}

// searchMemory is the limit of the heap, in bytes, while a search is under way or a
// hint is looked for: what a laptop can spare.
const searchMemory = 2 << 30

// newStage has a matrix of which nothing is known yet.
func newStage(lib *library, d *progress.Diary, t *theme, seed uint64, exports []Export) *stage {
	return &stage{
		lib: lib, board: newBoard(lib, seed), diary: d, keys: newKeyMap(&t.glyphs), theme: t, seed: seed, exports: exports,
		services: services{clipboard: termenv.Copy, now: time.Now, after: after, explore: explore.Run, newGuide: newGuide},
	}
}

// after sends a message once some time has passed.
func after(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

func newGuide(b explore.Bounds, goal sim.Code) (hinter, error) {
	g, err := explore.NewGuide(b, goal)
	if err != nil {
		return nil, err
	}
	g.Memory = searchMemory
	return g, nil
}

// serial numbers what is asked for in the background: runs, searches, timers. All
// screens get all answers, so no two questions of any screens have the same number.
func (s *stage) serial() int {
	s.numbers++
	return s.numbers
}
