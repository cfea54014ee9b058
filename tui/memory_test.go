package tui

import (
	"runtime"
	"strings"
	"testing"

	"lockstep/tui/progress"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// inUse is the heap in use, in megabytes.
func inUse() float64 {
	runtime.GC()
	runtime.GC() // what has finalizers goes the second time
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}

// A game that was left takes no memory: its guide, with some ten megabytes of states, goes.
func TestGamesThatWereLeftAreFreed(t *testing.T) {
	r := newRoot(screen.NewLibrary(), &progress.Store{}, Options{Seed: 1}, tuitest.PlainTheme(false))
	a := tuitest.NewTester(t, 120, 40, r)
	play := func() float64 {
		a.Press("3 " + strings.Repeat("i enter ", 3) + "esc")
		return inUse()
	}
	first := play()
	play()
	last := play()
	runtime.KeepAlive(r)
	if last > first+5 {
		t.Errorf("after a game there are %.1f MB in use, after three %.1f MB", first, last)
	}
}
