package runs

import (
	"fmt"
	"strings"

	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

const (
	cellWidth  = 6
	mostNames  = 28  // columns for the scenarios' names
	wideNames  = 120 // columns of a window in which all of them are whole
	leastNames = 20
	runsFrame  = 4 // header, two rules and the footer
	usualStory = 7 // rows in which most cells' stories are whole in the least window; in a wide one they take fewer
	wideStory  = 6
	fewestRows = 6 // of the matrix, beside a long story
)

// longestStory are the rows that a story may take of a window.
func longestStory(h, heads int) int { return max(h-runsFrame-heads-fewestRows, 0) }

// headRows are the rows of the locks' names. They go down in stairs, which two rows would make a zigzag.
func headRows(h int) int {
	if h >= 40 {
		return 5
	}
	return 4
}

// runsLayout says where the parts of the matrix are: a pure function of the
// window and of how much there is to show.
type runsLayout struct {
	header, heads, names, grid, story draw.Rectangle
	rules                             []draw.Rectangle
	rows, columns                     int // that fit
	cell                              int // columns of the window that each of the latter takes
}

// arrangeRuns gives the story the rows that it has at every cell, and as many more as this cell's needs, of those
// at the bottom of the matrix. The names of scenarios and locks are so many columns wide.
func arrangeRuns(w, h, names, locks, scenarios, strategies, told int) runsLayout {
	if names = max(names+1, leastNames); w < wideNames { // and a column of air
		names = min(names, mostNames)
	}
	names += 3
	story, heads := usualStory, headRows(h)
	if w >= wideNames {
		story = wideStory
	}
	story = min(max(story, told), longestStory(h, heads))
	rows := max(min(h-runsFrame-story-heads, scenarios), 1) // the only one says that nothing matches
	l := runsLayout{
		header: draw.Rect(0, 0, w, 1),
		heads:  draw.Rect(names, 2, w-names, heads),
		names:  draw.Rect(0, 2+heads, names, rows),
		grid:   draw.Rect(names, 2+heads, w-names, rows),
		rules:  []draw.Rectangle{draw.Rect(0, 1, w, 1), draw.Rect(0, 2+heads+rows, w, 1)},
		rows:   rows, columns: min((w-names)/cellWidth, strategies),
	}
	l.cell = max(min((locks+heads-1)/(heads-1), (w-names)/max(strategies, 1)), cellWidth) // of few locks the names have room
	y := 3 + heads + rows
	l.story = draw.Rect(0, y, w, h-1-y)
	return l
}

// Draw draws the part of the matrix that is in sight, and the story of the cell at the cursor.
func (m *Runs) Draw(c *draw.Canvas, r draw.Rectangle) {
	names, locks := 0, 0
	for _, s := range m.Library.Scenarios {
		names = max(names, draw.Width(s.Name))
	}
	for _, l := range m.locks {
		locks = max(locks, draw.Width(m.Library.Strategies[l].Name))
	}
	if m.window != [2]int{r.W, r.H} { // in another window the view begins at the top again, if the cursor is there
		m.window, m.top, m.left = [2]int{r.W, r.H}, 0, 0
	}
	told := m.story(min(r.W-2, draw.WidestLine), longestStory(r.H+1, headRows(r.H+1)))
	m.plan = arrangeRuns(r.W, r.H+1, names, locks, len(m.lines), len(m.locks), len(told))
	m.top = draw.InSight(m.top, m.at, m.plan.rows, len(m.lines))
	if m.top > 0 && m.top == m.at && m.lines[m.top-1].kind == titleLine {
		m.top-- // the title of the group is in sight with its first run
	}
	m.left = draw.InSight(m.left, m.column, m.plan.columns, len(m.locks))
	for _, rule := range m.plan.rules {
		c.Fill(rule, m.Theme.Rule, draw.Dim)
	}
	m.drawHeader(c, m.plan.header)
	legend := screen.BadgeLegend(&m.Theme.Glyphs)
	c.Line(m.plan.rules[0].X+1, m.plan.rules[0].Y, legend.Width(), legend)
	if m.nothing() {
		c.Text(1, m.plan.grid.Y, r.W-2, fmt.Sprintf("Nothing has %q in its name or its story. %s shows all runs again.", m.filter, m.Keys.Close.Help().Key), draw.Plain)
		return
	}
	m.drawHeads(c, m.plan.heads)
	m.drawRows(c)
	m.drawSight(c, m.plan.rules[1])
	c.Lines(draw.Rect(m.plan.story.X+1, m.plan.story.Y, r.W-2, m.plan.story.H), told, 0)
}

func (m *Runs) drawHeader(c *draw.Canvas, r draw.Rectangle) {
	right := fmt.Sprintf("%d runs ", m.Grid.Known)
	switch all := len(m.Grid.Cells); {
	case m.Grid.Known < all:
		right = fmt.Sprintf("running %d of %d ", m.Grid.Known, all)
	case m.filter != "":
		right = fmt.Sprintf("%d of %d runs ", m.count(), all)
	}
	if m.Seed != 1 {
		right = fmt.Sprintf("seed %d  ", m.Seed) + right
	}
	room := r.W - draw.Width(right) - 1
	n := c.Text(r.X+1, r.Y, room, "All runs", draw.Title)
	tagline, k := fmt.Sprintf("%d locks, each in %d scenarios", len(m.Library.Strategies), len(m.Library.Scenarios)), draw.Dim
	if here := "; " + m.Theme.Pointer + " the run just now"; m.came && m.top > 0 && draw.Width(tagline+here) <= room-n-3 {
		tagline += here // or one would look for the beginning
	}
	switch t := m.Progress.Trouble(); {
	case m.typing:
		kept := m.filtered()
		tagline, k = m.Keys.Search.Help().Key+m.filter+"_   "+kept.String(), draw.Strong
	case m.notice != "":
		tagline, k = m.notice, draw.Breach
	case m.filter != "":
		kept := m.filtered()
		tagline, k = "filter: "+kept.String(), draw.Strong
	case t != "":
		tagline, k = t, draw.Breach
	}
	c.Text(r.X+1+n, r.Y, room-n, "   "+tagline, k)
	c.Text(r.X+r.W-draw.Width(right), r.Y, draw.Width(right), right, draw.Dim)
}

// drawHeads writes the strategies' names, each above its column and in a row of
// its own among its neighbours', so that they have room; at the edge, as far to the left as there is room. The one at
// the cursor is whole, whatever it covers.
func (m *Runs) drawHeads(c *draw.Canvas, r draw.Rectangle) {
	last := min(m.left+m.plan.columns, len(m.locks))
	for i := m.left; i < last; i++ {
		x, row := r.X+(i-m.left)*m.plan.cell, (i-m.left)%(r.H-1)
		name := m.Library.Strategies[m.locks[i]].Name
		for n := draw.Width(name); x+n > r.X+r.W && c.Char(x-1, r.Y+row) == "" && c.Char(x-2, r.Y+row) == ""; {
			x--
		}
		c.Text(x, r.Y+row, min((r.H-1)*m.plan.cell-1, r.X+r.W-x), name, draw.Plain)
	}
	m.drawHead(c, r)
	for i := m.left; i < last; i++ { // stems, where no name stands
		x := r.X + (i-m.left)*m.plan.cell
		for y := r.Y + (i-m.left)%(r.H-1) + 1; y < r.Y+r.H; y++ {
			if c.Char(x, y) == "" && c.Char(x-1, y) == "" {
				c.Put(x, y, m.Theme.Wall, draw.Dim)
			}
		}
	}
	c.Put(r.X+(m.column-m.left)*m.plan.cell, r.Y+r.H-1, m.Theme.Aim, draw.Here)
}

// drawHead writes the name of the lock at the cursor: above its column, or, near the edge, as far to the right as
// all of it has room.
func (m *Runs) drawHead(c *draw.Canvas, r draw.Rectangle) {
	name := m.Library.Strategies[m.lock()].Name
	n := draw.Width(name)
	x, y := r.X+(m.column-m.left)*m.plan.cell, r.Y+(m.column-m.left)%(r.H-1)
	x = max(min(x, r.X+r.W-n), 0)
	for right := x + n; c.Char(right, y) != ""; right++ { // a name that is covered in part says nothing
		c.Put(right, y, "", draw.Plain)
	}
	for left := x - 1; left >= r.X && c.Char(left, y) != ""; left-- {
		c.Put(left, y, "", draw.Plain)
	}
	c.Text(x, y, n, name, draw.Pick)
}

func (m *Runs) drawRows(c *draw.Canvas) {
	for i := range min(m.plan.rows, len(m.lines)-m.top) {
		at, y := m.top+i, m.plan.grid.Y+i
		l := m.lines[at]
		k, mark := draw.Plain, " "
		if at == m.at {
			k, mark = draw.Strong, m.Theme.Pointer
		}
		c.Text(0, y, 1, mark, draw.Here)
		switch l.kind {
		case titleLine:
			c.Text(1, y, m.plan.names.W+m.plan.grid.W-2, m.groups[l.group].title, draw.Title)
		case foldLine:
			if k == draw.Plain {
				k = draw.Dim
			}
			c.Text(3, y, m.plan.names.W+m.plan.grid.W-4, fmt.Sprintf("and %d more: %s unfolds", len(m.groups[l.group].more), m.Keys.Enter.Help().Key), k)
		default:
			c.Text(3, y, m.plan.names.W-4, m.Library.Scenarios[l.scenario].Name, k)
			m.drawCells(c, y, at, l.scenario)
		}
	}
}

func (m *Runs) drawCells(c *draw.Canvas, y, at, scenario int) {
	for j := range m.plan.columns {
		column := m.left + j
		cell := m.Grid.Badge(scenario, m.locks[column], &m.Theme.Glyphs)
		if at == m.at && column == m.column {
			cell = draw.Text(draw.Pad(cell.Text, cellWidth-1), draw.Pick)
		}
		c.Text(m.plan.grid.X+j*m.plan.cell, y, m.plan.cell-1, cell.Text, cell.Ink)
	}
}

// drawSight says, on the rule below the matrix, which part of it is in sight.
func (m *Runs) drawSight(c *draw.Canvas, r draw.Rectangle) {
	from, to, all, folded := 0, 0, 0, 0
	for i, l := range m.lines {
		switch {
		case l.kind == foldLine:
			folded += len(m.groups[l.group].more)
		case l.kind == scenarioLine:
			all++
			if i < m.top {
				from++
			}
			if i < m.top+m.plan.rows {
				to++
			}
		}
	}
	sight := stretch("scenarios", from, to-from, all)
	if folded > 0 {
		if to-from == all { // of those that are unfolded
			sight = fmt.Sprintf("%d scenarios", all)
		}
		sight += fmt.Sprintf(" + %d folded", folded)
	}
	text := " " + sight + ", " + stretch("locks", m.left, m.plan.columns, len(m.locks)) + " "
	c.Text(r.X+r.W-draw.Width(text)-1, r.Y, draw.Width(text), text, draw.Dim)
	codes := m.codesWithin(r.W - draw.Width(text) - 3)
	c.Line(r.X+1, r.Y, codes.Width(), codes)
}

// codesWithin names the failures' codes as far as they have room, the worst first, and then the key that explains the others.
func (m *Runs) codesWithin(room int) (l draw.Line) {
	more := draw.Line{draw.Text(" "+m.Keys.Help.Help().Key, draw.Strong), draw.Text(" more ", draw.Dim)}
	for _, code := range trace.Codes {
		sign := draw.Line{draw.Text(" "+code.String(), draw.Strong), draw.Text(" "+code.Name()+" ", draw.Dim)}
		switch {
		case !code.Failure():
		case l.Width()+sign.Width()+more.Width() <= room:
			l = append(l, sign...)
		case len(l) > 0:
			return append(l, more...)
		default:
			return nil
		}
	}
	return l
}

// stretch is the part of a row or a column that is in sight. All of it has no number.
func stretch(what string, first, room, n int) string {
	if room >= n {
		return "all " + what
	}
	return fmt.Sprintf("%s %d-%d of %d", what, first+1, min(first+room, n), n)
}

// story tells of the cell at the cursor: the scenario, the lock, the verdict, and the reason. Where rows
// are too few for that the scenario and the lock have one each.
func (m *Runs) story(width, rows int) []draw.Line {
	scenario, strategy, is := m.selected()
	st := m.Library.Strategies[strategy]
	lock := draw.Line{draw.Text(st.Name, draw.Strong), draw.Text(": "+st.Summary, draw.Dim)}
	if !is {
		return []draw.Line{lock}
	}
	sc, f := m.Library.Scenarios[scenario], m.Grid.At(scenario, strategy)
	text := m.Grid.Text(scenario, strategy)
	if len(f.Verdict) > 1 {
		text += " (the worst first)" // the player's codes are in the order of the run
	}
	about := append(described(sc.Title, sc.Shows, width), described(st.Name, st.Summary, width)...)
	lines := draw.Line{f.Sign(&m.Theme.Glyphs), draw.Text(" "+text, draw.Plain)}.Hanging(width)
	if m.Grid.Unexpected(scenario, strategy) {
		want, _ := sc.Expect(st.Name)
		lines = append(lines, draw.Line{draw.Text("? the scenario expects "+draw.Either(sc.ExpectsAtLeast(st.Name), "a verdict that includes ", "")+want.String(), draw.Breach)})
	}
	for _, s := range draw.Wrap(screen.Reason(sc, st.Name), width) {
		lines = append(lines, draw.Line{draw.Text(s, draw.Plain)})
	}
	if len(about)+len(lines) > rows {
		about = []draw.Line{{draw.Text(sc.Title, draw.Strong), draw.Text(": "+sc.Shows, draw.Dim)}, lock}
	}
	return append(about, lines...)
}

// described is a name with its description, in as many lines as they take.
func described(name, about string, width int) []draw.Line {
	all := draw.Wrap(name+": "+about, width)
	lines := []draw.Line{{draw.Text(all[0], draw.Dim)}}
	if rest, is := strings.CutPrefix(all[0], name); is {
		lines[0] = draw.Line{draw.Text(name, draw.Strong), draw.Text(rest, draw.Dim)}
	}
	for _, s := range all[1:] {
		lines = append(lines, draw.Line{draw.Text(s, draw.Dim)})
	}
	return lines
}
