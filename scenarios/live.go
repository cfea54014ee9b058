package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// FromLive writes a session of programs on served nodes as a scenario: who got the lock, lost it and gave
// it back, with the faults and the times between. The programs' own code isn't in it, so it
// runs under any lock of the catalogue, and says how that would have fared: each holder works
// until it gives the lock back. It has no expectations.
//
// It fails if a scenario can't have that many clients, or if nobody got the lock. The
// file's first lines list everything else that it must leave out.
func FromLive(t *trace.Trace) ([]byte, error) {
	l := liveSaver{t: t, names: liveNames(t.Clients), cycles: make([]int, len(t.Clients)), refused: make([]int, len(t.Clients)), left: map[string]int{}}
	for i := range t.Events {
		l.event(&t.Events[i])
	}
	if l.ttl == 0 {
		return nil, fmt.Errorf("no scenario comes of this: nobody got a lock that expires")
	}
	var clients []string
	for i, n := range l.cycles {
		if n > 0 {
			clients = append(clients, fmt.Sprintf("%s: {work: 1us, cycles: %d}", quoted(l.names[i]), n))
		}
	}
	if most := 8; len(clients) > most {
		return nil, fmt.Errorf("no scenario comes of this: it has at most %d clients, and %d took part", most, len(clients))
	}
	text := l.head() + fmt.Sprintf("title: %s\nshows: %s\nsetup:\n  clients: {%s}\n  ttl: %s\n  latency: 10us\n  retry: {tries: 1}\n  persistence: %s\nscript:\n%s",
		quoted("What programs did"), quoted("a recorded session of lockstep serve"), strings.Join(clients, ", "), l.ttl, l.persistence(), l.script.String())
	return []byte(text), nil
}

// liveSaver turns the events of a live trace into steps.
type liveSaver struct {
	t       *trace.Trace
	names   []string // by client, in the scenario
	script  strings.Builder
	at      time.Duration // up to which the steps have let time pass
	ttl     time.Duration
	cycles  []int          // by client: how often it asks for the lock in the script
	refused []int          // by client
	kept    bool           // a node came back with a record
	left    map[string]int // events that aren't written: how many, by kind
}

// liveNames gives each client a name that a scenario can have: programs may call a connection
// anything, and one without a name is called port-40312.
func liveNames(clients []string) (names []string) {
	const longest = 12
	for _, as := range clients {
		as = strings.Map(func(r rune) rune {
			if r < 0x80 && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)) {
				return r
			}
			return '_'
		}, as)
		name := as[:min(len(as), longest)]
		for n := 2; slices.Contains(names, name) || process.ValidName(name) != nil; n++ {
			end := fmt.Sprintf("_%d", n)
			name = as[:min(len(as), longest-len(end))] + end
		}
		names = append(names, name)
	}
	return names
}

// step writes a step at an event's instant.
func (l *liveSaver) step(e *trace.Event, format string, args ...any) {
	if gap := (e.At - l.at).Round(time.Millisecond); gap > 0 {
		fmt.Fprintf(&l.script, "  - wait: %s\n", gap)
		l.at = e.At
	}
	fmt.Fprintf(&l.script, "  - "+format+"\n", args...)
}

func (l *liveSaver) event(e *trace.Event) {
	for _, n := range l.t.Notes {
		if n.Seq == e.Seq {
			l.step(e, "say: %s", quoted(n.Text))
		}
	}
	if e.Node != trace.None && e.Client == trace.None {
		l.fault(e)
		return
	}
	switch e.Kind {
	case trace.KindGranted:
		l.cycles[e.Client]++
		l.step(e, "run: %s\n    to: work", quoted(l.names[e.Client]))
	case trace.KindExecute:
		l.stored(e)
	case trace.KindReleased:
		l.step(e, "run: %s\n    to: done", quoted(l.names[e.Client]))
	case trace.KindRefused:
		if l.refused[e.Client]++; l.refused[e.Client] > 1 { // one that polls is refused often
			l.left["further refusals"]++
			return
		}
		l.cycles[e.Client]++
		l.step(e, "run: %s\n    to: done", quoted(l.names[e.Client]))
	case trace.KindExtended, trace.KindExtendFailed:
		l.left["extensions"]++
	case trace.KindLost:
		l.loses(e)
	case trace.KindCrash:
		l.step(e, "crash: %s", quoted(l.names[e.Client]))
	}
}

// stored takes the lock's TTL from the first record of it that expires.
func (l *liveSaver) stored(e *trace.Event) {
	for _, ch := range e.Changes {
		if ch.Key == l.t.Key && ch.After != nil && ch.After.Expires != trace.Never && l.ttl == 0 {
			l.ttl = max(time.Millisecond, (ch.After.Expires - e.At - time.Millisecond).Round(time.Millisecond))
		}
	}
}

// loses writes the loss of a reply to a client that asked for the lock: a scenario has words for that.
func (l *liveSaver) loses(e *trace.Event) {
	i := slices.IndexFunc(l.t.Events, func(x trace.Event) bool { return x.Seq == e.Ref })
	if i < 0 || l.t.Events[i].Kind != trace.KindExecute || l.t.Events[i].Phase != trace.PhaseAcquire {
		l.left["other lost messages"]++
		return
	}
	l.cycles[e.Client]++
	name := quoted(l.names[e.Client])
	l.step(e, "run: %s\n    to: after acquire first", name)
	l.step(e, "drop: {reply: %s}", name)
}

// fault writes a fault of a node.
func (l *liveSaver) fault(e *trace.Event) {
	node := l.t.Nodes[e.Node]
	switch e.Kind {
	case trace.KindDown:
		step := "down"
		if e.Note != "" {
			step = "unplug"
		}
		l.step(e, "%s: %s", step, node)
	case trace.KindUp:
		l.kept = l.kept || len(e.Changes) > 0
		l.step(e, "up: %s", node)
	case trace.KindEvict:
		l.step(e, "evict: %s", node)
	case trace.KindFlush:
		l.step(e, "flush: %s", node)
	case trace.KindNodeStep:
		l.step(e, "clock: {node: %s, by: %s}", node, e.By)
	}
}

func (l *liveSaver) persistence() string {
	if l.kept {
		return "always"
	}
	return "none"
}

// head is a comment on the file.
func (l *liveSaver) head() string {
	var left []string
	for what, n := range l.left {
		left = append(left, fmt.Sprintf("%d %s", n, what))
	}
	slices.Sort(left)
	head := "# Recorded by: lockstep serve\n# Shown by: lockstep run LOCK FILE, with any lock of the catalogue; each holder works until it gives the lock back\n"
	var renamed []string
	for i, name := range l.names {
		if as := l.t.Clients[i]; as != name && l.cycles[i] > 0 {
			renamed = append(renamed, fmt.Sprintf("%q is %s", as, name))
		}
	}
	if len(renamed) > 0 {
		head += "# A scenario can't have all names: " + strings.Join(renamed, ", ") + "\n"
	}
	if len(left) > 0 {
		head += "# Left out: " + strings.Join(left, ", ") + "\n"
	}
	return head
}
