package told

import (
	"fmt"
	"slices"

	"lockstep/scenarios"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// Ending tells a run's verdict and its reason at the end of the run.
type Ending struct {
	Run        *timeline.Timeline
	Scenario   *scenarios.Scenario
	Library    *screen.Library
	Theme      *draw.Theme
	Free       bool // no scenario steers the run
	ForClass   bool // the scenario's expectation, or that it has none, is for its author alone
	Rehearsing bool // the author reads the texts for the class, and more, which have a mark
}

// Tell gives the verdict of the run, and the reason: in the scenario's words if it has any
// for this verdict, and else in the monitors'.
func (e *Ending) Tell(t *draw.Paragraphs) {
	lock, verdict := e.Run.Strategy, e.Run.Verdict()
	text, met := e.Run.Expectation()
	if e.ForClass {
		text = ""
	}
	e.tellVerdict(t, text != "" && met)
	switch aside := draw.Either(e.Rehearsing, "~ ", ""); {
	case text != "" && met:
		t.Add(draw.Good, aside+e.Theme.Granted+" ", trace.Capital(text)+".")
	case text != "":
		t.Add(draw.Breach, aside+e.Theme.Bad+" ", trace.Capital(text)+".")
	case met && !e.ForClass && e.Scenario.Path() != "" && !e.Free:
		t.Add(draw.Dim, aside, "The script doesn't say what it expects of "+lock+".")
	}
	why := ""
	if _, known := e.Scenario.Expect(lock); known && !e.Free && e.Scenario.Meets(lock, verdict) {
		why = screen.Reason(e.Scenario, lock)
	}
	if why != "" {
		t.Add(draw.Plain, "", why)
	}
	if falls := e.Library.FallsTo(lock); len(verdict) == 0 && falls != "" { // the reason is none for this
		t.Add(draw.Plain, "", lock+" is a bad lock all the same: it fails under "+falls+".")
	}
	if why != "" {
		return
	}
	worst := slices.Clone(e.Run.Breaches)
	slices.SortStableFunc(worst, func(a, b timeline.Breach) int { return int(a.Code) - int(b.Code) }) // as in the verdict
	for _, b := range worst {
		t.Add(draw.Plain, "", fmt.Sprintf("%s: %s", b.Code, b.Text))
	}
}

// tellVerdict gives the verdict, without its sign beside the tick of an expectation that is met.
func (e *Ending) tellVerdict(t *draw.Paragraphs, ticked bool) {
	f := screen.Cell{Known: true, Verdict: e.Run.Verdict()}
	sign := f.Sign(&e.Theme.Glyphs)
	if ticked {
		sign = draw.Text("verdict", draw.Dim)
	}
	if spared := e.Run.Withstood(); len(f.Verdict) > 0 && spared != "" { // no code is to be read before that
		t.Add(draw.Good, e.Theme.Reject+" ", spared)
	}
	t.Lines = append(t.Lines, draw.Line{draw.Text(" ", draw.Plain), sign, draw.Text(" "+f.Text(), draw.Strong)}.Hanging(t.Width)...)
}
