//go:build unix

package adapter_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/adapter"
	"lockstep/sim/explore"
	"lockstep/sim/explore/behaviour"
	"lockstep/sim/testenv"
)

// soon is so short that tests needn't wait long for a process that does nothing, and long enough for one to start.
const soon = time.Second

// patient is so long that no process of a test needs more, however busy the machine is.
const patient = 2 * time.Minute

// habit is the command that starts this program as a lock.
func habit(name string) string { return fmt.Sprintf("%s='%s' exec '%s'", habitOf, name, os.Args[0]) }

// TestGreetings: a process that doesn't begin as it should is refused, with the reason.
func TestGreetings(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"nothing":       "has not said hello on its control connection, descriptor 3, within 1s",
		"rubbish":       `has sent "Traceback (most recent call last):" where a message should be: it is no JSON object`,
		"number":        `its field "lock" is a number`,
		"too new":       "it speaks version 2 of the protocol, and this is version 1",
		"bad name":      `the lock cannot be named "My Lock"`,
		"no executions": `its executions are "often", and can be fork, again or once`,
		"no servers":    "a lock runs on 1 to 9 servers, not on 0",
		"no timeout":    "it needs a timeout",
		"impolite":      "has ended, or has closed its control connection, before it said hello on descriptor 3\n  it printed:\n    no such module",
	} {
		t.Run(name, func(t *testing.T) {
			patience := patient
			if name == "nothing" {
				patience = soon
			}
			p, err := adapter.Start(habit(name), "", patience)
			if err == nil {
				_ = p.Close()
			}
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "the process of ") {
				t.Errorf("got %v\nwant %s", err, want)
			}
		})
	}
}

// TestNoSuchCommand: the shell's own words are told.
func TestNoSuchCommand(t *testing.T) {
	_, err := adapter.Start("no-such-program-anywhere --at-all", "", 0)
	if err == nil || !strings.Contains(err.Error(), "it printed:") || !strings.Contains(err.Error(), "no-such-program-anywhere: not found") {
		t.Errorf("got %v", err)
	}
	if _, err := adapter.Start(" ", "", 0); err == nil || !strings.Contains(err.Error(), "there is no command to start") {
		t.Errorf("got %v", err)
	}
}

// TestCause: of what a process has printed, the line or two are told that say why it failed, and no
// stack.
func TestCause(t *testing.T) {
	for printed, want := range map[string]string{
		"node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module '/x/no.js'\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)\n    at node:internal/main/run_main_module:28:49 {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v20.20.2\n": "Error: Cannot find module '/x/no.js'",
		"/x/lock.js:1\nfunction f() { throw new TypeError('mine'); }\n               ^\n\nTypeError: mine\n    at f (/x/lock.js:1:22)\n    at Object.<anonymous> (/x/lock.js:2:1)\n    at Module._compile (node:internal/modules/cjs/loader:1521:14)\n":                                                            "TypeError: mine\nat f (/x/lock.js:1:22)",
		"Traceback (most recent call last):\n  File \"/x/lock.py\", line 3, in <module>\n    f()\n  File \"/x/lock.py\", line 2, in f\n    raise redis.exceptions.LockError(\"mine\")\nredis.exceptions.LockError: mine\n":                                                                                         "redis.exceptions.LockError: mine\nFile \"/x/lock.py\", line 2, in f",
		"Traceback (most recent call last):\n  File \"/x/lock.py\", line 2, in f\n    f()\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"/x/lock.py\", line 5, in <module>\n    g()\nValueError: b\n":                       "ValueError: b\nFile \"/x/lock.py\", line 5, in <module>",
		"PHP Fatal error:  Uncaught Error: Call to undefined function no() in /x/lock.php:2\nStack trace:\n#0 {main}\n  thrown in /x/lock.php on line 2\nFatal error: Uncaught Error: Call to undefined function no() in /x/lock.php:2\n":                                                                          "PHP Fatal error:  Uncaught Error: Call to undefined function no() in /x/lock.php:2",
		"/bin/sh: 1: nosuch: not found\n":   "/bin/sh: 1: nosuch: not found",
		"one\ntwo\n\nthree\n":               "two\nthree",
		"":                                  "",
		strings.Repeat("long ", 100) + "\n": strings.Repeat("long ", 60) + "...",
	} {
		if got := adapter.Cause(printed); got != want {
			t.Errorf("of %q\ngot  %q\nwant %q", printed, got, want)
		}
	}
}

// misdeeds are the failures of locks that have begun as they should.
var misdeeds = map[string]string{
	"leaves":       "has ended, or has closed its control connection, during acquire\n  it did last: {\"type\":\"begun\"}\n  it printed:\n    something is wrong",
	"leaves later": "has ended, or has closed its control connection, during acquire\n  it did last: sent GET other to n1, and was answered nil",
	"stops":        "does nothing for more than 1s: it waits for something outside of the simulated world, or loops, during acquire",
	"babbles":      `has sent "Warning: this is no message" where a message should be: it is no JSON object, during acquire`,
	"confuses":     `has sent {"type":"released"}, and can send granted, refused, failed here, or clock, sleep or idle`,
	"oversleeps":   "sleeps for -1 microseconds, and can for 0 to",
	"wrong clock":  `asks for its clock "cuckoo": there are wall and monotonic`,
	"idles":        "says that it is idle, and that it is not asynchronous",
	"mumbles":      `has sent "hello\r\n" to n1, which is no command: protocol error: expected '*', got 'h'`,
	"listens":      "has sent SUBSCRIBE news to n1, whose replies come by themselves",
	"no fork":      "has forked no process that connects within 1s",
	"other":        `and the first said {"type":"hello"`,
}

// TestMisdeeds: a lock that doesn't keep to the protocol ends a run and a search with an error that
// says what it did. Nothing is left behind: see also TestMain.
func TestMisdeeds(t *testing.T) {
	t.Parallel()
	for name, want := range misdeeds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patience := patient
			if name == "stops" || name == "no fork" {
				patience = soon
			}
			p, err := adapter.Start(habit(name), "", patience)
			if err != nil {
				t.Fatal(err)
			}
			_, inRun := scenario(t, "pause-past-ttl").Run(p.Strategy(), 1)
			_, inSearch := explore.Run(t.Context(), explore.Defaults(p.Strategy()), explore.Options{})
			for _, err := range []error{inRun, inSearch} {
				var failure *adapter.Failure
				if !errors.As(err, &failure) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "panic") {
					t.Errorf("got %v\nwant %s", err, want)
				}
			}
			if err := errors.Join(scenarios.Close(), p.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

func scenario(t *testing.T, name string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWavers: a lock that does something else each time is found out by the search.
func TestWavers(t *testing.T) {
	p := start(t, habit("wavers"), "")
	_, err := explore.Run(t.Context(), explore.Defaults(p.Strategy()), explore.Options{})
	var waver *behaviour.Nondeterminism
	if !errors.As(err, &waver) || !strings.Contains(waver.Once+waver.Again, "SET lock ") {
		t.Errorf("got %v", err)
	}
}

// TestNotCalled: a lock that answers twice, or sends a command after its answer, is found out before that
// is taken for a part of the next call. If the command comes too late for that, it is found out because it
// doesn't come so each time: in the client's histories, or where the engine and the search play one schedule.
func TestNotCalled(t *testing.T) {
	for _, name := range []string{"twice", "afterthought"} {
		p := start(t, habit(name), "")
		_, err := explore.Run(t.Context(), explore.Defaults(p.Strategy()), explore.Options{})
		if err == nil {
			t.Errorf("%s passes", name)
			continue
		}
		var failure *adapter.Failure
		var waver *behaviour.Nondeterminism
		found := errors.As(err, &failure) && (strings.Contains(failure.What, ", and was not called") || strings.Contains(failure.What, " at once: "))
		late := errors.As(err, &waver) || strings.Contains(err.Error(), " choices of schedule ")
		if !found && (name == "twice" || !late) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFails: the failure of a call is an event of the run, and no failure of the process.
func TestFails(t *testing.T) {
	p := start(t, habit("fails"), "")
	tr, err := scenario(t, "pause-past-ttl").Run(p.Strategy(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := tr.Plain(&text); err != nil || !strings.Contains(text.String(), "no such luck") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// ownerOf is the variable by which this program is told to search a lock until it is killed.
const ownerOf = "LOCKSTEP_TEST_OWNER"

func own(command string) {
	p, err := adapter.Start(command, "", 0)
	if err != nil {
		panic(err)
	}
	s := p.Strategy()
	for range 3 { // until some executions are under way
		if _, err := explore.Run(context.Background(), explore.Defaults(s), explore.Options{}); err != nil {
			panic(err)
		}
		fmt.Println("searched")
	}
}

// TestNothingStays: when the program that searches is killed, its lock's processes end, forks
// included, and its files are removed. All of them have the write end of a pipe, which ends
// with the last of them.
func TestNothingStays(t *testing.T) {
	t.Parallel()
	commands := map[string]string{"fork": "cd " + filepath.Join(adapters, "python") + " && exec " + interpreter(t, "python") + " redis_py.py"}
	if testenv.CI() {
		commands["once"] = habit("plain")
	}
	for name, command := range commands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			fifo := filepath.Join(t.TempDir(), "held")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), ownerOf+"=exec 9>"+fifo+"; "+command, "TMPDIR="+temp)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			errs, err := cmd.StderrPipe() // the guardian has it, too
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			held, err := os.Open(fifo)
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close() //nolint:errcheck // it was read from
			if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Errorf("%q, %v", line, err)
			}
			_ = cmd.Process.Kill()
			said, _ := io.ReadAll(errs)
			if _, err := io.ReadAll(held); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait()
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v\n%s", left, err, said)
			}
		})
	}
}
