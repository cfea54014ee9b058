package fuzz

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lockstep/sim/explore"
	"lockstep/sim/trace"
)

// answer is the answer of a search.
type answer struct {
	found    trace.Verdict
	complete bool
	err      error // with which the lock was refused
}

// searcher has the search asked about bounds, each of them once.
type searcher struct {
	answers map[string]answer
	limit   int64 // of states, beyond which a search is given up
	endless bool  // without a bound on cycles, nor on the kinds of fault that can do without
}

func newSearcher() searcher { return searcher{answers: map[string]answer{}, limit: 400_000} }

// covers returns what a search for some codes finds, or for all, within bounds that contain a schedule.
func (s *searcher) covers(of *subject, at setting, cost *spent, codes ...trace.Code) answer {
	at.clients, at.cycles = cost.Clients, cost.Cycles
	b := at.bounds(of)
	b.Faults, b.Codes = cost.Faults, codes
	if s.endless {
		b.Cycles = explore.Any
		for k := range explore.HoldRequest {
			if b.Faults[k] > 0 {
				b.Faults[k] = explore.Any
			}
		}
	}
	key := fmt.Sprintf("%s %d %d %d %t %t %s %v %s", of.name, b.Clients, b.Cycles, b.Tries, b.Extend, b.Checks, b.TTL, b.Faults, codes)
	if a, known := s.answers[key]; known {
		return a
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	r, err := explore.Run(ctx, b, explore.Options{Progress: func(p explore.Progress) {
		if p.States > s.limit {
			cancel(errors.New("too many states"))
		}
	}})
	a := answer{err: err}
	if err == nil {
		a.found, a.complete = slices.Clone(r.Found), r.Complete && r.Undecided == ""
		for _, f := range r.Findings() {
			a.complete = a.complete && (f.Answer != explore.NotDecided || !slices.Contains(codes, f.Code))
		}
	}
	s.answers[key] = a
	return a
}
