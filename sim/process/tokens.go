package process

import (
	"fmt"
	"slices"
	"strings"
)

// Tokens is what the tokens are worth that strategies draw and callers keep.
type Tokens uint8

const (
	// UniqueTokens are what all that compare them rely on.
	UniqueTokens Tokens = iota
	// SameTokens are all equal: a lock's name was taken for one, or a clock that is
	// too coarse. Whoever compares finds its own.
	SameTokens
	// MangledTokens come back from the caller other than they were given to it: it
	// has stored them in another form, or lost them. Whoever compares them at
	// release finds that they are nobody's.
	MangledTokens
)

var tokensNames = [...]string{"unique", "same", "mangled"}

// String is the word that schedules use.
func (t Tokens) String() string { return tokensNames[t] }

// ParseTokens is the inverse of String.
func ParseTokens(s string) (Tokens, error) {
	if i := slices.Index(tokensNames[:], s); i >= 0 {
		return Tokens(i), nil
	}
	return 0, fmt.Errorf("unknown tokens %q: they are one of %s", s, strings.Join(tokensNames[:], ", "))
}

// sameToken is what everybody draws where all tokens are the same.
const sameToken = "same-for-all"

// mangled is what a token looks like that PHP's serialize has been at, and its
// inverse has not.
func mangled(token string) string { return fmt.Sprintf("s:%d:%q;", len(token), token) }
