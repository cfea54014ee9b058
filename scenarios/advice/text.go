package advice

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/claims"
	"lockstep/sim/trace"
)

// Text puts the recommendation into sentences, the most important first. Scenarios have the names
// that the reader finds them by.
func (a *Advice) Text(name func(scenario string) string) []string {
	if a.Lock.Name == "" {
		return []string{"There is no such lock."}
	}
	verb := "Use"
	if !a.Enough {
		verb = "No lock is enough; nearest comes"
	}
	all := []string{fmt.Sprintf("%s %s: %s.", verb, a.Lock.Name, a.Lock.Summary)}
	if a.Enough {
		text := fmt.Sprintf("The %d runs that decide show nothing that your answers forbid: no %s.", len(a.Runs), named(a.Answers.Forbids()))
		if allowed := a.allowed(); len(allowed) > 0 {
			text += fmt.Sprintf(" They do show %s", named(allowed))
			if i := slices.IndexFunc(a.Runs, func(r Run) bool { return a.refuses(&r) }); i >= 0 {
				text += ". Of two holders at once the resource refuses the late one's write"
			}
			text += "."
		}
		all = append(all, text)
	} else {
		all = append(all, fmt.Sprintf("It shows %s; every other lock shows something forbidden, too.", where(a.Runs, func(r *Run) trace.Verdict { return r.Broken }, name)))
	}
	if why := a.whyOne(name); why != "" {
		all = append(all, why)
	}
	for _, i := range a.Instead {
		all = append(all, i.text(name))
	}
	if unwanted := where(a.Runs, func(r *Run) trace.Verdict { return r.Unwanted }, name); unwanted != "" {
		all = append(all, "Its price: "+unwanted+".")
	}
	return all
}

// allowed are the codes of the runs that decide which the answers don't forbid, its price among them.
func (a *Advice) allowed() trace.Verdict {
	var v trace.Verdict
	for _, r := range a.Runs {
		for _, c := range r.Verdict {
			if !slices.Contains(r.Broken, c) && !slices.Contains(v, c) {
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
		return "Your answers allow it: the resource refuses the late holder's write."
	}
	return "Your answers allow it."
}

// refuses reports whether two were inside at once in a run, and the answers, which forbid that this does harm, are
// content: the resource has refused the late one, by its token.
func (a *Advice) refuses(r *Run) bool {
	return a.Lock.Fences && slices.Contains(a.Answers.Forbids(), trace.SW) && slices.Contains(r.Verdict, trace.OV) && !slices.Contains(r.Verdict, trace.SW)
}

// ofSeveral reports whether the lock is on one server although there are several.
func (a *Advice) ofSeveral() bool {
	last := len(Questions) - 1
	return a.Lock.Nodes == 1 && Questions[last].Answers[a.Answers[last]].fits == nil
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
	text := fmt.Sprintf("It takes one of your servers. A vote of several, as in %s, ", best.Lock.Name)
	if by := best.By; by != nil {
		return text + fmt.Sprintf("is no safer for this use: it shows %s under %s.", named(by.Broken), name(by.Scenario))
	}
	return text + "withstands no more of what decides here, and takes more."
}

// text says what to do, which lock is enough then, and at what price.
func (i *Instead) text(name func(string) string) string {
	q := &Questions[i.Question]
	answer := &q.Answers[i.Answer]
	price := ""
	if i.One {
		price = " It takes one of your servers."
	}
	if unwanted := where(i.Runs, func(r *Run) trace.Verdict { return r.Unwanted }, name); unwanted != "" {
		price += " Its price: " + unwanted + "."
	}
	if answer.remedy == "" {
		return fmt.Sprintf("%s is enough if %s %s.%s", i.Lock.Name, lower(q.Text), answer.Text, price)
	}
	text := fmt.Sprintf("%s. Then %s is enough", answer.remedy, i.Lock.Name)
	if i.Shown != nil {
		shown := "nothing breaks"
		if len(i.Shown.Verdict) > 0 {
			shown = fmt.Sprintf("it shows %s at most", named(i.Shown.Verdict))
		}
		text += fmt.Sprintf(": under %s %s", name(i.Shown.Scenario), shown)
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

// Unspoken says of the runs elsewhere that they don't decide: no question asks about what happens in them, and a
// lock that is enough for the answers need not withstand them. It is empty if there are none.
func (a *Advice) Unspoken(elsewhere []Run, outcome Outcome) string {
	n := len(elsewhere)
	if n == 0 {
		return ""
	}
	runs, show := fmt.Sprintf("%d other runs", n), "show"
	if n == 1 {
		runs, show = "1 other run", "shows"
	}
	text := fmt.Sprintf("Not covered by any question: %s of %s, listed last, %s what your answers forbid.", runs, a.Lock.Name, show)
	if !a.Enough {
		return text
	}
	best, most, enough := "", 0, 0
	for _, o := range a.Others {
		if o.By != nil {
			continue
		}
		enough++
		spared := 0
		for _, r := range elsewhere {
			v, known := outcome(r.Scenario, o.Lock.Name)
			if !known {
				return text // more can be said once that is made
			}
			if common(v, a.Answers.Forbids()) == nil {
				spared++
			}
		}
		if spared > most {
			best, most = o.Lock.Name, spared
		}
	}
	switch {
	case enough == 0:
		return text + " No other lock is enough for your answers."
	case most == 0:
		return text + " Every other lock that is enough for your answers fails in all of these, too."
	}
	return text + fmt.Sprintf(" Of the other locks that are enough for your answers, %s does best there: nothing forbidden in %d of %d.", best, most, n)
}

// ClaimText is a claim by which the lock never shows what the answers forbid. It has all of its
// conditions or, where there is no room, their number. It begins with its number.
func ClaimText(n int, whole bool) string {
	c := &claims.All[n-1]
	text := fmt.Sprintf("Claim %d: %s", n, c.Text)
	if !whole {
		return text + fmt.Sprintf(" It has %d conditions.", len(c.Assumptions))
	}
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
	return fmt.Sprintf("Runs of it that show %s are no contradiction: each breaks a condition.", shown.Sorted())
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
