package screen_test

import (
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// TestReplacedWhileUnderWay replaces a scenario while its run is being made: the outcome to come is that of the old one, and the run is
// made anew, once.
func TestReplacedWhileUnderWay(t *testing.T) {
	var versions [2]*scenarios.Scenario
	for i, name := range []string{"late-release", "crash-holding"} {
		sc, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		versions[i] = sc
	}
	lib := tuitest.Only("naive-del")
	lib.Scenarios = versions[:1:1]
	g := tuitest.RealApp(lib, tuitest.PlainTheme(false)).Grid
	old := g.Work()()
	g.Replace(0, versions[1])
	cell := g.At(0, 0)
	again := g.Update(old)
	if cell.Known || g.Known != 0 || again == nil {
		t.Fatalf("after the old outcome there is %q, of %d known; to be made anew: %v", cell.Text(), g.Known, again != nil)
	}
	if next := g.Update(again()); next != nil || cell.Verdict.String() != "BD" || g.Known != 1 {
		t.Errorf("the new scenario shows %q; %d are known; there is more to do: %v", cell.Verdict, g.Known, next != nil)
	}
}

// TestBadgeIsOfOneRun takes a lock that has an ok in one run, without brackets, and breaks in another: the legend may not say that it is unbroken.
func TestBadgeIsOfOneRun(t *testing.T) {
	lib := tuitest.Only("setpx-lua")
	lib.Scenarios = nil
	for _, name := range []string{"late-release", "failover"} {
		sc, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		lib.Scenarios = append(lib.Scenarios, sc)
	}
	g := tuitest.RealApp(lib, tuitest.PlainTheme(false)).Grid
	for work := g.Work(); work != nil; {
		work = g.Update(work())
	}
	glyphs := &tuitest.PlainTheme(false).Glyphs
	here, elsewhere := g.At(0, 0), g.At(1, 0)
	if badge := here.Badge(glyphs).Text; badge != glyphs.Granted+"ok" || len(elsewhere.Verdict) == 0 {
		t.Fatalf("the badge is %q here, and elsewhere %q", badge, elsewhere.Verdict)
	}
	legend := ""
	for _, s := range screen.BadgeLegend(glyphs) {
		legend += s.Text
	}
	if !strings.Contains(legend, glyphs.Granted+"ok nothing broke ") || strings.Contains(legend, "unbroken") || draw.Width(legend) > 79 {
		t.Errorf("%d columns: %q", draw.Width(legend), legend)
	}
}
