package tui

import (
	"fmt"

	"lockstep/sim/explore"
	"lockstep/tui/progress"
)

// app makes the screens, of which none knows another: a further screen is one more
// message, and one more case here. Games and searches that were left stay, and are
// come back to.
type app struct {
	*stage
	games    map[int]*sandbox // by strategy
	searches map[int]*searcher
}

// newRoot opens the player if there is something to play, and the matrix if not.
func newRoot(lib *library, d *progress.Diary, o Options, t *theme) *root {
	lib.include(o.Strategy, o.Scenario)
	a := &app{newStage(lib, d, t, o.Seed, o.Exports), map[int]*sandbox{}, map[int]*searcher{}}
	first := room(newHome(a.stage))
	if o.Scenario != nil {
		first = newPlayer(a.stage, lib.strategy(o.Strategy.Name), lib.scenario(o.Scenario))
	}
	return newRouter(a.stage, a.open, first)
}

// open gives the screen that a message asks for.
func (a *app) open(msg openMsg) (room, error) {
	switch msg := msg.(type) {
	case homeMsg:
		return newHome(a.stage), nil
	case playMsg:
		return newPlayerAt(a.stage, msg), nil
	case findingMsg:
		return newShown(a.stage, msg), nil
	case courseMsg:
		return newCourse(a.stage), nil
	case lessonMsg:
		return newPupil(a.stage, msg), nil
	case compareMsg:
		return newCompare(a.stage, msg), nil
	case searchMsg:
		return a.search(msg.strategy), nil
	case sandboxMsg:
		return orNone(newSandbox(a.stage, msg))
	case gameMsg:
		return a.game(msg.strategy)
	case challengeMsg:
		return orNone(newChallenge(a.stage, msg))
	}
	return nil, fmt.Errorf("no screen answers %T", msg)
}

// orNone keeps a nil sandbox from becoming a screen that is not nil.
func orNone(s *sandbox, err error) (room, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// search is the search of a strategy: the one that was left, if there is one.
func (a *app) search(strategy int) *searcher {
	if m := a.searches[strategy]; m != nil && m.reopen(strategy) {
		return m
	}
	a.searches[strategy] = newSearcher(a.stage, strategy)
	return a.searches[strategy]
}

// game is the game of breaking a strategy: the one that was left, with all that was
// tried in it, or a new one. The bounds are the search's own, and make sense for every
// lock in the catalogue.
func (a *app) game(strategy int) (room, error) {
	if s := a.games[strategy]; s != nil && s.reopen(strategy) {
		return s, nil
	}
	s, err := newChallenge(a.stage, challengeMsg{strategy: strategy, bounds: explore.Defaults(a.lib.strategies[strategy])})
	if err != nil {
		return nil, err
	}
	a.games[strategy] = s
	return s, nil
}
