package trace

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// This file has the words for states that all views of a run share.

// Brief returns a span in few characters: three decimals at most, hours and minutes
// from two hours on, and whole days and years.
func Brief(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == Never:
		return "for ever"
	case d < 0:
		return "-" + Brief(-d)
	case d >= 365*day:
		return fmt.Sprintf("%dy", d/(365*day))
	case d >= 2*day:
		return fmt.Sprintf("%dd", d/day)
	case d >= 2*time.Hour || d >= time.Hour && d%time.Minute == 0:
		if m := d % time.Hour / time.Minute; m > 0 {
			return fmt.Sprintf("%dh%dm", d/time.Hour, m)
		}
		return fmt.Sprintf("%dh", d/time.Hour)
	case d > 0 && d < time.Millisecond:
		return fmt.Sprintf("%dus", d.Microseconds())
	case d > 0 && d < time.Second:
		return strconv.FormatFloat(float64(d.Round(time.Millisecond))/1e6, 'f', -1, 64) + "ms"
	}
	return strconv.FormatFloat(float64(d.Round(time.Millisecond))/1e9, 'f', -1, 64) + "s" // one division, rounded once
}

// Prose returns the note's text with the lines of each paragraph joined, for views that break
// lines themselves. An empty line and an indented line stay.
func (n *Note) Prose() string {
	var b strings.Builder
	for i, l := range strings.Split(strings.TrimRight(n.Text, "\n"), "\n") {
		switch {
		case i == 0:
		case l == "" || strings.HasPrefix(l, " ") || strings.HasSuffix(b.String(), "\n"):
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		b.WriteString(l)
	}
	return b.String()
}

// String returns the kind's word in JSON: say, ask or missed.
func (k NoteKind) String() string { return noteNames[k] }

var phaseWords = [...]string{
	PhaseIdle: "idle", PhaseAcquire: "asking for the lock", PhaseHold: "granted, not inside",
	PhaseWork: "in the critical section", PhaseRelease: "releasing", PhaseExtend: "extending",
}

// Doing describes a client's place in its protocol, and the reason why it waits there.
func (c *ClientState) Doing() string {
	what := phaseWords[c.Phase]
	if c.Phase == PhaseHold && c.Lease.Entered != None {
		what = "out again, to release"
	}
	switch {
	case c.Crashed:
		return "crashed"
	case c.Stopped:
		return "finished"
	case c.Threw:
		return what + ", FAILED"
	case c.Hung:
		return what + ", HUNG"
	case c.Held:
		return what + ", HELD UP"
	case c.Paused:
		return what + ", PAUSED"
	case c.Asleep && c.Phase == PhaseWork:
		return what + ", working"
	case c.Asleep:
		return what + ", asleep"
	}
	return what
}

// Describe describes the caller's belief about its lease at an instant. It is empty if the
// caller believes that it has none.
func (l *LeaseState) Describe(now time.Duration) string {
	if !l.Believed {
		return ""
	}
	text := "believes; lease for " + Brief(l.Deadline-now) + " more"
	switch {
	case !l.Live:
		text = fmt.Sprintf("believes; lease over for %s, since %s", Brief(now-l.Deadline), Brief(l.Deadline))
	case l.Deadline == Never:
		text = "believes; no deadline"
	}
	if l.Fence != 0 {
		text += fmt.Sprintf(", fence %d", l.Fence)
	}
	return text
}

// InStrategy reports whether the client is inside a call of the strategy.
func (c *ClientState) InStrategy() bool {
	switch c.Phase {
	case PhaseAcquire, PhaseRelease, PhaseExtend:
		return !c.Stopped && !c.Crashed
	}
	return c.Extends && !c.Stopped && !c.Crashed
}

// Unrun reports whether a server refuses to run a script because it has no text of that digest: its client sends it anew.
func (e *Event) Unrun() bool {
	return e.Kind == KindExecute && strings.HasPrefix(e.Reply, "error NOSCRIPT")
}

// NoRecord is the answer to whose record a server has, where it has no client's.
const NoRecord = "no client's record"

// List joins parts with commas, and an "and" before the last.
func List(parts []string) string {
	if last := len(parts) - 1; last > 0 {
		return strings.Join(parts[:last], ", ") + " and " + parts[last]
	}
	return strings.Join(parts, "")
}

// Holders names the lock's holders in one sentence, by the clients' beliefs and by the
// nodes' records.
func (t *Trace) Holders(s *State) string {
	var believers, late []string
	last := None
	for i := range s.Clients {
		l := &s.Clients[i].Lease
		if !l.Believed {
			continue
		}
		if !l.Live {
			late = append(late, t.Clients[i])
		}
		believers, last = append(believers, t.Clients[i]), i
	}
	switch len(believers) {
	case 0:
		return t.leftBehind(s)
	case 1:
		return t.holder(s, last)
	default:
		return List(believers) + " believe they hold it" + over(late) + "."
	}
}

// over says of some clients, who don't know it, that their leases are over.
func over(late []string) string {
	switch len(late) {
	case 0:
		return ""
	case 1:
		return "; " + late[0] + "'s lease is over"
	}
	return "; the leases of " + List(late) + " are over"
}

// kept says how long Redis keeps a record. Where the record is on several nodes they differ, and that is not told.
func kept(s *State, rec *HeldRecord) string {
	switch {
	case len(s.Primary) > 1:
		return ""
	case rec.Expires == Never:
		return ", which has no expiry"
	}
	return " until " + Brief(rec.Expires)
}

// leftBehind is Holders if no client believes that it holds the lock. There may be a record
// that outlives its owner.
func (t *Trace) leftBehind(s *State) string {
	for _, i := range s.Primary {
		rec := s.LockRecord(i)
		if rec == nil || !s.Nodes[i].Up {
			continue
		}
		switch owner := rec.Owner.Client; {
		case owner == None:
			return "No client thinks it has the lock; Redis keeps somebody's record."
		case s.Clients[owner].Crashed:
			return fmt.Sprintf("No live client thinks it has the lock; Redis keeps dead %s's record.", t.Clients[owner])
		case s.Clients[owner].Phase == PhaseRelease:
			return fmt.Sprintf("No client thinks it has the lock; %s is releasing its record.", t.Clients[owner])
		case s.Clients[owner].Phase != PhaseAcquire:
			return fmt.Sprintf("No client thinks it has the lock; Redis keeps %s's record%s.", t.Clients[owner], kept(s, rec))
		}
	}
	if owner, _ := s.Quorum(t.Need); owner != None { // its reply is on its way, or it has more to ask
		return fmt.Sprintf("No client thinks it has the lock; Redis has %s's record.", t.Clients[owner])
	}
	return "No client holds the lock."
}

// holder is Holders if one client believes that it holds the lock. Redis may disagree.
func (t *Trace) holder(s *State, client int) string {
	name, l := t.Clients[client], &s.Clients[client].Lease
	if !l.Live {
		return fmt.Sprintf("%s thinks it has the lock; its lease ended at %s%s.", name, Brief(l.Deadline), t.countOf(client, l.Deadline, true))
	}
	if owner, split := s.Quorum(t.Need); owner != client {
		has := "Redis has no record of it"
		switch {
		case owner != None:
			has = "Redis has " + t.Clients[owner] + "'s record"
		case split && len(s.Nodes) > 1:
			has = "it has too few nodes"
		case split:
			has = "Redis has somebody's record"
		}
		return name + " thinks it has the lock; " + has + "."
	}
	if s.Clients[client].Threw {
		name += "'s work has failed, and nobody releases its lock; its"
		if l.Deadline == Never {
			return name + " lease has no deadline."
		}
		return name + " lease ends at " + Brief(l.Deadline) + t.countOf(client, l.Deadline, false) + "."
	}
	if l.Deadline == Never {
		return name + " holds the lock, without a deadline."
	}
	return name + " holds the lock; its lease ends at " + Brief(l.Deadline) + t.countOf(client, l.Deadline, false) + "."
}

// Quorum returns the client whose record is on at least need of the masters that are up, or
// None. split says that masters hold records, but no client's is on enough of them. A
// replica's copy doesn't count until the replica is promoted.
func (s *State) Quorum(need int) (owner int, split bool) {
	count := make([]int, len(s.Clients))
	for _, i := range s.Primary {
		rec := s.LockRecord(i)
		if rec == nil || !s.Nodes[i].Up {
			continue
		}
		split = true
		if c := rec.Owner.Client; c != None {
			if count[c]++; count[c] >= need {
				return c, false
			}
		}
	}
	return None, split
}

// server matches the name of a server at the beginning of a text.
var server = regexp.MustCompile(`^n[1-9](r[1-9])?\b`)

// Capital begins a sentence: with a capital, unless it begins with the name of a server, which is
// written small everywhere.
func Capital(s string) string {
	if server.MatchString(s) {
		return s
	}
	first, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + s[n:]
}
