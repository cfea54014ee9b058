package trace

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Span is a part of a run's time, from an instant to another.
type Span struct{ From, To time.Duration }

// overlap is how long two spans have in common.
func (s Span) overlap(o Span) time.Duration { return max(min(s.To, o.To)-max(s.From, o.From), 0) }

// pauses calls do with each pause of a client that is no fault, and its event: those of who could act and wasn't let.
func (t *Trace) pauses(client int, do func(e *Event, s Span)) {
	for i := range t.Events {
		e := &t.Events[i]
		if e.Client != client || e.Kind != KindPause || e.Note == "" {
			continue
		}
		s := Span{e.At, t.Events[len(t.Events)-1].At}
		for j := i + 1; j < len(t.Events); j++ {
			if next := &t.Events[j]; next.Client == client && (next.Kind == KindResume || next.Kind == KindCrash) {
				s.To = next.At
				break
			}
		}
		do(e, s)
	}
}

// HoldUp says of the pauses that no step of a script has made that they are none in its story: those in which none of its steps waited.
// See HeldByScript.
func (t *Trace) HoldUp(waits []Span) {
	for client := range t.Clients {
		t.pauses(client, func(e *Event, s Span) {
			for _, w := range waits {
				if s.overlap(w) > 0 {
					return
				}
			}
			e.Note = HeldByScript
		})
	}
}

// Kept says of a script's step that let some clients act, from an event on, who was kept from acting while one of them tried again to
// get the lock; it is empty if nobody was, or if none of them was kept for long enough to decide anything: see tells. It is meant for a trace
// that ends with the step.
func (t *Trace) Kept(step Span, from int, acting []string) string {
	tried := ""
	for i := from; i < len(t.Events); i++ {
		if e := &t.Events[i]; e.Kind == KindSleep && e.Phase == PhaseAcquire {
			tried = t.Clients[e.Client]
		}
	}
	if tried == "" {
		return ""
	}
	var kept []string
	for client, name := range t.Clients {
		long, told := time.Duration(0), false
		t.pauses(client, func(_ *Event, s Span) {
			long += s.overlap(step)
			told = told || t.tells(client, Span{max(s.From, step.From), min(s.To, step.To)})
		})
		if acts := strings.Contains(","+strings.Join(acting, ",")+",", ","+name+","); long > 0 && told && !acts {
			kept = append(kept, fmt.Sprintf("%s from acting for %s", name, Duration(long)))
		}
	}
	if kept == nil {
		return ""
	}
	return fmt.Sprintf("this step kept %s while %s tried again to get the lock, and that may decide how the run ends. To have each client ask once, say `retry: {tries: 1}` in the setup; if it is to stop here, put a \"pause\" before this step.", List(kept), tried)
}

// tells reports whether a client's standing still in a span can decide how a run ends: in that time another client got the lock, a record
// or a key expired, or the client's own lease ended. Otherwise it does the same a moment later.
func (t *Trace) tells(client int, s Span) bool {
	return slices.ContainsFunc(t.Events, func(e Event) bool {
		decides := e.Kind == KindExpire || e.Kind == KindGranted && e.Client != client || e.Kind == KindLapse && e.Client == client
		return decides && s.From < e.At && e.At <= s.To
	})
}

// KeptOut says that a living client was refused the lock, or got an error, and has never had it: in words that follow its name; or nothing.
func (t *Trace) KeptOut(client int) string {
	how := ""
	for i := range t.Events {
		if e := &t.Events[i]; e.Client == client {
			switch e.Kind {
			case KindGranted, KindCrash:
				return ""
			case KindRefused:
				how = "was refused"
			case KindFailed:
				how = "was given an error in the place of the lock"
			}
		}
	}
	return how
}
