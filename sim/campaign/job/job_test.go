package job

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"lockstep/strategies"
)

// aPackage is two locks that share a function, in the form of package strategies.
const aPackage = `package strategies

// All lists them.
func All() []Strategy {
	return []Strategy{
		{Name: "one", Summary: "first", Retry: once, New: single(NewOne)},
		{Name: "two", Summary: "second", Like: "one", Nodes: 1, New: single(NewTwo)},
	}
}

var (
	once  = Retry{Tries: 1}
	twice = Retry{Tries: 2}
)

type One struct{}

func NewOne() *One { return &One{} }

func (o *One) Acquire() int { return shared() }

type Two struct{ used int }

func NewTwo() *Two { return &Two{} }

func (t Two) Acquire() int { return t.used }

func shared() int { return limit }

const limit = 7
`

// digests are those of the locks of a package.
func digests(t *testing.T, text string) [2]string {
	t.Helper()
	s := newSources()
	if err := s.add("a.go", text); err != nil {
		t.Fatal(err)
	}
	var all [2]string
	for i, name := range []string{"one", "two"} {
		var err error
		if all[i], err = s.digest(name); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// A change to a lock, or to something that it needs, makes its digest another, and leaves those of
// the other locks as they are.
func TestDigestOfALock(t *testing.T) {
	before := digests(t, aPackage)
	for _, tt := range []struct {
		old, new string
		changes  [2]bool
	}{
		{`"first"`, `"the first"`, [2]bool{}},
		{`Like: "one"`, `Like: "none"`, [2]bool{}},
		{"// All lists", "// All is", [2]bool{}},
		{"Nodes: 1", "Nodes: 3", [2]bool{false, true}},
		{"return shared()", "return 1 + shared()", [2]bool{true, false}},
		{"limit = 7", "limit = 8", [2]bool{true, false}},
		{"Tries: 1", "Tries: 3", [2]bool{true, false}},
		{"Tries: 2", "Tries: 4", [2]bool{}},
		{"return t.used", "return -t.used", [2]bool{false, true}},
		{"used int", "used int64", [2]bool{false, true}},
		{`{Name: "one"`, `{Name: "zero"}, {Name: "one"`, [2]bool{}},
	} {
		if !strings.Contains(aPackage, tt.old) {
			t.Fatalf("%q is not in it", tt.old)
		}
		after := digests(t, strings.Replace(aPackage, tt.old, tt.new, 1))
		if got := [2]bool{before[0] != after[0], before[1] != after[1]}; got != tt.changes {
			t.Errorf("%s -> %s: the digests change: %v, not %v", tt.old, tt.new, got, tt.changes)
		}
	}
	if before[0] == before[1] {
		t.Error("both have one digest")
	}
}

// Every lock of the catalogue has a digest, and it depends on its own constructor.
func TestCatalogue(t *testing.T) {
	all, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, l := range all {
		if other, twice := seen[l.Code]; twice || len(l.Code) != 16 {
			t.Errorf("%s and %s have the digest %q", l.Name, other, l.Code)
		}
		seen[l.Code] = l.Name
	}
	if len(all) != len(strategies.All()) {
		t.Errorf("%d locks", len(all))
	}
}

func TestModule(t *testing.T) {
	lock := strategies.Strategy{Name: "mine", Nodes: 1}
	code := func(text string) string {
		all, err := Module(fstest.MapFS{"lock.go": {Data: []byte(text)}, "lock_test.go": {Data: []byte("package mine")}}, lock)
		if err != nil {
			t.Fatal(err)
		}
		return all[0].Code
	}
	if first, again := code("package mine"), code("package mine"); first == code("package mine // changed") || first != again {
		t.Error("the digest is not that of the code")
	}
	if _, err := Module(fstest.MapFS{"x.txt": {Data: []byte("x")}}, lock); err == nil {
		t.Error("without any code there is a digest")
	}
}

// aJob is a search with a name.
func aJob() Job {
	return Job{Format: Format, Engine: "e", Lock: "setnx", Code: "c", Search: &Search{Clients: "2", Cycles: "1", Tries: 1, Nodes: 1, Faults: "none", Caller: "plain", Resource: "plain", TTL: "12s"}}
}

// The name says all that decides the outcome.
func TestName(t *testing.T) {
	names := []string{(&Job{}).Name()}
	for _, change := range []func(*Job){
		func(*Job) {}, func(j *Job) { j.Engine = "f" }, func(j *Job) { j.Lock = "x" }, func(j *Job) { j.Code = "d" }, func(j *Job) { j.Format = 2 },
		func(j *Job) { j.Search.Clients = "3" }, func(j *Job) { j.Search.Cycles = "2" }, func(j *Job) { j.Search.Tries = 2 }, func(j *Job) { j.Search.Nodes = 3 },
		func(j *Job) { j.Search.Faults = "crash=1" }, func(j *Job) { j.Search.Caller = "checks" }, func(j *Job) { j.Search.Resource = "fenced" },
		func(j *Job) { j.Search.TTL = "3s" }, func(j *Job) { j.Search.Codes = "PD" }, func(j *Job) { j.Search.Memory = 1 }, func(j *Job) { j.Search.Time = "1s" },
	} {
		j := aJob()
		change(&j)
		if slices.Contains(names, j.Name()) {
			t.Errorf("%s has the name of another", j.Encode())
		}
		names = append(names, j.Name())
		if again, err := Decode(j.Encode()); j.Format == Format && (err != nil || again.Name() != j.Name()) {
			t.Errorf("%s is read as %+v, %v", j.Encode(), again, err)
		}
	}
}

// A search with a limit is cut off, says so, and decides nothing; and one whose worker ends has no
// outcome.
func TestCutOff(t *testing.T) {
	locks, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	l, err := locks.Find("getset-expired")
	if err != nil {
		t.Fatal(err)
	}
	j := Job{Format: Format, Engine: "e", Lock: l.Name, Code: l.Code, Search: &Search{Clients: "4", Cycles: "9", Tries: 1, Nodes: 1,
		Faults: "crash=3,pause=3,reply-lost=3", Caller: "plain", Resource: "plain", TTL: "12s", Codes: "PD", Memory: 1 << 10}}
	o, err := locks.Run(t.Context(), &j, nil)
	if err != nil || o.Complete || o.Decided() || o.Why != "the visited set was to take 1,024 bytes at most" {
		t.Errorf("%+v %v", o, err)
	}
	j.Search.Memory, j.Search.Time = 0, "1ms"
	o, err = locks.Run(t.Context(), &j, nil)
	if err != nil || o.Complete || o.Why != "the time limit of 1ms was reached" {
		t.Errorf("%+v %v", o, err)
	}
}

// The engine's digest is that of the sources, without tests and locks; and sources that are newer
// than the program are not what it was built from.
func TestEngine(t *testing.T) {
	root := t.TempDir()
	built := time.Now().Add(time.Hour)
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"sim/explore", "sim/explore/trials", "sim/explore/report", "sim/campaign/job"} {
		write(dir+"/x.go", "package x\nimport _ \"lockstep/sim/below\"\nimport _ \"lockstep/strategies\"\nimport _ \"fmt\"\n")
	}
	write("sim/below/x.go", "package below\n")
	first, err := engineOf(root, built)
	if err != nil {
		t.Fatal(err)
	}
	write("sim/below/x_test.go", "package below\n")
	write("strategies/x.go", "package strategies\n")
	write("sim/beside/x.go", "package beside\n")
	if again, err := engineOf(root, built); again != first || err != nil {
		t.Errorf("%s and then %s, %v", first, again, err)
	}
	write("sim/below/x.go", "package below\nconst changed = true\n")
	if again, err := engineOf(root, built); again == first || err != nil {
		t.Errorf("%s though it has changed, %v", again, err)
	}
	if _, err := engineOf(root, time.Now().Add(-time.Hour)); err == nil {
		t.Error("sources that are newer than the program count as its own")
	}
}

// What a worker lacks and what makes no sense are told apart: another worker may have the former.
func TestCheck(t *testing.T) {
	locks, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	var lacks *Lacks
	var senseless *Senseless
	j := aJob()
	if err := locks.Check(&j); !errors.As(err, &lacks) || !strings.Contains(err.Error(), "the code of setnx") {
		t.Error(err)
	}
	j.Lock = "mine"
	if err := locks.Check(&j); !errors.As(err, &lacks) || err.Error() != `this worker lacks the lock "mine"` {
		t.Error(err)
	}
	l, err := locks.Find("setnx")
	if err != nil {
		t.Fatal(err)
	}
	j.Lock, j.Code, j.Search.Nodes = l.Name, l.Code, 3
	if err := locks.Check(&j); !errors.As(err, &senseless) || !strings.Contains(err.Error(), "setnx runs on one node, not on 3") {
		t.Error(err)
	}
	j.Search.Nodes = 1
	if err := locks.Check(&j); err != nil {
		t.Error(err)
	}
}
