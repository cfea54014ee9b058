// Package redistest starts real Redis servers for tests.
package redistest

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lockstep/sim/testenv"
)

// Start starts a redis-server, which ends with the test, and returns its socket. The test needs
// one on the PATH.
func Start(t *testing.T) (socket string) {
	t.Helper()
	socket, _ = StartIn(t, t.TempDir())
	return socket
}

// StartIn starts one in a directory, which has the data of the one before it, if it keeps any.
// kill ends its process without a word to it, and waits for its end.
func StartIn(t *testing.T, dir string, options ...string) (socket string, kill func()) {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	testenv.Need(t, err)
	socket = filepath.Join(dir, "s")
	all := append([]string{"--port", "0", "--unixsocket", socket, "--dir", dir, "--save", "", "--appendonly", "no"}, options...)
	cmd := exec.Command(program, all...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	t.Cleanup(kill)
	var log strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		log.WriteString(lines.Text() + "\n")
		if strings.Contains(strings.ToLower(lines.Text()), "ready to accept connections") {
			return socket, kill
		}
	}
	t.Fatalf("redis-server does not start:\n%s", &log)
	return "", nil
}
