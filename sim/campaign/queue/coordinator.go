package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"lockstep/sim/campaign/hush"
	"lockstep/sim/campaign/job"
	"lockstep/sim/campaign/store"
)

// Coordinator sees to it that every job of a campaign has a result.
type Coordinator struct {
	Server   *Server
	Bucket   *store.Bucket
	Version  job.Version
	Log      func(text string) // told of each obstacle, once
	Progress func(Progress)    // told some times a second how far the campaign has come
	Secrets  hush.Secrets

	inspector                              *asynq.Inspector
	client                                 *asynq.Client
	told                                   map[string]bool // obstacles
	jobs                                   []job.Job
	names                                  []string // of the jobs
	byName                                 map[string]*job.Job
	results                                map[string]*job.Result
	aside                                  map[string]string // jobs that were set aside, with the reason
	tries                                  map[string]*try   // of jobs that a worker has taken
	progress                               Progress
	listing, queueing, watching, reporting pace
}

// try is the state of a job whose task is active.
type try struct {
	silent time.Time // since when no worker says that it is at it; zero: one does
	copies int       // that were put into the queue because a worker had died
}

// pace keeps a chore from taking more than a twentieth of the time.
type pace struct{ next time.Time }

func (p *pace) due(least time.Duration, f func() error) error {
	begun := time.Now()
	if begun.Before(p.next) {
		return nil
	}
	err := f()
	p.next = time.Now().Add(max(least, 20*time.Since(begun)))
	return err
}

const (
	look     = 100 * time.Millisecond // between two looks at the bucket and the queue
	requeue  = 5 * time.Second        // between two rounds in which lost jobs are put into the queue again
	lives    = 10                     // so many workers may die of one job
	maxRetry = 3                      // so often a job may fail by an error of its own
)

// forever is a time that no search takes: without one, asynq ends a task after half an hour.
const forever = 10 * 365 * 24 * time.Hour

// Results carries out a campaign's jobs, and returns their results in their order. Those that are
// in the bucket already aren't carried out again. A job that can't be carried out has a result that
// says why. Results fails with the cause of ctx's end: the results by then are in the bucket,
// and the next call goes on from there.
func (c *Coordinator) Results(ctx context.Context, jobs []job.Job) ([]job.Result, error) {
	c.inspector = asynq.NewInspector(c.Server.Options)
	c.client = asynq.NewClient(c.Server.Options)
	defer c.inspector.Close() //nolint:errcheck // nothing is written
	defer c.client.Close()    //nolint:errcheck // nothing is written
	c.begin(jobs)
	if err := c.collect(ctx); err != nil {
		return nil, err // the bucket is of no use from the start
	}
	c.progress.Known = len(c.results)
	c.forgetSetAside()
	if err := c.loop(ctx); err != nil {
		return nil, err
	}
	var all []job.Result
	for i, name := range c.names {
		r := c.results[name]
		if r == nil {
			why := "it was set aside: " + c.aside[name]
			r = &job.Result{Outcome: job.Outcome{Job: c.jobs[i], Refused: why, Answer: "not decided, because " + why, Findings: []job.Finding{}}}
		}
		all = append(all, *r)
	}
	return all, nil
}

func (c *Coordinator) begin(jobs []job.Job) {
	c.jobs, c.names, c.byName, c.results = jobs, nil, map[string]*job.Job{}, map[string]*job.Result{}
	c.aside, c.tries, c.told = map[string]string{}, map[string]*try{}, map[string]bool{}
	c.progress = Progress{Total: len(jobs), Started: time.Now()}
	for i := range jobs {
		name := jobs[i].Name()
		c.names = append(c.names, name)
		c.byName[name] = &jobs[i]
	}
}

// loop goes on until no job is outstanding.
func (c *Coordinator) loop(ctx context.Context) error {
	clock := time.NewTicker(look)
	defer clock.Stop()
	for {
		c.tell(c.queueing.due(requeue, func() error { return c.enqueue(ctx) }))
		c.tell(c.watching.due(look, func() error { return c.attend(ctx) }))
		c.tell(c.listing.due(look, func() error { return c.collect(ctx) }))
		c.tell(c.reporting.due(look, c.report))
		if len(c.results)+len(c.aside) >= len(c.jobs) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-clock.C:
		}
	}
}

// tell logs an obstacle the first time that it is met. The campaign waits until it is gone.
func (c *Coordinator) tell(err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	c.say(c.Secrets.Hide(err.Error()))
}

func (c *Coordinator) say(text string) {
	if !c.told[text] && c.Log != nil {
		c.told[text] = true
		c.Log(text)
	}
}

// outstanding lists the jobs without a result, in their order.
func (c *Coordinator) outstanding() (names []string) {
	for _, name := range c.names {
		if c.results[name] == nil && c.aside[name] == "" {
			names = append(names, name)
		}
	}
	return names
}

// readers is how many results are read at a time.
const readers = 16

// collect reads the results that are new in the bucket.
func (c *Coordinator) collect(ctx context.Context) error {
	there, err := c.Bucket.Names(ctx, c.Version.Engine)
	if err != nil {
		return err
	}
	fresh := slices.DeleteFunc(c.outstanding(), func(name string) bool { return !there[name] })
	read := make([]*job.Result, len(fresh))
	var g errgroup.Group
	g.SetLimit(readers)
	for i, name := range fresh {
		g.Go(func() (err error) {
			read[i], err = c.Bucket.Get(ctx, c.byName[name])
			if errors.Is(err, store.ErrDamaged) {
				return nil // a worker computes it again
			}
			return err
		})
	}
	err = g.Wait()
	for i, name := range fresh {
		if read[i] != nil {
			c.results[name] = read[i]
			delete(c.tries, name)
		}
	}
	return err
}

// enqueue puts all outstanding jobs into the queue. Those that are there already are refused by
// their id, so it is no harm to try; a queue that has lost some has them again.
func (c *Coordinator) enqueue(ctx context.Context) error {
	for _, name := range c.outstanding() {
		if err := c.put(ctx, name, name); err != nil {
			return err
		}
	}
	return nil
}

func (c *Coordinator) put(ctx context.Context, name, id string) error {
	_, err := c.client.EnqueueContext(ctx, asynq.NewTask(kind, c.byName[name].Encode()), asynq.TaskID(id), asynq.Queue(Name(c.Version)),
		asynq.MaxRetry(maxRetry), asynq.Timeout(forever))
	if err == nil || errors.Is(err, asynq.ErrTaskIDConflict) {
		return nil
	}
	return c.away(err)
}

// away is the error of a Redis that doesn't answer.
func (c *Coordinator) away(err error) error {
	if err == nil || errors.Is(err, asynq.ErrQueueNotFound) {
		return nil
	}
	return fmt.Errorf("the queue in %s can't be reached; the campaign goes on when it is back: %w", c.Server.name, err)
}

// forgetSetAside lets jobs be tried again that an earlier run of the campaign has set aside.
func (c *Coordinator) forgetSetAside() {
	archived, err := c.tasks(c.inspector.ListArchivedTasks)
	c.tell(c.away(err))
	for _, t := range archived {
		if c.byName[nameOf(t.ID)] != nil {
			c.tell(c.away(c.inspector.DeleteTask(t.Queue, t.ID)))
		}
	}
}

// tasks lists all tasks in a state.
func (c *Coordinator) tasks(list func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error)) (all []*asynq.TaskInfo, err error) {
	const size = 500
	for page := 1; ; page++ {
		some, err := list(Name(c.Version), asynq.PageSize(size), asynq.Page(page))
		all = append(all, some...)
		if err != nil || len(some) < size {
			return all, err
		}
	}
}

// attend watches, and takes no worker for dead whose beats a Redis that was away has missed.
func (c *Coordinator) attend(ctx context.Context) error {
	err := c.watch(ctx)
	if err != nil {
		for _, t := range c.tries {
			t.silent = time.Time{}
		}
	}
	return err
}

// watch looks after the tasks that don't just wait for their turn.
func (c *Coordinator) watch(ctx context.Context) error {
	active, err := c.tasks(c.inspector.ListActiveTasks)
	if err != nil {
		return c.away(err)
	}
	if err := c.revive(ctx, active); err != nil {
		return c.away(err)
	}
	archived, err := c.tasks(c.inspector.ListArchivedTasks)
	if err != nil {
		return c.away(err)
	}
	for _, t := range archived {
		c.setAside(t)
	}
	waiting, err := c.inspector.ListRetryTasks(Name(c.Version), asynq.PageSize(20))
	if err != nil {
		return c.away(err)
	}
	for _, t := range waiting {
		if j := c.byName[nameOf(t.ID)]; j != nil {
			c.say(fmt.Sprintf("%s was handed back: %s", j.About(), t.LastErr))
		}
	}
	return c.audience()
}

// setAside notes a job that workers have given up.
func (c *Coordinator) setAside(t *asynq.TaskInfo) {
	name := nameOf(t.ID)
	if c.byName[name] == nil || string(t.Payload) != string(c.byName[name].Encode()) {
		c.say(fmt.Sprintf("a job that is not of this campaign was set aside (%q): %s", clip(t.ID), t.LastErr))
		return
	}
	if c.results[name] == nil && c.aside[name] == "" {
		c.aside[name] = strings.TrimSuffix(t.LastErr, ": "+asynq.SkipRetry.Error())
		c.say(fmt.Sprintf("%s is set aside: %s", c.byName[name].About(), c.aside[name]))
	}
}

// revive puts jobs into the queue again whose worker has died. asynq does that, too, a minute
// or two later.
func (c *Coordinator) revive(ctx context.Context, active []*asynq.TaskInfo) error {
	var names []string
	for _, t := range active {
		name := nameOf(t.ID)
		if c.byName[name] != nil && c.results[name] == nil && c.aside[name] == "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	c.progress.Running, c.progress.running = 0, 0
	for _, name := range names {
		t := c.tries[name]
		if t == nil {
			t = &try{}
			c.tries[name] = t
		}
		value, err := c.Server.client.Get(ctx, runningKey(name)).Result()
		switch {
		case err != nil && !errors.Is(err, redis.Nil):
			return err
		case err == nil:
			t.silent = time.Time{}
			c.progress.Running++
			_, states, _ := strings.Cut(value, " ")
			n, _ := strconv.ParseInt(states, 10, 64)
			c.progress.running += n
		case t.silent.IsZero():
			t.silent = time.Now()
		case time.Since(t.silent) > dead:
			if err := c.again(ctx, name, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// again puts a copy of a job into the queue, unless the last copy still waits there.
func (c *Coordinator) again(ctx context.Context, name string, t *try) error {
	id := func() string { return fmt.Sprintf("%s~%d", name, t.copies) }
	if t.copies > 0 {
		info, err := c.inspector.GetTaskInfo(Name(c.Version), id())
		if err == nil && info.State != asynq.TaskStateActive {
			return nil
		}
	}
	if t.copies++; t.copies > lives {
		c.aside[name] = fmt.Sprintf("%d workers died while they carried it out", t.copies)
		c.say(fmt.Sprintf("%s is set aside: %s", c.byName[name].About(), c.aside[name]))
		return nil
	}
	t.silent = time.Now()
	return c.put(ctx, name, id())
}

// patience is how long a campaign waits for a first worker before it says that there is none.
const patience = 2 * time.Second

// audience says so if nobody listens to the queue.
func (c *Coordinator) audience() error {
	if c.progress.Running > 0 || time.Since(c.progress.Started) < patience {
		return nil
	}
	servers, err := c.inspector.Servers()
	if err != nil {
		return c.away(err)
	}
	others := map[string]int{}
	for _, s := range servers {
		for q := range s.Queues {
			if q == Name(c.Version) {
				return nil
			}
			if build, is := strings.CutPrefix(q, prefix); is {
				others[build]++
			}
		}
	}
	text := fmt.Sprintf("no worker of this build (%s) listens to the queue in %s: start one with this same program", c.Version.Build, c.Server.name)
	for build, n := range others {
		text += fmt.Sprintf("; %d of another version (build %s) can't take its jobs", n, build)
	}
	c.say(text)
	return nil
}
