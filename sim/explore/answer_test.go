package explore

import (
	"strings"
	"testing"
	"time"

	"lockstep/sim/trace"
)

// judged is of a search that has shown FR, and for which it remains to say what becomes of
// DG and GAP.
func judged(t *testing.T, change func(*Result)) *Result {
	t.Helper()
	b := Defaults(strategy(t, "redlock"))
	b.Codes = trace.Verdict{trace.DG, trace.FR, trace.GAP}
	r := &Result{Bounds: b, Complete: true, Vacuity: Vacuity{Reacquired: true, Extended: true}}
	change(r)
	return r
}

// TestAnswers: each reason makes its difference to the answer, and is said in the same breath.
func TestAnswers(t *testing.T) {
	found := func(r *Result) { r.Found = trace.Verdict{trace.FR} }
	cut := func(r *Result) { r.Complete, r.Why = false, "it was stopped" }
	for _, tt := range []struct {
		name    string
		change  func(*Result)
		want    []string // the answers, in order
		summary string
	}{
		{"complete", func(*Result) {}, []string{"DG holds within these bounds", "FR holds within these bounds", "GAP holds within these bounds"},
			"holds within these bounds"},
		{"closed", func(r *Result) { r.Closed = true }, []string{"DG holds for every schedule of 2 clients", "FR holds for every schedule of 2 clients", "GAP holds for every schedule of 2 clients"},
			"holds for every schedule of 2 clients"},
		{"closed, whatever the number of clients", func(r *Result) { r.Closed, r.Bounds.Others = true, true; r.Bounds.Codes = r.Bounds.Codes[:1] },
			[]string{"DG holds for every schedule of any number of clients"}, "holds for every schedule of any number of clients"},
		{"a situation that no schedule shows", func(r *Result) { r.Closed, r.Unconfirmed = true, trace.Verdict{trace.DG} },
			[]string{"DG not decided, because a situation shows it, and no schedule", "FR holds for every schedule", "GAP holds"}, "DG: not decided, because a situation shows it"},
		{"violated", found, []string{"FR violated", "DG holds within these bounds", "GAP holds within these bounds"}, "violated (FR); DG, GAP: holds within these bounds"},
		{"cut off", func(r *Result) { cut(r); found(r) },
			[]string{"FR violated", "DG not decided, because the search did not come to its end: it was stopped", "GAP not decided, because the search did not come to its end: it was stopped"},
			"violated (FR); DG, GAP: not decided, because the search did not come to its end: it was stopped"},
		{"closed, says the search, and was cut off", func(r *Result) { cut(r); r.Closed = true; r.Bounds.Codes = r.Bounds.Codes[:1] },
			[]string{"DG not decided, because the search did not come to its end: it was stopped"}, "not decided, because the search did not come to its end: it was stopped"},
		{"never extended", func(r *Result) { r.Vacuity.Extended = false },
			[]string{"GAP no lease was extended; apart from that, holds within these bounds", "DG holds within these bounds", "FR holds within these bounds"},
			"DG, FR: holds within these bounds; GAP: no lease was extended; apart from that, holds within these bounds"},
		{"can extend, and was never asked to", func(r *Result) {
			r.Vacuity.Extended = false
			r.Vacuity.Unextended = true
			r.Bounds.Codes = r.Bounds.Codes[:1]
		},
			[]string{"DG the lock's Extend was never called; apart from that, holds within these bounds"}, "the lock's Extend was never called; apart from that, holds within these bounds"},
		{"to be extended, and never", func(r *Result) {
			r.Vacuity.Extended = false
			r.Bounds.Extend = true
			r.Bounds.Codes = r.Bounds.Codes[:1]
		},
			[]string{"DG not decided, because no lease was ever extended, though"}, "not decided, because no lease was ever extended, though"},
		{"idle and cut off", func(r *Result) {
			cut(r)
			r.Undecided = "the lock was never acquired"
			r.Bounds.Codes = r.Bounds.Codes[:1]
		},
			[]string{"DG not decided, because the search did not come to its end: it was stopped, and because the lock was never acquired"},
			"not decided, because"},
		{"closed, and never asked to extend", func(r *Result) {
			r.Closed, r.Vacuity.Unextended = true, true
			r.Bounds.Codes = r.Bounds.Codes[:1]
		},
			[]string{"DG the lock's Extend was never called; apart from that, holds for every schedule of 2 clients"}, "the lock's Extend was never called"},
		{"probed", func(r *Result) { r.Probed, r.Bounds.Codes, r.Bounds.TTL = true, r.Bounds.Codes[:1], 12*time.Second },
			[]string{"DG holds within these bounds"}, "holds within these bounds; the code was tried with clocks and TTLs each 1s up to 24s, one at a time: what it does only between two of these, or only after two unusual ones, isn't covered"},
		{"probed, but not everywhere", func(r *Result) { r.Probed, r.Unprobed, r.Bounds.Codes = true, 1, r.Bounds.Codes[:1] },
			[]string{"DG holds within these bounds"}, "holds within these bounds; the code was tried with clocks and TTLs each 1s up to 24s, one at a time: what it does only between two of these, or only after two unusual ones, isn't covered, and at some places there was no time for that"},
		{"draws", func(r *Result) { r.Draws, r.Bounds.Codes = 1, r.Bounds.Codes[:1] },
			[]string{"DG holds within these bounds"}, "holds within these bounds; of the random numbers that it draws a few were tried in each range: what others lead to, such as a sleep of another length, isn't covered"},
		{"draws, and cut off", func(r *Result) { cut(r); r.Draws, r.Bounds.Codes = 1, r.Bounds.Codes[:1] },
			[]string{"DG not decided, because the search did not come to its end: it was stopped"}, "not decided, because the search did not come to its end: it was stopped"},
		{"probed, and cut off", func(r *Result) { cut(r); r.Probed, r.Bounds.Codes = true, r.Bounds.Codes[:1] },
			[]string{"DG not decided"}, "not decided, because the search did not come to its end: it was stopped"},
		{"a fault without occasion", func(r *Result) {
			r.Vacuity.Unused = []FaultKind{HoldRequest}
			r.Bounds.Codes = r.Bounds.Codes[:1]
		},
			[]string{"DG no schedule had a request held up, for want of an occasion; apart from that, holds within these bounds"}, "no schedule had a request held up"},
	} {
		r := judged(t, tt.change)
		all := r.Findings()
		if len(all) != len(tt.want) {
			t.Fatalf("%s: %v", tt.name, all)
		}
		for i, f := range all {
			if got := f.Code.String() + " " + f.String(); !strings.HasPrefix(got, tt.want[i]) {
				t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want[i])
			}
			if f.Answer.Holds() != r.Holds(f.Code) {
				t.Errorf("%s: Holds(%s) is %t", tt.name, f.Code, r.Holds(f.Code))
			}
		}
		if got := r.Summary(); !strings.HasPrefix(got, tt.summary) {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.summary)
		}
	}
}

// TestNotSought: a code that the search did not look for is not decided.
func TestNotSought(t *testing.T) {
	r := judged(t, func(*Result) {})
	if f := r.Finding(trace.OV); f.String() != "not decided, because it was not looked for" || r.Holds(trace.OV) {
		t.Errorf("OV: %s", f)
	}
}

// TestAnswersReadDifferently: no answer's wording is in that of another.
func TestAnswersReadDifferently(t *testing.T) {
	all := []Answer{NotDecided, HoldsWithin, HoldsAlways, Violated}
	for _, a := range all {
		for _, b := range all {
			if a != b && strings.Contains(b.String(), a.String()) {
				t.Errorf("%q is in %q", a, b)
			}
		}
	}
}
