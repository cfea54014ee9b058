// Package suggest words the errors about unknown names, with the known name that the reader may have
// meant.
package suggest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Hint is a question to append to an error about an unknown word: for the known word nearest to it, and for
// those that it begins, or else is a part of. A slip in one part of a name is nearer than two in a whole one, and
// then the question is for the names with that part. It is empty where there is none.
func Hint(word string, known []string) string {
	var meant []string
	best := nearest(word, known)
	if best == "" || distance(strings.ToLower(word), strings.ToLower(best)) > 1 {
		if part := misspelt(word, known); part != "" {
			word, best = part, ""
		}
	}
	if best != "" {
		meant = []string{best}
	}
	for _, k := range whole(word, known) {
		if !slices.Contains(meant, k) {
			meant = append(meant, k)
		}
	}
	const most = 6
	more := ""
	if len(meant) > most {
		more, meant = fmt.Sprintf(", or one of %d more", len(meant)-most), meant[:most]
	}
	for i, k := range meant {
		meant[i] = fmt.Sprintf("%q", k)
	}
	if n := len(meant); n > 1 && more == "" {
		meant = append(meant[:n-2], meant[n-2]+" or "+meant[n-1])
	}
	if len(meant) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(meant, ", ") + more + "?"
}

// nearest is the known word that takes the fewest changes. It is empty where more than a third of the
// letters would have to change, of three letters more than one, or where no letter would stay.
func nearest(word string, known []string) string {
	best, least := "", 1+(utf8.RuneCountInString(word)+2)/3
	for _, k := range known {
		d := distance(strings.ToLower(word), strings.ToLower(k))
		if d < least && d < max(utf8.RuneCountInString(word), utf8.RuneCountInString(k)) {
			best, least = k, d
		}
	}
	return best
}

// misspelt is the first part of a known name of which a word is a misspelling, by one letter; "" if there is none.
// Shorter parts are too near to too many words.
func misspelt(word string, known []string) string {
	const least = 4
	for _, k := range known {
		parts := strings.FieldsFunc(k, func(r rune) bool { return r == ' ' || r == '-' || r == '.' })
		for _, part := range parts {
			if len(parts) > 1 && utf8.RuneCountInString(part) >= least && distance(strings.ToLower(word), strings.ToLower(part)) == 1 {
				return part
			}
		}
	}
	return ""
}

// whole are the known words that begin with a word, or if there are none, those that have it elsewhere. Of
// fewer than three letters too many words have them.
func whole(word string, known []string) []string {
	var begin, have []string
	if utf8.RuneCountInString(word) < 3 {
		return nil
	}
	for _, k := range known {
		switch strings.Index(strings.ToLower(k), strings.ToLower(word)) {
		case -1:
		case 0:
			begin = append(begin, k)
		default:
			have = append(have, k)
		}
	}
	if len(begin) > 0 {
		return begin
	}
	return have
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
	if len(known) == 1 {
		return fmt.Errorf("unknown %s %q: there is only %s", what, Clip(word), known[0])
	}
	return fmt.Errorf("unknown %s %q: it is one of %s", what, Clip(word), strings.Join(known, ", "))
}

// Begun is the only known name of which a text is the first words, or "": the meaning is plain then.
func Begun(text string, known []string) (name string) {
	for _, n := range known {
		switch first := len(text) < len(n) && strings.EqualFold(n[:len(text)], text) && strings.ContainsAny(n[len(text):len(text)+1], " -"); {
		case first && name != "" && name != n:
			return ""
		case first:
			name = n
		}
	}
	return name
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
