package pane

import (
	"strings"
	"testing"

	"lockstep/sim/timeline"
	"lockstep/tui/facts"
	"lockstep/tui/tuitest"
)

func TestCacheInTheStatePane(t *testing.T) {
	r := timeline.New(tuitest.CacheTrace())
	for pos, want := range []string{
		1: "cache empty|database version 1|rebuilds 0, needed 0",
		2: "resource: one rebuild more|cache empty|database version 1|rebuilds 1, needed 1",
		3: "resource: database version 1 -> version 2|cache empty|database version 2",
		4: "resource: one rebuild more, and not needed|rebuilds 2, needed 1",
		5: "resource: cache empty -> version 1|cache version 1 by A|database version 2",
		6: "resource: cache version 1 -> version 2|cache version 2 by B",
	} {
		if pos == 0 {
			continue
		}
		var text strings.Builder
		for _, l := range facts.Lines(r, pos, r.StateAt(pos-1), r.StateAt(pos)) {
			for _, s := range l {
				text.WriteString(s.Text)
			}
			text.WriteByte('\n')
		}
		for _, part := range strings.Split(want, "|") {
			if !strings.Contains(text.String(), part) {
				t.Errorf("position %d: no %q in\n%s", pos, part, text.String())
			}
		}
	}
}

// The resource's lines fit into a narrow pane, the highest token included.
func TestStoreFitsIntoTheStatePane(t *testing.T) {
	run := timeline.New(tuitest.RealRun(t, "fenced", "pause-past-ttl"))
	last := run.Last()
	fence := false
	for _, l := range facts.Lines(run, last, run.StateAt(last-1), run.StateAt(last)) {
		text := tuitest.LineText(l)
		fence = fence || strings.HasPrefix(text, "          highest fencing token ")
		if strings.HasPrefix(text, " resource ") && l.Width() > 36 {
			t.Errorf("%q is cut in a pane of 36 columns", text)
		}
	}
	if !fence {
		t.Error("no line has the highest token")
	}
}
