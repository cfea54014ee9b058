package pane

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/legend"
	"lockstep/tui/tuitest"
)

func traces() map[string]*trace.Trace {
	return map[string]*trace.Trace{"pause": tuitest.PauseTrace(), "crowd": tuitest.Crowd(3, 5, 700), "empty": tuitest.Crowd(2, 1, 0), "one": tuitest.Crowd(2, 1, 1)}
}

func TestAxisNeverGoesBack(t *testing.T) {
	for name, tr := range traces() {
		r := timeline.New(tr)
		for zoom := -MostZoom; zoom <= MostZoom; zoom++ {
			for _, width := range []int{10, 68, 107, 300} {
				a := newAxis(r, width, zoom)
				for i := range tr.Events {
					if a.Cols[i+1] < a.Cols[i] {
						t.Fatalf("%s, width %d, zoom %d: event %d is left of the one before it", name, width, zoom, i)
					}
				}
			}
		}
	}
}

func TestAxisGivesEveryEventThatMattersItsOwnColumn(t *testing.T) {
	for name, tr := range traces() {
		r := timeline.New(tr)
		a := newAxis(r, 68, 0)
		for i := range tr.Events {
			if r.Matters(i) && a.Cols[i+1] == a.Cols[i] {
				t.Errorf("%s: event %d (%s) shares the column of the one before it", name, i, tr.Events[i].Kind)
			}
		}
	}
}

func TestAxisShowsAShortRunWhole(t *testing.T) {
	r := timeline.New(tuitest.PauseTrace())
	for _, width := range []int{60, 68, 107} {
		if got := newAxis(r, width, 0).Width(); got > width || got < width-2 {
			t.Errorf("%d columns on offer, %d used", width, got)
		}
	}
}

func TestWindowHoldsTheCursor(t *testing.T) {
	for name, tr := range traces() {
		r := timeline.New(tr)
		for zoom := -2; zoom <= 4; zoom++ {
			a, moves := newAxis(r, 68, zoom), map[int]bool{}
			for pos := range r.Moments {
				off := a.Window(pos, 68)
				moves[off] = true
				if x := a.Cols[pos] - off; x < 0 || x >= 68 {
					t.Fatalf("%s, zoom %d: cursor %d is in column %d of 68", name, zoom, pos, x)
				}
			}
			if most := a.Width()/34 + 2; len(moves) > most {
				t.Errorf("%s, zoom %d: the window moved %d times in %d columns", name, zoom, len(moves), a.Width())
			}
		}
	}
}

func TestAxisCompressesLongGaps(t *testing.T) {
	a := newAxis(timeline.New(tuitest.PauseTrace()), 68, 0)
	last := a.gaps[len(a.gaps)-1]
	if !last.Endless || last.Length < 9*365*24*time.Hour {
		t.Errorf("ten years are not marked as a chasm: %+v", last)
	}
}

func TestAtIsTheInverseOfCols(t *testing.T) {
	a := newAxis(timeline.New(tuitest.PauseTrace()), 68, 0)
	for pos := range a.Cols {
		p := a.At(a.Cols[pos])
		if a.Cols[p] != a.Cols[pos] || p < pos {
			t.Errorf("position %d is in column %d, whose last is %d", pos, a.Cols[pos], p)
		}
	}
	if got := a.At(-1); got != 0 {
		t.Errorf("left of everything is position %d", got)
	}
}

// Every mark has a glyph, with and without Unicode.
func TestEveryMarkHasAGlyph(t *testing.T) {
	for m := timeline.NoMark; m < timeline.Marks; m++ {
		for _, ascii := range []bool{false, true} {
			if got := glyphOf(&tuitest.PlainTheme(ascii).Glyphs, m); (draw.Width(got) == 1) != (m != timeline.NoMark) {
				t.Errorf("mark %d is drawn as %q", m, got)
			}
		}
	}
}

// A server's lane marks the commands that meet it down, but not over the word,
// and its failover.
func TestServerLaneMarksFailures(t *testing.T) {
	s := &tuitest.Script{Trace: trace.Trace{Clients: []string{"A"}, Nodes: []string{"n1"}, Key: "lock", Need: 1, Masters: 1, TTL: time.Second}}
	s.Add(trace.KindDown, trace.None, 0)
	for range 12 {
		s.Add(trace.KindUnreachable, 0, 0)
	}
	s.Add(trace.KindUp, trace.None, 0)
	s.Add(trace.KindFailover, trace.None, 0)
	r, th := timeline.New(&s.Trace), tuitest.PlainTheme(true)
	a := newAxis(r, 60, 0)
	c := draw.NewCanvas(60+LabelWidth, AxisRows+1, th.More)
	lanes := []Lane{{Lane: timeline.Lane{Kind: timeline.Record}}}
	DrawTimeline(c, draw.Rect(0, 0, 60+LabelWidth, AxisRows+1), Scene{Timeline: r, Pos: r.Last(), Axis: a, Column: a.Cols[r.Last()], All: a.Width(), Lanes: lanes, Theme: th})
	row := ""
	for x := range 60 + LabelWidth {
		row += c.Char(x, AxisRows)
	}
	for _, want := range []string{" down ", th.Lost, th.Resume, th.Fault} {
		if !strings.Contains(row, want) {
			t.Errorf("no %q in %q", want, row)
		}
	}
}

// A client's name and the word of its row don't run into each other.
func TestLongNames(t *testing.T) {
	for name, want := range map[string]string{"A": " A     does ", "queue": " queue does ", "python": " python     ", "port-53342": " port-53342 "} {
		s := &tuitest.Script{Trace: trace.Trace{Clients: []string{name}, Nodes: []string{"n1"}, Key: "lock", Need: 1, Masters: 1, TTL: time.Second}}
		s.Add(trace.KindAcquire, 0, trace.None)
		r, th := timeline.New(&s.Trace), tuitest.PlainTheme(true)
		a := newAxis(r, 60, 0)
		c := draw.NewCanvas(60+LabelWidth, AxisRows+1, th.More)
		lanes := []Lane{{Lane: timeline.Lane{Kind: timeline.Deeds}}}
		DrawTimeline(c, draw.Rect(0, 0, 60+LabelWidth, AxisRows+1), Scene{Timeline: r, Axis: a, All: a.Width(), Lanes: lanes, Theme: th})
		label := ""
		for x := range LabelWidth {
			label += cmp.Or(c.Char(x, AxisRows), " ")
		}
		if label != want {
			t.Errorf("%q, want %q", label, want)
		}
	}
}

func TestFogHidesTheFuture(t *testing.T) {
	r := timeline.New(tuitest.PauseTrace())
	th := tuitest.PlainTheme(false)
	for pos := range r.Moments {
		c := draw.NewCanvas(80, 14, th.More)
		lanes := PlanLanes(r, pos, 12)
		a := newAxis(r, 80-LabelWidth, 0)
		DrawTimeline(c, draw.Rect(0, 0, 80, 14), Scene{Timeline: r, Pos: pos, Axis: a, Column: a.Cols[pos], All: a.Width(), Lanes: lanes, Theme: th})
		for y := AxisRows; y < 14; y++ {
			row := ""
			for x := LabelWidth + a.Cols[pos] + 1; x < 80; x++ {
				row += c.Char(x, y)
			}
			row = strings.TrimLeft(row, "! DGOVSWR") // a breach is named to the right of where it is
			if row != "" {
				t.Fatalf("position %d, row %d shows the future: %q", pos, y, row)
			}
		}
	}
}

// A wait that is under way is marked as not to scale up to the cursor, as it is when the next event has ended it.
func TestWaitUnderWayIsMarked(t *testing.T) {
	th, marked := tuitest.PlainTheme(false), 0
	r := timeline.New(tuitest.PauseTrace())
	a := newAxis(r, 120-LabelWidth, 0)
	for _, g := range a.gaps {
		c := draw.NewCanvas(120, 20, th.More)
		now := r.When(g.Pos) + g.Length - 1
		DrawTimeline(c, draw.Rect(0, 0, 120, 20), Scene{Timeline: r, Pos: g.Pos, Now: now, Axis: a, Column: g.to, All: a.Width(), Lanes: PlanLanes(r, g.Pos, 20-AxisRows), Theme: th})
		for x := g.from + 1; x < g.to; x++ {
			if got := c.Char(LabelWidth+x, 1); got != th.Gap {
				t.Errorf("position %d, column %d: %q in the middle of a wait of %s", g.Pos, x, got, g.Length)
			}
			marked++
		}
	}
	if marked == 0 {
		t.Error("the run has no wait")
	}
}

// drawnAt draws a run at a position, whole, in a window so wide, and gives the rows as text.
func drawnAt(r *timeline.Timeline, pos, width int, th *draw.Theme) (Drawn, []string) {
	const height = 20
	c := draw.NewCanvas(width, height, th.More)
	lanes := PlanLanes(r, pos, height-AxisRows)
	a := newAxis(r, width-LabelWidth, 0)
	d := DrawTimeline(c, draw.Rect(0, 0, width, height), Scene{Timeline: r, Pos: pos, Axis: a, Column: a.Cols[pos], All: a.Width(), Lanes: lanes, Theme: th})
	var rows []string
	for y := range height {
		row := ""
		for x := range width {
			row += draw.Either(c.Char(x, y) == "", " ", c.Char(x, y))
		}
		rows = append(rows, row)
	}
	return d, rows
}

// An instant that takes several columns has one label.
func TestAxisNamesNoInstantTwice(t *testing.T) {
	r := timeline.New(tuitest.PauseTrace())
	for pos := range r.Moments {
		for _, width := range []int{80, 110, 200} {
			_, rows := drawnAt(r, pos, width, tuitest.PlainTheme(false))
			times := strings.Fields(rows[0])[2:]
			if slices.Sort(times); len(slices.Compact(slices.Clone(times))) < len(times) {
				t.Errorf("position %d, %d columns: %q", pos, width, rows[0])
			}
		}
	}
}

// The axis begins with the label of its first instant, also while the cursor is at a later event of that.
func TestAxisBeginsWithItsFirstInstant(t *testing.T) {
	late := 0
	for _, run := range []*timeline.Timeline{timeline.New(tuitest.PauseTrace()), timeline.New(tuitest.RealRun(t, "get-then-del", "release-gap")), timeline.New(tuitest.RealRun(t, "setnx", "stampede-fallthrough"))} {
		axis := newAxis(run, 200-LabelWidth, 0)
		for pos := 0; pos <= run.Last() && run.When(pos) == 0; pos++ {
			_, rows := drawnAt(run, pos, 200, tuitest.PlainTheme(false))
			if axis.Cols[pos] > 0 {
				late++
			}
			if begin := string([]rune(rows[0])[LabelWidth:]); !strings.HasPrefix(begin, "0s ") {
				t.Errorf("position %d: %q", pos, rows[0])
			}
		}
	}
	if late == 0 {
		t.Error("no event is to the right of the beginning and at its instant")
	}
}

// What a record's row says of its expiry is true at each instant that the words stand for: up to
// the next sign of another expiry.
func TestRecordLabelIsTrueWhereItStands(t *testing.T) {
	r := timeline.New(tuitest.ExpiryTrace())
	seen := map[string]bool{}
	for pos := range r.Moments {
		for width := 70; width < 200; width += testenv.Quick(5, 1) {
			_, rows := drawnAt(r, pos, width, tuitest.PlainTheme(false))
			i := slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row[:LabelWidth], "redis") })
			axis, row, from := newAxis(r, width-LabelWidth, 0), []rune(rows[i])[LabelWidth:], 0
			for x := 1; x <= len(row); x++ {
				if x < len(row) && row[x] != '»' && row[x] != '[' {
					continue
				}
				for _, n := range []time.Duration{0, 10_003 * time.Millisecond, 24 * time.Second, trace.Never} {
					label := timeline.Bar{Expires: n}.Expiry()
					if !strings.Contains(string(row[from:x]), label) {
						continue
					}
					seen[label] = true
					for at := from; at < min(x, axis.Cols[pos]+1); at++ {
						if m := r.Moments[min(axis.At(at), pos)].Nodes[0]; m.Present && m.Expires != n {
							t.Fatalf("position %d, %d columns: column %d has a record that expires at %v: %s", pos, width, at, m.Expires, string(row))
						}
					}
				}
				from = x
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("rows said %v", seen)
	}
}

// The legend explains what is drawn as a sign, and no letter of a label: in ASCII many look alike.
func TestLegendKnowsSignsFromLetters(t *testing.T) {
	r := timeline.New(tuitest.PauseTrace())
	for _, ascii := range []bool{false, true} {
		th := tuitest.PlainTheme(ascii)
		for pos := range r.Moments {
			d, _ := drawnAt(r, pos, 120, th)
			text := ""
			for _, s := range d.signsOf(&th.Glyphs) {
				text += " " + s[0] + " " + s[1]
			}
			resumed := slices.ContainsFunc(r.Events[:pos], func(e trace.Event) bool { return e.Kind == trace.KindResume })
			for _, claim := range []struct {
				words string
				holds bool
			}{{"clock jumps", false}, {"a server is down", false}, {"is back", resumed}, {"time passes", false}} {
				if strings.Contains(text, claim.words) != claim.holds {
					t.Errorf("position %d, ASCII %v: %q is %v in %q", pos, ascii, claim.words, !claim.holds, text)
				}
			}
		}
	}
}

// The help explains every sign that a diagram has; the axis and the names beside the rows explain themselves.
func TestHelpExplainsWhatIsDrawn(t *testing.T) {
	th := tuitest.PlainTheme(false)
	for _, tr := range []*trace.Trace{tuitest.PauseTrace(), tuitest.Crowd(3, 5, 300), tuitest.EndlessTrace(), tuitest.ExpiryTrace()} {
		r := timeline.New(tr)
		explained := th.Ruler + th.Tick + "(=, ./)"
		for _, s := range Legend(&th.Glyphs, r) {
			explained += s[0]
		}
		for pos := range r.Moments {
			if !testenv.Sampled(pos, 3) {
				continue
			}
			_, rows := drawnAt(r, pos, 200, th)
			for _, char := range strings.Join(rows, "") {
				if !unicode.IsLetter(char) && !unicode.IsDigit(char) && !strings.ContainsRune(explained, char) {
					t.Fatalf("%s, position %d: nothing explains %q in\n%s", r.Scenario, pos, char, strings.Join(rows, "\n"))
				}
			}
		}
	}
}

// Where there is room, the legend has every sign that is on the screen, those around bars and marks as well, and never
// one that isn't there. Where there is little, it has first what the run is there to show.
func TestLegendHasWhatIsOnTheScreen(t *testing.T) {
	th := tuitest.PlainTheme(false)
	words := map[string]bool{}
	for _, r := range []*timeline.Timeline{timeline.New(tuitest.PauseTrace()), timeline.New(tuitest.EndlessTrace())} {
		for pos := range r.Moments {
			d, rows := drawnAt(r, pos, 160, th)
			_, l, others := d.Legend(th, 0, 2000)
			if len(others) > 0 {
				t.Fatalf("position %d: no room for %v", pos, others)
			}
			rows = slices.DeleteFunc(rows, func(row string) bool { return strings.HasPrefix(row, " believers") }) // there a dot is nobody
			line, screen := tuitest.LineText(l), strings.Join(rows, "\n")
			for _, s := range append(legend.Lanes(&th.Glyphs), legend.Frame(&th.Glyphs)...) {
				if s[0] == th.Awake || s[0] == th.Fault || s[0] == th.Refused {
					continue
				}
				drawn := slices.ContainsFunc(strings.Fields(s[0]), func(g string) bool { return strings.Contains(screen, g) })
				brief, _, _ := strings.Cut(s[1], ": ")
				if said := strings.Contains(line, s[0]+" "+brief); said != (drawn && !d.worded[s[0]]) {
					t.Errorf("position %d: the legend has %q: %v; the screen has it: %v\n%s\n%s", pos, s, said, drawn, line, screen)
				}
				words[s[1]] = words[s[1]] || drawn
			}
		}
	}
	for _, must := range []string{"violation: it breaks a property; the worst code first", "time passes, not to scale", "very much time passes", "joins the rows of the last event"} {
		if !words[must] {
			t.Errorf("no screen had what %q explains", must)
		}
	}
	r := timeline.New(tuitest.PauseTrace())
	d, _ := drawnAt(r, r.Breaches[len(r.Breaches)-1].Pos, 120, th)
	if _, l, _ := d.Legend(th, 0, 24); !strings.Contains(tuitest.LineText(l), th.Bad+" violation") {
		t.Errorf("in few columns the legend has %q", tuitest.LineText(l))
	}
}

// The glyph of a pause is explained by what stands still on the screen: an exception that has ended a client's work is no pause.
func TestLegendTellsAnEndFromAPause(t *testing.T) {
	cells := scenarios.Part(1, func(s *scenarios.Scenario, st strategies.Strategy) bool {
		return s.Name == "no-finally" && st.Name == "setpx-lua"
	})
	th, r := tuitest.PlainTheme(false), timeline.New(cells[0].Trace)
	said := 0
	for pos := range r.Moments {
		d, _ := drawnAt(r, pos, 100, th)
		_, l, _ := d.Legend(th, 0, 2000)
		legend := tuitest.LineText(l)
		if strings.Contains(legend, "paused") {
			t.Fatalf("position %d: nobody is paused, and the legend says %q", pos, legend)
		}
		if strings.Contains(legend, th.Paused+" ended by an exception") {
			said++
		}
	}
	if said == 0 {
		t.Error("no legend has it")
	}
}

// Where the legend hasn't room for all signs it leaves out those that have been in the picture the longest: a reader knows them.
func TestLegendHasWhatCameLast(t *testing.T) {
	th, r := tuitest.PlainTheme(false), timeline.New(tuitest.PauseTrace())
	left := 0
	for pos := range r.Moments {
		d, _ := drawnAt(r, pos, 120, th)
		_, l, others := d.Legend(th, 0, 60)
		legend, latest := tuitest.LineText(l), 0
		for _, s := range d.unworded(&th.Glyphs) {
			latest = max(latest, d.since[s[0]])
		}
		for _, s := range others {
			left++
			if s[0] != th.Reject && s[0] != th.Bad && d.since[s[0]] == latest {
				t.Errorf("position %d: %q has come last, and the legend is %q", pos, s, legend)
			}
		}
	}
	if left == 0 {
		t.Error("there was room for all signs")
	}
}

// A sign with several meanings has, for each of them that is drawn, an entry of its own, and no other: all faults
// have one sign, and so have a refusal and the wait after it. Any other sign has one meaning.
func TestLegendTellsFaultsApart(t *testing.T) {
	for _, c := range []struct {
		kind         trace.Kind
		client, node int
		words        string
	}{
		{trace.KindUpdate, trace.None, trace.None, "new version"},
		{trace.KindNodeStep, trace.None, 0, "clock jumps"},
		{trace.KindExit, 0, trace.None, "told to exit"},
		{trace.KindStray, trace.None, 0, "written from outside"},
		{trace.KindRefused, 0, trace.None, "refused"}, // and nobody says that it asks again
		{trace.KindReleaseFailed, 0, trace.None, "fails"},
		{trace.KindTimeout, 0, trace.None, "timeout"},
		{trace.KindLost, 0, trace.None, "lost"},
		{trace.KindDisconnect, 0, trace.None, "lost"},
		{trace.KindResume, 0, trace.None, "is back"},
		{trace.KindUp, trace.None, 0, "is back"}, // perhaps empty: it goes on with nothing
	} {
		s := &tuitest.Script{Trace: trace.Trace{Key: "lock", Clients: []string{"A"}, Nodes: []string{"n1"}, Masters: 1, Need: 1, TTL: 10 * time.Second}}
		s.Add(c.kind, c.client, c.node)
		r := timeline.New(&s.Trace)
		for _, ascii := range []bool{false, true} {
			th := tuitest.PlainTheme(ascii)
			d, rows := drawnAt(r, 1, 120, th)
			l, _ := draw.SignRow(d.signsOf(&th.Glyphs), 120)
			if text, want := strings.TrimSpace(tuitest.LineText(l)), glyphOf(&th.Glyphs, r.Mark(r.Event(1)))+" "+c.words; text != want {
				t.Errorf("%v: the legend is %q, want %q\n%s", c.kind, text, want, strings.Join(rows, "\n"))
			}
		}
	}
	none := timeline.New(&trace.Trace{})
	for kind := range trace.Kind(trace.Kinds) {
		m := none.Mark(&trace.Event{Kind: kind, Phase: trace.PhaseAcquire})
		if is := m == timeline.Jumps || m == timeline.Refused || m == timeline.Retries; is != (legend.Meaning(kind) != "") {
			t.Errorf("%v: has a mark with several meanings: %v, and the meaning %q", kind, is, legend.Meaning(kind))
		}
	}
}

// A gap that no width could draw has its sign at every width: also before the last deeds of the probe,
// which have little room.
func TestEndlessGapHasItsSign(t *testing.T) {
	r := timeline.New(tuitest.EndlessTrace())
	i := slices.IndexFunc(r.Gaps, func(g timeline.Gap) bool { return g.Endless })
	for width := 70; width < 200; width++ {
		th := tuitest.PlainTheme(false)
		axis := newAxis(r, width-LabelWidth, 0)
		_, rows := drawnAt(r, r.Last(), width, th)
		from, to := axis.Cols[r.Gaps[i].Pos], axis.Cols[r.Gaps[i].Pos+1]
		if ruler := []rune(rows[1])[LabelWidth:]; to <= len(ruler) && !strings.Contains(string(ruler[from:to]), th.Chasm) {
			t.Errorf("%d columns: there is no %s from %d to %d in\n%s\n%s", width, th.Chasm, from, to, rows[0], rows[1])
		}
	}
}

// The length that a gap is labelled with is the difference of the instants that stand beside it.
func TestGapsFitTheTimesBesideThem(t *testing.T) {
	th := tuitest.PlainTheme(false)
	labelled := 0
	for _, run := range []*timeline.Timeline{timeline.New(tuitest.RealRun(t, "naive-del", "pause-past-ttl")), timeline.New(tuitest.RealRun(t, "setpx-lua", "pause-past-ttl")), timeline.New(tuitest.PauseTrace())} {
		for _, width := range []int{68, 108, 188} {
			a := newAxis(run, width, 0)
			for pos := range run.Moments {
				c := draw.NewCanvas(width+LabelWidth, AxisRows+1, "~")
				DrawTimeline(c, draw.Rect(0, 0, width+LabelWidth, AxisRows+1), Scene{Timeline: run, Pos: pos, Axis: a, Column: a.Cols[pos], All: a.Width(), Theme: th})
				times := words(c, 0, width)
				for x, text := range words(c, 1, width) {
					length, err := time.ParseDuration(text)
					if err != nil { // the ruler, or years
						continue
					}
					labelled++
					left, right := -1, width
					for at := range times {
						if at < x {
							left = max(left, at)
						} else {
							right = min(right, at)
						}
					}
					from, _ := time.ParseDuration(times[left])
					to, err := time.ParseDuration(times[right])
					if err != nil || to-from != length {
						t.Errorf("%s, %d columns, event %d: %s between %s and %s", run.Strategy, width, pos, text, times[left], times[right])
					}
				}
			}
		}
	}
	if labelled == 0 {
		t.Error("no gap is labelled")
	}
}

// words are the words of a row of a plot, by their first columns.
func words(c *draw.Canvas, y, width int) map[int]string {
	all, from := map[int]string{}, -1
	for x := range width + 1 {
		switch s := c.Char(x+LabelWidth, y); {
		case x == width || s == "" || s == " ":
			from = -1
		default:
			if from < 0 {
				from = x
			}
			all[from] += s
		}
	}
	return all
}

// A run that has ended fills the columns that its pane has, however few events it is of; one that goes on doesn't.
func TestEndedRunFillsItsPane(t *testing.T) {
	whole := timeline.New(tuitest.RealRun(t, "naive-del", "contention"))
	part := *whole.Trace
	part.Events = part.Events[:12]
	going := timeline.New(&part)
	for _, width := range []int{68, 108, 188} {
		if got := newAxis(whole, width, 0).Width(); got < width-2 || got > width {
			t.Errorf("%d of %d columns are used", got, width)
		}
		if got := newAxis(going, width, 0).Width(); width == 188 && got > width/2 {
			t.Errorf("a run that goes on takes %d of %d columns", got, width)
		}
	}
}

// The instants above the plot stay from frame to frame, whether evidence is numbered or not: none that is well left of the cursor
// was absent in the frame before, so that none takes turns with its neighbour.
func TestInstantsStay(t *testing.T) {
	tr := tuitest.PauseTrace()
	expires := slices.IndexFunc(tr.Events, func(e trace.Event) bool { return e.Kind == trace.KindExpire }) // beside the lease's end
	tr.Violations[0].Events = append([]int{tr.Events[expires].Seq}, tr.Violations[0].Last())
	r := timeline.New(tr)
	th := tuitest.PlainTheme(false)
	const width, height, near = 100, 20, 10
	a := newAxis(r, width-LabelWidth, 0)
	before := ""
	for pos := range r.Moments {
		for _, lit := range append([]timeline.Breach{{Violation: &trace.Violation{}}}, r.Breaches...) {
			if lit.Pos > pos {
				continue
			}
			c := draw.NewCanvas(width, height, th.More)
			DrawTimeline(c, draw.Rect(0, 0, width, height), Scene{Timeline: r, Pos: pos, Axis: a, Column: a.Cols[pos], All: a.Width(), Lanes: PlanLanes(r, pos, height-AxisRows), Theme: th, Lit: lit.Events})
			row := ""
			for x := range width {
				row += draw.Either(c.Char(x, 0) == "", " ", c.Char(x, 0))
			}
			old := max(LabelWidth+a.Cols[max(pos-1, 0)]-near, 0)
			for at, label := range strings.Fields(row[:old]) {
				if end := strings.LastIndex(row[:old], " "); at+1 < len(strings.Fields(row[:end])) && before != "" && !strings.Contains(before[:old+near]+" ", " "+label+" ") {
					t.Errorf("position %d: %q, and before %q", pos, row, before)
				}
			}
			before = row
		}
	}
}

// The cursor is on the ruler at every instant, also at one that is highlighted: the number of that event stands beside it.
func TestCursorStaysBesideNumbers(t *testing.T) {
	r := timeline.New(tuitest.PauseTrace())
	th := tuitest.PlainTheme(false)
	const width, height = 100, 20
	a := newAxis(r, width-LabelWidth, 0)
	for pos := range r.Moments {
		if pos == 0 {
			continue
		}
		c := draw.NewCanvas(width, height, th.More)
		DrawTimeline(c, draw.Rect(0, 0, width, height), Scene{Timeline: r, Pos: pos, Axis: a, Column: a.Cols[pos], All: a.Width(), Lanes: PlanLanes(r, pos, height-AxisRows), Theme: th, Lit: []int{r.Events[pos-1].Seq}})
		x := LabelWidth + a.Cols[pos]
		if c.Char(x, 1) != th.Here || c.Char(x+1, 1) != "1" && c.Char(x-1, 1) != "1" {
			t.Errorf("at %d the ruler has %q at the cursor, between %q and %q", pos, c.Char(x, 1), c.Char(x-1, 1), c.Char(x+1, 1))
		}
	}
}

// The instant above the beginning of a record is that of the command which stores it, and not of the reply that follows unseen in
// its column.
func TestRecordsBeginAtTheInstantAbove(t *testing.T) {
	run, changes, seen := timeline.New(tuitest.RealRun(t, "naive-del", "late-release")), map[string]bool{}, 0
	for _, e := range run.Events {
		changes[trace.Brief(e.At)] = changes[trace.Brief(e.At)] || len(e.Changes) > 0
	}
	for width := 60; width <= 200; width += testenv.Quick(35, 10) {
		for pos := range run.Last() {
			_, rows := drawnAt(run, pos, width, tuitest.PlainTheme(false))
			redis := []rune(rows[slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, "n1") })])
			for x, sign := range []rune(rows[1]) {
				if label, _, _ := strings.Cut(string([]rune(rows[0])[x:]), " "); sign == '┼' && redis[x] == '[' {
					if seen++; !changes[label] {
						t.Fatalf("%d columns, position %d: %s\n%s", width, pos, label, strings.Join(rows, "\n"))
					}
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no record begins below an instant")
	}
}
