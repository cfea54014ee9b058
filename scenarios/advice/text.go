package advice

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/claims"
	"lockstep/sim/trace"
)

// Rest is about a lock's runs under scenarios that the answers don't cite: the recommendation doesn't cover those.
type Rest struct {
	Made, Pending int   // their number, and that of those whose outcome isn't known yet
	Shown         []Run // those that show a code that the answers forbid, or accept under that scenario: see [Advice.Elsewhere]

	scenarios []string // all, of which the answers cite some
}

// Rest counts the lock's runs under those of the scenarios that the answers don't cite.
func (a *Advice) Rest(scenarios []string, outcome Outcome) Rest {
	rest := Rest{Shown: a.Elsewhere(scenarios, outcome), scenarios: scenarios}
	cited, without := a.Answers.Scenarios(), a.Answers.Without()
	for _, name := range scenarios {
		if slices.Contains(cited, name) || slices.Contains(without, name) || !applies(name, a.Lock) {
			continue
		}
		if _, known := outcome(name, a.Lock.Name); known {
			rest.Made++
		} else {
			rest.Pending++
		}
	}
	return rest
}

// Section is a part of the recommendation. The first has no heading, and all that must be known: the lock, what protects where two are at
// work all the same, why, what to do, and on what it depends.
type Section struct {
	Heading    string
	Paragraphs []string
}

// The headings of the sections after the first.
const (
	anotherWay = "Another way"
	more       = "More on this"
	runsBehind = "The runs behind it"
)

// Text puts the recommendation into sections. As a whole they have the reasons, too. Scenarios have the names that the reader finds them by.
func (a *Advice) Text(rest *Rest, outcome Outcome, name func(scenario string) string, whole bool) []Section {
	if a.Lock.Name == "" {
		return []Section{{Paragraphs: []string{"There is no such lock."}}}
	}
	first := Section{Paragraphs: said(a.Headline(), a.Protects())}
	if a.Enough {
		unspoken := a.Unspoken(rest, outcome, name, whole)
		reasons := said(a.price(name), a.covered(whole), a.whyOne(name))
		if a.guards() {
			first.Paragraphs = append(first.Paragraphs, a.unchecked(), keepsCounter+" "+outside)
			reasons = append([]string{beginsAgain, "It is " + a.Lock.Summary + "."}, reasons...)
		} else {
			first.Paragraphs = append(first.Paragraphs, "Why: no simpler lock does as well in the runs that your answers call for. It is "+a.Lock.Summary+".")
		}
		first.Paragraphs = append(first.Paragraphs, unspoken[:min(len(unspoken), 1)]...)
		reasons = slices.Concat(unspoken[min(len(unspoken), 1):], reasons)
		return []Section{first, {more, reasons}, {runsBehind, []string{a.withstood(rest)}}}
	}
	var ways []string
	for n := range a.Instead {
		ways = append(ways, a.instead(n, name))
	}
	first.Paragraphs = append(first.Paragraphs, "Why: "+a.fails())
	reasons := said(a.counterLost(name))
	if a.Cured() != "" {
		cure := a.Instead[0].answer(0)
		first.Paragraphs = append(first.Paragraphs, said("What to do: "+cure.remedy+". "+cure.limits, helps)...)
		ways, reasons = ways[1:], append(reasons, a.saves(rest, whole))
	}
	first.Paragraphs = append(first.Paragraphs, said(rest.Incomplete(), a.stuck(rest))...)
	all := []Section{first, {anotherWay, ways}, {more, reasons}, {runsBehind, []string{a.counted(rest, whole)}}}
	return slices.DeleteFunc(all, func(s Section) bool { return len(s.Paragraphs) == 0 })
}

// said are those of some sentences that there are.
func said(all ...string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// Protects says in a line what keeps harm away where two are at work at once, which no lock rules out.
func (a *Advice) Protects() string {
	switch {
	case a.Cured() != "":
		return "The key, an ID that its receiver acts on once, protects; the lock saves work."
	case !a.Enough:
		return "Every lock fails: two can be at work at once."
	case a.Enough && a.guards():
		return "That check protects: it refuses a late write, which no lock can prevent."
	}
	return "It only saves work: now and then two do the same work, which you accept."
}

// keepsCounter says how a server of Redis keeps the counter of tokens, outside what to do where a token isn't checked, and beginsAgain
// what harm the loss of the counter does.
const (
	keepsCounter = "What to do: have Redis keep the counter of tokens through restarts and power cuts (appendonly yes, appendfsync always), and never evict it (maxmemory-policy noeviction)."
	outside      = "Give a charge or a mail, which can't check a token, an idempotency key, so that a second one has no effect."
	beginsAgain  = "A counter that is lost begins again: the next holder's number is no higher than that of the one before, and the resource takes a late write."
)

// unchecked says what harm follows where the token of the lock isn't checked.
func (a *Advice) unchecked() string {
	return "Why: under every lock with a lease two can be at work after a pause past it: unchecked, " + a.damage() + "."
}

// price lists the unwanted codes that the lock shows, with their scenarios: "" if there are none.
func (a *Advice) price(name func(scenario string) string) string {
	if unwanted := where(a.Runs, func(r *Run) trace.Verdict { return r.Unwanted }, name); unwanted != "" {
		return "Its price: " + unwanted + "."
	}
	return ""
}

// withstood says of a lock that is enough how many runs show that, and in how many others it fails.
func (a *Advice) withstood(rest *Rest) string {
	text := aRun + fmt.Sprintf("It withstands all %d that your answers call for", len(a.Runs))
	if rest.Pending > 0 {
		return text + "."
	}
	failed := (&candidate{a.Lock, rest.Shown}).failed()
	switch failed {
	case 0:
		text += ", and fails in no other."
	case 1:
		text += ". It fails in 1 other: rule that out, as said above."
	default:
		text += fmt.Sprintf(". It fails in %d others: rule those out, as said above.", failed)
	}
	if harmless := len(rest.Shown) - failed; harmless > 0 {
		text += fmt.Sprintf(" %d more %s only work.", harmless, pick(harmless == 1, "costs", "cost"))
	}
	return text
}

// aRun says what the runs are that are counted.
const aRun = "Each run plays one mishap. "

// fenced is the lock with tokens that comes nearest where the resource checks them, and loses their counter in a failover: nil if there is none.
func (a *Advice) fenced() *Rejected {
	var nearest *Rejected
	for i := range a.Others {
		o := &a.Others[i]
		if o.Lock.Fences && o.By != nil && slices.Contains(failovers, o.By.Scenario) && (nearest == nil || slices.Compare(o.cost(), nearest.cost()) < 0) {
			nearest = o
		}
	}
	return nearest
}

// counterLost says why a token is not enough where the resource checks it and servers have replicas: the number is no better than its
// counter. It is empty anywhere else.
func (a *Advice) counterLost(name func(scenario string) string) string {
	f := a.fenced()
	if f == nil {
		return ""
	}
	return fmt.Sprintf("A fencing token is not enough with replicas: a failover can lose its counter together with the lock's record. The next holder then gets "+
		"the same number as the one before, or a lower one, and the resource takes a late write: %s shows %s under %s.", f.Lock.Name, named(f.By.Broken), name(f.By.Scenario))
}

// Headline says what to use: one lock, or, where none is enough alone, one with its cure; and of a token that it has to be checked,
// and that the number must not come again.
func (a *Advice) Headline() string {
	switch cured := a.Cured(); {
	case a.Enough && a.guards() && a.ofSeveral(): // the name alone would be taken for a charge, too
		return "Use " + a.Lock.Name + " on one server, only if its token is checked and its counter kept."
	case a.Enough && a.guards():
		return "Use " + a.Lock.Name + ", but only if its token is checked and its counter is never lost."
	case a.Enough:
		return "Use " + a.Lock.Name + "."
	case cured == "":
		return "No lock alone is enough."
	default:
		return "No lock alone is enough. Against " + sameWork + ", use " + cured + "; for " + computed + ", a version check."
	}
}

// The idempotency key protects sameWork, but not computed: the headline parts them, or a reader with the second would be sent off with a key.
const (
	sameWork = "a payment sent twice"
	computed = "a balance computed from what was read"
)

// Cured is the lock that is not enough alone, with its cure: "" if there is none.
func (a *Advice) Cured() string {
	if len(a.Instead) == 0 {
		return ""
	}
	i := &a.Instead[0]
	if cure := i.answer(0).cure; cure != "" {
		return i.Lock.Name + " " + cure
	}
	return ""
}

// Choice is the lock that is recommended; or, if none is enough alone, one with its cure; or else the one that comes nearest.
func (a *Advice) Choice() string {
	switch cured := a.Cured(); {
	case a.Enough && a.guards():
		return a.Lock.Name + ", if its token is checked"
	case a.Enough:
		return a.Lock.Name
	case cured != "":
		return "none alone: " + cured
	}
	return "none alone is enough (nearest: " + a.Lock.Name + ")"
}

// Since says in less than a line what has changed in this advice since one before.
func (a *Advice) Since(before *Advice) string {
	switch {
	case a.Enough != before.Enough:
		return pick(a.Enough, "now "+a.Lock.Name+" is enough; before, no lock alone was", "now no lock alone is enough; before, "+before.Lock.Name+" was")
	case a.Headline() == before.Headline():
		return "same advice as before" + a.reasonsSince(before)
	case a.Lock.Name == before.Lock.Name: // on one server of several
		return "same lock as before, " + a.Lock.Name + pick(a.ofSeveral(), ", on one of the servers", "")
	case a.Cured() != "":
		return "now " + a.Cured() + " instead of " + before.Lock.Name
	}
	return "now " + a.Lock.Name + " instead of " + before.Lock.Name
}

// reasonsSince says which reasons have come, or gone, where no lock is enough.
func (a *Advice) reasonsSince(before *Advice) (text string) {
	now, then := a.causes(), before.causes()
	for _, m := range now {
		if !slices.Contains(then, m) {
			text += "; " + m + " is now a reason, too"
		}
	}
	for _, m := range then {
		if !slices.Contains(now, m) {
			text += "; " + m + " is no longer a reason"
		}
	}
	return text
}

// saves says what a lock is good for beside the idempotency key, when it fails at that, and what follows from that: every mishap
// that isn't harmless then is named.
func (a *Advice) saves(rest *Rest, whole bool) string {
	what, _, _ := strings.Cut(a.Lock.Summary, ":")
	text := a.Lock.Name + " (" + what + ") mostly keeps two from doing the work at once."
	if rest.Pending > 0 {
		return text
	}
	covered, left := a.byCure(rest)
	text += fmt.Sprintf(" It doesn't where %s. With the idempotency key a payment that is sent twice is made once, so for a payment you ", either(a.classes(covered, whole)))
	mishaps, _ := a.Mishaps(left)
	if len(left) == 0 {
		return text + "need not prevent any of these."
	}
	return text + fmt.Sprintf("only have to rule out %s: nobody gets the lock then.", trace.List(mishaps))
}

// stuck says what has to be ruled out although the key keeps harm away: nobody gets the lock then. It is empty if there is no such mishap.
func (a *Advice) stuck(rest *Rest) string {
	_, left := a.byCure(rest)
	if rest.Pending > 0 || a.Cured() == "" {
		return ""
	}
	if mishaps, _ := a.Mishaps(left); mishaps != nil {
		return "Rule out " + trace.List(mishaps) + "."
	}
	return ""
}

// byCure parts the runs in which the lock fails into those that do no harm with its cure, and the others.
func (a *Advice) byCure(rest *Rest) (covered, left []Run) {
	for _, r := range slices.Concat(a.Runs, rest.Shown) {
		switch {
		case len(r.Broken) == 0:
		case a.covers(&r):
			covered = append(covered, r)
		default:
			left = append(left, r)
		}
	}
	return covered, left
}

// Incomplete says that runs are still to come, and what these can change. It is empty if none are.
func (r *Rest) Incomplete() string {
	if r.Pending == 0 {
		return ""
	}
	return fmt.Sprintf("Still computing %d %s, which can't change the lock, but may show more that you have to rule out.", r.Pending, pick(r.Pending == 1, "run", "runs"))
}

// fails says after which mishaps two are at work under every lock, by the answers, and what harm that does.
func (a *Advice) fails() string {
	causes := a.causes()
	text := "under every lock with a lease two can be at work after " + causes[0]
	if len(causes) > 1 { // the others not under every lock
		causes[0] += pick(causes[0] == longPause, " (under every lock with one)", "")
		text = "two can be at work after " + either(causes)
	}
	if damage := a.damage(); damage != "" {
		text += ", so that " + damage
	}
	return text + "."
}

// longPause is the mishap that no lock with a lease withstands by itself.
const longPause = "a pause past the lease"

// causes are the mishaps of the runs that decide in which the lock fails.
func (a *Advice) causes() []string {
	mishaps, _ := a.Mishaps(slices.DeleteFunc(slices.Clone(a.Runs), func(r Run) bool { return len(r.Broken) == 0 }))
	for i, m := range mishaps {
		mishaps[i] = pick(m == "a pause", longPause, m)
	}
	return mishaps
}

// helps says what the idempotency key doesn't protect, and what does.
const helps = "A balance or a stock needs a check, not a key: UPDATE ... WHERE version = 7."

// counted says in how many runs a lock fails that isn't enough: the runs that are listed are its own.
func (a *Advice) counted(rest *Rest, whole bool) string {
	var codes trace.Verdict
	for _, r := range a.Runs {
		codes = append(codes, r.Broken[:min(len(r.Broken), 1)]...)
	}
	called, n := (&candidate{a.Lock, a.Runs}).failed(), (&candidate{a.Lock, rest.Shown}).failed()
	text := fmt.Sprintf("in %d of the %d that your answers call for", called, len(a.Runs))
	if whole {
		text += fmt.Sprintf(", by %s", a.harm(slices.Compact(codes.Sorted())))
	}
	apply := len(a.Runs) + rest.Made + rest.Pending
	if rest.Pending > 0 {
		return aRun + fmt.Sprintf("Of the %d scenarios that apply%s %s alone fails %s, and in some of the other %d (%d to come).", apply, a.apart(rest), a.Lock.Name, text, rest.Made+rest.Pending, rest.Pending)
	}
	text = aRun + fmt.Sprintf("%s alone fails in %d of the %d scenarios that apply%s: %s, and in %d of the other %d.", a.Lock.Name, called+n, apply, a.apart(rest), text, n, rest.Made)
	if why := a.uncalled(rest.Shown, whole); why != "" {
		text += " Your answers don't call for " + why + "."
	}
	covered, left := a.byCure(rest)
	if len(covered) == 0 || a.Cured() == "" {
		return text
	}
	stored := 0
	for i := range covered {
		if a.Kind(&covered[i]).To == Versioned {
			stored++
		}
	}
	all := len(covered) + len(left)
	text += fmt.Sprintf(" With the key (argued, not run) a payment sent by both is made once in %s", pick(len(covered)-stored == all, "all of these", fmt.Sprintf("%d of the %d", len(covered)-stored, all)))
	if stored > 0 {
		text += fmt.Sprintf("; %d %s: a value is computed and stored, which needs a version check", stored, pick(stored == 1, "is about no payment", "are about no payments"))
	}
	if len(left) > 0 {
		text += fmt.Sprintf("; in %d nobody gets the lock", len(left))
	}
	text += "."
	return text
}

// apart says of how many scenarios those are that a count has: the others can't happen, by the answers, or they don't apply to the lock.
func (a *Advice) apart(rest *Rest) string {
	if len(rest.scenarios) == len(a.Runs)+rest.Made+rest.Pending {
		return ""
	}
	return fmt.Sprintf(" (of %d)", len(rest.scenarios))
}

// harm lists codes with their names, and a stale write with its harm.
func (a *Advice) harm(codes trace.Verdict) string {
	var all []string
	for _, c := range codes {
		words := named(trace.Verdict{c})
		if damage := a.damage(); c == trace.SW && damage != "" {
			words = fmt.Sprintf("%s (%s: %s)", c.Name(), c, damage)
		}
		all = append(all, words)
	}
	return trace.List(all)
}

// damage is the harm of a stale write, by the answers: "" if they don't say that it does any.
func (a *Advice) damage() string {
	for _, r := range a.Answers.of() {
		if r.damage != "" {
			return r.damage
		}
	}
	return ""
}

// either lists alternatives: "one, another or a third".
func either(all []string) string {
	if last := len(all) - 1; last > 0 {
		return strings.Join(all[:last], ", ") + " or " + all[last]
	}
	return strings.Join(all, "")
}

// Names are those of the answers to a question.
func (q *Question) Names() (names []string) {
	for i := range q.Answers {
		names = append(names, q.Answers[i].Name)
	}
	return names
}

// Either lists the answers to a question: "one, or another".
func (q *Question) Either(text func(*Answer) string) string {
	var all []string
	for i := range q.Answers {
		all = append(all, text(&q.Answers[i]))
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + ", or " + all[last]
}

// covered says of a lock that is enough what the runs show on which the recommendation rests.
func (a *Advice) covered(whole bool) string {
	accepted := a.accepted()
	shown := "nothing that they forbid"
	if whole {
		shown = "no " + named(slices.DeleteFunc(a.Answers.Forbids(), func(c trace.Code) bool { return slices.Contains(accepted, c) }))
	}
	text := "In the runs that your answers call for it shows " + shown + "."
	allowed := a.allowed()
	if len(allowed) > 0 {
		text += " What it does show there, you don't forbid: " + inWords(allowed)
		if slices.ContainsFunc(a.Runs, func(r Run) bool { return a.refuses(&r) }) {
			text += "; where two overlapped, the resource refused the stale write"
		}
		if accepted != nil {
			text += fmt.Sprintf("; %s you accept where a server loses the lock's record, and nowhere else", inWords(accepted))
		}
		text += "."
	}
	return text
}

// inWords are codes as a sentence has them: their effects on clients, or their names.
func inWords(codes trace.Verdict) string {
	var all []string
	for _, c := range codes {
		words := c.Named()
		switch c {
		case trace.OV:
			words = "two at work at once"
			if !slices.Contains(codes, trace.DG) { // or one would take it for that
				words += " after a pause past the lease, which no lock prevents"
			}
		case trace.BD:
			words = "waiting until a dead holder's lease is over"
		}
		all = append(all, fmt.Sprintf("%s (%s)", words, c))
	}
	return trace.List(all)
}

// accepted are the codes that the runs of a lock that is enough show where the answers accept them: they forbid them elsewhere.
func (a *Advice) accepted() trace.Verdict {
	var v trace.Verdict
	for _, r := range a.Runs {
		v = append(v, r.Accepted...)
	}
	return slices.Compact(v.Sorted())
}

// allowed are the codes of the runs that decide which the answers neither forbid nor would rather not have.
func (a *Advice) allowed() trace.Verdict {
	var v trace.Verdict
	for _, r := range a.Runs {
		for _, c := range r.Verdict {
			if !slices.Contains(r.Broken, c) && !slices.Contains(r.Unwanted, c) && !slices.Contains(v, c) {
				v = append(v, c)
			}
		}
	}
	return v.Sorted()
}

// Allowed says why a run is no failure although something that the answers don't forbid went wrong in it. It is empty
// if nothing did, or if they forbid some of it.
func (a *Advice) Allowed(r *Run) string {
	switch {
	case len(r.Verdict) == 0 || len(r.Broken) > 0:
		return ""
	case a.refuses(r):
		return "The two overlapped, and the resource refused the stale write: your answers don't forbid that."
	case r.Accepted != nil && a.Lock.Fences:
		return "Your answers accept it here: the resource refuses a late write."
	case r.Accepted != nil:
		return "Your answers accept it here: two holders at once only cost work twice."
	}
	return "Your answers don't forbid it."
}

// Follows says what follows from a run for the reader. It is empty if nothing went wrong in it, or if the lock that shows it isn't enough.
func (a *Advice) Follows(r *Run) string {
	misused := pick(a.Kind(r).Class == Misuse, "The lock is misused. ", "")
	switch {
	case len(r.Broken) == 0:
		return a.Allowed(r)
	case a.Kind(r).To == Versioned:
		return misused + "A value that one has computed is lost: a version check prevents that, the key doesn't."
	case a.covers(r):
		return misused + "With the key, a payment sent by both is made once; a change computed from what was read needs a version check."
	case misused != "" && (a.Enough || a.Cured() != ""):
		return "The lock is misused: see that it isn't."
	case a.Enough || a.Cured() != "":
		return "The lock is enough as long as you can rule it out."
	}
	return ""
}

// refuses reports whether two were inside at once in a run, and the answers, which forbid that this does harm, are
// content: the resource has refused the late one, by its token.
func (a *Advice) refuses(r *Run) bool {
	return a.Lock.Fences && slices.Contains(a.Answers.Forbids(), trace.SW) && slices.Contains(r.Verdict, trace.OV) && !slices.Contains(r.Verdict, trace.SW)
}

// ofSeveral reports whether the lock is on one server although there are several.
func (a *Advice) ofSeveral() bool {
	last := len(Questions) - 1
	return a.Lock.Nodes == 1 && Questions[last].Answers[a.Answers[last]].several
}

// whyOne says why a lock on one server is recommended where there are several: it is empty if it isn't.
func (a *Advice) whyOne(name func(string) string) string {
	if !a.ofSeveral() {
		return ""
	}
	several := slices.DeleteFunc(slices.Clone(a.Others), func(r Rejected) bool { return r.Lock.Nodes == 1 })
	if len(several) == 0 {
		return ""
	}
	best := slices.MinFunc(several, func(x, y Rejected) int { return slices.Compare(x.cost(), y.cost()) })
	text := fmt.Sprintf("It runs on one of your servers. A vote of several, as in %s, ", best.Lock.Name)
	if by := best.By; by != nil {
		return text + fmt.Sprintf("is no safer for this use: it shows %s under %s.", named(by.Broken), name(by.Scenario))
	}
	return text + "withstands no more of what decides here, and takes more."
}

// answer is the one to the nth of the questions with another answer.
func (i *Instead) answer(n int) *Answer {
	q := i.Changed[n]
	return &Questions[q].Answers[i.Answers[q]]
}

// instead says what to build, which lock is enough then, and at what price; and, as that is another use, with which answers the
// recommendation is about it.
func (a *Advice) instead(n int, name func(string) string) string {
	i := &a.Instead[n]
	var remedies, answers []string
	for c, q := range i.Changed {
		remedies = append(remedies, i.answer(c).remedy)
		answers = append(answers, fmt.Sprintf("\"%s %s\"", Questions[q].Text, i.answer(c).Text))
	}
	text := trace.Capital(trace.List(remedies)) + ": then " + i.Lock.Name + " is enough" + pick(i.One, ", on one of your servers", "")
	if i.Lock.Fences {
		text += ", as long as its counter of tokens is never lost"
	}
	text += "."
	if unwanted := where(i.Runs, func(r *Run) trace.Verdict { return r.Unwanted }, name); unwanted != "" {
		text += " Its price: " + unwanted + "."
	}
	return text + fmt.Sprintf(" For %s, answer %s.", pick(i.Lock.Fences, "its other conditions", "the advice on that"), trace.List(answers))
}

// named are codes with their names: "stale write (SW), double grant (DG)".
func named(codes trace.Verdict) string {
	var all []string
	for _, c := range codes {
		all = append(all, fmt.Sprintf("%s (%s)", c.Name(), c))
	}
	return strings.Join(all, ", ")
}

// guards reports whether harm is kept away by the token of the lock, so that it protects nothing by which it isn't checked.
func (a *Advice) guards() bool {
	return a.Lock.Fences && slices.Contains(a.Answers.Forbids(), trace.SW)
}

// Unspoken says on which conditions a lock is enough, by the runs that no question is
// about: a lock that is enough for the answers need not withstand those. All conditions are named, however little room there is, as
// nobody can rule out a mishap that isn't. A mishap that costs work and does no harm is no condition. The conditions are the first paragraph: in
// the whole text each has a line of its own.
func (a *Advice) Unspoken(rest *Rest, outcome Outcome, name func(scenario string) string, whole bool) (said []string) {
	failed := slices.DeleteFunc(slices.Clone(rest.Shown), func(r Run) bool { return len(r.Broken) == 0 })
	switch {
	case rest.Pending > 0: // in the place of the conditions, so that nothing moves once they are known
		return []string{rest.Incomplete()}
	case len(rest.Shown) == 0:
		return []string{fmt.Sprintf("None of the %d runs that your answers don't call for shows what they forbid, either.", rest.Made)}
	case len(failed) > 0:
		said = append(said, a.conditions(failed, whole))
		if other := a.spared(failed, outcome, name); other != "" {
			said = append(said, other)
		}
	}
	if costs := a.costs(rest, outcome); costs != "" {
		said = append(said, costs)
	}
	return said
}

// conditions are the mishaps to be ruled out for a lock that is enough, by the runs in which it fails otherwise.
func (a *Advice) conditions(failed []Run, whole bool) string {
	mishaps, _ := a.Mishaps(failed)
	if len(mishaps) == 1 || !whole {
		return fmt.Sprintf("It is enough only if you can rule out %s.", trace.List(mishaps))
	}
	return "It is enough only if you can rule out each of these:\n- " + strings.Join(mishaps, "\n- ")
}

// costs says when two are at work although the answers forbid that elsewhere, and why they accept it there. It is empty if the lock never
// lets in two so.
func (a *Advice) costs(rest *Rest, outcome Outcome) string {
	accepted := slices.DeleteFunc(slices.Concat(a.Runs, rest.Shown), func(r Run) bool { return len(r.Accepted) == 0 })
	mishaps, _ := a.Mishaps(accepted)
	if mishaps == nil {
		return ""
	}
	if v, _ := outcome(pastLease, a.Lock.Name); slices.Contains(v, trace.OV) {
		mishaps = append([]string{"a pause past the lease"}, mishaps...)
	}
	text := fmt.Sprintf("Two may be at work at once after %s", either(mishaps))
	if a.Lock.Fences {
		text += ": the resource refuses a late write, so you need not rule these out"
		if slices.ContainsFunc(accepted, func(r Run) bool { return slices.Contains(r.Accepted, trace.DG) }) {
			text += ", nor the double grant (DG) to which they lead"
		}
		return text + "."
	}
	return text + ": that costs work twice, as you accept, so you need not rule these out."
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// spared says which other lock that is enough withstands some of the runs in which this one fails, and at what price.
func (a *Advice) spared(failed []Run, outcome Outcome, name func(scenario string) string) string {
	best, spared := a.elsewhereBest(failed, outcome)
	switch {
	case spared < 0: // more can be said once that is made
		return ""
	case best == "":
		return "No other lock is enough for your answers."
	case spared == 0:
		return "Every other lock that is enough for your answers fails there, too."
	}
	what := fmt.Sprintf("%d of those %d", spared, len(failed))
	if spared == len(failed) {
		what = pick(spared == 1, "that", "those")
	}
	text := fmt.Sprintf("If you can't, take %s: it is enough, too, and withstands %s.", best, what)
	i := slices.IndexFunc(a.Others, func(o Rejected) bool { return o.Lock.Name == best })
	if price := a.Others[i].Price(name); price != "" {
		text += " Its price: " + price + "."
	}
	return text
}

// Price lists the unwanted codes that a lock that is enough shows in the runs that decide, with their scenarios: "" if there are none.
func (r *Rejected) Price(name func(scenario string) string) string {
	return where(r.Runs, func(r *Run) trace.Verdict { return r.Unwanted }, name)
}

// elsewhereBest is the lock that, among the others that are enough, shows something forbidden in the fewest of some runs,
// and the number of those in which it doesn't: "" if no other lock is enough, and -1 if some run isn't made yet.
func (a *Advice) elsewhereBest(elsewhere []Run, outcome Outcome) (best string, most int) {
	var least []int // the complexity of that one: of equals the simplest is the best
	for _, o := range a.Others {
		if o.By != nil {
			continue
		}
		spared := 0
		for _, r := range elsewhere {
			v, known := outcome(r.Scenario, o.Lock.Name)
			if !known {
				return "", -1
			}
			if broken, _ := a.Answers.split(r.Scenario, o.Lock, v); broken == nil {
				spared++
			}
		}
		if best == "" || spared > most || spared == most && slices.Compare(complexity(o.Lock), least) < 0 {
			best, most, least = o.Lock.Name, spared, complexity(o.Lock)
		}
	}
	return best, most
}

// begin states the worth of a claim, before its text.
func begin(n int) string {
	conditions := len(claims.All[n-1].Assumptions)
	return fmt.Sprintf("Claim %d (tested, not proved; %d %s): ", n, conditions, pick(conditions == 1, "condition", "conditions"))
}

// Claim states the worth of a claim about the lock here: its text with the number of its conditions, or that one of these is broken in
// a run about the answers. As a brief one it has only the codes that it excludes, and whether that holds.
func (a *Advice) Claim(n int, whole bool) string {
	c := &claims.All[n-1]
	var never trace.Verdict
	for _, code := range trace.Codes {
		if slices.Contains(c.Never, code.String()) {
			never = append(never, code)
		}
	}
	switch assumed, by := a.Void(n); {
	case assumed != "" && !whole:
		return fmt.Sprintf("Claim %d, that it shows no %s, does not hold here: one of its conditions is broken.", n, named(never))
	case assumed != "":
		return fmt.Sprintf("Claim %d, that %s shows no %s, does not hold here: it assumes that %s, and %s breaks that.", n, a.Lock.Name, named(never), assumed, by)
	}
	if whole {
		return begin(n) + c.Text
	}
	conditions := len(c.Assumptions)
	return fmt.Sprintf("Claim %d: %s shows no %s while %d %s.", n, a.Lock.Name, named(never), conditions, pick(conditions == 1, "condition holds", "conditions hold"))
}

// ClaimText is a claim with all of its conditions, or, where one of these is broken here, as [Advice.Claim] has it. It begins with
// its number.
func (a *Advice) ClaimText(n int) string {
	if assumed, _ := a.Void(n); assumed != "" {
		return a.Claim(n, true)
	}
	c := &claims.All[n-1]
	var assumed []string
	for _, a := range c.Assumptions {
		assumed = append(assumed, a.Text)
	}
	return begin(n) + c.Text + " The conditions: " + strings.Join(assumed, "; ") + "."
}

// Void is the condition of a claim that can't be relied on, by the answers, and its breach: a run that they are about shows
// a code that the claim excludes. It is empty if none does.
func (a *Advice) Void(n int) (assumed, by string) {
	c := &claims.All[n-1]
	for _, as := range c.Assumptions {
		for _, b := range as.Breaches {
			for i := range a.Runs {
				if a.Runs[i].Scenario == b.Scenario && slices.ContainsFunc(a.Runs[i].Verdict.Strings(), func(code string) bool { return slices.Contains(c.Never, code) }) {
					return as.Text, b.Text
				}
			}
		}
	}
	return "", ""
}

// Beyond says why runs don't contradict the claims about the lock that hold for the answers, if some show a code that a claim excludes. It
// is empty if none does.
func (a *Advice) Beyond(runs []Run) string {
	var shown trace.Verdict
	for _, n := range a.Holding() {
		for _, c := range trace.Codes {
			if slices.Contains(claims.All[n-1].Never, c.String()) && !slices.Contains(shown, c) &&
				slices.ContainsFunc(runs, func(r Run) bool { return slices.Contains(r.Verdict, c) }) {
				shown = append(shown, c)
			}
		}
	}
	if shown == nil {
		return ""
	}
	var names []string
	for _, c := range shown.Sorted() {
		names = append(names, fmt.Sprintf("%s (%s)", c.Named(), c))
	}
	return fmt.Sprintf("In each run of %s that shows %s, a condition is broken.", a.Lock.Name, strings.Join(names, " or "))
}

// Claims are the numbers of the claims by which the lock never shows one of the forbidden codes,
// on their assumptions.
func (a *Advice) Claims() (numbers []int) {
	for _, code := range a.Answers.Forbids() {
		for _, n := range claims.For(a.Lock.Name, code.String()) {
			if !slices.Contains(numbers, n) {
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers)
	return numbers
}

// Holding are those of the claims about the lock of which the runs about the answers break no condition.
func (a *Advice) Holding() []int {
	return slices.DeleteFunc(a.Claims(), func(n int) bool {
		broken, _ := a.Void(n)
		return broken != ""
	})
}

// where lists codes with the scenarios that show them: "stale write (SW) under a, b; foreign release (FR) under c". It is empty if
// there are none.
func where(runs []Run, codes func(*Run) trace.Verdict, name func(string) string) string {
	var parts []string
	for _, c := range trace.Codes {
		var names []string
		for i := range runs {
			if slices.Contains(codes(&runs[i]), c) {
				names = append(names, name(runs[i].Scenario))
			}
		}
		if len(names) > 0 {
			parts = append(parts, fmt.Sprintf("%s under %s", named(trace.Verdict{c}), strings.Join(names, ", ")))
		}
	}
	return strings.Join(parts, "; ")
}
