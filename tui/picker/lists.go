package picker

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// Strategies lists the locks, with the outcome of each in a scenario.
func Strategies(app *screen.App, title string, scenario, current int, choose func(int) (tea.Cmd, screen.Outcome)) *Picker {
	items := make([]Item, len(app.Library.Strategies))
	for i, st := range app.Library.Strategies {
		items[i] = Item{Name: st.Name, About: st.Summary, Badge: func() draw.Span { return app.Grid.BadgeBeside(scenario, current, i, &app.Theme.Glyphs) },
			Outcome: func() string { return st.Name + ": " + app.Grid.Text(scenario, i) },
			Spared: func() string {
				if of := app.Grid.At(scenario, i); len(of.Verdict) > 0 { // of one that breaks too, it would explain nothing
					return ""
				}
				return app.Grid.Spared(scenario, current, i)
			}}
	}
	return &Picker{App: app, Title: title, Items: items, At: current, Current: current, wanted: app.Grid.WantRow(scenario), Choose: choose}
}

// Scenarios lists the scenarios, with the outcome of a lock in each.
func Scenarios(app *screen.App, title string, current, strategy int, choose func(int) (tea.Cmd, screen.Outcome)) *Picker {
	items := make([]Item, len(app.Library.Scenarios))
	for i, sc := range app.Library.Scenarios {
		items[i] = Item{Name: sc.Name, About: sc.Title + ": " + sc.Shows, Badge: func() draw.Span { return app.Grid.Badge(i, strategy, &app.Theme.Glyphs) },
			Outcome: func() string { return sc.Name + ": " + app.Grid.Text(i, strategy) }}
	}
	return &Picker{App: app, Title: title, Items: items, At: current, Current: current, wanted: app.Grid.WantColumn(strategy), Choose: choose}
}

// Compare asks which lock to compare with, from a position of the run. Of the one at the cursor it says what it
// withstands: the cursor may begin there for that.
func Compare(app *screen.App, scenario, strategy, pos int) *Picker {
	p := Strategies(app, "Compare "+app.Library.Strategies[strategy].Name+" with which lock?", scenario, strategy, func(i int) (tea.Cmd, screen.Outcome) {
		return nil, screen.Outcome{Close: true, To: screen.CompareMsg{Scenario: scenario, Strategies: [2]int{strategy, i}, From: pos}}
	})
	p.note = func(i int) string {
		mine, other := app.Grid.At(scenario, strategy), app.Grid.At(scenario, i)
		if !mine.Known || !other.Known {
			return ""
		}
		spared := slices.DeleteFunc(mine.Verdict.Failures(), func(c trace.Code) bool { return slices.Contains(other.Verdict, c) })
		if len(spared) == 0 || app.Grid.Spared(scenario, strategy, i) != "" {
			return ""
		}
		text := fmt.Sprintf("; %s avoids %s", app.Library.Strategies[i].Name, spared)
		if still := other.Verdict.Failures(); len(still) > 0 {
			text += fmt.Sprintf(", shows %s", still)
		}
		return text
	}
	p.At = (strategy + 1) % len(app.Library.Strategies) // with itself there is nothing to compare
	return p
}
