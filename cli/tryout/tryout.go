// Package tryout runs a script of the user's own under each lock of which it expects something, and says what came of that.
package tryout

import (
	"fmt"
	"io"

	"lockstep/scenarios"
	"lockstep/sim/trace"
)

// Script reads the script at a path, and prints for each lock whether the verdict is the expected one, and the notes for the script's author. It reports whether all
// are as expected.
func Script(out io.Writer, path string) (met bool, err error) {
	s, err := scenarios.Load(path)
	if err != nil {
		return false, err
	}
	met = true
	text, locks := fmt.Sprintf("%s: %q\n", s.Path(), s.Title), 0
	for _, name := range scenarios.StrategyNames() {
		if _, stated := s.Expect(name); !stated {
			continue
		}
		st, err := scenarios.FindStrategy(name)
		if err != nil {
			return false, err
		}
		t, err := s.Run(st, 1)
		if err != nil {
			return false, err
		}
		outcome, as := t.Expectation()
		met, locks = met && as, locks+1
		text += fmt.Sprintf("  %s: %s\n", name, outcome)
		for i := range t.Notes {
			if n := &t.Notes[i]; n.Kind == trace.NoteMissed {
				text += fmt.Sprintf("    ~ at %s: %s\n", trace.Brief(n.At), n.Prose())
			}
		}
	}
	if locks == 0 {
		text += fmt.Sprintf("  can be run. It expects nothing of any lock, so there is nothing to compare: lockstep run LOCK %s --plain shows what comes of one.\n", s.Path())
	}
	_, err = io.WriteString(out, text)
	return met, err
}
