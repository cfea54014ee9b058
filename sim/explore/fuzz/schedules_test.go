package fuzz

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// status is what the search makes of a schedule that the engine shows to be wrong, within
// bounds that contain it.
type status string

const (
	finds   status = "finds it"
	misses  status = "says that the lock holds"      // a known miss: it has to be mended
	fails   status = "disagrees with the engine"     // likewise, with an internal error
	refuses status = "refuses the lock"              // by name, which is right
	beyond  status = "has no bounds that contain it" // the search lacks the fault, or the retries
	gaveUp  status = "gave up: too many states"
)

// example is a schedule of a lock that violates a code, with what the search makes of it today.
type example struct {
	lock  string
	code  trace.Code
	moves string // in the configuration of the bounds that contain it
	today status
	alter func(*setting)
}

// subjectOf finds a lock by its name.
func subjectOf(t *testing.T, name string) *subject {
	t.Helper()
	for _, s := range subjects() {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("there is no lock %s", name)
	return nil
}

// setting returns the configuration in which the example is played.
func (e *example) setting(of *subject) setting {
	s := setting{clients: maxClients, cycles: 3, ttl: 12 * time.Second, seed: 1, tries: max(1, of.tries), extend: of.extends,
		replica: strings.Contains(e.moves, "failover")}
	if of.ttl > 0 {
		s.ttl = of.ttl
	}
	if e.alter != nil {
		e.alter(&s)
	}
	return s
}

// parse reads the moves of a schedule as the fuzzer's ops.
func (p *player) parse(s setting, moves string) ([]op, error) {
	if err := p.begin(s); err != nil {
		return nil, err
	}
	head := sim.Schedule{Config: p.config}.String()
	parsed, err := sim.ParseSchedule(head+","+moves, func(string) (strategies.Strategy, error) { return p.config.Strategy, nil })
	if err != nil {
		return nil, err
	}
	var ops []op
	for _, m := range parsed.Moves {
		switch m.Fault.(type) {
		case nil:
			o := op{wait: m.Wait, count: m.Count}
			for !m.Who.Has(o.who) && m.Count > 0 {
				o.who++
			}
			ops = append(ops, o)
		case sim.Up, sim.Failover: // the second half of a fault
			last := &ops[len(ops)-1]
			last.faults = append(last.faults, m.Fault)
		case sim.Drain: // which the player does by itself
		default:
			ops = append(ops, op{faults: []sim.Fault{m.Fault}})
		}
	}
	return ops, nil
}

// status asks the search about a schedule that was played last.
func (s *searcher) status(p *player, at setting, c trace.Code) (status, string) {
	cost := p.spent()
	if len(cost.beyond) > 0 {
		return beyond, cost.String()
	}
	a := s.covers(p.subject, at, &cost)
	switch {
	case a.err != nil && (strings.Contains(a.err.Error(), "one of them is wrong") || strings.Contains(a.err.Error(), " choices of schedule ")):
		return fails, fmt.Sprintf("%s: %s", &cost, a.err)
	case a.err != nil:
		return refuses, fmt.Sprintf("%s: %s", &cost, a.err)
	case slices.Contains(a.found, c):
		return finds, cost.String()
	case !a.complete:
		return gaveUp, cost.String()
	}
	return misses, cost.String()
}

// TestExamples: each example is a violation in the engine, and the search finds it or refuses
// the lock. Known misses are listed; one that is mended has to leave the list.
func TestExamples(t *testing.T) {
	for _, e := range examples {
		t.Run(e.lock+"/"+e.code.String(), func(t *testing.T) {
			of := subjectOf(t, e.lock)
			p := &player{subject: of}
			defer p.close() //nolint:errcheck // nothing is written
			at := e.setting(of)
			ops, err := p.parse(at, e.moves)
			if err != nil {
				t.Fatal(err)
			}
			if !p.shows(at, ops, e.code) {
				t.Fatalf("the engine shows no %s, but %s: %s\n%s", e.code, p.verdict(), of.why, p.line())
			}
			f := newSearcher()
			got, why := f.status(p, at, e.code)
			if got != e.today {
				t.Errorf("the search %s; the table says that it %s (%s)", got, e.today, why)
			}
			t.Logf("the search %s (%s)", got, why)
		})
	}
}

var examples = []example{
	{lock: "getset-equal", code: trace.FR, moves: "C:4,crash/C,:14s,A:8,B:8,A:1,B:1,A:1,B:2", today: misses},
	{lock: "getset-equal", code: trace.FN, moves: "C:4,crash/C,:14s,A:8,B:8,A:1,B:1,A:1,B:2", today: misses},
}
