// Package text reads a file, checks that it is text that the parser and a terminal can take, and says in an author's words
// what the parser doesn't take.
package text

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"

	"lockstep/sim/suggest"
)

// Check refuses bytes that are not UTF-8 text, and characters that YAML doesn't allow:
// above all control characters, which would reach the terminal. Its errors begin with the line.
func Check(data []byte) error {
	row := 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return fmt.Errorf("%d: this is not text: the byte 0x%02x is not UTF-8", row, data[i])
		case r == '\n':
			row++
		case Forbidden(r) && r != '\r':
			return fmt.Errorf("%d: this is not text: it has the control character %U", row, r)
		}
		i += size
	}
	return nesting(data)
}

// Forbidden reports whether a character can't stand in a text, because it is invisible or
// changes how others are shown.
func Forbidden(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d' // Persian and emoji need them
	return !unicode.IsGraphic(r) && r != '\n' && r != '\t' && r != nonJoiner && r != joiner
}

// nesting bounds the depth of brackets: without a bound they would exhaust the parser's
// stack.
func nesting(data []byte) error {
	depth, row := 0, 1
	for _, b := range data {
		switch b {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		case '\n':
			row++
		}
		if depth > 200 {
			return fmt.Errorf("%d: more than 200 brackets are open", row)
		}
	}
	return nil
}

// SyntaxError is the parser's own error, cut down to the line and the reason.
func SyntaxError(file string, err error) error {
	var at interface{ GetToken() *token.Token }
	row := 1
	if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
		row = at.GetToken().Position.Line
	}
	reason := err.Error()
	var said interface{ GetMessage() string }
	if errors.As(err, &said) {
		reason = said.GetMessage()
	}
	first, _, _ := strings.Cut(reason, "\n")
	if _, rest, found := strings.Cut(first, "] "); found && strings.HasPrefix(first, "[") {
		first = rest
	}
	first = suggest.Clip(first)
	for said, better := range inOtherWords {
		if strings.HasPrefix(first, said) {
			first = better
		}
	}
	return fmt.Errorf("%s:%d: this is not YAML: %s", file, row, first)
}

// inOtherWords translates the parser's errors, which speak of YAML's grammar, for
// authors of scenarios. No key begins with another.
var inOtherWords = map[string]string{
	"found character '\t'":                               "a tab stands where only spaces can",
	"mapping value is not allowed in this context":       "does a text with a colon lack its quotes, or is the next line indented too far?",
	"value is not allowed in this context":               "is this line indented like those that it belongs to?",
	"non-map value is specified":                         "is this line, or the next one, indented like those that it belongs to, and has each key its colon and a space after that?",
	"unexpected key name":                                "is a colon missing after a key, or the space after the colon?",
	"could not find end character of double-quoted text": "a quote is not closed",
	"could not find end character of single-quoted text": "a quote is not closed",
	"sequence end token ']' not found":                   "a bracket is not closed",
	"',' or ']' must be specified":                       "a comma or a closing bracket is missing",
	"could not find flow mapping end token '}'":          "a brace is not closed",
	"',' or '}' must be specified":                       "a comma or a closing brace is missing",
}
