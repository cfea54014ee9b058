// Package echo replays the moves of one lock's run with another lock, which may send other commands.
package echo

import (
	"slices"
	"time"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/fault"
	"lockstep/sim/trace"
)

// Stretch is a part of a schedule: some moves, and the number of events and the time that the run has
// after them.
type Stretch struct {
	Moves  []sim.Move
	Events int
	Now    time.Duration
}

// SameMoves replays the schedule of one lock's run with the lock of another configuration. Moves are
// the same if they take each client to the same place in its protocol: commands differ from lock to
// lock. Where a call of the first lock was left between two commands, the moves are adapted: see follow.
// Same reports whether all clients did the same at the same times, whatever the commands and their
// replies. With drains, somebody asks at the end whether the lock can still be had.
func SameMoves(cfg sim.Config, of *trace.Trace, parts []Stretch, drains bool) (run *trace.Trace, same bool, err error) {
	e := echo{cfg: cfg, of: of, drains: drains}
	return e.play(parts)
}

// mostSilent is the greatest number of steps of a client that others can't see, one after another.
const mostSilent = 16

// echo plays the moves of one lock's run with another lock.
type echo struct {
	cfg   sim.Config
	of    *trace.Trace
	moves []sim.Move

	drains bool // at the end somebody asks whether the lock can still be had
}

// place is how far a client has come: the number of calls, results and accesses in all its
// cycles, and of the commands that it has sent since, and whether it awaits the reply to the last.
type place struct {
	cycle, marks, commands int
	awaits                 bool
}

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
			p.commands, p.awaits = 0, false
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
			p.awaits = true
		case e.Kind == trace.KindReceive, e.Kind == trace.KindTimeout, e.Kind == trace.KindDisconnect:
			p.awaits = false
		}
	}
	return p, in
}

// play plays all parts.
func (e *echo) play(parts []Stretch) (run *trace.Trace, same bool, err error) {
	events := 0
	same = true
	for _, p := range parts {
		for _, m := range p.Moves {
			if m.Count == 0 {
				e.moves = append(e.moves, m)
				if _, err := e.replay(); err != nil { // it can't happen to this lock
					e.moves, same = e.moves[:len(e.moves)-1], false
				}
				continue
			}
			for client := range e.cfg.Clients {
				if m.Who.Has(client) {
					e.follow(client, &p)
				}
			}
		}
		events = p.Events
	}
	if run, err = e.replay(); err != nil {
		return nil, false, err
	}
	same = same && slices.Equal(deeds(run.Events), deeds(e.of.Events[:events]))
	if e.drains {
		e.moves = append(e.moves, sim.Move{Fault: fault.Drain{}})
		run, err = e.replay()
	}
	return run, same, err
}

// deed is an act of a client that depends on its place alone.
type deed struct {
	at     time.Duration
	client int
	kind   trace.Kind
}

// deeds lists the acts of clients, without the results of calls, which the lock decides, and without
// readings of clocks, which nobody else sees.
func deeds(events []trace.Event) (all []deed) {
	for i := range events {
		switch e := &events[i]; e.Kind {
		case trace.KindAcquire, trace.KindRelease, trace.KindSend, trace.KindReceive, trace.KindTimeout, trace.KindDisconnect, trace.KindSleep,
			trace.KindPause, trace.KindCrash, trace.KindEnter, trace.KindLeave, trace.KindRead:
			all = append(all, deed{e.At, e.Client, e.Kind})
		case trace.KindWrite, trace.KindReject:
			all = append(all, deed{e.At, e.Client, trace.KindWrite})
		}
	}
	return all
}

func (e *echo) replay() (*trace.Trace, error) {
	return scenarios.Replay(sim.Schedule{Config: e.cfg, Moves: e.moves})
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

// step has a client do its next step, and reports whether that takes place before a time.
func (e *echo) step(client int, by time.Duration) bool {
	e.moves = append(e.moves, sim.Move{Who: sim.SetOf(client), Count: 1})
	now, err := scenarios.Clock(sim.Schedule{Config: e.cfg, Moves: e.moves})
	if err != nil || now > by {
		e.moves = e.moves[:len(e.moves)-1]
		return false
	}
	return true
}

// follow has a client step until it is where it was after a part of the original run, without
// letting more time pass than that did. Where that lock was between two commands of a call, this one
// stops at the worst place: in Acquire behind its commands, in Release before the last.
func (e *echo) follow(client int, part *Stretch) {
	want, phase := placeOf(e.of.Events[:part.Events], client)
	midway := e.midway(client, part.Events)
	begun := len(e.moves)
	at := map[place]int{} // the number of steps after which the client was there in the call
	sent, events := 0, 0
	for silent := 0; silent < mostSilent; silent++ {
		t, err := e.replay()
		if err != nil {
			break
		}
		if len(t.Events) > events {
			silent, events = 0, len(t.Events)
		}
		now, _ := placeOf(t.Events, client)
		if now == want && want.commands == 0 {
			return
		}
		if now.cycle > want.cycle || now.cycle == want.cycle && now.marks > want.marks {
			break
		}
		at[now] = len(e.moves) - begun
		if now.cycle == want.cycle && now.marks == want.marks {
			sent = max(sent, now.commands)
		}
		if !e.step(client, part.Now) {
			break
		}
	}
	if want.commands == 0 {
		return
	}
	stop := want
	stop.commands = sent
	if midway && phase == trace.PhaseRelease {
		stop.commands = min(want.commands, sent-1)
	}
	back, known := at[stop]
	if !known { // the reply is there, or isn't
		stop.awaits = !stop.awaits
		back, known = at[stop]
	}
	if known {
		e.moves = e.moves[:begun+back]
	}
}
