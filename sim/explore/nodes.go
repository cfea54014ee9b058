package explore

import (
	"math/bits"
	"slices"

	"lockstep/sim/explore/intern"
)

// statedNodes are the nodes of a search for the least schedules, and finds of each state the one
// that comes first. To look for that takes most of such a search's time.
type statedNodes struct {
	width int // of a packed state
	nodes intern.Chunks[pathNode]
	pages [][]uint32 // the nodes' packed states, in the order of the nodes

	// slots is a hash table with open addressing: for each state the node that comes first, plus 1, in
	// the lower half of a slot, and in the upper half a digest. At most half of the slots are in use.
	slots []uint64
	used  int
}

// pageNodes is the number of nodes whose states are in one page.
const pageNodes = 1 << 10

func (s *statedNodes) count() int32 { return int32(s.nodes.Count.Load()) }

func (s *statedNodes) at(i int32) *pathNode { return s.nodes.At(uint32(i)) }

// state returns the packed state of a node. It must not be changed.
func (s *statedNodes) state(i int32) []uint32 {
	at := int(i%pageNodes) * s.width
	return s.pages[i/pageNodes][at : at+s.width]
}

// add adds a node and a copy of its state, which an end doesn't have. It doesn't if a node with that state comes before
// it; one that comes after it becomes stale.
func (s *statedNodes) add(p pathNode, state []uint32) (i int32, added bool) {
	i = s.count()
	if p.ends == 0 {
		slot, half := s.find(&p, state)
		known := int32(uint32(s.slots[slot])) - 1
		switch {
		case known < 0:
			s.used++
		case !p.before(&s.at(known).place):
			return 0, false
		default:
			s.at(known).stale = true
		}
		s.slots[slot] = half | uint64(i+1)
	}
	s.nodes.Add(p)
	if int(i)/pageNodes == len(s.pages) {
		s.pages = append(s.pages, make([]uint32, pageNodes*s.width))
	}
	copy(s.state(i), state)
	return i, true
}

// find returns the slot of a node's state, or the free one for it, and the upper half of the slot's value.
func (s *statedNodes) find(p *pathNode, state []uint32) (slot int, half uint64) {
	s.grow()
	half = s.digest(p, state)
	for at := s.home(half); ; at = (at + 1) & (len(s.slots) - 1) {
		switch known := s.slots[at]; {
		case known == 0:
			return at, half
		case known>>32 == half>>32:
			i := int32(uint32(known)) - 1
			if o := s.at(i); o.last == p.last && o.passed() == p.passed() && slices.Equal(s.state(i), state) {
				return at, half
			}
		}
	}
}

// home is the first slot for a digest.
func (s *statedNodes) home(half uint64) int { return int(half>>32) & (len(s.slots) - 1) }

// digest returns a digest of all that tells a node's state from others, in the upper half.
func (s *statedNodes) digest(p *pathNode, state []uint32) uint64 {
	h := uint64(uint8(p.last))
	if p.passed() {
		h |= 1 << 8
	}
	for _, w := range state {
		hi, lo := bits.Mul64(h^uint64(w)^0x9e3779b97f4a7c15, 0xff51afd7ed558ccd)
		h = hi ^ lo
	}
	return h << 32
}

// grow makes room for one more state.
func (s *statedNodes) grow() {
	if 2*s.used < len(s.slots) {
		return
	}
	old := s.slots
	s.slots = make([]uint64, max(64, 2*len(old)))
	for _, known := range old {
		if known == 0 {
			continue
		}
		at := s.home(known)
		for s.slots[at] != 0 {
			at = (at + 1) & (len(s.slots) - 1)
		}
		s.slots[at] = known
	}
}
