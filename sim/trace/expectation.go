package trace

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Expectation says in words whether the verdict is that which the author of the script expects: the whole set
// of codes, no more and no fewer. Where one is missing, it says what the run has not got as far as: most of them take a
// lease that ends too early. It is empty, and met, if nothing is expected.
func (t *Trace) Expectation() (text string, met bool) {
	is := t.Verdict()
	if t.Expected == "" {
		return "", true
	}
	want, missing := t.Expected, false
	for _, code := range strings.Fields(want) {
		missing = missing || code != "ok" && !slices.Contains(is.Strings(), code)
	}
	switch {
	case t.Expected == is.String():
		return "as expected: " + is.String(), true
	case t.AtLeast && !missing:
		return "as expected: " + is.String() + ", which includes " + want, true
	case t.AtLeast:
		want = "a verdict that includes " + want
	case want != "ok":
		want += " and no other code"
	}
	if t.ExpectedAt != "" {
		want += " (" + t.ExpectedAt + ")"
	}
	text = "not as expected: the file expects " + want + ", and the verdict is " + is.String()
	if !missing {
		return text, false
	}
	text += t.heldBack()
	if facts := t.harmless(); facts != nil {
		text += "; in this run " + strings.Join(facts, ", and ")
	}
	return text, false
}

// Met reports whether a run's verdict is this one, or has at least its codes.
func (v Verdict) Met(is Verdict, atLeast bool) bool {
	if !atLeast {
		return slices.Equal(v, is)
	}
	return !slices.ContainsFunc(v, func(c Code) bool { return !slices.Contains(is, c) })
}

// Hold is the stop of a client that a step of the script has let act as far as a place of its protocol. It lasts until another
// step lets the client act, or else until the script is over.
type Hold struct {
	Client int
	Place  string // as the script names it
	Line   string // of the script, as file:line
	From   int    // the Seq of the first event after the client got there
	Unread bool   // the client has the lock there, and has read nothing of the resource
	Ended  bool   // a later step lets the client act
}

// heldBack lists the actions that the holds of the script delayed, and names the place that its author may have meant.
func (t *Trace) heldBack() (text string) {
	unread := false
	for i := range t.Holds {
		if why, before := t.held(&t.Holds[i]); why != "" {
			text += "; " + why
			unread = unread || before
		}
	}
	if unread {
		text += `; "to: read" is the place after the read`
	}
	return text
}

// held says of a hold how it kept the client from an action that an author may have taken for done: from its read, until another client
// wrote; or from everything after the place, until the script was over. It is empty where it didn't, and of a client that
// did nothing more. unread is whether the read was delayed.
func (t *Trace) held(h *Hold) (why string, unread bool) {
	goesOn := []Kind{KindAcquire, KindSend, KindReceive, KindEnter, KindRead, KindWake, KindWrite, KindLeave, KindRelease}
	if h.Unread {
		goesOn = []Kind{KindRead}
	}
	var wrote *Event
	on := false
	for i := h.From - 1; i < len(t.Events) && !on; i++ {
		e := &t.Events[i]
		on = e.Client == h.Client && slices.Contains(goesOn, e.Kind)
		if e.Client != h.Client && e.Kind == KindWrite {
			wrote = e
		}
	}
	who, stood := t.Clients[h.Client], fmt.Sprintf("%q (%s)", h.Place, h.Line)
	switch unread = h.Unread && t.Workload == Counter; {
	case !on:
	case unread && wrote != nil:
		return fmt.Sprintf("%s was held at %s, before its read, until after %s's write (#%d)", who, stood, t.Clients[wrote.Client], wrote.Seq), true
	case !h.Ended && unread:
		return fmt.Sprintf("no step lets %s go on from %s, before its read: it read when the script was over", who, stood), true
	case !h.Ended:
		return fmt.Sprintf("no step lets %s go on from %s: it went on when the script was over", who, stood), false
	}
	return "", false
}

// Outcome is the verdict in a clause, with whether the author of the script expects it: see Expectation.
func (t *Trace) Outcome() string {
	is := t.Verdict().String()
	switch _, met := t.Expectation(); {
	case !met:
		if t.AtLeast {
			return fmt.Sprintf("the verdict is %s, and doesn't include %s as expected", is, t.Expected)
		}
		return fmt.Sprintf("the verdict is %s, and not %s as expected", is, t.Expected)
	case t.Expected == "":
		return fmt.Sprintf("the verdict is %s; nothing is expected of %s", is, t.Strategy)
	}
	return fmt.Sprintf("the verdict is %s, as expected", is)
}

// harmless says of a run in which no client died and no lease ended before its client began to release the lock that it is so, and
// how long the pauses were. Of others it says nothing.
func (t *Trace) harmless() (facts []string) {
	granted := false
	began := map[int]time.Duration{} // by client that is paused
	var longest time.Duration
	who := ""
	pause := func(client int, end time.Duration) {
		if d := end - began[client]; d > longest {
			longest, who = d, t.Clients[client]
		}
		delete(began, client)
	}
	for i := range t.Events {
		e := &t.Events[i]
		if e.Client == None || t.Clients[e.Client] == Probe {
			continue
		}
		_, paused := began[e.Client]
		switch {
		case e.Kind == KindLapse, e.Kind == KindCrash:
			return nil
		case e.Kind == KindGranted:
			granted = true
		case e.Kind == KindPause && !paused:
			began[e.Client] = e.At
		case e.Kind == KindResume && paused:
			pause(e.Client, e.At)
		}
	}
	if !granted {
		return []string{"nobody got the lock"}
	}
	for client := range t.Clients {
		if _, paused := began[client]; paused {
			pause(client, t.Events[len(t.Events)-1].At)
		}
	}
	facts = []string{"no lease ended before its client began to release the lock"}
	if longest == 0 {
		return append(facts, "nobody was paused")
	}
	if t.TTL > 0 && longest < t.TTL {
		return append(facts, fmt.Sprintf("%s stood still longest, for %s of a lease of %s", who, Brief(longest), Brief(t.TTL)))
	}
	return facts
}
