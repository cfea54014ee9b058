package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/explore"
	"lockstep/sim/explore/report"
	"lockstep/sim/testenv"
)

func TestExploreRefusals(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"", `explore needs a LOCK (see lockstep explore --help)`},
		{"setpx-lua x", `explore got "x", which is one argument too many`},
		{"setpx-lau", `unknown lock "setpx-lau"; did you mean "setpx-lua"?`},
		{"setpx-lua --clients 0", `--clients: "0" is neither a number from 1 to 4 nor any`},
		{"setpx-lua --clients 5", `--clients: "5" is neither a number from 1 to 4 nor any`},
		{"setpx-lua --clients any", `a search with any number of clients has any number of cycles, too`},
		{"setpx-lua --tries 0", `--tries: a lock asks once or more often, not 0 times`},
		{"setpx-lua --tries 10", `a search can have 1 to 9 tries, not 10`},
		{"setpx-lua --tries 3 --codes BD", `a search does not look for BD: each client gives up after 3 tries, so nobody is kept waiting`},
		{"setpx-lua --cycles 0", `--cycles: "0" is neither a number from 1 to 9 nor any`},
		{"setpx-lua --nodes 0", `--nodes: a lock runs on 1 node or more, not on 0`},
		{"setpx-lua --nodes 3", `setpx-lua runs on one node, not on 3`},
		{"redlock --nodes 10", `there are 10 nodes, and can be 1 to 9`},
		{"setpx-lua --faults crsh=1", `--faults: unknown kind of fault "crsh"; did you mean "crash"?`},
		{"setpx-lua --faults crash=1,crash=2", `--faults: crash is here twice`},
		{"setpx-lua --faults crash=many", `--faults: crash: "many" is neither a number from 0 to 9 nor any`},
		{"setpx-lua --faults crash=10", `--faults: crash: "10" is neither a number from 0 to 9 nor any`},
		{"setpx-lua --faults crash=-1", `--faults: crash: "-1" is neither a number from 0 to 9 nor any`},
		{"setpx-lua --faults crash,,pause", `--faults: "crash,,pause" lacks a kind of fault; no fault at all is the word none`},
		{"redlock --faults failover", `redlock runs on 3 independent nodes: there is no replica that could take over`},
		{"setpx-lua --faults failover=2", `a search can have one failover, not more: there is no replica left then`},
		{"setpx-lua --codes DGG", `--codes: unknown code "DGG"; did you mean "DG"?`},
		{"setpx-lua --codes DN", `a search does not look for DN: in a search no server stays down, and it is no failure`},
		{"setpx-lua --codes BD", `a search does not look for BD: each client asks once a cycle, so nobody is kept waiting`},
		{"setpx-lua --codes ok", `--codes: "ok" names no code to look for`},
		{"setpx-lua --caller check", `--caller: unknown caller "check"; did you mean "checks"?`},
		{"naive-del --cycles any --caller checks", `callers that check whether their lease is over compare a clock with its end at every access, which takes a bound on cycles: search for plain ones, or such as extend`},
		{"naive-del --cycles any --faults duplicate=9", "without a bound on cycles, requests that arrive twice can be at most 8, as a search remembers so many"},
		{"redlock --timeout 0s", `--timeout: a client waits for some time for a reply, and not 0s`},
		{"setpx-lua --caller extends", `--caller: setpx-lua has no way to extend a lease`},
		{"fenced --resource fence", `--resource: unknown resource "fence"; did you mean "fenced" or "fenced-writes"?`},
		{"setpx-lua --resource fenced", `--resource: setpx-lua hands out no fencing tokens that a resource could check`},
		{"setpx-lua --ttl 1500us", `the TTL of a search must be in whole milliseconds, as Redis counts, and 1.5ms isn't`},
		{"setpx-lua --ttl 0", `the TTL of a search must be more than nothing, and 0s isn't`},
		{"setpx-lua --codes FRR", `--codes: unknown code "FRR"; did you mean "FR"?`},
		{"setpx-lua --codes xx", `--codes: unknown code "xx": it is one of ` + strings.Join(append(new(explore.Bounds).Sought().Strings(), "LV"), ", ")},
		{"setpx-lua --time-limit -1s", `--time-limit: -1s is less than nothing`},
		{"setpx-lua --workers -1", `--workers: it takes one or more, or 0 for one a core, and not -1`},
		{"setpx-lua --memory-limit 3", `--memory-limit: "3" is not a size of memory; write 512MB or 2GiB`},
		{"setpx-lua --memory-limit 0GB", `--memory-limit: "0GB" is not a size of memory; write 512MB or 2GiB`},
		{"setpx-lua --memory-limit GiB", `--memory-limit: "GiB" is not a size of memory; write 512MB or 2GiB`},
		{"setpx-lua --save x.json", `--save: a scenario's file ends in .yaml, and "x.json" does not`},
		{"setnx --faults crash --codes PD --save nowhere/x.yaml", `cannot write nowhere/x.yaml: there is no folder nowhere`},
		{"setpx-lua --fault crash", `unknown flag "--fault"; did you mean "--faults"? (see lockstep explore --help)`},
	} {
		out, errs, status := run(t, "", append([]string{"explore"}, strings.Fields(tt.args)...)...)
		if want := "lockstep: " + tt.want + "\n"; errs != want || status != 2 || out != "" { // nothing was searched in vain
			t.Errorf("lockstep explore %s: exit status %d\n got %s\nwant %s\n out %s", tt.args, status, errs, want, out)
		}
	}
}

// Where a result cannot be written, that is said before the search, and nothing is
// left behind.
func TestExploreSavesNowhere(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "file.yaml"), filepath.Join(dir, "folder.yaml")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		folder:                         "it is a directory",
		filepath.Join(file, "x.yaml"):  "not a directory",
		filepath.Join(dir, "n/x.yaml"): "there is no folder " + filepath.Join(dir, "n"),
	}
	if os.Getuid() != 0 { // who may write everywhere
		tests[filepath.Join(folder, "x.yaml")] = "permission denied"
	}
	for path, why := range tests {
		out, errs, status := run(t, "", "explore", "setnx", "--faults", "crash", "--save", path)
		if want := "lockstep: cannot write " + path + ": " + why + "\n"; errs != want || status != 2 || out != "" {
			t.Errorf("--save %s: exit status %d\n got %s\nwant %s\n out %s", path, status, errs, want, out)
		}
	}
	only(t, dir, "file.yaml", "folder.yaml")
	only(t, folder)
	// A search that finds nothing leaves an older result as it is.
	if _, _, status := run(t, "", "explore", "setnx", "--faults", "none", "--codes", "PD", "--save", file); status != 0 || content(t, file) != "old" {
		t.Errorf("exit status %d, the file holds %q", status, content(t, file))
	}
}

// The exit status tells a script the outcome.
func TestExploreStatus(t *testing.T) {
	for i, tt := range []struct {
		args string
		want int
	}{
		{"setpx-lua --codes DG,FR,PD", 0},
		{"setpx-lua --codes DG,FR,PD --ttl 1s", 0},
		{"watchdog --codes DG,FR,PD --cycles 1 --ttl 1001ms", 0},
		{"setpx-lua", 1},               // OV
		{"setpx-lua --faults none", 0}, // nothing goes wrong
		{"setnx --codes PD --faults none", 0},
		{"setnx --codes PD --faults crash", 1},
		{"setpx-lua --cycles any --faults pause=any --codes DG --time-limit 1ns", 3},
		{"setnx --codes PD --time-limit 0", 3},
		{"setnx --codes PD --time-limit 1ns", 3},
		{"setnx --codes PD --memory-limit 0.001KiB --time-limit 1ns", 3},
	} {
		if !testenv.Some(i, 6) {
			continue
		}
		_, errs, status := run(t, "", append([]string{"explore"}, strings.Fields(tt.args)...)...)
		if status != tt.want || errs != "" { // standard error is no terminal: no progress on it
			t.Errorf("lockstep explore %s: exit status %d, want %d\n%s", tt.args, status, tt.want, errs)
		}
	}
}

// The output depends neither on the machine nor on the number of its cores,
// and has no trace of the progress.
func TestExploreIsDeterministic(t *testing.T) {
	testenv.Long(t)
	first, _, _ := run(t, "", "explore", "getset-equal", "--cycles", "1", "--workers", "1")
	for _, workers := range []string{"3"} {
		if again, _, _ := run(t, "", "explore", "getset-equal", "--cycles", "1", "--workers", workers); again != first {
			t.Errorf("with %s workers it is\n%s\nand with one\n%s", workers, again, first)
		}
	}
	if strings.ContainsAny(first, "\r\x1b") {
		t.Error("progress in the output")
	}
}

// A search that is cut off, or that somebody has had enough of, ends cleanly and
// claims nothing.
func TestExploreCutOff(t *testing.T) {
	out, _, status := run(t, "", "explore", "setpx-lua", "--time-limit", "1ns")
	for _, want := range []string{"setpx-lua: not decided, because the search did not come to its end: the time limit of 1ns was reached", "  DG        double grant: not decided, because the search did not come to its end: the", "  covered   not every schedule within these bounds: the time limit", "the search did not get so far"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if status != 3 || strings.Contains(out, "holds") || strings.Contains(out, "claim") {
		t.Errorf("exit status %d\n%s", status, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var o, e strings.Builder
	if status := execute(ctx, []string{"explore", "setpx-lua"}, strings.NewReader(""), &o, &e); status != 3 || e.String() != "" ||
		!strings.Contains(o.String(), "did not come to its end: it was interrupted") {
		t.Errorf("exit status %d\n%s%s", status, o.String(), e.String())
	}
}

// A search on disk that is cut off says where it is kept, and the next goes on with it, and says
// so. Another is refused.
func TestExploreOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "search")
	args := []string{"explore", "setpx-lua", "--cycles", "1", "--codes", "DG,FR,PD", "--disk", dir}
	_, errs, status := run(t, "", append(args, "--time-limit", "1ns")...)
	if want := "lockstep: the search is kept in " + dir + "; the same command goes on from there\n"; status != 3 || errs != want {
		t.Errorf("exit status %d, and %q; want %q", status, errs, want)
	}
	_, errs, status = run(t, "", append(args, "--clients", "3")...)
	if want := dir + " has an unfinished search with another number of clients: 2, and not 3"; status != 2 || !strings.Contains(errs, want) {
		t.Errorf("exit status %d, and %q; want %q", status, errs, want)
	}
	out, errs, status := run(t, "", args...)
	if want := "lockstep: going on with a search that was cut off at depth 0, after 1 state\n"; status != 0 || errs != want {
		t.Errorf("exit status %d, and %q; want %q", status, errs, want)
	}
	// In memory one state is followed for those that differ in names, and commands are executed to make sure of it.
	size := regexp.MustCompile(`[\d,]+ (situations|followed)`)
	found := func(out string) string {
		answers, effort, _ := strings.Cut(out, "What it came to")
		return answers + strings.Join(size.FindAllString(effort, -1), "\n")
	}
	if inMemory := must(t, "", args[:len(args)-2]...); found(out) != found(inMemory) {
		t.Errorf("on disk it is\n%s\nand in memory\n%s", out, inMemory)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
}

// A search that is stopped says so of each violation, with the status of a search that proves
// nothing. That it shows what it has found by then is in TestCancelledLate of sim/explore, and in
// TestExploreMemoryLimit.
func TestExploreInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var o, e strings.Builder
	status := execute(ctx, strings.Fields("explore getset-expired --clients 4 --cycles 9 --faults crash=3,pause=3,reply-lost=3 --json"), strings.NewReader(""), &o, &e)
	var r jsonSearch
	if err := json.Unmarshal([]byte(o.String()), &r); err != nil {
		t.Fatalf("%v\n%s%s", err, o.String(), e.String())
	}
	if status != 3 || r.Complete || r.Why != "it was interrupted" {
		t.Errorf("exit status %d, complete: %t, %q", status, r.Complete, r.Why)
	}
	for code, v := range r.Verdicts {
		if v.Answer != "not decided" || len(v.Because) != 1 || !strings.HasSuffix(v.Because[0], "it was interrupted") {
			t.Errorf("%s: %s %q", code, v.Answer, v.Because)
		}
	}
}

// Memory is a bound, too; the findings by then are shown
// within smaller bounds.
func TestExploreMemoryLimit(t *testing.T) {
	out, _, status := run(t, "", strings.Fields("explore setnx-expire --clients 4 --cycles 9 --faults crash=3,pause=3,reply-lost=3 --memory-limit 1KB --json")...)
	var r jsonSearch
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if status != 1 || r.Complete || r.Why != "the memory limit was reached" {
		t.Errorf("exit status %d, %q", status, r.Why)
	}
	v := r.Verdicts["FN"]
	if v.Answer != "violated" || v.Least || len(v.Faults) != 1 || !strings.Contains(must(t, "", "replay", v.Schedule), "!! FN") {
		t.Errorf("FN is %+v", v)
	}
}

// jsonSearch is the promised form of a search's result.
type jsonSearch struct {
	Strategy string
	Bounds   struct {
		Clients, Cycles, Nodes         int
		Faults                         map[string]int
		Caller, Resource, TTL, Timeout string
		Codes                          []string
		Switches                       *int
		Stated                         map[string]string
	}
	Answer              string
	Complete, Closed    bool
	Why                 string
	Depth               int
	States, Transitions int64
	Commands            int
	Trials              int
	TrialsMeant         int `json:"trials_meant"`
	Seconds             float64
	Verdicts            map[string]struct {
		Answer       string
		Because, But []string
		Least        bool
		Schedule     string
		Faults       []struct {
			Kind, Text string
			Essential  bool
		}
		Switches, Steps int
	}
	Vacuity struct {
		Reacquired bool
		Unused     []string
	}
	Near map[string]int64 `json:"near_misses"`
}

// TestClaimNamesItsCodes: the text about schedules beyond the bounds says of which code it is, and of which
// not.
func TestClaimNamesItsCodes(t *testing.T) {
	out, _, status := run(t, "", strings.Fields("explore setpx-lua --cycles 1 --faults pause=1")...)
	text := strings.Join(strings.Fields(out), " ")
	want := "Within these bounds the search has found no double grant (DG). That there is none beyond them either is claim 1, which lockstep explain claim 1 states in full " +
		"(of SW, OV, which the search has found, it says nothing). Random runs have not refuted it, as long as - no unexpired record of the lock is lost"
	if status != 1 || !strings.Contains(text, want) {
		t.Errorf("exit status %d, no %q in\n%s", status, want, out)
	}
	if out, _, _ = run(t, "", strings.Fields("explore setpx-lua --cycles 1 --faults pause=1 --codes OV")...); strings.Contains(out, "explain claim") {
		t.Errorf("no claim is about OV:\n%s", out)
	}
}

func TestExploreAsJSON(t *testing.T) {
	out, _, status := run(t, "", strings.Fields("explore setpx-lua --faults pause=1,client-clock=1 --json")...)
	var r jsonSearch
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if status != 1 || r.Strategy != "setpx-lua" || !r.Complete || r.Why != "" || r.Seconds <= 0 || r.Commands == 0 || r.States == 0 || r.Transitions < r.States-1 {
		t.Errorf("exit status %d\n%s", status, out)
	}
	b := r.Bounds
	if b.Clients != 2 || b.Cycles != 2 || b.Nodes != 1 || b.Caller != "plain" || b.Resource != "plain" || b.TTL != "12s" || b.Timeout != "3s" ||
		len(b.Faults) != len(explore.FaultKinds()) || b.Faults["pause"] != 1 || b.Faults["crash"] != 0 || len(b.Codes) != len(r.Verdicts) {
		t.Errorf("bounds %+v", b)
	}
	for _, label := range []string{"clients", "servers", "order", "faults", "instants", "not in it"} { // as the text has them
		if b.Stated[label] == "" {
			t.Errorf("%s is not stated: %q", label, b.Stated)
		}
	}
	if r.Trials == 0 || r.TrialsMeant != r.Trials { // there was no limit of time
		t.Errorf("%d random schedules were played of %d", r.Trials, r.TrialsMeant)
	}
	if b.Switches == nil || r.Answer != "violated" || r.Closed {
		t.Errorf("%s", out)
	}
	if v := r.Verdicts["DG"]; v.Answer != "apart from what is lacking, holds within these bounds" || len(v.But) != 1 || !strings.Contains(v.But[0], "jump of a client's wall clock") || v.Schedule != "" {
		t.Errorf("DG %+v", v)
	}
	v := r.Verdicts["OV"]
	if v.Answer != "violated" || !v.Least || len(v.Faults) != 1 || v.Faults[0].Kind != "pause" || !v.Faults[0].Essential || v.Switches == 0 || v.Steps == 0 {
		t.Errorf("OV %+v", v)
	}
	if replayed := must(t, "", "replay", v.Schedule); !strings.Contains(replayed, "!! OV") {
		t.Errorf("the schedule replays to\n%s", replayed)
	}
	// No client of setpx-lua looks at its wall clock: to set it is no occasion.
	if !r.Vacuity.Reacquired || !slices.Equal(r.Vacuity.Unused, []string{"client-clock"}) || r.Near["refused"] == 0 {
		t.Errorf("%+v %+v", r.Vacuity, r.Near)
	}
}

// A saved counterexample runs, and shows the violation that it names.
func TestExploreSave(t *testing.T) {
	for i, tt := range []struct{ args, code, title string }{
		{"get-then-del --faults pause", "SW", "get-then-del shows a stale write"},
		{"redlock --cycles 1 --faults restart --codes DG", "DG", "redlock shows a double grant"},
		{"setnx --faults crash", "PD", "setnx shows a permanent deadlock"},
		{"setpx-lua --faults pause --codes OV", "OV", "setpx-lua shows overlapping critical sections"},
	} {
		if !testenv.Some(i, 2) {
			continue
		}
		file := filepath.Join(t.TempDir(), "least.yaml")
		args := strings.Fields("explore " + tt.args)
		if _, errs, status := run(t, "", append(args, "--save", file)...); status != 1 || errs != "" {
			t.Fatalf("%s: exit status %d: %s", tt.args, status, errs)
		}
		data := content(t, file)
		if _, _, status := run(t, "", "run", args[1], file, "--fail-on", tt.code); status != 1 {
			t.Errorf("%s: the file does not show %s\n%s", tt.args, tt.code, data)
		}
		if want := `title: "The least schedule in which ` + tt.title + "\"\n"; !strings.Contains(data, want) {
			t.Errorf("%s: %q is missing in\n%s", tt.args, want, data)
		}
		if want := " (" + tt.code + "): "; !strings.Contains(data, want) { // and what went wrong, a sentence
			t.Errorf("%s: %q is missing in\n%s", tt.args, want, data)
		}
	}
	file := filepath.Join(t.TempDir(), "none.yaml")
	_, errs, status := run(t, "", "explore", "setpx-lua", "--codes", "DG", "--save", file)
	if want := "lockstep: there is no counterexample to save, so " + file + " is not written\n"; status != 0 || errs != want {
		t.Errorf("exit status %d: %s", status, errs)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it is written all the same")
	}
}

// The text tells the bounds, the faults, and the properties that were not searched.
func TestExploreText(t *testing.T) {
	out, _, _ := run(t, "", "explore", "fenced", "--cycles", "1", "--faults", "pause=2,reply-lost=1", "--codes", "SW,OV,FN")
	flat := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{
		"fenced: violated (OV, FN); the schedules shown for OV pause a client past its lease, which no lock with a lease withstands by itself; SW: holds within these bounds; ",
		"OV overlapping critical sections: violated; the least schedule has 1 fault, 1 switch between clients,", "\n\nOV, overlapping critical sections: B enters",
		"SW stale write: holds within these bounds", "covered every schedule within these bounds", "The least schedule with overlapping critical sections",
		"A and B, each of which asks for the lock once; whoever has it uses the fence",
		"at most 2 pauses of clients and 1 lost reply", "not in it crashes of clients, requests held up,",
		"refused for an old fencing token", "claim 3, which lockstep explain claim 3 states in full", "- the counter is durable",
		"fault A is paused for 12.001s (tried without: no OV)", "!! OV", "FN false refusal: violated; the least schedule has 1 fault", ": FN, false refusal: ",
	} {
		if !strings.Contains(flat, want) && !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

// That no lease has a gap is hardly a merit where no caller extends one: it says so.
func TestExploreVacuousGap(t *testing.T) {
	for args, want := range map[string]string{
		"setpx-lua --cycles 1": "no lease was extended; apart from that, holds within these bounds",
		"watchdog --cycles 1":  "the lock's Extend was never called; apart from that, holds within these bounds",
		"extend-unchecked --cycles 1 --faults none --caller extends": "holds within these bounds",
	} {
		out, _, _ := run(t, "", strings.Fields("explore "+args)...)
		if !strings.Contains(out, "broken continuity: "+want+"\n") {
			t.Errorf("%s:\n%s", args, out)
		}
	}
}

func TestProgressText(t *testing.T) {
	if got, want := progressText(explore.Progress{States: 1234567, Depth: 12, Frontier: 4321, Bytes: 45_678_901}, 2*time.Second),
		"1,234,567 states (45 MB), 617,283 a second; depth 12, 4,321 to go"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := progressText(explore.Progress{States: 12, Concluding: true}, 0); got != "12 states; looking for the least schedules" {
		t.Error(got)
	}
}

// The command line that a saved scenario names asks for the same search.
func TestCommandOfASearch(t *testing.T) {
	for _, args := range []string{"fenced --caller checks --resource plain --codes SW,DG", "redlock --nodes 5 --faults none --ttl 3s",
		"extend-unchecked --caller extends --cycles 1 --clients 3 --faults crash=0,pause=2,restart"} {
		first := searched(t, strings.Fields("explore "+args))
		again := searched(t, strings.Fields(scenarios.SearchCommand(&first))[1:])
		if scenarios.SearchCommand(&again) != scenarios.SearchCommand(&first) || !reflect.DeepEqual(report.BoundsJSON(&again), report.BoundsJSON(&first)) {
			t.Errorf("%s\n%s\n%+v\n%+v", scenarios.SearchCommand(&first), scenarios.SearchCommand(&again), report.BoundsJSON(&first), report.BoundsJSON(&again))
		}
	}
}

// searched is the search that a command line asks for.
func searched(t *testing.T, args []string) explore.Bounds {
	t.Helper()
	var x exploration
	cmd := newExploration(&x)
	if err := cmd.ParseFlags(args[1:]); err != nil {
		t.Fatal(err)
	}
	b, err := x.bounds(cmd.Flags().Arg(0))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
