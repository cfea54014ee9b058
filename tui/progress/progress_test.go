package progress_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/tui/progress"
)

func TestProgressIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "dir", "progress.json")
	d := progress.Open(path)
	d.Play("pauses", "a/b")
	d.See("release", "a/b")
	d.SeeLevel("setnx.PD.crash")
	if !d.Guess("q1", true) || d.Guess("q1", false) || !d.Guess("q2", false) {
		t.Error("only the first answer counts, and it does")
	}
	d = progress.Open(path)
	lesson, step := d.LastSeen()
	if !d.Played("pauses", "a/b") || d.Played("pauses", "x/y") || lesson != "release" || step != "a/b" || d.LastLevel() != "setnx.PD.crash" || d.Trouble() != "" {
		t.Errorf("%+v", d)
	}
	if right, of := d.Score(); right != 1 || of != 2 {
		t.Errorf("%d of %d", right, of)
	}
}

func TestTwoSessionsKeepBoth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "progress.json")
	one, two := progress.Open(path), progress.Open(path)
	one.Play("a", "1")
	two.Play("a", "2")
	if d := progress.Open(path); !d.Played("a", "1") || !d.Played("a", "2") {
		t.Errorf("%+v", d)
	}
}

func TestBrokenFileIsSetAside(t *testing.T) {
	for name, text := range map[string]string{"half": `{"version": 1, "rungs": {"a`, "other": "[1, 2]", "empty": "", "no version": "{}"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "progress.json")
			write(t, path, text)
			write(t, path+".broken-1", "an older one")
			d := progress.Open(path)
			if !strings.Contains(d.Trouble(), "progress.json.broken-2") {
				t.Errorf("trouble: %q", d.Trouble())
			}
			if kept := read(t, path+".broken-2"); kept != text {
				t.Errorf("the file set aside is now %q", kept)
			}
			if kept := read(t, path+".broken-1"); kept != "an older one" {
				t.Errorf("the file set aside before is now %q", kept)
			}
			d.Play("a", "1")
			if d := progress.Open(path); !d.Played("a", "1") || d.Trouble() != "" {
				t.Errorf("a new file is not begun: %q", d.Trouble())
			}
		})
	}
}

func TestLaterVersionIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "progress.json")
	const text = `{"version": 99, "rungs": "another thing altogether"}`
	write(t, path, text)
	d := progress.Open(path)
	d.Play("a", "1")
	if !strings.Contains(d.Trouble(), "later version") || read(t, path) != text {
		t.Errorf("trouble %q, file %q", d.Trouble(), read(t, path))
	}
	if !d.Played("a", "1") {
		t.Error("the session itself forgets")
	}
}

func TestNothingIsFatal(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	for _, path := range []string{"", filepath.Join(dir, "file", "progress.json"), dir} {
		d := progress.Open(path)
		d.Play("a", "1")
		if !d.Played("a", "1") || d.Trouble() == "" {
			t.Errorf("%q: trouble %q", path, d.Trouble())
		}
	}
	var zero progress.Store
	zero.Play("a", "1")
	if !zero.Played("a", "1") || zero.Trouble() != "" {
		t.Error("the zero Store does not remember the session")
	}
}

func TestPath(t *testing.T) {
	t.Setenv("HOME", "/home/x")
	t.Setenv("XDG_STATE_HOME", "/state")
	if got := progress.Path(); got != "/state/lockstep/progress.json" {
		t.Error(got)
	}
	for _, unset := range []string{"", "relative/dir"} {
		t.Setenv("XDG_STATE_HOME", unset)
		if got := progress.Path(); got != "/home/x/.local/state/lockstep/progress.json" {
			t.Error(got)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
