package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"lockstep/sim/claims"
	"lockstep/sim/explore"
	"lockstep/sim/explore/report"
	"lockstep/sim/timeline"
)

// writeResult prints the findings of a search: first the answers and the least schedules, then its
// bounds and its effort. On a terminal, off which its first rows may have gone, the answer is the last row, too.
func writeResult(out io.Writer, r *explore.Result) error {
	text, err := resultText(r, terminal(out))
	if err == nil {
		_, err = io.WriteString(unbroken(out), text)
	}
	return err
}

func resultText(r *explore.Result, again bool) (string, error) {
	var b strings.Builder
	p := printer(func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) })
	findings(p, r)
	for _, v := range r.Violated {
		if err := counterexample(&b, p, v); err != nil {
			return "", err
		}
	}
	p("\nWhat was searched")
	p.items([]report.Item{report.Covered(r)})
	p.items(report.Bounds(&r.Bounds))
	p("\nWhat it came to")
	p.items(report.Effort(r))
	p.items(report.Worth(r))
	assumptions(p, r)
	if again {
		p("\n%s", headline(r))
	}
	return b.String(), nil
}

type printer func(format string, args ...any)

func (p printer) items(items []report.Item) {
	for _, i := range items {
		p("%s", i)
	}
}

// headline is the answer in one clause.
func headline(r *explore.Result) string {
	return strings.TrimSuffix(report.Wrap(r.Bounds.Strategy.Name+":", 2, r.Summary()), "\n")
}

// findings is the short answer.
func findings(p printer, r *explore.Result) {
	p("%s", headline(r))
	for _, f := range r.Findings() {
		p.items([]report.Item{{Label: f.Code.String(), Text: report.Text(f)}})
	}
}

// assumptions lists those of the lock's claims that extend an answer of the search to schedules
// without bounds. A claim that is about a code which the search did not look for, or has
// seen violated, is left out.
func assumptions(p printer, r *explore.Result) {
	said := map[int]bool{}
	for _, c := range r.Bounds.Sought() {
		for _, n := range claims.For(r.Bounds.Strategy.Name, c.String()) {
			if !r.Holds(c) || said[n] {
				continue
			}
			said[n] = true
			claim := claims.All[n-1]
			var held []string
			for _, c := range r.Bounds.Sought() {
				if slices.Contains(claim.Never, c.String()) && r.Holds(c) {
					held = append(held, fmt.Sprintf("no %s (%s)", c.Name(), c))
				}
			}
			beyond := "Within these bounds"
			if r.Closed {
				beyond = "With these faults and clients"
			}
			text := fmt.Sprintf("%s the search has found %s. That there is none beyond them either is claim %d, which lockstep explain claim %[3]d states in full", beyond, strings.Join(held, " and "), n)
			if others := r.Violated; len(others) > 0 {
				var codes []string
				for _, v := range others {
					codes = append(codes, v.Code.String())
				}
				text += fmt.Sprintf(" (of %s, which the search has found, it says nothing)", strings.Join(codes, ", "))
			}
			p("\n%s", strings.TrimSuffix(unlabelled(text+". Random runs have not refuted it, as long as"), "\n"))
			for _, a := range claim.Assumptions {
				p("  - %s", a.Text)
			}
		}
	}
}

func counterexample(b *strings.Builder, p printer, v *explore.Counterexample) error {
	p("\n%s", unlabelled(report.Headline(v.Trace, v.Code)))
	if faults := report.Faults(v); len(faults) > 0 {
		p.items(faults)
		p("")
	}
	return timeline.Plain(b, v.Trace)
}
