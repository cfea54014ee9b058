package tui

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/strategies"
)

// child names what the test binary does when a test starts it anew, on a
// terminal of its own.
const child = "LOCKSTEP_TUI_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(child) {
	case "home":
		finish(Run(Options{Seed: 1, Theme: "dark"}))
	case "run":
		st, _ := strategies.Get("setpx-lua")
		sc, err := scenarios.Find("pause-past-ttl")
		if err != nil {
			finish(err)
		}
		finish(Run(Options{Seed: 1, Theme: "dark", Strategy: st, Scenario: sc}))
	case "panic":
		finish(show(panics{}))
	}
	debug.SetGCPercent(400) // most of what the tests make is garbage at once: to collect it took them a third of their time
	os.Exit(m.Run())
}

func finish(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(0)
}

// panics is an interface with a bug: any key panics.
type panics struct{}

func (p panics) Init() tea.Cmd { return nil }
func (p panics) View() string  { return "q quit" }
func (p panics) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, is := msg.(tea.KeyMsg); is {
		panic("a bug")
	}
	return p, nil
}

// terminal is a program on a terminal of 80 by 24.
type terminal struct {
	t     *testing.T
	cmd   *exec.Cmd
	user  *os.File // the side at which the user sits
	tty   *os.File // the program's side, kept open so that its settings can be looked at
	state string
	mu    sync.Mutex
	seen  bytes.Buffer
	ended chan error
	was   uint32 // its settings before the program began
}

func startChild(t *testing.T, what, state string) *terminal {
	t.Helper()
	user, tty, err := pty.Open()
	testenv.Need(t, err) // a pseudo terminal
	if err := pty.Setsize(user, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, tty: tty, state: state, ended: make(chan error, 1)}
	x.was = x.mode() // now: a program that has begun may have changed them already
	c := exec.Command(os.Args[0], "-test.run=^$")
	// The reader of bubbletea v1.3.10 may be closed while it reads, as the program
	// ends; the race detector sees that, but it is not ours, and it does no harm.
	c.Env = append(os.Environ(), child+"="+what, "XDG_STATE_HOME="+state, "TERM=xterm-256color", "NO_COLOR=", "GORACE=exitcode=0")
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if user, err = pollable(user); err != nil {
		t.Fatal(err)
	}
	x.cmd, x.user = c, user
	go x.read()
	go func() { x.ended <- c.Wait() }()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = user.Close()
		_ = tty.Close()
	})
	return x
}

// pollable is the same file, such that closing it ends a read that is under way:
// or the program would not notice that the terminal is gone.
func pollable(f *os.File) (*os.File, error) {
	fd, err := unix.Dup(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(unix.SetNonblock(fd, true), f.Close()); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

func (x *terminal) read() {
	buf := make([]byte, 1<<16)
	for {
		n, err := x.user.Read(buf)
		x.mu.Lock()
		x.seen.Write(buf[:n])
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (x *terminal) screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seen.String()
}

// patience is for a loaded machine; nothing here waits for time to pass.
const patience = 60 * time.Second

// await waits until the program has written all of the texts.
func (x *terminal) await(texts ...string) {
	x.t.Helper()
	deadline := time.After(patience)
	for {
		missing := ""
		for _, s := range texts {
			if !strings.Contains(x.screen(), s) {
				missing = s
			}
		}
		if missing == "" {
			return
		}
		select {
		case <-deadline:
			x.t.Fatalf("%q never appeared in\n%q", missing, x.screen())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (x *terminal) forget() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen.Reset()
}

func (x *terminal) typeKeys(keys string) {
	x.t.Helper()
	if _, err := io.WriteString(x.user, keys); err != nil {
		x.t.Fatal(err)
	}
}

// end waits for the program to end, and returns how.
func (x *terminal) end() error {
	x.t.Helper()
	select {
	case err := <-x.ended:
		return err
	case <-time.After(patience):
		x.t.Fatalf("it does not end; it wrote\n%q", x.screen())
		return nil
	}
}

// mode is those of the terminal's settings that a raw terminal lacks.
func (x *terminal) mode() uint32 {
	x.t.Helper()
	m, err := unix.IoctlGetTermios(int(x.tty.Fd()), unix.TCGETS)
	if err != nil {
		x.t.Fatal(err)
	}
	return m.Lflag & (unix.ICANON | unix.ECHO | unix.ISIG)
}

// A signal that comes before bubbletea listens for it ends nothing but the screen: else it would end these tests.
func TestEarlySignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		came := make(chan struct{})
		stop := onSignal(func() { close(came) })
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		<-came
		stop()
	}
}

// However the program ends, the terminal is as it was, and progress is kept.
func TestTerminalIsGivenBack(t *testing.T) {
	for name, test := range map[string]struct {
		child string
		end   func(*terminal)
	}{
		"q":          {"run", func(x *terminal) { x.typeKeys("q") }},
		"ctrl+c":     {"run", func(x *terminal) { x.typeKeys("\x03") }},
		"SIGTERM":    {"run", func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGTERM) }},
		"SIGINT":     {"run", func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGINT) }},
		"SIGHUP":     {"run", func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGHUP) }},
		"panic":      {"panic", func(x *terminal) { x.typeKeys("x") }},
		"with mouse": {"run", func(x *terminal) { x.typeKeys("m"); x.await("mouse off"); x.typeKeys("q") }},
	} {
		t.Run(name, func(t *testing.T) {
			x := startChild(t, test.child, t.TempDir())
			x.await("\x1b[?1049h", "quit")
			if x.mode() == x.was {
				t.Fatal("the program does not take the terminal")
			}
			test.end(x)
			if err := x.end(); (err != nil) != (name == "panic") {
				t.Errorf("it ended with %v, having written %q", err, x.screen())
			}
			if x.mode() != x.was {
				t.Error("the terminal is still raw")
			}
			x.await("\x1b[?1049l", "\x1b[?25h")
			if name == "with mouse" {
				x.await("\x1b[?1002l")
			}
			if name == "panic" {
				x.await("a bug") // somebody has to be told
			}
		})
	}
}

// A terminal that is closed, or a process that is killed outright, loses nothing
// of what was done before.
func TestProgressSurvivesAnyEnd(t *testing.T) {
	for name, end := range map[string]func(*terminal){
		"closed": func(x *terminal) { _ = x.tty.Close(); _ = x.user.Close() },
		"killed": func(x *terminal) { _ = x.cmd.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			x := startChild(t, "home", state)
			x.await("how Redis locks fail")
			x.typeKeys("\t")
			x.await("The course")
			x.typeKeys("\r")
			x.await("lesson 1, step 1", "of ")
			x.await("nothing has happened yet")
			x.typeKeys("G")
			x.await("continues with")
			end(x)
			var exit *exec.ExitError
			if err := x.end(); err != nil && !errors.As(err, &exit) {
				t.Error(err)
			}
			data, err := os.ReadFile(state + "/lockstep/progress.json")
			if err != nil || !strings.Contains(string(data), "stampede-fallthrough/setnx") {
				t.Errorf("progress is lost: %v, %s", err, data)
			}
		})
	}
}

// Every screen, in the program itself, as a user would get there.
func TestWholeProgram(t *testing.T) {
	x := startChild(t, "home", t.TempDir())
	for _, step := range []struct {
		keys string
		want []string
	}{
		{"", []string{"how Redis locks fail", "FOREIGN RELEASE"}},
		{"2", []string{"The course", "Why lock at all"}},
		{"\x1b", []string{"how Redis locks fail"}},
		{"4", []string{"Which lock should I use?", "3 questions to answer"}},
		{"\x1b[D\r\x1b[D\r\x1b[D", []string{"Use setpx-lua"}},
		{"\x1b", []string{"how Redis locks fail"}},
		{"5", []string{"each in ", "late-release"}},
		{"/crash-h\r", []string{"filter: scenarios crash-h"}},
		{"\x1b", []string{"each in "}},
		{"g", []string{"stampede-fallthrough"}},
		{"\x1b[B", []string{"stampede-fallthrough.wait"}},
		{"/crash-mid-a\r", []string{"filter: scenarios crash-mid-a"}},
		{"?", []string{"all runs", "play the run"}},
		{"?", []string{"filter: scenarios crash-mid-a", " failure"}},
		{"\t", []string{"The course", "Why lock at all"}},
		{"\t", []string{"All runs"}},
		{"\r", []string{"nothing has happened yet", "believers"}},
		{"G", []string{"has finished"}},
		{"f", []string{"Which lock?"}},
		{"\r", []string{"believers"}},
		{"c", []string{"with which lock?"}},
		{"\x1b[B\r", []string{"differs"}},
		{"\x1b", []string{"believers"}},
		{"g", []string{"nothing has happened yet"}},
		{"b", []string{"Your turn", "as you like"}},
		{"1", []string{"1 move"}},
		{"\x1b", []string{"nothing has happened yet"}},
		{"a", []string{"All schedules", "searches every schedule"}},
		{"\r", []string{"Violated:", "least: "}},
		{"\r", []string{"The least schedule with a"}},
		{"!", []string{"!! "}},
		{"\x1b", []string{"All schedules"}},
		{"b", []string{"Break it: ", "Goal: ", "can you match it?"}},
		{"i", []string{"again names the move"}},
		{"i", []string{"Hint: "}},
		{"\r", []string{"So far "}},
		{"o", []string{"Which lock do you want to break?"}},
		{"\x1b", []string{"Goal: "}},
		{"q", []string{"\x1b[?1049l"}},
	} {
		x.forget()
		x.typeKeys(step.keys)
		x.await(step.want...)
	}
	if err := x.end(); err != nil {
		t.Error(err)
	}
}

// From the start of the process to its first whole frame.
func BenchmarkFirstFrame(b *testing.B) {
	for b.Loop() {
		t := &testing.T{}
		x := startChild(t, "home", b.TempDir())
		x.await("quit")
		b.StopTimer()
		_ = x.cmd.Process.Kill()
		<-x.ended
		b.StartTimer()
	}
}
