package export

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

func TestSVGGolden(t *testing.T) {
	golden(t, "setpx-lua.pause-past-ttl.svg", SVG(record(t, "setpx-lua", "pause-past-ttl")))
}

// A picture with dots says what they are, and no other does.
func TestSVGExplainsItsDots(t *testing.T) {
	for _, scenario := range []string{"late-release", "crash-holding", "pause-past-ttl"} {
		picture := SVG(record(t, "naive-del", scenario))
		dots := strings.Count(picture, `r="2"`) - strings.Count(picture, `cy="3" r="2"`) // those of a pattern are none
		if explained := strings.Contains(picture, ">"+idleWords+"<"); explained != (dots > 1) || !explained && dots > 0 {
			t.Errorf("%s: %d dots, and the legend has them: %v", scenario, dots, explained)
		}
	}
}

// checkXML reads a picture to its end and gives its text. A browser is kinder
// than an XML parser; other programs that show pictures aren't.
func checkXML(t *testing.T, picture string) string {
	t.Helper()
	var text strings.Builder
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			return text.String()
		case err != nil:
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.CharData:
			text.Write(token)
		case xml.StartElement:
			if token.Name.Local == "script" || token.Name.Local == "image" || token.Name.Local == "foreignObject" {
				t.Errorf("a picture with a <%s> in it", token.Name.Local)
			}
			for _, a := range token.Attr {
				if a.Name.Local == "href" || strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("<%s %s=%q>", token.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

var links = regexp.MustCompile(`url\(([^)]*)|@import|https?://[^"]*`)

func TestSVGIsWhole(t *testing.T) {
	n := 0
	eachRun(t, func(t *testing.T, trace *trace.Trace) {
		if n++; n%3 != 1 {
			return // every third is enough to read to the end
		}
		picture := SVG(trace)
		text := checkXML(t, picture)
		for _, link := range links.FindAllString(picture, -1) {
			if id, inside := strings.CutPrefix(link, "url(#"); link != "http://www.w3.org/2000/svg" && !(inside && strings.Contains(picture, `id="`+id+`"`)) {
				t.Errorf("it needs %q", link)
			}
		}
		for _, v := range trace.Violations {
			if !strings.Contains(text, severity(v.Code)+" "+v.Code.String()) || !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(v.Text), " ")) {
				t.Errorf("it does not say why %s", v.Code)
			}
		}
		if ok := strings.Contains(text, "ok: no property broke"); ok != (len(trace.Violations) == 0) {
			t.Errorf("it says ok: %t", ok)
		}
	})
	if text := checkXML(t, SVG(spoilt())); !strings.Contains(text, "</script><script>") {
		t.Error("the user's text is gone")
	}
}

// The axis never goes back; whenever two clients believe, or are inside, it is for
// some width: an overlap that is too narrow to see would be the bug left out.
func TestAxisShowsEveryOverlap(t *testing.T) {
	overlaps := 0
	eachRun(t, func(t *testing.T, tr *trace.Trace) {
		d := draw(tr, false)
		for i := 1; i < len(d.x); i++ {
			if d.x[i] < d.x[i-1] {
				t.Fatalf("event %d is left of event %d", i, i-1)
			}
		}
		from := -1
		for pos := range d.Moments {
			m, inside := &d.Moments[pos], 0
			for i := range m.Clients {
				if m.Clients[i].Inside {
					inside++
				}
			}
			switch both := m.Believers > 1 || inside > 1; {
			case both && from < 0:
				from = pos
				overlaps++
			case !both && from >= 0:
				if width := d.x[pos] - d.x[from]; width < 8 {
					t.Errorf("an overlap from %s to %s is %d pixels wide", trace.Brief(d.When(from)), trace.Brief(d.When(pos)), width)
				}
				from = -1
			}
		}
		for i := range tr.Events {
			if e := &tr.Events[i]; timeline.Touches(e) && !d.Probing(e) && d.x[i+1]-d.x[i] < markRoom {
				t.Errorf("%s has %d pixels", tr.Line(e), d.x[i+1]-d.x[i])
			}
		}
	})
	if overlaps == 0 {
		t.Error("no run has an overlap: this test tests nothing")
	}
}

// The spans of a row cover the whole axis.
func TestSpansCoverTheAxis(t *testing.T) {
	d := draw(record(t, "getset-expired", "takeover-race"), false)
	for _, l := range d.Lanes() {
		x := 0
		for _, s := range d.spans(l) {
			if s.from != x {
				t.Errorf("%v: a span begins at x %d, want %d", l, s.from, x)
			}
			x = s.to
		}
		if x != d.end {
			t.Errorf("%v: the spans end at x %d of %d", l, x, d.end)
		}
	}
}

// Every mark has a shape, or it is said why it needs none.
func TestEveryMarkHasAShape(t *testing.T) {
	for m, s := range shapes {
		if (s.name == "") == (s.why == "") {
			t.Errorf("mark %d is drawn as %q, because %q", m, s.name, s.why)
		}
		if _, drawn := glyphs[s.name]; s.name != "" && !drawn {
			t.Errorf("mark %d is drawn as %q, which is no glyph", m, s.name)
		}
	}
}

// The database's queries and updates are in the picture, as in the terminal.
func TestQueriesHaveMarks(t *testing.T) {
	run := record(t, "setnx", "stampede-slow")
	picture, queries := SVG(run), 0
	for i := range run.Events {
		if e := &run.Events[i]; e.Kind == trace.KindQuery {
			queries++
			if got := strings.Count(picture, "<title>"+escape(strings.TrimSpace(run.Line(e)))+"</title>"); got < 2 {
				t.Errorf("%s has %d marks, want one in its client's lane and one in the resource's", run.Line(e), got)
			}
		}
	}
	if queries == 0 {
		t.Error("nothing queries the database: this test tests nothing")
	}
}

func TestEveryGlyphIsExplained(t *testing.T) {
	explained := map[string]bool{}
	for _, g := range glyphWords {
		explained[g.name] = true
	}
	for name := range glyphs {
		if !explained[name] {
			t.Errorf("the legend does not explain %q", name)
		}
	}
	if len(explained) != len(glyphs) {
		t.Errorf("%d marks are explained, there are %d", len(explained), len(glyphs))
	}
}

// A bar's text stands where no mark covers it, or not at all.
func TestRoomBetweenMarks(t *testing.T) {
	at := func(xs ...int) (list []stamp) {
		for _, x := range xs {
			list = append(list, stamp{x: x})
		}
		return list
	}
	for _, tt := range []struct {
		marks []stamp
		width int
		x     int
		fits  bool
	}{
		{nil, 50, 107, true},
		{nil, 87, 107, false},
		{at(100), 50, 110, true},
		{at(100, 150), 50, 160, false},
		{at(100, 150), 20, 110, true},
		{at(50, 190, 300), 60, 107, true},
		{at(120), 20, 130, true},
		{at(121), 20, 0, false},
	} {
		if x, fits := room(span{from: 100, to: 200}, tt.width, tt.marks); fits != tt.fits || fits && x != tt.x {
			t.Errorf("%d wide between %d marks: %d, %t, want %d, %t", tt.width, len(tt.marks), x, fits, tt.x, tt.fits)
		}
	}
}

// What is only reported is no failure: no picture of it has an alarm.
func TestReportedIsNoAlarm(t *testing.T) {
	run := record(t, "naive-del", "crash-holding")
	if run.Verdict().String() != "BD" {
		t.Fatalf("the run shows %s", run.Verdict())
	}
	for form, text := range map[string]string{"SVG": SVG(run), "Mermaid": Mermaid(run)} {
		if !strings.Contains(text, "~ BD") || strings.Contains(text, "!!") {
			t.Errorf("%s: no sign, or an alarm, of what is only reported", form)
		}
	}
	page := draw(run, true).pageData()
	for i, f := range page.Frames {
		if f.Level > 0 {
			t.Fatalf("the page is alarmed at %d", i)
		}
	}
}

// The probe's marks don't lie on each other.
func TestProbeMarksStandApart(t *testing.T) {
	probes := 0
	for _, cell := range [][2]string{{"setnx", "crash-holding"}, {"setpx-lua", "crash-holding"}, {"redlock", "majority-down"}} {
		d := draw(record(t, cell[0], cell[1]), false)
		for _, l := range d.Lanes() {
			list := d.stampsIn(l, 0)
			for i := 1; i < len(list); i++ {
				if !d.Probing(list[i].e) || !d.Probing(list[i-1].e) {
					continue
				}
				probes++
				if gap := list[i].x - list[i-1].x; gap < apart && !d.Proves(list[i-1].e) {
					t.Errorf("%v: #%d and #%d stand %d apart", cell, list[i-1].e.Seq, list[i].e.Seq, gap)
				}
			}
		}
	}
	if probes == 0 {
		t.Error("the probe has left no marks")
	}
}

// The strip is loud exactly where two are inside or two leases run, and says which.
func TestStripSaysWhatClashes(t *testing.T) {
	quiet, loud := 0, map[string]bool{}
	eachRun(t, func(t *testing.T, tr *trace.Trace) {
		d := draw(tr, false)
		for pos := range d.Last() {
			if d.x[pos] == d.x[pos+1] {
				continue
			}
			what := ""
			for _, c := range d.clashes() {
				if c.from <= d.x[pos] && d.x[pos] < c.to {
					what = c.what
				}
			}
			if what != d.Clash(pos) {
				t.Fatalf("position %d: the strip says %q, want %q", pos, what, d.Clash(pos))
			}
			if loud[what] = true; what == "" && d.Moments[pos].Believers > 1 {
				quiet++
			}
		}
		if strings.Contains(SVG(tr), "BELIEVERS") {
			t.Error("it is loud of believers")
		}
	})
	if quiet == 0 || !loud["OVERLAPPING CRITICAL SECTIONS"] || !loud["DOUBLE GRANT"] {
		t.Errorf("%d quiet places, and loud are %v: the test tests too little", quiet, loud)
	}
}

// The flag with a violation's code begins at its instant, or ends with the picture.
func TestFlagsBeginAtTheirInstant(t *testing.T) {
	flags := 0
	eachRun(t, func(t *testing.T, tr *trace.Trace) {
		d := draw(tr, false)
		for _, f := range d.flagsPlaced() {
			flags++
			if end := f.x + textWidth(f.text, normal) + 12; f.x != f.at && (f.x > f.at || end != d.end+margin-2) {
				t.Errorf("%s holds from %d on, and stands from %d to %d", f.text, f.at, f.x, end)
			}
		}
	})
	if flags == 0 {
		t.Error("nothing breaks")
	}
}

// On a page no row that is hidden stands above one that is not: it would be a gap.
func TestPageHasNoGapBetweenRows(t *testing.T) {
	probes := 0
	eachRun(t, func(t *testing.T, tr *trace.Trace) {
		hidden := false
		for _, r := range draw(tr, true).rows() {
			if hidden && r.from == 0 {
				t.Errorf("%s %s stands below a row that is hidden", r.name, r.what)
			}
			if hidden = hidden || r.from > 0; r.from > 0 {
				probes++
			}
		}
	})
	if probes == 0 {
		t.Error("no run has a probe")
	}
}
