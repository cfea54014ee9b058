package docs_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/sim/explore/report"
)

// measured is scale/measured.json, which lockstep-campaign measure has printed. Nothing is
// measured here: seconds differ from run to run.
type measured struct {
	Machine string
	Go      string
	Costs   []searchCost
}

// searchCost is the cost of one search. The JSON's field names are the same but for case.
type searchCost struct {
	Lock, Clients, Cycles, Faults string
	Nodes                         int
	Complete                      bool
	States, Transitions           int64
	Seconds                       float64
	Bytes                         uint64
}

func readMeasured() (m measured, err error) {
	text, err := os.ReadFile("scale/measured.json")
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(text, &m)
}

// series are searches in which one bound grows: of the lock, with the other bounds fixed.
type series struct {
	axis string
	of   func(searchCost) (bound string, member bool)
}

var allSeries = []series{
	{"cycles", func(c searchCost) (string, bool) { return c.Cycles, c.Lock == "setpx-lua" && c.Clients == "2" }},
	{"clients", func(c searchCost) (string, bool) {
		return c.Clients, c.Lock == "setpx-lua" && c.Cycles == "1"
	}},
	{"nodes", func(c searchCost) (string, bool) { return fmt.Sprint(c.Nodes), c.Lock == "redlock" }},
}

// lines are a series' costs by faults, each in the order of the bound.
func (s series) lines(m measured) (faults []string, by map[string][]searchCost) {
	by = map[string][]searchCost{}
	for _, c := range m.Costs {
		if _, member := s.of(c); member {
			if by[c.Faults] == nil {
				faults = append(faults, c.Faults)
			}
			by[c.Faults] = append(by[c.Faults], c)
		}
	}
	for _, f := range faults {
		slices.SortStableFunc(by[f], func(a, b searchCost) int {
			x, _ := s.of(a)
			y, _ := s.of(b)
			return cmp.Compare(x, y)
		})
	}
	return faults, by
}

// scaleTable is the table of a series, or the machine in words.
func scaleTable(what string) (string, error) {
	m, err := readMeasured()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if what == "machine" {
		fmt.Fprintf(&b, "- %s, %s; each search in a process of its own, on one core\n", m.Machine, m.Go)
		return b.String(), nil
	}
	i := slices.IndexFunc(allSeries, func(s series) bool { return s.axis == what })
	if i < 0 {
		return "", fmt.Errorf("there is no series %q", what)
	}
	s := allSeries[i]
	fmt.Fprintf(&b, "| faults | %s | states | transitions | seconds | MB |\n| --- | --- | --- | --- | --- | --- |\n", what)
	faults, by := s.lines(m)
	for _, f := range faults {
		for _, c := range by[f] {
			bound, _ := s.of(c)
			over := ""
			if !c.Complete {
				over = "more than "
			}
			fmt.Fprintf(&b, "| %s | %s | %s%s | %s%s | %s%.1f | %s%d |\n", strings.ReplaceAll(f, ",", ", "), bound, over, report.Grouped(c.States),
				over, report.Grouped(c.Transitions), over, c.Seconds, over, c.Bytes/1e6)
		}
	}
	return b.String(), nil
}

// The size of the plot, in pixels.
const (
	panelWidth, panelHeight = 300, 300
	left, top, right        = 52, 34, 96
)

// inks are the lines' colours, Okabe and Ito's, each with a shape.
var inks = []string{"#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7"}

// decades of states that the plot shows.
const decades = 8

// plot draws all series: states, on a logarithmic axis, against a bound.
func plot(m measured) string {
	var b strings.Builder
	width := len(allSeries) * (left + panelWidth + right)
	height := top + panelHeight + 46
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="States of a search against cycles, clients and nodes">`+"\n", width, height)
	b.WriteString("<style>text{font:13px sans-serif;fill:#222}line,path{stroke:#8888}.h{font-weight:bold}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>\n")
	for i, s := range allSeries {
		s.panel(&b, m, i*(left+panelWidth+right)+left)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// place is the height of a number of states.
func place(states int64) float64 {
	return float64(top+panelHeight) - math.Log10(float64(max(1, states)))/decades*panelHeight
}

// label is a text beside a line's end.
type label struct {
	y    float64
	text string
}

// panel draws one series, from x on.
func (s series) panel(b *strings.Builder, m measured, x int) {
	faults, by := s.lines(m)
	fmt.Fprintf(b, `<text class="h" x="%d" y="%d">states against %s</text>`+"\n", x, top-16, s.axis)
	for d := 0; d <= decades; d += 2 {
		y := place(int64(math.Pow10(d)))
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">10<tspan dy="-5" font-size="9">%d</tspan></text>`+"\n", x, x+panelWidth, y, y, x-6, y+4, d)
	}
	first, last := s.ends(m)
	at := func(bound int) int { return x + 16 + (bound-first)*(panelWidth-32)/max(1, last-first) }
	for bound := first; bound <= last; bound++ {
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%d</text>`+"\n", at(bound), top+panelHeight+18, bound)
	}
	var labels []label
	for n, f := range faults {
		var points []string
		for _, c := range by[f] {
			shape := "fill"
			if !c.Complete {
				shape = `fill="none" stroke`
			}
			fmt.Fprintf(b, `<circle cx="%d" cy="%.1f" r="4" %s="%s"/>`+"\n", at(s.bound(c)), place(c.States), shape, inks[n])
			points = append(points, fmt.Sprintf("%d %.1f", at(s.bound(c)), place(c.States)))
		}
		labels = append(labels, label{place(by[f][len(by[f])-1].States) + 4, short(f)})
		fmt.Fprintf(b, `<path fill="none" style="stroke:%s;stroke-width:2" d="M%s"/>`+"\n", inks[n], strings.Join(points, " L"))
	}
	slices.SortFunc(labels, func(a, b label) int { return cmp.Compare(b.y, a.y) }) // from the bottom up
	free := math.Inf(1)
	for _, l := range labels {
		y := min(l.y, free)
		free = y - 14
		fmt.Fprintf(b, `<text x="%d" y="%.1f" style="font-size:11px">%s</text>`+"\n", x+panelWidth-6, y, l.text)
	}
}

// bound is the bound that grows, of one search.
func (s series) bound(c searchCost) int {
	text, _ := s.of(c)
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err) // the file that was measured has numbers only
	}
	return n
}

// ends are the least and the greatest bound.
func (s series) ends(m measured) (first, last int) {
	first = math.MaxInt
	for _, c := range m.Costs {
		if _, member := s.of(c); member {
			first, last = min(first, s.bound(c)), max(last, s.bound(c))
		}
	}
	return first, last
}

// short abbreviates a budget, so that it fits beside its line.
func short(faults string) string {
	return strings.NewReplacer("crash=1", "crash", "pause=1", "pause", "pause=2", "2 pauses", "reply-lost=1", "lost", ",", ", ").Replace(faults)
}

// The plot is drawn from the data.
func TestPlotIsFresh(t *testing.T) {
	m, err := readMeasured()
	if err != nil {
		t.Fatal(err)
	}
	const file = "scale/cost.svg"
	want := plot(m)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil { //nolint:gosec // a document is for everybody
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is stale, %v: go test ./docs -update", file, err)
	}
}
