package picker

import (
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// Strategies lists the locks, with the outcome of each in a scenario.
func Strategies(s *screen.App, title string, scenario, current int, choose func(int) (tea.Cmd, screen.Outcome)) *Picker {
	items := make([]Item, len(s.Library.Strategies))
	for i, st := range s.Library.Strategies {
		items[i] = Item{st.Name, st.Summary, func() draw.Span { return s.Grid.Badge(scenario, i, &s.Theme.Glyphs) }}
	}
	return &Picker{App: s, Title: title, Items: items, At: current, Current: current, wanted: s.Grid.WantRow(scenario), Choose: choose}
}

// Scenarios lists the scenarios, with the outcome of a lock in each.
func Scenarios(s *screen.App, title string, current, strategy int, choose func(int) (tea.Cmd, screen.Outcome)) *Picker {
	items := make([]Item, len(s.Library.Scenarios))
	for i, sc := range s.Library.Scenarios {
		items[i] = Item{sc.Name, sc.Title + ": " + sc.Shows, func() draw.Span { return s.Grid.Badge(i, strategy, &s.Theme.Glyphs) }}
	}
	return &Picker{App: s, Title: title, Items: items, At: current, Current: current, wanted: s.Grid.WantColumn(strategy), Choose: choose}
}

// Compare asks which lock to compare with, from a position of the run.
func Compare(s *screen.App, scenario, strategy, pos int) *Picker {
	p := Strategies(s, "Compare "+s.Library.Strategies[strategy].Name+" with which lock?", scenario, strategy, func(i int) (tea.Cmd, screen.Outcome) {
		return nil, screen.Outcome{Close: true, To: screen.CompareMsg{Scenario: scenario, Strategies: [2]int{strategy, i}, From: pos}}
	})
	p.At = (strategy + 1) % len(s.Library.Strategies) // with itself there is nothing to compare
	return p
}
