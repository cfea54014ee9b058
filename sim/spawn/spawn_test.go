//go:build unix

package spawn

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// owner is the environment variable that makes the test binary the process whose end the
// tests are about.
const owner = "LOCKSTEP_SPAWN_OWNER"

func TestMain(m *testing.M) {
	if way := os.Getenv(owner); way != "" {
		own(way)
		return
	}
	os.Exit(m.Run())
}

// own starts a program that has a child of its own, and then ends in the given way.
func own(way string) {
	f, err := New("lockstep-spawn-")
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `: > here; (trap '' HUP TERM; while :; do read -r x < never; done) & echo started; wait`)
	never := f.Path("never")
	if err := syscall.Mkfifo(never, 0o600); err != nil {
		panic(err)
	}
	cmd.Stderr = os.Stderr // the test reads it to its end, which comes with the last holder's
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if _, err := f.Start(cmd); err != nil {
		panic(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		panic(err)
	}
	fmt.Println(f.path)
	switch way {
	case "closes":
		if err := f.Close(); err != nil {
			panic(err)
		}
	case "exits":
		os.Exit(3)
	case "panics":
		panic("on purpose")
	default:
		select {} // is killed
	}
}

// All programs and the folder hold the test's pipe, or are gone by its end: so there is
// nothing to wait for but that.
func TestNothingIsLeftBehind(t *testing.T) {
	for _, way := range []string{"closes", "exits", "panics", "is killed", "is interrupted"} {
		t.Run(way, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), owner+"="+way)
			ownGroup(cmd)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			held, errs, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stderr = errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if err := errs.Close(); err != nil {
				t.Fatal(err)
			}
			path, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			switch way {
			case "is killed":
				_ = cmd.Process.Kill()
			case "is interrupted": // as by the terminal: the whole group
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
			}
			said, err := io.ReadAll(held)
			if err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if _, err := os.Stat(strings.TrimSpace(path)); !os.IsNotExist(err) {
				t.Errorf("the folder is left: %v\n%s", err, said)
			}
		})
	}
}

func TestKillEndsTheGroup(t *testing.T) {
	f, err := New("lockstep-spawn-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	held, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `(while :; do read -r x < "$1"; done) & wait`, "sh", f.Path("never"))
	cmd.ExtraFiles = []*os.File{write}
	if err := syscall.Mkfifo(f.Path("never"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := f.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	p.Kill()
	if _, err := io.ReadAll(held); err != nil { // ends when child and grandchild have
		t.Fatal(err)
	}
}

func TestNoSuchProgram(t *testing.T) {
	f, err := New("lockstep-spawn-")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Start(exec.Command("no-such-program-anywhere")); err == nil || !strings.Contains(err.Error(), "no-such-program-anywhere") {
		t.Errorf("got %v, want an error that names the program", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
