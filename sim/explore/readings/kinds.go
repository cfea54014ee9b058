package readings

import "slices"

const (
	// fewOfEach is the number of things of a kind that are chosen, and
	fewOfEach = 3
	// mostOfAll of all kinds, besides the first.
	mostOfAll = 4000
)

// Numbering numbers texts, equal ones alike.
type Numbering struct{ of map[string]uint32 }

// Of returns the number of a text.
func (n *Numbering) Of(text string) uint32 {
	number, known := n.of[text]
	if !known {
		if n.of == nil {
			n.of = map[string]uint32{}
		}
		number = uint32(len(n.of)) + 1
		n.of[text] = number
	}
	return number
}

// FewOfEach chooses of a list of ids, none of which is there twice, so many first ones, which may be all, and of the others
// a few of each kind: from the end on, because with one those before it, which lead to it, are as good as chosen. before
// returns the next of these, or 0. If there are too many others, it takes them at equal distances.
func FewOfEach(ids []uint32, first int, kind, before func(id uint32) uint32) (chosen []uint32) {
	if first >= len(ids) {
		return ids
	}
	kinds := make([]uint32, slices.Max(ids)+1)
	for _, id := range ids {
		kinds[id] = kind(id)
	}
	done, count := make([]bool, len(kinds)), map[uint32]int{}
	for _, id := range ids[:first] {
		done[id] = true
		count[kinds[id]]++
	}
	chosen = slices.Clone(ids[:first])
	var others []uint32
	for _, id := range slices.Backward(ids[first:]) {
		if !done[id] && count[kinds[id]] < fewOfEach {
			others = append(others, id)
			for ; id != 0 && !done[id]; id = before(id) {
				done[id] = true
				count[kinds[id]]++
			}
		}
	}
	step := 1 + (len(others)-1)/mostOfAll
	for i := 0; i < len(others); i += step {
		chosen = append(chosen, others[i])
	}
	return chosen
}
