package present

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/player"
	"lockstep/tui/quiz"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

const script = "title: Mine\nscript:\n  - say: %s\n  - run: A\n    to: done\n"

// open presents a lesson's second step and a script of the test's own.
func open(t testing.TB, w, h int) (*tuitest.App, *Present, string) {
	dir := t.TempDir()
	own := filepath.Join(dir, "mine.yaml")
	write(t, own, "First words.", 1)
	list := filepath.Join(dir, "talk.txt")
	if err := os.WriteFile(list, []byte("lesson 6 1\nsetpx-lua mine.yaml\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := scenarios.LoadPlaylist(list)
	if err != nil {
		t.Fatal(err)
	}
	lib := screen.NewLibrary()
	for _, s := range all.Showings {
		lib.Include(strategies.Strategy{}, s.Scenario)
	}
	app := tuitest.RealApp(lib, tuitest.PlainTheme(false))
	p := New(app, all)
	return tuitest.Open(t, w, h, app, p, nil), p, own
}

// write writes a version of the script; versions have different times.
func write(t testing.TB, path, words string, version int) {
	t.Helper()
	if err := os.WriteFile(path, fmt.Appendf(nil, script, words), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Unix(int64(1_000_000+version), 0)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestScreens(t *testing.T) {
	for _, size := range [][2]int{{30, 7}, {60, 16}, {80, 24}, {120, 40}, {200, 60}} {
		a, _, _ := open(t, size[0], size[1])
		for range 3 {
			a.Press("enter")
		}
		tuitest.Golden(t, fmt.Sprintf("present-%dx%d", size[0], size[1]), a.View())
	}
}

// The key that goes on passes over no run that isn't there yet, however often it is pressed; the screen says what is awaited.
func TestNoRunIsPassedOver(t *testing.T) {
	all, err := scenarios.LoadPlaylist(playlist(t, "lesson 6 1\nsetpx-lua stampede\nnaive-del late-release"))
	if err != nil {
		t.Fatal(err)
	}
	app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	p := New(app, all)
	tuitest.Open(t, 80, 24, app, p, nil)
	p.Adjust(tea.KeyMsg{Type: tea.KeyEnd})
	for range 9 {
		p.Update(tea.KeyMsg{Type: tea.KeyEnter}) // its commands are left undone: the next run is still to come
	}
	if p.at != 1 || !p.Awaited() {
		t.Errorf("run %d of %d, to come: %v", p.at+1, len(all.Showings), p.Awaited())
	}
	for _, size := range [][2]int{{1, 1}, {30, 7}, {80, 23}} {
		c := draw.NewCanvas(size[0], size[1], "")
		p.Draw(c, draw.Rect(0, 0, size[0], size[1]))
		if v := c.Render(p.Theme); size[0] >= 80 && !strings.Contains(v, "running setpx-lua under stampede") {
			t.Errorf("nothing says what comes:\n%s", v)
		}
	}
}

// One key goes from the beginning of the playlist to its end, and shows on the way everything that is
// said, asked and broken.
func TestOneKey(t *testing.T) {
	a, p, _ := open(t, 120, 40)
	shown := ""
	for n := 0; p.at == 0; n++ {
		if n > 50 {
			t.Fatalf("it does not end:\n%s", a.View())
		}
		shown += tuitest.Unwrapped(a.View())
		a.Press("enter")
	}
	lesson := scenarios.Course()[5]
	for _, want := range []string{tuitest.Unwrapped(lesson.Text), tuitest.Unwrapped(lesson.Steps[0].Text), "FOREIGN RELEASE"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q was not shown", want)
		}
	}
	if strings.Contains(shown, "Withstands this run") {
		t.Error("the room is told what the next run shows")
	}
	a.Press("pgup")
	if p.at != 0 || p.Pos != p.Run.Last() {
		t.Errorf("back from the second run leads to event %d of run %d", p.Pos, p.at+1)
	}
	a.Press("enter enter pgdown space")
	if v := a.View(); p.at != 1 || strings.Count(tuitest.Unwrapped(v), "The end: enter does nothing more, pgup goes back, esc closes.") != 1 {
		t.Errorf("the end of the playlist:\n%s", v)
	}
}

func TestCodeOnAndOff(t *testing.T) {
	for _, w := range []int{80, 160} {
		a, _, _ := open(t, w, 30)
		a.Press("enter")
		before := a.View()
		a.Press("s")
		if v := a.View(); !strings.Contains(v, "source: strategies/naive_del.go") || strings.Contains(v, "believers") != (w >= besideFrom) {
			t.Errorf("%d columns, with the code:\n%s", w, v)
		}
		if a.Press("s"); a.View() != before {
			t.Errorf("%d columns: the code does not go away", w)
		}
	}
}

// Nobody's answers are scored while a run is presented; after it the mode is what it was.
func TestTeachingEndsWithThePresenter(t *testing.T) {
	for _, was := range []bool{false, true} {
		app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
		app.Teaching = was
		all, err := scenarios.LoadPlaylist(playlist(t, "lesson 6 1"))
		if err != nil {
			t.Fatal(err)
		}
		p := New(app, all)
		if !app.Teaching {
			t.Error("answers are scored in class")
		}
		if _, out := p.Update(tuitest.KeyMsg("esc")); !out.Close || app.Teaching != was {
			t.Errorf("afterwards the mode is %v, and was %v", app.Teaching, was)
		}
	}
}

func playlist(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "talk.txt")
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A script is run again when its file changes, at the same place; a version that can't be read is told, and
// leaves the run as it is.
func TestFileIsWatched(t *testing.T) {
	a, p, own := open(t, 100, 30)
	for p.at == 0 {
		a.Press("enter")
	}
	a.Press("right right right")
	at := p.Pos
	a.Fire()
	if v := a.View(); p.Pos != at || !strings.Contains(v, "Mine") {
		t.Fatalf("an unchanged file moves the cursor to %d:\n%s", p.Pos, v)
	}
	write(t, own, "Second words.", 2)
	a.Fire()
	if p.Pos != at || p.Run.Notes[0].Text != "Second words." {
		t.Errorf("event %d: %+v", p.Pos, p.Run.Notes)
	}
	write(t, own, "Third words.\n  - rum: A", 3)
	a.Fire()
	if v := a.View(); p.Run.Notes[0].Text != "Second words." || !strings.Contains(v, "mine.yaml:") {
		t.Errorf("a broken file:\n%s", v)
	}
	write(t, own, "Words.\n  - run: A\n    to: done\n  - until: 1ms", 4) // it is past that instant when it comes there
	a.Fire()
	if v := a.View(); p.Run == nil || p.Pos != at || !strings.Contains(v, "mine.yaml:") {
		t.Fatalf("a script that can't be run:\n%s", v)
	}
	write(t, own, "Fourth words.", 5)
	a.Fire()
	if p.Run.Notes[0].Text != "Fourth words." || p.Pos != at {
		t.Errorf("event %d: %+v", p.Pos, p.Run.Notes)
	}
}

// A class isn't told how the run will end that its teacher has changed, also if that is not what the script expects: that is for
// the rehearsal.
func TestChangedFileKeepsTheEnd(t *testing.T) {
	a, p, own := open(t, 100, 30)
	for p.at == 0 {
		a.Press("enter")
	}
	for version, expected := range []string{"ok", "[DG]", "ok", "[DG]"} {
		rehearses := version > 1
		if version == 2 {
			a.Press("T")
		}
		write(t, own, "Words.", version+2)
		text, err := os.ReadFile(own)
		if err == nil {
			err = os.WriteFile(own, fmt.Appendf(text, "expect:\n  - {verdict: %s, under: [setpx-lua], because: x}\n", expected), 0o600)
		}
		if at := time.Unix(int64(2_000_000+version), 0); err != nil || os.Chtimes(own, at, at) != nil {
			t.Fatal(err)
		}
		a.Fire()
		if v := a.View(); strings.Contains(v, "the verdict is") != rehearses {
			t.Errorf("%s is expected, rehearsal %v:\n%s", expected, rehearses, v)
		}
	}
}

// That a verdict is not what the script expects, or that it expects nothing, is for the author: it is told in the rehearsal, as a note.
func TestExpectationIsTheAuthors(t *testing.T) {
	const want, none = "Not as expected: ", "The script doesn't say what it expects of naive-del."
	for note, expected := range map[string]string{want: "expect:\n  - {verdict: ok, under: [naive-del]}\n", none: ""} {
		a, p := openOwn(t, lateTalk+expected, "naive-del")
		if !strings.Contains(a.View(), "T author's notes") {
			t.Errorf("the key isn't named:\n%s", a.View())
		}
		a.Press("G")
		if v := tuitest.Unwrapped(a.View()); p.Pos != p.Run.Last() || strings.Contains(v, want) || strings.Contains(v, none) || strings.Contains(v, "T author's notes") {
			t.Errorf("%q: the room is told, or the key is named before it:\n%s", note, a.View())
		}
		if a.Press("T"); !strings.Contains(a.View(), "Rehearsal: notes for") {
			t.Errorf("%q: it isn't counted:\n%s", note, a.View())
		}
		a.Press("down down down down down down down down down")
		if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "~ "+draw.Either(note == want, p.Theme.Bad+" ", "")+note) {
			t.Errorf("%q: the author isn't told:\n%s", note, a.View())
		}
	}
}

// Every window, however small, has a frame of its size.
func TestAnyWindow(t *testing.T) {
	a, _, _ := open(t, 80, 24)
	a.Press("enter enter enter")
	for w := 1; w <= 130; w += 1 + w/6 {
		for h := 1; h <= 50; h += 1 + h/8 {
			a.Send(tea.WindowSizeMsg{Width: w, Height: h})
			a.CheckFrame(fmt.Sprintf("%dx%d", w, h))
		}
	}
	l := arrange(80, 23, wishes{told: 3, diagram: func(int) int { return 9 }})
	if l.diagram.H != 9 || l.told.H < leastTold || l.told.W != 80 {
		t.Errorf("%+v", l)
	}
}

// The one key passes no violation, though the answer of a question lies behind it, and comes to that
// answer next.
func TestNoViolationIsPassed(t *testing.T) {
	const talk = `title: A question whose answer lies behind a violation
script:
  - say: A works.
  - run: A
    to: work
  - wait: 12s
  - say: B gets the lock.
  - run: B
    to: work
  - say: A goes on.
  - run: A
  - ask: Who believes now that they have the lock?
    answer: holders
`
	a, p := openOwn(t, talk, "naive-del")
	seen := map[int]bool{}
	for n := 0; p.Pos < p.Run.Last(); n++ {
		if n > p.Run.Last() {
			t.Fatal("the key doesn't lead to the end")
		}
		seen[p.Pos] = true
		a.Press("enter")
	}
	if len(p.Run.Breaches) < 2 {
		t.Fatal("the run breaks too little")
	}
	for _, b := range p.Run.Breaches {
		if !seen[b.Pos] {
			t.Errorf("the key passed %s at %d", b.Code, b.Pos)
		}
	}
	for _, q := range quiz.Of(p.Run).All() {
		if q.Script && !seen[q.Until] && q.Until != p.Run.Last() {
			t.Errorf("the key passed the answer to %q at %d", q.Text, q.Until)
		}
	}
}

// In a small window the diagram leaves no client out, and the key passes no words: each question is
// on the screen with all its answers before it is answered, and each cause of a violation.
func TestSmallWindowKeepsClientsAndWords(t *testing.T) {
	a, p, _ := open(t, 60, 16)
	said := map[int]string{} // by position, all that was on the screen
	for at, n := p.at, 0; p.at == at; n++ {
		if n > 500 {
			t.Fatal("the key doesn't lead to the next run")
		}
		v := a.View()
		said[p.Pos] += v
		for i, name := range p.Run.Clients {
			if p.Run.Begun(i, p.Pos) && !strings.Contains(v, "\n "+name+"   ") && !strings.Contains(v, "\n▸"+name+"   ") && name != trace.Probe {
				t.Errorf("at %d there is no row of %s:\n%s", p.Pos, name, v)
			}
		}
		a.Press("enter")
	}
	a.Press("pgup") // to the end of the first run
	r := p.Run
	for _, q := range r.Questions() {
		if !q.Script { // the script has one
			if strings.Contains(tuitest.Unwrapped(said[q.Pos]), q.Text) {
				t.Errorf("it is asked what the script doesn't: %q", q.Text)
			}
			continue
		}
		listed := true // where the words are scrolled
		for i, c := range q.Choices {
			listed = listed && strings.Contains(said[q.Pos], fmt.Sprintf("  %d %s\n", i+1, c))
		}
		if text := tuitest.Unwrapped(said[q.Pos]); !listed && !strings.Contains(text, numbered(q.Choices)+". Or enter ") {
			t.Errorf("the answers to %q are not shown:\n%s", q.Text, said[q.Pos])
		}
	}
	for _, b := range r.Breaches {
		shown := strings.Fields(said[b.Pos]) // a page can end in the midst of it
		for _, word := range strings.Fields(r.Cause(b)) {
			if !slices.ContainsFunc(shown, func(w string) bool { return strings.HasPrefix(w, word) }) {
				t.Errorf("the cause of %s is cut: %q is not in\n%s", b.Code, word, said[b.Pos])
			}
		}
	}
}

// With the code beside it, the diagram leaves the words as many rows as without.
func TestCodeLeavesTheWords(t *testing.T) {
	a, p, _ := open(t, 200, 60)
	for p.Pos < p.Run.Last() && len(p.Run.Breaches) > 0 && p.Pos < p.Run.Breaches[0].Pos {
		a.Press("enter")
	}
	proof := p.Run.Breaches[0].Events
	a.Press("s")
	v := a.View()
	for _, seq := range proof {
		if n := fmt.Sprintf("#%d  ", seq); !strings.Contains(v, n) {
			t.Errorf("with the code, the evidence %s is gone:\n%s", n, v)
		}
	}
}

// The first screen has the playlist's title, and no other one has; where the words name a key, the footer has it, and once.
func TestTitleAndNamedKey(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		all, err := scenarios.LoadPlaylist(playlist(t, "title Locks on a Monday\nnaive-del late-release"))
		if err != nil {
			t.Fatal(err)
		}
		app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
		p := New(app, all)
		a := tuitest.Open(t, size[0], size[1], app, p, nil)
		a.Press("T") // only then is another lock named
		named := 0
		for n := 0; !p.ended() && n < 100; n++ {
			v := strings.TrimRight(a.View(), "\n ")
			if strings.Contains(v, "the end of the playlist") && strings.Contains(v, "enter go on") {
				t.Errorf("beyond %d, scroll %d: the end offers to go on:\n%s", p.beyond, p.scroll, v)
			}
			if strings.Contains(v, "Locks on a Monday") != (p.Pos == 0) {
				t.Errorf("the title at event %d:\n%s", p.Pos, v)
			}
			if head, _, _ := strings.Cut(v, "\n"); p.Pos == 0 && (!strings.Contains(head, "Locks on a Monday") || !strings.Contains(head, " slide 1/")) {
				t.Errorf("the title has no number beside it:\n%s", v)
			}
			if foot := v[strings.LastIndex(v, "\n")+1:]; strings.Contains(v, "(compare: c, enter)") {
				if named++; strings.Count(foot, " c compare") != 1 {
					t.Errorf("the footer lacks the key, or has it twice: %s", foot)
				}
			}
			a.Press("enter")
		}
		if named == 0 {
			t.Error("no key is named")
		}
	}
}

// In the middle of a playlist the key that leaves it asks once; any other key takes that back, and at the beginning it leaves at once.
func TestLeavingAsks(t *testing.T) {
	a, p := openOwn(t, lateTalk, "naive-del")
	if _, out := p.Update(tuitest.KeyMsg("esc")); !out.Close {
		t.Error("at the beginning there is nothing to ask")
	}
	a.Press("enter")
	for range 2 {
		if _, out := p.Update(tuitest.KeyMsg("esc")); out.Close || !strings.Contains(a.View(), "esc again ends the presentation") {
			t.Fatalf("it is left unasked:\n%s", a.View())
		}
		if a.Press("enter"); strings.Contains(a.View(), "esc again") {
			t.Errorf("it asks still:\n%s", a.View())
		}
	}
	a.Press("s")
	if v := a.View(); !p.showsCode || !strings.Contains(v, "esc no code") {
		t.Fatalf("no code to hide:\n%s", v)
	}
	if _, out := p.Update(tuitest.KeyMsg("esc")); out.Close || strings.Contains(a.View(), "esc again") || p.showsCode {
		t.Errorf("with the code open, esc does not just hide it:\n%s", a.View())
	}
	p.Update(tuitest.KeyMsg("esc"))
	if _, out := p.Update(tuitest.KeyMsg("esc")); !out.Close {
		t.Error("the second key doesn't leave")
	}
}

// At the end of the playlist the key that goes on says so, and is no longer offered; esc leaves a
// presenter that nothing leads to, and not for a screen in front of the room.
func TestEndOfThePlaylist(t *testing.T) {
	_, p, _ := open(t, 120, 40)
	r := screen.NewRouter(p.App, nil, p)
	a := tuitest.NewTester(t, 120, 40, r)
	goesOn := map[string]int{}
	for n := 0; !p.ended(); n++ {
		if n > 500 {
			t.Fatalf("enter doesn't come to the end:\n%s", a.View())
		}
		foot := a.View()[strings.LastIndex(a.View(), "\n"):]
		for _, to := range []string{"go on", "more", "next run"} {
			if strings.Contains(foot, "enter "+to) {
				goesOn[to]++
			}
		}
		if !strings.Contains(foot, "enter ") {
			t.Fatalf("enter goes on, and the footer doesn't say so:\n%s", a.View())
		}
		a.Press("enter")
	}
	if goesOn["go on"] == 0 || goesOn["next run"] != len(p.showings)-1 {
		t.Errorf("enter is said to lead %v in %d runs", goesOn, len(p.showings))
	}
	before := a.View()
	if a.Press("enter"); a.View() != before || strings.Count(before, "The end: enter does nothing more, pgup goes back, esc closes.") != 1 || strings.Contains(before, "enter go on") {
		t.Errorf("%s\nand before it\n%s", a.View(), before)
	}
	_, cmd := r.Update(tuitest.KeyMsg("esc"))
	if cmd == nil {
		t.Fatal("esc does nothing")
	}
	if _, ends := cmd().(tea.QuitMsg); !ends {
		t.Errorf("esc leads to %T", r.Top())
	}
}

// What is said to a room is said in one block for each sentence, and none of it is for the script's author;
// no stop says nothing, and the counters say what they count.
func TestWordsAreForTheRoom(t *testing.T) {
	all, err := scenarios.LoadPlaylist(playlist(t, "lesson 6 2"))
	if err != nil {
		t.Fatal(err)
	}
	app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	p := New(app, all)
	a := tuitest.Open(t, 100, 40, app, p, nil)
	missed := false
	for _, n := range p.Run.Notes {
		missed = missed || n.Kind == trace.NoteMissed
	}
	if !missed {
		t.Fatal("the script has no step that the lock makes impossible")
	}
	for n := 0; ; n++ {
		v := a.View()
		if strings.Contains(v, "never stands at") || strings.Contains(v, "lets the next event happen") || len(p.words(80, 30)) == 0 {
			t.Errorf("at %d the room is told:\n%s", p.Pos, v)
		}
		if !strings.Contains(v, " slide ") || !strings.Contains(v, " run 1 of 1 ") {
			t.Errorf("the counters do not say what they count:\n%s", v)
		}
		for _, said := range p.Run.Said(p.Pos) {
			if lines := strings.Split(v, "\n"); said.Kind == trace.NoteSay {
				first := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), said.Prose()[:20]) })
				if first >= 0 && len(said.Prose()) > 100 && strings.TrimSpace(lines[first+1]) == "" {
					t.Errorf("a sentence has gaps:\n%s", v)
				}
			}
		}
		if p.ended() {
			break
		}
		if a.Press("enter"); n > 50 {
			t.Fatal("it does not end")
		}
	}
	for a.Press("g"); p.Pos < p.Run.Last(); a.Press("right") {
		if strings.Contains(a.View(), "never stands at") {
			t.Fatalf("at %d the room is told:\n%s", p.Pos, a.View())
		}
	}
	if !strings.Contains(a.View(), "The end: enter does nothing more, pgup goes back, esc closes.") {
		t.Errorf("nothing says what can be done at the end:\n%s", a.View())
	}
}

// As long as the words leave rows, every sign of the diagram is explained below it.
func TestLegendHasRows(t *testing.T) {
	for _, w := range []int{120, 200} {
		a, p, _ := open(t, w, 60)
		for !p.ended() {
			a.Press("enter")
			if v := a.View(); strings.Contains(v, "? more ") {
				t.Fatalf("%d columns, run %d, event %d: the legend is cut:\n%s", w, p.at+1, p.Pos, v)
			}
		}
	}
}

// openOwn presents runs of a script of somebody's own.
func openOwn(t *testing.T, talk string, locks ...string) (*tuitest.App, *Present) {
	t.Helper()
	dir := t.TempDir()
	list := strings.Join(locks, " mine.yaml\n") + " mine.yaml\n"
	for name, text := range map[string]string{"mine.yaml": talk, "talk.txt": list} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := scenarios.LoadPlaylist(filepath.Join(dir, "talk.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lib := screen.NewLibrary()
	lib.Include(strategies.Strategy{}, all.Showings[0].Scenario)
	p := New(tuitest.RealApp(lib, tuitest.PlainTheme(false)), all)
	return tuitest.Open(t, 80, 24, p.App, p, nil), p
}

const lateTalk = `title: Anna's machine stops
setup:
  clients: {Anna: {work: 3s}, Ben: {work: 5s}}
script:
  - say: Anna takes the lock.
  - run: Anna
    to: after work first
  - say: Anna's machine stops.
  - until: 12s
  - say: At 12 s Ben comes.
  - ask: Who believes now that they have the lock?
    answer: holders
  - run: Ben
    to: work
  - say: Anna wakes up.
  - run: Anna
`

// The answer to what is asked at an instant stands on a screen of that instant, though nothing has happened since the
// event before it.
func TestAnswerStandsAtItsInstant(t *testing.T) {
	a, p := openOwn(t, lateTalk, "naive-del")
	for n := 0; !strings.Contains(a.View(), "Who believes now that they have the lock? Anna."); n++ {
		if n > 20 {
			t.Fatalf("the answer is never told:\n%s", a.View())
		}
		a.Press("enter")
	}
	v := a.View()
	lines := strings.Split(v, "\n")
	if p.Run.When(p.Pos) >= 12*time.Second || !strings.HasSuffix(strings.TrimRight(lines[2], " "), " 12s") ||
		!strings.Contains(v, "\n 12s  last event at 10.002s: n1: ") || strings.Contains(v, "(at 12s)") {
		t.Errorf("the answer's screen doesn't say 12s throughout:\n%s", v)
	}
}

// At the end of a run it is said what the first run under the same script has shown, and this one hasn't.
func TestContrastWithTheFirstRun(t *testing.T) {
	a, p := openOwn(t, lateTalk, "naive-del", "setpx-lua", "naive-del")
	ends := map[int]string{}
	for n := 0; !p.ended(); n++ {
		if n > 100 {
			t.Fatal("the playlist doesn't end")
		}
		a.Press("enter")
		if p.Pos == p.Run.Last() {
			ends[p.at] += tuitest.Unwrapped(a.View())
		}
	}
	const before = "Run 1, with naive-del, has shown "
	if strings.Contains(ends[0], before) || strings.Contains(ends[2], before) {
		t.Errorf("a run is set against itself:\n%s\n%s", ends[0], ends[2])
	}
	if want := before + "overlapping critical sections (OV) and foreign release (FR). Not here: foreign release (FR). Here, too: overlapping critical sections (OV)."; !strings.Contains(ends[1], want) {
		t.Errorf("no %q:\n%s", want, ends[1])
	}
}

// What the first run has shown stays said when the script changes, as long as that run would show it again.
func TestContrastOutlivesEdits(t *testing.T) {
	const before = "Run 1, with naive-del, has shown "
	a, p := openOwn(t, lateTalk, "naive-del", "setpx-lua")
	for p.at == 0 {
		a.Press("enter")
	}
	file := p.showings[0].Scenario.Path()
	for i, edit := range []struct {
		old, new string
		said     bool
	}{{"title:", "# A comment.\ntitle:", true}, {"setup:\n", "setup:\n  ttl: 60s\n", false}, {"", "", true}, {"  - run: Anna\n", "  - rum: Anna\n", true}} {
		at := time.Unix(int64(4_000_000+i), 0)
		if err := os.WriteFile(file, []byte(strings.Replace(lateTalk, edit.old, edit.new, 1)), 0o600); err != nil || os.Chtimes(file, at, at) != nil {
			t.Fatal(err)
		}
		a.Fire()
		a.Press("G")
		if v := tuitest.Unwrapped(a.View()); strings.Contains(v, before) != edit.said {
			t.Errorf("after %q in the place of %q:\n%s", edit.new, edit.old, a.View())
		}
	}
}

// Where evidence is numbered in the diagram, its lines are among the words, if need be below the last row: one key goes there.
func TestNumberedEvidenceIsTold(t *testing.T) {
	app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	all, err := scenarios.LoadPlaylist(playlist(t, "naive-del late-release"))
	if err != nil {
		t.Fatal(err)
	}
	p := New(app, all)
	a := tuitest.Open(t, 80, 20, app, p, nil)
	for _, b := range p.Run.Breaches {
		for p.Pos < b.Pos {
			a.Press("right")
		}
		for n, seq := range b.Events {
			told := false
			want := fmt.Sprintf("[%d] %s  #%d", n+1, trace.Brief(p.Run.Events[seq-1].At), seq)
			for range 8 {
				v := a.View()
				told = told || strings.Contains(v, want) || p.Run.After(seq) == p.Pos
				a.Press("down down")
			}
			a.Press("up up up up up up up up up up")
			if !told && p.Run.Breaches[slices.IndexFunc(p.Run.Breaches, func(o timeline.Breach) bool { return o.Pos == b.Pos })].Violation == b.Violation {
				t.Errorf("%s at event %d: %q is nowhere:\n%s", b.Code, p.Pos, want, a.View())
			}
		}
	}
}

// numbered are the answers that a class chooses from.
func numbered(choices []string) string {
	var all []string
	for i, c := range choices {
		all = append(all, fmt.Sprintf("%d %s", i+1, c))
	}
	return strings.Join(all, "; ")
}

// earlyTalk is lateTalk with its question behind the violation that shows the answer.
var earlyTalk = strings.Replace(lateTalk, `  - ask: Who believes now that they have the lock?
    answer: holders
  - run: Ben
    to: work
`, `  - run: Ben
    to: after work first
  - ask: Who believes now that they have the lock?
    answer: holders
  - run: Anna
    to: release
`, 1)

// The answer to the open question comes before everything else that shows it: it stands above the alarm. The question has no other
// stop behind that, on which nothing would be said, and back and forth it has the same ones; but who has passed it by events, and has been
// told no answer, comes to one there.
func TestAnswerComesBeforeTheAlarm(t *testing.T) {
	const told = "Who believes now that they have the lock? Anna and Ben."
	a, p := openOwn(t, earlyTalk, "naive-del")
	asked, alarmed, chapter := false, 0, 0
	for p.Pos < p.Run.Last() {
		v := a.View()
		if alarm := strings.Index(v, "!! OV: "); alarm >= 0 {
			if answer := strings.Index(v, told); !asked || answer < 0 || answer > alarm {
				t.Fatalf("the alarm comes before the answer:\n%s", v)
			}
			alarmed = p.Pos
		}
		now := 0
		if _, counter, found := strings.Cut(v, " slide "); found {
			fmt.Sscanf(counter, "%d", &now) //nolint:errcheck // what doesn't fit is 0
		}
		if len(p.words(70, 0)) == 0 || now != chapter && now != chapter+1 {
			t.Errorf("at %d, in chapter %d after %d:\n%s", p.Pos, now, chapter, v)
		}
		chapter = now
		asked = asked || strings.Contains(v, "? Later, at 12.002s: ") // Anna leaves in the same instant; the event would be the answer, and its number nothing to a room
		a.Press("enter")
	}
	if alarmed == 0 {
		t.Fatal("there is no alarm")
	}
	a, p = openOwn(t, earlyTalk, "naive-del")
	for p.Pos < alarmed {
		a.Press("right")
	}
	if a.Press("enter"); !strings.Contains(tuitest.Unwrapped(a.View()), tuitest.Unwrapped(": "+strings.Replace(told, "? ", "? Answer: ", 1))) {
		t.Errorf("the answer is never told:\n%s", a.View())
	}
}

// What the resource refuses is what a run with a fence shows: the one key stops at it, says it, and the legend explains its
// sign; and at the end the row of the resource is still there.
func TestRefusalIsShown(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		all, err := scenarios.LoadPlaylist(playlist(t, "fenced pause-past-ttl"))
		if err != nil {
			t.Fatal(err)
		}
		app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
		p := New(app, all)
		a := tuitest.Open(t, size[0], size[1], app, p, nil)
		told := 0
		for p.Pos < p.Run.Last() || p.scroll < p.beyond {
			a.Press("enter")
			v := a.View()
			if e := p.Run.Event(p.Pos); e != nil && e.Kind == trace.KindReject {
				told++
				if !strings.Contains(tuitest.Unwrapped(v), "⊘ The resource refuses A") {
					t.Errorf("%v: not told:\n%s", size, v)
				}
			}
			refused := slices.ContainsFunc(p.Run.Events[:p.Pos], func(e trace.Event) bool { return e.Kind == trace.KindReject })
			if refused && (!strings.Contains(v, "⊘ rejected") || !strings.Contains(v, "A⊘")) {
				t.Errorf("%v: at event %d of %d the legend, or the row of the resource, lacks the refusal:\n%s", size, p.Pos, p.Run.Last(), v)
			}
		}
		if told == 0 {
			t.Errorf("%v: the key has passed the refusal", size)
		}
	}
}

// The key for writing offers the whole playlist beside the run.
func TestPlaylistIsWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	all, err := scenarios.LoadPlaylist(playlist(t, "naive-del late-release\nsetpx-lua late-release"))
	if err != nil {
		t.Fatal(err)
	}
	app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	app.Exports = tuitest.Formats()
	a := tuitest.Open(t, 80, 24, app, New(app, all), nil)
	for _, folder := range []string{"playlist", "playlist-2"} {
		a.Press("enter x end enter")
		if v := a.View(); !strings.Contains(v, "Written to ./"+folder+"/index.html.") {
			t.Fatalf("nothing is said of %s:\n%s", folder, v)
		}
		found, err := filepath.Glob(folder + "/*.html")
		if want := []string{folder + "/01-naive-del.html", folder + "/02-setpx-lua.html", folder + "/index.html"}; err != nil || !slices.Equal(found, want) {
			t.Errorf("the files are %v, want %v", found, want)
		}
	}
}

// What a client was refused is told below the words that have led to it, and above those of what comes next.
func TestRefusalFollowsItsWords(t *testing.T) {
	a, p := openOwn(t, "title: A queue\nsetup:\n  clients: {A: {}, B: {}}\n  retry: {tries: 1}\nscript:\n  - say: A takes the lock.\n  - run: A\n    to: work\n"+
		"  - say: B comes.\n  - run: B\n    for: 1s\n  - say: A goes home.\n  - run: all\nexpect:\n  - {verdict: ok, under: [setpx-lua]}\n", "setpx-lua")
	for p.Pos < p.Run.Last() {
		v := tuitest.Unwrapped(a.View())
		if told := strings.Index(v, "B is refused the lock"); told >= 0 {
			came, next := strings.Index(v, "B comes."), strings.Index(v, "Next: A goes home.")
			if came < 0 || came > told || next >= 0 && next < told {
				t.Errorf("%d, %d, %d are the places of what led to it, of itself and of what comes next:\n%s", came, told, next, v)
			}
			return
		}
		a.Press("enter")
	}
	t.Error("nobody is told that B was refused")
}

// The key that goes back stops where the one that goes on has stopped, the counter passes no chapter, and where a
// release is refused the run stops and says so.
func TestBackStopsWhereOnHas(t *testing.T) {
	for _, line := range []string{"get-then-del late-release", "setpx-lua late-release", "naive-del late-release", "fenced pause-past-ttl", "watchdog pause-past-ttl"} {
		all, err := scenarios.LoadPlaylist(playlist(t, line))
		if err != nil {
			t.Fatal(err)
		}
		p := New(tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false)), all)
		a := tuitest.Open(t, 120, 60, p.App, p, nil)
		var on, back []int
		refused, chapter := false, 0
		for p.Pos < p.Run.Last() {
			on = append(on, p.Pos)
			v := a.View()
			if e := p.Run.Event(p.Run.Finished(p.Pos)); e != nil && e.Kind == trace.KindReleaseFailed {
				refused = true
				if !strings.Contains(tuitest.Unwrapped(v), "¬ "+p.Run.Clients[e.Client]+"'s release fails: lock not held") {
					t.Errorf("%s: the refused release is not told:\n%s", line, v)
				}
			}
			var now, of int
			if _, after, found := strings.Cut(v, " slide "); found {
				fmt.Sscanf(after, "%d of %d", &now, &of) //nolint:errcheck // what doesn't fit is 0
			}
			if now < chapter || now > chapter+1 {
				t.Errorf("%s: from chapter %d to chapter %d of %d at %d", line, chapter, now, of, p.Pos)
			}
			chapter = now
			a.Press("enter")
			for p.scroll > 0 {
				a.Press("enter")
			}
		}
		for p.Pos > 0 {
			a.Press("pgup")
			back = append(back, p.Pos)
		}
		if slices.Reverse(back); !slices.Equal(on, back) {
			t.Errorf("%s: it goes on through %v and back through %v", line, on, back)
		}
		fails := slices.ContainsFunc(p.Run.Events, func(e trace.Event) bool { return e.Kind == trace.KindReleaseFailed })
		if fails != refused {
			t.Errorf("%s: the key has passed a refused release", line)
		}
	}
}

// Evidence leads back in time: at a violation the footer has its key, and from there each key that goes on, goes back or leaves leads to the slide.
func TestEvidenceLeadsBackToTheSlide(t *testing.T) {
	a, p, _ := open(t, 120, 40)
	a.Press("!")
	at := p.Pos
	if v := a.View(); !strings.Contains(v, "e its evidence") || strings.Contains(v, "back to the slide") {
		t.Fatalf("at the violation:\n%s", v)
	}
	for _, key := range []string{"enter", "pgup", "esc"} {
		a.Press("e")
		if v := a.View(); p.Pos >= at || !strings.Contains(v, "enter back to the slide  e next evidence") || !strings.Contains(v, "esc back to the slide") || strings.Contains(v, "esc end") {
			t.Errorf("at the evidence, %d of %d:\n%s", p.Pos, at, v)
		}
		if a.Press(key); p.Pos != at || p.leaving {
			t.Errorf("%s leads to %d, and not to %d:\n%s", key, p.Pos, at, a.View())
		}
	}
	if a.Press("left"); strings.Contains(a.View(), "e its evidence") {
		t.Errorf("before the violation:\n%s", a.View())
	}
	at = p.Pos
	if a.Press("e"); p.Pos != at || strings.Contains(a.View(), "which comes at") {
		t.Errorf("led back, a slide tells of what comes:\n%s", a.View())
	}
}

// Led back from the end, a slide has the evidence of the violation that it has come to last.
func TestEvidenceIsOfWhatHasCome(t *testing.T) {
	_, p := openOwn(t, lateTalk, "naive-del")
	a := tuitest.Open(t, 120, 50, p.App, p, nil)
	a.Press("G")
	seen := map[trace.Code]bool{}
	for p.Pos > 0 {
		a.Press("pgup")
		was, all := p.Pos, p.Run.Breaches
		a.Press("e")
		last := -1
		for i, b := range all {
			if b.Pos <= was && (last < 0 || all[last].Pos < b.Pos) {
				last = i
			}
		}
		if last < 0 && p.Pos != was || strings.Contains(a.View(), "evidence for") && !strings.Contains(a.View(), "evidence for "+all[max(last, 0)].Code.String()) {
			t.Errorf("slide at %d, evidence %d:\n%s", was, last, a.View())
		}
		if last >= 0 {
			seen[all[last].Code] = true
		}
		if p.InEvidence() {
			a.Press("esc")
		}
	}
	if len(seen) < 2 {
		t.Errorf("the run shows %v", seen)
	}
}

// The author's words for a step stand on the slide before it, as what comes next, and on those that show it: where the next words begin, and
// beside a violation that comes of it.
func TestWordsStayWhileTheirStepIsShown(t *testing.T) {
	_, p := openOwn(t, lateTalk, "naive-del")
	a := tuitest.Open(t, 120, 50, p.App, p, nil)
	first, second, last := "Anna takes the lock.", "Anna's machine stops.", "At 12 s Ben comes."
	for _, want := range [][]string{{"Next: " + first}, {first, "Next: " + second}, {second, "Next: At 12 s Ben comes."}} {
		v := tuitest.Unwrapped(a.View())
		for _, text := range want {
			if !strings.Contains(v, text) || strings.Contains(v, "Next: "+text) {
				t.Errorf("at %d no %q in\n%s", p.Pos, text, a.View())
			}
		}
		a.Press("enter")
	}
	for n := 0; len(p.Run.Breaches) > 0 && p.Pos != p.Run.Breaches[0].Pos; n++ {
		if a.Press("enter"); n > 20 {
			t.Fatalf("the violation never comes:\n%s", a.View())
		}
	}
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, last) || strings.Contains(v, "Next: "+last) || strings.Contains(v, "In progress") || strings.Index(v, last) > strings.Index(v, "!! OV: ") {
		t.Errorf("beside the violation no %q:\n%s", last, a.View())
	}
}

// At the end of the playlist the key that goes on leaves the last words where they are, also where they had to be scrolled to.
func TestTheEndStays(t *testing.T) {
	_, p := openOwn(t, lateTalk, "naive-del", "setpx-lua")
	a := tuitest.Open(t, 40, 9, p.App, p, nil)
	for n := 0; !p.ended(); n++ {
		if n > 200 {
			t.Fatalf("the playlist doesn't end:\n%s", a.View())
		}
		a.Press("enter")
		a.View() // it counts the lines without rows
	}
	if p.beyond == 0 {
		t.Fatal("the last words have rows without scrolling")
	}
	for range 3 {
		if a.Press("enter"); p.scroll != p.beyond || !strings.Contains(a.View(), "esc closes") {
			t.Fatalf("the end is gone:\n%s", a.View())
		}
	}
	if _, out := p.Update(tuitest.KeyMsg("esc")); !out.Close {
		t.Errorf("esc is said to close it:\n%s", a.View())
	}
}

// Where the script asks whose record five servers have, each has its row, and the choices of every question there are on the screen at once
// all the same.
func TestServersLeaveTheChoicesRoom(t *testing.T) {
	const talk = "title: x\nsetup:\n  clients: {A: {work: 3s}, B: }\nscript:\n  - say: A asks.\n  - {run: A, to: work}\n  - say: Three servers lose what they have.\n  - down: [n1, n2, n3]\n  - up: [n1, n2, n3]\n" +
		"  - say: B asks.\n  - {run: B, to: work}\n  - ask: Whose record is it?\n    answer: record\n  - run: all\n  - ask: What is the worst of it?\n    answer: verdict\n"
	a, p := openOwn(t, talk, "redlock")
	asked := map[string]bool{}
	for n := 0; !p.ended() && n < 50; n++ {
		if q := p.Quiz().Open(p.Pos); q != nil && !asked[q.Then] {
			asked[q.Then] = true
			v := tuitest.Unwrapped(a.View())
			for i, choice := range q.Choices {
				if line := fmt.Sprintf("%d %s", i+1, choice); !strings.Contains(v, line) || !strings.Contains(v, "n5 redis") {
					t.Errorf("%q has no %q, or n5 no row:\n%s", q.Then, line, v)
				}
			}
		}
		a.Press("enter")
	}
	if len(asked) != 2 {
		t.Errorf("asked: %v", asked)
	}
}

// A class is told that a fault of the script isn't made under a lock: it would take the run for one with that fault.
func TestUnmadeFaultIsTold(t *testing.T) {
	const talk = "title: x\nsetup: {replicas: 1}\nscript:\n  - {run: A, to: work}\n  - failover: {to: n1r1}\n  - say: B asks.\n  - {run: B, to: work}\n"
	for lock, told := range map[string]bool{"redlock": true, "setpx-lua": false} {
		_, p := openOwn(t, talk, lock)
		a := tuitest.Open(t, 120, 40, p.App, p, nil)
		said := false
		for n := 0; !p.ended() && n < 50; n++ {
			said = said || strings.Contains(a.View(), `The step at line 5 is not carried out as written under redlock: failover: there is no node "n1r1"`)
			a.Press("enter")
		}
		if said != told {
			t.Errorf("%s: told %t\n%s", lock, said, a.View())
		}
	}
}

// What a class has said and passed in a run stays when it comes back from the next one.
func TestReturnKeepsTheAnswers(t *testing.T) {
	a, p := openOwn(t, twoQuestions, "setpx-lua", "setnx")
	a.PressUntil("enter", "Question 1 of 2 here.")
	a.Press("1")
	a.PressUntil("enter", "Question 2 of 2 here.")
	a.Press("2")
	asked := p.Pos
	for p.at == 0 {
		a.Press("enter")
	}
	a.Press("pgup")
	if p.at != 0 || p.Pos != p.Run.Last() {
		t.Fatalf("run %d at %d:\n%s", p.at, p.Pos, a.View())
	}
	told := false
	for p.Pos > asked {
		told = told || strings.Contains(tuitest.Unwrapped(a.View()), "You said: ")
		if v := a.View(); strings.Contains(v, "Question passed") || strings.Contains(v, " predict") {
			t.Errorf("what was said is forgotten:\n%s", v)
		}
		a.Press("pgup")
	}
	if v := tuitest.Unwrapped(a.View()); !told || !strings.Contains(v, "You say: ") {
		t.Errorf("the answers are told: %v; at the question:\n%s", told, a.View())
	}
}

// What a class has said, and which of two questions at one instant it has come to, stay where a script's words change.
func TestChangedFileKeepsTheAnswers(t *testing.T) {
	a, p := openOwn(t, twoQuestions, "setpx-lua")
	a.PressUntil("enter", "Question 1 of 2 here.")
	a.Press("1")
	a.PressUntil("enter", "Question 2 of 2 here.")
	_, slide, _ := strings.Cut(a.View(), "slide ")
	at := time.Unix(3_000_001, 0)
	file := p.showings[0].Scenario.Path()
	if err := os.WriteFile(file, []byte(strings.Replace(twoQuestions, "B comes.", "Here comes B.", 1)), 0o600); err != nil || os.Chtimes(file, at, at) != nil {
		t.Fatal(err)
	}
	a.Fire()
	v := tuitest.Unwrapped(a.View())
	if !strings.Contains(v, "Question 2 of 2 here.") || !strings.Contains(v, "The file has changed") || !strings.Contains(a.View(), "slide "+slide[:3]) {
		t.Errorf("it stood at slide %s:\n%s", slide[:3], a.View())
	}
	a.PressUntil("enter", "You said:")
}

// A class is told that the script has changed, also if the verdict is the same; the place is kept by its words, and
// where it can't be, or where its question is gone, that is said.
func TestChangedFileKeepsThePlace(t *testing.T) {
	a, p := openOwn(t, lateTalk, "naive-del")
	file, version := p.showings[0].Scenario.Path(), 0
	edit := func(old, text string) string {
		t.Helper()
		version++
		at := time.Unix(int64(3_000_000+version), 0)
		if err := os.WriteFile(file, []byte(strings.Replace(lateTalk, old, text, 1)), 0o600); err != nil || os.Chtimes(file, at, at) != nil {
			t.Fatal(err)
		}
		a.Fire()
		return tuitest.Unwrapped(a.View())
	}
	a.PressUntil("enter", "? Later, at 12s: Who believes now")
	said, stood := p.Run.Said(p.Pos)[0].Text, p.Run.Now(p.Pos)
	v := edit("  - say: Anna takes the lock.\n", "  - say: Ben is held up.\n  - pause: Ben\n  - say: Anna takes the lock.\n")
	if got := p.Run.Said(p.Pos)[0].Text; got != said || p.Run.Now(p.Pos) != stood || !strings.Contains(v, "The file has changed: a new run.") || strings.Contains(v, "It stood") {
		t.Errorf("it stood at %v at %q and stands at %v at %q:\n%s", stood, said, p.Run.Now(p.Pos), got, v)
	}
	v = edit("  - ask: Who believes now that they have the lock?\n    answer: holders\n", "")
	if !strings.Contains(v, "The file has changed: a new run.") || !strings.Contains(v, "Its question is gone.") {
		t.Errorf("nothing says that the question is gone:\n%s", v)
	}
	edit("", "")
	a.Press("g")
	for p.Run.Now(p.Pos) < 12*time.Second {
		a.Press("enter")
	}
	if v = edit("until: 12s", "until: 14s"); !strings.Contains(v, "It stood at 12s, and now at 14s.") {
		t.Errorf("nothing says that the place has moved:\n%s", v)
	}
}

// A question that was passed is recalled in a line at the later stops, and takes an answer where it was asked.
func TestPassedQuestionIsRecalledInALine(t *testing.T) {
	a, p := openOwn(t, "title: Own\nscript:\n  - ask: What will come of this?\n    answer: verdict\n  - run: A\n  - say: Next.\n  - run: B\n", "naive-del")
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "1 nothing goes wrong") {
		t.Fatalf("no choices where it is asked:\n%s", a.View())
	}
	for p.Pos == 0 {
		a.Press("enter")
	}
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "? What will come of this? The run will tell.") || strings.Contains(v, "1 nothing goes wrong") || strings.Contains(v, "predict") {
		t.Errorf("at %d it is recalled otherwise:\n%s", p.Pos, a.View())
	}
	if a.Press("2"); !strings.Contains(tuitest.Unwrapped(a.View()), "further back: pgup leads there") {
		t.Errorf("nothing says where it takes an answer:\n%s", a.View())
	}
	a.Press("pgup")
	if a.Press("2"); !strings.Contains(tuitest.Unwrapped(a.View()), "You say: a client is refused without need") {
		t.Errorf("it takes no answer:\n%s", a.View())
	}
}

const twoLocks = `title: Own
setup: {retry: {tries: 1}}
script:
  - say: A takes the lock.
  - run: A
    to: release
  - say: A stalls.
  - until: 13s
  - run: B
    to: read
  - ask: Who believes then that they have it?
    answer: holders
  - ask: What does the plain lock's DEL do to the record?
    answer: record
    under: naive-del
  - say: A goes on.
  - run: A
  - ask: Whose record is left?
    answer: record
`

// The second run of a script asks nothing that the first has asked and answered alike; what has another answer is asked, and what is asked under one lock only is not
// asked under the other.
func TestSettledQuestionsAreNotAskedAgain(t *testing.T) {
	texts := func(p *Present) (all []string) {
		z := quiz.Of(p.Run)
		z.OnlyScript()
		z.Leave(p.Settled)
		for _, q := range z.All() {
			all = append(all, q.Then)
		}
		return all
	}
	a, p := openOwn(t, twoLocks, "naive-del", "setpx-lua")
	if got := texts(p); len(got) != 3 {
		t.Fatalf("the first run asks %q", got)
	}
	seen := ""
	for p.at == 0 {
		a.Press("enter")
	}
	if got := texts(p); len(got) != 1 || got[0] != "Whose record is left?" {
		t.Errorf("the second run asks %q", got)
	}
	for n := 0; n < 30 && p.Pos < p.Run.Last(); n++ {
		seen += tuitest.Unwrapped(a.View())
		a.Press("enter")
	}
	if strings.Contains(seen, "Who believes then") || strings.Contains(seen, "plain lock's DEL") || !strings.Contains(seen, "Whose record is left?") {
		t.Errorf("the second run shows\n%s", seen)
	}
	a, p = openOwn(t, twoLocks, "naive-del", "setpx-lua")
	for _, k := range []string{"end", "enter", "pgup", "home"} {
		a.Press(k)
	}
	if got := texts(p); p.at != 0 || len(got) != 3 {
		t.Errorf("who goes back to run %d is asked %q", p.at+1, got)
	}
}

// A choice that comes true and is not the worst is not marked as false.
func TestLesserHarmIsTrue(t *testing.T) {
	a, p := openOwn(t, "title: Own\nscript:\n  - say: A comes.\n  - run: A\n    to: read\n  - ask: What will come of this?\n    answer: verdict\n  - until: 13s\n  - run: B\n    to: read\n  - run: A\n", "naive-del")
	a.PressUntil("enter", "1 nothing goes wrong")
	a.Press("4")
	a.PressUntil("enter", "You said")
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "True, but not the worst: an update is lost") || strings.Contains(v, "✗ You said") {
		t.Errorf("%v:\n%s", p.Run.Verdict(), a.View())
	}
}

// What is for the author of a script is told to nobody, unless the key asks for it that the footer names; and in the runs that
// follow, until it is asked away.
func TestRehearsalTellsTheAuthor(t *testing.T) {
	const talk = "title: Own\nscript:\n  - say: A comes.\n  - run: A\n  - say: And once more.\n  - run: A\n    to: work\n  - say: That was it.\n  - run: all\n"
	const note = "never stands at"
	a, p := openOwn(t, talk, "naive-del", "setpx-lua")
	through := func() (all string) {
		for at := p.at; p.at == at; a.Press("enter") {
			if all += a.View(); p.ended() {
				break
			}
		}
		return all
	}
	if v := through(); strings.Contains(v, note) || !strings.Contains(v, "T author's notes") {
		t.Errorf("the room is told, or the key isn't named:\n%s", v)
	}
	chapter := regexp.MustCompile(`slide \d/\d`)
	told := chapter.FindString(tuitest.FirstLine(a.View()))
	if a.Press("T"); !strings.Contains(a.View(), "Rehearsal") || !strings.Contains(tuitest.FirstLine(a.View()), "rehearsal, run ") {
		t.Errorf("nothing is said:\n%s", a.View())
	}
	if got := chapter.FindString(tuitest.FirstLine(a.View())); got != told || got == "" {
		t.Errorf("in front of the room it is %s, and for the author %s", told, got)
	}
	if v := through(); strings.Count(v, note) == 0 || !strings.Contains(v, "T for the room") {
		t.Errorf("the author isn't told:\n%s", v)
	}
	a.Press("pgup pgup pgup T")
	if v := a.View(); strings.Contains(v, note) || strings.Contains(v, "T for the room") {
		t.Errorf("the room is told again:\n%s", v)
	}
}

// Whoever goes back sees at each stop what stood there on the way on, and nothing of what has come after it: a violation that
// is complete later is not told at an event that proves it.
func TestBackShowsWhatOnHasShown(t *testing.T) {
	for _, lock := range []string{"naive-del", "setpx-lua"} {
		a, p := openOwn(t, lateTalk, lock)
		on, between := map[int]string{}, 0
		for ; p.Pos < p.Run.Last(); a.Press("enter") {
			if e := p.Run.Event(p.Pos); p.scroll == 0 {
				on[p.Pos] = withoutFooter(a.View())
				if _, fresh := p.Run.Breached(p.Pos); e != nil && p.Run.Proves(e) && len(fresh) == 0 {
					between++
				}
			}
		}
		if between == 0 {
			t.Errorf("%s: the key stops at no event that proves what is complete only later", lock)
		}
		for a.Press("pgup"); p.Pos > 0; a.Press("pgup") {
			if v := withoutFooter(a.View()); v != on[p.Pos] {
				t.Errorf("%s, back at %d:\n%s\non the way on:\n%s", lock, p.Pos, v, on[p.Pos])
			}
		}
	}
}

// withoutFooter is a frame without the keys: those for a question's answers go once it is answered.
func withoutFooter(v string) string { return v[:strings.LastIndex(strings.TrimRight(v, "\n "), "\n")] }

// The digits that stand before the choices predict, as in the player; and whoever steps back from the answer by events has the
// question from its own instant on, and if it was passed, its choices there.
func TestDigitsPredict(t *testing.T) {
	const question, said = "? Later, at 12s: Who believes now", "Who believes now that they have the lock? Anna."
	for digit, judged := range map[string]string{"2": "You said: Anna. Right.", "3": "You said: Ben. It is: Anna.", "": said} {
		a, p := openOwn(t, lateTalk, "naive-del")
		a.PressUntil("enter", question)
		asked := p.Pos
		if !strings.Contains(a.View(), "1-4 predict") {
			t.Errorf("the footer lacks the keys:\n%s", a.View())
		}
		a.Press(digit)
		if v := a.View(); digit != "" && !strings.Contains(v, "You say: ") || strings.Contains(v, "Right") {
			t.Errorf("after %q:\n%s", digit, v)
		}
		if a.Press("enter"); !strings.Contains(a.View(), judged) || strings.Contains(a.View(), question) {
			t.Errorf("after %q no %q, or the question still:\n%s", digit, judged, a.View())
		}
		answered := p.Pos
		for a.Press("left"); p.Pos >= asked; a.Press("left") {
			if v := a.View(); !strings.Contains(v, question[2:]) || strings.Contains(v, "1 nobody") != (digit == "" && p.Pos == asked) || strings.Contains(v, judged) {
				t.Errorf("asked at %d, answered at %d; at %d:\n%s", asked, answered, p.Pos, v)
			}
		}
		if v := a.View(); answered <= asked+1 || strings.Contains(v, question) {
			t.Errorf("asked at %d, answered at %d, and at %d:\n%s", asked, answered, p.Pos, v)
		}
	}
}

// Where rows are few, a slide leaves out what the one before has told, so that a run with three kinds of violations takes few keys. Who has come
// there by another key is told all.
func TestSlideTellsWhatIsNew(t *testing.T) {
	all, err := scenarios.LoadPlaylist(playlist(t, "lesson pauses 1"))
	if err != nil {
		t.Fatal(err)
	}
	p := New(tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false)), all)
	a := tuitest.Open(t, 80, 24, p.App, p, nil)
	const check, closing = "No check in A, made just before the write", "A sleeps past its lease inside the critical section"
	last, keys := "", 0
	for ; !p.ended(); keys++ {
		last = tuitest.Unwrapped(a.View())
		a.Press("enter")
		a.View() // it counts the lines without rows
	}
	end := tuitest.Unwrapped(a.View())
	if keys > 10 || !strings.Contains(last, tuitest.Unwrapped(check)) || strings.Contains(end, tuitest.Unwrapped(check)) || !strings.Contains(end, tuitest.Unwrapped(closing)) {
		t.Errorf("after %d keys:\n%s", keys, a.View())
	}
	a.Press("left right end")
	if v := tuitest.Unwrapped(a.View()); p.beyond == 0 || !strings.Contains(v, tuitest.Unwrapped(check)) {
		t.Errorf("by events:\n%s", a.View())
	}
	a.Send(tea.WindowSizeMsg{Width: 200, Height: 60})
	if a.Press("pgup enter"); !strings.Contains(tuitest.Unwrapped(a.View()), tuitest.Unwrapped(check)) {
		t.Errorf("in a large window:\n%s", a.View())
	}
}

// What comes of an answer is in sight at once, also where the words before the question fill the window; there, the key leads to the choices first.
func TestAnswerIsInSight(t *testing.T) {
	talk := "title: Own\nscript:\n  - say: " + strings.Repeat("A and B ask for the lock in turn, and work. ", 40) + "\n  - ask: What will come of this?\n    answer: verdict\n  - run: A\n"
	a, p := openOwn(t, talk, "naive-del")
	if v := a.View(); strings.Contains(v, "? What will come of this?") {
		t.Fatalf("the question is in sight without scrolling:\n%s", v)
	}
	if a.Press("1"); strings.Contains(a.View(), "You say: ") || !strings.Contains(a.View(), "1 nothing goes wrong") {
		t.Errorf("the choices are not before the answer:\n%s", a.View())
	}
	if a.Press("1"); !strings.Contains(a.View(), "You say: ") {
		t.Errorf("presented:\n%s", a.View())
	}
	if a.Press("enter"); p.Pos == 0 {
		t.Errorf("enter doesn't go on from the answer:\n%s", a.View())
	}
	alone := player.New(p.App, p.Strategy, scenarioOf(p.Library, &p.showings[0]))
	a = tuitest.Open(t, 80, 24, p.App, alone, nil)
	if a.Press("1"); !strings.Contains(a.View(), "You say: ") {
		t.Errorf("in the player:\n%s", a.View())
	}
}

// While it is asked whose record there is, and where that is answered, each of several servers has its row.
func TestQuestionOfRecordsKeepsTheServersRows(t *testing.T) {
	a, p := openOwn(t, `title: Over
setup:
  clients: {A: {work: 5s}, B: }
  replicas: 1
  lag: 20ms
script:
  - say: A reads.
  - run: A
    to: read
  - say: The master dies.
  - down: n1
  - failover: {to: n1r1}
  - ask: Whose record is it?
    answer: record
  - say: B comes, and asks the new master for the lock, and we shall see what it does, and what comes of that in the end.
  - ask: What will come of it?
    answer: verdict
  - run: [A, B]
`, "setpx-lua")
	for _, want := range []string{"? At 2ms, after this step: Whose record is it?", "had not come to it by then."} {
		a.Press("enter")
		if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, want) || !strings.Contains(v, "n1r1 redis") || strings.Contains(v, "nodes n1") {
			t.Errorf("at %d:\n%s", p.Pos, a.View())
		}
	}
}

// Questions in a row are asked one after another where the words before them stand, answered one after another, and only then comes the
// violation that shows the answers. Words behind a question are told after it.
func TestEachQuestionIsAskedAndAnsweredByItself(t *testing.T) {
	a, p := openOwn(t, `title: Redis is full
setup:
  clients: {A: {work: 3s}, B: {work: 2s}}
script:
  - say: A reads.
  - run: A
    to: read
  - ask: What comes of a full Redis?
    answer: verdict
  - say: Redis throws the key away.
  - evict: n1
  - say: B comes.
  - run: B
    to: read
  - ask: Who believes?
    answer: holders
  - ask: Whose record is it?
    answer: record
  - run: [A, B]
`, "setpx-lua")
	const all = "What comes of a full Redis?|1 nothing goes wrong|Redis throws the key away.|The run will tell: What comes|B comes.|Asked before: |Question 1 of 2 here. |Question 2 of 2 here. |Who believes?|Whose record is it?|1 nobody|1 no client's record|A and B.|B's record.|!! DG: "
	at := -1
	for i, want := range []string{
		"What comes of a full Redis?|1 nothing goes wrong",
		"What comes of a full Redis?|1 nothing goes wrong|Redis throws the key away.|The run will tell: What comes",
		"Redis throws the key away.|B comes.|Question 1 of 2 here. |Who believes?|1 nobody",
		"Redis throws the key away.|B comes.|Question 2 of 2 here. |Whose record is it?|1 no client's record",
		"B comes.|Who believes?|A and B.",
		"What comes of a full Redis?|Who believes?|Whose record is it?|A and B.|B's record.|!! DG: ",
	} {
		a.Press("enter")
		v, before := tuitest.Unwrapped(a.View()), at
		at = p.Pos
		for _, text := range strings.Split(all, "|") {
			if is := strings.Contains(v, text); is != slices.Contains(strings.Split(want, "|"), text) {
				t.Errorf("after %d keys, at %d: %q is shown: %t\n%s", i+1, p.Pos, text, is, a.View())
			}
		}
		if stays := i == 1 || i == 3 || i == 5; (before == at) != stays {
			t.Errorf("key %d leads from %d to %d", i+1, before, at)
		}
	}
}

// A question that one key too many has passed is got back by one key, with its choices, and takes an answer then; and each key that goes on
// shows a slide with a number of its own.
func TestPassedQuestionComesBack(t *testing.T) {
	a, p := openOwn(t, "title: Own\nscript:\n  - say: B comes.\n  - run: B\n    to: work\n  - ask: Who believes?\n    answer: holders\n  - ask: Whose record is it?\n    answer: record\n  - say: A comes.\n  - run: A\n", "naive-del")
	number := regexp.MustCompile(`slide \d+/\d+`)
	seen := map[string]bool{}
	next := func(want string) {
		t.Helper()
		a.Press("enter")
		n := number.FindString(a.View())
		if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, want) || seen[n] {
			t.Errorf("%s, seen before: %t; no %q in\n%s", n, seen[n], want, a.View())
		}
		seen[n] = true
	}
	back := func(want string) {
		t.Helper()
		if a.Press("pgup"); !strings.Contains(tuitest.Unwrapped(a.View()), want) {
			t.Errorf("no %q in\n%s", want, a.View())
		}
	}
	asked := p.Pos
	next("Whose record is it? 1 no client's record")
	back("Who believes? 1 nobody")
	seen = map[string]bool{}
	next("Whose record is it? 1 no client's record")
	next("Who believes? B.")
	if p.Pos == asked {
		t.Fatalf("no answer:\n%s", a.View())
	}
	back("Whose record is it? 1 no client's record")
	a.Press("3")
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "You say: B's record.") {
		t.Errorf("it takes no answer:\n%s", a.View())
	}
	back("Who believes? 1 nobody")
}

// Who steps on by events from the first of two questions has that one before the room until it is answered or passed, and then the second.
func TestSecondQuestionWaits(t *testing.T) {
	const talk = "title: Own\nscript:\n  - say: B comes.\n  - run: B\n    to: work\n  - ask: Who believes?\n    answer: holders\n  - ask: Whose record is it?\n    answer: record\n  - run: A\n"
	for _, key := range []string{"2", "enter"} {
		a, p := openOwn(t, talk, "naive-del")
		a.Press("right right")
		at := p.Pos
		if v := tuitest.Unwrapped(a.View()); at != 2 || !strings.Contains(v, "Who believes?") || strings.Contains(v, "Whose record is it?") {
			t.Errorf("at %d:\n%s", at, a.View())
		}
		a.Press(key)
		if key == "2" { // whoever presses enter after an answer passes no question by it
			if v := tuitest.Unwrapped(a.View()); p.Pos != at || !strings.Contains(v, "Who believes? You say: ") || strings.Contains(v, "Whose record is it?") {
				t.Errorf("it doesn't stay at its answer:\n%s", a.View())
			}
			a.Press("enter")
		}
		if v := tuitest.Unwrapped(a.View()); p.Pos != at || !strings.Contains(v, "Whose record is it? 1 no client's record") {
			t.Errorf("%s: at %d:\n%s", key, p.Pos, a.View())
		}
		if said := strings.Contains(a.View(), "To question 1 of 2 here you say: "); said != (key == "2") {
			t.Errorf("%s: it is said what the room says to the first: %t\n%s", key, said, a.View())
		}
		if a.Press("enter"); p.Pos == at {
			t.Errorf("%s: it stays at %d:\n%s", key, at, a.View())
		}
	}
}

// Of two questions at one place the second is asked where the first one is answered, on a slide of its own, and the key that goes back
// leads from it to that answer.
func TestSecondQuestionIsAskedAfterTheFirstAnswer(t *testing.T) {
	a, p := openOwn(t, `title: Own
setup:
  clients: {A: , B: {work: 5s}}
script:
  - say: A reads.
  - run: A
    to: read
  - say: A is paused for longer than its lease.
  - until: 12s
  - run: B
    to: read
  - ask: Who believes?
    answer: holders
  - run: A
  - ask: Whose record is it?
    answer: record
  - run: B
`, "naive-del")
	const worst, record, answer = "Who believes? 1 nobody", "? Later, at 12.003s, after A's DEL: Whose record is it?", "Who believes? A and B."
	shown := func() (all []string) {
		for _, text := range []string{worst, record, answer} {
			if strings.Contains(tuitest.Unwrapped(a.View()), text) {
				all = append(all, text)
			}
		}
		return all
	}
	for i := 0; !slices.Equal(shown(), []string{worst}); i++ {
		if i == 20 {
			t.Fatalf("it is never asked:\n%s", a.View())
		}
		a.Press("enter")
	}
	for _, c := range []struct{ key, want string }{{"enter", answer}, {"enter", record}, {"pgup", answer}, {"enter", record}} {
		at := p.Pos
		a.Press(c.key)
		if got := strings.Join(shown(), "|"); got != c.want || strings.Contains(tuitest.Unwrapped(a.View()), "The run will tell") {
			t.Errorf("%s from %d to %d: %q instead of %q:\n%s", c.key, at, p.Pos, got, c.want, a.View())
		}
	}
}

// While a further question is to be answered at an instant nothing is said of who believes that it has the lock: that may be its answer.
func TestNextAnswerIsNotSaidBelowTheDiagram(t *testing.T) {
	a, _ := openOwn(t, `title: A sleeps longer than its lease
script:
  - say: A works.
  - run: A
    to: release
  - say: A sleeps.
  - wait: 12s
  - say: B comes.
  - run: B
    to: work
  - ask: Whose record is it?
    answer: record
  - ask: Who believes?
    answer: holders
  - run: A
`, "naive-del")
	const more, said = "Another question is answered here: enter goes on.", "A and B believe they hold it"
	answered := func(text string) bool { return strings.Contains(tuitest.Unwrapped(a.View()), text) }
	for i := 0; !answered("B's record."); i++ {
		if i == 20 {
			t.Fatalf("the first question is never answered:\n%s", a.View())
		}
		a.Press("enter")
	}
	if !answered(more) || answered(said) {
		t.Errorf("beside the first answer:\n%s", a.View())
	}
	if a.Press("enter"); answered(more) || !answered(said) || !answered("A and B.") {
		t.Errorf("beside the second one:\n%s", a.View())
	}
}

// The end of a run lists who held the lock when, where there is room.
func TestEndListsTheHolders(t *testing.T) {
	for _, h := range []int{40, 20} {
		a, p, _ := open(t, 120, h)
		for p.Pos < p.Run.Last() {
			if strings.Contains(a.View(), "who held the lock, up to ") {
				t.Fatalf("at event %d:\n%s", p.Pos, a.View())
			}
			a.Press("right")
		}
		v := a.View()
		holders := strings.Index(v, "who held the lock, up to ")
		if holders >= 0 != (h == 40) {
			t.Errorf("%d rows:\n%s", h, v)
		}
		if probe := strings.Index(v, "The probe is "); probe >= 0 && probe > holders { // it would be read as the point of the run
			t.Errorf("%d rows: what the probe is comes last:\n%s", h, v)
		}
	}
}

// After the last violation and the last words one key leads to the end: a release that fails then is not a slide of its own. What is in
// progress is not told beside the violation that has come of it, and the counter goes up to the last slide.
func TestTailIsOneKey(t *testing.T) {
	a, p := openOwn(t, `title: Own
setup:
  clients: {A: , B: {work: 5s}}
script:
  - say: A is paused between its GET and its DEL, and B comes.
  - run: A
    to: before release last
  - wait: 12s
  - run: B
    to: work
  - say: A goes on.
  - run: A
  - run: B
`, "get-then-del")
	for i := 0; p.Pos < p.Run.Told() || i == 0; i++ {
		a.Press("enter")
		if i == 20 {
			t.Fatalf("it doesn't get there:\n%s", a.View())
		}
	}
	if v := a.View(); !strings.Contains(v, "!! FR: ") || strings.Contains(v, "In progress") {
		t.Errorf("at the violation:\n%s", v)
	}
	if p.Run.NextRefusal(p.Pos, p.Run.Last()) == p.Run.Last() {
		t.Fatal("nothing fails after the violation")
	}
	a.Press("enter")
	var at, all int
	_, counter, _ := strings.Cut(a.View(), " slide ")
	if n, err := fmt.Sscanf(counter, "%d/%d", &at, &all); p.Pos != p.Run.Last() || n != 2 || at != all {
		t.Errorf("at %d of %d, %d/%d, %v:\n%s", p.Pos, p.Run.Last(), at, all, err, a.View())
	}
}

// A class isn't told by a key whether anything will break.
func TestNoKeyTellsWhatComes(t *testing.T) {
	for _, lock := range []string{"naive-del", "setpx-lua"} {
		_, p := openOwn(t, "title: T\nscript:\n  - {run: A, to: release}\n  - {wait: 11s}\n  - {run: B, to: work}\n  - {run: A, to: done}\n", lock)
		if slices.ContainsFunc(p.FooterKeys(), func(b key.Binding) bool { return b.Help() == p.Keys.Violation.Help() }) {
			t.Errorf("%s offers %s", lock, p.Keys.Violation.Help())
		}
	}
}

// The author's words go with their steps: none stands where its steps are over, nor beside the conclusion. The slide of the first foreign release
// has both events that prove it.
func TestWordsGoWithTheirSteps(t *testing.T) {
	list, err := scenarios.PlaylistOf("naive-del", "late-release")
	if err != nil {
		t.Fatal(err)
	}
	p := New(tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false)), list)
	a := tuitest.Open(t, 80, 24, p.App, p, nil)
	const second, ends = "B has another second of work to do.", "B's work ends, and it releases the lock."
	for at := 0; p.Pos < p.Run.Last(); at++ {
		v, now := tuitest.Unwrapped(a.View()), p.Run.Now(p.Pos)
		if stale := now > 16100*time.Millisecond && strings.Contains(v, second) || now > 18*time.Second && strings.Contains(v, ends); stale {
			t.Errorf("at %s:\n%s", now, a.View())
		}
		if strings.Contains(v, ends) && !strings.Contains(v, "Next: "+ends) && !strings.Contains(v, "In progress: "+ends) && !strings.Contains(v, "From 17.002s on: "+ends) {
			t.Errorf("at %s words of what has yet to happen are unmarked:\n%s", now, a.View())
		}
		if len(p.Run.Breaches) > 0 && p.Pos == p.Run.Breaches[0].Pos && (!strings.Contains(v, "[1] 12.001s #17 n1 B: SET") || !strings.Contains(v, "[2] 15.001s #26 n1 A: DEL")) {
			t.Errorf("without both events:\n%s", a.View())
		}
		if a.Press("enter"); at > 40 {
			t.Fatal("the end never comes")
		}
	}
	if v := tuitest.Unwrapped(a.View()); strings.Contains(v, second) || strings.Contains(v, ends) {
		t.Error(a.View())
	}
}

// The key that goes on turns the words by whole pages: no line is shown twice, and none is passed over.
func TestWordsTurnByPages(t *testing.T) {
	var words []string
	for i := range 160 {
		words = append(words, fmt.Sprintf("word%03d", i))
	}
	_, p := openOwn(t, "title: T\nscript:\n  - say: "+strings.Join(words, " ")+"\n  - run: A\n", "naive-del")
	a := tuitest.Open(t, 80, 24, p.App, p, nil)
	seen := map[string]int{}
	for pages := 0; p.Pos == 0; pages++ {
		for _, w := range regexp.MustCompile(`word\d+`).FindAllString(a.View(), -1) {
			seen[w]++
		}
		if a.Press("enter"); pages > 20 {
			t.Fatal("the words never end")
		}
	}
	for _, w := range words {
		if seen[w] != 1 {
			t.Errorf("%s is shown %d times", w, seen[w])
		}
	}
}
