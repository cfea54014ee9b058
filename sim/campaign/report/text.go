package report

import (
	"fmt"
	"io"
	"strings"

	"lockstep/sim/campaign/job"
	"lockstep/sim/explore/report"
)

// Text writes the report for people.
func (r *Report) Text(out io.Writer) error {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("campaign %s: %s", r.Campaign, r.summary())
	if r.Since != nil {
		p("\nSince the last report")
		for _, line := range r.Since.lines() {
			b.WriteString(report.Wrap(" ", 6, "- "+line))
		}
	}
	for i := range r.Locks {
		r.Locks[i].text(&b, p)
	}
	if len(r.LeftOut) > 0 {
		p("\nWhat was not searched, because it makes no sense")
		for _, line := range r.LeftOut {
			b.WriteString(report.Wrap(" ", 6, "- "+line))
		}
	}
	p("\nengine %s", r.Engine)
	_, err := io.WriteString(out, b.String())
	return err
}

// summary is the report in one line.
func (r *Report) summary() string {
	n := r.Counts()
	var parts []string
	for _, s := range []Status{Violated, Undecided, Known, Holds} {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], map[Status]string{Violated: "violated", Undecided: "not decided",
				Known: "violated as is known", Holds: "without a violation"}[s]))
		}
	}
	text := fmt.Sprintf("%s; %s", report.Count(len(r.Locks), "lock"), strings.Join(parts, ", "))
	text += fmt.Sprintf("; %s", report.Count(int(r.States), "state"))
	if r.Runs > 0 {
		text += fmt.Sprintf(", %s", report.Count(int(r.Runs), "random schedule"))
	}
	if r.Seconds > 0 {
		text += fmt.Sprintf("; %.1f s of work", r.Seconds)
	}
	return text
}

// lines are the changes, a sentence each, the worst first.
func (c *Changes) lines() []string {
	switch {
	case c.First:
		return []string{"this is the first"}
	case len(c.Worse)+len(c.Other) == 0:
		return []string{"nothing has changed"}
	}
	var all []string
	for _, w := range c.Worse {
		all = append(all, "WORSE: "+w)
	}
	return append(all, c.Other...)
}

func (l *Lock) text(b *strings.Builder, p func(string, ...any)) {
	p("\n%s (code %s)", l.Name, l.Code)
	for _, c := range l.Claims {
		b.WriteString(report.Wrap(fmt.Sprintf("  %-4s", c.Code), 7, c.String()))
		if c.Least != nil {
			b.WriteString(report.Wrap("      ", 7, c.Least.Headline))
			p("       lockstep replay '%s'", c.Least.Schedule)
		}
	}
	for i := range l.Entries {
		e := &l.Entries[i]
		b.WriteString(report.Wrap("   ", 7, e.String()))
	}
}

// String returns the claim in a sentence.
func (c *Claim) String() string {
	var parts []string
	of := c.Holds + c.Violated + c.Undecided
	switch {
	case of > 0 && c.Holds == of:
		parts = append(parts, fmt.Sprintf("holds in %s", report.Count(of, "search")))
	case of > 0:
		for _, x := range []struct {
			n    int
			what string
		}{{c.Violated, "violated"}, {c.Undecided, "not decided"}, {c.Holds, "holds"}} {
			if x.n > 0 {
				parts = append(parts, fmt.Sprintf("%s in %d of %s", x.what, x.n, report.Count(of, "search")))
			}
		}
	}
	if c.Random > 0 {
		parts = append(parts, fmt.Sprintf("violated by %s", report.Count(c.Random, "random schedule")))
	}
	text := c.Name + ": " + strings.Join(parts, ", ")
	if c.Known {
		text += " (known)"
	}
	if l := c.Least; l != nil {
		which := "the least"
		if l.Random {
			which = "one that the search has missed"
		}
		text += "; " + which + ", with " + c.Within + ": " + size(l)
	}
	for _, n := range c.Numbers {
		if c.Violated+c.Random == 0 {
			text += fmt.Sprintf("; lockstep explain claim %d says so for all schedules, on its assumptions", n)
		}
	}
	return text
}

// size tells how long a schedule is.
func size(l *job.Least) string {
	if l.Seed > 0 {
		return fmt.Sprintf("seed %d; %s", l.Seed, strings.Join(l.Faults, "; "))
	}
	return fmt.Sprintf("%s, %s, %s", report.Count(len(l.Faults), "fault"), report.Count(l.Switches, "switch"), report.Count(l.Steps, "step"))
}

// String returns the entry in a line: its bounds, its answer, its size.
func (e *Entry) String() string {
	what := "state"
	if e.Random {
		what = "schedule"
	}
	text := fmt.Sprintf("%s: %s; %s", e.About, e.Answer, report.Count(int(e.States), what))
	if e.Seconds > 0 {
		text += fmt.Sprintf("; %.2f s", e.Seconds)
	}
	return text
}
