package readings

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

// FewOfEach chooses of a list of ids so many first ones, which may be all, and of the others the first few of each kind.
// If there are too many kinds, it takes these at equal distances.
func FewOfEach(ids []uint32, first int, kind func(id uint32) uint32) (chosen []uint32) {
	if first >= len(ids) {
		return ids
	}
	var others []uint32
	count := map[uint32]int{}
	for i, id := range ids {
		of := kind(id)
		if count[of]++; i < first {
			chosen = append(chosen, id)
		} else if count[of] <= fewOfEach {
			others = append(others, id)
		}
	}
	step := 1 + (len(others)-1)/mostOfAll
	for i := 0; i < len(others); i += step {
		chosen = append(chosen, others[i])
	}
	return chosen
}
