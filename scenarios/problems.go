package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// located is a mistake with its place.
type located struct {
	file string
	line int
	err  error
	also string // other lines that have it
}

func (e *located) Error() string { return fmt.Sprintf("%s:%d%s: %s", e.file, e.line, e.also, e.err) }

// Unwrap gives the mistake to package errors.
func (e *located) Unwrap() error { return e.err }

// lineOf is the line of a mistake, or 0.
func lineOf(err error) int {
	if at := new(located); errors.As(err, &at) {
		return at.line
	}
	return 0
}

// problems are several mistakes of one file, in the order of their lines. Its author mends them in
// one go, as after a compiler's run.
type problems []error

// mostProblems is the greatest number of mistakes that are listed: a file that has more is of
// another kind, or indented wrongly throughout.
const mostProblems = 10

// Error lists them, one a line.
func (p problems) Error() string {
	var lines []string
	for i, err := range p {
		if i == mostProblems {
			lines = append(lines, fmt.Sprintf("and %d more", len(p)-i))
			break
		}
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the mistakes to package errors.
func (p problems) Unwrap() []error { return p }

// both are two results as one: nil, a mistake, or several, each once.
func both(err, more error) error {
	var all problems
	said := map[string]bool{}
	for _, e := range []error{err, more} {
		list, are := e.(problems) //nolint:errorlint // wrapped ones have words of their own
		if !are && e != nil {
			list = problems{e}
		}
		for _, one := range list {
			if !said[one.Error()] {
				said[one.Error()] = true
				all = append(all, one)
			}
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	slices.SortStableFunc(all, func(x, y error) int { return lineOf(x) - lineOf(y) })
	return all
}

// within adds the words of a place to each mistake.
func within(err error, place string) error {
	var list problems
	if !errors.As(err, &list) {
		return fmt.Errorf("%w (%s)", err, place)
	}
	var all problems
	for _, e := range list {
		all = append(all, fmt.Errorf("%w (%s)", e, place))
	}
	return all
}
