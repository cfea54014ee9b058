package locktest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/sim/explore"
	"lockstep/sim/explore/locktest/outside"
	"lockstep/sim/explore/report"
	"lockstep/sim/export"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// violations describes each violation: its meaning, the least schedule and its faults, the
// trace with the holders at its end, and the ways to play it again. pages has the file of
// each that was written. test is the name of the test.
func violations(test string, s strategies.Strategy, r *explore.Result, pages map[trace.Code]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", s.Name, r.Summary())
	for _, v := range r.Violated {
		fmt.Fprintf(&b, "%s\n%s is a %s: %s\n", report.Headline(v.Trace, v.Code), v.Code, v.Code.Name(), v.Code.Meaning())
		fmt.Fprintf(&b, "%s\n%s\n", report.Least(v), lines(report.Faults(v)))
		fmt.Fprintf(&b, "%s\n", indent(Excerpt(v.Trace)))
		fmt.Fprintf(&b, "again: locktest.Replay(t, lock, %q)\n", v.Trace.Schedule)
		page := pages[v.Code]
		if page == "" {
			page = fmt.Sprintf("go test -run '^%s$' -artifacts writes it as a page with the player in it, and names the file", strings.ReplaceAll(test, "/", "$/^"))
		}
		fmt.Fprintf(&b, "open:  %s\n\n", page)
	}
	return b.String() + coverage(r)
}

// keep writes each least schedule as a page with the player in it, if that was asked for, and
// returns the files. A lock of one's own is not in the catalogue, so that the program itself
// can't play it.
func keep(t testing.TB, r *explore.Result) map[trace.Code]string {
	dir := os.Getenv("LOCKSTEP_ARTIFACTS")
	if f := flag.Lookup("test.artifacts"); dir == "" && f != nil && f.Value.String() == "true" {
		dir = t.ArtifactDir()
	}
	files := map[trace.Code]string{}
	if dir == "" {
		return files
	}
	for _, v := range r.Violated {
		file := filepath.Join(dir, fmt.Sprintf("%s-%s.html", v.Trace.Strategy, v.Code))
		err := os.MkdirAll(dir, 0o755)
		if err == nil {
			err = os.WriteFile(file, []byte(export.HTML(v.Trace)), 0o644)
		}
		if err != nil {
			t.Errorf("the schedule with %s could not be written: %s", v.Code.Named(), err)
			continue
		}
		files[v.Code] = file
	}
	return files
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

// Excerpt formats the trace with lines of code beside the events. Readings of clocks are left
// out, and so are sends and receives in the instant of the execution: the line of the
// execution stands for all three, and the numbers have a gap.
func Excerpt(t *trace.Trace) string {
	var lines, places []string
	width := 0
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind == trace.KindClock || e.Kind == trace.KindSend && followed(t, i) || e.Kind == trace.KindReceive && follows(t, i) {
			continue
		}
		line := t.Line(e)
		lines, places = append(lines, line), append(places, report.Place(t, e.Source))
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

// coverage states what was searched: the answer for each code that has no least schedule,
// then the bounds, the effort and the worth of the search. It is the report of lockstep
// explore.
func coverage(r *explore.Result) string {
	var b strings.Builder
	for _, f := range r.Findings() {
		if f.Least == nil {
			b.WriteString(report.Item{Label: f.Code.String(), Text: report.Text(f)}.String() + "\n")
		}
	}
	items := append([]report.Item{report.Covered(r)}, report.Bounds(&r.Bounds)...)
	b.WriteString(lines(items) + lines(report.Effort(r)) + lines([]report.Item{report.Code(r)}) + lines(report.Worth(r)))
	return strings.TrimRight(b.String(), "\n")
}

// unseen lists the uses of resources that a search doesn't have, but for those that the lock's author excuses.
func unseen(uses []outside.Use) string {
	var b strings.Builder
	for _, u := range uses {
		if u.Reason == "" {
			fmt.Fprintf(&b, "  %s:%d: %s: %s\n", u.Source.File, u.Source.Line, u.What, u.Why)
		}
	}
	return b.String()
}

// excuse says what to do about a use that doesn't matter.
const excuse = "What has no influence on what the lock does, such as a measurement, is excused by its reason, at the end of the line: " + outside.Directive + " REASON"

// bounded says what to do about memory that no search without a bound on cycles can have.
const bounded = "Keep it in the lock's fields, or search it within a bound on cycles, where Remembers is set. " + excuse

// remembered says in a line, after a line break, why histories don't join although Remembers is false.
func remembered(kept []outside.Use) string {
	var at []string
	for _, u := range kept {
		at = append(at, fmt.Sprintf("%s:%d", u.Source.File, u.Source.Line))
	}
	return "\n" + strings.TrimRight(lines([]report.Item{{Label: "memory", Text: "Remembers = false is left aside: the lock's code keeps things where a search doesn't see them, at " + strings.Join(at, ", ")}}), "\n")
}

// unread names the environment variable that gives the reason why a lock may be searched whose source can't be read.
const unread = "LOCKSTEP_UNREAD"

// readable says what to do about a lock whose source can't be read.
const readable = "A search doesn't see the machine's clock, random numbers, or what clients share; the lock's source would show whether it goes by those. " +
	"Test it by go test where its module and the go command are. If you know that it doesn't, say how in the environment: " + unread + "=REASON"

// assumptions lists a search's assumptions about the lock's code, each in a line of its own after
// a line break.
func assumptions(uses []outside.Use, err error) string {
	var items []report.Item
	if err != nil {
		items = append(items, report.Item{Label: "assumed", Text: fmt.Sprintf("the lock goes by no clock but Options.Clock, draws nothing and keeps nothing that its clients share: %s says so: %s (%s)", unread, os.Getenv(unread), err)})
	}
	for _, u := range uses {
		items = append(items, report.Item{Label: "assumed", Text: fmt.Sprintf("%s has no influence on what the lock does, as %s:%d says: %s", u.What, u.Source.File, u.Source.Line, u.Reason)})
	}
	if len(items) == 0 {
		return ""
	}
	return "\n" + strings.TrimRight(lines(items), "\n")
}
