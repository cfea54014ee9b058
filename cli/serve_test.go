package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestServe: controls come from standard input, and the record is written in the form that the file's name
// implies.
func TestServe(t *testing.T) {
	t.Setenv(passwordVariable, "")
	file := filepath.Join(t.TempDir(), "record.json")
	out, errs, status := run(t, "help\ndrap A\nadvance 5s\nsay five seconds\nrestart\n\nquit\nevict\n", "serve", "--port", "0", "--stopped", "--save", file)
	for _, want := range []string{"^listening on 127.0.0.1:[0-9]+\n", "\n  advance SPAN             let time pass at once\n", `\nerror: unknown control "drap"; did you mean "drop"\\?`,
		`\n    5\.000000  #1    n1     down            goes down\n    5\.000000  #2    n1     up              comes back, with what is on its disk\n$`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if status != 0 || errs != "" {
		t.Errorf("exit status %d, %s", status, errs)
	}
	saved, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(saved), `"text": "five seconds"`) {
		t.Errorf("%v: %s", err, saved)
	}
}

func TestServeRefusals(t *testing.T) {
	t.Setenv(passwordVariable, "")
	for _, tc := range []struct{ args, want string }{
		{"--bind 0.0.0.0", "--bind 0.0.0.0 lets other machines in: set a password, by --requirepass or in LOCKSTEP_PASSWORD"},
		{"--bind nowhere", "--bind nowhere lets other machines in"},
		{"--nodes 0", "--nodes is between 1 and 9, and not 0"},
		{"--persistence sometimes", `--persistence: unknown persistence "sometimes": it is one of none, everysec, always`},
		{"--save run.pdf", `cannot tell the format from the name "run.pdf": end it in one of .txt`},
		{"--save run.yaml", "run.yaml is not written: no scenario comes of this: nobody got a lock that expires"},
		{"--save /nowhere/run.txt", "cannot write /nowhere/run.txt: there is no folder /nowhere"},
		{"now", `serve takes no arguments, and got "now"`},
	} {
		out, errs, status := run(t, "quit\n", append([]string{"serve", "--port", "0"}, strings.Fields(tc.args)...)...)
		if status != 2 || !strings.Contains(tc.args, ".yaml") && out != "" || !strings.Contains(errs, tc.want) {
			t.Errorf("%s: status %d, %s%s", tc.args, status, out, errs)
		}
	}
}
