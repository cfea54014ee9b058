package verify

import (
	"testing"

	"lockstep/sim/trace"
)

// A replay does what each event at a server says. Where nothing is to be done, that is said here.
func TestEveryEventAtAServerIsReplayed(t *testing.T) {
	for k := range trace.Kind(trace.Kinds) {
		if want := k.AtNode() && k != trace.KindUnreachable; acts(k) != want { // that is a command which no server got
			t.Errorf("%q is to be replayed: %t; a replay does something: %t", k, want, acts(k))
		}
	}
}
