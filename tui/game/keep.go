package game

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lockstep/scenarios"
	"lockstep/sim"
)

// kept is a game as it is written: its setup, and all branches that were tried.
type kept struct {
	Setup string     `json:"setup"` // a schedule without moves
	Moves []keptMove `json:"moves"` // in an order in which each comes after its parent
	Here  int        `json:"here"`  // the index of the move that led here, or -1
}

// keptMove is a branch.
type keptMove struct {
	Parent int    `json:"after"` // an index, or -1
	Move   string `json:"move"`  // as schedules write it
	Last   int    `json:"last,omitempty"`
}

// movesText is how schedules write moves.
func movesText(cfg sim.Config, moves []sim.Move) string {
	_, text, _ := strings.Cut(sim.Schedule{Config: cfg, Moves: moves}.String(), ",--,")
	return text
}

// keep writes the game down, with all that was tried.
func (s *Game) keep() {
	k := kept{Setup: setupOf(s.cfg), Here: -1}
	var add func(b *branch, parent int)
	add = func(b *branch, parent int) {
		for _, c := range b.tried {
			at := len(k.Moves)
			k.Moves = append(k.Moves, keptMove{Parent: parent, Move: movesText(s.cfg, c.made), Last: c.last})
			if c == s.here {
				k.Here = at
			}
			add(c, at)
		}
	}
	add(s.root, -1)
	data, err := json.Marshal(k)
	if err != nil {
		s.Notice = "The game can't be kept: " + err.Error() + "."
		return
	}
	s.Progress.KeepGame(s.file, append(data, '\n'))
}

// recall brings back what was tried before, if that was in the same setup. Else it is set
// aside, and the game begins anew.
func (s *Game) recall() {
	data := s.Progress.Game(s.file)
	if data == nil {
		return
	}
	root, here, err := read(data, setupOf(s.cfg))
	if err != nil {
		s.Progress.SetGameAside(s.file)
		s.Notice = "The game that was kept can't be played on, and was set aside: " + err.Error() + "."
		return
	}
	s.root, s.here = root, here
}

// read is the inverse of keep.
func read(data []byte, setup string) (root, here *branch, err error) {
	var k kept
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, nil, err
	}
	if k.Setup != setup {
		return nil, nil, fmt.Errorf("it was played in another setup")
	}
	root = &branch{}
	all := make([]*branch, len(k.Moves))
	for i, m := range k.Moves {
		schedule, err := sim.ParseSchedule(strings.TrimSuffix(setup, ",")+","+m.Move, scenarios.FindStrategy)
		if err != nil {
			return nil, nil, err
		}
		parent := root
		if m.Parent >= i || m.Parent < -1 {
			return nil, nil, fmt.Errorf("move %d comes before the one that it follows", i)
		}
		if m.Parent >= 0 {
			parent = all[m.Parent]
		}
		all[i] = parent.grow(schedule.Moves)
	}
	for i, b := range all {
		b.last = min(max(k.Moves[i].Last, 0), max(len(b.tried)-1, 0))
	}
	here = root
	if k.Here >= 0 && k.Here < len(all) {
		here = all[k.Here]
	}
	if b := here; b.parent != nil {
		b.parent.last = slices.Index(b.parent.tried, b)
	}
	return root, here, nil
}
