package game

import (
	"slices"

	"lockstep/sim"
)

// branch is a node in the tree of the moves that were tried. The root has no move.
//
// Invariants: depth is the number of branches above it; last is an index of tried, or 0.
type branch struct {
	parent *branch
	tried  []*branch
	last   int        // the index of the child visited last
	made   []sim.Move // usually one; a restart is two
	depth  int
}

// grow appends a move to a branch, and returns the branch that begins with it.
func (b *branch) grow(made []sim.Move) *branch {
	next := &branch{parent: b, made: slices.Clone(made), depth: b.depth + 1}
	b.tried = append(b.tried, next)
	b.last = len(b.tried) - 1
	return next
}

// moves are those from the beginning to a branch.
func (b *branch) moves() []sim.Move {
	if b.parent == nil {
		return nil
	}
	return append(b.parent.moves(), b.made...)
}

// child returns the branch that begins with a move, if it was tried here, or nil.
func (b *branch) child(made []sim.Move) *branch {
	for i, c := range b.tried {
		if sameMoves(c.made, made) {
			b.last = i
			return c
		}
	}
	return nil
}

// line is the branches from below the root to b.
func (b *branch) line() []*branch {
	if b.parent == nil {
		return nil
	}
	return append(b.parent.line(), b)
}

func (s *Game) undo() {
	if s.here.parent == nil {
		s.Notice = "This is the beginning."
		return
	}
	s.goTo(s.here.parent)
}

func (s *Game) redo() {
	if len(s.here.tried) == 0 {
		s.Notice = "Nothing was tried from here on yet."
		return
	}
	s.goTo(s.here.tried[s.here.last])
}

// switchBranch goes to another move that was tried in place of the last one.
func (s *Game) switchBranch(by int) {
	up := s.here.parent
	if up == nil || len(up.tried) < 2 {
		s.Notice = "Nothing else was tried in place of the last move."
		return
	}
	up.last = (up.last + by + len(up.tried)) % len(up.tried)
	s.goTo(up.tried[up.last])
}

// goTo goes to an existing branch.
func (s *Game) goTo(b *branch) {
	if err := s.replay(b); err != nil {
		s.Notice = err.Error()
		return
	}
	s.keep()
}
