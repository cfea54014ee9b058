// Package report makes the report of a campaign: the answers by lock and by code, the bounds
// within which they hold, the least schedules, and what has changed since the last report; as
// text, JSON, JUnit's XML and HTML.
package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/campaign/job"
	"lockstep/sim/campaign/plan"
	"lockstep/sim/claims"
	"lockstep/sim/trace"
)

// Report is the report of a campaign. It depends on the campaign and the locks alone, but for
// Took and the Seconds, which are 0 without times.
type Report struct {
	Format   int      `json:"format"`
	Campaign string   `json:"campaign"`
	Engine   string   `json:"engine"`
	Jobs     int      `json:"jobs"`
	States   int64    `json:"states"`    // of all searches
	Runs     int64    `json:"schedules"` // random ones
	Locks    []Lock   `json:"locks"`
	LeftOut  []string `json:"left_out,omitempty"` // combinations that make no sense, by reason
	Since    *Changes `json:"since,omitempty"`
	Seconds  float64  `json:"seconds,omitempty"` // of work, on one core each
}

// Lock is the part about one lock.
type Lock struct {
	Name    string  `json:"name"`
	Code    string  `json:"code"` // digest
	Known   string  `json:"known,omitempty"`
	Claims  []Claim `json:"claims"`
	Entries []Entry `json:"entries"`
}

// Claim sums up the answers of all searches and schedules of a lock for one code.
type Claim struct {
	Code      string     `json:"code"`
	Name      string     `json:"name"`
	Known     bool       `json:"known"` // the campaign's file says that the lock violates it
	Holds     int        `json:"holds"` // in so many searches
	Violated  int        `json:"violated"`
	Undecided int        `json:"undecided"`
	Random    int        `json:"random"`           // so many random schedules violate it
	Least     *job.Least `json:"least,omitempty"`  // of all
	Within    string     `json:"within,omitempty"` // the bounds or seeds of the least
	Numbers   []int      `json:"claims,omitempty"` // the claims of docs/model.md by which the lock never shows it
}

// Status is the answer of an entry, in a word.
type Status string

// The statuses, from the worst.
const (
	Violated  Status = "violated"    // some schedule violates a code that the lock isn't known to violate
	Undecided Status = "not decided" // for some code
	Known     Status = "known"       // all that is violated is known
	Holds     Status = "holds"       // nothing is violated
)

// Entry is one search, or the random schedules with one setting.
type Entry struct {
	About    string        `json:"about"`
	Random   bool          `json:"random,omitempty"`
	Status   Status        `json:"status"`
	Answer   string        `json:"answer"`
	States   int64         `json:"states"`
	Findings []job.Finding `json:"findings"`
	Bounds   []job.Item    `json:"bounds,omitempty"`
	Seconds  float64       `json:"seconds,omitempty"`

	refused bool
}

// format is the version of the report's JSON.
const format = 1

// Make makes the report of a campaign's results. times says whether it has any times.
func Make(c *plan.Campaign, engine string, results []job.Result, times bool) *Report {
	r := &Report{Format: format, Campaign: c.Name, Engine: engine, Jobs: len(results), Locks: []Lock{}, LeftOut: c.Omitted()}
	var order []string
	of := map[string][]job.Result{}
	for _, x := range results {
		name := x.Outcome.Job.Lock
		if of[name] == nil {
			order = append(order, name)
		}
		of[name] = append(of[name], x)
	}
	for _, name := range order {
		l := lockOf(name, of[name], c.Known[name], times)
		for _, e := range l.Entries {
			r.Seconds += e.Seconds
			if e.Random {
				r.Runs += e.States
			} else {
				r.States += e.States
			}
		}
		r.Locks = append(r.Locks, l)
	}
	return r
}

func lockOf(name string, results []job.Result, known []string, times bool) Lock {
	l := Lock{Name: name, Code: results[0].Outcome.Job.Code, Known: strings.Join(known, ", "), Claims: []Claim{}}
	at := map[string]int{}
	for _, x := range results {
		e := entryOf(&x, times)
		if i, more := at[e.About]; more && e.Random {
			l.Entries[i].add(&e)
			continue
		}
		at[e.About] = len(l.Entries)
		l.Entries = append(l.Entries, e)
	}
	for i := range l.Entries {
		l.Entries[i].conclude(known)
	}
	for _, c := range trace.Codes {
		if claim, any := claimOf(&l, c, known); any {
			l.Claims = append(l.Claims, claim)
		}
	}
	return l
}

func entryOf(x *job.Result, times bool) Entry {
	o := &x.Outcome
	e := Entry{About: o.Job.Shape(), Random: o.Job.Random != nil, Answer: o.Answer, States: o.States, Findings: o.Findings, Bounds: o.Bounds, refused: !o.Complete}
	if e.Random { // the chunks of a range are one entry
		_, e.About, _ = strings.Cut(e.About, " ")
		e.About = "random " + e.About
		e.Findings = slices.Clone(o.Findings)
	}
	if times {
		e.Seconds = x.Took.Seconds
	}
	return e
}

// add joins a later chunk of random schedules.
func (e *Entry) add(more *Entry) {
	e.States += more.States
	e.Seconds += more.Seconds
	if e.refused = e.refused || more.refused; more.refused {
		e.Answer = more.Answer
	}
	for _, f := range more.Findings {
		i := slices.IndexFunc(e.Findings, func(g job.Finding) bool { return g.Code == f.Code })
		if i < 0 {
			e.Findings = append(e.Findings, f)
			continue
		}
		sum := *e.Findings[i].Least
		sum.Times += f.Least.Times
		e.Findings[i].Least = &sum
	}
}

// conclude states the status, and of random schedules the answer.
func (e *Entry) conclude(known []string) {
	slices.SortStableFunc(e.Findings, func(a, b job.Finding) int { return rank(a) - rank(b) })
	var violated []string
	undecided, fresh := e.refused, false
	for i, f := range e.Findings {
		if e.Random {
			e.Findings[i].Text = fmt.Sprintf("violated by %d of the random schedules; the first is that of seed %d", f.Least.Times, f.Least.Seed)
		}
		switch {
		case f.Violated:
			violated = append(violated, f.Code)
			fresh = fresh || !slices.Contains(known, f.Code)
		case !f.Holds:
			undecided = true
		}
	}
	if e.Random && !e.refused {
		e.Answer = "none of these schedules violates anything"
		if len(violated) > 0 {
			e.Answer = fmt.Sprintf("violated (%s)", strings.Join(violated, ", "))
		}
	}
	switch {
	case fresh:
		e.Status = Violated
	case undecided:
		e.Status = Undecided
	case len(violated) > 0:
		e.Status = Known
	default:
		e.Status = Holds
	}
}

// rank puts violated codes first, and then the worst code first.
func rank(f job.Finding) int {
	n, _ := trace.ParseCode(f.Code)
	if f.Violated {
		return int(n)
	}
	return int(n) + 1000
}

// claimOf sums up the entries' findings on a code. It reports false if they have none.
func claimOf(l *Lock, c trace.Code, known []string) (Claim, bool) {
	claim := Claim{Code: c.String(), Name: c.Name(), Known: slices.Contains(known, c.String()), Numbers: claims.For(l.Name, c.String())}
	for i := range l.Entries {
		e := &l.Entries[i]
		for _, f := range e.Findings {
			switch {
			case f.Code != claim.Code:
				continue
			case f.Violated && e.Random:
				claim.Random += f.Least.Times
			case f.Violated:
				claim.Violated++
			case f.Holds:
				claim.Holds++
			default:
				claim.Undecided++
			}
			if f.Least != nil && (claim.Least == nil || less(f.Least, claim.Least)) {
				claim.Least, claim.Within = f.Least, e.About
			}
		}
	}
	return claim, claim.Random+claim.Violated+claim.Holds+claim.Undecided > 0
}

// less puts the schedules of searches before random ones, and then those with fewer faults,
// switches and steps first.
func less(a, b *job.Least) bool {
	found := func(l *job.Least) int {
		switch {
		case l.Seed > 0:
			return 2
		case l.Random:
			return 1
		}
		return 0
	}
	order := cmp.Or(found(a)-found(b), len(a.Faults)-len(b.Faults), a.Switches-b.Switches, a.Steps-b.Steps)
	return order < 0
}

// Counts are the numbers of entries by status.
func (r *Report) Counts() map[Status]int {
	n := map[Status]int{}
	for _, l := range r.Locks {
		for _, e := range l.Entries {
			n[e.Status]++
		}
	}
	return n
}

// JSON returns the report as JSON.
func (r *Report) JSON() []byte {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		panic(err) // it consists of numbers and texts
	}
	return append(text, '\n')
}

// Parse reads a report that was kept. One of another format counts as none.
func Parse(text []byte) *Report {
	var r Report
	if json.Unmarshal(text, &r) != nil || r.Format != format {
		return nil
	}
	return &r
}
