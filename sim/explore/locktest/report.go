package locktest

import (
	"fmt"
	"path"
	"strings"

	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// violations tells of each that was found: what it is, the least schedule with it,
// who has what at its end, and how to see it again.
func violations(s strategies.Strategy, r *explore.Result) string {
	var b strings.Builder
	for _, v := range r.Violated {
		fmt.Fprintf(&b, "%s: %s, %s: %s\n", s.Name, v.Code, v.Code.Name(), v.Code.Meaning())
		fmt.Fprintf(&b, "the least schedule: %s, %s, %s\n\n", count(len(v.Faults), "fault"), count(v.Switches, "switch between clients", "switches between clients"), count(v.Steps, "step"))
		fmt.Fprintf(&b, "%s\n", indent(excerpt(v.Trace)))
		fmt.Fprintf(&b, "again: locktest.Replay(t, lock, %q)\n\n", v.Trace.Schedule)
	}
	return b.String() + coverage(r)
}

func count(n int, what ...string) string {
	if n == 1 {
		return "1 " + what[0]
	}
	return fmt.Sprintf("%d %s", n, append(what, what[0]+"s")[1])
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}

// excerpt is the trace with the lines of code beside the events. A request that is
// executed at once, and a reply that is read at once, have one line; where two
// numbers are missing the two halves were one step. Readings of clocks are left out.
func excerpt(t *trace.Trace) string {
	var lines, places []string
	width := 0
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind == trace.KindClock || e.Kind == trace.KindSend && followed(t, i) || e.Kind == trace.KindReceive && follows(t, i) {
			continue
		}
		line := t.Line(e)
		lines, places = append(lines, line), append(places, place(t, e.Source))
		width = max(width, len(line))
		for _, v := range t.Violations {
			if v.Last() == e.Seq {
				lines, places = append(lines, fmt.Sprintf("%12s  !! %s  %s", "", v.Code, v.Text)), append(places, "")
			}
		}
	}
	var b strings.Builder
	for i, line := range lines {
		if places[i] != "" {
			line = fmt.Sprintf("%-*s  %s", width, line, places[i])
		}
		b.WriteString(line + "\n")
	}
	s := t.StateAt(len(t.Events))
	fmt.Fprintf(&b, "\n%s\n", t.Holders(s))
	return b.String()
}

// followed reports whether a request is executed in the same instant, before
// anything else.
func followed(t *trace.Trace, i int) bool {
	return i+1 < len(t.Events) && t.Events[i+1].Kind == trace.KindExecute && t.Events[i+1].Ref == t.Events[i].Seq
}

// follows reports whether a reply is read in the instant of its execution, before
// anything else.
func follows(t *trace.Trace, i int) bool {
	return i > 0 && t.Events[i-1].Kind == trace.KindExecute && t.Events[i].Ref == t.Events[i-1].Seq && t.Events[i-1].At == t.Events[i].At
}

// place names a line as go test does, by its file alone, where all that the trace
// names is in one folder.
func place(t *trace.Trace, s trace.Source) string {
	if s.File == "" {
		return ""
	}
	file := path.Base(s.File)
	for i := range t.Events {
		if other := t.Events[i].Source.File; other != "" && path.Dir(other) != path.Dir(s.File) {
			file = s.File
			break
		}
	}
	return fmt.Sprintf("%s:%d", file, s.Line)
}

// coverage says what a result is worth.
func coverage(r *explore.Result) string {
	b := &r.Bounds
	var faults []string
	for k, n := range b.Faults {
		if n > 0 {
			faults = append(faults, fmt.Sprintf("%s=%d", explore.FaultKind(k), n))
		}
	}
	if len(faults) == 0 {
		faults = []string{"none"}
	}
	nodes := b.Nodes
	if nodes == 0 {
		nodes = b.Strategy.Nodes
	}
	var s strings.Builder
	fmt.Fprintf(&s, "  bounds    %s, %s each, %s, TTL %s; faults at most: %s\n", count(b.Clients, "client"), count(b.Cycles, "cycle"),
		count(nodes, "node"), trace.Duration(b.TTL), strings.Join(faults, " "))
	fmt.Fprintf(&s, "  covered   %s: %d states, %d choices; Redis executed %s, the lock's code did %s, all else was remembered\n",
		whole(r), r.States, r.Transitions, count(r.Commands, "command"), count(r.Operations, "operation"))
	fmt.Fprintf(&s, "  held by   %s\n", near(&r.Near))
	return strings.TrimRight(s.String(), "\n")
}

// near says what kept the lock from failing.
func near(n *explore.NearMisses) string {
	var all []string
	for _, m := range []struct {
		n         int64
		one, many string
	}{
		{n.Refused, "refusal", "refusals"},
		{n.Compared, "release that found another's record or none", "releases that found another's record or none"},
		{n.Fenced, "access that the fence refused", "accesses that the fence refused"},
	} {
		if m.n > 0 {
			all = append(all, count(int(m.n), m.one, m.many))
		}
	}
	if len(all) == 0 {
		return "nothing: nobody was ever refused"
	}
	return strings.Join(all, ", ")
}

func whole(r *explore.Result) string {
	if r.Complete {
		return "all schedules"
	}
	return "not all schedules (" + r.Why + ")"
}

// words are codes with their names.
func words(codes trace.Verdict) string {
	var all []string
	for _, c := range codes {
		all = append(all, fmt.Sprintf("%s (%s)", c, c.Name()))
	}
	return strings.Join(all, ", no ")
}
