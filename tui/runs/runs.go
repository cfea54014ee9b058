// Package runs is the list of all runs: the matrix of strategies and scenarios, with the
// story of the run at the cursor.
package runs

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/tui/draw"
	"lockstep/tui/picker"
	"lockstep/tui/screen"
)

// Runs is the matrix: every strategy under every scenario, computed while it is
// shown. Below stands the story of the cell at the cursor.
type Runs struct {
	*screen.App
	row, column int // the cursor: scenario, strategy
	top, left   int // the first ones in sight
	plan        runsLayout
}

// New is the matrix with the cursor on a cell.
func New(app *screen.App, at screen.RunsMsg) *Runs {
	return &Runs{App: app, row: at.Scenario, column: at.Strategy}
}

// Start has the matrix computed.
func (m *Runs) Start() tea.Cmd { return m.Grid.Work() }

// Update takes a key, a click, or the result of something that was asked for.
func (m *Runs) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case screen.Click:
		return m.clicked(msg)
	case tea.KeyMsg:
		return m.typed(msg)
	}
	return nil, screen.Outcome{}
}

func (m *Runs) typed(k tea.KeyMsg) (tea.Cmd, screen.Outcome) {
	rows, columns := len(m.Library.Scenarios), len(m.Library.Strategies)
	switch {
	case key.Matches(k, m.Keys.Close):
		return nil, screen.Outcome{Close: true}
	case key.Matches(k, m.Keys.Up):
		m.row--
	case key.Matches(k, m.Keys.Down):
		m.row++
	case key.Matches(k, m.Keys.Back):
		m.column--
	case key.Matches(k, m.Keys.Forward):
		m.column++
	case key.Matches(k, m.Keys.PageUp):
		m.row -= max(m.plan.rows, 1)
	case key.Matches(k, m.Keys.PageDown):
		m.row += max(m.plan.rows, 1)
	case key.Matches(k, m.Keys.First):
		m.row = 0
	case key.Matches(k, m.Keys.Last):
		m.row = rows - 1
	case key.Matches(k, m.Keys.Previous):
		m.column -= max(m.plan.columns, 1)
	case key.Matches(k, m.Keys.Next):
		m.column += max(m.plan.columns, 1)
	case key.Matches(k, m.Keys.Violation):
		m.toFailure()
	case key.Matches(k, m.Keys.Enter):
		return nil, screen.Outcome{To: screen.PlayMsg{Strategy: m.column, Scenario: m.row}}
	case key.Matches(k, m.Keys.Compare):
		return nil, screen.Outcome{Open: picker.Compare(m.App, m.row, m.column, 0)}
	case key.Matches(k, m.Keys.Explore):
		return nil, screen.Outcome{To: screen.SearchMsg{Strategy: m.column}}
	case key.Matches(k, m.Keys.Sandbox):
		return nil, screen.Outcome{To: screen.GameMsg{Strategy: m.column}}
	case key.Matches(k, m.Keys.Course):
		return nil, screen.Outcome{To: screen.CourseMsg{}}
	}
	m.row = min(max(m.row, 0), rows-1)
	m.column = min(max(m.column, 0), columns-1)
	return nil, screen.Outcome{}
}

// toFailure goes to the next cell, reading on from the cursor, in which a lock failed.
func (m *Runs) toFailure() {
	n := len(m.Grid.Cells)
	at := m.Grid.Index(m.row, m.column)
	for i := 1; i < n; i++ {
		cell := (at + i) % n
		if v := m.Grid.Cells[cell].Verdict; len(v) > 0 && v[0].Failure() {
			m.row, m.column = cell/len(m.Library.Strategies), cell%len(m.Library.Strategies)
			return
		}
	}
}

func (m *Runs) clicked(c screen.Click) (tea.Cmd, screen.Outcome) {
	if c.Wheel != 0 {
		m.row = min(max(m.row+c.Wheel, 0), len(m.Library.Scenarios)-1)
		return nil, screen.Outcome{}
	}
	g := m.plan.grid
	row := m.top + c.Y - g.Y
	column := m.left + (c.X-g.X)/cellWidth
	switch {
	case c.Y < g.Y || c.Y >= g.Y+m.plan.rows || row >= len(m.Library.Scenarios):
		return nil, screen.Outcome{}
	case c.X < g.X || column >= min(m.left+m.plan.columns, len(m.Library.Strategies)):
		column = m.column
	case row == m.row && column == m.column:
		return nil, screen.Outcome{To: screen.PlayMsg{Strategy: column, Scenario: row}}
	}
	m.row, m.column = row, column
	return nil, screen.Outcome{}
}

// FooterKeys are the keys that work here, the most useful first.
func (m *Runs) FooterKeys() []key.Binding {
	k := &m.Keys
	return []key.Binding{
		screen.As(k.Enter, "play"), k.Course, screen.As(k.Explore, "search"), k.Sandbox, k.Compare, screen.Pair(k.Back, k.Forward, "strategy"), screen.Pair(k.Up, k.Down, "scenario"),
		screen.As(k.Violation, "next failure"), screen.Pair(k.PageUp, k.PageDown, "page"), screen.Pair(k.Previous, k.Next, "page of strategies"),
		screen.Pair(k.First, k.Last, "ends"), k.Mouse, k.Help, k.Close, k.Quit,
	}
}

// Help explains the screen and its keys.
func (m *Runs) Help() screen.Page {
	k, g := &m.Keys, &m.Theme.Glyphs
	p := screen.Page{
		Title: "the matrix",
		About: "Every way to lock under every misfortune. Each cell is a run, made just now, and says the worst that the monitors saw in it; " +
			"all that they saw, and why, is below the matrix. Enter opens the run, step by step.",
		Keys: append([]key.Binding{
			screen.As(k.Enter, "play the run"), screen.As(k.Course, "the course"), screen.As(k.Compare, "with another lock"), screen.As(k.Explore, "search all schedules"), screen.As(k.Sandbox, "your turn at breaking it"),
			screen.As(k.Back, "strategy before"), screen.As(k.Forward, "strategy after"), screen.As(k.Up, "scenario above"), screen.As(k.Down, "scenario below"),
			screen.As(k.Previous, "page left"), screen.As(k.Next, "page right"), k.PageUp, k.PageDown,
			screen.As(k.First, "first scenario"), screen.As(k.Last, "last scenario"), screen.As(k.Violation, "next failure"),
		}, k.Always()...),
		Signs: []draw.Sign{
			{g.Granted + "ok", "nothing broke"}, {g.Mild + "BD", "reported, but no failure"}, {g.Bad + "DG", "broken"},
			{"?", "not what the scenario expects"}, {g.Wants + g.Wants, "not run yet"},
		},
	}
	p.Signs = append(p.Signs, screen.CodeSigns()...)
	return p
}

// Drawing.

const (
	cellWidth     = 6
	mostNames     = 28 // columns for the scenarios' names
	leastNames    = 20
	runsFrame     = 4 // header, two rules and the footer
	leastStory    = 5
	generousStory = 8
)

// runsLayout says where the parts of the matrix are: a pure function of the
// window and of how much there is to show.
type runsLayout struct {
	header, heads, names, grid, story draw.Rectangle
	rules                             []draw.Rectangle
	rows, columns                     int // that fit
}

func arrangeRuns(w, h, names, scenarios, strategies int) runsLayout {
	names = min(max(names, leastNames), mostNames) + 3
	story, heads := leastStory, 3
	switch {
	case h >= 40:
		story, heads = generousStory, 5
	case h >= 28:
		heads = 4
	}
	rows := min(h-runsFrame-story-heads, scenarios)
	l := runsLayout{
		header: draw.Rect(0, 0, w, 1),
		heads:  draw.Rect(names, 2, w-names, heads),
		names:  draw.Rect(0, 2+heads, names, rows),
		grid:   draw.Rect(names, 2+heads, w-names, rows),
		rules:  []draw.Rectangle{draw.Rect(0, 1, w, 1), draw.Rect(0, 2+heads+rows, w, 1)},
		rows:   rows, columns: min((w-names)/cellWidth, strategies),
	}
	y := 3 + heads + rows
	l.story = draw.Rect(0, y, w, h-1-y)
	return l
}

// Draw draws the part of the matrix that is in sight, and the story of the cell at the cursor.
func (m *Runs) Draw(c *draw.Canvas, r draw.Rectangle) {
	names := 0
	for _, s := range m.Library.Scenarios {
		names = max(names, draw.Width(s.Name))
	}
	m.plan = arrangeRuns(r.W, r.H+1, names, len(m.Library.Scenarios), len(m.Library.Strategies))
	m.top = draw.InSight(m.top, m.row, m.plan.rows, len(m.Library.Scenarios))
	m.left = draw.InSight(m.left, m.column, m.plan.columns, len(m.Library.Strategies))
	for _, rule := range m.plan.rules {
		c.Fill(rule, m.Theme.Rule, draw.Dim)
	}
	m.drawHeader(c, m.plan.header)
	m.drawHeads(c, m.plan.heads)
	m.drawRows(c)
	m.drawSight(c, m.plan.rules[1])
	m.drawStory(c, m.plan.story)
}

func (m *Runs) drawHeader(c *draw.Canvas, r draw.Rectangle) {
	right := fmt.Sprintf("%d runs ", m.Grid.Known)
	if all := len(m.Grid.Cells); m.Grid.Known < all {
		right = fmt.Sprintf("running %d of %d ", m.Grid.Known, all)
	}
	if m.Seed != 1 {
		right = fmt.Sprintf("seed %d  ", m.Seed) + right
	}
	room := r.W - draw.Width(right) - 1
	n := c.Text(r.X+1, r.Y, room, "Lockstep", draw.Title)
	tagline, k := "every Redis lock under every misfortune", draw.Dim
	if t := m.Progress.Trouble(); t != "" {
		tagline, k = t, draw.Breach
	}
	c.Text(r.X+1+n, r.Y, room-n, "   "+tagline, k)
	c.Text(r.X+r.W-draw.Width(right), r.Y, draw.Width(right), right, draw.Dim)
}

// drawHeads writes the strategies' names, each above its column and in a row of
// its own among its neighbours', so that they have room.
func (m *Runs) drawHeads(c *draw.Canvas, r draw.Rectangle) {
	last := min(m.left+m.plan.columns, len(m.Library.Strategies))
	for i := m.left; i < last; i++ {
		x, row := r.X+(i-m.left)*cellWidth, (i-m.left)%(r.H-1)
		room := min((r.H-1)*cellWidth-1, r.X+r.W-x)
		k := draw.Plain
		if i == m.column {
			k = draw.Pick
		}
		c.Text(x, r.Y+row, room, m.Library.Strategies[i].Name, k)
	}
	for i := m.left; i < last; i++ { // stems, where no name stands
		x := r.X + (i-m.left)*cellWidth
		for y := r.Y + (i-m.left)%(r.H-1) + 1; y < r.Y+r.H; y++ {
			if c.Char(x, y) == "" && c.Char(x-1, y) == "" {
				c.Put(x, y, m.Theme.Wall, draw.Dim)
			}
		}
	}
	c.Put(r.X+(m.column-m.left)*cellWidth, r.Y+r.H-1, m.Theme.Aim, draw.Here)
}

func (m *Runs) drawRows(c *draw.Canvas) {
	for i := range m.plan.rows {
		row, y := m.top+i, m.plan.grid.Y+i
		k, mark := draw.Plain, " "
		if row == m.row {
			k, mark = draw.Strong, m.Theme.Pointer
		}
		c.Text(0, y, 1, mark, draw.Here)
		c.Text(1, y, m.plan.names.W-2, m.Library.Scenarios[row].Name, k)
		for j := range m.plan.columns {
			column := m.left + j
			cell := m.Grid.Badge(row, column, &m.Theme.Glyphs)
			if row == m.row && column == m.column {
				cell = draw.Text(draw.Pad(cell.Text, cellWidth-1), draw.Pick)
			}
			c.Text(m.plan.grid.X+j*cellWidth, y, cellWidth-1, cell.Text, cell.Ink)
		}
	}
}

// drawSight says, on the rule below the matrix, which part of it is in sight.
func (m *Runs) drawSight(c *draw.Canvas, r draw.Rectangle) {
	text := fmt.Sprintf(" scenarios %s, strategies %s ", stretch(m.top, m.plan.rows, len(m.Library.Scenarios)),
		stretch(m.left, m.plan.columns, len(m.Library.Strategies)))
	c.Text(r.X+r.W-draw.Width(text)-1, r.Y, draw.Width(text), text, draw.Dim)
}

func stretch(first, room, n int) string {
	if room >= n {
		return fmt.Sprintf("all %d", n)
	}
	return fmt.Sprintf("%d-%d of %d", first+1, min(first+room, n), n)
}

func (m *Runs) drawStory(c *draw.Canvas, r draw.Rectangle) {
	c.Lines(draw.Rect(r.X+1, r.Y, r.W-2, r.H), m.story(min(r.W-2, 2*draw.LongestLine)), 0)
}

// story tells of the cell at the cursor: the scenario, the verdict, and the reason.
func (m *Runs) story(width int) []draw.Line {
	sc, st := m.Library.Scenarios[m.row], m.Library.Strategies[m.column]
	f := m.Grid.At(m.row, m.column)
	lines := []draw.Line{{draw.Text(sc.Title, draw.Strong), draw.Text("  with ", draw.Dim), draw.Text(st.Name, draw.Strong)}, {f.Sign(&m.Theme.Glyphs), draw.Text(" "+f.Text(), draw.Plain)}}
	if m.Grid.Unexpected(m.row, m.column) {
		want, _ := sc.Expect(st.Name)
		lines = append(lines, draw.Line{draw.Text("? the scenario expects "+want.String(), draw.Breach)})
	}
	why := screen.Reason(sc, st.Name)
	if why == "" {
		why = "What this shows: " + sc.Shows + "."
	}
	for _, s := range draw.Wrap(why, width) {
		lines = append(lines, draw.Line{draw.Text(s, draw.Plain)})
	}
	return lines
}
