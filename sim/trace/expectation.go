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
	switch t.Expected {
	case "":
		return "", true
	case is.String():
		return "as expected: " + is.String(), true
	}
	want, missing := t.Expected, false
	for _, code := range strings.Fields(want) {
		missing = missing || code != "ok" && !slices.Contains(is.Strings(), code)
	}
	if want != "ok" {
		want += " and no other code"
	}
	text = "not as expected: the file expects " + want + ", and the verdict is " + is.String()
	if facts := t.harmless(); missing && facts != nil {
		text += "; in this run " + strings.Join(facts, ", and ")
	}
	return text, false
}

// harmless says of a run in which no client died and no lease ended before its client released the lock that it is so, and
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
	facts = []string{"no lease ended before its client released the lock"}
	if longest == 0 {
		return append(facts, "nobody was paused")
	}
	if t.TTL > 0 && longest < t.TTL {
		return append(facts, fmt.Sprintf("the longest pause, %s's, took %s of a lease of %s", who, Brief(longest), Brief(t.TTL)))
	}
	return facts
}
