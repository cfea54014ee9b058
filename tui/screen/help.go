package screen

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// Page explains a screen.
type Page struct {
	Title string
	About string        // a paragraph
	Keys  []key.Binding // all that work there
	Signs []draw.Sign   // the meanings of its glyphs
	Words []trace.Word  // that may stand on it, beside those of any screen
	Prose bool          // it has no diagram
}

// help is the screen that shows another one's page.
type help struct {
	*App
	page   Page
	words  []trace.Word // that stand on the screen
	all    bool         // the page is the list of all words
	scroll int
	rows   int // of text in the last frame, and how many more there are
	beyond int
}

// Update scrolls, or goes back.
func (h *help) Update(msg tea.Msg) (tea.Cmd, Outcome) {
	switch k := msg.(type) {
	case Click:
		h.scroll = max(h.scroll+k.Wheel, 0)
	case tea.KeyMsg:
		switch {
		case key.Matches(k, h.Keys.Close), key.Matches(k, h.Keys.Help), key.Matches(k, h.Keys.Enter):
			return nil, Outcome{Close: true}
		case key.Matches(k, h.Keys.Pane):
			h.all, h.scroll = !h.all, 0
			return nil, Outcome{} // the next frame says how far it goes
		case key.Matches(k, h.Keys.Down):
			h.scroll++
		case key.Matches(k, h.Keys.Up):
			h.scroll--
		case key.Matches(k, h.Keys.PageDown):
			h.scroll += draw.PageOf(h.rows)
		case key.Matches(k, h.Keys.PageUp):
			h.scroll -= draw.PageOf(h.rows)
		case key.Matches(k, h.Keys.First):
			h.scroll = 0
		case key.Matches(k, h.Keys.Last):
			h.scroll = h.beyond
		}
		h.scroll = min(max(h.scroll, 0), h.beyond)
	}
	return nil, Outcome{}
}

// FooterKeys are those for scrolling, if there is more than fits, and the one that leads to all words.
func (h *help) FooterKeys() []key.Binding {
	always := []key.Binding{As(h.Keys.Pane, draw.Either(h.all, "this screen", "all words")), h.Keys.Close, h.Keys.Quit}
	if h.beyond == 0 {
		return always
	}
	return append([]key.Binding{Pair(h.Keys.Up, h.Keys.Down, "scroll"), Pair(h.Keys.PageUp, h.Keys.PageDown, "page")}, always...)
}

// Help is the page itself.
func (h *help) Help() Page { return h.page }

// Draw draws the page from the line that was scrolled to.
func (h *help) Draw(c *draw.Canvas, r draw.Rectangle) {
	c.Text(r.X+1, r.Y, r.W-2, draw.Either(h.all, "all words", h.page.Title), draw.Title)
	lines := h.lines(r.W - 2)
	h.rows = r.H - 2
	h.beyond = max(len(lines)-h.rows, 0)
	h.scroll = min(h.scroll, h.beyond)
	c.Lines(draw.Rect(r.X+1, r.Y+2, r.W-2, r.H-2), lines, h.scroll)
}

// lines is the page: the paragraph, the keys in columns, the signs, the words; or the words that this program
// uses on any screen, the codes among them.
func (h *help) lines(width int) []draw.Line {
	var lines []draw.Line
	if h.all {
		words := slices.Concat(trace.Words, trace.Terms)
		for _, c := range trace.Codes {
			words = append(words, trace.Word{Name: c.String(), Meaning: c.Name() + ": " + c.Meaning()})
		}
		return glossary(words, width)
	}
	for _, s := range draw.Wrap(h.page.About, min(width, draw.LongestLine)) {
		lines = append(lines, draw.Line{draw.Text(s, draw.Plain)})
	}
	lines = append(lines, nil)
	lines = append(lines, h.columns(width)...)
	if len(h.page.Signs) > 0 {
		lines = append(append(lines, nil), flow(h.page.Signs, width)...)
	}
	if len(h.words) > 0 {
		lines = append(lines, nil, draw.Line{draw.Text("Words on this screen", draw.Title)})
		lines = append(lines, glossary(h.words, width)...)
	}
	return lines
}

// glossary explains words, in the order of the alphabet: in two columns where there is room for both.
func glossary(words []trace.Word, width int) []draw.Line {
	const gap, least = 2, 56 // between columns; of a column's text
	words, names := slices.Clone(words), 0
	slices.SortStableFunc(words, func(x, y trace.Word) int { return strings.Compare(strings.ToLower(x.Name), strings.ToLower(y.Name)) })
	for _, w := range words {
		names = max(names, draw.Width(w.Name)+2)
	}
	column, two := width, (width-gap)/2-names >= least
	if two {
		column = (width - gap) / 2
	}
	entries := make([][]draw.Line, len(words))
	all := 0
	for i, w := range words {
		name := draw.Pad(w.Name, names)
		for _, s := range draw.Wrap(w.Meaning, min(column-names, draw.LongestLine)) {
			entries[i] = append(entries[i], draw.Line{draw.Text(name, draw.Strong), draw.Text(s, draw.Dim)})
			name = draw.Pad("", names)
		}
		all += len(entries[i])
	}
	var left, right []draw.Line
	for _, entry := range entries {
		if two && len(left) >= (all+1)/2 {
			right = append(right, entry...)
		} else {
			left = append(left, entry...)
		}
	}
	for i, l := range right {
		left[i] = append(append(left[i], draw.Text(draw.Pad("", column+gap-left[i].Width()), draw.Plain)), l...)
	}
	return left
}

// columns lists the keys, downwards first. A description that doesn't fit beside its key goes on below, in the same column.
func (h *help) columns(width int) []draw.Line {
	const least, names, gap = 38, 13, 3 // of a column; between columns, or a text would run on into the next one's key
	n := max(width/least, 1)
	column := max(width/n, least)
	var entries [][]draw.Line
	all := 0
	for _, b := range h.page.Keys {
		var entry []draw.Line
		name := keyNames(b)
		for _, desc := range draw.Wrap(b.Help().Desc, column-names-gap) {
			entry = append(entry, draw.Line{draw.Text(draw.Pad(name, names), draw.Strong), draw.Text(draw.Pad(desc, column-names), draw.Dim)})
			name = ""
		}
		entries = append(entries, entry)
		all += len(entry)
	}
	rows := (all + n - 1) / n
	columns := inColumns(entries, rows)
	for ; len(columns) > n; rows++ {
		columns = inColumns(entries, rows+1)
	}
	for _, lot := range columns {
		rows = max(rows, len(lot))
	}
	lines := make([]draw.Line, rows)
	for at, lot := range columns {
		for i, l := range lot {
			if short := at*column - lines[i].Width(); short > 0 { // the column before is not as long
				lines[i] = append(lines[i], draw.Text(draw.Pad("", short), draw.Plain))
			}
			lines[i] = append(lines[i], l...)
		}
	}
	return lines
}

// inColumns sets entries in as many columns of so many rows as they need: each of them stays whole. One with more rows than
// that has a column of its own, which is longer.
func inColumns(entries [][]draw.Line, rows int) (columns [][]draw.Line) {
	for i, entry := range entries {
		if last := len(columns) - 1; i > 0 && len(columns[last])+len(entry) <= rows {
			columns[last] = append(columns[last], entry...)
			continue
		}
		columns = append(columns, slices.Clone(entry))
	}
	return columns
}

// flow sets signs and their meanings one after the other. One that has several meanings stands once, and one
// with more words than a line holds has lines of its own.
func flow(signs []draw.Sign, width int) []draw.Line {
	var lines []draw.Line
	var now draw.Line
	for _, it := range merged(signs) {
		next := draw.Line{draw.Text(it[0], draw.Strong), draw.Text(" "+it[1]+"   ", draw.Dim)}
		if next.Width() > width {
			next[1].Text = " " + it[1]
			if now != nil {
				lines = append(lines, now)
			}
			lines = append(lines, next.Hanging(min(width, draw.WidestLine))...)
			now = nil
			continue
		}
		if now.Width()+next.Width() > width && now != nil {
			lines, now = append(lines, now), nil
		}
		now = append(now, next...)
	}
	if now != nil {
		lines = append(lines, now)
	}
	return lines
}

// merged puts the meanings of one sign together, where it stood first.
func merged(signs []draw.Sign) (once []draw.Sign) {
	for _, s := range signs {
		if i := slices.IndexFunc(once, func(o draw.Sign) bool { return o[0] == s[0] }); i >= 0 {
			once[i][1] += "; or " + s[1]
			continue
		}
		once = append(once, s)
	}
	return once
}
