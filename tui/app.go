package tui

import (
	"fmt"

	"lockstep/sim/explore"
	"lockstep/tui/compare"
	"lockstep/tui/course"
	"lockstep/tui/draw"
	"lockstep/tui/game"
	"lockstep/tui/home"
	"lockstep/tui/player"
	"lockstep/tui/progress"
	"lockstep/tui/screen"
	"lockstep/tui/search"
)

// screens makes the screens that the messages ask for. Searches that the reader has left
// are kept, and shown again; games are in the reader's progress.
type screens struct {
	*screen.App
	searches map[int]*search.Search
}

// newRoot opens the player if there is something to play, and the matrix if not.
func newRoot(lib *screen.Library, p *progress.Store, o Options, t *draw.Theme) *screen.Router {
	lib.Include(o.Strategy, o.Scenario)
	a := &screens{screen.NewApp(lib, p, t, o.Seed, o.Exports), map[int]*search.Search{}}
	first := screen.Screen(home.New(a.App))
	if o.Scenario != nil {
		first = player.New(a.App, lib.Strategy(o.Strategy.Name), lib.Scenario(o.Scenario))
	}
	return screen.NewRouter(a.App, a.open, first)
}

// open gives the screen that a message asks for.
func (a *screens) open(msg screen.OpenMsg) (screen.Screen, error) {
	switch msg := msg.(type) {
	case screen.HomeMsg:
		return home.New(a.App), nil
	case screen.PlayMsg:
		return player.Open(a.App, msg), nil
	case screen.FindingMsg:
		return player.OpenFinding(a.App, msg), nil
	case screen.CourseMsg:
		return course.New(a.App), nil
	case screen.LessonMsg:
		return player.OpenLesson(a.App, msg), nil
	case screen.CompareMsg:
		return compare.New(a.App, msg), nil
	case screen.SearchMsg:
		return a.search(msg.Strategy), nil
	case screen.SandboxMsg:
		return orNone(game.New(a.App, msg))
	case screen.GameMsg:
		return orNone(a.game(msg))
	case screen.ChallengeMsg:
		return orNone(game.NewChallenge(a.App, msg))
	}
	return nil, fmt.Errorf("no screen answers %T", msg)
}

// orNone keeps a nil game from becoming a screen that is not nil.
func orNone(s *game.Game, err error) (screen.Screen, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// search is the search of a strategy: the one that was left, or a new one.
func (a *screens) search(strategy int) *search.Search {
	if m := a.searches[strategy]; m != nil && m.Reopen(strategy) {
		return m
	}
	a.searches[strategy] = search.New(a.App, strategy)
	return a.searches[strategy]
}

// game is the level of a lock and a goal, or the next one that isn't won. A lock that no
// level is about is broken within the search's own bounds.
func (a *screens) game(m screen.GameMsg) (*game.Game, error) {
	if m.Next {
		return game.NewLevel(a.App, max(game.Unwon(a.App, 0), 0))
	}
	st := a.Library.Strategies[m.Strategy]
	if level := game.LevelOf(a.App, st.Name, m.Goal); level >= 0 {
		return game.NewLevel(a.App, level)
	}
	return game.NewChallenge(a.App, screen.ChallengeMsg{Strategy: m.Strategy, Bounds: explore.Defaults(st), Found: m.Goal})
}
