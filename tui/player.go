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

// player shows one run, and moves a cursor through it.
type player struct {
	*stage
	pupil *pupil // where in the course the run belongs, or nil

	strategy, scenario int // places in the library, of what is shown or being computed
	load               int // the number of the last load: results of earlier ones are dropped
	from               int // where to begin in the first
	loading            bool
	failed             error
	reel               *timeline.Timeline
	file               string              // the strategy's own
	code               map[string][]string // lines, by file

	pos         int
	before, now *sim.State // at pos-1 and pos
	zoom        int
	axes        axes
	view        view
	source      bool
	picked      int         // the violation whose evidence is lit, or none
	sought      *sim.Code   // what the run was looked for, if it was
	guesses     map[int]int // by question: the choice that was made
	revealed    bool        // the answer to the question at hand
	find        finder
	focus       pane
	overflows   bool // the pane in focus has more than it has rows for
	scroll      [panes]int
	notice      string // until the next key
	tick        int    // the number of the timer that may move the cursor
	playing     bool
	speed       int
	plan        layout // of the last frame: clicks refer to it

	title string              // instead of the scenario's
	below func(*canvas, rect) // draws in the narration's place, if set
}

// none is the index of no violation.
const none = -1

// view is what the largest pane shows.
type view uint8

const (
	viewTimeline view = iota
	viewLadder
	viewTrace
	viewState
	views
)

var viewNames = [...]string{"timeline", "ladder", "trace", "state"}

// pane is one that can have more to show than it has rows for.
type pane uint8

const (
	paneTold pane = iota
	paneState
	paneSource
	paneTrace
	panes
)

// scrolls is the pane that the arrows scroll in a view, until another is chosen.
var scrolls = [views]pane{viewTrace: paneTrace, viewState: paneState}

var paneNames = [...]string{"narration", "state", "source", "trace"}

// loaded is the result of a run.
type loaded struct {
	load     int
	reel     *timeline.Timeline
	err      error
	narrated int // the note to go to, or -1
}

// ticked says that a step of the playing is due.
type ticked int

func newPlayer(s *stage, strategy, scenario int) *player {
	return &player{stage: s, speed: usualSpeed, strategy: strategy, scenario: scenario, picked: none}
}

// newPlayerAt begins at a position.
func newPlayerAt(s *stage, m playMsg) *player {
	p := newPlayer(s, m.strategy, m.scenario)
	p.from = m.from
	return p
}

func (p *player) start() tea.Cmd { return p.open(p.strategy, p.scenario) }

// open computes a run in the background. What is shown stays until it is there.
func (p *player) open(strategy, scenario int) tea.Cmd {
	narrated := -1
	if p.reel != nil && scenario == p.scenario {
		if notes := p.reel.Said(p.pos); len(notes) > 0 {
			narrated = notes[0].Index
		}
	}
	p.strategy, p.scenario = strategy, scenario
	return p.reload(narrated)
}

func (p *player) reload(narrated int) tea.Cmd {
	p.load = p.serial()
	p.loading, p.playing = true, false
	load, lib, seed, strategy, scenario := p.load, p.lib, p.seed, p.strategy, p.scenario
	return func() tea.Msg {
		t, err := lib.run(lib.scenarios[scenario], lib.strategies[strategy], seed)
		if err != nil {
			return loaded{load: load, err: err}
		}
		return loaded{load: load, reel: timeline.New(t), narrated: narrated}
	}
}

// choose opens another run than the course's.
func (p *player) choose(strategy, scenario int) (tea.Cmd, outcome) {
	p.pupil = nil
	return p.open(strategy, scenario), outcome{close: true}
}

// nextRung goes on in the course.
func (p *player) nextRung() tea.Cmd {
	if p.pupil == nil {
		p.notice = "This run is not part of a lesson: tab in the matrix opens the course."
		return nil
	}
	next := p.pupil.next()
	if next == nil {
		p.notice = "That was the last rung of the course."
		return nil
	}
	l, r := next.at()
	p.diary.See(l.Name)
	p.pupil = next
	p.strategy, p.scenario = p.lib.strategy(r.Strategy), p.lib.named(r.Scenario)
	return p.reload(-1)
}

// show puts a run on the screen. After a change of strategy it goes to where the
// story was, so that the class sees the same moment under another lock.
func (p *player) show(l loaded) {
	if l.load != p.load {
		return
	}
	p.loading, p.failed = false, l.err
	if l.err != nil {
		p.reel, p.picked = nil, none
		p.find.renew(nil)
		return
	}
	p.scroll, p.zoom = [panes]int{}, 0
	at := slices.IndexFunc(l.reel.Notes, func(n sim.Note) bool { return n.Index == l.narrated })
	if l.narrated >= 0 && at >= 0 {
		p.display(l.reel, l.reel.Before(l.reel.Notes[at].Seq))
		return
	}
	p.display(l.reel, min(p.from, l.reel.Last()))
	p.from = 0
}

// display shows a run at a position.
func (p *player) display(r *timeline.Timeline, pos int) {
	st := p.lib.strategies[p.strategy]
	p.reel, p.pos, p.axes = r, pos, axes{}
	p.file, p.code = st.File, map[string][]string{}
	p.picked, p.guesses = none, map[int]int{}
	p.find.renew(r)
	p.before, p.now = r.StateAt(max(pos-1, 0)), r.StateAt(pos)
	p.arrived()
}

// goTo moves the cursor.
func (p *player) goTo(pos int) {
	was := p.pos
	if pos = min(max(pos, 0), p.reel.Last()); pos == was {
		return
	}
	p.pos = pos
	if pos == was+1 { // the usual step needs no look back to the beginning
		p.before, p.now = p.now, p.now.Clone()
		p.now.Apply(p.reel.Event(pos))
	} else {
		p.before = p.reel.StateAt(max(pos-1, 0))
		p.now = p.reel.StateAt(pos)
	}
	p.arrived()
}

// arrived brings what depends on the cursor up to date.
func (p *player) arrived() {
	p.revealed = false
	p.scroll[paneTold], p.scroll[paneSource], p.scroll[paneTrace] = 0, 0, 0
	if p.pos == 0 {
		p.picked = none // whoever begins again is not told what is to come
	}
	if p.picked == none || p.reel.Breaches[p.picked].Pos != p.pos {
		if i := slices.IndexFunc(p.reel.Breaches, func(b timeline.Breach) bool { return b.Pos == p.pos }); i >= 0 {
			p.picked = i
		}
	}
	if p.pupil != nil && p.pos >= p.reel.Told() {
		l, r := p.pupil.at()
		p.diary.Play(l.Name, r.ID())
	}
}

func (p *player) update(msg tea.Msg) (tea.Cmd, outcome) {
	switch msg := msg.(type) {
	case loaded:
		p.show(msg)
	case ticked:
		return p.played(int(msg)), outcome{}
	case exported:
		if msg.from == p {
			p.notice = msg.told()
		}
	case refusedMsg:
		p.notice = "No way on from here: " + msg.err.Error()
	case click:
		p.notice = ""
		p.clicked(msg)
	case tea.KeyMsg:
		p.notice = ""
		if p.find.asking() {
			p.search(msg)
			return nil, outcome{}
		}
		return p.typed(msg)
	}
	return nil, outcome{}
}

func (p *player) typing() bool { return p.find.asking() }

func (p *player) typed(k tea.KeyMsg) (tea.Cmd, outcome) {
	switch {
	case key.Matches(k, p.keys.Close):
		return nil, outcome{close: true}
	case key.Matches(k, p.keys.Strategy):
		return nil, outcome{open: p.strategyPicker()}
	case key.Matches(k, p.keys.Scenario):
		return nil, outcome{open: p.scenarioPicker()}
	case key.Matches(k, p.keys.Compare):
		return nil, outcome{open: compareList(p.stage, p.scenario, p.strategy, p.pos)}
	case key.Matches(k, p.keys.Explore):
		return nil, outcome{to: searchMsg{p.strategy}}
	case key.Matches(k, p.keys.Rung):
		return p.nextRung(), outcome{}
	case p.reel == nil:
		return nil, outcome{}
	case key.Matches(k, p.keys.Export):
		return nil, exportList(p.stage, p.reel.Trace, p)
	case key.Matches(k, p.keys.Sandbox):
		return nil, outcome{to: sandboxMsg{p.strategy, p.scenario, p.reel.Trace, p.pos}}
	case key.Matches(k, p.keys.Play):
		return p.togglePlay(), outcome{}
	case p.moves(k):
		p.playing = false
	default:
		p.looks(k)
	}
	return nil, outcome{}
}

// moves handles the keys that move the cursor.
func (p *player) moves(k tea.KeyMsg) bool {
	switch {
	case key.Matches(k, p.keys.Forward):
		if p.pos == p.reel.Last() {
			p.notice = "The run ends here."
		}
		p.goTo(p.pos + 1)
	case key.Matches(k, p.keys.Back):
		p.goTo(p.pos - 1)
	case key.Matches(k, p.keys.First):
		p.goTo(0)
	case key.Matches(k, p.keys.Last):
		p.goTo(p.reel.Last())
	case key.Matches(k, p.keys.Next):
		p.goTo(p.reel.NextChapter(p.pos))
	case key.Matches(k, p.keys.Previous):
		p.goTo(p.reel.PreviousChapter(p.pos))
	case key.Matches(k, p.keys.Violation):
		p.toViolation()
	case key.Matches(k, p.keys.Evidence):
		p.toEvidence()
	case key.Matches(k, p.keys.Match):
		p.toMatch(1)
	case key.Matches(k, p.keys.MatchBack):
		p.toMatch(-1)
	default:
		return false
	}
	return true
}

// looks handles the keys that change how the same moment is shown.
func (p *player) looks(k tea.KeyMsg) {
	switch {
	case key.Matches(k, p.keys.In):
		p.zoom = min(p.zoom+1, mostZoom)
	case key.Matches(k, p.keys.Out):
		p.zoom = max(p.zoom-1, -mostZoom)
	case key.Matches(k, p.keys.View):
		p.view = (p.view + 1) % views
		p.focus = scrolls[p.view]
		p.notice = "view: " + viewNames[p.view]
	case key.Matches(k, p.keys.Source):
		p.source = !p.source
	case key.Matches(k, p.keys.Search):
		p.find.ask(forMatch)
	case key.Matches(k, p.keys.Filter):
		p.find.ask(forFilter)
	case key.Matches(k, p.keys.Guess):
		p.guess(int(k.Runes[0] - '0'))
	case key.Matches(k, p.keys.Enter):
		p.revealed = true
	case key.Matches(k, p.keys.Faster):
		p.setSpeed(p.speed + 1)
	case key.Matches(k, p.keys.Slower):
		p.setSpeed(p.speed - 1)
	case key.Matches(k, p.keys.Pane):
		for range panes {
			if p.focus = (p.focus + 1) % panes; p.sees(p.focus) {
				break
			}
		}
		p.notice = p.keys.Up.Help().Key + " and " + p.keys.Down.Help().Key + " scroll: " + paneNames[p.focus]
	case key.Matches(k, p.keys.Up):
		p.scroll[p.focus]--
	case key.Matches(k, p.keys.Down):
		p.scroll[p.focus]++
	case key.Matches(k, p.keys.PageUp):
		p.scroll[p.focus] -= scrollPage
	case key.Matches(k, p.keys.PageDown):
		p.scroll[p.focus] += scrollPage
	}
}

// sees reports whether a pane has a place in the last frame.
func (p *player) sees(which pane) bool {
	switch which {
	case paneState:
		return !p.plan.state.empty() || p.view == viewState && !p.plan.main.empty()
	case paneSource:
		return !p.plan.source.empty()
	case paneTrace:
		return !p.plan.trace.empty() || p.view == viewTrace && !p.plan.main.empty()
	}
	return true
}

// scrollPage is how many lines page up and page down scroll.
const scrollPage = 10

// clicked goes to the event under the mouse.
func (p *player) clicked(c click) {
	if p.reel == nil {
		return
	}
	p.playing = false
	main, trace := p.plan.main, p.plan.trace
	switch {
	case c.wheel != 0:
		p.goTo(p.pos + c.wheel)
	case c.in(main) && p.view == viewTimeline:
		width := main.w - labelWidth
		a := p.axes.of(p.reel, width, p.zoom)
		p.goTo(a.at(c.x - main.x - labelWidth + a.window(p.pos, width)))
	case c.in(main) && p.view == viewLadder && c.y > main.y:
		p.goTo(p.pos - (main.y + main.h - 1 - c.y))
	case c.in(trace):
		p.goTo(p.eventAt(trace, c.y-trace.y))
	case c.in(main) && p.view == viewTrace:
		p.goTo(p.eventAt(main, c.y-main.y))
	}
}

// eventAt is the position of the event in a row of the trace as it was drawn.
func (p *player) eventAt(r rect, row int) int {
	rows := traceRows(p.reel, p.pos, r.h, -p.scroll[paneTrace], &p.find)
	if row < len(rows) {
		return rows[row].pos
	}
	return p.pos
}

const mostZoom = 6

func (p *player) toViolation() {
	if len(p.reel.Breaches) == 0 {
		p.notice = "No property breaks in this run."
		return
	}
	next := slices.IndexFunc(p.reel.Breaches, func(b timeline.Breach) bool { return b.Pos > p.pos })
	if p.pos == 0 && p.sought != nil {
		next = slices.IndexFunc(p.reel.Breaches, func(b timeline.Breach) bool { return b.Code == *p.sought })
	}
	if p.picked != none && p.picked+1 < len(p.reel.Breaches) && p.reel.Breaches[p.picked+1].Pos == p.pos {
		next = p.picked + 1 // another one that the same event completed
	}
	if next < 0 {
		next = 0
		p.notice = "That was the last violation; this is the first again."
		if len(p.reel.Breaches) == 1 {
			p.notice = "There is no other violation in this run."
		}
	}
	p.picked = next
	p.goTo(p.reel.Breaches[next].Pos)
}

// toEvidence goes round the events that prove the violation that was last shown.
func (p *player) toEvidence() {
	if p.picked == none {
		p.notice = p.keys.Violation.Help().Key + " goes to a violation; then " + p.keys.Evidence.Help().Key + " goes round its evidence."
		return
	}
	events := p.reel.Breaches[p.picked].Events
	next := 0
	for i, seq := range events {
		if p.reel.After(seq) == p.pos {
			next = (i + 1) % len(events)
		}
	}
	picked := p.picked
	p.goTo(p.reel.After(events[next]))
	p.picked = picked // also where other violations are complete
	p.notice = fmt.Sprintf("evidence %d of %d", next+1, len(events))
}

// Playing.

const (
	usualSpeed = 3
	mostSpeed  = 6
)

// pace is how long an event stays on the screen: at the usual speed half a
// second, and a tenth of that if there is nothing to be seen of it.
func (p *player) pace() time.Duration {
	d := 4 * time.Second >> p.speed
	if p.pos < p.reel.Last() && !p.reel.Matters(p.pos) {
		d /= 10
	}
	return d
}

func (p *player) setSpeed(speed int) {
	p.speed = min(max(speed, 1), mostSpeed)
	p.notice = fmt.Sprintf("speed %d of %d", p.speed, mostSpeed)
}

func (p *player) togglePlay() tea.Cmd {
	p.playing = !p.playing
	if !p.playing {
		return nil
	}
	if p.pos == p.reel.Last() {
		p.goTo(0)
	}
	return p.later()
}

// later sets the timer for the next step. There is never more than one that counts.
func (p *player) later() tea.Cmd {
	p.tick = p.serial()
	return p.after(p.pace(), ticked(p.tick))
}

// played is one step of playing. It stops where the class should look or think:
// at a violation, at a question, at the end.
func (p *player) played(tick int) tea.Cmd {
	if tick != p.tick || !p.playing || p.reel == nil {
		return nil
	}
	p.goTo(p.pos + 1)
	_, fresh := p.reel.Breached(p.pos)
	if p.playing = len(fresh) == 0 && !asks(p.reel, p.pos) && p.pos < p.reel.Last(); !p.playing {
		return nil
	}
	return p.later()
}

// The lists.

func (p *player) strategyPicker() *picker {
	return strategyList(p.stage, "Which lock?  (the scenario stays, and the place in it)", p.scenario, p.strategy, func(i int) (tea.Cmd, outcome) {
		return p.choose(i, p.scenario)
	})
}

func (p *player) scenarioPicker() *picker {
	return scenarioList(p.stage, "What happens to it?  (the lock stays)", p.scenario, p.strategy, func(i int) (tea.Cmd, outcome) {
		return p.choose(p.strategy, i)
	})
}

// stretch is as far as the keys for it go: a run in which nothing is said has no
// chapters.
func (p *player) stretch() string {
	if p.reel != nil && len(p.reel.Chapters) == 0 {
		return "end"
	}
	return "chapter"
}

func (p *player) footerKeys() []key.Binding {
	k := &p.keys
	play := k.Play
	if p.playing {
		play = as(play, "stop")
	}
	list := []key.Binding{pair(k.Back, k.Forward, "step"), pair(k.Previous, k.Next, p.stretch()), k.Violation}
	if p.overflows {
		list = slices.Insert(list, 1, pair(k.Up, k.Down, "more"))
	}
	proven := p.picked != none && len(p.reel.Breaches) > 0 && p.reel.Breaches[p.picked].Pos == p.pos
	switch {
	case p.find.asking():
		return []key.Binding{as(k.Enter, "find"), as(k.Close, "leave it"), bind("ctrl+c", "quit", "ctrl+c")}
	case p.question() != nil:
		list = []key.Binding{as(k.Guess, "predict"), k.Enter, list[0], list[1]}
	case p.pupil != nil && p.reel != nil && p.pos >= p.reel.Told():
		list = append([]key.Binding{k.Rung}, list...)
	case proven:
		list = append(list, as(k.Evidence, "evidence"))
	}
	list = append(list, play, as(k.Strategy, "lock"), as(k.View, viewNames[(p.view+1)%views]), k.Compare, k.Explore, k.Sandbox, k.Source, k.Scenario,
		k.Search, k.Filter, pair(k.In, k.Out, "zoom"))
	if !proven {
		list = append(list, k.Evidence)
	}
	return append(list, pair(k.First, k.Last, "ends"), k.Pane, k.Export, k.Mouse, k.Help, k.Quit)
}

func (p *player) help() page {
	k := &p.keys
	return page{
		title: "the player",
		about: "One run, event by event. What is to the right of the cursor has not happened yet. A row is somebody, and two bars in one column " +
			"are two holders. Everything here comes from the run's trace, which --plain prints.",
		keys: append([]key.Binding{
			k.Forward, k.Back, k.Next, k.Previous, as(k.Violation, "next violation"), k.Evidence, k.First, k.Last, k.Play, k.Faster, k.Slower,
			as(k.Guess, "predict the answer"), as(k.Enter, "show the answer"), as(k.Strategy, "another lock"), as(k.Scenario, "another scenario"),
			as(k.Compare, "compare two locks"), as(k.Sandbox, "your turn from here"), as(k.Explore, "search all schedules"), k.Export, k.Rung, as(k.View, "next view"), k.Source, k.In, k.Out, as(k.Search, "search the trace"), k.Match, k.MatchBack,
			as(k.Filter, "filter the trace"), k.Pane, k.Up, k.Down, k.PageUp, k.PageDown,
		}, k.always()...),
		signs: append(p.theme.legend(), codeMeanings()...),
	}
}

// legend explains the glyphs of a run.
func (t *theme) legend() []meaning {
	g := &t.glyphs
	return []meaning{
		{g.awake, "runs"}, {g.inside, "in the critical section"}, {g.paused, "paused"}, {g.resume, "goes on"}, {g.crash, "crashes"},
		{g.send, "sends a command"}, {g.retry, "refused, will ask again"}, {g.granted, "has the lock"}, {g.release, "releases it"},
		{g.extend, "extends it"}, {g.lost, "no reply, or failed"},
		{g.read, "reads the store"}, {g.write, "writes to it"}, {g.bad, "breaks a property"}, {g.reject, "is refused by the store"},
		{g.bar(0) + g.bar(1) + g.bar(2), "A, B, C believes it has the lock; on a redis row: has it"}, {g.lapsed, "believes so, though the lease is over"},
		{"1 2", "how many clients believe: 2 is one too many"},
		{g.down, "a server is down"}, {g.fault, "its clock jumps, or it loses a key or its scripts"}, {g.nobody, "of several servers nobody has enough"},
		{g.gap, "time passes, not to scale"}, {g.chasm + g.chasm, "very much of it"}, {g.here, "you are here"},
	}
}
