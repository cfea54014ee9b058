package player

import (
	"testing"

	"github.com/muesli/termenv"

	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/tuitest"
)

func longRun(b *testing.B) (*tuitest.App, *Player) {
	th := draw.NewTheme(tuitest.RendererOf(termenv.TrueColor), false, false)
	a, p := openPlayer(b, 200, 60, th, func(string, string) (*trace.Trace, error) { return tuitest.Crowd(3, 5, 5000), nil })
	a.Press("G [")
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
		if p.Pos == p.Run.Last() {
			b.StopTimer()
			a.Press("[")
			b.StartTimer()
		}
		a.Press("right")
		_ = a.View()
	}
}

// A step back: the state is folded anew from the beginning.
func BenchmarkUndo(b *testing.B) {
	a, p := longRun(b)
	for b.Loop() {
		if p.Pos < 4000 {
			b.StopTimer()
			a.Press("G")
			b.StartTimer()
		}
		a.Press("left")
		_ = a.View()
	}
}
