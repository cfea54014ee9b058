package docs_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// row is one scenario under every strategy.
type row struct {
	scenario *scenarios.Scenario
	cells    []cell
}

type cell struct {
	strategy strategies.Strategy
	trace    *trace.Trace
	because  string // as it is told of the lock of which the scenario states it
	like     string // the lock of which the scenario states that verdict, if that is another
}

// rowsOf are a scenario's row and those of its variants, in the order of teaching.
func rowsOf(name string) ([]row, error) {
	var rows []row
	for _, s := range scenarios.All() {
		if base, _, _ := strings.Cut(s.Name, "."); base != name {
			continue
		}
		r, err := ran(s)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("there is no scenario %q", name)
	}
	return rows, nil
}

var (
	ranMu sync.Mutex
	known = map[string]row{}
)

// ran runs a scenario under every strategy, once for all documents.
func ran(s *scenarios.Scenario) (row, error) {
	ranMu.Lock()
	defer ranMu.Unlock()
	if r, done := known[s.Name]; done {
		return r, nil
	}
	r := row{scenario: s}
	for _, st := range strategies.All() {
		trace, err := s.Run(st, 1)
		if err != nil {
			return r, err
		}
		like := s.ExpectsLike(st.Name)
		r.cells = append(r.cells, cell{st, trace, s.Because(cmp.Or(like, st.Name)), like})
	}
	known[s.Name] = r
	return r, nil
}

// outcome is how some strategies fare alike, for the same reason, with the same
// violation to begin with.
type outcome struct {
	verdict trace.Verdict
	because string
	first   string       // the first violation, in words
	stated  []string     // the strategies that the scenario names
	like    []string     // those that are like one of them
	trace   *trace.Trace // of the first of them
}

// outcomes groups a row's cells: what fell comes first, the worst of all ahead.
func (r *row) outcomes() []*outcome {
	var all []*outcome
	for _, c := range r.cells {
		o := &outcome{verdict: c.trace.Verdict(), because: c.because, trace: c.trace}
		if v := worst(c.trace); v != nil {
			o.first = v.Text
		}
		at := slices.IndexFunc(all, func(p *outcome) bool {
			return slices.Equal(o.verdict, p.verdict) && o.because == p.because && (o.because != "" || o.first == p.first)
		})
		if at < 0 {
			at, all = len(all), append(all, o)
		}
		all[at].add(c)
	}
	slices.SortStableFunc(all, func(a, b *outcome) int {
		if a.falls() != b.falls() {
			return map[bool]int{true: -1, false: 1}[a.falls()]
		}
		if len(a.verdict) == 0 || len(b.verdict) == 0 {
			return len(b.verdict) - len(a.verdict)
		}
		return slices.Compare(a.verdict, b.verdict)
	})
	return all
}

// add counts a cell in. The trace is that of a strategy which is named, if any is.
func (o *outcome) add(c cell) {
	if c.like != "" {
		o.like = append(o.like, c.strategy.Name)
		return
	}
	if len(o.stated) == 0 {
		o.trace = c.trace
	}
	o.stated = append(o.stated, c.strategy.Name)
}

// strategies are all of them, those that are named first.
func (o *outcome) strategies() []string { return slices.Concat(o.stated, o.like) }

// falls reports whether the verdict counts against the lock.
func (o *outcome) falls() bool { return slices.ContainsFunc(o.verdict, trace.Code.Failure) }

// worst is the violation to tell first: the earliest of the worst kind.
func worst(t *trace.Trace) *trace.Violation {
	for i := range t.Violations {
		if v := &t.Violations[i]; v.Code == t.Verdict()[0] {
			return v
		}
	}
	return nil
}

// reason is why, in the scenario's words or else in the monitor's.
func (o *outcome) reason() string {
	if o.because != "" {
		return o.because
	}
	return o.first
}

// cellText makes a text fit into a table.
func cellText(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}
