package scenarios_test

import (
	"bytes"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/scenarios/site"
	"lockstep/sim/testenv"
)

var link = regexp.MustCompile(`<a href="([^"]*)"`)

// The site has a page for each step of the course; all links lead to pages of the site, the chain of the next ones
// goes through all of them, and no page asks for anything else.
func TestSiteOfTheCourse(t *testing.T) {
	testenv.LongRaced(t)
	lessons := scenarios.Course()
	files, err := site.Course(lessons)
	if err != nil {
		t.Fatal(err)
	}
	pages, steps := map[string]string{}, 0
	for _, l := range lessons {
		steps += len(l.Steps)
	}
	for _, f := range files {
		if pages[f.Name] != "" {
			t.Errorf("there are two files %s", f.Name)
		}
		pages[f.Name] = string(f.Content)
	}
	if len(pages) != steps+1 || pages[site.Index] == "" {
		t.Fatalf("%d pages for %d steps", len(pages), steps)
	}
	for name, page := range pages {
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			if pages[m[1]] == "" {
				t.Errorf("%s leads to %q", name, m[1])
			}
		}
		if !strings.Contains(page, "default-src &#39;none&#39;") && !strings.Contains(page, "default-src 'none'") {
			t.Errorf("%s has no policy", name)
		}
	}
	for _, want := range []string{`<span class="bad">!! permanent deadlock (PD)</span>`, `<b>~ bounded blocking (BD): reported, but no failure</b>`, `<b>~ unavailability (UA): reported`} {
		if !strings.Contains(pages[site.Index], want) {
			t.Errorf("the contents have no %s", want)
		}
	}
	if strings.Contains(pages[site.Index], "!! bounded blocking (BD)") {
		t.Error("the contents call a reported wait a failure")
	}
	if n := len(link.FindAllString(pages[site.Index], -1)); n != steps {
		t.Errorf("the contents have %d links", n)
	}
	at, seen := "01-"+lessons[0].Name+"-1.html", 0
	for next := regexp.MustCompile(`<a href="([^"]*)">Next`); at != ""; seen++ {
		m := next.FindStringSubmatch(pages[at])
		if at = ""; m != nil {
			at = m[1]
		}
	}
	if seen != steps {
		t.Errorf("the next ones lead through %d of %d steps", seen, steps)
	}
	if !strings.Contains(pages["06-release-1.html"], "The same with") && !strings.Contains(pages["06-release-1.html"], `"other":`) {
		t.Error("the first step of the lesson on releases has no second run")
	}
	again, err := site.Course(lessons[:1])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again[1].Content[:1000], files[1].Content[:1000]) {
		t.Error("the same lesson gives another page")
	}
}

// A playlist's site has its runs in order, the words around them, and a page for each, which opens at the beginning, as these scripts ask something;
// and the next lock under the same scenario below, unless that asks about it.
func TestSiteOfAPlaylist(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.txt")
	if err := os.WriteFile(file, []byte("say Look at this.\nlesson release 1\nnaive-del pause-past-ttl\nfenced pause-past-ttl\nget-then-del release-gap\nsetpx-lua release-gap\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := scenarios.LoadPlaylist(file)
	if err != nil {
		t.Fatal(err)
	}
	files, err := site.Playlist(list)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, f := range files {
		pages[f.Name] = string(f.Content)
	}
	names := []string{"01-naive-del.html", "02-naive-del.html", "03-fenced.html", "04-get-then-del.html", "05-setpx-lua.html"}
	at, asking := 0, 3
	for _, want := range append(names, list.Showings[0].Closing) {
		if !strings.Contains(pages[site.Index], template.HTMLEscapeString(want)) {
			t.Errorf("the contents have no %q:\n%s", want, pages[site.Index])
		}
	}
	if !strings.Contains(pages[names[0]], `<p id="before">Look at this. `) || strings.Contains(pages[names[1]], `id="before"`) {
		t.Error("the words before a run are not on its page, or on another's")
	}
	for i, name := range names {
		next := strings.Index(pages[site.Index], name)
		if next < at || pages[name] == "" {
			t.Errorf("%s is not in its order, or not there", name)
		}
		at = next
		if !strings.Contains(pages[name], `"questions":[{`) {
			t.Errorf("%s has no questions", name)
		}
		if begins := strings.Contains(pages[name], `"start":0`) && strings.Contains(pages[name], `"poster":""`); begins != (i < asking || i == 4) {
			t.Errorf("%s begins at the beginning: %v", name, begins)
		}
		words := template.HTMLEscapeString(list.Showings[i].Closing)
		if has := strings.Contains(pages[name], `id="after"`) && strings.Contains(pages[name], words); has != (words != "") {
			t.Errorf("%s has the words that close it: %v", name, has)
		}
		if below := strings.Contains(pages[name], `"other":{`); below != (i == 3) {
			t.Errorf("%s has a run below: %v", name, below)
		}
		if next := strings.Contains(pages[name], ">Next</a>"); next != (i < 4) {
			t.Errorf("%s leads on: %v", name, next)
		}
	}
}

// The contents, with which one begins, don't show what a page asks its reader, in a playlist or in the course; of a run that nobody is
// asked about they do.
func TestContentsKeepWhatIsAsked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.txt")
	if err := os.WriteFile(file, []byte("setnx crash-holding\nnaive-del crash-holding\nnaive-del release-gap\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := scenarios.LoadPlaylist(file)
	if err != nil {
		t.Fatal(err)
	}
	talk, err := site.Playlist(list)
	if err != nil {
		t.Fatal(err)
	}
	lessons := scenarios.Course()
	n, err := scenarios.FindLesson(lessons, "release")
	if err != nil {
		t.Fatal(err)
	}
	lesson, err := site.Course(lessons[n-1 : n])
	if err != nil {
		t.Fatal(err)
	}
	closed := regexp.MustCompile(`(?s)<details>.*?</details>`)
	outcomes := regexp.MustCompile(`!!|~ |ok: |deadlock|blocking|for ever|removes`)
	for what, pages := range map[string][]site.File{"the playlist": talk, "the lesson": lesson} {
		all := string(pages[len(pages)-1].Content)
		shown := closed.ReplaceAllString(all[strings.Index(all, "<ol>"):], "")
		told := outcomes.FindAllString(shown, -1)
		if what == "the playlist" && strings.Join(told, " ") != "!! removes" { // of release-gap, which asks nothing
			t.Errorf("%s shows %q", what, told)
		}
		if what == "the lesson" && (len(told) > 0 || !strings.Contains(all, "<details>")) {
			t.Errorf("%s shows %q:\n%s", what, told, shown)
		}
	}
}

// The contents say of each run, without a look at it: what it shows, by the script's own words; what the lock is; what breaks, in words
// and in the order of the run; and why, unless the script expected something else.
func TestContentsDescribeTheRuns(t *testing.T) {
	const own = "title: Mine\nshows: that & why it breaks\nsetup: {retry: {tries: 1}}\nscript:\n  - {run: A, to: before release last}\n  - wait: 11s\n  - {run: B, to: read}\n  - run: A\n" +
		"expect:\n  - {verdict: FR, under: naive-del, because: n1 asks nothing}\n  - {verdict: ok, under: get-then-del, because: a wrong guess}\n"
	dir := t.TempDir()
	for name, text := range map[string]string{"mine.yaml": own, "talk.txt": "title Two & two\nsay Look <at> this.\nnaive-del mine.yaml\nget-then-del mine.yaml\nsetpx-lua late-release\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := scenarios.LoadPlaylist(filepath.Join(dir, "talk.txt"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := site.Playlist(list)
	if err != nil {
		t.Fatal(err)
	}
	contents := string(files[len(files)-1].Content)
	rest := contents
	for _, want := range []string{
		"<h1>Two &amp; two</h1>", "Look &lt;at&gt; this.",
		"naive-del</b>: Mine", "!! FR", "It shows that &amp; why it breaks.", template.HTMLEscapeString(list.Showings[0].Strategy.Summary),
		"<b>foreign release (FR)</b>: A&#39;s DEL removes B&#39;s record.", "n1 asks nothing.",
		"get-then-del</b>: the same again", "Not as expected: the file expects ok",
		"setpx-lua</b>: A late release", "ok: nothing broke", "A holder that outlives its lease deletes its successor&#39;s lock.", "finds B&#39;s token and leaves it alone.",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("the contents have no %q, or not in its order:\n%s", want, contents)
		}
		rest = after
	}
	if strings.Contains(contents, "wrong guess") {
		t.Error("the contents give the reason for a verdict that the run doesn't have")
	}
}
