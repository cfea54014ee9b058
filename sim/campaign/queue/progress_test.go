package queue

import (
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"lockstep/sim/campaign/job"
)

// The estimate is made from jobs with the same bounds, and says so where there is none.
func TestEstimate(t *testing.T) {
	f := newFixture(t)
	jobs := []job.Job{f.aSearch("setnx"), f.aSearch("naive-del"), f.aSearch("setpx-lua"), f.aSearch("get-then-del")}
	other := *jobs[3].Search
	other.Cycles = "2"
	jobs[3].Search = &other
	var got Progress
	c := &Coordinator{Progress: func(p Progress) { got = p }}
	c.begin(jobs)
	told := func(want string) {
		t.Helper()
		if err := c.report(); err != nil || got.String() != want {
			t.Errorf("got %s, %v\nwant %s", got, err, want)
		}
	}
	told("0 of 4 done, 0 running, 0 states; time unknown for 4")
	c.results[c.names[0]] = &job.Result{Outcome: job.Outcome{Job: jobs[0], States: 1234}, Took: job.Took{Seconds: 30}}
	c.progress.Running, c.progress.running = 2, 100
	told("1 of 4 done, 2 running, 1,334 states; about 30s for 2, unknown for 1")
	c.aside[c.names[3]] = "for a reason"
	told("1 of 4 done, 2 running, 1,334 states; 1 set aside; about 30s left")
}

// A job of which one worker after the other dies is set aside, and doesn't kill all that there are.
func TestDeadlyJob(t *testing.T) {
	f := newFixture(t)
	c := &Coordinator{Server: f.server, Bucket: f.bucket, Version: aVersion, Log: f.say}
	c.inspector, c.client = asynq.NewInspector(f.server.Options), asynq.NewClient(f.server.Options)
	defer c.inspector.Close() //nolint:errcheck // nothing is written
	defer c.client.Close()    //nolint:errcheck // nothing is written
	jobs := []job.Job{f.aSearch("setnx")}
	c.begin(jobs)
	died := &try{silent: time.Now()}
	for range lives {
		for range 3 { // while the last copy waits there is no other
			if err := c.again(t.Context(), c.names[0], died); err != nil {
				t.Fatal(err)
			}
		}
		if info, err := c.inspector.GetQueueInfo(Name(aVersion)); err != nil || info.Pending != 1 {
			t.Fatalf("%+v %v", info, err)
		}
		if _, err := c.inspector.DeleteAllPendingTasks(Name(aVersion)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.again(t.Context(), c.names[0], died); err != nil || len(c.outstanding()) != 0 || !strings.Contains(f.logged(), "is set aside: 11 workers died while they carried it out") {
		t.Errorf("%v, %q\n%s", err, c.outstanding(), f.logged())
	}
}
