package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

var (
	scripts  = regexp.MustCompile(`(?s)<script[^>]*>(.*?)</script`)
	external = regexp.MustCompile(`(?i)\b(src|href|action|data|poster|srcset)\s*=|@import|url\(\s*['"]?(?:[a-z]+:|//)`)
)

// dataOf takes a page apart: the data in it.
func dataOf(t *testing.T, page string) map[string]json.RawMessage {
	t.Helper()
	parts := scripts.FindAllStringSubmatch(page, -1)
	if len(parts) != 2 || strings.Count(strings.ToLower(page), "<script") != 2 || strings.Count(strings.ToLower(page), "</script") != 2 {
		t.Fatalf("%d scripts, want the data and the player", len(parts))
	}
	if parts[1][1] != pageScript {
		t.Error("the player's script is not as its digest in the page's policy says")
	}
	var data map[string]json.RawMessage
	if err := json.Unmarshal([]byte(parts[0][1]), &data); err != nil {
		t.Fatal(err)
	}
	return data
}

func decode[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// pages calls test with the pages of some of the runs, of all strategies and of
// all scenarios in the end; all the runs would take half a minute.
func pages(t *testing.T, test func(t *testing.T, trace *trace.Trace, page string)) {
	t.Helper()
	n := 0
	eachRun(t, func(t *testing.T, trace *trace.Trace) {
		if n++; n%(len(strategies.All())+1) == 1 {
			test(t, trace, HTML(trace))
		}
	})
}

// The page asks nobody for anything, and carries the very trace that --json prints.
func TestPageIsWhole(t *testing.T) {
	pages(t, func(t *testing.T, trace *trace.Trace, page string) {
		data := dataOf(t, page)
		if found := external.FindString(page[:strings.Index(page, `id="data"`)]); found != "" {
			t.Errorf("the page refers to something outside: %s", found)
		}
		want, err := json.Marshal(trace)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data["trace"], want) {
			t.Error("the trace in the page is not the run's")
		}
	})
}

// What the page shows at each position is what the trace's fold says.
func TestFramesTellTheState(t *testing.T) {
	pages(t, func(t *testing.T, tr *trace.Trace, page string) {
		data := dataOf(t, page)
		frames, rows := decode[[]frame](t, data["frames"]), decode[[]stateRow](t, data["rows"])
		if len(frames) != len(tr.Events)+1 {
			t.Fatalf("%d frames for %d events", len(frames), len(tr.Events))
		}
		state := tr.NewState()
		for pos := range frames {
			if pos > 0 {
				state.Apply(&tr.Events[pos-1])
			}
			f := &frames[pos]
			if f.Holders != tr.Holders(state) || f.Time != trace.Brief(state.At) {
				t.Fatalf("position %d: %q at %s", pos, f.Holders, f.Time)
			}
			shown := map[string]string{}
			who := ""
			for _, i := range f.Rows {
				if rows[i].Who != "" {
					who = rows[i].Who
				}
				shown[who] += rows[i].Text + "\n"
			}
			checkShown(t, tr, state, pos, shown)
		}
	})
}

func checkShown(t *testing.T, trace *trace.Trace, state *trace.State, pos int, shown map[string]string) {
	t.Helper()
	if got := shown["believers"]; got != fmt.Sprintln(state.Believers()) {
		t.Errorf("position %d: %s believers, want %d", pos, got, state.Believers())
	}
	if want := fmt.Sprintf("value %d, version %d", state.Store.Value, state.Store.Version); !strings.HasPrefix(shown["resource"], want) {
		t.Errorf("position %d: store %q, want %q", pos, shown["resource"], want)
	}
	for i, name := range trace.Clients {
		text, c := shown[name], &state.Clients[i]
		if text == "" {
			continue // it never does anything, or is the probe, which has not begun
		}
		if strings.Contains(text, "believes;") != c.Lease.Believed || (strings.Contains(text, "PAUSED") || strings.Contains(text, "HELD UP")) != (c.Paused && !c.Hung && !c.Stopped) {
			t.Errorf("position %d: %s is %q, and its state is %+v", pos, name, text, c)
		}
	}
	for i, name := range trace.Nodes {
		rec := state.LockRecord(i)
		if has := strings.Contains(shown[name], trace.Key+" = "); has != (rec != nil && state.Nodes[i].Up) {
			t.Errorf("position %d: %s holds %q, and its record is %+v", pos, name, shown[name], rec)
		}
	}
}

// A row is marked as new if and only if the event changed it: time alone does not.
func TestFreshRows(t *testing.T) {
	run := record(t, "setpx-lua", "pause-past-ttl")
	data := draw(run, true).pageData()
	for pos, f := range data.Frames {
		var fresh []string
		for _, i := range f.Fresh {
			r := data.Rows[f.Rows[i]]
			fresh = append(fresh, strings.TrimSpace(r.Who+" "+r.Text))
		}
		if pos == 0 {
			continue
		}
		var want []string
		switch e := &run.Events[pos-1]; {
		case e.Kind == trace.KindExpire:
			want = []string{"n1 empty"}
		case e.Kind == trace.KindPause && run.Clients[e.Client] == "A":
			want = []string{"A in the critical section, PAUSED"}
		case e.Kind == trace.KindLapse:
			want = []string{"believes; lease over for 0s, since 9.898s"}
		case e.Kind == trace.KindWrite && run.Clients[e.Client] == "A":
			want = []string{"resource value 1, version 1, by A"}
		default:
			continue
		}
		if !slices.Equal(fresh, want) {
			t.Errorf("%s\nnew: %q, want %q", run.Line(&run.Events[pos-1]), fresh, want)
		}
	}
}

func TestFilmHasTheStoryAndTheCode(t *testing.T) {
	run := record(t, "redlock-no-elapsed", "slow-node")
	data := draw(run, true).pageData()
	said := 0
	for i, c := range data.Chapters {
		said += len(c.Notes)
		if i > 0 && data.Chapters[i-1].Pos >= c.Pos {
			t.Errorf("chapter %d begins at %d, after one at %d", i, c.Pos, data.Chapters[i-1].Pos)
		}
	}
	if said != len(run.Notes) {
		t.Errorf("%d notes of %d", said, len(run.Notes))
	}
	for pos, f := range data.Frames {
		if pos == 0 {
			continue
		}
		src := run.Events[pos-1].Source
		switch {
		case !strings.HasPrefix(src.File, "strategies/"):
			if f.Source != nil {
				t.Errorf("event %d comes from %v", pos, f.Source)
			}
		case f.Source == nil || data.Sources[f.Source.File].File != src.File || f.Source.Line != src.Line:
			t.Errorf("event %d comes from %v, want %s:%d", pos, f.Source, src.File, src.Line)
		case strings.Count(data.Sources[f.Source.File].Code, "\n") < src.Line:
			t.Errorf("%s has no line %d", src.File, src.Line)
		}
	}
	if len(data.Sources) < 2 {
		t.Errorf("%d files: redlock-no-elapsed calls redlock's code", len(data.Sources))
	}
}

// Text that would be markup, script or the end of the data stays text.
func TestPageEscapes(t *testing.T) {
	run := spoilt()
	page := HTML(run)
	data := dataOf(t, page)
	if len(decode[[]chapter](t, data["chapters"])[0].Notes[0].Text) == 0 {
		t.Error("the note is gone")
	}
	for _, raw := range []string{"<b>&amp; \"q\"", "<script>window", "]]> <!--", "\x00"} {
		if strings.Contains(page, raw) {
			t.Errorf("%q stands in the page as it is", raw)
		}
	}
}

// A page opens at the violation that the author of the script expects, and else at the first.
func TestPageOpensWhereItIsExpected(t *testing.T) {
	run := record(t, "setpx-lua", "pause-past-ttl")
	if run.Verdict().String() != "SW OV" || run.Violations[0].Code != trace.OV {
		t.Fatalf("%s: the test needs another run", run.Verdict())
	}
	at := func(expected string) (code trace.Code) {
		run.Expected = expected
		start := draw(run, true).pageData().Start
		for _, v := range run.Violations {
			if run.Events[start-1].Seq == v.Last() {
				return v.Code
			}
		}
		t.Fatalf("expecting %q it opens at %d, where nothing breaks", expected, start)
		return 0
	}
	for expected, want := range map[string]trace.Code{"": trace.OV, "ok": trace.OV, "SW": trace.SW, "SW OV": trace.OV, "DG": trace.OV} {
		if got := at(expected); got != want {
			t.Errorf("expecting %q it opens at %s, want %s", expected, got, want)
		}
	}
}

// Two runs are shown from the first failure on that one has and the other does not, and the page says so.
func TestComparisonOpensWhereTheRunsPart(t *testing.T) {
	run, fenced := record(t, "setpx-lua", "pause-after-check"), record(t, "fenced", "pause-after-check")
	for _, tt := range []struct {
		above, below *trace.Trace
		says         string
		stale        bool
	}{
		{run, fenced, "Here setpx-lua breaks (SW, stale write), and fenced shows no SW in this run.", true},
		{fenced, run, "Here setpx-lua breaks (SW, stale write), and fenced shows no SW in this run.", true},
		{run, run, "Here it breaks; setpx-lua breaks in no other way in this run.", false},
	} {
		page := Page{Other: tt.below}
		_, data, _ := page.contents(tt.above)
		if data.Poster != tt.says || !strings.Contains(page.HTML(tt.above), `<p id="poster" hidden>`+tt.says) {
			t.Errorf("it says %q, want %q", data.Poster, tt.says)
		}
		both := data.Frames[data.Start].Holders + data.Other.Broken[data.Other.At[data.Start]]
		for i := range data.Breaks {
			if data.Breaks[i].Pos <= data.Start {
				both += data.Breaks[i].Code
			}
		}
		if strings.Contains(both, "SW") != tt.stale {
			t.Errorf("it opens at %d, with %q", data.Start, both)
		}
	}
	waits := record(t, "naive-del", "no-finally")
	waits.Expected = "BD"
	for _, page := range []Page{{}, {Other: waits}} {
		if _, data, _ := page.contents(waits); data.Start == 0 || data.Poster != "Here it shows BD (bounded blocking), which is no failure." {
			t.Errorf("where nothing fails it opens at %d: %q", data.Start, data.Poster)
		}
	}
	if _, data, _ := (Page{}).contents(run); data.Poster != "Here it breaks." || data.Frames[data.Start].Clash != "OVERLAPPING CRITICAL SECTIONS" {
		t.Errorf("alone it opens at %d: %q", data.Start, data.Poster)
	}
}

// A page whose script asks its readers something opens at the beginning, and shows no answer; one run, and two.
func TestPageOpensBeforeTheScriptsQuestion(t *testing.T) {
	run := record(t, "naive-del", "late-release")
	for _, page := range []Page{{}, {Other: record(t, "setpx-lua", "late-release")}} {
		_, data, _ := page.contents(run)
		if data.Start != 0 || data.Poster != "" || len(data.Questions) == 0 || len(data.Breaks) == 0 {
			t.Errorf("it opens at %d, with %q", data.Start, data.Poster)
		}
		if run.Expected = "ok"; strings.Contains(page.HTML(run), `<p id="unmet">`) {
			t.Error("its head says that the verdict is not as expected")
		}
	}
}

// Both pictures of a comparison have one scale: an event of both stands in one place, and the cursor of the second is
// never left of the first's.
func TestComparedRunsShareOneAxis(t *testing.T) {
	for _, pair := range [][3]string{{"setpx-lua", "fenced", "pause-past-ttl"}, {"naive-del", "setpx-lua", "late-release"}} {
		runs := [2]*annotated{read(record(t, pair[0], pair[2])), read(record(t, pair[1], pair[2]))}
		al := timeline.Align(runs[0].Timeline, runs[1].Timeline)
		axes := alignedAxes(al, runs, plot)
		joint := 0
		for i, s := range al.Steps[1:] {
			if before := al.Steps[i]; s[0] > before[0] && s[1] > before[1] {
				if joint++; axes[0].x[s[0]] != axes[1].x[s[1]] {
					t.Errorf("%v: %v stand at %d and %d", pair, s, axes[0].x[s[0]], axes[1].x[s[1]])
				}
			}
		}
		if joint < 10 || axes[0].end != axes[1].end {
			t.Errorf("%v: %d events of both, and the axes end at %d and %d", pair, joint, axes[0].end, axes[1].end)
		}
		d, data, below := Page{Other: runs[1].Trace}.contents(runs[0].Trace)
		width := regexp.MustCompile(`viewBox="0 0 (\d+)`)
		if a, b := width.FindStringSubmatch(d.canvas("")), width.FindStringSubmatch(below); a[1] != b[1] {
			t.Errorf("%v: they are %s and %s wide", pair, a[1], b[1])
		}
		for pos, x := range data.Other.X {
			if x < data.Frames[pos].X {
				t.Errorf("%v: at %d the cursors are at %d and %d", pair, pos, data.Frames[pos].X, x)
			}
		}
	}
}

// A note of what is yet to come is marked so, and one of what has passed has its instant.
func TestPageDatesItsNotes(t *testing.T) {
	run := record(t, "naive-del", "late-release")
	d := draw(run, true)
	data := d.pageData()
	if got := data.Frames[0].Dated; len(got) == 0 || got[0] != "Next: " {
		t.Errorf("before the first event it says %q", got)
	}
	dated := 0
	for pos, f := range data.Frames {
		said := d.Said(pos)
		for i := range said {
			got := ""
			if f.Dated != nil {
				dated++
				got = f.Dated[i]
			}
			if want := d.Marked(&said[i], pos, d.When(pos)); got != want {
				t.Errorf("at %d: %q, want %q", pos, got, want)
			}
		}
	}
	if dated < 2 {
		t.Error("nothing is dated")
	}
}

// An answer is folded only as long as what is asked is not on the page.
func TestAnswersAreToldWithTheirState(t *testing.T) {
	asked := 0
	for _, name := range []string{"pause-past-ttl", "crash-holding", "cut-off"} {
		run := record(t, "setpx-lua", name)
		data := draw(run, true).pageData()
		for _, c := range data.Chapters {
			for _, n := range c.Notes {
				if n.Answer == "" {
					continue
				}
				asked++
				if n.Until < c.Pos {
					t.Errorf("%s: %q is answered at %d, before its words at %d", name, n.Text, n.Until, c.Pos)
				}
				verdict := slices.ContainsFunc(run.Notes, func(o trace.Note) bool { return o.Prose() == n.Text && o.About == "verdict" })
				if !verdict && n.Until != c.Pos {
					t.Errorf("%s: %q is open from %d to %d, beside the state that answers it", name, n.Text, c.Pos, n.Until)
				}
			}
		}
	}
	if asked == 0 {
		t.Error("nothing is asked")
	}
}

// A page rings what proves a violation only where that is complete: a ring before it would answer the question that is open.
func TestRingsComeWithTheViolation(t *testing.T) {
	run := record(t, "naive-del", "late-release")
	page, all := HTML(run), regexp.MustCompile(`<circle class="ls-ring" cx="(\d+)" cy="\d+" r="9">`)
	rings := regexp.MustCompile(`<g data-from="(\d+)">\s*`+all.String()).FindAllStringSubmatch(page, -1)
	if n := len(all.FindAllString(page, -1)); len(rings) != n || n < 6 {
		t.Fatalf("%d of %d rings come with what they prove", len(rings), n)
	}
	later := 0
	for _, r := range rings {
		from, _ := strconv.Atoi(r[1]) // digits
		at, _ := strconv.Atoi(r[2])
		if from < labels+at {
			t.Errorf("the ring at %d comes at %d, before its event", labels+at, from)
		}
		if from > labels+at {
			later++
		}
	}
	if later < 3 {
		t.Errorf("%d rings come later than their events", later)
	}
}
