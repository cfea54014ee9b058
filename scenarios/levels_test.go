package scenarios

import (
	"context"
	"slices"
	"testing"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
)

// TestLevels: each level can be won, and not by what breaks the lock that withstands: no
// schedule within the same bounds shows the goal there.
func TestLevels(t *testing.T) {
	testenv.LongRaced(t)
	lessons := Course()
	at, names := 0, map[string]bool{}
	for i, l := range Levels() {
		t.Run(l.Name(), func(t *testing.T) {
			if names[l.Name()] {
				t.Error("two levels have this name")
			}
			names[l.Name()] = true
			lesson := slices.IndexFunc(lessons, func(c Lesson) bool { return c.Name == l.Lesson })
			if lesson < at {
				t.Errorf("lesson %q is out of the course's order", l.Lesson)
			}
			if at = lesson; !testenv.Sampled(i, 2) {
				return // TestLevelsAreWonByTheirHints wins some
			}
			for _, c := range []struct {
				lock string
				want bool
			}{{l.Strategy, true}, {l.Withstands, false}} {
				if got := reachable(t, &l, c.lock); got != c.want {
					t.Errorf("%s with %s: %v", l.Goal, c.lock, got)
				}
			}
		})
	}
}

func reachable(t *testing.T, l *Level, lock string) bool {
	t.Helper()
	s, err := FindStrategy(lock)
	if err != nil {
		t.Fatal(err)
	}
	g, err := explore.NewGuide(l.Bounds(s), l.Goal)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close() //nolint:errcheck // nothing is written
	h, err := g.From(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return h.Reachable
}
