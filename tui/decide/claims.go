package decide

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/claims"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// pages has the claims about the recommended lock to read: what each says, what tries to refute it, and
// on which conditions.
type pages struct {
	*screen.App
	numbers []int
	scroll  int
	rows    int // of text in the last frame, and how many more there are
	beyond  int
}

func (d *Decide) openClaims() screen.Outcome {
	if len(d.claims) == 0 {
		return screen.Outcome{}
	}
	return screen.Outcome{Open: &pages{App: d.App, numbers: d.claims}}
}

// Update scrolls, or goes back.
func (p *pages) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case screen.Click:
		p.scroll += msg.Wheel
	case tea.KeyMsg:
		switch {
		case key.Matches(msg, p.Keys.Close), key.Matches(msg, p.Keys.Evidence):
			return nil, screen.Outcome{Close: true}
		case key.Matches(msg, p.Keys.Down):
			p.scroll++
		case key.Matches(msg, p.Keys.Up):
			p.scroll--
		case key.Matches(msg, p.Keys.PageDown):
			p.scroll += p.rows - 1
		case key.Matches(msg, p.Keys.PageUp):
			p.scroll -= p.rows - 1
		case key.Matches(msg, p.Keys.First):
			p.scroll = 0
		case key.Matches(msg, p.Keys.Last):
			p.scroll = p.beyond
		}
	}
	p.scroll = min(max(p.scroll, 0), p.beyond)
	return nil, screen.Outcome{}
}

// FooterKeys are those for scrolling, if there is more than fits.
func (p *pages) FooterKeys() []key.Binding {
	k := &p.Keys
	if p.beyond == 0 {
		return []key.Binding{k.Close, k.Help, k.Quit}
	}
	return []key.Binding{screen.Pair(k.Up, k.Down, "scroll"), screen.Pair(k.PageUp, k.PageDown, "page"), k.Close, k.Help, k.Quit}
}

// Help explains the screen and its keys.
func (p *pages) Help() screen.Page {
	k := &p.Keys
	return screen.Page{
		Title: "claims",
		About: "A claim says what a kind of lock never shows, whatever the schedule, as long as its conditions hold. It is no proof: tests try to refute it, " +
			"and for each condition there are tests that break it, and the claim with it.",
		Keys: append([]key.Binding{screen.As(k.Down, "down"), screen.As(k.Up, "up"), k.PageDown, k.PageUp, screen.As(k.First, "beginning"), screen.As(k.Last, "end")}, k.Always()...),
	}
}

// Draw draws the text from the line that was scrolled to.
func (p *pages) Draw(c *draw.Canvas, r draw.Rectangle) {
	c.Text(r.X+1, r.Y, r.W-2, "For all schedules, on conditions", draw.Title)
	lines := p.lines(r.W)
	p.rows = r.H - 2
	p.beyond = max(len(lines)-p.rows, 0)
	p.scroll = min(p.scroll, p.beyond)
	c.Lines(draw.Rect(r.X, r.Y+2, r.W, p.rows), lines, p.scroll)
}

func (p *pages) lines(width int) []draw.Line {
	t := draw.Paragraphs{Width: min(width-1, draw.WidestLine)}
	for _, n := range p.numbers {
		c := &claims.All[n-1]
		t.Gap()
		t.Add(draw.Strong, fmt.Sprintf("Claim %d: ", n), c.Text)
		t.Gap()
		t.Add(draw.Plain, "", c.Tried())
		t.Gap()
		t.Add(draw.Plain, "", "It assumes that")
		for _, a := range c.Assumptions {
			t.Add(draw.Plain, "- ", a.Text)
			t.Add(draw.Dim, "    broken by: ", strings.Join(a.Breaches, "; "))
		}
	}
	return t.Lines
}
