package tui

import (
	"fmt"
	"strings"

	"lockstep/sim"
	"lockstep/sim/timeline"
)

// statusLine is the event at the cursor, in words.
func statusLine(r *timeline.Timeline, pos int) line {
	e := r.Event(pos)
	if e == nil {
		text := "nothing has happened yet"
		if n := r.Last(); n > 0 {
			text += fmt.Sprintf(", %d events are to come", n)
		}
		return line{{" 0s  ", inkStrong}, {text, inkDim}}
	}
	k := inkStrong
	name := r.Actor(e)
	if client := r.Doer(e); client != sim.None {
		k = clientInk(client)
	}
	return line{
		{" " + sim.Brief(e.At) + "  ", inkStrong},
		{fmt.Sprintf("#%d of %d  ", e.Seq, r.Last()), inkDim},
		{name + " ", k},
		{r.Text(e), inkPlain},
	}
}

// holders says in one sentence who has the lock, and shouts if a property has
// just broken or stays broken. The second result asks for a band of that ink.
func holders(r *timeline.Timeline, pos int, s *sim.State) (line, ink) {
	all, fresh := r.Breached(pos)
	said := r.Holders(s)
	if bad := failures(fresh); len(bad) > 0 {
		return line{{" !! " + shout(bad) + " !!  ", inkAlarm}, {said, inkAlarm}}, inkAlarm
	}
	bad := failures(all)
	switch n := s.Believers(); {
	case n > 1 && len(bad) > 0:
		return line{{fmt.Sprintf(" !! %d BELIEVERS !!  ", n), inkAlarm}, {said, inkAlarm}}, inkAlarm
	case n > 1:
		return line{{fmt.Sprintf(" !! %d BELIEVERS !!  ", n), inkBreach}, {said, inkBreach}}, inkPlain
	case len(bad) > 0:
		return line{{" " + said, inkStrong}, {"  !! broken so far: " + codesOf(bad), inkBreach}}, inkPlain
	case len(all) > 0:
		return line{{" " + said, inkStrong}, {"  reported, but no failure: " + codesOf(all), inkPlain}}, inkPlain
	}
	return line{{" " + said, inkStrong}}, inkPlain
}

// failures are those of violations that make a lock wrong, and not only slow.
func failures(bs []timeline.Breach) []timeline.Breach {
	var bad []timeline.Breach
	for _, b := range bs {
		if b.Code.Failure() {
			bad = append(bad, b)
		}
	}
	return bad
}

// flag is what a run comes to, in a word: "!!" only for what is a failure.
func (g *glyphs) flag(bs []timeline.Breach) span {
	if len(failures(bs)) > 0 {
		return span{"!! " + codesOf(bs), inkBreach}
	}
	return span{g.mild + " " + codesOf(bs), inkStrong}
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

// codesOf lists the codes of violations, worst first, each once.
func codesOf(bs []timeline.Breach) string {
	var v sim.Verdict
	for _, b := range bs {
		v = append(v, b.Code)
	}
	return v.Sorted().String()
}
