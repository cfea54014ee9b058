// Package pane draws the views of a run: the timeline, the event at the cursor and the holders of the lock. A pane is a pure function of the
// run, of a position in it, and of the place that it has on the canvas: selection,
// scrolling and typing belong to the screens.
package pane

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/legend"
)

// Scene decides everything that is drawn of a timeline.
//
// Invariants: 0 <= Pos <= Last(); Column is at least the cursor's own.
type Scene struct {
	*timeline.Timeline
	Pos    int    // of the cursor
	Axis   *Axis  // of the run, or of both where two are compared
	Column int    // of the cursor on the axis: the event's own, or further right if another run has gone on
	All    int    // columns of the whole axis
	Lanes  []Lane // from the top
	Theme  *draw.Theme
	Lit    []int         // Seqs of the highlighted events
	Now    time.Duration // the instant of the cursor, if time has passed since its event
	Bare   bool          // it has no times and no ruler: those of another one above stand for both
	Named  bool          // a violation has its name, and not its code: for readers who know no codes
}

// plot draws lanes over virtual time: a pure function of the scene and the
// width. Nothing to the right of the cursor is drawn, because it has not happened yet.
type plot struct {
	Scene
	c              *draw.Canvas
	x0, y0         int   // of the first column of the plot, and of the time labels
	width          int   // of the plot
	offset         int   // the axis column that x0 shows
	until          int   // the plot column of the cursor
	at             []int // by plot column: the last position in it
	hidden         int   // marks that others cover
	signs          []drawnSign
	frame          map[string]bool
	worded         map[string]bool // the glyphs of bars that say in words what they are
	still          []string        // the meanings of the bars in the glyph of a pause
	short          []string        // the clients' names beside marks
	labels         []label         // of the lane that is drawn
	named, unnamed map[int]bool    // clients whose record, or belief, has a label, and lacks one
	marked         map[int]bool    // columns of the plot in it that have a mark
	names          []draw.Sign     // those of them that are shortened
}

// drawnSign is a glyph that was drawn as such, not as a letter of a label.
type drawnSign struct {
	x, y  int
	glyph string
	kind  trace.Kind // of the event whose mark it is
}

// label is the name of a bar, in forms that get shorter: written when the marks of its lane are there, so that none of them
// stands among its letters.
type label struct {
	y     int
	span  timeline.Span
	ink   draw.Ink
	texts []string
	glyph string // of the bar, or ""
	over  bool   // it is rather written over marks than not at all
}

// Drawn says what a timeline shows.
type Drawn struct {
	Hidden int             // marks that others of their column cover
	single bool            // there is one server: no record is a matter of majorities
	signs  map[string]bool // the glyphs of its bars and marks
	worded map[string]bool // those of bars that say in words what they are
	still  []string        // the meanings of its bars in the glyph of a pause
	frame  map[string]bool // those of legend.Frame
	since  map[string]int  // the column of the first of each glyph
	faults []draw.Sign     // the meanings that are drawn of the signs with several
	names  []draw.Sign     // the shortened names, and the full ones
}

// The space that a timeline takes beside its lanes.
const (
	LabelWidth = 12 // columns to the left of the plot
	AxisRows   = 2  // rows above the lanes
)

// DrawTimeline draws a scene: a row for times, one for the ruler, and one for each lane, as
// far as there are rows.
func DrawTimeline(c *draw.Canvas, r draw.Rectangle, s Scene) Drawn {
	if s.Bare {
		r.Y, r.H = r.Y-AxisRows, r.H+AxisRows
	}
	width := r.W - LabelWidth
	if width < 10 || r.H < AxisRows+1 {
		return Drawn{}
	}
	tl := &plot{Scene: s, c: c, x0: r.X + LabelWidth, y0: r.Y, width: width, offset: windowAt(s.Column, s.All, width), short: draw.ShortNames(s.Clients), frame: map[string]bool{}, worded: map[string]bool{}, named: map[int]bool{}, unnamed: map[int]bool{}}
	tl.until = min(s.Column-tl.offset, width-1)
	tl.at = make([]int, tl.until+1)
	for x := range tl.at {
		tl.at[x] = min(s.Axis.At(x+tl.offset), s.Pos)
	}
	if !s.Bare {
		tl.drawAxis()
	}
	for i, l := range s.Lanes {
		if y := r.Y + AxisRows + i; y < r.Y+r.H {
			tl.drawLabel(l, y)
			tl.drawLane(l, y)
		}
	}
	tl.drawConnector()
	if _, fresh := s.Breached(s.Pos); len(failures(fresh)) > 0 {
		tl.flash()
	}
	tl.drawLit()
	return tl.drawn()
}

// drawn gathers the glyphs that nothing else has been drawn over.
func (tl *plot) drawn() Drawn {
	d := Drawn{Hidden: tl.hidden, single: len(tl.Nodes) == 1, signs: map[string]bool{}, since: map[string]int{}, frame: tl.frame, worded: tl.worded, still: tl.still, names: tl.names}
	for i, name := range tl.Clients { // a bar whose name has no room anywhere
		if tl.unnamed[i] && !tl.named[i] {
			d.names = append(d.names, draw.Sign{tl.Theme.Bar(i), name + draw.Either(name == trace.Probe, "", "'s lock")})
		}
	}
	for _, s := range tl.signs {
		if tl.c.Char(s.x, s.y) == s.glyph {
			if x, drawn := d.since[s.glyph]; !drawn || s.x < x {
				d.since[s.glyph] = s.x
			}
			d.signs[s.glyph] = true
			if s.glyph == tl.Theme.Enter || s.glyph == tl.Theme.Leave {
				d.frame[tl.Theme.Enter+" "+tl.Theme.Leave] = true
			}
			if sign := (draw.Sign{s.glyph, legend.Meaning(s.kind)}); sign[1] != "" && !slices.Contains(d.faults, sign) {
				d.faults = append(d.faults, sign)
			}
		}
	}
	return d
}

// put draws a glyph of a bar or a mark.
func (tl *plot) put(x, y int, glyph string, k draw.Ink) {
	tl.c.Put(x, y, glyph, k)
	tl.signs = append(tl.signs, drawnSign{x: x, y: y, glyph: glyph})
}

// mark draws a glyph that no label is to be written over.
func (tl *plot) mark(x, y int, glyph string, k draw.Ink) {
	tl.put(x, y, glyph, k)
	tl.marked[x-tl.x0] = true
}

// drawLit numbers the highlighted events on the ruler, and lights their marks. At the cursor the number stands beside it.
func (tl *plot) drawLit() {
	for i, seq := range tl.Lit {
		pos := tl.After(seq)
		x := tl.Axis.Cols[pos] - tl.offset
		if pos > tl.Pos || x < 0 || x >= tl.width {
			continue
		}
		number := x
		switch { // nothing is lit to the right of the cursor
		case x == tl.until && x+1 < tl.width:
			number++
		case x == tl.until:
			number--
		}
		tl.c.Put(tl.x0+number, tl.y0+1, strconv.Itoa((i+1)%10), draw.Alarm)
		e := tl.Event(pos)
		for j, l := range tl.Lanes {
			if l.own() && tl.In(l.Lane, e) {
				tl.c.Tint(draw.Rect(tl.x0+x, tl.y0+AxisRows+j, 1, 1), draw.Alarm)
			}
		}
	}
}

// flash lights the cursor's column, from the axis down to the damage.
func (tl *plot) flash() {
	for i := range tl.Lanes {
		x, y := tl.x0+tl.until, tl.y0+AxisRows+i
		k := draw.Alarm
		if tl.c.Char(x, y) == tl.Theme.Inside { // a full block has no background to light up
			k = draw.Breach
		}
		tl.c.Tint(draw.Rect(x, y, 1, 1), k)
	}
}

// bar fills the columns of a span with a glyph, and labels it.
func (tl *plot) bar(y int, s timeline.Span, glyph string, k draw.Ink, labels ...string) {
	for x := s.First; x < s.Next; x++ {
		tl.put(tl.x0+x, y, glyph, k)
	}
	if len(labels) > 0 {
		tl.labels = append(tl.labels, label{y, s, k, labels, glyph, false})
	}
}

// stands fills a span in which a client stands still, and says for the legend why.
func (tl *plot) stands(y int, s timeline.Span, k draw.Ink, why string, labels ...string) {
	tl.still = union(tl.still, []string{why})
	tl.bar(y, s, tl.Theme.Paused, k, labels...)
}

// writeLabels writes into each bar of the lane the first of its texts for which there is room between the marks, beside some of
// the bar's glyph: near the bar's beginning, or as near to it as the marks leave room.
func (tl *plot) writeLabels() {
	for _, l := range tl.labels {
		written := &tl.unnamed
		for _, text := range l.texts {
			if x, fits := tl.placeOf(&l, draw.Width(text)); fits {
				tl.worded[l.glyph] = true
				tl.c.Text(tl.x0+x, l.y, draw.Width(text), text, l.ink)
				written = &tl.named
				break
			}
		}
		if k := l.span.Kind; (k == timeline.Stored || k == timeline.Believes || k == timeline.Enough) && l.span.Client != trace.None {
			(*written)[l.span.Client] = true
		}
	}
	tl.labels = tl.labels[:0]
}

// placeOf is the first column at which a text of a label has room.
func (tl *plot) placeOf(l *label, width int) (int, bool) {
	free := 0
	for x := l.span.First + 2; x < l.span.Next-1; x++ {
		if free++; tl.marked[x] && !l.over {
			free = 0
		}
		if free == width {
			return x - width + 1, true
		}
	}
	return 0, false
}

// events calls do for every event that is shown, with its plot column.
func (tl *plot) events(do func(x int, e *trace.Event)) {
	for i := tl.Axis.At(tl.offset - 1); i < tl.Pos; i++ {
		if x := tl.Axis.Cols[i+1] - tl.offset; x >= 0 && x < tl.width {
			do(x, &tl.Events[i])
		}
	}
}

func (tl *plot) drawLabel(l Lane, y int) {
	name, what := l.label(tl.Trace)
	k := draw.Dim
	switch {
	case !l.own():
	case l.Kind == timeline.Deeds:
		k = draw.ClientInk(l.Index)
	case l.Kind == timeline.Violations:
		if all, _ := tl.Breached(tl.Pos); len(failures(all)) > 0 {
			k = draw.Breach
		}
	case l.Kind != timeline.Belief:
		k = draw.Strong
	}
	x := tl.x0 - LabelWidth
	if tl.isActor(l) {
		tl.c.Put(x, y, tl.Theme.Pointer, draw.Here)
		tl.frame[tl.Theme.Pointer] = true
	}
	const room = LabelWidth - 2
	n := tl.c.Text(x+1, y, room, name, k)
	if w := draw.Width(what); n == 0 || w < room-n { // the name is not to run into it
		tl.c.Text(x+1+room-w, y, w, what, draw.Dim)
	}
}

// isActor reports whether the lane belongs to the actor of the cursor's event.
func (tl *plot) isActor(l Lane) bool {
	e := tl.Event(tl.Pos)
	if e == nil || !l.own() || !tl.In(l.Lane, e) {
		return false
	}
	switch l.Kind {
	case timeline.Deeds:
		return tl.Doer(e) != trace.None
	case timeline.Store:
		return e.Kind == trace.KindReject || e.Kind == trace.KindUpdate
	}
	return true
}

func (tl *plot) drawLane(l Lane, y int) {
	tl.marked = map[int]bool{}
	switch l.kind {
	case laneBlank:
		return
	case laneClient:
		tl.drawClient(l.Lane, y)
		tl.writeLabels()
		tl.introduce(l.Lane, y)
		return
	case laneVotes:
		tl.c.Line(tl.x0, y, tl.width, votes(tl.Timeline, tl.Pos, tl.Theme))
		for i := range tl.Nodes { // there the bar of each has the name beside it
			if n := &tl.Moments[tl.Pos].Nodes[i]; n.Up && n.Owner != trace.None {
				tl.named[n.Owner] = true
			}
		}
		return
	case laneHidden:
		tl.c.Text(tl.x0, y, tl.width, fmt.Sprintf("%s %s left out: %s", tl.Theme.More, draw.Plural(len(l.hidden), "client"), strings.Join(l.hidden, ", ")), draw.Dim)
		return
	}
	switch l.Kind {
	case timeline.Believers:
		tl.drawBelievers(y)
		return
	case timeline.Violations:
		tl.drawBreaches(y)
		return
	}
	spans := tl.Seen(l.Lane, tl.at)
	for _, s := range spans {
		tl.drawBar(l.Lane, y, s)
	}
	tl.marks(l.Lane, y)
	tl.writeLabels()
	tl.introduce(l.Lane, y)
}

// introduce says before the probe's first deed what this client is, of which no script tells.
func (tl *plot) introduce(l timeline.Lane, y int) {
	if l.Kind != timeline.Deeds || tl.Clients[l.Index] != trace.Probe || !tl.Begun(l.Index, tl.Pos) {
		return
	}
	const text = " tests whether the lock can still be had "
	begins := min(tl.Axis.Cols[tl.Begins[l.Index]+1]-tl.offset, tl.width)
	if w := draw.Width(text); begins > w {
		tl.c.Text(tl.x0+begins-w-1, y, w, text, draw.Dim)
	}
}

// drawBar draws a span of any lane but the believers'.
func (tl *plot) drawBar(l timeline.Lane, y int, s timeline.Span) {
	t, k := tl.Theme, draw.Dim
	switch {
	case l.Kind == timeline.Deeds:
		k = draw.ClientInk(l.Index)
	case s.Client != trace.None:
		k = draw.ClientInk(s.Client)
	}
	switch s.Kind {
	case timeline.Empty: // its request can still be under way
		tl.labels = append(tl.labels, label{y, s, draw.Dim, tl.Texts(s.Bar, ""), "", false})
	case timeline.Awake:
		tl.bar(y, s, t.Awake, k, tl.texts(l, s)...)
	case timeline.Paused, timeline.PausedInside:
		tl.stands(y, s, k, "paused", tl.texts(l, s)...)
	case timeline.Held, timeline.HeldInside:
		tl.bar(y, s, t.Held, k, tl.texts(l, s)...)
	case timeline.Hung:
		tl.stands(y, s, k, "hangs", " hangs for good ", " hangs ")
	case timeline.Failed:
		tl.stands(y, s, k, "ended by an exception", " ended by an exception ", " failed ")
	case timeline.Inside:
		tl.bar(y, s, t.Inside, k)
	case timeline.Crashed:
		tl.bar(y, s, t.Dead, draw.Dim, "crashed")
	case timeline.Wants:
		tl.bar(y, s, t.Wants, draw.Dim, "wants it")
	case timeline.Believes:
		tl.bar(y, s, t.Bar(s.Client), k, tl.BeliefTexts(s.Bar, tl.at[s.First], tl.at[s.Next-1])...)
	case timeline.Lapsed:
		tl.bar(y, s, t.Lapsed, k, "lease over, unseen", "over, unseen")
	case timeline.Stored:
		tl.drawRecord(y, s, l.Index, k)
	case timeline.Down:
		tl.bar(y, s, t.Down, draw.Dim)
		tl.labels = append(tl.labels, label{y, s, draw.Dim, []string{" down "}, t.Down, true}) // it says more than the commands that fail there
	case timeline.Retired:
		texts := tl.RetiredTexts(l.Index, tl.at[s.First])
		for i := range texts {
			texts[i] = " " + texts[i] + " "
		}
		tl.bar(y, s, t.Retired, draw.Dim, texts...)
	case timeline.Enough:
		tl.bar(y, s, t.Bar(s.Client), k, tl.EnoughTexts(s.Client)...)
	case timeline.Split: // no client holds a lock on several nodes as long as they are split
		tl.bar(y, s, t.Nobody, draw.Dim, "no majority")
	}
}

// texts are the texts of a bar of deeds, with its duration up to the cursor, the part included that the window cuts off.
func (tl *plot) texts(l timeline.Lane, s timeline.Span) (texts []string) {
	from, end := tl.at[s.First], tl.at[s.Next-1]
	for ; from > 0 && tl.Bar(l, from-1).Kind == s.Kind; from-- {
	}
	for ; end < tl.Pos && tl.Bar(l, end).Kind == s.Kind; end++ {
	}
	now := tl.When(end)
	if end == tl.Pos {
		now = tl.Timeline.Now(end) // it lasts still, at the instant at the cursor
	}
	for _, text := range tl.Texts(s.Bar, trace.Brief(now-tl.When(from))) {
		texts = append(texts, " "+text+" ")
	}
	return texts
}

// drawClient draws a client's activity and its belief in one row.
func (tl *plot) drawClient(l timeline.Lane, y int) {
	deeds := tl.Seen(l, tl.at)
	for _, s := range deeds {
		if s.Kind == timeline.Awake {
			tl.drawBar(l, y, s)
		}
	}
	k := draw.ClientInk(l.Index)
	for _, s := range tl.Seen(timeline.Lane{Kind: timeline.Belief, Index: l.Index}, tl.at) {
		switch s.Kind {
		case timeline.Believes:
			tl.bar(y, s, tl.Theme.Bar(s.Client), k)
		case timeline.Lapsed:
			tl.bar(y, s, tl.Theme.Lapsed, k)
		case timeline.Wants:
			tl.bar(y, s, tl.Theme.Wants, draw.Dim)
		}
	}
	for _, s := range deeds {
		switch s.Kind {
		case timeline.Paused, timeline.PausedInside, timeline.Held, timeline.HeldInside, timeline.Hung, timeline.Failed, timeline.Inside:
			tl.drawBar(l, y, s)
		}
	}
	tl.marks(l, y)
}

// drawRecord draws a record with one expiry: from where it was stored, or got that expiry, to where it
// is gone, or gets another.
func (tl *plot) drawRecord(y int, s timeline.Span, node int, k draw.Ink) {
	at := func(column int) timeline.Node { return tl.Moments[tl.at[column]].Nodes[node] }
	tl.bar(y, s, tl.Theme.Bar(s.Client), k, tl.RecordTexts(s.Bar, node, tl.at[s.Next-1], tl.Pos)...)
	before := &tl.Moments[tl.Axis.At(max(tl.offset-1, 0))].Nodes[node] // to the left of the window
	if s.First > 0 {
		n := at(s.First - 1)
		before = &n
	}
	switch was := *before; {
	case was.Written != s.Written || !was.Present:
		tl.bracket(tl.x0+s.First, y, tl.Theme.Open, k)
	case was.Expires != s.Expires:
		tl.mark(tl.x0+s.First, y, tl.Theme.Extend, k) // the words before it are of another expiry
	}
	if s.Next == len(tl.at) || at(s.Next).Written == s.Written {
		return
	}
	if s.Next-s.First > 1 {
		tl.bracket(tl.x0+s.Next-1, y, tl.Theme.Shut, k)
	} else if !at(s.Next).Present { // it began and ended in one column
		tl.bracket(tl.x0+s.Next, y, tl.Theme.Shut, k)
	}
}

// bracket draws an end of a record.
func (tl *plot) bracket(x, y int, glyph string, k draw.Ink) {
	tl.c.Put(x, y, glyph, k)
	tl.marked[x-tl.x0] = true
	tl.frame[tl.Theme.Enter+" "+tl.Theme.Leave] = true
}

// votes lists, in one line, the record on every node at a position.
func votes(r *timeline.Timeline, pos int, th *draw.Theme) draw.Line {
	var l draw.Line
	for i := range r.Nodes {
		n := &r.Moments[pos].Nodes[i]
		if r.Masters == 1 && r.Ended(pos) && n.Owner != trace.None && r.Clients[n.Owner] == trace.Probe { // a replica has not heard yet that it's gone
			continue
		}
		l = append(l, draw.Text(r.Nodes[i]+" ", draw.Dim))
		switch {
		case !n.Up:
			l = append(l, draw.Text("down", draw.Dim))
		case n.Successor != trace.None:
			l = append(l, draw.Text("out of service", draw.Dim))
		case !n.Present:
			l = append(l, draw.Text("free", draw.Plain))
		case n.Owner == trace.None:
			l = append(l, draw.Text("?", draw.Strong))
		default:
			l = append(l, draw.Text(r.Clients[n.Owner]+th.Bar(n.Owner), draw.ClientInk(n.Owner)))
		}
		l = append(l, draw.Text("  ", draw.Plain))
	}
	return l
}

// drawBelievers counts, for each column, the clients that believe at its last instant, as the
// lanes above show them. A column in which two believed at once shows that, so that no overlap
// falls between two; only that of the cursor is the instant of which the banner speaks. Two are loud where
// they are a violation, and no more than a number where the lease of one is over.
func (tl *plot) drawBelievers(y int) {
	before := 0
	for x, p := range tl.at {
		most, from := tl.Moments[p].Believers, before
		if x == tl.until {
			from = p
		}
		if within := tl.MostBelievers(from, p); within > 1 {
			most = within
		}
		before = p
		switch {
		case most == 0:
			tl.c.Put(tl.x0+x, y, tl.Theme.Wants, draw.Dim)
		case most == 1:
			tl.c.Put(tl.x0+x, y, "1", draw.Plain)
		default:
			tl.c.Put(tl.x0+x, y, strconv.Itoa(min(most, 9)), draw.Strong)
			if tl.Clashes(from, p) {
				tl.c.Put(tl.x0+x, y, strconv.Itoa(min(most, 9)), draw.Alarm)
			}
		}
	}
}

// drawBreaches names the properties where they broke. Names that would run into each other are joined at the first one's
// place; a name that would run out of the window stands further left, and is joined with those that are in its way there.
func (tl *plot) drawBreaches(y int) {
	all, _ := tl.Breached(tl.Pos)
	type name struct {
		x, first int // its column, and the first of its breaches
		text     string
	}
	var names []name
	for i := range all {
		n := name{tl.Axis.Cols[all[i].Pos] - tl.offset, i, codesInTime(all[i:i+1], tl.Named)}
		if n.x < 0 || n.x >= tl.width {
			continue
		}
		for {
			n.x = max(min(n.x, tl.width-draw.Width(n.text)), 0)
			last := len(names) - 1
			if last < 0 || names[last].x+draw.Width(names[last].text) < n.x {
				break
			}
			n = name{names[last].x, names[last].first, codesInTime(all[names[last].first:i+1], tl.Named)}
			names = names[:last]
		}
		names = append(names, n)
	}
	for i, n := range names {
		next := len(all)
		if i+1 < len(names) {
			next = names[i+1].first
		}
		k := draw.Alarm
		if len(failures(all[n.first:next])) == 0 {
			k = draw.Strong
		}
		tl.c.Text(tl.x0+n.x, y, draw.Width(n.text), n.text, k)
	}
}

// marks draws the marks of a lane. Where two fall into one column, the one of greater
// weight stays, and the other is counted, unless it looks the same. An access to
// the resource has the client's name beside it.
func (tl *plot) marks(l timeline.Lane, y int) {
	column, top, shown := -1, 0, ""
	last, by := -1, trace.None // the mark before: its column and client
	tl.events(func(x int, e *trace.Event) {
		if !tl.In(l, e) {
			return
		}
		glyph, k, weight := MarkOf(tl.Timeline, e, &tl.Theme.Glyphs)
		if x != column {
			column, top, shown = x, 0, ""
		}
		if top > 0 && weight > 0 && glyph != shown {
			tl.hidden++
		}
		if weight <= top {
			return
		}
		top, shown = weight, glyph
		if l.Kind == timeline.Store && e.Client != trace.None {
			name := tl.short[e.Client]
			w := draw.Width(name)
			if x-w > last || last == x || e.Client != by { // beside its own mark it needs none
				if last >= x-w && last < x {
					tl.hidden++
				}
				tl.c.Text(tl.x0+x-w, y, w, name, k)
			}
			last, by = x, e.Client
			if sign := (draw.Sign{name, tl.Clients[e.Client]}); name != sign[1] && !slices.Contains(tl.names, sign) {
				tl.names = append(tl.names, sign)
			}
		}
		tl.mark(tl.x0+x, y, glyph, k)
		tl.signs[len(tl.signs)-1].kind = e.Kind
	})
}

// MarkOf is the glyph of an event's mark, with its ink, and its weight: 0 for none.
func MarkOf(r *timeline.Timeline, e *trace.Event, g *draw.Glyphs) (glyph string, k draw.Ink, weight int) {
	m := r.Mark(e)
	k = draw.Strong
	switch {
	case m == timeline.Bad, m == timeline.Crashes, m == timeline.Falls, m == timeline.Jumps && e.Node != trace.None:
		k = draw.Breach
	case e.Client != trace.None:
		k = draw.ClientInk(e.Client)
	}
	return glyphOf(g, m), k, r.Weight(e)
}

// drawConnector joins the rows that the cursor's event joins: client and node,
// client and resource. Only for this one event, else the rest could not be read.
func (tl *plot) drawConnector() {
	e := tl.Event(tl.Pos)
	if e == nil || e.Client == trace.None || tl.Now > e.At { // time has passed since it
		return
	}
	from, to := -1, -1
	for i, l := range tl.Lanes {
		switch {
		case !l.own():
		case l.Kind == timeline.Deeds && l.Index == e.Client:
			from = i
		case e.Node != trace.None && (l.Kind == timeline.Record && l.Index == e.Node || l.Kind == timeline.Majority):
			to = i
		case timeline.Touches(e) && l.Kind == timeline.Store:
			to = i
		}
	}
	if from < 0 || to < 0 {
		return
	}
	for i := min(from, to) + 1; i < max(from, to); i++ {
		x, y := tl.x0+tl.until, tl.y0+AxisRows+i
		if s := tl.c.Char(x, y); s == "" || s == tl.Theme.Awake {
			tl.c.Put(x, y, tl.Theme.Link, draw.Here)
			tl.frame[tl.Theme.Link] = true
		}
	}
}

// drawAxis draws true times above a ruler on which long gaps are marked.
func (tl *plot) drawAxis() {
	t, y := tl.Theme, tl.y0
	tl.c.Text(tl.x0-LabelWidth+1, y, LabelWidth-2, "virtual t", draw.Dim)
	tl.c.Fill(draw.Rect(tl.x0, y+1, tl.width, 1), t.Ruler, draw.Dim)
	times := tl.drawTimes()
	for _, g := range tl.Axis.gaps {
		if g.Pos+1 > tl.Pos {
			break
		}
		tl.drawGap(g, times)
	}
	if tl.Long(tl.Now - tl.When(tl.Pos)) { // since the last event
		tl.markGap(tl.Axis.Cols[tl.Pos]+1-tl.offset, tl.until-1)
	}
	tl.c.Put(tl.x0+tl.until, y+1, t.Here, draw.Here)
}

// drawGap marks a gap, and writes its length where the times above are those between which it lies: beside others, a
// reader would subtract them and find another length.
func (tl *plot) drawGap(g gap, times []timeLabel) {
	from, to := g.from+1-tl.offset, g.to-1-tl.offset
	tl.markGap(from, to)
	if from < 0 || to >= tl.width {
		return
	}
	right, _ := slices.BinarySearchFunc(times, to+1, func(l timeLabel, x int) int { return l.x - x })
	if !g.Endless && (right == 0 || right == len(times) || times[right-1].text != trace.Brief(tl.When(g.Pos)) || times[right].text != trace.Brief(tl.When(g.Pos+1))) {
		return
	}
	glyph := tl.Theme.Gap
	if g.Endless {
		glyph = tl.Theme.Chasm + tl.Theme.Chasm
	}
	text := glyph + " " + trace.Brief(g.Length) + " " + glyph
	switch w := draw.Width(text); {
	case to-from+1 >= w:
		tl.c.Text(tl.x0+from+(to-from+1-w)/2, tl.y0+1, w, text, draw.Dim)
	case g.Endless:
		tl.c.Put(tl.x0+(from+to)/2, tl.y0+1, tl.Theme.Chasm, draw.Dim)
	}
	tl.frame[tl.Theme.Chasm] = tl.frame[tl.Theme.Chasm] || g.Endless
}

// markGap marks some columns of the ruler, as far as they are seen.
func (tl *plot) markGap(from, to int) {
	for x := max(from, 0); x <= min(to, tl.width-1); x++ {
		tl.c.Put(tl.x0+x, tl.y0+1, tl.Theme.Gap, draw.Dim)
		tl.frame[tl.Theme.Gap] = true
	}
}

// timeLabel is an instant that is written above a column of the plot.
type timeLabel struct {
	x    int
	text string
}

// drawTimes labels the cursor's instant, and as many others to its left as there is room for. It returns all of them. The first instant
// has its label where the axis begins, be the cursor at a later event of it.
func (tl *plot) drawTimes() (labels []timeLabel) {
	now := trace.Brief(max(tl.Now, tl.When(tl.Pos)))
	w := draw.Width(now)
	here := max(min(tl.until, tl.width-w), 0)
	if tl.offset == 0 && now == trace.Brief(tl.When(0)) {
		here = 0
		tl.c.Put(tl.x0, tl.y0+1, tl.Theme.Tick, draw.Dim)
	}
	tl.c.Text(tl.x0+here, tl.y0, w, now, draw.Here)
	proofs := tl.proofTimes()
	free, last := 0, ""
	for x, p := range tl.at {
		at, proof := proofs[x]
		if x < free || !proof && x > 0 && p == tl.at[x-1] {
			continue
		}
		if !proof {
			at = tl.Shown(tl.Axis.At(tl.offset+x-1), p)
		}
		text := trace.Brief(at)
		end := x + draw.Width(text)
		if text == last || text == now || end+1 > here || !proof && tl.crowds(proofs, x, end) {
			continue
		}
		tl.c.Text(tl.x0+x, tl.y0, tl.width, text, draw.Dim)
		tl.c.Put(tl.x0+x, tl.y0+1, tl.Theme.Tick, draw.Dim)
		labels = append(labels, timeLabel{x, text})
		free, last = end+2, text
	}
	return append(labels, timeLabel{tl.until, now})
}

// proofTimes are the instants of the highlighted events, by plot column: a column's label is the
// instant of the event that its number stands for, be it that others of the column are later. Those of other events
// that prove something are among them where these leave room, so that labels stay from frame to frame.
func (tl *plot) proofTimes() map[int]time.Duration {
	lit, times := map[int]time.Duration{}, map[int]time.Duration{}
	for _, seq := range tl.Lit {
		if pos := tl.After(seq); pos <= tl.Pos {
			lit[tl.Axis.Cols[pos]-tl.offset] = tl.When(pos)
		}
	}
	tl.events(func(x int, e *trace.Event) {
		if tl.Proves(e) && !tl.crowds(lit, x-labelRoom, x+labelRoom) {
			times[x] = e.At
		}
	})
	maps.Copy(times, lit)
	return times
}

// labelRoom is about the width of the label of an instant.
const labelRoom = 8

// crowds reports whether a label in some columns leaves one of the highlighted events no room.
func (tl *plot) crowds(proofs map[int]time.Duration, from, to int) bool {
	for x := range proofs {
		if x > from && x < to+2 {
			return true
		}
	}
	return false
}
