package tui

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// home is the matrix: every strategy under every scenario, computed while one
// looks at it. What the cursor stands on tells its story below.
type home struct {
	*stage
	row, column int // the cursor: scenario, strategy
	top, left   int // the first ones in sight
	plan        homeLayout
}

func newHome(s *stage) *home {
	return &home{stage: s}
}

func (h *home) start() tea.Cmd { return h.board.work() }

func (h *home) update(msg tea.Msg) (tea.Cmd, outcome) {
	switch msg := msg.(type) {
	case click:
		return h.clicked(msg)
	case tea.KeyMsg:
		return h.typed(msg)
	}
	return nil, outcome{}
}

func (h *home) typed(k tea.KeyMsg) (tea.Cmd, outcome) {
	rows, columns := len(h.lib.scenarios), len(h.lib.strategies)
	switch {
	case key.Matches(k, h.keys.Up):
		h.row--
	case key.Matches(k, h.keys.Down):
		h.row++
	case key.Matches(k, h.keys.Back):
		h.column--
	case key.Matches(k, h.keys.Forward):
		h.column++
	case key.Matches(k, h.keys.PageUp):
		h.row -= max(h.plan.rows, 1)
	case key.Matches(k, h.keys.PageDown):
		h.row += max(h.plan.rows, 1)
	case key.Matches(k, h.keys.First):
		h.row = 0
	case key.Matches(k, h.keys.Last):
		h.row = rows - 1
	case key.Matches(k, h.keys.Previous):
		h.column -= max(h.plan.columns, 1)
	case key.Matches(k, h.keys.Next):
		h.column += max(h.plan.columns, 1)
	case key.Matches(k, h.keys.Violation):
		h.toFailure()
	case key.Matches(k, h.keys.Enter):
		return nil, outcome{to: playMsg{strategy: h.column, scenario: h.row}}
	case key.Matches(k, h.keys.Compare):
		return nil, outcome{open: compareList(h.stage, h.row, h.column, 0)}
	case key.Matches(k, h.keys.Explore):
		return nil, outcome{to: searchMsg{h.column}}
	case key.Matches(k, h.keys.Sandbox):
		return nil, outcome{to: gameMsg{h.column}}
	case key.Matches(k, h.keys.Course):
		return nil, outcome{to: courseMsg{}}
	}
	h.row = min(max(h.row, 0), rows-1)
	h.column = min(max(h.column, 0), columns-1)
	return nil, outcome{}
}

// toFailure goes to the next cell, reading on from the cursor, in which a lock failed.
func (h *home) toFailure() {
	n := len(h.board.cells)
	at := h.board.index(h.row, h.column)
	for i := 1; i < n; i++ {
		cell := (at + i) % n
		if v := h.board.cells[cell].verdict; len(v) > 0 && v[0].Failure() {
			h.row, h.column = cell/len(h.lib.strategies), cell%len(h.lib.strategies)
			return
		}
	}
}

func (h *home) clicked(c click) (tea.Cmd, outcome) {
	if c.wheel != 0 {
		h.row = min(max(h.row+c.wheel, 0), len(h.lib.scenarios)-1)
		return nil, outcome{}
	}
	g := h.plan.grid
	row := h.top + c.y - g.y
	column := h.left + (c.x-g.x)/cellWidth
	switch {
	case c.y < g.y || c.y >= g.y+h.plan.rows || row >= len(h.lib.scenarios):
		return nil, outcome{}
	case c.x < g.x || column >= min(h.left+h.plan.columns, len(h.lib.strategies)):
		column = h.column
	case row == h.row && column == h.column:
		return nil, outcome{to: playMsg{strategy: column, scenario: row}}
	}
	h.row, h.column = row, column
	return nil, outcome{}
}

func (h *home) footerKeys() []key.Binding {
	k := &h.keys
	return []key.Binding{
		as(k.Enter, "play"), k.Course, as(k.Explore, "search"), k.Sandbox, k.Compare, pair(k.Back, k.Forward, "strategy"), pair(k.Up, k.Down, "scenario"),
		as(k.Violation, "next failure"), pair(k.PageUp, k.PageDown, "page"), pair(k.Previous, k.Next, "page of strategies"),
		pair(k.First, k.Last, "ends"), k.Mouse, k.Help, k.Quit,
	}
}

func (h *home) help() page {
	k, g := &h.keys, &h.theme.glyphs
	p := page{
		title: "the matrix",
		about: "Every way to lock under every misfortune. Each cell is a run, made just now, and says the worst that the monitors saw in it; " +
			"below stands all that they saw, and why. Enter opens the run, step by step.",
		keys: append([]key.Binding{
			as(k.Enter, "play the run"), as(k.Course, "the course"), as(k.Compare, "with another lock"), as(k.Explore, "search all schedules"), as(k.Sandbox, "your turn at breaking it"),
			as(k.Back, "strategy before"), as(k.Forward, "strategy after"), as(k.Up, "scenario above"), as(k.Down, "scenario below"),
			as(k.Previous, "page left"), as(k.Next, "page right"), k.PageUp, k.PageDown,
			as(k.First, "first scenario"), as(k.Last, "last scenario"), as(k.Violation, "next failure"),
		}, k.always()...),
		signs: []meaning{
			{g.granted + "ok", "nothing broke"}, {g.mild + "BD", "reported, but no failure"}, {g.bad + "DG", "broken"},
			{"?", "not what the scenario expects"}, {g.wants + g.wants, "not run yet"},
		},
	}
	p.signs = append(p.signs, codeMeanings()...)
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
	header, heads, names, grid, story rect
	rules                             []rect
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
		header: rect{0, 0, w, 1},
		heads:  rect{names, 2, w - names, heads},
		names:  rect{0, 2 + heads, names, rows},
		grid:   rect{names, 2 + heads, w - names, rows},
		rules:  []rect{{0, 1, w, 1}, {0, 2 + heads + rows, w, 1}},
		rows:   rows, columns: min((w-names)/cellWidth, strategies),
	}
	y := 3 + heads + rows
	l.story = rect{0, y, w, h - 1 - y}
	return l
}

func (h *home) draw(c *canvas, r rect) {
	names := 0
	for _, s := range h.lib.scenarios {
		names = max(names, textWidth(s.Name))
	}
	h.plan = arrangeHome(r.w, r.h+1, names, len(h.lib.scenarios), len(h.lib.strategies))
	h.top = inSight(h.top, h.row, h.plan.rows, len(h.lib.scenarios))
	h.left = inSight(h.left, h.column, h.plan.columns, len(h.lib.strategies))
	for _, rule := range h.plan.rules {
		c.fill(rule, h.theme.rule, inkDim)
	}
	h.drawHeader(c, h.plan.header)
	h.drawHeads(c, h.plan.heads)
	h.drawRows(c)
	h.drawSight(c, h.plan.rules[1])
	h.drawStory(c, h.plan.story)
}

func (h *home) drawHeader(c *canvas, r rect) {
	right := fmt.Sprintf("%d runs ", h.board.known)
	if all := len(h.board.cells); h.board.known < all {
		right = fmt.Sprintf("running %d of %d ", h.board.known, all)
	}
	if h.seed != 1 {
		right = fmt.Sprintf("seed %d  ", h.seed) + right
	}
	room := r.w - textWidth(right) - 1
	n := c.text(r.x+1, r.y, room, "Lockstep", inkTitle)
	tagline, k := "every Redis lock under every misfortune", inkDim
	if t := h.diary.Trouble(); t != "" {
		tagline, k = t, inkBreach
	}
	c.text(r.x+1+n, r.y, room-n, "   "+tagline, k)
	c.text(r.x+r.w-textWidth(right), r.y, textWidth(right), right, inkDim)
}

// drawHeads writes the strategies' names, each above its column and in a row of
// its own among its neighbours', so that they have room.
func (h *home) drawHeads(c *canvas, r rect) {
	last := min(h.left+h.plan.columns, len(h.lib.strategies))
	for i := h.left; i < last; i++ {
		x, row := r.x+(i-h.left)*cellWidth, (i-h.left)%(r.h-1)
		room := min((r.h-1)*cellWidth-1, r.x+r.w-x)
		k := inkPlain
		if i == h.column {
			k = inkPick
		}
		c.text(x, r.y+row, room, h.lib.strategies[i].Name, k)
	}
	for i := h.left; i < last; i++ { // stems, where no name stands
		x := r.x + (i-h.left)*cellWidth
		for y := r.y + (i-h.left)%(r.h-1) + 1; y < r.y+r.h; y++ {
			if c.at(x, y).s == "" && c.at(x-1, y).s == "" {
				c.put(x, y, h.theme.wall, inkDim)
			}
		}
	}
	c.put(r.x+(h.column-h.left)*cellWidth, r.y+r.h-1, h.theme.aim, inkHere)
}

func (h *home) drawRows(c *canvas) {
	for i := range h.plan.rows {
		row, y := h.top+i, h.plan.grid.y+i
		k, mark := inkPlain, " "
		if row == h.row {
			k, mark = inkStrong, h.theme.pointer
		}
		c.text(0, y, 1, mark, inkHere)
		c.text(1, y, h.plan.names.w-2, h.lib.scenarios[row].Name, k)
		for j := range h.plan.columns {
			column := h.left + j
			cell := h.board.badge(row, column, &h.theme.glyphs)
			if row == h.row && column == h.column {
				cell = span{padded(cell.text, cellWidth-1), inkPick}
			}
			c.text(h.plan.grid.x+j*cellWidth, y, cellWidth-1, cell.text, cell.ink)
		}
	}
}

// drawSight says, on the rule below the matrix, how much of it is in sight.
func (h *home) drawSight(c *canvas, r rect) {
	text := fmt.Sprintf(" scenarios %s, strategies %s ", stretch(h.top, h.plan.rows, len(h.lib.scenarios)),
		stretch(h.left, h.plan.columns, len(h.lib.strategies)))
	c.text(r.x+r.w-textWidth(text)-1, r.y, textWidth(text), text, inkDim)
}

func stretch(first, room, n int) string {
	if room >= n {
		return fmt.Sprintf("all %d", n)
	}
	return fmt.Sprintf("%d-%d of %d", first+1, min(first+room, n), n)
}

func (h *home) drawStory(c *canvas, r rect) {
	c.lines(rect{r.x + 1, r.y, r.w - 2, r.h}, h.story(min(r.w-2, 2*longestLine)), 0)
}

// story is what there is to say of the cell at the cursor: what happened, what
// broke, and why.
func (h *home) story(width int) []line {
	sc, st := h.lib.scenarios[h.row], h.lib.strategies[h.column]
	f := h.board.at(h.row, h.column)
	lines := []line{{{sc.Title, inkStrong}, {"  with ", inkDim}, {st.Name, inkStrong}}, {f.sign(&h.theme.glyphs), {" " + f.words(), inkPlain}}}
	if h.board.unexpected(h.row, h.column) {
		want, _ := sc.Expect(st.Name)
		lines = append(lines, line{{"? the scenario expects " + want.String(), inkBreach}})
	}
	why := sc.Because(st.Name)
	if why == "" {
		why = "What this shows: " + sc.Shows + "."
	}
	for _, s := range wrap(why, width) {
		lines = append(lines, line{{s, inkPlain}})
	}
	return lines
}
