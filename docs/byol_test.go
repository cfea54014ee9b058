package docs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// example is a module of its own, as its reader's is: go test ./... doesn't see it,
// and .ci/run tests it.
const example = "bring-your-own-lock"

// goTest runs go test in the example, on one core: how often code is run again to
// come back to a place depends on who goes first.
func goTest(args ...string) (string, error) {
	cmd := exec.Command("go", append([]string{"test", "-count=1"}, args...)...)
	cmd.Dir = example
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var (
	took    = regexp.MustCompile(`(?m) \([\d.]+s\)$`)
	summary = regexp.MustCompile(`(?s)FAIL\nFAIL\t.*`)
)

// fails is what a test of the example prints that fails.
func fails(what string) (string, error) {
	out, err := goTest("-tags", "broken", "-run", "^Test"+what+"$", ".")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !strings.Contains(out, "--- FAIL: Test"+what) {
		return "", fmt.Errorf("the test does not fail as it should (%v):\n%s", err, out)
	}
	var lines []string
	for line := range strings.Lines(summary.ReplaceAllString(took.ReplaceAllString(out, ""), "")) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return "```\n" + strings.Join(lines, "\n") + "\n```\n", nil
}
