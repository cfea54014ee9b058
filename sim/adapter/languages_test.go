package adapter_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/adapter"
	"lockstep/sim/explore"
	"lockstep/sim/redis/redistest"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

const adapters = "../../docs/adapters"

// language is an example of docs/adapters: how to start it, and what it is like.
type language struct {
	name    string
	folder  string
	command string
	like    string // the lock of the catalogue that sends the same commands, or ones to the same effect
}

var languages = []language{
	{"redis-py", "python", "%s redis_py.py", "setpx-lua"},
	{"predis", "php", "%s predis.php", "setpx-lua"},
	{"node-redlock", "node", "%s redlock.js", "setpx-lua"},
	{"sesamecare-redlock", "node", "%s sesamecare.js", "setpx-lua"},
}

// interpreter returns the program that runs a folder's examples, and has their library.
func interpreter(t *testing.T, folder string) string {
	t.Helper()
	try := map[string][][]string{
		"python": {{"python3", "-c", "import redis"}, {"/usr/bin/python3", "-c", "import redis"}},
		"php":    {{"php", "-r", "require 'Predis/autoload.php'; exit(function_exists('pcntl_fork') ? 0 : 1);"}},
		"node":   {{"node", "-e", "require('ioredis')"}},
	}[folder]
	var err error
	for _, words := range try {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = filepath.Join(adapters, folder)
		if err = cmd.Run(); err == nil {
			return words[0]
		}
	}
	redistest.Need(t, fmt.Errorf("the examples in docs/adapters/%s can't run here (see its README.md): %w", folder, err))
	return ""
}

func (l language) start(t *testing.T) *adapter.Program {
	t.Helper()
	return start(t, fmt.Sprintf(l.command, interpreter(t, l.folder)), filepath.Join(adapters, l.folder))
}

// start starts a command, whose processes end with the test.
func start(t *testing.T, command, dir string) *adapter.Program {
	t.Helper()
	p, err := adapter.Start(command, dir, 0)
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

// TestScenarios: under a scenario, a library's lock breaks what the lock of the catalogue breaks
// that does the same, and does the same twice.
func TestScenarios(t *testing.T) {
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			p := l.start(t)
			like, _ := strategies.Get(l.like)
			for _, s := range scenarios.All() {
				got, err := s.Run(p.Strategy(), 1)
				if err != nil {
					t.Errorf("%s: %s", s.Name, err)
					continue
				}
				want, err := s.Run(like, 1)
				if err != nil {
					t.Fatal(err)
				}
				if g, w := rightsOf(got), rightsOf(want); !slices.Equal(g, w) {
					t.Errorf("%s shows %s under %s, and %s shows %s", l.name, g, s.Name, l.like, w)
				}
				again, err := s.Run(p.Strategy(), 1)
				if err != nil || again.Hash != got.Hash {
					t.Errorf("%s under %s, again: hashes %s and %s, %v", l.name, s.Name, got.Hash, again.Hash, err)
				}
			}
		})
	}
}

var _ = os.Args
var _ explore.Bounds
