package explore

import (
	"context"
	"testing"

	"lockstep/sim/trace"
)

func TestNamed(t *testing.T) {
	want := map[trace.Code]string{
		trace.SW: "a stale write", trace.DG: "a double grant", trace.OV: "overlapping critical sections",
		trace.FR: "a foreign release", trace.PD: "a permanent deadlock", trace.LV: "a livelock",
		trace.GAP: "broken continuity", trace.FN: "a false refusal", trace.BD: "bounded blocking",
	}
	for _, c := range trace.Codes {
		if got := Named(c); got != want[c] {
			t.Errorf("%s is %q, want %q", c, got, want[c])
		}
	}
}

// The title of what was found is English as well.
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
