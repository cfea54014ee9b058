package alike

import "strings"

// Echoes are parts of texts that were sent otherwise after another reading, and so are to be answered otherwise where
// they come back.
type Echoes struct{ pairs []string }

// echoed is the length from which on a number alone is taken for the same one where it comes back, whatever is around it.
const echoed = 4

// Sent notes the words of two commands that were sent in each other's place: the whole of each word, and each number in
// which they differ.
func (e *Echoes) Sent(one, two []string) {
	for i := range min(len(one), len(two)) {
		x, y := one[i], two[i]
		if x == y || x == "" {
			continue
		}
		e.pairs = append(e.pairs, x, y)
		a, b := integers.FindAllString(x, -1), integers.FindAllString(y, -1)
		for n := range min(len(a), len(b)) {
			if a[n] != b[n] && a[n] != x && len(a[n]) >= echoed {
				e.pairs = append(e.pairs, a[n], b[n])
			}
		}
	}
}

// In returns a text with the parts sent after the other reading in place of those sent after the one.
func (e *Echoes) In(text string) string {
	if len(e.pairs) == 0 {
		return text
	}
	return strings.NewReplacer(e.pairs...).Replace(text)
}
