package decide

import (
	"fmt"
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/claims"
	"lockstep/sim/timeline"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// pages has the claims about the recommended lock to read: the text of each, the test that tries to refute it,
// its conditions, and the breaches of those, with a run to play where there is one.
//
// Invariant: at is none or an index of breaches, which are those of the last frame.
type pages struct {
	*screen.App
	numbers  []int
	scroll   int
	rows     int // of text in the last frame, and how many more there are
	beyond   int
	starts   []int      // of the claims in the last frame: the line with which each begins
	at       int        // the breach at the cursor
	breaches []breachAt // those that have a run, from top to bottom
	top      int        // the first row of text on the screen, in the last frame
}

// breachAt is a breach with a run, the codes that the claim excludes, and its line in the text.
type breachAt struct {
	claims.Breach
	never []string
	line  int
}

const none = -1

func (d *Decide) openClaims() screen.Outcome {
	if len(d.claims) == 0 {
		d.said = "claims come with a lock: once the questions are answered, and the runs made"
		if a, waiting := d.advice(); d.toAsk() == 0 && waiting == 0 {
			d.said = "there is no claim about " + a.Lock.Name
		}
		return screen.Outcome{}
	}
	return screen.Outcome{Open: &pages{App: d.App, numbers: d.claims, at: none}}
}

// Update moves the cursor, plays the run there, or goes back.
func (p *pages) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case screen.Click:
		p.clicked(msg)
	case tea.KeyMsg:
		switch {
		case key.Matches(msg, p.Keys.Close), key.Matches(msg, p.Keys.Evidence):
			return nil, screen.Outcome{Close: true}
		case key.Matches(msg, p.Keys.Enter) && p.at != none:
			return nil, screen.Outcome{To: p.run(&p.breaches[p.at])}
		case key.Matches(msg, p.Keys.Guess):
			return nil, p.other(int(msg.Runes[0] - '0'))
		case key.Matches(msg, p.Keys.Down):
			p.step(1)
		case key.Matches(msg, p.Keys.Up):
			p.step(-1)
		case key.Matches(msg, p.Keys.PageDown):
			p.show(p.scroll + draw.PageOf(p.rows))
		case key.Matches(msg, p.Keys.PageUp):
			p.show(p.scroll - draw.PageOf(p.rows))
		case key.Matches(msg, p.Keys.First):
			p.show(0)
		case key.Matches(msg, p.Keys.Last):
			p.show(p.beyond)
		}
	}
	return nil, screen.Outcome{}
}

// run is a breach's run, from the violation on that the claim is about: another may come before it.
func (p *pages) run(b *breachAt) screen.PlayMsg {
	msg := screen.PlayMsg{Strategy: p.Library.Strategy(b.Lock), Scenario: p.Library.Named(b.Scenario)}
	t, err := p.Library.Run(p.Library.Scenarios[msg.Scenario], p.Library.Strategies[msg.Strategy], p.Seed)
	if err != nil {
		return msg // the player says why there is none
	}
	for _, v := range timeline.New(t).Breaches {
		if slices.Contains(b.never, v.Code.String()) {
			msg.From = v.Pos
			break
		}
	}
	return msg
}

// other opens a claim by its number: one that these refer to, say. Those that are on the screen are scrolled to.
func (p *pages) other(n int) screen.Outcome {
	switch i := slices.Index(p.numbers, n); {
	case n < 1 || n > len(claims.All):
		return screen.Outcome{}
	case i >= 0:
		p.show(p.starts[i] - 1) // the first row says how much is above
		return screen.Outcome{}
	}
	return screen.Outcome{Open: &pages{App: p.App, numbers: []int{n}, at: none}}
}

// step moves the cursor to the next run in sight, or scrolls by a line where none is, as it does for the text
// between two that are far apart.
func (p *pages) step(by int) {
	next := p.at + by
	if p.at == none && by < 0 {
		next = none
	}
	if next >= 0 && next < len(p.breaches) && p.sees(next) {
		p.at = next
		return
	}
	p.show(p.scroll + by)
}

// show scrolls to a line. The cursor stays in sight: it goes to the nearest run that is, or to none.
func (p *pages) show(line int) {
	p.scroll = min(max(line, 0), p.beyond)
	if p.at != none && p.sees(p.at) {
		return
	}
	last := p.at
	p.at = none
	for i := range p.breaches {
		if p.sees(i) && (p.at == none || i <= last) {
			p.at = i
		}
	}
}

// sees reports whether a run is in sight. The first and the last row say how much more there is, if there is more.
func (p *pages) sees(i int) bool {
	first, last := p.scroll, p.scroll+p.rows-1
	if p.scroll > 0 {
		first++
	}
	if p.scroll < p.beyond {
		last--
	}
	return p.breaches[i].line >= first && p.breaches[i].line <= last
}

func (p *pages) clicked(c screen.Click) {
	if c.Wheel != 0 {
		p.show(p.scroll + c.Wheel)
		return
	}
	for i, b := range p.breaches {
		if b.line-p.scroll == c.Y-p.top && p.sees(i) {
			p.at = i
		}
	}
}

// FooterKeys are those for the run at the cursor, and for scrolling, if there is more than fits.
func (p *pages) FooterKeys() (keys []key.Binding) {
	k := &p.Keys
	if p.at != none {
		keys = append(keys, screen.As(k.Enter, "play from the violation"))
	}
	if len(p.breaches) > 0 || p.beyond > 0 {
		keys = append(keys, screen.Pair(k.Up, k.Down, "row"))
	}
	keys = append(keys, p.numbered())
	if p.beyond > 0 {
		keys = append(keys, screen.Pair(k.PageUp, k.PageDown, "page"))
	}
	return append(keys, k.Close, k.Help, k.Quit)
}

// numbered is the binding of the digits, as many as there are claims.
func (p *pages) numbered() key.Binding {
	return screen.Bind(fmt.Sprintf("1-%d", len(claims.All)), "claim", p.Keys.Guess.Keys()[:len(claims.All)]...)
}

// Help explains the screen and its keys.
func (p *pages) Help() screen.Page {
	k := &p.Keys
	return screen.Page{
		Title: "claims",
		About: "A claim says what a kind of lock never shows, whatever the schedule, as long as its conditions hold. It is no proof: tests try to refute it, " +
			"and for each condition there are tests that break it, and the claim with it. Where a run of the catalogue does the same, it can be played from its violation on.",
		Keys: append([]key.Binding{screen.As(k.Enter, "play from the violation"), screen.As(k.Down, "down"), screen.As(k.Up, "up"), k.PageDown, k.PageUp, screen.As(k.First, "beginning"), screen.As(k.Last, "end"), p.numbered()}, k.Always()...),
	}
}

// Draw draws the text from the line that was scrolled to.
func (p *pages) Draw(c *draw.Canvas, r draw.Rectangle) {
	c.Text(r.X+1, r.Y, r.W-2, "What a lock never shows, as long as conditions hold: tested, not proved", draw.Title)
	p.rows, p.top = r.H-2, r.Y+2
	lines := p.lines(r.W)
	p.beyond = max(len(lines)-p.rows, 0)
	p.show(p.scroll)
	c.Lines(draw.Rect(r.X, p.top, r.W, p.rows), p.lines(r.W), p.scroll)
}

// lines are the text. A breach has a line of its own, with the run that shows it.
func (p *pages) lines(width int) []draw.Line {
	t := draw.Paragraphs{Width: min(width-1, draw.WidestLine)}
	p.breaches, p.starts = p.breaches[:0], p.starts[:0]
	for _, n := range p.numbers {
		c := &claims.All[n-1]
		t.Gap()
		p.starts = append(p.starts, len(t.Lines))
		t.Add(draw.Strong, fmt.Sprintf("Claim %d: ", n), c.Text)
		t.Gap()
		t.Add(draw.Plain, "", p.Rename(c.Tried()))
		if len(c.Assumptions) == 0 {
			continue
		}
		t.Gap()
		t.Add(draw.Plain, "", "It assumes that")
		for i := range c.Assumptions {
			t.Add(draw.Plain, "- ", c.Assumptions[i].Text+". Broken by")
			for _, b := range c.Assumptions[i].Breaches {
				p.addBreach(&t, c, b)
			}
		}
		t.Gap()
		t.Add(draw.Dim, "", "For those who have the sources of Lockstep: go test ./sim -run "+c.Proof+"Assumptions -v breaks the conditions by all of these.")
	}
	return t.Lines
}

// addBreach adds a breach and, if there is one, its run.
func (p *pages) addBreach(t *draw.Paragraphs, c *claims.Claim, b claims.Breach) {
	if p.Library.Strategy(b.Lock) < 0 || p.Library.Named(b.Scenario) < 0 {
		t.Add(draw.Dim, "    ", b.Text+" (in a test only: no run to play)")
		return
	}
	mark, k := "    ", draw.Plain
	if len(p.breaches) == p.at {
		mark, k = "  "+p.Theme.Pointer+" ", draw.Pick
	}
	p.breaches = append(p.breaches, breachAt{b, c.Never, len(t.Lines)})
	run := fmt.Sprintf("%s: %s under %s", b.Text, b.Lock, b.Scenario)
	if titled := run + fmt.Sprintf(" (%s)", p.Library.Scenarios[p.Library.Named(b.Scenario)].Title); draw.Width(mark+titled) < t.Width {
		run = titled
	}
	t.Add(k, mark, run)
}
