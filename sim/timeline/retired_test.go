package timeline

import (
	"slices"
	"testing"

	"lockstep/sim/trace"
)

// A server whose replica has taken over is out of service, from the last command that was on its way to it: whatever it
// keeps, no client asks it. Where a client stays with it, there are two masters, and it goes on.
func TestReplacedServerIsOutOfService(t *testing.T) {
	at := func(node int) func(*trace.Event) { return func(e *trace.Event) { e.Node = node } }
	for _, tt := range []struct {
		name    string
		more    func(r *run)
		retired []bool // from the failover on
	}{
		{"for good", func(r *run) { r.add(2*second, trace.KindSend, b, at(1)) }, []bool{true, true}},
		{"after what was under way", func(r *run) { r.add(2*second, trace.KindExecute, b, at(0)) }, []bool{false, true}},
		{"with two masters", func(r *run) { r.add(2*second, trace.KindSend, a, at(0)) }, []bool{false, false}},
		{"until it rejoins", func(r *run) { r.add(2*second, trace.KindSync, trace.None, at(0)) }, []bool{true, false}},
	} {
		r := newRun()
		r.Nodes = []string{"n1", "n1r1"}
		r.add(0, trace.KindExecute, a, stores("A1", 10*second))
		r.add(second, trace.KindFailover, trace.None, at(1))
		tt.more(r)
		tl := New(&r.Trace)
		var got []bool
		for pos := 2; pos <= tl.Last(); pos++ {
			bar := tl.Bar(Lane{Kind: Record}, pos)
			if bar.Kind != Retired && bar.Kind != Stored {
				t.Errorf("%s: position %d has %v", tt.name, pos, bar)
			}
			got = append(got, bar.Kind == Retired)
		}
		if !slices.Equal(got, tt.retired) {
			t.Errorf("%s: out of service at %v, want %v", tt.name, got, tt.retired)
		}
		if bar := tl.Bar(Lane{Kind: Record}, 1); bar.Kind != Stored {
			t.Errorf("%s: before the failover it has %v", tt.name, bar)
		}
		if tt.retired[0] {
			if got, want := tl.RecordTexts(tl.Bar(Lane{Kind: Record}, 1), 0, 1, 2), []string{"lock=A", "A"}; !slices.Equal(got, want) {
				t.Errorf("%s: the record says %q, want %q: nobody sees it expire", tt.name, got, want)
			}
			if got, want := tl.RetiredTexts(0, 2)[0], "out of service: clients now go to n1r1"; got != want {
				t.Errorf("%s: it says %q, want %q", tt.name, got, want)
			}
		}
	}
}
