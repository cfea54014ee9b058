package scenarios

import (
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
