package explore

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/sim/explore/space"
	"lockstep/sim/trace"
)

// TestLeastBeside: the least schedules that were found before the end of the last round, in a model of their own, are those
// which the search's own model has. They count for just what was looked for then, and not if there was no room.
func TestLeastBeside(t *testing.T) {
	b := Defaults(strategy(t, "getset-equal"))
	m, err := space.NewModel(b, true)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // nothing is written
	found := trace.SetOf(trace.FR, trace.FN)
	conclusion := func(opt Options) (told []string) {
		s := &search{Model: m, opt: opt}
		s.found.Store(uint32(found))
		s.lookAhead(t.Context())
		defer s.giveUp()
		if got := s.least.wait(found | trace.SetOf(trace.DG)); got != nil {
			t.Error("what was found for some codes counts for others")
		}
		if got := s.least.wait(found); (got == nil) != (opt.Memory != 0) {
			t.Errorf("with %d bytes: found beside %t", opt.Memory, got != nil)
		}
		var r Result
		if err := conclude(t.Context(), m, &r, found, Options{}, s.least); err != nil {
			t.Fatal(err)
		}
		for _, v := range r.Violated {
			told = append(told, fmt.Sprint(v.Code, v.Schedule, v.Faults, v.Switches, v.Steps, v.Trace.Verdict()))
		}
		return told
	}
	beside, after := conclusion(Options{Workers: 2}), conclusion(Options{Workers: 2, Memory: 2})
	if len(beside) != 2 || !slices.Equal(beside, after) {
		t.Errorf("beside, and in the search's own model:\n%q\n%q", beside, after)
	}
}
