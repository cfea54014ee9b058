package export

import (
	"fmt"
	"strings"

	"lockstep/sim"
	"lockstep/sim/trace"
)

// SVG draws the run's timeline: rows are actors, x is virtual time, and two bars
// that overlap in one column are the bug. Below stands why each property broke.
// The picture needs no font, script or file beside it, and brings its own ground,
// light or dark as the reader's system is.
func SVG(t *trace.Trace) string {
	d := draw(t)
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

// describe is what a picture shows, for those who cannot see it.
func describe(t *trace.Trace) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Timeline of %s under %s in virtual time.", t.Strategy, t.Scenario)
	const most = 12 // nobody listens to more
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
	plot   = 900 // how wide the plot is if the run is neither long nor short
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
	*reading
	*axis
	block
	names pen             // what stands beside the rows
	used  map[string]bool // glyphs that occur
}

// row is a row of the timeline. Its bars lie over what crosses all rows, and
// under the marks of its own and of its neighbours.
type row struct {
	name, what  string
	ink         string // the class of the name
	height      int
	bars, marks func(y int)
}

func draw(t *trace.Trace) *drawing {
	r := read(t)
	d := &drawing{reading: r, axis: newAxis(r, plot), used: map[string]bool{}}
	rows := d.rows()
	d.height = first
	for _, row := range rows {
		d.height += row.height
	}
	d.names.text("ls-small ls-dim ls-end", labels-16, ruler-12, "virtual time")
	d.printf(`<g transform="translate(%d 0)">`, labels)
	d.drawAxis()
	d.shade()
	d.each(rows, func(_ *row, y int) { d.line("ls-rule", -labels+margin, y, d.end, y) })
	for _, x := range d.breaches() {
		d.line("ls-breach", x, ruler, x, d.height-4)
	}
	d.each(rows, func(r *row, y int) {
		r.label(&d.names, y)
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

func (r *row) label(p *pen, y int) {
	if r.name != "" {
		p.text("ls-normal ls-bold "+r.ink, margin, y+r.height/2+4, r.name)
	}
	p.text("ls-small ls-dim ls-end", labels-10, y+r.height/2+4, r.what)
}

// group puts what another pen drew at an offset.
func (p *pen) group(x, y int, other *pen) {
	p.printf(`<g transform="translate(%d %d)">`, x, y)
	p.WriteString(other.String())
	p.printf("</g>")
}

func (d *drawing) rows() []row {
	var rows []row
	for i, name := range d.Clients {
		if d.begins[i] == trace.None {
			continue
		}
		rows = append(rows, row{name, "does", d.ink("ls-t", i), 32, func(y int) { d.does(i, y) }, func(y int) { d.stamps(d.clientStamps(i, y)) }})
		if name != sim.Probe {
			rows = append(rows, row{"", "thinks", "", 24, func(y int) { d.thinks(i, y) }, nil})
		}
	}
	for i, name := range d.Nodes {
		what := "holds"
		if i >= d.Masters {
			what = "replica"
		}
		rows = append(rows, row{name, what, "ls-fg", 27, func(y int) { d.holds(i, y) }, func(y int) { d.befalls(i, y) }})
	}
	if d.Masters > 1 {
		rows = append(rows, row{"quorum", fmt.Sprintf("%d of %d", d.Need, d.Masters), "ls-fg", 27, d.enough, nil})
	}
	return append(rows,
		row{"believers", "", "ls-fg", 26, d.believers, nil},
		row{"store", "", "ls-fg", 40, func(int) {}, d.touched},
		row{"broken", "", "ls-alarm", 12 + flagHeight*d.flagLines(), func(int) {}, d.flags})
}

// ink is the class of a client's colour, or of nobody's, which is the probe's too.
func (r *reading) ink(class string, client int) string {
	if client == trace.None || r.Clients[client] == sim.Probe {
		return class + "9"
	}
	return fmt.Sprintf("%s%d", class, client%patterns)
}

// spans calls do for every stretch of positions throughout which key gives the
// same value, with where it begins and ends on the axis, and the positions.
func spans[K comparable](d *drawing, key func(*trace.State) K, do func(s span, k K)) {
	from := 0
	for i := range d.states {
		k := key(d.states[i])
		switch {
		case i == d.last():
			do(span{d.x[from], d.end, from, i}, k)
		case key(d.states[i+1]) != k:
			do(span{d.x[from], d.x[i+1], from, i + 1}, k)
			from = i + 1
		}
	}
}

// span is half-open: what begins at its end is another.
type span struct{ from, to, first, next int }

// length is how long a span lasted in virtual time.
func (d *drawing) length(s span) string {
	return trace.Brief(d.states[s.next].At - d.states[s.first].At)
}

// bar draws a box over a span, with the first of the texts that fits into it
// between the marks that stand there.
func (d *drawing) bar(s span, class string, y, height int, marks []stamp, letters string, texts ...string) {
	d.rect(class, s.from, y, s.to-s.from, height, "")
	d.used[kindOfBar(class)] = true
	for _, text := range texts {
		if x, fits := room(s, textWidth(text, small)+8, marks); fits {
			d.chip(letters, x, y+1, height-2, text)
			return
		}
	}
}

// room is the first place in a span for something so wide that meets no mark. It
// is near the beginning, because what a text says is true of the beginning.
func room(s span, width int, marks []stamp) (x int, fits bool) {
	const edge, reach, near = 7, 10, 30 // from the bar's end; what a mark needs on either side
	x = s.from + edge
	for _, m := range marks { // they are in order
		if m.x+reach > x && m.x-reach < x+width {
			x = m.x + reach
		}
	}
	return x, x+width+edge <= s.to && x-s.from <= near
}

// kindOfBar is the first of a bar's classes, whoever's it is.
func kindOfBar(class string) string {
	return strings.TrimRight(strings.Fields(class)[0], "0123456789")
}

func (d *drawing) does(client, y int) {
	marks := d.clientStamps(client, y)
	type doing struct{ crashed, stopped, hung, paused, inside bool }
	spans(d, func(s *trace.State) doing {
		c := &s.Clients[client]
		return doing{c.Crashed, c.Stopped, c.Hung, c.Paused, c.Lease.Inside}
	}, func(s span, k doing) {
		stroke := " " + d.ink("ls-l", client)
		switch {
		case k.crashed:
			d.chip("ls-dim", s.from+10, y+7, 18, "crashed")
		case k.hung:
			d.bar(s, "ls-paused"+stroke, y+6, 20, marks, "ls-fg", "hangs for good", "hangs")
		case k.paused && k.inside:
			d.bar(s, "ls-paused"+stroke, y+6, 20, marks, "ls-fg", "paused inside, "+d.length(s), "paused "+d.length(s), "paused")
		case k.paused:
			d.bar(s, "ls-paused"+stroke, y+6, 20, marks, "ls-fg", "paused "+d.length(s), "paused")
		case k.inside:
			d.bar(s, "ls-inside "+d.ink("ls-f", client)+stroke, y+6, 20, marks, "")
		case !k.stopped && s.next > d.begins[client]:
			d.line("ls-awake"+stroke, max(s.from, d.x[d.begins[client]+1]), y+16, s.to, y+16)
		}
	})
}

func (d *drawing) thinks(client, y int) {
	name := d.Clients[client]
	type thought struct{ wants, believed, live bool }
	spans(d, func(s *trace.State) thought {
		c := &s.Clients[client]
		return thought{c.Phase == trace.PhaseAcquire && !c.Stopped, c.Lease.Believed, c.Lease.Live}
	}, func(s span, k thought) {
		switch letters := d.ink("ls-t", client); {
		case k.believed && k.live:
			d.bar(s, d.ink("ls-b", client), y+3, 17, nil, letters, name+" believes it holds the lock", name+" holds the lock", name+" holds", name)
		case k.believed:
			d.bar(s, "ls-over "+d.ink("ls-l", client), y+3, 17, nil, letters, "lease over, not noticed", "lease over", "over")
		case k.wants:
			d.line("ls-wants "+d.ink("ls-l", client), s.from, y+12, s.to, y+12)
		}
	})
}

func (d *drawing) holds(node, y int) {
	marks := d.nodeStamps(node, y)
	type holding struct {
		up, present    bool
		owner, written int
	}
	spans(d, func(s *trace.State) holding {
		rec := s.LockRecord(node)
		if rec == nil {
			return holding{up: s.Nodes[node].Up, owner: trace.None}
		}
		return holding{s.Nodes[node].Up, true, rec.Owner.Client, rec.Written}
	}, func(s span, k holding) {
		switch {
		case !k.up:
			d.bar(s, "ls-down", y+4, 19, marks, "ls-fg", "down")
		case k.present:
			rec := d.states[s.first].LockRecord(node)
			whose := "somebody's"
			if k.owner != trace.None {
				whose = d.Clients[k.owner] + "'s"
			}
			d.bar(s, d.ink("ls-b", k.owner), y+4, 19, marks, d.ink("ls-t", k.owner), whose+" "+d.Key+" = "+rec.Value+lives(rec, s, d), whose+" "+d.Key, whose)
		}
	})
}

// enough shows who has the lock on enough nodes. A lock on several nodes is held
// by nobody as long as the nodes are split.
func (d *drawing) enough(y int) {
	type holding struct {
		owner int
		split bool
	}
	spans(d, func(s *trace.State) holding {
		owner, split := s.Quorum(d.Need)
		return holding{owner, split}
	}, func(s span, k holding) {
		switch {
		case k.owner != trace.None:
			name := d.Clients[k.owner]
			d.bar(s, d.ink("ls-b", k.owner), y+4, 19, nil, d.ink("ls-t", k.owner), name+" has enough nodes", name)
		case k.split:
			d.bar(s, "ls-split", y+11, 5, nil, "")
		}
	})
}

// lives is how long a record has to live when it is stored.
func lives(rec *trace.HeldRecord, s span, d *drawing) string {
	if rec.Expires == trace.Never {
		return ", no expiry"
	}
	return ", " + trace.Brief(rec.Left(d.states[s.first].At)) + " to live"
}

// believers counts who believes to hold the lock, in digits. Where there are
// two, the strip and the ground behind all rows say so.
func (d *drawing) believers(y int) {
	spans(d, (*trace.State).Believers, func(s span, n int) {
		count := fmt.Sprint(n)
		switch {
		case n == 0:
			d.line("ls-wants ls-axis", s.from, y+13, s.to, y+13)
			return
		case n == 1:
			d.rect("ls-count", s.from, y+4, s.to-s.from, 18, "")
			d.text("ls-small ls-dim", s.from+2, y+17, count)
			return
		}
		d.rect("ls-flag", s.from, y+2, s.to-s.from, 22, fmt.Sprintf("%d clients believe that they hold the lock", n))
		if text := "!! " + count + " BELIEVERS"; textWidth(text, normal)+8 <= s.to-s.from {
			count = text
		}
		d.text("ls-normal ls-bold ls-onflag", s.from+2, y+18, count)
	})
}

func (d *drawing) shade() {
	spans(d, func(s *trace.State) bool { return s.Believers() > 1 }, func(s span, two bool) {
		if two {
			d.rect("ls-wash", s.from, ruler, s.to-s.from, d.height-ruler, "")
		}
	})
}
