package process

import (
	"strings"
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

// TestWaitingForTheCollectorIsNoBlock: code that waits for a processor, or does a part of the
// collector's work, goes on by itself; code that waits for anything else may not.
func TestWaitingForTheCollectorIsNoBlock(t *testing.T) {
	for state, busy := range map[string]bool{
		"running": true, "runnable": true, "preempted": true, "GC assist wait": true, "GC assist marking": true,
		"chan receive": false, "sync.Mutex.Lock": false, "select": false, "IO wait": false, "sleep": false,
	} {
		if h := stuck([]byte("goroutine 7 ["+state+"]:\n"), state); h.Busy != busy {
			t.Errorf("[%s]: goes on by itself: %t, expected %t", state, h.Busy, busy)
		}
	}
}

// TestHangAdvice: who waits for a mutex is told what to do about that, and nobody else.
func TestHangAdvice(t *testing.T) {
	for what, mutex := range map[string]bool{"sync.(*Mutex).Lock": true, "sync.(*RWMutex).RLock": true, "sync.(*WaitGroup).Wait": false, "chan receive": false} {
		h := &Hang{Client: "A", What: what, After: time.Second}
		if strings.Contains(h.Error(), "mutex across a command") != mutex || !strings.Contains(h.Error(), "Options.Clock.Sleep") {
			t.Errorf("%s: %s", what, h.Error())
		}
	}
}
