package game

import (
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/strategies"
	"lockstep/tui/tried"
)

// setup is that of a search of the simplest lock.
func setup(t *testing.T) sim.Config {
	t.Helper()
	st, known := strategies.Get("setnx")
	if !known {
		t.Fatal("there is no setnx")
	}
	b := explore.Defaults(st)
	cfg, err := b.Config()
	if err != nil {
		t.Fatal(err)
	}
	cfg.Scenario = tried.Label
	return cfg
}

// step is a move of one client.
func step(client, count int) sim.Move { return sim.Move{Who: sim.SetOf(client), Count: count} }

// A tree comes back as it was written, with all its branches and the place of the reader in it.
func TestTreeComesBack(t *testing.T) {
	cfg, root := setup(t), &tried.Branch{}
	a := root.Grow([]sim.Move{step(0, 2)})
	here := a.Grow([]sim.Move{{Wait: time.Second}})
	root.Grow([]sim.Move{step(1, 1)}).Grow([]sim.Move{step(0, 1)})
	root.Last = 0
	data, err := tried.Write(cfg, root, here)
	if err != nil {
		t.Fatal(err)
	}
	again, stood, err := tried.Read(data, tried.Setup(cfg))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tried.Write(cfg, again, stood); err != nil || string(got) != string(data) {
		t.Errorf("%s comes back as %s, %v", data, got, err)
	}
	if stood.Depth != 2 || len(again.Tried) != 2 || again.Last != 0 || tried.Text(cfg, stood.Moves()) != tried.Text(cfg, here.Moves()) {
		t.Errorf("the reader stands at %s of %s", tried.Text(cfg, stood.Moves()), data)
	}
}

// A tree of another setup, and one whose moves are in no order, are refused.
func TestBrokenTreesAreRefused(t *testing.T) {
	cfg := setup(t)
	good, err := tried.Write(cfg, &tried.Branch{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"{": "JSON",
		strings.Replace(string(good), "setnx", "naive-del", 1):                 "another setup",
		strings.Replace(string(good), "null", `[{"after":0,"move":"A:1"}]`, 1): "comes before the one that it follows",
	} {
		if _, _, err := tried.Read([]byte(text), tried.Setup(cfg)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is read with %v", text, err)
		}
	}
}

// The same move is the same branch, however often it is tried; with another number of steps it is another.
func TestChildIsTheMoveThatWasMade(t *testing.T) {
	root := &tried.Branch{}
	one, two := root.Grow([]sim.Move{step(0, 1)}), root.Grow([]sim.Move{step(0, 2)})
	if root.Child([]sim.Move{step(0, 1)}) != one || root.Last != 0 || root.Child([]sim.Move{step(0, 2)}) != two || root.Last != 1 || root.Child([]sim.Move{step(1, 1)}) != nil {
		t.Error("the branches are mistaken for each other")
	}
}

// A move of the reader's is all steps of a client up to the next thing that others can see.
func TestCountIsOfMoves(t *testing.T) {
	cfg := setup(t)
	for n, path := range map[int][]sim.Move{
		0: nil,
		1: {step(0, 1)},
		2: {step(0, 1), step(1, 1)},
		3: {step(0, 1), {Wait: time.Second}, step(1, 1)},
	} {
		if got := tried.Count(cfg, nil, path, tried.Grain{}); got != n {
			t.Errorf("%s are %d moves, want %d", tried.Text(cfg, path), got, n)
		}
	}
}
