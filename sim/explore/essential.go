package explore

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/space"
	"lockstep/sim/trace"
)

// Fault is one thing that goes wrong in a counterexample.
type Fault struct {
	Kind FaultKind // that the budget counts
	Text string    // the fault in words
	// Essential: the engine has played the schedule without the fault, and the violation
	// did not happen, or only with as many faults: a client that need not wait for a lost
	// reply any more, say, would have to be paused.
	Essential bool
	Replaced  bool // it is essential for the latter reason: another fault did instead
}

// faultsOf lists the faults of a path, and finds out whether the violation needs each.
func faultsOf(m *space.Model, w *sim.World, code trace.Code, path []space.Choice) ([]Fault, error) {
	x := m.Explorer()
	x.Begin()
	var all []Fault
	most := int(costFromStart(m, path).faults)
	for at, c := range path {
		pausing, _ := x.Idle()
		x.Choose(c)
		if x.Err != nil {
			return nil, x.Err
		}
		switch c.Kind {
		case space.Passes:
			for i := range m.Bounds.Clients {
				if pausing>>i&1 == 0 {
					continue
				}
				rest, d := unpaused(path, at, i)
				f, err := replayWithout(m, w, code, most, Pause, fmt.Sprintf("%s is paused for %s", m.Name(i), trace.Duration(d)), rest)
				if err != nil {
					return nil, err
				}
				all = append(all, f)
			}
		default:
			if !c.Faulty() {
				continue
			}
			f, err := replayWithout(m, w, code, most, c.Fault(), c.Wrong(), without(path, at))
			if err != nil {
				return nil, err
			}
			all = append(all, f)
		}
	}
	return all, nil
}

// replayWithout has the engine play the rest of a path without one of its faults, and returns that
// fault. most is the number of faults in the whole path.
func replayWithout(m *space.Model, w *sim.World, code trace.Code, most int, k FaultKind, text string, rest []space.Choice) (Fault, error) {
	shown, faults, err := shows(m, w, code, rest)
	return Fault{Kind: k, Text: text, Essential: !shown || faults >= most, Replaced: shown && faults >= most}, err
}

// unpaused returns a path without the pause of client i that begins at an index: no time
// passes until the client acts again, or to the end. d is the time that has been left out.
func unpaused(path []space.Choice, at, i int) (rest []space.Choice, d time.Duration) {
	rest = append(rest, path[:at]...)
	over := false
	for _, c := range path[at:] {
		over = over || c.Acts() && int(c.Who) == i
		if c.Kind == space.Passes && !over {
			d += time.Duration(c.By) * time.Millisecond
			continue
		}
		rest = append(rest, c)
	}
	return rest, d
}

// without returns a path without the fault at an index. A step whose request met with the
// fault stays, and sends the request.
func without(path []space.Choice, at int) []space.Choice {
	rest := slices.Clone(path)
	c := &rest[at]
	if c.Acts() {
		c.Kind = space.Acts
		return rest
	}
	gone := *c
	rest = slices.Delete(rest, at, at+1)
	return slices.DeleteFunc(rest, func(c space.Choice) bool { // a failover has two parts
		return c.Completes(gone)
	})
}

// shows plays a path in the engine, up to the violation or the first choice that isn't
// enabled. It reports whether the violation happens, and after how many faults. These
// include all pauses: each client that could act while time passes is paused.
func shows(m *space.Model, w *sim.World, code trace.Code, path []space.Choice) (shown bool, faults int, err error) {
	if err := w.Reset(m.Config, false); err != nil {
		return false, 0, err
	}
	for _, c := range path {
		if c.Faulty() {
			faults++
		}
		before := pausedIn(w, m.Bounds.Clients)
		if !fit(w, m.Play(c)) {
			break // the choice depends on the fault that was left out
		}
		faults += bits.OnesCount8(pausedIn(w, m.Bounds.Clients) &^ before)
		if slices.Contains(w.Verdict(), code) {
			return true, faults, w.Err()
		}
	}
	if code == trace.PD {
		if err := w.Drain(); err != nil {
			return false, 0, err
		}
	}
	return slices.Contains(w.Verdict(), code), faults, w.Err()
}

// pausedIn returns the set of the first clients that are paused, in the middle of a cycle.
func pausedIn(w *sim.World, clients int) (set uint8) {
	for i := range clients {
		if c := &w.State().Clients[i]; c.Paused && c.Phase != trace.PhaseIdle {
			set |= 1 << i
		}
	}
	return set
}

// fit makes moves in the engine, and reports false if one isn't enabled.
func fit(w *sim.World, moves []sim.Move) bool {
	for _, mv := range moves {
		if !fits(w, mv) {
			return false
		}
	}
	return true
}

// fits makes a move in the engine, and reports false if it isn't enabled. A step that would
// let time pass, because no thread is ready, isn't.
func fits(w *sim.World, mv sim.Move) bool {
	for range mv.Count {
		if !w.Ready(mv.Who) || !w.Step(mv.Who) {
			return false
		}
	}
	return mv.Count > 0 || w.Play([]sim.Move{mv}, nil) == nil
}
