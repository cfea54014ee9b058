package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/explore/report"
	"lockstep/strategies"
)

func newMatrix() *cobra.Command {
	var asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "matrix",
		Short: "Run every lock under every scenario",
		Long: `Run every lock under every scenario and print the verdicts. The exit status
is 1 if a verdict differs from the one that its scenario expects.

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
	exclusive(cmd, "json", "markdown")
	return cmd
}

// matrix has all runs with seed 1, which are the same each time, so they are made once.
var matrix = sync.OnceValue(func() []scenarios.Cell { return scenarios.Matrix(1) })

// printMatrix computes the matrix and prints it. Verdicts that differ from the expected
// ones are listed separately, and make the exit status 1.
func printMatrix(out, errs io.Writer, print func(io.Writer, []scenarios.Cell) error) error {
	cells := matrix()
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

// textMatrix has a row for each scenario and a column for each strategy. The columns are
// too many for a page: the table is cut into bands of columns that fit, and each band
// repeats all the rows.
func textMatrix(out io.Writer, cells []scenarios.Cell) error {
	const gap = 2
	columns := textColumns(cells)
	var b strings.Builder
	for first := 1; first < len(columns); {
		width, last := columns[0].width, first
		for last < len(columns) && (last == first || width+gap+columns[last].width <= report.Page) {
			width += gap + columns[last].width
			last++
		}
		for line := range columns[0].lines {
			row := pad(columns[0].lines[line], columns[0].width)
			for _, c := range columns[first:last] {
				row += strings.Repeat(" ", gap) + pad(c.lines[line], c.width)
			}
			b.WriteString(strings.TrimRight(row, " ") + "\n")
		}
		b.WriteByte('\n')
		first = last
	}
	_, err := fmt.Fprintf(out, "%s%s\n%s", b.String(), callers(cells), codesHelp())
	return err
}

type textColumn struct {
	lines []string
	width int
}

// textColumns are the scenarios' names and then the strategies' verdicts, each below
// the number and the name of the strategy.
func textColumns(cells []scenarios.Cell) []textColumn {
	columns := []textColumn{{lines: []string{"", ""}}}
	for i, s := range strategies.All() {
		columns = append(columns, textColumn{lines: []string{strconv.Itoa(i + 1), s.Name}})
	}
	for _, row := range rows(cells) {
		columns[0].lines = append(columns[0].lines, row[0].Scenario.Name)
		for i := range row {
			columns[i+1].lines = append(columns[i+1].lines, verdictText(&row[i]))
		}
	}
	for i := range columns {
		for _, line := range columns[i].lines {
			columns[i].width = max(columns[i].width, len(line))
		}
	}
	return columns
}

// callers lists the cells whose callers do more than acquire, work, and release: grouped
// by their behaviour, with the strategies and scenarios.
func callers(cells []scenarios.Cell) string {
	type group struct{ way, under string }
	var groups []group
	in := map[group][]string{}
	for _, row := range rows(cells) {
		under := map[string][]int{}
		for i := range row {
			way := row[i].Scenario.Caller(row[i].Strategy)
			under[way] = append(under[way], i+1)
		}
		for way, columns := range under {
			g := group{way, ranges(columns)}
			if len(columns) == len(row) {
				g.under = "all"
			}
			if in[g] == nil && way != sim.CarelessCaller {
				groups = append(groups, g)
			}
			in[g] = append(in[g], row[0].Scenario.Name)
		}
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(strings.Compare(a.way, b.way), strings.Compare(a.under, b.under))
	})
	var b strings.Builder
	fmt.Fprintf(&b, "In each cell the holder of the lock %s, except:\n", sim.CarelessCaller)
	for _, g := range groups {
		b.WriteString(wrap(" ", 4, fmt.Sprintf("%s: %s under %s", g.way, allBut(in[g]), g.under)))
	}
	return b.String()
}

// ranges writes ascending numbers as 1-21,24,27-28.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		part := strconv.Itoa(numbers[i])
		if end > i {
			part += "-" + strconv.Itoa(numbers[end])
		}
		parts, i = append(parts, part), end+1
	}
	return strings.Join(parts, ",")
}

// allBut names some of the scenarios, or those that are not among them if these
// are fewer.
func allBut(some []string) string {
	others := slices.DeleteFunc(scenarios.Names(), func(s string) bool { return slices.Contains(some, s) })
	switch {
	case len(others) == 0:
		return "all scenarios"
	case len(others) < len(some):
		return "all scenarios but " + strings.Join(others, ", ")
	}
	return strings.Join(some, ", ")
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
	Caller   string   `json:"caller"`
	Verdicts []string `json:"verdicts"`
	Expected []string `json:"expected"`
	Because  string   `json:"because,omitempty"`
	Error    string   `json:"error,omitempty"`
}

func jsonMatrix(out io.Writer, cells []scenarios.Cell) error {
	var list []matrixCell
	for i := range cells {
		c := &cells[i]
		m := matrixCell{Strategy: c.Strategy.Name, Scenario: c.Scenario.Name, Caller: c.Scenario.Caller(c.Strategy), Verdicts: []string{}, Because: c.Scenario.Because(c.Strategy.Name)}
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
