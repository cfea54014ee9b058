package instants

import (
	"slices"
	"testing"

	"lockstep/sim/explore/behaviour"
)

// TestSinceWhich: nobody knows since which reading a span runs that ends at a threshold. It is
// taken for one since each reading that it can be.
func TestSinceWhich(t *testing.T) {
	in := Set{Far: 1_200_000}
	in.ReadsOn(behaviour.Reading{At: 19_000, Last: 14_000, Earlier: []int32{0, 2000, 14_000}})
	if want := []int32{4999, 5000, 16_999, 17_000, 18_999, 19_000}; !slices.Equal(in.Later, want) {
		t.Errorf("%v, not %v", in.Later, want)
	}
	const ttl = 12_000
	for _, age := range []int64{20_000, 28_000} { // since 0 and 1,200,000; nearer to a TTL are 6,000 and 14,000
		in := Set{Far: 1_200_000, Stamps: []int32{ttl + OverStamp}}
		date := in.Falls(&behaviour.Thresholds{Wall: []int64{age, 1_200_000 + age}, Read: []int64{0, 14_000, 1_200_000, 1_214_000}}, ttl)
		if date || !slices.Contains(in.Stamps, int32(age)) {
			t.Errorf("a stamp that falls due at the age of %d: %v, %t", age, in.Stamps, date)
		}
	}
}
