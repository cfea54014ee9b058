package report

import (
	"fmt"
	"path"
	"slices"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// Headline names a violation as go test names a failure: the line of the lock, and what
// happened there. A violation that no lock withstands has no line.
func Headline(t *trace.Trace, code trace.Code) string {
	what := code.Meaning()
	for _, found := range t.Violations {
		if found.Code == code {
			what = found.Text
			break
		}
	}
	text := fmt.Sprintf("%s, %s: %s", code, code.Name(), what)
	if timeline.Overslept(t, code) {
		return text + ". That takes a pause past a lease, which no lock with a lease withstands by itself: no line of this one is to blame (lockstep explain claim 2)"
	}
	if at := Place(t, culprit(t, code)); at != "" {
		text = at + ": " + text
	}
	return text
}

// culprit is the line of code of the command by which the violation came about, or else of its last step: of the last event
// that proves it, or of the last one before by the same client. Steps of the caller, such as entering the
// critical section, have no line of the lock's, and commands and readings of clocks have.
func culprit(t *trace.Trace, code trace.Code) trace.Source {
	for _, found := range t.Violations {
		if found.Code != code {
			continue
		}
		if e := timeline.New(t).Command(timeline.Breach{Violation: &found}); e != nil && e.Source.File != "" {
			return e.Source
		}
		for _, last := range slices.Backward(found.Events) {
			for i := last - 1; i >= 0; i-- {
				if e := &t.Events[i]; e.Source.File != "" && e.Client == t.Events[last-1].Client {
					return e.Source
				}
			}
		}
	}
	return trace.Source{}
}

// Place names a line of code as go test does: by its file alone if all files of the trace
// are in one folder.
func Place(t *trace.Trace, s trace.Source) string {
	if s.File == "" {
		return ""
	}
	file := path.Base(s.File)
	for i := range t.Events {
		if other := t.Events[i].Source.File; other != "" && path.Dir(other) != path.Dir(s.File) {
			file = s.File
			break
		}
	}
	return fmt.Sprintf("%s:%d", file, s.Line)
}
