// Package suggest words the errors about unknown names, with the known name that the reader may have
// meant.
package suggest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Hint is a question to append to an error about an unknown word. It is empty where
// no known word is near: where more than a third of the letters would have to change, of
// three letters more than one, or where no letter would stay.
func Hint(word string, known []string) string {
	best, least := "", 1+(utf8.RuneCountInString(word)+2)/3
	for _, k := range known {
		d := distance(strings.ToLower(word), strings.ToLower(k))
		if d < least && d < max(utf8.RuneCountInString(word), utf8.RuneCountInString(k)) {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// distance is the edit distance from a to b: the number of letters to insert, delete,
// replace, or swap with their neighbour.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	if len(s) > 64 || len(t) > 64 {
		return max(len(s), len(t)) // no misspelling is that long
	}
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range t {
		rows[0][j+1] = j + 1
	}
	for i := range s {
		for j := range t {
			change := 1
			if s[i] == t[j] {
				change = 0
			}
			d := min(rows[i][j+1]+1, rows[i+1][j]+1, rows[i][j]+change)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				d = min(d, rows[i-1][j-1]+1)
			}
			rows[i+1][j+1] = d
		}
	}
	return rows[len(s)][len(t)]
}

// Unknown is the error for a word that isn't one of the known ones.
func Unknown(what, word string, known []string) error {
	if hint := Hint(word, known); hint != "" {
		return fmt.Errorf("unknown %s %q%s", what, Clip(word), hint)
	}
	return fmt.Errorf("unknown %s %q: it is one of %s", what, Clip(word), strings.Join(known, ", "))
}

// Clip shortens a long word, such as that of a file that isn't text, so that an error
// doesn't fill the screen.
func Clip(s string) string {
	const longest = 60
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "..."
	}
	return s
}
