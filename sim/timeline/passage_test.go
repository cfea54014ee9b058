package timeline_test

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// A client's row says that its request is under way as long as it is held up: whether the client waits for the reply or the
// script lets it do nothing, which is a pause only besides, and all that is said where little has room; and not before, nor once it has arrived.
func TestHeldRequestsAreUnderWay(t *testing.T) {
	for timeout, want := range map[string]string{"30s": "[DEL under way under way]", "3s": "[DEL under way, paused for 7s DEL under way, paused 7s DEL under way paused for 7s paused 7s paused]"} {
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

// So is a request on a link that is slower than others, from where it is sent to where it arrives, be it after its client has given up
// and finished. On a link that is as fast as any again it is not.
func TestSlowRequestsAreUnderWay(t *testing.T) {
	tl := runOf(t, "setpx-lua", "title: Own\nsetup:\n  clients: [A, B]\nscript:\n  - slow: {client: A, nodes: all, request: 5s, reply: 1ms}\n  - run: A\n"+
		"  - slow: {client: A, nodes: all, request: 1ms, reply: 1ms}\n  - {run: B, within: 9s}\n")
	lane := timeline.Lane{Kind: timeline.Deeds}
	sent := slices.IndexFunc(tl.Events, func(e trace.Event) bool { return e.Kind == trace.KindSend })
	arrives := slices.IndexFunc(tl.Events, func(e trace.Event) bool { return e.Kind == trace.KindExecute && e.Ref == tl.Events[sent].Seq })
	done := slices.IndexFunc(tl.Events, func(e trace.Event) bool { return e.Kind == trace.KindDone })
	if done < sent || arrives < done {
		t.Fatalf("sent at %d, there at %d, A is done at %d", sent, arrives, done)
	}
	for pos := range tl.Last() {
		want := 0
		if pos > sent && pos <= arrives {
			want = tl.Events[sent].Seq
		}
		if b := tl.Bar(lane, pos); b.Sent != want {
			t.Errorf("position %d of %d to %d: %+v", pos, sent, arrives, b)
		}
		if other := tl.Bar(timeline.Lane{Kind: timeline.Deeds, Index: 1}, pos); other.Sent != 0 {
			t.Errorf("position %d: B's link is fast, and its request is under way", pos)
		}
	}
	if got := fmt.Sprint(tl.Texts(tl.Bar(lane, arrives), "")); got != "[SET under way under way]" {
		t.Errorf("it says %s", got)
	}
}
