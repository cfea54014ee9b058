package explore

import (
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/space"
)

// Each fault of a search that is played as one of the engine's is offered: the second part of one in
// two parts once the first has been chosen.
func TestEveryFaultIsOffered(t *testing.T) {
	b := Bounds{TTL: 12 * time.Second}
	for k := range b.Faults {
		b.Faults[k] = 1
	}
	offered := map[string]bool{}
	for _, client := range []bool{true, false} {
		var made []sim.Move
		for range 2 {
			for _, o := range Offers(&b, client, 0, made) {
				offered[o.Moves[0].Fault.String()] = true
				made = append(made, o.Moves...)
			}
		}
	}
	for k := range space.ChoiceKinds {
		items := offeredAs(k, &b)
		for _, o := range items {
			if f := o.Moves[0].Fault.String(); !offered[f] {
				t.Errorf("choice %d is played as %s, which no game offers", k, f)
			}
		}
	}
}

// offeredAs lists a kind's items, for client or node 0.
func offeredAs(k space.ChoiceKind, b *Bounds) []Offer { return offered(k, 0, b.ClockJump()) }
