package libraries

import (
	"cmp"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/adapter"
	"lockstep/sim/bubble"
	"lockstep/sim/explore/locktest"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

const adapters = "../adapters"

// interpreters are, by the folder of docs/adapters, how its examples are started, and how to see
// that they can be.
var interpreters = map[string]struct {
	program string
	probe   []string
}{
	"python": {"/usr/bin/python3", []string{"-c", "import redis"}},
	"php":    {"php", []string{"-r", "require 'Predis/autoload.php';"}},
	"node":   {"node", []string{"-e", "require('redlock5')"}},
}

// needs skips a test on a machine that can't start the examples of docs/adapters.
func needs(t *testing.T) {
	t.Helper()
	for folder, with := range interpreters {
		cmd := exec.Command(with.program, with.probe...) //nolint:gosec // those above
		cmd.Dir = filepath.Join(adapters, folder)
		testenv.Need(t, cmd.Run())
	}
}

// strategy is the library's lock under the entry's name.
func (e *entry) strategy(t *testing.T) (s strategies.Strategy) {
	t.Helper()
	if e.process == "" {
		s = bubble.Strategy(t, e.library)
	} else {
		s = e.program(t).Strategy()
	}
	s.Name = e.name
	return s
}

// processVersions lists the libraries of the processes.
func processVersions(t *testing.T) string {
	var b strings.Builder
	for i := range entries {
		if e := &entries[i]; e.process != "" {
			about, _, _ := strings.Cut(e.program(t).Strategy().Summary, ", in a process")
			b.WriteString("- " + about + " (" + e.name + ")\n")
		}
	}
	return b.String()
}

// program starts the entry's process.
func (e *entry) program(t *testing.T) *adapter.Program {
	t.Helper()
	folder, example, _ := strings.Cut(e.process, "/")
	p, err := adapter.Start(interpreters[folder].program+" "+example, filepath.Join(adapters, folder), time.Minute) // a machine may be slow
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

// extensions runs the scenarios that are about the extension by itself of Node's `using`, and
// returns their verdicts, and what one of them shows.
func extensions(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| | node-redlock-5-using | sesamecare-using |\n| --- | --- | --- |\n")
	var shown *trace.Trace // the first of the last scenario
	for _, name := range []string{"long-work", "extension-lost", "told-late"} {
		s, err := scenarios.Load("scenarios/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		shown = nil
		b.WriteString("| [" + s.Title + "](libraries/scenarios/" + name + ".yaml) |")
		for i := range entries {
			if e := &entries[i]; strings.HasSuffix(e.name, "-using") {
				tr, err := s.Run(e.strategy(t), seed)
				if err != nil {
					t.Fatal(err)
				}
				b.WriteString(" " + tr.Verdict().String() + "; A's release: " + released(tr) + " |")
				shown = cmp.Or(shown, tr)
			}
		}
		b.WriteString("\n")
	}
	shown.Events = shown.Events[:shown.Violations[slices.IndexFunc(shown.Violations, func(v trace.Violation) bool { return v.Code == trace.SW })].Last()]
	b.WriteString("\nThe last one, up to the write that is wrong:\n\n```\n" + locktest.Excerpt(shown) + "```\n")
	return b.String()
}

// released is how A's release ended.
func released(t *trace.Trace) string {
	for i := range t.Events {
		switch e := &t.Events[i]; {
		case t.Actor(e) != "A":
		case e.Kind == trace.KindReleased:
			return "done"
		case e.Kind == trace.KindReleaseFailed:
			return e.Note
		}
	}
	return "never"
}
