package tui

import (
	"github.com/muesli/termenv"

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

	exports   []Export
	clipboard func(string) // hands a text to the terminal's
}

func newStage(lib *library, d *progress.Diary, o Options, t *theme) *stage {
	return &stage{lib: lib, board: newBoard(lib, o.Seed), diary: d, keys: newKeyMap(&t.glyphs), theme: t, seed: o.Seed, exports: o.Exports, clipboard: termenv.Copy}
}
