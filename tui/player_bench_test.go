package tui

import (
	"testing"

	"github.com/muesli/termenv"

	"lockstep/sim"
)

func longRun(b *testing.B) (*tester, *player) {
	th := newTheme(rendererOf(termenv.TrueColor), false, false)
	a, p := openPlayer(b, 200, 60, th, func(string, string) (*sim.Trace, error) { return crowd(3, 5, 5000), nil })
	a.press("G [")
	b.ReportAllocs()
	return a, p
}

// A frame of a run of 5,000 events, near its end, in a window of 200 by 60.
func BenchmarkFrame(b *testing.B) {
	a, _ := longRun(b)
	for b.Loop() {
		_ = a.View()
	}
}

// A step forward, from the key to the frame.
func BenchmarkStep(b *testing.B) {
	a, p := longRun(b)
	for b.Loop() {
		if p.pos == p.reel.Last() {
			b.StopTimer()
			a.press("[")
			b.StartTimer()
		}
		a.press("right")
		_ = a.View()
	}
}

// A step back: the state is folded anew from the beginning.
func BenchmarkUndo(b *testing.B) {
	a, p := longRun(b)
	for b.Loop() {
		if p.pos < 4000 {
			b.StopTimer()
			a.press("G")
			b.StartTimer()
		}
		a.press("left")
		_ = a.View()
	}
}
