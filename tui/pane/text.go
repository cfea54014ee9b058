package pane

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// StatusLine is the event at the cursor, in words.
func StatusLine(r *timeline.Timeline, pos int) draw.Line {
	e := r.Event(pos)
	if e == nil {
		text := "nothing has happened yet"
		if n := r.Last(); n > 0 {
			text += fmt.Sprintf(", %d events are to come", n)
		}
		return draw.Line{draw.Text(" 0s  ", draw.Strong), draw.Text(text, draw.Dim)}
	}
	k := draw.Strong
	name := r.Actor(e)
	if client := r.Doer(e); client != trace.None {
		k = draw.ClientInk(client)
	}
	return draw.Line{
		draw.Text(" "+trace.Brief(e.At)+"  ", draw.Strong),
		draw.Text(fmt.Sprintf("#%d of %d  ", e.Seq, r.Last()), draw.Dim),
		draw.Text(name+" ", k),
		draw.Text(r.Text(e), draw.Plain),
	}
}

// Holders names the holders of the lock in one sentence, in capitals if a property has
// just broken or stays broken; codes have their names as far as the width allows. The second
// result is the ink of the band behind it.
func Holders(r *timeline.Timeline, pos int, s *trace.State, width int) (draw.Line, draw.Ink) {
	all, fresh := r.Breached(pos)
	said := r.Holders(s)
	if bad := failures(fresh); len(bad) > 0 {
		name := " !! " + shout(bad) + " !!  "
		if agreed(r, s) {
			happened := bad[0].Text + "."
			said = draw.Either(draw.Width(name+happened+" "+said) <= width, happened+" "+said, happened)
		}
		return draw.Line{draw.Text(name, draw.Alarm), draw.Text(said, draw.Alarm)}, draw.Alarm
	}
	bad := failures(all)
	switch n := s.Believers(); {
	case n > 1 && len(bad) > 0:
		return draw.Line{draw.Text(fmt.Sprintf(" !! %d BELIEVERS !!  ", n), draw.Alarm), draw.Text(said, draw.Alarm)}, draw.Alarm
	case n > 1:
		return draw.Line{draw.Text(fmt.Sprintf(" !! %d BELIEVERS !!  ", n), draw.Breach), draw.Text(said, draw.Breach)}, draw.Plain
	case len(bad) > 0:
		return soFar(said, draw.Either(r.Ended(pos), "  !! broken: ", "  !! broken so far: "), bad, width, draw.Breach), draw.Plain
	case len(all) > 0:
		return soFar(said, "  reported, but no failure: ", all, width, draw.Plain), draw.Plain
	}
	return draw.Line{draw.Text(" "+said, draw.Strong)}, draw.Plain
}

// agreed reports whether clients and servers agree on who holds the lock. Then the sentence on the holders
// doesn't tell what has just gone wrong.
func agreed(r *timeline.Timeline, s *trace.State) bool {
	owner, split := s.Quorum(r.Need)
	if s.Believers() == 0 {
		return owner == trace.None && !split
	}
	return s.Believers() == 1 && owner != trace.None && s.Clients[owner].Lease.Believed && s.Clients[owner].Lease.Live
}

// soFar is a sentence and the codes until now, with their names if those fit.
func soFar(said, heading string, bs []timeline.Breach, width int, k draw.Ink) draw.Line {
	var names []string
	for _, b := range bs {
		if name := fmt.Sprintf("%s (%s)", b.Code.Name(), b.Code); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	l := draw.Line{draw.Text(" "+said, draw.Strong), draw.Text(heading+strings.Join(names, ", "), k)}
	if l.Width() > width {
		l[1].Text = heading + CodesOf(bs)
	}
	return l
}

// failures keeps the violations that make a lock wrong, and not only slow.
func failures(bs []timeline.Breach) []timeline.Breach {
	var bad []timeline.Breach
	for _, b := range bs {
		if b.Code.Failure() {
			bad = append(bad, b)
		}
	}
	return bad
}

// shout is the names of violations in capitals, each once.
func shout(bs []timeline.Breach) string {
	var names []string
	for i, b := range bs {
		if i == 0 || bs[i-1].Code != b.Code {
			names = append(names, strings.ToUpper(b.Code.Name()))
		}
	}
	return strings.Join(names, " + ")
}

// CodesOf lists the codes of violations, worst first, each once.
func CodesOf(bs []timeline.Breach) string {
	var v trace.Verdict
	for _, b := range bs {
		v = append(v, b.Code)
	}
	return v.Sorted().String()
}

// CodesSpan is the codes of violations, with "!!" only if there is a failure among them.
func CodesSpan(g *draw.Glyphs, bs []timeline.Breach) draw.Span {
	if len(failures(bs)) > 0 {
		return draw.Text("!! "+CodesOf(bs), draw.Breach)
	}
	return draw.Text(g.Mild+" "+CodesOf(bs), draw.Strong)
}
