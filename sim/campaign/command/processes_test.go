package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/sim/redis/redistest"
	"lockstep/sim/spawn"
	"lockstep/sim/testenv"
)

// asProgram is the environment variable that makes the test binary the program.
const asProgram = "LOCKSTEP_CAMPAIGN_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// shared is what the processes of a test have in common.
type shared struct {
	*testing.T
	dir      string
	children *spawn.Folder
}

func newShared(t *testing.T) *shared {
	t.Helper()
	children, err := spawn.New("lockstep-campaign-")
	testenv.Need(t, err)
	s := &shared{T: t, dir: t.TempDir(), children: children}
	t.Cleanup(func() {
		if err := children.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// file writes a file, and returns its path.
func (s *shared) file(name, text string) string {
	s.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}

// command is the program as a process of its own.
func (s *shared) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "LOCKSTEP_QUEUE=", "LOCKSTEP_RESULTS="+filepath.Join(s.dir, "default"), "REDISCLI_AUTH=")
	return cmd
}

// worker starts a worker, and returns when it is ready. Its log goes to the writer.
func (s *shared) worker(log *lines, args ...string) (kill func()) {
	s.Helper()
	cmd := s.command(append([]string{"worker", "--jobs", "1"}, args...)...)
	cmd.Stderr = log
	from := log.len()
	p, err := s.children.Start(cmd)
	if err != nil {
		s.Fatal(err)
	}
	log.await(s.T, from, "ready for the queue")
	return p.Kill
}

// lines are what processes print; they are safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newLines() *lines { return &lines{more: make(chan struct{}, 1)} }

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return l.text.Write(p)
}

func (l *lines) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Len()
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// limit is far longer than anything here takes, even on a busy machine.
const limit = 2 * time.Minute

// await waits until a text is printed from a place on.
func (l *lines) await(t *testing.T, from int, text string) {
	t.Helper()
	over := time.After(limit)
	for !strings.Contains(l.String()[from:], text) {
		select {
		case <-l.more:
		case <-over:
			t.Fatalf("%q was never printed:\n%s", text, l)
		}
	}
}

// ended is the end of a campaign.
type ended struct {
	report string
	status int
	err    error
}

// start starts a campaign, and delivers its end.
func (s *shared) start(log *lines, args ...string) <-chan ended {
	over := make(chan ended, 1)
	cmd := s.command(append([]string{"run", "--no-times"}, args...)...)
	cmd.Stderr = log
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		over <- ended{err: err}
		return over
	}
	ctx, stop := context.WithTimeoutCause(s.Context(), limit, errors.New("the campaign doesn't end"))
	context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	go func() {
		_ = cmd.Wait() // its exit status says it
		over <- ended{out.String(), cmd.ProcessState.ExitCode(), context.Cause(ctx)}
		stop()
	}()
	return over
}

// run runs a campaign to its end, and returns the report and the exit status.
func (s *shared) run(log *lines, args ...string) (string, int) {
	s.Helper()
	e := <-s.start(log, args...)
	if e.err != nil {
		s.Fatalf("%s\n%s", e.err, log)
	}
	return e.report, e.status
}

// aCampaign has some dozen jobs of a tenth of a second: those that hold, those that don't, those
// on several servers, and random ones.
const aCampaign = `campaign: test
locks: [setnx, get-then-del, setpx-lua, redlock]
searches:
  - cycles: 1
    faults: [none, crash=1]
    ttls: [12s, 3s]
    codes: DG,FR,PD
  - locks: get-then-del
    cycles: 1
    callers: [plain, checks]
random:
  - seeds: 1-400
    chunk: 100
known:
  setnx: PD
`

// The report is the same, byte for byte, wherever a campaign is carried out, and whatever
// happens to those who do.
func TestSameReportEverywhere(t *testing.T) {
	s := newShared(t)
	file := s.file("campaign.yaml", aCampaign)
	log := newLines()
	want, status := s.run(log, file, "--results", filepath.Join(s.dir, "embedded"))
	if status != exitViolated || !strings.Contains(want, "get-then-del") {
		t.Fatalf("exit status %d\n%s\n%s", status, want, log)
	}
	check := func(t *testing.T, name string, run func(s *shared, results string) (string, int)) {
		t.Run(name, func(t *testing.T) {
			inner := *s
			inner.T = t
			results := filepath.Join(s.dir, name)
			got, status := run(&inner, results)
			if got != want || status != exitViolated {
				t.Errorf("exit status %d, and the report is\n%s\nand on the embedded queue\n%s", status, got, want)
			}
			if n, of := count(t, results), count(t, filepath.Join(s.dir, "embedded")); n != of {
				t.Errorf("%d results, not %d", n, of)
			}
		})
	}
	for _, workers := range []int{1, 4} {
		if workers == 1 && !testenv.Whole() { // many must come to the same as well
			continue
		}
		check(t, fmt.Sprintf("workers-%d", workers), func(s *shared, results string) (string, int) {
			queue := "redis-socket://" + redistest.Start(s.T)
			for range workers {
				s.worker(log, "--queue", queue, "--results", results)
			}
			return s.run(log, file, "--queue", queue, "--results", results)
		})
	}
	check(t, "killed", func(s *shared, results string) (string, int) { return s.harassed(file, results) })
}

// count is the number of results in a folder.
func count(t *testing.T, results string) (n int) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(results, "results", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// harassed carries out a campaign with three workers, of which one is killed every second in which
// a result came in, on a Redis that is killed at every other of these times and has its data on
// disk. A clock alone would be no measure: on a busy machine no worker would live long enough to
// end a job, and after ten deaths a job is rightly set aside.
func (s *shared) harassed(file, results string) (string, int) {
	log := newLines()
	dir := s.TempDir()
	socket, killRedis := redistest.StartIn(s.T, dir, "--appendonly", "yes")
	queue := "redis-socket://" + socket
	var workers [3]func()
	for i := range workers {
		workers[i] = s.worker(log, "--queue", queue, "--results", results)
	}
	over := s.start(log, file, "--queue", queue, "--results", results)
	kills, before := 0, 0
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	for {
		select {
		case e := <-over:
			if e.err != nil {
				s.Fatalf("%s\n%s", e.err, log)
			}
			if kills == 0 {
				s.Error("nothing was killed: the campaign is too short")
			}
			s.Logf("%d kills", kills)
			return e.report, e.status
		case <-clock.C:
			done := count(s.T, results)
			if done == before {
				continue
			}
			before = done
			workers[kills%3]()
			if kills%2 == 1 {
				killRedis()
				_, killRedis = redistest.StartIn(s.T, dir, "--appendonly", "yes")
			}
			workers[kills%3] = s.worker(log, "--queue", queue, "--results", results)
			kills++
		}
	}
}

// No output, no result and nothing in the queue has the password in it, whether or not it is
// right.
func TestPasswordsStaySecret(t *testing.T) {
	s := newShared(t)
	const password = "s3cr3t/p%wd"
	dir := t.TempDir()
	socket, _ := redistest.StartIn(t, dir, "--requirepass", password)
	file := s.file("campaign.yaml", "campaign: x\nlocks: [setnx]\nsearches:\n  - cycles: 1\n    faults: none\n")
	results := filepath.Join(s.dir, "results")
	log := newLines()
	right := "redis-socket://:" + url.QueryEscape(password) + "@" + socket
	s.worker(log, "--queue", right, "--results", results)
	report, status := s.run(log, file, "--queue", right, "--results", results)
	if status != exitOK && status != exitViolated {
		t.Errorf("exit status %d\n%s", status, log)
	}
	all := report
	for _, args := range [][]string{
		{"--queue", "redis-socket://:" + url.QueryEscape("x"+password) + "@" + socket},
		{"--queue", "redis://:" + password + "@127.0.0.1:1"}, // no URL, because of the percent sign
		{"--queue", "redis://:" + url.QueryEscape(password) + "@127.0.0.1:1"},
		{"--queue", "nonsense://:" + password + "@127.0.0.1:1"},
		{"--queue", "redis://user:" + url.QueryEscape(password) + "@127.0.0.1:notaport"},
		{"--results", "s3://bucket?secret_key=" + url.QueryEscape(password)},
	} {
		out, status := s.run(log, append([]string{file}, args...)...)
		if all += out; status != exitUsage {
			t.Errorf("%q: exit status %d\n%s", args, status, log)
		}
	}
	all += log.String()
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all += path + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{password, url.QueryEscape(password), url.PathEscape(password)} {
		if strings.Contains(all, form) {
			t.Errorf("%q is in it:\n%s", form, all)
		}
	}
	if !strings.Contains(all, "***") {
		t.Errorf("nothing was hidden, so the test shows little:\n%s", all)
	}
}

// A campaign that was killed goes on where it was; one that has been done does nothing; and
// one with one more TTL searches that alone.
func TestResume(t *testing.T) {
	s := newShared(t)
	file := s.file("campaign.yaml", aCampaign)
	log := newLines()
	fresh, _ := s.run(log, file, "--results", filepath.Join(s.dir, "fresh"))
	results := filepath.Join(s.dir, "resumed")
	cmd := s.command("run", "--jobs", "1", file, "--results", results)
	p, err := s.children.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	clock := time.NewTicker(10 * time.Millisecond)
	defer clock.Stop()
	for over := time.After(limit); count(t, results) < 5; {
		select {
		case <-clock.C:
		case <-over:
			t.Fatal("there is never a result")
		}
	}
	p.Kill()
	some, of := count(t, results), count(t, filepath.Join(s.dir, "fresh"))
	if some >= of {
		t.Fatalf("%d of %d jobs were done before it was killed: that shows nothing", some, of)
	}
	times := modified(t, results)
	if report, _ := s.run(log, file, "--results", results); report != fresh {
		t.Errorf("the report is\n%s\nand without a kill\n%s", report, fresh)
	}
	more := s.file("more.yaml", strings.Replace(aCampaign, "[12s, 3s]", "[12s, 3s, 5s]", 1))
	report, _ := s.run(log, more, "--results", results)
	for path, at := range modified(t, results) {
		if was, known := times[path]; known && was != at {
			t.Errorf("%s was computed again", path)
		}
	}
	if now := count(t, results); now != of+8 { // four locks without and with a crash
		t.Errorf("%d results, and %d before", now, of)
	}
	if want := "setnx: 2 more than last time"; !strings.Contains(report, want) {
		t.Errorf("%q is missing in\n%s", want, report)
	}
	if report, _ := s.run(log, more, "--results", results); !strings.Contains(report, "- nothing has changed\n") {
		t.Errorf("the same once more is\n%s", report)
	}
}

// modified are the results in a folder, with the times at which they were written.
func modified(t *testing.T, results string) map[string]time.Time {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(results, "results", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]time.Time{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = info.ModTime()
	}
	return all
}

// What stands in the way is said in a sentence, with an exit status.
func TestObstacles(t *testing.T) {
	s := newShared(t)
	file := s.file("campaign.yaml", "campaign: x\nlocks: setnx\nsearches:\n  cycles: 1\n")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{file, "--results", file + "/below"}, "--results: the results in " + file + "/below can't be opened: "},
		{[]string{file, "--results", "nonsense://bucket"}, `--results: the results in nonsense://bucket can't be opened: open blob.Bucket: no driver registered for "nonsense"`},
		{[]string{file, "--queue", "redis://127.0.0.1:1"}, "the queue in redis://127.0.0.1:1 can't be reached: "},
		{[]string{file, "--form", "htm"}, `--form: unknown form "htm"; did you mean "html"?`},
		{[]string{file, "--write", "html"}, `--write: "html" is no FORM=FILE, as in html=report.html`},
		{[]string{file + "x"}, "no such file"},
		{[]string{file, "--jobs", "0"}, "--jobs: a process carries out one job or more at a time, not 0"},
	} {
		log := newLines()
		out, status := s.run(log, tt.args...)
		if status != exitUsage || out != "" || !strings.Contains(log.String(), tt.want) || strings.Contains(log.String(), "goroutine") {
			t.Errorf("%q: exit status %d\n got %s\nwant %s", tt.args, status, log, tt.want)
		}
	}
	log := newLines()
	cmd := s.command("worker")
	cmd.Stderr = log
	if err := cmd.Run(); err == nil || !strings.Contains(log.String(), "a worker needs the --queue that it works for") {
		t.Errorf("%v: %s", err, log)
	}
}
