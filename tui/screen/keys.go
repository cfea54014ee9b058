package screen

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"

	"lockstep/tui/draw"
)

// KeyMap is all keys there are. The same bindings match the keys typed and tell
// the reader what to type, in the footer and on the help screens.
type KeyMap struct {
	Forward, Back, Next, Previous, Violation, Evidence, First, Last     key.Binding
	Play, Faster, Slower, In, Out, View, Source                         key.Binding
	Strategy, Scenario, Compare, Course, NextStep, Sandbox, Explore     key.Binding
	Undo, Redo, Copy, Export, Hint, Save, Present                       key.Binding
	Search, Filter, Match, MatchBack, Guess, Teach, Enter               key.Binding
	Pane, Up, Down, PageUp, PageDown, Mouse, Help, Close, Quit, Suspend key.Binding
}

// Bind binds keys to an action, with their name and its own for footer and help.
func Bind(help, does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, does))
}

// As is a binding in other words: a key has one meaning everywhere, and a name for it in
// each screen.
func As(b key.Binding, does string) key.Binding {
	b.SetHelp(b.Help().Key, does)
	return b
}

// Pair shows two bindings as one, where columns are scarce.
func Pair(a, b key.Binding, does string) key.Binding {
	first, second := a.Help().Key, b.Help().Key
	if len([]rune(first+second)) > 2 {
		first += "/"
	}
	return Bind(first+second, does, append(a.Keys(), b.Keys()...)...)
}

// newKeyMap names the arrows by their glyphs where the font has them.
func newKeyMap(g *draw.Glyphs) KeyMap {
	return KeyMap{
		Forward:   Bind(g.Arrows[1], "step", "right", "l"),
		Back:      Bind(g.Arrows[0], "step back", "left", "h"),
		Next:      Bind("]", "chapter", "]"),
		Previous:  Bind("[", "chapter back", "["),
		Violation: Bind("!", "violation", "!"),
		Evidence:  Bind("e", "its evidence", "e"),
		First:     Bind("g", "beginning", "g", "home"),
		Last:      Bind("G", "end", "G", "end"),
		Play:      Bind("space", "play", " "),
		Faster:    Bind(">", "faster", ">", "."),
		Slower:    Bind("<", "slower", "<", ","),
		In:        Bind("+", "zoom in", "+", "="),
		Out:       Bind("-", "zoom out", "-", "_"),
		View:      Bind("v", "view", "v"),
		Source:    Bind("s", "source", "s"),
		Strategy:  Bind("f", "strategy", "f"),
		Scenario:  Bind("o", "scenario", "o"),
		Compare:   Bind("c", "compare", "c"),
		Course:    Bind("tab", "course", "tab"),
		NextStep:  Bind("r", "next in course", "r"),
		Sandbox:   Bind("b", "your turn", "b"),
		Explore:   Bind("a", "all schedules", "a"),
		Export:    Bind("x", "write to a file", "x"),
		Hint:      Bind("i", "hint", "i", "h"),
		Save:      Bind("w", "save as a scenario", "w"),
		Present:   Bind("p", "present", "p"),
		Undo:      Bind("u", "undo", "u", "backspace"),
		Redo:      Bind("U", "redo", "U"),
		Copy:      Bind("y", "copy the schedule", "y"),
		Search:    Bind("/", "search", "/"),
		Filter:    Bind("&", "filter", "&"),
		Match:     Bind("n", "next match", "n"),
		MatchBack: Bind("N", "match back", "N"),
		Teach:     Bind("T", "for a class", "T"),
		Guess:     Bind("1-9", "predict", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
		Enter:     Bind("enter", "answer", "enter"),
		Pane:      Bind("tab", "next pane", "tab"),
		Up:        Bind(g.Arrows[2], "scroll up", "up", "k"),
		Down:      Bind(g.Arrows[3], "scroll down", "down", "j"),
		PageUp:    Bind("pgup", "page up", "pgup", "ctrl+b"),
		PageDown:  Bind("pgdn", "page down", "pgdown", "ctrl+f"),
		Mouse:     Bind("m", "mouse", "m"),
		Help:      Bind("?", "help", "?"),
		Close:     Bind("esc", "back", "esc"),
		Quit:      Bind("q", "quit", "q", "ctrl+c"),
		Suspend:   Bind("ctrl+z", "suspend", "ctrl+z"),
	}
}

// Always are the bindings that work in every screen.
func (k *KeyMap) Always() []key.Binding {
	return []key.Binding{k.Mouse, k.Help, k.Close, k.Quit, k.Suspend}
}

// footer shows the bindings for which there is room. It ends with help, back and quit on every
// screen, so that the way out is always at the same place; where the first of a screen's own has no room beside
// them, the help yields to it.
func footer(c *draw.Canvas, r draw.Rectangle, keys []key.Binding) {
	var others, shown []key.Binding
	always := make([]key.Binding, 0, len(wayOut))
	for _, name := range wayOut {
		if i := slices.IndexFunc(keys, func(b key.Binding) bool { return b.Help().Key == name }); i >= 0 {
			always = append(always, keys[i])
		}
	}
	for _, b := range keys {
		again := slices.ContainsFunc(others, func(o key.Binding) bool { return o.Help().Key == b.Help().Key })
		if !again && !slices.Contains(wayOut[:], b.Help().Key) {
			others = append(others, b)
		}
	}
	room := r.W - 1 + hintGap - hintsWidth(always)                           // nothing follows the last
	if len(others) > 0 && len(always) > 1 && hintsWidth(others[:1]) > room { // the screen's first key, rather than that for help
		room, always = room+hintsWidth(always[:1]), always[1:]
	}
	for _, b := range others {
		if hintsWidth(append(shown, b)) > room {
			break
		}
		shown = append(shown, b)
	}
	x := r.X + 1
	for _, b := range append(shown, always...) {
		h := b.Help()
		x += c.Text(x, r.Y, r.W, h.Key, draw.Strong)
		x += c.Text(x, r.Y, r.W, " "+h.Desc, draw.Dim) + hintGap
	}
}

// wayOut are the names of the keys that end every footer, in this order.
var wayOut = [...]string{"?", "esc", "q", "ctrl+c"}

const hintGap = 2

func hintsWidth(keys []key.Binding) int {
	n := 0
	for _, b := range keys {
		n += draw.Width(b.Help().Key+" "+b.Help().Desc) + hintGap
	}
	return n
}

// shownByName are the keys whose name in the help is another than in the code.
var shownByName = []string{" ", "left", "right", "up", "down", "pgup", "pgdown"}

// keyNames is a binding's keys as the help screen lists them.
func keyNames(b key.Binding) string {
	names := []string{b.Help().Key}
	if strings.Contains(names[0], "-") && len(b.Keys()) > 2 { // a range
		return names[0]
	}
	for _, k := range b.Keys() {
		switch {
		case slices.Contains(shownByName, k), k == names[0]:
		default:
			names = append(names, k)
		}
	}
	return strings.Join(names, " ")
}

// ScrollPage is the number of lines that page up and page down scroll.
const ScrollPage = 10

// Without leaves out bindings, by their keys.
func Without(all, some []key.Binding) []key.Binding {
	var rest []key.Binding
	for _, b := range all {
		keep := true
		for _, s := range some {
			keep = keep && b.Keys()[0] != s.Keys()[0]
		}
		if keep {
			rest = append(rest, b)
		}
	}
	return rest
}
