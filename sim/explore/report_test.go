package explore_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/explore/report"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

func text(items []report.Item) string {
	var b strings.Builder
	for _, i := range items {
		b.WriteString(i.String() + "\n")
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func defaults(t *testing.T) explore.Bounds {
	t.Helper()
	s, found := strategies.Get("redlock")
	if !found {
		t.Fatal("no redlock")
	}
	return explore.Defaults(s)
}

// The bounds tell how often a lock tries, and how soon.
func TestTriesAreStated(t *testing.T) {
	b := defaults(t)
	clients := func() string { return report.Bounds(&b)[0].Text }
	if text := clients(); strings.Contains(text, "tries") {
		t.Error(text)
	}
	b.Tries = 2
	if want, text := "asks for the lock once, with up to 2 tries each time, 0ms apart and up to 200ms more;", clients(); !strings.Contains(text, want) {
		t.Errorf("%q, expected %q in it", text, want)
	}
}

// Every field of the bounds is stated: reports of bounds that differ in it differ.
func TestEveryBoundIsSaid(t *testing.T) {
	elsewhere := map[string]string{
		"Strategy":    "the heading names it",
		"Codes":       "the findings list them",
		"Remembers":   "it changes how the search works, and not which schedules it covers",
		"ClockGoesOn": "so does it",
		"ByName":      "and it",
		"Watch":       "and it, too",
	}
	changes := map[string]func(b *explore.Bounds){
		"Clients": func(b *explore.Bounds) { b.Clients++ }, "Cycles": func(b *explore.Bounds) { b.Cycles++ },
		"Nodes": func(b *explore.Bounds) { b.Nodes = 5 }, "Faults": func(b *explore.Bounds) { b.Faults[explore.HoldRequest]++ },
		"Resource": func(b *explore.Bounds) { b.Resource = sim.Fenced }, "Checks": func(b *explore.Bounds) { b.Checks = true },
		"Extend": func(b *explore.Bounds) { b.Extend = true }, "TTL": func(b *explore.Bounds) { b.TTL = 30 * time.Second },
		"Timeout": func(b *explore.Bounds) { b.Timeout = time.Minute }, "Switches": func(b *explore.Bounds) { b.Switches = 7 },
		"Record":      func(b *explore.Bounds) { b.Record = "lock:lock" },
		"WholeSleeps": func(b *explore.Bounds) { b.WholeSleeps = true },
		"Tries":       func(b *explore.Bounds) { b.Tries = 3 },
		"Waits":       func(b *explore.Bounds) { b.Waits = explore.WaitsEndAtWill },
		"Others":      func(b *explore.Bounds) { b.Others, b.Cycles = true, explore.Any },
	}
	base := defaults(t)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[explore.Bounds]()) {
		if !f.IsExported() { // it is the search's own
			continue
		}
		change := changes[f.Name]
		if (change == nil) == (elsewhere[f.Name] == "") {
			t.Errorf("%s: say it among the bounds, or why not", f.Name)
		}
		if change == nil {
			continue
		}
		b := base
		if f.Name == "Extend" { // a lock that can be extended
			b.Strategy, _ = strategies.Get("watchdog")
			b.Nodes = 0
		}
		if f.Name == "Waits" {
			b.Cycles = explore.Any
		}
		before := text(report.Bounds(&b))
		if change(&b); text(report.Bounds(&b)) == before {
			t.Errorf("%s makes no difference to\n%s", f.Name, before)
		}
	}
}

// result is of a search that has shown FR, and with complete that DG and GAP hold.
func result(t *testing.T, complete bool) *explore.Result {
	t.Helper()
	b := defaults(t)
	b.Codes = trace.Verdict{trace.DG, trace.FR, trace.GAP}
	fault := explore.Fault{Kind: explore.Pause, Text: "A is paused", Essential: true}
	v := &explore.Counterexample{Code: trace.FR, Faults: []explore.Fault{fault}, Switches: 2, Steps: 1600}
	return &explore.Result{Bounds: b, Complete: complete, Why: "it was stopped", Depth: 12, States: 12345, Transitions: 1, Commands: 48,
		Operations: 204, Vacuity: explore.Vacuity{Granted: true, Reacquired: true}, Found: trace.Verdict{trace.FR}, Violated: []*explore.Counterexample{v}}
}

func TestText(t *testing.T) {
	say := func(r *explore.Result) string {
		var all []string
		for _, f := range r.Findings() {
			all = append(all, f.Code.String()+" "+report.Text(f))
		}
		return strings.Join(all, "\n")
	}
	const least = "FR foreign release: violated; the least schedule has 1 fault, 2 switches between clients, 1,600 steps"
	if got, want := say(result(t, true)), least+"\nGAP broken continuity: no lease was extended; apart from that, holds within these bounds\n"+
		"DG double grant: holds within these bounds"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := say(result(t, false)), least+"\nDG double grant: not decided, because the search did not come to its end: it was stopped\n"+
		"GAP broken continuity: not decided, because the search did not come to its end: it was stopped"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r := result(t, false)
	r.Violated = nil
	if got, want := report.Text(r.Finding(trace.FR)), "foreign release: violated; some schedule shows it, and there was no time to find the least"; got != want {
		t.Errorf("a violation without its least schedule is %s", got)
	}
}

func TestCovered(t *testing.T) {
	r := result(t, false)
	if got, want := report.Covered(r).Text, "not every schedule within these bounds: it was stopped"; got != want {
		t.Errorf("got %s", got)
	}
	r.Complete = true
	if got, want := report.Covered(r).Text, "every schedule within these bounds; "; !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
	r.Threads = true
	if got, want := report.Covered(r).Text, "in which the threads of one client act by turns"; !strings.Contains(got, want) {
		t.Errorf("got %s", got)
	}
	r.Closed, r.UnderWay = true, 3
	for _, want := range []string{"every schedule, with any number of cycles", "of which there are 2", "requests held up at a time, at most 3"} {
		if got := report.Covered(r).Text; !strings.Contains(got, want) || strings.Contains(got, "within") {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

// Every field of the vacuity is said: reports that differ in it differ.
func TestEveryVacuityIsSaid(t *testing.T) {
	changes := map[string]func(v *explore.Vacuity){
		"Reacquired": func(v *explore.Vacuity) { v.Reacquired = false },
		"Extended":   func(v *explore.Vacuity) { v.Extended = true },
		"Granted":    func(v *explore.Vacuity) { v.Granted = false },
		"Failure":    func(v *explore.Vacuity) { v.Failure = "a broken wire" },
		"Stuck":      func(v *explore.Vacuity) { v.Stuck = true },
		"Touching":   func(v *explore.Vacuity) { v.Touching = trace.Verdict{trace.DG} },
		"Asleep":     func(v *explore.Vacuity) { v.Asleep = " at lock.go:7" },
		"Unseen":     func(v *explore.Vacuity) { v.Unseen = true },
		"Stays":      func(v *explore.Vacuity) { v.Stays = "lock" },
		"Unextended": func(v *explore.Vacuity) { v.Unextended = true },
		"Unused":     func(v *explore.Vacuity) { v.Unused = []explore.FaultKind{explore.Pause} },
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[explore.Vacuity]()) {
		change := changes[f.Name]
		if change == nil {
			t.Errorf("Vacuity.%s: have explore.Result.Finding or report.Worth say it, and change it here", f.Name)
			continue
		}
		r := result(t, true)
		r.Bounds.Codes = append(r.Bounds.Codes, trace.PD)
		said := func() string {
			return text(report.Worth(r)) + report.Text(r.Finding(trace.DG)) + report.Text(r.Finding(trace.PD))
		}
		before := said()
		if change(&r.Vacuity); said() == before {
			t.Errorf("Vacuity.%s makes no difference to\n%s", f.Name, before)
		}
	}
}

func TestEffortAndWorth(t *testing.T) {
	r := result(t, false)
	r.Vacuity.Reacquired = false
	r.Near = explore.NearMisses{Refused: 1, Compared: 2, NotHeld: 3, Fenced: 1}
	r.Vacuity.Unused = []explore.FaultKind{explore.HoldRequest}
	got := text(report.Effort(r)) + " " + text([]report.Item{report.Code(r)}) + " " + text(report.Worth(r))
	for _, want := range []string{
		"states 12,345 situations, among them all that schedules of 12 choices or fewer lead to", "choices 1 followed", "Redis really executed 48 commands",
		"near what kept schedules from going wrong, over all choices: 1 refusal of a client that asked for the lock; 2 comparisons in a release that found another's token, or none; " +
			"3 releases whose caller was told that the lock was no longer its own; 1 access that the resource refused for an old fencing token",
		"code the lock's own did 204 operations", "IDLE no schedule takes the lock", "unused no schedule had a request held up: the search did not get so far",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestCutTrialsAreSaid: the text and the JSON of a search alike tell how many random schedules were to be played, and how many were.
func TestCutTrialsAreSaid(t *testing.T) {
	r := result(t, true)
	r.Found, r.Violated = nil, nil // those of result have no trace
	r.Trials, r.TrialsMeant = 1200, 16_000
	if want, got := "the engine played 1,200 random schedules (of 16,000 that were to be) within these bounds", text(report.Effort(r)); !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	data, err := json.Marshal(report.JSON(r, time.Second))
	if err != nil {
		t.Fatal(err)
	}
	var j struct {
		Trials      int
		TrialsMeant int `json:"trials_meant"`
	}
	if err := json.Unmarshal(data, &j); err != nil || j.Trials != 1200 || j.TrialsMeant != 16_000 {
		t.Errorf("%v: %d of %d\n%s", err, j.Trials, j.TrialsMeant, data)
	}
}

// TestListsAreSet: each entry of a list begins a line, and its further lines are indented as far as its text.
func TestListsAreSet(t *testing.T) {
	long := strings.Repeat("word ", 30)
	lines := strings.Split(report.Item{Label: "instants", Text: "These:\n- one;\n- " + long + "\nNo more"}.String(), "\n")
	want := []string{"  instants  These:", "            - one;", "            - word", "              word", "            No more"}
	if len(lines) != len(want) {
		t.Fatalf("%q", lines)
	}
	for i, l := range lines {
		if !strings.HasPrefix(l, want[i]) || len(l) > report.Page {
			t.Errorf("%q, expected %q", l, want[i])
		}
	}
}

func TestFaults(t *testing.T) {
	v := result(t, true).Violated[0]
	within := defaults(t)
	v.Within = &within
	v.Faults = append(v.Faults, explore.Fault{Text: "B crashes"}, explore.Fault{Text: "a reply is lost", Essential: true, Replaced: true})
	want := "bounds 2 clients, each of which asks for the lock once; at most 1 crash of a client and 1 pause of a client " +
		"fault A is paused (tried without: no FR) fault B crashes (it happens without as well) " +
		"fault a reply is lost (tried without: FR takes another fault instead)"
	if got := text(report.Faults(v)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestJumpsAreSaid: the bounds say by how much a clock jumps.
func TestJumpsAreSaid(t *testing.T) {
	b := defaults(t)
	jumps := "; a clock that jumps does so by 14s, forward or back"
	if got := text(report.Bounds(&b)); strings.Contains(got, jumps) {
		t.Errorf("without a jump: %s", got)
	}
	b.Faults[explore.ServerClock] = 1
	if got := text(report.Bounds(&b)); !strings.Contains(got, jumps) {
		t.Error(got)
	}
}

func TestItemsFitAPage(t *testing.T) {
	const indent = 2 + 9 + 1 // the longest label, in its column
	b := defaults(t)
	for _, i := range report.Bounds(&b) {
		for n, line := range strings.Split(i.String(), "\n") {
			if len(line) > report.Page || n > 0 && !strings.HasPrefix(line, strings.Repeat(" ", indent)) {
				t.Errorf("%s: %q", i.Label, line)
			}
		}
	}
}

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		n    int
		what string
		want string
	}{{0, "fault", "no fault"}, {1, "switch", "1 switch"}, {2, "switch", "2 switches"}, {1234567, "access", "1,234,567 accesses"}} {
		if got := report.Count(tt.n, tt.what); got != tt.want {
			t.Errorf("%d of %q is %q, want %q", tt.n, tt.what, got, tt.want)
		}
	}
}

// Live neither wraps nor leaves the terminal so: a line that is too long would go on in rows that the next can't overwrite.
func TestLive(t *testing.T) {
	if got := report.Live("12 states"); got != "\r\x1b[K\x1b[?7l12 states\x1b[?7h" || report.Live("") != "\r\x1b[K" {
		t.Errorf("%q %q", got, report.Live(""))
	}
}

// A lock that reads true time may tell ages of stamps apart that the search takes for one: its result says so.
func TestStampsAreStated(t *testing.T) {
	for name, said := range map[string]bool{"pxat-client-clock": true, "setpx-lua": false} {
		s, _ := strategies.Get(name)
		b := explore.Defaults(s)
		b.Cycles, b.Faults = 1, explore.Budget{}
		r, err := explore.Run(t.Context(), b, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := text(report.Effort(r)); strings.Contains(got, "the greater may be missed") != said {
			t.Errorf("%s: %s", name, got)
		}
	}
}
