package trials

import (
	"reflect"
	"strings"
	"testing"

	"lockstep/sim"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/fault"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// crashes is a setting in which clients crash and are paused, and nothing else goes wrong.
func crashes(of strategies.Strategy) bounds.Bounds {
	b := bounds.Defaults(of)
	b.Resource = 0
	return b
}

func codesOf(all []*Found) (v trace.Verdict) {
	for _, f := range all {
		v = append(v, f.Code)
	}
	return v
}

// Random schedules break what is broken: the schedule that is left violates the code in a run
// of its own, and has only faults of the kinds in the setting. What holds, they don't break.
func TestPlay(t *testing.T) {
	seeds := uint64(testenv.Count(1000, 27_000))
	for name, want := range map[string]trace.Code{"setnx": trace.PD, "get-then-del": trace.FR, "naive-del": trace.DG} {
		s, _ := strategies.Get(name)
		all, err := Play(t.Context(), crashes(s), 1, seeds)
		if err != nil {
			t.Fatal(err)
		}
		at := -1
		for i, f := range all {
			if f.Code == want {
				at = i
			}
			for _, m := range f.Shrunk.Moves {
				switch m.Fault.(type) {
				case nil, fault.Crash, fault.Free, fault.Drain:
				default:
					t.Errorf("%s: %s is no crash", name, m.Fault)
				}
			}
			if f.Count < 1 || f.Seed < 1 || f.Seed > seeds || f.Cost.Clients == 0 {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if at < 0 {
			t.Errorf("%s: %d schedules show %s and not %s", name, seeds, codesOf(all), want)
			continue
		}
		if got := replayed(t, s, all[at]); !strings.Contains(got.String(), want.String()) {
			t.Errorf("%s: the schedule for %s shows %s", name, want, got)
		}
	}
	right, _ := strategies.Get("setpx-lua")
	all, err := Play(t.Context(), crashes(right), 1, seeds)
	for _, f := range all {
		if f.Code != trace.OV && f.Code != trace.SW && f.Code != trace.FN {
			t.Errorf("setpx-lua shows %s by seed %d", f.Code, f.Seed)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// Codes that nobody asks for are not looked for.
func TestPlayForCodes(t *testing.T) {
	s, _ := strategies.Get("naive-del")
	set := crashes(s)
	set.Codes = trace.Verdict{trace.OV}
	all, err := Play(t.Context(), set, 1, 300)
	if got := codesOf(all); err != nil || len(got) != 1 || got[0] != trace.OV {
		t.Errorf("%s, %v", got, err)
	}
}

// replayed is the verdict of a run of a schedule from its text.
func replayed(t *testing.T, s strategies.Strategy, f *Found) trace.Verdict {
	t.Helper()
	plan, err := sim.ParseSchedule(f.Shrunk.String(), func(string) (strategies.Strategy, error) { return s, nil })
	if err != nil {
		t.Fatal(err)
	}
	w, err := sim.New(plan.Config)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // nothing is written
	if err := w.Reset(plan.Config, true); err != nil {
		t.Fatal(err)
	}
	if err := w.Play(plan.Moves, nil); err != nil {
		t.Fatal(err)
	}
	return w.Verdict()
}

// A range of seeds gives the same each time.
func TestPlayIsDeterministic(t *testing.T) {
	s, _ := strategies.Get("getset-equal")
	first, err := Play(t.Context(), crashes(s), 100, 160)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Play(t.Context(), crashes(s), 100, 160)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) == 0 {
		t.Error("they show nothing, and so prove little")
	}
	for i := range first {
		a, b := first[i], again[i]
		if a.Code != b.Code || a.Seed != b.Seed || a.Count != b.Count || a.Cost != b.Cost || a.Shrunk.String() != b.Shrunk.String() || !reflect.DeepEqual(a.Trace.Verdict(), b.Trace.Verdict()) {
			t.Errorf("%+v and then %+v", a, b)
		}
	}
}
