package sim

import (
	"errors"
	"fmt"
	"slices"

	"lockstep/sim/monitor"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// recorder keeps everything that is known of the run so far: its events, the state that
// they add up to, the findings of the monitor, and the schedule.
//
// Invariants: state is the fold of all events emitted, recorded or not, and the monitor
// has judged each of them. trace.Events has them all if recording is set, and is empty
// otherwise. moves, played in a world reset to the same configuration, give the same run.
type recorder struct {
	recording bool
	events    int // emitted so far, which is the Seq of the last
	trace     trace.Trace
	state     *trace.State
	monitor   monitor.Monitor
	moves     moves
}

func (r *recorder) reset(record bool) {
	r.recording, r.events = record, 0
	r.moves.reset()
}

// begin starts an empty trace with this head. The state is the last run's, cleared, if
// it has the same shape: a State is large.
func (r *recorder) begin(t trace.Trace) {
	r.trace = t
	if s := r.state; s != nil && len(s.Primary) == t.Masters && s.Counter == t.Counter && s.Key == t.Key && s.Workload == t.Workload {
		s.Reset()
	} else {
		r.state = t.NewState()
	}
}

// moves is the schedule of the run so far.
type moves struct {
	list  []Move
	muted bool // the moves being made are part of a drain, which the schedule has as one
}

func (m *moves) reset() { m.list, m.muted = m.list[:0], false }

// add appends a move.
func (m *moves) add(v Move) {
	if !m.muted {
		m.list = append(m.list, v)
	}
}

// step appends a step of these clients, joining it with the last where that says the same.
func (m *moves) step(who Set) {
	if n := len(m.list); n > 0 && !m.muted {
		if last := &m.list[n-1]; last.Who == who && last.Count > 0 {
			last.Count++
			return
		}
	}
	m.add(Move{Who: who, Count: 1})
}

// Endless is the error of a run that reached [MaxEvents]. Asking are the clients that ask for the lock again and again without a
// limit to their tries, by name.
type Endless struct{ Asking []string }

// Error says after how many events the run was stopped, and who asks for the lock again and again.
func (e *Endless) Error() string {
	text := fmt.Sprintf("the run was stopped after %d events: nothing ends it", MaxEvents)
	switch len(e.Asking) {
	case 0:
		return text
	case 1:
		return text + ", as " + e.Asking[0] + " asks for the lock again and again"
	}
	return text + ", as " + trace.List(e.Asking) + " ask for the lock again and again"
}

// asking are the clients that ask for the lock, if nothing limits how often.
func (w *World) asking() (names []string) {
	for i, c := range w.state.Clients[:len(w.cfg.Clients)] {
		if c.Phase == trace.PhaseAcquire && !c.Crashed && !c.Paused && !c.Stopped && w.cfg.Retry.Tries == 0 {
			names = append(names, w.cfg.Clients[i].Name)
		}
	}
	return names
}

// emit gives an event its Seq and its instant, lets the monitor judge it, folds it into
// the state, and records it. It returns the Seq. A run that reaches [MaxEvents] ends.
func (w *World) emit(e *trace.Event) int {
	w.events++
	e.Seq, e.At = w.events, w.now
	if w.events > MaxEvents && w.err == nil {
		w.err = &Endless{w.asking()}
	}
	w.monitor.Before(e)
	w.state.Apply(e)
	w.monitor.After(e)
	if w.recording {
		kept := *e
		if e.Changes != nil {
			kept.Changes = append([]trace.Change(nil), e.Changes...) // the node uses its own again
		}
		w.trace.Events = append(w.trace.Events, kept)
	}
	return e.Seq
}

// emitOf emits an event of a client's that concerns no server, with the fields that all such events have.
func (w *World) emitOf(c *client, e trace.Event) int {
	e.Client, e.Node, e.Ref, e.Acq = c.Index, trace.None, trace.None, c.Acquired
	return w.emit(&e)
}

// emitAt emits an event at a server that no client has caused, with the fields that all such events have.
func (w *World) emitAt(n *redis.Node, e trace.Event) int {
	e.Client, e.Node, e.Ref = trace.None, n.Index, trace.None
	return w.emit(&e)
}

// Remark adds a note at this point of the run. A note with an Index is a move of the
// schedule, too.
func (w *World) Remark(n trace.Note) {
	n.At, n.Seq = w.now, w.events+1
	if n.Index > 0 {
		w.moves.add(Move{Note: n.Index})
	}
	if w.recording {
		w.trace.Notes = append(w.trace.Notes, n)
	}
}

// Trace returns the run so far, sealed with its hash, schedule and verdict. The trace is the
// caller's to keep. It fails if the run was not recorded.
func (w *World) Trace() (*trace.Trace, error) {
	if !w.recording {
		return nil, errors.New("sim: this run was not recorded")
	}
	t := w.trace
	t.Events = slices.Clone(t.Events)
	t.Notes = slices.Clone(t.Notes)
	t.Violations = slices.Clone(w.monitor.Violations())
	slices.SortStableFunc(t.Violations, func(a, b trace.Violation) int {
		if d := a.Last() - b.Last(); d != 0 {
			return d
		}
		return int(a.Code) - int(b.Code)
	})
	t.Schedule = w.Schedule().String()
	t.Seal()
	return &t, nil
}

// Verdict returns the verdict on the run so far; it needs no recording.
func (w *World) Verdict() trace.Verdict { return trace.VerdictOf(w.monitor.Violations()) }

// Violations returns the violations found so far, in the order of the events that completed
// them. The slice is the world's own.
func (w *World) Violations() []trace.Violation { return w.monitor.Violations() }
