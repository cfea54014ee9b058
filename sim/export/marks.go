package export

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// stamp is a mark that is to be drawn.
type stamp struct {
	shape  string // of the mark; empty for a mere ring
	client int
	x, y   int
	e      *trace.Event
}

// outcomes are the marks that say what came of asking for the lock.
var outcomes = []string{"granted", "refused", "lost"}

// apart is the least distance of two marks that can be told apart.
const apart = 10

// stampsIn are the marks of a lane, and the events in it that prove a violation,
// in the order of their places. The probe's events have little room: of its marks that would
// lie on each other one stays, and rather the one that says whether it got the lock.
func (d *drawing) stampsIn(l timeline.Lane, y int) []stamp {
	var list []stamp
	for i := range d.Events {
		e := &d.Events[i]
		shape := shapes[d.Mark(e)].name
		if !d.In(l, e) || shape == "" && !d.Proves(e) {
			continue
		}
		if n := len(list) - 1; n >= 0 && d.Probing(e) && d.Probing(list[n].e) && !d.Proves(list[n].e) && d.x[i+1]-list[n].x < apart {
			if slices.Contains(outcomes, list[n].shape) && !d.Proves(e) {
				continue
			}
			list = list[:n]
		}
		list = append(list, stamp{shape, e.Client, d.x[i+1], y, e})
	}
	return list
}

// stamps draws marks on patches of ground, with a ring around those that prove a
// violation. Patches come first, so that none hides its neighbour's mark.
func (d *drawing) stamps(list []stamp) {
	for _, s := range list {
		if s.shape != "" && !d.Probing(s.e) {
			d.printf(`<circle class="ls-halo" cx="%d" cy="%d" r="8"/>`, s.x, s.y)
		}
	}
	for _, s := range list {
		title := strings.TrimSpace(d.Line(s.e))
		if s.shape != "" {
			d.use(s.shape, s.x)
			d.glyph(s.shape, glyphClass(s.shape, d.ink("", s.client)), s.x, s.y, title)
		}
		if d.Proves(s.e) {
			d.ring(s, title)
		}
	}
}

// ring is drawn around a mark that proves a violation: on a page only once that has happened, or it would tell what comes.
func (d *drawing) ring(s stamp, title string) {
	if d.paged {
		d.printf(`<g data-from="%d">`, labels+d.x[d.proven(s.e)])
		defer d.printf("</g>")
	}
	d.shape(title, `<circle class="ls-ring" cx="%d" cy="%d" r="9"`, s.x, s.y)
}

// proven is the position at which the first violation is complete that an event proves.
func (d *drawing) proven(e *trace.Event) int {
	for _, b := range d.Breaches {
		if slices.Contains(b.Events, e.Seq) {
			return b.Pos
		}
	}
	return d.Last()
}

// glyphClass is the look of a mark in the ink with that number.
func glyphClass(name, ink string) string {
	switch {
	case name == "bad" || name == "crash" || name == "fault":
		return "ls-mark ls-x"
	case hollow[name]:
		return "ls-mark ls-hollow ls-l" + ink
	}
	return "ls-mark ls-f" + ink + " ls-l" + ink
}

// idle is the name by which the legend knows the dots.
const (
	idle      = "idle"
	idleWords = "a command that changes nothing"
)

// dots puts a dot under a record for every command that changed nothing.
func (d *drawing) dots(l timeline.Lane, y int) {
	for i := range d.Events {
		if e := &d.Events[i]; d.In(l, e) && e.Kind == trace.KindExecute && len(e.Changes) == 0 && !d.Proves(e) {
			d.use(idle, d.x[i+1])
			d.shape(strings.TrimSpace(d.Line(e)), `<circle class="%s" cx="%d" cy="%d" r="2"`, d.ink("ls-f", e.Client), d.x[i+1], y+25)
		}
	}
}

// touchText describes an access to the resource: A:0 is A reading 0,
// A=1 is A writing 1, A:db1 is A reading 1 from the database, and db=2 says that the
// database has 2 from now on.
func (r *annotated) touchText(e *trace.Event) string {
	if e.Kind == trace.KindUpdate {
		return fmt.Sprintf("db=%d", e.Value)
	}
	name := r.Clients[e.Client]
	switch e.Kind {
	case trace.KindRead:
		return fmt.Sprintf("%s:%d", name, e.Value)
	case trace.KindWrite:
		return fmt.Sprintf("%s=%d", name, e.Value)
	case trace.KindQuery:
		return fmt.Sprintf("%s:db%d", name, e.Value)
	}
	return name
}

// labelTouches describes the accesses under the marks of the resource's lane.
func (d *drawing) labelTouches(l timeline.Lane, y int) {
	for i := range d.Events {
		e := &d.Events[i]
		if !d.In(l, e) {
			continue
		}
		letters := d.ink("ls-t", e.Client)
		if len(d.broken[e.Seq]) > 0 {
			letters = "ls-alarm ls-bold"
		}
		d.text("ls-small ls-mid ls-haloed "+letters, d.x[i+1], y+35, d.touchText(e))
	}
}

// breaches are the places at which properties broke, each once.
func (d *drawing) breaches() []int {
	var at []int
	for _, b := range d.Breaches {
		if x := d.x[b.Pos]; len(at) == 0 || at[len(at)-1] != x {
			at = append(at, x)
		}
	}
	return at
}

const flagHeight = 22

// pennant names the properties that broke at one place. It begins there, as its text holds from there on;
// at the end of the axis it stands further left. Flags that would overlap stand below each other.
type pennant struct {
	at, x, line int
	text        string
	worst       trace.Code
}

func (d *drawing) flagsPlaced() []pennant {
	var flags []pennant
	var ends []int // of the last flag, by line
	for _, x := range d.breaches() {
		codes := d.codesAt(x)
		f := pennant{at: x, x: x, worst: codes[0], text: severity(codes[0]) + " " + codes.String()}
		w := textWidth(f.text, normal) + 12
		f.x = min(f.x, d.end+margin-2-w)
		for f.line < len(ends) && ends[f.line] > f.x {
			f.line++
		}
		if f.line == len(ends) {
			ends = append(ends, 0)
		}
		ends[f.line] = f.x + w + 4
		flags = append(flags, f)
	}
	return flags
}

// codesAt lists the codes of the violations that are complete at a place, the worst first.
func (d *drawing) codesAt(x int) trace.Verdict {
	var v trace.Verdict
	for _, b := range d.Breaches {
		if d.x[b.Pos] == x {
			v = append(v, b.Code)
		}
	}
	return v.Sorted()
}

func (d *drawing) flagLines() int {
	most := 0
	for _, f := range d.flagsPlaced() {
		most = max(most, f.line)
	}
	return most + 1
}

func (d *drawing) flags(y int) {
	for _, f := range d.flagsPlaced() {
		top := y + 6 + f.line*flagHeight
		flag, letters := flagged(f.worst)
		d.late(f.at, func(p *pen) {
			p.rect(flag, f.x, top, textWidth(f.text, normal)+12, 19, "")
			p.text("ls-normal ls-bold "+letters, f.x+6, top+14, f.text)
		})
	}
}

// drawAxis draws true times above a ruler on which the long gaps are marked.
func (d *drawing) drawAxis() {
	from := 0
	for _, g := range d.gaps {
		d.line("ls-axis", from, ruler, g.from+2, ruler)
		d.drawGap(g)
		from = g.to - 2
	}
	d.line("ls-axis", from, ruler, d.end, ruler)
	d.drawTimes()
}

// drawGap breaks the ruler with two strokes and says how long the gap is.
func (d *drawing) drawGap(g gap) {
	mid := (g.from + g.to) / 2
	text := trace.Brief(g.Length)
	half := 3
	if w := textWidth(text, small); w+30 <= g.to-g.from {
		d.text("ls-small ls-dim ls-mid", mid, ruler+4, text)
		half = w/2 + 8
	}
	d.printf(`<path class="ls-gap" stroke-dasharray="2 3" d="M%d %dH%dM%d %dH%d"><title>%s without an event, drawn shorter than it is</title></path>`,
		g.from+2, ruler, mid-half, mid+half, ruler, g.to-2, text)
	d.printf(`<path class="ls-gap" d="M%d %dl4-10M%d %dl4-10"/>`, mid-half-3, ruler+5, mid+half-1, ruler+5)
}

// drawTimes labels the places where properties broke, then those of the events that prove it, then those of marks, then
// as many others as there is room for.
func (d *drawing) drawTimes() {
	type label struct {
		from, to, pos int
		text          string
	}
	var taken []label
	write := func(pos int, class string) {
		text := trace.Brief(d.When(pos))
		w := textWidth(text, small)
		l := label{d.x[pos] - w/2 - 5, d.x[pos] + w/2 + 5, pos, text}
		if slices.ContainsFunc(taken, func(t label) bool {
			return l.from < t.to && t.from < l.to || t.pos != pos && t.text == text
		}) {
			return
		}
		taken = append(taken, l)
		d.line("ls-axis", d.x[pos], ruler-4, d.x[pos], ruler+4)
		d.text("ls-small ls-mid ls-time "+class, d.x[pos], ruler-12, text)
	}
	for _, b := range d.Breaches {
		write(b.Pos, "ls-alarm ls-bold")
	}
	write(0, "ls-dim")
	for i := range d.Events {
		if d.Proves(&d.Events[i]) {
			write(i+1, "ls-dim")
		}
	}
	for _, all := range []bool{false, true} {
		for i := range d.Events {
			if all || d.Matters(i) {
				write(i+1, "ls-dim")
			}
		}
	}
}
