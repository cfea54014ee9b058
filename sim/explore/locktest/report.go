package locktest

import (
	"fmt"
	"path"
	"strings"

	"lockstep/sim/explore"
	"lockstep/sim/explore/report"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// violations describes each violation: its meaning, the least schedule and its faults, the
// trace with the holders at its end, and the call that replays it.
func violations(s strategies.Strategy, r *explore.Result) string {
	var b strings.Builder
	for _, v := range r.Violated {
		fmt.Fprintf(&b, "%s: %s, %s: %s\n", s.Name, v.Code, v.Code.Name(), v.Code.Meaning())
		fmt.Fprintf(&b, "%s\n%s\n", report.Least(v), lines(report.Faults(v)))
		fmt.Fprintf(&b, "%s\n", indent(excerpt(v.Trace)))
		fmt.Fprintf(&b, "again: locktest.Replay(t, lock, %q)\n\n", v.Trace.Schedule)
	}
	return b.String() + coverage(r)
}

// lines formats statements in lines that fit a page.
func lines(items []report.Item) string {
	var b strings.Builder
	for _, i := range items {
		b.WriteString(i.String() + "\n")
	}
	return b.String()
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}

// excerpt formats the trace with lines of code beside the events. Readings of clocks are left
// out, and so are sends and receives in the instant of the execution: the line of the
// execution stands for all three, and the numbers have a gap.
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

// place names a line of code as go test does: by its file alone if all files of the trace
// are in one folder.
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

// coverage states what was searched: the answer for each code that has no least schedule,
// then the bounds, the effort and the worth of the search. It is the report of lockstep
// explore.
func coverage(r *explore.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", report.Answer(r))
	for _, f := range report.Findings(r) {
		if f.Least != nil {
			continue
		}
		text := f.Text()
		if f.Untested {
			text += " (see Bounds.Extend)"
		}
		b.WriteString(report.Item{Label: fmt.Sprintf("%s %s", outcomes[f.Outcome], f.Code), Text: text}.String() + "\n")
	}
	b.WriteString(lines(report.Bounds(&r.Bounds)) + lines(report.Effort(r)) + lines([]report.Item{report.Code(r)}) + lines(report.Worth(r)))
	return strings.TrimRight(b.String(), "\n")
}

var outcomes = [...]string{report.Open: "open", report.Holds: "holds", report.Violated: "shows"}

// words lists codes with their names.
func words(codes trace.Verdict) string {
	var all []string
	for _, c := range codes {
		all = append(all, fmt.Sprintf("%s (%s)", c, c.Name()))
	}
	return strings.Join(all, ", no ")
}
