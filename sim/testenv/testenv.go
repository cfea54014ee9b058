// Package testenv tells tests how many of their cases to run, and what they may do without.
//
// There are three sizes. `go test ./...` is quick, and works on every machine: long tests run
// some of their cases, and tests of programs that the machine lacks are skipped. With
// LOCKSTEP_CI=1, as in continuous integration, a missing program is a failure, and long tests run
// too. With LOCKSTEP_WHOLE=1, as in the larger run of continuous integration, every test
// runs all of its cases. `go test -race -short`, which looks for data races, runs the fewest.
//
// A test binary that imports this package collects garbage less often.
package testenv

import (
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

// Worlds and searches by the thousand are garbage at once: to collect it took tests up to a
// third of their time.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// Whole reports whether tests do everything.
func Whole() bool { return os.Getenv("LOCKSTEP_WHOLE") != "" }

// CI reports whether tests do much, and nothing may be lacking.
func CI() bool { return os.Getenv("LOCKSTEP_CI") != "" || Whole() }

// Some reports whether case i of a long test is tried: each nth is, and all if tests do everything.
func Some(i, n int) bool {
	switch {
	case Whole():
		return true
	case !CI() && testing.Short():
		n *= 2
	}
	return i%n == 0
}

// Count is how many random cases a test tries: few, or many if tests do everything, and in
// continuous integration an eighth of the way between, in the number's order of magnitude.
func Count(few, many int) int {
	switch {
	case Whole():
		return many
	case CI():
		return int(float64(few) * math.Pow(float64(many)/float64(few), 1./8))
	}
	return few
}

// Quick is how many cases a test tries: few where `go test` is quick, and all in continuous integration.
func Quick(few, all int) int {
	if CI() {
		return all
	}
	return few
}

// Sampled reports whether case i of a test is tried: each nth where `go test` is quick, and all in
// continuous integration.
func Sampled(i, n int) bool { return CI() || i%n == 0 }

// Seed is where a random test begins, which it logs: the same on every run, so that a change that
// is right passes, and another each time if tests do everything. LOCKSTEP_SEED sets it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	if set := os.Getenv("LOCKSTEP_SEED"); set != "" {
		var err error
		if seed, err = strconv.ParseUint(set, 10, 64); err != nil {
			t.Fatalf("LOCKSTEP_SEED: %s", err)
		}
	} else if Whole() {
		seed = rand.Uint64N(1 << 40)
	}
	t.Logf("LOCKSTEP_SEED=%d go test -run %s", seed, t.Name())
	return seed
}

// Long skips a test that `go test` has no time for.
func Long(t testing.TB) { longer(t, CI(), "LOCKSTEP_CI=1") }

// Longest skips a test that continuous integration has no time for, either.
func Longest(t testing.TB) { longer(t, Whole(), "LOCKSTEP_WHOLE=1") }

func longer(t testing.TB, is bool, runs string) {
	t.Helper()
	if !is {
		t.Skipf("it is long: %s runs it", runs)
	}
}

// LongRaced skips a test that takes seconds where races are looked for, under `go test -race -short`, unless
// more is asked for by one of the sizes above. It is for tests of findings or drawings: of concurrent
// code, a shorter test has to stay.
func LongRaced(t testing.TB) {
	t.Helper()
	if Raced && testing.Short() && !CI() {
		t.Skip("left out for time with -race and -short together: without one of them it runs")
	}
}

// Need skips a test if err says that this machine lacks something that the test needs. In continuous
// integration it fails.
func Need(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case CI():
		t.Fatalf("LOCKSTEP_CI and LOCKSTEP_WHOLE allow for nothing that is lacking: %s", err)
	default:
		t.Skip(err)
	}
}
