package process

import (
	"fmt"
	"slices"
	"strings"
)

// Tokens says whether the tokens that strategies draw are unique, and whether callers return
// them unchanged.
type Tokens uint8

const (
	// UniqueTokens differ from each other, as all locks that compare them assume.
	UniqueTokens Tokens = iota
	// SameTokens are all equal: the program uses the lock's name as a token, or a clock
	// that is too coarse. Every comparison succeeds.
	SameTokens
	// MangledTokens are changed by the caller, which has stored them in another form. A
	// comparison at release always fails.
	MangledTokens
)

var tokensNames = [...]string{"unique", "same", "mangled"}

// String returns the word that schedules use.
func (t Tokens) String() string { return tokensNames[t] }

// ParseTokens is the inverse of String. Its error lists the words.
func ParseTokens(s string) (Tokens, error) {
	if i := slices.Index(tokensNames[:], s); i >= 0 {
		return Tokens(i), nil
	}
	return 0, fmt.Errorf("unknown tokens %q: they are one of %s", s, strings.Join(tokensNames[:], ", "))
}

// sameToken is the token of every acquisition under SameTokens.
const sameToken = "same-for-all"

// mangled returns a token as PHP's serialize leaves it, without the inverse.
func mangled(token string) string { return fmt.Sprintf("s:%d:%q;", len(token), token) }
