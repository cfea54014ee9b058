package background

import (
	"bufio"
	"testing"
	"time"

	"lockstep/sim/testenv"

	"github.com/creack/pty"
)

func TestDarkness(t *testing.T) {
	for answer, want := range map[string][2]bool{
		"\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?62;c": {true, true},
		"\x1b]11;rgb:ffff/ffff/dddd\a\x1b[?1;2c":     {false, true},
		"\x1b]11;rgb:f/f/f\a":                        {false, true},
		"\x1b]11;rgba:16/18/1c/ff\a":                 {true, true},
		"\x1b[?6c":                                   {true, false},
		"":                                           {true, false},
		"\x1b]11;rgb:zz":                             {true, false},
	} {
		if dark, said := darkness([]byte(answer)); [2]bool{dark, said} != want {
			t.Errorf("%q: %v, %v", answer, dark, said)
		}
	}
	t.Setenv("TERM", "xterm")
	for colours, want := range map[string]bool{"15;0": true, "0;15": false, "0;default;15": false, "15;8": true} {
		t.Setenv("COLORFGBG", colours)
		if Dark(nil) != want {
			t.Errorf("COLORFGBG=%s", colours)
		}
	}
	t.Setenv("COLORFGBG", "")
	if t.Setenv("TERM", "tmux-256color"); !Dark(nil) {
		t.Error("tmux is asked")
	}
}

// A terminal that answers is believed; one that is mute is dark, after as long as it was given. The modes are
// those of before.
func TestAsk(t *testing.T) {
	for _, answer := range []string{"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;22c", "\x1b[?1;2c", ""} {
		user, tty, err := pty.Open()
		testenv.Need(t, err) // a pseudo terminal
		go func() {
			r := bufio.NewReader(user)
			if _, err := r.ReadString('c'); err == nil { // the question's end
				user.WriteString(answer) //nolint:errcheck // the test sees it
			}
		}()
		patience := time.Minute
		if answer == "" {
			patience = time.Millisecond
		}
		dark, said := ask(tty, patience)
		if light := answer != "" && answer[1] == ']'; dark == light || said != light {
			t.Errorf("%q: %v, %v", answer, dark, said)
		}
		user.Close() //nolint:errcheck,gosec // it was read
		tty.Close()  //nolint:errcheck,gosec // the same
	}
}
