// Package tryout runs a script of the user's own under each lock of which it expects something, and says what came of that.
package tryout

import (
	"fmt"
	"io"

	"lockstep/scenarios"
	"lockstep/sim/trace"
)

// Script finds the script of a name as it can be run: a file with all its variants, or one of its variants. It prints for each lock of which
// something is expected whether the verdict is that, and the notes for the script's author, and reports whether all are as expected.
func Script(out io.Writer, name string) (met bool, err error) {
	s, err := scenarios.Find(name)
	if err != nil {
		return false, err
	}
	met = true
	text := ""
	for _, s := range append([]*scenarios.Scenario{s}, s.Variants()...) {
		said, as, err := try(s)
		if err != nil {
			return false, err
		}
		text, met = text+said, met && as
	}
	_, err = io.WriteString(out, text)
	return met, err
}

// try says what came of a scenario under each lock of which it expects something.
func try(s *scenarios.Scenario) (text string, met bool, err error) {
	text, met = fmt.Sprintf("%s: %q\n", s.Name, s.Title), true
	locks := 0
	for _, name := range scenarios.StrategyNames() {
		if _, stated := s.Expect(name); !stated {
			continue
		}
		st, err := scenarios.FindStrategy(name)
		if err != nil {
			return "", false, err
		}
		t, err := s.Run(st, 1)
		if err != nil {
			return "", false, err
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
		text += fmt.Sprintf("  can be run. It expects nothing of any lock, so there is nothing to compare: lockstep run LOCK %s --plain shows what comes of one.\n", s.Name)
	}
	return text, met, nil
}
