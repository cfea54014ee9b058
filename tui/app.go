package tui

import (
	"fmt"
	"slices"

	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/tui/compare"
	"lockstep/tui/course"
	"lockstep/tui/decide"
	"lockstep/tui/door"
	"lockstep/tui/draw"
	"lockstep/tui/finding"
	"lockstep/tui/game"
	"lockstep/tui/levels"
	"lockstep/tui/player"
	"lockstep/tui/present"
	"lockstep/tui/progress"
	"lockstep/tui/runs"
	"lockstep/tui/screen"
	"lockstep/tui/search"
)

// screens makes the screens that the messages ask for. Searches that the reader has left
// are kept, and shown again, and so are the answers that lead to a lock; games are in the reader's progress.
type screens struct {
	*screen.App
	searches map[int]*search.Search
	decide   *decide.Decide // with the answers as they were left, or nil
}

// newRoot opens the screen that the options name. Esc leads from there to the screens in which
// the reader would have chosen it, and to the door; but from a playlist, which is shown to a room, to the
// shell.
func newRoot(lib *screen.Library, p *progress.Store, o Options, t *draw.Theme) *screen.Router {
	lib.Include(o.Strategy, o.Scenario)
	if o.Present != nil {
		for _, s := range o.Present.Showings {
			lib.Include(s.Strategy, s.Scenario)
		}
	}
	a := &screens{screen.NewApp(lib, p, t, o.Seed, o.Exports), map[int]*search.Search{}, nil}
	if o.Rename != nil {
		a.Rename = o.Rename
	}
	if o.Present != nil {
		return screen.NewRouter(a.App, a.open, present.New(a.App, *o.Present))
	}
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

// way lists the screens from the door to the one that the options name.
func (a *screens) way(o Options) []screen.OpenMsg {
	st := max(a.Library.Strategy(o.Strategy.Name), 0)
	switch {
	case o.Lesson > 0:
		return []screen.OpenMsg{screen.CourseMsg{}, screen.LessonMsg{Lesson: o.Lesson - 1}} // from its beginning: the list is there for going on
	case o.Course:
		return []screen.OpenMsg{screen.CourseMsg{}}
	case o.Level > 0:
		return []screen.OpenMsg{screen.LevelsMsg{}, screen.LevelMsg{Level: o.Level - 1}}
	case o.Game && o.Strategy.Name == "":
		return []screen.OpenMsg{screen.LevelsMsg{}}
	case o.Game:
		return []screen.OpenMsg{screen.RunsMsg{Strategy: st}, screen.GameMsg{Strategy: st, Goal: o.Goal}}
	case o.Scenario != nil:
		sc := a.Library.Scenario(o.Scenario)
		return []screen.OpenMsg{screen.RunsMsg{Strategy: st, Scenario: sc}, screen.PlayMsg{Strategy: st, Scenario: sc}}
	}
	return nil
}

// open gives the screen that a message asks for.
func (a *screens) open(msg screen.OpenMsg) (screen.Screen, error) {
	switch msg := msg.(type) {
	case screen.RunsMsg:
		return runs.New(a.App, msg), nil
	case screen.PresentMsg:
		return present.New(a.App, msg.Playlist), nil
	case screen.DecideMsg:
		if a.decide == nil {
			a.decide = decide.New(a.App)
		}
		a.decide.Reopened()
		return a.decide, nil
	case screen.PlayMsg:
		return player.Open(a.App, msg), nil
	case screen.FindingMsg:
		return finding.Open(a.App, msg), nil
	case screen.CourseMsg:
		return course.New(a.App), nil
	case screen.LessonMsg:
		return player.OpenLesson(a.App, msg), nil
	case screen.CompareMsg:
		return compare.New(a.App, msg), nil
	case screen.SearchMsg:
		m := a.search(msg.Strategy)
		if msg.Run != nil {
			m.Include(msg.Run)
		}
		return m, nil
	case screen.SandboxMsg:
		return orNone(game.New(a.App, msg))
	case screen.GameMsg:
		return orNone(a.game(msg))
	case screen.LevelsMsg:
		return levels.New(a.App), nil
	case screen.LevelMsg:
		return orNone(game.NewLevel(a.App, msg.Level))
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

// game is the level of a lock and a goal. A lock that no
// level is about is broken within the search's own bounds.
func (a *screens) game(m screen.GameMsg) (*game.Game, error) {
	st := a.Library.Strategies[m.Strategy]
	if level := levels.Of(a.App, st.Name, m.Goal); level >= 0 {
		g, err := game.NewLevel(a.App, level)
		if fit := levels.About(st.Name, m.Goal); err == nil && len(fit) > 1 {
			other := slices.IndexFunc(fit, func(i int) bool { return i != level })
			g.Notice = fmt.Sprintf("%s fit: %s lists them, and lockstep play %d opens level %[3]d.", trace.Capital(levels.Numbered(fit)), a.Keys.Scenario.Help().Key, fit[other]+1)
		}
		return g, err
	}
	return game.NewChallenge(a.App, screen.ChallengeMsg{Strategy: m.Strategy, Bounds: explore.Defaults(st), Found: m.Goal})
}
