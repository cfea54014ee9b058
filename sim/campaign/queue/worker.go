package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"lockstep/sim/campaign/hush"
	"lockstep/sim/campaign/job"
	"lockstep/sim/campaign/store"
)

// Worker carries out jobs with the locks that this program was built with.
type Worker struct {
	Server  *Server
	Bucket  *store.Bucket
	Locks   job.Locks
	Version job.Version
	Jobs    int // at a time; each takes one core
	Log     func(text string)
	Metrics *Metrics
	Secrets hush.Secrets

	id string
}

// Run carries out jobs until ctx is done. Jobs that it hasn't finished by then go back to the
// queue. It fails if it can't begin; later errors, such as a Redis that is away for a while, go to
// the log.
func (w *Worker) Run(ctx context.Context) error {
	host, _ := os.Hostname()
	w.id = fmt.Sprintf("%s:%d", host, os.Getpid())
	jobs, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	srv := asynq.NewServer(w.Server.Options, asynq.Config{
		Concurrency:              w.Jobs,
		BaseContext:              func() context.Context { return jobs },
		Queues:                   map[string]int{Name(w.Version): 1},
		TaskCheckInterval:        100 * time.Millisecond,
		DelayedTaskCheckInterval: 500 * time.Millisecond,
		ShutdownTimeout:          10 * time.Second,
		RetryDelayFunc:           retryDelay,
		IsFailure:                func(err error) bool { var t transient; return !errors.As(err, &t) },
		Logger:                   &logger{say: func(text string) { w.say("%s", text) }},
		LogLevel:                 asynq.WarnLevel,
	})
	if err := srv.Start(asynq.HandlerFunc(w.handle)); err != nil {
		return w.Secrets.Error(err)
	}
	<-ctx.Done()
	srv.Stop()
	stop(errors.New("the worker ends"))
	srv.Shutdown()
	return nil
}

// retryDelay is short: a job that failed is tried again soon, and asynq's own delay would be half
// a minute and more.
func retryDelay(n int, err error, _ *asynq.Task) time.Duration {
	var t transient
	if errors.As(err, &t) {
		return time.Second
	}
	return time.Duration(n+1) * time.Second
}

func (w *Worker) say(format string, args ...any) {
	if w.Log != nil {
		w.Log(w.Secrets.Hide(fmt.Sprintf(format, args...)))
	}
}

// handle carries out one task.
func (w *Worker) handle(ctx context.Context, task *asynq.Task) error {
	j, err := w.read(ctx, task)
	if err != nil {
		w.Metrics.count("set aside")
		w.say("a job is set aside: %s", err)
		return fmt.Errorf("%w: %w", w.Secrets.Error(err), asynq.SkipRetry)
	}
	switch err := w.do(ctx, j); {
	case err == nil:
		return nil
	case errors.As(err, new(transient)):
		w.Metrics.count("handed back")
		w.say("%s: %s", j.About(), err)
		return transient{w.Secrets.Error(err)}
	default:
		w.Metrics.count("failed")
		w.say("%s: %s", j.About(), err)
		return w.Secrets.Error(err)
	}
}

// read reads a task, of which nothing is trusted.
func (w *Worker) read(ctx context.Context, task *asynq.Task) (*job.Job, error) {
	if task.Type() != kind {
		return nil, fmt.Errorf("its type is %q, and this program knows %q only", clip(task.Type()), kind)
	}
	j, err := job.Decode(task.Payload())
	if err != nil {
		return nil, err
	}
	if id, _ := asynq.GetTaskID(ctx); nameOf(id) != j.Name() {
		return nil, fmt.Errorf("its id is %q, and the job is %s", clip(id), j.Name())
	}
	if j.Engine != w.Version.Engine && !strings.HasPrefix(w.Version.Engine, "build-") {
		return nil, fmt.Errorf("it is for the engine %q, and this is %s", clip(j.Engine), w.Version.Engine)
	}
	var senseless *job.Senseless
	if err := w.Locks.Check(j); errors.As(err, &senseless) {
		return nil, err
	}
	return j, nil
}

func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}

// do carries out a job, unless its result is there, or another worker is at it.
func (w *Worker) do(ctx context.Context, j *job.Job) error {
	if err := w.Locks.Check(j); err != nil {
		return transient{err} // another worker may have the lock and its code
	}
	switch there, err := w.has(ctx, j); {
	case err != nil:
		return transient{err}
	case there:
		w.Metrics.count("known")
		return nil
	}
	mine, err := w.claim(ctx, j)
	if err != nil {
		return transient{err}
	}
	if !mine {
		w.Metrics.count("known")
		return nil
	}
	var states atomic.Int64
	stop := w.beats(ctx, j, &states)
	defer stop()
	begun := time.Now()
	running := w.Metrics.begin()
	o, err := w.Locks.Run(ctx, j, states.Store)
	took := time.Since(begun)
	running(took)
	switch {
	case ctx.Err() != nil:
		return transient{errors.New("the worker ended, and the job goes back to the queue")}
	case err != nil:
		return err
	}
	w.Metrics.done(o)
	return w.keep(ctx, &job.Result{Outcome: *o, Took: job.Took{Seconds: took.Round(time.Millisecond).Seconds(), Worker: w.id}})
}

// has reports whether there is a whole result of a job.
func (w *Worker) has(ctx context.Context, j *job.Job) (bool, error) {
	there, err := w.Bucket.Has(ctx, j)
	if !there || err != nil {
		return false, err
	}
	_, err = w.Bucket.Get(ctx, j)
	if errors.Is(err, store.ErrDamaged) {
		w.say("%s; it is computed again", err)
		return false, nil
	}
	return err == nil, err
}

// claim reports whether no other worker is at a job.
func (w *Worker) claim(ctx context.Context, j *job.Job) (bool, error) {
	key := runningKey(j.Name())
	mine, err := w.Server.client.SetNX(ctx, key, w.id+" 0", dead).Result()
	if err != nil || mine {
		return mine, err
	}
	_, err = w.Server.client.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return true, nil // it has just ended
	}
	return false, err
}

// beats tells, until it is stopped, that the job is under way.
func (w *Worker) beats(ctx context.Context, j *job.Job, states *atomic.Int64) (stop func()) {
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		clock := time.NewTicker(beat)
		defer clock.Stop()
		for {
			select {
			case <-over:
				w.Server.client.Del(context.WithoutCancel(ctx), runningKey(j.Name()))
				return
			case <-clock.C:
				w.Server.client.Set(ctx, runningKey(j.Name()), fmt.Sprintf("%s %d", w.id, states.Load()), dead)
			}
		}
	})
	return func() {
		close(over)
		wg.Wait()
	}
}

// keep puts a result into the bucket. As long as that fails, it tries again: the result has cost
// more than the wait.
func (w *Worker) keep(ctx context.Context, r *job.Result) error {
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		err := w.Bucket.Put(ctx, r)
		if err == nil {
			w.Metrics.count("done")
			return nil
		}
		w.say("%s; the result of %s is kept in memory, and written as soon as that can be done", err, r.Outcome.Job.About())
		again := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			again.Stop()
			return transient{fmt.Errorf("the worker ended, and its result is lost: %w", err)}
		case <-again.C:
		}
	}
}

// logger hands asynq's warnings to a log.
type logger struct{ say func(string) }

func (l *logger) Debug(...any)      {}
func (l *logger) Info(...any)       {}
func (l *logger) Warn(args ...any)  { l.say(fmt.Sprint(args...)) }
func (l *logger) Error(args ...any) { l.say(fmt.Sprint(args...)) }

// Fatal logs as well: asynq ends with an error then.
func (l *logger) Fatal(args ...any) { l.say(fmt.Sprint(args...)) }
