package scenarios

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"lockstep/sim"
	"lockstep/sim/suggest"
	"lockstep/sim/trace"
)

// position is a point of a client's protocol, which is the same under every
// strategy however many commands precede it.
type position struct {
	text  string
	side  side
	phase trace.Phase // for before and after
	nth   int         // from 1; negative counts from the end
	// change is in the place of a number: the phase's last command that changes the
	// lock's record, even if a clean-up follows it.
	change bool
}

// scouted reports whether the command can be identified only by running ahead.
func (p *position) scouted() bool { return p.change || p.nth < 0 }

type side uint8

const (
	atAcquire side = iota // about to call Acquire
	atGranted             // Acquire returned a lease; about to enter the critical section
	atWork                // just inside the critical section
	atRelease             // about to call Release
	atDone                // through with this cycle
	before                // about to send a command (or, in work, to access the resource)
	after                 // the command was executed at its node, and its reply is under way
)

var places = map[string]side{"acquire": atAcquire, "granted": atGranted, "work": atWork, "read": after, "release": atRelease, "done": atDone}

var phases = map[string]trace.Phase{"acquire": trace.PhaseAcquire, "work": trace.PhaseWork, "release": trace.PhaseRelease, "extend": trace.PhaseExtend}

// meant are the words of an author who takes the accesses of the work for phases, or leaves out the last word, with the
// positions that they stand for.
var meant = map[string]string{
	"write": "before work last", "before write": "before work last", "after write": "after work last", "before read": "work", "after read": "read",
	"before acquire": "before acquire first", "after acquire": "granted", "before release": "release", "after release": "done",
	"before work": "work", "after work": "release", "enter": "granted",
}

// parsePosition reads "work", "before release 1", "after acquire last" and the like.
func parsePosition(s string) (position, error) {
	p := position{text: strings.Join(strings.Fields(s), " ")}
	words := strings.Fields(s)
	switch {
	case len(words) == 1:
		at, known := places[words[0]]
		if !known && meant[s] != "" {
			return p, fmt.Errorf("unknown position %q; did you mean %q?", s, meant[s])
		}
		if !known {
			return p, suggest.Unknown("position", s, append(sortedKeys(places), "before acquire first", "after release last"))
		}
		if p.side = at; at == after { // read is short for "after work first"
			p.phase, p.nth = trace.PhaseWork, 1
		}
		return p, nil
	case meant[p.text] != "":
		return p, fmt.Errorf("unknown position %q; did you mean %q?", p.text, meant[p.text])
	case len(words) != 3:
		return p, fmt.Errorf("a position is one word (%s), or three, as in \"before acquire first\"; got %q",
			strings.Join(sortedKeys(places), ", "), suggest.Clip(s))
	}
	switch words[0] {
	case "before":
		p.side = before
	case "after":
		p.side = after
	default:
		return p, fmt.Errorf("a position of three words begins with before or after, not %q%s", suggest.Clip(words[0]), suggest.Hint(words[0], []string{"before", "after"}))
	}
	phase, known := phases[words[1]]
	if !known {
		return p, suggest.Unknown("phase", words[1], sortedKeys(phases))
	}
	p.phase = phase
	return p, p.count(words[2])
}

func (p *position) count(word string) error {
	switch word {
	case "first":
		p.nth = 1
	case "last":
		p.nth = -1
	case "change":
		if p.phase == trace.PhaseWork {
			return errors.New("\"change\" is a command that changes the lock's record, and in work there are none: work is accesses to the resource")
		}
		p.change = true
	default:
		n, err := strconv.Atoi(word)
		if err != nil || n == 0 || n > 1000 || n < -1000 {
			return fmt.Errorf("%q is neither first nor last nor change nor a number from 1 (or -1, from the end)%s", suggest.Clip(word), suggest.Hint(word, []string{"first", "last", "change"}))
		}
		p.nth = n
	}
	return nil
}

// unread reports whether a client that stands at the position has the lock, and has made no access to the resource yet.
func (p *position) unread() bool {
	return p.side == atGranted || p.side == atWork || p.side == before && p.phase == trace.PhaseWork && p.nth == 1
}

// reached reports whether a client stands at the position.
func (p *position) reached(at sim.Position) bool {
	switch p.side {
	case atAcquire:
		return at.About == trace.KindAcquire
	case atGranted:
		return at.About == trace.KindEnter
	case atWork:
		return at.Phase == trace.PhaseWork && at.Sent == 0
	case atRelease:
		return at.About == trace.KindRelease
	case before:
		return p.nth > 0 && at.Phase == p.phase && at.Sending && at.Sent == p.nth-1
	case after:
		landed := at.Landed || p.phase == trace.PhaseWork
		return p.nth > 0 && at.Phase == p.phase && at.Sent == p.nth && landed
	}
	return false
}
