package game

import (
	"fmt"

	"lockstep/tui/tried"
)

// keep writes the game down, with all that was tried, once something was: a reader who only looks at a level has not begun it.
func (s *Game) keep() {
	if !s.begun() {
		return
	}
	s.seen()
	data, err := tried.Write(s.cfg, s.root, s.here)
	if err != nil {
		s.Notice = "The game can't be kept: " + err.Error() + "."
		return
	}
	s.Progress.KeepGame(s.file, data)
}

// begun reports whether any move was tried.
func (s *Game) begun() bool { return len(s.root.Tried) > 0 }

// seen makes a level the one to go on with.
func (s *Game) seen() {
	if s.quest != nil && s.level != none {
		s.Progress.SeeLevel(s.file)
	}
}

// recall brings back the moves tried before, if that was in the same setup. Else it is set
// aside, and the game begins anew.
func (s *Game) recall() {
	data := s.Progress.Game(s.file)
	if data == nil {
		return
	}
	root, here, err := tried.Read(data, tried.Setup(s.cfg))
	if err != nil {
		s.Progress.SetGameAside(s.file)
		s.Notice = "The game that was kept can't be played on, and was set aside: " + err.Error() + "."
		return
	}
	s.root, s.here = root, here
}

// undo takes the last move back; before the first it leads back to the win of the level before, where enter came from there.
func (s *Game) undo() {
	switch {
	case s.here.Parent == nil && s.before != none:
		if err := s.play(s.before); err != nil {
			s.Notice = err.Error()
		}
		return
	case s.here.Parent == nil:
		s.Notice = "This is the beginning."
		return
	}
	s.goTo(s.here.Parent)
}

func (s *Game) redo() {
	if len(s.here.Tried) == 0 {
		s.Notice = "Nothing was tried from here on yet."
		return
	}
	s.goTo(s.here.Tried[s.here.Last])
}

// switchBranch goes to another move that was tried in place of the last one.
func (s *Game) switchBranch(by int) {
	up := s.here.Parent
	if up == nil || len(up.Tried) < 2 {
		if s.Notice = "Nothing else was tried in place of the last move."; up == nil {
			s.Notice = "No move has been made yet."
		}
		return
	}
	up.Last = (up.Last + by + len(up.Tried)) % len(up.Tried)
	s.goTo(up.Tried[up.Last])
	s.Notice = fmt.Sprintf("branch %d of %d at this move", up.Last+1, len(up.Tried))
}

// goTo goes to an existing branch.
func (s *Game) goTo(b *tried.Branch) {
	if err := s.replay(b); err != nil {
		s.Notice = err.Error()
		return
	}
	s.keep()
}
