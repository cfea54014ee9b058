package tui

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// ink is what a cell is drawn in: a meaning, to which a theme gives a look.
type ink uint8

const (
	inkPlain ink = iota
	inkDim
	inkStrong
	inkTitle  // headings
	inkPick   // the selected line of a list
	inkHere   // the cursor
	inkAlarm  // a violation, now: the loudest thing on the screen
	inkBreach // a violation, as a mark or a word
	inkGood   // an assurance
	inkClient // and one for each of the clients, from here on
	_
	_
	_
	_
	inkCount
)

const clientInks = int(inkCount - inkClient)

// clientInk is the colour of a client; with many of them they repeat, and the
// names beside the rows tell them apart.
func clientInk(i int) ink { return inkClient + ink(i%clientInks) }

// theme is how everything looks: an escape sequence before and after each ink,
// and the characters that are drawn with. Styles are made by lipgloss, once, and
// taken apart, because a frame has some thousand pieces.
type theme struct {
	before, after [inkCount]string
	glyphs
}

// Okabe and Ito's palette, which people with any of the usual kinds of colour
// blindness can tell apart; on white, darker shades where theirs are too pale to read.
var (
	blue      = lipgloss.AdaptiveColor{Dark: "#56B4E9", Light: "#0072B2"}
	orange    = lipgloss.AdaptiveColor{Dark: "#E69F00", Light: "#8A6200"}
	green     = lipgloss.AdaptiveColor{Dark: "#00B884", Light: "#007A59"}
	purple    = lipgloss.AdaptiveColor{Dark: "#CC79A7", Light: "#A0487A"}
	yellow    = lipgloss.AdaptiveColor{Dark: "#F0E442", Light: "#6B6500"}
	vermilion = lipgloss.AdaptiveColor{Dark: "#FF6A1A", Light: "#D03800"}
	grey      = lipgloss.AdaptiveColor{Dark: "#8A8A8A", Light: "#6A6A6A"}
	black     = lipgloss.Color("#000000")
	loud      = lipgloss.Color("#D55E00")
)

// newTheme makes the looks for a renderer, which knows the terminal's colours
// and background. In mono nothing has a colour: only bold, faint, underlined and reversed.
func newTheme(r *lipgloss.Renderer, mono, ascii bool) *theme {
	t := &theme{glyphs: unicodeGlyphs}
	if ascii {
		t.glyphs = asciiGlyphs
	}
	style := r.NewStyle
	looks := [inkCount]lipgloss.Style{
		inkPlain: style(), inkDim: style().Foreground(grey), inkStrong: style().Bold(true),
		inkTitle: style().Bold(true), inkPick: style().Reverse(true), inkHere: style().Bold(true),
		inkAlarm:  style().Bold(true).Foreground(black).Background(loud),
		inkBreach: style().Bold(true).Foreground(vermilion), inkGood: style().Foreground(green),
	}
	for i, c := range []lipgloss.AdaptiveColor{blue, orange, green, purple, yellow} {
		looks[int(inkClient)+i] = style().Foreground(c)
	}
	if mono {
		looks[inkDim] = style().Faint(true)
		looks[inkAlarm] = style().Bold(true).Reverse(true)
		looks[inkBreach] = style().Bold(true).Underline(true)
		for i := int(inkGood); i < int(inkCount); i++ {
			looks[i] = style()
		}
	}
	const mark = "x" // no colour sequence contains it
	for i := range looks {
		t.before[i], t.after[i], _ = strings.Cut(looks[i].Render(mark), mark)
	}
	return t
}

// newRenderer is the terminal's, told of its background if the theme is dark or light.
// In mono it has colours all the same: lipgloss strips bold and reverse as well where
// colours are unwanted, and a violation must stand out without them.
func newRenderer(base *lipgloss.Renderer, theme string, mono bool) *lipgloss.Renderer {
	switch {
	case mono:
		base.SetColorProfile(termenv.ANSI)
		base.SetHasDarkBackground(true) // it makes no difference: don't ask the terminal
	case theme == "dark":
		base.SetHasDarkBackground(true)
	case theme == "light":
		base.SetHasDarkBackground(false)
	}
	return base
}

// glyphs are the characters that the panes draw with, each one column wide.
type glyphs struct {
	more, rule, wall, cross string // cut text; lines between panes, and where they meet

	ruler, tick, gap, chasm, here string // the time axis; a gap, and one too long to draw at all

	awake, paused, inside, dead, down string   // what a client does, what a node is
	bars                              []string // a lease that its holder believes in, and a record: by client
	lapsed                            string   // believed in, but over by the holder's own clock
	wants                             string
	open, shut                        string // a record stored, a record gone
	nobody                            string // a record that is nobody's, a quorum that is split

	send, receive, retry, granted, refused, enter, leave, release, extend string
	read, write, bad, reject, crash, pause, resume, lost, fault           string

	link, right, left string // the connector of the selected event
	pointer, aim      string // the selected row, the selected column
	mild              string // a violation that is no failure
	differs           string
	arrows            [4]string // the keys: left, right, up, down
}

var unicodeGlyphs = glyphs{
	more: "…", rule: "─", wall: "│", cross: "┴",
	ruler: "─", tick: "┼", gap: "┄", chasm: "╱", here: "▼",
	awake: "─", paused: "░", inside: "█", dead: " ", down: "╳",
	bars: []string{"━", "═", "≡", "╍", "▬"}, lapsed: "╌", wants: "·", open: "[", shut: "]", nobody: "┈",
	send: "◆", receive: "◂", retry: "◇", granted: "✓", refused: "◇", enter: "[", leave: "]", release: "▽", extend: "»",
	read: "○", write: "●", bad: "✗", reject: "⊘", crash: "†", pause: "░", resume: "▸", lost: "≠", fault: "!",
	link: "│", right: "→", left: "←", pointer: "▸", aim: "▾", mild: "~", differs: "╪",
	arrows: [4]string{"←", "→", "↑", "↓"},
}

var asciiGlyphs = glyphs{
	more: "~", rule: "-", wall: "|", cross: "+",
	ruler: "-", tick: "+", gap: ".", chasm: "/", here: "V",
	awake: "-", paused: ":", inside: "#", dead: " ", down: "x",
	bars: []string{"=", "%", "&", "$", "@"}, lapsed: "-", wants: ".", open: "[", shut: "]", nobody: ",",
	send: "*", receive: "<", retry: "?", granted: "Y", refused: "?", enter: "[", leave: "]", release: "v", extend: "^",
	read: "o", write: "W", bad: "X", reject: "0", crash: "+", pause: ":", resume: ">", lost: "/", fault: "!",
	link: "|", right: ">", left: "<", pointer: ">", aim: "v", mild: "~", differs: "#",
	arrows: [4]string{"left", "right", "up", "down"},
}

func (g *glyphs) bar(client int) string {
	if client < 0 {
		return g.nobody
	}
	return g.bars[client%len(g.bars)]
}

// meaning is a glyph, or several, and what it means.
type meaning [2]string
