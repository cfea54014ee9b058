// Package course is the list of lessons, with the reader's progress in them.
package course

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/tui/draw"
	"lockstep/tui/lesson"
	"lockstep/tui/screen"
)

// Course lists the lessons, and the reader's progress in them.
type Course struct {
	*screen.App
	lesson int
	step   int
	seen   string // the reader's progress when the cursor was last put where it leads
	list   draw.Rectangle
}

// New opens the course at the lesson that was open last.
func New(app *screen.App) *Course {
	c := &Course{App: app}
	c.Resume()
	return c
}

// unplayed is the first step of the lesson, from one on and going round, that was not played yet; or the first.
func (c *Course) unplayed(from int) int {
	l := &c.Library.Lessons[c.lesson]
	for n := range l.Steps {
		if i := (from + n) % len(l.Steps); !c.Progress.Played(l.Name, l.Steps[i].ID()) {
			return i
		}
	}
	return 0
}

// Start has the steps of all lessons run before the rest of the matrix.
func (c *Course) Start() tea.Cmd {
	wanted := map[int]bool{}
	for _, l := range c.Library.Lessons {
		for _, step := range l.Steps {
			wanted[c.cell(step)] = true
		}
	}
	return c.Grid.First(func(cell int) bool { return wanted[cell] })
}

// cell is the place of a step's run in the matrix.
func (c *Course) cell(step scenarios.LessonStep) int {
	return c.Grid.Index(c.Library.Named(step.Scenario), c.Library.Strategy(step.Strategy))
}

// Update takes a key, a click, or the result of something that was asked for.
func (c *Course) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case screen.Click:
		return c.clicked(msg)
	case tea.KeyMsg:
		return c.typed(msg)
	}
	return nil, screen.Outcome{}
}

func (c *Course) typed(k tea.KeyMsg) (tea.Cmd, screen.Outcome) {
	switch {
	case key.Matches(k, c.Keys.Close), key.Matches(k, c.Keys.Course):
		return nil, screen.Outcome{Close: true}
	case key.Matches(k, c.Keys.Up):
		c.goTo(c.lesson - 1)
	case key.Matches(k, c.Keys.Down):
		c.goTo(c.lesson + 1)
	case key.Matches(k, c.Keys.First):
		c.goTo(0)
	case key.Matches(k, c.Keys.Last):
		c.goTo(len(c.Library.Lessons) - 1)
	case key.Matches(k, c.Keys.Guess):
		c.goTo(int(k.Runes[0] - '1'))
	case key.Matches(k, c.Keys.Back):
		c.step = max(c.step-1, 0)
	case key.Matches(k, c.Keys.Forward):
		c.step = min(c.step+1, len(c.Library.Lessons[c.lesson].Steps)-1)
	case key.Matches(k, c.Keys.Present):
		return nil, screen.Outcome{To: (&lesson.Place{Library: c.Library, Lesson: c.lesson, Step: c.step}).Present()}
	case key.Matches(k, c.Keys.Enter):
		return nil, screen.Outcome{To: screen.LessonMsg{Lesson: c.lesson, Step: c.step}}
	}
	return nil, screen.Outcome{}
}

func (c *Course) goTo(lesson int) {
	if lesson = min(max(lesson, 0), len(c.Library.Lessons)-1); lesson != c.lesson {
		c.lesson = lesson
		c.step = c.unplayed(0)
	}
}

func (c *Course) clicked(k screen.Click) (tea.Cmd, screen.Outcome) {
	i := k.Y - c.list.Y
	switch {
	case k.Wheel != 0:
		c.goTo(c.lesson + k.Wheel)
	case k.X >= c.list.X+c.list.W || i < 0 || i >= len(c.Library.Lessons):
	case i == c.lesson:
		return nil, screen.Outcome{To: screen.LessonMsg{Lesson: c.lesson, Step: c.step}}
	default:
		c.goTo(i)
	}
	return nil, screen.Outcome{}
}

// FooterKeys are the keys that work here, the most useful first.
func (c *Course) FooterKeys() []key.Binding {
	k := &c.Keys
	return []key.Binding{screen.As(k.Enter, "play"), screen.Pair(k.Up, k.Down, "lesson"), screen.Pair(k.Back, k.Forward, "step"), k.Present, k.Help, k.Mouse, k.Close, k.Quit}
}

// Help explains the screen and its keys.
func (c *Course) Help() screen.Page {
	k, g := &c.Keys, &c.Theme.Glyphs
	return screen.Page{
		Title: "the course",
		About: "Each lesson takes one misfortune, and the locks that answer it, step by step: each step answers the failure of the one before. " +
			"A step here is one run, of one lock. It counts as seen when you have watched its story to the end, here or elsewhere. The presenter shows a lesson to a class, from the step at the cursor on: one key goes on. What you have seen, and how well you predicted here, is remembered.",
		Keys: append([]key.Binding{screen.As(k.Up, "lesson before"), screen.As(k.Down, "lesson after"), screen.As(k.Back, "step before"), screen.As(k.Forward, "step after"),
			screen.As(k.First, "first lesson"), screen.As(k.Last, "last lesson"), screen.As(k.Guess, "that lesson, of the first nine"), screen.As(k.Enter, "play the step"), screen.As(k.Present, "present the lesson"), screen.As(k.Course, "back")}, k.Always()...),
		Signs: append([]draw.Sign{{g.Granted, "seen"}, {unseen, "not seen yet"}, {g.Granted + "ok", "nothing broke"}, {g.Mild + "BD", "reported, but no failure"}, {g.Bad + "DG", "broken"}}, screen.CodeSigns()...),
	}
}

// Drawing.

// The columns of the list before and behind the title of a lesson.
const (
	numbers = 4 // the cursor, and two digits
	counts  = 8 // two columns of air, "10/11", and the mark of a lesson that is done
)

// leastLesson are the columns that a lesson needs beside the list.
const leastLesson = 37

// arrangeCourse gives the places of the list and of the lesson beside it.
func arrangeCourse(w, h, titles int) (header, list, lesson draw.Rectangle, rules []draw.Rectangle, wall draw.Rectangle) {
	side := min(titles+numbers+counts, max(w/2, w-leastLesson))
	body := draw.Rect(0, 2, w, h-4)
	return draw.Rect(0, 0, w, 1), draw.Rect(0, body.Y, side, body.H), draw.Rect(side+2, body.Y, w-side-3, body.H),
		[]draw.Rectangle{draw.Rect(0, 1, w, 1), draw.Rect(0, h-2, w, 1)}, draw.Rect(side, body.Y, 1, body.H)
}

// Draw draws the list of lessons, and beside it the one at the cursor.
func (c *Course) Draw(cv *draw.Canvas, r draw.Rectangle) {
	titles := 0
	for _, l := range c.Library.Lessons {
		titles = max(titles, draw.Width(l.Title))
	}
	header, list, lesson, rules, wall := arrangeCourse(r.W, r.H+1, titles)
	c.list = list
	for _, rule := range rules {
		cv.Fill(rule, c.Theme.Rule, draw.Dim)
	}
	cv.Fill(wall, c.Theme.Wall, draw.Dim)
	c.drawHeader(cv, header)
	c.drawList(cv, list, titles)
	cv.Lines(lesson, c.lessonLines(min(lesson.W, draw.WidestLine), lesson.H), 0)
}

func (c *Course) drawHeader(cv *draw.Canvas, r draw.Rectangle) {
	played, steps := 0, 0
	for _, l := range c.Library.Lessons {
		played, steps = played+c.played(l), steps+len(l.Steps)
	}
	right := fmt.Sprintf("%d of %d steps seen", played, steps)
	if good, of := c.Progress.Score(); of > 0 {
		right += fmt.Sprintf("  %d of %d predictions right", good, of)
	}
	n := cv.Text(r.X+1, r.Y, r.W, "The course", draw.Title)
	k := draw.Dim
	if t := c.Progress.Trouble(); t != "" {
		right, k = t, draw.Breach
	}
	room := r.W - n - 5
	right = draw.Fit(right, room, c.Theme.More)
	cv.Text(r.X+r.W-draw.Width(right)-1, r.Y, room, right, k)
}

func (c *Course) played(l scenarios.Lesson) int {
	n := 0
	for i := range l.Steps {
		if c.Progress.Played(l.Name, l.Steps[i].ID()) {
			n++
		}
	}
	return n
}

func (c *Course) drawList(cv *draw.Canvas, r draw.Rectangle, titles int) {
	for i, l := range c.Library.Lessons {
		done := fmt.Sprintf("%d/%d", c.played(l), len(l.Steps))
		mark := " "
		if c.played(l) == len(l.Steps) {
			mark = c.Theme.Granted
		}
		here := " "
		if i == c.lesson {
			here = c.Theme.Pointer
		}
		row := draw.Line{draw.Text(fmt.Sprintf("%s%2d ", here, i+1), draw.Dim), draw.Text(draw.Pad(draw.Fit(l.Title, titles, c.Theme.More), titles), draw.Strong), draw.Text("  "+done+mark, draw.Dim)}
		if i == c.lesson {
			row = row.Fitted(r.W, c.Theme.More).Selected(r.W)
		}
		cv.Line(r.X, r.Y+i, r.W, row)
	}
}

// lessonLines is the lesson's text, its steps, and the one at the cursor. Where
// rows are short the text is cut: the player tells all of it.
func (c *Course) lessonLines(width, rows int) []draw.Line {
	l := &c.Library.Lessons[c.lesson]
	text, title := draw.Wrap(l.Text, width), draw.Wrap(l.Title, width)
	steps, about := c.listSteps(l, width, false), c.stepLines(l, width)
	if whole := c.listSteps(l, width, true); len(title)+len(text)+len(whole)+len(about)+3 <= rows {
		steps = whole
	}
	below := append(append(steps, nil), about...)
	if room := max(rows-len(below)-len(title)-2, 1); len(text) > room {
		text = text[:room]
		text[room-1] = draw.Fit(text[room-1], width-1, "") + c.Theme.More
	}
	lines := make([]draw.Line, 0, len(title)+len(text)+len(below)+2)
	for _, s := range title {
		lines = append(lines, draw.Line{draw.Text(s, draw.Title)})
	}
	lines = append(lines, nil)
	for _, s := range text {
		lines = append(lines, draw.Line{draw.Text(s, draw.Plain)})
	}
	return append(append(lines, nil), below...)
}

// leastName is how much room a scenario's name needs to tell something.
const leastName = 10

// unseen stands in the place of the verdict of a step that was not played yet.
const unseen = "new"

// listSteps lists the steps, with the verdicts of those that were played as they come
// out of the runs. The titles of their scenarios are whole, in the next row where one is too long, with their names behind
// them where there is room; or there are the names alone, cut in their middle: the title of the step at the cursor is below.
func (c *Course) listSteps(l *scenarios.Lesson, width int, whole bool) (lines []draw.Line) {
	names, titles, slugs, several, digits := 0, 0, 0, false, len(strconv.Itoa(len(l.Steps)))
	for _, step := range l.Steps {
		names, titles, slugs = max(names, draw.Width(step.Strategy)), max(titles, draw.Width(c.title(step))), max(slugs, draw.Width(step.Scenario))
		several = several || step.Scenario != l.Steps[0].Scenario
	}
	for i, step := range l.Steps {
		mark, k := "  ", draw.Plain
		if i == c.step {
			mark, k = c.Theme.Pointer+" ", draw.Strong
		}
		row := draw.Line{draw.Text(mark, draw.Here), draw.Text(fmt.Sprintf("%*d ", digits, i+1), draw.Dim), draw.Text(draw.Pad(step.Strategy, names), k), draw.Text("  ", draw.Plain)}
		badge := draw.Text(unseen, draw.Dim)
		if c.Progress.Played(l.Name, step.ID()) {
			badge = c.Grid.Cells[c.cell(step)].Badge(&c.Theme.Glyphs)
		}
		row = append(row, draw.Text(draw.Pad(badge.Text, 5), badge.Ink), draw.Text("  ", draw.Plain))
		room, title := width-row.Width(), c.title(step)
		switch {
		case !several:
		case whole && room < titles:
			for _, text := range draw.Wrap(title, width-4) {
				lines, row = append(lines, row), draw.Line{draw.Text("    "+text, k)}
			}
		case room >= titles+2+slugs:
			row = append(row, draw.Text(draw.Pad(title, titles), k), draw.Text("  "+step.Scenario, draw.Dim))
		case whole:
			row = append(row, draw.Text(title, k))
		case room >= leastName:
			row = append(row, draw.Text(draw.FitEnds(step.Scenario, room, c.Theme.More), draw.Dim))
		}
		lines = append(lines, row)
	}
	return lines
}

// title is that of a step's scenario.
func (c *Course) title(step scenarios.LessonStep) string {
	return c.Library.Scenarios[c.Library.Named(step.Scenario)].Title
}

// stepLines is the outcome of the step at the cursor: only once it was played, or
// there would be nothing left to predict.
func (c *Course) stepLines(l *scenarios.Lesson, width int) []draw.Line {
	step := &l.Steps[c.step]
	var lines []draw.Line
	for _, s := range draw.Wrap(c.title(*step)+", with "+step.Strategy, width) {
		lines = append(lines, draw.Line{draw.Text(s, draw.Strong)})
	}
	text := "What will come of it? " + c.Keys.Enter.Help().Key + " plays it."
	if c.Progress.Played(l.Name, step.ID()) {
		text = step.Text
	}
	for _, s := range draw.Wrap(text, width) {
		lines = append(lines, draw.Line{draw.Text(s, draw.Plain)})
	}
	return lines
}

// Resume comes back from a run: to the lesson and the step that the reader got to, or to the next one if that
// was played to the end. From a screen that played nothing, such as the help, it comes back to where the cursor was.
func (c *Course) Resume() {
	lesson, step := c.Progress.LastSeen()
	seen := lesson + " " + step
	for _, l := range c.Library.Lessons {
		seen += fmt.Sprint(" ", c.Progress.Count(l.Name))
	}
	if seen == c.seen {
		return
	}
	c.seen = seen
	for i, l := range c.Library.Lessons {
		if l.Name == lesson {
			c.lesson = i
		}
	}
	l := &c.Library.Lessons[c.lesson]
	c.step = slices.IndexFunc(l.Steps, func(s scenarios.LessonStep) bool { return s.ID() == step })
	if c.step < 0 || c.Progress.Played(lesson, step) {
		c.step = c.unplayed(c.step + 1)
	}
}
