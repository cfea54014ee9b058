package space

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/intern"
	"lockstep/sim/monitor"
	"lockstep/sim/trace"
)

// TestWrongLocalStepIsCaught: a step that is taken for local though it isn't is noticed by
// the random schedules of every search, which make each step on the whole state, too.
func TestWrongLocalStepIsCaught(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string][]trace.Kind{
		"nothing": nil,
		"a grant, which the servers are asked of": {trace.KindGranted},
		"to enter, with another inside":           {trace.KindEnter},
		"to write, with another that has read":    {trace.KindWrite},
		"to be refused, with a record stored":     {trace.KindRefused, trace.KindFailed},
	} {
		t.Run(name, func(t *testing.T) {
			b := bounds.Defaults(setpxLua(t))
			b.Faults = Budget{bounds.Pause: 2, bounds.ReplyLost: 1}
			spares := func(kind trace.Kind) (monitor.Condition, bool) {
				for _, k := range wrong {
					if k == kind {
						return 0, true
					}
				}
				return monitor.Local(kind)
			}
			err := wrongStep(t, b, spares)
			if caught := err != nil && strings.Contains(err.Error(), "for its own business"); caught != (wrong != nil) {
				t.Errorf("caught %t: %v", caught, err)
			}
		})
	}
}

// wrongStep makes choices at random, in many schedules, until one is taken for local that isn't.
func wrongStep(t *testing.T, b Bounds, spares func(trace.Kind) (monitor.Condition, bool)) error {
	m, err := NewModel(b, false)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // nothing is written
	m.habits.spares = spares
	const seed = 7
	t.Logf("seed %d", seed)
	rng, x := rand.New(rand.NewPCG(seed, 7)), m.Explorer()
	x.Reduce = true
	for range 100 {
		x.Begin()
		for x.View(x.StateID()); len(x.Enabled()) > 0; x.View(x.StateID()) {
			choices := x.Enabled()
			if _, err := x.ChooseLocal(choices[rng.IntN(len(choices))]); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestLocalStepsReachNothingShared: the view of a client refers to behaviour, to lists and
// to settings, and not to an explorer or to anything that is part of a state but its client.
func TestLocalStepsReachNothingShared(t *testing.T) {
	for _, v := range []any{local{}, habits{}} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			switch f := typ.Field(i); f.Type {
			case reflect.TypeFor[*habits](), reflect.TypeFor[*behaviour.Clients](), reflect.TypeFor[*behaviour.Needs](), reflect.TypeFor[*client](), reflect.TypeFor[*intern.Lists[reply]](), reflect.TypeFor[error]():
			default:
				if k := f.Type.Kind(); k == reflect.Pointer || k == reflect.Struct || k == reflect.Map || k == reflect.Slice || k == reflect.Interface {
					t.Errorf("%s.%s is a %s, through which something shared could be reached", typ.Name(), f.Name, f.Type)
				}
			}
		}
	}
}

// TestPatience: where waits end at any time, so does that for a second reply to what was sent at a time that
// nobody remembers; and the probe's is exact.
func TestPatience(t *testing.T) {
	h := &habits{early: true, timeout: 3000}
	l, probe := local{habits: h, c: &client{}}, local{habits: h, c: &client{}, exact: true}
	l.c.sent[0], probe.c.sent[0] = dropped, 1000
	if of, exact := l.patience(0, new(behaviour.Operation)), probe.patience(0, new(behaviour.Operation)); of != anyTime || exact != 2000 || l.err != nil {
		t.Errorf("%d and %d, %v", of, exact, l.err)
	}
}
