package trace

import (
	"fmt"
	"time"
)

// The texts in this file say why something happens just then, as far as the trace tells.

func acquireText(t *Trace, e *Event) string {
	if t.Clients[e.Client] == Probe {
		return "wants the lock, to test whether it can still be had"
	}
	return "wants the lock"
}

// HeldByScript is the reason of a pause that is none in the story: the client could act, and the script has others act
// first. Every view says that it is held up, and not paused. In a schedule of a search or of a game, whose time passes only because somebody
// chose so, it is a pause like any other, with another reason.
const HeldByScript = "the script has others act first"

// NoMoment ends the note of a built-in script that a lock has no moment such as its misfortune needs.
const NoMoment = "that moment does not come, so the story ends here."

// Held reports whether a pause is none in the story: see HeldByScript.
func (e *Event) Held() bool { return e.Kind == KindPause && e.Note == HeldByScript }

// HeldUp reports whether a request, that of the event Ref, is held up on its way from this event on.
func (e *Event) HeldUp() bool { return e.Kind == KindNetwork && e.Ref != None && e.By != 0 }

// OfLink reports whether the event is about the link between its client and its node. By is how long a request takes on it
// from then on.
func (e *Event) OfLink() bool { return e.Kind == KindNetwork && e.Ref == None && e.Node != None }

func pauseText(t *Trace, e *Event) string {
	what := "is paused"
	if e.Held() {
		what = "is held up"
	}
	if e.Note == "" { // a fault, which is named in the schedule
		return what
	}
	if work, ended := t.WorkBefore(e); ended {
		return fmt.Sprintf("%s: its work of %s has ended, and %s", what, Duration(work), e.Note)
	}
	return what + ": " + e.Note
}

// WorkBefore returns how long the work took that a client had just done when it was paused, because nothing let it act.
// A script may have stopped it long before, but a client at work could not have acted sooner: it is paused only from
// then on. The second result is false for other pauses.
func (t *Trace) WorkBefore(pause *Event) (work time.Duration, ended bool) {
	done := false
	for i := t.indexOf(pause) - 1; i >= 0 && pause.Note != ""; i-- {
		switch e := &t.Events[i]; {
		case e.Client != pause.Client || e.Thread > 0:
		case e.works() && e.Kind == KindSleep:
			return e.By, done || e.At+e.By == pause.At // else another thread of the client could act
		case e.works() && e.Kind == KindWake && !done:
			done = true
		case !done && e.Kind != KindLapse:
			return 0, false
		}
	}
	return 0, false
}

// works reports whether an event is of the work in the critical section: there a client's main thread runs no
// code of the lock, and it sleeps for no other reason.
func (e *Event) works() bool { return e.Phase == PhaseWork && e.Thread == 0 }

func sleepText(_ *Trace, e *Event) string {
	if e.works() {
		return "works for " + toldSpan(e.By)
	}
	return "sleeps for " + toldSpan(e.By)
}

// toldSpan is a span as it is told: a random one is no whole number of milliseconds, and nobody needs the rest.
func toldSpan(d time.Duration) string {
	if d > time.Millisecond {
		d = d.Round(time.Millisecond)
	}
	return Duration(d)
}

func wakeText(_ *Trace, e *Event) string {
	if e.works() {
		return "has done its work"
	}
	return "wakes up"
}

func grantedText(t *Trace, e *Event) string {
	text := "has the lock"
	if e.Token != "" {
		text += ", token " + e.Token
	}
	if e.Fence != 0 {
		text += fmt.Sprintf(", fence %d", e.Fence)
	}
	if e.By == Never {
		return text + ", no deadline"
	}
	text += ", lease until " + Duration(e.By)
	if _, margin, known := t.leaseOf(e); known && margin > 0 {
		text += fmt.Sprintf(" (%s less %s in case clocks drift apart)", Duration(t.TTL), Duration(margin))
	}
	return text
}

func lapseText(t *Trace, e *Event) string {
	for i := t.indexOf(e); i >= 0; i-- {
		given := &t.Events[i]
		if given.Client != e.Client || given.Acq != e.Acq || given.Kind != KindGranted && given.Kind != KindExtended {
			continue
		}
		asked, margin, known := t.leaseOf(given)
		switch {
		case !known || given.By != e.At:
		case margin > 0:
			return fmt.Sprintf("lease is over: %s less %s in case clocks drift apart, since it asked at %s", Duration(t.TTL), Duration(margin), Brief(asked))
		default:
			return fmt.Sprintf("lease is over: %s since it asked at %s", Duration(t.TTL), Brief(asked))
		}
		break
	}
	return "lease is over: its own clock reads the deadline"
}

// countOf says in brackets what a client's lease that ends at an instant was counted from, as far as that is known:
// which margin was taken off, and where it is over that it began with the request. Redis counts from later on, and to the
// end: where the end of the record is told beside it, that is why it is another one.
func (t *Trace) countOf(client int, deadline time.Duration, over bool) string {
	for i := len(t.Events) - 1; i >= 0; i-- {
		e := &t.Events[i]
		if e.Client != client || e.Kind != KindGranted && e.Kind != KindExtended || e.By != deadline {
			continue
		}
		_, margin, known := t.leaseOf(e)
		switch {
		case known && margin > 0 && over:
			return fmt.Sprintf(" (%s less %s in case clocks drift apart, since it asked%s)", Duration(t.TTL), Duration(margin), RedisCounts)
		case known && margin > 0:
			return fmt.Sprintf(" (%s less %s in case clocks drift apart)", Duration(t.TTL), Duration(margin))
		case known && over:
			return fmt.Sprintf(" (%s since it asked%s)", Duration(t.TTL), RedisCounts)
		}
		break
	}
	return ""
}

// RedisCounts is the part of a sentence on the end of a lease that says why the record has another one. Where there is
// no room for it, the sentence is whole without it.
const RedisCounts = "; Redis counts from when it stored the record"

// driftMargin is how much of a lease a careful lock gives up to clocks that run at different rates.
func driftMargin(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }

// leaseOf returns the instant from which a lease counts that an event gives, and the margin that is taken off. It
// is that of a command or of the beginning of the call, if the deadline is a TTL, whole or less the margin, after
// it; otherwise it isn't known: a clock has jumped, or the lock counts in a way of its own.
func (t *Trace) leaseOf(given *Event) (asked, margin time.Duration, known bool) {
	if given.By == Never {
		return 0, 0, false
	}
	for i := t.indexOf(given); i >= 0; i-- {
		e := &t.Events[i]
		if e.Client != given.Client || e.Kind != KindSend && e.Kind != KindAcquire && e.Kind != KindExtend {
			continue
		}
		for _, margin := range []time.Duration{0, driftMargin(t.TTL)} {
			if given.By == e.At+t.TTL-margin {
				return e.At, margin, true
			}
		}
		if e.Kind != KindSend {
			return 0, 0, false
		}
	}
	return 0, 0, false
}

// MarginOf is the margin for clocks that drift by which a client's last lease in so many of the first events is shorter. It is 0 if
// there is none, or that isn't known.
func (t *Trace) MarginOf(client, events int) time.Duration {
	for i := events - 1; i >= 0; i-- {
		e := &t.Events[i]
		if e.Client != client || e.Kind != KindGranted && e.Kind != KindExtended {
			continue
		}
		_, margin, _ := t.leaseOf(e)
		return margin
	}
	return 0
}

// expiring names the key that expires: a client's lock, by the client that has stored it, or another key. The server doesn't expire.
func (t *Trace) expiring(e *Event) string {
	if len(e.Changes) != 1 {
		return "expires"
	}
	key := e.Changes[0].Key
	for i := t.indexOf(e) - 1; i >= 0 && key == t.Key; i-- {
		was := &t.Events[i]
		for _, c := range was.Changes {
			if was.Node == e.Node && c.Key == key && c.After != nil && (c.Before == nil || c.Before.Value != c.After.Value) {
				if was.Client == None {
					return "the record expires"
				}
				return t.Clients[was.Client] + "'s record expires"
			}
		}
	}
	return key + " expires"
}

// lifeOf says how long the record lived that an event drops, if that is known.
func (t *Trace) lifeOf(e *Event) string {
	if given, known := t.Given(e); known {
		return fmt.Sprintf(" %s + 1ms after it was stored", Duration(given))
	}
	return ""
}

// Given is how long the record was to be kept that an event drops, if its server's clock has counted as the others do: it lived
// for the milliseconds that it was given, and for the last of them through to its end.
func (t *Trace) Given(e *Event) (given time.Duration, known bool) {
	if len(e.Changes) != 1 {
		return 0, false
	}
	for i := t.indexOf(e) - 1; i >= 0; i-- {
		was := &t.Events[i]
		if was.Node != e.Node {
			continue
		}
		for _, c := range was.Changes {
			if c.Key != e.Changes[0].Key {
				continue
			}
			if c.After == nil || c.After.Expires != e.At {
				return 0, false
			}
			given = e.At - was.At - time.Millisecond
			return given, given > 0 && hasWord(was.Args, given)
		}
	}
	return 0, false
}

// hasWord reports whether a command names a span, in milliseconds or in seconds.
func hasWord(args []string, d time.Duration) bool {
	for _, a := range args {
		if a == fmt.Sprint(d.Milliseconds()) || d%time.Second == 0 && a == fmt.Sprint(int64(d/time.Second)) {
			return true
		}
	}
	return false
}

// indexOf returns the index of an event of the trace, or that of the last one if it is none of them.
func (t *Trace) indexOf(e *Event) int { return min(e.Seq, len(t.Events)) - 1 }
