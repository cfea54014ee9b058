package player_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/timeline"
	"lockstep/tui/draw"
	"lockstep/tui/events"
	"lockstep/tui/tuitest"
)

func every(int) bool { return true }

// A code that doesn't count against a lock has a sign of its own in the list, too.
func TestCodesHaveTheirSigns(t *testing.T) {
	run := timeline.New(tuitest.RealRun(t, "redlock-strict-errors", "minority-down"))
	end, mild := run.Last(), 0
	for _, row := range events.Rows(run, end, end, 0, every) {
		if !row.Breaks() {
			continue
		}
		text := strings.TrimSpace(tuitest.LineText(row.Line(run, tuitest.PlainTheme(false), 200, 0, false)))
		_, fresh := run.Breached(row.Pos)
		i := slices.IndexFunc(fresh, func(b timeline.Breach) bool { return strings.HasSuffix(text, fmt.Sprintf(" %s  %s", b.Code, b.Text)) })
		if i < 0 || strings.HasPrefix(text, "~ ") == fresh[i].Code.Failure() || strings.HasPrefix(text, "!! ") != fresh[i].Code.Failure() {
			t.Fatalf("the list says %q", text)
		}
		if !fresh[i].Code.Failure() {
			mild++
		}
	}
	if mild == 0 {
		t.Error("the run has no code that doesn't count")
	}
}

// The columns of the list of events stand below each other whatever instants are in sight.
func TestInstantsKeepTheColumnsOfTheList(t *testing.T) {
	r := timeline.New(tuitest.PauseTrace())
	for pos := 1; pos <= r.Last(); pos++ {
		places := map[int]bool{}
		for _, row := range events.Rows(r, pos, 12, 0, every) {
			if text := tuitest.LineText(row.Line(r, tuitest.PlainTheme(false), 80, 0, false)); !row.Breaks() {
				places[strings.Index(text, "#")] = true
			}
		}
		if len(places) != 1 {
			t.Errorf("position %d: numbers stand at %v", pos, places)
		}
	}
}

// Long names leave the columns of the lists in line.
func TestLongNamesLeaveColumnsInLine(t *testing.T) {
	all := *tuitest.RealRun(t, "naive-del", "pause-past-ttl")
	names := []string{"payroll", "audit"}
	all.Clients = append(slices.Clone(names), all.Clients[len(names):]...)
	run := timeline.New(&all)
	end, column := run.Last(), -1
	for _, row := range events.Rows(run, end, end, 0, every) {
		if row.Breaks() {
			continue
		}
		e := run.Event(row.Pos)
		text := tuitest.LineText(row.Line(run, tuitest.PlainTheme(false), 200, 0, false))
		at := strings.Index(text, " "+e.Kind.String()+" ")
		plain := run.Line(e)
		if in := strings.Index(plain, " "+e.Kind.String()+" "); in != strings.Index(run.Line(run.Event(1)), " "+run.Event(1).Kind.String()+" ") {
			t.Errorf("plain is out of line: %q", plain)
		}
		if column < 0 {
			column = at
		}
		if at != column {
			t.Errorf("out of line: %q", text)
		}
	}
}

// Evidence in one line each ends in no cut word: what explains the end of a lease goes before that.
func TestEvidenceOfAGrantIsNotCut(t *testing.T) {
	th := tuitest.PlainTheme(false)
	for _, lock := range []string{"setpx-lua", "fenced"} {
		run := timeline.New(tuitest.RealRun(t, lock, "failover"))
		for _, b := range run.Breaches {
			lines, _, _ := events.Evidence(run, b.Events, b.Pos, draw.MinWidth-1, false, th)
			if text := tuitest.LinesText(lines); strings.Contains(text, th.More) {
				t.Errorf("%s, %s: evidence is cut:\n%s", lock, b.Code, text)
			}
		}
	}
}
