package behaviour

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lockstep/sim/explore/readings"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// A search lets each client's monotonic clock begin at an arbitrary reading, and again with each cycle. This file checks that
// the reading makes no difference: it runs clients' paths once more, with clocks that stand elsewhere.

// Elsewhere has the differences in clients' behaviour while their monotonic clocks stand elsewhere.
type Elsewhere struct {
	// Keeps is set if the lock's fields have other content between two cycles: they keep a reading of the clock.
	Keeps bool
	// Differs names the line of code at which a client goes on otherwise; empty if it does nowhere.
	Differs string
}

// shift is by how much clocks stand elsewhere.
type shift struct {
	by   time.Duration
	what string // the part of a reading on which a client depends that goes on otherwise
}

// shifts are those that are tried: one that leaves no fraction of a second or more alone, and
// one that changes nothing but that.
var shifts = []shift{
	{by: 7*time.Hour + 11*time.Minute + 13*time.Second, what: "how long the machine has been running"},
	{by: 377 * time.Millisecond, what: "the fraction of a second that a monotonic clock shows"},
	{by: 999 * time.Millisecond, what: "the fraction of a second that a monotonic clock shows"},
}

// maxShifted is the number of paths that are run once more for each shift.
const maxShifted = 300

// Elsewhere runs paths to the histories that have been reached once more while the monotonic
// clocks of the clients stand elsewhere. It must not be called while workers run.
func (k *Clients) Elsewhere(ctx context.Context, reached []uint32) (e Elsewhere, err error) {
	defer k.alone()()
	defer process.CatchPanic(&err)
	paths := k.shiftable(reached)
	for _, by := range shifts {
		for _, path := range paths {
			if ctx.Err() != nil || e.Differs != "" {
				return e, nil
			}
			if err := k.shifted(path, by, &e); err != nil {
				return e, err
			}
		}
	}
	return e, nil
}

// shiftable lists paths with readings of a monotonic clock, to some of the histories that have
// been reached: to those that lead to no other, from all over the tree.
func (k *Clients) shiftable(reached []uint32) (paths [][]uint32) {
	inner := map[uint32]bool{}
	for _, id := range reached {
		inner[k.At(id).parent] = true
	}
	ends := slices.DeleteFunc(slices.Clone(reached), func(id uint32) bool { return id == 0 || inner[id] || k.At(id).parent == 0 })
	place := make([]int, k.histories.Count.Load())
	for i, n := range k.inOrder() {
		place[k.Outcomes.Entries.At(n).Value.To] = i
	}
	slices.SortFunc(ends, func(a, b uint32) int { return place[a] - place[b] })
	for i := 0; i < len(ends); i += 1 + len(ends)/maxShifted {
		path := k.pathTo(ends[i])
		if slices.ContainsFunc(path, func(id uint32) bool { return k.At(id).readsMono() }) {
			paths = append(paths, path)
		}
	}
	return paths
}

// readsMono reports whether the history comes from its predecessor by a reading of a monotonic clock.
func (h *History) readsMono() bool { return h.seen.Kind == SawMono || h.seen.Kind == SawMonoLapsed }

// shifted runs a path with a shifted clock, and without, side by side.
func (k *Clients) shifted(path []uint32, by shift, e *Elsewhere) error {
	client := k.At(path[0]).client
	r, other, err := k.twoOf(client)
	if err != nil {
		return err
	}
	defer func() { r.at, other.at = nowhere, nowhere }()
	for _, one := range []*replayer{r, other} {
		if err := one.driver.Reset(); err != nil {
			return err
		}
	}
	r.base, r.last, other.base, other.last = readings.Beginning, readings.Beginning, readings.Beginning+by.by, readings.Beginning+by.by
	for n, id := range path {
		h := k.At(id)
		tr := Transition{From: h.parent, Thread: h.thread, Seen: h.seen}
		one, err := k.feed(r, client, tr)
		if err != nil {
			return err
		}
		two, err := k.feed(other, client, tr)
		if err != nil {
			return err
		}
		if !slices.Equal(one, two) || !r.driver.StandsLike(other.driver) {
			sender, sent := r.driver.SendsOtherwise(other.driver)
			if err := k.steady(r, path[:n+1]); err != nil {
				return err
			}
			if sender >= 0 {
				return &Refusal{Client: k.name(client), What: "a reading of the monotonic clock in " + sent, Source: k.lineAt(r, path[:n+1], sender),
					Why: "that clock counts from an arbitrary instant, another in each process, so nobody else can tell what its reading means; use a span between two readings, or Clock.Now"}
			}
			e.Differs = fmt.Sprintf("%s goes on otherwise%s, depending on %s", k.name(client), at(k.lineOf(path[:n+1])), by.what)
			return nil
		}
		if h.BetweenCycles {
			here, _ := r.driver.Fingerprint() // a field that can't be seen is refused where the cycle ends
			elsewhere, _ := other.driver.Fingerprint()
			e.Keeps = e.Keeps || here.Digest != elsewhere.Digest
			k.newCycle(r)
			k.newCycle(other)
		}
	}
	return nil
}

// steady fails with [Nondeterminism] if a client doesn't do the same each time: its clock isn't to blame then.
func (k *Clients) steady(r *replayer, path []uint32) error {
	for range 4 {
		if err := k.replay(r, path[len(path)-1]); err != nil {
			return err
		}
	}
	return nil
}

// twoOf returns two replayers of a client.
func (k *Clients) twoOf(client int) (r, other *replayer, err error) {
	if len(k.pool[client]) == 1 {
		k.pool[client] = append(k.pool[client], new(replayer))
	}
	r, other = k.pool[client][0], k.pool[client][1]
	if other.driver == nil {
		err = k.launch(other, client)
	}
	return r, other, err
}

// lineOf finds the line of the lock's code at the end of a path.
func (k *Clients) lineOf(path []uint32) trace.Source {
	thread := k.At(path[len(path)-1]).thread
	return k.lineAt(k.pool[k.At(path[0]).client][0], path, int(thread))
}
