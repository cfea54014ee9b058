package offers

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/space"
	"lockstep/sim/fault"
)

// Each fault of a search that is played as one of the engine's is offered: the second part of one in
// two parts once the first has been chosen.
func TestEveryFaultIsOffered(t *testing.T) {
	b := bounds.Bounds{TTL: 12 * time.Second}
	for k := range b.Faults {
		b.Faults[k] = 1
	}
	offered := map[string]bool{}
	for _, client := range []bool{true, false} {
		var made []sim.Move
		for range 2 {
			for _, o := range All(&b, client, 0, made) {
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
func offeredAs(k space.ChoiceKind, b *bounds.Bounds) []Offer { return offered(k, 0, b.ClockJump()) }

// The engine's faults count as the kinds of which a search makes them; the end of one, and one that no search makes, as none.
func TestKindOf(t *testing.T) {
	for kind, words := range map[bounds.FaultKind]string{bounds.Crash: "crash", bounds.Pause: "pause", bounds.ReplyLost: "drop lose-reply lose-held", bounds.HoldRequest: "hold delay", bounds.Duplicate: "duplicate",
		bounds.Restart: "down", bounds.ClientClock: "wall", bounds.ServerClock: "clock", bounds.Failover: "lag failover", bounds.Evict: "evict", bounds.NoFault: "resume up free heal rejoin unplug slow cut hang aftermath"} {
		for word := range strings.FieldsSeq(words) {
			at := slices.IndexFunc(fault.Kinds(), func(s fault.Spec) bool { return s.Word == word })
			spec := fault.Kinds()[at]
			f, _ := spec.Make(make([]string, len(spec.Params()))...) // its parameters say nothing
			if k, is := KindOf(f); is != (kind != bounds.NoFault) || is && k != kind {
				t.Errorf("%s counts as %d: %t", word, k, is)
			}
		}
	}
}
