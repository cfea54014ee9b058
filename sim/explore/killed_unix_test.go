//go:build unix

package explore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lockstep/sim/spawn"
	"lockstep/sim/testenv"
)

// TestKilledOnDisk: a search whose process is killed again and again, anywhere, has the result of
// one that isn't.
func TestKilledOnDisk(t *testing.T) {
	t.Parallel()
	for seed := range testenv.Count(1, 4) {
		name := diskSearches[seed]
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(seed), 5))
			t.Logf("seed %d", seed)
			var stops []int
			for range testenv.Count(2, 3) {
				stops = append(stops, 1+random.IntN(20))
			}
			want := unkilled(t, name)
			if got := inProcesses(t, diskWork{Name: name, Room: smallRoom}, stops); got != want {
				t.Errorf("after it was killed\n%s\nand in memory\n%s", got, want)
			}
		})
	}
}

// TestDiskFull: a search for whose files there is no room fails and says why, and goes on from
// its last level where there is.
func TestDiskFull(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	const name = "setpx-lua twice"
	work := diskWork{Name: name, Room: smallRoom, Dir: filepath.Join(t.TempDir(), "search"), FileSize: &syscall.Rlimit{Cur: 9000, Max: 9000}}
	if got := inProcess(t, work); !strings.Contains(got, "file too large; the end of the last level is in "+work.Dir) {
		t.Error(got)
	}
	full, err := os.ReadFile(filepath.Join(work.Dir, "search.json"))
	if err != nil {
		t.Fatal(err)
	}
	if work.FileSize = nil; !strings.Contains(string(full), `"Depth"`) {
		t.Errorf("nothing was kept: %s", full)
	}
	want := unkilled(t, name)
	if got := inProcess(t, work); got != want {
		t.Errorf("where there is room\n%s\nand in memory\n%s", got, want)
	}
}

// diskWork is what a child of a test is told to search.
type diskWork struct {
	Name, Dir string
	Room      int64
	Stop      int             // the child kills itself when it has followed states so often; 0 is never
	FileSize  *syscall.Rlimit // that a file may have; nil is any
}

const diskWorkOf = "LOCKSTEP_DISK_WORK"

func TestMain(m *testing.M) {
	if told := os.Getenv(diskWorkOf); told != "" {
		workOnDisk(told)
		return
	}
	os.Exit(m.Run())
}

// workOnDisk is the child.
func workOnDisk(told string) {
	var w diskWork
	if err := json.Unmarshal([]byte(told), &w); err != nil {
		panic(err)
	}
	if w.FileSize != nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, w.FileSize); err != nil {
			panic(err)
		}
	}
	opt := Options{Disk: w.Dir, room: w.Room, Workers: 2}
	opt.stir = func() {
		if w.Stop--; w.Stop == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	r, err := Run(context.Background(), diskBounds(w.Name), opt)
	text := fmt.Sprint(err)
	if err == nil {
		text = textOf(r)
	}
	fmt.Print(text)
}

// inProcesses has a search made by one process after the other. Each but the last is killed.
func inProcesses(t *testing.T, w diskWork, stops []int) string {
	t.Helper()
	w.Dir = filepath.Join(t.TempDir(), "search")
	for _, w.Stop = range stops {
		if got := inProcess(t, w); got != "" {
			t.Fatalf("it wasn't killed, and says %s", got)
		}
	}
	w.Stop = 0
	return inProcess(t, w)
}

// inProcess returns what a child says, or nothing if it was killed.
func inProcess(t *testing.T, w diskWork) string {
	t.Helper()
	folder, err := spawn.New("lockstep-disk-")
	testenv.Need(t, err)
	told, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), diskWorkOf+"="+string(told)), to, os.Stderr
	_, err = folder.Start(cmd)
	if err = errors.Join(err, to.Close()); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(from) // until it has ended
	if err = errors.Join(err, from.Close(), folder.Close()); err != nil {
		t.Fatal(err)
	}
	return string(out)
}
