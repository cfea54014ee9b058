package screen_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/tui/draw"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// note is a screen that records the messages it gets.
type note struct {
	*screen.App
	name  string
	typed string
	does  map[string]screen.Outcome // by key
	text  bool                      // it takes text
	back  int                       // how often the reader has come back to it
}

func (n *note) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		n.typed += msg.String()
		return nil, n.does[msg.String()]
	case screen.RefusedMsg:
		n.typed += "(" + msg.Err.Error() + ")"
	}
	return nil, screen.Outcome{}
}

func (n *note) Draw(c *draw.Canvas, r draw.Rectangle) {
	c.Text(r.X, r.Y, r.W, "this is "+n.name, draw.Plain)
}
func (n *note) FooterKeys() []key.Binding { return []key.Binding{n.Keys.Help, n.Keys.Quit} }
func (n *note) Help() screen.Page         { return screen.Page{Title: "help of " + n.name, About: "None."} }
func (n *note) Typing() bool              { return n.text }
func (n *note) Resume()                   { n.back++ }

// openNotes opens a screen "one", from which o leads to "two", g to a game, which is
// refused, and esc out. The matrix is a note as well.
func openNotes(t *testing.T) (a *tuitest.App, one, two *note) {
	s := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	out := screen.Outcome{Close: true}
	two = &note{App: s, name: "two", does: map[string]screen.Outcome{"esc": out}}
	one = &note{App: s, name: "one", does: map[string]screen.Outcome{"o": {Open: two}, "g": {To: screen.GameMsg{}}, "esc": out}}
	two.does["1"] = screen.Outcome{Open: one}
	return tuitest.Open(t, 80, 24, s, one, func(msg screen.OpenMsg) (screen.Screen, error) {
		if _, home := msg.(screen.HomeMsg); home {
			return &note{App: s, name: "home"}, nil
		}
		return nil, errors.New("no game today")
	}), one, two
}

func TestScreensOpenAndClose(t *testing.T) {
	a, one, _ := openNotes(t)
	for _, step := range []struct {
		key, want string
		depth     int
	}{
		{"x", "one", 1}, {"o", "two", 2}, {"esc", "one", 1}, {"o", "two", 2}, {"1", "one", 1}, {"esc", "home", 1}, {"esc", "home", 1},
	} {
		a.Press(step.key)
		if got := tuitest.FirstLine(a.View()); got != "this is "+step.want || a.Depth() != step.depth {
			t.Fatalf("%s leads to %q, %d deep; want %s, %d deep", step.key, got, a.Depth(), step.want, step.depth)
		}
	}
	if one.back != 1 {
		t.Errorf("the reader has come back by esc once, and the screen is told so %d times", one.back)
	}
}

func TestRefusalIsTold(t *testing.T) {
	a, one, _ := openNotes(t)
	if a.Press("g"); one.typed != "g(no game today)" || a.Depth() != 1 {
		t.Errorf("it is told %q, %d deep", one.typed, a.Depth())
	}
}

// Help, mouse and quit work everywhere, but where letters are letters.
func TestLettersAreLettersWhereTextIsTaken(t *testing.T) {
	a, one, _ := openNotes(t)
	if a.Press("?"); !strings.Contains(a.View(), "help of one") {
		t.Errorf("? shows\n%s", a.View())
	}
	a.Press("? m")
	if !strings.Contains(a.View(), "gives it back") || one.typed != "" {
		t.Errorf("m is told to the screen: %q", one.typed)
	}
	one.text = true
	if a.Press("? m q"); one.typed != "?mq" {
		t.Errorf("the text is %q", one.typed)
	}
}

// Keys that come in one message all count; pasted text is none.
func TestKeysThatArriveTogetherAllCount(t *testing.T) {
	a, one, _ := openNotes(t)
	a.Press("abc")
	a.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("oooo"), Paste: true})
	if one.typed != "abc" || a.Depth() != 1 {
		t.Errorf("typed %q, %d deep", one.typed, a.Depth())
	}
}

func TestSmallWindowTakesNoKeys(t *testing.T) {
	a, one, _ := openNotes(t)
	a.Send(tea.WindowSizeMsg{Width: draw.MinWidth - 1, Height: draw.MinHeight})
	if a.Press("x ?"); one.typed != "" || a.Depth() != 1 || !strings.Contains(a.View(), "needs 80 x 24") {
		t.Errorf("typed %q\n%s", one.typed, a.View())
	}
}
