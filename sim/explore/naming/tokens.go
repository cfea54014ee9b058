package naming

import "lockstep/sim/process"

// Tokens knows the tokens that clients draw, and to which series each of them belongs.
type Tokens struct {
	clients [256]bool // by letter: a client has it for a name
	texts   [AllSeries][]string
	places  map[string]place
}

// place is that of a token among all.
type place struct {
	series uint8 // its bit in a [SeriesSet]
	nth    int   // token of the series, from 0
}

// NewTokens returns the tokens of clients with these names, which are letters, and of others with the next
// letters, up to SeriesClients. Where cycles are counted there are no series: all tokens of a client belong to its
// first.
func NewTokens(seed uint64, names []string, counted bool) *Tokens {
	t := &Tokens{places: map[string]place{}}
	for i := range SeriesClients {
		name := string(rune('A' + i))
		if i < len(names) {
			name = names[i]
		}
		t.clients[name[0]] = true
		if counted {
			t.add(i*SeriesEach, process.TokensOf(seed, name, i))
			continue
		}
		for n := range SeriesEach {
			t.add(i*SeriesEach+n, process.SeriesOf(seed, name, i, n))
		}
	}
	return t
}

func (t *Tokens) add(series int, texts []string) {
	t.texts[series] = texts
	for n, text := range texts {
		t.places[text] = place{uint8(series), n}
	}
}

// At returns the length of the token with which a text begins, whether it was drawn or not, or 0: see [TokenAt].
func (t *Tokens) At(text string) int {
	return TokenAt(text, func(letter byte) bool { return t.clients[letter] })
}

// Series returns the series of which tokens occur in a text.
func (t *Tokens) Series(text *string) (set SeriesSet) {
	for i := range len(*text) {
		if n := t.At((*text)[i:]); n > 0 {
			if at, is := t.places[(*text)[i:i+n]]; is {
				set |= 1 << at.series
			}
		}
	}
	return set
}

// Renamed returns a text with the tokens' new names.
func (t *Tokens) Renamed(text string, r *Renaming) string {
	return replaced(text, t.At, func(token string) string {
		if at, is := t.places[token]; is {
			return t.texts[r.Series[at.series]][at.nth]
		}
		return token
	})
}
