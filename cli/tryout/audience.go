package tryout

import (
	"fmt"
	"regexp"
	"slices"

	"lockstep/scenarios"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// now is a word of a question that means the instant at which it is asked, and not the one that its answer is about.
var now = regexp.MustCompile(`(?i)\bnow\b`)

// missing says what those would miss to whom a run is shown: which instant a question is about, and words where something first breaks.
func missing(s *scenarios.Scenario, t *trace.Trace) (all []string) {
	run := timeline.New(t)
	for _, q := range run.QuestionsApart() {
		if !q.Script {
			continue
		}
		asked, answered := run.When(q.Pos), run.When(q.Until)
		if n := noteOf(t, q.Note); n != nil && n.About != "verdict" && asked != answered && now.MatchString(n.Text) {
			all = append(all, fmt.Sprintf("%s: this question says \"now\" and is asked at %s, while its answer is about %s: name what has happened by then, such as \"when B has asked\".",
				s.NoteAt(q.Note), trace.Brief(asked), trace.Brief(answered)))
		}
	}
	if len(t.Violations) > 0 {
		if first := &t.Violations[0]; !told(t, slices.Max(first.Events)) {
			all = append(all, fmt.Sprintf("at %s: nothing is said before the violation (%s): an audience sees it and isn't told what happens. Put a \"say\" before the step that leads to it.",
				trace.Brief(first.At), first.Code))
		}
	}
	return all
}

// noteOf is the note of an Index.
func noteOf(t *trace.Trace, index int) *trace.Note {
	for i := range t.Notes {
		if t.Notes[i].Index == index {
			return &t.Notes[i]
		}
	}
	return nil
}

// told reports whether words stand before an event.
func told(t *trace.Trace, seq int) bool {
	for i := range t.Notes {
		if n := &t.Notes[i]; n.Kind == trace.NoteSay && n.Seq <= seq {
			return true
		}
	}
	return false
}
