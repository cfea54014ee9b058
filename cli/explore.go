package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/sim/explore"
	"lockstep/sim/explore/report"
	"lockstep/sim/suggest"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// exploration is the values of a search's flags.
type exploration struct {
	tries, nodes, workers                   int
	clients, cycles                         string
	faults, codes, caller, resource, memory string
	ttl, timeout, limit, delay              time.Duration
	json                                    bool
	save, certificate, disk                 string
	exec                                    executed
	given                                   func(flag string) bool
}

func newExplore() *cobra.Command { return newExploration(&exploration{}) }

func newExploration(x *exploration) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explore LOCK",
		Short: "Search every schedule within bounds, not only a scripted one",
		Long: `Search every schedule of a lock within bounds: so many clients, each taking
the lock so often, and so many faults of each kind, at every instant at which
they make a difference. For each code there is one of four answers:

` + answersHelp() + `
Of a violation the least schedule is shown: that with the fewest faults, then the
fewest switches between clients, then the fewest steps. Before anything is said
to hold, the engine plays thousands of random schedules within the bounds, which
know nothing of the search; one that breaks it is shown instead.

The kinds of fault are ` + strings.Join(explore.FaultKinds(), ", ") + `;
"crash" alone is crash=1, and "none" is no fault at all.

` + execHelp + `

The exit status is 0 when everything holds that it was told to look for with
--codes (without it, all that counts as a failure), 1 when something is violated,
2 when the input has to be mended, and 3 when something is not decided and nothing
is violated, or when the search was interrupted.`,
		Example: `  lockstep explore setpx-lua --codes DG,FR,PD
  lockstep explore get-then-del --faults pause=1 --codes FR --save regression.yaml
  lockstep explore redlock --faults crash,restart --time-limit 1m --json
  lockstep explore --exec 'python3 mylock.py' --codes DG,FR,PD`,
		Args: x.exec.instead("LOCK"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return scenarios.StrategyNames(), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: x.execute,
	}
	x.given = func(flag string) bool { return cmd.Flags().Changed(flag) }
	f := cmd.Flags()
	f.StringVar(&x.clients, "clients", "2", fmt.Sprintf("how many clients there are, 1 to %d or any", explore.MaxClients))
	f.StringVar(&x.cycles, "cycles", "2", "how often each takes the lock, 1 to 9 or any; for locks on several servers the default is 1")
	f.IntVar(&x.tries, "tries", 1, "how often the lock asks in each cycle before it gives up, with its own delay between two tries")
	f.DurationVar(&x.delay, "retry-delay", 0, "between two tries, without any jitter, instead of the lock's own")
	f.StringVar(&x.faults, "faults", "crash=1,pause=1", "at most so many `FAULTS` of each kind in one schedule; of delay, if cycles have no bound, at a time")
	f.IntVar(&x.nodes, "nodes", 3, "of a lock on several servers: how many")
	f.StringVar(&x.codes, "codes", "", "look for these `CODES` alone, as in DG,FR,PD; and where cycles have no bound also LV, with the longest wait for a free lock")
	f.StringVar(&x.caller, "caller", "plain", "how the callers use the lock: plain, checks (each checks whether its lease is over before each access), extends (each extends it before it writes)")
	f.StringVar(&x.resource, "resource", "", "plain, fenced, or fenced-writes (default fenced where there are fencing tokens)")
	f.DurationVar(&x.ttl, "ttl", 12*time.Second, "of a lease")
	f.DurationVar(&x.timeout, "timeout", 0, "how long a client waits for a reply, instead of the lock's own")
	f.DurationVar(&x.limit, "time-limit", 0, "stop the search after that time (default none)")
	f.StringVar(&x.memory, "memory-limit", "3GiB", "stop it when it takes so much `MEMORY`, such as 512MB or 2GiB; with --disk, keep within it")
	f.StringVar(&x.disk, "disk", "", "go on in `DIR` when the memory is full; if a search was cut off there, go on with it")
	f.IntVar(&x.workers, "workers", 0, "how many cores to use (default all)")
	f.BoolVar(&x.json, "json", false, "print the result as JSON")
	f.StringVar(&x.save, "save", "", "write the least schedule of the worst violation to `FILE.yaml`, a scenario that shows it")
	x.exec.flags(cmd)
	f.StringVar(&x.certificate, "certificate", "", "of a search without bounds that finds nothing: write its situations to `FILE`, for lockstep check")
	return cmd
}

// answersHelp explains the answers, from the best to the worst.
func answersHelp() string {
	var b strings.Builder
	for _, a := range []struct {
		answer explore.Answer
		means  string
	}{
		{explore.HoldsAlways, "no schedule of so many clients violates it, however long"},
		{explore.HoldsWithin, "no schedule within them violates it"},
		{explore.NotDecided, "the search was cut off or proves nothing; it says why"},
		{explore.Violated, "some schedule violates it"},
	} {
		fmt.Fprintf(&b, "  %-25s %s\n", a.answer, a.means)
	}
	return b.String()
}

// errInterrupted is the cause of a search's end that the user asked for.
var errInterrupted = errors.New("it was interrupted")

func (x *exploration) execute(cmd *cobra.Command, args []string) (err error) {
	args, done, err := x.exec.start(args)
	if err != nil {
		return err
	}
	defer done(&err)
	return x.run(cmd, args[0])
}

func (x *exploration) run(cmd *cobra.Command, strategy string) error {
	b, err := x.bounds(strategy)
	if err != nil {
		return err
	}
	opt := explore.Options{Workers: x.workers, Certify: x.given("certificate"), Disk: x.disk, Trials: explore.Trials}
	if opt.Memory, err = x.limits(); err != nil {
		return err
	}
	ctx, interrupted, done := x.context(cmd.Context())
	defer done()
	p := newProgress(cmd.ErrOrStderr())
	look, usual := collectSeldom(opt.Memory)
	defer usual()
	opt.Progress = func(at explore.Progress) { look(at); p.show(at) }
	start := time.Now()
	r, err := explore.Run(ctx, b, opt)
	took := time.Since(start)
	p.end()
	if why := context.Cause(ctx); errors.Is(err, explore.ErrCutShort) || why != nil && errors.Is(err, why) {
		fmt.Fprintf(cmd.ErrOrStderr(), "lockstep: not decided, because %s\n", err)
		return exit(exitPartial)
	}
	if err != nil {
		return err
	}
	p.took(r, took)
	if r.Kept {
		fmt.Fprintf(cmd.ErrOrStderr(), "lockstep: the search is kept in %s; the same command goes on from there\n", x.disk)
	}
	if x.json {
		err = writeJSON(cmd.OutOrStdout(), report.JSON(r, took))
	} else {
		err = writeResult(cmd.OutOrStdout(), r)
	}
	if err == nil && x.save != "" {
		err = x.keep(cmd.ErrOrStderr(), r)
	}
	if err == nil && opt.Certify {
		err = x.keepCertificate(cmd.ErrOrStderr(), r)
	}
	if err != nil {
		return err
	}
	return x.status(r, interrupted())
}

// collectSeldom has garbage collected when the heap is five times its live part, and not twice: nearly all that a search makes stays. It does so
// as long as look sees the states take a small part of the memory that there is. GOGC in the environment has its way.
func collectSeldom(memory int64) (look func(explore.Progress), usual func()) {
	if os.Getenv("GOGC") != "" {
		return func(explore.Progress) {}, func() {}
	}
	const unlimited = 4 << 30
	most, percent := cmp.Or(memory, unlimited)/16, debug.SetGCPercent(400)
	return func(at explore.Progress) {
		if int64(at.Bytes) > most {
			debug.SetGCPercent(percent)
		}
	}, func() { debug.SetGCPercent(percent) }
}

// context ends with the first Ctrl-C, or when the time is up. The second Ctrl-C
// ends the program.
func (x *exploration) context(parent context.Context) (ctx context.Context, interrupted func() bool, done func()) {
	signals, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	detach := context.AfterFunc(signals, func() { stop(); cancel(errInterrupted) })
	timeUp := func() {}
	if x.given("time-limit") {
		ctx, timeUp = context.WithTimeoutCause(ctx, x.limit, fmt.Errorf("the time limit of %s was reached", x.limit))
	}
	if parent.Err() != nil {
		cancel(errInterrupted)
	}
	return ctx, func() bool { return signals.Err() != nil }, func() { detach(); stop(); timeUp(); cancel(nil) }
}

// status is the result as an exit status.
func (x *exploration) status(r *explore.Result, interrupted bool) error {
	counts := func(c trace.Code) bool { return x.codes != "" || c.Failure() }
	switch {
	case interrupted && !r.Complete:
		return exit(exitPartial)
	case slices.ContainsFunc(r.Found, counts):
		return exit(exitOccurred)
	case slices.ContainsFunc(r.Findings(), func(f explore.Finding) bool { return f.Answer == explore.NotDecided }):
		return exit(exitPartial)
	}
	return nil
}

// bounds is the bounds that the flags ask for.
func (x *exploration) bounds(strategy string) (explore.Bounds, error) {
	st, err := lockNamed(strategy)
	if err != nil {
		return explore.Bounds{}, err
	}
	b := explore.Defaults(st)
	b.TTL = x.ttl
	if b.Clients, err = scenarios.ParseCount(x.clients, 1, explore.MaxClients); err != nil {
		return b, fmt.Errorf("--clients: %w", err)
	}
	if b.Clients == explore.Any { // two real ones, and an environment in place of all others
		b.Clients, b.Others = 2, true
	}
	if x.given("tries") {
		if b.Tries = x.tries; b.Tries < 1 {
			return b, fmt.Errorf("--tries: a lock asks once or more often, not %d times", x.tries)
		}
	}
	if x.given("retry-delay") {
		if b.Strategy.Retry = (strategies.Retry{Delay: x.delay}); x.delay < 0 {
			return b, fmt.Errorf("--retry-delay: %s is less than nothing", x.delay)
		}
	}
	if x.given("timeout") {
		if b.Timeout = x.timeout; b.Timeout <= 0 {
			return b, fmt.Errorf("--timeout: a client waits for some time for a reply, and not %s", x.timeout)
		}
	}
	if x.given("cycles") {
		if b.Cycles, err = scenarios.ParseCount(x.cycles, 1, 9); err != nil {
			return b, fmt.Errorf("--cycles: %w", err)
		}
	}
	if x.given("nodes") {
		if b.Nodes = x.nodes; b.Nodes < 1 {
			return b, fmt.Errorf("--nodes: a lock runs on 1 node or more, not on %d", x.nodes)
		}
	}
	if x.given("faults") {
		if b.Faults, err = scenarios.ParseFaults(x.faults); err != nil {
			return b, fmt.Errorf("--faults: %w", err)
		}
	}
	if b.Codes, err = parseSought(x.codes); err != nil {
		return b, err
	}
	if x.given("codes") && len(b.Codes) == 0 {
		return b, fmt.Errorf("--codes: %q names no code to look for", x.codes)
	}
	if err := x.callers(&b); err != nil {
		return b, err
	}
	_, err = b.Config()
	return b, err
}

// callers sets how the callers use the lock.
func (x *exploration) callers(b *explore.Bounds) error {
	if err := scenarios.SetCaller(b, x.caller); err != nil {
		return fmt.Errorf("--caller: %w", err)
	}
	if !x.given("resource") {
		return nil
	}
	if err := scenarios.SetResource(b, x.resource); err != nil {
		return fmt.Errorf("--resource: %w", err)
	}
	return nil
}

// parseSought reads the codes to look for. It accepts codes that no search can look for:
// the search refuses those, with the reason.
func parseSought(list string) (sought trace.Verdict, err error) {
	for _, word := range words(list) {
		if word == "ok" {
			continue // elsewhere ok is the verdict without codes
		}
		c, known := trace.ParseCode(strings.ToUpper(word))
		if !known {
			return nil, fmt.Errorf("--codes: %w", suggest.Unknown("code", word, append(new(explore.Bounds).Sought().Strings(), trace.LV.String())))
		}
		sought = append(sought, c)
	}
	return sought, nil
}

// limits checks the limits of a search, and the destination of its result.
func (x *exploration) limits() (memory int64, err error) {
	switch ext := filepath.Ext(x.save); {
	case x.limit < 0:
		return 0, fmt.Errorf("--time-limit: %s is less than nothing", x.limit)
	case x.workers < 0:
		return 0, fmt.Errorf("--workers: it takes one or more, or 0 for one a core, and not %d", x.workers)
	case x.given("retry-delay") && x.given("certificate"):
		return 0, errors.New("--certificate: it is of the lock with its own delay between two tries, without --retry-delay")
	case x.given("save") && ext != ".yaml" && ext != ".yml":
		return 0, fmt.Errorf("--save: a scenario's file ends in .yaml, and %q does not", x.save)
	}
	for flag, path := range map[string]string{"save": x.save, "certificate": x.certificate} {
		if x.given(flag) {
			if err := canReplace(path); err != nil {
				return 0, err
			}
		}
	}
	if memory, err = scenarios.ParseSize(x.memory); err != nil {
		return 0, fmt.Errorf("--memory-limit: %w", err)
	}
	return memory, nil
}

// keep writes the worst counterexample as a scenario.
func (x *exploration) keep(errs io.Writer, r *explore.Result) error {
	if len(r.Violated) == 0 {
		fmt.Fprintf(errs, "lockstep: there is no counterexample to save, so %s is not written\n", x.save)
		return nil
	}
	data, err := scenarios.FromSearch(&r.Bounds, r.Violated[0], filepath.Base(x.save))
	if err != nil {
		return err
	}
	return replaceFile(x.save, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
