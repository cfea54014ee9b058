package tried

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// Elsewhere says which violations a lock has under the moves by which another was brought to the goal, or
// under those adapted to its commands, and which event kept the goal's from it.
func Elsewhere(lock string, run *trace.Trace, same bool, goal trace.Code) string {
	var has []string
	for _, c := range run.Verdict() {
		has = append(has, fmt.Sprintf("%s (%s)", c.Named(), c))
	}
	text := draw.Either(same, "The same moves with "+lock, "These moves, adapted to the commands of "+lock) + ": "
	others := strings.Join(has, " and ")
	if slices.Contains(run.Verdict(), goal) {
		return text + others + "."
	}
	text += fmt.Sprintf("no %s (%s)", goal.Name(), goal)
	if others != "" {
		text += ", but " + others
	}
	why, _ := evidence(run, goal)
	return text + ". " + why + "."
}

// Decided is the position in such a run at which it is decided whether it comes to the goal: the event of which Elsewhere tells.
func Decided(run *trace.Trace, goal trace.Code) int {
	for i := range run.Violations {
		if v := &run.Violations[i]; v.Code == goal {
			return v.Last()
		}
	}
	_, at := evidence(run, goal)
	return at
}

// evidence is the event by which a run doesn't come to a violation, and the position after it: the lock is refused, its record
// expires, or else the last command and its reply.
func evidence(t *trace.Trace, goal trace.Code) (text string, pos int) {
	decides := []trace.Kind{trace.KindExecute, trace.KindReject}
	switch goal {
	case trace.PD:
		if text, pos := recovery(t); text != "" {
			return text, pos
		}
	case trace.DG, trace.OV:
		decides = []trace.Kind{trace.KindRefused}
	}
	for i := len(t.Events) - 1; i >= 0; i-- {
		if e := &t.Events[i]; slices.Contains(decides, e.Kind) {
			who := draw.Either(e.Kind == trace.KindExecute, "", t.Actor(e)+" ") // a command's text has its client
			return "At " + trace.Brief(e.At) + " " + who + t.Text(e) + outcome(t, i), i + 1
		}
	}
	return "Nothing was asked of Redis", 0
}

// outcome says what a command led to: a reader need not know what its reply means.
func outcome(t *trace.Trace, at int) string {
	e := &t.Events[at]
	if e.Kind != trace.KindExecute || len(e.Changes) > 0 {
		return ""
	}
	if slices.ContainsFunc(t.Events[at:], func(o trace.Event) bool { return o.Kind == trace.KindGranted && o.Client == e.Client }) {
		return ", by which " + t.Clients[e.Client] + " knows that it has the lock"
	}
	return ", which changes nothing"
}

// recovery says how a lock that was blocked came free: its record expired, and a client got it, at once or a lease later,
// as the probe does. The position is after the expiry, in which the run differs from one that is blocked for ever: a client that gets the lock
// later only shows that it is free.
func recovery(t *trace.Trace) (text string, pos int) {
	tl, expired, refused := timeline.New(t), time.Duration(0), map[int]bool{}
	for i := range t.Events {
		switch e := &t.Events[i]; {
		case e.Kind == trace.KindExpire && e.Node != trace.None:
			if rec := tl.StateAt(i).LockRecord(e.Node); rec != nil && rec.Owner != trace.Nobody {
				text, expired, pos = t.Clients[rec.Owner.Client]+"'s record expires at "+trace.Brief(e.At), e.At, i+1
			}
		case e.Kind == trace.KindRefused:
			refused[e.Client] = true
		case e.Kind == trace.KindGranted && text != "":
			who := draw.Either(t.Clients[e.Client] == trace.Probe, "the ", "") + t.Clients[e.Client]
			if refused[e.Client] && e.At-expired == t.TTL {
				who += ", which was refused and asks again a lease (" + trace.Brief(t.TTL) + ") after that expiry,"
			}
			return text + ", and " + who + " gets the lock at " + trace.Brief(e.At), pos
		}
	}
	return "", 0
}

// Probed is how often the probe asks for the lock in a run.
func Probed(t *trace.Trace) (n int) {
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == trace.KindAcquire && t.Clients[e.Client] == trace.Probe {
			n++
		}
	}
	return n
}
