package screen

import (
	"lockstep/scenarios"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
)

// OpenMsg asks for another screen by its content: screens don't know each other, and only
// package tui knows which of them answers which message. Strategies and
// scenarios are places in the library.
type OpenMsg interface{ opens() }

// RunsMsg asks for the matrix of all runs, with the cursor on one of them.
type RunsMsg struct{ Strategy, Scenario int }

// DecideMsg asks for the questions that lead to a lock.
type DecideMsg struct{}

// PlayMsg asks for a run in the player, with the cursor at a position; Playing has it
// go on by itself.
type PlayMsg struct {
	Strategy, Scenario, From int
	Playing                  bool
}

// FindingMsg asks for a run that no scenario steers in the player: one that a search
// has found, with the violation that was sought, or one of the reader's own moves.
type FindingMsg struct {
	Strategy int
	Trace    *trace.Trace
	Sought   trace.Code
	Own      bool // the moves are the reader's
	From     int  // the position to begin at
}

// CourseMsg asks for the list of lessons.
type CourseMsg struct{}

// LessonMsg asks for a step of a lesson in the player.
type LessonMsg struct{ Lesson, Step int }

// CompareMsg asks for one scenario under two locks, with the cursor where the first
// run has come to a position.
type CompareMsg struct {
	Scenario   int
	Strategies [2]int
	From       int
}

// SearchMsg asks for the search of all schedules of a lock: the one that was left, if
// there is one. Its bounds are to have the faults of a run, if one is given.
type SearchMsg struct {
	Strategy int
	Run      *trace.Trace // or nil
}

// SandboxMsg asks for the sandbox that goes on from a position of a run.
type SandboxMsg struct {
	Strategy, Scenario int
	Trace              *trace.Trace
	Pos                int
}

// GameMsg asks for the game of breaking a lock so that it shows a code: the level of it, if
// there is one, as the reader left it. Without a goal it is the lock's first level that isn't
// won.
type GameMsg struct {
	Strategy int
	Goal     *trace.Code
}

// LevelsMsg asks for the list of the game's levels.
type LevelsMsg struct{}

// LevelMsg asks for a level of the game, as the reader left it.
type LevelMsg struct{ Level int }

// ChallengeMsg asks for a new game within some bounds. Its goal is the lock's usual
// one, or a code that a search has found, if games can be played for that.
type ChallengeMsg struct {
	Strategy int
	Bounds   explore.Bounds
	Found    *trace.Code
}

// PresentMsg asks for a playlist to be presented.
type PresentMsg struct{ Playlist scenarios.Playlist }

func (PresentMsg) opens()   {}
func (RunsMsg) opens()      {}
func (DecideMsg) opens()    {}
func (PlayMsg) opens()      {}
func (FindingMsg) opens()   {}
func (CourseMsg) opens()    {}
func (LessonMsg) opens()    {}
func (CompareMsg) opens()   {}
func (SearchMsg) opens()    {}
func (SandboxMsg) opens()   {}
func (GameMsg) opens()      {}
func (LevelsMsg) opens()    {}
func (LevelMsg) opens()     {}
func (ChallengeMsg) opens() {}

// RefusedMsg tells a screen why the one that it asked for can't be shown.
type RefusedMsg struct{ Err error } // for the reader

// HiddenMsg says that another screen covers this one, or that the window has become too small for it: nobody sees what goes on there.
type HiddenMsg struct{}
