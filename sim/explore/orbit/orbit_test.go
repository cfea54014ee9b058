package orbit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"lockstep/sim/explore/naming"
)

// texts renames parts that are texts, in which digits are clients.
type texts struct {
	mu  sync.Mutex
	all []string
}

func (t *texts) id(text string) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := slices.Index(t.all, text); at >= 0 {
		return uint32(at) + 1
	}
	t.all = append(t.all, text)
	return uint32(len(t.all))
}

func (t *texts) Renamed(_ Kind, id uint32, r *naming.Renaming) (uint32, bool) {
	t.mu.Lock()
	text := []byte(t.all[id-1])
	t.mu.Unlock()
	for i, c := range text {
		if c >= '0' && c <= '9' {
			text[i] = '0' + byte(r.Client(int(c-'0')))
		}
	}
	return t.id(string(text)), true
}

// TestLeast: all states that differ in names alone have the same least one, which is one of them, and their number is the
// size. They are made here by exchanging two neighbours again and again.
func TestLeast(t *testing.T) {
	const seed = 3
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for clients := 1; clients <= naming.SeriesClients; clients++ {
		sizes := map[int]bool{}
		for range 300 {
			parts := &texts{}
			f := New(clients).Finder(parts, clients+3)
			text := func() string { return fmt.Sprintf("%c%d", 'a'+rng.IntN(2), rng.IntN(clients)) }
			var state []string
			for range clients {
				state = append(state, []string{"idle", text(), text()}[rng.IntN(3)])
			}
			for range 3 {
				state = append(state, []string{"empty", text(), text() + text()}[rng.IntN(3)])
			}
			orbit := map[string][]string{}
			var visit func(state []string)
			visit = func(state []string) {
				key := fmt.Sprintf("%q", state)
				if _, known := orbit[key]; known {
					return
				}
				orbit[key] = state
				for i := range clients - 1 {
					visit(exchanged(state, i, i+1))
				}
			}
			visit(state)
			var least []uint32
			for _, state := range orbit {
				var packed []uint32
				for _, text := range state {
					packed = append(packed, parts.id(text))
				}
				size := f.Least(packed)
				if sizes[size] = true; size != len(orbit) {
					t.Fatalf("%q has %d states in its orbit, and not %d", state, len(orbit), size)
				}
				if least = append(least, packed...); !slices.Equal(least[:f.width], packed) {
					t.Fatalf("%q has another least state than the rest of its orbit", state)
				}
			}
			var of []string
			for _, id := range least[:f.width] {
				of = append(of, parts.all[id-1])
			}
			if orbit[fmt.Sprintf("%q", of)] == nil {
				t.Fatalf("%q has the least state %q, which isn't of its orbit", state, of)
			}
		}
		if most := len(New(clients).Ways) + 1; !sizes[most] || clients > 1 && len(sizes) < 2 {
			t.Errorf("%d clients have orbits of sizes %v alone", clients, sizes)
		}
	}
}

// exchanged returns a state in which two clients have each other's names.
func exchanged(state []string, i, j int) (to []string) {
	for _, text := range state {
		renamed := []byte(text)
		for at, c := range renamed {
			switch c {
			case '0' + byte(i):
				renamed[at] = '0' + byte(j)
			case '0' + byte(j):
				renamed[at] = '0' + byte(i)
			}
		}
		to = append(to, string(renamed))
	}
	to[i], to[j] = to[j], to[i]
	return to
}

// TestIDs: each id is dealt once, also those that are added meanwhile.
func TestIDs(t *testing.T) {
	t.Parallel()
	var ids IDs
	var mu sync.Mutex
	most, dealt := 100, map[uint32]int{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			ids.Each(func() int { mu.Lock(); defer mu.Unlock(); return most }, func(id uint32) bool {
				mu.Lock()
				defer mu.Unlock()
				if dealt[id]++; id%2 == 0 {
					most++
				}
				return true
			})
		})
	}
	wg.Wait()
	for id := uint32(1); int(id) <= most; id++ {
		if dealt[id] != 1 {
			t.Errorf("id %d of %d was dealt %d times", id, most, dealt[id])
		}
	}
	if len(dealt) != most || most < 198 {
		t.Errorf("%d of %d ids were dealt", len(dealt), most)
	}
}
