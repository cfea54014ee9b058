package space

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// instants are the instants at which the search lets time stop, so that clients can act
// there: SOUNDNESS.md argues that they suffice. Each belongs to a span that is running. All
// are in milliseconds, and the lists are in ascending order.
type instants struct {
	// before has the spans that may be about to begin, such as TTLs and timeouts. Time stops
	// so long before an expiry or the end of a wait, for them to end with it, and just after.
	before []int32
	// left has the remaining lives of a record at which code changes its mind, plus 1: until
	// the record is gone.
	left []int32
	// readings has the readings of a monotonic clock at which client code changes its mind,
	// since the first reading of the cycle; and later has those since the last reading.
	readings, later []int32
	// stamps has the ages of readings of true time at which a stamp falls due.
	stamps []int32
	// grid, if it is set, is a span to a multiple of which leases are rounded up. A search
	// without bounds does that: a lease that ends later is broken by all that breaks it,
	// and the ends of spans coincide instead of falling ever so little apart.
	grid int32
	// digital is set if time stops at the multiples of the grid, and nowhere else.
	digital bool
	far     int32 // longer than any span that client code tells from a longer one
}

// ends has only the instants at which something happens by itself.
var ends = &instants{}

// overStamp is added to a TTL to get the time after which a stamp that the client computed
// from a reading is past, even if it was rounded to seconds. In milliseconds.
const overStamp = 2000

// farTTLs is the longest span that is told from a longer one, in TTLs.
const farTTLs = 100

// maxFar is the longest span that can be told from a longer one, in milliseconds: a few of them
// fit into 32 bits.
const maxFar = 5 * 24 * 3600 * 1000

// maxInstants is the number of instants of one kind that a search takes on.
const maxInstants = 40

// firstInstants are those that are known before anything has run.
func (m *Model) firstInstants() *instants {
	in := &instants{far: m.ttl * farTTLs}
	in.before = sorted(nil, m.timeout, m.ttl)
	in.stamps = sorted(nil, m.ttl+overStamp)
	return in
}

// sorted returns a list with further spans, in ascending order and each once. Spans that are
// not above 0 are left out.
func sorted(list []int32, more ...int32) []int32 {
	list = slices.Concat(list, more)
	list = slices.DeleteFunc(list, func(s int32) bool { return s <= 0 })
	slices.Sort(list)
	return slices.Compact(list)
}

// Learn adds the instants that matter to the code which has run so far: those at which it
// changes its mind, and the spans that it has begun. It reports whether there are any that
// weren't known.
func (m *Model) Learn(ctx context.Context) (more bool, err error) {
	reached := m.reached()
	spans := m.begun(reached)
	t, err := m.Clients.Thresholds(ctx, m.Servers, reached)
	if err != nil {
		return false, err
	}
	in, was := *m.instants, m.instants
	in.before = sorted(in.before, spans...)
	for _, left := range t.Left {
		in.left = sorted(in.left, int32(left), int32(left)+1)
	}
	for _, n := range t.Replies {
		in.left = sorted(in.left, m.lives(n)...)
	}
	for _, r := range t.Mono {
		if m.habits.goesOn {
			in.readsOn(r, m.ttl)
		} else {
			in.reads(r)
		}
	}
	date := in.falls(t, m.ttl)
	switch {
	case date:
		return false, errUnlearned("the code compares a clock with a date, or with something else that is no reading")
	case in.far > maxFar:
		return false, errUnlearned(fmt.Sprintf("the code tells spans of more than %s apart", trace.Duration(maxFar*time.Millisecond)))
	case ctx.Err() != nil:
		return false, errUnlearned(context.Cause(ctx).Error())
	case t.Cut:
		return false, errUnlearned("there was too much to compare")
	case t.Rounds:
		return false, errUnlearned("the code rounds a reading of a clock, and writes it together with other things")
	}
	for _, list := range [][]int32{in.before, in.left, in.readings, in.later, in.stamps} {
		if len(list) > maxInstants {
			return false, errUnlearned(fmt.Sprintf("there are more than %d instants at which the code changes its mind", maxInstants))
		}
	}
	m.instants = &in
	return !in.equal(was), nil
}

// errKeepsReadings is the error of a lock that keeps readings of its clock from one cycle to
// the next, in a model in which clocks make a leap then.
var errKeepsReadings = errors.New("the lock keeps readings of a clock from one cycle to the next")

// Elsewhere checks that clients do the same at another time, which a search takes for granted.
// It fails with an error for [WithModel] if a lock keeps readings of its clock, and with one that
// [Unlearned] recognises if the code goes on otherwise.
func (m *Model) Elsewhere(ctx context.Context) error {
	e, err := m.Clients.Elsewhere(ctx, m.reached())
	switch {
	case err != nil:
		return err
	case e.Keeps && !m.habits.goesOn:
		return errKeepsReadings
	case e.Differs != "":
		return errUnlearned(e.Differs)
	}
	return nil
}

// errUnlearned ends a search whose instants may not suffice. It is the reason.
type errUnlearned string

func (e errUnlearned) Error() string { return string(e) }

// Unlearned reports whether an error ends a search for the sake of its instants alone.
func Unlearned(err error) bool {
	_, is := err.(errUnlearned) //nolint:errorlint // it is never wrapped
	return is
}

func (in *instants) equal(o *instants) bool {
	return slices.Equal(in.before, o.before) && slices.Equal(in.left, o.left) && slices.Equal(in.readings, o.readings) &&
		slices.Equal(in.later, o.later) && slices.Equal(in.stamps, o.stamps)
}

// begun lists the spans that clients have begun: sleeps before which no time had passed, and
// the longest lease.
func (m *Model) begun(reached []uint32) (spans []int32) {
	longest := int32(0)
	for n := range uint32(m.Clients.Reports.Count.Load()) {
		for _, r := range *m.Clients.Reports.At(n) {
			if !r.Never && !r.Given && r.Read == 0 {
				longest = max(longest, r.Deadline)
			}
		}
	}
	spans = append(m.sleeps(reached), longest)
	return slices.DeleteFunc(spans, func(s int32) bool { return s > m.instants.far })
}

// sleeps lists the sleeps of clients before which no time had passed.
func (m *Model) sleeps(reached []uint32) (spans []int32) {
	for _, id := range reached {
		h := m.Clients.At(id)
		for t := range int(h.Count) {
			if p := &h.Threads[t]; !p.Over && p.Kind == process.OpSleep && h.Read == 0 {
				spans = append(spans, p.Sleep)
			}
		}
	}
	return sorted(nil, spans...)
}

// reached lists the histories that the states have.
func (m *Model) reached() (ids []uint32) {
	for id := range uint32(m.ids.clients.Len()) {
		ids = append(ids, m.ids.clients.Value(id+1).history)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// lives returns the remaining lives of a record, plus 1, at which a reply may come to a
// number: in milliseconds, or in seconds, which are rounded.
func (m *Model) lives(n int64) (left []int32) {
	if ms := int32(n); n > 0 && n <= int64(m.instants.far) {
		left = append(left, ms, ms+1)
	}
	if n > 0 && n <= int64(m.instants.far)/1000 {
		s := int32(n) * 1000
		left = append(left, s-500, s-499, s, s+1)
	}
	return left
}

// reads adds a threshold of a monotonic clock. It is a span since the cycle's first reading or
// since the last; if it could be either, it is taken for both.
func (in *instants) reads(r behaviour.Reading) {
	in.far = max(in.far, r.At-r.Last+1)
	if slices.Contains(in.readings, r.At) || r.Last > 0 && slices.Contains(in.later, r.At-r.Last) {
		return
	}
	if slices.Contains(in.later, r.At) || r.Last == 0 { // an unknown span from the first reading
		in.later = sorted(in.later, r.At-r.Last-1, r.At-r.Last)
	}
	in.readings = sorted(in.readings, r.At-1, r.At)
	in.before = sorted(in.before, r.At-r.Last-1)
}

// readsOn is reads for a clock whose readings of earlier cycles count, too: the threshold is a
// span since any of them, the nearer to a TTL the likelier.
func (in *instants) readsOn(r behaviour.Reading, ttl int32) {
	if slices.ContainsFunc(r.Earlier, func(e int32) bool { return slices.Contains(in.later, r.At-e) }) {
		return
	}
	span := r.At - r.Last
	for _, e := range r.Earlier {
		if s := r.At - e; s > 0 && distance(s, ttl) < distance(span, ttl) {
			span = s
		}
	}
	in.far = max(in.far, span+1)
	in.later = sorted(in.later, span-1, span)
	in.before = sorted(in.before, span-1)
}

// falls adds the ages of readings of true time that explain the thresholds of such readings:
// those that explain most, until each is explained. date is set if one can't be.
func (in *instants) falls(t *behaviour.Thresholds, ttl int32) (date bool) {
	unexplained := slices.Concat(t.Wall, t.Server)
	read := slices.Clone(t.Read)
	slices.Sort(read)
	read = slices.Compact(read)
	for len(in.stamps) <= maxInstants {
		unexplained = slices.DeleteFunc(unexplained, func(v int64) bool {
			return slices.ContainsFunc(read, func(r int64) bool { return v > r && slices.Contains(in.stamps, int32(v-r)) })
		})
		if len(unexplained) == 0 {
			return false
		}
		count, best := map[int32]int{}, int32(0)
		for _, v := range unexplained {
			for _, r := range read {
				if age := v - r; age > 0 && age <= max(int64(in.far), maxFar) {
					n := int32(age)
					count[n]++
					if count[n] > count[best] || count[n] == count[best] && distance(n, ttl) < distance(best, ttl) {
						best = n
					}
				}
			}
		}
		if best == 0 {
			return true
		}
		for n := range count {
			if n == best || best > 10*ttl && count[n] == count[best] { // nothing makes the nearer the likelier, so far away
				in.stamps = sorted(in.stamps, n-1, n)
				in.far = max(in.far, n+1)
			}
		}
	}
	return false
}

// digitize lets time stop at the multiples of a grid alone, of which all given spans are
// multiples, and makes all spans equal that are longer than the longest of them.
func (in *instants) digitize(spans []int32) {
	longest := int32(0)
	for _, s := range spans {
		for a, b := in.grid, s; ; a, b = b%a, a {
			if a == 0 {
				in.grid = b
				break
			}
		}
		longest = max(longest, s)
	}
	in.before, in.far, in.digital = nil, longest+in.grid, true
}

// lease returns the reading at which a lease ends, given its deadline.
func (in *instants) lease(deadline int32) int32 {
	if in.grid == 0 || deadline%in.grid == 0 {
		return deadline
	}
	return deadline + in.grid - deadline%in.grid
}

func distance(a, b int32) int32 { return max(a-b, b-a) }

// toNext returns the time until a span that ends after the given time comes to an instant.
func (in *instants) toNext(left int32) int32 {
	if in.digital {
		return in.toGrid(left)
	}
	return left - lastBelow(in.before, left)
}

// toGrid returns the time until a span that is left is a multiple of the grid.
func (in *instants) toGrid(left int32) int32 {
	if left <= 0 {
		return 0
	}
	return (left-1)%in.grid + 1
}

// toNextLife is the same for the life of a record.
func (in *instants) toNextLife(left int32) int32 {
	if in.digital {
		return in.toGrid(left - 1) // see behaviour.Servers.Early
	}
	return left - max(lastBelow(in.before, left), lastBelow(in.left, left))
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

// nextReading returns the time until a client's clock comes to a reading that matters, or 0.
func (in *instants) nextReading(since int32, h *behaviour.History) int32 {
	read := h.Read
	next := max(0, read+in.far-since)
	if in.digital {
		return in.toGrid(next)
	}
	for _, r := range in.readings {
		if r > since {
			next = sooner(next, r-since)
			break
		}
	}
	for _, r := range in.later {
		if read+r > since {
			next = sooner(next, read+r-since)
			break
		}
	}
	for _, e := range h.Earlier {
		for _, r := range in.later {
			if e+r > since {
				next = sooner(next, e+r-since)
				break
			}
		}
	}
	return next
}

// nextStamp returns the time until a reading of true time comes to an age that matters, or
// 0. They are given by their ages, the oldest first. A span that is longer than any that is told
// from a longer one is over when that since the last reading is.
func (in *instants) nextStamp(ages []int32) (next int32) {
	for i, ago := range ages {
		for _, s := range in.stamps {
			if s > ago {
				next = sooner(next, s-ago)
				break
			}
		}
		if i == len(ages)-1 {
			next = sooner(next, in.far-ago)
		}
	}
	return next
}

// age returns the ages of readings of true time some time later, without those that don't
// matter any more.
func (in *instants) age(ago []int32, by int32) (later []int32) {
	for i, a := range ago {
		if a += by; a < in.stamps[len(in.stamps)-1] || i == len(ago)-1 && a < in.far {
			later = append(later, a)
		}
	}
	return later
}
