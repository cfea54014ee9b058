package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
)

// tester is a router under test: commands are run at once, and timers are set off by
// the test.
type tester struct {
	*root
	t      testing.TB
	timers []tea.Msg // that are set, and were not set off
}

// open shows a screen in a window. make makes those that screens ask for; without it
// they are refused.
func open(t testing.TB, w, h int, s *stage, first room, make func(openMsg) (room, error)) *tester {
	if make == nil {
		make = func(msg openMsg) (room, error) { return nil, fmt.Errorf("no screen answers %T", msg) }
	}
	return newTester(t, w, h, newRouter(s, make, first))
}

// newTester starts a router in a window.
func newTester(t testing.TB, w, h int, r *root) *tester {
	a := &tester{root: r, t: t}
	r.after = func(_ time.Duration, msg tea.Msg) tea.Cmd {
		a.timers = append(a.timers, msg)
		return nil
	}
	a.do(a.Init())
	a.send(tea.WindowSizeMsg{Width: w, Height: h})
	return a
}

// send has the router take a message, and runs the command that comes of it.
func (a *tester) send(msg tea.Msg) {
	_, cmd := a.Update(msg)
	a.do(cmd)
}

// do runs a command and sends its message.
func (a *tester) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			a.do(c)
		}
	case nil, tea.QuitMsg, tea.SuspendMsg:
	default:
		a.send(msg)
	}
}

// fire sets off the timers that are set.
func (a *tester) fire() {
	due := a.timers
	a.timers = nil
	for _, msg := range due {
		a.send(msg)
	}
}

// press types keys, separated by blanks; "space" is the space bar.
func (a *tester) press(keys string) {
	for _, k := range strings.Fields(keys) {
		a.send(keyMsg(k))
	}
}

// click presses the left button at a place on the canvas.
func (a *tester) click(x, y int) {
	a.send(tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
}

// keyMsg is a key by its name, or the typing of a text.
func keyMsg(k string) tea.KeyMsg {
	named := map[string]tea.KeyType{
		"left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown, "enter": tea.KeyEnter,
		"esc": tea.KeyEsc, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace, "tab": tea.KeyTab, "home": tea.KeyHome, "end": tea.KeyEnd, "space": tea.KeySpace,
	}
	if kind, is := named[k]; is {
		msg := tea.KeyMsg{Type: kind}
		if k == "space" {
			msg.Runes = []rune{' '}
		}
		return msg
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
}

// checkFrame holds a frame to the window: so many lines, none wider, the footer
// at the bottom, with the way out in it. It returns the frame.
func (a *tester) checkFrame(context string) string {
	t := a.t
	t.Helper()
	v := a.View()
	lines := strings.Split(v, "\n")
	if len(lines) != a.h {
		t.Fatalf("%s: %d lines in a window of %dx%d", context, len(lines), a.w, a.h)
	}
	for i, l := range lines {
		if len(l) <= a.w { // no more bytes than columns
			continue
		}
		if w := lipgloss.Width(l); w > a.w {
			t.Fatalf("%s: line %d is %d wide in a window of %dx%d: %q", context, i, w, a.w, a.h, l)
		}
	}
	if !a.tooSmall() && !strings.Contains(lines[a.h-1], " quit") {
		t.Fatalf("%s: no footer in a window of %dx%d: %q", context, a.w, a.h, lines[a.h-1])
	}
	return v
}
