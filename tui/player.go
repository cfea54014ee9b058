package tui

import (
	"fmt"
	"slices"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim"
)

// player shows one run, and moves a cursor through it.
type player struct {
	*stage

	strategy, scenario int // places in the library, of what is shown or being computed
	load               int // the number of the last load: results of earlier ones are dropped
	loading            bool
	failed             error
	reel               *reel
	code               []string
	file               string

	pos         int
	before, now *sim.State // at pos-1 and pos
	zoom        int
	ladder      bool
	source      bool
	revealed    bool // the answer to the question at hand
	focus       pane
	scroll      [panes]int
	notice      string // until the next key
	tick        int    // the number of the timer that may move the cursor
	playing     bool
	speed       int
}

// pane is one that can have more to show than it has rows for.
type pane uint8

const (
	paneTold pane = iota
	paneState
	paneSource
	paneTrace
	panes
)

var paneNames = [...]string{"narration", "state", "source", "trace"}

// loaded is the result of a run.
type loaded struct {
	load     int
	reel     *reel
	err      error
	narrated int // the note to go to, or -1
}

// ticked says that a step of the playing is due.
type ticked int

func newPlayer(s *stage, strategy, scenario int) *player {
	return &player{stage: s, speed: usualSpeed, strategy: strategy, scenario: scenario}
}

func (p *player) start() tea.Cmd { return p.open(p.strategy, p.scenario) }

// open computes a run in the background. What is shown stays until it is there.
func (p *player) open(strategy, scenario int) tea.Cmd {
	narrated := -1
	if p.reel != nil && scenario == p.scenario {
		if notes := p.reel.notes(p.pos); len(notes) > 0 {
			narrated = notes[0].Index
		}
	}
	p.strategy, p.scenario = strategy, scenario
	p.load++
	p.loading, p.playing = true, false
	load, lib, seed := p.load, p.lib, p.seed
	return func() tea.Msg {
		t, err := lib.run(lib.scenarios[scenario], lib.strategies[strategy], seed)
		if err != nil {
			return loaded{load: load, err: err}
		}
		return loaded{load: load, reel: newReel(t), narrated: narrated}
	}
}

// show puts a run on the screen. After a change of strategy it goes to where the
// story was, so that the class sees the same moment under another lock.
func (p *player) show(l loaded) {
	if l.load != p.load {
		return
	}
	p.loading, p.failed = false, l.err
	if l.err != nil {
		p.reel = nil
		return
	}
	st := p.lib.strategies[p.strategy]
	p.reel, p.file, p.code = l.reel, st.File, codeLines(st.Code())
	p.scroll, p.zoom, p.pos = [panes]int{}, 0, 0
	at := slices.IndexFunc(l.reel.trace.Notes, func(n sim.Note) bool { return n.Index == l.narrated })
	if l.narrated >= 0 && at >= 0 {
		p.pos = l.reel.position(l.reel.trace.Notes[at].Seq)
	}
	p.moved()
}

// moved brings what depends on the cursor up to date.
func (p *player) moved() {
	p.before = p.reel.trace.StateAt(max(p.pos-1, 0))
	p.now = p.reel.trace.StateAt(p.pos)
	p.revealed = false
	p.scroll[paneTold], p.scroll[paneSource], p.scroll[paneTrace] = 0, 0, 0
}

func (p *player) goTo(pos int) {
	if pos = min(max(pos, 0), p.reel.last()); pos != p.pos {
		p.pos = pos
		p.moved()
	}
}

func (p *player) update(msg tea.Msg) (tea.Cmd, outcome) {
	switch msg := msg.(type) {
	case loaded:
		p.show(msg)
	case ticked:
		return p.played(int(msg)), outcome{}
	case tea.KeyMsg:
		p.notice = ""
		return p.typed(msg)
	}
	return nil, outcome{}
}

func (p *player) typed(k tea.KeyMsg) (tea.Cmd, outcome) {
	switch {
	case key.Matches(k, p.keys.Close):
		return nil, outcome{close: true}
	case key.Matches(k, p.keys.Strategy):
		return nil, outcome{open: p.strategyPicker()}
	case key.Matches(k, p.keys.Scenario):
		return nil, outcome{open: p.scenarioPicker()}
	case p.reel == nil:
		return nil, outcome{}
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
		p.goTo(p.pos + 1)
	case key.Matches(k, p.keys.Back):
		p.goTo(p.pos - 1)
	case key.Matches(k, p.keys.First):
		p.goTo(0)
	case key.Matches(k, p.keys.Last):
		p.goTo(p.reel.last())
	case key.Matches(k, p.keys.Next):
		p.goTo(p.reel.nextChapter(p.pos))
	case key.Matches(k, p.keys.Previous):
		p.goTo(p.reel.previousChapter(p.pos))
	case key.Matches(k, p.keys.Violation):
		p.toViolation()
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
		p.ladder = !p.ladder
	case key.Matches(k, p.keys.Source):
		p.source = !p.source
	case key.Matches(k, p.keys.Enter):
		p.revealed = true
	case key.Matches(k, p.keys.Faster):
		p.setSpeed(p.speed + 1)
	case key.Matches(k, p.keys.Slower):
		p.setSpeed(p.speed - 1)
	case key.Matches(k, p.keys.Pane):
		p.focus = (p.focus + 1) % panes
		p.notice = "up and down scroll: " + paneNames[p.focus]
	case key.Matches(k, p.keys.Up):
		p.scroll[p.focus]--
	case key.Matches(k, p.keys.Down):
		p.scroll[p.focus]++
	}
}

const mostZoom = 6

func (p *player) toViolation() {
	if len(p.reel.breaches) == 0 {
		p.notice = "No property breaks in this run."
		return
	}
	for _, b := range p.reel.breaches {
		if b.pos > p.pos {
			p.goTo(b.pos)
			return
		}
	}
	p.goTo(p.reel.breaches[0].pos)
	p.notice = "That was the last violation; this is the first again."
}

// nextChapter is where something is said next, or the end.
func (r *reel) nextChapter(pos int) int {
	if n := r.chapter(pos); n < len(r.chapters) {
		return r.chapters[n]
	}
	return r.last()
}

func (r *reel) previousChapter(pos int) int {
	i, _ := slices.BinarySearch(r.chapters, pos)
	if i == 0 {
		return 0
	}
	return r.chapters[i-1]
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
	if p.pos < p.reel.last() && !p.reel.matters(p.pos) {
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
	if p.pos == p.reel.last() {
		p.goTo(0)
	}
	return p.later()
}

// later sets the timer for the next step. There is never more than one that counts.
func (p *player) later() tea.Cmd {
	p.tick++
	tick := p.tick
	return tea.Tick(p.pace(), func(time.Time) tea.Msg { return ticked(tick) })
}

// played is one step of playing. It stops where the class should look or think:
// at a violation, at a question, at the end.
func (p *player) played(tick int) tea.Cmd {
	if tick != p.tick || !p.playing || p.reel == nil {
		return nil
	}
	p.goTo(p.pos + 1)
	_, fresh := p.reel.breached(p.pos)
	if p.playing = len(fresh) == 0 && !p.reel.asks(p.pos) && p.pos < p.reel.last(); !p.playing {
		return nil
	}
	return p.later()
}

// The lists.

func (p *player) strategyPicker() *picker {
	return p.strategies("Which lock?  (the scenario stays, and the place in it)", p.scenario, p.strategy, func(i int) (tea.Cmd, outcome) {
		return p.open(i, p.scenario), outcome{close: true}
	})
}

func (p *player) scenarioPicker() *picker {
	return p.scenarios("What happens to it?  (the lock stays)", p.scenario, p.strategy, func(i int) (tea.Cmd, outcome) {
		return p.open(p.strategy, i), outcome{close: true}
	})
}

// strategies lists the locks with what becomes of them in a scenario.
func (s *stage) strategies(title string, scenario, current int, choose func(int) (tea.Cmd, outcome)) *picker {
	items := make([]choice, len(s.lib.strategies))
	for i, st := range s.lib.strategies {
		items[i] = choice{st.Name, st.Summary, func() span { return s.board.badge(scenario, i, &s.theme.glyphs) }}
	}
	return &picker{stage: s, title: title, items: items, at: current, current: current, wanted: s.board.wantRow(scenario), choose: choose}
}

// scenarios lists what can happen with what becomes of a lock in it.
func (s *stage) scenarios(title string, current, strategy int, choose func(int) (tea.Cmd, outcome)) *picker {
	items := make([]choice, len(s.lib.scenarios))
	for i, sc := range s.lib.scenarios {
		items[i] = choice{sc.Name, sc.Title + ": " + sc.Shows, func() span { return s.board.badge(i, strategy, &s.theme.glyphs) }}
	}
	return &picker{stage: s, title: title, items: items, at: current, current: current, wanted: s.board.wantColumn(strategy), choose: choose}
}

func (p *player) footerKeys() []key.Binding {
	k := &p.keys
	play, view := k.Play, k.View
	if p.playing {
		play.SetHelp("space", "stop")
	}
	if p.ladder {
		view.SetHelp("v", "timeline")
	}
	return []key.Binding{
		pair(k.Back, k.Forward, "step"), pair(k.Previous, k.Next, "chapter"), k.Violation, play, k.Strategy, k.Scenario,
		k.Source, view, pair(k.In, k.Out, "zoom"), pair(k.First, k.Last, "ends"), k.Pane, k.Help, k.Quit,
	}
}

func (p *player) help() page {
	k := &p.keys
	return page{
		title: "the player",
		about: "One run, event by event. What is to the right of the cursor has not happened yet.",
		keys: append([]key.Binding{
			k.Forward, k.Back, k.Next, k.Previous, as(k.Violation, "next violation"), k.First, k.Last, k.Play, k.Faster, k.Slower, k.In, k.Out,
			k.View, k.Source, k.Strategy, k.Scenario, k.Enter, k.Pane, k.Up, k.Down,
		}, k.always()...),
		signs: p.theme.legend(),
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
		{g.gap, "time passes, not to scale"}, {g.chasm + g.chasm, "very much of it"}, {g.here, "you are here"},
	}
}
