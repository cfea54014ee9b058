package scenarios

import (
	"lockstep/sim"
	"lockstep/sim/trace"
)

// Stretch is a part of a schedule: some moves, and the number of events that the run has after
// them.
type Stretch struct {
	Moves  []sim.Move
	Events int
}

// SameMoves replays the schedule of one lock's run with the lock of another configuration. Moves are
// the same if they take each client to the same place in its protocol: commands differ from lock
// to lock. With drains, somebody asks at the end whether the lock can still be had.
func SameMoves(cfg sim.Config, of *trace.Trace, parts []Stretch, drains bool) (*trace.Trace, error) {
	e := echo{cfg: cfg, of: of, drains: drains}
	return e.play(parts)
}

// mostSilent is the greatest number of steps of a client that others can't see, one after another.
const mostSilent = 16

// echo plays the moves of one lock's run with another lock. Moves are the same if they
// take each client to the same place in its protocol: commands differ from lock to lock.
type echo struct {
	cfg   sim.Config
	of    *trace.Trace
	moves []sim.Move

	drains bool // at the end somebody asks whether the lock can still be had
}

// place is how far a client has come: the number of calls, results and accesses in all its
// cycles, and of the commands that it has sent since.
type place struct{ cycle, marks, commands int }

// mark reports whether an event is one that all locks have.
func mark(k trace.Kind) bool {
	switch k {
	case trace.KindAcquire, trace.KindGranted, trace.KindRefused, trace.KindFailed, trace.KindEnter, trace.KindRead, trace.KindWrite, trace.KindReject,
		trace.KindLeave, trace.KindRelease, trace.KindReleased, trace.KindReleaseFailed, trace.KindDone:
		return true
	}
	return false
}

// placeOf is a client's place after events.
func placeOf(events []trace.Event, client int) (p place, in trace.Phase) {
	for i := range events {
		e := &events[i]
		switch {
		case e.Client != client:
			continue
		case mark(e.Kind):
			p.marks++
			p.commands = 0
			switch e.Kind {
			case trace.KindAcquire:
				p.cycle, p.marks = p.cycle+1, 1
				in = trace.PhaseAcquire
			case trace.KindRelease:
				in = trace.PhaseRelease
			default:
				in = trace.PhaseIdle
			}
		case e.Kind == trace.KindSend:
			p.commands++
		}
	}
	return p, in
}

// play plays all parts.
func (e *echo) play(parts []Stretch) (*trace.Trace, error) {
	for _, p := range parts {
		for _, m := range p.Moves {
			if m.Count == 0 {
				e.moves = append(e.moves, m)
				if _, err := e.replay(); err != nil { // it can't happen to this lock
					e.moves = e.moves[:len(e.moves)-1]
				}
				continue
			}
			for client := range e.cfg.Clients {
				if m.Who.Has(client) {
					e.follow(client, p.Events)
				}
			}
		}
	}
	if e.drains {
		e.moves = append(e.moves, sim.Move{Fault: sim.Drain{}})
	}
	return e.replay()
}

func (e *echo) replay() (*trace.Trace, error) {
	return Replay(sim.Schedule{Config: e.cfg, Moves: e.moves})
}

// midway reports whether a client sends another command in the call in which it is after
// some events of the original run.
func (e *echo) midway(client, events int) bool {
	for i := events; i < len(e.of.Events); i++ {
		switch ev := &e.of.Events[i]; {
		case ev.Client != client:
		case ev.Kind == trace.KindSend:
			return true
		case mark(ev.Kind):
			return false
		}
	}
	return false
}

// follow has a client step until it is where it was after some events of the original run.
// Where that lock was between two commands of a call, this one stops at the worst place: in
// Acquire behind its commands, in Release before the last.
func (e *echo) follow(client, events int) {
	want, phase := placeOf(e.of.Events[:events], client)
	midway := e.midway(client, events)
	at := map[int]int{} // the number of steps after which a number of commands was sent in the call
	sent, steps := 0, 0
	for silent := 0; silent < mostSilent; steps++ {
		t, err := e.replay()
		if err != nil {
			return
		}
		now, _ := placeOf(t.Events, client)
		if now.cycle > want.cycle || now.cycle == want.cycle && now.marks > want.marks {
			break
		}
		if now.cycle == want.cycle && now.marks == want.marks {
			if want.commands == 0 {
				return
			}
			at[now.commands], sent = steps, max(sent, now.commands)
		}
		e.moves = append(e.moves, sim.Move{Who: sim.SetOf(client), Count: 1})
		next, err := e.replay()
		if err != nil || len(next.Events) > 0 && len(t.Events) > 0 && next.Events[len(next.Events)-1].At > t.Events[len(t.Events)-1].At && next.Events[len(t.Events)].Client != client {
			e.moves = e.moves[:len(e.moves)-1]
			return
		}
		if silent++; len(next.Events) > len(t.Events) {
			silent = 0
		}
	}
	stop := sent
	if midway && phase == trace.PhaseRelease {
		stop = min(want.commands, sent-1)
	}
	if back, known := at[stop]; known && want.commands > 0 {
		e.moves = e.moves[:len(e.moves)-(steps-back)]
	}
}
