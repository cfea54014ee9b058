package space

import (
	"slices"
	"testing"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/instants"
	"lockstep/sim/explore/readings"
)

// TestSinceWhich: nobody knows since which reading a span runs that ends at a threshold. It is
// taken for one since each reading that it can be.
func TestSinceWhich(t *testing.T) {
	in := instants.Set{Far: 1_200_000}
	in.ReadsOn(behaviour.Reading{At: 19_000, Last: 14_000, Earlier: []int32{0, 2000, 14_000}})
	if want := []int32{4999, 5000, 16_999, 17_000, 18_999, 19_000}; !slices.Equal(in.Later, want) {
		t.Errorf("%v, not %v", in.Later, want)
	}
	const ttl = 12_000
	for _, age := range []int64{20_000, 28_000} { // since 0 and 1,200,000; nearer to a TTL are 6,000 and 14,000
		in := instants.Set{Far: 1_200_000, Guess: ttl + instants.OverStamp}
		date := in.Falls(&behaviour.Thresholds{Wall: []int64{age, 1_200_000 + age}, Read: []int64{0, 14_000, 1_200_000, 1_214_000}}, ttl)
		if date || !slices.Contains(in.Stamps, int32(age)) {
			t.Errorf("a stamp that falls due at the age of %d: %v, %t", age, in.Stamps, date)
		}
	}
}

// TestGuesses: as soon as it is known when a stamp falls due there is nothing to guess, and of two
// readings one just after the other only the first explains a threshold.
func TestGuesses(t *testing.T) {
	const ttl = 12_000
	in := instants.First(ttl, 3000, instants.Jumps{})
	if next := in.NextStamp([]int32{0}, 0); next != ttl+instants.OverStamp {
		t.Errorf("nothing is known, and the first instant is %d", next)
	}
	if left := in.Age([]int32{20_000, 20_000}, 1); len(left) != 1 {
		t.Errorf("nothing is known, and %v is left of two old readings", left)
	}
	in.Falls(&behaviour.Thresholds{Wall: []int64{13_000, 27_000, 1_213_000}, Read: []int64{0, 1, 14_000, 14_001, 1_200_000, 1_200_001}}, ttl)
	if want := []int32{12_999, 13_000}; !slices.Equal(in.Stamps, want) || in.Guess != 0 {
		t.Errorf("ages %v and the guess %d, not %v and none", in.Stamps, in.Guess, want)
	}
	if next := in.NextStamp([]int32{13_000}, 13_000); next != 0 || len(in.Age([]int32{0}, 13_000)) > 0 {
		t.Errorf("a stamp that is due falls due in %d", next)
	}
}

// TestSeconds: of code that counts in seconds, an age counts from the beginning of the second of the
// reading.
func TestSeconds(t *testing.T) {
	const ttl = 12_000
	in := instants.First(ttl, 3000, instants.Jumps{})
	in.Falls(&behaviour.Thresholds{Wall: []int64{14_000, 27_000}, Seconds: []int64{14_000}, Read: []int64{0, 13_999}}, ttl)
	if len(in.Stamps) > 0 || !slices.Equal(in.Seconds, []int32{14_000}) || in.Guess != 0 {
		t.Errorf("%v %v %d", in.Stamps, in.Seconds, in.Guess)
	}
	for _, tc := range []struct{ ago, now, next int64 }{{0, 0, 13_999}, {13_999, 13_999, 1}, {14_000, 14_000, 0}, {0, 13_999, 13_000}, {13_000, 26_999, 1}, {13_001, 27_000, 0}} {
		if next := in.NextStamp([]int32{int32(tc.ago)}, tc.now); int64(next) != tc.next {
			t.Errorf("a clock that was read %d ms before %d: the next instant is in %d, not in %d", tc.ago, tc.now, next, tc.next)
		}
	}
}

// TestJumps: a clock that was read may be ahead of the one that is read later, or behind, by as many
// jumps as there are. In whole seconds it also counts of which fraction of one it was.
func TestJumps(t *testing.T) {
	in := instants.First(12_000, 3000, instants.Jumps{By: 14_000, Most: 1})
	in.Falls(&behaviour.Thresholds{Ages: []int64{17_000}}, 12_000)
	next(t, in, 0, 2999, 3000, 16_999, 17_000, 30_999, 31_000)
	if len(in.Age([]int32{0}, 30_000)) != 1 || len(in.Age([]int32{0}, 31_000)) != 0 {
		t.Error("a reading matters until it is as old as that")
	}
	in = instants.First(900, 3000, instants.Jumps{By: 2900, Most: 1})
	in.Falls(&behaviour.Thresholds{Seconds: []int64{5000}}, 900)
	next(t, in, 50, 1999, 2000, 2099, 2100, 4099, 4100, 4899, 4900, 4999, 5000, 6999, 7000, 7899, 7900)
}

// next checks at which times a clock comes to instants that was read at one.
func next(t *testing.T, in *instants.Set, at int32, want ...int32) {
	t.Helper()
	var got []int32
	for now := at; ; {
		by := in.NextStamp([]int32{now - at}, int64(now))
		if by == 0 {
			break
		}
		now += by
		got = append(got, now)
	}
	if !slices.Equal(got, want) {
		t.Errorf("read at %d, it comes to %v, not %v", at, got, want)
	}
}

// TestTwice: a threshold at twice an age isn't explained by it if it is known that nobody who wrote
// what the code has seen had read a clock then.
func TestTwice(t *testing.T) {
	all := behaviour.Thresholds{Wall: []int64{3000, 9000}, Read: []int64{0, 3000, 6000}}
	for _, told := range [][]behaviour.Told{nil, {{At: 3000, Since: []int64{0}}, {At: 9000, Since: []int64{3000}}}} {
		in := instants.First(12_000, 3000, instants.Jumps{})
		all.Told = told
		in.Falls(&all, 12_000)
		if slices.Contains(in.Stamps, 6000) != (told != nil) {
			t.Errorf("%v: %v", told, in.Stamps)
		}
	}
}

// TestYoung: an age is a span that may be about to begin, for a stamp not to be due when a record has
// gone.
func TestYoung(t *testing.T) {
	in := instants.First(12_000, 3000, instants.Jumps{By: 14_000, Most: 1})
	in.Patience = 0
	in.Falls(&behaviour.Thresholds{Ages: []int64{5000}, Seconds: []int64{9000}}, 12_000)
	var left []int32
	for life := int32(12_001); life > 0; life -= in.ToNextLife(life) {
		left = append(left, life)
	}
	if want := []int32{12_001, 12_000, 8001, 8000, 5000, 4999, 1}; !slices.Equal(left, want) {
		t.Errorf("time stops before an expiry at %v, not %v", left, want)
	}
}

// TestTold: the unit of a number in a reply is known of two commands, and guessed of others.
func TestTold(t *testing.T) {
	for _, tc := range []struct {
		told behaviour.Thresholds
		want []int32
	}{
		{behaviour.Thresholds{Millis: []int64{2}}, []int32{2, 3}},
		{behaviour.Thresholds{Rounded: []int64{2}}, []int32{1500, 1501}},
		{behaviour.Thresholds{Replies: []int64{2}}, []int32{2, 3, 1500, 1501, 2000, 2001}},
	} {
		in := instants.First(12_000, 3000, instants.Jumps{})
		in.Lives(&tc.told, nil)
		if !slices.Equal(in.Left, tc.want) {
			t.Errorf("%+v: %v, not %v", tc.told, in.Left, tc.want)
		}
	}
}

// TestWithin: a round with more instants than were needed stands.
func TestWithin(t *testing.T) {
	all := instants.First(12_000, 3000, instants.Jumps{})
	few := *all
	few.Patience, few.Guess = 0, 0
	other := few
	other.Stamps = []int32{12_000}
	if !few.Within(all) || all.Within(&few) || other.Within(all) {
		t.Error(few.Within(all), all.Within(&few), other.Within(all))
	}
}

// TestCrowded: where the ages of stamps are too many together, be they counted in milliseconds or in
// seconds, thresholds are left unexplained, so nothing may be decided.
func TestCrowded(t *testing.T) {
	const ttl, due = 12_000, 100_000
	told := behaviour.Thresholds{Wall: []int64{due}, Read: []int64{0}}
	for i := range int64(11) {
		told.Ages = append(told.Ages, 1000+100*i) // each with the instant before it
	}
	for i := range int64(instants.MaxInstants - 21) {
		told.Seconds = append(told.Seconds, 1000+1000*i)
	}
	in := instants.First(ttl, 3000, instants.Jumps{})
	if date := in.Falls(&told, ttl); date || slices.Contains(in.Stamps, due) || !in.Crowded() {
		t.Errorf("%d ages and %d in seconds: %v, crowded %t", len(in.Stamps), len(in.Seconds), in.Stamps, in.Crowded())
	}
}

// TestCrowdedSoon: of thresholds that are too many no more are added than show that. To add all took minutes.
func TestCrowdedSoon(t *testing.T) {
	var found behaviour.Thresholds
	for n := range int64(1000) {
		found.Stored = append(found.Stored, 3*n)
	}
	in := instants.First(12_000, 3000, instants.Jumps{})
	in.Took(&found)
	in.Lives(&found, []int32{200})
	if n := max(len(in.Later), len(in.Before), len(in.Left)); !in.Crowded() || n > 2*instants.MaxInstants {
		t.Errorf("%d instants, crowded: %t", n, in.Crowded())
	}
}

// TestDraws: a search that has chosen fewer numbers begins again.
func TestDraws(t *testing.T) {
	few, many := instants.First(12_000, 3000, instants.Jumps{}), instants.First(12_000, 3000, instants.Jumps{})
	many.Draws([]readings.Draw{{Below: 10, Number: 3}, {Below: 10, Number: 3}})
	if !few.Within(many) || many.Within(few) || len(many.Drawn) != 1 {
		t.Errorf("%v", many.Drawn)
	}
}
