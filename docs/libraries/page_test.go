package libraries

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/go-redsync/redsync/v4"

	"lockstep/scenarios"
	"lockstep/sim/bubble"
	"lockstep/sim/explore"
	"lockstep/sim/explore/locktest"
	"lockstep/sim/explore/report"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

var update = flag.Bool("update", false, "rewrite docs/libraries.md")

// entry is a library in a use.
type entry struct {
	name    string // without spaces, as in schedules
	library bubble.Library
	process string // or how its process is started, which is an example of docs/adapters
	like    string // the lock of the catalogue that is built in the same way
	// because has, by scenario, why its verdict differs from that of the lock that it is like.
	because map[string]string
}

const (
	extends = "the lock of the catalogue can't extend its leases, so this window doesn't open for it"
	splits  = "A extends its lease at the old master, which the lock of the catalogue can't"
	cleans  = "it removes its record when the reply was lost, and the lock of the catalogue leaves it to its expiry"
	late    = "it sends its clean-up after the late request, on a connection that is as slow: nothing stays behind, but for a while Redis stores the value of a client that has been told no"
	asks    = "this adapter asks once, so B is refused, and serves nobody"
	looks   = "it looks at its clock when the reply is there, and gives the lock back"
	itself  = "it extends by itself, and a caller can't"
	sooner  = "its first extension comes half a second before the lease's end, after nine and a half seconds, and A is through by then"
	errs    = "a library that can't reach its servers returns an error, and our lock calls that a refusal: a caller that goes ahead upon errors goes ahead"
)

var entries = []entry{
	{name: "redislock", library: bubble.Library{New: Redislock(nil), Extends: true}, like: "setpx-lua", because: map[string]string{
		"extend-after-gap":     extends,
		"split-brain":          splits,
		"stampede-slow":        "Obtain gives up after the lock's TTL, however often it may ask again, so B does not get the lock during A's query",
		"stampede-slow.checks": "as before: Obtain gives up after the lock's TTL",
	}},
	{name: "redsync-1", library: bubble.Library{New: Redsync(), Extends: true}, like: "setpx-lua", because: map[string]string{
		"reply-lost":              cleans,
		"late-request":            late,
		"pause-replies-in-flight": looks,
		"extend-after-gap":        extends,
		"split-brain":             splits,
	}},
	{name: "redsync-5", library: bubble.Library{Nodes: 5, New: Redsync(), Extends: true}, like: "redlock", because: map[string]string{
		"crash-mid-acquire": "redsync asks all servers at once: there is no point after its first command at which it has not sent the others, and the crash meets a holder",
		"extend-after-gap":  extends,
		"fail-open":         errs,
	}},
	{name: "rueidislock", library: Rueidislock, like: "watchdog", because: map[string]string{
		"reply-lost":              cleans,
		"late-request":            late,
		"extend-after-gap":        itself,
		"clock-skew.slow":         "the expiry of its record is an instant on its own wall clock (SET PXAT), which is slow: Redis drops the record early, and the library believes in it for the whole validity",
		"pause-replies-in-flight": looks,
	}},
	{name: "redis-py", process: "python/redis_py.py", like: "setpx-lua", because: map[string]string{
		"extend-after-gap": extends, "split-brain": splits, "stampede-slow": asks, "stampede-slow.checks": asks,
	}},
	{name: "predis", process: "php/predis.php", like: "setpx-lua", because: map[string]string{
		"stampede-slow": asks, "stampede-slow.checks": asks,
	}},
	{name: "node-redlock-4", process: "node/redlock.js", like: "setpx-lua", because: map[string]string{
		"reply-lost": cleans, "late-request": late, "extend-after-gap": extends, "split-brain": splits, "pause-replies-in-flight": looks,
	}},
	{name: "sesamecare", process: "node/sesamecare.js", like: "setpx-lua", because: map[string]string{
		"reply-lost": cleans, "late-request": late, "extend-after-gap": extends, "split-brain": splits,
	}},
	{name: "node-redlock-5-using", process: "node/using.js", like: "watchdog", because: using},
	{name: "sesamecare-using", process: "node/using.js @sesamecare-oss/redlock", like: "watchdog", because: using},
}

var using = map[string]string{
	"reply-lost": cleans, "late-request": late, "extend-after-gap": itself, "split-brain": sooner,
}

// own are scenarios about tokens that a caller chooses or stores. Most of these libraries draw and
// keep their own.
var own = map[string]bool{"token-collision": true, "token-mangled": true}

// seed is that of all runs.
const seed = 1

// table runs all scenarios under each of the entries.
func table(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| |")
	locks := make([]strategies.Strategy, len(entries))
	for i, e := range entries {
		locks[i] = e.strategy(t)
		known, _ := strategies.Get(e.like)
		locks[i].Timeout = known.Timeout
		fmt.Fprintf(&b, " %s |", e.name)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(entries)) + "\n")
	var reasons strings.Builder
	rows := map[string]string{}
	for i, e := range entries {
		fmt.Fprintf(&reasons, "\n%s, which is built like %s:\n\n", e.name, e.like)
		for _, s := range scenarios.All() {
			if own[s.Name] {
				continue
			}
			got, want := verdicts(t, s, locks[i], e.like)
			why, bold := e.because[s.Name], ""
			switch {
			case (got != want) != (why != ""):
				t.Errorf("%s under %s is %s, and %s is %s; page_test.go has for a reason: %q", e.name, s.Name, got, e.like, want, why)
			case got != want:
				bold = "**"
				fmt.Fprintf(&reasons, "- %s: %s, and %s is %s. The reason: %s.\n", s.Name, got, e.like, want, why)
			}
			rows[s.Name] += " " + bold + got + bold + " |"
		}
	}
	for _, s := range scenarios.All() {
		if row := rows[s.Name]; row != "" {
			fmt.Fprintf(&b, "| [%s](matrix.md#%s) |%s\n", s.Name, strings.ReplaceAll(s.Name, ".", ""), row)
		}
	}
	return b.String() + reasons.String()
}

// verdicts are those of a lock and of one of the catalogue under a scenario.
func verdicts(t *testing.T, s *scenarios.Scenario, lock strategies.Strategy, like string) (got, want string) {
	t.Helper()
	known, _ := strategies.Get(like)
	for to, st := range map[*string]strategies.Strategy{&got: lock, &want: known} {
		tr, err := s.Run(st, seed)
		if err != nil {
			t.Fatalf("%s under %s: %v", st.Name, s.Name, err)
		}
		*to = tr.Verdict().String()
	}
	return got, want
}

// searched is a search of every schedule of a library.
type searched struct {
	name    string
	library bubble.Library
	faults  map[explore.FaultKind]uint8
	codes   trace.Verdict // that are sought; nil is DG, FR and PD
	found   trace.Verdict
	second  bool // a second process makes it: see the function
	open    bool // it doesn't decide of the codes that it doesn't find
	long    bool // it takes long: only the larger run makes it, and whoever renews the page
}

var gaps = trace.Verdict{trace.DG, trace.FR, trace.PD, trace.GAP}

var searches = []searched{
	{name: "redislock", library: bubble.Library{New: Redislock(nil)}, faults: faults{explore.Crash: 1, explore.Pause: 1}},
	{name: "redislock, with Refresh", library: bubble.Library{New: Redislock(nil), Extends: true}, faults: faults{explore.Crash: 1, explore.Pause: 1}, codes: gaps, long: true},
	{name: "redislock, with one token for all", library: bubble.Library{New: Redislock(one)}, found: trace.Verdict{trace.DG, trace.FR}},
	{name: "redislock, with tokens of which one begins another", library: bubble.Library{New: Redislock(prefix)}, found: trace.Verdict{trace.DG, trace.FR}},
	{name: "redsync on 1 server", library: bubble.Library{New: Redsync()}, faults: faults{explore.Crash: 1, explore.Pause: 1}, second: true},
	{name: "redsync on 1 server, lost replies", library: bubble.Library{New: Redsync()}, faults: faults{explore.ReplyLost: 1}},
	{name: "redsync on 1 server, with Extend", library: bubble.Library{New: Redsync(), Extends: true}, faults: faults{explore.Pause: 1}, codes: gaps, open: true, long: true},
	{name: "redsync on 1 server, with WithSetNXOnExtend", library: bubble.Library{New: Redsync(redsync.WithSetNXOnExtend()), Extends: true}, faults: faults{explore.Pause: 1}, codes: trace.Verdict{trace.GAP}, found: trace.Verdict{trace.GAP}},
	{name: "redsync on 3 servers", library: bubble.Library{Nodes: 3, New: Redsync()}, faults: faults{explore.Pause: 1}, second: true, long: true},
	{name: "redsync on 3 servers, restarts with nothing on disk", library: bubble.Library{Nodes: 3, New: Redsync()}, faults: faults{explore.Restart: 1}, codes: trace.Verdict{trace.DG}, found: trace.Verdict{trace.DG}, second: true},
	{name: "rueidislock", library: Rueidislock, faults: faults{explore.Crash: 1}},
	{name: "rueidislock, with a pause", library: Rueidislock, faults: faults{explore.Pause: 1}, open: true, second: true, long: true},
}

// one is the token of all clients.
func one(string) string { return "worker" }

// prefix gives each client a token of its own, and the probe a random one.
func prefix(name string) string { return map[string]string{"A": "worker-1", "B": "worker-12"}[name] }

type faults = map[explore.FaultKind]uint8

// bounds are the search's, for a lock.
func (s *searched) bounds(lock strategies.Strategy) explore.Bounds {
	b := locktest.Defaults(lock)
	b.Cycles, b.Faults = 1, explore.Budget{}
	for kind, n := range s.faults {
		b.Faults[kind] = n
	}
	if s.codes != nil {
		b.Codes = s.codes
	}
	return b
}

// search runs a search, and checks what it finds.
func search(t *testing.T, s *searched) *explore.Result {
	t.Helper()
	lock, stats := bubble.Measured(t, s.library)
	lock.Name = strings.Trim(strings.NewReplacer(" ", "-", ",", "").Replace(s.name), "-")
	r, err := explore.Run(t.Context(), s.bounds(lock), explore.Options{Trials: explore.Trials})
	switch {
	case err != nil:
		t.Fatalf("%s: %v", s.name, err)
	case s.open == (r.Complete && r.Undecided == "") || len(r.Vacuity.Unused) > 0:
		t.Errorf("%s is to leave something open: %t; complete %t: %s %s %v", s.name, s.open, r.Complete, r.Why, r.Undecided, r.Vacuity.Unused)
	case !s.library.Background && stats.Early+stats.Abandoned > 0:
		t.Errorf("%s: timers and replies race in it, which is not covered: %+v", s.name, *stats)
	case !slices.Equal(r.Found.Sorted(), s.found.Sorted()):
		t.Errorf("%s shows %s, and was to show %s", s.name, r.Found, s.found)
	}
	return r
}

// left reports whether a search isn't made, and its row stays as the page has it.
func (s *searched) left() bool { return s.long && !testenv.Whole() && !*update }

// rowsOf makes a search, and returns its row, and below it the least schedules.
func rowsOf(t *testing.T, s *searched) (all rows) {
	t.Run(s.name, func(t *testing.T) {
		r := search(t, s)
		found := "nothing: it holds"
		switch why := cmp.Or(r.Undecided, r.Why); {
		case len(r.Found) == 0 && s.open:
			found = "nothing; not decided: " + why
		case s.open:
			found = "**" + r.Found.String() + "**; not decided of the others: " + why
		case len(r.Found) > 0:
			found = "**" + r.Found.String() + "**"
		}
		all.Row = fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", s.name, r.Bounds.Faults, trace.Verdict(r.Bounds.Codes).Sorted(), found, report.Grouped(r.States), report.Grouped(r.Transitions))
		for _, v := range r.Violated {
			all.Least += fmt.Sprintf("\n### %s: %s\n\n%s.\n\n```\n%s```\n", s.name, v.Code, report.Least(v), locktest.Excerpt(v.Trace))
		}
	})
	return all
}

// onPage is the page's line with that beginning.
func onPage(t *testing.T, begin string) string {
	text, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, begin) {
			return line
		}
	}
	t.Fatalf("%s has no line that begins with %s", pageFile, begin)
	return ""
}

// summary has the rows of all searches.
func summary(t *testing.T, others func() map[string]rows) string {
	found := map[string]rows{}
	for i := range searches {
		switch s := &searches[i]; {
		case s.left():
			t.Logf("%s: left as the page has it; LOCKSTEP_WHOLE=1 makes this search", s.name)
			found[s.name] = rows{Row: onPage(t, "| "+s.name+" |")}
		case !s.second:
			found[s.name] = rowsOf(t, s)
		}
	}
	maps.Copy(found, others())
	var b, least strings.Builder
	b.WriteString("| lock | at most, in one schedule | sought | found | situations | choices |\n| --- | --- | --- | --- | --- | --- |\n")
	for i := range searches {
		b.WriteString(found[searches[i].name].Row)
		least.WriteString(found[searches[i].name].Least)
	}
	return b.String() + least.String()
}

const pageFile = "../libraries.md"

func TestPage(t *testing.T) {
	if *share != "" {
		shares(t)
		return
	}
	needs(t)
	others := second(t)
	page, err := template.New("page.tmpl").Funcs(template.FuncMap{"example": func() string { return example(t) }, "scenarios": func() string { return table(t) }, "searches": func() string { return summary(t, others) }, "versions": func() string { return versions(t) + processVersions(t) }, "extensions": func() string { return extensions(t) }}).ParseFiles("page.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := page.Execute(&b, nil); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(pageFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(was) != b.String() {
		t.Errorf("%s is stale: go test . -update, in docs/libraries\n%s", pageFile, difference(string(was), b.String()))
	}
}

// difference has the first lines that two texts don't share.
func difference(was, is string) string {
	old, now := strings.Split(was, "\n"), strings.Split(is, "\n")
	for i := range min(len(old), len(now)) {
		if old[i] != now[i] {
			return fmt.Sprintf("line %d was\n%s\nand is\n%s", i+1, old[i], now[i])
		}
	}
	return "one is longer"
}

// example is the test in example_test.go.
func example(t *testing.T) string {
	text, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, test, found := strings.Cut(string(text), "\nfunc ")
	if !found {
		t.Fatal("example_test.go has no test")
	}
	return "func " + test
}

// versions lists the modules of the libraries, as go.mod has them.
func versions(t *testing.T) string {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[0], "github.com/") && strings.HasPrefix(f[1], "v") {
			found[f[0]] = f[1]
		}
	}
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(found)) {
		switch {
		case strings.Contains(path, "redislock"), strings.Contains(path, "redsync"), strings.Contains(path, "rueidis"), strings.Contains(path, "go-redis/v9"):
			fmt.Fprintf(&b, "- `%s` %s\n", path, found[path])
		}
	}
	return b.String()
}
