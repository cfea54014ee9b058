package explore

import (
	"errors"
	"testing"

	"lockstep/sim"
	"lockstep/strategies"
)

// TestFaithful: what the search remembers is what the whole engine does. Random
// complete schedules, with faults of all kinds, are played in both, and after each
// choice they agree on what is violated and on what is so.
func TestFaithful(t *testing.T) {
	t.Parallel()
	for _, s := range strategies.All() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			b := Defaults(s)
			b.Faults = Budget{1, 3, 1, 1, 1, 1, 1, 1}
			if s.Nodes > 1 {
				expectAgreement(t, b, 1000)
			} else {
				expectAgreement(t, b, 700)
				b.Faults = Budget{Crash: 1, Pause: 3, ReplyLost: 1, Delay: 1, Duplicate: 1, Client: 1, Failover: 1}
				expectAgreement(t, b, 300)
			}
		})
	}
}

func expectAgreement(t *testing.T, b Bounds, schedules uint64) {
	t.Helper()
	if raceDetector {
		schedules = 20
	}
	err := with(b, func(m *model) error {
		w, err := sim.New(m.cfg)
		for seed := uint64(0); err == nil && seed < schedules; seed++ {
			err = m.agree(w, seed)
		}
		return errors.Join(err, w.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
}
