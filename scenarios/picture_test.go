package scenarios

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"lockstep/sim/trace"
)

// picture opens a golden trace: who held what when, so that a reviewer sees the
// situation before reading its events. A column is an instant at which something in
// the picture changed; columns are in order, and not to scale.
//
// It is the one drawing that stands below the terminal interface, and small enough
// to be replaced by one over a timeline.
func picture(t *trace.Trace) string {
	p := columns(t)
	wide := max(1, min(8, (pictureWidth-laneName)/len(p)))
	var b strings.Builder
	p.times(&b, wide)
	for i, name := range append(slices.Clone(t.Clients), t.Nodes...) {
		lane := ""
		for _, c := range p {
			lane += strings.Repeat(c.looks[i:i+1], wide)
		}
		drawLane(&b, name, lane)
	}
	for _, code := range t.Verdict() {
		lane := []byte(strings.Repeat(" ", wide*len(p)))
		for _, violation := range t.Violations {
			if violation.Code == code {
				lane[wide*p.at(violation.At)] = '^'
			}
		}
		drawLane(&b, code.String(), string(lane))
	}
	return b.String()
}

const (
	pictureWidth = 110
	laneName     = 8
	legend       = "a client: a acquires  = has a lease  # is inside with one, ! without  r releases  z is paused  x is dead\n" +
		"a server: whose record it holds, by initial, ? nobody's, - none  x is down\n" +
		"a code: ^ where the violation was complete\n"
)

func drawLane(b *strings.Builder, name, lane string) {
	line := name + strings.Repeat(" ", max(1, laneName-len(name))) + lane
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// column is how everything looks from an instant on: a letter for each client, then
// for each server.
type column struct {
	at    time.Duration
	looks string
}

type columnList []column

func columns(t *trace.Trace) columnList {
	s := t.NewState()
	p := columnList{{0, looks(t, s)}}
	for i := range t.Events {
		e := &t.Events[i]
		s.Apply(e)
		now := column{e.At, looks(t, s)}
		switch last := &p[len(p)-1]; {
		case last.looks == now.looks:
		case last.at == now.at: // an instant has one column, and shows what it ends with
			last.looks = now.looks
		default:
			p = append(p, now)
		}
	}
	if len(p) <= (pictureWidth-laneName)/2 {
		return p
	}
	return slices.CompactFunc(p, func(a, b column) bool { return quiet.Replace(a.looks) == quiet.Replace(b.looks) })
}

// quiet takes the attempts out of a long run: a client that polls is in vain most of
// the time.
var quiet = strings.NewReplacer("a", ".")

// at is the column of an instant.
func (p columnList) at(at time.Duration) int {
	i, _ := slices.BinarySearchFunc(p, at+1, func(c column, at time.Duration) int { return int(c.at - at) })
	return i - 1
}

// times is the axis: as many instants as there is room for.
func (p columnList) times(b *strings.Builder, wide int) {
	axis := ""
	for i, c := range p {
		if text := trace.Brief(c.at); utf8.RuneCountInString(axis) <= i*wide {
			axis += strings.Repeat(" ", i*wide-utf8.RuneCountInString(axis)) + text + " "
		}
	}
	drawLane(b, "", axis)
}

// looks is the letters of a state.
func looks(t *trace.Trace, s *trace.State) string {
	var b strings.Builder
	for i := range s.Clients {
		b.WriteByte(clientLooks(&s.Clients[i]))
	}
	for i := range s.Nodes {
		switch r := s.LockRecord(i); {
		case !s.Nodes[i].Up:
			b.WriteByte('x')
		case r == nil:
			b.WriteByte('-')
		case r.Owner == trace.Nobody:
			b.WriteByte('?')
		default:
			b.WriteByte(t.Clients[r.Owner.Client][0])
		}
	}
	return b.String()
}

func clientLooks(c *trace.ClientState) byte {
	switch l := &c.Lease; {
	case c.Crashed, c.Hung:
		return 'x'
	case c.Paused:
		return 'z'
	case l.Inside && l.Live:
		return '#'
	case l.Inside:
		return '!'
	case c.Phase == trace.PhaseRelease:
		return 'r'
	case l.Believed:
		return '='
	case c.Phase == trace.PhaseAcquire:
		return 'a'
	}
	return '.'
}
