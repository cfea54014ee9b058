package sim

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/sim/trace"
)

// text is a position in a few words.
func (at Position) text() string {
	words := []string{at.Phase.String(), fmt.Sprintf("cycle %d, %d sent", at.Cycle, at.Sent)}
	for word, is := range map[string]bool{"sending": at.Sending, "landed": at.Landed, "over": at.Over} {
		if is {
			words = append(words, word)
		}
	}
	if at.About != trace.KindNone {
		words = append(words, "about to "+at.About.String())
	}
	return strings.Join(words, ", ")
}

// TestPosition follows a client through its protocol, step by step, as scripts do to
// find their positions.
func TestPosition(t *testing.T) {
	for _, cold := range []bool{false, true} {
		cfg := config(t, "setpx-lua", "A")
		cfg.Cold = cold
		w := newWorld(t, cfg)
		want := []string{
			"idle, cycle 0, 0 sent",
			"idle, cycle 0, 0 sent, about to acquire",
			"acquire, cycle 1, 0 sent", // about to read its clock
			"acquire, cycle 1, 0 sent, sending",
			"acquire, cycle 1, 1 sent",
			"acquire, cycle 1, 1 sent, landed",
			"hold, cycle 1, 0 sent, about to enter",
			"work, cycle 1, 0 sent, sending",
			"work, cycle 1, 1 sent", // asleep
			"work, cycle 1, 1 sent, sending",
			"work, cycle 1, 2 sent, about to leave",
			"hold, cycle 1, 0 sent, about to release",
			"release, cycle 1, 0 sent, sending",
			"release, cycle 1, 1 sent",
		}
		if cold { // the server doesn't know the script: that is no command of the protocol
			want = append(want, "release, cycle 1, 0 sent, sending", "release, cycle 1, 1 sent")
		}
		want = append(want, "release, cycle 1, 1 sent, landed", "idle, cycle 1, 0 sent, over")
		got := []string{w.Position(0).text()}
		for w.Step(SetOf(0)) {
			if now := w.Position(0).text(); now != got[len(got)-1] {
				got = append(got, now)
			}
		}
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("cold %v, position %d:\n%s\nexpected\n%s", cold, i+1, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}
