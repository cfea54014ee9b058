// Package queue carries out the jobs of a campaign by workers: in this process by an embedded
// queue, or in any number of processes that share a Redis.
//
// The queue says who does what, and the bucket what has been done. A job is over when its result
// is in the bucket, whatever the queue says: so a queue that forgets, a worker that dies and a job
// that is done twice do no harm.
package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"lockstep/sim/campaign/hush"
	"lockstep/sim/campaign/job"
)

// kind is the type of all tasks.
const kind = "lockstep:job"

// prefix begins the names of queues and of keys.
const prefix = "lockstep-"

// Name returns the queue of a build. A worker of another build never sees its jobs.
func Name(v job.Version) string { return prefix + v.Build }

// Server is a Redis that holds a queue.
type Server struct {
	Options asynq.RedisConnOpt
	name    string // for errors, without secrets
	secrets hush.Secrets
	client  redis.UniversalClient
	close   func() error
}

// Connect connects to a Redis. The URL is redis://, rediss:// for TLS, redis-socket:// or
// redis-sentinel://; a password that it lacks is taken from REDISCLI_AUTH, as redis-cli does.
func Connect(ctx context.Context, url string, secrets hush.Secrets) (*Server, error) {
	opt, err := asynq.ParseRedisURI(url)
	if err != nil {
		return nil, secrets.Error(fmt.Errorf("--queue: %w", err))
	}
	if o, is := opt.(asynq.RedisClientOpt); is {
		if o.Password == "" {
			o.Password = os.Getenv("REDISCLI_AUTH")
		}
		opt = o
	}
	s := &Server{Options: opt, name: secrets.Hide(url), secrets: secrets, close: func() error { return nil }}
	if err := s.dial(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Server) dial(ctx context.Context) error {
	client, is := s.Options.MakeRedisClient().(redis.UniversalClient)
	if !is {
		return fmt.Errorf("--queue: %s is no Redis", s.name)
	}
	s.client = client
	if err := s.client.Ping(ctx).Err(); err != nil {
		return errors.Join(s.secrets.Error(fmt.Errorf("the queue in %s can't be reached: %w", s.name, err)), s.client.Close())
	}
	return nil
}

// tick is how often the embedded queue's time is moved on.
const tick = 100 * time.Millisecond

// Embed starts a queue in this process, which ends with it.
func Embed(ctx context.Context) (*Server, error) {
	m := miniredis.NewMiniRedis()
	if err := m.Start(); err != nil {
		return nil, fmt.Errorf("the embedded queue can't be started: %w", err)
	}
	moving, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // its keys expire by a clock of its own
		defer close(done)
		clock := time.NewTicker(tick)
		defer clock.Stop()
		for {
			select {
			case <-moving.Done():
				return
			case <-clock.C:
				m.FastForward(tick)
			}
		}
	}()
	s := &Server{Options: asynq.RedisClientOpt{Addr: m.Addr()}, name: "this process", close: func() error {
		stop()
		<-done
		m.Close()
		return nil
	}}
	if err := s.dial(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// Close disconnects, and ends an embedded queue.
func (s *Server) Close() error { return errors.Join(s.client.Close(), s.close()) }

// runningKey is there while a worker carries out a job. Its value is the worker, a blank, and the
// number of states so far.
func runningKey(name string) string { return prefix + "running:" + name }

// A worker says so often that it still carries out a job; if it hasn't for so long, it is dead.
const (
	beat = 700 * time.Millisecond
	dead = 3 * time.Second
)

// nameOf is the name of the job that a task is about: a job whose worker has died is put into the
// queue again under its name with a number.
func nameOf(task string) string {
	name, _, _ := strings.Cut(task, "~")
	return name
}

// transient is an error that goes away: the job is tried again, as often as it takes.
type transient struct{ error }

// Unwrap returns the error itself.
func (t transient) Unwrap() error { return t.error }
