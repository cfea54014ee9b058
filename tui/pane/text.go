package pane

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// StatusLine is the instant at the cursor and the last event until then, in words; counted are the events, too, unless it is for a room.
func StatusLine(r *timeline.Timeline, pos int, counted bool) draw.Line {
	e, now := r.Event(pos), r.Now(pos)
	if e == nil {
		text := "nothing has happened yet"
		if n := r.Last(); n > 0 && counted {
			text += ", " + draw.Plural(n, "event") + draw.Either(n == 1, " is", " are") + " to come"
		}
		return draw.Line{draw.Text(" "+trace.Brief(now)+"  ", draw.Strong), draw.Text(text, draw.Dim)}
	}
	k := draw.Strong
	name, joint := Actor(r, e)
	if client := r.Doer(e); client != trace.None {
		k = draw.ClientInk(client)
	}
	last := draw.Either(now > e.At, "last event at "+trace.Brief(e.At)+": ", "") // time has passed since, and nothing else
	return draw.Line{
		draw.Text(" "+trace.Brief(now)+"  ", draw.Strong),
		draw.Text(last, draw.Dim),
		draw.Text(draw.Either(counted, fmt.Sprintf("#%d of %d  ", e.Seq, r.Last()), ""), draw.Dim),
		draw.Text(name, k),
		draw.Text(joint, draw.Plain),
		draw.Text(r.Text(e), draw.Plain),
	}
}

// Actor is the name of an event's actor, and the text that joins it to the event's where they make a sentence. "A lease is over" would
// be one on any lease, and of the server's and the client's names in "n1 A's record expires" neither says whose the other is.
func Actor(r *timeline.Timeline, e *trace.Event) (name, joint string) {
	switch joint = " "; e.Kind {
	case trace.KindLapse:
		joint = "'s "
	case trace.KindExpire:
		joint = ": "
	}
	return r.Actor(e), joint
}

// Shortened is an event's text that is to have room in a width: without the token of a grant and the instant its lease was counted from, the time that a
// record has left, the record, or how long one that expires was there, rather than cut in the midst of the rest. Of a record that doesn't
// expire it has rather that than the value, which is the command's, its reply and its arguments.
func Shortened(text string, width int) string {
	if draw.Width(text) <= width {
		return text
	}
	if what, token, granted := strings.Cut(text, ", token "); granted {
		if _, lease, more := strings.Cut(token, ", "); more {
			return Shortened(what+", "+lease, width)
		}
		return text
	}
	if strings.Contains(text, "lease until ") {
		return brieflyCounted(text, func(short string) bool { return draw.Width(short) <= width })
	}
	what, record, stores := strings.Cut(text, "  [")
	if expired, _, expires := strings.Cut(what, " expires "); expires && draw.Width(what) > width {
		return expired + " expires"
	}
	if !stores {
		return text
	}
	if value, _, left := strings.Cut(record, " ("); left && strings.HasSuffix(record, " left)]") && draw.Width(what+"  ["+value+"]") <= width {
		return what + "  [" + value + "]"
	}
	if _, behind, stays := strings.Cut(record, " (no expiry)]"); stays {
		sent, _, _ := strings.Cut(what, " = ")
		by := strings.LastIndex(sent, ": ") + 2
		command, _, _ := strings.Cut(sent[by:], " ")
		for _, what = range []string{what, sent, draw.Either(by < 2, sent, sent[:by]+command)} {
			if what += "  [no expiry]" + behind; draw.Width(what) <= width {
				break
			}
		}
	}
	return what
}

// ShortenedLine is a line whose last piece is an event's text, shortened to have room in a width.
func ShortenedLine(l draw.Line, width int) draw.Line {
	last := l[len(l)-1]
	head := l[: len(l)-1 : len(l)-1]
	return append(head, draw.Text(Shortened(last.Text, width-head.Width()), last.Ink))
}

// Holders names the holders of the lock in one sentence, in capitals if a property has
// just broken or two clients hold it; codes have their names as far as the width allows, which leaves the sentence whole. The second
// result is the ink of the band behind it.
func Holders(r *timeline.Timeline, pos int, s *trace.State, width int) (draw.Line, draw.Ink) {
	all, fresh := r.Breached(pos)
	said := r.Holders(s)
	shortened := func(room int) string { // a sentence on two holders is the longest
		if draw.Width(said) <= room {
			return said
		}
		said := brieflyCounted(said, func(short string) bool { return draw.Width(short) <= room })
		if draw.Width(said) <= room {
			return said
		}
		const claim = " believe they hold it"
		who, over, many := strings.Cut(said, claim)
		if !many {
			return said
		}
		for _, short := range []string{said, who + " claim it" + over, draw.Either(strings.HasPrefix(over, ": no "), who+claim+": no violation.", ""), who + claim + "."} {
			if short != "" && draw.Width(short) <= room { // whose lease is over the row of beliefs shows, too
				return short
			}
		}
		return fmt.Sprintf("%d%s.", s.Believers(), claim)
	}
	if bad := failures(fresh); len(bad) > 0 {
		name := " !! " + shout(bad) + " !!  "
		happened := meeting(&bad[0], width-draw.Width(name))
		if agreed(r, s) || bad[0].Code.Harm() == trace.Damages { // who believes what is in the rows; the damage is to be said
			happened = happening(&bad[0], width-draw.Width(name))
		}
		both := func(name string) bool { return strings.Contains(shortened(width-draw.Width(name)), "; ") } // who believes, and whose lease is over
		codes := " !! " + listed(codesOf(bad)) + " !!  "
		if draw.Width(name+happened) > width || happened == "" && s.Believers() > 0 && !both(name) && both(codes) { // the name is told below, too
			name = codes
		}
		if happened != "" {
			happened = happening(&bad[0], width-draw.Width(name))
		}
		said = shortened(width - draw.Width(name))
		if happened != "" {
			said = draw.Either(draw.Width(name+happened+" "+said) <= width, happened+" "+said, happened)
		}
		return draw.Line{draw.Text(name, draw.Alarm), draw.Text(said, draw.Alarm)}, draw.Alarm
	}
	if clash := r.Clash(pos); clash != "" && s.Believers() > 1 {
		name, k, band := " !! "+clash+" !!  ", draw.Breach, draw.Plain
		if len(failures(all)) > 0 {
			told := slices.ContainsFunc(all, func(b timeline.Breach) bool { return strings.HasPrefix(clash, strings.ToUpper(b.Code.Name())) })
			name, k, band = draw.Either(told, " !! STILL "+clash+" !!  ", name), draw.Alarm, draw.Alarm
		}
		return draw.Line{draw.Text(name, k), draw.Text(shortened(width-draw.Width(name)), k)}, band
	}
	if s.Believers() > 1 && len(failures(all)) == 0 {
		said = unbroken(r, s, pos, width-1)
	}
	l := soFar(shortened(width-1), all, r.Ended(pos), width)
	if l.Width() > width {
		l = soFar(brieflyCounted(said, func(short string) bool { return soFar(short, all, r.Ended(pos), width).Width() <= width }), all, r.Ended(pos), width)
	}
	return l, draw.Plain
}

// meeting says who meets whom inside, if that has room: an overlap isn't about beliefs.
func meeting(b *timeline.Breach, room int) string {
	return draw.Either(b.Code == trace.OV && draw.Width(b.Text+".") <= room, b.Text+".", "")
}

// happening says what has broken a property, in so many columns if that is possible: the cause is told below.
func happening(b *timeline.Breach, room int) string {
	said := b.Text + "."
	if what, _, explained := strings.Cut(said, ": "); explained && draw.Width(said) > room {
		said = what + "."
	}
	return draw.Either(draw.Width(said) > room, strings.Replace(said, " has already ", " has ", 1), said)
}

// unbroken names several believers who break nothing, and says by which rule: the leases of two would have to be live, or two be
// at work, which has room in wide windows.
func unbroken(r *timeline.Timeline, s *trace.State, pos, width int) string {
	var believers, live, over []string
	working := "nobody is"
	for i := range s.Clients {
		c := &s.Clients[i]
		switch {
		case c.Lease.Live:
			live = append(live, r.Clients[i])
		case c.Lease.Believed:
			over = append(over, r.Clients[i]+"'s")
		}
		if c.Lease.Believed {
			believers = append(believers, r.Clients[i])
		}
		if r.Moments[pos].Clients[i].Inside {
			working = "only " + r.Clients[i] + " is"
		}
	}
	who, none := trace.List(believers)+" believe they hold it: ", "no violation"+draw.Either(r.Ended(pos), "", " yet")
	why, other, and := ", as no lease is live", "", " and "
	switch len(live) {
	case 0:
	case 1:
		why = ", as " + trace.List(over) + draw.Either(len(over) == 1, " lease is over", " leases are over")
		other, and = "; "+live[0]+"'s is live", ", and "
	default: // no two of one lock
		return who + none + "."
	}
	const one = "no double grant" // of which the leases are the whole reason
	for _, said := range []string{none + why + other + and + working + " in the critical section.", one + why + other + "."} {
		if draw.Width(who+said) <= width {
			return who + said
		}
	}
	return who + one + why + "."
}

// brieflyCounted is a sentence on holders that has room: with as many words as that leaves on the instant from which the end of a lease was
// counted, and at last without any; or of a record that nobody believes in with the record alone.
func brieflyCounted(said string, fits func(string) bool) string {
	for _, words := range [][2]string{{trace.RedisCounts, ""}, {", since it asked)", ")"}, {" in case clocks drift apart)", " for clock drift)"}, {" for clock drift)", " drift)"}} {
		if said = strings.Replace(said, words[0], words[1], 1); fits(said) {
			return said
		}
	}
	if before, after, counted := strings.Cut(said, " ("); counted {
		return before + draw.Either(strings.HasSuffix(after, "."), ".", "")
	}
	if before, rest, two := strings.Cut(said, "; "); two && strings.HasPrefix(before, "No ") {
		return trace.Capital(rest) // the record left behind matters more
	}
	return said
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

// soFar is a sentence and the codes until now, with their names if those fit: those that count against the
// lock, and then the others.
func soFar(said string, all []timeline.Breach, ended bool, width int) draw.Line {
	bad, mild := split(all)
	line := func(list func([]trace.Code) string, broken string) draw.Line {
		l := draw.Line{draw.Text(" "+said, draw.Strong)}
		if len(bad) > 0 {
			l = append(l, draw.Text("  !! "+broken+list(bad), draw.Breach))
		}
		if len(mild) > 0 {
			l = append(l, draw.Text("  "+draw.Either(len(bad) > 0, mildSign, mildSign+" no failure:")+" "+list(mild), draw.Strong))
		}
		return l
	}
	broken := draw.Either(ended, "broken: ", "broken so far: ")
	if l := line(namesOf, broken); l.Width() <= width {
		return l
	}
	for _, broken := range []string{broken, "broken: "} { // the word rather than a code
		if l := line(listed, broken); l.Width() <= width {
			return l
		}
	}
	return line(listed, "")
}

// listed are codes in a row.
func listed(codes []trace.Code) string { return trace.Verdict(codes).String() }

// namesOf are codes with their names.
func namesOf(codes []trace.Code) string {
	var names []string
	for _, c := range codes {
		names = append(names, fmt.Sprintf("%s (%s)", c.Name(), c))
	}
	return strings.Join(names, ", ")
}

// mildSign is the sign of a violation that is no failure, in every theme.
const mildSign = "~"

// SignOf is the sign of a violation, which stands before its code.
func SignOf(c trace.Code) string { return draw.Either(c.Failure(), "!!", mildSign) }

// split is the codes of violations, worst first and each once: those that make a lock wrong, and the others.
func split(bs []timeline.Breach) (bad, mild []trace.Code) {
	var set trace.CodeSet
	for _, b := range bs {
		set |= trace.SetOf(b.Code)
	}
	for _, c := range set.Verdict() {
		if c.Failure() {
			bad = append(bad, c)
		} else {
			mild = append(mild, c)
		}
	}
	return bad, mild
}

// failures keeps the violations that make a lock wrong, and not only slow.
func failures(bs []timeline.Breach) []timeline.Breach {
	return slices.DeleteFunc(slices.Clone(bs), func(b timeline.Breach) bool { return !b.Code.Failure() })
}

// codesOf are the codes of violations, worst first and each once.
func codesOf(bs []timeline.Breach) []trace.Code {
	bad, mild := split(bs)
	return append(bad, mild...)
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

// CodesOf lists the codes of violations, worst first, each once and behind the sign of its kind.
func CodesOf(bs []timeline.Breach) string {
	bad, mild := split(bs)
	var parts []string
	if len(bad) > 0 {
		parts = append(parts, "!! "+listed(bad))
	}
	if len(mild) > 0 {
		parts = append(parts, mildSign+" "+listed(mild))
	}
	return strings.Join(parts, " ")
}

// codesInTime is that list in the order of time, or that of the names.
func codesInTime(bs []timeline.Breach, named bool) string {
	var words []string
	sign := ""
	for _, b := range bs {
		if code := draw.Either(named, b.Code.Name(), b.Code.String()); !slices.Contains(words, code) {
			if s := SignOf(b.Code); s != sign {
				sign, words = s, append(words, s)
			}
			words = append(words, code)
		}
	}
	return strings.Join(words, " ")
}

// CodesSpan is that list in the ink of the worst.
func CodesSpan(bs []timeline.Breach) draw.Span {
	if len(failures(bs)) > 0 {
		return draw.Text(CodesOf(bs), draw.Breach)
	}
	return draw.Text(CodesOf(bs), draw.Strong)
}

// NamedSpan is that list with its name before each code, as far as so many columns have room for that.
func NamedSpan(bs []timeline.Breach, room int) draw.Span {
	span := CodesSpan(bs)
	words := strings.Fields(span.Text)
	for i, w := range words {
		if code, is := trace.ParseCode(w); is {
			words[i] = fmt.Sprintf("%s (%s)", code.Name(), code)
		}
		if named := strings.Join(words, " "); draw.Width(named) <= room {
			span.Text = named
		} else {
			words[i] = w
		}
	}
	return span
}
