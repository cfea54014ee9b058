package fuzz

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/monitor"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Setting is what random schedules of a lock have in common.
type Setting struct {
	Clients, Cycles int           // 1 to 3 clients, and how often each asks for the lock
	Checks, Extend  bool          // how the callers use it: as in [explore.Bounds]
	TTL             time.Duration // of a lease
	// Faults are the kinds that a schedule may have: those with a count, which itself doesn't
	// matter. Time may pass anywhere, so clients are paused whether or not they may be.
	Faults explore.Budget
	Codes  trace.Verdict // those that matter; none is all that a search can look for
}

// MaxClients is the greatest number of clients in a random schedule.
const MaxClients = maxClients

// Config returns the configuration in which the schedules of a lock are played, or an error
// if the setting makes no sense.
func (s *Setting) Config(of strategies.Strategy) (sim.Config, error) {
	if s.Clients > maxClients {
		return sim.Config{}, fmt.Errorf("a random schedule can have 1 to %d clients, not %d", maxClients, s.Clients)
	}
	b := s.setting().bounds(&subject{strategy: of})
	if b.Endless() {
		return sim.Config{}, fmt.Errorf("a random schedule can have 1 to 9 cycles, and not any number")
	}
	return b.Config()
}

func (s *Setting) setting() *setting {
	return &setting{clients: s.Clients, cycles: s.Cycles, extend: s.Extend, checks: s.Checks, ttl: s.TTL, seed: 1, tries: 1,
		replica: s.Faults[explore.Failover] > 0}
}

// Found is a violation that a random schedule has shown.
type Found struct {
	Code   trace.Code
	Seed   uint64       // the first whose schedule violates it
	Count  int          // of the seeds that violate it
	Cost   string       // what the shrunk schedule takes of the bounds of a search, in words
	Shrunk sim.Schedule // nothing can be left out of it
	Trace  *trace.Trace // of the engine's run of that
}

// Play plays one random schedule for each seed from the first up to the last, and returns the
// violations that they show, worst first. The same arguments give the same result. It fails if
// the lock's code panics or can't be played, and with the cause of ctx's end.
func Play(ctx context.Context, of strategies.Strategy, set Setting, first, last uint64) ([]Found, error) {
	if _, err := set.Config(of); err != nil {
		return nil, err
	}
	d := &drawer{player: &player{subject: &subject{name: of.Name, strategy: of}}, given: set.setting(), kinds: &set.Faults}
	defer d.close() //nolint:errcheck // nothing is written
	codes := set.Codes
	if len(codes) == 0 {
		codes = monitor.Searched()
	}
	found := map[trace.Code]*Found{}
	for seed := first; seed <= last && seed >= first; seed++ {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := d.one(seed, codes, found); err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	var all []Found
	for _, c := range trace.Codes {
		if f := found[c]; f != nil {
			all = append(all, *f)
		}
	}
	return all, nil
}

// one plays the schedule of a seed, and adds its violations to those found.
func (d *drawer) one(seed uint64, codes []trace.Code, found map[trace.Code]*Found) error {
	d.Rand = rand.New(rand.NewPCG(seed, 11))
	if err := d.draw(d.player.subject); err != nil {
		if strings.Contains(err.Error(), "the run was stopped") { // after a century, or too many events
			return nil
		}
		return err
	}
	verdict := d.verdict()
	if slices.Contains(codes, trace.PD) && d.deadlocks() {
		verdict = append(slices.Clone(verdict), trace.PD)
	}
	for _, c := range verdict {
		switch {
		case !slices.Contains(codes, c):
		case found[c] != nil:
			found[c].Count++
		default:
			f, err := d.shrink(c)
			if err != nil {
				return err
			}
			f.Seed = seed
			found[c] = f
		}
	}
	return nil
}

// shrink shrinks the schedule that was drawn last.
func (d *drawer) shrink(c trace.Code) (*Found, error) {
	ops, cost := d.shrunk(d.s, slices.Clone(d.ops), c)
	d.record = true
	defer func() { d.record = false }()
	if !d.shows(d.s, ops, c) {
		return nil, fmt.Errorf("a schedule shows %s once and then no more:\n%s", c, d.line())
	}
	t, err := d.world.Trace()
	if err != nil {
		return nil, err
	}
	s := d.world.Schedule()
	s.Moves = slices.Clone(s.Moves) // the world reuses them for its next run
	return &Found{Code: c, Count: 1, Cost: cost.String(), Shrunk: s, Trace: t}, nil
}
