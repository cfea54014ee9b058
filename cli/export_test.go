package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/export"
	"lockstep/sim/trace"
	"lockstep/tui"
)

func TestExportRefusals(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	run1 := func(more ...string) []string { return append([]string{"export", "setnx", "crash-holding"}, more...) }
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"export"}, `export needs a LOCK (see lockstep export --help)`},
		{[]string{"export", "setnx"}, `export needs a SCENARIO (see lockstep export --help)`},
		{run1("x"), `export got "x", which is one argument too many`},
		{[]string{"export", "setpx-lau", "crash-holding"}, `unknown lock "setpx-lau"; did you mean "setpx-lua"?`},
		{[]string{"export", "setnx", "crash-holdin"}, `unknown scenario "crash-holdin"; did you mean "crash-holding"?`},
		{[]string{"export", "setnx", "nowhere.yaml"}, `cannot read the scenario nowhere.yaml: no such file or directory`},
		{run1("--format", "sgv"), `unknown format "sgv"; did you mean "svg"?`},
		{run1("--format", "pdf"), `unknown format "pdf": it is one of ` + strings.Join(formatNames(), ", ")},
		{run1("--format", "svg", "--format", "HTML"), `unknown format "HTML"; did you mean "html"?`},
		{run1("-f", "svg", "-o", filepath.Join(dir, "y.html")), `--format asks for svg, and "` + filepath.Join(dir, "y.html") + `" is named like html: end the name in .svg, or leave --format out`},
		{run1("-f", "text", "-o", filepath.Join(dir, "y.JSON")), `--format asks for text, and "` + filepath.Join(dir, "y.JSON") + `" is named like json: end the name in .txt, or leave --format out`},
		{run1("-o", ""), `--output needs the name of a file`},
		{run1("-o", "run.pdf"), `cannot tell the format from the name "run.pdf": end it in one of .txt, .trace, .json, .mmd, .mermaid, .svg, .html, .htm, .cast, or say --format`},
		{run1("-o", filepath.Join(dir, "no", "x.svg")), `cannot write ` + filepath.Join(dir, "no", "x.svg") + `: there is no folder ` + filepath.Join(dir, "no")},
		{run1("-o", filepath.Join(file, "x.svg")), `cannot write ` + filepath.Join(file, "x.svg") + `: not a directory`},
		{run1("-f", "svg", "--compare", "setpx-lua"), `--compare is for pages, and not for svg: say --format html`},
		{run1("-f", "html", "--compare", "setpx-lau"), `--compare: unknown lock "setpx-lau"; did you mean "setpx-lua"?`},
		{run1("-f", "html", "--compare", "naive"), `--compare: unknown lock "naive"; did you mean "naive-del"?`},
		{run1("--course", dir), `export takes no arguments, and got "setnx"`},
		{[]string{"export", "--course", ""}, `--course needs the name of a folder`},
		{[]string{"export", "--course", file}, `cannot write ` + file + `: not a directory`},
		{run1("-o", dir, "--format", "svg"), `cannot write ` + dir + `: it is a directory`},
	}
	for _, tt := range tests {
		out, errs, status := run(t, "", tt.args...)
		if want := "lockstep: " + tt.want + "\n"; errs != want || status != 2 || out != "" {
			t.Errorf("lockstep %s: exit status %d\n got %s\nwant %s\n out %q", strings.Join(tt.args, " "), status, errs, want, out)
		}
	}
	only(t, dir, "file")
}

// only checks the content of a folder: no refused or failed export leaves anything behind.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	if strings.Join(found, " ") != strings.Join(names, " ") {
		t.Errorf("the folder holds %q, want %q", found, names)
	}
}

// An export is the same run as any other command shows.
func TestExportIsTheRun(t *testing.T) {
	cell := []string{"redlock", "server-clock-jump", "--seed", "3"}
	cmd := func(name string, more ...string) string {
		return must(t, "", append(append([]string{name}, cell...), more...)...)
	}
	trace, err := runOnce("redlock", "server-clock-jump", 3)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ format, file, want string }{
		{"text", "run.txt", cmd("run", "--plain")},
		{"json", "run.json", cmd("run", "--json")},
		{"mermaid", "run.mmd", export.Mermaid(trace)},
		{"svg", "run.SVG", export.SVG(trace)},
		{"html", "run.html", export.HTML(trace)},
		{"cast", "run.cast", recording(t, trace)},
	}
	for _, name := range formatNames() {
		if !slices.ContainsFunc(tests, func(tt struct{ format, file, want string }) bool { return tt.format == name }) {
			t.Errorf("the format %s has no row here", name)
		}
	}
	for _, tt := range tests {
		if got := cmd("export", "--format", tt.format); got != tt.want {
			t.Errorf("--format %s differs", tt.format)
		}
		dir := t.TempDir()
		file := filepath.Join(dir, tt.file)
		out, errs, status := run(t, "", append([]string{"export", "-o", file}, cell...)...)
		if want := file + " written: redlock under server-clock-jump, as " + tt.format + "\n"; out != "" || errs != want || status != 0 {
			t.Errorf("-o %s says %q, want %q, and prints %q", tt.file, errs, want, out)
		}
		if got := content(t, filepath.Join(dir, tt.file)); got != tt.want {
			t.Errorf("-o %s differs from --format %s", tt.file, tt.format)
		}
		only(t, dir, tt.file)
	}
	if got := cmd("export"); got != cmd("run", "--plain") {
		t.Error("without a format it is not text")
	}
	// A name that tells of no format takes any, and one that tells the same is no matter.
	for _, name := range []string{"run.out", "run", "run.json"} {
		file := filepath.Join(t.TempDir(), name)
		if _, errs, status := run(t, "", append([]string{"export", "-o", file, "--format", "json"}, cell...)...); status != 0 {
			t.Error(errs)
		}
		if got := content(t, file); got != cmd("run", "--json") {
			t.Errorf("--format json -o %s is not JSON", name)
		}
	}
}

func recording(t *testing.T, run *trace.Trace) string {
	t.Helper()
	var b strings.Builder
	if err := tui.Cast(&b, run); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Where the verdict is not what a script expects, the terminal says so, and so does the page; where it is, the terminal says nothing.
func TestExportSaysWhatIsNotAsExpected(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "mine.yaml")
	const script = "title: Mine\nscript:\n  - run: A\nexpect:\n  - verdict: %s\n    under: [setpx-lua]\n    because: x\n"
	for expected, met := range map[string]bool{"[DG]": false, "ok": true} {
		if err := os.WriteFile(own, fmt.Appendf(nil, script, expected), 0o600); err != nil {
			t.Fatal(err)
		}
		said := "not as expected: the file expects DG and no other code (" + own + ":5), and the verdict is ok"
		page := filepath.Join(dir, "mine.html")
		_, errs, status := run(t, "", "export", "setpx-lua", own, "-o", page)
		if status != 0 || strings.Contains(errs, said) == met {
			t.Errorf("%s: exit status %d: %s", expected, status, errs)
		}
		html := content(t, page)
		if strings.Contains(html, "<p id=\"unmet\">N"+said[1:]) == met {
			t.Errorf("%s: the page's head: %v", expected, !met)
		}
		if want := map[bool]string{true: `"expected":"As expected: ok."`, false: `"expected":"Not as expected: `}[met]; !strings.Contains(html, want) {
			t.Errorf("%s: the page has no %s", expected, want)
		}
		if _, errs, _ := run(t, "", "export", "setpx-lua", own); strings.Contains(errs, said) == met {
			t.Errorf("%s, to standard output: %s", expected, errs)
		}
	}
}

// The site of the course lands in its folder, and nothing else.
func TestExportCourse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if _, errs, status := run(t, "", "export", "--course", dir); status != 0 || !strings.HasSuffix(errs, "files; begin with "+filepath.Join(dir, "index.html")+"\n") {
		t.Errorf("exit status %d: %s", status, errs)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(pages) < 60 || !strings.Contains(content(t, filepath.Join(dir, "index.html")), "06-release-1.html") {
		t.Errorf("%d pages, %v", len(pages), err)
	}
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != len(pages) {
		t.Errorf("%d files, %v", len(all), err)
	}
}

// So does that of a playlist, whose errors are those of presenting it; a playlist in the place of a lock is told how.
func TestExportPlaylist(t *testing.T) {
	dir := t.TempDir()
	list, site := filepath.Join(dir, "talk.txt"), filepath.Join(dir, "site")
	if err := os.WriteFile(list, []byte("lesson release\nsetpx-lua late-release\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, status := run(t, "", "export", "--playlist", list, "-o", site); status != 0 || errs != site+" written: 4 files; begin with "+filepath.Join(site, "index.html")+"\n" {
		t.Errorf("exit status %d: %s", status, errs)
	}
	only(t, site, "01-naive-del.html", "02-get-then-del.html", "03-setpx-lua.html", "index.html")
	for want, args := range map[string][]string{
		"--playlist needs --output with the name of a folder":                                                                  {"--playlist", list},
		"--playlist needs the name of a file":                                                                                  {"--playlist", ""},
		`export takes no arguments, and got "setnx"`:                                                                           {"setnx", "--playlist", list},
		"cannot read the playlist nowhere: no such file or directory":                                                          {"--playlist", "nowhere", "-o", site},
		"export needs a LOCK and a SCENARIO; if " + list + " is a playlist: lockstep export --playlist " + list + " -o FOLDER": {list},
	} {
		if _, errs, status := run(t, "", append([]string{"export"}, args...)...); status != 2 || errs != "lockstep: "+want+"\n" {
			t.Errorf("%v: exit status %d: %s", args, status, errs)
		}
	}
}

// A file is replaced as a whole or not at all.
func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.svg")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("disk full")
	err := replaceFile(path, func(w io.Writer) error {
		io.WriteString(w, "half of the n") //nolint:errcheck // it fails all the same
		if got := content(t, path); got != "old" {
			t.Errorf("while it is written the file holds %q", got)
		}
		return broken
	})
	if !errors.Is(err, broken) || err.Error() != "cannot write "+path+": disk full" {
		t.Errorf("error %v", err)
	}
	if got := content(t, path); got != "old" {
		t.Errorf("after a failure the file holds %q", got)
	}
	only(t, dir, "run.svg")

	link := filepath.Join(dir, "zlink.svg")
	if err := os.Symlink("run.svg", link); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(link, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 || content(t, path) != "new" {
		t.Errorf("the file behind the link is %v, holds %q", info.Mode(), content(t, path))
	}
	only(t, dir, "run.svg", "zlink.svg")
	if err := replaceFile(os.DevNull, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Errorf("the null device: %v", err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("the null device has been replaced: %v", err)
	}
}

// The help lists every format, and every ending that is understood is
// some format's.
func TestExportHelpNamesTheFormats(t *testing.T) {
	help := must(t, "", "export", "--help")
	for _, f := range formats {
		if !strings.Contains(help, "\n  "+f.name+" ") || !strings.Contains(help, f.extensions[0]) {
			t.Errorf("the help says nothing of %s", f.name)
		}
		for _, e := range f.extensions {
			if got, err := chooseFormat("", "x"+e); err != nil || got.name != f.name {
				t.Errorf("x%s is %v, %v", e, got, err)
			}
		}
	}
}
