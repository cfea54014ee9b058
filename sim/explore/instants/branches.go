package instants

import (
	"errors"
	"math"
	"slices"
	"time"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// Branch adds the thresholds that a search without bounds can have, which are those of readings
// that have only the cycle's first before them, and notes whether there are others. Where a record that
// was given a TTL is given a TTL once more, it lives longer unless it is at the same instant. That is no
// threshold there: the record's life is the same, as no time has passed.
func (in *Set) Branch(t *behaviour.Thresholds, ttl int32) {
	for _, r := range t.Mono {
		switch r.Nth {
		case 0: // readings count from it, so it is the same as one of a later reading
		case 1:
			in.Branches = Sorted(in.Branches, r.At)
		default:
			in.Others = true
		}
	}
	for _, n := range t.Longer {
		in.Others = in.Others || n != int64(ttl) && n != int64(ttl)+1
	}
	in.Others = in.Others || len(t.Left)+len(t.Millis)+len(t.Rounded)+len(t.Replies)+len(t.Stored) > 0
}

// Multiples fails if client code tells spans apart in a way that multiples of a grid don't stand for:
// in any, if its clock goes on from one cycle to the next; or in exact ones, in which a clock's
// readings are exact.
func (in *Set) Multiples(k *behaviour.Clients, goesOn, exact bool) error {
	const bound = ": a search of it needs a bound on cycles"
	switch {
	case goesOn:
		return errors.New("the lock keeps readings of its clock from one cycle to the next" + bound)
	case in.Others:
		return errors.New("the lock's code asks how long a key still lives, or compares a reading of a clock that is not the cycle's second, with a span of its own, or gives a record that lives another life than the TTL" + bound)
	case len(in.Branches) > 0 && exact:
		return errors.New("the lock's code compares a clock with a span of its own, which certificates and searches for LV know nothing of")
	case len(in.Branches) > 0 && !fromFirst(k):
		return errors.New("the lock's code compares a clock with a span of its own, and counts a lease from a later reading than the cycle's first" + bound)
	}
	return nil
}

// fromFirst reports whether all leases end at so many milliseconds after the cycle's first reading,
// whatever a clock has shown later.
func fromFirst(k *behaviour.Clients) bool {
	first := map[int32]bool{}
	var later []int32
	for r := range k.Told {
		switch lease := r.Kind == trace.KindGranted || r.Kind == trace.KindExtended; {
		case !lease || r.Never || r.Given:
		case r.Read == 0:
			first[r.Deadline] = true
		default:
			later = append(later, r.Deadline)
		}
	}
	return !slices.ContainsFunc(later, func(d int32) bool { return !first[d] })
}

// Given lists the lives that commands have given to keys, among the snapshots met with.
func Given(s *behaviour.Servers, met map[uint32]bool) (spans []int32) {
	s.Each(met, func(was, is *redis.Snapshot) {
		for _, k := range is.Keys {
			same := func(o redis.Key) bool { return o.Name == k.Name && o.Left == k.Left }
			if k.Left != redis.Immortal && !slices.ContainsFunc(was.Keys, same) {
				spans = append(spans, int32(min(k.Left, math.MaxInt32)))
			}
		}
	})
	return Sorted(nil, spans...)
}

// Together reports whether several keys that will expire are there at once, in some snapshot met with.
func Together(s *behaviour.Servers, met map[uint32]bool) (are bool) {
	s.Each(met, func(_, is *redis.Snapshot) {
		n := 0
		for _, k := range is.Keys {
			if k.Left != redis.Immortal {
				n++
			}
		}
		are = are || n > 1
	})
	return are
}

// Off returns the first span that doesn't fit the grid, or 0.
func (in *Set) Off(spans []int32) int32 {
	for _, s := range spans {
		if s%in.Grid != 0 || s > in.Far-in.Grid {
			return s
		}
	}
	return 0
}

// Between returns the grid, if time stops at its multiples alone, and the branches.
func (in *Set) Between() (grid time.Duration, branches []time.Duration) {
	if !in.Digital {
		return 0, nil
	}
	for _, r := range in.Branches {
		branches = append(branches, time.Duration(r)*time.Millisecond)
	}
	return time.Duration(in.Grid) * time.Millisecond, branches
}
