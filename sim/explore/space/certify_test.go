package space

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/certificate"
	"lockstep/sim/monitor"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestWrongReductionIsRefuted: a search that takes steps for local though they aren't, or stops
// time at too few instants, closes on a set of situations that no check accepts.
func TestWrongReductionIsRefuted(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	for name, c := range map[string]struct {
		breaks func(m *Model)
		why    string
	}{
		"a grant is a client's own business": {func(m *Model) {
			m.habits.spares = func(kind trace.Kind) (monitor.Condition, bool) {
				if kind == trace.KindGranted {
					return 0, true
				}
				return monitor.Local(kind)
			}
		}, "the certificate doesn't have when A steps"},
		"a long span is taken for a longer one": {func(m *Model) { m.instants.Far = m.instants.Grid }, "the certificate doesn't have"},
		"nobody crashes": {func(m *Model) {
			m.listers[OfClient] = slices.DeleteFunc(m.listers[OfClient], func(l lister) bool { return l.kind == Crashes })
		}, "the certificate doesn't have when A crashes"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checked(t, c.breaks)
			var refuted *certificate.Refuted
			switch {
			case !errors.As(err, &refuted) || !strings.Contains(refuted.Why, c.why):
				t.Errorf("%v, expected that it is refuted because of %q", err, c.why)
			}
		})
	}
}

// checked walks through the situations of a lock by a model in which something is broken, and
// checks the certificate of them.
func checked(t *testing.T, breaks func(m *Model)) error {
	b := bounds.Defaults(setpxLua(t))
	b.Cycles, b.TTL, b.Codes = bounds.Any, 6*time.Second, trace.Verdict{trace.DG, trace.FR, trace.PD}
	b.Faults = Budget{bounds.Crash: bounds.Any, bounds.Pause: bounds.Any}
	m, err := NewModel(b, false)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // nothing is written
	m.StepByStep(false)
	m.instants.Digitize([]int32{m.timeout, m.ttl}, nil)
	m.Servers.ExpireEarly()
	if _, _, _, err := m.Certificate(); err != nil {
		t.Fatal(err)
	}
	m.Know(true)
	breaks(m)
	h, rows, needs, err := m.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d situations", len(rows))
	opt := certificate.Options{Resolve: func(string) (strategies.Strategy, error) { return b.Strategy, nil }}
	c, err := certificate.Make(context.Background(), h, rows, needs, opt)
	if err != nil {
		return err
	}
	_, err = certificate.Check(context.Background(), c, opt)
	return err
}
