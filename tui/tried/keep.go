package tried

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

// Text is how schedules write moves.
func Text(cfg sim.Config, moves []sim.Move) string {
	_, text, _ := strings.Cut(sim.Schedule{Config: cfg, Moves: moves}.String(), ",--,")
	return text
}

// Label stands in schedules of games for a scenario: there is no script.
const Label = "sandbox"

// Setup is the setup of schedules, as text.
func Setup(cfg sim.Config) string {
	cfg.Scenario = Label
	return sim.Schedule{Config: cfg}.String()
}

// Write is the tree below a root as text, with the branch on which the reader stands: the inverse of Read.
func Write(cfg sim.Config, root, here *Branch) ([]byte, error) {
	k := kept{Setup: Setup(cfg), Here: -1}
	var add func(b *Branch, parent int)
	add = func(b *Branch, parent int) {
		for _, c := range b.Tried {
			at := len(k.Moves)
			k.Moves = append(k.Moves, keptMove{Parent: parent, Move: Text(cfg, c.Made), Last: c.Last})
			if c == here {
				k.Here = at
			}
			add(c, at)
		}
	}
	add(root, -1)
	data, err := json.Marshal(k)
	return append(data, '\n'), err
}

// Read is the tree that was kept, and the branch on which the reader stood, if it was played in a setup.
func Read(data []byte, setup string) (root, here *Branch, err error) {
	var k kept
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, nil, err
	}
	if k.Setup != setup {
		return nil, nil, fmt.Errorf("it was played in another setup")
	}
	root = &Branch{}
	all := make([]*Branch, len(k.Moves))
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
		all[i] = parent.Grow(schedule.Moves)
	}
	for i, b := range all {
		b.Last = min(max(k.Moves[i].Last, 0), max(len(b.Tried)-1, 0))
	}
	here = root
	if k.Here >= 0 && k.Here < len(all) {
		here = all[k.Here]
	}
	for b := here; b.Parent != nil; b = b.Parent {
		b.Parent.Last = slices.Index(b.Parent.Tried, b)
	}
	return root, here, nil
}
