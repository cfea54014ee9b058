package timeline

import (
	"fmt"
	"time"

	"lockstep/sim/trace"
)

// Differences says what is not alike at a step, in a clause for each client that does or believes something
// else, for the record in Redis and for the resource; "above" is the first run. It is empty where nothing
// differs.
func (al *Alignment) Differences(step int) (all []string) {
	a, b := &al.Runs[0].Moments[al.Steps[step][0]], &al.Runs[1].Moments[al.Steps[step][1]]
	for n := range min(len(a.Clients), len(b.Clients)) {
		name := al.Runs[0].Clients[n]
		if name == trace.Probe {
			continue
		}
		x, y := a.Clients[n].words(), b.Clients[n].words()
		for i := range x {
			if x[i] != y[i] {
				all = append(all, fmt.Sprintf("%s %s above, and %s below", name, x[i], y[i])+al.margins(n, i, step))
				break // the rest follows from it, or comes with it
			}
		}
	}
	if a.Quorum != b.Quorum {
		all = append(all, fmt.Sprintf("Redis has %s above, and %s below", al.record(0, a), al.record(1, b)))
	}
	if a.Version != b.Version {
		all = append(all, fmt.Sprintf("the resource has been written %s above, and %s below", times(a.Version), times(b.Version)))
	}
	return all
}

// margins says of a client whose lease lives in one run only which lock takes how much off it, and for what: it ends earlier than the other
// for that. It is empty where that is no difference.
func (al *Alignment) margins(client, word, step int) string {
	above, below := al.Runs[0].MarginOf(client, al.Steps[step][0]), al.Runs[1].MarginOf(client, al.Steps[step][1])
	if word != wordLive || above == below {
		return ""
	}
	lock, margin, ttl := "below", below, al.Runs[1].TTL
	if above > below {
		lock, margin, ttl = "above", above, al.Runs[0].TTL
	}
	return fmt.Sprintf(" (the lock %s takes %s off its %s, as clocks may drift)", lock, trace.Duration(margin), trace.Duration(ttl))
}

// Counted says how a side's lock counts its leases, if by a step a client has been granted one that for this is shorter than in the other run:
// its bar ends earlier there for as long as it is shown. Else it is empty.
func (al *Alignment) Counted(step, side int) string {
	own, other := al.Runs[side], al.Runs[1-side]
	for n := range min(len(own.Clients), len(other.Clients)) {
		margin := own.MarginOf(n, al.Steps[step][side])
		if there := other.MarginOf(n, other.Last()); margin > there && own.Clients[n] == other.Clients[n] {
			return fmt.Sprintf(" lease: %s less %s for clock drift ", trace.Duration(own.TTL), trace.Duration(margin))
		}
	}
	return ""
}

// Unlike are the clients that stand otherwise in one run than in the other at a step, but for the probe.
func (al *Alignment) Unlike(step int) (clients []int) {
	a, b := &al.Runs[0].Moments[al.Steps[step][0]], &al.Runs[1].Moments[al.Steps[step][1]]
	for n := range min(len(a.Clients), len(b.Clients)) {
		if al.Runs[0].Clients[n] != trace.Probe && a.Clients[n].words() != b.Clients[n].words() {
			clients = append(clients, n)
		}
	}
	return clients
}

// wordLive is the place of the lease among the words of a client.
const wordLive = 3

// words say how a client stands, the most telling first.
func (c *Client) words() [8]string {
	say := func(is bool, yes, no string) string {
		if is {
			return yes
		}
		return no
	}
	return [...]string{
		say(c.Crashed, "has crashed", "has not"), say(c.Inside, "is in the critical section", "is not"),
		say(c.Believed, "believes that it holds the lock", "does not"), say(c.Live, "has a live lease", "has not"),
		say(c.Threw, "was ended by an exception", "was not"), say(c.Hung, "hangs", "does not"), say(c.Held, "is held up", "is not"), say(c.Paused, "is paused", "is not"),
	}
}

// record is whose record counts.
func (al *Alignment) record(side int, m *Moment) string {
	switch {
	case m.Quorum.Split:
		return "nobody's record on enough servers"
	case m.Quorum.Owner == trace.None:
		return "no record"
	}
	return al.Runs[side].Clients[m.Quorum.Owner] + "'s record"
}

func times(n int64) string {
	switch n {
	case 0:
		return "not at all"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// Longest is the longest time for which the runs differ without a break; it is false where they never do.
func (al *Alignment) Longest() (longest time.Duration, any bool) {
	from := -1
	for step := range al.Steps {
		switch differs := al.Differs(step); {
		case !differs:
			from = -1
			continue
		case from < 0:
			from = step
		}
		any = true
		longest = max(longest, al.when(min(step+1, al.Last()))-al.when(from))
	}
	return longest, any
}

// Unshared is a failure that one run shows and the other does not.
type Unshared struct {
	Side    int // the run that shows it
	Breach  Breach
	Step    int // at which it is complete
	Fellows int // how many with its code the other run shows in all
}

// Unshared returns the first failure that one run shows and the other does not; ok is false where there is
// none. The first failure with a code in one run is matched with the first with that code in the other, the
// second with the second, and so on.
func (al *Alignment) Unshared() (first Unshared, ok bool) {
	counts := [2]map[trace.Code]int{{}, {}}
	for side, r := range al.Runs {
		for _, b := range r.Breaches {
			counts[side][b.Code]++
		}
	}
	for side, r := range al.Runs {
		seen := map[trace.Code]int{}
		for _, b := range r.Breaches {
			seen[b.Code]++
			fellows := counts[1-side][b.Code]
			if step := al.Reached(side, b.Pos); b.Code.Failure() && seen[b.Code] > fellows && (!ok || step < first.Step) {
				first, ok = Unshared{side, b, step, fellows}, true
			}
		}
	}
	return first, ok
}
