package behaviour

import (
	"math/bits"

	"lockstep/sim/process"
)

// Series are the tokens that a client draws in one cycle. A search without a bound on cycles
// gives each cycle the first series of which nothing is left anywhere, so that situations
// which differ in the names of tokens alone are equal: a token that occurs nowhere is as good
// as new. This rests on the lock's comparing tokens for nothing but equality, which
// [Clients.Rename] and [Servers.Alike] check.
type Series uint8

const (
	// SeriesEach is the number of series that each client has.
	SeriesEach = 16
	// SeriesClients is the number of clients that have series.
	SeriesClients = 4
	// AllSeries is the number of series of all clients.
	AllSeries = SeriesClients * SeriesEach
)

// SeriesSet is a set of the series of all clients, a bit each: that of a client's nth series
// is the client's index times SeriesEach, plus n.
type SeriesSet uint64

// seriesOf returns the bit of a client's series.
func seriesOf(client int, n Series) SeriesSet { return 1 << (client*SeriesEach + int(n)) }

// Free returns the first series of a client that is not in the set, or false if all are.
func (s SeriesSet) Free(client int) (Series, bool) {
	used := uint16(s >> (client * SeriesEach))
	n := bits.TrailingZeros16(^used)
	return Series(n), n < SeriesEach
}

// With returns the set with a client's series, too.
func (s SeriesSet) With(client int, n Series) SeriesSet { return s | seriesOf(client, n) }

// All lists the bits of the set, in ascending order.
func (s SeriesSet) All(yield func(bit int) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(bits.TrailingZeros64(uint64(s))) {
			return
		}
	}
}

// tokenLength is the length of a token of a series: a letter, three digits, a dash, and four
// hexadecimal digits.
const tokenLength = 9

// seriesAt returns the series and the place in it of the token with which a text begins, or
// false if it begins with none.
func (k *Clients) seriesAt(text string) (bit, nth int, is bool) {
	if len(text) < tokenLength || text[4] != '-' {
		return 0, 0, false
	}
	client, n := int(k.byName[text[0]])-1, 0
	for _, digit := range []byte(text[1:4]) {
		if digit < '0' || digit > '9' {
			return 0, 0, false
		}
		n = 10*n + int(digit-'0')
	}
	n -= process.SeriesFrom + 1
	if client < 0 || n < 0 || n >= SeriesEach*process.SeriesTokens {
		return 0, 0, false
	}
	bit, nth = client*SeriesEach+n/process.SeriesTokens, n%process.SeriesTokens
	return bit, nth, k.tokens[bit][nth] == text[:tokenLength]
}

// seriesIn returns the series of which tokens occur in a text.
func (k *Clients) seriesIn(text string) (set SeriesSet) {
	for i := range len(text) {
		if bit, _, is := k.seriesAt(text[i:]); is {
			set |= 1 << bit
		}
	}
	return set
}

// nameSeries fills in the names of the clients that have series, and their tokens. After the
// clients of the configuration come others with the next letters.
func (k *Clients) nameSeries() {
	for i := range SeriesClients {
		name := string(rune('A' + i))
		if i < len(k.cfg.Clients) {
			name = k.cfg.Clients[i].Name
		}
		k.byName[name[0]] = uint8(i + 1)
		for n := range SeriesEach {
			k.tokens[i*SeriesEach+n] = process.SeriesOf(k.cfg.Seed, name, i, n)
		}
	}
}

// SeriesInCommand returns the series of which tokens occur in a command.
func (k *Clients) SeriesInCommand(id uint32) SeriesSet { return k.seriesIn(*k.commands.Value(id)) }

// SeriesInReply returns the series of which tokens occur in a reply.
func (k *Clients) SeriesInReply(id uint32) SeriesSet { return k.seriesIn(*k.Replies.Value(id)) }

// SeriesIn returns the series of which tokens occur in a snapshot: in keys, values, and
// transactions that are open.
func (s *Servers) SeriesIn(snapshot uint32) SeriesSet {
	if set, known := s.series.Get(snapshot); known {
		return *set
	}
	set := s.clients.seriesIn(s.snapshots.Entries.At(snapshot).Key)
	s.series.Put(snapshot, set)
	return set
}
