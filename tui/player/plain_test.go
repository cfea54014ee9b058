package player

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/tui/events"
	"lockstep/tui/facts"
	"lockstep/tui/pane"
	"lockstep/tui/tuitest"
)

// plainRun is what a run's plain text says, read by its own rules and without
// the trace: the text is the witness that the panes are held to.
type plainRun struct {
	events  []plainEvent
	verdict string
}

type plainEvent struct {
	seconds, seq, actor, kind, text string
	said                            []string // by the script, just before it
	broke                           []string // codes of what it completed
	believers                       []string // after it, in the order of getting the lock
}

var plainLine = regexp.MustCompile(`^ *(\d+\.\d{6})  #(\d+) +(\S+) +(\S+) *(.*)$`)

// readPlain reads the text that --plain prints.
func readPlain(t *testing.T, tr *trace.Trace) plainRun {
	t.Helper()
	var b bytes.Buffer
	if err := tr.Plain(&b); err != nil {
		t.Fatal(err)
	}
	body, _, _ := strings.Cut(b.String(), "\nhash ")
	body, foot, found := strings.Cut(body, "\nverdict   ")
	if !found {
		t.Fatalf("no verdict in\n%s", b.String())
	}
	run := plainRun{}
	run.verdict, _, _ = strings.Cut(foot, "\n")
	var said []string
	var believers []string
	for _, l := range strings.Split(body, "\n") {
		last := len(run.events) - 1
		if f := plainLine.FindStringSubmatch(l); f != nil {
			e := plainEvent{seconds: f[1], seq: f[2], actor: f[3], kind: f[4], text: f[5], said: said}
			believers = believe(believers, &e)
			e.believers = slices.Clone(believers)
			run.events, said = append(run.events, e), nil
			continue
		}
		switch code, is := strings.CutPrefix(strings.TrimSpace(l), "!! "); {
		case is:
			code, _, _ = strings.Cut(code, " ")
			run.events[last].broke = append(run.events[last].broke, code)
		case strings.HasPrefix(l, "# "), strings.HasPrefix(l, "? "), strings.HasPrefix(l, "~ "):
			said = append(said, l[2:])
		case strings.HasPrefix(l, "  ") && len(said) > 0:
			said[len(said)-1] += "\n" + l[2:]
		}
	}
	return run
}

// believe follows who thinks that he has the lock: from being told so until he
// begins to give it back, or dies.
func believe(who []string, e *plainEvent) []string {
	switch e.kind {
	case "granted":
		return append(who, e.actor)
	case "release", "crash", "acquire":
		return slices.DeleteFunc(who, func(s string) bool { return s == e.actor })
	}
	return who
}

// Everything that the player shows of a run is in the run's plain text, and
// stands there at the same event.
func TestPanesSayWhatPlainSays(t *testing.T) {
	for i, cell := range [][2]string{
		{"setpx-lua", "pause-past-ttl"}, {"get-then-del", "release-gap"}, {"timestamp-del", "takeover-race"}, {"getset-expired", "loser-lowers-stamp"},
		{"redlock", "restart-no-fsync"}, {"setnx", "crash-holding"}, {"fenced", "pause-past-ttl"}, {"redlock-strict-errors", "minority-down"},
	} {
		if !testenv.Some(i, testenv.Quick(4, 2)) {
			continue
		}
		t.Run(cell[0]+"-"+cell[1], func(t *testing.T) {
			a, p := openRun(t, 200, 60, cell[0], cell[1])
			run := readPlain(t, p.Run.Trace)
			if len(run.events) != p.Run.Last() {
				t.Fatalf("%d events in plain, %d in the player", len(run.events), p.Run.Last())
			}
			var broken []string
			checkSaid(t, p, run.events[0].said)
			for i := range run.events {
				a.Press("right")
				if i+1 < len(run.events) { // what stands before the next event is told now
					checkSaid(t, p, run.events[i+1].said)
				}
				broken = append(broken, run.events[i].broke...)
				comparePanes(t, a, p, &run.events[i], broken)
				compareTrace(t, p, run.events[:i+1])
			}
			if _, codes, _ := strings.Cut(tuitest.FirstLine(a.View()), "!! "); run.verdict != "ok" && !strings.HasPrefix(strings.Replace(codes, "~ ", "", 1), run.verdict) {
				t.Errorf("the verdict is %s, the header says %q", run.verdict, codes)
			}
		})
	}
}

// comparePanes holds every pane to what plain says of the event at the cursor.
func comparePanes(t *testing.T, a *tuitest.App, p *Player, e *plainEvent, broken []string) {
	t.Helper()
	fail := func(pane, format string, args ...any) {
		t.Helper()
		t.Fatalf("#%s, %s: %s\n%s", e.seq, pane, fmt.Sprintf(format, args...), a.View())
	}
	status := tuitest.Unwrapped(tuitest.LineText(pane.StatusLine(p.Run, p.Pos, true)))
	_, joint := pane.Actor(p.Run, p.Run.Event(p.Pos)) // plain has two columns
	if want := tuitest.Unwrapped(e.actor + joint + e.text); !strings.HasSuffix(status, want) || !strings.Contains(status, "#"+e.seq+" of") {
		fail("status", "says %q, plain %q", status, want)
	}
	told := tuitest.Unwrapped(tuitest.LinesText(p.Narration(1000, 1000)))
	for _, code := range e.broke {
		if !strings.Contains(told, " "+code+": ") { // after the sign of a failure or of a mild one
			fail("narration", "does not tell of %s", code)
		}
	}
	checkHolders(t, p, e, fail)
	head := tuitest.FirstLine(a.View())
	for _, code := range broken {
		if !slices.Contains(strings.Fields(head), code) {
			fail("header", "does not say that %s is broken", code)
		}
	}
	if len(broken) == 0 && strings.Contains(head, "!!") {
		fail("header", "says that something is broken")
	}
}

// compareTrace holds the trace pane, as far as it would reach on a tall screen, to
// plain's lines.
func compareTrace(t *testing.T, p *Player, all []plainEvent) {
	t.Helper()
	const tall = 30
	var want, got []string
	for _, e := range all[max(len(all)-tall, 0):] {
		want = append(want, tuitest.Unwrapped(fmt.Sprintf("%s #%s %s %s %s", e.seconds, e.seq, e.actor, e.kind, e.text)))
		for _, code := range e.broke {
			c, _ := trace.ParseCode(code)
			want = append(want, pane.SignOf(c)+" "+code)
		}
	}
	for _, row := range events.Rows(p.Run, p.Pos, tall, 0, p.find.Keeps) {
		l := tuitest.Unwrapped(tuitest.LineText(row.Line(p.Run, p.Theme, 1000, 0, false)))
		if row.Breaks() {
			l = strings.Join(strings.Fields(l)[:2], " ")
		}
		got = append(got, strings.TrimSpace(l))
	}
	want = want[len(want)-len(got):]
	if !slices.Equal(got, want) {
		t.Fatalf("at %d the trace shows\n%s\nplain\n%s", p.Pos, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// checkSaid holds the narration to what the script says before the next event.
func checkSaid(t *testing.T, p *Player, said []string) {
	t.Helper()
	told := tuitest.Unwrapped(tuitest.LinesText(p.Narration(1000, 1000)))
	for _, s := range said {
		if !strings.Contains(told, tuitest.Unwrapped(s)) {
			t.Fatalf("at %d: plain says %q, the narration\n%s", p.Pos, s, told)
		}
	}
}

// checkHolders holds the sentence on the holders, the believers' strip and the
// state pane to who believes by plain's account.
func checkHolders(t *testing.T, p *Player, e *plainEvent, fail func(string, string, ...any)) {
	t.Helper()
	if got := p.Run.Moments[p.Pos].Believers; got != len(e.believers) {
		fail("believers", "counts %d, plain %v", got, e.believers)
	}
	l, _ := pane.Holders(p.Run, p.Pos, p.State, 80)
	said := tuitest.LineText(l)
	damaged := slices.Contains(e.broke, "SW") // then it says what was done
	for _, name := range e.believers {
		if !damaged && !strings.Contains(said, name) {
			fail("holders", "%q does not name %s", said, name)
		}
	}
	if !damaged && len(e.believers) > 1 != (strings.Contains(said, " believe") || strings.Contains(said, " claim it; ")) {
		fail("holders", "%q, but %v believe", said, e.believers)
	}
	live, inside := 0, 0
	for _, c := range p.State.Clients {
		if c.Lease.Live {
			live++
		}
		if c.Lease.Inside {
			inside++
		}
	}
	loud := regexp.MustCompile(`!! [A-Z0-9 +()]+ !!`).MatchString(said)
	if clash := live > 1 || inside > 1; clash && !loud || loud && !clash && len(e.broke) == 0 {
		fail("holders", "%q, with %d leases and %d inside", said, live, inside)
	}
	state := facts.Lines(p.Run, p.Pos, p.previous, p.State)
	shown := 0
	for _, l := range state {
		if strings.HasPrefix(tuitest.LineText(l), "    believes; ") {
			shown++
		}
	}
	if shown != len(e.believers) {
		fail("state", "%d believe, plain %v", shown, e.believers)
	}
}
