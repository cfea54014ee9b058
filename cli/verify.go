package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/sim/verify"
)

func newVerify() *cobra.Command {
	var workers int
	cmd := &cobra.Command{
		Use:   "verify [STRATEGY [SCENARIO|FILE.yaml]]",
		Short: "Replay runs on real Redis servers, and compare every reply",
		Long: `Replay runs on real Redis servers, and compare every reply and, after every step
of a server, every key's value and remaining life. Without arguments the runs are
those of the whole matrix; with a strategy, or with a strategy and a scenario,
those.

Lockstep starts servers of its own from the redis-server on the PATH, and sets their
clocks, so it replays expiries to the millisecond, jumps of clocks, restarts,
replicas, WAIT and promotions. That needs Linux and a C compiler, cc. The servers
have no port; they and their files are gone when the command ends, however it does.

The exit status is 0 without a difference, 1 with one, and 2 when no server can be
had.`,
		Example: `  lockstep verify
  lockstep verify setpx-lua
  lockstep verify setpx-lua my-scenario.yaml`,
		Args:              atMost("STRATEGY", "SCENARIO"),
		ValidArgsFunction: completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := runsOf(args)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return verifyExactly(ctx, cmd.OutOrStdout(), newProgress(cmd.ErrOrStderr()), runs, workers)
		},
	}
	cmd.Flags().IntVar(&workers, "workers", runtime.GOMAXPROCS(0), "how many runs are replayed at a time")
	return cmd
}

// atMost refuses more arguments than the named ones.
func atMost(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > len(names) {
			return fmt.Errorf("%s got %q, which is one argument too many", cmd.CommandPath(), args[len(names)])
		}
		return nil
	}
}

// runsOf runs what the arguments name: nothing is the whole matrix.
func runsOf(args []string) (runs []verify.Run, err error) {
	var traces []*trace.Trace
	switch len(args) {
	case 0:
		for _, c := range scenarios.Matrix(1) {
			if c.Err != nil {
				return nil, fmt.Errorf("%s under %s: %w", c.Strategy.Name, c.Scenario.Name, c.Err)
			}
			traces = append(traces, c.Trace)
		}
	case 1:
		for _, s := range scenarios.Names() {
			t, err := runOnce(args[0], s, 1)
			if err != nil {
				return nil, err
			}
			traces = append(traces, t)
		}
	default:
		t, err := runOnce(args[0], args[1], 1)
		if err != nil {
			return nil, err
		}
		traces = append(traces, t)
	}
	for _, t := range traces {
		r, err := verify.RunOf(t, scenarios.FindStrategy)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

func verifyExactly(ctx context.Context, out io.Writer, p *progress, runs []verify.Run, workers int) error {
	replayers, version, err := verify.NewExacts(max(1, min(workers, len(runs))))
	if err != nil {
		return err
	}
	r, err := verify.All(ctx, runs, replayers, func(done int) { p.verified(done, len(runs)) })
	p.end()
	if err != nil {
		return err
	}
	r.Version = version
	return writeVerified(out, r)
}

func writeVerified(out io.Writer, r *verify.Report) error {
	if _, err := io.WriteString(out, r.String()); err != nil {
		return err
	}
	if len(r.Found) > 0 {
		return exit(exitOccurred)
	}
	return nil
}

// verified shows the progress of replays.
func (p *progress) verified(done, of int) {
	if p.live {
		fmt.Fprintf(p.w, "%s%d of %d runs", clear, done, of)
	}
}
