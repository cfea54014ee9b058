package docs_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"lockstep/cli"
	"lockstep/sim/testenv"
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

// builds reports whether parts are made for which a program is built: those cost seconds each.
func builds() bool { return *update || testenv.CI() }

// fails is what a test of the example prints that fails.
func fails(what string) (string, error) {
	if !builds() {
		return "", errKeep
	}
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

// begun is what a new module's test prints after the comparison in its release was broken: the
// lines that name what is wrong, without the schedules.
func begun() (string, error) {
	if !builds() {
		return "", errKeep
	}
	dir, err := os.MkdirTemp("", "lockstep")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is the system's to clear
	var said strings.Builder
	if cli.Main([]string{"new", dir}, nil, &said, &said) != 0 {
		return "", errors.New(said.String())
	}
	file := filepath.Join(dir, "lock.go")
	code, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	broken := strings.Replace(string(code), `redis.call("GET", KEYS[1]) == ARGV[1]`, "true", 1)
	if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "test", "-count=1", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOMAXPROCS=1", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	head, _, _ := strings.Cut(string(out), "\n        \n")
	if err == nil || !strings.Contains(head, "--- FAIL: TestLock") {
		return "", fmt.Errorf("the test does not fail as it should (%v):\n%s", err, out)
	}
	return "```\n" + took.ReplaceAllString(head, "") + "\n```\n", nil
}
