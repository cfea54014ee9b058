package advice

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/claims"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Rest is about a lock's runs under scenarios that the answers don't cite: the recommendation doesn't cover those.
type Rest struct {
	Made, Pending int   // their number, and that of those whose outcome isn't known yet
	Out           int   // the number of those that the answers rule out, which isn't in the other two
	Shown         []Run // those that show a code that the answers forbid
}

// Rest counts the lock's runs under those of the scenarios that the answers don't cite.
func (a *Advice) Rest(scenarios []string, outcome Outcome) Rest {
	rest := Rest{Shown: a.Elsewhere(scenarios, outcome)}
	cited, without := a.Answers.Scenarios(), a.Answers.Without()
	for _, name := range scenarios {
		if slices.Contains(cited, name) {
			continue
		}
		if slices.Contains(without, name) {
			rest.Out++
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

// Text puts the recommendation into sentences, the most important first; codes have their names where there is room
// for the whole. Scenarios have the names that the reader finds them by.
func (a *Advice) Text(rest *Rest, outcome Outcome, name func(scenario string) string, whole bool) []string {
	if a.Lock.Name == "" {
		return []string{"There is no such lock."}
	}
	verb := "Use"
	if !a.Enough {
		verb = "No lock is enough; nearest comes"
	}
	all := []string{fmt.Sprintf("%s %s: %s.", verb, a.Lock.Name, a.Lock.Summary)}
	if !a.Enough && !whole {
		all[0] = fmt.Sprintf("%s %s.", verb, a.Lock.Name)
	}
	if a.Enough {
		all = append(all, a.Unspoken(rest, outcome, name, whole))
		if outside := a.outside(whole); outside != "" {
			all = append(all, outside)
		}
		all = append(all, strings.Join(strings.Fields(a.counted(rest, whole)+" "+a.covered(whole)+" "+a.failing(rest, whole)), " "))
	} else {
		all = append(all, fmt.Sprintf("It shows %s; every other lock shows something forbidden, too.", where(a.Runs, func(r *Run) trace.Verdict { return r.Broken[:min(len(r.Broken), 1)] }, name)))
	}
	if why := a.whyOne(name); why != "" {
		all = append(all, why)
	}
	for _, i := range a.Instead {
		all = append(all, i.text(name, whole))
	}
	if unwanted := where(a.Runs, func(r *Run) trace.Verdict { return r.Unwanted }, name); unwanted != "" {
		all = append(all, "Its price: "+unwanted+".")
	}
	switch {
	case a.Enough:
	case whole:
		all = append(all, strings.Join(strings.Fields(a.Unspoken(rest, outcome, name, whole)+" "+a.counted(rest, whole)+" "+a.failing(rest, whole)), " "))
	case rest.Pending == 0:
		all = append(all, a.unprotected(rest.Shown, whole))
	}
	return all
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

// counted says how many runs the lock has, how many of them the questions are about, and, where there is room, of how many that is
// not so, and why.
func (a *Advice) counted(rest *Rest, whole bool) string {
	decide, others := len(a.Runs), rest.Made+rest.Pending
	all := decide + a.Idle + rest.Out + others
	pending := ""
	switch rest.Pending {
	case 0:
	case 1:
		pending = ", of which 1 is still to come"
	default:
		pending = fmt.Sprintf(", of which %d are still to come", rest.Pending)
	}
	if !whole && pending == "" {
		return fmt.Sprintf("Of its %d runs, the %d about your answers count.", all, decide)
	}
	text := fmt.Sprintf("Of its %d runs, the %d about your answers count", all, decide)
	if whole && a.Idle > 0 {
		text += fmt.Sprintf("; %d test an extension, which it hasn't", a.Idle)
	}
	if whole && rest.Out > 0 {
		text += fmt.Sprintf("; %d are about replicas", rest.Out)
	}
	return text + fmt.Sprintf("; no question is about the other %d", others) + pending + "."
}

// covered says of a lock that is enough what the runs show on which the recommendation rests. Those that test nothing of
// it aren't counted among them.
func (a *Advice) covered(whole bool) string {
	names := func(v trace.Verdict) string {
		if whole {
			return named(v)
		}
		return strings.Join(v.Strings(), ", ")
	}
	accepted := a.accepted()
	forbidden := slices.DeleteFunc(a.Answers.Forbids(), func(c trace.Code) bool { return slices.Contains(accepted, c) })
	text := "None"
	if whole { // other runs have been counted in between
		text += fmt.Sprintf(" of the %d", len(a.Runs))
	}
	text += fmt.Sprintf(" shows what your answers forbid: no %s.", names(forbidden))
	allowed := a.allowed()
	if len(allowed) > 0 {
		text += fmt.Sprintf(" They do show %s, which aren't forbidden", names(allowed))
		if accepted != nil {
			text += fmt.Sprintf("; your answers accept %s where a failover is to blame, and nowhere else", names(accepted))
		}
		if i := slices.IndexFunc(a.Runs, func(r Run) bool { return a.refuses(&r) }); i >= 0 {
			text += ": the resource refuses the late holder's write"
		}
		text += "."
	}
	if whole && slices.Contains(allowed, trace.OV) {
		text += " OV without DG is a holder that works on when its lease is over; DG is a grant beside a lease that isn't."
	}
	return text
}

// accepted are the codes that the runs of a lock that is enough show after a failover: the answers forbid them elsewhere.
func (a *Advice) accepted() trace.Verdict {
	return common(a.Answers.Accepts(), a.allowed())
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
		return "Your answers don't forbid it: the resource refuses the late holder's write."
	case common(r.Verdict, a.Answers.Accepts()) != nil:
		return "Your answers accept it after a failover: two holders at once only cost work twice."
	}
	return "Your answers don't forbid it."
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

// text says what to do, which lock is enough then, and at what price; as a whole also what that lock shows where the
// nearest one fails.
func (i *Instead) text(name func(string) string, whole bool) string {
	q := &Questions[i.Question]
	answer := &q.Answers[i.Answer]
	price := ""
	if i.One {
		price = " It runs on one of them."
	}
	if unwanted := where(i.Runs, func(r *Run) trace.Verdict { return r.Unwanted }, name); unwanted != "" {
		price += " Its price: " + unwanted + "."
	}
	if answer.remedy == "" {
		return fmt.Sprintf("%s is enough if %s %s.%s", i.Lock.Name, lower(q.Text), answer.Text, price)
	}
	text := fmt.Sprintf("If you can, %s. Then %s is enough", lower(answer.remedy), i.Lock.Name)
	if i.Shown != nil && whole {
		under := name(i.Shown.Scenario)
		if len(i.Shown.Verdict) == 0 {
			text += fmt.Sprintf(": under %s nothing breaks", under)
		} else {
			text += fmt.Sprintf(": %s, so that what it still shows under %s does no harm (%s)", answer.harmless, under, named(i.Shown.Verdict))
		}
	}
	return text + "." + price
}

// named are codes with their names: "stale write (SW), double grant (DG)".
func named(codes trace.Verdict) string {
	var all []string
	for _, c := range codes {
		all = append(all, fmt.Sprintf("%s (%s)", c.Name(), c))
	}
	return strings.Join(all, ", ")
}

// Requires says what an answer asks of a lock, beyond what every use does. titles are those of scenarios, as a list
// within a sentence.
func (a *Answer) Requires(locks []strategies.Strategy, titles func(names []string) string) string {
	var all []string
	if a.fits != nil {
		n := 0
		for _, l := range locks {
			if a.fits(l) {
				n++
			}
		}
		all = append(all, fmt.Sprintf("%d of the %d locks can be used then.", n, len(locks)))
	}
	if a.forbids != nil {
		all = append(all, fmt.Sprintf("It also forbids %s.", named(a.forbids)))
	}
	if a.scenarios != nil {
		all = append(all, fmt.Sprintf("A lock must also withstand %s.", titles(a.scenarios)))
	}
	if a.accepts != nil {
		all = append(all, fmt.Sprintf("It accepts %s where a failover is to blame.", named(a.accepts)))
	}
	if a.wants != nil {
		all = append(all, fmt.Sprintf("Unwanted, though no lock is ruled out by it: %s.", named(a.wants)))
	}
	if all == nil {
		return "It asks nothing more of a lock."
	}
	return strings.Join(all, " ")
}

// examples are the most mishaps that the text on the runs that don't decide names.
const examples = 3

// mishaps say in words what happens in the scenarios that no question is about, the one that most have to reckon with first.
var mishaps = []struct {
	text      string
	scenarios []string
	fenced    bool // these are about fencing tokens: other locks fail there of something else
}{
	{"a server that loses data in a restart or a power cut", []string{"restart-no-fsync", "power-cut", "one-node"}, false},
	{"a counter of tokens that is lost", []string{"fence-lost"}, true},
	{"an evicted key", []string{"eviction"}, false},
	{"a server's clock that jumps", []string{"server-clock-jump"}, false},
	{"clients that go on without the lock", []string{"fail-open", "stampede-fallthrough"}, false},
	{"readers whom the resource doesn't check", []string{"fenced-write-unfenced-read"}, true},
	{"two clients that draw the same token", []string{"token-collision"}, false},
	{"votes that split again and again", []string{"split-vote"}, false},
}

// Mishaps says in words what happens in some runs of the lock, each mishap once; and how many of the runs it has no words for.
func (a *Advice) Mishaps(runs []Run) (texts []string, more int) {
	more = len(runs)
	for _, m := range mishaps {
		n := 0
		for _, r := range runs {
			if slices.Contains(m.scenarios, r.Scenario) && (a.Lock.Fences || !m.fenced) {
				n++
			}
		}
		if more -= n; n > 0 {
			texts = append(texts, m.text)
		}
	}
	return texts, more
}

// listing has as many mishaps of some runs as there is room for: "" if there are none.
func (a *Advice) listing(runs []Run, whole bool) string {
	texts, _ := a.Mishaps(runs)
	if !whole && len(texts) > examples {
		return trace.List(append(texts[:examples:examples], fmt.Sprintf("more, in %d runs", len(runs))))
	}
	return trace.List(texts)
}

// unprotected is what a lock doesn't protect against, by the runs in which it fails.
func (a *Advice) unprotected(runs []Run, whole bool) string {
	texts, more := a.Mishaps(runs)
	if len(texts) == 0 {
		return ""
	}
	further := ""
	switch {
	case more == 0 || !whole && len(texts) > examples: // these are counted already
	case more == 1:
		further = ", nor in another run"
	default:
		further = fmt.Sprintf(", nor in %d further runs", more)
	}
	return "It does not protect against " + a.listing(runs, whole) + further + "."
}

// outside says what a fencing token doesn't protect, where a second effect does harm. It is empty for locks without tokens: that
// a receiver can ignore a second request is among the other answers then.
func (a *Advice) outside(whole bool) string {
	if !a.Lock.Fences || !slices.Contains(a.Answers.Forbids(), trace.SW) {
		return ""
	}
	if !whole {
		return "The token protects only what checks it; give the rest, a provider's charge or a mail, an idempotency key."
	}
	return "The token protects only what checks it: your table, and not a provider's charge or a mail. Give these an idempotency key, so that a second one has no effect."
}

// Unspoken says on which conditions a lock is enough, or what one that isn't doesn't protect against, by the runs that
// don't decide: a lock that is enough for the answers need not withstand what no question is about.
func (a *Advice) Unspoken(rest *Rest, outcome Outcome, name func(scenario string) string, whole bool) string {
	n, all := len(rest.Shown), rest.Made+rest.Pending
	switch {
	case rest.Pending > 0: // about as long as what takes its place
		return "What you have to rule out for that isn't known yet: runs that no question is about are still being made."
	case n == 0:
		return fmt.Sprintf("None of the %d runs that no question is about shows what your answers forbid, either.", all)
	case !a.Enough:
		return a.unprotected(rest.Shown, whole)
	}
	text := "It is enough as long as you can rule out " + a.listing(rest.Shown, whole) + "."
	switch best, spared := a.elsewhereBest(rest.Shown, outcome); {
	case spared < 0: // more can be said once that is made
	case best == "":
		text += " No other lock is enough for your answers."
	case spared == 0:
		text += " Every other lock that is enough for your answers fails there, too."
	default:
		text += fmt.Sprintf(" If you can't, take %s: it is enough, too, and withstands %d of the %d runs about that.", best, spared, n)
		i := slices.IndexFunc(a.Others, func(o Rejected) bool { return o.Lock.Name == best })
		if price := a.Others[i].Price(name); price != "" {
			text += " Its price: " + price + "."
		}
	}
	return text
}

// failing counts the runs that no question is about in which the lock shows what the answers forbid: "" before they are made,
// where it shows that in none, and where there is no room, as the list of runs says it, too.
func (a *Advice) failing(rest *Rest, whole bool) string {
	if n := len(rest.Shown); n > 0 && rest.Pending == 0 && whole {
		return fmt.Sprintf("It fails in %d of the other %d, listed last (the worst: %s).", n, rest.Made, times(rest.Shown))
	}
	return ""
}

// Price is what a lock that is enough shows in the runs that decide of what the answers would rather not have: "" if nothing.
func (r *Rejected) Price(name func(scenario string) string) string {
	return where(r.Runs, func(r *Run) trace.Verdict { return r.Unwanted }, name)
}

// times counts runs by the worst of what they show of the forbidden codes: "6 SW, 6 DG".
func times(runs []Run) string {
	var parts []string
	for _, c := range trace.Codes {
		n := 0
		for _, r := range runs {
			if r.Broken[0] == c {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, c))
		}
	}
	return strings.Join(parts, ", ")
}

// elsewhereBest is the lock that, among the others that are enough, shows something forbidden in the fewest of some runs,
// and the number of those in which it doesn't: "" if no other lock is enough, and -1 if some run isn't made yet.
func (a *Advice) elsewhereBest(elsewhere []Run, outcome Outcome) (best string, most int) {
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
			if common(v, a.Answers.Forbids()) == nil {
				spared++
			}
		}
		if best == "" || spared > most {
			best, most = o.Lock.Name, spared
		}
	}
	return best, most
}

// ClaimBrief says of a claim about the lock which of the forbidden codes it excludes, and on how many conditions.
func (a *Advice) ClaimBrief(n int) string {
	c := &claims.All[n-1]
	return fmt.Sprintf("Claim %d: while %d conditions hold, %s shows no %s.", n, len(c.Assumptions), a.Lock.Name, strings.Join(c.Never, " or "))
}

// ClaimOnConditions is a claim with the number of its conditions before what it says.
func ClaimOnConditions(n int) string {
	c := &claims.All[n-1]
	return fmt.Sprintf("Claim %d, while %d conditions hold: %s", n, len(c.Assumptions), c.Text)
}

// ClaimText is a claim by which the lock never shows what the answers forbid. It has all of its
// conditions or, where there is no room, their number. It begins with its number.
func ClaimText(n int, whole bool) string {
	c := &claims.All[n-1]
	if !whole {
		return ClaimOnConditions(n)
	}
	text := fmt.Sprintf("Claim %d: %s", n, c.Text)
	var assumed []string
	for _, a := range c.Assumptions {
		assumed = append(assumed, "that "+strings.ReplaceAll(a.Text, ", ", " ")) // commas are between the conditions
	}
	return text + fmt.Sprintf(" It assumes %s.", trace.List(assumed))
}

// Beyond says why runs don't contradict the claims about the lock, if some show what a claim
// excludes. It is empty if none does.
func (a *Advice) Beyond(runs []Run) string {
	var shown trace.Verdict
	for _, n := range a.Claims() {
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
	return fmt.Sprintf("In each of its runs that show %s a condition is broken.", shown.Sorted())
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

// where lists codes with the scenarios that show them: "SW under a, b; FR under c". It is
// empty if there are none.
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

// lower is a sentence's beginning within another sentence. Names keep their capital.
func lower(s string) string {
	if strings.HasPrefix(s, "Redis") {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
