//go:build unix

package adapter_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"lockstep/sim/adapter"
	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// inNode starts testdata/habits.js with a habit.
func inNode(t *testing.T, name string) *adapter.Program {
	t.Helper()
	return start(t, interpreter(t, "node")+" ../../../sim/adapter/testdata/habits.js "+name, filepath.Join(adapters, "node"))
}

func once(b *explore.Bounds) { b.Cycles, b.Faults = 1, explore.Budget{} }

// TestNodeRefuses: what the world can't follow ends the process, and the line is named.
func TestNodeRefuses(t *testing.T) {
	testenv.LongRaced(t)
	t.Parallel()
	refused := map[string]string{
		"writes":    "it changes files, and the next execution would find them so",
		"removes":   "it changes files, and the next execution would find them so",
		"appends":   "it changes files, and the next execution would find them so",
		"device":    "it reads /dev/urandom, which isn't the same each time",
		"process":   "it starts a process, which isn't in the world",
		"thread":    "it starts a thread, and a lock as a process has one",
		"processor": "it reads the clock of the processor, which isn't the world's",
		"atomics":   "it waits for another thread, or for a time that passes outside of the world",
		"elsewhere": "it connects to 127.0.0.1:9, and not to one of the servers that it was given",
	}
	for i, name := range slices.Sorted(maps.Keys(refused)) {
		if !testenv.Sampled(i, 3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, inNode(t, name), once, "Error: "+refused[name], "habits.js")
		})
	}
}

// TestNodeIsTheWorlds: whatever a lock in Node makes its tokens of, and by whatever means it waits, that
// follows from what it is told.
func TestNodeIsTheWorlds(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	for like, names := range map[string][]string{"uuid": {"int", "fill", "values"}, "sleeps": {"schedules", "aborts", "repeats"}} {
		if !testenv.Whole() { // for time
			names = names[:1]
		}
		sameStates(t, like, names, func(t *testing.T, name string) int64 { return search(t, inNode(t, name), once, nil).States })
	}
}

// TestNodeForgets: a command whose reply nobody waits for is sent at the end of the call, and not with
// the next: the lock's DEL removes another's record.
func TestNodeForgets(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	search(t, inNode(t, "forgets"), func(b *explore.Bounds) {
		b.Cycles, b.Faults = 1, explore.Budget{explore.Pause: 1}
	}, trace.Verdict{trace.FR})
}
