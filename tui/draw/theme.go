package draw

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Ink is the meaning of a cell, to which a theme gives a look.
type Ink uint8

const (
	Plain       Ink = iota // the terminal's own
	Dim                    // secondary text
	Strong                 // names and headlines
	Title                  // headings
	Pick                   // the selected line of a list
	Here                   // the cursor
	Alarm                  // a violation, now: the loudest thing on the screen
	Breach                 // a violation, as a mark or a word; a crash or another fault; and where two runs differ
	Good                   // an assurance
	firstClient            // and one for each of the clients, from here on
	_
	_
	_
	_
	inkCount
)

const clientInks = int(inkCount - firstClient)

// ClientInk is the colour of a client; with many of them they repeat, and the
// names beside the rows tell them apart.
func ClientInk(i int) Ink { return firstClient + Ink(i%clientInks) }

// Theme is how everything looks: an escape sequence before and after each ink,
// and the characters that are drawn with. Styles are made by lipgloss, once, and
// taken apart, because a frame has some thousand pieces.
type Theme struct {
	before, after [inkCount]string
	lined         bool // breaches are underlined, and so would be the blanks around them
	Glyphs
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

// NewTheme makes the looks for a renderer, which knows the terminal's colours
// and background. In mono nothing has a colour: only bold, faint, underlined and reversed.
func NewTheme(r *lipgloss.Renderer, mono, ascii bool) *Theme {
	t := &Theme{Glyphs: unicodeGlyphs}
	if ascii {
		t.Glyphs = asciiGlyphs
	}
	style := r.NewStyle
	looks := [inkCount]lipgloss.Style{
		Plain: style(), Dim: style().Foreground(grey), Strong: style().Bold(true),
		Title: style().Bold(true), Pick: style().Reverse(true), Here: style().Bold(true),
		Alarm:  style().Bold(true).Foreground(black).Background(loud),
		Breach: style().Bold(true).Foreground(vermilion), Good: style().Foreground(green),
	}
	for i, c := range []lipgloss.AdaptiveColor{blue, orange, green, purple, yellow} {
		looks[int(firstClient)+i] = style().Foreground(c)
	}
	if mono {
		looks[Dim] = style().Faint(true)
		looks[Alarm] = style().Bold(true).Reverse(true)
		looks[Breach], t.lined = style().Bold(true).Underline(true), true
		for i := int(Good); i < int(inkCount); i++ {
			looks[i] = style()
		}
	}
	const mark = "x" // no colour sequence contains it
	for i := range looks {
		t.before[i], t.after[i], _ = strings.Cut(looks[i].Render(mark), mark)
	}
	return t
}

// NewRenderer is the terminal's, told of its background if the theme is dark or light.
// In mono it has colours all the same: lipgloss strips bold and reverse as well where
// colours are unwanted, and a violation must stand out without them.
func NewRenderer(base *lipgloss.Renderer, theme string, mono bool) *lipgloss.Renderer {
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

// Glyphs are the characters that the panes draw with, each one column wide.
type Glyphs struct {
	More, Rule, Wall, cross string // cut text; lines between panes, and where they meet

	Ruler, Tick, Gap, Chasm, Here string // the time axis; a gap, and one too long to draw at all

	Awake, Paused, Held, Inside, Dead, Down, Retired string   // the activity of a client, the status of a node
	bars                                             []string // a lease that its holder believes in, and a record: by client
	Lapsed                                           string   // believed in, but over by the holder's own clock
	Wants                                            string
	Open, Shut                                       string // a record stored, a record gone
	Nobody                                           string // a record without an owner, a quorum that is split

	Send, receive, Retry, Granted, Refused, Enter, Leave, Release, Extend string
	Read, Write, Bad, Reject, Crash, pause, Resume, Lost, Fault           string
	GivesUp, Fails                                                        string

	Link, Right, Left string // the connector of the selected event
	Pointer, Aim      string // the selected row, the selected column
	Mild              string // a violation that is no failure
	Differs           string
	Arrows            [4]string // the keys: left, right, up, down
}

var unicodeGlyphs = Glyphs{
	More: "…", Rule: "─", Wall: "│", cross: "┴",
	Ruler: "─", Tick: "┼", Gap: "┄", Chasm: "╱", Here: "▼",
	Awake: "─", Paused: "░", Held: "▒", Inside: "█", Dead: " ", Down: "╳", Retired: "╲",
	bars: []string{"━", "═", "≡", "╍", "▬"}, Lapsed: "╌", Wants: "·", Open: "[", Shut: "]", Nobody: "┈",
	Send: "◆", receive: "◂", Retry: "◇", Granted: "✓", Refused: "◇", Enter: "[", Leave: "]", Release: "▽", Extend: "»",
	Read: "○", Write: "●", Bad: "✗", Reject: "⊘", Crash: "†", pause: "░", Resume: "↷", Lost: "≠", Fault: "!",
	GivesUp: "⊣", Fails: "¬",
	Link: "│", Right: "→", Left: "←", Pointer: "▸", Aim: "▾", Mild: "~", Differs: "╪",
	Arrows: [4]string{"←", "→", "↑", "↓"},
}

var asciiGlyphs = Glyphs{
	More: "~", Rule: "-", Wall: "|", cross: "+",
	Ruler: "-", Tick: "+", Gap: ".", Chasm: "/", Here: "V",
	Awake: "-", Paused: ":", Held: ";", Inside: "#", Dead: " ", Down: "x", Retired: "\\",
	bars: []string{"=", "%", "&", "$", "@"}, Lapsed: "_", Wants: ".", Open: "[", Shut: "]", Nobody: ",",
	Send: "*", receive: "<", Retry: "?", Granted: "Y", Refused: "?", Enter: "[", Leave: "]", Release: "v", Extend: "^",
	Read: "o", Write: "W", Bad: "X", Reject: "0", Crash: "+", pause: ":", Resume: "r", Lost: "/", Fault: "!",
	GivesUp: "T", Fails: "F",
	Link: "|", Right: ">", Left: "<", Pointer: ">", Aim: "v", Mild: "~", Differs: "#",
	Arrows: [4]string{"left", "right", "up", "down"},
}

// Bar is the glyph of a client's lease or record. A client below 0 stands for none.
func (g *Glyphs) Bar(client int) string {
	if client < 0 {
		return g.Nobody
	}
	return g.bars[client%len(g.bars)]
}

// Sign is a glyph, or several, and the meaning.
type Sign [2]string
