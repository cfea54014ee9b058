//go:build unix

package adapter_test

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/adapter"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// inPHP starts a program of testdata in the folder of PHP's adapter, PHP with some flags.
func inPHP(t *testing.T, flags, program string) *adapter.Program {
	t.Helper()
	command := strings.ReplaceAll("PHP "+flags+" DATA/"+program, "PHP", interpreter(t, "php"))
	return start(t, strings.ReplaceAll(command, "DATA", "../../../sim/adapter/testdata"), filepath.Join(adapters, "php"))
}

// TestPHPsTokensDiffer: whatever a lock in PHP makes its tokens of, two processes have different ones, and
// one process the same each time that it is run.
func TestPHPsTokensDiffer(t *testing.T) {
	testenv.LongRaced(t)
	t.Parallel()
	for i, name := range []string{"bytes", "int", "called", "callable", "openssl", "lcg", "pid", "twister", "reseeds", "reseeds-alike", "shuffle",
		"randomizer", "randomizer-short", "secure", "engine", "xoshiro", "evaluated", "static", "made"} {
		if !testenv.Some(i, 8) || !testenv.Sampled(i, 24) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			search(t, inPHP(t, "", "habits.php "+name), brief, nil)
		})
	}
}

// TestPHPRefuses: what the world can't follow ends the process, and the line is named.
func TestPHPRefuses(t *testing.T) {
	testenv.LongRaced(t)
	t.Parallel()
	const (
		process   = "it starts a process, which isn't in the world"
		timed     = "it has a signal come after a time, which doesn't pass here: give its calls a timeout"
		machine   = "it reads the clock of the machine, which isn't the world's"
		state     = "it reads the state of the machine, which isn't the same each time"
		elsewhere = "and not to one of the servers that it was given"
		writes    = "it writes to the file /tmp/lockstep-habit, where the next execution would find it"
		changes   = "it changes files, and the next execution would find them so"
		keeps     = "it keeps something outside of the process, where the next execution would find it"
		random    = "it has random numbers drawn by C code, which aren't the world's: use random_bytes"
		unwatched = ", whose clocks, waits, files and connections can't be watched"
		again     = ", which isn't the same each time"
	)
	habits := map[string]string{
		"exec": process, "shell": process, "opens-process": process, "mail": process,
		"fork": process, "fork-called": process, "fork-callable": process, "fork-renamed": process, "fork-evaluated": process,
		"kill":  "it acts on a process, which isn't in the world",
		"alarm": timed, "limit": timed, "limit-set": timed,
		"processor": "it reads the clock of the processor, which isn't the world's",
		"machine":   machine, "julian": machine,
		"load": state, "parent": state,
		"elsewhere":        "it connects to tcp://127.0.0.1:9, " + elsewhere,
		"elsewhere-caught": "it connects to 127.0.0.1:9, " + elsewhere,
		"http":             "it opens http://127.0.0.1:9/, which isn't in the world",
		"name":             "it asks a name server, which isn't in the world",
		"serves":           "it makes a connection that is none to one of the servers that it was given",
		"sockets":          "it uses socket_create" + unwatched,
		"writes":           writes, "appends": writes, "object": writes, "filters": writes, "silenced": writes, "logs": writes,
		"removes": changes, "renames": changes, "makes": changes, "touches": changes, "temporary": changes, "links": changes, "exports": changes,
		"locks":  "it locks a file, and the other executions aren't in its world",
		"device": "it reads /dev/urandom" + again, "device-found": "it reads urandom" + again, "uptime": "it reads /proc/uptime" + again, "process-id": "it reads /proc/self" + again,
		"stats": "it reads /proc/self" + again, "lists": "it reads /proc" + again,
		"unwatched": "it replaces the stream wrapper file, by which its files are watched",
		"shares":    keeps, "semaphore": keeps, "session": keeps,
		"database": "it uses PDO" + unwatched, "database-named": "it uses PDO" + unwatched, "database-extended": "it uses PDO" + unwatched,
		"machine-code": "it uses FFI" + unwatched, "machine-code-named": "it uses FFI" + unwatched,
		"password": random, "key": random,
		"polls": "it reads without waiting, so that what it finds depends on real time: use the library's synchronous client",
	}
	for i, name := range slices.Sorted(maps.Keys(habits)) {
		if !testenv.Some(i, 8) || !testenv.Sampled(i, 16) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refuses(t, inPHP(t, "", "habits.php "+name), brief, "Error: "+habits[name], "habits.php")
		})
	}
}

// TestPHPRefusesPhpredis: its C code connects anew by itself if the connection has ended when it begins to read, and
// otherwise fails, and the real time decides which.
func TestPHPRefusesPhpredis(t *testing.T) {
	t.Parallel()
	testenv.Need(t, exec.Command(interpreter(t, "php"), "-r", "exit(class_exists('Redis') ? 0 : 1);").Run())
	refuses(t, inPHP(t, "", "habits.php phpredis"), brief, "Error: it uses phpredis, which waits, and connects anew, by C code and in real time: use Predis", "habits.php")
}

// TestPHPRefusesToLoad: a PHP whose functions can't be replaced, and a lock that looks at the time before
// there is one, are refused with the reason.
func TestPHPRefusesToLoad(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"PHP -d disable_functions=pcntl_fork,exec DATA/habits.php bytes": " cannot run a lock without its function pcntl_fork: disable_functions in ",
		"PHP -r 'require \"lockstep.php\";'":                             " cannot run a lock that isn't a file: start it as php LOCK.php, where LOCK.php requires lockstep.php",
		"PHP DATA/habits.php loads":                                      "it reads the clock while it is loaded, when the world has no time yet\n    #0 ",
	} {
		command = strings.NewReplacer("PHP", interpreter(t, "php"), "DATA", "../../../sim/adapter/testdata").Replace(command)
		p, err := adapter.Start(command, filepath.Join(adapters, "php"), patient)
		if err == nil {
			_ = p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", command, err, want)
		}
	}
}

// TestPHPWaits: a lock waits as long in the world, by whatever means it does.
func TestPHPWaits(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	sameStates(t, "sleeps", []string{"selects", "usleeps", "nanosleeps"}, func(t *testing.T, name string) int64 {
		return search(t, inPHP(t, "", "habits.php "+name), brief, nil).States
	})
}

// TestPHPsClocksAgree: all of them show the world's time, and dates are what PHP itself makes of it. PHP
// keeps the settings that it was started with.
func TestPHPsClocksAgree(t *testing.T) {
	t.Parallel()
	for program, flags := range map[string]string{`clocks.php "$(PHP DATA/clocks.php)"`: "", "habits.php settings": "-d precision=7",
		"habits.php -- settings": "-d precision=7 -f"} {
		run, err := scenario(t, "pause-past-ttl").Run(inPHP(t, flags, program).Strategy(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(run.Verdict(), trace.OV) { // each client has had the lock, and A's lease is over
			t.Errorf("the verdict is %s under %s", run.Verdict(), program)
		}
	}
}
