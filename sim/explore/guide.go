package explore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/space"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// Guide tells a person who schedules by hand how far it is to a violation. It is not safe
// for concurrent use.
type Guide struct {
	// Memory is the number of bytes that the program's heap may take while the guide
	// searches; 0 is without limit.
	Memory int64

	guide guiding
}

// guiding has the methods of a [guide]. Behind an interface a Guide doesn't show the types of a
// model's tables: they are generic, and the compiler would make their code anew in each package
// that sees a Guide.
type guiding interface {
	from(ctx context.Context, moves []sim.Move, memory int64) (Hint, error)
	config() sim.Config
	close() error
}

// guide is a [Guide] with the model of its search.
type guide struct {
	m    *space.Model
	goal trace.Code
	path []space.Choice // the schedule at hand, as choices of a search
	end  int            // the number of them that lead to the goal; 0 if they don't reach it
}

// Cost orders schedules: by faults, then switches from one client to another, then choices.
type Cost struct{ Faults, Switches, Steps int }

// Hint tells how far it is to the goal from some point of a schedule.
type Hint struct {
	Reached   bool       // the schedule has reached the goal already
	Reachable bool       // some continuation reaches it within the bounds
	Cost                 // of the least such continuation
	Next      []sim.Move // the moves of its first choice
	Path      []sim.Move // the moves of all of it
	Taken     Cost       // of the schedule so far, or up to the goal
	// Due is the time until anything happens by itself: a record expires, a lease lapses, a
	// client's wait ends. 0 is never.
	Due time.Duration
}

// NewGuide returns a guide to a violation within the bounds. It fails if they make no sense,
// or if the lock can't be made.
func NewGuide(b Bounds, goal trace.Code) (g *Guide, err error) {
	defer process.CatchPanic(&err)
	b.Codes = trace.Verdict{goal}
	if err := b.Check(); err != nil {
		return nil, err
	}
	if _, err := rehearse(&b); err != nil {
		return nil, err
	}
	m, err := space.NewModel(b, false)
	if err != nil {
		return nil, err
	}
	return &Guide{guide: &guide{m: m, goal: goal}}, nil
}

// Config returns the configuration of the schedules that the guide understands: those in
// which random numbers aren't steps of their own.
func (g *Guide) Config() sim.Config { return g.guide.config() }

// Close ends the guide.
func (g *Guide) Close() error { return g.guide.close() }

// ErrMemory is the error of a guide that has reached its limit of memory.
var ErrMemory = errors.New("it is too far to look for the way in the memory that there is")

// BudgetError is the error of a schedule that has more faults than the bounds have.
type BudgetError struct{ Faults string }

// Error names the faults of which there are too many.
func (e *BudgetError) Error() string { return "that takes more " + e.Faults + " than the bounds have" }

// From returns the hint after the moves of a schedule that was played from the start in the
// guide's configuration. It fails if a search can't make one of the moves, or if they take
// more faults than the bounds have; with ctx's error if that is done first; and with
// [ErrMemory] at the limit of memory.
func (g *Guide) From(ctx context.Context, moves []sim.Move) (Hint, error) {
	return g.guide.from(ctx, moves, g.Memory)
}

func (g *guide) config() sim.Config {
	cfg := g.m.Config
	cfg.Draws = false
	return cfg
}

func (g *guide) close() error { return g.m.Close() }

// from is [Guide.From] with the limit of memory.
func (g *guide) from(ctx context.Context, moves []sim.Move, memory int64) (Hint, error) {
	h, err := g.hint(ctx, moves, memory)
	if !errors.Is(err, unfit.ErrTimed) {
		return h, err
	}
	m, err := space.NewModel(g.m.Bounds, true)
	if err != nil {
		return Hint{}, err
	}
	if err := g.m.Close(); err != nil {
		return Hint{}, errors.Join(err, m.Close())
	}
	g.m = m
	return g.hint(ctx, moves, memory)
}

// hint is from in a model that may turn out to need true time.
func (g *guide) hint(ctx context.Context, moves []sim.Move, memory int64) (Hint, error) {
	x := g.m.Explorer()
	x.Begin()
	found, err := g.replay(x, moves)
	if err != nil {
		return Hint{}, err
	}
	h := Hint{Taken: g.taken()}
	if by, any := x.Due(); any {
		h.Due = time.Duration(by) * time.Millisecond
	}
	if found.Has(g.goal) {
		h.Reached, h.Reachable = true, true
		return h, nil
	}
	q := shortestFrom(x, trace.SetOf(g.goal), g.path)
	here := x.StateID()
	full, opt := false, Options{Memory: memory}
	if err := q.run(func() bool { full = full || opt.full(); return full || ctx.Err() != nil }); err != nil {
		return Hint{}, err
	}
	switch {
	case q.left == 0:
	case ctx.Err() != nil:
		return Hint{}, context.Cause(ctx)
	case full:
		return Hint{}, ErrMemory
	}
	path, any := q.got[g.goal]
	if !any {
		return h, nil
	}
	x.Visit(here)
	h.Reachable, h.Cost = true, g.priced(costOf(x, g.path, path))
	first := 0
	for first < len(path) && path[first].Kind == space.Passes && path[0].Kind == space.Passes {
		first++
	}
	if len(path) > 0 {
		h.Next, h.Path = g.m.Schedule(path[:max(1, first)]), g.m.Schedule(path)
	}
	return h, nil
}

// taken returns the cost of the schedule that was replayed last.
func (g *guide) taken() Cost {
	x := g.m.Explorer()
	x.Begin()
	if g.end > 0 {
		g.path = g.path[:g.end]
	}
	return g.priced(costOf(x, nil, g.path))
}

func (g *guide) priced(c cost) Cost { return Cost{int(c.faults), int(c.switches), int(c.steps)} }

// replay makes a schedule's moves in the search's own state, and returns the violations on
// the way.
func (g *guide) replay(x *space.Explorer, moves []sim.Move) (found space.Codes, err error) {
	g.path, g.end = g.path[:0], 0
	next := space.Acts // the kind of choice that the next step with a request is
	for n := 0; len(moves) > 0; moves = moves[n:] {
		if n = 1; moves[0].Fault == nil {
			err = g.step(x, moves[0], &next, &found)
		} else {
			var c space.Choice
			if c, n, err = readFault(x, moves); n > 0 && c.Acts() {
				next = c.Kind
			} else if n > 0 {
				err = g.make(x, c, &found)
			}
		}
		if err != nil {
			return 0, err
		}
	}
	return found, x.Err
}

// step makes a move that isn't a fault.
func (g *guide) step(x *space.Explorer, mv sim.Move, next *space.ChoiceKind, found *space.Codes) error {
	switch {
	case mv.Note > 0:
		return nil
	case mv.Wait > 0:
		return g.wait(x, mv.Wait, found)
	case mv.Draws:
		return g.draw(x, mv, found)
	}
	for range mv.Count {
		i := -1
		for who := range g.m.Bounds.Clients {
			if _, any := x.NextKind(who); any && mv.Who.Has(who) {
				i = who
				break
			}
		}
		if i < 0 {
			by, any := x.Due()
			if !any {
				return nil
			}
			if err := g.wait(x, time.Duration(by)*time.Millisecond, found); err != nil {
				return err
			}
			continue
		}
		c := space.Choice{Kind: space.Acts, Who: uint8(i)}
		switch kind, _ := x.NextKind(i); kind {
		case process.OpSend:
			c.Kind, *next = *next, space.Acts
		case process.OpDraw:
			c.Kind = space.Draws
		}
		if err := g.make(x, c, found); err != nil {
			return err
		}
	}
	return nil
}

// draw makes a move in which a client draws a random number.
func (g *guide) draw(x *space.Explorer, mv sim.Move, found *space.Codes) error {
	for i := range g.m.Bounds.Clients {
		if kind, any := x.NextKind(i); any && mv.Who.Has(i) && kind == process.OpDraw {
			return g.make(x, space.Choice{Kind: space.Draws, Who: uint8(i), Number: int64(mv.Draw)}, found)
		}
	}
	return errors.New("no random number is drawn there")
}

// wait lets time pass, from one instant at which something is due to the next.
func (g *guide) wait(x *space.Explorer, d time.Duration, found *space.Codes) error {
	if d%time.Millisecond != 0 {
		return fmt.Errorf("a search counts in whole milliseconds, and %s isn't", d)
	}
	if d > behaviour.MaxSpan {
		return fmt.Errorf("a search lets %s pass at a time, and %s is longer", trace.Duration(behaviour.MaxSpan), trace.Duration(d))
	}
	for left := int32(d / time.Millisecond); left > 0; {
		by, any := x.Due()
		if !any || by > left {
			by = left
		}
		if _, n := x.Idle(); n > x.Left(Pause) {
			return &BudgetError{"pauses"}
		}
		g.apply(x, space.Choice{Kind: space.Passes, By: by}, found)
		left -= by
	}
	return nil
}

// make makes a choice, and fails if the budget doesn't have its fault.
func (g *guide) make(x *space.Explorer, c space.Choice, found *space.Codes) error {
	if k := c.Fault(); c.Faulty() && x.Left(k) == 0 {
		return &BudgetError{fmt.Sprintf("faults of the kind %q", k)}
	}
	g.apply(x, c, found)
	return x.Err
}

// apply makes a choice, and adds it to the path.
func (g *guide) apply(x *space.Explorer, c space.Choice, found *space.Codes) {
	x.Choose(c)
	*found |= x.Found
	g.path = append(g.path, c)
	if g.end == 0 && x.Found.Has(g.goal) {
		g.end = len(g.path)
	}
}

// readFault is [space.Read] for faults that a search can count.
func readFault(x *space.Explorer, moves []sim.Move) (space.Choice, int, error) {
	f := moves[0].Fault
	if by := jumpOf(f); by > behaviour.MaxSpan || by < -behaviour.MaxSpan {
		return space.Choice{}, 0, fmt.Errorf("%q is longer than a search counts, which is %s", f, trace.Duration(behaviour.MaxSpan))
	}
	return space.Read(x, moves)
}

// jumpOf returns by how much a clock jumps by a fault.
func jumpOf(f fault.Fault) time.Duration {
	switch f := f.(type) {
	case fault.WallStep:
		return f.By
	case fault.NodeStep:
		return f.By
	}
	return 0
}
