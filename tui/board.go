package tui

import (
	"runtime"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim"
)

// board is what is known so far of the matrix of strategies and scenarios. Its
// cells are computed in the background, a few at a time, those first that a
// screen wants to show; nothing in it is ever typed in.
type board struct {
	lib   *library
	seed  uint64
	cells []finding // by scenario, then by strategy
	queue []int     // cells that nobody computes yet
	busy  int       // batches under way
	known int
}

// finding is what a run came to.
type finding struct {
	known   bool
	verdict sim.Verdict
	err     error
}

// found is a batch of findings, by cell.
type found map[int]finding

// batch is how many cells are computed between two messages: few enough for the
// matrix to be seen filling in.
const batch = 8

// crews is how many batches are computed at a time. One processor is left to the
// interface, or keys would wait for the matrix.
func crews() int { return min(max(runtime.GOMAXPROCS(0)-1, 1), 8) }

func newBoard(lib *library, seed uint64) *board {
	n := len(lib.scenarios) * len(lib.strategies)
	b := &board{lib: lib, seed: seed, cells: make([]finding, n)}
	for i := range n {
		b.queue = append(b.queue, i)
	}
	return b
}

func (b *board) index(scenario, strategy int) int { return scenario*len(b.lib.strategies) + strategy }

func (b *board) at(scenario, strategy int) *finding { return &b.cells[b.index(scenario, strategy)] }

// wantRow has a scenario computed under all strategies before anything else,
// wantColumn a strategy under all scenarios.
func (b *board) wantRow(scenario int) tea.Cmd {
	return b.first(func(cell int) bool { return cell/len(b.lib.strategies) == scenario })
}

func (b *board) wantColumn(strategy int) tea.Cmd {
	return b.first(func(cell int) bool { return cell%len(b.lib.strategies) == strategy })
}

func (b *board) first(wanted func(cell int) bool) tea.Cmd {
	slices.SortStableFunc(b.queue, func(x, y int) int { return rank(wanted(x)) - rank(wanted(y)) })
	return b.work()
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// work puts idle crews to work.
func (b *board) work() tea.Cmd {
	var cmds []tea.Cmd
	for b.busy < crews() && len(b.queue) > 0 {
		n := min(batch, len(b.queue))
		cells := slices.Clone(b.queue[:n])
		b.queue = b.queue[n:]
		b.busy++
		lib, seed := b.lib, b.seed
		cmds = append(cmds, func() tea.Msg { return compute(lib, seed, cells) })
	}
	return tea.Batch(cmds...)
}

// compute runs cells. It may run beside the interface: it touches nothing of the board.
func compute(lib *library, seed uint64, cells []int) found {
	f := found{}
	for _, cell := range cells {
		sc, st := cell/len(lib.strategies), cell%len(lib.strategies)
		t, err := lib.run(lib.scenarios[sc], lib.strategies[st], seed)
		if err != nil {
			f[cell] = finding{known: true, err: err}
			continue
		}
		f[cell] = finding{known: true, verdict: t.Verdict()}
	}
	return f
}

// update takes findings in, and goes on.
func (b *board) update(msg tea.Msg) tea.Cmd {
	f, is := msg.(found)
	if !is {
		return nil
	}
	for cell, finding := range f {
		if !b.cells[cell].known {
			b.known++
		}
		b.cells[cell] = finding
	}
	b.busy--
	return b.work()
}

// unexpected reports whether a finding is not what its scenario states. Where
// that states nothing, nothing is unexpected.
func (b *board) unexpected(scenario, strategy int) bool {
	f := b.at(scenario, strategy)
	if !f.known || f.err != nil {
		return false
	}
	want, stated := b.lib.scenarios[scenario].Expect(b.lib.strategies[strategy].Name)
	return stated && !slices.Equal(want, f.verdict)
}

// badge is a finding in at most five columns: a glyph and a word, so that no
// colour is needed to read it.
func (b *board) badge(scenario, strategy int, g *glyphs) span {
	f := b.at(scenario, strategy)
	s := f.badge(g)
	if b.unexpected(scenario, strategy) {
		s.text += "?"
	}
	return s
}

func (f *finding) badge(g *glyphs) span {
	switch {
	case !f.known:
		return span{g.wants + g.wants, inkDim}
	case f.err != nil:
		return span{g.fault + "err", inkBreach}
	case len(f.verdict) == 0:
		return span{g.granted + "ok", inkGood}
	case !f.verdict[0].Failure():
		return span{g.mild + f.verdict.Worst(), inkPlain}
	}
	return span{g.bad + f.verdict.Worst(), inkBreach}
}

// sign is the badge without its code, for where the words follow.
func (f *finding) sign(g *glyphs) span {
	s := f.badge(g)
	_, rest, _ := nextGlyph(s.text)
	s.text = s.text[:len(s.text)-len(rest)]
	return s
}

// words is a finding's whole verdict, with the names of its codes.
func (f *finding) words() string {
	switch {
	case !f.known:
		return "not run yet"
	case f.err != nil:
		return f.err.Error()
	case len(f.verdict) == 0:
		return "no property broke"
	}
	var words []string
	for _, code := range f.verdict {
		words = append(words, code.String()+" "+code.Name())
	}
	return strings.Join(words, ", ")
}
