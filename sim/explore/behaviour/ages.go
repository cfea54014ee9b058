package behaviour

import (
	"math"
	"slices"
)

// A reading of true time at which code changes its mind is often as long after another reading as one that was met before: a
// lease ends some time after a clock was read, whenever that was. And the same code changes its mind at values of the
// earlier reading, if the later one is given. Those are no instants of their own: a search that stopped at them would read
// the clock there, and find another such value so long before each of these readings.

// maxGuesses is the number of values that are tried before a span is halved.
const maxGuesses = 12

// guesses lists the readings of true time at which code is likely to change its mind, each before the
// one below it: to try both is enough if that is where it does.
func (f *finder) guesses(from uint32, m measured, path []step) (list []int64) {
	if m.seen.Kind != SawWall {
		return nil
	}
	add := func(v int64) {
		if len(list) < 2*maxGuesses && !slices.Contains(list, v) {
			list = append(list, v, v-1)
		}
	}
	for _, e := range path {
		for _, age := range f.found.Ages {
			if e.seen.Kind == SawWall {
				add(e.seen.Value - age + 1)
			}
		}
		for _, age := range f.found.Seconds {
			if e.seen.Kind == SawWall {
				add(e.seen.Value - e.seen.Value%Second - age + Second)
			}
		}
	}
	for _, r := range f.readBefore(from) {
		for _, s := range slices.Backward(f.spans) {
			add(r + s)
		}
	}
	for _, v := range slices.Backward(f.found.Wall) {
		add(v)
	}
	return list
}

// readBefore lists the readings of true time that a client has made in its cycle, the last first.
func (f *finder) readBefore(at uint32) (list []int64) {
	for ; at != 0 && !f.k.At(at).BetweenCycles; at = f.k.At(at).parent {
		if seen := f.k.At(at).seen; seen.Kind == SawWall {
			list = append(list, seen.Value)
		}
	}
	return list
}

// readings counts the readings of a monotonic clock that a client has made in its cycle.
func (f *finder) readings(at uint32) (n int) {
	for ; at != 0 && !f.k.At(at).BetweenCycles; at = f.k.At(at).parent {
		if f.k.At(at).readsMono() {
			n++
		}
	}
	return n
}

// apart is by how much a later reading is moved, to see whether a threshold moves with it: no
// number of seconds, so that code which rounds to these isn't taken for code that doesn't.
const apart = 1009

// age finds out whether a threshold of a reading of true time, v, is one because the code compares that reading with a later
// one on the path: it moves with that one, then, if need be by whole seconds alone. Below it, code behaves as after
// the reading lo. The age is how long after the reading the later one is the first that makes a difference, or 0 if there is
// none; of code that counts in seconds, how long after the beginning of the reading's.
func (f *finder) age(from uint32, m measured, lo, v int64, path []step) (age int64, seconds bool) {
	if m.seen.Kind != SawWall {
		return 0, false
	}
	defer f.k.tolerate(f.k.tolerate(true)) // if the code fails, it isn't seen to move
	for i, e := range path {
		if e.seen.Kind != SawWall || e.seen.Value < v || e.seen.Value-v >= math.MaxInt32 {
			continue
		}
		moved := slices.Clone(path)
		moves := func(by int64) bool {
			moved[i].seen.Value = e.seen.Value + by
			return f.isSame(from, m, lo, v, moved) && f.isSame(from, m, lo+by, v+by-1, moved) && !f.isSame(from, m, lo+by, v+by, moved)
		}
		if moves(apart) {
			return e.seen.Value - v + 1, false
		}
		if v%Second == 0 && moves(secondsApart*Second) {
			moved[i].seen.Value = e.seen.Value
			return f.ageInSeconds(from, m, v, moved, i), true
		}
	}
	return 0, false
}

// Second is one in milliseconds.
const Second = 1000

// secondsApart is by how many seconds a later reading is moved.
const secondsApart = 7

// ageInSeconds is the age for code that counts in seconds: how long after the beginning of the last
// second before a threshold v the reading at an index of the path is the first that makes a
// difference, or 0 if that is in the middle of a second.
func (f *finder) ageInSeconds(from uint32, m measured, v int64, path []step, at int) int64 {
	begin := v - Second
	late := func(reading int64) bool {
		path[at].seen.Value = reading
		return !f.isSame(from, m, begin, v, path)
	}
	last := path[at].seen.Value
	if !late(last) || !f.isSame(from, m, begin, v-1, path) {
		return 0
	}
	for _, known := range f.found.Seconds {
		if r := begin + known; r <= last && late(r) && !late(r-1) {
			return known
		}
	}
	early := begin
	for last-early > 1 {
		if mid := early + (last-early)/2; late(mid) {
			last = mid
		} else {
			early = mid
		}
	}
	if last%Second != 0 {
		return 0
	}
	return last - begin
}

// isSame is same for code that may fail: then it isn't.
func (f *finder) isSame(from uint32, m measured, a, b int64, path []step) bool {
	same, err := f.same(from, m, a, b, path)
	return same && err == nil
}
