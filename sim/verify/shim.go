package verify

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"lockstep/sim/spawn"
)

// shimSource is the C source of a library that takes a program's clock from a file. The
// name ends in .txt because the go command takes a .c file for a part of the package.
//
//go:embed clock.c.txt
var shimSource []byte

// Tools returns why real servers with exact virtual time can't be had here, or nil: a tool is
// missing, or the system isn't Linux.
func Tools() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("exact virtual time needs Linux, whose loader puts a library before the server's own (LD_PRELOAD), and this is %s", runtime.GOOS)
	}
	for _, tool := range []string{"redis-server", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("exact virtual time needs %s: %w", tool, err)
		}
	}
	return nil
}

// compileShim compiles the library into a folder, and returns its path.
func compileShim(f *spawn.Folder) (string, error) {
	source, library := f.Path("clock.c"), f.Path("clock.so")
	if err := os.WriteFile(source, shimSource, 0o600); err != nil {
		return "", err
	}
	out, err := exec.Command("cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl").CombinedOutput() //nolint:gosec // paths of our own
	if err != nil {
		return "", fmt.Errorf("cc cannot compile the clock: %w\n%s", err, out)
	}
	return library, nil
}

// clock is the clock of one real server: a number in a file.
type clock struct{ file *os.File }

func newClock(path string, at time.Time) (clock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // a path of our own
	if err != nil {
		return clock{}, err
	}
	c := clock{f}
	if err := c.set(at); err != nil {
		return clock{}, errors.Join(err, f.Close())
	}
	return c, nil
}

// set sets the clock. The server reads the number whole, because eight aligned bytes are
// written at once.
func (c clock) set(at time.Time) error {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], uint64(at.UnixNano())) //nolint:gosec // after 1970
	_, err := c.file.WriteAt(b[:], 0)
	return err
}

// clockTime returns the instant that a clock's file has.
func clockTime(b [8]byte) time.Time {
	return time.Unix(0, int64(binary.NativeEndian.Uint64(b[:]))) //nolint:gosec // after 1970
}
