package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/strategies"
)

func newMatrix() *cobra.Command {
	var asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Run every strategy under every scenario",
		Long: `Run every strategy under every scenario and print the verdicts. The exit status
is 1 if a verdict differs from what its scenario expects.

` + codesHelp(),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			print := textMatrix
			switch {
			case asJSON:
				print = jsonMatrix
			case asMarkdown:
				print = markdownMatrix
			}
			return printMatrix(cmd.OutOrStdout(), cmd.ErrOrStderr(), print)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print as a Markdown table")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	return cmd
}

// printMatrix computes the matrix and prints it; what differs from expectation
// is told separately, and makes the exit status 1.
func printMatrix(out, errs io.Writer, print func(io.Writer, []scenarios.Cell) error) error {
	cells := scenarios.Matrix(1)
	if err := print(out, cells); err != nil {
		return err
	}
	status := error(nil)
	for i := range cells {
		c := &cells[i]
		switch want, _ := c.Scenario.Expect(c.Strategy.Name); {
		case c.Err != nil:
			fmt.Fprintf(errs, "lockstep: %s under %s: %s\n", c.Strategy.Name, c.Scenario.Name, c.Err)
		case !c.AsExpected():
			fmt.Fprintf(errs, "lockstep: %s under %s: %s, expected %s\n", c.Strategy.Name, c.Scenario.Name, c.Trace.Verdict(), want)
		default:
			continue
		}
		status = exit(exitOccurred)
	}
	return status
}

// verdictText is a cell in a table.
func verdictText(c *scenarios.Cell) string {
	if c.Err != nil {
		return "error"
	}
	return c.Trace.Verdict().String()
}

func rows(cells []scenarios.Cell) [][]scenarios.Cell {
	width := len(strategies.All())
	var out [][]scenarios.Cell
	for len(cells) > 0 {
		out = append(out, cells[:width])
		cells = cells[width:]
	}
	return out
}

// textMatrix has a row for each scenario; strategies' names are long, so the
// columns are numbered and named below.
func textMatrix(out io.Writer, cells []scenarios.Cell) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i := range strategies.All() {
		fmt.Fprintf(w, "\t%d", i+1)
	}
	fmt.Fprintln(w)
	for _, row := range rows(cells) {
		fmt.Fprint(w, row[0].Scenario.Name)
		for i := range row {
			fmt.Fprintf(w, "\t%s", verdictText(&row[i]))
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, s := range strategies.All() {
		fmt.Fprintf(out, "%s%2d %s", map[bool]string{true: "\n"}[i%4 == 0], i+1, pad(s.Name, 16))
	}
	_, err := fmt.Fprintf(out, "\n\n%s", codesHelp())
	return err
}

func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-len(s))) }

func markdownMatrix(out io.Writer, cells []scenarios.Cell) error {
	var b strings.Builder
	b.WriteString("| scenario |")
	rule := "\n| --- |"
	for _, s := range strategies.All() {
		fmt.Fprintf(&b, " %s |", s.Name)
		rule += " --- |"
	}
	b.WriteString(rule)
	for _, row := range rows(cells) {
		fmt.Fprintf(&b, "\n| %s |", row[0].Scenario.Name)
		for i := range row {
			fmt.Fprintf(&b, " %s |", verdictText(&row[i]))
		}
	}
	b.WriteByte('\n')
	_, err := io.WriteString(out, b.String())
	return err
}

type matrixCell struct {
	Strategy string   `json:"strategy"`
	Scenario string   `json:"scenario"`
	Verdicts []string `json:"verdicts"`
	Expected []string `json:"expected"`
	Because  string   `json:"because,omitempty"`
	Error    string   `json:"error,omitempty"`
}

func jsonMatrix(out io.Writer, cells []scenarios.Cell) error {
	var list []matrixCell
	for i := range cells {
		c := &cells[i]
		m := matrixCell{Strategy: c.Strategy.Name, Scenario: c.Scenario.Name, Verdicts: []string{}, Because: c.Scenario.Because(c.Strategy.Name)}
		want, _ := c.Scenario.Expect(c.Strategy.Name)
		m.Expected = want.Strings()
		if c.Err != nil {
			m.Error = c.Err.Error()
		} else {
			m.Verdicts = c.Trace.Verdict().Strings()
		}
		list = append(list, m)
	}
	return writeJSON(out, list)
}
