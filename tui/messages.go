package tui

import (
	"lockstep/sim"
	"lockstep/sim/explore"
)

// openMsg asks for another screen, by what it is to show: screens don't know each
// other, and only the app knows which of them answers which message. Strategies and
// scenarios are places in the library.
type openMsg interface{ opens() }

// homeMsg asks for the matrix.
type homeMsg struct{}

// playMsg asks for a run in the player, with the cursor at a position.
type playMsg struct{ strategy, scenario, from int }

// findingMsg asks for a run that no scenario steers in the player: one that a search
// has found, with the violation that was sought.
type findingMsg struct {
	strategy int
	trace    *sim.Trace
	sought   sim.Code
}

// courseMsg asks for the list of lessons.
type courseMsg struct{}

// lessonMsg asks for a step of a lesson in the player.
type lessonMsg struct{ lesson, step int }

// compareMsg asks for one scenario under two locks, with the cursor where the first
// run has come to a position.
type compareMsg struct {
	scenario   int
	strategies [2]int
	from       int
}

// searchMsg asks for the search of all schedules of a lock: the one that was left, if
// there is one.
type searchMsg struct{ strategy int }

// sandboxMsg asks for the sandbox that goes on from a position of a run.
type sandboxMsg struct {
	strategy, scenario int
	trace              *sim.Trace
	pos                int
}

// gameMsg asks for a game of breaking a lock: the one that was left, if there is one.
type gameMsg struct{ strategy int }

// challengeMsg asks for a new game within some bounds. Its goal is the lock's usual
// one, or a code that was found, if games can be played for that.
type challengeMsg struct {
	strategy int
	bounds   explore.Bounds
	found    *sim.Code
}

func (homeMsg) opens()      {}
func (playMsg) opens()      {}
func (findingMsg) opens()   {}
func (courseMsg) opens()    {}
func (lessonMsg) opens()    {}
func (compareMsg) opens()   {}
func (searchMsg) opens()    {}
func (sandboxMsg) opens()   {}
func (gameMsg) opens()      {}
func (challengeMsg) opens() {}

// refusedMsg tells a screen why the one that it asked for can't be shown.
type refusedMsg struct{ err error }
