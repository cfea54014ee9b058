package report

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/campaign/job"
)

// Changes are the differences from the last report.
type Changes struct {
	First bool     `json:"first,omitempty"` // there is no last report
	Worse []string `json:"worse,omitempty"` // codes that are violated now and weren't, or are undecided and held
	Other []string `json:"other,omitempty"`
}

// Compare states the differences from the last report, which may be nil.
func (r *Report) Compare(last *Report) {
	r.Since = &Changes{}
	if last == nil {
		r.Since.First = true
		return
	}
	before := last.entries()
	now := r.entries()
	for _, l := range r.Locks {
		if old := last.lock(l.Name); old != nil && old.Code != l.Code {
			r.Since.other("%s: its code has changed", l.Name)
		}
		fresh := 0
		for i := range l.Entries {
			e := &l.Entries[i]
			old, known := before[l.Name+" "+e.About]
			if !known {
				fresh++
				continue
			}
			r.Since.entry(l.Name+" "+e.About, old, e)
		}
		if fresh > 0 {
			r.Since.other("%s: %d more than last time", l.Name, fresh)
		}
	}
	for _, l := range last.Locks {
		gone := 0
		for _, e := range l.Entries {
			if _, there := now[l.Name+" "+e.About]; !there {
				gone++
			}
		}
		if gone > 0 {
			r.Since.other("%s: %d of last time are gone", l.Name, gone)
		}
	}
}

func (r *Report) entries() map[string]*Entry {
	all := map[string]*Entry{}
	for _, l := range r.Locks {
		for i := range l.Entries {
			all[l.Name+" "+l.Entries[i].About] = &l.Entries[i]
		}
	}
	return all
}

func (r *Report) lock(name string) *Lock {
	i := slices.IndexFunc(r.Locks, func(l Lock) bool { return l.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Locks[i]
}

func (c *Changes) other(format string, args ...any) {
	c.Other = append(c.Other, fmt.Sprintf(format, args...))
}

// entry compares one search, or the random schedules with one setting, with the last.
func (c *Changes) entry(about string, old, now *Entry) {
	was, is := answers(old), answers(now)
	if !old.Random {
		undecided(was, is)
		undecided(is, was)
	}
	var worse, better []string
	for code, answer := range is {
		before, sought := was[code]
		switch {
		case before == answer:
		case answer == "violated", answer == "not decided" && before == "holds":
			worse = append(worse, fmt.Sprintf("%s %s and %s now", code, past(before, sought), present(answer)))
		default:
			better = append(better, fmt.Sprintf("%s %s and %s now", code, past(before, sought), present(answer)))
		}
	}
	for code := range was {
		if _, still := is[code]; !still {
			better = append(better, code+" is no longer met with")
		}
	}
	slices.Sort(worse)
	slices.Sort(better)
	if len(worse) > 0 {
		c.Worse = append(c.Worse, about+": "+strings.Join(worse, "; "))
	}
	if old.States != now.States {
		what := "states"
		if now.Random {
			what = "schedules"
		}
		better = append(better, fmt.Sprintf("%d %s, and had %d", now.States, what, old.States))
	}
	for _, f := range now.Findings {
		if i := slices.IndexFunc(old.Findings, func(g job.Finding) bool { return g.Code == f.Code }); i >= 0 && f.Least != nil &&
			old.Findings[i].Least != nil && old.Findings[i].Least.Schedule != f.Least.Schedule {
			better = append(better, "the schedule with "+f.Code+" is another")
		}
	}
	if len(better) > 0 {
		c.Other = append(c.Other, about+": "+strings.Join(better, "; "))
	}
}

// answers are an entry's answers by code.
func answers(e *Entry) map[string]string {
	all := map[string]string{}
	for _, f := range e.Findings {
		switch {
		case f.Violated:
			all[f.Code] = "violated"
		case f.Holds:
			all[f.Code] = "holds"
		default:
			all[f.Code] = "not decided"
		}
	}
	return all
}

// undecided has an entry that was refused or set aside, and so has no answers, leave all codes
// undecided of which another one has an answer.
func undecided(empty, other map[string]string) {
	if len(empty) > 0 {
		return
	}
	for code := range other {
		empty[code] = "not decided"
	}
}

func past(answer string, sought bool) string {
	switch {
	case !sought:
		return "was not met with,"
	case answer == "holds":
		return "held,"
	}
	return "was " + answer + ","
}

func present(answer string) string {
	if answer == "holds" {
		return answer
	}
	return "is " + answer
}
