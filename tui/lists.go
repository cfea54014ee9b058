package tui

import tea "github.com/charmbracelet/bubbletea"

// strategyList lists the locks with what becomes of them in a scenario.
func strategyList(s *stage, title string, scenario, current int, choose func(int) (tea.Cmd, outcome)) *picker {
	items := make([]choice, len(s.lib.strategies))
	for i, st := range s.lib.strategies {
		items[i] = choice{st.Name, st.Summary, func() span { return s.board.badge(scenario, i, &s.theme.glyphs) }}
	}
	return &picker{stage: s, title: title, items: items, at: current, current: current, wanted: s.board.wantRow(scenario), choose: choose}
}

// scenarioList lists what can happen with what becomes of a lock in it.
func scenarioList(s *stage, title string, current, strategy int, choose func(int) (tea.Cmd, outcome)) *picker {
	items := make([]choice, len(s.lib.scenarios))
	for i, sc := range s.lib.scenarios {
		items[i] = choice{sc.Name, sc.Title + ": " + sc.Shows, func() span { return s.board.badge(i, strategy, &s.theme.glyphs) }}
	}
	return &picker{stage: s, title: title, items: items, at: current, current: current, wanted: s.board.wantColumn(strategy), choose: choose}
}

// compareList asks which lock to compare with, from a position of the run.
func compareList(s *stage, scenario, strategy, pos int) *picker {
	p := strategyList(s, "Compare "+s.lib.strategies[strategy].Name+" with which lock?", scenario, strategy, func(i int) (tea.Cmd, outcome) {
		return nil, outcome{close: true, to: compareMsg{scenario, [2]int{strategy, i}, pos}}
	})
	p.at = (strategy + 1) % len(s.lib.strategies) // with itself there is nothing to compare
	return p
}
