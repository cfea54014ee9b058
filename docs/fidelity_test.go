package docs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/verify"
)

// errKeep says that a generated part can't be made here, and stays as it is.
var errKeep = errors.New("stays as it is")

// fidelity replays the matrix on real servers: each fifth run in continuous integration, where the table is held to the number
// of runs alone, and all of them in the larger run and for whoever renews the table. The
// rest of the comment is the version that the figures are of: another one must show no
// difference either, but may know other commands.
func fidelity(version string) (string, error) {
	if !testenv.CI() {
		return "", errKeep
	}
	var runs []verify.Run
	all := testenv.Whole() || *update && testenv.CI()
	for i, c := range scenarios.Matrix(1) {
		if c.Err != nil {
			return "", c.Err
		}
		if !all && i%5 != 0 {
			continue
		}
		r, err := verify.RunOf(c.Trace, scenarios.FindStrategy)
		if err != nil {
			return "", err
		}
		runs = append(runs, r)
	}
	replayers, have, err := verify.NewExacts(runtime.GOMAXPROCS(0))
	if err != nil {
		return "", err
	}
	r, err := verify.All(context.Background(), runs, replayers, nil)
	if err != nil {
		return "", err
	}
	if r.Version = have; len(r.Found) > 0 {
		return "", errors.New(r.String())
	}
	switch {
	case have != version:
		return "", errKeep
	case !all:
		return "", countsRuns(len(scenarios.Matrix(1)))
	}
	return fidelityTable(r), nil
}

// countsRuns returns errKeep if the table is of so many runs, and otherwise says how to renew it.
func countsRuns(n int) error {
	data, err := os.ReadFile("fidelity.md")
	if err != nil {
		return err
	}
	if row := fmt.Sprintf("\n| runs | %d |\n", n); !strings.Contains(string(data), row) {
		return fmt.Errorf("the table isn't of today's %d runs: LOCKSTEP_CI=1 go test ./docs -update renews it", n)
	}
	return errKeep
}

func fidelityTable(r *verify.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| replayed on %s | |\n| --- | --- |\n", r.Version)
	for _, row := range []struct {
		what  string
		count int
	}{
		{"runs", r.Runs}, {"replayed to their ends", r.Whole}, {"replies compared", r.Replies},
		{"keys compared, value and remaining life", r.Keys}, {"restarts", r.Restarts},
		{"promotions", r.Promotions}, {"writes to replicas", r.Writes}, {"runs with a difference", len(r.Found)},
	} {
		fmt.Fprintf(&b, "| %s | %d |\n", row.what, row.count)
	}
	for _, line := range r.Partly() {
		count, why, _ := strings.Cut(line, " ")
		fmt.Fprintf(&b, "| replayed %s | %s |\n", why, count)
	}
	return b.String()
}

// Each known difference names the test that pins it.
func TestKnownDifferencesArePinned(t *testing.T) {
	data, err := os.ReadFile("fidelity.md")
	if err != nil {
		t.Fatal(err)
	}
	_, known, found := strings.Cut(string(data), "\n## Known differences\n")
	if !found {
		t.Fatal("no list of known differences")
	}
	known, _, _ = strings.Cut(known, "\n## ")
	pin := regexp.MustCompile("`(Test[A-Za-z]+)`\\s+in\\s+`([a-z/]+_test\\.go)`")
	for _, item := range strings.Split(known, "\n- ")[1:] {
		pins := pin.FindAllStringSubmatch(item, -1)
		if len(pins) == 0 {
			t.Errorf("no test pins this:\n%s", item)
		}
		for _, m := range pins {
			source, err := os.ReadFile("../" + m[2])
			if err != nil {
				t.Error(err)
			} else if !strings.Contains(string(source), "func "+m[1]+"(") {
				t.Errorf("%s has no %s", m[2], m[1])
			}
		}
	}
}
