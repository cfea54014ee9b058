package pane

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/facts"
	"lockstep/tui/tuitest"
)

func TestShortNames(t *testing.T) {
	for _, c := range [][2]string{
		{"A B C probe", "A B C p"}, {"payroll audit", "p a"}, {"Anna Bob", "A B"}, {"Anna Aron", "An Ar"}, {"A AB ABC", "A AB ABC"}, {"payroll probe", "pa pr"}, {"é è", "é è"},
	} {
		if got := strings.Join(draw.ShortNames(strings.Fields(c[0])), " "); got != c[1] {
			t.Errorf("%s are shortened to %s, want %s", c[0], got, c[1])
		}
	}
}

// named is a run whose clients are called otherwise.
func named(t *testing.T, run *timeline.Timeline, names ...string) *timeline.Timeline {
	t.Helper()
	all := *run.Trace
	all.Clients = append(slices.Clone(names), run.Clients[len(names):]...)
	return timeline.New(&all)
}

// Long names leave all columns in line: those of the diagram and the state.
func TestLongNamesLeaveColumnsInLine(t *testing.T) {
	run := named(t, timeline.New(tuitest.RealRun(t, "naive-del", "pause-past-ttl")), "payroll", "audit")
	end := run.Last()
	th := tuitest.PlainTheme(false)
	c := draw.NewCanvas(120, 14, th.More)
	a := newAxis(run, 120-LabelWidth, 0)
	drawn := DrawTimeline(c, draw.Rect(0, 0, 120, 14), Scene{Timeline: run, Pos: end, Axis: a, Column: a.Cols[end], All: a.Width(), Lanes: FillLanes(run, end, 12), Theme: th})
	if v := c.Render(th); strings.Contains(v, th.More+th.Read) || !strings.Contains(v, "pa"+th.Read) || !strings.Contains(v, "a"+th.Read) {
		t.Errorf("the resource's row does not name the clients:\n%s", v)
	}
	if !slices.Contains(drawn.signsOf(&th.Glyphs), draw.Sign{"pa", "payroll"}) {
		t.Error("the legend does not say what pa is short for")
	}
	for pos := range end {
		for _, l := range facts.Lines(run, pos+1, run.StateAt(pos), run.StateAt(pos+1)) {
			for _, part := range l.Hanging(38) {
				if strings.Contains(tuitest.LineText(l), "lock = ") && part.Width() > 38 {
					t.Errorf("the record is cut: %q", tuitest.LineText(part))
				}
			}
		}
	}
	for _, s := range []*trace.State{run.StateAt(run.Breaches[0].Pos)} {
		if l, _ := Holders(run, run.Breaches[0].Pos, s, 78); l.Width() > 78 {
			t.Errorf("the headline is cut: %q", tuitest.LineText(l))
		}
	}
}

// A record that was stored before the window has no beginning in it, and one that is gone has an end, if it
// lasted for one column.
func TestRecordsBeginAndEndWhereTheyDo(t *testing.T) {
	th := tuitest.PlainTheme(false)
	row := func(run *timeline.Timeline, width, pos, zoom int) string {
		c := draw.NewCanvas(width, 14, th.More)
		a := newAxis(run, width-LabelWidth, zoom)
		DrawTimeline(c, draw.Rect(0, 0, width, 14), Scene{Timeline: run, Pos: pos, Axis: a, Column: a.Cols[pos], All: a.Width(), Lanes: FillLanes(run, pos, 12), Theme: th})
		for _, l := range strings.Split(c.Render(th), "\n") {
			if strings.HasPrefix(strings.TrimLeft(l, " "+th.Pointer), "redis") {
				return string([]rune(strings.TrimRight(l, " "))[LabelWidth:])
			}
		}
		t.Fatal("no row of redis")
		return ""
	}
	run := timeline.New(tuitest.RealRun(t, "naive-del", "pause-past-ttl"))
	if got := row(run, 80, run.Breaches[0].Pos, 2); strings.HasPrefix(got, th.Open) || strings.Count(got, th.Open) != 1 {
		t.Errorf("zoomed in: %q", got)
	}
	run = timeline.New(tuitest.RealRun(t, "setpx-lua", "pause-past-ttl"))
	if got := row(run, 111, run.Last(), 0); !strings.HasSuffix(got, th.Open+th.Shut) {
		t.Errorf("the probe's record has no end: %q", got)
	}
}

// Rows for which there is no room are named.
func TestLeftOutRowsAreNamed(t *testing.T) {
	run := timeline.New(tuitest.RealRun(t, "naive-del", "late-release"))
	pos := run.Breaches[2].Pos + 1 // where nothing breaks
	for rows, want := range map[int]string{20: "0 ", 10: "0 ", 9: "1 what A thinks", 8: "2 what A thinks, resource", 5: "2 what B thinks, resource", 2: "4 A, B, C, resource"} {
		if n, got := Missed(run, pos, FillLanes(run, pos, rows)).Text(); fmt.Sprint(n, " ", got) != want {
			t.Errorf("%d rows leave out %d %q, want %q", rows, n, got, want)
		}
	}
}

// The row that has the servers' rows in one is explained by the label that it has.
func TestLabelOfServersInOneRowIsExplained(t *testing.T) {
	th := tuitest.PlainTheme(false)
	for lock, want := range map[string]string{"redlock": "3/5", "naive-del": ""} {
		run, said := timeline.New(tuitest.RealRun(t, lock, "late-release")), ""
		for _, s := range Legend(&th.Glyphs, run) {
			if strings.Contains(s[1], "servers in one") {
				said = s[0]
			}
		}
		if said != want {
			t.Errorf("%s: %q is explained, and not %q", lock, said, want)
		}
	}
}
