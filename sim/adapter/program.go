package adapter

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"lockstep/sim/spawn"
)

// Patience is how long a process may take to answer, in real time, unless something else is
// asked for.
const Patience = 5 * time.Second

// controlFD is the descriptor that a started process has its control connection on.
const controlFD = 3

// Program is a command whose processes run a lock. It is safe for concurrent use.
//
// Invariant: forks is the number of processes that were asked for and have not been taken.
type Program struct {
	command  string
	dir      string
	patience time.Duration
	hello    Message // of the first process

	mu       sync.Mutex
	folder   *spawn.Folder
	printed  *os.File // the output of all processes
	listener int      // where forked processes connect
	origin   *channel // the process that forks, if one does
	forks    int
	idle     []*channel // processes that can begin an execution
	begun    int        // executions
	closed   bool

	transcript func(fd int, line string) // or nil; see the test of docs/protocol.md
}

// Start starts a command by /bin/sh, in a directory (the current one if that is empty), and
// waits until it has said hello. It fails with a [Failure] if it doesn't within patience (0 is
// [Patience]), or if its first message is wrong. The processes that come of the command, and all files,
// are gone after Close, and after the end of this process, however that comes about.
func Start(command, dir string, patience time.Duration) (*Program, error) {
	if strings.TrimSpace(command) == "" {
		return nil, errors.New("there is no command to start")
	}
	if patience <= 0 {
		patience = Patience
	}
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return nil, err
		}
	}
	folder, err := spawn.New("lockstep-exec-")
	if err != nil {
		return nil, err
	}
	p := &Program{command: command, dir: dir, patience: patience, folder: folder}
	if err := p.open(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// open makes the program's files, and starts the first process.
func (p *Program) open() (err error) {
	if p.printed, err = os.OpenFile(p.folder.Path("printed"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		return err
	}
	if p.listener, err = listen(p.folder.Path("fork")); err != nil {
		return err
	}
	ch, err := p.start()
	if err != nil {
		return err
	}
	if p.hello.Executions == fork {
		p.origin = ch
		return nil
	}
	p.idle = append(p.idle, ch)
	return nil
}

// start starts the command, and waits for its hello.
func (p *Program) start() (*channel, error) {
	host, inherited, err := pair(p.patience)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-c", p.command) //nolint:gosec // it is what the user has typed
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, p.printed, p.printed
	cmd.ExtraFiles = []*os.File{inherited}
	owner, err := p.folder.Start(cmd)
	err = errors.Join(err, inherited.Close())
	ch := &channel{fd: host, owner: owner}
	if err != nil {
		ch.close()
		return nil, err
	}
	return ch, p.greet(ch)
}

// greet waits for the hello of a process. That of the first says what lock it is; all others
// must say the same.
func (p *Program) greet(ch *channel) error {
	from := p.size()
	m, err := ch.greet(p.patience)
	switch {
	case err != nil:
	case p.hello.Type == "":
		p.hello = m
	case m.text() != p.hello.text():
		err = fmt.Errorf("says hello by %s, and the first said %s", m.text(), p.hello.text())
	}
	if err == nil {
		return nil
	}
	if p.hello.Type == "" {
		from = 0
	}
	p.end(ch)
	what := err.Error()
	if errors.Is(err, errEnded) {
		what += fmt.Sprintf(", before it said hello on descriptor %d", controlFD)
	}
	return &Failure{Command: p.command, What: what, Printed: p.print(from)}
}

// take returns a process that can begin an execution, and the place where its output begins.
func (p *Program) take() (ch *channel, printed int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trim()
	switch printed = p.size(); {
	case p.closed:
		return nil, 0, errors.New("the program is closed")
	case p.origin != nil:
		ch, err = p.forked()
	case len(p.idle) > 0:
		ch = p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
	default:
		ch, err = p.start()
	}
	p.begun++
	return ch, printed, err
}

// forked returns a process that was forked, and asks for another, which then is ready when
// it is needed.
func (p *Program) forked() (*channel, error) {
	for p.forks < 2 {
		if err := p.origin.send(Message{Type: "fork", Path: p.folder.Path("fork")}); err != nil {
			return nil, &Failure{Command: p.command, What: "has ended: it forks no more", Printed: p.print(0)}
		}
		p.forks++
	}
	for {
		if fd, any := accept(p.listener, p.patience); any {
			p.forks--
			ch := &channel{fd: fd, transcript: p.transcript}
			return ch, p.greet(ch)
		}
		if !await([]int{p.listener}, p.patience) {
			return nil, &Failure{Command: p.command, What: fmt.Sprintf("has forked no process that connects within %s", p.patience), Printed: p.print(0)}
		}
	}
}

// giveBack takes back a process whose execution is over. It may serve another if it said so.
func (p *Program) giveBack(ch *channel, sound bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sound && p.hello.Executions == again && !p.closed {
		p.idle = append(p.idle, ch)
		return
	}
	p.end(ch)
}

// end ends a process.
func (p *Program) end(ch *channel) {
	ch.close()
	if ch.owner != nil {
		ch.owner.Kill()
	}
}

// Close ends all processes, and removes all files. It fails if those can't be removed.
func (p *Program) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	for _, ch := range p.idle {
		p.end(ch)
	}
	if p.origin != nil {
		p.end(p.origin)
	}
	if p.listener != 0 {
		closeFD(p.listener)
	}
	var err error
	if p.printed != nil {
		err = p.printed.Close()
	}
	return errors.Join(err, p.folder.Close())
}

// Executions returns how often the lock was run.
func (p *Program) Executions() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.begun
}

// size is how much has been printed.
func (p *Program) size() int64 {
	info, err := p.printed.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// trim drops the output before it fills the disk.
func (p *Program) trim() {
	const most = 1 << 20
	if p.size() > most {
		_ = p.printed.Truncate(0) // all processes append
	}
}

// print returns the lines of the output, from a position on, that tell the cause of a failure.
func (p *Program) print(from int64) string {
	const most = 16 << 10
	from = max(from, p.size()-most)
	text, _ := io.ReadAll(io.NewSectionReader(p.printed, from, most))
	return cause(strings.ToValidUTF8(string(text), "?"))
}
