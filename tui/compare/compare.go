// Package compare shows one scenario under two locks, one above the other.
package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
	"lockstep/tui/picker"
	"lockstep/tui/screen"
)

// Compare shows one scenario under two locks, one above the other, with one
// cursor for both.
//
// Invariants, once there is an alignment: 0 <= at <= alignment.Last(); differs, unlike and apart are as long
// as alignment.Steps.
type Compare struct {
	*screen.App
	scenario   int
	strategies [2]int
	load       int
	from       int // the position in the upper run to begin at
	failed     error
	alignment  *timeline.Alignment
	differs    []bool  // by step
	unlike     [][]int // by step: the clients that have stood otherwise in one run than in the other so far
	apart      []bool  // by step: whether the upper run's times are not those of the lower one any more
	at         int     // step
	stood      bool    // the cursor has been where the runs part: from then on it is the reader's
	zoom       int
	axes       [2]*pane.Axis
	cols       []int // by step
	width      int   // of the axes when they were laid out
	laid       int   // the zoom of the axes when they were laid out
	notice     string
	playing    bool
	tick       int
	plan       compareLayout
}

// comparedMsg is the result of the two runs.
type comparedMsg struct {
	load      int
	alignment *timeline.Alignment
	err       error
}

// The time that a step stays on the screen while the runs play.
const (
	usualPace = 500 * time.Millisecond
	quickPace = usualPace / 10
)

// tickMsg says that the next step of playback is due.
type tickMsg int

// playLower opens the lower run in a player, at its position.
func (m *Compare) playLower() screen.PlayMsg {
	msg := screen.PlayMsg{Strategy: m.strategies[1], Scenario: m.scenario}
	if m.alignment != nil {
		msg.From = m.alignment.Steps[m.at][1]
	}
	return msg
}

// New compares a scenario under two locks.
func New(app *screen.App, m screen.CompareMsg) *Compare {
	return &Compare{App: app, scenario: m.Scenario, strategies: m.Strategies, from: m.From}
}

// Start has both runs made.
func (m *Compare) Start() tea.Cmd {
	m.load = m.Serial()
	m.playing = false
	load, lib, seed, sc, sts := m.load, m.Library, m.Seed, m.scenario, m.strategies
	return func() tea.Msg {
		var runs [2]*timeline.Timeline
		for i, st := range sts {
			t, err := lib.Run(lib.Scenarios[sc], lib.Strategies[st], seed)
			if err != nil {
				return comparedMsg{load: load, err: fmt.Errorf("%s: %w", lib.Strategies[st].Name, err)}
			}
			runs[i] = timeline.New(t)
		}
		return comparedMsg{load: load, alignment: timeline.Align(runs[0], runs[1])}
	}
}

func (m *Compare) show(c comparedMsg) {
	if c.load != m.load {
		return
	}
	m.failed, m.alignment, m.axes = c.err, c.alignment, [2]*pane.Axis{}
	if c.err != nil {
		return
	}
	m.differs = make([]bool, len(m.alignment.Steps))
	for i := range m.differs {
		m.differs[i] = m.alignment.Differs(i)
	}
	m.unlike, m.apart = everUnlike(m.alignment), everApart(m.alignment)
	m.at = m.alignment.Arrives(0, m.from)
	if first, ok := m.alignment.Unshared(); !m.stood && ok && m.from > 0 && m.from == m.alignment.Runs[0].Last() { // its end says how it ended, and not why
		m.stood, m.at = true, first.Step
		m.notice = fmt.Sprintf("Only the run %s shows this: %s (%s). %s goes to the end.", [...]string{"above", "below"}[first.Side], first.Breach.Code.Name(), first.Breach.Code, m.Keys.Last.Help().Key)
		return
	}
	if m.stood {
		return
	}
	m.stood = true
	part := m.alignment.Parting()
	switch {
	case part < 0:
		m.notice = m.together()
	case !m.differs[m.at]:
		m.at = part
		m.notice = "From here on they differ"
		if slices.Contains(m.differs[:part], true) {
			m.notice += " in more than a lease's end" // which the row of differences marks before
		}
		m.notice += fmt.Sprintf(". %s goes to the beginning.", m.Keys.First.Help().Key)
	}
}

// together says how far the runs agree where they don't part.
func (m *Compare) together() string {
	longest, any := m.alignment.Longest()
	switch {
	case !any && m.alignment.Same():
		return "Clients, Redis and the resource are alike in both from beginning to end."
	case !any && shared(m.alignment):
		return "Beliefs, record owners and resource are alike throughout; commands differ."
	case !any:
		return "Beliefs, record owners and resource are alike, but not violations and commands."
	}
	span := "at single instants"
	if longest > 0 {
		span = "for " + trace.Duration(longest) + " at most at a time"
	}
	return fmt.Sprintf("The two runs go the same way. They differ %s: %s goes there.", span, m.Keys.Match.Help().Key)
}

// shared reports whether the runs have the same failures.
func shared(al *timeline.Alignment) bool {
	_, apart := al.Unshared()
	return !apart
}

// Update takes a key, a click, or the result of something that was asked for.
func (m *Compare) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case comparedMsg:
		m.show(msg)
	case tickMsg:
		return m.played(int(msg)), screen.Outcome{}
	case screen.Click:
		m.clicked(msg)
	case tea.KeyMsg:
		m.notice = ""
		return m.typed(msg)
	}
	return nil, screen.Outcome{}
}

func (m *Compare) typed(k tea.KeyMsg) (tea.Cmd, screen.Outcome) {
	switch {
	case key.Matches(k, m.Keys.Close):
		return nil, screen.Outcome{Close: true}
	case key.Matches(k, m.Keys.Strategy):
		return nil, screen.Outcome{Open: picker.Strategies(m.App, "Which lock below?", m.scenario, m.strategies[1], func(i int) (tea.Cmd, screen.Outcome) {
			m.strategies[1] = i
			return m.again(), screen.Outcome{Close: true}
		})}
	case key.Matches(k, m.Keys.Scenario):
		return nil, screen.Outcome{Open: picker.Scenarios(m.App, "What happens to both?  (the outcomes are those of "+m.Library.Strategies[m.strategies[1]].Name+", below)", m.scenario, m.strategies[1], func(i int) (tea.Cmd, screen.Outcome) {
			m.scenario, m.from, m.alignment, m.stood = i, 0, nil, false
			return m.Start(), screen.Outcome{Close: true}
		})}
	case key.Matches(k, m.Keys.Enter):
		return nil, screen.Outcome{To: m.playLower()}
	case m.alignment == nil:
	case key.Matches(k, m.Keys.Play):
		return m.togglePlay(), screen.Outcome{}
	default:
		m.moves(k)
	}
	return nil, screen.Outcome{}
}

// again runs both anew, and returns to the position of the upper one.
func (m *Compare) again() tea.Cmd {
	if m.alignment != nil {
		m.from = m.alignment.Steps[m.at][0]
	}
	return m.Start()
}

func (m *Compare) moves(k tea.KeyMsg) {
	was := m.at
	switch {
	case key.Matches(k, m.Keys.Forward):
		m.goTo(m.at + 1)
	case key.Matches(k, m.Keys.Back):
		m.goTo(m.at - 1)
	case key.Matches(k, m.Keys.First):
		m.goTo(0)
	case key.Matches(k, m.Keys.Last):
		m.goTo(m.alignment.Last())
	case key.Matches(k, m.Keys.Next):
		m.goTo(m.chapter(1))
	case key.Matches(k, m.Keys.Previous):
		m.goTo(m.chapter(-1))
	case key.Matches(k, m.Keys.Violation):
		m.toViolation()
	case key.Matches(k, m.Keys.Match):
		m.toDifference()
	case key.Matches(k, m.Keys.In):
		m.zoom = min(m.zoom+1, pane.MostZoom)
	case key.Matches(k, m.Keys.Out):
		m.zoom = max(m.zoom-1, -pane.MostZoom)
	default:
		m.notice = fmt.Sprintf("%s does nothing here; %s lists the keys that do.", k, m.Keys.Help.Help().Key)
	}
	m.playing = m.playing && m.at == was
}

func (m *Compare) goTo(step int) { m.at = min(max(step, 0), m.alignment.Last()) }

// chapter is the step of the next note of the script, or of the previous one.
func (m *Compare) chapter(dir int) int {
	to := 0
	for _, mark := range m.alignment.Stages {
		if dir > 0 && mark > m.at {
			return mark
		}
		if mark < m.at {
			to = mark
		}
	}
	if dir > 0 {
		return m.alignment.Last()
	}
	return to
}

// toViolation goes to the next step at which a property breaks in either run.
func (m *Compare) toViolation() {
	next, first := -1, -1
	for side, r := range m.alignment.Runs {
		for _, b := range r.Breaches {
			s := m.alignment.Reached(side, b.Pos)
			if first < 0 || s < first {
				first = s
			}
			if s > m.at && (next < 0 || s < next) {
				next = s
			}
		}
	}
	switch {
	case first < 0:
		m.notice = "No property breaks in either run."
	case next < 0:
		m.notice = "That was the last violation of both runs; this is the first again."
		m.goTo(first)
	default:
		m.goTo(next)
	}
}

// toDifference goes to the next step at which something else differs than before: of a difference that goes on, the
// parts may change.
func (m *Compare) toDifference() {
	var begins []int
	for i, differs := range m.differs {
		if differs && (i == 0 || !m.differs[i-1] || !slices.Equal(m.alignment.Differences(i), m.alignment.Differences(i-1))) {
			begins = append(begins, i)
		}
	}
	if len(begins) == 0 {
		m.notice = draw.Either(m.alignment.Same(), "They do not differ at all.", "They differ in commands alone, and in no belief, record owner or write.")
		return
	}
	next := slices.IndexFunc(begins, func(i int) bool { return i > m.at })
	m.goTo(begins[max(next, 0)])
	switch {
	case next >= 0:
	case len(begins) == 1:
		m.notice = "There is no other difference: " + m.lasts()
	case m.differs[m.alignment.Last()]:
		m.notice = "That was the last difference, which stays; this is the first again."
	default:
		m.notice = "That was the last difference; this is the first again."
	}
}

// lasts says how long the difference at the cursor goes on.
func (m *Compare) lasts() string {
	end := slices.Index(m.differs[m.at:], false)
	if end < 0 {
		return "this one lasts to the end."
	}
	up := m.alignment.Runs[0]
	if up.When(m.alignment.Steps[m.at+end][0]) == up.When(m.alignment.Steps[m.at][0]) {
		return "this one is over at the same instant."
	}
	return "this one lasts until " + trace.Duration(up.When(m.alignment.Steps[m.at+end][0])) + " of the upper run."
}

func (m *Compare) togglePlay() tea.Cmd {
	if m.playing = !m.playing; !m.playing {
		return nil
	}
	if m.at == m.alignment.Last() {
		m.goTo(0)
	}
	return m.later()
}

func (m *Compare) later() tea.Cmd {
	m.tick = m.Serial()
	wait := quickPace
	if s := m.alignment.Steps[m.at]; m.matters(s) {
		wait = usualPace
	}
	return m.After(wait, tickMsg(m.tick))
}

func (m *Compare) matters(s timeline.Step) bool {
	for side, r := range m.alignment.Runs {
		if s[side] < r.Last() && r.Matters(s[side]) {
			return true
		}
	}
	return false
}

// played is one step of playback; it stops where a property breaks, and at the end.
func (m *Compare) played(tick int) tea.Cmd {
	if tick != m.tick || !m.playing || m.alignment == nil {
		return nil
	}
	was := m.alignment.Steps[m.at]
	m.goTo(m.at + 1)
	now := m.alignment.Steps[m.at]
	for side, r := range m.alignment.Runs {
		if _, fresh := r.Breached(now[side]); len(fresh) > 0 && now[side] != was[side] {
			m.playing = false
		}
	}
	if m.playing = m.playing && m.at < m.alignment.Last(); !m.playing {
		return nil
	}
	return m.later()
}

// clicked goes to the step under the mouse.
func (m *Compare) clicked(c screen.Click) {
	if m.alignment == nil {
		return
	}
	m.playing = false
	switch half := m.plan.halves; {
	case c.Wheel != 0:
		m.goTo(m.at + c.Wheel)
	case c.In(half[0]) || c.In(half[1]):
		width := half[0].W - pane.LabelWidth
		a := pane.Axis{Cols: m.cols}
		col := c.X - half[0].X - pane.LabelWidth + a.Window(m.at, width)
		m.goTo(a.At(col))
	}
}

// FooterKeys are the keys that work here, the most useful first.
func (m *Compare) FooterKeys() []key.Binding {
	k := &m.Keys
	play := k.Play
	if m.playing {
		play = screen.As(play, "stop")
	}
	return []key.Binding{screen.Pair(k.Back, k.Forward, "step"), k.Violation, screen.As(k.Match, "difference"), screen.As(k.Enter, "lower run"),
		screen.Pair(k.Previous, k.Next, "chapter"), screen.As(k.Strategy, "lock below"), k.Close, play, k.Scenario, screen.Pair(k.In, k.Out, "zoom"), screen.Pair(k.First, k.Last, "ends"), k.Mouse, k.Help, k.Quit}
}

// Help explains the screen and its keys.
func (m *Compare) Help() screen.Page {
	k, g := &m.Keys, &m.Theme.Glyphs
	return screen.Page{
		Title: "two locks compared",
		About: "The same scenario under two locks. The script's steps stand in the same column in both, and so do the events that follow, by the " +
			"time since; the times above a run are its own, and where a window has rows for one axis only, those of the upper run. " +
			"Where rows are few, both runs show the same ones: first those of the clients that take part in what breaks.",
		Keys: append([]key.Binding{k.Forward, k.Back, k.Next, k.Previous, screen.As(k.Violation, "next violation"), screen.As(k.Match, "next difference"),
			k.First, k.Last, k.Play, k.In, k.Out, screen.As(k.Strategy, "another lock below"), k.Scenario, screen.As(k.Enter, "play the lower")}, k.Always()...),
		Signs: append([]draw.Sign{{g.Differs, "somebody does or believes something else, or Redis or the resource differs"}}, slices.Concat(pane.Legend(g, nil), screen.CodeSigns())...),
	}
}

// Drawing.

// Draw draws the two runs, and below them the events at the cursor.
func (m *Compare) Draw(c *draw.Canvas, r draw.Rectangle) {
	if m.alignment == nil {
		m.drawHeader(c, draw.Rect(r.X+1, r.Y, r.W-2, 1), pane.Missing{})
		m.drawNothing(c, draw.Rect(r.X, r.Y+1, r.W, r.H-1))
		return
	}
	at := m.alignment.Steps[m.at]
	d := m.divide(r.W, r.H+1)
	m.drawHeader(c, draw.Rect(r.X+1, r.Y, r.W-2, 1), d.missing)
	axes := m.axisRows(r.H + 1)
	m.plan = arrangeCompare(r.W, r.H+1, [2]int{len(d.lanes[0]), len(d.lanes[1])}, axes, d.told)
	m.lay(m.plan.halves[0].W - pane.LabelWidth)
	var drawn [2]pane.Drawn
	for i, re := range m.alignment.Runs {
		m.drawTitle(c, m.plan.titles[i], i)
		drawn[i] = pane.DrawTimeline(c, m.plan.halves[i], pane.Scene{Timeline: re, Pos: at[i], Axis: m.axes[i], Column: m.cols[m.at], All: m.cols[len(m.cols)-1] + 1, Lanes: d.lanes[i], Theme: m.Theme, Bare: axes[i] == 0})
	}
	m.drawDiffers(c, m.plan.differs)
	lines := m.told(m.plan.told.W, m.plan.told.H)
	c.Lines(m.plan.told, lines, 0)
	signs := drawn[0].With(drawn[1]).LegendRows(m.Theme, r.W-2, max(m.plan.told.H-len(lines)-1, 0)) // in rows that nothing else needs
	c.Lines(draw.Rect(r.X+1, m.plan.told.Y+m.plan.told.H-len(signs), r.W-2, len(signs)), signs, 0)
}

func (m *Compare) drawNothing(c *draw.Canvas, r draw.Rectangle) {
	text, k := "running both", draw.Dim
	if m.failed != nil {
		text, k = m.failed.Error(), draw.Breach
	}
	var lines []draw.Line
	for _, s := range draw.Wrap(text, r.W-2) {
		lines = append(lines, draw.Line{draw.Text(" "+s, k)})
	}
	c.Lines(r, lines, 0)
}

// lay lays the axes out again if the width or the zoom has changed.
func (m *Compare) lay(width int) {
	if m.axes[0] == nil || m.width != width || m.laid != m.zoom {
		m.axes, m.cols = pane.AlignedAxes(m.alignment, width, m.zoom)
		m.width, m.laid = width, m.zoom
	}
}

// drawHeader has the title of the scenario, and names the rows for which there is no room in the diagrams; the title is cut rather
// than these.
func (m *Compare) drawHeader(c *draw.Canvas, r draw.Rectangle, missing pane.Missing) {
	title := m.Library.Scenarios[m.scenario].Title
	if n, rows := missing.Text(); n > 0 {
		out := draw.Line{draw.Text("no room for: ", draw.Dim), draw.Text(rows, draw.Strong)}
		width := min(out.Width(), r.W)
		c.Line(r.X+r.W-width, r.Y, width, out.Fitted(width, m.Theme.More))
		r.W -= width + 2
	}
	c.Text(r.X, r.Y, r.W, draw.FitWords(title, r.W, m.Theme.More), draw.Title)
}

// drawTitle names a run, and says why its leases are shorter than those of the other, and what is broken in it.
func (m *Compare) drawTitle(c *draw.Canvas, r draw.Rectangle, side int) {
	c.Fill(r, m.Theme.Rule, draw.Dim)
	x := r.X + 1 + c.Text(r.X+1, r.Y, r.W-2, " "+m.Library.Strategies[m.strategies[side]].Name+" ", draw.Title)
	run, pos := m.alignment.Runs[side], m.alignment.Steps[m.at][side]
	all, _ := run.Breached(pos)
	said := draw.Text(draw.Either(run.Ended(pos), "nothing broken", "nothing broken so far"), draw.Dim)
	if len(all) > 0 {
		said = pane.CodesSpan(all)
	}
	text := " " + said.Text + " "
	if counts := m.alignment.Counted(m.at, side); x+draw.Width(counts)+draw.Width(text)+3 < r.X+r.W {
		c.Text(x, r.Y, draw.Width(counts), counts, draw.Dim)
	}
	c.Text(r.X+r.W-draw.Width(text)-1, r.Y, draw.Width(text), text, said.Ink)
}

// drawDiffers marks the columns in which the two are not alike.
func (m *Compare) drawDiffers(c *draw.Canvas, r draw.Rectangle) {
	c.Fill(r, m.Theme.Rule, draw.Dim)
	c.Text(r.X+1, r.Y, pane.LabelWidth-2, " differs ", draw.Strong)
	width := r.W - pane.LabelWidth
	a := pane.Axis{Cols: m.cols}
	offset := a.Window(m.at, width)
	for i := range m.at + 1 {
		from := m.cols[i] - offset
		to := from + 1
		if i < m.at {
			to = max(m.cols[i+1]-offset, to)
		}
		for x := max(from, 0); m.differs[i] && x < min(to, width); x++ {
			c.Put(r.X+pane.LabelWidth+x, r.Y, m.Theme.Differs, draw.Breach)
		}
	}
}

// leastTold are the rows of the two events, which are never given up.
const leastTold = 2

// telling says which texts are told at a step besides the events.
type telling struct {
	whole   bool // the events and the causes in all of their words
	gaps    bool
	differs bool
	script  bool // the script's words
}

// told is the last event of each run, the cause of a violation there, and the script's note. Where rows are few, gaps go, the cause is
// told in fewer words, then the script's words yield to a cause or a message; where there is neither, the differences go.
func (m *Compare) told(width, rows int) (lines []draw.Line) {
	causes := draw.Paragraphs{Width: width}
	m.tellCauses(&causes, false)
	ways := []telling{{true, true, true, true}, {true, false, true, true}, {false, false, true, true}}
	if len(causes.Lines) > 0 || m.notice != "" {
		ways = append(ways, telling{differs: true})
	} else {
		ways = append(ways, telling{script: true})
	}
	for _, how := range ways {
		if lines = m.story(width, how); len(lines) <= rows {
			break
		}
	}
	return lines
}

func (m *Compare) story(width int, how telling) []draw.Line {
	lines := m.events(width, how.differs, how.whole)
	t := draw.Paragraphs{Width: min(width, draw.WidestLine)}
	m.tellCauses(&t, how.whole)
	upper, pos := m.alignment.Runs[0], m.alignment.Steps[m.at][0]
	marked := ""
	for _, n := range upper.Said(pos) {
		if n.Kind == trace.NoteMissed || n.Kind == trace.NoteAsk || !how.script || upper.Past(&n, pos) { // nobody can answer here
			continue
		}
		if how.gaps {
			t.Lines = append(t.Lines, nil)
		}
		mark := upper.Marked(&n, pos, upper.Now(pos))
		t.Add(draw.Plain, "", draw.Either(mark != marked, mark, "")+n.Prose())
		marked = mark
	}
	return append(lines, t.Lines...)
}

// events has a message, if there is one, the last event of each run, whole or in one line, and the differences after them.
func (m *Compare) events(width int, differs, whole bool) (lines []draw.Line) {
	at := m.alignment.Steps[m.at]
	if m.notice != "" {
		lines = append(lines, draw.Line{draw.Text(" "+m.notice, draw.Strong)}.Hanging(width)...)
	}
	names := 0
	for _, st := range m.strategies {
		names = max(names, draw.Width(m.Library.Strategies[st].Name))
	}
	for i, re := range m.alignment.Runs {
		mark := "  "
		if m.at > 0 && m.alignment.Steps[m.at-1][i] != at[i] {
			mark = m.Theme.Pointer + " "
		}
		l := draw.Line{draw.Text(mark, draw.Here), draw.Text(draw.Pad(m.Library.Strategies[m.strategies[i]].Name, names), draw.Strong)}
		l = append(l, pane.StatusLine(re, at[i], true)...)
		if hanging := l.Hanging(width); whole && len(hanging) > 1 {
			lines = append(lines, hanging...)
			continue
		}
		lines = append(lines, pane.ShortenedLine(l, width))
	}
	if differs && m.differs[m.at] {
		all := m.alignment.Differences(m.at)
		text := func(n int) string {
			said := strings.Join(all[:n], "; ") + draw.Either(n < len(all), fmt.Sprintf("; and %d more", len(all)-n), "")
			return trace.Capital(said) + "."
		}
		n := len(all)
		for !whole && n > 1 && draw.Width(text(n)) > width-2 { // whole ones, as many as one row has room for
			n--
		}
		l := draw.Line{draw.Text(m.Theme.Differs+" ", draw.Breach), draw.Text(text(n), draw.Strong)}
		lines = append(lines, l.Hanging(width)...)
	}
	return lines
}

// tellCauses says how the properties came to break that break at the cursor: from the beginning on,
// or just what happens now. A cause that both runs have in common is told once.
func (m *Compare) tellCauses(t *draw.Paragraphs, whole bool) {
	told := map[string]int{} // where, by the text
	type cause struct {
		who, sign, text string
		mild            bool
	}
	var all []cause
	for side, re := range m.alignment.Runs {
		who := m.Library.Strategies[m.strategies[side]].Name
		_, fresh := re.Breached(m.alignment.Steps[m.at][side])
		for _, b := range fresh {
			text := draw.Sentence(fmt.Sprintf("%s (%s): %s", b.Code.Name(), b.Code, draw.Either(whole, re.Cause(b), b.Text)))
			if i, is := told[text]; is {
				all[i].who = "both"
				continue
			}
			told[text] = len(all)
			all = append(all, cause{who, draw.Either(b.Code.Failure(), "!! ", m.Theme.Mild+" "), text, !b.Code.Failure()})
		}
	}
	for _, c := range all {
		k := draw.Breach
		if c.mild {
			k = draw.Strong
		}
		t.Add(k, c.sign, c.who+", "+c.text)
	}
}
