package libraries

import (
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/bubble"
)

// A run of a library gives the same trace each time: goroutines, timers and random bytes leave
// nothing to chance.
func TestRunsAreTheSame(t *testing.T) {
	for _, e := range entries {
		lock := bubble.Strategy(t, e.library)
		lock.Name = e.name
		for i, s := range scenarios.All() {
			if i%5 != 0 {
				continue
			}
			once, err := s.Run(lock, seed)
			if err != nil {
				t.Fatal(err)
			}
			again, err := s.Run(lock, seed)
			if err != nil || once.Hash != again.Hash {
				t.Errorf("%s under %s gives another trace (%v)", e.name, s.Name, err)
			}
		}
	}
}
