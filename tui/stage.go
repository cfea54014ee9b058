package tui

import (
	"context"
	"time"

	"github.com/muesli/termenv"

	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/tui/progress"
)

// stage is what all rooms share: what there is to play, what is known of it, how
// far the reader has come, the keys, the looks.
type stage struct {
	lib   *library
	board *board
	diary *progress.Diary
	keys  keyMap
	theme *theme
	seed  uint64
	asked int // see serial

	// What was left stays, and is come back to: by strategy.
	games    map[int]*sandbox
	searches map[int]*searcher

	exports   []Export
	clipboard func(string)     // hands a text to the terminal's
	now       func() time.Time // for what takes time outside of any run
	newGuide  func(explore.Bounds, trace.Code) (hinter, error)
	explore   func(context.Context, explore.Bounds, explore.Options) (*explore.Result, error)
}

// serial numbers what is asked for in the background: runs, searches, timers. All
// rooms get all answers, so a number is never given twice, to whichever room.
func (s *stage) serial() int {
	s.asked++
	return s.asked
}

func newStage(lib *library, d *progress.Diary, o Options, t *theme) *stage {
	return &stage{games: map[int]*sandbox{}, searches: map[int]*searcher{}, lib: lib, board: newBoard(lib, o.Seed), diary: d, keys: newKeyMap(&t.glyphs), theme: t, seed: o.Seed, exports: o.Exports, clipboard: termenv.Copy, now: time.Now, explore: explore.Run,
		newGuide: func(b explore.Bounds, goal trace.Code) (hinter, error) {
			g, err := explore.NewGuide(b, goal)
			if err != nil {
				return nil, err
			}
			g.Memory = searchMemory
			return g, nil
		}}
}
