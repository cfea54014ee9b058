package explore

import (
	"context"
	"testing"

	"lockstep/sim/trace"
)

// The title of a counterexample's trace names the violation in words.
func TestTitleOfTheLeast(t *testing.T) {
	b := Defaults(strategy(t, "setpx-lua"))
	b.Cycles, b.Codes = 1, trace.Verdict{trace.OV}
	r, err := Run(context.Background(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := r.Find(trace.OV)
	if v == nil {
		t.Fatal("no OV was found")
	}
	if want := "The least schedule with overlapping critical sections"; v.Trace.Title != want {
		t.Errorf("the title is %q, want %q", v.Trace.Title, want)
	}
}
