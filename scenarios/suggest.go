package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"lockstep/strategies"
)

// didYouMean is a question to append to an error about an unknown word. It is empty where
// no known word is near: where more than a third of the letters would have to change, of
// three letters more than one, or where no letter would stay.
func didYouMean(word string, known []string) string {
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
	if hint := didYouMean(word, known); hint != "" {
		return fmt.Errorf("unknown %s %q%s", what, clip(word), hint)
	}
	return fmt.Errorf("unknown %s %q: it is one of %s", what, clip(word), strings.Join(known, ", "))
}

// clip shortens a long word, such as that of a file that isn't text, so that an error
// doesn't fill the screen.
func clip(s string) string {
	const longest = 60
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "..."
	}
	return s
}

// FindStrategy finds a strategy by name: one of the catalogue, or one that was admitted.
func FindStrategy(name string) (strategies.Strategy, error) {
	if s, found := strategies.Get(name); found {
		return s, nil
	}
	if s, found := admitted.Load(name); found {
		return s.(strategies.Strategy), nil
	}
	return strategies.Strategy{}, Unknown("strategy", name, StrategyNames())
}

// admitted are the strategies that aren't of the catalogue, by name.
var admitted sync.Map

// Admit makes a strategy that isn't of the catalogue known by its name, until the function
// that it returns is called. It fails if the catalogue has that name.
func Admit(s strategies.Strategy) (dismiss func(), err error) {
	if _, taken := strategies.Get(s.Name); taken {
		return nil, fmt.Errorf("a lock of the catalogue is named %s: it needs another name", s.Name)
	}
	admitted.Store(s.Name, s)
	return func() { admitted.Delete(s.Name) }, nil
}

// StrategyNames lists the catalogue.
func StrategyNames() []string {
	var names []string
	for _, s := range strategies.All() {
		names = append(names, s.Name)
	}
	return names
}

// sortedKeys lists a map's keys in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
