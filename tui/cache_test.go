package tui

import (
	"strings"
	"testing"

	"lockstep/sim/trace"
)

// A cache that A rebuilds, the database behind it that somebody changes meanwhile,
// and B, whose rebuild nobody needs.
func cacheReel() *reel {
	s := &script{Trace: trace.Trace{
		Strategy: "setpx-lua", Scenario: "stampede", Workload: trace.Cache,
		Clients: []string{"A", "B", "probe"}, Nodes: []string{"n1"}, Key: "lock", Need: 1, Masters: 1,
	}}
	s.add(trace.KindRead, 0, trace.None)
	s.add(trace.KindQuery, 0, trace.None, value(1, 0))
	s.add(trace.KindUpdate, trace.None, trace.None, value(2, 0))
	s.add(trace.KindQuery, 1, trace.None, value(2, 0))
	s.add(trace.KindWrite, 0, trace.None, value(1, 1))
	s.add(trace.KindWrite, 1, trace.None, value(2, 2))
	return newReel(&s.Trace)
}

func TestCacheInTheStatePane(t *testing.T) {
	r := cacheReel()
	for pos, want := range []string{
		1: "cache empty|database version 1|rebuilds 0, needed 0",
		2: "store: one rebuild more|cache empty|database version 1|rebuilds 1, needed 1",
		3: "store: database version 1 -> version 2|cache empty|database version 2",
		4: "store: one rebuild more, and not needed|rebuilds 2, needed 1",
		5: "store: cache empty -> version 1|cache version 1 by A|database version 2",
		6: "store: cache version 1 -> version 2|cache version 2 by B",
	} {
		if pos == 0 {
			continue
		}
		var text strings.Builder
		for _, l := range stateLines(r, pos, r.trace.StateAt(pos-1), r.trace.StateAt(pos)) {
			for _, s := range l {
				text.WriteString(s.text)
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

// The update is nobody's doing, and stands on the store's row.
func TestUpdateIsTheStores(t *testing.T) {
	r := cacheReel()
	if e := r.event(3); r.clientOf(e) != trace.None || r.trace.Actor(e) != "store" {
		t.Errorf("%s did it", r.trace.Actor(e))
	}
	for pos, glyph := range map[int]string{2: unicodeGlyphs.read, 3: unicodeGlyphs.fault, 4: unicodeGlyphs.read, 5: unicodeGlyphs.write} {
		if got, _, rank := r.mark(r.event(pos), &unicodeGlyphs); got != glyph || rank == 0 {
			t.Errorf("position %d is marked %q, not %q", pos, got, glyph)
		}
	}
}
