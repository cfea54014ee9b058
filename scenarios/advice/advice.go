// Package advice recommends a lock for a use, by the runs of the catalogue. Three answers say what the use forbids and what can
// happen to it; the runs of the catalogue say which locks withstand that.
//
// No lock is named here: the recommendation follows from verdicts that the caller computes, and
// from the structure of the locks in the catalogue.
package advice

import (
	"slices"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Question has two or three answers, and each of them requires something of the lock.
type Question struct {
	Name    string // a word, for flags
	Text    string
	Hint    string // a sentence for those who don't know the words
	Answers []Answer
	Term    bool // the hint explains a word of the question
}

// Answer is one of the answers to a question.
type Answer struct {
	Name    string // a word, for flags
	Text    string // the end of the sentence that the question begins
	Example string // for those who don't know which answer is theirs

	forbids   trace.Verdict                  // codes that rule a lock out
	accepts   []acceptance                   // where forbidden codes are no failure
	wants     trace.Verdict                  // codes that speak against a lock, and rule none out
	scenarios []string                       // those that can happen
	without   []string                       // those that can't happen
	several   bool                           // a lock can take one server of several
	fits      func(strategies.Strategy) bool // nil fits all
	damage    string                         // the harm of a stale write for those who give this answer; may be empty
	remedy    string                         // how to get there, where no lock is enough with the other answer; may be empty
	limits    string                         // the conditions of the remedy, in sentences
	cure      string                         // for a remedy that changes nothing else: a few words, to follow the name of the lock
}

// acceptance is a set of codes that are no failure in some scenarios, although the answers forbid them elsewhere: there no lock could
// help it, and by some answer they do no harm.
type acceptance struct {
	codes     trace.Verdict
	scenarios []string
	fits      func(strategies.Strategy) bool // the locks of which that holds; nil is all
}

// basics are the requirements of every use of a lock: that a client's crash, its delays and its
// clock damage nobody else's lock, and that it is never blocked for ever.
var basics = Answer{
	forbids: severe(),
	scenarios: []string{"crash-holding", "crash-mid-acquire", "no-finally", "late-release", "release-gap", "duplicate-release",
		"clock-skew", "clock-skew.slow", extensions[0], extensions[1]},
}

// severe are the failures by which two have the lock at once, one loses it unnoticed, or nobody gets it again. Overlaps are left to the
// answers: after a pause past its lease no lock keeps a client from one.
func severe() (v trace.Verdict) {
	for _, c := range trace.Codes {
		if c.Failure() && c != trace.OV && (c.Harm() == trace.Shares || c.Harm() == trace.Blocks) {
			v = append(v, c)
		}
	}
	return v
}

// extensions are the scenarios in which a holder prolongs its lease. To a lock that can't they do nothing.
var extensions = []string{"extend-races-expiry", "extend-after-gap"}

// failovers are the scenarios that take replicas: one of them takes over, or is copied to.
var failovers = []string{"failover", "failover-wait", "failover-wait.acked", "split-brain"}

// losses are the scenarios in which a server loses the lock's record, or hands its time out early: two holders at once are no mistake
// of the lock there.
var losses = append(slices.Clone(failovers), "restart-no-fsync", "power-cut", oneNode, eviction, jump)

const (
	eviction  = "eviction"
	jump      = "server-clock-jump"
	sameToken = "token-collision"
	pastLease = "pause-past-ttl"
	oneNode   = "one-node"
)

// Questions are asked in this order.
var Questions = [3]Question{
	{Name: "for", Text: "Two holders", Hint: "Does a second holder only waste work, or does it do harm?", Answers: []Answer{
		{Name: "efficiency", Text: "cost work twice", Example: "a report is computed twice, a cache is filled twice",
			accepts: []acceptance{
				{codes: trace.Verdict{trace.DG}, scenarios: losses},
				{codes: trace.Verdict{trace.DG, trace.FR}, scenarios: []string{sameToken}},
			},
			remedy: "give each payment (or whatever must not be done twice) one idempotency key, the same in every retry and every client",
			limits: "Make it before you ask for the lock. Its receiver keeps it as long as a retry can come, and does the work once for each, even if two requests come together.",
			cure:   "with an idempotency key"},
		{Name: "correctness", Text: "destroy something", Example: "a customer pays twice; two jobs change one balance, and one change is lost. If a payment is both a provider's charge and a row in your table, answer for the one that can't be undone: the charge",
			damage:  "a customer pays twice or a change is lost",
			forbids: trace.Verdict{trace.SW}, scenarios: []string{pastLease, "pause-after-check"}},
	}},
	{Name: "token", Text: "What you protect can check", Hint: "A fencing token: a number that grows with each grant, to refuse late writes.", Term: true, Answers: []Answer{
		{Name: "no", Text: "no fencing token", Example: "it takes all that arrives: a provider's charge, a mail, a file", fits: func(s strategies.Strategy) bool { return !s.Fences }},
		{Name: "yes", Text: "a fencing token", Example: "it refuses a number lower than one it has seen: a table in your own database, say",
			remedy:    "have what you protect check a fencing token or a version (UPDATE ... WHERE version = 7)",
			accepts:   []acceptance{{codes: trace.Verdict{trace.DG}, scenarios: []string{eviction, jump}, fits: fences}}, // the counter of tokens stays, so that a late write is refused
			scenarios: []string{minted, "pause-replies-in-flight"}},
	}},
	{Name: "servers", Text: "Redis has", Hint: "A failover to a replica can lose the lock; so can a restart, or an eviction.", Answers: []Answer{
		{Name: "one", Text: "one server", Example: "a Redis without replicas; while it is down, nobody gets the lock, and a restart that forgets loses it",
			fits:    func(s strategies.Strategy) bool { return s.Nodes == 1 && s.Replicas == 0 },
			remedy:  "keep the lock on a server without replicas (while that is down, nobody gets it)",
			without: failovers},
		{Name: "replicas", Text: "replicas", Example: "a master with replicas, of which one takes over when it dies (Sentinel, Cluster)",
			fits: func(s strategies.Strategy) bool { return s.Nodes == 1 }, scenarios: failovers},
		{Name: "separate", Text: "separate servers", Example: "five of your own on machines that fail apart, none a replica of another",
			fits:   func(s strategies.Strategy) bool { return s.Replicas == 0 },
			remedy: "keep the lock on several servers that fail apart, none a replica of another",
			wants:  trace.Verdict{trace.UA, trace.DN}, scenarios: []string{"minority-down", setBack}, without: failovers, several: true},
	}},
}

// Answers are the chosen answers: for each question the index of one.
type Answers [len(Questions)]int

// All is every combination of answers.
func All() []Answers {
	all := []Answers{{}}
	for q := range Questions {
		var longer []Answers
		for _, a := range all {
			longer = append(longer, a.others(q, -1)...)
		}
		all = longer
	}
	return all
}

// others are the answers with each other one to a question than a given one.
func (a Answers) others(question, given int) (all []Answers) {
	for i := range Questions[question].Answers {
		if a[question] = i; i != given {
			all = append(all, a)
		}
	}
	return all
}

// of are the requirements of all answers, and then the basics.
func (a Answers) of() (all []*Answer) {
	for q, i := range a {
		all = append(all, &Questions[q].Answers[i])
	}
	return append(all, &basics)
}

// Forbids is the set of codes that the answers forbid, worst first.
func (a Answers) Forbids() trace.Verdict {
	var v trace.Verdict
	for _, r := range a.of() {
		v = append(v, r.forbids...)
	}
	return v.Sorted()
}

// Accepts is the set of forbidden codes that are no failure of a lock under a scenario.
func (a Answers) Accepts(scenario string, lock strategies.Strategy) trace.Verdict {
	var v trace.Verdict
	for _, r := range a.of() {
		for _, x := range r.accepts {
			if slices.Contains(x.scenarios, scenario) && (x.fits == nil || x.fits(lock)) {
				v = append(v, x.codes...)
			}
		}
	}
	return v.Sorted()
}

// split parts the codes of a run that the answers forbid into those that count and those that they accept there.
func (a Answers) split(scenario string, lock strategies.Strategy, v trace.Verdict) (broken, accepted trace.Verdict) {
	accepts := a.Accepts(scenario, lock)
	for _, c := range common(v, a.Forbids()) {
		if slices.Contains(accepts, c) {
			accepted = append(accepted, c)
		} else {
			broken = append(broken, c)
		}
	}
	return broken, accepted
}

func fences(s strategies.Strategy) bool { return s.Fences }

// Without names the scenarios that can't happen, by the answers.
func (a Answers) Without() (names []string) {
	for _, r := range a.of() {
		names = append(names, r.without...)
	}
	return names
}

// Wants is the set of codes that are unwanted, and rule no lock out.
func (a Answers) Wants() trace.Verdict {
	var v trace.Verdict
	for _, r := range a.of() {
		v = append(v, r.wants...)
	}
	return v.Sorted()
}

// Scenarios names the scenarios that say whether a lock will do.
func (a Answers) Scenarios() []string {
	var names []string
	for _, r := range a.of() {
		names = append(names, r.scenarios...)
	}
	return names
}

// Fits reports whether a lock can be used at all: it needs no more servers than there are, and
// nobody to check tokens if nobody does.
func (a Answers) Fits(s strategies.Strategy) bool {
	return !slices.ContainsFunc(a.of(), func(r *Answer) bool { return r.fits != nil && !r.fits(s) })
}

// means are the requirements of some locks besides the basics, as these locks claim more: that the number of a late
// holder is the lower one, and that the votes of several servers are a lease.
var means = [...]Answer{
	{forbids: trace.Verdict{trace.SW}, scenarios: []string{minted}, fits: fences},
	{forbids: basics.forbids, scenarios: []string{setBack}, fits: func(s strategies.Strategy) bool { return s.Nodes > 1 }},
}

// The scenarios of means: a token is drawn late, and a clock is set back during a vote.
const (
	minted  = "fence-minted-late"
	setBack = "clock-steps-back"
)

// Basics are the scenarios that some lock must withstand whatever its use: see [Flaw].
func Basics() []string { return append(slices.Clone(basics.scenarios), minted, setBack) }

// Flaw is the first scenario that a lock must withstand whatever its use, and doesn't, with the codes that it may not show
// there; "" if there is none, or none is known yet. It reports, too, whether that is settled.
func Flaw(lock strategies.Strategy, outcome Outcome) (scenario string, codes trace.Verdict, settled bool) {
	settled = true
	for _, all := range append([]Answer{basics}, means[:]...) {
		if all.fits != nil && !all.fits(lock) {
			continue
		}
		for _, name := range all.scenarios {
			v, known := outcome(name, lock.Name)
			if codes := common(v, all.forbids); codes != nil {
				return name, codes, true
			}
			settled = settled && known
		}
	}
	return "", nil, settled
}

// Outcome is the verdict of a run. It is false if there is no such run.
type Outcome func(scenario, strategy string) (trace.Verdict, bool)

// Run is a run that an advice rests on.
type Run struct {
	Scenario, Strategy string
	Verdict            trace.Verdict
	Broken             trace.Verdict // the codes of the verdict that the answers forbid
	Accepted           trace.Verdict // the codes that they forbid elsewhere, and accept under this scenario
	Unwanted           trace.Verdict // the codes of the verdict that they would rather not have
}

// Advice is a recommendation, and the runs behind it.
type Advice struct {
	Answers Answers
	Lock    strategies.Strategy // the recommended lock: if it is not enough, that of the first of Instead, or else the one that comes nearest
	Enough  bool                // no run of Lock shows a forbidden code
	Runs    []Run               // of Lock, in the order of the scenarios, without those that test nothing of it
	Others  []Rejected          // the other locks that fit, in the order of the catalogue
	Instead []Instead           // if Lock is not enough: other answers, as few as it takes, with which some lock would be
}

// Instead is a set of answers of which some are others than those given, and the lock that would then be enough.
type Instead struct {
	Answers Answers
	Changed []int // the questions with another answer
	Lock    strategies.Strategy
	Runs    []Run // of that lock: the unwanted codes that these show are its price
	One     bool  // it takes one of several servers
}

// Rejected is a lock that was not recommended.
type Rejected struct {
	Lock strategies.Strategy
	By   *Run // the run with the worst forbidden code; nil if it is enough, too
	Runs []Run

	failed int // the number of runs with a forbidden code
}

// candidate is a lock under consideration.
type candidate struct {
	lock strategies.Strategy
	runs []Run
}

// Decide recommends one of the locks. Of those without a forbidden code it takes the
// one with the fewest unwanted ones, and of these the simplest. If there is none, Enough is
// false, and the lock is that of the first of Instead: its runs show why it takes other answers. Where Instead is empty,
// it is the lock whose worst forbidden code is the least, with the fewest forbidden codes.
func Decide(a Answers, locks []strategies.Strategy, outcome Outcome) Advice {
	all := candidates(a, locks, outcome)
	if len(all) == 0 {
		return Advice{Answers: a}
	}
	best := slices.MinFunc(all, compare)
	instead := []Instead(nil)
	if best.worst() != nil {
		instead = insteads(a, locks, outcome)
	}
	if len(instead) > 0 {
		if i := slices.IndexFunc(all, func(c candidate) bool { return c.lock.Name == instead[0].Lock.Name }); i >= 0 {
			best = all[i]
		}
	}
	advice := adviseOf(a, all, best)
	advice.Instead = instead
	return advice
}

// insteads are the other answers with which some lock is enough: single ones, and pairs of which neither is enough alone.
func insteads(a Answers, locks []strategies.Strategy, outcome Outcome) (all []Instead) {
	var alone [len(Questions)]bool // by question: another answer to it is enough
	try := func(other Answers, changed ...int) {
		if c := candidates(other, locks, outcome); len(c) > 0 {
			if d := adviseOf(other, c, slices.MinFunc(c, compare)); d.Enough {
				all = append(all, Instead{other, changed, d.Lock, d.Runs, d.ofSeveral()})
			}
		}
	}
	for q := range a {
		n := len(all)
		for _, other := range a.others(q, a[q]) {
			try(other, q)
		}
		alone[q] = len(all) > n
	}
	for q := range a {
		for r := q + 1; r < len(a); r++ {
			if alone[q] || alone[r] {
				continue
			}
			for _, one := range a.others(q, a[q]) {
				for _, both := range one.others(r, a[r]) {
					try(both, q, r)
				}
			}
		}
	}
	found := slices.Clone(all)
	return slices.DeleteFunc(all, func(i Instead) bool { return i.repeats(found) })
}

// repeats reports whether other answers to the same questions come to the same: a lock on one of several servers is that lock
// on one server.
func (i *Instead) repeats(all []Instead) bool {
	return i.One && slices.ContainsFunc(all, func(o Instead) bool {
		return !o.One && slices.Equal(o.Changed, i.Changed) && o.Lock.Name == i.Lock.Name
	})
}

// candidates are the locks that can be used, with their runs.
func candidates(a Answers, locks []strategies.Strategy, outcome Outcome) (all []candidate) {
	for _, lock := range locks {
		if a.Fits(lock) {
			all = append(all, candidate{lock, a.runs(lock, outcome)})
		}
	}
	return all
}

// adviseOf has one of the candidates as the lock, and the others as those that are not recommended.
func adviseOf(a Answers, all []candidate, best candidate) Advice {
	advice := Advice{Answers: a, Lock: best.lock, Enough: best.worst() == nil, Runs: best.runs}
	advice.dropIdle()
	for _, c := range all {
		if c.lock.Name != best.lock.Name {
			advice.Others = append(advice.Others, Rejected{c.lock, c.worst(), c.runs, c.failed()})
		}
	}
	return advice
}

// dropIdle takes the runs out of the advice that test nothing of the lock: they are about extensions, and it has none.
func (a *Advice) dropIdle() {
	if a.Lock.Extends() {
		return
	}
	a.Runs = slices.DeleteFunc(a.Runs, func(r Run) bool { return len(r.Verdict) == 0 && slices.Contains(extensions, r.Scenario) })
}

// Elsewhere returns the runs of the lock under scenarios that the answers neither cite nor rule out, as far as they show a code that
// the answers forbid, which the recommendation doesn't cover, or one that they accept there. Those of a kind stand together. Scenarios that
// don't apply to the lock are left out.
func (a *Advice) Elsewhere(scenarios []string, outcome Outcome) (runs []Run) {
	cited := append(a.Answers.Scenarios(), a.Answers.Without()...)
	for _, name := range scenarios {
		if slices.Contains(cited, name) || !applies(name, a.Lock) {
			continue
		}
		v, _ := outcome(name, a.Lock.Name)
		if r := a.Answers.run(name, a.Lock, v); r.Broken != nil || r.Accepted != nil {
			runs = append(runs, r)
		}
	}
	slices.SortStableFunc(runs, func(x, y Run) int { return a.Kind(&x).compare(a.Kind(&y)) })
	return runs
}

func (a Answers) runs(lock strategies.Strategy, outcome Outcome) (runs []Run) {
	for _, name := range a.Scenarios() {
		if v, known := outcome(name, lock.Name); known {
			runs = append(runs, a.run(name, lock, v))
		}
	}
	return runs
}

// run is one with the codes that the answers have something to say of.
func (a Answers) run(scenario string, lock strategies.Strategy, v trace.Verdict) Run {
	broken, accepted := a.split(scenario, lock, v)
	return Run{scenario, lock.Name, v, broken, accepted, common(v, a.Wants())}
}

// common are the codes of v that are in set.
func common(v, set trace.Verdict) (both trace.Verdict) {
	for _, c := range v {
		if slices.Contains(set, c) {
			both = append(both, c)
		}
	}
	return both
}

// worst is the run with the worst forbidden code, the first of them, or nil.
func (c *candidate) worst() *Run {
	var worst *Run
	for i := range c.runs {
		if r := &c.runs[i]; len(r.Broken) > 0 && (worst == nil || r.Broken[0] < worst.Broken[0]) {
			worst = r
		}
	}
	return worst
}

// failed is the number of runs with a forbidden code.
func (c *candidate) failed() (n int) {
	for i := range c.runs {
		if len(c.runs[i].Broken) > 0 {
			n++
		}
	}
	return n
}

// compare orders locks, the best first: forbidden codes by harm, unwanted ones by number, and then
// a lock's complexity. MinFunc keeps the first of equals, in the order of the catalogue.
func compare(x, y candidate) int {
	return slices.Compare(x.cost(), y.cost())
}

// cost lists the points against a lock, the most important first.
func (c *candidate) cost() []int {
	harm, broken, unwanted := 0, 0, 0
	if w := c.worst(); w != nil {
		harm = len(trace.Codes) - int(w.Broken[0])
	}
	for _, r := range c.runs {
		broken, unwanted = broken+len(r.Broken), unwanted+len(r.Unwanted)
	}
	return append([]int{harm, broken, unwanted}, complexity(c.lock)...)
}

// cost lists the points against a lock that was not recommended: its worst code, the number of runs that it
// fails, and its complexity.
func (r *Rejected) cost() []int {
	harm := 0
	if r.By != nil {
		harm = len(trace.Codes) - int(r.By.Broken[0])
	}
	return append([]int{harm, r.failed}, complexity(r.Lock)...)
}

// complexity lists the needs of a lock: servers, replicas, a resource that looks at its tokens; and
// whether it is a variant of a simpler one, which the catalogue names.
func complexity(s strategies.Strategy) []int {
	fences, variant := 0, 0
	if s.Fences {
		fences = 1
	}
	if s.Like != "" {
		variant = 1
	}
	return []int{s.Nodes, s.Replicas, fences, variant}
}
