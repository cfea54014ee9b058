// Package instants has the instants at which a search lets time stop, and finds the instants that a lock
// needs by the thresholds in its code.
package instants

import (
	"math"
	"slices"
	"time"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/readings"
)

// Set has the instants at which the search lets time stop, so that clients can act
// there: SOUNDNESS.md argues that they suffice. Each belongs to a span that is running. All
// are in milliseconds, and the lists are in ascending order.
type Set struct {
	// Before has the spans that may be about to begin, such as TTLs and sleeps. Time stops
	// so long before an expiry or the end of a wait, for them to end with it, and just after.
	Before []int32
	// Patience is another, a client's wait for a reply; 0 if none ever begins.
	Patience int32
	// Left has the remaining lives of a record at which code changes its mind, plus 1: until
	// the record is gone.
	Left []int32
	// Lasting has those of them at which code changes its mind where it is, and not after a wait.
	Lasting []int32
	// Chains are the spans for which clients were seen to wait in all since they asked for the lock, and
	// Begins has the ages of stamps from which such a chain ends at one of Stamps.
	Chains, Begins []int32
	// Readings has the readings of a monotonic clock at which client code changes its mind,
	// since the first reading of the cycle; and Later has those since the last reading.
	Readings, Later []int32
	// Stamps has the ages of readings of true time at which a stamp falls due.
	Stamps []int32
	// Seconds has those after the beginning of the second in which the reading was made, of code
	// that counts in seconds.
	Seconds []int32
	// Guess is such an age as long as none is known, and then 0: a TTL and OverStamp. Time also
	// goes on for Far after a reading of true time, then. No constraint is known of either.
	Guess int32
	// Branches has the readings of a monotonic clock at which client code changes its mind where
	// the only reading before is the cycle's first. A search without bounds lets it do either near by:
	// see Near. Others is set if code has thresholds of other kinds, or could have, as it asks how long a key still lives.
	Branches []int32
	Others   bool
	// Grid, if it is set, is a span to a multiple of which leases are rounded up. A search
	// without bounds does that: a lease that ends later is broken by all that breaks it,
	// and the ends of spans coincide instead of falling ever so little apart.
	Grid int32
	// Digital is set if time stops at the multiples of the grid, and nowhere else.
	Digital bool
	// Late is set if a record may stay at the very end of its life, until time passes.
	Late bool
	Far  int32 // longer than any span that client code tells from a longer one
	// Jumps are the jumps of clocks that show true time. A reading that is compared with another may
	// be ahead of it, or behind, by as many.
	Jumps Jumps
	// Drawn are random numbers at which code changes its mind.
	Drawn []readings.Draw

	longer int32 // see Longer
}

// Jumps are the jumps of clocks, forward or back, that a schedule may have.
type Jumps struct{ By, Most int32 } // in milliseconds each; how many

// Ends has only the instants at which something happens by itself.
var Ends = &Set{}

// First returns the instants that are known before anything has run, for a TTL and a timeout in
// milliseconds.
func First(ttl, timeout int32, jumps Jumps) *Set {
	return &Set{Before: Sorted(nil, ttl), Patience: timeout, Guess: ttl + OverStamp, Far: ttl * FarTTLs, Jumps: jumps}
}

// OverStamp is added to a TTL to get the time after which a stamp that the client computed
// from a reading is past, even if it was rounded to seconds. In milliseconds.
const OverStamp = 2000

// FarTTLs is the longest span that is told from a longer one, in TTLs.
const FarTTLs = 100

// MaxInstants is the number of instants of one kind that a search takes on.
const MaxInstants = 60

// MaxFar is the longest span that can be told from a longer one, in milliseconds: a few of them
// fit into 32 bits.
const MaxFar = 5 * 24 * 3600 * 1000

// Sorted returns a list with further spans, in ascending order and each once. Spans that are
// not above 0 are left out.
func Sorted(list []int32, more ...int32) []int32 {
	list = slices.Concat(list, more)
	list = slices.DeleteFunc(list, func(s int32) bool { return s <= 0 })
	slices.Sort(list)
	return slices.Compact(list)
}

// Spans lists the spans after, or before, which time stops.
func (in *Set) Spans() (list []time.Duration) {
	for _, s := range Sorted(nil, slices.Concat(in.Before, in.Left, in.Begins, in.Readings, in.Later, in.Stamps, in.Branches)...) {
		list = append(list, time.Duration(s)*time.Millisecond)
	}
	return list
}

// Draws adds random numbers.
func (in *Set) Draws(more []readings.Draw) {
	in.Drawn = slices.Clone(in.Drawn)
	for _, d := range more {
		if !slices.Contains(in.Drawn, d) {
			in.Drawn = append(in.Drawn, d)
		}
	}
}

// For has clients draw the numbers of the set.
func (in *Set) For(k *behaviour.Clients) *Set {
	k.DrawAlso(in.Drawn)
	return in
}

// Within reports whether another set has all instants of this one.
func (in *Set) Within(o *Set) bool {
	of := func(a, b []int32) bool {
		return !slices.ContainsFunc(a, func(s int32) bool { return !slices.Contains(b, s) })
	}
	return of(in.Before, o.Before) && of(in.Left, o.Left) && of(in.Readings, o.Readings) && of(in.Later, o.Later) &&
		of(in.Stamps, o.Stamps) && of(in.Begins, o.Begins) && of(in.Chains, o.Chains) && of(in.Seconds, o.Seconds) && of(in.Branches, o.Branches) && (o.Others || !in.Others) && (in.Patience == 0 || in.Patience == o.Patience) && (in.Guess == 0 || in.Guess == o.Guess) && len(in.Drawn) <= len(o.Drawn)
}

// Crowded reports whether there are more instants of a kind than a search takes on: beyond, Falls leaves
// thresholds unexplained.
func (in *Set) Crowded() bool {
	stamps := slices.Concat(in.Stamps, in.Seconds)
	return slices.ContainsFunc([][]int32{in.Before, in.Left, in.Begins, in.Readings, in.Later, stamps}, func(list []int32) bool { return len(list) > MaxInstants })
}

// Reads adds a threshold of a monotonic clock. It is a span since the cycle's first reading or
// since the last; if it could be either, it is taken for both.
func (in *Set) Reads(r behaviour.Reading) {
	in.Far = max(in.Far, r.At-r.Last+1)
	if slices.Contains(in.Readings, r.At) || r.Last > 0 && slices.Contains(in.Later, r.At-r.Last) {
		return
	}
	if slices.Contains(in.Later, r.At) || r.Last == 0 { // an unknown span from the first reading
		in.Later = Sorted(in.Later, r.At-r.Last-1, r.At-r.Last)
	}
	in.Readings = Sorted(in.Readings, r.At-1, r.At)
	in.Before = Sorted(in.Before, r.At-r.Last-1)
}

// Shows adds thresholds of monotonic clocks, of which earlier cycles' readings count, too, if they go on.
func (in *Set) Shows(all []behaviour.Reading, goesOn bool) {
	for _, r := range all {
		if goesOn {
			in.ReadsOn(r)
		} else {
			in.Reads(r)
		}
	}
}

// ReadsOn is Reads for a clock whose readings of earlier cycles count, too: the threshold is a
// span since any of them, and so it is taken for a span since each of them.
func (in *Set) ReadsOn(r behaviour.Reading) {
	for _, e := range append(slices.Clone(r.Earlier), r.Last) {
		if span := r.At - e; span > 0 {
			in.Far = max(in.Far, span+1)
			in.Later = Sorted(in.Later, span-1, span)
			in.Before = Sorted(in.Before, span-1)
		}
	}
}

// Falls adds the ages of readings of true time that were seen to matter, and those that explain the
// thresholds of such readings, from the least threshold on, until each is explained. Which reading a
// threshold belongs to isn't known: it is taken for the first of all, with which the histories begin that have waited for
// nothing, and also for that whose age explains most of the thresholds. As soon as an age is known,
// there is nothing to guess. date is set if a threshold can't be explained.
func (in *Set) Falls(t *behaviour.Thresholds, ttl int32) (date bool) {
	for _, age := range t.Ages {
		in.falls(int32(age))
	}
	for _, age := range t.Seconds {
		in.Seconds = Sorted(in.Seconds, int32(age))
		in.Far = max(in.Far, int32(age)+1)
	}
	unexplained := slices.Concat(t.Wall, t.Server)
	slices.Sort(unexplained)
	read := slices.Clone(t.Read)
	slices.Sort(read)
	read = slices.Compact(read)
	for len(in.Stamps)+len(in.Seconds) <= MaxInstants {
		unexplained = slices.DeleteFunc(unexplained, func(v int64) bool { return in.explains(v, read) })
		if len(unexplained) == 0 {
			break
		}
		first := in.first(unexplained[0], read)
		if first == 0 {
			return true
		}
		in.falls(first)
		in.likeliest(unexplained, read, first, ttl)
	}
	in.told(t.Told)
	if len(in.Stamps)+len(in.Seconds) > 0 {
		in.Guess = 0
	}
	return false
}

// told adds ages for those thresholds that no known age of their readings explains: those
// that explain most of them. An age may seem to explain one if another reading was made then.
func (in *Set) told(list []behaviour.Told) {
	for len(in.Stamps)+len(in.Seconds) <= MaxInstants {
		list = slices.DeleteFunc(slices.Clone(list), func(t behaviour.Told) bool { return in.explains(t.At, t.Since) })
		count, most := map[int32]int{}, 0
		for _, t := range list {
			for _, r := range t.Since {
				if age := t.At - r; age > 0 && age <= max(int64(in.Far), MaxFar) {
					count[int32(age)]++
					most = max(most, count[int32(age)])
				}
			}
		}
		if most == 0 {
			return
		}
		for n := range count {
			if count[n] == most {
				in.falls(n)
			}
		}
	}
}

// explains reports whether a threshold is at a known age of one of some readings, which are in order.
func (in *Set) explains(v int64, read []int64) bool {
	return slices.ContainsFunc(in.Stamps, func(s int32) bool {
		_, is := slices.BinarySearch(read, v-int64(s))
		return is
	}) || v%behaviour.Second == 0 && slices.ContainsFunc(in.Seconds, func(s int32) bool {
		at, _ := slices.BinarySearch(read, v-int64(s))
		return at < len(read) && read[at] < v-int64(s)+behaviour.Second
	})
}

// first returns the age of the first reading at a threshold, or 0 if there is none or it is too long ago.
// A reading from before the start, by a clock that had jumped back, isn't the first.
func (in *Set) first(v int64, read []int64) int32 {
	start, _ := slices.BinarySearch(read, 0)
	for _, r := range slices.Concat(read[start:], read[:start]) {
		if age := v - r; age > 0 && age <= max(int64(in.Far), MaxFar) {
			return int32(age)
		}
	}
	return 0
}

// likeliest adds the age that explains most thresholds. If that is the first reading's but for a
// few milliseconds, which others were read later, and explains no more than it, it is the same.
func (in *Set) likeliest(unexplained, read []int64, first, ttl int32) {
	count, best := map[int32]int{}, int32(0)
	for _, v := range unexplained {
		for _, r := range read {
			if age := v - r; age > 0 && age <= max(int64(in.Far), MaxFar) {
				count[int32(age)]++
			}
		}
	}
	for n := range count {
		if n != first && distance(n, first) <= twins && count[n] <= count[first] {
			delete(count, n)
		}
	}
	for n := range count {
		if count[n] > count[best] || count[n] == count[best] && distance(n, ttl) < distance(best, ttl) {
			best = n
		}
	}
	for n := range count {
		if n == best || best > 10*ttl && count[n] == count[best] { // nothing makes the nearer the likelier, so far away
			in.falls(n)
		}
	}
}

// twins is how many milliseconds apart two ages of one threshold are at most, because time stops at
// an instant and just after it.
const twins = 3

// falls adds an age at which a stamp falls due.
func (in *Set) falls(age int32) {
	in.Stamps = Sorted(in.Stamps, age-1, age)
	in.Far = max(in.Far, age+1)
}

// Digitize lets time stop at the multiples of a grid alone, of which all given spans are
// multiples, and makes all spans equal that are longer than the longest of them, and than
// the branches.
func (in *Set) Digitize(spans, branches []int32) {
	longest := int32(0)
	for _, s := range spans {
		for a, b := in.Grid, s; ; a, b = b%a, a {
			if a == 0 {
				in.Grid = b
				break
			}
		}
		longest = max(longest, s)
	}
	in.Branches = branches
	for _, r := range branches {
		longest = max(longest, in.up(r))
	}
	in.Before, in.Far, in.Digital = nil, longest+in.Grid, true
}

// TooFine reports whether the longest span has more steps of the grid than a search can follow.
func (in *Set) TooFine() bool { return in.Far/in.Grid > 200 }

// up returns the least multiple of the grid from a span on.
func (in *Set) up(span int32) int32 {
	if in.Grid == 0 || span%in.Grid == 0 {
		return span
	}
	return span + in.Grid - span%in.Grid
}

// Near lists the other readings that a clock may show at a multiple of the grid: it stands for all
// that are less than a step of the grid away, and of these one on each side of each branch will do.
func (in *Set) Near(since int32) (list []int32) {
	for _, r := range in.Branches {
		for _, side := range [2]int32{r - 1, r} {
			if side >= 0 && side != since && distance(side, since) < in.Grid {
				list = append(list, side)
			}
		}
	}
	return list
}

// Shown returns a monotonic clock's reading, given the last one: it stands still at the longest. But not
// where true time is read: that goes on, and beside it a clock that stood still would seem slow.
func (in *Set) Shown(now int64, read int32, timed bool) int64 {
	if timed {
		return now
	}
	return min(now, in.Longest(read))
}

// Longest returns the greatest reading that is told from a greater one, after the last reading.
func (in *Set) Longest(read int32) int64 {
	if in.Digital {
		read = in.up(read) // which may be one of those near by
	}
	return int64(read) + int64(in.Far)
}

// Lease returns the reading at which a lease ends, given its deadline.
func (in *Set) Lease(deadline int32) int32 { return in.up(deadline) + in.longer }

// Longer returns a copy of the set with which leases last longer than they say.
func (in *Set) Longer(by time.Duration) *Set {
	of := *in
	of.longer = int32(by.Milliseconds())
	return &of
}

func distance(a, b int32) int32 { return max(a-b, b-a) }

// ToNext returns the time until a span that ends after the given time comes to an instant.
func (in *Set) ToNext(left int32) int32 {
	if in.Digital {
		return in.ToGrid(left)
	}
	return left - in.before(left)
}

// before returns the longest span that may be about to begin and is below a limit, or 0.
func (in *Set) before(limit int32) int32 {
	span := lastBelow(in.Before, limit)
	if in.Patience < limit {
		span = max(span, in.Patience)
	}
	for ahead := -in.Jumps.Most; ahead <= in.Jumps.Most; ahead++ {
		jumped := ahead * in.Jumps.By
		if age := in.notDue(limit - jumped); age > 0 {
			span = max(span, age+jumped)
		}
	}
	return span
}

// notDue returns the greatest age below a limit for which a stamp may be about to be written that isn't due at
// its end: one at which it falls due, or of code that counts in seconds, one at which it isn't yet due, whatever
// the second's fraction, and just after it. It returns 0 if there is none.
func (in *Set) notDue(limit int32) int32 {
	age := lastBelow(in.Stamps, limit)
	for _, s := range in.Seconds {
		for _, young := range [...]int32{s - behaviour.Second, s - behaviour.Second + 1} {
			if young > age && young < limit {
				age = young
			}
		}
	}
	return age
}

// ToGrid returns the time until a span that is left is a multiple of the grid.
func (in *Set) ToGrid(left int32) int32 {
	if left <= 0 {
		return 0
	}
	return (left-1)%in.Grid + 1
}

// ToNextLife is the same for the life of a record.
func (in *Set) ToNextLife(left int32) int32 {
	if in.Digital {
		if in.Late && left == 1 {
			return in.Grid
		}
		return in.ToGrid(left - 1) // see behaviour.Servers.Early
	}
	if in == Ends {
		return left
	}
	return left - max(in.before(left), lastBelow(in.Left, left), min(1, left-1)) // the last millisecond among them
}

// lastBelow returns the greatest of the spans that is below a limit, or 0.
func lastBelow(spans []int32, limit int32) int32 {
	for _, s := range slices.Backward(spans) {
		if s < limit {
			return s
		}
	}
	return 0
}

// NextReading returns the time until a client's clock comes to a reading that matters, or 0.
func (in *Set) NextReading(since int32, h *behaviour.History) int32 {
	read := h.Read
	next := max(0, int32(in.Longest(read)-int64(since)))
	if in.Digital {
		return in.ToGrid(next)
	}
	for _, r := range in.Readings {
		if r > since {
			next = Sooner(next, r-since)
			break
		}
	}
	for _, r := range in.Later {
		if read+r > since {
			next = Sooner(next, read+r-since)
			break
		}
	}
	for _, e := range h.Earlier {
		for _, r := range in.Later {
			if e+r > since {
				next = Sooner(next, e+r-since)
				break
			}
		}
	}
	if h.Asks() {
		for _, e := range h.Earlier {
			next = Sooner(next, in.toBegin(e-since))
		}
	}
	return next
}

// NextStamp returns the time until a reading of true time comes to an age that matters, or
// 0. They are given by their ages, the oldest first, and now is true time. As long as there is a
// guess, a span that is longer than any that is told from a longer one is over when that since the
// last reading is.
func (in *Set) NextStamp(ages []int32, now int64) (next int32) {
	for i, ago := range ages {
		for ahead := -in.Jumps.Most; ahead <= in.Jumps.Most; ahead++ {
			next = in.nextStamp(next, ago, now, int64(ahead))
		}
		if next = Sooner(next, in.Guess-ago); in.Guess > 0 && i == len(ages)-1 {
			next = Sooner(next, in.Far-ago)
		}
	}
	return next
}

// nextStamp is NextStamp for one reading, by a clock that was ahead, by so many jumps, of the one that
// is read when it comes to an age that matters. The answer is sooner than next.
func (in *Set) nextStamp(next, ago int32, now, ahead int64) int32 {
	by := int64(in.Jumps.By)
	sooner := func(due int64) {
		if due > 0 && due < math.MaxInt32 {
			next = Sooner(next, int32(due))
		}
	}
	age := int64(ago) - ahead*by // as that clock would have it
	for _, list := range [2][]int32{in.Stamps, in.Begins} {
		for _, s := range list {
			if int64(s) > age {
				sooner(int64(s) - age)
				break
			}
		}
	}
	most := int64(in.Jumps.Most)
	for jumped := max(-most, ahead-most); jumped <= min(most, ahead+most); jumped++ { // that clock, in all
		began := (now - int64(ago) + jumped*by) % behaviour.Second // the fraction of the second that was read
		if began < 0 {
			began += behaviour.Second
		}
		for _, s := range in.Seconds {
			due := int64(s) - began - age
			if sooner(due - 1); due > 0 {
				sooner(due)
				break
			}
		}
		if by%behaviour.Second == 0 {
			break // it is the same for all
		}
	}
	return next
}

// Age returns the ages of readings of true time some time later, without those that don't
// matter any more: they are beyond each age at which a stamp falls due.
func (in *Set) Age(ago []int32, by int32) (later []int32) {
	longest := in.Guess
	for _, list := range [2][]int32{in.Stamps, in.Seconds} {
		if n := len(list); n > 0 {
			longest = max(longest, list[n-1])
		}
	}
	longest += in.Jumps.Most * in.Jumps.By
	for i, a := range ago {
		if a += by; a < longest || in.Guess > 0 && i == len(ago)-1 && a < in.Far {
			later = append(later, a)
		}
	}
	return later
}

// Sooner returns the lesser of two spans in milliseconds. a is never if it is 0, and b is
// never unless it is above 0.
func Sooner(a, b int32) int32 {
	if b > 0 && (a == 0 || b < a) {
		return b
	}
	return a
}

// ToLapse returns the time until a lease comes to an instant.
func (in *Set) ToLapse(left int32) int32 {
	if in.Digital {
		return in.ToGrid(left)
	}
	return left
}

// Lives adds the remaining lives of a record at which code was seen to change its mind, be they told in
// milliseconds or, rounded or cut off, in seconds, where that isn't known; and
// those from which such a life is met after a wait that begins then.
func (in *Set) Lives(t *behaviour.Thresholds, waits []int32) {
	for _, left := range slices.Concat(t.Left, t.Longer) {
		in.lives(waits, int32(left), int32(left)+1)
	}
	for _, n := range slices.Concat(t.Millis, t.Replies, t.Stored) {
		if n > 0 && n <= int64(in.Far) {
			in.lives(waits, int32(n), int32(n)+1)
		}
	}
	for _, n := range slices.Concat(t.Rounded, t.Replies, t.Stored) { // rounded as TTL does
		if n > 0 && n <= int64(in.Far)/1000 {
			s := int32(n) * 1000
			in.lives(waits, s-500, s-499)
		}
	}
	for _, n := range slices.Concat(t.Replies, t.Stored) { // cut off
		if n > 0 && n <= int64(in.Far)/1000 {
			s := int32(n) * 1000
			in.lives(waits, s, s+1)
		}
	}
}

// Took adds the spans since a reading of a monotonic clock that were stored, and by which code was
// seen to decide later: in milliseconds, or in whole seconds, be they cut off or rounded.
func (in *Set) Took(t *behaviour.Thresholds) {
	for _, n := range t.Stored {
		if in.Crowded() {
			return
		}
		for _, unit := range []int64{1, 1000} {
			if s := int32(n * unit); n > 0 && n <= int64(in.Far)/unit {
				in.Later = Sorted(in.Later, s-1, s)
				in.Before = Sorted(in.Before, s-1)
			}
		}
	}
}

func (in *Set) lives(waits []int32, lives ...int32) {
	if len(in.Left) > MaxInstants {
		return // it is Crowded
	}
	in.Left = Sorted(in.Left, lives...)
	in.Lasting = Sorted(in.Lasting, lives...)
	for _, w := range waits {
		for _, left := range lives {
			in.Left = Sorted(in.Left, left+w)
		}
	}
}
