package pane

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/facts"
)

// In every frame of every run, the banner, the panel of the state and the diagram say the same of who
// believes to hold the lock and of what Redis has on record. The truth is counted here from the
// events, by no code that the screens use.
func TestEveryFrameAgrees(t *testing.T) {
	const each = 80 // of the runs; and, where all are tried, of the frames that are drawn
	cell := -1
	cells := scenarios.Part(1, func(*scenarios.Scenario, strategies.Strategy) bool {
		cell++
		return testenv.Some(cell, each)
	})
	frames := 0
	for i, c := range cells {
		if c.Err != nil {
			t.Fatalf("%s under %s: %s", c.Strategy.Name, c.Scenario.Name, c.Err)
		}
		f := &frame{r: timeline.New(c.Trace), believes: make([]bool, len(c.Trace.Clients))}
		f.axis = newAxis(f.r, 68, 0)
		s := f.r.NewState()
		for pos := 0; pos <= f.r.Last(); pos++ {
			if pos > 0 {
				f.happens(f.r.Event(pos))
				s.Apply(f.r.Event(pos))
			}
			f.pos = pos
			problems := append(f.banner(s), f.panel(s)...)
			if !testenv.Whole() || (pos+i)%each == 0 || pos == f.r.Last() {
				problems = append(problems, f.diagram(s)...)
				frames++
			}
			for _, p := range problems {
				t.Errorf("%s under %s, event %d of %d: %s", c.Strategy.Name, c.Scenario.Name, pos, f.r.Last(), p)
			}
			if t.Failed() {
				break
			}
		}
	}
	if frames < 1000 {
		t.Errorf("only %d frames were drawn", frames)
	}
}

// frame is a frame of a run with the truth about it.
type frame struct {
	r        *timeline.Timeline
	axis     *Axis
	pos      int
	believes []bool // by client
}

// happens keeps the beliefs: a client believes from the grant until it begins to release, asks
// again or crashes.
func (f *frame) happens(e *trace.Event) {
	switch e.Kind {
	case trace.KindGranted:
		f.believes[e.Client] = true
	case trace.KindRelease, trace.KindAcquire, trace.KindCrash:
		f.believes[e.Client] = false
	}
}

func (f *frame) believers() (names []string) {
	for i, b := range f.believes {
		if b {
			names = append(names, f.r.Clients[i])
		}
	}
	return names
}

// owners are the clients with a record on enough masters that are up.
func (f *frame) owners(s *trace.State) (names []string) {
	counts := map[int]int{}
	for _, i := range s.Primary {
		if rec := s.LockRecord(i); rec != nil && s.Nodes[i].Up && rec.Owner != trace.Nobody {
			counts[rec.Owner.Client]++
		}
	}
	for client, n := range counts {
		if n >= f.r.Need {
			names = append(names, f.r.Clients[client])
		}
	}
	return names
}

// banner is what is wrong with the sentence of the holders.
func (f *frame) banner(s *trace.State) (problems []string) {
	said, names, owners := f.r.Holders(s), f.believers(), f.owners(s)
	switch len(names) {
	case 0:
		if !strings.HasPrefix(said, "No client ") && !strings.HasPrefix(said, "No live client ") {
			problems = append(problems, fmt.Sprintf("nobody believes, but: %s", said))
		}
		if said == "No client holds the lock." && len(owners) > 0 {
			problems = append(problems, fmt.Sprintf("Redis has %s's record, but: %s", owners, said))
		}
	case 1:
		threw := s.Clients[slices.Index(f.r.Clients, names[0])].Threw && strings.HasPrefix(said, names[0]+"'s work has failed")
		if !threw && !strings.HasPrefix(said, names[0]+" holds") && !strings.HasPrefix(said, names[0]+" thinks") {
			problems = append(problems, fmt.Sprintf("%s believes, but: %s", names[0], said))
		}
		if holds := strings.HasPrefix(said, names[0]+" holds"); holds && !slices.Contains(owners, names[0]) {
			problems = append(problems, fmt.Sprintf("Redis has the record of %s, but: %s", owners, said))
		}
	default:
		for _, name := range names {
			if !strings.Contains(said, name) || !strings.Contains(said, "believe") {
				problems = append(problems, fmt.Sprintf("%s believe, but: %s", names, said))
			}
		}
	}
	if strings.Contains(said, "no record of it") && len(owners) > 0 {
		problems = append(problems, fmt.Sprintf("Redis has %s's record, but: %s", owners, said))
	}
	return problems
}

// panel is what is wrong with the lines of the state.
func (f *frame) panel(s *trace.State) (problems []string) {
	var names []string
	name := ""
	for i := range s.Clients {
		for n, l := range facts.Client(f.r.Trace, s, i) {
			if n == 0 {
				name = f.r.Clients[i]
			}
			if strings.Contains(textOf(l), "believes;") {
				names = append(names, name)
			}
		}
	}
	if !slices.Equal(names, f.believers()) {
		problems = append(problems, fmt.Sprintf("%s believe, and the panel says %s", f.believers(), names))
	}
	return problems
}

func textOf(l draw.Line) string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// diagram is what is wrong with the cursor's column.
func (f *frame) diagram(s *trace.State) (problems []string) {
	const width, height = 68, 60
	theme := draw.NewTheme(lipgloss.NewRenderer(io.Discard), true, false)
	lanes := PlanLanes(f.r, f.pos, height)
	c := draw.NewCanvas(width+LabelWidth, height, theme.More)
	DrawTimeline(c, draw.Rect(0, 0, width+LabelWidth, height), Scene{Timeline: f.r, Pos: f.pos, Axis: f.axis, Column: f.axis.Cols[f.pos], All: f.axis.Width(), Lanes: lanes, Theme: theme})
	x := LabelWidth + f.axis.Cols[f.pos] - f.axis.Window(f.pos, width)
	for i, l := range lanes {
		at := c.Char(x, AxisRows+i)
		switch {
		case l.kind != laneOwn:
		case l.Kind == timeline.Belief:
			if drawn := at == theme.Bar(l.Index) || at == theme.Lapsed; drawn != f.believes[l.Index] {
				problems = append(problems, fmt.Sprintf("%s believes: %t, and the row of its thoughts has %q", f.r.Clients[l.Index], f.believes[l.Index], at))
			}
		case l.Kind == timeline.Believers:
			want := theme.Wants
			if n := len(f.believers()); n > 0 {
				want = strconv.Itoa(min(n, 9))
			}
			if at != want {
				problems = append(problems, fmt.Sprintf("%s believe, and the strip has %q", f.believers(), at))
			}
		case l.Kind == timeline.Record && s.LockRecord(l.Index) == nil:
			if at == theme.Open || at == theme.Bar(0) || at == theme.Bar(1) {
				problems = append(problems, fmt.Sprintf("%s has no record, and its row has %q", f.r.Nodes[l.Index], at))
			}
		case l.Kind == timeline.Record && at == "":
			problems = append(problems, f.r.Nodes[l.Index]+" has a record, and its row has nothing")
		}
	}
	return problems
}
