package tui

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// page is what a room has to say about itself.
type page struct {
	title string
	about string
	keys  []key.Binding
	signs []meaning // what its glyphs mean
}

// help is the screen that shows a room's page.
type help struct {
	*stage
	page   page
	scroll int
	rows   int // of text in the last frame, and how many more there are
	beyond int
}

func (h *help) update(msg tea.Msg) (tea.Cmd, outcome) {
	switch k := msg.(type) {
	case click:
		h.scroll = max(h.scroll+k.wheel, 0)
	case tea.KeyMsg:
		switch {
		case key.Matches(k, h.keys.Close), key.Matches(k, h.keys.Help), key.Matches(k, h.keys.Enter):
			return nil, outcome{close: true}
		case key.Matches(k, h.keys.Down):
			h.scroll++
		case key.Matches(k, h.keys.Up):
			h.scroll--
		case key.Matches(k, h.keys.PageDown):
			h.scroll += h.rows - 1
		case key.Matches(k, h.keys.PageUp):
			h.scroll -= h.rows - 1
		case key.Matches(k, h.keys.First):
			h.scroll = 0
		case key.Matches(k, h.keys.Last):
			h.scroll = h.beyond
		}
		h.scroll = min(max(h.scroll, 0), h.beyond)
	}
	return nil, outcome{}
}

func (h *help) footerKeys() []key.Binding {
	always := []key.Binding{h.keys.Close, h.keys.Quit}
	if h.beyond == 0 {
		return always
	}
	return append([]key.Binding{pair(h.keys.Up, h.keys.Down, "scroll"), pair(h.keys.PageUp, h.keys.PageDown, "page")}, always...)
}

func (h *help) help() page { return h.page }

func (h *help) draw(c *canvas, r rect) {
	c.text(r.x+1, r.y, r.w-2, h.page.title, inkTitle)
	lines := h.lines(r.w - 2)
	h.rows = r.h - 2
	h.beyond = max(len(lines)-h.rows, 0)
	h.scroll = min(h.scroll, h.beyond)
	c.lines(rect{r.x + 1, r.y + 2, r.w - 2, r.h - 2}, lines, h.scroll)
}

// lines is the page: what it is, the keys in columns, the signs.
func (h *help) lines(width int) []line {
	var lines []line
	for _, s := range wrap(h.page.about, min(width, longestLine)) {
		lines = append(lines, line{{s, inkPlain}})
	}
	lines = append(lines, nil)
	lines = append(lines, h.columns(width)...)
	if len(h.page.signs) == 0 {
		return lines
	}
	return append(append(lines, nil), flow(h.page.signs, width)...)
}

// columns lists the keys, downwards first.
func (h *help) columns(width int) []line {
	keys := h.page.keys
	const column, names = 38, 13
	per := max(width/column, 1)
	rows := (len(keys) + per - 1) / per
	lines := make([]line, rows)
	for i, b := range keys {
		l := &lines[i%rows]
		*l = append(*l, span{padded(keyNames(b), names), inkStrong}, span{padded(fit(b.Help().Desc, column-names-1, h.theme.more), column-names), inkDim})
	}
	return lines
}

// flow sets signs and their meanings one after the other.
func flow(signs []meaning, width int) []line {
	var lines []line
	var now line
	for _, it := range signs {
		next := line{{it[0], inkStrong}, {" " + it[1] + "   ", inkDim}}
		if now.width()+next.width() > width && now != nil {
			lines, now = append(lines, now), nil
		}
		now = append(now, next...)
	}
	return append(lines, now)
}
