package behaviour

import (
	"math/rand/v2"
	"slices"
)

// rejoinings says how many of all joins are tried, with how many ways to go on, in each of which a client performs how
// many operations at most. A few ways are long, as a variable that only a closure has may count.
var rejoinings = [...]struct{ joins, ways, steps int }{{200, 5, 120}, {8, 1, 4000}}

// rejoinSome tries some of the joins between two cycles. A history that was joined with another
// has never gone on in the search; here its client gets the observations that followed the other, and must
// make the same operations and reports. That knows nothing of how fields are compared.
func (k *Clients) rejoinSome() error {
	joins, next := k.joins()
	for n, t := range rejoinings {
		for i := 0; i < len(joins); i += 1 + len(joins)/t.joins {
			random := rand.New(rand.NewPCG(uint64(i), uint64(n)))
			for range t.ways {
				if err := k.rejoin(joins[i], next, random, t.steps); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// joins lists the transitions that lead to a history which was first found by another one and isn't the client's last; and
// the transitions from each history. The probe is left out: how long it waits is its program's to count, and not the lock's.
func (k *Clients) joins() (joins []Transition, next [][]uint32) {
	next = make([][]uint32, k.histories.Count.Load())
	for _, i := range k.inOrder() {
		e := k.Outcomes.Entries.At(i)
		next[e.Key.From] = append(next[e.Key.From], i)
		if to := k.At(e.Value.To); to.BetweenCycles && !to.Over && to.client < len(k.cfg.Clients) && k.standsAt(e.Value.To, e.Key) == nowhere {
			joins = append(joins, e.Key)
		}
	}
	return joins, next
}

// rejoin takes a client through a history that was joined with another, and on by one of the ways on which that has gone.
func (k *Clients) rejoin(join Transition, next [][]uint32, random *rand.Rand, most int) (err error) {
	out, _ := k.Outcomes.Get(join)
	r := k.pool[k.At(join.From).client][0]
	r.driver.Guard(true)
	defer r.driver.Guard(false)
	r.at = nowhere
	path := k.pathTo(join.From)
	if _, err := k.walk(r, path); err != nil {
		return err
	}
	if _, err := k.feed(r, k.At(join.From).client, join); err != nil {
		return err
	}
	k.newCycle(r)
	for at, steps := out.To, 0; steps < most; steps++ {
		if err := k.remembers(r, at); err != nil {
			return err
		}
		if len(next[at]) == 0 {
			break
		}
		e := k.Outcomes.Entries.At(next[at][random.IntN(len(next[at]))])
		reports, err := k.feed(r, k.At(at).client, e.Key)
		if err != nil {
			return err
		}
		if told := *k.Reports.At(e.Value.Reports); !slices.EqualFunc(reports, told, sameReport) {
			return &Remembering{Client: k.name(k.At(at).client), Once: reportsText(told), Again: reportsText(reports)}
		}
		if at = e.Value.To; k.At(at).BetweenCycles {
			if k.newCycle(r); k.memory.Uncounted && r.driver.Acquired() == k.cfg.Clients[k.At(at).client].Cycles-1 {
				break // its program ends with the next, and that in the search never does
			}
		}
	}
	return nil
}

// remembers fails with [Remembering] unless a replayer's threads are about to perform a history's next operations.
func (k *Clients) remembers(r *replayer, id uint32) error {
	is := *k.At(id)
	if err := k.describe(&is, r); err != nil {
		return err
	}
	i := differ(k.At(id), &is)
	if i < 0 {
		return nil
	}
	return &Remembering{Client: k.name(is.client), Once: k.planText(k.At(id).plan(i)), Again: k.planText(is.plan(i)),
		Source: k.lineAt(r, k.pathTo(id), i)}
}

// sameReport reports whether a client makes the same known twice. The reading that a deadline
// counts from is left out: a replay doesn't follow it.
func sameReport(a, b Report) bool {
	a.Read, b.Read = 0, 0
	return a == b
}

func reportsText(reports []Report) string {
	if len(reports) == 0 {
		return "nothing"
	}
	return reports[len(reports)-1].Kind.String()
}
