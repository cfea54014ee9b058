package player

import (
	"strings"
	"testing"

	"lockstep/sim/trace"
	"lockstep/tui/tuitest"
)

// The end of a run says whether it is what the author of its script expects.
func TestEndSaysWhatWasExpected(t *testing.T) {
	for expected, want := range map[string]string{"DG": "✗ Not as expected: the file expects DG and no other code, and the verdict is SW OV.", "SW OV": "✓ As expected: SW OV.", "": ""} {
		a, _ := openPlayer(t, 80, 24, tuitest.PlainTheme(false), func(strategy, scenario string) (*trace.Trace, error) {
			tr, err := tuitest.Handmade(strategy, scenario)
			if err == nil {
				tr.Expected = expected
			}
			return tr, err
		})
		a.Press("G")
		if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, tuitest.Unwrapped(want)) || want == "" && strings.Contains(v, "xpected") {
			t.Errorf("there is no %q in\n%s", want, v)
		}
	}
}

// What the filter says when it is set agrees with the list, which has the event at the cursor in any
// case, and neither counts events that are to come.
func TestFilterAgreesWithItsList(t *testing.T) {
	a, p := openPlayer(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	a.Press("right right right v v & p r o b e enter")
	v := a.View()
	for _, want := range []string{`lists only events with "probe" in them, so far 0;`, `only with "probe": 0 of 3 events, and that at the cursor`} {
		if !strings.Contains(v, want) {
			t.Errorf("there is no %q in\n%s", want, v)
		}
	}
	a.Press("G")
	if v := a.View(); p.find.keeps(p.Pos) == strings.Contains(v, "and that at the cursor") {
		t.Errorf("the last event has the text:\n%s", v)
	}
}
