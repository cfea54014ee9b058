package tui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
)

// keyMap is all keys there are. The same bindings match what is typed and tell
// the reader what to type, in the footer and on the help screen.
type keyMap struct {
	Forward, Back, Next, Previous, Violation, First, Last key.Binding
	Play, Faster, Slower                                  key.Binding
	In, Out, View, Source, Strategy, Scenario             key.Binding
	Pane, Up, Down, Enter, Help, Close, Quit, Suspend     key.Binding
}

func bind(help, does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, does))
}

// pair is two bindings told as one, where room is short.
func pair(a, b key.Binding, does string) key.Binding {
	return bind(a.Help().Key+b.Help().Key, does, append(a.Keys(), b.Keys()...)...)
}

// newKeyMap names the arrows by their glyphs where the font has them.
func newKeyMap(g *glyphs) keyMap {
	return keyMap{
		Forward:   bind(g.right, "step", "right", "l"),
		Back:      bind(g.left, "step back", "left", "h"),
		Next:      bind("]", "chapter", "]"),
		Previous:  bind("[", "chapter back", "["),
		Violation: bind("!", "violation", "!"),
		First:     bind("g", "beginning", "g", "home"),
		Last:      bind("G", "end", "G", "end"),
		Play:      bind("space", "play", " "),
		Faster:    bind(">", "play faster", ">", "."),
		Slower:    bind("<", "play slower", "<", ","),
		In:        bind("+", "zoom in", "+", "="),
		Out:       bind("-", "zoom out", "-", "_"),
		View:      bind("v", "ladder", "v"),
		Source:    bind("s", "source", "s"),
		Strategy:  bind("f", "strategy", "f"),
		Scenario:  bind("o", "scenario", "o"),
		Pane:      bind("tab", "next pane", "tab"),
		Up:        bind("up", "scroll up", "up", "k"),
		Down:      bind("down", "scroll down", "down", "j"),
		Enter:     bind("enter", "answer", "enter"),
		Help:      bind("?", "help", "?"),
		Close:     bind("esc", "back", "esc"),
		Quit:      bind("q", "quit", "q", "ctrl+c"),
		Suspend:   bind("ctrl+z", "suspend", "ctrl+z"),
	}
}

// all lists the bindings in the order of the help screen.
func (k *keyMap) all() []key.Binding {
	return []key.Binding{
		k.Forward, k.Back, k.Next, k.Previous, k.Violation, k.First, k.Last, k.Play, k.Faster, k.Slower, k.In, k.Out,
		k.View, k.Source, k.Strategy, k.Scenario, k.Enter, k.Pane, k.Up, k.Down, k.Help, k.Close, k.Quit, k.Suspend,
	}
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

// keyNames is a binding's keys as the help screen lists them.
func keyNames(b key.Binding) string {
	names := []string{b.Help().Key}
	for _, k := range b.Keys() {
		switch {
		case k == " ", k == "left", k == "right", k == names[0]:
		default:
			names = append(names, k)
		}
	}
	return strings.Join(names, " ")
}
