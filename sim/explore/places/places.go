// Package places tells which situations in which code reads something, or a server is asked something, are much like
// others, so that a search tries the other possible readings and replies in a few of each kind.
//
// Two situations are of one kind, a [Place], if they differ only in tokens of which the same are equal, and in numbers that
// may be stamps, spans or counts. That is a guess: a number may as well say in which state something is. So those of a kind
// are told apart by numbers of which there are few (see [Tell]).
package places

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockstep/sim/redis"
)

// Place is a kind of situation.
type Place struct {
	Text   string   // of the situation, with marks in place of the parts that may differ
	Values []string // the numbers for which marks stand
	States string   // Text, with those numbers that are among a few; see Tell
}

const (
	// LongText is the length from which on all numbers of a text are masked: it has fields, a date, or words, and may have
	// stamps in parts.
	LongText = 20
	// drawnWord is the length from which on a word of letters and digits is taken for a digest or a token.
	drawnWord = 16
	// FewStates is how many numbers may stand in one place of a text for each to be a state, in which code may do
	// something else. Stamps and spans are more.
	FewStates = 16
)

// Tell tells places of one text apart by numbers that are the same in many of them: each mark for which only a few
// different ones stand counts.
func Tell[T any](all []T, of func(*T) *Place) {
	type mark struct {
		text string
		nth  int
	}
	found := map[mark]map[string]bool{}
	for i := range all {
		p := of(&all[i])
		for i, v := range p.Values {
			at := mark{p.Text, i}
			if found[at] == nil {
				found[at] = map[string]bool{}
			}
			if len(found[at]) <= FewStates {
				found[at][v] = true
			}
		}
	}
	for i := range all {
		p := of(&all[i])
		text := []byte(p.Text)
		for i, v := range p.Values {
			if len(found[mark{p.Text, i}]) <= FewStates {
				text = append(append(text, ' '), v...)
			}
		}
		p.States = string(text)
	}
}

// Few takes the first few situations of each place, and then of each state.
func Few[T any](all []T, few int, text func(*T) string, place func(*T) *Place) []T {
	Tell(all, place)
	chosen, _ := Choose(all, few, text, func(t *T) string { return place(t).Text }, func(t *T) string { return place(t).States })
	return chosen
}

// Choose takes the first few of each kind, by one sense of kind after another, and returns the rest, too. Which these are
// depends on their texts alone, and not on the order in which they come.
func Choose[T any](all []T, few int, text func(*T) string, kinds ...func(*T) string) (chosen, rest []T) {
	for _, kind := range kinds {
		slices.SortFunc(all, func(a, b T) int {
			return cmp.Or(strings.Compare(kind(&a), kind(&b)), strings.Compare(text(&a), text(&b)))
		})
		rest = nil
		for i := range all {
			if i >= few && kind(&all[i-few]) == kind(&all[i]) {
				rest = append(rest, all[i])
			} else {
				chosen = append(chosen, all[i])
			}
		}
		all = rest
	}
	return chosen, rest
}

// Tokens names the tokens of one situation, in the order in which they occur: which of them are equal may decide.
type Tokens struct {
	At  func(text string) int // the length of the token with which a text begins, or 0
	Own byte                  // begins those of the client that looks at them; 0 if none does

	seen []string
}

func (t *Tokens) mark(token string) string {
	n := slices.Index(t.seen, token)
	if n < 0 {
		n, t.seen = len(t.seen), append(t.seen, token)
	}
	if token[0] == t.Own {
		return "!" + strconv.Itoa(n)
	}
	return "?" + strconv.Itoa(n)
}

// Situation describes a question to a server without tokens, numbers that may be stamps, and how long keys live: a script
// may decide by a life, or by the time, only in some of them. tokenAt is as in [Masked].
func Situation(args []string, snap redis.Snapshot, tokenAt func(string) int) Place {
	tokens := &Tokens{At: tokenAt}
	var b strings.Builder
	var values []string
	add := func(text string) {
		text, values = outline(text, values, tokens)
		fmt.Fprintf(&b, " %q", text)
	}
	for _, word := range args[min(2, len(args)):] {
		add(word)
	}
	for _, key := range snap.Keys {
		add(key.Name)
		add(key.Value)
		for _, item := range key.Items {
			add(item)
		}
		fmt.Fprintf(&b, " %d %t", key.Type, key.Left == redis.Immortal)
	}
	for _, p := range snap.Peers {
		fmt.Fprintf(&b, " %t", p.Dirty)
		for _, words := range p.Commands {
			for _, word := range words {
				add(word)
			}
		}
	}
	return Place{Text: b.String(), Values: values}
}

// Class is the kind of a reply. A short integer is one of its own: how long a key lives, a count, or an answer.
// roughly, a reply that is no short answer counts by its first character.
func Class(reply string, tokens *Tokens) (class Place, roughly string) {
	roughly = reply
	if strings.HasPrefix(reply, "$") && !strings.HasPrefix(reply, "$-") || len(reply) > 8 {
		roughly = reply[:1]
	}
	if strings.HasPrefix(reply, ":") && len(reply) <= 8 {
		return Place{Text: reply}, roughly
	}
	class.Text, class.Values = outline(reply, nil, tokens)
	return class, roughly
}

// outline is a text with marks for tokens and numbers, and the numbers for which they stand. In a long text all numbers are
// masked, and words that look drawn.
func outline(text string, values []string, tokens *Tokens) (string, []string) {
	keep := 3
	if len(Masked(text, tokens.At)) > LongText {
		keep = 0
	}
	return mask(text, keep, values, tokens.At, tokens.mark)
}

// Masked is a text with a mark in place of each token, and of each number of more than three digits:
// a stamp, a span, and not a generation or a count by which code may go another way.
// tokenAt returns the length of the token with which a text begins, or 0.
func Masked(text string, tokenAt func(string) int) string {
	text, _ = mask(text, 3, nil, tokenAt, func(string) string { return "?" })
	return text
}

// mask masks tokens and numbers of more than so many digits. If none are kept, so are words that look drawn.
func mask(text string, keep int, values []string, tokenAt func(string) int, marked func(token string) string) (string, []string) {
	var b strings.Builder
	for at, begins := 0, true; at < len(text); {
		token, end := tokenAt(text[at:]), at
		for token == 0 && end < len(text) && isDigit(text[end]) {
			end++
		}
		switch word := 0; {
		case token > 0:
			end = at + token
			b.WriteString(marked(text[at:end]))
		case keep == 0 && begins && drawn(text[at:], &word):
			end = at + word
			b.WriteByte('*')
		case end-at > keep:
			b.WriteByte('#')
			values = append(values, text[at:end])
		case end > at:
			b.WriteString(text[at:end])
		default:
			b.WriteByte(text[at])
			end++
		}
		begins = !isDigit(text[end-1]) && !isLetter(text[end-1])
		at = end
	}
	return b.String(), values
}

// drawn reports whether the word with which a text begins looks like a digest, and how long it is.
func drawn(text string, n *int) bool {
	digits := 0
	for *n < len(text) && (isLetter(text[*n]) || isDigit(text[*n])) {
		if isDigit(text[*n]) {
			digits++
		}
		*n++
	}
	return *n >= drawnWord && digits > 0 && digits < *n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
