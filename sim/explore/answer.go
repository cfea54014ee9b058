package explore

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim/explore/readings"
	"lockstep/sim/monitor"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// Answer is the conclusion of a search about one code, or about all of them. There are four
// answers. Each has one wording, that of String, and all views use it: a reader must never
// take one for another.
type Answer uint8

// The answers, from the least to the most that can be relied on, except that Violated is
// certain.
const (
	// NotDecided: a schedule that violates the code has neither been found nor excluded. The
	// search was cut off, or never took the steps that could violate it.
	NotDecided Answer = iota
	// HoldsWithin: no schedule within the bounds violates it. One with more cycles or with
	// more faults may.
	HoldsWithin
	// HoldsAlways: no schedule violates it, whatever its number of cycles and of faults of
	// the kinds in the budget. [Result.Closed] says what stays bounded.
	HoldsAlways
	// Violated: some schedule within the bounds violates it.
	Violated
)

// String returns the wording of the answer. That of NotDecided wants its reasons after it:
// see [Finding.String].
func (a Answer) String() string {
	return [...]string{NotDecided: "not decided", HoldsWithin: "holds within these bounds", HoldsAlways: "holds for every schedule", Violated: "violated"}[a]
}

// Apart returns the wording of the answer for those who read nothing else. If something is
// lacking, so that the search says less than its bounds promise, an answer that holds doesn't
// begin with that word.
func (a Answer) Apart(lacks bool) string {
	if lacks && a.Holds() {
		return "apart from what is lacking, " + a.String()
	}
	return a.String()
}

// Holds reports whether no schedule violates the code, be it within the bounds or at all.
func (a Answer) Holds() bool { return a == HoldsWithin || a == HoldsAlways }

// Finding is a search's answer for one code.
//
// Invariants: Because is empty unless the answer is NotDecided, and not empty then. But is
// empty unless the answer holds. Least is nil unless it is Violated, and even then if there
// was no time to find it.
type Finding struct {
	Code    trace.Code
	Answer  Answer
	Of      string   // if it holds for every schedule: of how many clients
	Because []string // why it is not decided: clauses
	But     []string // events for which no schedule had an occasion, though they could matter: clauses
	Least   *Counterexample
}

// String returns the answer as a clause, with the reasons in the same breath: "not decided, because
// ...". The events that no schedule had come first, as a reader of "holds" may read no further: "no lease
// was extended; apart from that, holds within these bounds".
func (f Finding) String() string { return f.Answer.with(f.Of, f.Because, f.But) }

func (a Answer) with(of string, because, but []string) string {
	text := a.String()
	if a == HoldsAlways {
		text += " of " + of
	}
	if len(because) > 0 {
		text += ", because " + strings.Join(because, ", and because ")
	}
	if len(but) > 0 {
		text = strings.Join(but, ", and ") + "; apart from that, " + text
	}
	return text
}

// Finding returns the answer for one code that was sought.
func (r *Result) Finding(c trace.Code) Finding {
	f := Finding{Code: c, Least: r.Find(c)}
	switch {
	case f.Least != nil || slices.Contains(r.Found, c):
		f.Answer = Violated
		return f
	case !r.Bounds.CodeSet().Has(c):
		f.Because = []string{"it was not looked for"}
		return f
	}
	if f.Because = r.undecided(); slices.Contains(r.Unconfirmed, c) {
		f.Because = append(f.Because, r.unconfirmed())
	}
	if c == trace.LV && len(f.Because) == 0 {
		f.Because = r.unread()
	}
	if c == trace.PD && r.Vacuity.Stuck {
		f.Because = append(f.Because, stuck)
	}
	if slices.Contains(r.Vacuity.Touching, c) {
		f.Because = append(f.Because, touches)
	}
	if len(f.Because) > 0 {
		return f
	}
	f.Answer, f.But = HoldsWithin, r.lacking(c)
	if r.Closed {
		f.Answer, f.Of = HoldsAlways, r.Bounds.Many()
	}
	return f
}

// stuck is the reason why a search that has met with no orphaned record doesn't claim that there
// is no permanent deadlock.
const stuck = "some schedule ends with a lock that nobody has and nobody can ever have again, and no record under its key is to blame, " +
	"which is all that PD covers: what did a client leave under another key, such as a place in a queue or a permit that it took?"

// touches is the reason why a search within bounds claims nothing of code that waits for just as long as a lease lasts.
const touches = "a schedule shows it if leases last a millisecond longer than they say, and between two whole milliseconds, at which alone time stops, " +
	"code that cuts its clock's readings off to whole ones comes too early by less than one: can it wait for a millisecond more, or can the lease end sooner?"

// unconfirmed explains why a violation that the search has met with isn't one for certain.
func (r *Result) unconfirmed() string {
	text := fmt.Sprintf("a situation shows it, and no schedule of it was found within smaller bounds, each of which was searched for %s at most", grace)
	if r.Bounds.Others {
		text += fmt.Sprintf(", with up to %d clients; the environment, which stands for all clients but two, may do more than they can", MaxClients)
	}
	return text
}

// Findings returns the answers for all codes that were sought: first those violated, then
// those not decided, then those that hold with a but, then those that hold. Each group has
// its worst code first.
func (r *Result) Findings() []Finding {
	var all []Finding
	for _, c := range r.Bounds.Sought() {
		all = append(all, r.Finding(c))
	}
	order := [...]int{Violated: 0, NotDecided: 1, HoldsWithin: 2, HoldsAlways: 2}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(order[a.Answer]-order[b.Answer], len(b.But)-len(a.But))
	})
	return all
}

// Answer returns the answer of the whole search, which is the least favourable of its
// findings.
func (r *Result) Answer() Answer {
	all := r.Findings()
	if len(all) == 0 {
		return NotDecided
	}
	return all[0].Answer
}

// Summary is the answer of the whole search in one clause: "violated (DG, FR)", "not decided,
// because ...". Codes with different answers are named: a reader must not take one's for another's.
func (r *Result) Summary() string {
	type group struct {
		codes []string
		text  string
	}
	var violated, overslept []string
	var groups []group // with the same answer, for the same reasons
	holds := NotDecided
	all := r.Findings()
	slices.SortStableFunc(all, func(a, b Finding) int { return len(a.But) - len(b.But) }) // codes that hold with an exception come last
	for _, f := range all {
		if f.Answer == Violated {
			violated = append(violated, f.Code.String())
			if f.Least != nil && timeline.Overslept(f.Least.Trace, f.Code) {
				overslept = append(overslept, f.Code.String())
			}
			continue
		}
		holds = max(holds, f.Answer)
		i := slices.IndexFunc(groups, func(g group) bool { return g.text == f.String() })
		if i < 0 {
			i, groups = len(groups), append(groups, group{text: f.String()})
		}
		groups[i].codes = append(groups[i].codes, f.Code.String())
	}
	var parts []string
	if len(violated) > 0 {
		parts = append(parts, fmt.Sprintf("%s (%s)", Violated, strings.Join(violated, ", ")))
	}
	if len(overslept) > 0 {
		parts = append(parts, "the schedules shown for "+strings.Join(overslept, ", ")+" pause a client past its lease, which no lock with a lease withstands by itself")
	}
	for _, g := range groups {
		if len(groups)+len(violated) > 1 {
			g.text = strings.Join(g.codes, ", ") + ": " + g.text
		}
		parts = append(parts, g.text)
	}
	return strings.Join(parts, "; ") + r.resolution(holds)
}

// resolution says how near to each other the tried values of the code's readings and random
// numbers are, if an answer that holds rests on them; otherwise it is empty.
func (r *Result) resolution(a Answer) (text string) {
	if !a.Holds() {
		return ""
	}
	if r.Captures {
		text = "; it is assumed that no closure of the lock remembers anything from one cycle to the next, as Remembers = false says"
	}
	if r.Probed {
		text += fmt.Sprintf("; the code was tried with clocks and TTLs each %s up to %s, one at a time: what it does only between two of these, or only after two unusual ones, isn't covered",
			trace.Duration((r.Bounds.TTL / readings.ProbesEach).Round(time.Millisecond)), trace.Duration(2*r.Bounds.TTL))
		if r.Unprobed > 0 {
			text += ", and at some places there was no time for that"
		}
	}
	if r.Draws > 0 {
		text += "; of the random numbers that it draws a few were tried in each range: what others lead to, such as a sleep of another length, isn't covered"
	}
	return text
}

// undecided lists the reasons why it means nothing that the search has found no schedule
// with some code.
func (r *Result) undecided() (because []string) {
	if !r.Complete {
		because = append(because, "the search did not come to its end: "+r.Why)
	}
	if r.Bounds.Extend && !r.Vacuity.Extended {
		because = append(because, "no lease was ever extended, though the callers are to extend theirs: has the lock an Extend(context.Context, *strategies.Lease) error that ever succeeds?")
	}
	if r.Undecided != "" {
		because = append(because, r.Undecided)
	}
	return because
}

// unread lists the reason why the graph of the search tells nothing of livelocks.
func (r *Result) unread() []string {
	switch {
	case r.Liveness == nil:
		return []string{"its graph was not looked at"}
	case r.Liveness.Because != "":
		return []string{r.Liveness.Because}
	}
	return nil
}

// lacking lists the events that no schedule of a search has had, so that it says less than its
// bounds promise.
func (r *Result) lacking(c trace.Code) (but []string) {
	switch {
	case r.Vacuity.Unextended:
		but = append(but, "the lock's Extend was never called")
	case monitor.OfExtensions(c) && !r.Vacuity.Extended:
		but = append(but, "no lease was extended")
	}
	if !r.Vacuity.Reacquired {
		but = append(but, "the lock is acquired only once")
	}
	for _, k := range r.Vacuity.Unused {
		but = append(but, fmt.Sprintf("no schedule had a %s, for want of an occasion", k.Words(1)))
	}
	return but
}

// Wrong lists the faults of the counterexample in words.
func (c *Counterexample) Wrong() string {
	var texts []string
	for _, f := range c.Faults {
		texts = append(texts, f.Text)
	}
	if len(texts) == 0 {
		return "no fault at all"
	}
	return strings.Join(texts, "; ")
}
