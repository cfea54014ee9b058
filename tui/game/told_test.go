package game

import (
	"fmt"
	tea "github.com/charmbracelet/bubbletea"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/levels"
	"lockstep/tui/progress"
	"lockstep/tui/tuitest"
)

// What a win has shown is brief until one reads on, which a key of the footer does, and that the goal is reached stays in sight however
// far. What becomes of the run in the end is at no instant of the reader's own, and its codes are explained, the other lock's as well.
func TestGoalReachedStaysInSight(t *testing.T) {
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	win(t, a, s)
	if v := a.View(); !strings.Contains(v, "Enter goes on to level 4, Decided by an old reading; ↓ tells more") || strings.Contains(v, "The same moves with") || !strings.Contains(v, "A!    won, err") {
		t.Errorf("the words of the win aren't brief, or don't say what comes next:\n%s", v)
	}
	if v := a.View(); !strings.Contains(strings.SplitN(v, "\n", 2)[0], "!! permanent deadlock (PD) FN") {
		t.Errorf("the title has a code without its name:\n%s", v)
	}
	a.Press("down")
	read := ""
	for n := 0; ; n++ {
		v := a.View()
		for _, want := range []string{"GOAL REACHED! Level 3 of 14: a permanent deadlock (PD).", " in the end  a test client asks 3 times, the last time ten years later", "↑↓ scroll", "enter level 4 ", "g restart"} {
			if !strings.Contains(v, want) {
				t.Errorf("after %d lines there is no %q:\n%s", n, want, v)
			}
		}
		read += v
		if s.scroll == s.beyond {
			break
		}
		a.Press("down")
	}
	last := -1
	for _, want := range []string{"!! Nobody holds the lock", "A sent nothing more after this line (setnx_expire.go:43):", "Another lock, naive-del (SET NX PX with a unique token, DEL", "A client that hears nothing", "You made 5 moves, as few as the best found.", "Enter goes on to level 4",
		"You matched the best found: 5 moves", "1 fault. Hints", "The same moves with"} {
		at := strings.Index(read, want)
		if at < last {
			t.Errorf("%q comes too early, or not at all:\n%s", want, read)
		}
		last = at
	}
	for _, want := range []string{"those with naive-del also led to bounded blocking (BD)"} {
		if !strings.Contains(tuitest.Unwrapped(read), want) {
			t.Errorf("no %q in\n%s", want, read)
		}
	}
	if !strings.Contains(s.Help().About, "The probe is a client") || strings.Contains(read, "The probe is a client") {
		t.Error("who the probe is isn't in the help, or among the words of the win")
	}
	for range s.beyond + 1 {
		a.Press("up")
	}
	if v := a.View(); s.unfolded || !strings.Contains(v, "↓ tells more") {
		t.Errorf("the way up doesn't fold the words:\n%s", v)
	}
	if a.Press("g"); s.here.Depth != 0 || s.won() {
		t.Error("g doesn't begin again")
	}
}

// What broke stands right below the news of a win, and what the level teaches below that, above the diagram and the code, and the codes of the title are explained there.
func TestWinIsExplainedBesideTheNews(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, s := openLevelIn(t, size[0], size[1], tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
		win(t, a, s)
		rows := strings.Split(a.View(), "\n")
		at := slices.IndexFunc(rows, func(l string) bool { return strings.Contains(l, "✓ GOAL REACHED!") })
		if at < 0 || at > 5 || !strings.Contains(rows[at+1], "!! Nobody holds the lock") || !strings.Contains(strings.Join(rows[at:at+9], "\n"), "A client that hears nothing gives up") {
			t.Errorf("%v: the news is in row %d, and what broke or the lesson not below it:\n%s", size, at, strings.Join(rows, "\n"))
		}
		if a.Press("down down down"); !strings.Contains(tuitest.Unwrapped(a.View()), "Not asked for here: your moves also led to a false refusal (FN)") {
			t.Errorf("%v: FN is in the title alone:\n%s", size, a.View())
		}
	}
}

// The line that broke the lock is marked in the code of the client that ran it, and of no other.
func TestOnlyOneClientBreaksIt(t *testing.T) {
	a, s := openLevelIn(t, 120, 40, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	win(t, a, s)
	if v := a.View(); strings.Count(v, "A!    won, err := setNX") != 1 || strings.Count(v, "!    won") != 1 {
		t.Errorf("not one mark:\n%s", v)
	}
}

// A level says its goal and its rules in words, the length of a lease among them.
func TestRulesAreInWords(t *testing.T) {
	testenv.LongRaced(t)
	for i, l := range scenarios.Levels() {
		if !testenv.Some(i, 3) {
			continue
		}
		a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), l.Name())
		v := tuitest.Unwrapped(a.View())
		lease := "A lock lasts 12s (its lease)."
		switch {
		case s.cfg.Strategy.NoTTL:
			lease = "Records don't expire."
		case l.Goal == trace.PD:
			lease = "The TTL is 12s."
		case l.Faults == explore.Duplicate, l.Faults == explore.ReplyLost:
			lease = "" // what is sought takes no time
			if strings.Contains(v, "12s") {
				t.Errorf("%s has a lease, which leads nowhere:\n%s", l.Name(), a.View())
			}
		}
		for _, want := range []string{"Goal: " + l.Goal.Named() + " (" + l.Goal.String() + ")", "Allowed: 1 ", "Each client asks once.", lease} {
			if !strings.Contains(v, want) {
				t.Errorf("%s: no %q in\n%s", l.Name(), want, a.View())
			}
		}
		if l.Goal == trace.PD && !strings.Contains(v, deadlock) {
			t.Errorf("%s: it isn't said what a deadlock is:\n%s", l.Name(), a.View())
		}
		wide, _ := openLevelIn(t, 200, 60, tuitest.PlainTheme(false), l.Name())
		if !strings.Contains(tuitest.Unwrapped(wide.View()), l.Goal.String()+"): "+levels.Meaning(l.Goal)) {
			t.Errorf("%s: in a wide window its goal has no meaning:\n%s", l.Name(), wide.View())
		}
		list := tuitest.Open(t, 80, 24, s.App, s.Levels(), nil).View()
		if !strings.Contains(tuitest.Unwrapped(list), "Goal: "+l.Goal.Named()+" ("+l.Goal.String()+"): "+levels.Meaning(l.Goal)) {
			t.Errorf("the list doesn't say the goal of %s:\n%s", l.Name(), list)
		}
		if strings.Contains(list, s.Theme.Write) {
			t.Errorf("the level that is open looks as if it were won:\n%s", list)
		}
	}
}

// A hint leaves something to find; asked for again, it gives the move away.
func TestFirstHintIsInWords(t *testing.T) {
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	for _, want := range []string{"what if A never hears what its command did?", "what happens by itself if you let time pass?", "A waits for a reply that won't come."} {
		at := s.at
		if a.Press("i"); !strings.HasPrefix(s.Notice, "Hint: "+want) || s.at != at {
			t.Errorf("at move %d, the first hint is %q, with the cursor at %d", at, s.Notice, s.at)
		}
		if a.Press("i"); strings.Contains(s.Notice, "again") || !strings.Contains(s.Notice, s.options[s.at].name) {
			t.Errorf("the second hint is %q", s.Notice)
		}
		a.Press("enter")
	}
}

// A hint is for the position in which it was asked for: looking at the list leaves it there, and it goes with any way to another
// position, be that by a key or not, and while the moves are replayed.
func TestHintGoesWithItsPosition(t *testing.T) {
	shown := func(v string) bool { return strings.Contains(v, " Hint: ") }
	for _, keys := range []string{"enter", "u", "g", "2", "space"} {
		a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
		a.Press("1 i")
		if a.Press("down up"); !shown(a.View()) {
			t.Errorf("the hint goes while one looks for its move:\n%s", a.View())
		}
		if a.Press(keys); shown(a.View()) {
			t.Errorf("after %s the hint is there still:\n%s", keys, a.View())
		}
		if a.Press("down"); keys != "space" && shown(a.View()) {
			t.Errorf("after %s and a look at the list the hint is back:\n%s", keys, a.View())
		}
		if s.goTo(s.root); s.Notice != "" || s.advice != "" {
			t.Errorf("at the beginning it says %q", s.Notice)
		}
	}
	_, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	s.advise("Hint: this.")
	if s.try(s.options[0]); s.Notice != "" {
		t.Errorf("a move that no key makes leaves %q", s.Notice)
	}
}

// A first hint is a thought: it repeats no row of the list, however few there are, and is whole in the least window.
func TestFirstHintIsAThought(t *testing.T) {
	testenv.LongRaced(t)
	for i, l := range scenarios.Levels() {
		if !testenv.Some(i+2, testenv.Quick(10, 5)) {
			continue
		}
		a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), l.Name())
		for range 40 {
			if s.won() {
				break
			}
			a.Press("i")
			if len(s.options) == 1 { // a riddle about the one move would be none
				if s.Notice != "Hint: "+s.options[0].name+"." {
					t.Errorf("%s: of the one move there is it is said: %q", l.Name(), s.Notice)
				}
				a.Press("enter")
				continue
			}
			if !strings.HasSuffix(s.Notice, " i again names the move.") || !strings.Contains(a.View(), s.Notice) {
				t.Errorf("%s: the first hint is %q, and the screen\n%s", l.Name(), s.Notice, a.View())
			}
			for _, o := range s.options {
				if strings.Contains(s.Notice, o.name) {
					t.Errorf("%s: the first hint names the move: %q", l.Name(), s.Notice)
				}
			}
			a.Press("i enter")
		}
	}
}

// After moves that gained nothing a hint says first that they can be taken back, and how many; asked again, it goes on from
// there. Taking them back restores the least way.
func TestHintSaysThatADetourCanBeUndone(t *testing.T) {
	testenv.Long(t)
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "timestamp-del.DG.crash")
	for detour := 1; detour <= 2; detour++ {
		letPass(a, s, time.Second) // nobody has begun
		want := draw.Either(detour == 1, "your last move gained nothing; u takes it back, i again goes on.", "your last 2 moves gained nothing; u takes one back, i again goes on.")
		if a.Press("i"); !strings.Contains(s.Notice, want) || !strings.Contains(a.View(), want) {
			t.Errorf("after %d moves that gained nothing it says %q\n%s", detour, s.Notice, a.View())
		}
		if a.Press("i"); strings.Contains(s.Notice, "gained nothing") || !strings.HasPrefix(s.Notice, "Hint: ") {
			t.Errorf("asked again, it says %q", s.Notice)
		}
	}
	a.Press("u u")
	win(t, a, s)
	if s.here.Depth != s.parMoves {
		t.Errorf("won with %d moves, and the least way has %d", s.here.Depth, s.parMoves)
	}
}

// Before the first move, and on a way that leads on, nothing is said that sounds like a mistake.
func TestNothingSoundsLikeAMistake(t *testing.T) {
	for _, l := range []string{"setnx-expire.PD.crash", "setnx-expire.PD.reply-lost"} {
		a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), l)
		if v := a.View(); strings.Contains(v, "ut of reach") || strings.Contains(v, s.withstands) {
			t.Errorf("%s: before any move it speaks of moves, or of another lock:\n%s", l, v)
		}
	}
}

// The game goes on with the level that was played last; once that is won, with the next one. A look at a level begins
// nothing.
func TestGameGoesOnWhereItWasLeft(t *testing.T) {
	app := tuitest.RealApp(tuitest.LocksOnly(), tuitest.PlainTheme(false))
	if n := levels.Next(app); n != 0 {
		t.Errorf("at first it is level %d", n+1)
	}
	all := scenarios.Levels()
	badge := func(level int) string { return levels.New(app).Items[level].Badge().Text }
	level, err := NewLevel(app, 2)
	if err != nil {
		t.Fatal(err)
	}
	a := tuitest.Open(t, 80, 24, app, level, nil)
	if a.Press("g u down"); levels.Next(app) != 0 || badge(0) != "next" || badge(2) != "" {
		t.Errorf("after a look at level 3 it is level %d, which is %q, and level 3 %q", levels.Next(app)+1, badge(0), badge(2))
	}
	if a.Press("1"); levels.Next(app) != 2 || badge(2) != "begun" {
		t.Errorf("after level 3 was left it is level %d, and level 3 is %q", levels.Next(app)+1, badge(2))
	}
	if other, err := NewLevel(app, 3); err != nil {
		t.Fatal(err)
	} else if tuitest.Open(t, 80, 24, app, other, nil).Press("1"); levels.Next(app) != 3 {
		t.Errorf("after level 4 was begun it is level %d", levels.Next(app)+1)
	}
	if _, err := NewLevel(app, 2); err != nil || levels.Next(app) != 2 {
		t.Errorf("after level 3 was opened again it is level %d, %v", levels.Next(app)+1, err)
	}
	after := " (next: after your last win)"
	app.Progress.Win(all[2].Name(), progress.Win{})
	if title := levels.New(app).Title; badge(3) != "begun" || strings.Contains(title, after) {
		t.Errorf("level 4 is %q, and the list says %s", badge(3), title)
	}
	app.Progress.SeeLevel(all[3].Name())
	app.Progress.Win(all[3].Name(), progress.Win{})
	if title := levels.New(app).Title; badge(4) != "next" || !strings.Contains(title, after) {
		t.Errorf("levels 1 and 2 are left, level 5 is %q, and the list says %s", badge(4), title)
	}
	if n := levels.Next(app); n != 4 {
		t.Errorf("after levels 3 and 4 were won it is level %d", n+1)
	}
	for _, l := range all[4:] {
		app.Progress.Win(l.Name(), progress.Win{})
	}
	if n := levels.Next(app); n != 0 {
		t.Errorf("when level 1 is left it is level %d", n+1)
	}
}

// A key of a number that no move has says how many there are, or that there are no more.
func TestNumberWithoutMove(t *testing.T) {
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	here, want := s.here, fmt.Sprintf("There are %d moves: no number 9.", len(s.options))
	if a.Press("9"); s.here != here || !strings.Contains(a.View(), want) {
		t.Errorf("there is no %q:\n%s", want, a.View())
	}
	win(t, a, s)
	if a.Press("9"); !strings.Contains(a.View(), "The goal is reached: enter goes on, g starts it anew.") {
		t.Errorf("it isn't said that there are no more moves:\n%s", a.View())
	}
}

// The code begins, when a client has finished, with a function, the one in which it has stood last, and not in the
// middle of a comment.
func TestCodeOfOneThatHasFinished(t *testing.T) {
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	a.Press("2")
	do(t, a, s, "time to 3s")
	do(t, a, s, "A: no reply")
	if !s.State.Clients[0].Stopped {
		t.Fatal("A has not finished")
	}
	if _, line := s.lastLine(0); line != 43 {
		t.Errorf("A has stood on line %d last, want that of SETNX", line)
	}
	v := strings.Split(a.View(), "\n")
	if at := s.plan.Code; !strings.HasPrefix(v[at.Y+1], "     func (l *SetNXExpire) try(") || !strings.Contains(v[at.Y+2], "won, err := setNX") {
		t.Errorf("the code of A is\n%s", strings.Join(v[at.Y:at.Y+at.H], "\n"))
	}
}

// A view that lists events takes no rows from the code before there are any.
func TestEmptyListTakesNoRows(t *testing.T) {
	testenv.LongRaced(t)
	a, s := openLevelIn(t, 120, 40, tuitest.PlainTheme(false), "timestamp-del.DG.crash")
	for _, view := range lists {
		for s.View() != view {
			a.Press("v")
		}
		if v := a.View(); s.plan.Diagram.H > 2 || !strings.Contains(v, "this view lists what has happened: nothing yet") {
			t.Errorf("the %s has %d rows:\n%s", view, s.plan.Diagram.H, v)
		}
	}
}

// The notice about a copy of the schedule is whole in the least window.
func TestCopyIsTold(t *testing.T) {
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	s.Clipboard = func(string) {}
	if a.Press("y"); !strings.Contains(a.View(), s.Notice) || s.Notice == "" {
		t.Errorf("%q is cut:\n%s", s.Notice, a.View())
	}
}

// Every move that a level offers is within its rules: whatever the reader chooses, nothing has to be
// taken back.
func TestMovesAreWithinTheRules(t *testing.T) {
	testenv.LongRaced(t)
	for i, l := range scenarios.Levels() {
		if !testenv.Some(i+1, testenv.Quick(6, 3)) { // others than those of TestHintsAreRowsOfTheList
			continue
		}
		a, s := openLevel(t, l.Name())
		for seed := range testenv.Count(2, 12) {
			a.Press("home")
			made := ""
			for n := 0; n < 14 && !s.won() && len(s.options) > 0; n++ {
				var waits []time.Duration
				for _, o := range s.options {
					if d := o.moves[0].Wait; d > 0 {
						waits = append(waits, d)
					}
				}
				if !slices.IsSorted(waits) {
					t.Errorf("%s: after %q time can pass by %v, in this order", l.Name(), made, waits)
				}
				s.at = (seed*7 + n*(seed+3)) % len(s.options)
				made += "; " + s.options[s.at].name
				if a.Press("enter"); s.refused != nil {
					t.Fatalf("%s: of %q the last is offered, and refused: %v\n%s", l.Name(), made, s.refused, a.View())
				}
			}
		}
	}
}

// What a client does, and that it thinks it has the lock, is whole above its code in the least window.
func TestStateOfAClientIsWhole(t *testing.T) {
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "naive-del.FR.pause")
	for _, move := range []string{"A: SET", "A: reads the reply", "A: enters", "A: does its work, and leaves"} {
		do(t, a, s, move)
		if v := strings.Split(a.View(), "\n"); s.State.Clients[0].Lease.Believed && strings.Contains(v[s.plan.Code.Y], s.Theme.More) {
			t.Errorf("after %q: %s", move, v[s.plan.Code.Y])
		}
	}
	do(t, a, s, "time to 12.001s")
	if v := strings.Split(a.View(), "\n")[s.plan.Code.Y]; !strings.Contains(v, "PAUSED, thinks it has it") {
		t.Errorf("a paused client that thinks it has the lock: %s", v)
	}
}

// A move after which the least way is no shorter is told by "still": another one might have done more.
func TestDistanceSaysStill(t *testing.T) {
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), scenarios.Levels()[2].Name())
	a.Press("2 enter enter")
	stood := 0
	for _, d := range []time.Duration{time.Second, 2 * time.Second} {
		was := s.ahead
		letPass(a, s, d)
		a.Press("i i")
		if _, text := s.ahead, tuitest.Unwrapped(a.View()); strings.Contains(text, fmt.Sprintf("Best found from here: still %s.", draw.Plural(s.ahead, "move"))) != (s.ahead == was) {
			t.Errorf("from %d moves to %d:\n%s", was, s.ahead, a.View())
		}
		if s.ahead == was {
			stood++
		}
	}
	if stood == 0 {
		t.Error("each move shortened the way")
	}
}

// The times at which the probe gets a lock under which nothing is blocked for ever are explained: it waits for a lease
// after all that is due.
func TestProbeIsExplained(t *testing.T) {
	a, s := openLevel(t, scenarios.Levels()[2].Name())
	win(t, a, s)
	a.Press("down")
	_ = a.View()
	var told strings.Builder
	for _, l := range s.debriefing(200) {
		for _, span := range l {
			told.WriteString(span.Text)
		}
		told.WriteString(" ")
	}
	for _, want := range []string{"A's record expires at 12.001s, and the probe, which was refused and asks again a lease (12s) after that expiry, gets the lock at 24.001s"} {
		if !strings.Contains(tuitest.Unwrapped(told.String()), tuitest.Unwrapped(want)) {
			t.Errorf("there is no %q in %s", want, told.String())
		}
	}
}

// A code that is no goal has its name on the screen as long as it is there: a reader may never have met it. So has the goal:
// no code stands alone above it.
func TestCodesHaveTheirNames(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, s := openLevelIn(t, size[0], size[1], tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
		if v := a.View(); strings.Contains(v[:strings.Index(v, "Goal:")], "PD") {
			t.Errorf("%v: PD comes before its name:\n%s", size, v)
		}
		for range s.parMoves - 1 {
			a.Press("i i enter")
			v := a.View()
			if named := strings.Contains(v, "On the way: a false refusal (FN). Not the goal, which can still be reached."); named != slices.Contains(s.Run.Verdict(), trace.FN) {
				t.Errorf("%v: the name of FN is there: %t\n%s", size, named, v)
			}
		}
		if !slices.Contains(s.Run.Verdict(), trace.FN) {
			t.Errorf("%v: the level shows no FN: the test needs one", size)
		}
	}
}

// A game is never over: keys that lead to violations say that there is none yet, and that which replays the moves says when
// there are none.
func TestNothingYet(t *testing.T) {
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	for _, press := range []string{"!", "e"} {
		if a.Press(press); !strings.Contains(a.View(), "Nothing is broken yet: the goal is still to be reached.") {
			t.Errorf("after %s:\n%s", press, a.View())
		}
	}
	if a.Press("space"); !strings.Contains(a.View(), "There is no move to replay yet: ↑↓ choose one, and enter makes it.") {
		t.Errorf("at the beginning space leads to\n%s", a.View())
	}
	if a.Press("1 space"); s.Notice != "" || s.Pos == s.Run.Last() {
		t.Errorf("after a move space leads to\n%s", a.View())
	}
}

// Each move of the hints is in the list before anybody asks, in the list's own words: no row comes in with the hint that says
// in other words what stands there already. It still does for the step by which a client begins to release, without a command:
// the list has that as one with the command. And a client of a lock that has its Release from another one stands where it was
// last, and not at the file's imports.
func TestHintsAreRowsOfTheList(t *testing.T) {
	testenv.LongRaced(t)
	for i, l := range scenarios.Levels() {
		if !testenv.Some(i, 8) {
			continue
		}
		a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), l.Name())
		for n := 0; n <= s.parMoves; n++ {
			if v := a.View(); strings.Contains(v, "import (") {
				t.Errorf("%s, after %d moves:\n%s", l.Name(), n, v)
			}
			if s.won() {
				break
			}
			if o, i := s.hinted(s.hint); i < 0 {
				t.Errorf("%s, move %d: %q is not in the list", l.Name(), n+1, o.name)
			}
			a.Press("i i enter")
		}
	}
}

// The hints have a step without a command in the move that comes after it, as the list has: by rows of the list alone level 6 takes as many moves.
func TestHintsCountAsTheListDoes(t *testing.T) {
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "naive-del.FR.pause")
	for _, begin := range []string{"A: SET", "A: reads the reply", "A: enters", "A: does its work", "time to 12.001s", "B: SET", "A: DEL"} {
		do(t, a, s, begin)
	}
	a.Press("down")
	if v := tuitest.Unwrapped(a.View()); s.parMoves != s.here.Depth || !strings.Contains(v, "You matched the best found: 7 moves, 1 fault.") {
		t.Errorf("the score isn't that of the least, %d moves:\n%s", s.parMoves, a.View())
	}
}

// A stamp passes without an event: where a record is stored and nothing is due, one move lets more than a lease pass.
func TestALeaseCanPassInOneMove(t *testing.T) {
	testenv.LongRaced(t)
	a, s := openLevel(t, scenarios.Levels()[3].Name())
	longer := func() bool {
		return slices.ContainsFunc(s.options, func(o option) bool {
			return strings.HasSuffix(o.name, "a stamp taken now has run out by then")
		})
	}
	if _ = a.View(); longer() {
		t.Errorf("nothing is stored yet, and a lease can pass:\n%s", a.View())
	}
	a.Press("1 1 2")
	was := s.now
	if v := a.View(); !longer() || s.State.LockRecord(0) == nil {
		t.Fatalf("a stamp is stored, and no move lets it pass:\n%s", v)
	}
	if a.Press("3"); s.now != was+s.cfg.TTL+time.Second {
		t.Errorf("it leads from %s to %s", was, s.now)
	}
}

// Before the cursor is on a move, enter only puts it on the first: the footer says that it chooses, as the arrows do.
func TestFooterBeforeAChoice(t *testing.T) {
	a, _ := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	for _, step := range []struct{ key, want string }{{"", " 1-9 do it  ↑↓ enter choose  "}, {"enter", " 1-9 enter do it  ↑↓ choose  "}} {
		if a.Press(step.key); !strings.Contains(a.View(), step.want) {
			t.Errorf("after %q there is no %q:\n%s", step.key, step.want, a.View())
		}
	}
}

// An enter too many after a win leads to the next level: undo leads back from there to the win, as is said, and no further.
func TestUndoLeadsBackToTheWin(t *testing.T) {
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	win(t, a, s)
	a.Press("enter")
	if v := a.View(); s.level != 3 || !strings.Contains(v, "u goes back to level 3, which you have won.") {
		t.Fatalf("enter leads to level %d:\n%s", s.level+1, v)
	}
	a.Press("enter") // puts the cursor on the first move
	if a.Press("u"); s.level != 2 || !s.won() {
		t.Errorf("undo leads to level %d:\n%s", s.level+1, a.View())
	}
	for range s.here.Depth + 1 {
		a.Press("u")
	}
	if s.level != 2 || s.Notice != "This is the beginning." {
		t.Errorf("undo goes on to level %d: %s", s.level+1, s.Notice)
	}
}

// Escape leaves another view for the timeline, as is said, and not the game. What has been held at its beginning is not the whole run's.
func TestEscapeLeavesTheView(t *testing.T) {
	a, s := openLevelIn(t, 120, 40, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	a.PressUntil("v", "who held the lock")
	if v := a.View(); strings.Contains(v, "the end of the run") || !strings.Contains(v, "esc goes back to the timeline") {
		t.Errorf("v shows:\n%s", v)
	}
	if _, out := s.Update(tea.KeyMsg{Type: tea.KeyEsc}); out.Close {
		t.Error("escape closes the game")
	}
	if _, out := s.Update(tea.KeyMsg{Type: tea.KeyEsc}); !out.Close {
		t.Error("escape doesn't close the game from its timeline")
	}
}

// What breaks without being the goal is explained once, on the move that breaks it.
func TestOtherCodesAreExplainedOnce(t *testing.T) {
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	const meaning = "A client's Acquire fails although its own record is stored (FN)."
	said := 0
	for range 12 {
		if s.won() {
			break
		}
		a.Press("i i enter")
		if strings.Contains(a.View(), meaning) {
			said++
		}
	}
	if said != 1 {
		t.Errorf("it is said %d times what FN is:\n%s", said, a.View())
	}
}
