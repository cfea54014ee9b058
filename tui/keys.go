package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
)

// keyMap is all keys there are. The same bindings match what is typed and tell
// the reader what to type, in the footer and on the help screens.
type keyMap struct {
	Forward, Back, Next, Previous, Violation, Evidence, First, Last     key.Binding
	Play, Faster, Slower, In, Out, View, Source                         key.Binding
	Strategy, Scenario, Compare, Course, Rung, Sandbox, Explore         key.Binding
	Undo, Redo, Copy, Export, Hint, Save                                key.Binding
	Search, Filter, Match, MatchBack, Guess, Enter                      key.Binding
	Pane, Up, Down, PageUp, PageDown, Mouse, Help, Close, Quit, Suspend key.Binding
}

func bind(help, does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, does))
}

// as is a binding in other words: what a key does is called differently from
// room to room, which key it is never is.
func as(b key.Binding, does string) key.Binding {
	b.SetHelp(b.Help().Key, does)
	return b
}

// pair is two bindings told as one, where room is short.
func pair(a, b key.Binding, does string) key.Binding {
	first, second := a.Help().Key, b.Help().Key
	if len([]rune(first+second)) > 2 {
		first += "/"
	}
	return bind(first+second, does, append(a.Keys(), b.Keys()...)...)
}

// newKeyMap names the arrows by their glyphs where the font has them.
func newKeyMap(g *glyphs) keyMap {
	return keyMap{
		Forward:   bind(g.arrows[1], "step", "right", "l"),
		Back:      bind(g.arrows[0], "step back", "left", "h"),
		Next:      bind("]", "chapter", "]"),
		Previous:  bind("[", "chapter back", "["),
		Violation: bind("!", "violation", "!"),
		Evidence:  bind("e", "its evidence", "e"),
		First:     bind("g", "beginning", "g", "home"),
		Last:      bind("G", "end", "G", "end"),
		Play:      bind("space", "play", " "),
		Faster:    bind(">", "faster", ">", "."),
		Slower:    bind("<", "slower", "<", ","),
		In:        bind("+", "zoom in", "+", "="),
		Out:       bind("-", "zoom out", "-", "_"),
		View:      bind("v", "view", "v"),
		Source:    bind("s", "source", "s"),
		Strategy:  bind("f", "strategy", "f"),
		Scenario:  bind("o", "scenario", "o"),
		Compare:   bind("c", "compare", "c"),
		Course:    bind("tab", "course", "tab"),
		Rung:      bind("r", "next rung", "r"),
		Sandbox:   bind("b", "your turn", "b"),
		Explore:   bind("a", "all schedules", "a"),
		Export:    bind("x", "write to a file", "x"),
		Hint:      bind("i", "hint", "i"),
		Save:      bind("w", "save as a scenario", "w"),
		Undo:      bind("u", "undo", "u", "backspace"),
		Redo:      bind("U", "redo", "U"),
		Copy:      bind("y", "copy the schedule", "y"),
		Search:    bind("/", "search", "/"),
		Filter:    bind("&", "filter", "&"),
		Match:     bind("n", "next match", "n"),
		MatchBack: bind("N", "match back", "N"),
		Guess:     bind("0-9", "predict", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
		Enter:     bind("enter", "answer", "enter"),
		Pane:      bind("tab", "next pane", "tab"),
		Up:        bind(g.arrows[2], "scroll up", "up", "k"),
		Down:      bind(g.arrows[3], "scroll down", "down", "j"),
		PageUp:    bind("pgup", "page up", "pgup", "ctrl+b"),
		PageDown:  bind("pgdn", "page down", "pgdown", "ctrl+f"),
		Mouse:     bind("m", "mouse", "m"),
		Help:      bind("?", "help", "?"),
		Close:     bind("esc", "back", "esc"),
		Quit:      bind("q", "quit", "q", "ctrl+c"),
		Suspend:   bind("ctrl+z", "suspend", "ctrl+z"),
	}
}

// always are the bindings that work in every room.
func (k *keyMap) always() []key.Binding {
	return []key.Binding{k.Mouse, k.Help, k.Close, k.Quit, k.Suspend}
}

// footer shows the bindings for which there is room, the last two of them always.
func footer(c *canvas, r rect, keys []key.Binding) {
	always := keys[len(keys)-2:]
	room := r.w - 1 - hintsWidth(always)
	var shown []key.Binding
	for _, b := range keys[:len(keys)-2] {
		if hintsWidth(append(shown, b)) > room {
			break
		}
		shown = append(shown, b)
	}
	x := r.x + 1
	for _, b := range append(shown, always...) {
		h := b.Help()
		x += c.text(x, r.y, r.w, h.Key, inkStrong)
		x += c.text(x, r.y, r.w, " "+h.Desc, inkDim) + hintGap
	}
}

const hintGap = 2

func hintsWidth(keys []key.Binding) int {
	n := 0
	for _, b := range keys {
		n += textWidth(b.Help().Key+" "+b.Help().Desc) + hintGap
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
