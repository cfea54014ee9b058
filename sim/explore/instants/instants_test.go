package instants

import (
	"testing"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/readings"
)

// TestCrowdedSoon: of thresholds that are too many no more are added than show that. To add all took minutes.
func TestCrowdedSoon(t *testing.T) {
	var found behaviour.Thresholds
	for n := range int64(1000) {
		found.Stored = append(found.Stored, 3*n)
	}
	in := First(12_000, 3000, Jumps{})
	in.Took(&found)
	in.Lives(&found, []int32{200})
	if n := max(len(in.Later), len(in.Before), len(in.Left)); !in.Crowded() || n > 2*MaxInstants {
		t.Errorf("%d instants, crowded: %t", n, in.Crowded())
	}
}

// TestDraws: a search that has chosen fewer numbers begins again.
func TestDraws(t *testing.T) {
	few, many := First(12_000, 3000, Jumps{}), First(12_000, 3000, Jumps{})
	many.Draws([]readings.Draw{{Below: 10, Number: 3}, {Below: 10, Number: 3}})
	if !few.Within(many) || many.Within(few) || len(many.Drawn) != 1 {
		t.Errorf("%v", many.Drawn)
	}
}
