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
)

// withHabit starts testdata/habits.py with a habit.
func withHabit(t *testing.T, name string) *adapter.Program {
	t.Helper()
	return start(t, "PYTHONPATH=. "+interpreter(t, "python")+" ../../../sim/adapter/testdata/habits.py "+name, filepath.Join(adapters, "python"))
}

func brief(b *explore.Bounds) { b.Cycles, b.Faults = 1, explore.Budget{explore.Pause: 1} }

// TestPythonsTokensDiffer: whatever a lock in Python makes its tokens of, two processes have
// different ones, and one process the same each time that it is run.
func TestPythonsTokensDiffer(t *testing.T) {
	testenv.Long(t) // TestPHPsTokensDiffer is short
	t.Parallel()
	for _, name := range []string{"secrets", "random", "system", "pid", "made"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			search(t, withHabit(t, name), brief, nil)
		})
	}
}

// TestPythonRefuses: what the world can't follow ends the process, and the line is named. Each process takes as
// long to start, so of these five are enough where `go test` is quick.
func TestPythonRefuses(t *testing.T) {
	testenv.LongRaced(t)
	t.Parallel()
	refused := map[string]string{
		"thread":     "it starts a thread, and a lock as a process has one",
		"low-thread": "it starts a thread, and a lock as a process has one",
		"process":    "it starts a process, which isn't in the world",
		"fork":       "it starts a process, which isn't in the world",
		"alarm":      "it has a signal come after a time, which doesn't pass here: give its calls a timeout",
		"processor":  "it reads the clock of the processor, which isn't the world's",
		"machine":    "it reads the clock of the machine, which isn't the world's",
		"loop":       "it runs an event loop of asyncio, whose turns depend on real time: use the library's synchronous client",
		"elsewhere":  "it connects to ('127.0.0.1', 9), and not to one of the servers that it was given",
		"forever":    "it waits for another thread, and a lock as a process has one",
		"for-ever":   "it waits for another thread, and a lock as a process has one",
		"writes":     "it writes to the file /tmp/lockstep-habit, where the next execution would find it",
		"creates":    "it writes to the file /tmp/lockstep-habit, where the next execution would find it",
		"removes":    "it changes files, and the next execution would find them so",
		"device":     "it reads /dev/urandom, which isn't the same each time",
		"uptime":     "it reads /proc/uptime, which isn't the same each time",
	}
	for i, name := range slices.Sorted(maps.Keys(refused)) {
		if !testenv.Sampled(i, 4) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, withHabit(t, name), brief, "RuntimeError: "+refused[name], "habits.py")
		})
	}
}

// TestPythonWaits: a lock waits as long in the world, by whatever means it does.
func TestPythonWaits(t *testing.T) {
	testenv.Long(t) // TestPHPWaits is short
	t.Parallel()
	sameStates(t, "sleeps", []string{"polls", "polls-edges", "selects", "waits", "waits-for-lock"}, func(t *testing.T, name string) int64 {
		return search(t, withHabit(t, name), brief, nil).States
	})
}

// sameStates: searches of locks that do the same by various means have as many states as that of one of them.
func sameStates(t *testing.T, like string, names []string, states func(t *testing.T, name string) int64) {
	t.Helper()
	want := states(t, like)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := states(t, name); got != want {
				t.Errorf("%d states, and %s has %d", got, like, want)
			}
		})
	}
}
