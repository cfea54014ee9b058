//go:build unix

package adapter_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/adapter"
	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

const adapters = "../../docs/adapters"

// language is an example of docs/adapters: how to start it.
type language struct {
	name    string
	folder  string
	command string
}

var languages = []language{
	{"redis-py", "python", "%s redis_py.py"},
	{"predis", "php", "%s predis.php"},
	{"node-redlock", "node", "%s redlock.js"},
	{"sesamecare-redlock", "node", "%s sesamecare.js"},
	{"redlock-using", "node", "%s using.js"},
	{"sesamecare-redlock-using", "node", "%s using.js @sesamecare-oss/redlock"},
}

// interpreters look, once each, for the program that runs a folder's examples, and has their library.
var interpreters = map[string]func() (string, error){
	"python": sync.OnceValues(func() (string, error) {
		return loading("python", []string{"python3", "-c", "import redis"}, []string{"/usr/bin/python3", "-c", "import redis"})
	}),
	"php": sync.OnceValues(func() (string, error) {
		return loading("php", []string{"php", "-r", "require 'Predis/autoload.php'; exit(function_exists('pcntl_fork') ? 0 : 1);"})
	}),
	"node": sync.OnceValues(func() (string, error) { return loading("node", []string{"node", "-e", "require('redlock5')"}) }),
}

// loading returns the program of the first of these commands that succeeds in a folder.
func loading(folder string, try ...[]string) (program string, err error) {
	for _, words := range try {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = filepath.Join(adapters, folder)
		if err = cmd.Run(); err == nil {
			return words[0], nil
		}
	}
	return "", fmt.Errorf("the examples in docs/adapters/%s can't run here (see its README.md): %w", folder, err)
}

// interpreter returns the program that runs a folder's examples.
func interpreter(t testing.TB, folder string) string {
	t.Helper()
	program, err := interpreters[folder]()
	testenv.Need(t, err)
	return program
}

// like is the lock of the catalogue that does the same.
func (l language) like() string {
	if strings.HasSuffix(l.name, "-using") {
		return "watchdog"
	}
	return "setpx-lua"
}

func (l language) start(t testing.TB) *adapter.Program {
	t.Helper()
	return start(t, fmt.Sprintf(l.command, interpreter(t, l.folder)), filepath.Join(adapters, l.folder))
}

// start starts a command, whose processes end with the test.
func start(t testing.TB, command, dir string) *adapter.Program {
	t.Helper()
	p, err := adapter.Start(command, dir, patient)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := scenarios.Close(); err != nil {
			t.Error(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// rights are the codes that don't depend on what a lock tells its caller of its deadline.
var rights = trace.Verdict{trace.DG, trace.FR, trace.PD}

func rightsOf(t *trace.Trace) trace.Verdict {
	return slices.DeleteFunc(t.Verdict(), func(c trace.Code) bool { return !slices.Contains(rights, c) })
}

// unlike are the scenarios under which a lock breaks something else, and why.
var unlike = map[string]trace.Verdict{
	// Redlock deletes its record after a refusal, and with equal tokens that is the holder's.
	"token-collision": {trace.DG, trace.FR},
}

// TestScenarios: under each scenario, a library's lock breaks what the lock of the catalogue
// breaks that does the same. Under every sixth it does the same twice.
func TestScenarios(t *testing.T) {
	t.Parallel()
	for _, l := range languages {
		if strings.HasSuffix(l.name, "-using") && !testenv.CI() { // the same libraries
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			p := l.start(t)
			like, _ := strategies.Get(l.like())
			for i, s := range scenarios.All() {
				if !testenv.Some(i, 12) || !testenv.Sampled(i, 24) {
					continue
				}
				got, err := s.Run(p.Strategy(), 1)
				if err != nil {
					t.Errorf("%s: %s", s.Name, err)
					continue
				}
				likely, err := s.Run(like, 1)
				if err != nil {
					t.Fatal(err)
				}
				want := rightsOf(likely)
				if other, is := unlike[s.Name]; is && l.folder == "node" {
					want = other
				}
				if g := rightsOf(got); !slices.Equal(g, want) {
					t.Errorf("%s shows %s under %s, and not %s", l.name, g, s.Name, want)
				}
				if i%6 > 0 {
					continue
				}
				again, err := s.Run(p.Strategy(), 1)
				if err != nil || again.Hash != got.Hash {
					t.Errorf("%s under %s, again: hashes %s and %s, %v", l.name, s.Name, got.Hash, again.Hash, err)
				}
			}
		})
	}
}

// search searches a program's lock, and expects these codes of [rights].
func search(t *testing.T, p *adapter.Program, adjust func(*explore.Bounds), want trace.Verdict) *explore.Result {
	t.Helper()
	b := explore.Defaults(p.Strategy())
	b.Codes = rights
	adjust(&b)
	r, err := explore.Run(t.Context(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete || !slices.Equal(r.Found, want) || r.Undecided != "" {
		t.Errorf("the search of %s shows %s, and not %s; complete: %t %s; undecided: %q", b.Strategy.Name, r.Found, want, r.Complete, r.Why, r.Undecided)
	}
	t.Logf("%s: %s, %d states, %d choices, %d executions", b.Strategy.Name, r.Summary(), r.States, r.Transitions, p.Executions())
	return r
}

// refuses searches a lock that does what the world can't follow, and expects the process to end by that, naming
// the lock's file: the first words of what it prints.
func refuses(t *testing.T, p *adapter.Program, adjust func(*explore.Bounds), want, file string) {
	t.Helper()
	b := explore.Defaults(p.Strategy())
	adjust(&b)
	_, err := explore.Run(t.Context(), b, explore.Options{})
	var failure *adapter.Failure
	if !errors.As(err, &failure) || !strings.HasPrefix(failure.Printed, want+"\n") || !strings.Contains(failure.Printed, file) {
		t.Errorf("it says %v", err)
	}
}

// TestSearches: each library's lock is searched to the end. Node's look at their clocks where each
// value makes a difference, so theirs has one cycle and no fault, or one crash. That takes thousands of
// messages between two processes, so of Node's all but one are left to the larger run.
func TestSearches(t *testing.T) {
	t.Parallel()
	for _, l := range languages {
		if l.folder != "python" && !testenv.CI() || l.folder == "node" && l.name != "node-redlock" && !testenv.Whole() {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			search(t, l.start(t), func(b *explore.Bounds) {
				if l.folder == "node" {
					b.Cycles, b.Faults = 1, explore.Budget{}
				}
				if l.name == "sesamecare-redlock" {
					b.Faults[explore.Crash] = 1
				}
			}, nil)
		})
	}
}

// TestExtends: redis-py extends its lease, and one reply is lost.
func TestExtends(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	r := search(t, languages[0].start(t), func(b *explore.Bounds) {
		b.Extend, b.Cycles = true, 1
		b.Faults[explore.ReplyLost] = 1
	}, nil)
	if !r.Vacuity.Extended || len(r.Vacuity.Unused) > 0 {
		t.Errorf("extended: %t, never occurred: %v", r.Vacuity.Extended, r.Vacuity.Unused)
	}
}

// TestPythonsClocksAgree: all of them show the world's time.
func TestPythonsClocksAgree(t *testing.T) {
	t.Parallel()
	p := start(t, "PYTHONPATH=. "+interpreter(t, "python")+" ../../../sim/adapter/testdata/clocks.py", filepath.Join(adapters, "python"))
	s, err := scenarios.Find("pause-past-ttl")
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Run(p.Strategy(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(run.Verdict(), trace.OV) { // each client has had the lock, and A's lease is over
		t.Errorf("the verdict is %s", run.Verdict())
	}
}

// TestFindsMissingComparison: redis-py's lock without the comparison in release is found out,
// with as short a schedule as the lock of the catalogue that lacks it. One cycle is enough for a foreign
// release: it takes a second one to grant the lock twice, which is left to continuous integration.
func TestFindsMissingComparison(t *testing.T) {
	t.Parallel()
	python := interpreter(t, "python")
	p := start(t, "PYTHONPATH=. "+python+" ../../../sim/adapter/testdata/no_compare.py", filepath.Join(adapters, "python"))
	bounds, found := func(*explore.Bounds) {}, trace.Verdict{trace.DG, trace.FR}
	if !testenv.CI() {
		bounds, found = func(b *explore.Bounds) { b.Cycles = 1 }, trace.Verdict{trace.FR}
	}
	r := search(t, p, bounds, found)
	naive, _ := strategies.Get("naive-del")
	b := explore.Defaults(naive)
	b.Codes = rights
	bounds(&b)
	like, err := explore.Run(t.Context(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range like.Violated {
		found := r.Find(v.Code)
		if found == nil || len(found.Faults) != len(v.Faults) || found.Switches != v.Switches {
			t.Errorf("%s is found by %+v, and for naive-del by %d faults and %d switches", v.Code, found, len(v.Faults), v.Switches)
		}
	}
}

// BenchmarkExecutions runs a scenario in which each client has the lock once, in each language, and
// tells how many executions that makes a minute.
func BenchmarkExecutions(b *testing.B) {
	s, err := scenarios.Find("pause-past-ttl")
	if err != nil {
		b.Fatal(err)
	}
	for _, l := range languages {
		b.Run(l.name, func(b *testing.B) {
			p := l.start(b)
			for b.Loop() {
				if _, err := s.Run(p.Strategy(), 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(p.Executions())/b.Elapsed().Minutes(), "executions/min")
		})
	}
}
