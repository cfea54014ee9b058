package behaviour

import (
	"lockstep/sim/explore/naming"
	"lockstep/sim/process"
)

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
	if client < 0 || n < 0 || n >= naming.SeriesEach*process.SeriesTokens {
		return 0, 0, false
	}
	bit, nth = client*naming.SeriesEach+n/process.SeriesTokens, n%process.SeriesTokens
	return bit, nth, k.tokens[bit][nth] == text[:tokenLength]
}

// seriesIn returns the series of which tokens occur in a text.
func (k *Clients) seriesIn(text *string) (set naming.SeriesSet) {
	for i := range len(*text) {
		if bit, _, is := k.seriesAt((*text)[i:]); is {
			set |= 1 << bit
		}
	}
	return set
}

// nameSeries fills in the names of the clients that have series, and their tokens. After the
// clients of the configuration come others with the next letters.
func (k *Clients) nameSeries() {
	for i := range naming.SeriesClients {
		name := string(rune('A' + i))
		if i < len(k.cfg.Clients) {
			name = k.cfg.Clients[i].Name
		}
		k.byName[name[0]] = uint8(i + 1)
		for n := range naming.SeriesEach {
			k.tokens[i*naming.SeriesEach+n] = process.SeriesOf(k.cfg.Seed, name, i, n)
		}
	}
}

// SeriesInCommand returns the series of which tokens occur in a command.
func (k *Clients) SeriesInCommand(id uint32) naming.SeriesSet { return *k.commands.Summary(id) }

// SeriesInReply returns the series of which tokens occur in a reply.
func (k *Clients) SeriesInReply(id uint32) naming.SeriesSet { return k.seriesIn(k.Replies.Value(id)) }

// SeriesIn returns the series of which tokens occur in a snapshot: in keys, values, and
// transactions that are open.
func (s *Servers) SeriesIn(snapshot uint32) naming.SeriesSet { return *s.series.At(snapshot) }
