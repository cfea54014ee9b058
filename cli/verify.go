package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/sim/explore/report"
	"lockstep/sim/trace"
	"lockstep/sim/verify"
)

func newVerify() *cobra.Command {
	var workers int
	var servers string
	var longest time.Duration
	cmd := &cobra.Command{
		Use:   "verify [LOCK [SCENARIO|FILE.yaml]]",
		Short: "Replay runs on real Redis servers, and compare every reply",
		Long: `Replay runs on real Redis servers, and compare every reply and, after every step
of a server, every key's value and remaining life. Without arguments the runs are
those of the whole matrix; with a strategy, or with a strategy and a scenario,
those.

Lockstep starts servers of its own from the redis-server on the PATH, and sets their
clocks, so it replays expiries to the millisecond, jumps of clocks, restarts,
replicas, WAIT and promotions. That needs Linux and a C compiler, cc. The servers
have no port; they and their files are gone when the command ends, however it does.

With --redis it replays on servers of yours, such as another version or another
server that speaks the protocol, and waits real time. There it can't set the clock,
restart, or replicate: a run is compared up to where it needs that, or up to
--longest. All keys begin with ` + verify.Prefix + `; a server that has such keys is
refused. They are removed in the end, nothing is flushed, and the scripts stay in the
server's cache. A password is taken from the variable REDISCLI_AUTH.

The exit status is 0 without a difference, 1 with one, 2 when no server can be had,
and 3 when the replay was interrupted.`,
		Example: `  lockstep verify
  lockstep verify setpx-lua
  lockstep verify setpx-lua my-scenario.yaml
  lockstep verify --redis localhost:6379`,
		Args:              atMost("LOCK", "SCENARIO"),
		ValidArgsFunction: completeRun,
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := runsOf(args)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			v := verification{runs: runs, workers: max(1, min(workers, len(runs))), addresses: words(servers), longest: longest}
			if !cmd.Flags().Changed("workers") && len(v.addresses) > 0 {
				v.workers = min(patientWorkers, len(runs))
			}
			if cmd.Flags().Changed("redis") && len(v.addresses) == 0 {
				return errors.New("--redis needs an address, such as localhost:6379")
			}
			for _, a := range v.addresses {
				if _, _, err := net.SplitHostPort(a); err != nil && !strings.HasPrefix(a, "/") { // or it is a socket's path
					return fmt.Errorf("--redis %s is no address: it is to be one such as localhost:6379", a)
				}
			}
			return v.run(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&servers, "redis", "", "replay on servers at these `ADDRESSES`, as in localhost:6379, and wait real time")
	cmd.Flags().DurationVar(&longest, "longest", 20*time.Second, "with --redis, how much of a run is replayed")
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

// runsOf makes the runs that the arguments name: no argument is the whole matrix.
func runsOf(args []string) (runs []verify.Run, err error) {
	var traces []*trace.Trace
	switch len(args) {
	case 0:
		for _, c := range matrix() {
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

// patientWorkers is how many runs are replayed at a time that mostly wait.
const patientWorkers = 100

// verification is one call of the command.
type verification struct {
	runs      []verify.Run
	workers   int
	addresses []string // of servers that run already; none means servers of our own
	longest   time.Duration
}

func (v *verification) run(ctx context.Context, out, errs io.Writer) error {
	p := newProgress(errs)
	var replayers []verify.Replayer
	var version string
	var err error
	if len(v.addresses) > 0 {
		replayers, version, err = verify.NewLives(ctx, v.workers, v.addresses, v.longest)
	} else {
		replayers, version, err = verify.NewExacts(v.workers)
	}
	if err != nil {
		return err
	}
	r, err := verify.All(ctx, v.runs, replayers, func(done int) { p.verified(done, len(v.runs)) })
	p.end()
	if ctx.Err() != nil {
		fmt.Fprintf(errs, "lockstep: the replay was interrupted, and says nothing\n")
		return exit(exitPartial)
	}
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
		fmt.Fprint(p.w, report.Live(fmt.Sprintf("%d of %d runs", done, of)))
	}
}
