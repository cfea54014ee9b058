package search

import (
	"fmt"
	"strings"
	"time"

	"lockstep/sim/explore"
	"lockstep/sim/explore/report"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// searchLayout says where the parts of the search are.
type searchLayout struct {
	bounds, result draw.Rectangle
	first          int // of the settings in sight
	rules          []draw.Rectangle
	wall           draw.Rectangle
}

// settingsWidth fits the longest setting with its value.
const settingsWidth = 34

func arrangeSearch(w, h int) searchLayout {
	body := draw.Rect(0, 2, w, h-draw.FrameRows)
	return searchLayout{
		bounds: draw.Rect(0, body.Y, settingsWidth, body.H),
		wall:   draw.Rect(settingsWidth, body.Y, 1, body.H),
		result: draw.Rect(settingsWidth+2, body.Y, min(w-settingsWidth-3, draw.LongestLine), body.H),
		rules:  []draw.Rectangle{draw.Rect(0, 1, w, 1), draw.Rect(0, h-2, w, 1)},
	}
}

// Draw draws the bounds on the left, and the results on the right.
func (m *Search) Draw(c *draw.Canvas, r draw.Rectangle) {
	first := m.plan.first
	m.plan = arrangeSearch(r.W, r.H+1)
	m.plan.first = draw.InSight(first, m.row, m.plan.bounds.H, len(m.settings))
	for _, rule := range m.plan.rules {
		c.Fill(rule, m.Theme.Rule, draw.Dim)
	}
	c.Fill(m.plan.wall, m.Theme.Wall, draw.Dim)
	m.drawHeader(c, draw.Rect(0, 0, r.W, 1))
	m.drawBounds(c, m.plan.bounds)
	lines := m.resultLines(m.plan.result.W)
	beyond := max(len(lines)-m.plan.result.H, 0)
	m.scroll, m.overflows = min(m.scroll, beyond), beyond > 0
	c.Lines(m.plan.result, lines, m.scroll)
}

func (m *Search) drawHeader(c *draw.Canvas, r draw.Rectangle) {
	n := c.Text(r.X+1, r.Y, r.W-1, "All schedules", draw.Title)
	n += c.Text(r.X+1+n, r.Y, r.W-1-n, "  of ", draw.Dim)
	n += c.Text(r.X+1+n, r.Y, r.W-1-n, m.bounds.Strategy.Name, draw.Title)
	c.Text(r.X+1+n, r.Y, r.W-1-n, "   "+m.notice, draw.Strong)
}

func (m *Search) drawBounds(c *draw.Canvas, r draw.Rectangle) {
	const names = 16
	for i := range r.H {
		n := m.plan.first + i
		if n >= len(m.settings) {
			return
		}
		s := m.settings[n]
		mark, k := "   ", draw.Plain
		if n == m.row && !m.results {
			mark, k = " "+m.Theme.Pointer+" ", draw.Pick
		}
		c.Line(r.X, r.Y+i, r.W, draw.Line{draw.Text(mark, draw.Here), draw.Text(draw.Pad(s.name, names), draw.Dim), draw.Text(s.value(), k)})
	}
}

// resultLines describes the last search, and records the lines of its findings.
func (m *Search) resultLines(width int) []draw.Line {
	t := draw.Paragraphs{Width: width}
	m.places = m.places[:0]
	switch {
	case m.running:
		m.tellProgress(&t)
	case m.failed != nil:
		t.Add(draw.Breach, "", "The search has ended with an error:")
		for _, s := range strings.Split(m.failed.Error(), "\n") {
			t.Add(draw.Plain, "", s)
		}
	case m.result != nil:
		m.tellResult(&t)
	case m.refused != nil:
		t.Add(draw.Breach, "", "These bounds make no sense:")
		t.Add(draw.Plain, "", m.refused.Error()+".")
	default:
		t.Add(draw.Strong, "", m.Keys.Enter.Help().Key+" searches every schedule within these bounds.")
		t.Gap()
		t.Add(draw.Plain, "", "Any client that can act may act next, time may pass over those that could (that is a pause), and no schedule has more faults of a kind than these.")
		t.Gap()
		t.Add(draw.Plain, "", "A violation that occurs in no schedule is proven impossible, within the bounds. One that occurs is shown by the least schedule that has it.")
	}
	if m.refused != nil && m.result != nil {
		t.Gap()
		t.Add(draw.Breach, "", "The bounds as they stand now make no sense: "+m.refused.Error()+".")
	}
	return t.Lines
}

func (m *Search) tellProgress(t *draw.Paragraphs) {
	p := &m.progress
	text := "Searching, for " + seconds(p.elapsed) + "."
	switch {
	case m.stopping:
		text = "Stopping. The findings so far are being prepared."
	case p.of.Concluding:
		text = "Searched. Now for the least of the schedules that break the lock."
	}
	t.Add(draw.Strong, "", text)
	t.Gap()
	rows := [][2]string{{"states", count3(p.of.States)}, {"choices", count3(p.of.Transitions)}, {"choices deep", count3(int64(p.of.Depth))}}
	if !p.of.Concluding {
		rows = append(rows, [2]string{"a second", rate(p.of.States, p.elapsed) + " states"},
			[2]string{"to follow yet", count3(int64(p.of.Frontier)) + " states"}, [2]string{"memory", count3(int64(p.of.Bytes)>>20) + " MiB"})
	}
	for _, row := range rows {
		t.Lines = append(t.Lines, draw.Line{draw.Text(fmt.Sprintf(" %-14s", row[0]), draw.Dim), draw.Text(fmt.Sprintf("%14s", row[1]), draw.Plain)})
	}
}

func (m *Search) tellResult(t *draw.Paragraphs) {
	r := m.result
	if m.terms() != m.asked {
		t.Add(draw.Alarm, "", "The bounds have changed: "+m.Keys.Enter.Help().Key+" searches these. The findings below are those within the previous bounds.")
		t.Gap()
	}
	if r.Complete {
		t.Add(draw.Strong, "", "Complete: every schedule within the bounds, in "+seconds(m.took)+".")
	} else {
		t.Add(draw.Alarm, "", "Not complete: "+r.Why+", after "+seconds(m.took)+". Covered is what "+draw.Plural(r.Depth, "choice")+" can lead to.")
	}
	t.Add(draw.Dim, "", screen.BoundsText(&r.Bounds)+".")
	t.Gap()
	for _, c := range r.Bounds.Sought() {
		m.tellCode(t, c)
	}
	t.Gap()
	t.Add(draw.Plain, "", fmt.Sprintf("%s states, %s choices followed. Redis executed %s commands, clients %s operations; all else was remembered.",
		count3(r.States), count3(r.Transitions), count3(int64(r.Commands)), count3(int64(r.Operations))))
	if text := nearWords(&r.Near); text != "" {
		t.Add(draw.Plain, "", "Near misses, over all choices: "+text+".")
	}
	for _, s := range vacuityWords(&r.Vacuity) {
		t.Add(s.Ink, "", s.Text)
	}
	t.Gap()
	t.Add(draw.Dim, "", "In no schedule: "+r.Bounds.Outside()+".")
}

// tellCode gives the result for one code.
func (m *Search) tellCode(t *draw.Paragraphs, c trace.Code) {
	g := &m.Theme.Glyphs
	name := fmt.Sprintf(" %-3s %s", c, c.Name())
	say := func(k draw.Ink, text string) { t.Lines = append(t.Lines, draw.Line{draw.Text(" "+text, k)}) }
	f := report.Of(m.result, c)
	v := f.Least
	switch {
	case f.Outcome == report.Holds:
		say(draw.Good, g.Granted+name+": never")
		if f.Untested {
			t.Add(draw.Dim, "      ", "which is not put to the test: no lease was extended")
		}
		return
	case f.Outcome == report.Open:
		say(draw.Plain, "?"+name+": not found so far")
		return
	case v == nil:
		say(draw.Breach, g.Bad+name+": some schedule does it")
		t.Add(draw.Plain, "      ", "There was no time to find the least.")
		return
	}
	k, mark := draw.Breach, ""
	if m.results && m.finding == len(m.places) {
		k, mark = draw.Pick, "  "+g.Pointer
	}
	m.places = append(m.places, len(t.Lines))
	t.Lines = append(t.Lines, draw.Line{draw.Text(" ", draw.Plain), draw.Text(g.Bad+name, k), draw.Text(mark, draw.Here)})
	t.Add(draw.Plain, "      ", "least: "+screen.CostText(explore.Cost{Faults: len(v.Faults), Switches: v.Switches, Steps: v.Steps}))
	for _, f := range v.Faults {
		note := ""
		switch {
		case f.Replaced:
			note = " (without that, another fault takes its place)"
		case !f.Essential:
			note = " (it breaks without that, too)"
		}
		t.Add(draw.Dim, "      ", f.Text+note)
	}
	if v.Within != nil {
		t.Add(draw.Dim, "      ", "least within smaller bounds: there was no time for these")
	}
}

func nearWords(n *explore.NearMisses) string {
	var parts []string
	for _, p := range []struct {
		n    int64
		text string
	}{
		{n.Refused, "%s times Acquire was told no"}, {n.Compared, "%s times a release found another's token, or none"},
		{n.NotHeld, "%s releases said that the lock was lost"}, {n.Fenced, "%s accesses were refused by the fence"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf(p.text, count3(p.n)))
		}
	}
	return strings.Join(parts, ", ")
}

// vacuityWords says whether a search that finds nothing means anything.
func vacuityWords(v *explore.Vacuity) []draw.Span {
	said := []draw.Span{draw.Text("Not vacuous: some schedule takes the lock, gives it back, and takes it again.", draw.Plain)}
	if !v.Reacquired {
		said = []draw.Span{draw.Text("Vacuous: even with nothing going wrong the lock is never acquired, released, and acquired again. That nothing was found means little.", draw.Breach)}
	}
	var unused []string
	for _, k := range v.Unused {
		unused = append(unused, k.String())
	}
	if unused != nil {
		said = append(said, draw.Text("No schedule had a use for: "+strings.Join(unused, ", ")+".", draw.Breach))
	}
	return said
}

// count3 groups digits by threes.
func count3(n int64) string {
	s := fmt.Sprintf("%d", n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// seconds is how long the reader has waited, no more exactly than that matters.
func seconds(d time.Duration) string {
	if d < time.Second {
		return trace.Brief(d.Round(time.Millisecond))
	}
	return trace.Brief(d.Round(100 * time.Millisecond))
}

func rate(n int64, d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return count3(int64(float64(n) / d.Seconds()))
}
