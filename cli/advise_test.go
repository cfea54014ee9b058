package cli

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"lockstep/docs/failures"
	"lockstep/scenarios"
	"lockstep/sim/claims"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Each answer narrows the table, and all three lead to the runs.
func TestAdvise(t *testing.T) {
	table := func(args ...string) []string {
		head, _, _ := strings.Cut(must(t, "", append([]string{"advise"}, args...)...), "\n\n")
		return strings.Split(head, "\n")
	}
	if all, quarter := table(), table("--for", "correctness", "--token", "no"); len(all) != 1+12 || len(quarter) != 1+3 {
		t.Errorf("%q and %q: want a row for each open combination, below the heads", all, quarter)
	} else {
		for _, row := range all[1:] { // the columns are those of the heads
			if at := strings.Index(all[0], "lock"); row[at-1] != ' ' || row[at] == ' ' || len(row) > 80 {
				t.Errorf("no lock in its column: %q", row)
			}
		}
	}
	for i, tt := range []struct{ for_, token, servers, lock, runs string }{
		{"correctness", "yes", "separate", "Use fenced on one server, only if its token is checked and its counter kept.", "pause-past-ttl"},
		{"efficiency", "no", "one", "Use setpx-lua.\nIt only saves work", "late-release"},
		{"correctness", "no", "separate", "No lock alone is enough. Against a payment sent twice, use redlock with an", "minority-down"},
	} {
		if !testenv.Some(i, 6) {
			continue
		}
		text := must(t, "", "advise", "--for", tt.for_, "--token", tt.token, "--servers", tt.servers)
		if !strings.HasPrefix(text, tt.lock) || !strings.Contains(text, tt.runs) || !strings.Contains(text, "The other locks") {
			t.Errorf("%+v:\n%s", tt, text)
		}
		if tt.token == "yes" {
			expectColumns(t, text)
		}
	}
	_, errs, status := run(t, "", "advise", "--for", "corectness")
	if want := "lockstep: --for: unknown answer \"corectness\"; did you mean \"correctness\"?\n"; errs != want || status != 2 {
		t.Errorf("exit status %d: %s", status, errs)
	}
}

// expectColumns: in the text of an advice, the runs that the answers are about stand in columns.
func expectColumns(t *testing.T, text string) {
	t.Helper()
	_, runs, _ := strings.Cut(text, "Run just now with fenced, because of your answers\n")
	runs, _, _ = strings.Cut(runs, "\nMore about fenced")
	long := 0
	for l := range strings.Lines(runs) {
		switch l = strings.TrimSuffix(l, "\n"); {
		case l == "" || strings.HasPrefix(l, "Other runs: "):
		case strings.HasSuffix(l, " fenced-write-unfenced-read"):
			long++
		case len(l) < 38 || l[36] != ' ' || l[37] == ' ':
			t.Errorf("it doesn't begin in its column: %q", l)
		}
	}
	if long != 1 {
		t.Errorf("%d long names in\n%s", long, runs)
	}
}

// Everything that has a name can be explained, by it.
func TestEverythingIsExplained(t *testing.T) {
	for name, want := range map[string][]string{
		"FR":           {trace.FR.Meaning()[1:], "naive_del.go:", "foreign release: A's DEL removes B's record", "lockstep run naive-del late-release", "in none:", "foreign-release"},
		"dn":           {trace.DN.Meaning()[1:], "does not count against a lock"},
		"setpx-lua":    {"Chinese article, its lock (浅谈 Redis 分布式锁实现, docs/sources/chinese.md)", "(https://redis.io/docs/", "strategies/setpx_lua.go", "Claim 1 (tested, not proved; 6 conditions):", "In each run above that shows DG a condition is broken.", "SW OV", "pause-past-ttl"},
		"fenced":       {"Claim 3 (tested, not proved; 6 conditions): With a fencing token there is no SW", "In each run above that shows SW a condition is broken."},
		"late-release": {fmt.Sprintf("%d locks, just run", len(strategies.All())), "SW DG OV FR", "lockstep explain foreign-release"},
		"fencing":      {"lockstep explain fencing --page", "Remedy:"},
		"Lease":        {"token, deadline"},
		"idempotency":  {"idempotency key: "}, // the only name that begins so
	} {
		text, err := explain(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, s := range want {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), s) {
				t.Errorf("%s: there is no %q in\n%s", name, s, text)
			}
		}
	}
	for _, p := range failures.Pages() {
		if text, err := explain(p.Name); err != nil || !strings.Contains(text, p.Title) {
			t.Errorf("%s: %v, %s", p.Name, err, text)
		}
	}
	for _, w := range trace.Words {
		if text, err := explain(w.Name); err != nil || !strings.Contains(text, w.Name+": ") {
			t.Errorf("%s: %v, %s", w.Name, err, text)
		}
	}
	for i, c := range claims.All {
		for _, args := range [][]string{{"claim", fmt.Sprint(i + 1)}, {fmt.Sprintf("claim-%d", i+1)}, {fmt.Sprintf("claim%d", i+1)}} {
			text, errs, status := run(t, "", append([]string{"explain"}, args...)...)
			flat := strings.Join(strings.Fields(text), " ")
			for _, a := range append(c.Assumptions, claims.Assumption{Text: c.Text}) {
				if !strings.Contains(flat, a.Text) {
					t.Errorf("%q: status %d, %s; there is no %q in\n%s", args, status, errs, a.Text, text)
				}
			}
		}
	}
	for _, name := range []string{"claim", "claims"} { // a list that fits on a screen
		if text, err := explain(name); err != nil || strings.Count(text, "\n") > 24 || !strings.Contains(strings.Join(strings.Fields(text), " "), "lockstep explain claim 5") {
			t.Errorf("%s: %v, %s", name, err, text)
		}
	}
	for _, name := range []string{"claim 9", "claim-0", "claim x", "claim99"} {
		if _, err := explain(name); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("claim 1 to claim %d", len(claims.All))) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text, err := explain("glossary"); err != nil || strings.Count(text, ": ") < len(trace.Words)+len(trace.Terms) {
		t.Errorf("glossary: %v, %s", err, text)
	}
	if text, err := explain("SW"); err != nil || strings.Contains(text, "none") {
		t.Errorf("every lock shows SW: %v, %s", err, text)
	}
	_, errs, status := run(t, "", "explain", "zzzzzz")
	if status != 2 || strings.Contains(errs, "setnx") || !strings.Contains(errs, "lockstep list") {
		t.Errorf("exit status %d: %s", status, errs)
	}
}

// What fails and how comes first: before what each lock does, and before where a scenario is from.
func TestExplanationBeginsWithTheCause(t *testing.T) {
	locks := strconv.Itoa(len(strategies.All()))
	for name, order := range map[string][]string{
		"failover":     {"It shows that", "With setpx-lua under failover: The new master has never heard of A's record", "lockstep run setpx-lua failover", "If the master dies in that moment", "Remedy:", locks + " locks, just run", "--page", "Source:"},
		"late-release": {"It shows that", "With naive-del under late-release: A's release deletes what is there", locks + " locks, just run", "--script", "Source:"},
		"naive-del":    {"DEL: releases anybody's lock", "With naive-del under ", "For example", "just run", "source ", "All schedules"},
	} {
		text, err := explain(name)
		if err != nil {
			t.Fatal(err)
		}
		text, at := strings.Join(strings.Fields(text), " "), -1
		for _, want := range order {
			next := strings.Index(text, strings.Join(strings.Fields(want), " "))
			if next <= at {
				t.Errorf("%s: %q is at %d, after something at %d:\n%s", name, want, next, at, text)
			}
			at = next
		}
		if strings.Count(text, "Remedy:") > 1 {
			t.Errorf("%s: the page is told twice:\n%s", name, text)
		}
	}
}

// Whoever has the binary alone reads the pages that it names: no path leads out of it.
func TestPagesArePrinted(t *testing.T) {
	for _, name := range []string{"failover", "fencing", "model"} {
		if text := must(t, "", "explain", name, "--page"); !strings.HasPrefix(text, "# ") || strings.Count(text, "\n## ") < 2 {
			t.Errorf("%s: %s", name, text)
		}
	}
	for _, name := range []string{"failover", "fencing", "late-release", "FR", "lease"} {
		if text, err := explain(name); err != nil || strings.Contains(text, "docs/failures") || strings.Contains(text, "docs/model") {
			t.Errorf("%s: %v, %s", name, err, text)
		}
	}
	if _, errs, status := run(t, "", "explain", "failver", "--page"); status != 2 || !strings.Contains(errs, "--page: unknown page \"failver\"; did you mean \"failover\"?") {
		t.Errorf("exit status %d: %s", status, errs)
	}
}

func TestCourseAsText(t *testing.T) {
	lessons := scenarios.Course()
	if got := strings.Count(must(t, "", "course"), "\n"); got != len(lessons) {
		t.Errorf("%d lines for %d lessons", got, len(lessons))
	}
	for i, l := range lessons {
		if n, err := scenarios.FindLesson(lessons, l.Name); n != i+1 || err != nil {
			t.Errorf("%s is lesson %d, %v", l.Name, n, err)
		}
	}
	text := must(t, "", "course", "6")
	if text != must(t, "", "course", "release", "--plain") {
		t.Error("lesson 6 and its name give different texts")
	}
	for _, want := range []string{"Lesson 6: Release: whose lock is it", "1  naive-del under late-release: SW DG OV FR", "2  get-then-del under late-release: ok"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	for _, tt := range []struct{ args, want string }{
		{"course 77", "there is no lesson 77: the course has lessons 1 to 16"},
		{"course relaese", `unknown lesson "relaese"; did you mean "release"?`},
		{"course 1 2", `course got "2", which is one argument too many`},
		{"play", "lockstep play takes a terminal; anywhere else lockstep explore prints the least schedule that breaks a lock"},
		{"play --goal FR", "--goal needs a LOCK to break; without one, lockstep play opens the levels, which have goals of their own"},
		{"play get-then-dle", `unknown lock "get-then-dle"; did you mean "get-then-del"?`},
		{"play get-then-del --goal FRR", `--goal: unknown code "FRR"; did you mean "FR"?`},
		{"play get-then-del --goal FR,DG", `--goal: a game has one goal, such as FR, and not "FR,DG"`},
		{"play get-then-del --goal FR", "lockstep play takes a terminal; anywhere else lockstep explore prints the least schedule that breaks a lock"},
	} {
		out, errs, status := run(t, "", strings.Fields(tt.args)...)
		if errs != "lockstep: "+tt.want+"\n" || status != 2 || out != "" {
			t.Errorf("%s: exit status %d, %s", tt.args, status, errs)
		}
	}
}

// The answer and the least schedule of a search come first, and the violation has its line, as go test
// has it.
func TestResultBeginsWithTheAnswer(t *testing.T) {
	out, _, status := run(t, "", "explore", "get-then-del", "--cycles", "1", "--faults", "pause=1", "--codes", "FR")
	st, _ := strategies.Get("get-then-del")
	last := -1
	for _, want := range []string{"get-then-del: violated (FR)\n", "\n" + st.File + ":", ": FR, foreign release: A's DEL removes B's record\n", "schedule  lockstep1,", "What was searched", "What it came to"} {
		at := strings.Index(out, want)
		if at <= last {
			t.Errorf("%q is at %d, after something at %d:\n%s", want, at, last, out)
		}
		last = at
	}
	if status != exitOccurred {
		t.Errorf("exit status %d", status)
	}
}

// Without a name explain lists the kinds of names, one in a line; and who looks for a scenario of one's own is led to what writes one.
func TestExplainListsItsKinds(t *testing.T) {
	out, errs, status := run(t, "", "explain")
	if lines := strings.Split(strings.TrimSpace(errs), "\n"); status != 2 || out != "" || len(lines) < 9 {
		t.Errorf("status %d, %q, %q", status, out, errs)
	}
	for line := range strings.Lines(errs) {
		if len([]rune(line)) > 80 {
			t.Errorf("wider than a terminal: %q", line)
		}
	}
	for _, name := range []string{"scenario", "template"} {
		if out := must(t, "", "explain", name); !strings.Contains(out, "lockstep new my.yaml") {
			t.Errorf("explain %s:\n%s", name, out)
		}
	}
}
