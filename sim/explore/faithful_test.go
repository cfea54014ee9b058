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
			expectAgreement(t, b, 1000)
			if s.Nodes == 1 {
				b.Faults = Budget{Crash: 1, Pause: 3, ReplyLost: 1, Delay: 1, Duplicate: 1, Client: 1, Failover: 1}
				expectAgreement(t, b, 300)
			}
		})
	}
}

func expectAgreement(t *testing.T, b Bounds, schedules uint64) {
	t.Helper()
	m, err := newModel(b)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sim.New(m.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if raceDetector {
		schedules = 20
	}
	for seed := range schedules {
		if err := m.agree(w, seed); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), m.close()); err != nil {
		t.Error(err)
	}
}
