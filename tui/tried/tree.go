// Package tried has the moves that a reader tries in a game: their tree, in which nothing is lost, the
// text in which it is kept, how many moves a schedule is to a reader, and the outcome of the same moves under another lock.
package tried

import (
	"reflect"
	"slices"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/fault"
)

// Branch is a node in the tree of the moves that were tried. The root, which is the zero Branch, has no move.
//
// Invariants: Depth is the number of branches above it; Last is an index of Tried, or 0.
type Branch struct {
	Parent *Branch
	Tried  []*Branch
	Last   int        // the index of the child visited last
	Made   []sim.Move // usually one; a restart is two
	Depth  int
}

// Grow appends a move to a branch, and returns the branch that begins with it.
func (b *Branch) Grow(made []sim.Move) *Branch {
	next := &Branch{Parent: b, Made: slices.Clone(made), Depth: b.Depth + 1}
	b.Tried = append(b.Tried, next)
	b.Last = len(b.Tried) - 1
	return next
}

// Moves are those from the beginning to a branch.
func (b *Branch) Moves() []sim.Move {
	if b.Parent == nil {
		return nil
	}
	return append(b.Parent.Moves(), b.Made...)
}

// Child returns the branch that begins with a move, if it was tried here, or nil.
func (b *Branch) Child(made []sim.Move) *Branch {
	for i, c := range b.Tried {
		if sameMoves(c.Made, made) {
			b.Last = i
			return c
		}
	}
	return nil
}

// Size is the number of branches below b.
func (b *Branch) Size() (n int) {
	for _, c := range b.Tried {
		n += 1 + c.Size()
	}
	return n
}

// Line is the branches from below the root to b.
func (b *Branch) Line() []*Branch {
	if b.Parent == nil {
		return nil
	}
	return append(b.Parent.Line(), b)
}

// sameMoves compares moves, and the number of steps in them.
func sameMoves(a, b []sim.Move) bool {
	return slices.EqualFunc(a, b, func(x, y sim.Move) bool { return x.Count == y.Count && Same(x, y) })
}

// Same compares moves. The number of steps in them makes no difference.
func Same(a, b sim.Move) bool {
	return a.Who == b.Who && a.Wait == b.Wait && a.Draw == b.Draw && reflect.DeepEqual(a.Fault, b.Fault) // some faults have lists
}

// Prefix are the moves of a schedule, one by one, that lead to its first n
// events, or to the next instant at which a move begins.
func Prefix(s sim.Schedule, events int) []sim.Move {
	all := Singles(s.Moves)
	enough := func(n int) bool {
		t, err := scenarios.Replay(sim.Schedule{Config: s.Config, Moves: all[:n]})
		return err != nil || len(t.Events) >= events
	}
	low, high := 0, len(all)
	for low < high { // more moves never make fewer events
		if mid := (low + high) / 2; enough(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return all[:low]
}

// Singles splits moves into single steps, so that each can be undone. It drops the
// script's notes.
func Singles(moves []sim.Move) []sim.Move {
	var all []sim.Move
	for _, m := range moves {
		switch {
		case m.Note > 0, m.Fault == (fault.Drain{}):
		case m.Count > 1:
			for range m.Count {
				all = append(all, sim.Move{Who: m.Who, Count: 1})
			}
		default:
			all = append(all, m)
		}
	}
	return all
}
