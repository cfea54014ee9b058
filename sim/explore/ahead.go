package explore

import (
	"context"

	"lockstep/sim"
	"lockstep/sim/explore/space"
	"lockstep/sim/process"
)

// lookAhead begins with the steps after the last round, elsewhen and the least schedules, while it isn't known yet whether
// there are further instants, and so another round. Nearly always there are none, and to find that out takes one worker.
// Where code must not run twice at the same time, it does nothing.
func (s *search) lookAhead(ctx context.Context) {
	if s.Timed() && !s.Bounds.Endless() && !s.Bounds.Remembers && s.opt.dir == nil {
		s.ahead = s.lookElsewhere(ctx, max(1, s.workers()-1))
		s.least = s.findLeastBeside(ctx)
	}
}

// giveUp ends the work that lookAhead has begun, if any.
func (s *search) giveUp() {
	s.ahead.end()
	s.least.end()
	s.ahead, s.least = nil, nil
}

// end stops elsewhen, and waits until it has returned.
func (o *outlook) end() {
	if o != nil {
		o.stop()
		<-o.ready
	}
}

// leastBeside has the least schedules of the violations that a search has found, once ready is closed. They come of a model
// of their own, as that of the search is at work.
type leastBeside struct {
	stop  context.CancelFunc
	ready chan struct{}
	found space.Codes
	least *leastFound // nil if that was cut off: there may be more room later
}

// findLeastBeside begins to find the least schedules with the instants that are known now.
func (s *search) findLeastBeside(ctx context.Context) *leastBeside {
	found := space.Codes(s.found.Load()) & s.Bounds.CodeSet()
	if found == 0 {
		return nil
	}
	m, err := space.NewModel(s.Bounds, s.Timed())
	if err != nil {
		return nil // the search's own model will do
	}
	m.Instants(s.Model)
	ctx, stop := context.WithCancel(ctx)
	b := &leastBeside{stop: stop, ready: make(chan struct{}), found: found}
	go func() {
		defer close(b.ready)
		defer m.Close()          //nolint:errcheck // nothing is written
		room := s.opt.Memory / 2 // the visited set is still there
		b.least = leastIn(m, found, s.alike(), func() bool { return ctx.Err() != nil || room > 0 && heap() > room })
	}()
	return b
}

// leastIn is findLeast with a world of its own. It returns nil if it was cut off.
func leastIn(m *space.Model, found space.Codes, alike bool, stop func() bool) (l *leastFound) {
	var failed error
	defer func() {
		if failed != nil {
			l = &leastFound{search: failed}
		}
	}()
	defer process.CatchPanic(&failed)
	w, err := sim.New(m.Config)
	if err != nil {
		return &leastFound{engine: err}
	}
	defer w.Close() //nolint:errcheck // nothing is written
	cut := false
	l = findLeast(m, w, found, alike, func() bool {
		cut = cut || stop()
		return cut
	})
	if cut {
		return nil
	}
	return l
}

// wait returns the least schedules of the violations found, or nil if nobody has found them.
func (b *leastBeside) wait(found space.Codes) *leastFound {
	if b == nil || b.found != found {
		return nil
	}
	<-b.ready
	return b.least
}

// end ends the search for them, and waits for that.
func (b *leastBeside) end() {
	if b != nil {
		b.stop()
		<-b.ready
	}
}
