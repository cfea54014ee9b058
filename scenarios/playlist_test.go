package scenarios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const ownScript = "title: Mine\nscript:\n  - run: A\n    to: done\n"

func TestPlaylist(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("mine.yaml", ownScript)
	list, err := LoadPlaylist(write("talk.txt", "# a talk\n\nnaive-del late-release   # the mistake\nlesson release\nlesson 6 2\nsetpx-lua mine.yaml\n"))
	if err != nil {
		t.Fatal(err)
	}
	all := list.Showings
	if list.Title != "" {
		t.Errorf("a playlist without a title has the title %q", list.Title)
	}
	var got []string
	for _, s := range all {
		got = append(got, s.Strategy.Name+" "+filepath.Base(s.Scenario.Name))
	}
	lesson := Course()[5]
	want := []string{"naive-del late-release"}
	for _, step := range append(lesson.Steps, lesson.Steps[1]) {
		want = append(want, step.Strategy+" "+step.Scenario)
	}
	want = append(want, "setpx-lua mine.yaml")
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if all[1].Opening != lesson.Text || all[1].Closing != lesson.Steps[0].Text || all[2].Opening != "" || all[0].Opening != "" {
		t.Errorf("the words of the lesson: %q", all[1].Opening)
	}
	for text, want := range map[string]string{
		"":                          "bad.txt:1: the playlist is empty",
		"\nnaive-dell late-release": `bad.txt:2: unknown lock "naive-dell"; did you mean "naive-del"?`,
		"naive-del late-relase":     `bad.txt:1: unknown scenario "late-relase"; did you mean "late-release"?`,
		"naive-del":                 `bad.txt:1: expected a lock and a scenario`,
		"lesson":                    "bad.txt:1: lesson is followed by",
		"lesson relaese":            `bad.txt:1: unknown lesson "relaese"; did you mean "release"?`,
		"leson release":             `bad.txt:1: "leson" is no lock; did you mean "lesson"?`,
		"title: x\nsetup:\n  clients: [A]\nscript:\n  - run: A\n": `bad.txt is a scenario, and not a playlist of runs: a playlist has a line such as "setpx-lua bad.txt" for each run`,
		"lesson 6 99":                                    `bad.txt:1: there is no step "99": lesson release has steps 1 to`,
		"title\nnaive-del late-release":                  "bad.txt:1: title is followed by a text",
		"title A\ntitle B\nnaive-del late-release":       "bad.txt:2: the playlist has a title already",
		"naive-del late-release\nsay And then?\nsay No.": "bad.txt:2: no run follows this say: it stands before the run that it introduces",
		"titel My talk":                                  `bad.txt:1: "titel" is no lock; did you mean "title"?`,
		"naive-del missing.yaml # own":                   "bad.txt:1: cannot read the scenario",
		"naive-del mien.yaml":                            `no such file or directory; did you mean "mine.yaml"?`,
		"naive-del mine.yam":                             `bad.txt:1: unknown scenario "mine.yam"; did you mean "mine.yaml"?`,
		"naive-del mine":                                 `bad.txt:1: unknown scenario "mine"; did you mean "mine.yaml"?`,
		"naive-del elsewhere":                            `bad.txt:1: unknown scenario "elsewhere": lockstep list has`,
		"naive-dell late-relase\nsetpx-lua late-release\nlesson 99": `bad.txt:1: unknown lock "naive-dell"; did you mean "naive-del"?
bad.txt:1: unknown scenario "late-relase"; did you mean "late-release"?
bad.txt:3: there is no lesson 99`,
	} {
		path := write("bad.txt", text)
		if _, err := LoadPlaylist(path); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := LoadPlaylist(filepath.Join(dir, "none")); err == nil || !strings.HasPrefix(err.Error(), "cannot read the playlist ") {
		t.Error(err)
	}
	if _, err := LoadPlaylist("setpx-lua"); err == nil || err.Error() != "setpx-lua is a lock: name a scenario or a file behind it, as in lockstep present setpx-lua late-release" {
		t.Error(err)
	}
}

// What is wrong with a script is said once, with all lines that name it; what is wrong with the lines is said of each.
func TestPlaylistSaysOnceWhatIsWrongWithAScript(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"mine.yaml": ownScript + "  - rum: A\n  - wiat: 1s\n",
		"talk.txt":  "naive-dell late-release\nnaive-del mine.yaml\nsetpx-lua mine.yaml\nfenced mine.yaml\nnaive-dell late-release\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := LoadPlaylist(filepath.Join(dir, "talk.txt"))
	if err == nil {
		t.Fatal("it is read")
	}
	got := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
	for _, once := range []string{`unknown step "rum"`, `unknown step "wiat"`, "talk.txt:2, 3, 4: mine.yaml:5: ", "talk.txt:1: unknown lock", "talk.txt:5: unknown lock"} {
		if strings.Count(got, once) != 1 {
			t.Errorf("%q is said %d times:\n%s", once, strings.Count(got, once), got)
		}
	}
}

// A script that several lines name is one script, also to the screens that count them.
func TestPlaylistSharesScripts(t *testing.T) {
	dir := t.TempDir()
	list := filepath.Join(dir, "talk.txt")
	for path, text := range map[string]string{filepath.Join(dir, "mine.yaml"): ownScript, list: "naive-del mine.yaml\nsetpx-lua mine.yaml\nsetpx-lua late-release\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read, err := LoadPlaylist(list)
	if err != nil {
		t.Fatal(err)
	}
	all := read.Showings
	if all[0].Scenario != all[1].Scenario || all[1].Scenario == all[2].Scenario {
		t.Error("two lines with one script have two, or all three have one")
	}
}

// The title and the words before a run stand in lines of their own; several of words make one text, before those of a lesson.
func TestPlaylistHasWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk.txt")
	if err := os.WriteFile(path, []byte("title  Locks in practice # not this\nsay One.\nsay Two.\nlesson 6 1\nnaive-del late-release\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := LoadPlaylist(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := "One. Two. " + Course()[5].Text; list.Title != "Locks in practice" || list.Showings[0].Opening != want || list.Showings[1].Opening != "" {
		t.Errorf("%+v", list)
	}
}

// A script alone is presented, too: under the lock that is named, or else the first that it says breaks.
func TestPlaylistOfOneRun(t *testing.T) {
	folder := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const text = "title: T\nsetup:\n  clients: [A]\nscript:\n  - run: A\n"
	silent := put("silent.yaml", text)
	mine := put("mine.yaml", text+"expect:\n  - {verdict: ok, under: [setnx], because: x}\n  - {verdict: FR, under: [naive-del], because: x}\n")
	talk := put("talk.txt", "setnx late-release\n")
	for _, tt := range []struct{ words, lock, title string }{
		{mine, "naive-del", "T"}, {"setnx " + mine, "setnx", "T"}, {"setpx-lua " + silent, "setpx-lua", "T"},
		{"late-release", "getset-equal", "A late release"}, {"setnx late-release", "setnx", "A late release"}, {talk, "setnx", "A late release"},
	} {
		list, err := PlaylistOf(strings.Fields(tt.words)...)
		if err != nil || len(list.Showings) != 1 || list.Showings[0].Strategy.Name != tt.lock || list.Showings[0].Scenario.Title != tt.title {
			t.Errorf("%s: %+v, %v", tt.words, list, err)
		}
	}
	for words, want := range map[string]string{silent: "say which one is to be shown: lockstep present setpx-lua " + silent, "nolock " + mine: "nolock", filepath.Join(folder, "no.yaml"): "no.yaml"} {
		if _, err := PlaylistOf(strings.Fields(words)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", words, err, want)
		}
	}
}
