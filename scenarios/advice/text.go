package advice

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/claims"
	"lockstep/sim/trace"
)

// Text puts the recommendation into sentences, the most important first.
func (a *Advice) Text() []string {
	if a.Lock.Name == "" {
		return []string{"There is no such lock."}
	}
	verb := "Use"
	if !a.Enough {
		verb = "No lock is enough; nearest comes"
	}
	all := []string{fmt.Sprintf("%s %s: %s.", verb, a.Lock.Name, a.Lock.Summary)}
	if a.Enough {
		all = append(all, fmt.Sprintf("In the %d runs that decide it shows nothing that your answers forbid: %s.", len(a.Runs), named(a.Answers.Forbids())))
	} else {
		all = append(all, fmt.Sprintf("It shows %s; every other lock shows something forbidden, too.", where(a.Runs, func(r *Run) trace.Verdict { return r.Broken })))
	}
	if why := a.whyOne(); why != "" {
		all = append(all, why)
	}
	for _, i := range a.Instead {
		all = append(all, i.text())
	}
	if unwanted := where(a.Runs, func(r *Run) trace.Verdict { return r.Unwanted }); unwanted != "" {
		all = append(all, "Its price: "+unwanted+".")
	}
	for _, n := range a.Claims() {
		all = append(all, claimText(n))
	}
	return all
}

// whyOne says why a lock on one server is recommended where there are several: it is empty if it isn't.
func (a *Advice) whyOne() string {
	if a.Lock.Nodes > 1 || Questions[len(Questions)-1].Answers[a.Answers[len(Questions)-1]].fits != nil {
		return ""
	}
	several := slices.DeleteFunc(slices.Clone(a.Others), func(r Rejected) bool { return r.Lock.Nodes == 1 })
	if len(several) == 0 {
		return ""
	}
	best := slices.MinFunc(several, func(x, y Rejected) int { return slices.Compare(x.cost(), y.cost()) })
	text := fmt.Sprintf("It takes one of your servers. A vote of several, as in %s, ", best.Lock.Name)
	if by := best.By; by != nil {
		return text + fmt.Sprintf("is no safer for this use: it shows %s under %s.", named(by.Broken), by.Scenario)
	}
	return text + "withstands no more of what decides here, and takes more."
}

// text says what to do, and which lock is enough then.
func (i *Instead) text() string {
	q := &Questions[i.Question]
	answer := &q.Answers[i.Answer]
	if answer.remedy == "" {
		return fmt.Sprintf("%s is enough if %s %s.", i.Lock.Name, lower(q.Text), answer.Text)
	}
	text := fmt.Sprintf("%s. Then %s is enough", answer.remedy, i.Lock.Name)
	switch {
	case i.Shown == nil:
	case len(i.Shown.Verdict) == 0:
		text += fmt.Sprintf(": lockstep run %s %s shows that nothing breaks", i.Lock.Name, i.Shown.Scenario)
	default:
		text += fmt.Sprintf(": lockstep run %s %s shows %s at most", i.Lock.Name, i.Shown.Scenario, named(i.Shown.Verdict))
	}
	return text + "."
}

// named are codes with their names: "stale write (SW), double grant (DG)".
func named(codes trace.Verdict) string {
	var all []string
	for _, c := range codes {
		all = append(all, fmt.Sprintf("%s (%s)", c.Name(), c))
	}
	return strings.Join(all, ", ")
}

// claimText is a claim and the first of its assumptions, which the runs beside it may break.
func claimText(n int) string {
	const shown = 2
	var assumed []string
	for _, a := range claims.All[n-1].Assumptions {
		assumed = append(assumed, "that "+a.Text)
	}
	if more := len(assumed) - shown; more > 0 {
		assumed = append(assumed[:shown], fmt.Sprintf("%d other conditions", more))
	}
	return fmt.Sprintf("Claim %d of docs/model.md: %s It assumes %s.", n, claims.All[n-1].Text, trace.List(assumed))
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
func where(runs []Run, codes func(*Run) trace.Verdict) string {
	var parts []string
	for _, c := range trace.Codes {
		var names []string
		for i := range runs {
			if slices.Contains(codes(&runs[i]), c) {
				names = append(names, runs[i].Scenario)
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
