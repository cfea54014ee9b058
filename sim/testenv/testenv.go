// Package testenv tells tests how much they are to do, and what they may do without.
//
// `go test ./...` is quick, and works on every machine: long tests do a part of their cases, and
// tests of what a machine lacks are skipped. With LOCKSTEP_WHOLE=1, as in continuous integration,
// all tests do everything, and nothing may be lacking.
package testenv

import (
	"os"
	"testing"
)

// Whole reports whether tests do everything.
func Whole() bool { return os.Getenv("LOCKSTEP_WHOLE") != "" }

// Some reports whether case i of a long test is tried: all are if tests do everything, otherwise
// each nth.
func Some(i, n int) bool { return i%n == 0 || Whole() }

// Count is how many random cases a test tries: few, or many if tests do everything.
func Count(few, many int) int {
	if Whole() {
		return many
	}
	return few
}

// Long skips a test unless tests do everything.
func Long(t testing.TB) {
	t.Helper()
	if !Whole() {
		t.Skip("it is long: LOCKSTEP_WHOLE=1 runs it")
	}
}

// Need skips a test if err says that this machine lacks what the test is about. If tests do
// everything, it fails.
func Need(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case Whole():
		t.Fatalf("LOCKSTEP_WHOLE asks for all tests: %s", err)
	default:
		t.Skip(err)
	}
}
