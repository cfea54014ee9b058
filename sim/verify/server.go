package verify

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/resp"
	"lockstep/sim/spawn"
)

// server is a redis-server of our own, whose clock we set.
//
// Invariant: process is nil while the server is down.
type server struct {
	lab     *lab
	name    string
	clock   clock
	process *spawn.Process
	side    *conn // for questions of our own
	aof     bool  // it has an append-only file
	linked  bool  // it is a master or a replica
	gate    *gate // of a replica: through which its master's writes come
}

// lab is a folder with the servers in it, and the shim.
type lab struct {
	*spawn.Folder
	shim  string // its path; empty in the tests that use real time
	count int    // of servers made
}

func newLab() (*lab, error) {
	if err := Tools(); err != nil {
		return nil, err
	}
	folder, err := spawn.New("lockstep-verify-")
	if err != nil {
		return nil, err
	}
	shim, err := compileShim(folder)
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return &lab{Folder: folder, shim: shim}, nil
}

// newServer starts a server that is empty, at an instant of its own clock.
func (l *lab) newServer(aof, linked bool, at time.Time) (*server, error) {
	l.count++
	s := &server{lab: l, name: "s" + strconv.Itoa(l.count), aof: aof, linked: linked}
	if err := os.Mkdir(s.path(""), 0o700); err != nil {
		return nil, err
	}
	var err error
	if s.clock, err = newClock(s.path("clock"), at); err != nil {
		return nil, err
	}
	return s, s.start()
}

func (s *server) path(name string) string { return filepath.Join(s.lab.Path(s.name), name) }

// start starts the process, with the data on its disk.
func (s *server) start() error {
	cmd := exec.Command("redis-server", s.options()...) //nolint:gosec // options of our own
	cmd.Dir = s.path("")
	if s.lab.shim != "" {
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+s.lab.shim, "LOCKSTEP_CLOCK="+s.path("clock"))
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	process, err := s.lab.Start(cmd)
	if err != nil {
		return err
	}
	in := bufio.NewScanner(out)
	var said []string
	for in.Scan() {
		if strings.Contains(strings.ToLower(in.Text()), "ready to accept connections") {
			go func() { // or the server would block when the pipe is full
				for in.Scan() {
				}
			}()
			s.process = process
			return s.greet()
		}
		said = append(said, in.Text())
	}
	process.Kill()
	return fmt.Errorf("redis-server ends at its start:\n%s", strings.Join(said, "\n"))
}

func (s *server) options() []string {
	o := []string{"--port", "0", "--unixsocket", s.path("socket"), "--dir", s.path(""), "--save", "", "--hz", "10",
		"--appendonly", "no", "--appendfsync", "no",
		// That thread waits until instants of the wall clock, which the kernel takes for long past.
		"--jemalloc-bg-thread", "no",
		// Replicas must neither wait for each other nor be given up when our clock jumps, and
		// no PING of its own may be in the stream that the gate counts.
		"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0",
		"--repl-timeout", "1000000000", "--repl-ping-replica-period", "1000000000"}
	if s.aof {
		o[slices.Index(o, "--appendonly")+1] = "yes"
	}
	if s.linked { // a master looks that often whether it has sent the whole copy
		o[slices.Index(o, "--hz")+1] = "100"
	}
	return o
}

// greet connects to a server that has just started, and makes sure that it uses our clock.
func (s *server) greet() error {
	var err error
	if s.side, err = s.dial(); err != nil || s.lab.shim == "" {
		return err
	}
	reply, err := s.side.ask("TIME")
	if err != nil {
		return err
	}
	words, err := resp.Words(reply)
	if err != nil {
		return err
	}
	var want [8]byte
	if _, err := s.clock.file.ReadAt(want[:], 0); err != nil {
		return err
	}
	if at := clockTime(want); words[0] != strconv.FormatInt(at.Unix(), 10) {
		return fmt.Errorf("this redis-server reads its clock in some way that the shim doesn't reach: TIME is %s, not %d; use --redis with a server that runs already", words[0], at.Unix())
	}
	return nil
}

func (s *server) dial() (*conn, error) { return dial("unix", s.path("socket")) }

// ask asks the server a question of our own. It fails if the reply is an error.
func (s *server) ask(args ...string) ([]byte, error) {
	reply, err := s.side.ask(args...)
	if err == nil && reply[0] == '-' {
		err = errors.New(strings.TrimSpace(string(reply[1:])))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", args[0], err)
	}
	return reply, nil
}

// info returns a field of a section of INFO, "" if there is none.
func (s *server) info(section, field string) (string, error) {
	reply, err := s.ask("INFO", section)
	if err != nil {
		return "", err
	}
	return infoField(string(reply), field), nil
}

func infoField(info, field string) string {
	for line := range strings.Lines(info) {
		if value, found := strings.CutPrefix(line, field+":"); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// kill ends the server's process at once.
func (s *server) kill() {
	if s.process != nil {
		_ = s.side.Close() // its other end is about to go
		s.process.Kill()
		s.process = nil
	}
}

// remove ends the server for good.
func (s *server) remove() error {
	s.kill()
	if s.gate != nil {
		s.gate.close()
	}
	return errors.Join(s.clock.file.Close(), os.RemoveAll(s.path("")))
}

// log returns the path of the file to which the server appends its writes.
func (s *server) log() (string, error) {
	for _, pattern := range []string{"appendonlydir/*.incr.aof", "appendonly.aof"} { // since Redis 7, and before
		if found, err := filepath.Glob(s.path(pattern)); err != nil || len(found) == 1 {
			return found[0], err
		}
	}
	return "", fmt.Errorf("%s has no append-only file", s.name)
}
