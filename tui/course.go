package tui

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
)

// course lists the lessons, and what has been done of them.
type course struct {
	*stage
	lesson int
	rung   int
	list   rect
}

// newCourse opens the course at the lesson that was open last.
func newCourse(s *stage) *course {
	c := &course{stage: s}
	c.resume()
	return c
}

// unplayed is the first rung of the lesson that was not played yet, or the first.
func (c *course) unplayed() int {
	l := &c.lib.lessons[c.lesson]
	for i := range l.Rungs {
		if !c.diary.Played(l.Name, l.Rungs[i].ID()) {
			return i
		}
	}
	return 0
}

// start has the rungs of all lessons run before the rest of the matrix.
func (c *course) start() tea.Cmd {
	wanted := map[int]bool{}
	for _, l := range c.lib.lessons {
		for _, r := range l.Rungs {
			wanted[c.cell(r)] = true
		}
	}
	return c.board.first(func(cell int) bool { return wanted[cell] })
}

// cell is the place of a step's run in the matrix.
func (c *course) cell(r scenarios.Rung) int {
	return c.board.index(c.lib.named(r.Scenario), c.lib.strategy(r.Strategy))
}

func (c *course) update(msg tea.Msg) (tea.Cmd, outcome) {
	switch msg := msg.(type) {
	case click:
		return c.clicked(msg)
	case tea.KeyMsg:
		return c.typed(msg)
	}
	return nil, outcome{}
}

func (c *course) typed(k tea.KeyMsg) (tea.Cmd, outcome) {
	switch {
	case key.Matches(k, c.keys.Close), key.Matches(k, c.keys.Course):
		return nil, outcome{close: true}
	case key.Matches(k, c.keys.Up):
		c.goTo(c.lesson - 1)
	case key.Matches(k, c.keys.Down):
		c.goTo(c.lesson + 1)
	case key.Matches(k, c.keys.First):
		c.goTo(0)
	case key.Matches(k, c.keys.Last):
		c.goTo(len(c.lib.lessons) - 1)
	case key.Matches(k, c.keys.Back):
		c.rung = max(c.rung-1, 0)
	case key.Matches(k, c.keys.Forward):
		c.rung = min(c.rung+1, len(c.lib.lessons[c.lesson].Rungs)-1)
	case key.Matches(k, c.keys.Enter):
		return nil, outcome{to: lessonMsg{c.lesson, c.rung}}
	}
	return nil, outcome{}
}

func (c *course) goTo(lesson int) {
	if lesson = min(max(lesson, 0), len(c.lib.lessons)-1); lesson != c.lesson {
		c.lesson = lesson
		c.rung = c.unplayed()
	}
}

func (c *course) clicked(k click) (tea.Cmd, outcome) {
	i := k.y - c.list.y
	switch {
	case k.wheel != 0:
		c.goTo(c.lesson + k.wheel)
	case k.x >= c.list.x+c.list.w || i < 0 || i >= len(c.lib.lessons):
	case i == c.lesson:
		return nil, outcome{to: lessonMsg{c.lesson, c.rung}}
	default:
		c.goTo(i)
	}
	return nil, outcome{}
}

func (c *course) footerKeys() []key.Binding {
	k := &c.keys
	return []key.Binding{as(k.Enter, "play"), pair(k.Up, k.Down, "lesson"), pair(k.Back, k.Forward, "rung"), as(k.Course, "matrix"), k.Close, k.Mouse, k.Help, k.Quit}
}

func (c *course) help() page {
	k, g := &c.keys, &c.theme.glyphs
	return page{
		title: "the course",
		about: "Each lesson is something that happens, and a ladder of locks under it: the next rung answers the failure of the one before. " +
			"A rung counts as played when you have seen its story to the end. What you have played, and how well you predicted, is remembered.",
		keys: append([]key.Binding{as(k.Up, "lesson before"), as(k.Down, "lesson after"), as(k.Back, "rung before"), as(k.Forward, "rung after"),
			as(k.First, "first lesson"), as(k.Last, "last lesson"), as(k.Enter, "play the rung"), as(k.Course, "the matrix")}, k.always()...),
		signs: append([]meaning{{g.granted, "played"}, {"?", "not played yet"}, {g.granted + "ok", "nothing broke"}, {g.mild + "BD", "reported, but no failure"}, {g.bad + "DG", "broken"}}, codeMeanings()...),
	}
}

// Drawing.

// arrangeCourse gives the places of the list and of the lesson beside it.
func arrangeCourse(w, h, titles int) (header, list, lesson rect, rules []rect, wall rect) {
	side := min(titles+12, w/2)
	body := rect{0, 2, w, h - 4}
	return rect{0, 0, w, 1}, rect{0, body.y, side, body.h}, rect{side + 2, body.y, w - side - 3, body.h},
		[]rect{{0, 1, w, 1}, {0, h - 2, w, 1}}, rect{side, body.y, 1, body.h}
}

func (c *course) draw(cv *canvas, r rect) {
	titles := 0
	for _, l := range c.lib.lessons {
		titles = max(titles, textWidth(l.Title))
	}
	header, list, lesson, rules, wall := arrangeCourse(r.w, r.h+1, titles)
	c.list = list
	for _, rule := range rules {
		cv.fill(rule, c.theme.rule, inkDim)
	}
	cv.fill(wall, c.theme.wall, inkDim)
	c.drawHeader(cv, header)
	c.drawList(cv, list, titles)
	cv.lines(lesson, c.lessonLines(min(lesson.w, longestLine), lesson.h), 0)
}

func (c *course) drawHeader(cv *canvas, r rect) {
	played, rungs := 0, 0
	for _, l := range c.lib.lessons {
		played, rungs = played+c.played(l), rungs+len(l.Rungs)
	}
	right := fmt.Sprintf("%d of %d rungs played", played, rungs)
	if good, of := c.diary.Score(); of > 0 {
		right += fmt.Sprintf("  %d of %d predictions right", good, of)
	}
	n := cv.text(r.x+1, r.y, r.w, "The course", inkTitle)
	k := inkDim
	if t := c.diary.Trouble(); t != "" {
		right, k = t, inkBreach
	}
	room := r.w - n - 5
	right = fit(right, room, c.theme.more)
	cv.text(r.x+r.w-textWidth(right)-1, r.y, room, right, k)
}

func (c *course) played(l scenarios.Lesson) int {
	n := 0
	for i := range l.Rungs {
		if c.diary.Played(l.Name, l.Rungs[i].ID()) {
			n++
		}
	}
	return n
}

func (c *course) drawList(cv *canvas, r rect, titles int) {
	for i, l := range c.lib.lessons {
		done := fmt.Sprintf("%d/%d", c.played(l), len(l.Rungs))
		mark := " "
		if c.played(l) == len(l.Rungs) {
			mark = c.theme.granted
		}
		here := " "
		if i == c.lesson {
			here = c.theme.pointer
		}
		row := line{{fmt.Sprintf("%s%2d ", here, i+1), inkDim}, {padded(fit(l.Title, titles, c.theme.more), titles), inkStrong}, {"  " + done + mark, inkDim}}
		if i == c.lesson {
			row = row.fitted(r.w, c.theme.more).lit(r.w)
		}
		cv.line(r.x, r.y+i, r.w, row)
	}
}

// lessonLines is the lesson's text, its ladder, and the rung at the cursor. Where
// rows are short the text is cut: whoever opens the lesson is told all of it.
func (c *course) lessonLines(width, rows int) []line {
	l := &c.lib.lessons[c.lesson]
	below := append(append(c.ladder(l, width), nil), c.rungLines(l, width)...)
	text := wrap(l.Text, width)
	if room := max(rows-len(below)-3, 1); len(text) > room {
		text = text[:room]
		text[room-1] = fit(text[room-1], width-1, "") + c.theme.more
	}
	lines := []line{{{l.Title, inkTitle}}, nil}
	for _, s := range text {
		lines = append(lines, line{{s, inkPlain}})
	}
	return append(append(lines, nil), below...)
}

// leastName is how much room a scenario's name needs to tell something.
const leastName = 10

// ladder lists the rungs, with the verdicts of those that were played as they come
// out of the runs.
func (c *course) ladder(l *scenarios.Lesson, width int) (lines []line) {
	names, several := 0, false
	for _, r := range l.Rungs {
		names = max(names, textWidth(r.Strategy))
		several = several || r.Scenario != l.Rungs[0].Scenario
	}
	for i, r := range l.Rungs {
		mark, k := "  ", inkPlain
		if i == c.rung {
			mark, k = c.theme.pointer+" ", inkStrong
		}
		row := line{{mark, inkHere}, {fmt.Sprintf("%d ", i+1), inkDim}, {padded(r.Strategy, names), k}, {"  ", inkPlain}}
		badge := span{"?", inkDim}
		if c.diary.Played(l.Name, r.ID()) {
			badge = c.board.cells[c.cell(r)].badge(&c.theme.glyphs)
		}
		row = append(row, span{padded(badge.text, 5), badge.ink})
		if room := width - row.width(); several && room >= leastName {
			row = append(row, span{fitEnds(r.Scenario, room, c.theme.more), inkDim})
		}
		lines = append(lines, row)
	}
	return lines
}

// rungLines is what the rung at the cursor came to: only once it was played, or
// there would be nothing left to predict.
func (c *course) rungLines(l *scenarios.Lesson, width int) []line {
	r := &l.Rungs[c.rung]
	var lines []line
	for _, s := range wrap(r.Strategy+" under "+r.Scenario, width) {
		lines = append(lines, line{{s, inkStrong}})
	}
	text := "What will come of it? " + c.keys.Enter.Help().Key + " plays it."
	if c.diary.Played(l.Name, r.ID()) {
		text = r.Text
	}
	for _, s := range wrap(text, width) {
		lines = append(lines, line{{s, inkPlain}})
	}
	return lines
}

// resume comes back from a run: to the lesson that one got to, and its next rung.
func (c *course) resume() {
	for i, l := range c.lib.lessons {
		if l.Name == c.diary.LastSeen() {
			c.lesson = i
		}
	}
	c.rung = c.unplayed()
}
