// Package picker has lists to choose from, which any screen can open: of locks, of
// scenarios, and of the formats in which a run is written to a file.
package picker

import (
	"fmt"
	"strconv"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// Picker is a list to choose from, on the whole screen.
//
// Invariant: 0 <= At < len(Items), unless there are no items.
type Picker struct {
	*screen.App
	Title   string
	Items   []Item
	At      int                // the item at the cursor
	Current int                // the item that is shown already, or -1
	Verb    string             // the word for choosing in the footer; empty is "choose"
	Back    string             // where esc leads, for the footer; empty is "back"
	About   string             // for the help, if the badges are not verdicts
	note    func(i int) string // the distinction of an item, told beside its number while the cursor is there; nil has none
	wanted  tea.Cmd            // computes the badges
	Choose  func(int) (tea.Cmd, screen.Outcome)

	Numbered bool           // the items have numbers: typing one goes to it
	typed    int            // the number so far, or 0
	left     int            // the item at the cursor before the number was typed
	list     draw.Rectangle // of the last frame: clicks refer to it
	first    int            // the first item in it
}

// Item is an item of a list.
type Item struct {
	Name, About string           // About is a line on it
	Detail      string           // more about it, told while the cursor is there; empty is About
	Badge       func() draw.Span // the outcome of the run, if it is known
	Outcome     func() string    // the same in words, told while the cursor is there; nil has none
	Spared      func() string    // why that outcome says nothing against the current one, told in the place of About; nil or nothing if it does
}

// Start has the badges computed.
func (p *Picker) Start() tea.Cmd { return p.wanted }

// Update takes a key, a click, or the result of something that was asked for.
func (p *Picker) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case screen.Click:
		return p.clicked(msg)
	case tea.KeyMsg:
		return p.press(msg)
	}
	return nil, screen.Outcome{}
}

func (p *Picker) press(k tea.KeyMsg) (tea.Cmd, screen.Outcome) {
	number := p.typed
	p.typed = 0
	switch {
	case p.Numbered && len(k.Runes) == 1 && k.Runes[0] >= '0' && k.Runes[0] <= '9':
		if p.number(number, int(k.Runes[0]-'0')) {
			p.typed = 0
			return p.Choose(p.At)
		}
	case key.Matches(k, p.Keys.Close) && number > 0:
		p.At = p.left
	case key.Matches(k, p.Keys.Close):
		return nil, screen.Outcome{Close: true}
	case key.Matches(k, p.Keys.Up):
		p.At--
	case key.Matches(k, p.Keys.Down):
		p.At++
	case key.Matches(k, p.Keys.PageUp):
		p.At -= max(p.list.H, 1)
	case key.Matches(k, p.Keys.PageDown):
		p.At += max(p.list.H, 1)
	case key.Matches(k, p.Keys.First):
		p.At = 0
	case key.Matches(k, p.Keys.Last):
		p.At = len(p.Items) - 1
	case key.Matches(k, p.Keys.Enter) && len(p.Items) > 0:
		return p.Choose(p.At)
	}
	p.At = max(min(p.At, len(p.Items)-1), 0)
	return nil, screen.Outcome{}
}

// number takes another digit of a number, or the first of the next one, and goes to that item. It reports whether that is the item's whole
// number, which no further digit can change: then it is chosen, as by the digits of a menu. One that begins anew, as there is no item of the
// number with it, chooses none: it was meant otherwise.
func (p *Picker) number(before, digit int) (whole bool) {
	if before == 0 {
		p.left = p.At
	}
	whole = true
	if p.typed = 10*before + digit; p.typed > len(p.Items) {
		p.typed, whole = digit, false
	}
	if p.typed == 0 || p.typed > len(p.Items) {
		p.typed = 0
		return false
	}
	p.At = p.typed - 1
	return whole && 10*p.typed > len(p.Items)
}

func (p *Picker) clicked(c screen.Click) (tea.Cmd, screen.Outcome) {
	if c.Wheel != 0 {
		p.At = max(min(p.At+c.Wheel, len(p.Items)-1), 0)
		return nil, screen.Outcome{}
	}
	i := p.first + c.Y - p.list.Y
	if c.Y < p.list.Y || c.Y >= p.list.Y+p.list.H || i >= len(p.Items) {
		return nil, screen.Outcome{}
	}
	p.At = i
	return p.Choose(i)
}

// FooterKeys are the keys that work here, the most useful first.
func (p *Picker) FooterKeys() []key.Binding {
	move, choose := screen.Pair(p.Keys.Up, p.Keys.Down, "move"), screen.As(p.Keys.Enter, draw.Either(p.Verb != "", p.Verb, "choose"))
	back := screen.As(p.Keys.Close, draw.Either(p.Back != "", p.Back, p.Keys.Close.Help().Desc))
	if p.typed > 0 {
		back = screen.As(back, "cancel the number")
	}
	if p.Numbered {
		choose = screen.Bind(fmt.Sprintf("%s 1-%d", choose.Help().Key, len(p.Items)), choose.Help().Desc, choose.Keys()...)
	}
	return []key.Binding{move, choose, back, screen.Pair(p.Keys.PageUp, p.Keys.PageDown, "page"), p.Keys.Help, p.Keys.Quit}
}

// Help explains the screen and its keys.
func (p *Picker) Help() screen.Page {
	k, g := &p.Keys, &p.Theme.Glyphs
	keys := append([]key.Binding{screen.As(k.Up, "up"), screen.As(k.Down, "down"), k.PageUp, k.PageDown, screen.As(k.First, "first"), screen.As(k.Last, "last"),
		screen.As(k.Enter, "choose")}, k.Always()...)
	if p.Numbered {
		keys = append([]key.Binding{screen.Bind(fmt.Sprintf("1-%d", len(p.Items)), "choose that number")}, keys...)
	}
	if p.About != "" {
		return screen.Page{Title: "a list", About: p.About, Keys: keys}
	}
	return screen.Page{
		Title: "a list",
		About: "Beside each name stands what came of it, run just now: the worst that the monitors saw. Below stands all that they saw in the run at the cursor.",
		Keys:  keys,
		Signs: append([]draw.Sign{{g.Granted + "ok", "nothing broke"}, {"(ok)", "nothing broke here; elsewhere the lock fails, in a run that it has to withstand whatever its use"}, {g.Mild + "BD", "reported, but no failure"}, {g.Bad + "DG", "broken: the worst code of the run"},
			screen.Untested(),
			screen.NotRun(g), {g.Wants + g.Wants, "not known yet"}, {"?", "not what the scenario expects"}, {g.Write, "open now"}}, screen.CodeSigns()...),
	}
}

// Draw lists the items around the one at the cursor, whose description stands below.
func (p *Picker) Draw(c *draw.Canvas, r draw.Rectangle) {
	n := c.Text(r.X+1, r.Y, r.W-2, p.Title, draw.Title)
	where := fmt.Sprintf("  row %d of %d", p.At+1, len(p.Items))
	if p.note != nil && p.At < len(p.Items) {
		where += p.note(p.At)
	}
	if p.typed > 0 {
		where = fmt.Sprintf("  %d_  %s takes it", p.typed, p.Keys.Enter.Help().Key)
		if 10*p.typed <= len(p.Items) {
			where += ", another digit goes on"
		}
	}
	c.Text(r.X+1+n, r.Y, r.W-2-n, where, draw.Dim)
	if p.About == "" {
		var shown []string
		for _, it := range p.Items {
			shown = append(shown, it.Badge().Text)
		}
		c.Line(r.X, r.Y+1, r.W, screen.BadgeLegendOf(&p.Theme.Glyphs, shown))
	}
	const badges = 7
	p.list = draw.Rect(r.X, r.Y+2, r.W, r.H-2-p.rowsBelow(r))
	p.first = min(max(p.At-p.list.H/2, 0), max(len(p.Items)-p.list.H, 0))
	names := 0
	for _, it := range p.Items {
		names = max(names, draw.Width(it.Name))
	}
	names = min(names, r.W/3)
	numbers := 0
	if p.Numbered {
		numbers = len(strconv.Itoa(len(p.Items)))
	}
	for i := p.first; i < len(p.Items) && i-p.first < p.list.H; i++ {
		it := p.Items[i]
		mark := "   "
		switch i {
		case p.At:
			mark = " " + p.Theme.Pointer + " "
		case p.Current:
			mark = " " + p.Theme.Write + " "
		}
		badge := it.Badge()
		number := ""
		if p.Numbered {
			number = fmt.Sprintf("%*d  ", numbers, i+1)
		}
		l := draw.Line{draw.Text(mark+number, draw.Here), draw.Text(draw.Pad(draw.Fit(it.Name, names, p.Theme.More), names)+"  ", draw.Strong),
			draw.Text(draw.Pad(badge.Text, badges), badge.Ink)}
		about := draw.FitWords(draw.Either(it.spared() != "", it.spared(), it.About), p.list.W-l.Width(), p.Theme.More) // all of it stands below
		l = append(l, draw.Text(about, draw.Dim))
		if i == p.At {
			l = l.Fitted(p.list.W, p.Theme.More).Selected(p.list.W)
		}
		c.Line(p.list.X, p.list.Y+i-p.first, p.list.W, l)
	}
	if len(p.Items) > 0 {
		below := min(p.list.Y+len(p.Items), p.list.Y+p.list.H) + 1 // the list's last item, and not the window's last rows: there a short list has it out of sight
		c.Lines(draw.Rect(r.X+3, below, r.W-4, r.Y+r.H-below), p.description(p.At, r.W-4), 0)
	}
}

// rowsBelow are the rows that the list leaves to the description of any of its items: the longest of these, or the list would jump from
// one item to the next.
func (p *Picker) rowsBelow(r draw.Rectangle) int {
	rows := 4
	for i := range p.Items {
		rows = max(rows, min(1+len(p.description(i, r.W-4)), r.H/2))
	}
	return rows
}

// spared is Spared, which may be nil.
func (it *Item) spared() string {
	if it.Spared == nil {
		return ""
	}
	return it.Spared()
}

// description tells of an item what came of it, and what it is, both whole.
func (p *Picker) description(i, width int) (about []draw.Line) {
	width = min(width, draw.WidestLine)
	it := &p.Items[i]
	if it.Outcome != nil {
		text := it.Outcome()
		if why := it.spared(); why != "" {
			text += "; but this run is no proof that it helps: " + why
		}
		for _, s := range draw.Wrap(text, width) {
			about = append(about, draw.Line{draw.Text(s, draw.Strong)})
		}
	}
	for _, s := range draw.Wrap(draw.Either(it.Detail != "", it.Detail, it.About), width) {
		about = append(about, draw.Line{draw.Text(s, draw.Plain)})
	}
	return about
}
