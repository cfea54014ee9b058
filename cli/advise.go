package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/scenarios/advice"
	"lockstep/sim/claims"
	"lockstep/sim/suggest"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// newAdvise has a flag for each question. Questions without an answer are left open.
func newAdvise() *cobra.Command {
	var given [len(advice.Questions)]string
	cmd := &cobra.Command{
		Use:   "advise",
		Short: "Recommend a lock, with the runs behind the recommendation",
		Long: `Recommend a lock for a use. The answers to three questions say which violations
the use forbids and what can happen to it. All locks are run through that, and the
simplest of those that show nothing forbidden is recommended. Without an answer to some
question there is a line for each combination of answers.`,
		Example: `  lockstep advise
  lockstep advise --for correctness --token no --servers one`,
		Args: flagged,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var open []advice.Answers
			for _, a := range advice.All() {
				fits, err := chosen(a, given)
				if err != nil {
					return err
				}
				if fits {
					open = append(open, a)
				}
			}
			outcome := outcomes(open)
			if len(open) == 1 {
				return writeAdvice(cmd.OutOrStdout(), advice.Decide(open[0], strategies.All(), outcome), outcome)
			}
			return writeChoice(cmd.OutOrStdout(), open, outcome)
		},
	}
	for i, q := range advice.Questions {
		cmd.Flags().StringVar(&given[i], q.Name, "", q.Text+": "+q.Either(func(a *advice.Answer) string { return fmt.Sprintf("%s (%s)", a.Name, a.Text) }))
	}
	return cmd
}

// flagged refuses arguments; of one that is an answer it says which flag gives it.
func flagged(cmd *cobra.Command, args []string) error {
	for _, q := range advice.Questions {
		for _, a := range q.Answers {
			if len(args) > 0 && strings.EqualFold(a.Name, args[0]) {
				return fmt.Errorf("%s takes no arguments, and got %q; did you mean --%s %s?", cmd.Name(), args[0], q.Name, a.Name)
			}
		}
	}
	return noArgs(cmd, args)
}

// chosen reports whether a combination has the answers that were given.
func chosen(a advice.Answers, given [len(advice.Questions)]string) (bool, error) {
	for i, q := range advice.Questions {
		if names := q.Names(); given[i] != "" && !slices.Contains(names, given[i]) {
			return false, fmt.Errorf("--%s: %w", q.Name, suggest.Unknown("answer", given[i], names))
		}
		if given[i] != "" && q.Answers[a[i]].Name != given[i] {
			return false, nil
		}
	}
	return true, nil
}

// outcomes makes the runs that some answers are about. If they are those of one combination, it
// makes all runs: the advice also names those that no question asks about.
func outcomes(open []advice.Answers) advice.Outcome {
	cells := cited
	if len(open) == 1 {
		cells = matrix
	}
	known := map[[2]string]trace.Verdict{}
	for _, c := range cells() {
		if c.Err == nil {
			known[[2]string{c.Scenario.Name, c.Strategy.Name}] = c.Trace.Verdict()
		}
	}
	return func(scenario, strategy string) (trace.Verdict, bool) {
		v, is := known[[2]string{scenario, strategy}]
		return v, is
	}
}

// cited are the runs under the scenarios that some advice is about.
var cited = sync.OnceValue(func() []scenarios.Cell {
	var names []string
	for _, a := range advice.All() {
		names = append(names, a.Scenarios()...)
	}
	return scenarios.Part(1, func(s *scenarios.Scenario, _ strategies.Strategy) bool { return slices.Contains(names, s.Name) })
})

// writeChoice has a line for each combination of answers.
func writeChoice(out io.Writer, open []advice.Answers, outcome advice.Outcome) error {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, q := range advice.Questions {
		fmt.Fprintf(table, "--%s\t", q.Name)
	}
	fmt.Fprintln(table, "lock")
	for _, a := range open {
		d := advice.Decide(a, strategies.All(), outcome)
		for i, q := range advice.Questions {
			fmt.Fprintf(table, "%s\t", q.Answers[a[i]].Name)
		}
		fmt.Fprintln(table, d.Choice())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	b.WriteString("\n")
	for _, q := range advice.Questions {
		b.WriteString(wrap(fmt.Sprintf("  --%-8s ", q.Name), 14, q.Text+" "+q.Either(func(a *advice.Answer) string { return fmt.Sprintf("%s (%s)", a.Text, a.Name) })+". "+q.Hint))
		for _, answer := range q.Answers {
			b.WriteString(wrap("              "+answer.Name+":", 16, answer.Example+"."))
		}
	}
	b.WriteString("\nWith all three, lockstep advise shows the runs and the claims behind its answer.\n")
	_, err := io.WriteString(prose(out), b.String())
	return err
}

// writeAdvice prints a recommendation, and everything that it rests on: what to do and why, the runs that show it, and then the claims.
func writeAdvice(out io.Writer, d advice.Advice, outcome advice.Outcome) error {
	var b strings.Builder
	rest := d.Rest(scenarios.Names(), outcome)
	for _, s := range d.Text(&rest, outcome, func(scenario string) string { return scenario }, true) {
		if s.Heading != "" {
			b.WriteString("\n" + s.Heading + "\n")
		}
		b.WriteString(strings.Join(paragraphs(s.Paragraphs), ""))
	}
	fmt.Fprintf(&b, "\nRun just now with %s, because of your answers\n", d.Lock.Name)
	for i := range d.Runs {
		writeRun(&b, &d.Runs[i])
	}
	for i := range rest.Shown {
		if k := d.Kind(&rest.Shown[i]).Text(); i == 0 || k != d.Kind(&rest.Shown[i-1]).Text() {
			fmt.Fprintf(&b, "\nOther runs: %s\n", k)
		}
		writeRun(&b, &rest.Shown[i])
	}
	for i, n := range d.Claims() {
		if i == 0 {
			b.WriteString("\nMore about " + d.Lock.Name + "\n")
		}
		b.WriteString(unlabelled(d.Claim(n, true) + fmt.Sprintf(" (lockstep explain claim %d)", n)))
	}
	writeConditions(&b, &d, rest.Shown)
	writeOthers(&b, d.Others)
	fmt.Fprintf(&b, "\nPlay one of them: lockstep run %s %s. Search all schedules: lockstep explore %[1]s\n", d.Lock.Name, d.Runs[0].Scenario)
	_, err := io.WriteString(prose(out), b.String())
	return err
}

// writeConditions lists those of the claims about a lock that hold for the answers.
func writeConditions(b *strings.Builder, d *advice.Advice, others []advice.Run) {
	numbers := d.Holding()
	if len(numbers) == 0 {
		return
	}
	b.WriteString("\nConditions of the claims\n")
	for _, n := range numbers {
		for _, assumed := range claims.All[n-1].Assumptions {
			b.WriteString(wrap("  -", 4, fmt.Sprintf("%s (claim %d)", assumed.Text, n)))
		}
	}
	if beyond := d.Beyond(slices.Concat(d.Runs, others)); beyond != "" {
		b.WriteString(unlabelled(beyond))
	}
}

// paragraphs wraps each of some.
func paragraphs(all []string) (wrapped []string) {
	for s := range strings.SplitSeq(strings.Join(all, "\n"), "\n") {
		wrapped = append(wrapped, unlabelled(s))
	}
	return wrapped
}

// unlabelled wraps a paragraph.
func unlabelled(s string) string {
	first, rest, _ := strings.Cut(s, " ")
	return strings.ReplaceAll(wrap(first, 1, rest), "\n ", "\n")
}

func writeRun(b *strings.Builder, r *advice.Run) {
	why := ""
	if s, err := scenarios.Find(r.Scenario); err == nil {
		why = s.Title + ". " + s.Because(r.Strategy)
	}
	const column = 36
	label := fmt.Sprintf("  %-9s %s", r.Verdict, r.Scenario)
	if len(label) > column { // it has a line of its own
		b.WriteString(label + "\n")
		label = ""
	}
	b.WriteString(wrap(fmt.Sprintf("%-*s", column, label), column+1, why))
}

// writeOthers names the locks that were not recommended, by the code and the scenario that rule them out.
func writeOthers(b *strings.Builder, others []advice.Rejected) {
	if len(others) == 0 {
		return
	}
	b.WriteString("\nThe other locks\n")
	var order []string
	locks := map[string][]string{}
	for _, o := range others {
		why := "are enough in these, too, and take as much or more"
		if price := o.Price(func(scenario string) string { return scenario }); price != "" {
			why = "are enough in these, too, at the price of " + price
		}
		if o.By != nil {
			why = fmt.Sprintf("%s under %s", o.By.Broken, o.By.Scenario)
		}
		if locks[why] == nil {
			order = append(order, why)
		}
		locks[why] = append(locks[why], o.Lock.Name)
	}
	for _, why := range order {
		b.WriteString(wrap("  "+why+":", 4, strings.Join(locks[why], ", ")))
	}
}
