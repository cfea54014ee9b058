package instants

import (
	"slices"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/process"
)

// chain is for how long each thread of a client has waited in its cycle, and the first reading of its
// monotonic clock, from which the time when it asked for the lock follows. It is late if a later reading
// shows that other time has passed as well.
type chain struct {
	waited [behaviour.MaxThreads]int32
	began  int32
	read   bool
	late   bool
}

// Chains lists for how long clients have waited in all, in the histories reached, since they asked for the
// lock: they have waited, or waited in vain, for a reply as long as their patience lasts. A
// client that asks so long before an instant comes to it without a pause. Of those that other
// time has delayed no more is said, as a pause may end at the instant itself.
func Chains(k *behaviour.Clients, reached []uint32, patience int32) (spans []int32) {
	known := map[uint32]chain{}
	for _, id := range reached {
		c := chainOf(k, patience, known, id)
		for t := range c.waited {
			if !c.late {
				spans = append(spans, c.waited[t])
			}
		}
	}
	return Sorted(nil, spans...)
}

// chainOf returns the chain at a history, and keeps those on the way there.
func chainOf(k *behaviour.Clients, patience int32, known map[uint32]chain, id uint32) (c chain) {
	way := []uint32{}
	for at := id; ; {
		if is, has := known[at]; has {
			c = is
			break
		}
		way = append(way, at)
		if h := k.At(at); h.BetweenCycles || h.Came().From == 0 {
			break
		}
		at = k.At(at).Came().From
	}
	for _, at := range slices.Backward(way) {
		if h := k.At(at); h.BetweenCycles || h.Came().From == 0 {
			c = chain{}
		} else {
			c.follow(k, patience, k.At(h.Came().From), h)
		}
		known[at] = c
	}
	return c
}

// follow adds the client's step from one history to the next.
func (c *chain) follow(k *behaviour.Clients, patience int32, was, is *behaviour.History) {
	came := is.Came()
	t := came.Thread
	switch p, late := &was.Threads[t], came.Seen.Kind == behaviour.SawTimeout; {
	case p.Kind == process.OpReceive && late && p.Wait == 0:
		c.waited[t] += patience
	case p.Kind != process.OpReceive || late:
		c.waited[t] += k.Waits(p) // of a command that waits at the server, as if nothing came
	}
	for n := was.Count; n < is.Count; n++ {
		c.waited[n] = c.waited[t]
	}
	if came.Seen.Kind != behaviour.SawMono && came.Seen.Kind != behaviour.SawMonoLapsed {
		return
	}
	switch asked := int32(came.Seen.Value) - c.waited[t]; {
	case !c.read:
		c.read, c.began = true, asked
	case asked != c.began:
		c.late = true
	}
}

// Begin adds the instants at which a client must ask for the lock to come, by its waits alone, to a
// record's life or a stamp's age at which code changes its mind; and, if records live for different
// spans, so that one may be gone and another be there, to the end of a record.
func (in *Set) Begin(chains, lives []int32) {
	in.Chains = chains
	longest := int32(0)
	for _, l := range lives {
		longest = max(longest, l)
	}
	ends := slices.Clone(in.Lasting)
	if len(lives) > 1 {
		ends = append(ends, 0, 1)
	}
	for _, c := range chains {
		for _, left := range ends {
			if left+c <= longest+1 && len(in.Left) <= MaxInstants {
				in.Left = Sorted(in.Left, left+c)
			}
		}
		for _, s := range in.Stamps {
			in.Begins = Sorted(in.Begins, s-c)
		}
	}
}

// toBegin returns the time until a client must ask for the lock to come, by its waits alone, to a reading
// at which code changes its mind so long after another. It returns 0 if there is none. A reading was made
// so long from now; it is negative if it is past.
func (in *Set) toBegin(read int32) (next int32) {
	for _, r := range in.Later {
		for _, c := range in.Chains {
			next = Sooner(next, read+r-c)
		}
	}
	return next
}

// links is how many lives of keys may follow one another in a chain that has instants of its own.
const links = 2

// Link adds the instants at which a key must be given its life for this to come, after clients' waits, to a life of
// another at which code changes its mind, or to its end, be that by one more key or not: the first has come to such a life
// itself by then, or is gone. Of instants that are less than twins apart one will do, as each key has those at which it comes to
// its own lives. If there are more than a search takes on, it leaves out those of further keys.
func (in *Set) Link(lives, waits []int32) {
	longest := slices.Max(append(lives, 0))
	ends := append([]int32{0}, in.Lasting...) // the rest of a life where one ends in a chain
	last := slices.Concat(ends, waits)
	for _, left := range in.Lasting {
		for _, w := range waits {
			last = append(last, left+w)
		}
	}
	all := in.Left
	for range links {
		var before []int32
		for _, left := range last {
			for _, life := range lives {
				for _, end := range ends {
					if at := left + life + 1 - end; end < life && at <= longest && !near(before, at) {
						before = append(before, at)
					}
				}
			}
		}
		for _, at := range before {
			if !near(all, at) {
				all = Sorted(all, at)
			}
		}
		if len(all) > MaxInstants {
			return
		}
		in.Left, last = all, before
	}
}

// near reports whether one of some spans is nearly as long as another.
func near(spans []int32, span int32) bool {
	return slices.ContainsFunc(spans, func(s int32) bool { return distance(s, span) < twins })
}
