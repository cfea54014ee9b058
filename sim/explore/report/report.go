// Package report puts the result of a search into words: the answer for each code, the
// bounds within which it holds, the effort, and whether it means anything. The command
// line, the terminal and the tests of other modules lay out the same report, so that all of
// them state the same bounds.
package report

import (
	"fmt"
	"strings"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/readings"
	"lockstep/sim/explore/space"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Item is one statement with the label under which it stands. A text of several lines is a
// list: each line that begins with a dash is one of its entries, and the others are sentences.
type Item struct{ Label, Text string }

// Line is the text in one line.
func (i Item) Line() string { return strings.ReplaceAll(i.Text, "\n", " ") }

// labelWidth is the width of the longest label, in columns.
const labelWidth = 9

// String returns the item in lines that fit a page, without a newline at the end.
func (i Item) String() string {
	var b strings.Builder
	label := fmt.Sprintf("  %-*s", labelWidth, i.Label)
	for line := range strings.Lines(i.Text) {
		indent := labelWidth + 3
		if strings.HasPrefix(line, "- ") {
			indent += 2
		}
		b.WriteString(Wrap(label, indent, line))
		label = strings.Repeat(" ", labelWidth+2)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Text returns a search's answer for one code, after the code: "double grant: holds within
// these bounds".
func Text(f explore.Finding) string {
	text := f.Code.Name() + ": " + f.String()
	switch {
	case f.Answer == explore.Violated:
		text += "; " + Least(f.Least)
	case f.Code == trace.LV && f.Answer.Holds():
		text += ", if at some time nothing goes wrong any more, and messages and code take no time"
	}
	return text
}

// Covered states which of the schedules were searched.
func Covered(r *explore.Result) Item {
	switch {
	case !r.Complete:
		return Item{"covered", "not every schedule within these bounds: " + r.Why}
	case r.Closed:
		return Item{"covered", fmt.Sprintf("every schedule, with any number of cycles, and of those faults of which it says so below: the search closed.%s "+
			"The lock was seen to do the same with other tokens, among them such as begin or end alike, and with the clients' names exchanged", bounded(r))}
	}
	turns := ""
	if r.Threads {
		turns = ", in which the threads of one client act by turns, in the order in which they became ready"
	}
	return Item{"covered", "every schedule within these bounds" + turns + "; nothing is said of longer ones, or of those with more faults"}
}

// bounded tells what stays bounded in a search that has closed, if anything does.
func bounded(r *explore.Result) string {
	var list []string
	if !r.Bounds.Others {
		list = append(list, fmt.Sprintf("the clients, of which there are %d", r.Bounds.Clients))
	}
	of := ""
	if r.Bounds.Others {
		of = " of each two clients"
	}
	if r.UnderWay > 0 {
		list = append(list, fmt.Sprintf("the requests%s held up at a time, at most %d", of, r.UnderWay))
	}
	if n := r.Bounds.Faults[explore.Duplicate]; n > 0 {
		list = append(list, fmt.Sprintf("the requests%s that arrive twice, at most %d in a schedule", of, n))
	}
	if r.Threads {
		threads := "the threads of a client, which asks again when those that it has started in its last cycle have ended"
		if r.Bounds.Waits != explore.WaitsEndAtWill {
			threads += ", and which act in the order in which they became ready, all instants that a multiple of the grid stands for being one"
		}
		list = append(list, threads)
	}
	if len(list) == 0 {
		return ""
	}
	return " Still bounded: " + strings.Join(list, "; ") + "."
}

// Least tells the length of the least schedule that violates a code; nil stands for one that
// there was no time to find.
func Least(v *explore.Counterexample) string {
	if v == nil {
		return "some schedule shows it, and there was no time to find the least"
	}
	if v.Turn > 0 {
		return fmt.Sprintf("a schedule with %s comes to a situation after %s, and to the same again after %s more, for ever",
			Count(len(v.Faults), "fault"), Count(v.Steps-v.Turn, "step"), Count(v.Turn, "step"))
	}
	if v.Random {
		return fmt.Sprintf("the search has missed it; a random schedule shows it, of which nothing can be left out, with %s, %s between clients, %s",
			Count(len(v.Faults), "fault"), Count(v.Switches, "switch"), Count(v.Steps, "step"))
	}
	which := "the least schedule"
	if v.Within != nil {
		which = "within smaller bounds the least schedule"
	}
	return fmt.Sprintf("%s has %s, %s between clients, %s", which,
		Count(len(v.Faults), "fault"), Count(v.Switches, "switch"), Count(v.Steps, "step"))
}

// faults words how much may go wrong in one schedule.
func faults(b *explore.Bounds) string {
	if b.Faults == (explore.Budget{}) {
		return "none: nothing goes wrong"
	}
	var all, some explore.Budget
	for k, n := range b.Faults {
		switch held := explore.FaultKind(k) == explore.HoldRequest && b.Endless(); {
		case n == explore.Any:
			all[k] = n
		case !held:
			some[k] = n
		}
	}
	var parts []string
	if all != (explore.Budget{}) {
		parts = append(parts, all.String())
	}
	if some != (explore.Budget{}) {
		parts = append(parts, "at most "+some.String())
	}
	text := "in one schedule " + strings.Join(parts, ", and ")
	if n := b.Faults[explore.HoldRequest]; n > 0 && b.Endless() {
		text += fmt.Sprintf("; requests are held up any number of times, at most %d at a time", n)
	}
	if b.Faults[explore.Duplicate] > 0 && !b.Endless() {
		text += fmt.Sprintf("; a request that arrives twice is one of the last %d of its client", bounds.Repeatable)
	}
	if b.Faults[explore.ClientClock]+b.Faults[explore.ServerClock] > 0 {
		text += fmt.Sprintf("; a clock that jumps does so by %s, forward or back", trace.Duration(b.ClockJump()))
	}
	return text
}

// probed says for which spans code is run that no schedule has had.
const probed = "at nineteen readings up to a TTL, twelve more up to two TTLs, and fewer up to twenty days"

// expires says when a record goes in a search without bounds.
const expires = "a record goes before or after whatever happens in the millisecond that ends its life, of which each is looked at"

// Bounds states the bounds of a search that has been made. They must make sense.
func Bounds(b *explore.Bounds) []Item {
	cfg, err := b.Config()
	if err != nil {
		return nil // cannot be: it has been searched
	}
	var names []string
	for _, c := range cfg.Clients {
		names = append(names, c.Name)
	}
	record := ""
	if cfg.Record != "" {
		record = fmt.Sprintf("; the lock's record is %q", cfg.Record)
	}
	resource := ""
	if b.Resource != sim.Plain {
		resource = "; the resource is " + b.Resource.String()
	}
	others := ""
	if b.Others {
		others = "; and any number of others, in whose place an environment does to the servers, at any time and in any order, each command or transaction that a client was seen to send, " +
			"with tokens of its own: any two clients can be the first two"
	}
	order := "every order of the clients' steps: each command, reply, look at a clock, access to the resource"
	if b.Switches > 0 {
		order = fmt.Sprintf("orders of the clients' steps with at most %s from one to another; a step is a command, a reply, a look at a clock, an access to the resource",
			Count(b.Switches, "switch"))
	}
	items := []Item{
		{"clients", fmt.Sprintf("%s, each of which asks for the lock %s; whoever has it %s", trace.List(names), times(b.Cycles)+retries(&cfg.Retry), cfg.Caller()) + others},
		{"servers", fmt.Sprintf("%s, with nothing on disk; the TTL is %s, a client waits %s for a reply%s%s",
			Count(len(cfg.Nodes), "server"), trace.Duration(cfg.TTL), trace.Duration(cfg.Timeout), resource, record)},
		{"order", order},
		{"faults", faults(b)},
		{"instants", instants(b)},
		{"tokens", tokens(b)},
		{"not in it", space.Outside(b)},
	}
	if assumed := b.Strategy.Assumes; assumed != "" {
		items = append(items, Item{"assumed", assumed})
	}
	return items
}

// anywhere says where faults happen.
const anywhere = "Whatever can go wrong is tried between any two steps. "

// instants states at which instants anything can happen.
func instants(b *explore.Bounds) string {
	text := anywhere + "When time goes on, it stops at the next of these instants, and anything can happen there:\n" +
		"- a record expires; a lease's deadline comes; a sleep ends; a client has waited long enough for a reply;\n" +
		"- a TTL, the life of any key, a lease or a sleep before each of these, and a timeout before it where a reply may be late;\n" +
		"- a clock, or a record's remaining life, has a value at which the lock's code was seen to do something else than before;\n" +
		"- a hundred TTLs have passed since somebody read a monotonic clock;\n" +
		"- a hundred TTLs, or a TTL and two seconds, have passed since somebody read true time, unless it was seen when a stamp falls due.\n" +
		"To find the values at which the code does something else, each place of it that reads a clock or a life was run with other readings: " + probed + ". " +
		"That was done for two histories of each kind that lead to the place, which differ in what the code was told, great numbers aside, and what followed was compared for up to 40 histories" + memory(b) + ".\n" +
		"Not in it: code that does something else at further values, or that changes and changes back between two that were tried; and instants that are several of the spans above before another.\n" +
		"If a clock that shows true time is read, nothing is decided unless short schedules that begin at 21 other times of the day and the year go the same way"
	if b.Cycles == explore.Any {
		text = multiples(b)
	}
	if b.WholeSleeps {
		text += ".\nAll instants are whole milliseconds: the lock sleeps for fractions of one, and each such sleep ends with the next whole one"
	}
	return text
}

// tokens states what was tried of code that looks into tokens.
func tokens(b *explore.Bounds) string {
	if b.Strategy.Seeds {
		return "those of one seed, from which the library makes its random values. Not in it: what depends on these values, such as two that are equal"
	}
	again := "the first 400 of the clients' operations and of the commands, and of those that follow three of each kind (of many kinds, 4,000 in all)"
	if b.Endless() {
		again = "all of the clients' operations, and all commands"
	}
	return "those of one seed. Before anything is said to hold, " + again + ", are run once more with tokens that begin or end alike, that differ in one character, " +
		"and that ascend or descend; if anything else differs then, nothing is decided. Not in it: code that looks for something else in a token"
}

// memory says how much further a lock is followed that keeps something for its next cycle.
func memory(b *explore.Bounds) string {
	if b.Cycles == 1 {
		return ""
	}
	return "; where the lock keeps something from one cycle to the next, further on fewer ways, through two cycles or more"
}

// multiples states the instants of a search without bounds.
func multiples(b *explore.Bounds) string {
	ends, spans := "", ", all sleeps, all lives of records and, if a reply may be late, the timeout"
	if b.Waits == explore.WaitsEndAtWill {
		ends, spans = "- Sleeps, and waits for replies that don't come, end at any time, sooner or later than they do: that is more than can happen.\n", " and all lives of records"
	}
	if b.Faults[explore.ClientClock]+b.Faults[explore.ServerClock] > 0 {
		spans = ", the jumps of clocks" + spans
	}
	return anywhere + "Time goes on in steps of one length, the greatest span of which the TTL" + spans + " are multiples:\n" +
		"- A lease's end is rounded up to such a multiple.\n" +
		"- " + strings.ToUpper(expires[:1]) + expires[1:] + ".\n" + ends +
		"- All spans are alike that are longer than each of these.\n" +
		"- Where code compares a clock with a span of its own, since the cycle's first look at it, it does either at the multiples before and after.\n" +
		"The code was seen to tell spans apart in no other way. To find that out, each place of it that reads a clock or a life was run with other readings: " + probed + ".\n" +
		"Not in it: code that tells spans apart elsewhere, or between two of these"
}

// Effort states the size of the search, and how near it came to violations.
func Effort(r *explore.Result) []Item {
	how := "which are all within these bounds"
	switch {
	case r.Closed:
		how = "which are all that there are"
	case !r.Complete:
		how = fmt.Sprintf("among them all that schedules of %d choices or fewer lead to; a choice may be several steps", r.Depth)
	}
	if r.Bounds.Alike() {
		how += ". Of those that differ in clients' names alone one was followed for all"
	}
	items := []Item{
		{"states", fmt.Sprintf("%s, %s", Count(int(r.States), "situation"), how)},
		{"choices", Grouped(r.Transitions) + " followed from them"},
		{"Redis", fmt.Sprintf("really executed %s; what it did was remembered for all other times", Count(r.Commands, "command"))},
		{"near", "what kept schedules from going wrong, over all choices: " + near(&r.Near)},
	}
	if r.TrialsMeant > 0 {
		items = append(items, Item{"trials", fmt.Sprintf("the engine played %s%s within these bounds, in which time passes for any span, without regard to the instants of the search: %s",
			Count(r.Trials, "random schedule"), ofMeant(r), trialled(r))})
	}
	if r.Draws > 0 {
		items = append(items, Item{"draws", fmt.Sprintf("a random number is the least, the middle or the greatest of its range, one of %d others that leads to another next step, "+
			"or one at which the code was seen to do something else later. Other numbers, and sleeps of other lengths, weren't tried", readings.Samples)})
	}
	if len(r.Branches) > 0 {
		items = append(items, Item{"clocks", fmt.Sprintf("at %s since a cycle's first look at a clock the lock's code changes its mind: at multiples of %s on both sides of that, either was followed",
			trace.List(durations(r.Branches)), trace.Duration(r.Grid))})
	}
	if r.Timed {
		items = append(items, Item{"stamps", "the lock reads a clock that shows true time. Of a stamp that a script has made, or that a client keeps in a field, it isn't known which reading that was: " +
			"of two ages at which such stamps fall due, the greater may be missed if it is the lesser and the time between two readings"})
	}
	if r.Unprobed > 0 {
		// At how many depends on the workers' pace: code that they have run already costs no time.
		items = append(items, Item{"probes", "at some places in the lock's code, which read a clock or a record's remaining life, only the values were tried that schedules came to. " +
			"There was no time for others: code that does something else at other values was not seen there"})
	}
	return append(items, Lasting(r)...)
}

// ofMeant says how many were to be played, if there was no time for all.
func ofMeant(r *explore.Result) string {
	if r.Trials < r.TrialsMeant {
		return fmt.Sprintf(" (of %s that were to be)", Grouped(int64(r.TrialsMeant)))
	}
	return ""
}

// trialled says what random schedules have shown.
func trialled(r *explore.Result) string {
	var codes []string
	for _, v := range r.Violated {
		if v.Random {
			codes = append(codes, v.Code.String())
		}
	}
	if len(codes) > 0 {
		return "some violate " + strings.Join(codes, ", ") + ", which the search has missed"
	}
	return "none violates what is said to hold"
}

// Lasting states the answers of a search's graph about those who keep asking, and their assumptions.
// It is empty if LV was not sought.
func Lasting(r *explore.Result) (items []Item) {
	l := r.Liveness
	if l == nil {
		return nil
	}
	wait := fmt.Sprintf("if nobody holds the lock and somebody keeps asking, somebody is granted it within %s, whatever was left behind before (a record may live up to a millisecond longer, "+
		"which isn't counted)", trace.Duration(l.Wait))
	if l.Unbounded != "" {
		wait = "how long a free lock is waited for at most, the search doesn't say: " + l.Unbounded
	}
	return []Item{{"wait", wait}, {"assumed", "for LV and for that wait: at some time things stop going wrong, be it after any number of the faults above, and it is from then on that time counts. " +
		"Messages and code take no time, in every order of the steps at one instant. Each client that can act does so before time goes on. " +
		"To keep asking is to be in Acquire whenever time passes: whoever is refused asks again at once. Nobody promises a single client that it gets the lock, if others do"}}
}

// Code states how much of the strategy's own code the search ran.
func Code(r *explore.Result) Item {
	return Item{"code", fmt.Sprintf("the lock's own did %s; what it did was remembered for all other times", Count(r.Operations, "operation"))}
}

func near(n *explore.NearMisses) string {
	parts := []string{Count(int(n.Refused), "refusal") + " of a client that asked for the lock"}
	for _, m := range []struct {
		n         int64
		what, how string
	}{
		{n.Compared, "comparison", " in a release that found another's token, or none"},
		{n.NotHeld, "release", " whose caller was told that the lock was no longer its own"},
		{n.Fenced, "access", " that the resource refused for an old fencing token"},
	} {
		if m.n > 0 {
			parts = append(parts, Count(int(m.n), m.what)+m.how)
		}
	}
	return strings.Join(parts, "; ")
}

// Worth tells whether a search that finds nothing means anything.
func Worth(r *explore.Result) []Item {
	items := []Item{{"not idle", "in some schedule the lock was taken, given back, and taken again: no answer above is due to a lock that nobody gets"}}
	if !r.Vacuity.Reacquired {
		items[0] = Item{"IDLE", "no schedule takes the lock, gives it back, and takes it again"}
	}
	if !r.Vacuity.Granted {
		items = append(items, Item{"REFUSED", "the lock is never acquired, even where nothing goes wrong"})
	}
	if r.Vacuity.Failure != "" {
		items = append(items, Item{"FAILS", "though nothing goes wrong, the lock's own Acquire fails with " + r.Vacuity.Failure})
	}
	if r.Vacuity.Unseen {
		items = append(items, Item{"UNSEEN", "Acquire returns a lease and leaves no record behind"})
	}
	if r.Vacuity.Stays != "" {
		items = append(items, Item{"RECORD", fmt.Sprintf("the key %q is taken for the lock's record, although it is still there when a release has returned; "+
			"if it is something else, such as a counter, nothing here is about the record: name that by Bounds.Record", r.Vacuity.Stays)})
	}
	if r.Vacuity.Extended {
		items = append(items, Item{"extended", "in some schedule a lease is extended"})
	}
	if r.Vacuity.Unextended {
		items = append(items, Item{"UNTRIED", "the lock can extend a lease, and no caller did: nothing here is about its Extend (--caller extends, or Bounds.Extend)"})
	}
	if r.Vacuity.Asleep != "" {
		items = append(items, Item{"ASLEEP", "some schedule ends with a client that waits for ever" + r.Vacuity.Asleep + ", for a message or an element that nobody sends any more"})
	}
	why := "there was never an occasion"
	if !r.Complete {
		why = "the search did not get so far"
	}
	for _, k := range r.Vacuity.Unused {
		items = append(items, Item{"unused", fmt.Sprintf("no schedule had a %s: %s", k.Words(1), why)})
	}
	return items
}

// Faults lists the faults of a counterexample, each with the result of playing it without
// that fault. Before them it states the bounds within which it is the least, if these are
// smaller than the search's.
func Faults(v *explore.Counterexample) []Item {
	var items []Item
	if b := v.Within; b != nil {
		items = append(items, Item{"bounds", fmt.Sprintf("%s, each of which asks for the lock %s; at most %s", Count(b.Clients, "client"), times(b.Cycles), b.Faults)})
	}
	for _, f := range v.Faults {
		without := "it happens without as well"
		switch {
		case v.Turn > 0:
			without = "on the way to the livelock"
		case f.Replaced:
			without = fmt.Sprintf("tried without: %s takes another fault instead", v.Code)
		case f.Essential:
			without = fmt.Sprintf("tried without: no %s", v.Code)
		}
		items = append(items, Item{"fault", fmt.Sprintf("%s (%s)", f.Text, without)})
	}
	return items
}

func durations(spans []time.Duration) (list []string) {
	for _, d := range spans {
		list = append(list, trace.Duration(d))
	}
	return list
}

// retries tells how a lock that is refused asks again, as the end of a sentence. It is empty
// if the lock tries only once.
func retries(r *strategies.Retry) string {
	if r.Tries <= 1 {
		return ""
	}
	text := fmt.Sprintf(", with up to %d tries each time, %s apart", r.Tries, trace.Duration(r.Delay))
	if r.Jitter > 0 {
		text += " and up to " + trace.Duration(r.Jitter) + " more"
	}
	return text
}
