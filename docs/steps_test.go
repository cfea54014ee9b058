package docs_test

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/fault"
)

// faultRows makes the rows of those steps in a table that are faults, each in the place that it has there. A row that the
// table lacks comes below that of the kind before it in package fault. Rows of other steps are written by hand, and stay as
// they are: they are within the part because a comment between two rows would end the table.
func faultRows(part string) (string, error) {
	table := slices.Collect(strings.Lines(part))[1:] // without the comment
	if len(table) < 2 {
		return "", fmt.Errorf("no table follows")
	}
	rows, err := rowsOfFaults()
	below := 2 // the heading
	for _, row := range rows {
		at := rowOfStep(table, row)
		if at < 0 {
			at = below
			table = slices.Insert(table, at, row)
		}
		table[at], below = row, at+1
	}
	return strings.Join(table, ""), err
}

// rowsOfFaults are in the order of the kinds. Kinds of the same step share a row.
func rowsOfFaults() (rows []string, err error) {
	for _, s := range fault.Kinds() {
		if s.Step == "" {
			continue
		}
		if s.Example == "" || s.Means == "" {
			return nil, fmt.Errorf("the fault %s lacks its Example or its Means, in sim/fault/fault.go", s.Word)
		}
		row := fmt.Sprintf("| `%s` | %s |\n", s.Example, cellText(s.Means))
		if at := rowOfStep(rows, row); at < 0 {
			rows = append(rows, row)
		} else {
			_, value, _ := strings.Cut(s.Example, ": ")
			rows[at] = fmt.Sprintf("%s; `%s`: %s |\n", strings.TrimSuffix(rows[at], " |\n"), value, cellText(s.Means))
		}
	}
	return rows, nil
}

// rowOfStep is the place among rows of the first that is of the same step as another row, or -1.
func rowOfStep(rows []string, other string) int {
	step, _, _ := strings.Cut(other, ":")
	return slices.IndexFunc(rows, func(row string) bool { return strings.HasPrefix(row, step+":") })
}
