package tui

import (
	"fmt"
	"slices"

	"lockstep/scenarios"
	"lockstep/sim/explore"
	"lockstep/tui/compare"
	"lockstep/tui/course"
	"lockstep/tui/decide"
	"lockstep/tui/door"
	"lockstep/tui/draw"
	"lockstep/tui/game"
	"lockstep/tui/player"
	"lockstep/tui/progress"
	"lockstep/tui/runs"
	"lockstep/tui/screen"
	"lockstep/tui/search"
)

// screens makes the screens that the messages ask for. Games and searches that the
// reader has left are kept, and shown again.
type screens struct {
	*screen.App
	games    map[int]*game.Sandbox // by strategy
	searches map[int]*search.Search
}

// newRoot opens the screen that the options name. Esc leads from there to the screens in which
// the reader would have chosen it, and to the door.
func newRoot(lib *screen.Library, p *progress.Store, o Options, t *draw.Theme) *screen.Router {
	lib.Include(o.Strategy, o.Scenario)
	a := &screens{screen.NewApp(lib, p, t, o.Seed, o.Exports), map[int]*game.Sandbox{}, map[int]*search.Search{}}
	stack := []screen.Screen{door.New(a.App)}
	for _, msg := range a.way(o) {
		s, err := a.open(msg)
		if err != nil {
			stack[len(stack)-1].Update(screen.RefusedMsg{Err: err})
			break
		}
		stack = append(stack, s)
	}
	return screen.NewRouter(a.App, a.open, stack...)
}

// way are the screens from the door to the one that the options name.
func (a *screens) way(o Options) []screen.OpenMsg {
	st := max(a.Library.Strategy(o.Strategy.Name), 0)
	switch {
	case o.Lesson > 0:
		lesson := o.Lesson - 1
		return []screen.OpenMsg{screen.CourseMsg{}, screen.LessonMsg{Lesson: lesson, Step: a.unplayed(lesson)}}
	case o.Course:
		return []screen.OpenMsg{screen.CourseMsg{}}
	case o.Game:
		bounds := explore.Defaults(a.Library.Strategies[st])
		return []screen.OpenMsg{screen.RunsMsg{Strategy: st}, screen.ChallengeMsg{Strategy: st, Bounds: bounds, Found: o.Goal}}
	case o.Scenario != nil:
		sc := a.Library.Scenario(o.Scenario)
		return []screen.OpenMsg{screen.RunsMsg{Strategy: st, Scenario: sc}, screen.PlayMsg{Strategy: st, Scenario: sc}}
	}
	return nil
}

// unplayed is the first step of a lesson that was not played yet, or the first.
func (a *screens) unplayed(lesson int) int {
	l := &a.Library.Lessons[lesson]
	return max(slices.IndexFunc(l.Steps, func(s scenarios.LessonStep) bool { return !a.Progress.Played(l.Name, s.ID()) }), 0)
}

// open gives the screen that a message asks for.
func (a *screens) open(msg screen.OpenMsg) (screen.Screen, error) {
	switch msg := msg.(type) {
	case screen.RunsMsg:
		return runs.New(a.App, msg), nil
	case screen.DecideMsg:
		return decide.New(a.App), nil
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
		return a.game(msg.Strategy)
	case screen.ChallengeMsg:
		return orNone(game.NewChallenge(a.App, msg))
	}
	return nil, fmt.Errorf("no screen answers %T", msg)
}

// orNone keeps a nil sandbox from becoming a screen that is not nil.
func orNone(s *game.Sandbox, err error) (screen.Screen, error) {
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

// game is the game of breaking a strategy: the one that was left, with all its moves, or a
// new one. The bounds are the search's own, and make sense for every lock in the catalogue.
func (a *screens) game(strategy int) (screen.Screen, error) {
	if s := a.games[strategy]; s != nil && s.Reopen(strategy) {
		return s, nil
	}
	s, err := game.NewChallenge(a.App, screen.ChallengeMsg{Strategy: strategy, Bounds: explore.Defaults(a.Library.Strategies[strategy])})
	if err != nil {
		return nil, err
	}
	a.games[strategy] = s
	return s, nil
}
