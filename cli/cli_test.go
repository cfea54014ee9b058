package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(closing{m})
}

// closing gives the worlds back before leaks are looked for.
type closing struct{ *testing.M }

func (c closing) Run() int {
	code := c.M.Run()
	if err := scenarios.Close(); err != nil {
		return 1
	}
	return code
}

// run is the program: arguments and standard input in, its output and its
// exit status out.
func run(t *testing.T, stdin string, args ...string) (out, errs string, status int) {
	t.Helper()
	var o, e strings.Builder
	status = Main(append([]string{}, args...), strings.NewReader(stdin), &o, &e)
	return o.String(), e.String(), status
}

// must is a run that is expected to go well.
func must(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	out, errs, status := run(t, stdin, args...)
	if status != 0 || errs != "" {
		t.Fatalf("lockstep %s: exit status %d\n%s", strings.Join(args, " "), status, errs)
	}
	return out
}

func TestRefusals(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken, []byte("title: x\nscript:\n  - rum: A\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"rnu"}, `unknown command "rnu"; did you mean "run"? (see lockstep --help)`},
		{[]string{"run"}, `run needs a LOCK (see lockstep run --help)`},
		{[]string{"help", "rnu"}, `unknown command "rnu"; did you mean "run"? (see lockstep --help)`},
		{[]string{"help", "completion", "bsh"}, `unknown command "bsh"; did you mean "bash"? (see lockstep completion --help)`},
		{[]string{"completion", "bsh"}, `unknown command "bsh"; did you mean "bash"? (see lockstep completion --help)`},
		{[]string{"advise", "correctness"}, `advise takes no arguments, and got "correctness"; did you mean --for correctness?`},
		{[]string{"advise", "nonsense"}, `advise takes no arguments, and got "nonsense"`},
		{[]string{"explain", "stael"}, `unknown name "stael"; did you mean "stale write" or "stale-deadline"?`},
		{[]string{"explain", "FR", "DG"}, `unknown name "FR DG": lockstep explain takes one name at a time, such as FR`},
		{[]string{"play", "release-gap"}, `"release-gap" is a scenario, and no lock; lockstep list names the locks`},
		{[]string{"explore", "release-gap"}, `"release-gap" is a scenario, and no lock; lockstep list names the locks`},
		{[]string{"play", "get-then-del", "--goal", "BD"}, `--goal: no game is about BD; its goal is one of OV, DG, SW, FR, PD, FN`},
		{[]string{"new", ""}, `the name is empty: it is a DIR, a FILE.yaml or a FILE.txt, as in lockstep new my.yaml`},
		{[]string{"new", "my.yaml.txt"}, `my.yaml.txt would be a folder with a lock in Go; a scenario is a file whose name ends in .yaml: did you mean lockstep new my.yaml?`},
		{[]string{"new", "nowhere/my.yaml"}, `cannot write nowhere/my.yaml: there is no folder nowhere`},
		{[]string{"run", "setnx", "nowhere/late-release.yaml"}, `cannot read the scenario nowhere/late-release.yaml: no such file or directory; "late-release" without .yaml is a built-in scenario`},
		{[]string{"present", "../docs/exampel.yaml"}, `cannot read the scenario ../docs/exampel.yaml: no such file or directory; did you mean "example.yaml"?`},
		{[]string{"run", "setnx"}, `run needs a SCENARIO (see lockstep run --help)`},
		{[]string{"run", "coffee.yaml"}, `run needs a LOCK before the scenario, as in lockstep run naive-del coffee.yaml; lockstep list names the locks`},
		{[]string{"export", "crash-holding"}, `export needs a LOCK before the scenario, as in lockstep export naive-del crash-holding; lockstep list names the locks`},
		{[]string{"export", "talk.txt", "-o", "t.html"}, `export takes a LOCK and a SCENARIO, and talk.txt is neither; if it is a playlist, lockstep present talk.txt shows it: a playlist has no other form`},
		{[]string{"run", "setnx", "crash-holding", "x"}, `run got "x", which is one argument too many`},
		{[]string{"run", "setpx-lau", "crash-holding"}, `unknown lock "setpx-lau"; did you mean "setpx-lua"?`},
		{[]string{"run", "setnx", "crash-holdin"}, `unknown scenario "crash-holdin"; did you mean "crash-holding"?`},
		{[]string{"run", "my.yaml", "setnx"}, `"my.yaml" is a scenario, and "setnx" is a lock: the lock comes first, as in setnx my.yaml`},
		{[]string{"export", "crash-holding", "setnx"}, `"crash-holding" is a scenario, and "setnx" is a lock: the lock comes first, as in setnx crash-holding`},
		{[]string{"run", "setnx", "nowhere.yaml"}, `cannot read the scenario nowhere.yaml: no such file or directory`},
		{[]string{"run", "setnx", broken}, broken + `:3: unknown step "rum"; did you mean "run"?`},
		{[]string{"run", "setnx", "crash-holding", "--fail-on", "DG,NOPE"}, `--fail-on: unknown code "NOPE": it is one of ` + strings.Join(trace.Verdict(trace.Codes).Strings(), ", ")},
		{[]string{"list", "x"}, `list takes no arguments, and got "x"`},
		{[]string{"matrix", "x"}, `matrix takes no arguments, and got "x"`},
		{[]string{"replay"}, `replay needs a SCHEDULE (see lockstep replay --help)`},
		{[]string{"replay", "rubbish"}, `a schedule begins with "lockstep1", this begins with "rubbish"`},
		{[]string{"replay", "-"}, `standard input is empty: expected a schedule`},
	}
	for _, tt := range tests {
		out, errs, status := run(t, "", tt.args...)
		if want := "lockstep: " + tt.want + "\n"; errs != want || status != 2 || out != "" {
			t.Errorf("lockstep %s: exit status %d\n got %s\nwant %s\n out %q", strings.Join(tt.args, " "), status, errs, want, out)
		}
	}
}

func TestListNamesTheCatalogue(t *testing.T) {
	var l listed
	if err := json.Unmarshal([]byte(must(t, "", "list", "--json")), &l); err != nil {
		t.Fatal(err)
	}
	if len(l.Strategies) != len(strategies.All()) || len(l.Scenarios) != len(scenarios.All()) {
		t.Fatalf("%d strategies and %d scenarios", len(l.Strategies), len(l.Scenarios))
	}
	text := must(t, "", "list")
	for _, s := range l.Strategies {
		if s.Name == "" || s.Summary == "" || s.Source == "" || !strings.Contains(text, s.Name) {
			t.Errorf("strategy %+v", s)
		}
	}
	for _, s := range l.Scenarios {
		if s.Name == "" || s.Title == "" || s.Shows == "" || !strings.Contains(text, s.Name) {
			t.Errorf("scenario %+v", s)
		}
	}
}

// jsonRun is the promised form of a run; json.Decoder.DisallowUnknownFields
// isn't used because more may be added to it.
type jsonRun struct {
	Strategy, Scenario, Hash, Schedule string
	Seed                               uint64
	Violations                         []struct {
		Code   string
		AtNS   int64 `json:"at_ns"`
		Events []int
	}
	Events []struct {
		Seq               int
		AtNS              int64 `json:"at_ns"`
		Actor, Kind, Text string
		Source            struct {
			File string
			Line int
		}
	}
}

func TestRunAsJSON(t *testing.T) {
	var r jsonRun
	if err := json.Unmarshal([]byte(must(t, "", "run", "get-then-del", "release-gap", "--json", "--seed", "7")), &r); err != nil {
		t.Fatal(err)
	}
	if r.Strategy != "get-then-del" || r.Scenario != "release-gap" || r.Seed != 7 || len(r.Hash) != 16 {
		t.Errorf("%s under %s, seed %d, hash %q", r.Strategy, r.Scenario, r.Seed, r.Hash)
	}
	lines := map[string]bool{}
	for i, e := range r.Events {
		if e.Seq != i+1 || e.Actor == "" || e.Kind == "" || e.Text == "" {
			t.Errorf("event %+v", e)
		}
		if i > 0 && e.AtNS < r.Events[i-1].AtNS {
			t.Errorf("event #%d goes back in time", e.Seq)
		}
		if e.Kind == "send" {
			if e.Source.File != "strategies/get_then_del.go" || e.Source.Line == 0 {
				t.Errorf("event #%d is caused by %+v", e.Seq, e.Source)
			}
			lines[e.Text[strings.Index(e.Text, "  ")+2:][:3]] = true
		}
	}
	for _, command := range []string{"SET", "GET", "DEL"} {
		if !lines[command] {
			t.Errorf("no %s was sent", command)
		}
	}
	for _, v := range r.Violations {
		for _, seq := range v.Events {
			if seq < 1 || seq > len(r.Events) {
				t.Errorf("%s is proved by event #%d of %d", v.Code, seq, len(r.Events))
			}
		}
	}
}

func TestFailOn(t *testing.T) {
	for _, tt := range []struct {
		codes string
		want  int
	}{{"DG", 0}, {"dg,fr,pd", 0}, {"OV", 1}, {"DG,SW", 1}, {"", 0}, {"ok", 2}} {
		if _, _, status := run(t, "", "run", "setpx-lua", "pause-past-ttl", "--plain", "--fail-on", tt.codes); status != tt.want {
			t.Errorf("--fail-on %q: exit status %d, want %d", tt.codes, status, tt.want)
		}
	}
}

// A printed run can be piped into replay, in either form, and comes out the same.
func TestReplayGivesTheSameRun(t *testing.T) {
	for _, form := range []string{"--plain", "--json"} {
		printed := must(t, "", "run", "redlock", "server-clock-jump", form, "--seed", "3")
		if again := must(t, printed, "replay", "-", form); again != printed {
			t.Errorf("%s: the replay differs", form)
		}
	}
	printed := must(t, "", "run", "redlock", "server-clock-jump", "--plain")
	line := strings.TrimSpace(printed[strings.LastIndex(printed, "\nschedule "):])
	_, schedule, _ := strings.Cut(line, "  ")
	for _, text := range []string{schedule, line, line + "\n", "schedule: '" + schedule + "'", printed} {
		if again := must(t, "", "replay", text); again != printed {
			t.Errorf("as the argument %.40q it is another run", text)
		}
		if again := must(t, text, "replay", "-"); again != printed {
			t.Errorf("from standard input %.40q it is another run", text)
		}
	}
}

// A scenario may be called like the beginning of a schedule.
func TestFindSchedule(t *testing.T) {
	for text, want := range map[string]string{
		"schedule  lockstep1,setnx,x-lockstep1,seed=1\n": "lockstep1,setnx,x-lockstep1,seed=1",
		"lockstep1,setnx,lockstep1,seed=1":               "lockstep1,setnx,lockstep1,seed=1",
		"a lockstep1,one,x b\nlockstep1,two,x":           "lockstep1,two,x",
		"lockstep1":                                      "lockstep1",
		"schedule  lockstep2,setnx,x":                    "schedule  lockstep2,setnx,x",
		"":                                               "",
	} {
		if got := findSchedule(text); got != want {
			t.Errorf("%q holds %q, want %q", text, got, want)
		}
	}
}

func TestUsersOwnScenario(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.yaml")
	script := "title: Mine\nsetup:\n  clients: [X]\nscript:\n  - say: Hello.\n  - run: X\n"
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	out := must(t, "", "run", "setpx-lua", file)
	for _, want := range []string{"setpx-lua under own.yaml: ok\nMine\n", "\n# Hello.\n", " X      granted "} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if strings.Contains(out, filepath.Dir(file)) {
		t.Error("the run tells where the file is on this machine, so it would not be the same elsewhere")
	}
}

func TestMatrixForms(t *testing.T) {
	var cells []matrixCell
	if err := json.Unmarshal([]byte(must(t, "", "matrix", "--json")), &cells); err != nil {
		t.Fatal(err)
	}
	if want := len(strategies.All()) * len(scenarios.All()); len(cells) != want {
		t.Fatalf("%d cells, want %d", len(cells), want)
	}
	for _, c := range cells {
		st, _ := strategies.Get(c.Strategy)
		if fences := strings.Contains(c.Caller, "uses the fence"); fences != st.Fences {
			t.Errorf("%s under %s is said of a caller that %s", c.Strategy, c.Scenario, c.Caller)
		}
	}
	text := must(t, "", "matrix")
	if !strings.Contains(text, "\n  uses the fence: ") {
		t.Errorf("the matrix does not say where the callers use the fence:\n%s", text)
	}
	markdown := must(t, "", "matrix", "--markdown")
	if rows := strings.Count(markdown, "\n"); rows != len(scenarios.All())+2 {
		t.Errorf("%d lines of Markdown", rows)
	}
	for _, line := range strings.Split(strings.TrimSpace(markdown), "\n") {
		if strings.Count(line, "|") != len(strategies.All())+2 {
			t.Errorf("a row with too few or too many cells: %s", line)
		}
	}
	// Without a terminal the bare command prints the matrix.
	if must(t, "") != text {
		t.Error("lockstep without arguments prints something else than the matrix")
	}
}

// What the author of a file expects is compared with what came of it.
func TestExpectationOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.yaml")
	for _, c := range []struct {
		verdict, says string
		status        int
	}{
		{"[DG]", "not as expected: the file expects DG and no other code (" + path + ":6), and the verdict is ok; in this run no lease ended before its client began to release the lock, and nobody was paused\n", exitOccurred},
		{"ok", "as expected: ok\n", 0},
	} {
		text := "title: Own\nscript:\n  - run: A\n  - run: B\nexpect:\n  - verdict: " + c.verdict + "\n    under: [naive-del]\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{"--plain", "--json"} {
			out, errs, status := run(t, "", "run", "naive-del", path, form)
			if status != c.status || form == "--plain" && !strings.Contains(out, "verdict   ok\n"+c.says) || form == "--json" && !strings.Contains(out, `"expected": "`) {
				t.Errorf("%s: status %d, %s\n%s", form, status, errs, out)
			}
		}
		if out, _, status := run(t, "", "run", "setpx-lua", path); status != 0 || strings.Contains(out, "expected") {
			t.Errorf("of setpx-lua nothing is expected: status %d\n%s", status, out)
		}
	}
}

// Of several mistakes in a file each line says who speaks, as the first does.
func TestMistakesAreOneList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(path, []byte("title: Own\nscript:\n  - rum: A\n  - wiat: 1s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs, status := run(t, "", "run", "setnx", path)
	want := "lockstep: " + path + ":3: unknown step \"rum\"; did you mean \"run\"?\nlockstep: " + path + ":4: unknown step \"wiat\"; did you mean \"wait\"?\n"
	if status != exitUsage || errs != want {
		t.Errorf("exit status %d\n got %s\nwant %s", status, errs, want)
	}
}

// A command, and a part of a step, can be explained, too; a page with the name of a code isn't told twice.
func TestExplainFindsWhatElseHasAName(t *testing.T) {
	for name, want := range map[string]string{"present": "a command: present a run or a playlist", "answer": "asks the class", "choices": "The choices and the answer are computed, and can't be written", "options": "can't be written", "playlist": "a file with a run on each line",
		"sentinel": "lockstep advise --servers replicas says which lock is enough there", "cluster": "lockstep advise --servers replicas says which lock is enough there"} {
		if text := strings.Join(strings.Fields(must(t, "", "explain", name)), " "); !strings.Contains(text, want) {
			t.Errorf("explain %s: %s", name, text)
		}
	}
	last := -1 // how a script says it, to be copied; what the name means, how that fails, and what the program shows of it
	text := must(t, "", "explain", "crash")
	for _, want := range []string{"crash: a step of a script", "\n    - crash: ", "\n  crash: ", "\ncrash: the end of a process", "\nA holder dies", "\nWhat each lock does there: lockstep explain crash-holding;"} {
		if at := strings.Index(text, want); at <= last {
			t.Errorf("explain crash: %q is at %d, after something at %d:\n%s", want, at, last, text)
		} else {
			last = at
		}
	}
	if text := must(t, "", "explain", "foreign-release"); strings.Count(text, "Remedy:") != 1 || !strings.Contains(text, "lockstep explain foreign-release --page") {
		t.Error(text)
	}
}

// TestBroken: whoever breaks a script that is built in is told where, without a stack; any other panic goes on.
func TestBroken(t *testing.T) {
	var errs strings.Builder
	after := func(panics any) (status int) {
		defer catchBroken(&status, &errs)
		panic(panics)
	}
	got := after(scenarios.Broken{Err: errors.New(`scripts/a.yaml:1: unknown key "titel"`)})
	if want := "lockstep: what is built in is broken: scripts/a.yaml:1: unknown key \"titel\"\n"; got != exitUsage || errs.String() != want {
		t.Errorf("%d, %q", got, errs.String())
	}
	defer func() {
		if recover() != "other" {
			t.Error("another panic is lost")
		}
	}()
	after("other")
}
