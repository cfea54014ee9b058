package behaviour

import (
	"math/bits"

	"lockstep/sim/process"
)

// Series are the tokens that a client draws in one cycle. A search without a bound on cycles
// gives each cycle the first series of which nothing is left anywhere, so that situations
// which differ in the names of tokens alone are equal: a token that occurs nowhere is as good
// as new. This rests on the lock's comparing tokens for nothing but equality.
type Series uint8

// SeriesEach is the number of series that each client has.
const SeriesEach = 16

// SeriesSet is a set of the series of all clients, a bit each.
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

// seriesIn returns the series of which tokens occur in a text. A token begins with its
// client's name and its number, and a dash.
func (k *Clients) seriesIn(text string) (set SeriesSet) {
	for i := 0; i < len(text); i++ {
		client := k.byName[text[i]]
		if client == 0 {
			continue
		}
		n, at := 0, i+1
		for ; at < len(text) && at < i+6 && text[at] >= '0' && text[at] <= '9'; at++ {
			n = n*10 + int(text[at]-'0')
		}
		if at == i+1 || at == len(text) || text[at] != '-' || n == 0 || n > SeriesEach*process.SeriesTokens {
			continue
		}
		set |= seriesOf(int(client)-1, Series((n-1)/process.SeriesTokens))
	}
	return set
}

// nameTable returns for each letter the client that has it for a name, from 1.
func (k *Clients) nameTable() (byName [256]uint8) {
	for i, c := range k.cfg.Clients {
		byName[c.Name[0]] = uint8(i + 1)
	}
	return byName
}

// SeriesInCommand returns the series of which tokens occur in a command.
func (k *Clients) SeriesInCommand(id uint32) SeriesSet { return k.seriesIn(*k.commands.Value(id)) }

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
