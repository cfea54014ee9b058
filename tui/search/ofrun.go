package search

import (
	"slices"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/fault"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// Include raises the bounds by the faults of a run, so that a search which begins at it does not pass over the run
// that the reader has just seen. It keeps in words the faults of the run that the search can't have.
func (m *Search) Include(run *trace.Trace) {
	m.included, m.lacks = nil, nil
	schedule, err := sim.ParseSchedule(run.Schedule, scenarios.FindStrategy)
	if err != nil {
		m.lacks = []string{"any fault of the run, whose schedule can't be read"}
		return
	}
	budget, lacks := faultsOf(schedule)
	for k, n := range budget {
		if n = min(n, mostFaults); n == 0 || m.bounds.Faults[k] >= n {
			continue
		}
		was, kind := m.bounds.Faults[k], explore.FaultKind(k)
		m.bounds.Faults[k] = n
		if _, err := m.bounds.Config(); err != nil {
			m.bounds.Faults[k] = was
			lacks = append(lacks, kind.Words(2)+" here ("+err.Error()+")")
			continue
		}
		m.included = append(m.included, kind.Words(int(n)))
	}
	m.lacks = lacks
	m.offer()
}

// faultsOf counts a schedule's faults by the kinds that a search has, and names those that none has.
func faultsOf(s sim.Schedule) (b explore.Budget, lacks []string) {
	down := map[string]bool{} // the servers that are, and how they went
	lack := func(what string) {
		if !slices.Contains(lacks, what) {
			lacks = append(lacks, what)
		}
	}
	for _, mv := range s.Moves {
		if mv.Fault == nil {
			continue
		}
		spec := fault.SpecOf(mv.Fault)
		kind, counts := explore.KindOf(mv.Fault)
		switch f := mv.Fault.(type) {
		case fault.Drop:
			if !f.Reply {
				lack("lost requests")
				continue
			}
		case fault.Down:
			down[f.Node] = true
			continue
		case fault.Failover: // the master that it replaces is down
			clear(down)
		case fault.Up:
			if kind, counts = explore.Restart, down[f.Node]; !counts {
				continue
			}
			delete(down, f.Node)
		case fault.Lag: // the failover after it counts
			continue
		}
		switch {
		case counts:
			b[kind]++
		case !spec.Ends && spec.Many != "":
			lack(spec.Many)
		}
	}
	if len(down) > 0 {
		lack("servers that stay down")
	}
	return b, lacks
}

// ofRun says of which run's faults the bounds are, and which of them the search does not have.
func (m *Search) ofRun() (has, lacks string) {
	if len(m.included) > 0 {
		has = "The bounds were raised by what goes wrong in the run that you come from: " + trace.List(m.included) + "."
	}
	if len(m.lacks) > 0 {
		lacks = "The run that you come from has faults that no schedule of this search has: " + trace.List(m.lacks) + ". What holds here says nothing of those."
	}
	return has, lacks
}

// tellRun tells it in paragraphs.
func (m *Search) tellRun(t *draw.Paragraphs) {
	has, lacks := m.ofRun()
	if has != "" {
		t.Add(draw.Plain, "", has)
	}
	if lacks != "" {
		t.Add(draw.Alarm, "", lacks)
	}
	if has+lacks != "" {
		t.Gap()
	}
}
