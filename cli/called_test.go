package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/testenv"
)

// Suggested commands begin as a shell takes the program again, however it was called.
func TestCommandOf(t *testing.T) {
	sources, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", "/var/cache/go")
	for _, tt := range []struct{ program, wd, want string }{
		{"", sources, "lockstep"},
		{"lockstep", sources, "lockstep"},
		{"foo", "/", "foo"},
		{"./lockstep", sources, "./lockstep"},
		{"/tmp/x/foo", "/", "/tmp/x/foo"},
		{"/tmp/x y/foo", "/", "'/tmp/x y/foo'"},
		{"/tmp/go-build123/b001/exe/lockstep", sources, "go run ."},
		{"/home/x/.cache/go-build/ab/abcdef-d/lockstep", filepath.Join(sources, "docs"), "go run lockstep"},
		{"/var/cache/go/ab/abcdef-d/lockstep", sources, "go run ."},
	} {
		if got := commandOf(tt.program, tt.wd); got != tt.want {
			t.Errorf("%q in %s is called by %q, want %q", tt.program, tt.wd, got, tt.want)
		}
	}
}

// The comments of a new file name the program as it can be called in the file's folder.
func TestNewFilesNameTheCallersCommand(t *testing.T) {
	defer func() { called = usual }()
	t.Chdir(t.TempDir())
	if err := os.Mkdir("sub", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ called, file, want string }{
		{"./lockstep", "a.yaml", "#   ./lockstep run naive-del a.yaml"}, {"./lockstep", "a.txt", "#   ./lockstep present a.txt"},
		{"./lockstep", "sub/a.yaml", "#   lockstep run naive-del a.yaml"}, {"go run lockstep", "sub/a.txt", "#   lockstep present a.txt"},
		{"/opt/bin/lockstep", "sub/b.yaml", "#   /opt/bin/lockstep run naive-del b.yaml"}, {"locks", "sub/b.txt", "#   locks present b.txt"},
	} {
		called = tt.called
		must(t, "", "new", tt.file)
		if text := content(t, tt.file); !strings.Contains(text, tt.want) {
			t.Errorf("called as %s, %s lacks %q:\n%s", tt.called, tt.file, tt.want, text)
		}
	}
}

// The commands that texts suggest can be pasted; sentences about the program, its paths and its files keep its name.
func TestTextsSuggestTheCallersCommand(t *testing.T) {
	defer func() { called = usual }()
	called = "/tmp/x/foo"
	for text, want := range map[string]string{
		"Play it: lockstep run a b. (lockstep explain claim 3)": "Play it: /tmp/x/foo run a b. (/tmp/x/foo explain claim 3)",
		"see lockstep --help":                   "see /tmp/x/foo --help",
		"  lockstep      in a terminal":         "  /tmp/x/foo      in a terminal",
		"lockstep needs 80 x 24":                "lockstep needs 80 x 24",
		"./lockstep run, lockstep-campaign run": "./lockstep run, lockstep-campaign run",
		"lockstep runs real code":               "lockstep runs real code",
	} {
		if got := asCalled(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if got := asCalled(asCalled(text)); got != want {
			t.Errorf("a second time %q became %q", text, got)
		}
	}
	t.Chdir(t.TempDir())
	for _, args := range []string{"--help", "run --help", "advise", "advise --for correctness --token yes --servers one", "explain FR", "explain claim 1", "explain setpx-lua",
		"explain late-release", "new my.yaml", "run", "rnu", "run naive-del zzz.yaml", "run naive-del zzz", "play", "course nonsense"} {
		out, errs, _ := run(t, "", strings.Fields(args)...)
		if suggested.MatchString(out + errs) {
			t.Errorf("%s suggests %q:\n%s%s", args, suggested.FindString(out+errs), out, errs)
		}
		if flat := strings.Join(strings.Fields(out+errs), " "); !strings.Contains(args, "--help") && suggested.MatchString(flat) {
			t.Errorf("%s suggests %q over two lines", args, suggested.FindString(flat))
		}
	}
	if out := must(t, "", "--help"); !strings.Contains(out, "\n  /tmp/x/foo                                      in a terminal") || !strings.Contains(out, "\n  /tmp/x/foo course 6    ") {
		t.Errorf("the help is\n%s", out)
	}
}

// The list of commands is that of the commands.
func TestCommandsAreListed(t *testing.T) {
	root := newRoot()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("x")
	for _, c := range root.Commands() {
		if !slices.Contains(commands, c.Name()) {
			t.Errorf("%s is missing", c.Name())
		}
	}
	if len(root.Commands()) != len(commands) {
		t.Errorf("%d are listed, and there are %d", len(commands), len(root.Commands()))
	}
}

// The help of a command is printed whatever arguments are meant for that command.
func TestHelpOfACommand(t *testing.T) {
	for _, args := range []string{"help", "help run", "help explain FR", "help completion bash", "completion"} {
		if out := must(t, "", strings.Fields(args)...); !strings.Contains(out, "Usage:") {
			t.Errorf("%s prints %s", args, out)
		}
	}
}

// The program knows that go run has started it, whose executable is gone when a suggestion is pasted.
func TestProgramKnowsGoRun(t *testing.T) {
	testenv.Long(t) // the go command links the program
	cmd := exec.Command("go", "run", ".", "rnu")
	cmd.Dir = ".."
	out, _ := cmd.CombinedOutput() //nolint:errcheck // it refuses the command
	if !strings.Contains(string(out), `did you mean "run"? (see go run . --help)`) {
		t.Errorf("it says %s", out)
	}
}
