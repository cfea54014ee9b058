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
// refused, and esc out. Below it is "door", which never closes.
func openNotes(t *testing.T) (a *tuitest.App, one, two *note) {
	s := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	out := screen.Outcome{Close: true}
	two = &note{App: s, name: "two", does: map[string]screen.Outcome{"esc": out}}
	one = &note{App: s, name: "one", does: map[string]screen.Outcome{"o": {Open: two}, "g": {To: screen.GameMsg{}}, "esc": out}}
	two.does["1"] = screen.Outcome{Open: one}
	door := &note{App: s, name: "door", does: map[string]screen.Outcome{"esc": out}}
	r := screen.NewRouter(s, func(screen.OpenMsg) (screen.Screen, error) { return nil, errors.New("no game today") }, door, one)
	return tuitest.NewTester(t, 80, 24, r), one, two
}

func TestScreensOpenAndClose(t *testing.T) {
	a, one, _ := openNotes(t)
	for _, step := range []struct {
		key, want string
		depth     int
	}{
		{"x", "one", 2}, {"o", "two", 3}, {"esc", "one", 2}, {"o", "two", 3}, {"1", "one", 2}, {"esc", "door", 1}, {"esc", "door", 1},
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

// starting is a screen that counts how often it begins to compute.
type starting struct {
	*note
	started int
}

func (s *starting) Start() tea.Cmd { s.started++; return nil }

// A screen computes nothing before it is seen, and begins anew when it is opened anew.
func TestScreensStartWhenTheyAreSeen(t *testing.T) {
	app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	out := screen.Outcome{Close: true}
	above := &starting{note: &note{App: app, does: map[string]screen.Outcome{"esc": out}}}
	below := &starting{note: &note{App: app, does: map[string]screen.Outcome{"o": {Open: above}}}}
	a := tuitest.NewTester(t, 80, 24, screen.NewRouter(app, nil, below, above))
	for _, step := range []struct {
		key          string
		below, above int
	}{{"x", 0, 1}, {"esc", 1, 1}, {"o", 1, 2}, {"esc", 1, 2}} {
		if a.Press(step.key); below.started != step.below || above.started != step.above {
			t.Fatalf("after %s they have started %d and %d times, want %d and %d", step.key, below.started, above.started, step.below, step.above)
		}
	}
}

func TestRefusalIsTold(t *testing.T) {
	a, one, _ := openNotes(t)
	if a.Press("g"); one.typed != "g(no game today)" || a.Depth() != 2 {
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
	if !strings.Contains(a.View(), "mouse off") || one.typed != "" {
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
	if one.typed != "abc" || a.Depth() != 2 {
		t.Errorf("typed %q, %d deep", one.typed, a.Depth())
	}
}

func TestSmallWindowTakesNoKeys(t *testing.T) {
	a, one, _ := openNotes(t)
	a.Send(tea.WindowSizeMsg{Width: draw.MinWidth - 1, Height: draw.MinHeight})
	if a.Press("x ?"); one.typed != "" || a.Depth() != 2 || !strings.Contains(a.View(), "needs 80 x 24") {
		t.Errorf("typed %q\n%s", one.typed, a.View())
	}
}

// keyed is a screen with keys of its own in the footer.
type keyed struct {
	*note
	keys []key.Binding
}

func (k *keyed) FooterKeys() []key.Binding { return k.keys }

// The footer has every key for which there is room, to the last column.
func TestFooterUsesTheWholeRow(t *testing.T) {
	app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	const wayOut = "  ? help  q quit"
	for _, spare := range []int{0, 1} {
		desc := strings.Repeat("x", 80-len(" e ")-len(wayOut)+spare)
		k := &keyed{&note{App: app}, []key.Binding{screen.Bind("e", desc, "e"), app.Keys.Help, app.Keys.Quit}}
		a := tuitest.NewTester(t, 80, 24, screen.NewRouter(app, nil, k))
		if shown := strings.Contains(a.View(), " e "+desc+wayOut); shown != (spare == 0) {
			t.Errorf("a key that takes %d columns too many is shown: %v", spare, shown)
		}
	}
}

// scaled is a screen for windows of any size.
type scaled struct{ *keyed }

func (scaled) FitsAnyWindow() {}

// In a window too narrow for the first of a screen's keys beside the way out, the help yields to it.
func TestNarrowFooterHasTheFirstKey(t *testing.T) {
	app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	for w, want := range map[int]string{30: " e go on  esc back  q quit", 40: " e go on  ? help  esc back  q quit"} {
		k := scaled{&keyed{&note{App: app}, []key.Binding{screen.Bind("e", "go on", "e"), screen.Bind("n", "what is of less use here", "n"), app.Keys.Help, app.Keys.Close, app.Keys.Quit}}}
		if v := tuitest.NewTester(t, w, 7, screen.NewRouter(app, nil, k)).View(); !strings.HasSuffix(strings.TrimRight(v, " "), want) {
			t.Errorf("%d columns: want %q in\n%s", w, want, v)
		}
	}
}
