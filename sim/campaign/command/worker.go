package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"lockstep/sim/campaign/queue"
)

func (p *program) worker() *cobra.Command {
	var metrics string
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Carry out jobs of campaigns from a queue, until it is told to end",
		Long: `Carry out jobs of campaigns from a queue. A job names a lock and bounds, and has no code
and no command in it: a worker runs only the locks that it was built with, and sets
aside what makes no sense. All workers of a campaign, and lockstep-campaign run, are
the same program: copy it to the machines.

SIGTERM or Ctrl-C ends it, and what it hasn't finished goes back to the queue. A worker
that is killed loses nothing either: others do its jobs some seconds later.`,
		Example: "  LOCKSTEP_QUEUE=rediss://:password@queue.example:6379 lockstep-campaign worker --results s3://locks --metrics :9100",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.work(cmd.Context(), metrics) },
	}
	cmd.Flags().StringVar(&metrics, "metrics", "", "serve metrics for Prometheus at `ADDRESS`/metrics")
	return cmd
}

func (p *program) work(ctx context.Context, metrics string) error {
	if p.queue == "" {
		return errors.New("a worker needs the --queue that it works for, or LOCKSTEP_QUEUE; without a queue, lockstep-campaign run does the work itself")
	}
	bucket, server, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer bucket.Close() //nolint:errcheck // each write has been confirmed
	defer server.Close() //nolint:errcheck // there is nothing left to tell it
	w := &queue.Worker{Server: server, Bucket: bucket, Locks: p.locks, Version: p.version, Jobs: p.jobs, Log: p.log, Secrets: p.secrets, Metrics: queue.NewMetrics(p.version)}
	if metrics != "" {
		stop, err := p.serve(metrics, w.Metrics)
		if err != nil {
			return err
		}
		defer stop()
	}
	p.log(fmt.Sprintf("ready for the queue %s, %d at a time, engine %s", queue.Name(p.version), p.jobs, p.version.Engine))
	return w.Run(ctx)
}

// serve serves metrics until it is stopped.
func (p *program) serve(address string, m *queue.Metrics) (stop func(), err error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.Handler())
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go srv.Serve(l) //nolint:errcheck // it ends by stop
	p.log(fmt.Sprintf("metrics at http://%s/metrics", l.Addr()))
	return func() { _ = srv.Close() }, nil
}
