// Package readings has the values of clocks, lives and draws that a search tries, and those at which code was
// seen to change its mind.
package readings

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/trace"
)

// Thresholds are the values at which code changes its mind: on either side of such a value of
// a clock or of a key's remaining life it does different things. Each is the least value of
// the upper side.
type Thresholds struct {
	Mono    []Reading // readings of a monotonic clock
	Wall    []int64   // readings of a wall clock, in milliseconds since the Epoch
	Ages    []int64   // spans between two such readings of one client, by which it decides
	Seconds []int64   // those from the beginning of the first's second, of code that counts in seconds
	Replies []int64   // integers in a reply that tells how long a key still lives, in milliseconds or in seconds
	Millis  []int64   // those in a reply to PTTL, and
	Rounded []int64   // in one to TTL, which rounds to seconds
	Stored  []int64   // integers in a reply, or in a record, that tell how long something lived or took when they were stored
	Left    []int64   // remaining lives of a key at which a server answers otherwise, in milliseconds
	Longer  []int64   // those at which it merely lets the key live longer, or less long, than it would have
	Server  []int64   // instants at which it does, in milliseconds since the start of the run
	Read    []int64   // the instants of true time that were read
	Told    []Told    // those of Wall of which it is known who wrote the values that the code has seen
	Drawn   []Draw    // random numbers at which it does, and those before them
	// Cut is set if there was too much to compare, so that a threshold may be missing.
	Cut bool
	// Rounds is set if code puts a rounded number into a text with more. Then a threshold may
	// be missing, too.
	Rounds bool
	// Unprobed are the places in the code at which it was not run after readings that no schedule
	// has had, because there was no time.
	Unprobed int
	// Measured says where code waits, or lets a record live, for the longer the longer something has taken.
	Measured string
	// Restless is set if code at one place changes its mind at more values than can be instants. They are
	// read at the line, if that is known.
	Restless bool
	Line     trace.Source
	Probed   bool // there is such a place: client code reads a clock, or how long a key still lives
}

// TooMany is why nothing is decided of code that is restless.
func (t *Thresholds) TooMany() string {
	text := "at one place, the code changes its mind at more values of a clock, or of a remaining life, than a search can stop at"
	if t.Line.File != "" {
		text += fmt.Sprintf(": of what it reads at %s:%d", t.Line.File, t.Line.Line)
	}
	return text
}

// Reading is a threshold of a monotonic clock.
type Reading struct {
	At      int32   // milliseconds since the first reading: see Memory
	Last    int32   // the client's reading before
	Nth     int     // how many readings there were before in the cycle
	Earlier []int32 // and all before it, if those of earlier cycles count
}

// Draw is a number that is drawn from 0 up to Below, which isn't drawn itself; both in nanoseconds.
type Draw struct{ Below, Number int64 }

// Unit is the unit in which numbers below one are counted, and how many there are.
func Unit(below int64) (count, unit int64) {
	if ms := int64(time.Millisecond); below%ms == 0 {
		return below / ms, ms
	}
	return below, 1
}

// Told is a reading of true time at which code changes its mind that was told values written by others,
// and the readings of those who wrote them and of the client itself: with one of these it is compared,
// unless the client has kept one of an earlier cycle.
type Told struct {
	At    int64
	Since []int64
}

// Since counts the thresholds that were found since others. Those of neighbouring milliseconds count
// as one: to which of them a rounded sum of readings comes depends on the readings before.
func (t *Thresholds) Since(before *Thresholds) (n int) {
	var mono []int64
	for _, r := range t.Mono[len(before.Mono):] {
		mono = append(mono, int64(r.At))
	}
	for _, list := range [][]int64{mono, t.Wall[len(before.Wall):], t.Ages[len(before.Ages):], t.Replies[len(before.Replies):], t.Millis[len(before.Millis):], t.Rounded[len(before.Rounded):], t.Seconds[len(before.Seconds):], t.Stored[len(before.Stored):], t.Server[len(before.Server):]} {
		list = slices.Sorted(slices.Values(list))
		for i, v := range list {
			if i == 0 || v > list[i-1]+1 {
				n++
			}
		}
	}
	return n
}

// Spans are those that are probed of a TTL in milliseconds: seven below a twelfth of a TTL, twelve to a
// TTL up to two, then fewer, up to twenty days. Those from ten minutes on end half a TTL before a round span: a
// session, say, may last for one, and a lock whose records live no longer than its session does otherwise in the last
// TTL of that alone.
func Spans(ttl int64) (list []int64) {
	for _, part := range []int64{1200, 480, 240, 120, 60, 40, 24} {
		list = append(list, ttl/part+1)
	}
	for i := int64(1); i <= 2*ProbesEach; i++ {
		list = append(list, ttl*i/ProbesEach+1)
	}
	for _, i := range []int64{3, 4, 6, 8, 12, 16, 24, 32} {
		list = append(list, ttl*i+1)
	}
	for _, d := range []time.Duration{10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 5 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, MaxProbe} {
		if ms := d.Milliseconds() - ttl/2; ms > list[len(list)-1] {
			list = append(list, ms)
		}
	}
	return list
}

// ProbesEach is the number of spans that are probed in each of two TTLs.
const ProbesEach = 12

// MaxProbe is the longest span that is probed.
const MaxProbe = 20 * 24 * time.Hour

const second = 1000 // in milliseconds

// MaxSeconds is the number of seconds of which each is probed where a number may be one of them.
const MaxSeconds = 100

// InSeconds adds to spans in milliseconds those that are probed where a number may be one of seconds:
// each of the first, and as many of a longer TTL as of one in milliseconds. None is above reach.
func InSeconds(spans []int64, reach int64) []int64 {
	list := UpTo(min(MaxSeconds, reach))
	for _, span := range spans {
		list = append(list, span, span/second)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(v int64) bool { return v > reach })
}

// Probed lists the readings that are probed between an origin and the furthest one within reach. told says that they are
// remaining lives, of which there may be seconds, and below that there are such as have been taken from something.
func Probed(origin, reach, ttl int64, told, below bool) (list []int64) {
	spans := Spans(ttl)
	if told && reach < max(MaxSeconds, ttl/second+1) {
		spans = InSeconds(spans, reach)
	}
	for _, span := range spans {
		if list = append(list, origin+span); below {
			list = append(list, -span)
		}
	}
	return slices.DeleteFunc(list, func(v int64) bool { return max(v, -v) > reach })
}

// Add adds a value to a list that doesn't have it.
func Add[T comparable](list *[]T, v T) {
	if !slices.Contains(*list, v) {
		*list = append(*list, v)
	}
}

// UpTo lists the numbers from 0 on that are below n.
func UpTo(n int64) (list []int64) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// Samples is the number of random numbers that are tried in one draw, besides the least, the
// middle and the greatest.
const Samples = 32

// Sampled returns the numbers to be tried of a range in some unit: the same each time.
func Sampled(below, unit int64) (all []int64) {
	if below <= Samples {
		for n := range below {
			all = append(all, n*unit)
		}
		return all
	}
	rng := rand.New(rand.NewPCG(uint64(below), 1))
	for range Samples {
		all = append(all, rng.Int64N(below)*unit)
	}
	return all
}

// Evenly lists up to so many numbers of a range from 0 on, the least and the greatest among them, with others.
func Evenly(below, parts int64, others ...int64) []int64 {
	list := append(others, 0, below-1)
	for i := range parts {
		list = append(list, below*i/parts)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Numbered appends a number in decimals.
func Numbered[N ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32](text []byte, n N) []byte {
	return strconv.AppendInt(text, int64(n), 10)
}

// Beginning is the first reading of a client's monotonic clock in a search, and how much later it begins in the
// next cycle. It isn't 0: a lease whose deadline comes to that has none, and in a lock's field that tells nobody that
// the clock was read.
const Beginning = time.Hour

// MaxStored is the longest span in a reply that is taken for one, in milliseconds. Stamps are
// no spans: those who find them compare them with a clock of their own, so the thresholds of that
// clock are theirs. So a number that has followed true time is none that was stored.
const MaxStored = int64(5 * 24 * time.Hour / time.Millisecond)

// Number is one in a text.
type Number struct {
	From, To int // where it is
	Value    int64
}

// Replaced returns the text with another one in place of the number.
func (n Number) Replaced(text, by string) string { return text[:n.From] + by + text[n.To:] }

// Padded returns the digits of another value: as many as there are, if numbers in the text are filled up with zeros.
func (n Number) Padded(text string, v int64) string {
	digits := strconv.FormatInt(v, 10)
	if v >= 0 && padding.MatchString(text) {
		digits = strings.Repeat("0", max(0, n.To-n.From-len(digits))) + digits
	}
	return digits
}

// padding finds a number that is filled up with zeros.
var padding = regexp.MustCompile(`(^|[^0-9.])0[0-9]`)

// Numbers lists the numbers in a text that may be spans. Those in tokens are none: see Masked.
func Numbers(text string, tokenAt func(string) int) (list []Number) {
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		if v, err := strconv.ParseInt(text[at:end], 10, 64); err == nil && v <= MaxStored {
			list = append(list, Number{at, end, v})
		}
		at = max(end, at+max(1, tokenAt(text[at:])))
	}
	return list
}

// Refuses reports whether a reply says that a command has changed nothing, as far as that can be seen: it is 0, nothing or
// an error.
func Refuses(reply string) bool {
	return strings.HasPrefix(reply, ":0") || strings.HasPrefix(reply, "$-1") || strings.HasPrefix(reply, "*-1") || strings.HasPrefix(reply, "_") || strings.HasPrefix(reply, "-")
}

// Payload reports whether a line of a reply is an integer, a status, an error or a bulk string, and not a length.
func Payload(lines []string, i int) bool {
	return bulk(lines, i) || lines[i] != "" && strings.IndexByte(":+-", lines[i][0]) >= 0
}

// bulk reports whether a line of a reply is a bulk string. After the length of nothing there is none.
func bulk(lines []string, i int) bool {
	return i > 0 && strings.HasPrefix(lines[i-1], "$") && lines[i-1] != "$-1"
}

// Payloads lists the values in a reply.
func Payloads(reply string) (list []string) {
	lines := strings.Split(reply, "\r\n")
	for i, line := range lines {
		if Payload(lines, i) {
			list = append(list, strings.TrimPrefix(line, ":"))
		}
	}
	return list
}

// With returns a reply with another text in place of a number in one of its lines.
func With(lines []string, i int, n Number, text string) string {
	other := slices.Clone(lines)
	if other[i] = n.Replaced(lines[i], text); bulk(lines, i) {
		other[i-1] = "$" + strconv.Itoa(len(other[i]))
		if text == "?" {
			other[i-1] = "$?"
		}
	}
	return strings.Join(other, "\r\n")
}

// SinceStart returns an instant of a server's clock, which was told in seconds or in
// milliseconds, in milliseconds since the start of the run.
func SinceStart(told int64) int64 {
	if ms := trace.Epoch.UnixMilli(); told >= ms/2 { // the clock may have jumped back
		return told - ms
	}
	return (told - trace.Epoch.Unix()) * 1000
}

// Shape is a command with a mark in place of each number outside of tokens.
func Shape(args []string, tokenAt func(string) int) string {
	var b strings.Builder
	for _, text := range args {
		for at := 0; at < len(text); {
			end := at
			for end < len(text) && text[end] >= '0' && text[end] <= '9' {
				end++
			}
			if end > at {
				b.WriteByte('#')
				at = end
				continue
			}
			end += max(1, tokenAt(text[at:]))
			b.WriteString(text[at:end])
			at = end
		}
		b.WriteByte(0)
	}
	return b.String()
}
