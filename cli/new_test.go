package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
)

// goTest runs go test in a module that was written. It downloads nothing: what the module
// requires has been built into this test.
func goTest(t *testing.T, dir string, flags ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("go", append(append([]string{"test", "-count=1", "-v"}, flags...), ".")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off") // GOFLAGS stays, or all that it needs would be compiled again
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A new scenario can be run at once, comes to what it expects, and is never written over another file.
func TestNewScenario(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mine.yaml")
	out, errs, status := run(t, "", "new", path)
	if status != 0 || errs != "" || !strings.Contains(out, "lockstep run naive-del "+path+"\n") {
		t.Fatalf("exit status %d\n%s%s", status, out, errs)
	}
	if text := content(t, path); !strings.Contains(text, "#   lockstep run naive-del mine.yaml ") || strings.Contains(text, "FILE") {
		t.Error(text)
	}
	for lock, want := range map[string]string{"naive-del": "FR", "setpx-lua": "ok"} {
		if got := must(t, "", "run", lock, path, "--plain"); !strings.HasPrefix(got, lock+" under mine.yaml: "+want+"\n") {
			t.Errorf("want %s:\n%s", want, got)
		}
		sc, err := scenarios.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if v, known := sc.Expect(lock); !known || v.String() != want {
			t.Errorf("%s is expected to show %s, %v", lock, v, known)
		}
	}
	if _, errs, status := run(t, "", "new", path); status != 2 || !strings.Contains(errs, "is there already") {
		t.Errorf("exit status %d, %s", status, errs)
	}
}

// The template says where a client at work stands, and it stands there.
func TestTemplateTellsWorkFromItsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	must(t, "", "new", path)
	text := content(t, path)
	if said := strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " "); !strings.Contains(said, `and has read nothing yet; at "read" it has read, and has yet to write.`) ||
		!strings.Contains(said, `B stops with the lock, before its read`) || !strings.Contains(said, `in its place lists all codes: a run with one more or one fewer is not as expected.`) {
		t.Error(text)
	}
	for position, read := range map[string]bool{"work": false, "read": true, "after work first": true} {
		if err := os.WriteFile(path, []byte("title: x\nscript:\n  - run: A\n    to: "+position+"\n  - say: here\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		before, _, told := strings.Cut(must(t, "", "run", "naive-del", path, "--plain"), "# here")
		if !told || strings.Contains(before, "reads the resource") != read {
			t.Errorf("%s:\n%s", position, before)
		}
	}
}

// The template shows what it tells: A, which stalls, believes that it has the lock until it wakes up, after B has it; and no
// words of a later instant stand before the step that waits for it.
func TestTemplateShowsItsStory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	must(t, "", "new", path)
	if out := must(t, "", "run", "naive-del", path, "--plain"); !strings.Contains(out, "? Who believes that it has the lock?\n# A wakes up") || !regexp.MustCompile(`\nanswer    At \S+, right after event #\d+ of \d+: Who believes that it has the lock\? A, B\n`).MatchString(out) {
		t.Error(out)
	}
	if said := strings.Join(strings.Fields(strings.ReplaceAll(content(t, path), "#", "")), " "); !strings.Contains(said, "stands behind the step that waits for it") {
		t.Error(said)
	}
	if said := strings.Join(strings.Fields(strings.ReplaceAll(content(t, path), "#", "")), " "); !strings.Contains(said, "Then comes the probe, a further client") {
		t.Errorf("the probe comes unannounced: %s", said)
	}
	if _, after, _ := strings.Cut(content(t, path), "- wait: "); !strings.Contains(after, "- say: A wakes up") {
		t.Errorf("A wakes up before it has waited: %s", after)
	}
}

// The failover that the template has in comments does what they say, as soon as they are none.
func TestTemplateHasAFailover(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	must(t, "", "new", path)
	_, steps, shown := strings.Cut(content(t, path), "place of the steps above.\n#\n")
	steps, _, _ = strings.Cut(steps, "\n\n")
	if err := os.WriteFile(path, []byte("title: x\nsetup: {replicas: 1, lag: 20ms}\nscript:\n"+strings.ReplaceAll(steps, "#", "")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, _ := run(t, "", "run", "setpx-lua", path, "--plain"); !shown || !strings.Contains(out, "lost in the failover") && !strings.Contains(out, "n1 down") || !strings.Contains(out, "DG OV") {
		t.Errorf("%s%s", out, errs)
	}
}

// The template asks about nobody of whom the class has heard nothing: before its question is asked, words have named each client.
func TestTemplateNamesWhomItAsksAbout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	must(t, "", "new", path)
	for _, lock := range []string{"naive-del", "setpx-lua"} {
		before, _, asked := strings.Cut(must(t, "", "run", lock, path, "--plain"), "\n? ")
		told := ""
		for line := range strings.Lines(before) {
			if strings.HasPrefix(line, "# ") {
				told += " " + line
			}
		}
		for _, client := range []string{" A ", " B "} {
			if !asked || !strings.Contains(told, client) {
				t.Errorf("%s: no words of%sbefore the question: %s", lock, client, told)
			}
		}
	}
}

// A name that a scenario would have makes no Go module: the command for a scenario is told.
func TestNewTakesNoScenarioForALock(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"scenario", "Script"} {
		out, errs, status := run(t, "", "new", name)
		if status != 2 || out != "" || !strings.Contains(errs, "lockstep new "+name+".yaml writes one") {
			t.Errorf("%s: exit status %d, %s%s", name, status, out, errs)
		}
		if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
			t.Errorf("%s: it has written %v, %v", name, entries, err)
		}
	}
}

// A new playlist is accepted by check at once, also with the lines that it has in comments, and is not written for a folder's name.
func TestNewPlaylist(t *testing.T) {
	t.Chdir(t.TempDir())
	if out := must(t, "", "new", "my talk.txt"); !strings.HasSuffix(out, "\n  lockstep present 'my talk.txt'\n") {
		t.Error(out)
	}
	if out := must(t, "", "check", "my talk.txt"); !strings.Contains(out, "naive-del late-release: SW DG OV FR\n") || !strings.Contains(out, "setpx-lua late-release: ") {
		t.Error(out)
	}
	must(t, "", "new", "my.yaml")
	text := content(t, "my talk.txt")
	whole := regexp.MustCompile(`(?m)^# (lesson|naive-del) `).ReplaceAllString(text, "$1 ")
	if err := os.WriteFile("all.txt", []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := must(t, "", "check", "all.txt"); strings.Contains(text, "FILE") || !strings.Contains(out, "naive-del my.yaml: as expected: FR\n") {
		t.Error(text, out)
	}
	for _, name := range []string{"playlist", "my talk.txt"} {
		if _, errs, status := run(t, "", "new", name); status != 2 || !strings.Contains(errs, ".txt") {
			t.Errorf("%s: exit status %d, %s", name, status, errs)
		}
	}
}

// TestNewModule: in a new module go test passes at once, and fails with the line and the
// schedule when the comparison in release is broken, or the order of two lines in Acquire.
func TestNewModule(t *testing.T) {
	testenv.Long(t)
	dir := filepath.Join(t.TempDir(), "My lock, the 2nd")
	out, errs, status := run(t, "", "new", dir)
	if status != 0 || errs != "" || !strings.Contains(out, "  cd '"+dir+"'\n  go test -v\n") {
		t.Fatalf("exit status %d\n%s%s", status, out, errs)
	}
	only(t, dir, "go.mod", "go.sum", "lock.go", "lock_test.go")
	if mod := content(t, filepath.Join(dir, "go.mod")); !strings.HasPrefix(mod, "module example.com/my-lock-the-2nd\n") {
		t.Error(mod)
	}
	tested, err := goTest(t, dir)
	for _, want := range []string{"TestLock: holds within these bounds; the code was tried with clocks and TTLs each ", "--- PASS: TestLock"} {
		if err != nil || !strings.Contains(tested, want) {
			t.Fatalf("%v: no %q in\n%s", err, want, tested)
		}
	}
	for _, tt := range []struct {
		edits []string // from, to, from, to
		want  []string
	}{
		{[]string{`if redis.call("GET", KEYS[1]) == ARGV[1] then`, `if true then`},
			[]string{"\n    lock.go:66: FR, foreign release: A's EVAL removes B's record\n", "TestLock: violated (DG, FR); ", "again: locktest.Replay("}},
		{[]string{"token, sent := l.NewToken(), l.Now()", "token := l.NewToken()", "drift := ", "drift, sent := ", "2*time.Millisecond //", "2*time.Millisecond, l.Now() //"},
			[]string{"\n    lock.go:", ": DG, double grant: B gets the lock while A's lease is live\n", "TestLock: violated (DG); ", "again: locktest.Replay("}},
	} {
		file := filepath.Join(dir, "lock.go")
		right := content(t, file)
		wrong := strings.NewReplacer(tt.edits...).Replace(right)
		if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		tested, err := goTest(t, dir, "-vet=off") // it was vetted above
		for _, want := range tt.want {
			if err == nil || !strings.Contains(tested, want) {
				t.Errorf("%q: %v: no %q in\n%s", tt.edits, err, want, tested)
			}
		}
		if err := os.WriteFile(file, []byte(right), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNewRefusals: nothing is written where it can't be right, and nothing that is there is
// touched.
func TestNewRefusals(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "lock.go")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "new needs a DIR, a FILE.yaml or a FILE.txt (see lockstep new --help)"},
		{[]string{dir}, dir + " is not empty: it has lock.go; a new module needs a folder of its own"},
		{[]string{file}, "cannot write " + file + ": not a directory"},
		{[]string{filepath.Join(file, "x")}, "cannot write " + filepath.Join(file, "x") + ": not a directory"},
		{[]string{empty, "--lockstep", dir}, "--lockstep: " + dir + " does not have the sources of Lockstep: there is no go.mod that says: module lockstep"},
	} {
		out, errs, status := run(t, "", append([]string{"new"}, tt.args...)...)
		if want := "lockstep: " + tt.want + "\n"; status != 2 || out != "" || errs != want {
			t.Errorf("new %q: exit status %d\n got %s%s\nwant %s", tt.args, status, out, errs, want)
		}
	}
	only(t, dir, "lock.go")
	only(t, empty)
	if got := content(t, file); got != "mine" {
		t.Errorf("the file holds %q", got)
	}
	// An empty folder is as good as none. Elsewhere, the folder in which this was built is found.
	t.Chdir(dir)
	if _, errs, status := run(t, "", "new", empty); status != 0 {
		t.Error(errs)
	}
	only(t, empty, "go.mod", "go.sum", "lock.go", "lock_test.go")
}

// A new scenario, and what is said of it, fit a terminal of 80 columns.
func TestNewScenarioFitsATerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	out := must(t, "", "new", "lesson.yaml")
	text, err := os.ReadFile("lesson.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(out+string(text), "\n") {
		if len(l) > 80 {
			t.Errorf("%d columns: %s", len(l), l)
		}
	}
	if !strings.HasPrefix(strings.ReplaceAll(out, "\n", " "), "lesson.yaml has a scenario, and says what its parts are.") || !strings.Contains(out, "\n  lockstep run naive-del lesson.yaml\n") {
		t.Errorf("it is said:\n%s", out)
	}
}

// The words of the new playlist before a run name no other number of clients than the run has.
func TestNewPlaylistCountsClients(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.txt")
	must(t, "", "new", path)
	said, runs := "", 0
	for _, line := range strings.Split(content(t, path), "\n") {
		if words, is := strings.CutPrefix(line, "say "); is {
			said = strings.ToLower(words)
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 2 || strings.HasPrefix(line, "#") {
			continue
		}
		sc, err := scenarios.Find(fields[1])
		if err != nil {
			continue
		}
		runs++
		for n, word := range []string{"no", "one", "two", "three", "four", "five"} {
			if strings.Contains(said, word+" clients") && n != len(sc.Clients()) {
				t.Errorf("%q comes before %s, which has %d clients", said, fields[1], len(sc.Clients()))
			}
		}
	}
	if runs == 0 {
		t.Error("it has no run")
	}
}
