package libraries

import (
	"testing"

	"github.com/go-redsync/redsync/v4"

	"lockstep/scenarios"
	"lockstep/sim/bubble"
)

// A run of a library gives the same trace each time: goroutines, timers and random bytes leave
// nothing to chance.
func TestRunsAreTheSame(t *testing.T) {
	for i := range entries {
		e := &entries[i]
		if e.process != "" { // TestScenarios of sim/adapter does this for those
			continue
		}
		lock := e.strategy(t)
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

// redsync's WithFailFast returns when a majority has answered. Its runs are the same each time, and
// break what redsync breaks without it.
func TestFailFast(t *testing.T) {
	for _, s := range scenarios.All() {
		var hashes, verdicts []string
		for _, o := range [][]redsync.Option{nil, {redsync.WithFailFast(true)}, {redsync.WithFailFast(true)}} {
			lock := bubble.Strategy(t, bubble.Library{Nodes: 5, New: Redsync(o...), Extends: true})
			lock.Name = "redsync-5"
			run, err := s.Run(lock, seed)
			if err != nil {
				t.Fatal(err)
			}
			hashes, verdicts = append(hashes, run.Hash), append(verdicts, run.Verdict().String())
		}
		if hashes[1] != hashes[2] || verdicts[0] != verdicts[1] {
			t.Errorf("with WithFailFast under %s: hashes %s, and verdicts %s: see docs/libraries.md", s.Name, hashes[1:], verdicts[:2])
		}
	}
}
