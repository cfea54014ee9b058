package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore"
)

// searchLayout says where the parts of the search are.
type searchLayout struct {
	bounds, result rect
	first          int // of the settings in sight
	rules          []rect
	wall           rect
}

// settingsWidth is room for the longest setting with its value.
const settingsWidth = 34

func arrangeSearch(w, h int) searchLayout {
	body := rect{0, 2, w, h - frameRows}
	return searchLayout{
		bounds: rect{0, body.y, settingsWidth, body.h},
		wall:   rect{settingsWidth, body.y, 1, body.h},
		result: rect{settingsWidth + 2, body.y, min(w-settingsWidth-3, longestLine), body.h},
		rules:  []rect{{0, 1, w, 1}, {0, h - 2, w, 1}},
	}
}

func (m *searcher) draw(c *canvas, r rect) {
	first := m.plan.first
	m.plan = arrangeSearch(r.w, r.h+1)
	m.plan.first = inSight(first, m.row, m.plan.bounds.h, len(m.settings))
	for _, rule := range m.plan.rules {
		c.fill(rule, m.theme.rule, inkDim)
	}
	c.fill(m.plan.wall, m.theme.wall, inkDim)
	m.drawHeader(c, rect{0, 0, r.w, 1})
	m.drawBounds(c, m.plan.bounds)
	lines := m.resultLines(m.plan.result.w)
	beyond := max(len(lines)-m.plan.result.h, 0)
	m.scroll, m.overflows = min(m.scroll, beyond), beyond > 0
	c.lines(m.plan.result, lines, m.scroll)
}

func (m *searcher) drawHeader(c *canvas, r rect) {
	n := c.text(r.x+1, r.y, r.w-1, "All schedules", inkTitle)
	n += c.text(r.x+1+n, r.y, r.w-1-n, "  of ", inkDim)
	n += c.text(r.x+1+n, r.y, r.w-1-n, m.bounds.Strategy.Name, inkTitle)
	c.text(r.x+1+n, r.y, r.w-1-n, "   "+m.notice, inkStrong)
}

func (m *searcher) drawBounds(c *canvas, r rect) {
	const names = 16
	for i := range r.h {
		n := m.plan.first + i
		if n >= len(m.settings) {
			return
		}
		s := m.settings[n]
		mark, k := "   ", inkPlain
		if n == m.row && !m.results {
			mark, k = " "+m.theme.pointer+" ", inkPick
		}
		c.line(r.x, r.y+i, r.w, line{{mark, inkHere}, {padded(s.name, names), inkDim}, {s.value(), k}})
	}
}

// resultLines is what there is to say of the last search, and notes where its
// findings stand.
func (m *searcher) resultLines(width int) []line {
	t := teller{width: width}
	m.places = m.places[:0]
	switch {
	case m.running:
		m.tellProgress(&t)
	case m.failed != nil:
		t.add(inkBreach, "", "The search has ended with an error:")
		for _, s := range strings.Split(m.failed.Error(), "\n") {
			t.add(inkPlain, "", s)
		}
	case m.result != nil:
		m.tellResult(&t)
	case m.refused != nil:
		t.add(inkBreach, "", "These bounds make no sense:")
		t.add(inkPlain, "", m.refused.Error()+".")
	default:
		t.add(inkStrong, "", m.keys.Enter.Help().Key+" searches every schedule within these bounds.")
		t.gap()
		t.add(inkPlain, "", "Whoever can act may act next, time may pass over those that could (that is a pause), and of each kind of fault at most so many happen.")
		t.gap()
		t.add(inkPlain, "", "What no schedule does is proven, within the bounds. What one does is shown by the least schedule that does it.")
	}
	if m.refused != nil && m.result != nil {
		t.gap()
		t.add(inkBreach, "", "The bounds as they stand now make no sense: "+m.refused.Error()+".")
	}
	return t.lines
}

func (m *searcher) tellProgress(t *teller) {
	p := &m.progress
	text := "Searching, for " + seconds(p.elapsed) + "."
	switch {
	case m.stopping:
		text = "Stopping. What was found so far is made ready."
	case p.of.Concluding:
		text = "Searched. Now for the least of the schedules that break the lock."
	}
	t.add(inkStrong, "", text)
	t.gap()
	rows := [][2]string{{"states", count3(p.of.States)}, {"choices", count3(p.of.Transitions)}, {"choices deep", count3(int64(p.of.Depth))}}
	if !p.of.Concluding {
		rows = append(rows, [2]string{"a second", rate(p.of.States, p.elapsed) + " states"},
			[2]string{"to follow yet", count3(int64(p.of.Frontier)) + " states"}, [2]string{"memory", count3(int64(p.of.Bytes)>>20) + " MiB"})
	}
	for _, row := range rows {
		t.lines = append(t.lines, line{{fmt.Sprintf(" %-14s", row[0]), inkDim}, {fmt.Sprintf("%14s", row[1]), inkPlain}})
	}
}

func (m *searcher) tellResult(t *teller) {
	r := m.result
	if m.terms() != m.asked {
		t.add(inkAlarm, "", "The bounds have changed: "+m.keys.Enter.Help().Key+" searches these. Below stands what was found within those before.")
		t.gap()
	}
	if r.Complete {
		t.add(inkStrong, "", "Complete: every schedule within the bounds, in "+seconds(m.took)+".")
	} else {
		t.add(inkAlarm, "", "Not complete: "+r.Why+", after "+seconds(m.took)+". Covered is what "+plural(r.Depth, "choice")+" can lead to.")
	}
	t.add(inkDim, "", boundsWords(&r.Bounds)+".")
	t.gap()
	for _, c := range r.Bounds.Sought() {
		m.tellCode(t, c)
	}
	t.gap()
	t.add(inkPlain, "", fmt.Sprintf("%s states, %s choices followed. Redis executed %s commands, clients %s operations; all else was remembered.",
		count3(r.States), count3(r.Transitions), count3(int64(r.Commands)), count3(int64(r.Operations))))
	if text := nearWords(&r.Near); text != "" {
		t.add(inkPlain, "", "Near misses, over all choices: "+text+".")
	}
	for _, s := range vacuityWords(&r.Vacuity) {
		t.add(s.ink, "", s.text)
	}
	t.gap()
	t.add(inkDim, "", "In no schedule: "+r.Bounds.Outside()+".")
}

// tellCode says what a search has found of one code.
func (m *searcher) tellCode(t *teller, c sim.Code) {
	g := &m.theme.glyphs
	name := fmt.Sprintf(" %-3s %s", c, c.Name())
	say := func(k ink, text string) { t.lines = append(t.lines, line{{" " + text, k}}) }
	v := m.result.Find(c)
	switch {
	case v == nil && m.result.Holds(c):
		say(inkGood, g.granted+name+": never")
		if c == sim.GAP && !m.result.Vacuity.Extended {
			t.add(inkDim, "      ", "which is not put to the test: no lease was extended")
		}
		return
	case v == nil && slices.Contains(m.result.Found, c):
		say(inkBreach, g.bad+name+": some schedule does it")
		t.add(inkPlain, "      ", "There was no time to find the least.")
		return
	case v == nil:
		say(inkPlain, "?"+name+": not found so far")
		return
	}
	k, mark := inkBreach, ""
	if m.results && m.finding == len(m.places) {
		k, mark = inkPick, "  "+g.pointer
	}
	m.places = append(m.places, len(t.lines))
	t.lines = append(t.lines, line{{" ", inkPlain}, {g.bad + name, k}, {mark, inkHere}})
	t.add(inkPlain, "      ", "least: "+costWords(explore.Cost{Faults: len(v.Faults), Switches: v.Switches, Steps: v.Steps}))
	for _, f := range v.Faults {
		note := ""
		switch {
		case f.Replaced:
			note = " (without that, another fault takes its place)"
		case !f.Essential:
			note = " (it breaks without that, too)"
		}
		t.add(inkDim, "      ", f.Text+note)
	}
	if v.Within != nil {
		t.add(inkDim, "      ", "least within smaller bounds: there was no time for these")
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
func vacuityWords(v *explore.Vacuity) []span {
	said := []span{{"Not vacuous: some schedule takes the lock, gives it back, and takes it again.", inkPlain}}
	if !v.Reacquired {
		said = []span{{"Vacuous: not even with nothing going wrong is the lock had, given back, and had again. What was not found means little.", inkBreach}}
	}
	var unused []string
	for _, k := range v.Unused {
		unused = append(unused, k.String())
	}
	if unused != nil {
		said = append(said, span{"No schedule had a use for: " + strings.Join(unused, ", ") + ".", inkBreach})
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
		return sim.Brief(d.Round(time.Millisecond))
	}
	return sim.Brief(d.Round(100 * time.Millisecond))
}

func rate(n int64, d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return count3(int64(float64(n) / d.Seconds()))
}
