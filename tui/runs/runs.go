// Package runs is the list of all runs: the matrix of strategies and scenarios, with the
// story of the run at the cursor.
package runs

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/tui/draw"
	"lockstep/tui/picker"
	"lockstep/tui/screen"
)

// Runs is the matrix: every strategy under every scenario, computed while it is
// shown. The scenarios stand below the titles of their lessons, and those that the course leaves
// out are folded. Below the matrix is the story of the cell at the cursor.
//
// Invariants: if there are lines, lines[at] is no title; 0 <= column < len(locks), if there are locks.
type Runs struct {
	*screen.App
	groups    []group
	order     []int        // the locks, in the order of their columns
	open      map[int]bool // the groups that are unfolded
	lines     []line       // those that the filter and the folds leave
	locks     []int        // those that the filter leaves, by column
	at        int          // the line at the cursor
	column    int          // the column at the cursor
	top, left int          // the first ones in sight
	window    [2]int       // of the last frame
	filter    string
	origin    origin // the cursor before there was a filter
	moved     bool   // the cursor, since then
	came      bool   // no key was pressed since the matrix was opened
	typing    bool   // of the filter
	notice    string
	plan      runsLayout
}

// New is the matrix with the cursor on a cell.
func New(app *screen.App, at screen.RunsMsg) *Runs {
	m := &Runs{App: app, groups: groupsOf(app.Library), order: locksOf(app.Library), open: map[int]bool{}, came: true}
	m.show(at.Scenario, at.Strategy)
	return m
}

// Start has the matrix computed, and first the runs that say whether an ok means anything.
func (m *Runs) Start() tea.Cmd { return m.Grid.First(m.Grid.Basic) }

// Typing reports whether a filter is being typed.
func (m *Runs) Typing() bool { return m.typing }

// Update takes a key, a click, or the result of something that was asked for.
func (m *Runs) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case screen.Click:
		return m.clicked(msg)
	case screen.RefusedMsg:
		m.notice = msg.Err.Error()
	case tea.KeyMsg:
		m.notice, m.came = "", false
		if m.typing {
			m.typeFilter(msg)
			return nil, screen.Outcome{}
		}
		if m.moves(msg) {
			return nil, screen.Outcome{}
		}
		return nil, m.opens(msg)
	}
	return nil, screen.Outcome{}
}

// moves handles the keys that move the cursor.
func (m *Runs) moves(k tea.KeyMsg) bool {
	page := max(m.plan.rows-1, 1)
	switch {
	case key.Matches(k, m.Keys.Up):
		m.step(-1, 1)
	case key.Matches(k, m.Keys.Down):
		m.step(1, 1)
	case key.Matches(k, m.Keys.PageUp):
		m.step(-1, page)
	case key.Matches(k, m.Keys.PageDown):
		m.step(1, page)
	case key.Matches(k, m.Keys.First):
		m.step(-1, len(m.lines))
	case key.Matches(k, m.Keys.Last):
		m.step(1, len(m.lines))
	case key.Matches(k, m.Keys.Back):
		m.column--
	case key.Matches(k, m.Keys.Forward):
		m.column++
	case key.Matches(k, m.Keys.Previous):
		m.pageOfLocks(-1)
	case key.Matches(k, m.Keys.Next):
		m.pageOfLocks(1)
	case key.Matches(k, m.Keys.Violation):
		m.toFailure()
	default:
		return false
	}
	m.column = max(min(m.column, len(m.locks)-1), 0)
	m.moved = true
	return true
}

// pageOfLocks goes to the next page of columns or to the one before: a way back leads to where it came from.
func (m *Runs) pageOfLocks(by int) {
	n := max(m.plan.columns, 1)
	if to := m.column + by*n; to >= 0 && to < len(m.locks) || to/n == (len(m.locks)-1)/n {
		m.column = to
	}
	m.column = max(min(m.column, len(m.locks)-1), 0)
	m.left = m.column / n * n
}

// opens handles the keys that lead elsewhere, and those that change which runs are listed.
func (m *Runs) opens(k tea.KeyMsg) screen.Outcome {
	scenario, strategy, is := m.selected()
	switch {
	case key.Matches(k, m.Keys.Close) && m.filter != "":
		m.setFilter("")
	case key.Matches(k, m.Keys.Close):
		return screen.Outcome{Close: true}
	case key.Matches(k, m.Keys.Search):
		m.typing = true
	case key.Matches(k, m.Keys.Enter):
		return m.enter()
	case key.Matches(k, m.Keys.Compare) && is:
		return screen.Outcome{Open: picker.Compare(m.App, scenario, strategy, 0)}
	case key.Matches(k, m.Keys.Explore):
		return screen.Outcome{To: screen.SearchMsg{Strategy: strategy}}
	case key.Matches(k, m.Keys.Sandbox):
		return screen.Outcome{To: screen.GameMsg{Strategy: strategy}}
	case key.Matches(k, m.Keys.Course):
		return screen.Outcome{To: screen.CourseMsg{}}
	}
	return screen.Outcome{}
}

// enter plays the run at the cursor, or unfolds the scenarios that are folded there.
func (m *Runs) enter() screen.Outcome {
	scenario, strategy, is := m.selected()
	switch {
	case is:
		return screen.Outcome{To: screen.PlayMsg{Strategy: strategy, Scenario: scenario}}
	case m.at < len(m.lines) && m.lines[m.at].kind == foldLine:
		g := m.lines[m.at].group
		m.open[g] = true
		m.arrange(m.groups[g].more[0], strategy)
	}
	return screen.Outcome{}
}

// longestFilter keeps a filter from filling the header.
const longestFilter = 30

// typeFilter takes a key of the filter, which counts at once.
func (m *Runs) typeFilter(k tea.KeyMsg) {
	text := []rune(m.filter)
	switch {
	case key.Matches(k, m.Keys.Close):
		m.typing = false
		m.setFilter("")
	case key.Matches(k, m.Keys.Enter):
		m.typing = false
	case k.Type == tea.KeyBackspace && len(text) > 0:
		m.setFilter(string(text[:len(text)-1]))
	case k.Type == tea.KeyBackspace:
		m.typing = false
	case (k.Type == tea.KeyRunes || k.Type == tea.KeySpace) && len(text) < longestFilter:
		m.setFilter(m.filter + string(k.Runes))
	}
}

// setFilter lists the runs that a filter keeps. Without one, the cursor is back where it was before, unless the
// reader has moved it in the filtered list.
func (m *Runs) setFilter(text string) {
	scenario, strategy, is := m.selected()
	if !is {
		scenario = -1
	}
	if m.filter == "" {
		m.origin, m.moved = origin{scenario, strategy, m.at}, false
	}
	if !m.moved || !is {
		scenario, strategy = m.origin.scenario, m.origin.strategy
	}
	m.filter, m.top, m.left = text, 0, 0
	switch {
	case text == "" && scenario >= 0:
		m.show(scenario, strategy)
	default:
		m.arrange(scenario, strategy)
		if text == "" { // it was on folded scenarios
			m.at = m.origin.at
		}
	}
}

// origin is a place of the cursor.
type origin struct{ scenario, strategy, at int }

func (m *Runs) clicked(c screen.Click) (tea.Cmd, screen.Outcome) {
	if c.Wheel != 0 {
		m.step(c.Wheel, 1)
		return nil, screen.Outcome{}
	}
	g := m.plan.grid
	at := m.top + c.Y - g.Y
	column := m.left + (c.X-g.X)/m.plan.cell
	if c.Y < g.Y || c.Y >= g.Y+m.plan.rows || at >= len(m.lines) || m.lines[at].kind == titleLine {
		return nil, screen.Outcome{}
	}
	if c.X < g.X || column >= min(m.left+m.plan.columns, len(m.locks)) {
		column = m.column
	}
	again := at == m.at && column == m.column
	m.at, m.column = at, column
	if again || m.lines[at].kind == foldLine {
		return nil, m.enter()
	}
	return nil, screen.Outcome{}
}

// FooterKeys are the keys that work here, the most useful first.
func (m *Runs) FooterKeys() []key.Binding {
	k := &m.Keys
	back := k.Close
	lock := screen.As(k.Sandbox, "break "+m.Library.Strategies[m.lock()].Name)
	if m.filter != "" || m.typing {
		back = screen.As(back, "no filter")
	}
	if m.typing { // all other keys are letters of the filter
		return []key.Binding{screen.As(k.Enter, "keep the filter"), back, screen.Bind("ctrl+c", "quit", "ctrl+c")}
	}
	if m.nothing() {
		return []key.Binding{screen.As(k.Search, "filter"), back, k.Course, k.Help, k.Mouse, k.Quit}
	}
	all := []key.Binding{screen.As(k.Enter, "play"), screen.As(k.Search, "filter"), screen.As(k.Violation, "failure")}
	if m.plan.columns < len(m.locks) { // the rule below the matrix says that some are out of sight
		all = append(all, screen.Pair(k.Previous, k.Next, "locks"))
	}
	return append(all, k.Compare, k.Help, k.Explore, lock, k.Course,
		screen.Pair(k.Back, k.Forward, "lock"), screen.Pair(k.Up, k.Down, "scenario"), screen.Pair(k.PageUp, k.PageDown, "page"),
		screen.Pair(k.First, k.Last, "ends"), k.Mouse, back, k.Quit)
}

// Help explains the screen and its keys.
func (m *Runs) Help() screen.Page {
	k, g := &m.Keys, &m.Theme.Glyphs
	p := screen.Page{
		Title: "all runs",
		About: "Every way to lock in every scenario, by the lessons of the course; what the course leaves out is folded. Each cell is a run, made just now, and says " +
			"the worst that the monitors saw in it; all that they saw, and why, is below. An ok in brackets recommends nothing: the lock already fails at something that " +
			"every lock has to withstand. A word of a filter keeps the scenarios with it in their names or, if none has it, the locks; a whole word counts before a part of one. What no name has is looked for in what the scenarios show.",
		Keys: append([]key.Binding{
			screen.As(k.Enter, "play the run, unfold"), screen.As(k.Search, "filter"), screen.As(k.Course, "the course"), screen.As(k.Compare, "with another lock"), screen.As(k.Explore, "search all schedules"), screen.As(k.Sandbox, "your turn at breaking this lock, by whatever can go wrong"),
			screen.As(k.Back, "lock before"), screen.As(k.Forward, "lock after"), screen.As(k.Up, "scenario above"), screen.As(k.Down, "scenario below"),
			screen.As(k.Previous, "page left"), screen.As(k.Next, "page right"), k.PageUp, k.PageDown,
			screen.As(k.First, "first scenario"), screen.As(k.Last, "last scenario"), screen.As(k.Violation, "next failure of this lock"),
		}, k.Always()...),
		Signs: []draw.Sign{
			{g.Granted + "ok", "nothing broke"}, {"(ok)", "nothing broke here; elsewhere the lock fails, in a run that it has to withstand whatever its use"}, {g.Mild + "BD", "reported, but no failure"}, {g.Bad + "DG", "broken, whatever the use: the advice on a lock has " + g.Mild + " where your answers make it harmless"},
			{"?", "behind a verdict: not what the scenario expects"}, {g.Wants + g.Wants, "not run yet"},
		},
	}
	p.Signs = append(p.Signs, screen.CodeSigns()...)
	return p
}
