package process

import (
	"testing"
	"time"
)

// TestPatienceIsForOnePiece: a client that goes on from operation to operation doesn't hang
// however long its run takes, nor does one whose host is at work. One that stays at the same
// piece of code does.
func TestPatienceIsForOnePiece(t *testing.T) {
	rt, w := NewRuntime(nil), NewWatch(time.Hour)
	c := rt.NewClient(3, "A", nil, 0)
	w.Add(rt)
	for range 3 * looks {
		rt.enter(c)
		if h := w.look(); h != nil {
			t.Fatal(h)
		}
	}
	rt.leave()
	for range 3 * looks {
		if h := w.look(); h != nil {
			t.Fatal(h)
		}
	}
	rt.enter(c)
	for n := 1; ; n++ {
		h := w.look()
		if h == nil && n <= 3*looks {
			continue
		}
		// The first look has nothing to compare with. Code that isn't waiting has twice
		// the patience.
		if h == nil || h.Client != "A" || !h.Busy || n != 1+2*looks || h.After != 2*time.Hour || !w.Over() {
			t.Fatalf("after %d looks: %v", n, h)
		}
		return
	}
}
