package queue

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"lockstep/sim/campaign/job"
	"lockstep/sim/campaign/store"
	"lockstep/sim/redis/redistest"
)

// aVersion is that of the programs in these tests.
var aVersion = job.Version{Engine: "engine", Build: "0123456789abcdef"}

// fixture is an embedded queue with a bucket, and what workers log.
type fixture struct {
	*testing.T
	server  *Server
	bucket  *store.Bucket
	folder  string
	locks   job.Locks
	metrics *Metrics

	mu  sync.Mutex
	log []string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, folder: t.TempDir(), metrics: NewMetrics(aVersion)}
	var err error
	if f.server, err = Embed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f.bucket, err = store.Open(t.Context(), f.folder, nil); err != nil {
		t.Fatal(err)
	}
	if f.locks, err = job.Catalogue(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.server.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func (f *fixture) say(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, text)
}

func (f *fixture) logged() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.log, "\n")
}

// work starts a worker, which ends with the test.
func (f *fixture) work() {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	w := &Worker{Server: f.server, Bucket: f.bucket, Locks: f.locks, Version: aVersion, Jobs: 2, Log: f.say, Metrics: f.metrics}
	go func() { ended <- w.Run(ctx) }()
	f.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			f.Error(err)
		}
	})
}

// aSearch is a search of a lock that takes no time.
func (f *fixture) aSearch(lock string) job.Job {
	f.Helper()
	l, err := f.locks.Find(lock)
	if err != nil {
		f.Fatal(err)
	}
	return job.Job{Format: job.Format, Engine: aVersion.Engine, Lock: lock, Code: l.Code,
		Search: &job.Search{Clients: "1", Cycles: "1", Tries: 1, Nodes: 1, Faults: "none", Caller: "plain", Resource: "plain", TTL: "12s"}}
}

// eventually waits until something holds.
func (f *fixture) eventually(what string, holds func() bool) {
	f.Helper()
	clock := time.NewTicker(10 * time.Millisecond)
	defer clock.Stop()
	for over := time.After(time.Minute); !holds(); {
		select {
		case <-clock.C:
		case <-over:
			f.Fatalf("%s: never\n%s", what, f.logged())
		}
	}
}

// with changes a job, and returns it as bytes.
func (f *fixture) with(change func(*job.Job)) []byte {
	j := f.aSearch("setnx")
	s := *j.Search
	j.Search = &s
	change(&j)
	return j.Encode()
}

// A job that somebody has made up makes a worker run nothing. It is set aside, with the reason.
func TestForgedJobs(t *testing.T) {
	f := newFixture(t)
	whole := f.with(func(*job.Job) {})
	forged := map[string]struct {
		kind, id string
		payload  []byte
		want     string
	}{
		"another type":    {"shell:run", "", whole, `its type is "shell:run"`},
		"no JSON":         {kind, "", []byte("rm -rf /"), "this is no job"},
		"nothing":         {kind, "", nil, "this is no job"},
		"deep":            {kind, "", []byte(strings.Repeat("[", 5000)), "this is no job"},
		"huge":            {kind, "", []byte(`{"lock":"` + strings.Repeat("x", 20<<20) + `"}`), "more than 8192"},
		"a command":       {kind, "", []byte(strings.Replace(string(whole), `{"format"`, `{"command":"rm -rf /","format"`, 1)), `unknown field "command"`},
		"twice a key":     {kind, "", []byte(strings.Replace(string(whole), `{"format":1`, `{"format":2,"format":1`, 1)), "in the form"},
		"two documents":   {kind, "", append(append([]byte{}, whole...), whole...), "something follows"},
		"another id":      {kind, "feedfeedfeedfeed", whole, "its id is"},
		"another engine":  {kind, "", f.with(func(j *job.Job) { j.Engine = "older" }), `for the engine "older"`},
		"another format":  {kind, "", f.with(func(j *job.Job) { j.Format = 99 }), "format 99"},
		"neither":         {kind, "", f.with(func(j *job.Job) { j.Search = nil }), "exactly one"},
		"too many":        {kind, "", f.with(func(j *job.Job) { j.Search.Clients = "1000000" }), "makes no sense"},
		"endless":         {kind, "", f.with(func(j *job.Job) { j.Search.TTL = "9000000h" }), "makes no sense"},
		"below nothing":   {kind, "", f.with(func(j *job.Job) { j.Search.Cycles = "-1" }), "makes no sense"},
		"nodes":           {kind, "", f.with(func(j *job.Job) { j.Search.Nodes = 1 << 40 }), "makes no sense"},
		"faults":          {kind, "", f.with(func(j *job.Job) { j.Search.Faults = "crash=200" }), "makes no sense"},
		"an unknown word": {kind, "", f.with(func(j *job.Job) { j.Search.Caller = "; rm -rf /" }), "makes no sense"},
		"all seeds": {kind, "", f.with(func(j *job.Job) {
			j.Search, j.Random = nil, &job.Random{First: 0, Last: 1<<64 - 1, Clients: 2, Cycles: 1, Faults: "pause=1", Caller: "plain", TTL: "1s"}
		}), "makes no sense"},
	}
	client := asynq.NewClient(f.server.Options)
	defer client.Close() //nolint:errcheck // nothing is written
	ids := map[string]string{}
	for name, tt := range forged {
		options := []asynq.Option{asynq.Queue(Name(aVersion)), asynq.MaxRetry(maxRetry)}
		if j := new(job.Job); tt.id == "" && json.Unmarshal(tt.payload, j) == nil {
			tt.id = name + "~" // distinct
			if string(j.Encode()) == string(tt.payload) {
				tt.id = j.Name() + "~" + name
			}
		}
		if tt.id != "" {
			options = append(options, asynq.TaskID(tt.id))
		}
		info, err := client.Enqueue(asynq.NewTask(tt.kind, tt.payload), options...)
		if err != nil {
			t.Fatalf("%s: %s", name, err)
		}
		ids[name] = info.ID
	}
	f.work()
	inspector := asynq.NewInspector(f.server.Options)
	defer inspector.Close() //nolint:errcheck // nothing is written
	for name, tt := range forged {
		f.eventually(name+" is set aside", func() bool {
			info, err := inspector.GetTaskInfo(Name(aVersion), ids[name])
			return err == nil && info.State == asynq.TaskStateArchived
		})
		info, err := inspector.GetTaskInfo(Name(aVersion), ids[name])
		if err != nil || !strings.Contains(info.LastErr, tt.want) || len(info.LastErr) > 500 {
			t.Errorf("%s: %v, and the reason is %q, without %q", name, err, info.LastErr, tt.want)
		}
	}
	if results, _ := filepath.Glob(filepath.Join(f.folder, "results", "*", "*")); len(results) > 0 {
		t.Errorf("something was carried out: %q", results)
	}
}

// results carries out jobs.
func (f *fixture) results(jobs ...job.Job) []job.Result {
	f.Helper()
	ctx, stop := context.WithTimeout(f.Context(), 2*time.Minute)
	defer stop()
	c := &Coordinator{Server: f.server, Bucket: f.bucket, Version: aVersion, Log: f.say}
	all, err := c.Results(ctx, jobs)
	if err != nil {
		f.Fatalf("%s\n%s", err, f.logged())
	}
	return all
}

// What a worker lacks goes back to the queue, where another worker takes it.
func TestLacking(t *testing.T) {
	f := newFixture(t)
	whole := f.locks
	f.locks = whole[1:] // without setnx
	f.work()
	f.locks = whole
	j := f.aSearch("setnx")
	done := make(chan []job.Result, 1)
	go func() {
		c := &Coordinator{Server: f.server, Bucket: f.bucket, Version: aVersion, Log: f.say}
		all, _ := c.Results(t.Context(), []job.Job{j})
		done <- all
	}()
	f.eventually("it is handed back", func() bool { return strings.Contains(f.logged(), `this worker lacks the lock "setnx"`) })
	f.work()
	if all := <-done; len(all) != 1 || !all[0].Outcome.Complete {
		t.Errorf("%+v\n%s", all, f.logged())
	}
}

// A damaged result is computed again, and an unknown worker's task of another campaign is told
// of and left alone.
func TestDamagedResult(t *testing.T) {
	f := newFixture(t)
	f.work()
	j := f.aSearch("setnx")
	first := f.results(j)
	paths, err := filepath.Glob(filepath.Join(f.folder, "results", "*", "*"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%q %v", paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{"cut": string(text[:len(text)/2]), "empty": "", "another's": strings.Replace(string(text), `"clients":"1"`, `"clients":"2"`, 1)} {
		if err := os.WriteFile(paths[0], []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if again := f.results(j); again[0].Outcome.States != first[0].Outcome.States || !strings.Contains(f.logged(), "the result is damaged; it is computed again") {
			t.Errorf("%s: %+v\n%s", name, again[0].Outcome, f.logged())
		}
	}
}

// A job that a queue has lost is put there again, and one whose worker has died is, too.
func TestLostJobs(t *testing.T) {
	f := newFixture(t)
	jobs := []job.Job{f.aSearch("setnx"), f.aSearch("naive-del")}
	// The first is active, and nobody is at it: its worker has died.
	dying := make(chan struct{})
	srv := asynq.NewServer(f.server.Options, asynq.Config{Concurrency: 1, Queues: map[string]int{Name(aVersion): 1}, Logger: &logger{say: f.say}, ShutdownTimeout: time.Millisecond})
	taken := make(chan struct{}, 10)
	err := srv.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		taken <- struct{}{}
		<-dying
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Shutdown()
	defer close(dying)
	done := make(chan []job.Result, 1)
	go func() {
		c := &Coordinator{Server: f.server, Bucket: f.bucket, Version: aVersion, Log: f.say}
		all, _ := c.Results(t.Context(), jobs)
		done <- all
	}()
	<-taken
	inspector := asynq.NewInspector(f.server.Options)
	defer inspector.Close() //nolint:errcheck // nothing is written
	f.eventually("the other waits", func() bool {
		info, err := inspector.GetQueueInfo(Name(aVersion))
		return err == nil && info.Pending == 1
	})
	if _, err := inspector.DeleteAllPendingTasks(Name(aVersion)); err != nil {
		t.Fatal(err)
	}
	srv.Stop() // takes no more
	f.work()
	if all := <-done; len(all) != 2 || !all[0].Outcome.Complete || !all[1].Outcome.Complete {
		t.Errorf("%+v\n%s", all, f.logged())
	}
}

// A worker of another build never gets a job, and the campaign says who is there.
func TestAnotherVersion(t *testing.T) {
	f := newFixture(t)
	other := aVersion
	other.Build = "fedcba9876543210"
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	w := &Worker{Server: f.server, Bucket: f.bucket, Locks: f.locks, Version: other, Jobs: 1, Log: f.say}
	go func() { ended <- w.Run(ctx) }()
	campaign, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		c := &Coordinator{Server: f.server, Bucket: f.bucket, Version: aVersion, Log: f.say}
		_, err := c.Results(campaign, []job.Job{f.aSearch("setnx")})
		done <- err
	}()
	want := "no worker of this build (0123456789abcdef) listens to the queue in this process: start one with this same program; " +
		"1 of another version (build fedcba9876543210) can't take its jobs"
	f.eventually(want, func() bool { return strings.Contains(f.logged(), want) })
	end()
	if err := <-done; err == nil {
		t.Error("the campaign ended as if it were done")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A bucket that can't be written for a while costs nothing but the wait: the result is kept, and
// its job isn't carried out a second time.
func TestBucketAway(t *testing.T) {
	f := newFixture(t)
	j := f.aSearch("setnx")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	w := &Worker{Server: f.server, Bucket: f.bucket, Log: f.say, Metrics: f.metrics}
	blocked := filepath.Join(f.folder, "results")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	kept := make(chan error, 1)
	go func() { kept <- w.keep(ctx, &job.Result{Outcome: job.Outcome{Job: j}}) }()
	want := "the result of " + j.About() + " is kept in memory, and written as soon as that can be done"
	f.eventually(want, func() bool { return strings.Contains(f.logged(), want) })
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	if err := <-kept; err != nil {
		t.Error(err)
	}
	if there, err := f.bucket.Has(ctx, &j); !there || err != nil {
		t.Errorf("%t %v\n%s", there, err, f.logged())
	}
}

// A Redis that is away says so, and the campaign goes on when it is back.
func TestRedisAway(t *testing.T) {
	f := newFixture(t)
	dir := t.TempDir()
	socket, kill := redistest.StartIn(t, dir, "--appendonly", "yes")
	var err error
	embedded := f.server
	if f.server, err = Connect(t.Context(), "redis-socket://"+socket, nil); err != nil {
		t.Fatal(err)
	}
	defer embedded.Close() //nolint:errcheck // nothing is written
	done := make(chan []job.Result, 1)
	go func() {
		c := &Coordinator{Server: f.server, Bucket: f.bucket, Version: aVersion, Log: f.say}
		all, _ := c.Results(t.Context(), []job.Job{f.aSearch("setnx")})
		done <- all
	}()
	f.eventually("it waits for a worker", func() bool { return strings.Contains(f.logged(), "no worker of this build") })
	kill()
	f.eventually("it says that Redis is away", func() bool {
		return strings.Contains(f.logged(), "can't be reached; the campaign goes on when it is back")
	})
	redistest.StartIn(t, dir, "--appendonly", "yes")
	f.work()
	if all := <-done; len(all) != 1 || !all[0].Outcome.Complete {
		t.Errorf("%+v\n%s", all, f.logged())
	}
}

// The metrics are in Prometheus's form, and count what was done.
func TestMetrics(t *testing.T) {
	f := newFixture(t)
	f.work()
	f.results(f.aSearch("setnx"), f.aSearch("naive-del"))
	text := scrape(t, f.metrics)
	for _, want := range []string{`lockstep_jobs_total{fate="done"} 2`, `lockstep_jobs_running 0`, `lockstep_build_info{build="0123456789abcdef",engine="engine"} 1`,
		`lockstep_job_seconds_count 2`, `lockstep_states_total{of="search"}`, `lockstep_jobs_total{fate="set_aside"} 0`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}
