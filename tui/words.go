package tui

import (
	"fmt"
	"strings"

	"lockstep/sim"
)

// statusLine is the event at the cursor, in words.
func statusLine(r *reel, pos int) line {
	e := r.event(pos)
	if e == nil {
		text := "nothing has happened yet"
		if n := r.last(); n > 0 {
			text += fmt.Sprintf(", %d events are to come", n)
		}
		return line{{" 0s  ", inkStrong}, {text, inkDim}}
	}
	k := inkStrong
	name := r.trace.Actor(e)
	if client := r.clientOf(e); client != sim.None {
		k = clientInk(client)
	}
	return line{
		{" " + shortTime(e.At) + "  ", inkStrong},
		{fmt.Sprintf("#%d of %d  ", e.Seq, r.last()), inkDim},
		{name + " ", k},
		{r.trace.Text(e), inkPlain},
	}
}

// holders says in one sentence who has the lock, and shouts if a property has
// just broken or stays broken. The second result asks for a band of that ink.
func holders(r *reel, pos int, s *sim.State) (line, ink) {
	all, fresh := r.breached(pos)
	said := who(r, pos, s)
	if len(fresh) > 0 {
		return line{{" !! " + shout(fresh) + " !!  ", inkAlarm}, {said, inkAlarm}}, inkAlarm
	}
	switch n := s.Believers(); {
	case n > 1 && len(all) > 0:
		return line{{fmt.Sprintf(" !! %d BELIEVERS !!  ", n), inkAlarm}, {said, inkAlarm}}, inkAlarm
	case n > 1:
		return line{{fmt.Sprintf(" !! %d BELIEVERS !!  ", n), inkBreach}, {said, inkBreach}}, inkPlain
	case len(all) > 0:
		return line{{" " + said, inkStrong}, {"  !! broken so far: " + codesOf(all), inkBreach}}, inkPlain
	}
	return line{{" " + said, inkStrong}}, inkPlain
}

// shout is the names of violations in capitals, each once.
func shout(bs []breach) string {
	var names []string
	for i, b := range bs {
		if i == 0 || bs[i-1].Code != b.Code {
			names = append(names, strings.ToUpper(b.Code.Name()))
		}
	}
	return strings.Join(names, " + ")
}

// codesOf lists the codes of violations, worst first, each once.
func codesOf(bs []breach) string {
	var v sim.Verdict
	for _, b := range bs {
		v = append(v, b.Code)
	}
	return v.Sorted().String()
}

func who(r *reel, pos int, s *sim.State) string {
	var believers []string
	last := -1
	for i := range s.Clients {
		l := &s.Clients[i].Lease
		if !l.Believed {
			continue
		}
		name := r.trace.Clients[i]
		if !l.Live {
			name += " (lease over)"
		}
		believers, last = append(believers, name), i
	}
	switch len(believers) {
	case 0:
		return nobody(r, s)
	case 1:
		return holder(r, pos, s, last)
	}
	most := len(believers) - 1
	return strings.Join(believers[:most], ", ") + " and " + believers[most] + " believe they hold it."
}

// nobody: but there may be a record that outlives its owner.
func nobody(r *reel, s *sim.State) string {
	for i := range s.Nodes {
		rec := s.LockRecord(i)
		if rec == nil || !s.Nodes[i].Up {
			continue
		}
		switch owner := rec.Owner.Client; {
		case owner == sim.None:
			return "Nobody holds it; somebody's record stays."
		case s.Clients[owner].Crashed:
			return fmt.Sprintf("Nobody alive holds it; dead %s's record stays.", r.trace.Clients[owner])
		case s.Clients[owner].Phase != sim.PhaseAcquire:
			return fmt.Sprintf("Nobody holds it; %s's record stays.", r.trace.Clients[owner])
		}
	}
	return "Nobody holds the lock."
}

func holder(r *reel, pos int, s *sim.State, client int) string {
	name, l := r.trace.Clients[client], &s.Clients[client].Lease
	if !l.Live {
		return fmt.Sprintf("%s thinks it holds the lock, but its lease ended at %s.", name, shortTime(l.Deadline))
	}
	if owner, split := r.samples[pos].quorum(r.trace.Need); owner != client {
		has := "Redis has no record of it"
		switch {
		case owner != sim.None:
			has = "Redis has " + r.trace.Clients[owner] + "'s record"
		case split && len(s.Nodes) > 1:
			has = "it has too few nodes"
		case split:
			has = "Redis has somebody's record"
		}
		return name + " thinks it holds the lock, but " + has + "."
	}
	if l.Deadline == sim.Never {
		return name + " holds the lock, without a deadline."
	}
	return name + " holds the lock, until " + shortTime(l.Deadline) + "."
}
