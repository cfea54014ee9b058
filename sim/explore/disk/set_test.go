package disk

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/explore/intern"
	"lockstep/sim/testenv"
)

// noTables is for sets whose ids stand for nothing.
var noTables = Tables{Note: func() []byte { return nil }, Recall: func([]byte) error { return nil }}

// graph has up to a few successors for each state, some of which are states of the same and of
// earlier levels.
type graph struct {
	width  int
	size   uint64 // states, about
	spread uint32 // of the ids of a column
}

func (g graph) state(n uint64) []uint32 {
	s := make([]uint32, g.width)
	for i := range s {
		s[i] = uint32(n>>(i*7))%128*g.spread + uint32(i)
	}
	s[0] = uint32(n)
	return s
}

func (g graph) next(state []uint32) (states []uint32) {
	n := uint64(state[0])
	random := rand.New(rand.NewPCG(n, g.size))
	for range random.IntN(4) {
		states = append(states, g.state(random.Uint64N(g.size))...)
	}
	return append(states, g.state((n*3+1)%g.size)...)
}

// inMemory lists the states of each level, as texts, by a map.
func (g graph) inMemory() (levels []map[string]bool) {
	visited := map[string]bool{}
	level := [][]uint32{g.state(0)}
	for len(level) > 0 {
		is := map[string]bool{}
		var next [][]uint32
		for _, s := range level {
			if key := fmt.Sprint(s); !visited[key] {
				visited[key], is[key] = true, true
				for of := range slices.Chunk(g.next(s), g.width) {
					next = append(next, of)
				}
			}
		}
		if level = next; len(is) > 0 {
			levels = append(levels, is)
		}
	}
	return levels
}

// follow takes a set through a level, and returns its states.
func (g graph) follow(t *testing.T, s *Set) map[string]bool {
	t.Helper()
	is := map[string]bool{}
	var digests []uint64
	err := s.Batches(func(states []uint32) bool {
		for state := range slices.Chunk(states, g.width) {
			if is[fmt.Sprint(state)] {
				t.Fatalf("%v is followed twice", state)
			}
			is[fmt.Sprint(state)] = true
			digests = s.AddAll(g.next(state), digests)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// TestLevels: a set on disk has the levels that a map has, with little memory and with much,
// and also if another process goes on at the end of any level, or in the middle of one.
func TestLevels(t *testing.T) {
	for seed := range uint64(testenv.Count(4, 40)) {
		random := rand.New(rand.NewPCG(seed, 1))
		g := graph{width: 2 + random.IntN(9), size: 1 + random.Uint64N(6000), spread: 1 + random.Uint32N(1<<20)}
		limits := Limits{Memory: []int64{2000, 400_000, 0}[random.IntN(3)], Workers: 1 + random.IntN(3)}
		stop := []float64{0, 0.2, 0.5}[random.IntN(3)]
		t.Run(fmt.Sprintf("seed %d: %+v %+v %g", seed, g, limits, stop), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "search")
			d, s := start(t, path, g, limits)
			states := int64(0)
			for n, want := range g.inMemory() {
				if random.Float64() < stop {
					g.follow(t, s) // and the process ends before the level does
				}
				if random.Float64() < stop {
					if err := d.Close(); err != nil {
						t.Fatal(err)
					}
					d, s = goOn(t, path, g, limits)
				} else if got := g.follow(t, s); !maps.Equal(got, want) {
					t.Fatalf("level %d has %d states, and not %d", n, len(got), len(want))
				} else if _, err := s.Advance(n); err != nil {
					t.Fatal(err)
				} else {
					states += int64(len(want))
					continue
				}
				if got := g.follow(t, s); !maps.Equal(got, want) {
					t.Fatalf("level %d has %d states, and not %d, in another process", n, len(got), len(want))
				}
				if _, err := s.Advance(n); err != nil {
					t.Fatal(err)
				}
				states += int64(len(want))
			}
			if got, _, _ := s.Progress(); s.Frontier() != 0 || got != states {
				t.Errorf("%d states are left, of %d; want none of %d", s.Frontier(), got, states)
			}
			if err := d.Remove(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the directory is still there: %v", err)
			}
		})
	}
}

var claimed = []Claim{{"lock", "right"}, {"number of clients", "2"}}

func start(t *testing.T, path string, g graph, limits Limits) (*Dir, *Set) {
	t.Helper()
	d, err := Open(path, claimed)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Begin("round", 0, []byte("known"), noTables, g.state(0), limits)
	if err != nil {
		t.Fatal(err)
	}
	return d, s
}

func goOn(t *testing.T, path string, g graph, limits Limits) (*Dir, *Set) {
	t.Helper()
	d, err := Open(path, claimed)
	if err != nil {
		t.Fatal(err)
	}
	s, err := resume(d, g, limits)
	if err != nil {
		t.Fatal(err)
	}
	return d, s
}

func resume(d *Dir, g graph, limits Limits) (*Set, error) {
	return d.Resume(func(known []byte) (Tables, error) {
		if string(known) != "known" {
			return noTables, fmt.Errorf("%q is known", known)
		}
		return noTables, nil
	}, g.width, limits)
}

// TestDamage: what isn't as it was written is noticed wherever it is, and named.
func TestDamage(t *testing.T) {
	g := graph{width: 4, size: 3000, spread: 3}
	limits := Limits{Memory: 2000, Workers: 1}
	begun := func(t *testing.T) string {
		path := filepath.Join(t.TempDir(), "search")
		d, s := start(t, path, g, limits)
		for n := range 6 {
			g.follow(t, s)
			if _, err := s.Advance(n); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	change := func(t *testing.T, file string, with func([]byte) []byte) {
		data, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, with(data), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	damages := map[string]func([]byte) []byte{
		"its last bytes are missing": func(b []byte) []byte { return b[:len(b)-3] },
		"a bit in its first block":   func(b []byte) []byte { b[len(b)/4] ^= 4; return b },
		"a bit near its end":         func(b []byte) []byte { b[len(b)-30] ^= 1; return b },
		"it is empty":                func([]byte) []byte { return nil },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			path := begun(t)
			files, err := filepath.Glob(filepath.Join(path, "*"+runSuffix))
			if err != nil || len(files) < 2 {
				t.Fatal(files, err)
			}
			for _, file := range append(files, filepath.Join(path, tablesName)) {
				whole, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if filepath.Base(file) == tablesName && len(whole) < 31 {
					t.Fatal("there is nothing to damage")
				}
				change(t, file, damage)
				d, err := Open(path, claimed)
				if err != nil {
					t.Fatal(err)
				}
				s, err := resume(d, g, limits)
				if err == nil {
					if err = s.Batches(func(states []uint32) bool { s.AddAll(states, nil); return true }); err == nil {
						_, err = s.advanceOnly()
					}
				}
				if err == nil || !strings.Contains(err.Error(), filepath.Base(file)+" is damaged") {
					t.Errorf("%s: %v", filepath.Base(file), err)
				}
				if err := d.Close(); err != nil {
					t.Fatal(err)
				}
				change(t, file, func([]byte) []byte { return whole })
			}
			goOn(t, path, g, limits)
		})
	}
}

// advanceOnly reads all that the end of a level does, and leaves the manifest as it is.
func (s *Set) advanceOnly() (*run, error) {
	return s.write(s.spilled, append(slices.Clone(s.runs), s.frontier))
}

// TestTornTables: what a process has written after the end of its last level doesn't count.
func TestTornTables(t *testing.T) {
	g := graph{width: 3, size: 500, spread: 1}
	path := filepath.Join(t.TempDir(), "search")
	texts := intern.NewTable[string]()
	tables := Tables{Kept: []intern.Kept{texts.Kept(nil)}, Note: func() []byte { return []byte("note") }}
	d, err := Open(path, claimed)
	if err != nil {
		t.Fatal(err)
	}
	texts.ID("first")
	s, err := d.Begin(nil, nil, nil, tables, g.state(0), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	texts.ID("second")
	if _, err := s.Advance(nil); err != nil {
		t.Fatal(err)
	}
	for _, torn := range []string{"\x05", "a block's head and a piece of what comes then"} {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(filepath.Join(path, tablesName), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(torn); err != nil || f.Close() != nil {
			t.Fatal(err)
		}
		if d, err = Open(path, claimed); err != nil {
			t.Fatal(err)
		}
		again, note := intern.NewTable[string](), ""
		again.ID("first") // as it makes for itself
		_, err = d.Resume(func([]byte) (Tables, error) {
			return Tables{Kept: []intern.Kept{again.Kept(nil)}, Recall: func(n []byte) error { note = string(n); return nil }}, nil
		}, g.width, Limits{})
		if err != nil || again.Len() != 2 || *again.Value(2) != "second" || note != "note" {
			t.Fatal(err, again.Len(), note)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if d, err = Open(path, claimed); err != nil {
		t.Fatal(err)
	}
	other := intern.NewTable[string]()
	other.ID("another")
	_, err = d.Resume(func([]byte) (Tables, error) { return Tables{Kept: []intern.Kept{other.Kept(nil)}}, nil }, g.width, Limits{})
	if err == nil || !strings.Contains(err.Error(), "the lock does otherwise") {
		t.Error(err)
	}
}

// TestClaims: a directory with another search is refused by the name of what differs, one with
// other files isn't touched, and one in which a process works is left to it.
func TestClaims(t *testing.T) {
	g := graph{width: 3, size: 500, spread: 1}
	path := filepath.Join(t.TempDir(), "search")
	d, _ := start(t, path, g, Limits{})
	if _, err := Open(path, claimed); err == nil || !strings.Contains(err.Error(), "another process searches there") {
		t.Errorf("while a process works there: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for want, claims := range map[string][]Claim{
		"with another lock: right, and not wrong":          {{"lock", "wrong"}, {"number of clients", "2"}},
		"with another number of clients: 2, and not 3":     {{"lock", "right"}, {"number of clients", "3"}},
		"that says nothing of the weather":                 {{"lock", "right"}, {"number of clients", "2"}, {"weather", "fine"}},
		"that says nothing of the number of other clients": {{"lock", "right"}, {"number of other clients", "2"}},
	} {
		if _, err := Open(path, claims); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	file := filepath.Join(path, manifestName)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string]string{
		"with another format: 0, and not 1": strings.Replace(string(data), `"Format": "1"`, `"Format": "0"`, 1),
		"is damaged":                        string(data[:len(data)/2]),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, claimed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(other, claimed); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
		t.Error(err)
	}
}
