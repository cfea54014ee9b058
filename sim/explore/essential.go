package explore

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"lockstep/sim"
	"lockstep/sim/trace"
)

// Fault is one thing that goes wrong in a counterexample.
type Fault struct {
	Kind FaultKind
	Text string // what goes wrong, in words
	// Essential: the engine has played the schedule without it, and what the
	// counterexample shows did not come about, or only by as many faults: a client
	// that need not wait for a lost reply any more, say, would have to be paused.
	Essential bool
	Replaced  bool // it is essential for the latter reason: another fault did instead
}

// faults lists what goes wrong in a path, and finds out of each whether the
// violation needs it.
func (m *model) faults(w *sim.World, c trace.Code, path []choice) ([]Fault, error) {
	x := m.explorer()
	x.first()
	var all []Fault
	most := int(m.costOf(path).faults)
	for at, v := range path {
		pausing, _ := x.idle()
		x.choose(v)
		if x.err != nil {
			return nil, x.err
		}
		switch v.kind {
		case passes:
			for i := range m.bounds.Clients {
				if pausing>>i&1 == 0 {
					continue
				}
				rest, d := m.unpaused(path, at, i)
				f, err := m.fault(w, c, most, Pause, fmt.Sprintf("%s is paused for %s", names[i], trace.Duration(d)), rest)
				if err != nil {
					return nil, err
				}
				all = append(all, f)
			}
		default:
			if !v.faulty() {
				continue
			}
			f, err := m.fault(w, c, most, v.row().fault, v.row().wrong(v), without(path, at))
			if err != nil {
				return nil, err
			}
			all = append(all, f)
		}
	}
	return all, nil
}

func (m *model) fault(w *sim.World, c trace.Code, most int, k FaultKind, text string, rest []choice) (Fault, error) {
	shown, faults, err := m.shows(w, c, rest)
	return Fault{Kind: k, Text: text, Essential: !shown || faults >= most, Replaced: shown && faults >= most}, err
}

// unpaused is a path without the pause that client i begins at the choice at:
// no time passes until the client acts again, or to the end. It tells how much
// that was.
func (m *model) unpaused(path []choice, at, i int) (rest []choice, d time.Duration) {
	rest = append(rest, path[:at]...)
	over := false
	for _, v := range path[at:] {
		over = over || v.acts() && int(v.who) == i
		if v.kind == passes && !over {
			d += time.Duration(v.by) * time.Millisecond
			continue
		}
		rest = append(rest, v)
	}
	return rest, d
}

// without is a path without one fault. Where a message met with it, the message
// is sent all the same.
func without(path []choice, at int) []choice {
	rest := slices.Clone(path)
	v := &rest[at]
	if v.acts() {
		v.kind = acts
		return rest
	}
	gone := *v
	rest = slices.Delete(rest, at, at+1)
	return slices.DeleteFunc(rest, func(v choice) bool { // a failover has two parts
		return gone.row().then != acts && v.kind == gone.row().then && v.who == gone.who
	})
}

// shows plays a path in the engine, up to the violation or the first move that
// doesn't fit. It reports whether it shows the violation, and how many faults that
// took, with all pauses: whoever could act while time passes is paused.
func (m *model) shows(w *sim.World, c trace.Code, path []choice) (shown bool, faults int, err error) {
	if err := w.Reset(m.cfg, false); err != nil {
		return false, 0, err
	}
	for _, v := range path {
		if v.faulty() {
			faults++
		}
		before := m.paused(w)
		if !m.fits(w, v) {
			break // what the fault had led to is not there
		}
		faults += bits.OnesCount8(m.paused(w) &^ before)
		if slices.Contains(w.Verdict(), c) {
			return true, faults, w.Err()
		}
	}
	if c == trace.PD {
		if err := w.Drain(); err != nil {
			return false, 0, err
		}
	}
	return slices.Contains(w.Verdict(), c), faults, w.Err()
}

// paused is the set of the clients that are.
func (m *model) paused(w *sim.World) (set uint8) {
	for i := range m.bounds.Clients {
		if w.State().Clients[i].Paused {
			set |= 1 << i
		}
	}
	return set
}

// fits makes a choice, if it is one that can be made now.
func (m *model) fits(w *sim.World, v choice) bool {
	for _, v := range m.play(v) {
		if !fits(w, v) {
			return false
		}
	}
	return true
}

// fits makes a choice, if it is one that can be made now. A step that would let time
// pass, because there is nothing to do, is none.
func fits(w *sim.World, v sim.Move) bool {
	for range v.Count {
		if !w.Ready(v.Who) || !w.Step(v.Who) {
			return false
		}
	}
	return v.Count > 0 || w.Play([]sim.Move{v}, nil) == nil
}
