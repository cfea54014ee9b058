// Package tuitest has the fixtures that the tests of the screens share: hand-made runs and searches, a
// library that does not change with the catalogue, golden frames, and a router whose
// commands are run at once.
package tuitest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// App is a router under test: commands are run at once, and timers are set off by
// the test.
type App struct {
	*screen.Router
	t      testing.TB
	W, H   int       // of the window
	timers []tea.Msg // that are set, and were not set off
}

// Open shows a screen in a window. make makes those that screens ask for; without it
// they are refused.
func Open(t testing.TB, w, h int, app *screen.App, first screen.Screen, make func(screen.OpenMsg) (screen.Screen, error)) *App {
	if make == nil {
		make = func(msg screen.OpenMsg) (screen.Screen, error) { return nil, fmt.Errorf("no screen answers %T", msg) }
	}
	return NewTester(t, w, h, screen.NewRouter(app, make, first))
}

// NewTester starts a router in a window.
func NewTester(t testing.TB, w, h int, r *screen.Router) *App {
	a := Drive(t, r)
	a.Do(a.Init())
	a.Send(tea.WindowSizeMsg{Width: w, Height: h})
	return a
}

// Drive gives a router to a test, which has to start it.
func Drive(t testing.TB, r *screen.Router) *App {
	a := &App{Router: r, t: t}
	r.After = func(_ time.Duration, msg tea.Msg) tea.Cmd {
		a.timers = append(a.timers, msg)
		return nil
	}
	return a
}

// Send has the router take a message, and runs the command that comes of it.
func (a *App) Send(msg tea.Msg) {
	if size, is := msg.(tea.WindowSizeMsg); is {
		a.W, a.H = size.Width, size.Height
	}
	_, cmd := a.Update(msg)
	a.Do(cmd)
}

// Do runs a command and sends its message.
func (a *App) Do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			a.Do(c)
		}
	case nil, tea.QuitMsg, tea.SuspendMsg:
	default:
		a.Send(msg)
	}
}

// Fire sets off the timers that are set.
func (a *App) Fire() {
	due := a.timers
	a.timers = nil
	for _, msg := range due {
		a.Send(msg)
	}
}

// Press types keys, separated by blanks; "space" is the space bar.
func (a *App) Press(keys string) {
	for _, k := range strings.Fields(keys) {
		a.Send(KeyMsg(k))
	}
}

// PressUntil types a key until the screen shows a text, which a hundred times must do.
func (a *App) PressUntil(key, text string) {
	a.t.Helper()
	for range 100 {
		if strings.Contains(a.View(), text) {
			return
		}
		a.Press(key)
	}
	a.t.Fatalf("after a hundred times %s the screen doesn't show %q:\n%s", key, text, a.View())
}

// Click presses the left button at a place on the canvas.
func (a *App) Click(x, y int) {
	a.Send(tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
}

// KeyMsg is a key by its name, or the typing of a text.
func KeyMsg(k string) tea.KeyMsg {
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

// CheckFrame holds a frame to the window: so many lines, none wider, the footer
// at the bottom, with the way out in it. It returns the frame.
func (a *App) CheckFrame(context string) string {
	t := a.t
	t.Helper()
	v := a.View()
	lines := strings.Split(v, "\n")
	if len(lines) != a.H {
		t.Fatalf("%s: %d lines in a window of %dx%d", context, len(lines), a.W, a.H)
	}
	for i, l := range lines {
		if len(l) <= a.W { // no more bytes than columns
			continue
		}
		if w := lipgloss.Width(l); w > a.W {
			t.Fatalf("%s: line %d is %d wide in a window of %dx%d: %q", context, i, w, a.W, a.H, l)
		}
	}
	if a.W >= draw.MinWidth && a.H >= draw.MinHeight && !strings.Contains(lines[a.H-1], " quit") {
		t.Fatalf("%s: no footer in a window of %dx%d: %q", context, a.W, a.H, lines[a.H-1])
	}
	return v
}
