package search

import (
	"fmt"
	"slices"
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
		result: draw.Rect(settingsWidth+2, body.Y, min(w-settingsWidth-3, draw.WidestLine), body.H),
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
	m.drawNotice(c, m.plan.rules[1])
	m.drawBounds(c, m.plan.bounds)
	lines := m.resultLines(m.plan.result.W)
	beyond := max(len(lines)-m.plan.result.H, 0)
	m.scroll, m.overflows = min(m.scroll, beyond), beyond > 0
	c.Lines(m.plan.result, lines, m.scroll)
}

func (m *Search) drawHeader(c *draw.Canvas, r draw.Rectangle) {
	n := c.Text(r.X+1, r.Y, r.W-1, "All schedules", draw.Title)
	n += c.Text(r.X+1+n, r.Y, r.W-1-n, " of ", draw.Dim)
	c.Text(r.X+1+n, r.Y, r.W-1-n, m.bounds.Strategy.Name, draw.Title)
}

// drawNotice says what has come of the last key, where the runs say it: on the rule above the footer.
func (m *Search) drawNotice(c *draw.Canvas, rule draw.Rectangle) {
	if m.notice != "" {
		c.Line(rule.X+1, rule.Y, rule.W-2, draw.Line{draw.Text(" "+m.notice+" ", draw.Strong)}.Fitted(rule.W-2, m.Theme.More))
	}
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
		m.tellRun(&t)
		t.Add(draw.Strong, "", m.Keys.Enter.Help().Key+" searches every schedule within these bounds.")
		t.Gap()
		t.Add(draw.Plain, "", "Any client that can act may act next, time may pass over those that could (that is a pause), and no schedule has more faults of a kind than these.")
		t.Gap()
		t.Add(draw.Plain, "", "What it doesn't find can't happen within these bounds, at the instants and for the values that the result names. What it finds is shown by the least schedule that it came to. A search that is cut off says what it leaves undecided.")
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
		text = "Stopping, within seconds: the least schedule of each violation found so far is still looked for."
	case p.of.Doubting:
		text = "Every schedule has been searched. Now random schedules doubt what seems to hold."
	case p.of.Concluding:
		text = "Every schedule has been searched. Now the least schedule of each violation is looked for."
	}
	t.Add(draw.Strong, "", text)
	t.Gap()
	rows := [][2]string{{"states", report.Grouped(p.of.States)}, {"choices", report.Grouped(p.of.Transitions)}, {"depth, choices", report.Grouped(int64(p.of.Depth))}}
	if !p.of.Concluding {
		rows = append(rows, [2]string{"a second", rate(p.of.States, p.elapsed) + " states"},
			[2]string{"to follow", report.Grouped(int64(p.of.Frontier)) + " states"}, [2]string{"memory", report.Grouped(int64(p.of.Bytes)>>20) + " MiB"})
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
	m.tellRun(t)
	t.Add(draw.Strong, "", r.Bounds.Strategy.Name+": "+r.Summary()+".")
	t.Add(draw.Dim, "", screen.BoundsText(&r.Bounds)+".")
	m.tellFindings(t, r.Findings())
	if left := leftOut(&r.Bounds); left != "" {
		t.Gap()
		t.Add(draw.Dim, "", left)
	}
	t.Gap()
	items := append([]report.Item{report.Covered(r)}, report.Bounds(&r.Bounds)...)
	m.tellItems(t, draw.Dim, items)
	t.Gap()
	m.tellItems(t, draw.Plain, slices.Concat([]report.Item{{Label: "took", Text: seconds(m.took)}}, report.Effort(r), []report.Item{report.Code(r)}))
	ink := draw.Plain
	if !r.Vacuity.Reacquired || len(r.Vacuity.Unused) > 0 {
		ink = draw.Breach
	}
	m.tellItems(t, ink, report.Worth(r))
}

// leftOut names the codes that no search looks for, where a reader might take everything for all there are.
func leftOut(b *explore.Bounds) string {
	if len(b.Codes) > 0 {
		return ""
	}
	var names []string
	for _, c := range trace.Codes {
		if sought := b.Sought(); !slices.Contains(sought, c) {
			names = append(names, c.String()+" ("+c.Name()+")")
		}
	}
	return "Not looked for, and seen only in runs: " + trace.List(names) + "."
}

// tellItems sets statements with their labels: the same as those of lockstep explore, so
// that no view has bounds that another lacks. An entry of a list has lines of its own; short statements that follow one another share a line.
func (m *Search) tellItems(t *draw.Paragraphs, k draw.Ink, items []report.Item) {
	line := "" // of short statements
	set := func() {
		if line != "" {
			t.Add(k, "", line)
		}
		line = ""
	}
	for _, i := range items {
		for _, text := range strings.Split(i.Label+": "+i.Text+".", "\n") {
			entry, listed := strings.CutPrefix(text, "- ")
			switch both := line + "  " + text; {
			case !listed && line != "" && draw.Width(both) < t.Width:
				line = both
				continue
			case !listed && !strings.Contains(i.Text, "\n"):
				set()
				line = text
				continue
			}
			set()
			t.Add(k, draw.Either(listed, "- ", ""), entry)
		}
	}
	set()
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
	return report.Grouped(int64(float64(n) / d.Seconds()))
}
