package door

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/levels"
	"lockstep/tui/pane"
)

// The sizes at which more comes.
const (
	tall       = 34 // rows, for a second line of each way, and for the meanings of the signs
	owning     = 38 // rows, for a line about a script of one's own
	taller     = 46 // rows, for an empty line after each way, and for the meanings of the rows above them
	legendRows = 3
	leastTold  = 3 // rows below the picture that are never given up

	usuallyTold, usualPicture = 9, 13 // rows that words come before the picture's empty rows for, if it has as many itself
)

// layout says where the parts of the door are.
type layout struct {
	header, menu, own, guide, picture, legend, told draw.Rectangle
	rules                                           []draw.Rectangle
	rows                                            int // of an entry of the menu
}

// arrange is a pure function of the window and of the rows that the picture can use.
func arrange(w, h int, picture func(rows int) int) layout {
	l := layout{header: draw.Rect(0, 0, w, 1), rows: 1}
	top, legend := 2, 0
	if h >= tall {
		l.rows, top, legend = 2, 3, legendRows
	}
	if h >= taller {
		l.rows = 3
	}
	l.menu = draw.Rect(0, top, w, len(ways)*l.rows)
	y := l.menu.Y + l.menu.H
	if h >= owning {
		l.own = draw.Rect(0, y, w, 1)
		y++
	}
	l.rules = []draw.Rectangle{draw.Rect(0, 1, w, 1), draw.Rect(0, y, w, 1)}
	if y++; h >= taller {
		l.guide = draw.Rect(0, y, w-1, len(guideLines(w-1)))
		y += l.guide.H
	}
	room := h - 1 - y // the footer has the last row
	least := max(leastTold, min(usuallyTold, room-legend-usualPicture)) + legend
	rows := min(picture(room-least), room-least)
	l.picture = draw.Rect(0, y, w, rows)
	l.legend = draw.Rect(0, y+rows, w, legend)
	l.told = draw.Rect(0, y+rows+legend, w, room-rows-legend)
	return l
}

// Draw draws the ways in, and below them the run.
func (d *Door) Draw(c *draw.Canvas, r draw.Rectangle) {
	var lanes []pane.Lane
	l := arrange(r.W, r.H+1, func(rows int) int {
		if d.run == nil {
			return rows
		}
		lanes = pane.PlanLanes(d.run, d.pos, rows-pane.AxisRows)
		return len(lanes) + pane.AxisRows
	})
	d.menu, d.rows = l.menu, l.rows
	for _, rule := range l.rules {
		c.Fill(rule, d.Theme.Rule, draw.Dim)
	}
	d.drawHeader(c, l.header)
	c.Text(1, l.rules[0].Y, r.W-2, " "+audience+" ", draw.Dim)
	d.drawMenu(c, l.menu, l.rows)
	d.drawOwn(c, l.own)
	c.Lines(l.guide, guideLines(l.guide.W), 0)
	sc, st := d.Library.Scenarios[d.scenario], d.Library.Strategies[d.strategy]
	c.Line(1, l.rules[1].Y, r.W-2, draw.Line{draw.Text(" Run just now: ", draw.Dim), draw.Text(sc.Title, draw.Strong), draw.Text(", with ", draw.Dim), draw.Text(st.Name+" ", draw.Strong)})
	switch {
	case d.failed != nil:
		c.Line(l.picture.X+1, l.picture.Y+1, r.W-2, draw.Line{draw.Text(d.failed.Error(), draw.Breach)})
	case d.run == nil:
		c.Text(l.picture.X+1, l.picture.Y+1, r.W-2, "running ...", draw.Dim)
	default:
		a := d.axes.Of(d.run, r.W-pane.LabelWidth, 0)
		drawn := pane.DrawTimeline(c, l.picture, pane.Scene{Timeline: d.run, Pos: d.pos, Axis: a, Column: a.Cols[d.pos], All: a.Width(), Lanes: lanes, Theme: d.Theme, Lit: d.lit(d.detail(l.told, l.guide.Empty())), Named: true})
		if !l.legend.Empty() {
			c.Lines(l.legend, drawn.LegendRows(d.Theme, r.W-2, l.legend.H), 0)
		}
		free := d.drawTold(c, l.told, l.guide.Empty())
		if l.legend.Empty() && free > 0 {
			c.Lines(draw.Rect(0, l.told.Y+l.told.H-free, r.W, free), draw.SignRows(d.signs(), r.W), 0)
			d.drawFraming(c, l.rules[1])
		}
	}
}

// signs explains the signs of the picture in so few words that the least window has a row for all of them.
func (d *Door) signs() []draw.Sign {
	g := &d.Theme.Glyphs
	return []draw.Sign{{g.Bad, "broke"}, {g.Wants, "want"}, {g.Send, "send"}, {g.Granted, "has it"}, {g.Inside, "work"}, {g.Read, "read"}, {g.Write, "write"}, {g.Resume, "wake"}, {g.Release, "free"}}
}

// drawFraming explains, at the end of a rule, the signs around those.
func (d *Door) drawFraming(c *draw.Canvas, rule draw.Rectangle) {
	g := &d.Theme.Glyphs
	for _, signs := range draw.SignRows([]draw.Sign{{g.Enter + " " + g.Leave, "start, end"}, {g.Gap, "time passes"}}, rule.W) {
		c.Line(rule.X+rule.W-signs.Width()-1, rule.Y, signs.Width(), signs)
	}
}

// lit are the events that prove the violation, which the ruler numbers where they are listed below it: elsewhere nothing says what the numbers are.
func (d *Door) lit(much detail) []int {
	if v := d.failures(); len(v) > 0 && much > sentences {
		return v[0].Events
	}
	return nil
}

func (d *Door) drawHeader(c *draw.Canvas, r draw.Rectangle) {
	n := c.Text(r.X+1, r.Y, r.W, "Lockstep", draw.Title)
	tagline, k := "shows how Redis locks fail: real code, real commands, simulated time", draw.Plain
	if t := d.Progress.Trouble(); t != "" {
		tagline, k = t, draw.Breach
	}
	c.Line(r.X+1+n, r.Y, r.W-n-2, draw.Line{draw.Text(" "+tagline, k)})
}

func (d *Door) drawMenu(c *draw.Canvas, r draw.Rectangle, rows int) {
	names := 0
	for _, w := range ways {
		names = max(names, draw.Width(w.name))
	}
	for i, w := range ways {
		mark := "  "
		if i == d.at {
			mark = d.Theme.Pointer + " "
		}
		l := draw.Line{draw.Text(fmt.Sprintf(" %s%d  ", mark, i+1), draw.Here), draw.Text(draw.Pad(w.name, names), draw.Strong), draw.Text("  "+w.about(d), draw.Plain)}
		if i == d.at {
			l = l.Fitted(r.W, d.Theme.More).Selected(r.W)
		}
		y := r.Y + i*rows
		c.Line(r.X, y, r.W, l)
		if rows > 1 {
			c.Line(r.X+names+8, y+1, r.W-names-9, draw.Line{draw.Text(w.more(d), draw.Dim)})
		}
	}
}

// drawOwn tells of a script of one's own, in the longest words for which there is room.
func (d *Door) drawOwn(c *draw.Canvas, r draw.Rectangle) {
	for _, text := range []string{d.ownScript(), d.Rename("A script of your own: lockstep new lesson.yaml writes one; " + d.Keys.Help.Help().Key + " tells the rest."), d.Keys.Help.Help().Key + " tells how to write and to present a script of your own."} {
		if draw.Width(text) <= r.W-7 {
			c.Text(r.X+1, r.Y, r.W-2, text, draw.Dim) // not below the names of the ways in: it is none
			return
		}
	}
}

// guide explains the rows of the picture.
const guide = "Each client has two rows: what it does, and what it thinks. The rows below are what Redis stores, how many clients believe that they have the lock, and who touched the resource. Time runs to the right; nothing right of the cursor has happened yet."

func guideLines(width int) []draw.Line {
	t := draw.Paragraphs{Width: min(width, draw.WidestLine)}
	t.Add(draw.Dim, "", guide)
	return t.Lines
}

// drawTold says what broke and what that is called; where there is room, also which events prove
// it, and the meaning of the signs. It returns the rows that are left below.
func (d *Door) drawTold(c *draw.Canvas, r draw.Rectangle, explained bool) (free int) {
	band, ink := pane.Holders(d.run, d.pos, d.run.StateAt(d.pos), r.W)
	if ink != draw.Plain {
		c.Fill(draw.Rect(r.X, r.Y, r.W, 1), " ", ink)
	}
	c.Line(r.X, r.Y, r.W, band)
	lines := d.told(r.W-1, d.detail(r, explained))
	c.Lines(draw.Rect(r.X, r.Y+1, r.W, r.H-1), lines, 0)
	return r.H - 1 - len(lines)
}

// detail is how much is told below the picture.
type detail int

const (
	sentences  detail = iota // the violation, or its reason
	proofs                   // how it came about, and which events prove it
	meanings                 // the meaning of the code
	everything               // the meaning of the picture's rows
)

// detail is how much there is room for.
func (d *Door) detail(r draw.Rectangle, explained bool) detail {
	for _, much := range []detail{everything, meanings, proofs} {
		if (much < everything || explained) && len(d.told(r.W-1, much)) < r.H {
			return much
		}
	}
	return sentences
}

// told is the cause of the violation, in the detail that there is room for.
func (d *Door) told(width int, much detail) []draw.Line {
	t := draw.Paragraphs{Width: min(width, draw.WidestLine)}
	why := d.shown(d.Library.Scenarios[d.scenario].Because(d.run.Strategy))
	for _, v := range d.failures() {
		if much == sentences {
			if why == "" {
				t.Add(draw.Plain, "", draw.Sentence(v.Text))
			}
			continue
		}
		if much >= meanings { // the band above has its name
			t.Add(draw.Plain, "", draw.Sentence(fmt.Sprintf("%s (%s): %s", trace.Capital(v.Code.Named()), v.Code, levels.Meaning(v.Code))))
		}
		t.Add(draw.Breach, "!! ", d.run.Cause(v))
		d.tellEvidence(&t, v)
	}
	if why != "" && much == sentences { // else the cause says the same
		t.Add(draw.Plain, "", why)
	}
	if much >= everything {
		t.Gap()
		t.Add(draw.Dim, "", guide)
	}
	return t.Lines
}

// shown are the sentences about the run up to the first that tells of a client which the picture, at its
// instant, does not show at work yet.
func (d *Door) shown(why string) string {
	said := ""
	for s := range strings.SplitAfterSeq(why, ". ") {
		for i, name := range d.run.Clients {
			if !d.run.Begun(i, d.pos) && slices.Contains(strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }), name) {
				return strings.TrimSpace(said)
			}
		}
		said += s
	}
	return said
}

// tellEvidence lists the events that prove a violation, with their numbers on the ruler.
func (d *Door) tellEvidence(t *draw.Paragraphs, v timeline.Breach) {
	heads := d.run.Heads(v.Events)
	for n, seq := range v.Events {
		e := d.run.Event(d.run.After(seq))
		t.Add(draw.Plain, "   "+heads[n], d.run.Actor(e)+" "+d.run.Text(e))
	}
}
