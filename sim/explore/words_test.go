package explore

import (
	"context"
	"testing"

	"lockstep/sim"
)

func TestNamed(t *testing.T) {
	want := map[sim.Code]string{
		sim.SW: "a stale write", sim.DG: "a double grant", sim.OV: "overlapping critical sections",
		sim.FR: "a foreign release", sim.PD: "a permanent deadlock", sim.LV: "a livelock",
		sim.GAP: "broken continuity", sim.FN: "a false refusal", sim.BD: "bounded blocking",
	}
	for _, c := range sim.Codes {
		if got := Named(c); got != want[c] {
			t.Errorf("%s is %q, want %q", c, got, want[c])
		}
	}
}

// The title of what was found is English as well.
func TestTitleOfTheLeast(t *testing.T) {
	b := Defaults(strategy(t, "setpx-lua"))
	b.Cycles, b.Codes = 1, sim.Verdict{sim.OV}
	r, err := Run(context.Background(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := r.Find(sim.OV)
	if v == nil {
		t.Fatal("no OV was found")
	}
	if want := "The least schedule with overlapping critical sections"; v.Trace.Title != want {
		t.Errorf("the title is %q, want %q", v.Trace.Title, want)
	}
}
