// Package quiet keeps bubbletea from asking the terminal for its background
// colour when it is merely linked in.
//
// Bubbletea v1 asks in an init function, and termenv waits up to five seconds
// for an answer. A program that prints plain text on a terminal which does not
// answer (a serial line, expect, a screen reader's) would wait for nothing. With
// TERM=dumb the question is not asked, so TERM is dumb while bubbletea's init
// runs, and is put back by Restore. The terminal interface asks by itself when
// it starts, if it needs to know.
//
// That this init runs before bubbletea's is the language's rule: of the
// packages whose imports are ready, the one with the least import path goes
// first. This one needs nothing but os. Bubbletea needs os/signal, which needs
// os as well, and "lockstep/tui/quiet" sorts before "os/signal"; so it is
// initialised no later than os/signal, and hence before bubbletea. The test
// in package tui holds this to be so.
package quiet

import "os"

var (
	term, had = os.LookupEnv("TERM")
	_         = os.Setenv("TERM", "dumb")
)

// Restore gives TERM the value that it had when the program started.
func Restore() {
	if had {
		_ = os.Setenv("TERM", term)
		return
	}
	_ = os.Unsetenv("TERM")
}
