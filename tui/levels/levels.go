// Package levels has the list of the game's levels, and says which of them to go on with.
package levels

import (
	"fmt"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/picker"
	"lockstep/tui/screen"
)

// List is the list of all levels.
type List struct {
	*picker.Picker
	next  int    // the level to go on with, when the cursor was put there
	begun []bool // by level: moves were made in it
}

// New is the list with the cursor on the level to go on with.
func New(app *screen.App) *List {
	all := scenarios.Levels()
	items := make([]picker.Item, len(all))
	list := &List{next: Next(app)}
	for i := range all {
		l := &all[i]
		items[i] = picker.Item{Name: l.Strategy, About: fmt.Sprintf("%s (%d moves)", l.Title, l.Moves), Detail: described(l, i == Longest()), Badge: func() draw.Span {
			if _, won := app.Progress.Won(l.Name()); won {
				return draw.Text(app.Theme.Granted+" won", draw.Good)
			}
			return draw.Text(draw.Either(list.begun[i], "begun", draw.Either(i == Next(app), "next", "")), draw.Plain)
		}}
	}
	list.Picker = &picker.Picker{App: app, Items: items, At: Next(app), Current: -1, Numbered: true, Verb: "play",
		About: "The levels, in the order of the course. Next is the first that isn't won after the one that you played last.", Choose: func(i int) (tea.Cmd, screen.Outcome) {
			return nil, screen.Outcome{To: screen.LevelMsg{Level: i}}
		}}
	list.look()
	return list
}

// described is a level's task, its goal in words, and the length of the best solution found, each from a row of its own on.
func described(l *scenarios.Level, longest bool) string {
	return fmt.Sprintf("Task: %s\nGoal: %s (%s): %s.\nBest found: %d moves%s.", l.Task, l.Goal.Named(), l.Goal, Meaning(l.Goal), l.Moves,
		draw.Either(longest, ", more than any other level: leave it for later if you like", ""))
}

// look notes which levels were begun, and says why the one that is marked as next isn't the first that is left, if it isn't.
func (l *List) look() {
	l.begun = nil
	for _, level := range scenarios.Levels() {
		l.begun = append(l.begun, l.Progress.Game(level.Name()) != nil)
	}
	n := Next(l.App)
	l.Title = "Which lock do you want to break?" + draw.Either(Unwon(l.App, 0) < n && !l.begun[n], " (next: after your last win)", "")
}

// Resume puts the cursor on the level to go on with, after another was played or won. After a mere look at one it stays.
func (l *List) Resume() {
	l.look()
	if n := Next(l.App); n != l.next {
		l.At, l.next = n, n
	}
}

// Next is the level to go on with: the one that was played last, or, once that is won, the next one that isn't.
func Next(app *screen.App) int {
	last := slices.IndexFunc(scenarios.Levels(), func(l scenarios.Level) bool { return l.Name() == app.Progress.LastLevel() })
	if last >= 0 {
		if _, won := app.Progress.Won(app.Progress.LastLevel()); won {
			last++
		}
	}
	return max(Unwon(app, last), 0)
}

// Of is the level of breaking a lock so, or of breaking it at all if the goal is nil:
// the first that isn't won, if there are several. It is -1 if there is none.
func Of(app *screen.App, strategy string, goal *trace.Code) int {
	fit := About(strategy, goal)
	if fit == nil {
		return -1
	}
	for _, i := range fit {
		if _, won := app.Progress.Won(scenarios.Levels()[i].Name()); !won {
			return i
		}
	}
	return fit[0]
}

// Longest is the level with the most moves.
func Longest() (at int) {
	all := scenarios.Levels()
	for i := range all {
		if all[i].Moves > all[at].Moves {
			at = i
		}
	}
	return at
}

// Unwon is the first level from a place on that is not won yet, going round; or -1.
func Unwon(app *screen.App, from int) int {
	all := scenarios.Levels()
	for n := range all {
		i := (max(from, 0) + n) % len(all)
		if _, won := app.Progress.Won(all[i].Name()); !won {
			return i
		}
	}
	return -1
}

// About has the levels of breaking a lock so, or of breaking it at all if the goal is nil.
func About(lock string, goal *trace.Code) (all []int) {
	for i, l := range scenarios.Levels() {
		if l.Strategy == lock && (goal == nil || l.Goal == *goal) {
			all = append(all, i)
		}
	}
	return all
}

// Numbered are levels by their numbers.
func Numbered(all []int) string {
	var numbers []string
	for _, i := range all {
		numbers = append(numbers, strconv.Itoa(i+1))
	}
	return draw.Either(len(all) > 1, "levels ", "level ") + trace.List(numbers)
}

// meant are the goals in words that need no others, and the codes that may come beside them.
var meant = map[trace.Code]string{
	trace.OV: "two clients are inside the critical section at once",
	trace.DG: "two clients' leases are live at once",
	trace.SW: "a client's write lands on top of a newer holder's",
	trace.FR: "a client's command removes or changes another's record",
	trace.PD: "all clients are finished or dead, and a record is left that refuses whoever asks, for ever",
	trace.FN: "a client's Acquire fails although its own record is stored",
	trace.BD: "for a time nobody could get the lock, though nobody alive held it; no fault of a lock",
}

// Meaning says what a violation is in words that need no others, as far as a game may come to it.
func Meaning(code trace.Code) string {
	return draw.Either(meant[code] != "", meant[code], code.Meaning())
}

// Rivals are the locks that may withstand the moves that have broken one, the simplest first.
func Rivals(s strategies.Strategy) []string {
	if s.Nodes > 1 {
		return []string{"redlock"}
	}
	return []string{"naive-del", "setpx-lua", "setpx-get", "fenced", "getset-equal"}
}
