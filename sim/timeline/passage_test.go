package timeline_test

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// A client's row says that its request is under way as long as it is held up: whether the client waits for the reply or the
// script lets it do nothing, which is a pause only besides; and not before, nor once it has arrived.
func TestHeldRequestsAreUnderWay(t *testing.T) {
	for timeout, want := range map[string]string{"30s": "[DEL under way under way]", "3s": "[DEL under way, paused 7s DEL under way under way paused 7s paused]"} {
		tl := runOf(t, "naive-del", "title: Own\nsetup:\n  clients: {A: {work: 2s}, B: }\n  timeout: "+timeout+"\nscript:\n  - {run: A, to: before release last}\n  - hold: A\n"+
			"  - {run: A, for: 1ms}\n  - until: 12s\n  - {run: B, to: work}\n  - free: A\n  - run: all\n")
		sent := slices.IndexFunc(tl.Events, func(e trace.Event) bool { return e.HeldUp() })
		arrives := slices.IndexFunc(tl.Events, func(e trace.Event) bool { return e.Kind == trace.KindExecute && e.Ref == tl.Events[sent].Ref })
		if sent < 0 || arrives < sent {
			t.Fatalf("held up at %d, there at %d", sent, arrives)
		}
		for pos := range tl.Last() {
			b := tl.Bar(timeline.Lane{Kind: timeline.Deeds}, pos)
			if under := b.Sent != 0; under != (pos > sent && pos <= arrives) {
				t.Errorf("timeout %s, position %d of %d to %d: %+v", timeout, pos, sent, arrives, b)
			}
			if other := tl.Bar(timeline.Lane{Kind: timeline.Deeds, Index: 1}, pos); other.Sent != 0 {
				t.Errorf("position %d: B has sent it", pos)
			}
		}
		if got := fmt.Sprint(tl.Texts(tl.Bar(timeline.Lane{Kind: timeline.Deeds}, arrives), "7s")); got != want {
			t.Errorf("timeout %s: %s, want %s", timeout, got, want)
		}
	}
}
