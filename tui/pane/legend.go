package pane

import (
	"lockstep/sim/timeline"
	"lockstep/tui/draw"
)

// Legend explains the glyphs of a run.
func Legend(g *draw.Glyphs) []draw.Sign {
	return []draw.Sign{
		{g.Awake, "runs"}, {g.Inside, "in the critical section"}, {g.Paused, "paused"}, {g.Resume, "goes on"}, {g.Crash, "crashes"},
		{g.Send, "sends a command"}, {g.Refused, "refused; it may ask again"}, {g.Granted, "has the lock"}, {g.Release, "releases it"},
		{g.Extend, "extends it"}, {g.Lost, "no reply, or failed"},
		{g.Read, "reads the store"}, {g.Write, "writes to the store"}, {g.Bad, "breaks a property"}, {g.Reject, "is refused by the store"},
		{g.Bar(0) + g.Bar(1) + g.Bar(2), "A, B, C believes it has the lock; on a redis row: has it"}, {g.Lapsed, "believes so, though the lease is over"},
		{"1 2", "how many clients believe: 2 is one too many"},
		{g.Down, "a server is down"}, {g.Fault, "its clock jumps, or it loses a key or its scripts"}, {g.Nobody, "no client has a majority of the servers"},
		{g.Gap, "time passes, not to scale"}, {g.Chasm + g.Chasm, "very much of it"}, {g.Here, "you are here"},
	}
}

// InSight explains, in a line of at most a width, those of the run's glyphs that are drawn
// in a part of the canvas: as many as there is room for beside the last words. Bars explain
// themselves by the names beside them, and the line of a client that runs needs no words.
func InSight(c *draw.Canvas, r draw.Rectangle, t *draw.Theme, width int, last draw.Line) draw.Line {
	drawn := map[string]bool{}
	for y := r.Y + AxisRows; y < r.Y+r.H; y++ {
		for x := r.X + LabelWidth; x < r.X+r.W; x++ {
			drawn[c.Char(x, y)] = true
		}
	}
	var l draw.Line
	for _, s := range Legend(&t.Glyphs) {
		next := draw.Line{draw.Text(" "+s[0], draw.Strong), draw.Text(" "+s[1]+" ", draw.Dim)}
		if drawn[s[0]] && s[0] != t.Awake && l.Width()+next.Width()+last.Width() <= width {
			l = append(l, next...)
		}
	}
	return append(l, last...)
}

// glyphOf is the glyph of a mark.
func glyphOf(g *draw.Glyphs, m timeline.Mark) string {
	return [timeline.Marks]string{
		timeline.Bad: g.Bad, timeline.Sends: g.Send, timeline.Retries: g.Retry, timeline.Granted: g.Granted, timeline.Refused: g.Refused,
		timeline.Enters: g.Enter, timeline.Leaves: g.Leave, timeline.Releases: g.Release, timeline.Extends: g.Extend,
		timeline.Reads: g.Read, timeline.Writes: g.Write, timeline.Rejected: g.Reject, timeline.Crashes: g.Crash,
		timeline.Resumes: g.Resume, timeline.Fails: g.Lost, timeline.Falls: g.Down, timeline.Jumps: g.Fault,
	}[m]
}
