package pane

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lockstep/sim/timeline"
	"lockstep/tui/draw"
	"lockstep/tui/legend"
)

// Legend explains the glyphs of a run, or, without one, of runs whose clients are A, B and C.
func Legend(g *draw.Glyphs, r *timeline.Timeline) []draw.Sign {
	clients := []string{"A", "B", "C"}
	if r != nil {
		clients = r.Clients // the probe's belief has a bar, too
	}
	bars := ""
	for i := range clients {
		bars += g.Bar(i)
	}
	signs := legend.Lanes(g)
	signs = append(signs, draw.Sign{g.Write, "in the view of who sends to whom, on a server's line: it acts"}, draw.Sign{bars, strings.Join(clients, ", ") + ": believes it has the lock; on a redis row: has it"})
	signs = append(signs, legend.Frame(g)...)
	if r != nil && len(r.Nodes) > 1 {
		_, of := Lane{Lane: timeline.Lane{Kind: timeline.Majority}}.label(r.Trace)
		signs = append(signs, draw.Sign{of, fmt.Sprintf("the rows of the %d servers in one, where rows are few: the client whose record is on %d of them, or more", len(r.Nodes), r.Need)})
	}
	return append(signs, draw.Sign{"1 2", "how many clients believe; where 2 stand out, both leases run or both are inside; on the axis: the events that prove a violation"}, draw.Sign{g.Here, "you are here"})
}

// signsOf explains the signs that are drawn, each meaning of each once.
func (d Drawn) signsOf(g *draw.Glyphs) (signs []draw.Sign) {
	for _, s := range legend.Lanes(g) {
		s[1], _, _ = strings.Cut(s[1], ": ")
		switch {
		case s[0] == g.Nobody && d.single:
			s[1] = "a record of no client's"
		case s[0] == g.Paused:
			s[1] = strings.Join(d.still, "; or ")
		}
		if d.signs[s[0]] && s[0] != g.Awake && s[0] != g.Fault && s[0] != g.Refused {
			signs = append(signs, s)
		}
	}
	for _, s := range d.faults { // one that has several meanings here has them together
		if i := slices.IndexFunc(signs, func(o draw.Sign) bool { return o[0] == s[0] }); i >= 0 {
			signs[i][1] += "; or " + s[1]
			continue
		}
		signs = append(signs, s)
	}
	return append(signs, d.names...)
}

// unworded explains the signs of bars and marks that are drawn without a word beside them.
func (d Drawn) unworded(g *draw.Glyphs) []draw.Sign {
	return slices.DeleteFunc(d.signsOf(g), func(s draw.Sign) bool { return d.worded[s[0]] })
}

// framing explains the glyphs around those.
func (d Drawn) framing(g *draw.Glyphs) []draw.Sign {
	return slices.DeleteFunc(legend.Frame(g), func(s draw.Sign) bool { return !d.frame[s[0]] })
}

// With has the signs of two diagrams together; a sign that both have is there since the earlier of its places.
func (d Drawn) With(o Drawn) Drawn {
	both := Drawn{Hidden: d.Hidden + o.Hidden, signs: map[string]bool{}, frame: map[string]bool{}, worded: map[string]bool{}, since: map[string]int{}, faults: union(d.faults, o.faults), still: union(d.still, o.still), names: union(d.names, o.names)}
	for _, side := range []Drawn{d, o} {
		maps.Copy(both.signs, side.signs)
		maps.Copy(both.frame, side.frame)
		maps.Copy(both.worded, side.worded)
		for sign, at := range side.since {
			was, is := both.since[sign]
			both.since[sign] = draw.Either(is, min(was, at), at)
		}
	}
	return both
}

// Legend explains those of the run's glyphs that are drawn, each in the same words wherever it stands: in a line of at most a width above the
// diagram, if there is any, and then in one below it, which begins with the violations and rejections that the run is there to show;
// those for which that has no room are the last result, and have been there the longest. The line above is filled in order, so that a
// sign that comes moves no other there. Bars explain themselves by the names beside them, and the line of a client that runs needs no
// words. The glyphs around them are explained where all others are.
func (d Drawn) Legend(t *draw.Theme, over, under int) (above, below draw.Line, others []draw.Sign) {
	signs := d.unworded(&t.Glyphs)
	first := 0
	for first < len(signs) && (signs[first][0] == t.Bad || signs[first][0] == t.Reject) {
		first++
	}
	n := len(signs) - first
	for ; n > 0; n-- {
		var left []draw.Sign
		if above, left = draw.SignRow(signs[first:first+n], over); len(left) == 0 {
			break
		}
	}
	below, others = draw.SignRow(slices.Concat(signs[:first], signs[first+n:]), under)
	if len(others) > 0 { // rather all, in an order that wastes no columns
		var left []draw.Sign
		above, left = draw.SignRow(signs[first:], over)
		below, others = draw.SignRow(slices.Concat(signs[:first], left), under)
	}
	if len(others) > 0 {
		above, below, others = d.latest(signs, first, over, under)
	}
	if len(others) == 0 {
		more, _ := draw.SignRow(d.framing(&t.Glyphs), under-below.Width())
		below = append(below, more...)
	}
	return above, below, others
}

// latest explains as many signs as two rows have room for: the first few, and of the rest those that have come last into the picture. A
// reader has met the others.
func (d Drawn) latest(signs []draw.Sign, first, over, under int) (above, below draw.Line, others []draw.Sign) {
	newest := slices.Clone(signs[first:])
	slices.SortStableFunc(newest, func(a, b draw.Sign) int { return d.since[b[0]] - d.since[a[0]] })
	var shown []draw.Sign
	for _, s := range newest {
		now := slices.DeleteFunc(slices.Clone(signs[first:]), func(o draw.Sign) bool { return o != s && !slices.Contains(shown, o) })
		up, left := draw.SignRow(now, over)
		if down, none := draw.SignRow(slices.Concat(signs[:first], left), under); len(none) == 0 {
			shown, above, below = now, up, down
		} else {
			others = append(others, s)
		}
	}
	return above, below, others
}

// LegendRows explains the glyphs that are drawn and not worded beside in rows of at most a width, as many rows as there are; and those
// around them, if there are rows for all.
func (d Drawn) LegendRows(t *draw.Theme, width, rows int) []draw.Line {
	own := d.unworded(&t.Glyphs)
	lines := draw.SignRows(slices.Concat(own, d.framing(&t.Glyphs)), width)
	if len(lines) > rows {
		lines = draw.SignRows(own, width)
	}
	return lines[:min(len(lines), rows)]
}

// glyphOf is the glyph of a mark.
func glyphOf(g *draw.Glyphs, m timeline.Mark) string {
	return [timeline.Marks]string{
		timeline.Bad: g.Bad, timeline.Sends: g.Send, timeline.Retries: g.Retry, timeline.Granted: g.Granted, timeline.Refused: g.Refused,
		timeline.Enters: g.Enter, timeline.Leaves: g.Leave, timeline.Releases: g.Release, timeline.Extends: g.Extend,
		timeline.Reads: g.Read, timeline.Writes: g.Write, timeline.Rejected: g.Reject, timeline.Crashes: g.Crash,
		timeline.Resumes: g.Resume, timeline.Fails: g.Fails, timeline.GivesUp: g.GivesUp, timeline.Loses: g.Lost, timeline.Falls: g.Down, timeline.Jumps: g.Fault,
	}[m]
}

// OtherSigns explains those glyphs of a diagram for which its own legend has no room, if there are rows
// for all of them.
func OtherSigns(signs []draw.Sign, width, rows int) []draw.Line {
	if len(signs) == 0 {
		return nil
	}
	lines := []draw.Line{nil, {draw.Text("other signs", draw.Title)}}
	for _, s := range signs {
		lines = append(lines, draw.Line{draw.Text(" "+s[0], draw.Strong), draw.Text("  "+s[1], draw.Dim)}.Hanging(width)...)
	}
	if len(lines) > rows {
		return nil
	}
	return lines
}

// MissingForm is how much is said of the rows and marks that a diagram lacks.
type MissingForm uint8

// The forms, the longest first.
const (
	MissingAll   MissingForm = iota // also the rows that are empty, and the covered marks
	MissingRows                     // the rows with something to show, by their names
	MissingCount                    // how many those are
)

// Missing says which rows a diagram has no room for, and, if it is to, how many of those are empty, and how many marks are covered by others,
// which a key spreads, if there is one.
func (d Drawn) Missing(r *timeline.Timeline, pos int, lanes []Lane, form MissingForm, zoom string) (l draw.Line) {
	n, rows := Missed(r, pos, lanes).Text()
	switch {
	case n > 0 && form == MissingCount:
		return draw.Line{draw.Text(" "+draw.Plural(n, "row")+" left out ", draw.Dim)}
	case n > 0:
		l = append(l, draw.Text(" "+draw.Plural(n, "row")+" left out: ", draw.Dim), draw.Text(rows+" ", draw.Strong))
	}
	if form != MissingAll {
		return l
	}
	if idle := Idle(r, pos, lanes); idle > 0 {
		l = append(l, draw.Text(draw.Either(n > 0, fmt.Sprintf("and %d empty ", idle), " "+draw.Plural(idle, "empty row")+" left out "), draw.Dim))
	}
	if d.Hidden > 0 && zoom != "" {
		l = append(l, draw.Text(fmt.Sprintf(" %s covered: ", draw.Plural(d.Hidden, "mark")), draw.Dim), draw.Text(zoom, draw.Strong), draw.Text(" zooms in ", draw.Dim))
	}
	return l
}
