package game

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/testenv"
	"lockstep/tui/tuitest"
)

// At the beginning of the level about them, both commands are on the screen.
func TestLevelShowsBothCommands(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, _ := openLevelIn(t, size[0], size[1], tuitest.PlainTheme(false), "setnx-expire.PD.crash")
		a.Press("enter")
		if v := a.View(); !strings.Contains(v, "setNX(ctx") || !strings.Contains(v, "rdb.Expire(") {
			t.Errorf("%v: SETNX and EXPIRE are not both shown:\n%s", size, v)
		}
	}
}

// After a wait in which nothing happens the clock has moved, and the clients can still act.
func TestClockOfAGame(t *testing.T) {
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.crash")
	a.Press("end")
	letPass(a, s, time.Second)
	if v := a.View(); !strings.Contains(v, "1s  nothing has happened yet  ") || !strings.Contains(v, "A: SETNX") {
		t.Errorf("after a second:\n%s", v)
	}
}

// letPass lets time pass as a schedule that was pasted might: the list has no instant at which nothing is due.
func letPass(a *tuitest.App, s *Game, d time.Duration) {
	o, _ := s.wait(d)
	s.try(o)
	a.Do(s.ask())
}

// A hint, after a wait in which nothing happens, leaves the clock as it is.
func TestHintKeepsTheClock(t *testing.T) {
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	a.Press("i i enter i i enter i i")
	if s.now != 3*time.Second || s.Notice == "" {
		t.Fatalf("at %s, and the notice is %q", s.now, s.Notice)
	}
	if v := a.View(); !strings.Contains(v, "3s  last event, at 0s: #5  net n1's reply to A's SETNX lock A1-e39f is lost") {
		t.Errorf("with a hint the clock stands elsewhere:\n%s", v)
	}
}

// While a client awaits a reply, its name stands at the line of the command that it has sent.
func TestCodeOfAWaitingClient(t *testing.T) {
	a, s := openLevelIn(t, 120, 40, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	a.Press("i i enter")
	if s.State.Clients[0].Pending == nil {
		t.Fatal("A awaits no reply")
	}
	if v := a.View(); !strings.Contains(v, " A  waits for a reply, until 3s ") {
		t.Errorf("it isn't said for what A waits:\n%s", v)
	}
	for _, l := range strings.Split(a.View(), "\n") {
		if strings.Contains(l, " A▸    won, err := setNX(ctx") {
			return
		}
	}
	t.Errorf("A doesn't stand at its SETNX:\n%s", a.View())
}

// The instants at which something happens stand in their order, and say what the client then finds: that it gives up is
// its own next step. None at which nothing happens is among them.
func TestInstantsAreInOrder(t *testing.T) {
	a, s := openLevelIn(t, 120, 40, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	a.Press("i i enter")
	s.hint.Due = 2 * time.Second // by the search's account, say
	s.offerDue()
	var names []string
	last := time.Duration(0)
	for _, o := range s.options {
		if d := o.moves[0].Wait; d > 0 {
			names = append(names, o.name)
			if d < last {
				t.Errorf("%q stands below a later instant", o.name)
			}
			last = d
		}
	}
	if want := []string{"time to 2s", "time to 3s: A can time out next"}; !slices.Equal(names, want) {
		t.Errorf("time can pass so: %q, want %q", names, want)
	}
}

// Of a client that has finished without the lock it is said why: beside its code, and of the event itself.
func TestFinishedInVainSaysWhy(t *testing.T) {
	a, s := openLevelIn(t, 120, 40, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	for _, name := range []string{"A: SETNX", "B: SETNX", "B: reads the reply: 0"} {
		s.at = slices.IndexFunc(s.options, func(o option) bool { return strings.HasPrefix(o.name, name) })
		a.Press("enter")
	}
	if v := a.View(); !strings.Contains(v, "B has finished: was refused, and gives up") || !strings.Contains(v, "B  finished: was refused, and gives up") {
		t.Errorf("after a refusal:\n%s", v)
	}
}

// The clients share one window of code in the whole width: the line is there once, with the names of those who stand there, and what each
// of three does is said above it, in as small a window.
func TestClientsShareTheCode(t *testing.T) {
	testenv.LongRaced(t)
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, s := openLevelIn(t, size[0], size[1], tuitest.PlainTheme(false), "timestamp-del.DG.crash")
		v := a.View()
		if n := strings.Count(v, "won, err := setNX(ctx, l.rdb, l.key, stamp)"); n != 1 || !strings.Contains(v, "ABC▸ ") {
			t.Errorf("%v: the line is there %d times, or isn't that of all three:\n%s", size, n, v)
		}
		for i := range s.options {
			s.at = i
			v = a.View()
			for _, client := range s.cfg.Clients {
				if !strings.Contains(v, " "+client.Name+"  idle") {
					t.Errorf("%v: at %q it isn't said what %s does:\n%s", size, s.options[i].name, client.Name, v)
				}
			}
		}
	}
}

// The code in a debriefing is at the line that broke the lock.
func TestDebriefingShowsTheLine(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {200, 60}} {
		a, s := openLevelIn(t, size[0], size[1], tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
		win(t, a, s)
		if _, _, text := s.broken(); !strings.Contains(a.View(), "A!    "+text) || text == "" {
			t.Errorf("the code doesn't show %q:\n%s", text, a.View())
		}
	}
}
