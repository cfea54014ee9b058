package tui

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
)

// searcher is the room in which all schedules within some bounds are searched,
// while one looks on. On the left stand the bounds, on the right what has come of
// the last search.
type searcher struct {
	*stage
	strategy int
	bounds   explore.Bounds
	settings []setting
	row      int
	refused  error // by the bounds as they stand

	number   int // of the last search: messages of earlier ones are dropped
	cancel   context.CancelCauseFunc
	running  bool
	stopping bool
	progress progressed
	asked    string // the bounds of the result, see terms
	result   *explore.Result
	took     time.Duration
	failed   error

	results bool // the cursor is among the findings, not the bounds
	finding int
	scroll  int
	notice  string // until the next key
	plan    searchLayout
	places  []int // of the findings, in lines of the result

	overflows bool // the result is longer than its pane
}

// setting is one of the bounds, by its name.
type setting struct {
	name   string
	value  func() string
	change func(by int)
}

// terms are the bounds as they stand, in words to compare.
func (m *searcher) terms() string {
	var b strings.Builder
	for _, s := range m.settings {
		b.WriteString(s.name + "=" + s.value() + "\n")
	}
	return b.String()
}

// progressed tells of a search under way. Its time is taken beside the search,
// whose results depend on no clock.
type progressed struct {
	number  int
	of      explore.Progress
	elapsed time.Duration
}

// searched is the end of a search.
type searched struct {
	number int
	result *explore.Result
	took   time.Duration
	err    error
}

// searchMemory is what the heap may take while a search is under way, or a hint is
// looked for: what a laptop can spare.
const searchMemory = 2 << 30

var errStopped = errors.New("stopped")

// searcher is the search of a strategy: the one that was left, if there is one.
func (s *stage) searcher(strategy int) *searcher {
	m := s.searches[strategy]
	if m == nil || m.strategy != strategy { // another lock was chosen in it
		m = newSearcher(s, strategy)
		s.searches[strategy] = m
	}
	m.notice = ""
	return m
}

func newSearcher(s *stage, strategy int) *searcher {
	m := &searcher{stage: s, strategy: strategy, bounds: explore.Defaults(s.lib.strategies[strategy])}
	m.offer()
	return m
}

// offer lists the bounds that can be set, and looks whether they make sense.
func (m *searcher) offer() {
	b := &m.bounds
	number := func(name string, of *int, least, most int) setting {
		return setting{name, func() string { return strconv.Itoa(*of) }, func(by int) { *of = min(max(*of+by, least), most) }}
	}
	yes := func(name string, of *bool) setting {
		return setting{name, func() string { return either(*of, "yes", "no") }, func(int) { *of = !*of }}
	}
	m.settings = []setting{
		{"lock", func() string { return b.Strategy.Name }, m.changeStrategy},
		number("clients", &b.Clients, 1, mostClients), number("cycles each", &b.Cycles, 1, mostCycles),
	}
	if b.Strategy.Nodes > 1 {
		m.settings = append(m.settings, number("nodes", &b.Nodes, 1, sim.MaxNodes))
	}
	m.settings = append(m.settings,
		setting{"resource", func() string { return b.Resource.String() }, func(by int) {
			n := int(sim.FencedWrites) + 1
			b.Resource = sim.Resource((int(b.Resource) + by + n) % n)
		}},
		yes("callers check", &b.Checks), yes("callers extend", &b.Extend),
		setting{"look for", func() string { return lookedFor(b) }, func(by int) { lookFor(b, by) }},
	)
	for i, name := range explore.FaultKinds() {
		m.settings = append(m.settings, setting{name, func() string { return "at most " + strconv.Itoa(int(b.Faults[i])) },
			func(by int) { b.Faults[i] = uint8(min(max(int(b.Faults[i])+by, 0), mostFaults)) }}) //nolint:gosec // it is small
	}
	m.row = min(m.row, len(m.settings)-1)
	_, m.refused = b.Config()
}

// As many as one can wait for; the search itself says what it takes.
const (
	mostClients = 4
	mostCycles  = 9
	mostFaults  = 9
)

// searchable are the codes that a search finds: nobody asks twice in it, so that
// nobody is kept waiting.
func searchable() (all trace.Verdict) {
	for _, c := range trace.Codes {
		if c != trace.BD && c != trace.LV {
			all = append(all, c)
		}
	}
	return all
}

func lookedFor(b *explore.Bounds) string {
	if len(b.Codes) == 0 {
		return "everything"
	}
	return b.Codes.String()
}

// lookFor goes round everything and each of the codes.
func lookFor(b *explore.Bounds, by int) {
	all, at := searchable(), 0
	for i, c := range all {
		if len(b.Codes) == 1 && b.Codes[0] == c {
			at = i + 1
		}
	}
	b.Codes = nil
	if at = (at + by + len(all) + 1) % (len(all) + 1); at > 0 {
		b.Codes = trace.Verdict{all[at-1]}
	}
}

// changeStrategy takes another lock, with the nodes and the resource that are its
// own; clients and faults stay.
func (m *searcher) changeStrategy(by int) {
	n := len(m.lib.strategies)
	m.setStrategy((m.strategy + by + n) % n)
}

func (m *searcher) setStrategy(to int) {
	was := m.bounds
	m.results = false // they are another lock's
	m.strategy, m.bounds = to, explore.Defaults(m.lib.strategies[to])
	m.bounds.Clients, m.bounds.Faults, m.bounds.Codes = was.Clients, was.Faults, was.Codes
	m.bounds.Checks, m.bounds.Extend = was.Checks, was.Extend
}

// begin starts a search in the background. It tells of its progress through a
// channel that holds only the newest word, so that it never waits for the screen.
func (m *searcher) begin() tea.Cmd {
	ctx, cancel := context.WithCancelCause(context.Background())
	m.number = m.serial()
	m.cancel, m.running, m.stopping = cancel, true, false
	m.progress, m.result, m.failed, m.scroll, m.results, m.finding = progressed{}, nil, nil, 0, false, 0
	m.asked = m.terms()
	number, bounds, run := m.number, m.bounds, m.explore
	news, from := make(chan progressed, 1), m.now()
	search := func() (end tea.Msg) {
		defer cancel(nil)
		defer close(news)
		r, err := run(ctx, bounds, explore.Options{Memory: searchMemory, Progress: func(p explore.Progress) {
			select {
			case news <- progressed{number, p, m.now().Sub(from)}:
			default:
			}
		}})
		return searched{number, r, m.now().Sub(from), err}
	}
	return tea.Batch(search, listen(news))
}

// listen waits for the next word of a search; the room asks again when it has it.
func listen(news <-chan progressed) tea.Cmd {
	return func() tea.Msg {
		p, open := <-news
		if !open {
			return nil
		}
		return heard{p, news}
	}
}

// heard is a word of a search, and where the next comes from.
type heard struct {
	progressed
	news <-chan progressed
}

// stop ends the search that is under way; what it has found comes all the same.
func (m *searcher) stop() {
	if m.running {
		m.cancel(errStopped)
		m.stopping = true
	}
}

func (m *searcher) update(msg tea.Msg) (tea.Cmd, outcome) {
	switch msg := msg.(type) {
	case heard:
		if msg.number != m.number {
			return nil, outcome{}
		}
		if m.running {
			m.progress = msg.progressed
		}
		return listen(msg.news), outcome{}
	case searched:
		if msg.number == m.number {
			m.running, m.result, m.took, m.failed = false, msg.result, msg.took, msg.err
			m.results = msg.result != nil && len(msg.result.Violated) > 0
		}
	case exported:
		if msg.from == m {
			m.notice = msg.told()
		}
	case click:
		m.notice = ""
		return m.clicked(msg)
	case tea.KeyMsg:
		m.notice = ""
		return m.typed(msg)
	}
	return nil, outcome{}
}

func (m *searcher) typed(k tea.KeyMsg) (tea.Cmd, outcome) {
	switch {
	case key.Matches(k, m.keys.Close):
		return nil, m.leave()
	case key.Matches(k, m.keys.PageUp):
		m.scroll = max(m.scroll-scrollPage, 0)
	case key.Matches(k, m.keys.PageDown):
		m.scroll += scrollPage
	case key.Matches(k, m.keys.Pane):
		m.results = !m.results && m.result != nil && len(m.result.Violated) > 0
	case key.Matches(k, m.keys.Up):
		m.move(-1)
	case key.Matches(k, m.keys.Down):
		m.move(1)
	case m.running:
		m.notice = m.keys.Close.Help().Key + " stops the search."
	case key.Matches(k, m.keys.Strategy):
		return nil, outcome{open: m.strategyPicker()}
	case key.Matches(k, m.keys.Export):
		return nil, m.export()
	case key.Matches(k, m.keys.Save):
		return m.save(), outcome{}
	case key.Matches(k, m.keys.Sandbox):
		return nil, m.yourTurn()
	case m.results && key.Matches(k, m.keys.Enter):
		return nil, m.openFinding()
	case key.Matches(k, m.keys.Enter):
		if m.refused == nil {
			return m.begin(), outcome{}
		}
	case key.Matches(k, m.keys.Back):
		m.change(-1)
	case key.Matches(k, m.keys.Forward):
		m.change(1)
	}
	return nil, outcome{}
}

// leave stops the search first, and goes back only then: so that a stray esc loses
// nothing of what was found.
func (m *searcher) leave() outcome {
	if m.running && !m.stopping {
		m.stop()
		return outcome{}
	}
	return outcome{close: true}
}

// move goes up or down, in the column that the cursor is in.
func (m *searcher) move(by int) {
	if !m.results {
		m.row = min(max(m.row+by, 0), len(m.settings)-1)
		return
	}
	m.finding = min(max(m.finding+by, 0), len(m.result.Violated)-1)
	m.seek()
}

// seek scrolls the finding at the cursor into sight.
func (m *searcher) seek() {
	if m.finding < len(m.places) {
		at := m.places[m.finding]
		m.scroll = max(min(m.scroll, at), at+2-m.plan.result.h)
	}
}

func (m *searcher) change(by int) {
	if m.results {
		m.results = false // one looks at the bounds again
		return
	}
	m.settings[m.row].change(by)
	m.offer()
}

func (m *searcher) clicked(c click) (tea.Cmd, outcome) {
	switch i := c.y - m.plan.bounds.y + m.plan.first; {
	case c.wheel != 0:
		m.scroll = max(m.scroll+c.wheel, 0)
	case m.plan.bounds.holds(c) && i < len(m.settings):
		m.results, m.row = false, i
	case m.plan.result.holds(c):
		at := c.y - m.plan.result.y + m.scroll
		for i, place := range m.places {
			if at != place && at != place+1 {
				continue
			}
			if m.results && m.finding == i {
				return nil, m.openFinding()
			}
			m.results, m.finding = true, i
		}
	}
	return nil, outcome{}
}

func (m *searcher) picked() *explore.Counterexample {
	if m.result == nil || m.finding >= len(m.result.Violated) {
		return nil
	}
	return m.result.Violated[m.finding]
}

// openFinding plays the least schedule that violates the code at the cursor.
func (m *searcher) openFinding() outcome {
	v := m.picked()
	if v == nil {
		return outcome{}
	}
	at := m.lib.strategy(v.Trace.Strategy)
	if at < 0 {
		return outcome{}
	}
	return outcome{open: newShown(m.stage, at, v.Trace, v.Code)}
}

// yourTurn has the reader look for the violation at the cursor, within these bounds.
func (m *searcher) yourTurn() outcome {
	goal := usualGoal(m.bounds.Strategy)
	if v := m.picked(); v != nil && m.results && slices.Contains(goals, v.Code) {
		goal = v.Code
	}
	out, err := m.openChallenge(m.strategy, m.bounds, goal)
	if err != nil {
		m.notice = err.Error()
	}
	return out
}

func (m *searcher) export() outcome {
	v := m.picked()
	if v == nil {
		m.notice = "There is no counterexample to write."
		return outcome{}
	}
	return m.exportPicker(v.Trace, m)
}

// save writes the finding at the cursor as a scenario.
func (m *searcher) save() tea.Cmd {
	v := m.picked()
	if v == nil {
		m.notice = "There is no counterexample to save."
		return nil
	}
	within := &m.result.Bounds
	return saveScenario(m, v.Trace, func(file string) ([]byte, error) { return scenarios.FromSearch(within, v, file) })
}

func (m *searcher) strategyPicker() *picker {
	items := make([]choice, len(m.lib.strategies))
	for i, st := range m.lib.strategies {
		items[i] = choice{st.Name, st.Summary, func() span { return span{strconv.Itoa(st.Nodes), inkDim} }}
	}
	return &picker{stage: m.stage, title: "Search which lock?", items: items, at: m.strategy, current: m.strategy,
		about: "Beside each name stands on how many servers the lock is.", choose: func(i int) (tea.Cmd, outcome) {
			m.setStrategy(i)
			m.offer()
			return nil, outcome{close: true}
		}}
}

func (m *searcher) footerKeys() []key.Binding {
	k := &m.keys
	switch {
	case m.stopping && m.running:
		return []key.Binding{as(k.Close, "leave it"), k.Mouse, k.Help, k.Quit}
	case m.running:
		return []key.Binding{as(k.Close, "stop"), k.Mouse, k.Help, k.Quit}
	case m.results:
		first, then := []key.Binding{as(k.Enter, "play it"), pair(k.Up, k.Down, "finding"), as(k.Pane, "bounds")}, []key.Binding{k.Sandbox, k.Export, k.Save}
		scroll := []key.Binding{pair(k.PageUp, k.PageDown, "scroll")}
		if m.overflows {
			return slices.Concat(first, scroll, then, []key.Binding{k.Close, k.Mouse, k.Help, k.Quit})
		}
		return slices.Concat(first, then, scroll, []key.Binding{k.Close, k.Mouse, k.Help, k.Quit})
	}
	return []key.Binding{as(k.Enter, "search"), pair(k.Up, k.Down, "which"), pair(k.Back, k.Forward, "how much"), as(k.Strategy, "lock"),
		as(k.Pane, "findings"), k.Sandbox, k.Close, pair(k.PageUp, k.PageDown, "scroll"), k.Export, k.Mouse, k.Help, k.Quit}
}

func (m *searcher) help() page {
	k, g := &m.keys, &m.theme.glyphs
	return page{
		title: "all schedules",
		about: "Every schedule within the bounds: whoever can act may act next, time may pass over those that could, and at most so many faults of each kind happen. " +
			"What holds here holds for all of them, and says nothing of what is beyond. A switch is a change from one client to another. " +
			"The least counterexample has the fewest faults, then the fewest switches, then the fewest steps. A search that is stopped has covered the shorter schedules.",
		keys: append([]key.Binding{as(k.Up, "above"), as(k.Down, "below"), as(k.Back, "less"), as(k.Forward, "more"), as(k.Strategy, "another lock"),
			as(k.Enter, "search; play a finding"), as(k.Pane, "bounds or findings"), as(k.Sandbox, "find it yourself"), as(k.Export, "write a finding"), k.Save, k.PageUp, k.PageDown,
			as(k.Close, "stop; back")}, k.Mouse, k.Help, k.Quit, k.Suspend),
		signs: append([]meaning{{g.bad, "some schedule does it"}, {g.granted, "none does"}, {"?", "not found so far"}}, codeMeanings()...),
	}
}
