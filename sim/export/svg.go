package export

import (
	"fmt"
	"strings"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// SVG returns a picture of the run's timeline: rows are actors, x is virtual time, and two
// bars that overlap in one column are the bug. The reasons why properties broke stand below.
// The picture needs no font, script or file beside it, and has its own ground, light or dark
// as the reader's system is.
func SVG(t *trace.Trace) string {
	d := draw(t, false)
	width := labels + d.end + margin
	head, below := d.header(width), d.reasons(width)
	top := head.height
	foot := top + d.height
	height := foot + below.height
	p := &pen{}
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="ls-title ls-desc">`,
		width, height, width, height)
	p.printf(`<title id="ls-title">%s</title>`, escape(fmt.Sprintf("%s under %s: %s", t.Strategy, t.Scenario, t.Verdict())))
	p.printf(`<desc id="ls-desc">%s</desc>`, escape(describe(t)))
	p.WriteString(style + definitions)
	p.printf(`<rect class="ls-bg" width="%d" height="%d"/>`, width, height)
	p.printf(`<rect class="ls-frame" x="0.5" y="0.5" width="%d" height="%d"/>`, width-1, height-1)
	p.WriteString(head.String())
	p.group(0, top, &d.pen)
	p.group(0, top, &d.names)
	p.group(0, foot, &below.pen)
	p.printf("</svg>")
	return p.String()
}

// describe describes a picture in words, for readers who cannot see it.
func describe(t *trace.Trace) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Timeline of %s under %s in virtual time.", t.Strategy, t.Scenario)
	const most = 12 // a listener doesn't follow more
	for i := range t.Violations {
		if i == most {
			fmt.Fprintf(&b, " And %d more.", len(t.Violations)-most)
			break
		}
		v := &t.Violations[i]
		fmt.Fprintf(&b, " At %s, %s: %s.", trace.Brief(v.At), v.Code.Name(), v.Text)
	}
	if len(t.Violations) == 0 {
		b.WriteString(" " + nothingBroke)
	}
	return b.String()
}

// nothingBroke claims no more than one schedule can show.
const nothingBroke = "No property broke in this schedule."

const (
	labels = 124 // the width of the names beside the rows
	margin = 16
	plot   = 900 // the width of the plot if the run is neither long nor short
	ruler  = 34  // where the axis runs, from the top of the timeline
	first  = 48  // where the first row begins
)

// block is a part of a picture with its height.
type block struct {
	pen
	height int
}

// drawing is the timeline itself: the axis and the rows.
type drawing struct {
	*annotated
	*axis
	block
	names pen            // the text beside the rows
	over  pen            // on a page, the elements over the part that is hidden
	used  map[string]int // glyphs that occur, with the least x of each
	paged bool           // it is for a page, whose reader has not seen the end of every span yet
}

// row is a row of the timeline. Its bars lie over the lines and shades across all rows, and
// under the marks of its own and of its neighbours.
type row struct {
	name, what  string
	ink         string // the class of the name
	height      int
	bars, marks func(y int)
	from        int // the x from which on a page has the row, or 0
}

// draw draws a run: as a picture of its own, or for a page with a cursor in it.
func draw(t *trace.Trace, paged bool) *drawing {
	r := read(t)
	return drawOn(r, newAxis(r, plot), paged)
}

// drawOn draws a run on an axis of its own, or on one that it shares.
func drawOn(r *annotated, a *axis, paged bool) *drawing {
	d := &drawing{annotated: r, axis: a, used: map[string]int{}, paged: paged}
	rows := d.rows()
	d.height = first
	for _, row := range rows {
		d.height += row.height
	}
	d.names.text("ls-small ls-dim ls-end", labels-16, ruler-12, "virtual time")
	d.printf(`<g transform="translate(%d 0)">`, labels)
	d.drawAxis()
	d.shade()
	d.each(rows, func(r *row, y int) {
		r.appear(&d.pen, func() { d.line("ls-rule", -labels+margin, y, d.end, y) })
	})
	for _, x := range d.breaches() {
		d.line("ls-breach", x, ruler, x, d.height-4)
	}
	d.each(rows, func(r *row, y int) {
		r.appear(&d.names, func() { r.label(&d.names, y) })
		r.bars(y)
	})
	d.each(rows, func(r *row, y int) {
		if r.marks != nil {
			r.marks(y)
		}
	})
	d.printf("</g>")
	return d
}

func (d *drawing) each(rows []row, do func(r *row, y int)) {
	y := first
	for i := range rows {
		do(&rows[i], y)
		y += rows[i].height
	}
}

// appear draws a part of a row that is neither a bar nor a mark.
func (r *row) appear(p *pen, draw func()) {
	if r.from == 0 {
		draw()
		return
	}
	p.printf(`<g data-from="%d">`, r.from)
	draw()
	p.printf("</g>")
}

func (r *row) label(p *pen, y int) {
	if r.name != "" {
		p.text("ls-normal ls-bold "+r.ink, margin, y+r.height/2+4, r.name)
	}
	p.text("ls-small ls-dim ls-end", labels-10, y+r.height/2+4, r.what)
}

// group puts the drawing of another pen at an offset.
func (p *pen) group(x, y int, other *pen) {
	p.printf(`<g transform="translate(%d %d)">`, x, y)
	p.WriteString(other.String())
	p.printf("</g>")
}

// rows are the lanes of the picture. It leaves out the probe's beliefs, which
// its marks tell, and the majority where the only master's own lane does.
func (d *drawing) rows() []row {
	var rows, last []row
	for _, l := range d.Lanes() {
		marks := func(dy int) func(y int) { return func(y int) { d.stamps(d.stampsIn(l, y+dy)) } }
		switch l.Kind {
		case timeline.Deeds:
			if d.takesPart(l.Index) {
				deeds := row{d.Clients[l.Index], "does", d.ink("ls-t", l.Index), 32, func(y int) { d.does(l, y) }, marks(16), d.appears(l.Index)}
				if deeds.from > 0 { // the room for it is empty until then, and leaves no gap below the others
					last = append(last, deeds)
				} else {
					rows = append(rows, deeds)
				}
			}
		case timeline.Belief:
			if d.takesPart(l.Index) && d.Clients[l.Index] != trace.Probe {
				rows = append(rows, row{"", "thinks", "", 24, func(y int) { d.thinks(l, y) }, nil, 0})
			}
		case timeline.Record:
			name, what := d.Nodes[l.Index], "stores"
			switch {
			case l.Index >= d.Masters:
				what = "replica"
			case len(d.Nodes) == 1:
				name, what = "redis", name
			}
			rows = append(rows, row{name, what, "ls-fg", 27, func(y int) { d.holds(l, y) }, func(y int) {
				d.dots(l, y)
				marks(13)(y)
			}, 0})
		case timeline.Majority:
			if d.Masters > 1 {
				rows = append(rows, row{"quorum", fmt.Sprintf("%d of %d", d.Need, d.Masters), "ls-fg", 27, func(y int) { d.enough(l, y) }, nil, 0})
			}
		case timeline.Believers:
			rows = append(rows, row{"believers", "", "ls-fg", 26, func(y int) { d.believers(l, y) }, nil, 0})
		case timeline.Store:
			rows = append(rows, row{"resource", "", "ls-fg", 40, func(int) {}, func(y int) {
				d.labelTouches(l, y)
				marks(13)(y)
			}, 0})
		case timeline.Violations:
			rows = append(rows, row{"broken", "", "ls-alarm", 12 + flagHeight*d.flagLines(), func(int) {}, d.flags, 0})
		}
	}
	return append(rows, last...)
}

// appears is the x from which on a page has a client's row, or 0 if it always has it: nobody knows of the probe
// before its first event.
func (d *drawing) appears(client int) int {
	if !d.paged || d.Clients[client] != trace.Probe {
		return 0
	}
	return labels + d.x[d.Begins[client]+1]
}

// ink returns the class of a client's colour, or of the neutral colour, which the probe has,
// too.
func (r *annotated) ink(class string, client int) string {
	if client == trace.None || r.Clients[client] == trace.Probe {
		return class + "9"
	}
	return fmt.Sprintf("%s%d", class, client%patterns)
}

// span is a span of a lane with its place on the axis: half-open, too.
type span struct {
	timeline.Span
	from, to int
}

// spans are the spans of a lane.
func (d *drawing) spans(l timeline.Lane) []span {
	var all []span
	for _, s := range d.Spans(l) {
		to := d.end
		if s.Next <= d.Last() {
			to = d.x[s.Next]
		}
		all = append(all, span{s, d.x[s.First], to})
	}
	return all
}

// length is how long a span lasted in virtual time.
func (d *drawing) length(s span) string { return trace.Brief(d.Length(s.Span)) }

// use remembers a glyph for the legend.
func (d *drawing) use(name string, x int) {
	if first, is := d.used[name]; !is || x < first {
		d.used[name] = x
	}
}

// bar draws a box over a span, with the first of the texts that fits into it
// between the marks that stand there.
func (d *drawing) bar(s span, class string, y, height int, marks []stamp, letters string, texts ...string) {
	d.rect(class, s.from, y, s.to-s.from, height, "")
	d.use(kindOfBar(class), s.from)
	d.words(s, y, height, marks, letters, texts...)
}

// words writes the first of the texts that fits into a span between the marks that stand there.
func (d *drawing) words(s span, y, height int, marks []stamp, letters string, texts ...string) {
	for i, text := range texts {
		if x, fits := room(s, textWidth(text, small)+8, marks); fits {
			d.rect("ls-chip", x, y+1, textWidth(text, small)+8, height-2, "")
			d.label("ls-small "+letters, small, x+4, y+height-5, texts[i:]...)
			return
		}
	}
}

// label writes the first of some texts in a box, each of which says the same as the one before it in fewer
// letters. A page has all of them: its script shows the first that ends before the cursor, because the rest of
// the box is hidden.
func (d *drawing) label(class string, size, x, y int, texts ...string) {
	if !d.paged {
		d.text(class, x, y, texts[0])
		return
	}
	var widths []string
	for _, text := range texts {
		widths = append(widths, fmt.Sprint(textWidth(text, size)))
	}
	d.printf(`<text class="%s" x="%d" y="%d" data-texts="%s" data-widths="%s">%s</text>`,
		class, x, y, escape(strings.Join(texts, "\n")), strings.Join(widths, " "), escape(texts[0]))
}

// late draws an element that is right of a place and yet true of it. A page shows that from the place on, over the part
// that is hidden.
func (d *drawing) late(x int, draw func(p *pen)) {
	if !d.paged {
		draw(&d.pen)
		return
	}
	d.over.printf(`<g data-from="%d">`, labels+x)
	draw(&d.over)
	d.over.printf("</g>")
}

// pause draws the bar of a pause. A page tells the length only to those who have seen the end: it
// has the words for before and for after, and its script shows one of the two.
func (d *drawing) pause(s span, class string, y int, marks []stamp) {
	const top, height = 6, 20
	texts := d.Texts(s.Bar, d.length(s))
	if !d.paged {
		d.bar(s, class, y+top, height, marks, "ls-fg", texts...)
		return
	}
	meanwhile := texts[len(texts)-1]
	d.bar(s, class, y+top, height, marks, "")
	d.printf(`<g data-until="%d">`, labels+s.to)
	d.words(s, y+top, height, marks, "ls-fg", meanwhile)
	d.printf(`</g><g data-from="%d">`, labels+s.to)
	d.words(s, y+top, height, marks, "ls-fg", texts...)
	d.printf("</g>")
}

// room is the first place in a span for something so wide that meets no mark. It
// is near the beginning, because a text is true of the beginning.
func room(s span, width int, marks []stamp) (x int, fits bool) {
	const edge, reach, near = 7, 10, 30 // from the bar's end; the room of a mark on either side
	x = s.from + edge
	for _, m := range marks { // they are in order
		if m.x+reach > x && m.x-reach < x+width {
			x = m.x + reach
		}
	}
	return x, x+width+edge <= s.to && x-s.from <= near
}

// kindOfBar returns the first of a bar's classes, which doesn't depend on the client.
func kindOfBar(class string) string {
	return strings.TrimRight(strings.Fields(class)[0], "0123456789")
}

func (d *drawing) does(l timeline.Lane, y int) {
	marks := d.stampsIn(l, y)
	stroke := " " + d.ink("ls-l", l.Index)
	begins := d.Begins[l.Index]
	for _, s := range d.spans(l) {
		switch s.Kind {
		case timeline.Crashed:
			d.late(s.from, func(p *pen) { p.chip("ls-dim", s.from+10, y+7, 18, "crashed") })
		case timeline.Hung:
			d.bar(s, "ls-paused"+stroke, y+6, 20, marks, "ls-fg", "hangs for good", "hangs")
		case timeline.Failed:
			d.bar(s, "ls-paused"+stroke, y+6, 20, marks, "ls-fg", "ended by an exception", "failed")
		case timeline.PausedInside, timeline.Paused:
			d.pause(s, "ls-paused"+stroke, y, marks)
		case timeline.HeldInside, timeline.Held:
			d.pause(s, "ls-held"+stroke, y, marks)
		case timeline.Inside:
			d.bar(s, "ls-inside "+d.ink("ls-f", l.Index)+stroke, y+6, 20, marks, "")
		case timeline.Empty: // its request can still be under way
			d.words(s, y+6, 20, marks, "ls-fg", d.Texts(s.Bar, "")...)
		case timeline.Awake:
			if s.Next > begins {
				d.line("ls-awake"+stroke, max(s.from, d.x[begins+1]), y+16, s.to, y+16)
				d.words(s, y+6, 20, marks, "ls-fg", d.Texts(s.Bar, "")...)
			}
		}
	}
}

func (d *drawing) thinks(l timeline.Lane, y int) {
	name, letters := d.Clients[l.Index], d.ink("ls-t", l.Index)
	for _, s := range d.spans(l) {
		switch s.Kind {
		case timeline.Believes:
			d.bar(s, d.ink("ls-b", l.Index), y+3, 17, nil, letters, name+" believes it holds the lock", name+" believes it has it", name+" believes", name)
		case timeline.Lapsed:
			d.bar(s, "ls-over "+d.ink("ls-l", l.Index), y+3, 17, nil, letters, "lease over, unseen", "over, unseen")
		case timeline.Wants:
			d.line("ls-wants "+d.ink("ls-l", l.Index), s.from, y+12, s.to, y+12)
		}
	}
}

func (d *drawing) holds(l timeline.Lane, y int) {
	marks := d.stampsIn(l, y)
	for _, s := range d.spans(l) {
		switch s.Kind {
		case timeline.Down:
			d.bar(s, "ls-down", y+4, 19, marks, "ls-fg", "down")
		case timeline.Retired:
			d.bar(s, "ls-retired", y+4, 19, marks, "ls-dim", d.RetiredTexts(l.Index, s.First)...)
		case timeline.Stored:
			whose := "somebody's"
			if s.Client != trace.None {
				whose = d.Clients[s.Client] + "'s"
			}
			record := d.Moments[s.First].Nodes[l.Index]
			d.bar(s, d.ink("ls-b", s.Client), y+4, 19, marks, d.ink("ls-t", s.Client),
				whose+" "+d.Key+" = "+record.Value+", "+s.Expiry(), whose+" "+d.Key, whose)
		}
	}
}

// enough shows the client with records on enough nodes. A lock on several nodes has no holder
// as long as the nodes are split.
func (d *drawing) enough(l timeline.Lane, y int) {
	for _, s := range d.spans(l) {
		switch s.Kind {
		case timeline.Enough:
			d.bar(s, d.ink("ls-b", s.Client), y+4, 19, nil, d.ink("ls-t", s.Client), d.EnoughTexts(s.Client)...)
		case timeline.Split:
			d.bar(s, "ls-split", y+11, 5, nil, "")
		}
	}
}

// believers shows the number of clients that believe that they hold the lock, in digits. Where two of them
// are inside, or two leases run, the strip says so, and the ground behind all rows shows it, too.
func (d *drawing) believers(l timeline.Lane, y int) {
	for _, s := range d.spans(l) {
		if s.Count == 0 {
			d.line("ls-wants ls-axis", s.from, y+13, s.to, y+13)
			continue
		}
		d.rect("ls-count", s.from, y+4, s.to-s.from, 18, "")
		count := fmt.Sprint(s.Count)
		if s.to-s.from > textWidth(count, small)+2 { // or a line would run through it
			d.text("ls-small ls-dim", s.from+2, y+17, count)
		}
	}
	for _, c := range d.clashes() {
		d.rect("ls-flag", c.from, y+2, c.to-c.from, 22, c.what)
		_, count, more := strings.Cut(strings.TrimSuffix(c.what, " CLIENTS"), ": ")
		if !more { // the two that it takes
			count = "2"
		}
		texts := []string{alarm + " " + c.what, alarm + " " + count, count}
		if textWidth(texts[0], normal)+8 > c.to-c.from {
			texts = texts[1:]
		}
		d.label("ls-normal ls-bold ls-onflag", normal, c.from+2, y+18, texts...)
	}
}

// clash is a stretch in which two believers are a violation, and the fact that makes them one.
type clash struct {
	from, to int
	what     string
}

// clashes are the stretches in which two clients are inside, or two leases run.
func (d *drawing) clashes() []clash {
	var all []clash
	for pos := range d.x {
		what, to := d.Clash(pos), d.end
		if pos < d.Last() {
			to = d.x[pos+1]
		}
		switch n := len(all) - 1; {
		case what == "":
		case n >= 0 && all[n].to == d.x[pos] && all[n].what == what:
			all[n].to = to
		case to > d.x[pos] || pos == d.Last():
			all = append(all, clash{d.x[pos], to, what})
		}
	}
	return all
}

func (d *drawing) shade() {
	for _, c := range d.clashes() {
		d.rect("ls-wash", c.from, ruler, c.to-c.from, d.height-ruler, "")
	}
}
