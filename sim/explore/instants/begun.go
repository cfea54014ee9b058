package instants

import (
	"slices"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/process"
)

// Begun lists the spans that clients have begun in the histories reached, up to a longest: sleeps
// before which no time had passed, and the longest lease.
func Begun(k *behaviour.Clients, reached []uint32, most int32) (spans []int32) {
	longest := int32(0)
	for n := range uint32(k.Reports.Count.Load()) {
		for _, r := range *k.Reports.At(n) {
			if r.Read == 0 {
				longest = max(longest, lasts(&r))
			}
		}
	}
	spans = append(Sleeps(k, reached, true), longest)
	return slices.DeleteFunc(spans, func(s int32) bool { return s > most })
}

// lasts returns how long a lease lasts from the last reading on before it was granted or extended, or 0.
func lasts(r *behaviour.Report) int32 {
	if r.Never || r.Given {
		return 0
	}
	return r.Deadline - r.Read
}

// Outlasts has clocks go on until each lease is over that was granted in a schedule after the last reading before: to one that stood
// still before, it would seem to last longer than it does.
func (in *Set) Outlasts(k *behaviour.Clients) {
	for r := range k.Told {
		in.Far = max(in.Far, lasts(&r)+1)
	}
}

// Sleeps lists the sleeps of clients, and their waits for messages and elements that have a timeout of
// their own: all, or those before which no time had passed.
func Sleeps(k *behaviour.Clients, reached []uint32, first bool) (spans []int32) {
	for _, id := range reached {
		h := k.At(id)
		for t := range int(h.Count) {
			p := &h.Threads[t]
			if span := k.Waits(p); !p.Over && (span > 0 || p.Kind == process.OpSleep) && (h.Read == 0 || !first) {
				spans = append(spans, span) // no other operation begins a span: 0 would bring instants of no constraint
			}
		}
	}
	return Sorted(nil, spans...)
}
