package space

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/naming"
	"lockstep/strategies"
)

// TestCanonical: a state and its canonical form have the same successors, up to names. The
// states are those of random schedules, in which clients crash and requests are held up and
// arrive twice, and replies carry tokens of others.
func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"setpx-lua", "get-then-del", "setpx-watch", "setpx-autoretry"} {
		for clients := 2; clients <= 3; clients++ {
			s, _ := strategies.Get(name)
			b := bounds.Defaults(s)
			b.Clients, b.Cycles = clients, bounds.Any
			b.Faults = Budget{bounds.Crash: bounds.Any, bounds.Pause: bounds.Any, bounds.ReplyLost: bounds.Any, bounds.HoldRequest: 2, bounds.Duplicate: 2}
			t.Run(name, func(t *testing.T) { bisimilar(t, b) })
		}
	}
}

func bisimilar(t *testing.T, b Bounds) {
	m, err := NewModel(b, false)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // nothing is written
	x := m.Explorer()
	canonical := func(s []uint32) []uint32 {
		s = slices.Clone(s)
		x.canonical(s)
		return s
	}
	successors := func(s []uint32) (all [][]uint32, found Codes) {
		x.View(s)
		_, found = x.Follow(s)
		x.resolve()
		for to := range slices.Chunk(x.successors, x.Width) {
			all = append(all, slices.Clone(to))
		}
		x.successors = x.successors[:0]
		return all, found
	}
	forms := func(all [][]uint32) (list [][]uint32) {
		for _, s := range all {
			list = append(list, canonical(s))
		}
		slices.SortFunc(list, slices.Compare)
		return list
	}
	const seed = 5
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, uint64(b.Clients)))
	start := x.Begin()
	s, renamed := start, 0
	for step := range 4000 {
		form := canonical(s)
		if !slices.Equal(s, form) {
			renamed++
		}
		if exchanged := canonical(inReverse(x, s)); !slices.Equal(exchanged, form) {
			t.Fatalf("step %d: the form of state %v is %v, and with its clients' names exchanged %v", step, s, form, exchanged)
		}
		of, found := successors(s)
		formOf, formFound := successors(form)
		if x.Err != nil {
			t.Fatal(x.Err)
		}
		if found != formFound || !slices.EqualFunc(forms(of), forms(formOf), slices.Equal) {
			t.Fatalf("step %d: state %v has %d successors and %v, and its form %v has %d and %v", step, s, len(of), found, form, len(formOf), formFound)
		}
		if s = start; len(of) > 0 && step%100 > 0 {
			s = of[rng.IntN(len(of))]
		}
	}
	if renamed < 400 {
		t.Errorf("only %d states had other names", renamed)
	}
}

// inReverse returns a state under other names: the last client is the first.
func inReverse(x *Explorer, s []uint32) []uint32 {
	s = slices.Clone(s)
	order := naming.SameClients
	slices.Reverse(order[:x.Bounds.Clients])
	x.renameInOrder(s, order)
	return s
}
