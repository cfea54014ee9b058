package present

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/timeline"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// crowd is a script in which many clients stand on one line.
const crowd = `title: Many
setup:
  clients: [alpha, beta, gamma, delta, epsilon, zeta]
  retry: {tries: 1}
script:
` + "  - {run: alpha, to: after acquire first}\n  - {run: beta, to: after acquire first}\n  - {run: gamma, to: after acquire first}\n" +
	"  - {run: delta, to: after acquire first}\n  - {run: epsilon, to: after acquire first}\n  - {run: zeta, to: after acquire first}\n"

// The line of code from which the event comes is on the screen as a whole, however narrow and low the pane is, and however
// many clients stand on it.
func TestTheLineOfTheEventIsWhole(t *testing.T) {
	squeezed := func(s string) string {
		return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "//", " ").Replace(s)), "")
	}
	lines := 0
	for _, list := range []string{"redlock stampede", "setpx-lua mine.yaml"} {
		file := playlist(t, list)
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "mine.yaml"), []byte(crowd), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := scenarios.LoadPlaylist(file)
		if err != nil {
			t.Fatal(err)
		}
		lib := screen.NewLibrary()
		lib.Include(strategies.Strategy{}, all.Showings[0].Scenario)
		for _, size := range [][2]int{{40, 16}, {80, 24}, {120, 30}} {
			app := tuitest.RealApp(lib, tuitest.PlainTheme(false))
			p := New(app, all)
			a := tuitest.Open(t, size[0], size[1], app, p, nil)
			for a.Press("s"); p.Pos < min(p.Run.Last(), 60); a.Press("right") {
				e := p.Run.Event(p.Pos)
				if e == nil {
					continue
				}
				text, known := strategies.Text(strings.TrimPrefix(e.Source.File, "strategies/"))
				if !known {
					continue
				}
				lines++
				line, pane := strings.Split(text, "\n")[e.Source.Line-1], ""
				if toCome(p) { // its comment waits
					line, _, _ = strings.Cut(line, " // ")
				}
				for _, row := range strings.Split(a.View(), "\n") {
					if cells := []rune(row); size[0] >= besideFrom && len(cells) > size[0]/2 {
						row = string(cells[size[0]/2:])
					}
					pane += row + " "
				}
				if !strings.Contains(squeezed(pane), squeezed(line)) {
					t.Errorf("%s, %v, event %d: not the whole of %q:\n%s", list, size, p.Pos, line, a.View())
				}
			}
		}
	}
	if lines < 50 {
		t.Errorf("only %d events come from a line", lines)
	}
}

// toCome reports whether a run still has answers to questions before it: those of its script, if that asks any.
func toCome(p *Present) bool {
	all := p.Run.Questions()
	scripts := slices.ContainsFunc(all, func(q timeline.Question) bool { return q.Script })
	return slices.ContainsFunc(all, func(q timeline.Question) bool { return q.Script == scripts && q.Until > p.Pos })
}

// The comments of the code can tell the answer to a question: they wait for the last answer, in any window, and the code stays. On the
// slide with the title there is none.
func TestCommentsWaitForTheAnswer(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		a, p, _ := open(t, size[0], size[1])
		code := func() bool { return strings.Contains(a.View(), "source: strategies/") }
		if code() {
			t.Errorf("%v: at the beginning:\n%s", size, a.View())
		}
		a.Press("s")
		asked, told := 0, 0
		for p.Pos < p.Run.Last() {
			a.Press("right")
			v := a.View()
			_, pane, shown := strings.Cut(v, "source: strategies/")
			if !shown {
				t.Fatalf("%v: no code at event %d:\n%s", size, p.Pos, v)
			}
			open := toCome(p)
			if waits := strings.Contains(pane, ", without comments"); waits != open {
				t.Fatalf("%v: at event %d, to be asked: %t:\n%s", size, p.Pos, open, v)
			}
			comments := strings.Contains(pane, "// ")
			if open && comments {
				t.Errorf("%v: a comment before the last answer, at event %d:\n%s", size, p.Pos, v)
			}
			asked, told = asked+draw.Either(open, 1, 0), told+draw.Either(comments, 1, 0)
		}
		if asked == 0 || told == 0 {
			t.Errorf("%v: asked at %d events, comments at %d", size, asked, told)
		}
	}
}

// The comment that heads a file says how its lock fails: it comes when every question has its answer, and not before.
func TestTheHeadCommentTellsNoAnswer(t *testing.T) {
	a, p, _ := open(t, 200, 60)
	a.Press("s")
	until := 0
	for _, q := range p.Run.Questions() {
		if q.Script { // it is asked nothing else
			until = max(until, q.Until)
		}
	}
	if until == 0 {
		t.Fatal("nothing is asked")
	}
	for p.Pos < until {
		if v := a.View(); strings.Contains(v, "a holder that overruns") || !strings.Contains(v, "type NaiveDel struct") {
			t.Fatalf("event %d:\n%s", p.Pos, v)
		}
		a.Press("right")
	}
	if v := a.View(); !strings.Contains(v, "nobody asks for it") {
		t.Errorf("nothing is left to ask, and the comment is not there:\n%s", v)
	}
}

// No window shows the code without being asked, and the key is in the footer; a window with room for it has it beside the words, below a
// diagram as wide as the window.
func TestRoomyWindowsKeepTheDiagram(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, p, _ := open(t, size[0], size[1])
		a.Press("!")
		if v := a.View(); strings.Contains(v, "source: strategies/") || !strings.Contains(v, "s code") {
			t.Errorf("%v:\n%s", size, v)
		}
		roomy := size[0] == 200
		if a.Press("s"); !strings.Contains(a.View(), "source: strategies/naive_del.go") || roomy && !strings.Contains(a.View(), "▸A    return l.rdb.Del(ctx, l.key).Err()") {
			t.Errorf("%v, with the code:\n%s", size, a.View())
		}
		l := arrange(size[0], size[1]-1, wishes{told: 9, code: p.showsCode, diagram: func(rows int) int { return 15 }})
		if roomy && (l.diagram.W != size[0] || l.code.X < l.told.X+l.told.W || l.code.Y < l.diagram.Y+l.diagram.H || l.code.X+l.code.W != size[0]) {
			t.Errorf("%v: %+v", size, l)
		}
		a.Press("s")
		if v := a.View(); strings.Contains(v, "source: ") {
			t.Errorf("%v, after the second key:\n%s", size, v)
		}
	}
}
