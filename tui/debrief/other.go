package debrief

import (
	"context"

	"lockstep/scenarios"
	"lockstep/scenarios/echo"
	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
	"lockstep/tui/tried"
)

// Other is a lock that no schedule of the level breaks as the reader's moves broke the first, and these moves replayed under it.
type Other struct {
	Lock   string // may show other codes
	Run    *trace.Trace
	Same   bool // its clients did the same at the same times; else the moves were adapted to its commands
	Proven bool // no schedule within the bounds breaks that lock so
	Err    error
}

// Stretches are the moves that lead to a branch, each with the events and the time of the run that it ends at.
func Stretches(cfg sim.Config, here *tried.Branch) (parts []echo.Stretch, err error) {
	for _, b := range here.Line() {
		schedule := sim.Schedule{Config: cfg, Moves: b.Moves()}
		t, err := scenarios.Replay(schedule)
		if err != nil {
			return nil, err
		}
		now, err := scenarios.Clock(schedule)
		if err != nil {
			return nil, err
		}
		parts = append(parts, echo.Stretch{Moves: b.Made, Events: len(t.Events), Now: now})
	}
	return parts, nil
}

// Level is the search of a lock for a goal, within bounds.
type Level struct {
	Find   func(explore.Bounds, trace.Code) (screen.Guide, error)
	Bounds explore.Bounds
	Goal   trace.Code
	Known  string // the lock that is known to withstand, or empty
}

// Replay replays moves under another lock, the first of those that may withstand, and has a search say whether any schedule of the level
// breaks that one.
func (l *Level) Replay(candidates []string, run *trace.Trace, parts []echo.Stretch) (m Other) {
	if l.Known != "" {
		candidates = []string{l.Known}
	}
	for _, name := range candidates {
		other, known := strategies.Get(name)
		if !known {
			continue
		}
		b := l.Bounds
		b.Strategy, b.Resource = other, draw.Either(other.Fences, sim.Fenced, sim.Plain)
		g, err := l.Find(b, l.Goal)
		if err != nil {
			m.Err = err
			continue
		}
		h, err := g.From(context.Background(), nil)
		_ = g.Close() // nothing is written
		if err != nil || h.Reachable && l.Known == "" {
			continue
		}
		m.Lock, m.Proven = name, !h.Reachable
		cfg, err := b.Config()
		if err != nil {
			m.Err = err
			continue
		}
		cfg.Scenario = "same-moves"
		if m.Run, m.Same, m.Err = echo.SameMoves(cfg, run, parts, l.Goal == trace.PD); m.Err == nil {
			m.Run.Title = draw.Either(m.Same, "The same moves", "Your moves, adapted")
		}
		return m
	}
	return m
}
