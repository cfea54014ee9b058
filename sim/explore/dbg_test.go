package explore

import (
	"testing"

	"lockstep/sim"
	"lockstep/strategies"
)

func TestDbg(t *testing.T) {
	s, _ := strategies.Get("setpx-autoretry")
	b := Defaults(s)
	b.Faults = Budget{1, 3, 1, 1, 1, 1, 1, 1}
	m, _ := newModel(b)
	w, _ := sim.New(m.cfg)
	dbg = true
	compare(t, m, w, 3)
}
