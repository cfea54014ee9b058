package tui

import (
	"fmt"
	"slices"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim"
	"lockstep/sim/timeline"
)

// compare shows one scenario under two locks, one above the other, with one
// cursor for both.
type compare struct {
	*stage
	scenario   int
	strategies [2]int
	load       int
	from       int // the position in the upper run to begin at
	failed     error
	joint      *timeline.Alignment
	differs    []bool // by step
	at         int    // step
	zoom       int
	axes       [2]*axis
	cols       []int // by step
	width      int   // of the axes as they were laid
	laid       int   // the zoom of the axes as they were laid
	notice     string
	playing    bool
	tick       int
	plan       compareLayout
}

// compared is the result of both runs.
type compared struct {
	load  int
	joint *timeline.Alignment
	err   error
}

// How long a step stays on the screen while both play.
const (
	usualPace = 500 * time.Millisecond
	quickPace = usualPace / 10
)

// pulsed says that a step of the playing is due.
type pulsed int

// playLower opens the lower run in a player, at its position.
func (m *compare) playLower() playMsg {
	msg := playMsg{strategy: m.strategies[1], scenario: m.scenario}
	if m.joint != nil {
		msg.from = m.joint.Steps[m.at][1]
	}
	return msg
}

func newCompare(s *stage, m compareMsg) *compare {
	return &compare{stage: s, scenario: m.scenario, strategies: m.strategies, from: m.from}
}

func (m *compare) start() tea.Cmd {
	m.load = m.serial()
	m.playing = false
	load, lib, seed, sc, sts := m.load, m.lib, m.seed, m.scenario, m.strategies
	return func() tea.Msg {
		var reels [2]*timeline.Timeline
		for i, st := range sts {
			t, err := lib.run(lib.scenarios[sc], lib.strategies[st], seed)
			if err != nil {
				return compared{load: load, err: fmt.Errorf("%s: %w", lib.strategies[st].Name, err)}
			}
			reels[i] = timeline.New(t)
		}
		return compared{load: load, joint: timeline.Align(reels[0], reels[1])}
	}
}

func (m *compare) show(c compared) {
	if c.load != m.load {
		return
	}
	m.failed, m.joint, m.axes = c.err, c.joint, [2]*axis{}
	if c.err != nil {
		return
	}
	m.differs = make([]bool, len(m.joint.Steps))
	for i := range m.differs {
		m.differs[i] = m.joint.Differs(i)
	}
	m.at = m.joint.Arrives(0, m.from)
}

func (m *compare) update(msg tea.Msg) (tea.Cmd, outcome) {
	switch msg := msg.(type) {
	case compared:
		m.show(msg)
	case pulsed:
		return m.played(int(msg)), outcome{}
	case click:
		m.clicked(msg)
	case tea.KeyMsg:
		m.notice = ""
		return m.typed(msg)
	}
	return nil, outcome{}
}

func (m *compare) typed(k tea.KeyMsg) (tea.Cmd, outcome) {
	switch {
	case key.Matches(k, m.keys.Close):
		return nil, outcome{close: true}
	case key.Matches(k, m.keys.Strategy):
		return nil, outcome{open: strategyList(m.stage, "Which lock below?", m.scenario, m.strategies[1], func(i int) (tea.Cmd, outcome) {
			m.strategies[1] = i
			return m.again(), outcome{close: true}
		})}
	case key.Matches(k, m.keys.Scenario):
		return nil, outcome{open: scenarioList(m.stage, "What happens to them?", m.scenario, m.strategies[1], func(i int) (tea.Cmd, outcome) {
			m.scenario, m.from, m.joint = i, 0, nil
			return m.start(), outcome{close: true}
		})}
	case key.Matches(k, m.keys.Enter):
		return nil, outcome{to: m.playLower()}
	case m.joint == nil:
	case key.Matches(k, m.keys.Play):
		return m.togglePlay(), outcome{}
	default:
		m.moves(k)
	}
	return nil, outcome{}
}

// again runs both anew, and comes back to where the upper one is.
func (m *compare) again() tea.Cmd {
	if m.joint != nil {
		m.from = m.joint.Steps[m.at][0]
	}
	return m.start()
}

func (m *compare) moves(k tea.KeyMsg) {
	was := m.at
	switch {
	case key.Matches(k, m.keys.Forward):
		m.goTo(m.at + 1)
	case key.Matches(k, m.keys.Back):
		m.goTo(m.at - 1)
	case key.Matches(k, m.keys.First):
		m.goTo(0)
	case key.Matches(k, m.keys.Last):
		m.goTo(m.joint.Last())
	case key.Matches(k, m.keys.Next):
		m.goTo(m.chapter(1))
	case key.Matches(k, m.keys.Previous):
		m.goTo(m.chapter(-1))
	case key.Matches(k, m.keys.Violation):
		m.toViolation()
	case key.Matches(k, m.keys.Match):
		m.toDifference()
	case key.Matches(k, m.keys.In):
		m.zoom = min(m.zoom+1, mostZoom)
	case key.Matches(k, m.keys.Out):
		m.zoom = max(m.zoom-1, -mostZoom)
	}
	m.playing = m.playing && m.at == was
}

func (m *compare) goTo(step int) { m.at = min(max(step, 0), m.joint.Last()) }

// chapter is the step at which the next thing is said, or the one before.
func (m *compare) chapter(dir int) int {
	to := 0
	for _, mark := range m.joint.Stages {
		if dir > 0 && mark > m.at {
			return mark
		}
		if mark < m.at {
			to = mark
		}
	}
	if dir > 0 {
		return m.joint.Last()
	}
	return to
}

// toViolation goes to where, in either run, a property breaks next.
func (m *compare) toViolation() {
	next, first := -1, -1
	for side, r := range m.joint.Runs {
		for _, b := range r.Breaches {
			s := m.joint.Reached(side, b.Pos)
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
		m.notice = "That was the last violation; this is the first again."
		m.goTo(first)
	default:
		m.goTo(next)
	}
}

// toDifference goes to where the two begin to differ again.
func (m *compare) toDifference() {
	for i := m.at + 1; i <= m.joint.Last(); i++ {
		if m.differs[i] && !m.differs[i-1] {
			m.goTo(i)
			return
		}
	}
	m.notice = "They do not differ again from here on."
}

func (m *compare) togglePlay() tea.Cmd {
	if m.playing = !m.playing; !m.playing {
		return nil
	}
	if m.at == m.joint.Last() {
		m.goTo(0)
	}
	return m.later()
}

func (m *compare) later() tea.Cmd {
	m.tick = m.serial()
	wait := quickPace
	if s := m.joint.Steps[m.at]; m.matters(s) {
		wait = usualPace
	}
	return m.after(wait, pulsed(m.tick))
}

func (m *compare) matters(s timeline.Step) bool {
	for side, r := range m.joint.Runs {
		if s[side] < r.Last() && r.Matters(s[side]) {
			return true
		}
	}
	return false
}

// played is one step of playing; it stops where a property breaks, and at the end.
func (m *compare) played(tick int) tea.Cmd {
	if tick != m.tick || !m.playing || m.joint == nil {
		return nil
	}
	was := m.joint.Steps[m.at]
	m.goTo(m.at + 1)
	now := m.joint.Steps[m.at]
	for side, r := range m.joint.Runs {
		if _, fresh := r.Breached(now[side]); len(fresh) > 0 && now[side] != was[side] {
			m.playing = false
		}
	}
	if m.playing = m.playing && m.at < m.joint.Last(); !m.playing {
		return nil
	}
	return m.later()
}

// clicked goes to the step under the mouse.
func (m *compare) clicked(c click) {
	if m.joint == nil {
		return
	}
	m.playing = false
	switch half := m.plan.halves; {
	case c.wheel != 0:
		m.goTo(m.at + c.wheel)
	case c.in(half[0]) || c.in(half[1]):
		width := half[0].w - labelWidth
		a := axis{cols: m.cols}
		col := c.x - half[0].x - labelWidth + a.window(m.at, width)
		m.goTo(a.at(col))
	}
}

func (m *compare) footerKeys() []key.Binding {
	k := &m.keys
	play := k.Play
	if m.playing {
		play = as(play, "stop")
	}
	return []key.Binding{pair(k.Back, k.Forward, "step"), pair(k.Previous, k.Next, "chapter"), k.Violation, as(k.Match, "difference"),
		as(k.Strategy, "lock below"), k.Close, play, k.Scenario, as(k.Enter, "play the lower"), pair(k.In, k.Out, "zoom"), pair(k.First, k.Last, "ends"), k.Mouse, k.Help, k.Quit}
}

func (m *compare) help() page {
	k, g := &m.keys, &m.theme.glyphs
	return page{
		title: "two locks compared",
		about: "The same scenario under two locks. What the script says stands in the same column in both, and so does what follows it, by the " +
			"time since; the times above each run are its own.",
		keys: append([]key.Binding{k.Forward, k.Back, k.Next, k.Previous, as(k.Violation, "next violation"), as(k.Match, "next difference"),
			k.First, k.Last, k.Play, k.In, k.Out, as(k.Strategy, "another lock below"), k.Scenario, as(k.Enter, "play the lower")}, k.always()...),
		signs: append([]meaning{{g.differs, "somebody does or believes something else, or the store differs"}}, m.theme.legend()...),
	}
}

// Drawing.

// compareLayout says where the two runs are: a pure function of the window.
type compareLayout struct {
	header  rect
	titles  [2]rect // a rule with a name in it
	halves  [2]rect
	differs rect
	told    rect
}

func arrangeCompare(w, h int, lanes [2]int) compareLayout {
	const least = 2 // rows of what is told
	l := compareLayout{header: rect{0, 0, w, 1}}
	room := h - 1 - 1 - 2 - 1 - least
	upper := min(lanes[0]+axisRows, room/2)
	lower := min(lanes[1]+axisRows, room-upper)
	y := 1
	for i, rows := range []int{upper, lower} {
		l.titles[i] = rect{0, y, w, 1}
		l.halves[i] = rect{0, y + 1, w, rows}
		y += 1 + rows
	}
	l.differs = rect{0, y, w, 1}
	l.told = rect{0, y + 1, w, h - 2 - y}
	return l
}

func (m *compare) draw(c *canvas, r rect) {
	sc := m.lib.scenarios[m.scenario]
	c.text(r.x+1, r.y, r.w-2, sc.Title, inkTitle)
	if m.joint == nil {
		m.drawNothing(c, rect{r.x, r.y + 1, r.w, r.h - 1})
		return
	}
	at := m.joint.Steps[m.at]
	var lanes [2][]lane
	room := (r.h - 6) / 2
	for i, re := range m.joint.Runs {
		lanes[i] = plan(re, at[i], room-axisRows)
	}
	m.plan = arrangeCompare(r.w, r.h+1, [2]int{len(lanes[0]), len(lanes[1])})
	m.lay(m.plan.halves[0].w - labelWidth)
	for i, re := range m.joint.Runs {
		m.drawTitle(c, m.plan.titles[i], i)
		drawTimeline(c, m.plan.halves[i], scene{Timeline: re, pos: at[i], axis: m.axes[i], column: m.cols[m.at], all: m.cols[len(m.cols)-1] + 1, lanes: lanes[i], theme: m.theme, veil: at[i]})
	}
	m.drawDiffers(c, m.plan.differs)
	c.lines(m.plan.told, m.told(m.plan.told.w), 0)
}

func (m *compare) drawNothing(c *canvas, r rect) {
	text, k := "running both", inkDim
	if m.failed != nil {
		text, k = m.failed.Error(), inkBreach
	}
	var lines []line
	for _, s := range wrap(text, r.w-2) {
		lines = append(lines, line{{" " + s, k}})
	}
	c.lines(r, lines, 0)
}

// lay lays the axes if the width or the zoom has changed.
func (m *compare) lay(width int) {
	if m.axes[0] == nil || m.width != width || m.laid != m.zoom {
		m.axes, m.cols = jointAxes(m.joint, width, m.zoom)
		m.width, m.laid = width, m.zoom
	}
}

func (m *compare) drawTitle(c *canvas, r rect, side int) {
	c.fill(r, m.theme.rule, inkDim)
	c.text(r.x+1, r.y, r.w-2, " "+m.lib.strategies[m.strategies[side]].Name+" ", inkTitle)
	all, _ := m.joint.Runs[side].Breached(m.joint.Steps[m.at][side])
	said := span{"nothing broken so far", inkDim}
	if len(all) > 0 {
		said = m.theme.flag(all)
	}
	text := " " + said.text + " "
	c.text(r.x+r.w-textWidth(text)-1, r.y, textWidth(text), text, said.ink)
}

// drawDiffers marks the columns in which the two are not alike.
func (m *compare) drawDiffers(c *canvas, r rect) {
	c.fill(r, m.theme.rule, inkDim)
	c.text(r.x+1, r.y, labelWidth-2, "differs ", inkStrong)
	width := r.w - labelWidth
	a := axis{cols: m.cols}
	offset := a.window(m.at, width)
	for i := range m.at + 1 {
		from := m.cols[i] - offset
		to := from + 1
		if i < m.at {
			to = max(m.cols[i+1]-offset, to)
		}
		for x := max(from, 0); m.differs[i] && x < min(to, width); x++ {
			c.put(r.x+labelWidth+x, r.y, m.theme.differs, inkBreach)
		}
	}
}

// told is the last event of either run, who holds the lock, and what the script says.
func (m *compare) told(width int) []line {
	at := m.joint.Steps[m.at]
	names := 0
	for _, st := range m.strategies {
		names = max(names, textWidth(m.lib.strategies[st].Name))
	}
	var lines []line
	for i, re := range m.joint.Runs {
		moved := m.at > 0 && m.joint.Steps[m.at-1][i] != at[i]
		mark := "  "
		if moved {
			mark = m.theme.pointer + " "
		}
		l := line{{mark, inkHere}, {padded(m.lib.strategies[m.strategies[i]].Name, names), inkStrong}}
		lines = append(lines, append(l, statusLine(re, at[i])...))
	}
	if m.notice != "" {
		return append([]line{{{" " + m.notice, inkStrong}}}, lines...)
	}
	for _, n := range m.joint.Runs[0].Said(at[0]) {
		if n.Kind == sim.NoteMissed {
			continue
		}
		lines = append(lines, nil)
		for _, s := range wrap(n.Prose(), min(width-2, longestLine)) {
			lines = append(lines, line{{" " + s, inkPlain}})
		}
	}
	return slices.Clip(lines)
}
