package explore

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"lockstep/sim/explore/orbit"
	"lockstep/sim/explore/space"
	"lockstep/sim/explore/unfit"
)

// newSearch returns a search that hasn't begun.
func newSearch(m *space.Model, opt Options) *search {
	s := &search{Model: m, opt: opt}
	if m.Bounds.Alike() {
		s.orbits = orbit.New(m.Bounds.Clients)
	}
	return s
}

// alike reports whether clients are known to be interchangeable, once interchange has said so.
func (s *search) alike() bool { return s.orbits != nil && !s.unsure }

// interchange runs everything once more that clients and servers were seen to do, with the clients' names exchanged in
// every way, as far as the search hasn't. All is known then that would be if it had followed all states. It returns the
// search's error; and [unfit.ByName] if that has an error, or this, which may be because names matter. A search that was
// cut off has some time for it, and none to begin again: its findings need schedules then. Nobody is told which error
// was the first: it is looked for again, or the search was cut off for another reason, which is told.
func (s *search) interchange(ctx context.Context, err error) error {
	limited := errors.Is(err, errLimit)
	switch {
	case s.orbits == nil:
		return err
	case err != nil && !limited:
		return &unfit.ByName{Cause: err}
	case limited:
		var done context.CancelFunc
		ctx, done = context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer done()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var dealt dealt
	var wg sync.WaitGroup
	for range s.workers() {
		wg.Go(func() {
			if err := s.interchangeSome(ctx, &dealt); err != nil {
				stop(&unfit.ByName{Cause: err})
			}
		})
	}
	if err := s.Servers.Interchanged(ctx, s.orbits.Ways); err != nil {
		stop(&unfit.ByName{Cause: err})
	}
	wg.Wait()
	var names *unfit.ByName
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &names) && !limited:
		return names
	case cause != nil:
		s.unsure = true
		s.halt(cause.Error())
		return errLimit
	}
	return err
}

// dealt are the transitions and parts that workers have taken.
type dealt struct {
	transitions orbit.IDs
	parts       [orbit.Kinds]orbit.IDs
}

// interchangeSome is the part of one worker.
func (s *search) interchangeSome(ctx context.Context, dealt *dealt) (err error) {
	dealt.transitions.Each(s.Clients.Outcomes.Len, func(n uint32) bool {
		for _, r := range s.orbits.Ways {
			if err == nil {
				err = s.Clients.Interchange(n, r)
			}
		}
		return err == nil && ctx.Err() == nil
	})
	x := s.Explorer()
	orbits := s.orbits.Finder(x, s.Width)
	for k := range orbit.Kinds {
		dealt.parts[k].Each(func() int { return s.Parts(k) }, func(id uint32) bool {
			orbits.Ask(k, id)
			return err == nil && x.Err == nil && ctx.Err() == nil
		})
	}
	return cmp.Or(err, x.Err)
}
