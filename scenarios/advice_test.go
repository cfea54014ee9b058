package scenarios_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/scenarios/advice"
	"lockstep/sim/claims"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// ran is what runs of the catalogue show.
func ran(t *testing.T) advice.Outcome {
	t.Helper()
	return func(scenario, strategy string) (trace.Verdict, bool) {
		return scenarios.Ran(t, scenario, strategy).Verdict(), true
	}
}

// takesReplicas reports whether servers have replicas in a scenario, and so a failover can be to blame for what goes wrong.
func takesReplicas(t *testing.T, scenario string) bool {
	s, err := scenarios.Find(scenario)
	if err != nil {
		t.Fatal(err)
	}
	return s.Config(strategies.All()[0], 1).Replicas > 0 // the first lock takes none
}

// The runs that take replicas count for those who have some, and for others they can't happen: nobody is told of one that no
// question is about it.
func TestReplicasAreAQuestion(t *testing.T) {
	for _, a := range advice.All() {
		for _, name := range scenarios.Names() {
			counts, out := slices.Contains(a.Scenarios(), name), slices.Contains(a.Without(), name)
			if have := a[2] == 1; takesReplicas(t, name) && (counts != have || out == have) || !takesReplicas(t, name) && out {
				t.Errorf("%v: %s counts: %t, is ruled out: %t", a, name, counts, out)
			}
		}
	}
}

// All combinations of answers: the recommended lock shows none of the codes that the answers forbid
// in any run that is cited; and where no lock is enough, every lock that could be used
// shows one.
func TestNoRecommendedLockShowsWhatIsForbidden(t *testing.T) {
	outcome := ran(t)
	for _, a := range advice.All() {
		d := advice.Decide(a, strategies.All(), outcome)
		forbidden := a.Forbids()
		if a[0] == 1 != slices.Contains(forbidden, trace.SW) {
			t.Errorf("%v: a stale write is forbidden exactly where two at once destroy something: %s", a, forbidden)
		}
		if !a.Fits(d.Lock) || a[1] == 0 && d.Lock.Fences || a[2] == 0 && d.Lock.Nodes > 1 {
			t.Errorf("%v: %s can't be used", a, d.Lock.Name)
		}
		idle := 0
		for _, name := range []string{"extend-races-expiry", "extend-after-gap"} {
			if !d.Lock.Extends() && slices.Contains(a.Scenarios(), name) {
				idle++
			}
		}
		if len(d.Runs)+idle != len(a.Scenarios()) {
			t.Errorf("%v: %d runs are cited, of %d", a, len(d.Runs), len(a.Scenarios()))
		}
		for _, r := range d.Runs {
			if s, _ := scenarios.Find(r.Scenario); strings.HasPrefix(s.Because(r.Strategy), "It has no extension") {
				t.Errorf("%v: %s decides, though it tests nothing of %s", a, r.Scenario, r.Strategy)
			}
			got, _ := outcome(r.Scenario, d.Lock.Name)
			broken := slices.ContainsFunc(got, func(c trace.Code) bool {
				return slices.Contains(forbidden, c) && !slices.Contains(a.Accepts(r.Scenario, d.Lock), c)
			})
			if r.Strategy != d.Lock.Name || !slices.Equal(got, r.Verdict) || broken != (len(r.Broken) > 0) || d.Enough && broken {
				t.Errorf("%v: %s is recommended (enough: %v), and shows %s under %s, which is cited as %v", a, d.Lock.Name, d.Enough, got, r.Scenario, r)
			}
		}
		for _, o := range d.Others {
			if !d.Enough && o.By == nil {
				t.Errorf("%v: no lock is said to be enough, and %s shows nothing forbidden", a, o.Lock.Name)
			}
		}
		if !d.Enough && !slices.ContainsFunc(d.Runs, func(r advice.Run) bool { return len(r.Broken) > 0 }) {
			t.Errorf("%v: %s is said not to be enough, and shows nothing forbidden", a, d.Lock.Name)
		}
	}
}

// TestFlaws: a lock is called a bad one by runs, and by those that its own mistake decides. To the others nothing happens that no
// lock with their means could have withstood.
func TestFlaws(t *testing.T) {
	sound := []string{"setpx-autoretry", "setpx-get", "setpx-subscribe", "setpx-watch", "setpx-delex", "setpx-lua", "setpx-wait", "fenced", "redlock-strict-errors", "redlock"}
	under := map[string]string{"fenced-late": "fence-minted-late", "redlock-no-elapsed": "clock-steps-back", "redlock-wall-clock": "clock-steps-back", "redlock-hyperf": "clock-steps-back"}
	for _, st := range strategies.All() {
		scenario, codes, settled := advice.Flaw(st, ran(t))
		if !settled || slices.Contains(sound, st.Name) != (scenario == "") || codes == nil != (scenario == "") {
			t.Errorf("%s: %s under %q, settled: %v", st.Name, codes, scenario, settled)
		}
		if want := under[st.Name]; want != "" && scenario != want {
			t.Errorf("%s fails under %q, and not first under %s", st.Name, scenario, want)
		}
		if _, _, settled := advice.Flaw(st, func(string, string) (trace.Verdict, bool) { return nil, false }); settled {
			t.Errorf("%s is judged by nothing", st.Name)
		}
	}
}

// The answers that the literature gives. Kleppmann 2016: for efficiency a lock on a single server will
// do; for correctness only a fencing token will; Redlock has none.
func TestRecommendations(t *testing.T) {
	outcome := ran(t)
	for _, tt := range []struct {
		answers advice.Answers
		lock    string
		enough  bool
	}{
		{advice.Answers{0, 0, 0}, "setpx-lua", true},
		{advice.Answers{0, 1, 0}, "setpx-lua", true},
		{advice.Answers{0, 0, 1}, "setpx-lua", true}, // as the documentation of Redis has it, where two at once are fine after a failure
		{advice.Answers{0, 0, 2}, "redlock", true},
		{advice.Answers{1, 1, 0}, "fenced", true},
		{advice.Answers{1, 1, 1}, "setpx-lua", false}, // the counter of fenced is no better than the record
		{advice.Answers{1, 1, 2}, "fenced", true},
		{advice.Answers{1, 0, 0}, "setpx-lua", false},
		{advice.Answers{1, 0, 1}, "setpx-lua", false},
		{advice.Answers{1, 0, 2}, "redlock", false},
	} {
		d := advice.Decide(tt.answers, strategies.All(), outcome)
		if d.Lock.Name != tt.lock || d.Enough != tt.enough {
			t.Errorf("%v: %s, enough: %v; want %s, %v", tt.answers, d.Lock.Name, d.Enough, tt.lock, tt.enough)
		}
	}
}

// Every other answer must count in some recommendation: a question that changes nothing should not be asked.
func TestEveryQuestionMatters(t *testing.T) {
	outcome := ran(t)
	decided := map[advice.Answers]string{}
	for _, a := range advice.All() {
		d := advice.Decide(a, strategies.All(), outcome)
		decided[a] = d.Lock.Name
		if !d.Enough {
			decided[a] += ", and more"
		}
	}
	for q := range advice.Questions {
		matters := false
		for a, lock := range decided {
			b := a
			for b[q] = range advice.Questions[q].Answers {
				matters = matters || decided[b] != lock
			}
		}
		if !matters {
			t.Errorf("%q changes no recommendation", advice.Questions[q].Text)
		}
	}
}

// harms reports whether a run of the lock shows something that the answers forbid and don't accept there.
func harms(d *advice.Advice, scenario, lock string, v trace.Verdict) bool {
	st, _ := strategies.Get(lock)
	return slices.ContainsFunc(v, func(c trace.Code) bool {
		return slices.Contains(d.Answers.Forbids(), c) && !slices.Contains(d.Answers.Accepts(scenario, st), c)
	})
}

// failedOf are those of the runs that show something forbidden, and the others.
func failedOf(d *advice.Advice, runs []advice.Run) (failed, accepted []advice.Run) {
	for _, r := range runs {
		if harms(d, r.Scenario, r.Strategy, r.Verdict) {
			failed = append(failed, r)
		} else {
			accepted = append(accepted, r)
		}
	}
	return failed, accepted
}

// Of the runs that no question is about it is said in how many the lock shows what is forbidden, by which mishaps, all of them, and what
// other locks do there: counted from the runs, and not before they are made. What only costs work, by the answers, needn't be ruled out.
func TestUnspokenAgreesWithTheRuns(t *testing.T) {
	outcome := ran(t)
	name := func(s string) string { return s }
	for _, a := range advice.All() {
		d := advice.Decide(a, strategies.All(), outcome)
		rest := d.Rest(scenarios.Names(), outcome)
		if _, wordless := d.Mishaps(rest.Shown); wordless > 0 {
			t.Errorf("%v: %d runs are without words", a, wordless)
		}
		if !d.Enough {
			expectKey(t, &d, outcome)
			continue
		}
		failed, _ := failedOf(&d, rest.Shown)
		text := strings.Join(d.Unspoken(&rest, outcome, name, false), " ")
		conditions, _ := d.Mishaps(failed)
		begin := ""
		if n := len(failed); n > 0 {
			begin = fmt.Sprintf("It is enough only if you can rule out %s.", trace.List(conditions))
			expectSpared(t, &d, failed, text, outcome)
		}
		if !strings.HasPrefix(text, begin) || begin == "" && !strings.HasPrefix(text, "Two may be at work at once") {
			t.Errorf("%v: of %v it is said: %s, want %s", a, rest.Shown, text, begin)
		}
		expectAccepted(t, &d, &rest, text)
		if brief := d.Text(&rest, outcome, name, false); !strings.Contains(strings.Join(slices.Concat(brief[0].Paragraphs, brief[1].Paragraphs), " "), text) { // nobody rules out what isn't named
			t.Errorf("%v: the conditions don't end what must be known: %s", a, brief)
		}
		first := section(&d, rest, outcome, "")
		for _, c := range conditions {
			if last := first[len(first)-1]; !strings.Contains(last, c) || len(conditions) > 1 && !slices.Contains(strings.Split(last, "\n"), "- "+c) {
				t.Errorf("%v: the condition %q has no line: %s", a, c, first)
			}
		}
		unmade := func(s, lock string) (trace.Verdict, bool) {
			v, known := outcome(s, lock)
			return v, known && lock == d.Lock.Name
		}
		early := strings.Join(d.Unspoken(&rest, unmade, name, false), " ")
		if strings.Contains(early, "If you can't") || !strings.HasPrefix(early, begin) {
			t.Errorf("%v: before the runs are made it is said: %s", a, early)
		}
		rest.Pending = 3
		if early := strings.Join(d.Unspoken(&rest, outcome, name, false), " "); early != "Still computing 3 runs, which can't change the lock, but may show more that you have to rule out." {
			t.Errorf("%v: with runs to come it is said: %s", a, early)
		}
	}
	if text := strings.Join((&advice.Advice{}).Unspoken(&advice.Rest{Made: 5}, outcome, nil, true), " "); text != "None of the 5 runs that your answers don't call for shows what they forbid, either." {
		t.Errorf("of no runs it is said: %s", text)
	}
}

// expectAccepted: of each mishap by which two are at work and none has harm, it is said that it needn't be ruled out, whether a question
// is about it or not: a failover like a restart.
func expectAccepted(t *testing.T, d *advice.Advice, rest *advice.Rest, text string) {
	t.Helper()
	_, free, _ := strings.Cut(text, "Two may be at work at once after ")
	for _, r := range append(slices.Clone(d.Runs), rest.Shown...) {
		mishaps, _ := d.Mishaps([]advice.Run{r})
		if slices.Contains(r.Verdict, trace.DG) && !harms(d, r.Scenario, r.Strategy, r.Verdict) && !strings.Contains(free, mishaps[0]) {
			t.Errorf("%v: %s under %s does no harm, and that isn't said: %s", d.Answers, r.Verdict, r.Scenario, text)
		}
	}
	if v, _ := ran(t)("pause-past-ttl", d.Lock.Name); free != "" && slices.Contains(v, trace.OV) != strings.HasPrefix(free, "a pause past the lease") {
		t.Errorf("%v: a pause shows %s: %s", d.Answers, v, text)
	}
	if d.Answers[0] == 0 && (strings.Contains(free, "failover") != (d.Answers[2] == 1) || !strings.Contains(free, "restart")) {
		t.Errorf("%v: a failover and a restart lose the lock alike: %s", d.Answers, text)
	}
}

// expectKey: where something else has to do what no lock can, it is said what that is and what it takes, when the lock fails to save
// work, which is by every mishap of its runs, and that none of these has to be ruled out but those by which nobody gets the lock.
func expectKey(t *testing.T, d *advice.Advice, outcome advice.Outcome) {
	t.Helper()
	rest := d.Rest(scenarios.Names(), outcome)
	first, reasons := section(d, rest, outcome, ""), section(d, rest, outcome, "More on this")
	for want, at := range map[string]int{"What to do: give each payment": 3, "one idempotency key, the same in every retry and every client": 3, "before you ask for the lock": 3, "keeps it as long as a retry can come": 3, "A balance or a stock needs a check, not a key": 4, "WHERE version = 7": 4} {
		if !strings.Contains(first[at], want) {
			t.Errorf("%v: there is no %q in %s", d.Answers, want, first[at])
		}
	}
	saves, why := reasons[len(reasons)-1], first[2]
	harmless, exceptions, _ := strings.Cut(saves, "With the idempotency key a payment that is sent twice is made once")
	covered, runs := 0, 0
	for _, r := range append(slices.Clone(d.Runs), rest.Shown...) {
		if !harms(d, r.Scenario, r.Strategy, r.Verdict) {
			continue
		}
		runs++
		mishaps, wordless := d.Mishaps([]advice.Run{r})
		if wordless > 0 {
			t.Errorf("%v: %s has no words", d.Answers, r.Scenario)
			continue
		}
		two := slices.Contains(r.Verdict, trace.DG) || slices.Contains(r.Verdict, trace.SW)
		if two {
			covered++
		}
		if strings.Contains(harmless, mishaps[0]) != two || strings.Contains(exceptions, mishaps[0]) == two {
			t.Errorf("%v: of %s under %s it is said: %s", d.Answers, r.Verdict, r.Scenario, saves)
		}
	}
	if covered == runs != strings.HasSuffix(saves, "so for a payment you need not prevent any of these.") {
		t.Errorf("%v: %d of %d runs are harmless with the key: %s", d.Answers, covered, runs, saves)
	}
	if covered < runs {
		stuck, _, _ := strings.Cut(exceptions[strings.Index(exceptions, "rule out "):], ": ")
		if len(first) != 6 || first[5] != "R"+stuck[1:]+"." {
			t.Errorf("%v: nobody gets the lock in %d runs, and it is said: %q", d.Answers, runs-covered, first)
		}
	}
	begins := "Why: under every lock with a lease two can be at work after a pause past the lease"
	if d.Answers[2] == 1 { // replicas
		begins = "Why: two can be at work after a pause past the lease (under every lock with one) or a failover"
	}
	if !strings.HasPrefix(why, begins) || strings.ContainsAny(why, "0123456789") ||
		!strings.Contains(why, "so that a customer pays twice or a change is lost.") || strings.Contains(why, "a failover") != (d.Answers[2] == 1) {
		t.Errorf("%v: it is said why no lock is enough: %s", d.Answers, why)
	}
	if way := section(d, rest, outcome, "Another way")[0]; strings.Contains(strings.SplitAfter(way, ". ")[0], "answer") || !strings.Contains(way, ": then fenced is enough") || !strings.Contains(way, "as long as its counter of tokens is never lost.") || !strings.Contains(way, " For its other conditions, answer ") {
		t.Errorf("%v: the other way is %s", d.Answers, way)
	}
	rest.Pending = 3
	reasons, counted := section(d, rest, outcome, "More on this"), section(d, rest, outcome, "The runs behind it")[0]
	if first := section(d, rest, outcome, ""); strings.Contains(counted, "no question") || !strings.HasSuffix(reasons[len(reasons)-1], "at once.") ||
		first[len(first)-1] != "Still computing 3 runs, which can't change the lock, but may show more that you have to rule out." {
		t.Errorf("%v: with runs to come it is said: %s, %s, %s", d.Answers, first, reasons, counted)
	}
}

// Two holders at once are accepted only where a condition of the claims is broken under the lock that is recommended: there it is no
// mistake of the lock.
func TestAcceptedIsNoMistakeOfTheLock(t *testing.T) {
	outside := map[string]bool{"one-node": true} // which is the restart of any
	for _, c := range claims.All {
		for _, as := range c.Assumptions {
			for _, b := range as.Breaches {
				outside[b.Scenario] = outside[b.Scenario] || slices.Contains(c.Of, b.Lock)
			}
		}
	}
	accepted := 0
	for _, a := range advice.All() {
		for _, name := range scenarios.Names() {
			for _, lock := range strategies.All() {
				codes := a.Accepts(name, lock)
				if codes == nil {
					continue
				}
				accepted++
				if a[0] == 1 && (!lock.Fences || a[1] == 0) || !outside[name] && name != "failover-wait.acked" {
					t.Errorf("%v: %s is accepted of %s under %s", a, codes, lock.Name, name)
				}
			}
		}
	}
	if accepted == 0 {
		t.Error("nothing is accepted")
	}
}

// A run that no question is about is of a kind, and those of a kind stand together, those first that have to be ruled out; that a mistake in
// the use of the lock is one is argued by its script.
func TestRunsOfAKindStandTogether(t *testing.T) {
	outcome := ran(t)
	for _, a := range advice.All() {
		d := advice.Decide(a, strategies.All(), outcome)
		rest := d.Rest(scenarios.Names(), outcome)
		var kinds []advice.Kind
		for i := range rest.Shown {
			r := &rest.Shown[i]
			k := d.Kind(r)
			if k.Class == advice.Unclassed || (k.To == advice.Decisive || k.To == advice.Uncounted) != (harms(&d, r.Scenario, r.Strategy, r.Verdict) && (d.Enough || slices.Contains(r.Verdict, trace.LV))) {
				t.Errorf("%v: %s under %s is of the kind %v", a, r.Verdict, r.Scenario, k)
			}
			if last := len(kinds) - 1; last >= 0 && kinds[last] == k {
				continue
			}
			if slices.Contains(kinds, k) || len(kinds) > 0 && k.To < kinds[len(kinds)-1].To {
				t.Errorf("%v: %v comes after %v", a, k, kinds)
			}
			happens, follows, _ := strings.Cut(k.Text(), "; ")
			for _, other := range kinds {
				if begins, to, _ := strings.Cut(other.Text(), "; "); begins == happens && to != follows {
					t.Errorf("%v: %q and %q begin alike and come to different things", a, k.Text(), other.Text())
				}
			}
			if k.To == advice.Covered != strings.HasSuffix(k.Text(), "; with the key, paid once") {
				t.Errorf("%v: %v is told as %q", a, k, k.Text())
			}
			kinds = append(kinds, k)
		}
	}
}

// expectSpared: what is said of other locks that are enough agrees with their runs.
func expectSpared(t *testing.T, d *advice.Advice, failed []advice.Run, text string, outcome advice.Outcome) {
	t.Helper()
	a, most, enough := d.Answers, 0, 0
	for _, o := range d.Others {
		spared := 0
		for _, r := range failed {
			v, _ := outcome(r.Scenario, o.Lock.Name)
			if !harms(d, r.Scenario, o.Lock.Name, v) {
				spared++
			}
		}
		if o.By == nil {
			enough++
			most = max(most, spared)
		}
	}
	want := ""
	switch {
	case enough == 0:
		want = "No other lock is enough for your answers."
	case most == 0:
		want = "Every other lock that is enough for your answers fails there, too."
	default:
		want = fmt.Sprintf("withstands %d of those %d.", most, len(failed))
		if most == len(failed) {
			want = "and withstands th"
		}
		best := d.Others[slices.IndexFunc(d.Others, func(o advice.Rejected) bool { return strings.Contains(text, "If you can't, take "+o.Lock.Name+":") })]
		for _, s := range a.Scenarios() {
			v, _ := outcome(s, best.Lock.Name)
			if unwanted := slices.ContainsFunc(v, func(c trace.Code) bool { return slices.Contains(a.Wants(), c) }); unwanted && !strings.Contains(text, "Its price: ") {
				t.Errorf("%v: %s shows %s under %s, and that isn't its price: %s", a, best.Lock.Name, v, s, text)
			}
		}
	}
	if !strings.Contains(text, want) {
		t.Errorf("%v: %d others are enough, and withstand up to %d: %s", a, enough, most, text)
	}
}

// Where no lock is enough, the headline says what makes one enough, and which, and no other lock than that whose runs are listed; and
// it is so, by the runs, once that is the answer, as it is with what else is offered: that comes with the answers that it takes, all of
// them other ones than were given.
func TestHeadlineHasTheCure(t *testing.T) {
	outcome, cured := ran(t), 0
	for _, a := range advice.All() {
		d := advice.Decide(a, strategies.All(), outcome)
		headline := d.Headline()
		if d.Enough {
			want := "Use " + d.Lock.Name + "."
			if d.Lock.Fences { // the name alone would be taken for a charge, too
				if want = "Use " + d.Lock.Name + ", but only if its token is checked and its counter is never lost."; a[2] == 2 {
					want = "Use " + d.Lock.Name + " on one server, only if its token is checked and its counter kept."
				}
			}
			if headline != want || len(d.Instead) > 0 {
				t.Errorf("%v: %s", a, headline)
			}
			continue
		}
		for n, i := range d.Instead {
			cured++
			if chosen := advice.Decide(i.Answers, strategies.All(), outcome); !chosen.Enough || chosen.Lock.Name != i.Lock.Name {
				t.Errorf("%v: then comes %s, enough: %t", a, chosen.Lock.Name, chosen.Enough)
			}
			for q := range a {
				asked, text := advice.Questions[q], ""
				if n > 0 { // the first is the recommendation
					text = section(&d, d.Rest(scenarios.Names(), outcome), outcome, "Another way")[n-1]
				}
				answer := fmt.Sprintf("%q", asked.Text+" "+asked.Answers[i.Answers[q]].Text)
				if changed := slices.Contains(i.Changed, q); changed != (i.Answers[q] != a[q]) || n > 0 && changed != strings.Contains(text, answer) {
					t.Errorf("%v: to %v it is said: %s", a, i.Answers, text)
				}
			}
		}
		if want := "No lock alone is enough. Against a payment sent twice, use " + d.Lock.Name + " with an idempotency key; for a balance computed from what was read, a version check."; headline != want {
			t.Errorf("%v: %s, want %q", a, headline, want)
		}
		if fenced := slices.ContainsFunc(d.Instead, func(i advice.Instead) bool { return i.Lock.Name == "fenced" }); !fenced {
			t.Errorf("%v: a fencing token isn't offered: %v", a, d.Instead)
		}
	}
	if cured == 0 {
		t.Error("nothing makes a lock enough")
	}
}

// A claim does not hold where a run that the answers are about shows what it excludes: it is said which of its conditions that breaks.
func TestClaimsThatDoNotHoldAreSaidNotTo(t *testing.T) {
	outcome, void, holds := ran(t), 0, 0
	for _, a := range advice.All() {
		d := advice.Decide(a, strategies.All(), outcome)
		for _, n := range d.Claims() {
			shown := slices.ContainsFunc(d.Runs, func(r advice.Run) bool {
				return slices.ContainsFunc(r.Verdict.Strings(), func(code string) bool { return slices.Contains(claims.All[n-1].Never, code) })
			})
			if said := strings.HasSuffix(d.Claim(n, false), ", does not hold here: one of its conditions is broken."); said != shown {
				t.Errorf("%v: %s shows what claim %d excludes: %t; it is said: %s", a, d.Lock.Name, n, shown, d.Claim(n, false))
			}
			for _, text := range []string{d.Claim(n, true), d.ClaimText(n)} {
				if said := strings.Contains(text, "does not hold here: it assumes that "); said != shown {
					t.Errorf("%v: %s shows what claim %d excludes: %t; it is said: %s", a, d.Lock.Name, n, shown, text)
				}
			}
			if shown {
				void++
			} else {
				holds++
			}
		}
	}
	if void == 0 || holds == 0 {
		t.Errorf("%d claims hold, and %d don't", holds, void)
	}
	d := advice.Decide(advice.Answers{1, 1, 1}, strategies.All(), outcome)
	if want := "Claim 1, that setpx-lua shows no double grant (DG), does not hold here: it assumes that no unexpired record of the lock is lost, and a failover to a replica that has not got the lock's record breaks that."; d.Claim(1, true) != want {
		t.Errorf("%s, want %s", d.Claim(1, true), want)
	}
}

// A token protects what checks it. Where a second effect does harm, what has none is told of an idempotency key, whatever the servers.
func TestEffectsOutsideAreCovered(t *testing.T) {
	outcome := ran(t)
	for _, a := range advice.All() {
		d := advice.Decide(a, strategies.All(), outcome)
		text := strings.Join(told(&d, outcome), " ")
		if said := strings.Contains(text, "idempotency key"); said != (a[0] == 1) {
			t.Errorf("%v: an idempotency key is told of: %t\n%s", a, said, text)
		}
		for _, r := range append(slices.Clone(d.Runs), d.Rest(scenarios.Names(), outcome).Shown...) {
			text += " " + d.Follows(&r) + " " + d.Kind(&r).Text()
		}
		// The resource of the runs is a counter that is read and then written: the key would not keep the update that they lose.
		if a[0] == 1 && a[1] == 0 && (strings.Contains(text, "harmless") || strings.Contains(text, "does no harm")) {
			t.Errorf("%v: the key is said to do for all that the runs show:\n%s", a, text)
		}
	}
	if e := advice.Questions[0].Answers[1].Example; !strings.Contains(e, "answer for the one that can't be undone: the charge") { // a payment has both, and that is read before any question is answered
		t.Errorf("whose step checks a token and whose doesn't isn't told what to choose: %s", e)
	}
}

// The number of runs that the answers call for, and of those in which the lock fails, are counted from its runs; where a
// stale write is forbidden, it is said to what it comes.
func TestNumbersOfRuns(t *testing.T) {
	outcome := ran(t)
	for _, a := range advice.All() {
		d := advice.Decide(a, strategies.All(), outcome)
		failed := 0
		for _, r := range d.Runs {
			if len(r.Broken) > 0 {
				failed++
			}
		}
		rest := d.Rest(scenarios.Names(), outcome)
		elsewhere, _ := failedOf(&d, rest.Shown)
		apart, unpaid, left, stuck := 0, 0, 0, "" // of the others: those that the key does nothing for, and those in which nobody gets the lock
		for i := range rest.Shown {
			switch d.Kind(&rest.Shown[i]).To {
			case advice.Versioned:
				unpaid++
			case advice.Decisive:
				left, stuck = 1, "; in 1 nobody gets the lock"
			}
		}
		for _, name := range scenarios.Names() {
			cited := slices.Contains(d.Answers.Scenarios(), name)
			ran := slices.ContainsFunc(d.Runs, func(r advice.Run) bool { return r.Scenario == name })
			if cited && !ran || !cited && (slices.Contains(d.Answers.Without(), name) || lacks(name, d.Lock)) {
				apart++
			}
		}
		for _, whole := range []bool{false, true} {
			sections := d.Text(&rest, outcome, func(s string) string { return s }, whole)
			all := failed + len(elsewhere)
			want := fmt.Sprintf("Each run plays one mishap. %s alone fails in %d of the %d scenarios that apply (of %d): in %d of the %d that your answers call for, by stale write (SW: a customer pays twice or a change is lost)", d.Lock.Name, all, len(d.Runs)+rest.Made, len(d.Runs)+rest.Made+apart, failed, len(d.Runs))
			if !whole {
				want, _, _ = strings.Cut(want, ", by")
			}
			if d.Enough {
				want = fmt.Sprintf("Each run plays one mishap. It withstands all %d that your answers call for", len(d.Runs))
			}
			others := fmt.Sprintf(", and in %d of the other %d. Your answers don't call for other ways in which the lease ends during the work (the pause past it stands for them), what the code around the lock can rule out or what a server's setup can rule out: a restart or a power cut that loses data (appendonly yes, appendfsync always), an eviction of the lock's record (maxmemory-policy noeviction) and a jump of a server's clock (slew the clock, never step it). "+
				"With the key (argued, not run) a payment sent by both is made once in %d of the %d; %d are about no payments: a value is computed and stored, which needs a version check%s.", len(elsewhere), rest.Made, all-unpaid-left, all, unpaid, stuck)
			if !whole {
				others = regexp.MustCompile(` \((append|max|slew)[^)]*\)`).ReplaceAllString(others, "")
			}
			if d.Enough {
				others = fmt.Sprintf(". It fails in %d other", len(elsewhere))
			}
			if len(elsewhere) == 0 {
				others = ", and fails in no other."
			}
			if text := sections[len(sections)-1].Paragraphs[0]; !strings.HasPrefix(text, want) || !strings.Contains(text, others) || d.Enough != (failed == 0) {
				t.Errorf("%v: %d runs, of which %d fail, and %d others: %s", a, len(d.Runs), failed, len(elsewhere), text)
			}
		}
	}
}

// lacks reports whether a scenario is about something that a lock doesn't have: a token, or a vote.
func lacks(scenario string, lock strategies.Strategy) bool {
	return scenario == "one-node" && lock.Nodes == 1 || strings.HasPrefix(scenario, "fence") && !lock.Fences
}

// Nobody is told that a lock fails at what it doesn't have, and the key is praised only where a request is sent twice: a cache, or a
// transaction that commits too late, takes a version check.
func TestHeadingsAreTrueOfTheirRuns(t *testing.T) {
	outcome, seen := ran(t), 0
	changes := []string{"stampede-slow", "stampede-fallthrough", "commit-after-release"}
	for _, a := range advice.All() {
		d := advice.Decide(a, strategies.All(), outcome)
		for _, r := range d.Elsewhere(scenarios.Names(), outcome) {
			if lacks(r.Scenario, d.Lock) {
				t.Errorf("%v: %s is listed of %s", a, r.Scenario, d.Lock.Name)
			}
			if d.Enough || !slices.Contains(changes, r.Scenario) {
				continue
			}
			seen++
			if k := d.Kind(&r); k.Text() != "a stale value is stored; needs a version check" || !strings.Contains(d.Follows(&r), "a version check prevents that, the key doesn't.") {
				t.Errorf("%v: %s is told as %q: %s", a, r.Scenario, k.Text(), d.Follows(&r))
			}
		}
	}
	if seen == 0 {
		t.Error("no run needs a version check")
	}
}

// What to use begins the recommendation, in at most two lines of the least window, and what protects follows in one. A lock that
// is said only to save work lets in two after a pause, whatever the answers.
func TestWhatProtectsIsTheSecondLine(t *testing.T) {
	outcome, seen := ran(t), map[string]bool{}
	const least = 78
	for _, a := range advice.All() {
		d := advice.Decide(a, strategies.All(), outcome)
		first := section(&d, d.Rest(scenarios.Names(), outcome), outcome, "")
		if first[0] != d.Headline() || first[1] != d.Protects() || len(first[0]) > 2*least || len(first[1]) > least {
			t.Errorf("%v: it begins with %q", a, first)
		}
		seen[d.Protects()] = true
		what := map[bool]string{true: "The key, an ID that its receiver acts on once, protects", false: "That check protects"}[!d.Enough]
		if a[0] == 0 {
			what = "It only saves work"
		}
		if v, _ := outcome("pause-past-ttl", d.Lock.Name); !strings.HasPrefix(first[1], what) || !slices.Contains(v, trace.OV) {
			t.Errorf("%v: %s shows %s after a pause, and it is said: %s", a, d.Lock.Name, v, first[1])
		}
		for _, o := range d.Others {
			if !d.Enough && o.By == nil {
				t.Errorf("%v: every lock fails, and %s doesn't", a, o.Lock.Name)
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("what protects is one of %v", seen)
	}
}

// told is the recommendation with its details as a reader of names has it.
func told(d *advice.Advice, outcome advice.Outcome) []string {
	return toldWith(d, d.Rest(scenarios.Names(), outcome), outcome)
}

func toldWith(d *advice.Advice, rest advice.Rest, outcome advice.Outcome) (all []string) {
	for _, s := range d.Text(&rest, outcome, func(s string) string { return s }, true) {
		all = append(all, s.Paragraphs...)
	}
	return all
}

// section has the paragraphs below a heading, in the whole text.
func section(d *advice.Advice, rest advice.Rest, outcome advice.Outcome, heading string) []string {
	all := d.Text(&rest, outcome, func(s string) string { return s }, true)
	return all[slices.IndexFunc(all, func(s advice.Section) bool { return s.Heading == heading })].Paragraphs
}

// Why a token that is checked isn't enough with replicas is said there, and nowhere else, and the run that it names shows it: after the
// failover the counter gives no higher number, and a late write isn't refused. Where only the lock's record goes, in an eviction or by a jump of
// the clock, it does.
func TestCounterIsNoBetterThanItsServer(t *testing.T) {
	outcome := ran(t)
	for _, a := range advice.All() {
		d := advice.Decide(a, strategies.All(), outcome)
		said := strings.Contains(strings.Join(told(&d, outcome), "\n"), "A fencing token is not enough with replicas: a failover can lose its counter together with the lock's record.")
		if want := a == (advice.Answers{1, 1, 1}); said != want {
			t.Errorf("%v: of the counter it is said: %t", a, said)
		}
	}
	for scenario, lost := range map[string]bool{"failover": true, "failover-wait": true, "split-brain": true, "fence-lost": true, "restart-no-fsync": true, "power-cut": true, "one-node": true, "eviction": false, "server-clock-jump": false} {
		fences, run := [2]int64{}, scenarios.Ran(t, scenario, "fenced") // of A and B
		for _, e := range run.Events {
			if e.Kind == trace.KindGranted && e.Client < len(fences) {
				fences[e.Client] = e.Fence
			}
		}
		if got := fences[1] <= fences[0]; got != lost || fences[0] == 0 {
			t.Errorf("%s: A and B get %v", scenario, fences)
		}
		alike := fmt.Sprintf("both carry number %d, so the resource can't tell them apart", fences[0])
		for _, v := range run.Violations {
			if late := strings.Contains(v.Text, " has already "); late && strings.HasSuffix(v.Text, alike) != (fences[0] == fences[1]) {
				t.Errorf("%s: A and B get %v, and it is said that %q", scenario, fences, v.Text)
			}
		}
	}
}

// The setting that is advised for the counter keeps it, where the same run without it lets a late write through.
func TestCounterIsKeptAsAdvised(t *testing.T) {
	outcome := ran(t)
	d := advice.Decide(advice.Answers{1, 1, 0}, strategies.All(), outcome)
	if text := strings.Join(section(&d, d.Rest(scenarios.Names(), outcome), outcome, ""), " "); !strings.Contains(text, "appendfsync always") || !strings.Contains(d.Headline(), "its counter is never lost") {
		t.Errorf("it isn't said how the counter is kept: %s", text)
	}
	for scenario, lost := range map[string]bool{"fence-lost": true, "fence-lost.always": false} {
		if v, _ := outcome(scenario, d.Lock.Name); slices.Contains(v, trace.SW) != lost {
			t.Errorf("%s shows %s under %s", d.Lock.Name, v, scenario)
		}
	}
}

// What a lock shows beside what is forbidden is said to be allowed; and where its runs show what a claim
// about it excludes, it is said why that is no contradiction.
func TestTextAgreesWithTheRuns(t *testing.T) {
	outcome := ran(t)
	for _, a := range advice.All() {
		d := advice.Decide(a, strategies.All(), outcome)
		text := strings.Join(told(&d, outcome), " ")
		for _, r := range d.Runs {
			for _, c := range r.Verdict {
				if !strings.Contains(text, "("+c.String()+")") && d.Enough {
					t.Errorf("%v: %s shows %s under %s, and of that there is nothing in %q", a, d.Lock.Name, c, r.Scenario, text)
				}
			}
		}
		elsewhere := d.Elsewhere(scenarios.Names(), outcome)
		for _, n := range d.Holding() { // of the others it is said that they don't hold
			for _, code := range claims.All[n-1].Never {
				shown := slices.ContainsFunc(append(slices.Clone(d.Runs), elsewhere...), func(r advice.Run) bool { return slices.Contains(r.Verdict.Strings(), code) })
				if said := strings.Contains(d.Beyond(append(slices.Clone(d.Runs), elsewhere...)), code); said != shown {
					t.Errorf("%v: runs of %s show %s: %v; it is said that they don't contradict claim %d: %v", a, d.Lock.Name, code, shown, n, said)
				}
			}
		}
	}
}

// Where two at once would do harm, and a run shows two at once, it is said what keeps the harm away; and the run shows that
// the resource has refused the late one.
func TestAllowedOverlapIsRefused(t *testing.T) {
	outcome, seen := ran(t), 0
	for _, a := range advice.All() {
		d := advice.Decide(a, strategies.All(), outcome)
		text := strings.Join(told(&d, outcome), " ")
		for i := range d.Runs {
			r := &d.Runs[i]
			if a[0] == 0 || !d.Enough || len(r.Broken) > 0 || !slices.Contains(r.Verdict, trace.OV) {
				if strings.Contains(d.Allowed(r), "resource") && (a[0] == 0 || len(r.Broken) > 0) {
					t.Errorf("%v: of %v it is said: %s", a, r, d.Allowed(r))
				}
				continue
			}
			seen++
			if why := "the resource refused the stale write"; !strings.Contains(d.Allowed(r), why) || !strings.Contains(text, why) {
				t.Errorf("%v: why %v is no failure is not said: %s; %s", a, r, d.Allowed(r), text)
			}
			s, err := scenarios.Find(r.Scenario)
			if err != nil {
				t.Fatal(err)
			}
			run, err := s.Run(d.Lock, 1)
			if err != nil || !slices.ContainsFunc(run.Events, func(e trace.Event) bool { return e.Kind == trace.KindReject }) {
				t.Errorf("%v: nothing is refused under %s: %v", a, r.Scenario, err)
			}
		}
	}
	if seen == 0 {
		t.Error("no run that decides shows two at once where that does harm")
	}
}

// Where no lock is enough, each remedy is offered with its price: what the lock that is enough then shows of codes
// that are unwanted, as it is told once the remedy's answer is chosen.
func TestRemediesHaveTheirPrice(t *testing.T) {
	outcome, priced := ran(t), 0
	for _, a := range advice.All() {
		d := advice.Decide(a, strategies.All(), outcome)
		text := strings.Join(told(&d, outcome), " ")
		for _, i := range d.Instead {
			chosen := advice.Decide(i.Answers, strategies.All(), outcome)
			for _, s := range told(&chosen, outcome) {
				if strings.HasPrefix(s, "Its price: ") {
					if priced++; !strings.Contains(text, s) {
						t.Errorf("%v: %q is told only once it is chosen: %s", a, s, text)
					}
				}
			}
		}
	}
	if priced == 0 {
		t.Error("no remedy has a price")
	}
}

// The run that a breach of a claim names shows what the claim excludes: with one of its locks, or with one that
// differs in just that.
func TestBreachesShowWhatTheClaimExcludes(t *testing.T) {
	outcome := ran(t)
	for i, c := range claims.All {
		for _, a := range c.Assumptions {
			for _, b := range a.Breaches {
				if b.Scenario == "" {
					continue
				}
				v, _ := outcome(b.Scenario, b.Lock)
				never := c.Never
				if never == nil {
					never = []string{trace.PD.String()} // of claim 5, by which a lock can be had again
				}
				if !slices.ContainsFunc(v.Strings(), func(code string) bool { return slices.Contains(never, code) }) {
					t.Errorf("claim %d, %s: %s under %s is %s, which shows nothing of %v", i+1, b.Text, b.Lock, b.Scenario, v, never)
				}
			}
		}
	}
}

// A reader of a claim finds there the runs of the catalogue that break it, as the recommendation lists them. That of a Redlock
// with one server is the restart of any.
func TestClaimsHaveTheirRuns(t *testing.T) {
	outcome := ran(t)
	same := map[string]string{"one-node": "restart-no-fsync"}
	for i, c := range claims.All {
		if len(c.Of) == 0 {
			continue
		}
		linked := map[string]bool{}
		for _, a := range c.Assumptions {
			for _, b := range a.Breaches {
				linked[b.Scenario] = linked[b.Scenario] || b.Lock == c.Of[0]
			}
		}
		for _, name := range scenarios.Names() {
			if v, known := outcome(name, c.Of[0]); known && slices.Contains(v.Strings(), c.Never[0]) && !linked[name] && !linked[same[name]] {
				t.Errorf("%s shows %s under %s, and no condition of claim %d names that run", c.Of[0], c.Never[0], name, i+1)
			}
		}
	}
}

// After another answer it is said in less than a line what that has changed: the lock, or the reasons alone.
func TestChangeIsSaid(t *testing.T) {
	outcome := ran(t)
	of := func(a advice.Answers) advice.Advice { return advice.Decide(a, strategies.All(), outcome) }
	for change, want := range map[[2]advice.Answers]string{
		{{1, 0, 1}, {1, 0, 0}}: "same advice as before; a failover is no longer a reason",
		{{1, 0, 0}, {1, 0, 1}}: "same advice as before; a failover is now a reason, too",
		{{1, 0, 0}, {1, 0, 2}}: "now redlock with an idempotency key instead of setpx-lua",
		{{1, 0, 0}, {1, 1, 0}}: "now fenced is enough; before, no lock alone was",
		{{1, 1, 0}, {1, 1, 1}}: "now no lock alone is enough; before, fenced was",
		{{1, 1, 0}, {1, 1, 2}}: "same lock as before, fenced, on one of the servers",
		{{0, 0, 1}, {0, 0, 0}}: "same advice as before",
		{{0, 0, 0}, {0, 0, 2}}: "now redlock instead of setpx-lua",
	} {
		before, now := of(change[0]), of(change[1])
		if got := now.Since(&before); got != want {
			t.Errorf("from %v to %v: %s, want %s", change[0], change[1], got, want)
		}
	}
	const room = 80 - len("  separate servers:   ")
	var all []advice.Advice
	for _, a := range advice.All() {
		all = append(all, of(a))
	}
	for i := range all {
		for j := range all {
			if got := all[j].Since(&all[i]); len(got) > room {
				t.Errorf("from %v to %v: %s is too long", advice.All()[i], advice.All()[j], got)
			}
		}
	}
}
