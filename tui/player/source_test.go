package player

import (
	"regexp"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/trace"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// The variants of Redlock release with Redlock's own code, which is in another
// file than their Acquire: the pane shows the file that sent the command, with
// its line lit.
func TestSourcePaneFollowsTheEventToItsFile(t *testing.T) {
	a, p := openRun(t, 200, 60, "redlock-no-elapsed", "late-release")
	files := map[string]int{}
	for i := range p.Run.Trace.Events {
		e := &p.Run.Trace.Events[i]
		file, is := strings.CutPrefix(e.Source.File, "strategies/")
		if !is || e.Kind != trace.KindSend {
			continue
		}
		p.goTo(i + 1)
		files[file]++
		_, code, _ := strings.Cut(a.View(), "source: strategies/")
		if strings.Fields(code)[0] != file {
			t.Fatalf("event %d is of %s, and the pane shows %.30s", e.Seq, file, code)
		}
		if text := strings.TrimSpace(p.code[file][e.Source.Line-1]); !strings.Contains(code, text[:min(len(text), 40)]) {
			t.Fatalf("event %d: line %d of %s is not in sight", e.Seq, e.Source.Line, file)
		}
	}
	if files["redlock.go"] == 0 || files["redlock_no_elapsed.go"] == 0 {
		t.Errorf("commands of %v", files)
	}
	a.Send(tea.WindowSizeMsg{Width: 80, Height: 24})
	a.CheckFrame("source")
}

// A lock in another process has no code to show, and the pane says so.
func TestNoSource(t *testing.T) {
	app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	lock := app.Library.Strategy("setpx-lua")
	app.Library.Strategies[lock].File = ""
	a := tuitest.Open(t, 200, 60, app, New(app, lock, app.Library.Named("late-release")), nil)
	if v := a.View(); !strings.Contains(v, "source: not known") || !strings.Contains(v, "its code isn't known here") {
		t.Error(v)
	}
}

// scriptAside is the end of the script, and the mark below it.
var scriptAside = regexp.MustCompile("(?m)`\\) *$\n.*… *$")

// loneBrace is the end of a function whose lines are left out, and twoRanges the lines of the script and those below it.
var loneBrace, twoRanges = regexp.MustCompile(`(?m)… *$\n.* {4}} *$`), regexp.MustCompile(`lines 29 to 33 and \d+ to \d+`)

// Without colour, too, the pane shows at which line the event is: with a pointer, the Lua script that runs there above it, and
// no line cut. Of what a client does outside of the lock's code it says so.
func TestSourcePaneSaysWhereTheClientStands(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		a, p := openRun(t, size[0], size[1], "setpx-lua", "pause-past-ttl")
		if size[0] == 80 {
			a.Press("s")
		}
		seen := map[trace.Kind]bool{}
		for i := range p.Run.Trace.Events {
			e := &p.Run.Trace.Events[i]
			p.goTo(i + 1)
			v := a.View()
			caller := strings.Contains(v, "is in its caller's code now")
			switch e.Kind {
			case trace.KindRead, trace.KindWrite:
				if !caller {
					t.Errorf("%v, event %d is of no line of the lock:\n%s", size, e.Seq, v)
				}
			case trace.KindSend:
				if caller || e.Args[0] == "evalsha" && (!strings.Contains(v, `redis.call("DEL", KEYS[1])`) || !strings.Contains(v, "compareAndDelete.Run(")) {
					t.Errorf("%v, event %d:\n%s", size, e.Seq, v)
				}
				if e.Args[0] == "evalsha" && !strings.Contains(v, p.Theme.Pointer+p.Run.Clients[e.Client][:1]+"    deleted, err := ") {
					t.Errorf("%v, event %d: no pointer at its line:\n%s", size, e.Seq, v)
				}
				if e.Args[0] == "evalsha" && (loneBrace.MatchString(v) || !twoRanges.MatchString(v)) {
					t.Errorf("%v, event %d: a lone brace, or not the lines that are shown:\n%s", size, e.Seq, v)
				}
				if e.Args[0] == "evalsha" && !scriptAside.MatchString(v) {
					t.Errorf("%v, event %d: no mark where lines are left out below the script:\n%s", size, e.Seq, v)
				}
			}
			seen[e.Kind] = true
		}
		if !seen[trace.KindWrite] || !seen[trace.KindSend] {
			t.Error("the run shows too little")
		}
	}
}

// While it is asked what comes of a command that is still to be sent, the pane shows the line that will send it.
func TestSourcePaneShowsTheLineThatIsAskedOf(t *testing.T) {
	const lock, line = "naive-del", "return l.rdb.Del("
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, p := openRun(t, size[0], size[1], lock, "late-release")
		for _, q := range p.quiz.All() {
			if q.Script {
				p.goTo(q.Pos)
			}
		}
		if size[0] < 200 {
			a.Press("s")
		}
		v := a.View()
		if !strings.Contains(v, "? is the line of A's ") || !regexp.MustCompile(`(?m)\? .*`+regexp.QuoteMeta(line)).MatchString(v) {
			t.Errorf("%s, %v:\n%s", lock, size, v)
		}
		p.goTo(p.Pos + 5)
		if v := a.View(); strings.Contains(v, "? is the line") {
			t.Errorf("%s, %v: after the answer\n%s", lock, size, v)
		}
	}
}
