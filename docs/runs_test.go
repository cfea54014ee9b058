package docs

import (
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
	because  string
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
		r.cells = append(r.cells, cell{st, trace, s.Because(st.Name)})
	}
	known[s.Name] = r
	return r, nil
}

// fate is how some strategies fare alike, for the same reason, with the same
// violation to begin with.
type fate struct {
	verdict    trace.Verdict
	because    string
	first      string // what the first violation was, in words
	strategies []string
	trace      *trace.Trace // of the first of them
}

// fates groups a row's cells: what fell comes first, the worst of all ahead.
func (r *row) fates() []*fate {
	var all []*fate
	for _, c := range r.cells {
		f := &fate{verdict: c.trace.Verdict(), because: c.because, trace: c.trace}
		if v := worst(c.trace); v != nil {
			f.first = v.Text
		}
		at := slices.IndexFunc(all, func(g *fate) bool {
			return slices.Equal(f.verdict, g.verdict) && f.because == g.because && (f.because != "" || f.first == g.first)
		})
		if at < 0 {
			at, all = len(all), append(all, f)
		}
		all[at].strategies = append(all[at].strategies, c.strategy.Name)
	}
	slices.SortStableFunc(all, func(a, b *fate) int {
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

// falls reports whether the verdict counts against the lock.
func (f *fate) falls() bool { return slices.ContainsFunc(f.verdict, trace.Code.Failure) }

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
func (f *fate) reason() string {
	if f.because != "" {
		return f.because
	}
	return f.first
}

// cellText makes a text fit into a table.
func cellText(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}
