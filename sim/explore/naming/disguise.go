package naming

import (
	"fmt"
	"strconv"
	"strings"

	"lockstep/sim/trace"
)

// Disguise gives tokens other texts of the same length, different ones for different tokens.
type Disguise func(to []byte, client, number int)

// Of returns the text of a token.
func (d Disguise) Of(token string) string {
	head, _, _ := strings.Cut(token, "-")
	name := strings.TrimRight(head, "0123456789")
	number, _ := strconv.Atoi(head[len(name):])
	client := SeriesClients // the probe
	if len(name) == 1 {
		client = int(name[0]-'A') % SeriesClients
	}
	to := []byte(strings.Repeat("x", len(token)))
	d(to, client, number)
	return string(to)
}

// Disguises are ways to choose tokens such that code is likely to go another way if it looks
// into them: tokens that begin alike, that end alike, of which two clients' differ in one place
// alone, and numbers in ascending and descending order. None of them keeps the client's name.
var Disguises = []Disguise{
	func(to []byte, client, number int) { scatter(to[1:], client, number) },
	func(to []byte, client, number int) { scatter(to[2:], client, number) },
	func(to []byte, client, number int) { scatter(to[4:], client, number) },
	func(to []byte, client, number int) { scatter(to[:len(to)-1], client, number) },
	func(to []byte, client, number int) { scatter(to[:len(to)-2], client, number) },
	func(to []byte, client, number int) { scatter(to[:len(to)-4], client, number) },
	func(to []byte, client, number int) { scatter(to[1:], 0, number); to[0] = byte('a' + client) },
	func(to []byte, client, number int) { scatter(to[1:], 0, number); mark(to, len(to)/2, client) },
	func(to []byte, client, number int) { scatter(to, 0, number); mark(to, len(to)-1, client) },
	func(to []byte, client, number int) { ordered(to, number*10+client) },
	func(to []byte, client, number int) { ordered(to, 99_999-(number*10+client)) },
}

// mark writes the client into one place of a token that has room for it.
func mark(to []byte, place, client int) { to[place] = byte('a' + client) }

// scatter fills a text with letters and digits. The tokens of all clients differ in the first
// three of them, and mostly in each.
func scatter(to []byte, client, number int) {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyz"
	n := (number*(SeriesClients+1) + client) * 17041 % (36 * 36 * 36) // a permutation of these: 17041 is a multiple of neither 2 nor 3
	for i := range to {
		to[i] = letters[n%36]
		if n /= 36; i%3 == 2 {
			n = (number*(SeriesClients+1) + client) * 17041 % (36 * 36 * 36)
		}
	}
}

// ordered writes a number with the digit 1 before it, and zeros between.
func ordered(to []byte, n int) { copy(to, fmt.Sprintf("1%0*d", len(to)-1, n)) }

// TokenAt returns the length of the token with which a text begins, or 0: the name of a client, which is a letter or the
// probe's, a number, a dash, and four hexadecimal digits.
func TokenAt(s string, client func(letter byte) bool) int {
	n := 1
	switch {
	case s == "":
		return 0
	case strings.HasPrefix(s, trace.Probe):
		n = len(trace.Probe)
	case !client(s[0]):
		return 0
	}
	digits := n
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == digits || len(s) < n+5 || s[n] != '-' {
		return 0
	}
	for _, c := range []byte(s[n+1 : n+5]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return 0
		}
	}
	return n + 5
}

// Text returns a text with other tokens in place of those in it. tokenAt returns the length of the token with which a
// text begins, or 0.
func (d Disguise) Text(s string, tokenAt func(string) int) string { return replaced(s, tokenAt, d.Of) }

// replaced returns a text with other tokens, of the same lengths, in place of those in it.
func replaced(s string, tokenAt func(string) int, of func(token string) string) string {
	var to []byte
	for i := 0; i < len(s); i++ {
		n := tokenAt(s[i:])
		if n == 0 {
			continue
		}
		if to == nil {
			to = []byte(s)
		}
		copy(to[i:], of(s[i:i+n]))
		i += n - 1
	}
	if to == nil {
		return s
	}
	return string(to)
}
