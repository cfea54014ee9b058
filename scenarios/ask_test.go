package scenarios

import (
	"strings"
	"testing"

	"lockstep/sim/trace"
)

// A question can be limited to locks, as words can; whether a script asks anything doesn't depend on the lock.
func TestAskUnder(t *testing.T) {
	s := script(t, `title: x
script:
  - say: A comes.
  - run: A
  - ask: "Who?"
    answer: holders
    under: [naive-del, setpx-lua]
  - ask: "And of several servers?"
    answer: record
    servers: several
`)
	for lock, want := range map[string]int{"naive-del": 1, "setpx-lua": 1, "setnx": 0, "redlock": 1} {
		run, err := s.Run(strategy(t, lock), 1)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		for i := range run.Notes {
			if run.Notes[i].Kind == trace.NoteAsk {
				asked++
			}
		}
		if asked != want {
			t.Errorf("%s is asked %d questions, want %d", lock, asked, want)
		}
	}
	if !s.Asks() || script(t, "title: x\nscript: [{say: A comes.}, {run: A}]\n").Asks() {
		t.Error("a script doesn't know whether it asks")
	}
}

// An expectation that includes codes is met by a run that has them, whatever else it has, and otherwise says what it has.
func TestIncludes(t *testing.T) {
	s := script(t, `title: x
script:
  - run: A
    to: read
  - until: 13s
  - run: B
    to: read
  - run: A
expect:
  - includes: [SW]
    under: [naive-del]
  - includes: [SW]
    under: [fenced]
`)
	for lock, want := range map[string]string{
		"naive-del": "as expected: SW OV FR, which includes SW",
		"fenced":    "not as expected: the file expects a verdict that includes SW (test.yaml:12), and the verdict is OV",
	} {
		run, err := s.Run(strategy(t, lock), 1)
		if err != nil {
			t.Fatal(err)
		}
		if text, met := run.Expectation(); !strings.HasPrefix(text, want) || met != s.Meets(lock, run.Verdict()) || met != (lock == "naive-del") {
			t.Errorf("%s: %t, %s", lock, met, text)
		}
	}
}
