// Package search is the search of all schedules within bounds, watched as it runs.
package search

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
	"lockstep/tui/draw"
	"lockstep/tui/picker"
	"lockstep/tui/screen"
)

// Search is the screen that searches all schedules within some bounds, and shows the
// search at work. The bounds stand on the left, the results of the last search on the
// right.
//
// Invariants: row is an index of settings; while running is true, result and failed are
// nil; stopping implies that stop was called for this search.
type Search struct {
	*screen.App
	strategy int
	bounds   explore.Bounds
	settings []setting
	row      int
	refused  error // by the bounds as they stand

	number   int // of the last search: messages of earlier ones are dropped
	cancel   context.CancelCauseFunc
	running  bool
	stopping bool
	progress progress
	asked    string // the bounds of the result, see terms
	result   *explore.Result
	took     time.Duration
	failed   error

	results bool // the cursor is among the findings, not the bounds
	finding int
	scroll  int
	notice  string // until the next key
	plan    searchLayout
	places  []draw.Rectangle // of the findings with a least schedule: their first two lines, in columns and lines of the result

	overflows bool // the result is longer than its pane

	included, lacks []string // faults of the run that the reader comes from: those by which the bounds were raised, and those that no search has
}

// setting is one of the bounds, with its name.
type setting struct {
	name   string
	value  func() string
	change func(by int)
}

// terms is the current bounds as text, for comparison.
func (m *Search) terms() string {
	var b strings.Builder
	for _, s := range m.settings {
		b.WriteString(s.name + "=" + s.value() + "\n")
	}
	return b.String()
}

// progress is the state of a search under way. Its time is measured outside the search,
// whose results depend on no clock.
type progress struct {
	number  int
	of      explore.Progress
	elapsed time.Duration
}

// searchedMsg is the end of a search.
type searchedMsg struct {
	number int
	result *explore.Result
	took   time.Duration
	err    error
}

var errStopped = errors.New("it was stopped")

// Reopen prepares the search to be shown again, with all its findings. It reports
// whether it is the search of a strategy: another lock may have been chosen in it.
func (m *Search) Reopen(strategy int) bool {
	m.notice = ""
	return m.strategy == strategy
}

// New is the search of a strategy, a place in the library, within the usual bounds.
func New(app *screen.App, strategy int) *Search {
	m := &Search{App: app, strategy: strategy, bounds: explore.Defaults(app.Library.Strategies[strategy])}
	m.offer()
	return m
}

// offer lists the bounds that can be set, and checks that they make sense.
func (m *Search) offer() {
	b := &m.bounds
	number := func(name string, of *int, least, most int) setting {
		return setting{name, func() string { return strconv.Itoa(*of) }, func(by int) { *of = min(max(*of+by, least), most) }}
	}
	yes := func(name string, of *bool) setting {
		return setting{name, func() string { return draw.Either(*of, "yes", "no") }, func(int) { *of = !*of }}
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

// As many as a reader can wait for; the search itself reports its size.
const (
	mostClients = 4
	mostCycles  = 9
	mostFaults  = 9
)

func lookedFor(b *explore.Bounds) string {
	if len(b.Codes) == 0 {
		return "everything"
	}
	return b.Codes.String()
}

// lookFor goes round everything and each of the codes.
func lookFor(b *explore.Bounds, by int) {
	all, at := new(explore.Bounds).Sought(), 0
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
func (m *Search) changeStrategy(by int) {
	n := len(m.Library.Strategies)
	m.setStrategy((m.strategy + by + n) % n)
}

func (m *Search) setStrategy(to int) {
	was := m.bounds
	m.results, m.included, m.lacks = false, nil, nil // they are another lock's
	m.strategy, m.bounds = to, explore.Defaults(m.Library.Strategies[to])
	m.bounds.Clients, m.bounds.Faults, m.bounds.Codes = was.Clients, was.Faults, was.Codes
	m.bounds.Checks, m.bounds.Extend = was.Checks, was.Extend
}

// begin starts a search in the background. It tells of its progress through a
// channel that holds only the newest word, so that it never waits for the screen.
func (m *Search) begin() tea.Cmd {
	ctx, cancel := context.WithCancelCause(context.Background())
	m.number = m.Serial()
	m.cancel, m.running, m.stopping = cancel, true, false
	m.progress, m.result, m.failed, m.scroll, m.results, m.finding = progress{}, nil, nil, 0, false, 0
	m.asked = m.terms()
	number, bounds, run := m.number, m.bounds, m.Explore
	news, from := make(chan progress, 1), m.Now()
	search := func() (end tea.Msg) {
		defer cancel(nil)
		defer close(news)
		r, err := run(ctx, bounds, explore.Options{Memory: screen.SearchMemory, Trials: explore.Trials, Progress: func(p explore.Progress) {
			select {
			case news <- progress{number, p, m.Now().Sub(from)}:
			default:
			}
		}})
		return searchedMsg{number, r, m.Now().Sub(from), err}
	}
	return tea.Batch(search, listen(news))
}

// listen waits for the next word of a search; the screen asks again when it has it.
func listen(news <-chan progress) tea.Cmd {
	return func() tea.Msg {
		p, open := <-news
		if !open {
			return nil
		}
		return progressMsg{p, news}
	}
}

// progressMsg is a word of a search, and where the next comes from.
type progressMsg struct {
	progress
	news <-chan progress
}

// stop ends the search that is under way; its findings so far come all the same.
func (m *Search) stop() {
	if m.running {
		m.cancel(errStopped)
		m.stopping = true
	}
}

// Update takes a key, a click, or the result of something that was asked for.
func (m *Search) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case progressMsg:
		if msg.number != m.number {
			return nil, screen.Outcome{}
		}
		if m.running {
			m.progress = msg.progress
		}
		return listen(msg.news), screen.Outcome{}
	case searchedMsg:
		if msg.number == m.number {
			m.running, m.result, m.took, m.failed = false, msg.result, msg.took, msg.err
			m.results = msg.result != nil && len(msg.result.Violated) > 0
		}
	case screen.RefusedMsg:
		m.notice = msg.Err.Error()
	case picker.ExportedMsg:
		if msg.From == m {
			m.notice = msg.Text()
		}
	case screen.Click:
		m.notice = ""
		return m.clicked(msg)
	case tea.KeyMsg:
		m.notice = ""
		return m.typed(msg)
	}
	return nil, screen.Outcome{}
}

func (m *Search) typed(k tea.KeyMsg) (tea.Cmd, screen.Outcome) {
	switch {
	case key.Matches(k, m.Keys.Close):
		return nil, m.leave()
	case key.Matches(k, m.Keys.PageUp):
		m.scroll = max(m.scroll-screen.ScrollPage, 0)
	case key.Matches(k, m.Keys.PageDown):
		m.scroll += screen.ScrollPage
	case key.Matches(k, m.Keys.Pane):
		m.results = !m.results && m.result != nil && len(m.result.Violated) > 0
	case key.Matches(k, m.Keys.Up):
		m.move(-1)
	case key.Matches(k, m.Keys.Down):
		m.move(1)
	case m.running:
		m.notice = m.Keys.Close.Help().Key + " stops the search."
	case key.Matches(k, m.Keys.Strategy):
		return nil, screen.Outcome{Open: m.strategyPicker()}
	case key.Matches(k, m.Keys.Export):
		return nil, m.export()
	case key.Matches(k, m.Keys.Save):
		return m.save(), screen.Outcome{}
	case key.Matches(k, m.Keys.Sandbox):
		return nil, m.yourTurn()
	case m.results && key.Matches(k, m.Keys.Enter):
		return nil, m.openFinding()
	case key.Matches(k, m.Keys.Enter):
		if m.refused == nil {
			return m.begin(), screen.Outcome{}
		}
	case key.Matches(k, m.Keys.Back):
		m.change(-1)
	case key.Matches(k, m.Keys.Forward):
		m.change(1)
	}
	return nil, screen.Outcome{}
}

// leave stops the search first, and goes back only then: so that a stray esc loses
// no finding.
func (m *Search) leave() screen.Outcome {
	if m.running && !m.stopping {
		m.stop()
		return screen.Outcome{}
	}
	return screen.Outcome{Close: true}
}

// move goes up or down, in the column that the cursor is in.
func (m *Search) move(by int) {
	if !m.results {
		m.row = min(max(m.row+by, 0), len(m.settings)-1)
		return
	}
	m.finding = min(max(m.finding+by, 0), len(m.result.Violated)-1)
	m.seek()
}

// seek scrolls the finding at the cursor into sight: below the row that counts the lines above, and with its
// second line above the row that counts those below.
func (m *Search) seek() {
	if m.finding < len(m.places) {
		at := m.places[m.finding].Y
		m.scroll = max(min(m.scroll, at-1), at+3-m.plan.result.H, 0)
	}
}

func (m *Search) change(by int) {
	if m.results {
		m.results = false // back to the bounds
		return
	}
	m.settings[m.row].change(by)
	m.offer()
}

func (m *Search) clicked(c screen.Click) (tea.Cmd, screen.Outcome) {
	switch i := c.Y - m.plan.bounds.Y + m.plan.first; {
	case c.Wheel != 0:
		m.scroll = max(m.scroll+c.Wheel, 0)
	case c.In(m.plan.bounds) && i < len(m.settings):
		m.results, m.row = false, i
	case c.In(m.plan.result):
		for i, place := range m.places {
			if !place.Holds(c.X-m.plan.result.X, c.Y-m.plan.result.Y+m.scroll) {
				continue
			}
			if m.results && m.finding == i {
				return nil, m.openFinding()
			}
			m.results, m.finding = true, i
		}
	}
	return nil, screen.Outcome{}
}

func (m *Search) picked() *explore.Counterexample {
	if m.result == nil || m.finding >= len(m.result.Violated) {
		return nil
	}
	return m.result.Violated[m.finding]
}

// openFinding plays the least schedule that violates the code at the cursor.
func (m *Search) openFinding() screen.Outcome {
	v := m.picked()
	if v == nil {
		return screen.Outcome{}
	}
	at := m.Library.Strategy(v.Trace.Strategy)
	if at < 0 {
		return screen.Outcome{}
	}
	return screen.Outcome{To: screen.FindingMsg{Strategy: at, Trace: v.Trace, Sought: v.Code}}
}

// yourTurn has the reader look for the violation at the cursor, within these bounds.
func (m *Search) yourTurn() screen.Outcome {
	msg := screen.ChallengeMsg{Strategy: m.strategy, Bounds: m.bounds}
	if v := m.picked(); v != nil && m.results {
		msg.Found = &v.Code
	}
	return screen.Outcome{To: msg}
}

func (m *Search) export() screen.Outcome {
	v := m.picked()
	if v == nil {
		m.notice = "There is no counterexample to write."
		return screen.Outcome{}
	}
	return picker.Export(m.App, v.Trace, m)
}

// save writes the finding at the cursor as a scenario.
func (m *Search) save() tea.Cmd {
	v := m.picked()
	if v == nil {
		m.notice = "There is no counterexample to save."
		return nil
	}
	within := &m.result.Bounds
	return picker.SaveScenario(m, v.Trace, func(file string) ([]byte, error) { return scenarios.FromSearch(within, v, file) })
}

func (m *Search) strategyPicker() *picker.Picker {
	items := make([]picker.Item, len(m.Library.Strategies))
	for i, st := range m.Library.Strategies {
		items[i] = picker.Item{Name: st.Name, About: st.Summary, Badge: func() draw.Span { return draw.Text(strconv.Itoa(st.Nodes), draw.Dim) }}
	}
	return &picker.Picker{App: m.App, Title: "Search which lock?", Items: items, At: m.strategy, Current: m.strategy,
		About: "Beside each name stands on how many servers the lock is.", Choose: func(i int) (tea.Cmd, screen.Outcome) {
			m.setStrategy(i)
			m.offer()
			return nil, screen.Outcome{Close: true}
		}}
}

// FooterKeys are the keys that work here, the most useful first.
func (m *Search) FooterKeys() []key.Binding {
	k := &m.Keys
	switch {
	case m.stopping && m.running:
		return []key.Binding{screen.As(k.Close, "leave it"), k.Mouse, k.Help, k.Quit}
	case m.running:
		return []key.Binding{screen.As(k.Close, "stop"), k.Mouse, k.Help, k.Quit}
	case m.results:
		return slices.Concat([]key.Binding{screen.As(k.Enter, "play"), screen.Pair(k.Up, k.Down, "finding"), screen.As(k.Pane, "bounds")},
			m.scrolls(screen.As(k.PageDown, "more")), []key.Binding{k.Sandbox, k.Export, k.Save, k.Close, k.Mouse, k.Help, k.Quit})
	}
	first := []key.Binding{screen.As(k.Enter, "search"), screen.Pair(k.Up, k.Down, "which"), screen.Pair(k.Back, k.Forward, "how much"), screen.As(k.Strategy, "lock")}
	then := append([]key.Binding{k.Sandbox, k.Close}, m.scrolls(screen.Pair(k.PageUp, k.PageDown, "scroll"))...)
	if m.picked() != nil { // without a finding, there is none to go to or to write
		first, then = append(first, screen.As(k.Pane, "findings")), append(then, k.Export)
	}
	return slices.Concat(first, then, []key.Binding{k.Mouse, k.Help, k.Quit})
}

// scrolls is the key that scrolls the right pane, if that has more than its rows.
func (m *Search) scrolls(b key.Binding) []key.Binding {
	if m.overflows {
		return []key.Binding{b}
	}
	return nil
}

// Help explains the screen and its keys.
func (m *Search) Help() screen.Page {
	k, g := &m.Keys, &m.Theme.Glyphs
	return screen.Page{
		Title: "all schedules",
		About: "Every schedule within the bounds: any client that can act may act next, time may pass over those that could, and at most so many faults of each kind happen. " +
			"What holds within the bounds says nothing of the schedules beyond. A switch is a change from one client to another. " +
			"The least counterexample has the fewest faults, then the fewest switches, then the fewest steps. A search that is stopped has covered the shorter schedules.",
		Keys: append([]key.Binding{screen.As(k.Up, "above"), screen.As(k.Down, "below"), screen.As(k.Back, "less"), screen.As(k.Forward, "more"), screen.As(k.Strategy, "another lock"),
			screen.As(k.Enter, "search; play a finding"), screen.As(k.Pane, "bounds or findings"), screen.As(k.Sandbox, "find it yourself"), screen.As(k.Export, "write a finding"), k.Save, k.PageUp, k.PageDown,
			screen.As(k.Close, "stop; back")}, k.Mouse, k.Help, k.Quit, k.Suspend),
		Signs: append([]draw.Sign{{g.Bad, explore.Violated.String()}, {g.Granted, "holds: see for which schedules"}, {"?", explore.NotDecided.String()}}, screen.CodeSigns()...),
	}
}
