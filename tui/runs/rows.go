package runs

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// group is a lesson with the scenarios that belong to it.
type group struct {
	title  string
	taught []int // the scenarios of its steps
	more   []int // those that the course leaves out: they vary the one before them
}

// line is a row of the matrix: the title of a group, a scenario, or the place of those that are folded.
type line struct {
	kind     lineKind
	group    int
	scenario int // of a scenario's line
}

type lineKind uint8

const (
	titleLine lineKind = iota
	scenarioLine
	foldLine
)

// groupsOf puts every scenario into the first lesson that has it, or into that of the scenario before
// it. Those before the first one of a lesson are the user's own.
func groupsOf(lib *screen.Library) (groups []group) {
	lesson := map[string]int{}
	for i := len(lib.Lessons) - 1; i >= 0; i-- {
		for _, step := range lib.Lessons[i].Steps {
			lesson[step.Scenario] = i
		}
	}
	own := group{title: "Not in the course"}
	lessons := make([]group, len(lib.Lessons))
	at := &own
	for i, s := range lib.Scenarios {
		if l, taught := lesson[s.Name]; taught {
			at = &lessons[l]
			at.taught = append(at.taught, i)
			continue
		}
		if at == &own {
			at.taught = append(at.taught, i)
			continue
		}
		at.more = append(at.more, i)
	}
	if len(own.taught) > 0 {
		groups = append(groups, own)
	}
	for i, g := range lessons {
		if len(g.taught) > 0 {
			g.title = fmt.Sprintf("%d %s", i+1, lib.Lessons[i].Title)
			groups = append(groups, g)
		}
	}
	return groups
}

// locksOf orders the locks by the first lesson that has them, and those of no lesson behind.
func locksOf(lib *screen.Library) []int {
	lesson := map[string]int{}
	for i := len(lib.Lessons) - 1; i >= 0; i-- {
		for _, step := range lib.Lessons[i].Steps {
			lesson[step.Strategy] = i
		}
	}
	place := func(i int) int {
		if l, taught := lesson[lib.Strategies[i].Name]; taught {
			return l
		}
		return len(lib.Lessons)
	}
	locks := make([]int, len(lib.Strategies))
	for i := range locks {
		locks[i] = i
	}
	slices.SortStableFunc(locks, func(x, y int) int { return place(x) - place(y) })
	return locks
}

// arrange makes the lines and the columns for the filter and the folds as they are now. The cursor
// stays on its run if that is still there.
func (m *Runs) arrange(scenario, strategy int) {
	m.lines, m.locks = nil, nil
	k := m.filtered()
	for _, i := range m.order {
		if k.lock(m.Library.Strategies[i]) {
			m.locks = append(m.locks, i)
		}
	}
	for g := range m.groups {
		m.lines = append(m.lines, m.linesOf(g, &k)...)
	}
	m.column = max(slices.Index(m.locks, strategy), 0)
	m.at = slices.IndexFunc(m.lines, func(l line) bool { return l.kind == scenarioLine && l.scenario == scenario })
	if m.at < 0 {
		m.at = 0
		m.step(1, 0)
	}
}

// linesOf are the lines of a group: none if the filter leaves nothing of it, and no fold while
// there is a filter.
func (m *Runs) linesOf(g int, k *kept) (lines []line) {
	grp := &m.groups[g]
	all := grp.taught
	folded := m.filter == "" && !m.open[g] && len(grp.more) > 0
	if !folded {
		all = append(slices.Clone(all), grp.more...)
		slices.Sort(all)
	}
	for _, i := range all {
		if k.scenario(m.Library.Scenarios[i]) {
			lines = append(lines, line{scenarioLine, g, i})
		}
	}
	if folded {
		lines = append(lines, line{kind: foldLine, group: g})
	}
	if len(lines) > 0 {
		lines = slices.Insert(lines, 0, line{kind: titleLine, group: g})
	}
	return lines
}

// nothing reports whether the filter leaves no run.
func (m *Runs) nothing() bool { return len(m.lines) == 0 || len(m.locks) == 0 }

// count is the number of runs that the filter leaves.
func (m *Runs) count() (n int) {
	for _, l := range m.lines {
		if l.kind == scenarioLine {
			n += len(m.locks)
		}
	}
	return n
}

// kept is the selection of a filter: of scenarios and of locks, those with words in their names; of scenarios, also
// those with words in their titles or in Shows.
type kept struct{ scenarios, locks, shows []term }

// term is a word of a filter, and how names have it.
type term struct {
	word string
	in   func(name, word string) bool
}

// filtered reads the filter. A word is looked for in the names: as the whole name, then as a word of it, between
// hyphens, then as a part of one; each among the scenarios before the locks, and never in both. One that is in no
// name is looked for in the titles and in Shows of the scenarios.
func (m *Runs) filtered() (k kept) {
	for _, word := range strings.Fields(strings.ToLower(m.filter)) {
		k.take(m.Library, word)
	}
	return k
}

func (k *kept) take(lib *screen.Library, word string) {
	equal := func(name, word string) bool { return name == word }
	for _, as := range []struct{ found, in func(name, word string) bool }{{equal, hasWord}, {hasWord, hasWord}, {strings.Contains, strings.Contains}} {
		if slices.ContainsFunc(lib.Scenarios, func(s *scenarios.Scenario) bool { return as.found(s.Name, word) }) {
			k.scenarios = append(k.scenarios, term{word, as.in})
			return
		}
		if slices.ContainsFunc(lib.Strategies, func(s strategies.Strategy) bool { return as.found(s.Name, word) }) {
			k.locks = append(k.locks, term{word, as.in})
			return
		}
	}
	k.shows = append(k.shows, term{word, strings.Contains})
}

// hasWord reports whether a name has a word, or several in a row: words stand between hyphens and dots.
func hasWord(name, word string) bool {
	hyphens := strings.NewReplacer(".", "-")
	return strings.Contains("-"+hyphens.Replace(name)+"-", "-"+hyphens.Replace(word)+"-")
}

// scenario and lock report whether one is kept.
func (k *kept) scenario(s *scenarios.Scenario) bool {
	return have(s.Name, k.scenarios) && have(strings.ToLower(s.Title+" "+s.Shows), k.shows)
}

func (k *kept) lock(s strategies.Strategy) bool { return have(s.Name, k.locks) }

func have(text string, terms []term) bool {
	return !slices.ContainsFunc(terms, func(t term) bool { return !t.in(text, t.word) })
}

// String says where the words are.
func (k *kept) String() string {
	var parts []string
	for _, p := range []struct {
		what  string
		terms []term
	}{{"scenarios", k.scenarios}, {"locks", k.locks}, {"scenarios that tell of", k.shows}} {
		var words []string
		for _, t := range p.terms {
			words = append(words, t.word)
		}
		if words != nil {
			parts = append(parts, p.what+" "+trace.List(words))
		}
	}
	return strings.Join(parts, "; ")
}

// step moves the cursor over so many lines, and then on in the same direction over titles; where there
// is no further line it comes back.
func (m *Runs) step(by, n int) {
	if len(m.lines) == 0 {
		return
	}
	at := min(max(m.at+by*n, 0), len(m.lines)-1)
	for at > 0 && at < len(m.lines)-1 && m.lines[at].kind == titleLine {
		at += by
	}
	if m.lines[at].kind == titleLine {
		at++ // the first line of all is a title, and the last one never is
	}
	m.at = at
}

// selected is the run at the cursor. It is false on the line of a fold, and where nothing matches.
func (m *Runs) selected() (scenario, strategy int, is bool) {
	if m.at >= len(m.lines) || len(m.locks) == 0 || m.lines[m.at].kind != scenarioLine {
		return 0, m.lock(), false
	}
	return m.lines[m.at].scenario, m.lock(), true
}

// lock is the lock of the column at the cursor.
func (m *Runs) lock() int {
	if len(m.locks) == 0 {
		return m.order[0]
	}
	return m.locks[m.column]
}

// toFailure goes to the next scenario in which the lock of this column fails, and comes round to
// the first. Where there is no other it says so.
func (m *Runs) toFailure() {
	strategy := m.lock()
	var order []int // of the scenarios that the filter keeps, the folded ones as well
	k := m.filtered()
	for _, g := range m.groups {
		all := append(slices.Clone(g.taught), g.more...)
		slices.Sort(all)
		for _, i := range all {
			if k.scenario(m.Library.Scenarios[i]) {
				order = append(order, i)
			}
		}
	}
	here := -1
	if m.at < len(m.lines) {
		here = m.before(order)
	}
	scenario, _, _ := m.selected()
	for n := 1; n <= len(order); n++ {
		i := order[(here+n+len(order))%len(order)]
		if v := m.Grid.At(i, strategy).Verdict; len(v) > 0 && v[0].Failure() && i != scenario {
			m.show(i, strategy)
			return
		}
	}
	if len(m.locks) > 0 {
		m.notice = "No other failure of " + m.Library.Strategies[strategy].Name + draw.Either(m.filter != "", " within the filter.", " so far.")
	}
}

// before is the place in order of the scenario at the cursor, or of the last one above a fold.
func (m *Runs) before(order []int) int {
	for at := m.at; at >= 0; at-- {
		if m.lines[at].kind == scenarioLine {
			return slices.Index(order, m.lines[at].scenario)
		}
	}
	return -1
}

// show puts the cursor on a run, and unfolds its group if need be.
func (m *Runs) show(scenario, strategy int) {
	for g := range m.groups {
		if slices.Contains(m.groups[g].more, scenario) {
			m.open[g] = true
		}
	}
	m.arrange(scenario, strategy)
}
