package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/sim/adapter"
	"lockstep/sim/trace"
)

// executed is the flags by which a lock in another process takes the place of one of the
// catalogue.
type executed struct {
	command string
	timeout time.Duration
}

// execHelp explains the flags.
const execHelp = `With --exec, the lock is one in another process, and the argument LOCK is left out. The
command is run by /bin/sh as it stands, and speaks the protocol of docs/protocol.md:
docs/adapters has that ready for Python, Node and PHP. Both are in the sources of Lockstep.`

func (x *executed) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&x.command, "exec", "", "run the lock that this `COMMAND` starts, as in 'python3 mylock.py'")
	cmd.Flags().DurationVar(&x.timeout, "exec-timeout", adapter.Patience, "with --exec, how long the process may take for an answer")
}

// instead refuses any other number of arguments than the named ones, of which the first is left
// out with --exec.
func (x *executed) instead(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if x.command != "" {
			return exactly(names[1:]...)(cmd, args)
		}
		return exactly(names...)(cmd, args)
	}
}

// start starts the command, if there is one, and puts the name of its lock before the arguments.
// done ends all its processes.
func (x *executed) start(args []string) (_ []string, done func(*error), err error) {
	if x.command == "" {
		return args, func(*error) {}, nil
	}
	if x.timeout <= 0 {
		return nil, nil, fmt.Errorf("--exec-timeout: a process needs some time for an answer, and not %s", x.timeout)
	}
	p, err := adapter.Start(x.command, "", x.timeout)
	if err != nil {
		return nil, nil, fmt.Errorf("--exec: %w", err)
	}
	st := p.Strategy()
	dismiss, err := scenarios.Admit(st)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("--exec: %w", err), p.Close())
	}
	return append([]string{st.Name}, args...), func(err *error) {
		dismiss()
		*err = errors.Join(*err, scenarios.Close(), p.Close())
	}, nil
}

// run runs a lock under a scenario, and one in another process twice: it might not do the same.
func (x *executed) run(strategy, scenario string, seed uint64) (*trace.Trace, error) {
	t, err := runOnce(strategy, scenario, seed)
	if err != nil || x.command == "" {
		return t, err
	}
	again, err := runOnce(strategy, scenario, seed)
	if err != nil {
		return nil, err
	}
	return t, same(t, again)
}

// same returns an error that names the first event in which two runs of one schedule differ.
func same(once, again *trace.Trace) error {
	if once.Hash == again.Hash {
		return nil
	}
	describe := func(t *trace.Trace, n int) string {
		if n >= len(t.Events) {
			return "nothing"
		}
		return t.Actor(&t.Events[n]) + " " + t.Text(&t.Events[n])
	}
	for n := range max(len(once.Events), len(again.Events)) {
		if a, b := describe(once, n), describe(again, n); a != b {
			return fmt.Errorf("the lock is not deterministic: run twice, it once goes on with %q and once with %q (event #%d); "+
				"does it look at a clock, at random numbers or at other processes without its adapter?", a, b, n+1)
		}
	}
	return errors.New("the lock is not deterministic: run twice, it does not do the same")
}
