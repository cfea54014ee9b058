package screen

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/scenarios/advice"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
)

// Grid is the matrix of strategies and scenarios, as far as it is known. Its
// cells are computed in the background, a few at a time, those first that a
// screen wants to show; no cell is ever typed in.
//
// Invariants: Known is the number of cells whose Known is true; every cell is known, in
// the queue, or in one of the batches under way. One of a scenario that is replaced while it is under way is in the queue, too, as the
// outcome to come will be that of the old scenario.
type Grid struct {
	lib   *Library
	seed  uint64
	Cells []Cell // by scenario, then by strategy
	queue []int  // cells not in any batch yet
	busy  int    // batches under way
	Known int    // the number of cells computed

	basics []int // the scenarios that locks have to withstand whatever their use
}

// Cell is the outcome of a run.
type Cell struct {
	Known   bool          // it was made, and came to a verdict or an error
	Verdict trace.Verdict // empty if no property broke
	err     error
	struck  *Struck
}

// cellsMsg is a batch of findings, by cell, with the scenarios that were run for them.
type cellsMsg struct {
	cells     map[int]Cell
	scenarios []*scenarios.Scenario
}

// batch is the number of cells that are computed between two messages: few enough for the
// matrix to be seen filling in.
const batch = 8

// workers is the number of batches that are computed at a time. One processor is left to the
// interface, or keys would wait for the matrix.
func workers() int { return min(max(runtime.GOMAXPROCS(0)-1, 1), 8) }

func newGrid(lib *Library, seed uint64) *Grid {
	n := len(lib.Scenarios) * len(lib.Strategies)
	g := &Grid{lib: lib, seed: seed, Cells: make([]Cell, n)}
	for i := range n {
		g.queue = append(g.queue, i)
	}
	for _, name := range advice.Basics() {
		if at := lib.Named(name); at >= 0 {
			g.basics = append(g.basics, at)
		}
	}
	return g
}

// Basic reports whether a cell is under one of the scenarios that locks have to withstand whatever their use.
func (g *Grid) Basic(cell int) bool { return slices.Contains(g.basics, cell/len(g.lib.Strategies)) }

// Flaw is the first scenario that a lock has to withstand whatever its use, and does not, with the codes
// that count there; "" if there is none, or none is known yet. It reports, too, whether that is settled.
func (g *Grid) Flaw(strategy int) (scenario string, codes trace.Verdict, settled bool) {
	return advice.Flaw(g.lib.Strategies[strategy], func(scenario, _ string) (trace.Verdict, bool) {
		at := g.lib.Named(scenario)
		if at < 0 {
			return nil, true // a library without it can't tell
		}
		f := g.At(at, strategy)
		return f.Verdict, f.Known
	})
}

// Index is the place of a cell in Cells.
func (g *Grid) Index(scenario, strategy int) int { return scenario*len(g.lib.Strategies) + strategy }

// At is the cell of a scenario and a strategy, by their places in the library.
func (g *Grid) At(scenario, strategy int) *Cell { return &g.Cells[g.Index(scenario, strategy)] }

// WantRow has a scenario computed under all strategies before anything else.
func (g *Grid) WantRow(scenario int) tea.Cmd {
	return g.First(func(cell int) bool { return cell/len(g.lib.Strategies) == scenario })
}

// WantColumn has a strategy computed under all scenarios before anything else.
func (g *Grid) WantColumn(strategy int) tea.Cmd {
	return g.First(func(cell int) bool { return cell%len(g.lib.Strategies) == strategy })
}

// First has the wanted cells computed before the others, and then those that say of a lock whether it is
// broken anyway.
func (g *Grid) First(wanted func(cell int) bool) tea.Cmd {
	rank := func(cell int) int {
		switch {
		case wanted(cell):
			return 0
		case g.Basic(cell):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(g.queue, func(x, y int) int { return rank(x) - rank(y) })
	return g.Work()
}

// Work puts idle workers to work.
func (g *Grid) Work() tea.Cmd {
	var cmds []tea.Cmd
	for g.busy < workers() && len(g.queue) > 0 {
		n := min(batch, len(g.queue))
		cells := slices.Clone(g.queue[:n])
		g.queue = g.queue[n:]
		g.busy++
		lib, seed := *g.lib, g.seed // as it is now: a scenario may be replaced
		cmds = append(cmds, func() tea.Msg { return compute(&lib, seed, cells) })
	}
	return tea.Batch(cmds...)
}

// compute runs cells. It may run beside the interface: it touches nothing of the grid.
func compute(lib *Library, seed uint64, cells []int) cellsMsg {
	f := cellsMsg{cells: map[int]Cell{}, scenarios: lib.Scenarios}
	for _, cell := range cells {
		sc, st := cell/len(lib.Strategies), cell%len(lib.Strategies)
		t, err := lib.Run(lib.Scenarios[sc], lib.Strategies[st], seed)
		if err != nil {
			f.cells[cell] = Cell{Known: true, err: err}
			continue
		}
		f.cells[cell] = cellOf(t, lib.Strategies[st])
	}
	return f
}

func cellOf(t *trace.Trace, st strategies.Strategy) Cell {
	return Cell{Known: true, Verdict: t.Verdict(), struck: struckBy(t, st)}
}

// Spared says why the run of another lock under a scenario is no evidence that it withstands the faults of this one's: see [Struck.Spared].
func (g *Grid) Spared(scenario, strategy, other int) string {
	return g.At(scenario, strategy).struck.Spared(g.At(scenario, other).struck)
}

// Replace puts a new version in a scenario's place: nothing is known of its runs yet.
func (g *Grid) Replace(scenario int, sc *scenarios.Scenario) {
	g.lib.Scenarios = slices.Clone(g.lib.Scenarios) // goroutines read the old list
	g.lib.Scenarios[scenario] = sc
	for st := range g.lib.Strategies {
		i := g.Index(scenario, st)
		if g.Cells[i].Known {
			g.Known--
			g.Cells[i] = Cell{}
		}
		if !slices.Contains(g.queue, i) { // it was known, or is under way
			g.queue = append(g.queue, i)
		}
	}
}

// Learn takes in the outcome of a run that a screen has made: an outcome that the reader has seen is known.
func (g *Grid) Learn(scenario, strategy int, t *trace.Trace) {
	i := g.Index(scenario, strategy)
	if at := slices.Index(g.queue, i); at >= 0 { // else it is known, or under way
		g.queue = slices.Delete(g.queue, at, at+1)
		g.Cells[i] = cellOf(t, g.lib.Strategies[strategy])
		g.Known++
	}
}

// Update takes findings in, and goes on.
func (g *Grid) Update(msg tea.Msg) tea.Cmd {
	f, is := msg.(cellsMsg)
	if !is {
		return nil
	}
	for cell, finding := range f.cells {
		if sc := cell / len(g.lib.Strategies); f.scenarios[sc] == g.lib.Scenarios[sc] { // else it has been replaced, and the cell is in the queue
			g.Known++
			g.Cells[cell] = finding
		}
	}
	g.busy--
	return g.Work()
}

// Unexpected reports whether a run came out otherwise than its scenario states. Where
// that states nothing, nothing is unexpected.
func (g *Grid) Unexpected(scenario, strategy int) bool {
	f := g.At(scenario, strategy)
	if !f.Known || f.err != nil {
		return false
	}
	return !g.lib.Scenarios[scenario].Meets(g.lib.Strategies[strategy].Name, f.Verdict)
}

// Badge is a finding in at most five columns: a glyph and a word, so that no
// colour is needed to read it. The ok of a lock that is broken anyway is in brackets; until
// that is known, it is still to come.
func (g *Grid) Badge(scenario, strategy int, glyphs *draw.Glyphs) draw.Span {
	f := g.At(scenario, strategy)
	s := f.Badge(glyphs)
	if f.Known && f.err == nil && len(f.Verdict) == 0 {
		switch _, codes, settled := g.Flaw(strategy); {
		case codes != nil:
			s = draw.Text("(ok)", draw.Dim)
		case !settled:
			s = (&Cell{}).Badge(glyphs)
		}
	}
	if g.Unexpected(scenario, strategy) {
		s.Text += "?"
	}
	return s
}

// BadgeBeside is Badge, beside that of the lock at hand: an ok is marked that is no evidence that the lock withstands that one's faults.
func (g *Grid) BadgeBeside(scenario, strategy, other int, glyphs *draw.Glyphs) draw.Span {
	if f := g.At(scenario, other); f.Known && f.err == nil && len(f.Verdict) == 0 && g.Spared(scenario, strategy, other) != "" {
		return draw.Text(Untested()[0], draw.Dim)
	}
	return g.Badge(scenario, other, glyphs)
}

// Untested explains the badge of a run that broke nothing as nothing, or not as much, happened to the lock.
func Untested() draw.Sign { return draw.Sign{"-ok", "not put to the test"} }

// Badge is a cell in at most five columns.
func (f *Cell) Badge(g *draw.Glyphs) draw.Span {
	switch {
	case !f.Known:
		return draw.Text(g.Wants+g.Wants, draw.Dim)
	case f.err != nil:
		return draw.Text(notRun(g), draw.Breach)
	case len(f.Verdict) == 0:
		return draw.Text(g.Granted+"ok", draw.Good)
	case !f.Verdict[0].Failure():
		return draw.Text(g.Mild+f.Verdict.Worst(), draw.Plain)
	}
	return draw.Text(g.Bad+f.Verdict.Worst(), draw.Breach)
}

// Sign is the badge without its code, for where the words follow.
func (f *Cell) Sign(g *draw.Glyphs) draw.Span {
	s := f.Badge(g)
	_, rest, _ := draw.NextGlyph(s.Text)
	s.Text = s.Text[:len(s.Text)-len(rest)]
	return s
}

// Text is a finding's whole verdict, with the names of its codes.
func (f *Cell) Text() string {
	switch {
	case !f.Known:
		return "not run yet"
	case f.err != nil:
		return f.err.Error()
	case len(f.Verdict) == 0:
		return "no property broke"
	}
	var words []string
	for _, code := range f.Verdict {
		words = append(words, code.String()+" "+code.Name())
	}
	return strings.Join(words, ", ")
}

// Text is the outcome of a run in words. Of a run that broke nothing it says, too, whether that recommends the lock.
func (g *Grid) Text(scenario, strategy int) string {
	f := g.At(scenario, strategy)
	text := f.Text()
	if !f.Known || f.err != nil || len(f.Verdict) > 0 {
		return text
	}
	switch by, codes, settled := g.Flaw(strategy); {
	case codes != nil:
		return fmt.Sprintf("%s here, but it is a bad lock: under %s it shows %s", text, by, codes)
	case !settled:
		return text + " here; its other runs are still being made"
	}
	return text
}

// notRun is the badge of a run that can't be made.
func notRun(g *draw.Glyphs) string { return g.Fault + "err" }

// NotRun explains the badge of a run that can't be made.
func NotRun(g *draw.Glyphs) draw.Sign { return draw.Sign{notRun(g), "can't be run"} }

// BadgeLegendOf is BadgeLegend, or where one of the badges is that of a run that can't be made, or is no test, a legend that has that
// in the place of the badge of runs to come: these go away by themselves.
func BadgeLegendOf(g *draw.Glyphs, badges []string) draw.Line {
	l := BadgeLegend(g)
	if slices.ContainsFunc(badges, func(b string) bool { return strings.HasPrefix(b, notRun(g)) }) {
		return append(l[:len(l)-2], draw.Text(" "+notRun(g), draw.Plain), draw.Text(" no run ", draw.Dim))
	}
	if slices.Contains(badges, Untested()[0]) {
		l = append(l[:len(l)-2], draw.Text(" "+Untested()[0], draw.Plain), draw.Text(" no test ", draw.Dim))
	}
	return l
}

// BadgeLegend explains badges in a row of at most 79 columns. An ok says of one run that nothing broke in it, and
// recommends no lock: a lock that has one may break in another run. In brackets it is that of a lock that breaks where every lock has to hold.
func BadgeLegend(g *draw.Glyphs) (l draw.Line) {
	for _, s := range []draw.Sign{{g.Granted + "ok", "nothing broke"}, {"(ok)", "but a bad lock"}, {g.Mild + "BD", "a wait"}, {g.Bad + "DG", "broken"}, {g.Wants + g.Wants, "to come"}} {
		l = append(l, draw.Text(" "+s[0], draw.Plain), draw.Text(" "+s[1]+" ", draw.Dim))
	}
	return l
}
