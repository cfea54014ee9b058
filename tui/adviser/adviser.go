// Package adviser asks a search how far a game's goal is, in the background, one question at a time.
package adviser

import (
	"context"
	"errors"
	"sync"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/tui/screen"
)

// Adviser answers questions about one goal within bounds.
type Adviser struct {
	Config sim.Config // of the runs that the questions are about

	mu     sync.Mutex
	bounds explore.Bounds
	goal   trace.Code
	find   func(explore.Bounds, trace.Code) (screen.Guide, error)
	real   screen.Guide  // or nil before the first question
	par    *explore.Hint // from the beginning
	closed bool
}

// New is an adviser whose guide is made by find, at the first question.
func New(find func(explore.Bounds, trace.Code) (screen.Guide, error), b explore.Bounds, goal trace.Code, cfg sim.Config) *Adviser {
	return &Adviser{find: find, bounds: b, goal: goal, Config: cfg}
}

// From is the way to the goal from where moves lead, and that from the beginning.
func (a *Adviser) From(ctx context.Context, moves []sim.Move) (h, par explore.Hint, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return h, par, errors.New("the game was left")
	}
	if a.real == nil {
		if a.real, err = a.find(a.bounds, a.goal); err != nil {
			return h, par, err
		}
	}
	if a.par == nil {
		if par, err = a.real.From(ctx, nil); err != nil {
			return h, par, err
		}
		a.par = &par
	}
	if len(moves) == 0 {
		return *a.par, *a.par, nil
	}
	h, err = a.real.From(ctx, moves)
	return h, *a.par, err
}

// Close ends the guide, once it has given its last answer.
func (a *Adviser) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	if a.real != nil {
		_ = a.real.Close() // nothing is written
		a.real = nil
	}
}
