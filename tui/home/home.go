// Package home is the matrix of strategies and scenarios, from which all other screens are
// reached.
package home

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/tui/draw"
	"lockstep/tui/picker"
	"lockstep/tui/screen"
)

// Home is the matrix: every strategy under every scenario, computed while it is
// shown. Below stands the story of the cell at the cursor.
type Home struct {
	*screen.App
	row, column int // the cursor: scenario, strategy
	top, left   int // the first ones in sight
	plan        homeLayout
}

// New is the matrix with the cursor on its first cell.
func New(app *screen.App) *Home {
	return &Home{App: app}
}

// Start has the matrix computed.
func (h *Home) Start() tea.Cmd { return h.Grid.Work() }

// Update takes a key, a click, or the result of something that was asked for.
func (h *Home) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case screen.Click:
		return h.clicked(msg)
	case tea.KeyMsg:
		return h.typed(msg)
	}
	return nil, screen.Outcome{}
}

func (h *Home) typed(k tea.KeyMsg) (tea.Cmd, screen.Outcome) {
	rows, columns := len(h.Library.Scenarios), len(h.Library.Strategies)
	switch {
	case key.Matches(k, h.Keys.Up):
		h.row--
	case key.Matches(k, h.Keys.Down):
		h.row++
	case key.Matches(k, h.Keys.Back):
		h.column--
	case key.Matches(k, h.Keys.Forward):
		h.column++
	case key.Matches(k, h.Keys.PageUp):
		h.row -= max(h.plan.rows, 1)
	case key.Matches(k, h.Keys.PageDown):
		h.row += max(h.plan.rows, 1)
	case key.Matches(k, h.Keys.First):
		h.row = 0
	case key.Matches(k, h.Keys.Last):
		h.row = rows - 1
	case key.Matches(k, h.Keys.Previous):
		h.column -= max(h.plan.columns, 1)
	case key.Matches(k, h.Keys.Next):
		h.column += max(h.plan.columns, 1)
	case key.Matches(k, h.Keys.Violation):
		h.toFailure()
	case key.Matches(k, h.Keys.Enter):
		return nil, screen.Outcome{To: screen.PlayMsg{Strategy: h.column, Scenario: h.row}}
	case key.Matches(k, h.Keys.Compare):
		return nil, screen.Outcome{Open: picker.Compare(h.App, h.row, h.column, 0)}
	case key.Matches(k, h.Keys.Explore):
		return nil, screen.Outcome{To: screen.SearchMsg{Strategy: h.column}}
	case key.Matches(k, h.Keys.Sandbox):
		return nil, screen.Outcome{To: screen.GameMsg{Strategy: h.column}}
	case key.Matches(k, h.Keys.Course):
		return nil, screen.Outcome{To: screen.CourseMsg{}}
	}
	h.row = min(max(h.row, 0), rows-1)
	h.column = min(max(h.column, 0), columns-1)
	return nil, screen.Outcome{}
}

// toFailure goes to the next cell, reading on from the cursor, in which a lock failed.
func (h *Home) toFailure() {
	n := len(h.Grid.Cells)
	at := h.Grid.Index(h.row, h.column)
	for i := 1; i < n; i++ {
		cell := (at + i) % n
		if v := h.Grid.Cells[cell].Verdict; len(v) > 0 && v[0].Failure() {
			h.row, h.column = cell/len(h.Library.Strategies), cell%len(h.Library.Strategies)
			return
		}
	}
}

func (h *Home) clicked(c screen.Click) (tea.Cmd, screen.Outcome) {
	if c.Wheel != 0 {
		h.row = min(max(h.row+c.Wheel, 0), len(h.Library.Scenarios)-1)
		return nil, screen.Outcome{}
	}
	g := h.plan.grid
	row := h.top + c.Y - g.Y
	column := h.left + (c.X-g.X)/cellWidth
	switch {
	case c.Y < g.Y || c.Y >= g.Y+h.plan.rows || row >= len(h.Library.Scenarios):
		return nil, screen.Outcome{}
	case c.X < g.X || column >= min(h.left+h.plan.columns, len(h.Library.Strategies)):
		column = h.column
	case row == h.row && column == h.column:
		return nil, screen.Outcome{To: screen.PlayMsg{Strategy: column, Scenario: row}}
	}
	h.row, h.column = row, column
	return nil, screen.Outcome{}
}

// FooterKeys are the keys that work here, the most useful first.
func (h *Home) FooterKeys() []key.Binding {
	k := &h.Keys
	return []key.Binding{
		screen.As(k.Enter, "play"), k.Course, screen.As(k.Explore, "search"), k.Sandbox, k.Compare, screen.Pair(k.Back, k.Forward, "strategy"), screen.Pair(k.Up, k.Down, "scenario"),
		screen.As(k.Violation, "next failure"), screen.Pair(k.PageUp, k.PageDown, "page"), screen.Pair(k.Previous, k.Next, "page of strategies"),
		screen.Pair(k.First, k.Last, "ends"), k.Mouse, k.Help, k.Quit,
	}
}

// Help explains the screen and its keys.
func (h *Home) Help() screen.Page {
	k, g := &h.Keys, &h.Theme.Glyphs
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
	homeFrame     = 4 // header, two rules and the footer
	leastStory    = 5
	generousStory = 8
)

// homeLayout says where the parts of the matrix are: a pure function of the
// window and of how much there is to show.
type homeLayout struct {
	header, heads, names, grid, story draw.Rectangle
	rules                             []draw.Rectangle
	rows, columns                     int // that fit
}

func arrangeHome(w, h, names, scenarios, strategies int) homeLayout {
	names = min(max(names, leastNames), mostNames) + 3
	story, heads := leastStory, 3
	switch {
	case h >= 40:
		story, heads = generousStory, 5
	case h >= 28:
		heads = 4
	}
	rows := min(h-homeFrame-story-heads, scenarios)
	l := homeLayout{
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
func (h *Home) Draw(c *draw.Canvas, r draw.Rectangle) {
	names := 0
	for _, s := range h.Library.Scenarios {
		names = max(names, draw.Width(s.Name))
	}
	h.plan = arrangeHome(r.W, r.H+1, names, len(h.Library.Scenarios), len(h.Library.Strategies))
	h.top = draw.InSight(h.top, h.row, h.plan.rows, len(h.Library.Scenarios))
	h.left = draw.InSight(h.left, h.column, h.plan.columns, len(h.Library.Strategies))
	for _, rule := range h.plan.rules {
		c.Fill(rule, h.Theme.Rule, draw.Dim)
	}
	h.drawHeader(c, h.plan.header)
	h.drawHeads(c, h.plan.heads)
	h.drawRows(c)
	h.drawSight(c, h.plan.rules[1])
	h.drawStory(c, h.plan.story)
}

func (h *Home) drawHeader(c *draw.Canvas, r draw.Rectangle) {
	right := fmt.Sprintf("%d runs ", h.Grid.Known)
	if all := len(h.Grid.Cells); h.Grid.Known < all {
		right = fmt.Sprintf("running %d of %d ", h.Grid.Known, all)
	}
	if h.Seed != 1 {
		right = fmt.Sprintf("seed %d  ", h.Seed) + right
	}
	room := r.W - draw.Width(right) - 1
	n := c.Text(r.X+1, r.Y, room, "Lockstep", draw.Title)
	tagline, k := "every Redis lock under every misfortune", draw.Dim
	if t := h.Progress.Trouble(); t != "" {
		tagline, k = t, draw.Breach
	}
	c.Text(r.X+1+n, r.Y, room-n, "   "+tagline, k)
	c.Text(r.X+r.W-draw.Width(right), r.Y, draw.Width(right), right, draw.Dim)
}

// drawHeads writes the strategies' names, each above its column and in a row of
// its own among its neighbours', so that they have room.
func (h *Home) drawHeads(c *draw.Canvas, r draw.Rectangle) {
	last := min(h.left+h.plan.columns, len(h.Library.Strategies))
	for i := h.left; i < last; i++ {
		x, row := r.X+(i-h.left)*cellWidth, (i-h.left)%(r.H-1)
		room := min((r.H-1)*cellWidth-1, r.X+r.W-x)
		k := draw.Plain
		if i == h.column {
			k = draw.Pick
		}
		c.Text(x, r.Y+row, room, h.Library.Strategies[i].Name, k)
	}
	for i := h.left; i < last; i++ { // stems, where no name stands
		x := r.X + (i-h.left)*cellWidth
		for y := r.Y + (i-h.left)%(r.H-1) + 1; y < r.Y+r.H; y++ {
			if c.Char(x, y) == "" && c.Char(x-1, y) == "" {
				c.Put(x, y, h.Theme.Wall, draw.Dim)
			}
		}
	}
	c.Put(r.X+(h.column-h.left)*cellWidth, r.Y+r.H-1, h.Theme.Aim, draw.Here)
}

func (h *Home) drawRows(c *draw.Canvas) {
	for i := range h.plan.rows {
		row, y := h.top+i, h.plan.grid.Y+i
		k, mark := draw.Plain, " "
		if row == h.row {
			k, mark = draw.Strong, h.Theme.Pointer
		}
		c.Text(0, y, 1, mark, draw.Here)
		c.Text(1, y, h.plan.names.W-2, h.Library.Scenarios[row].Name, k)
		for j := range h.plan.columns {
			column := h.left + j
			cell := h.Grid.Badge(row, column, &h.Theme.Glyphs)
			if row == h.row && column == h.column {
				cell = draw.Text(draw.Pad(cell.Text, cellWidth-1), draw.Pick)
			}
			c.Text(h.plan.grid.X+j*cellWidth, y, cellWidth-1, cell.Text, cell.Ink)
		}
	}
}

// drawSight says, on the rule below the matrix, which part of it is in sight.
func (h *Home) drawSight(c *draw.Canvas, r draw.Rectangle) {
	text := fmt.Sprintf(" scenarios %s, strategies %s ", stretch(h.top, h.plan.rows, len(h.Library.Scenarios)),
		stretch(h.left, h.plan.columns, len(h.Library.Strategies)))
	c.Text(r.X+r.W-draw.Width(text)-1, r.Y, draw.Width(text), text, draw.Dim)
}

func stretch(first, room, n int) string {
	if room >= n {
		return fmt.Sprintf("all %d", n)
	}
	return fmt.Sprintf("%d-%d of %d", first+1, min(first+room, n), n)
}

func (h *Home) drawStory(c *draw.Canvas, r draw.Rectangle) {
	c.Lines(draw.Rect(r.X+1, r.Y, r.W-2, r.H), h.story(min(r.W-2, 2*draw.LongestLine)), 0)
}

// story tells of the cell at the cursor: the scenario, the verdict, and the reason.
func (h *Home) story(width int) []draw.Line {
	sc, st := h.Library.Scenarios[h.row], h.Library.Strategies[h.column]
	f := h.Grid.At(h.row, h.column)
	lines := []draw.Line{{draw.Text(sc.Title, draw.Strong), draw.Text("  with ", draw.Dim), draw.Text(st.Name, draw.Strong)}, {f.Sign(&h.Theme.Glyphs), draw.Text(" "+f.Text(), draw.Plain)}}
	if h.Grid.Unexpected(h.row, h.column) {
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
