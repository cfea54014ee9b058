package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// form is how a run is printed.
type form struct{ plain, json bool }

func (f *form) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.plain, "plain", false, "print the run as text (the default without a terminal)")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the run as JSON")
	exclusive(cmd, "plain", "json")
}

func (f *form) print(w io.Writer, t *trace.Trace) error {
	if !f.json {
		return timeline.Plain(unbroken(w), t)
	}
	return writeJSON(w, t)
}

func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

func newRun() *cobra.Command {
	var f form
	var show display
	var seed uint64
	var failOn string
	var x executed
	cmd := &cobra.Command{
		Use:   "run LOCK SCENARIO|FILE.yaml",
		Short: "Run one lock under one scenario",
		Long: `Run one lock under one scenario: a built-in one by name, or one of your own
by its path. In a terminal the run opens in the player; with --plain, with --json,
or without a terminal it is printed.

` + execHelp + `

The exit status is 0 when it ran, 1 when a code named by --fail-on occurred or
a printed run is not what its file expects, and 2 when the input has to be mended.`,
		Example: `  lockstep run setpx-lua pause-past-ttl --plain
  lockstep run get-then-del release-gap --json | jq .violations
  lockstep run setpx-lua my-scenario.yaml --fail-on DG,FR,PD
  lockstep run --exec 'python3 mylock.py' pause-past-ttl`,
		Args:              x.instead("LOCK", "SCENARIO"),
		ValidArgsFunction: completeRun,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			codes, err := parseCodes("fail-on", failOn, trace.Codes)
			if err != nil {
				return err
			}
			args, done, err := x.start(args)
			if err != nil {
				return err
			}
			defer done(&err)
			if terminal(cmd.OutOrStdout()) && terminal(cmd.InOrStdin()) && !f.plain && !f.json && failOn == "" {
				return show.open(args[0], args[1], seed)
			}
			trace, err := x.run(args[0], args[1], seed)
			if err != nil {
				return err
			}
			if err := f.print(cmd.OutOrStdout(), trace); err != nil {
				return err
			}
			if _, met := trace.Expectation(); !met {
				return exit(exitOccurred)
			}
			return failIf(trace, codes)
		},
	}
	f.flags(cmd)
	x.flags(cmd)
	show.flags(cmd)
	cmd.Flags().Uint64Var(&seed, "seed", 1, "where tokens and jitter come from")
	cmd.Flags().StringVar(&failOn, "fail-on", "", "exit with 1 if one of these `CODES` occurs, as in DG,FR,PD")
	return cmd
}

// completeRun offers the shell a strategy, and then a scenario or a file.
func completeRun(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return scenarios.StrategyNames(), cobra.ShellCompDirectiveNoFileComp
	case 1:
		return scenarios.Names(), cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// findLock finds the lock that is to run under a scenario. It says so if the two are in the places of
// each other.
func findLock(name, scenario string) (strategies.Strategy, error) {
	st, err := lockNamed(name)
	if err == nil {
		return st, nil
	}
	if _, other := scenarios.FindStrategy(scenario); other == nil && namesScenario(name) {
		return st, fmt.Errorf("%q is a scenario, and %q is a lock: the lock comes first, as in %[2]s %[1]s", name, scenario)
	}
	return st, err
}

// lockNamed finds a lock. A scenario's name in its place is told from a misspelt one.
func lockNamed(name string) (strategies.Strategy, error) {
	st, err := scenarios.FindStrategy(name)
	if err != nil && namesScenario(name) {
		err = fmt.Errorf("%q is a scenario, and no lock; lockstep list names the locks", name)
	}
	return st, err
}

func runOnce(strategy, scenario string, seed uint64) (*trace.Trace, error) {
	st, err := findLock(strategy, scenario)
	if err != nil {
		return nil, err
	}
	s, err := scenarios.Find(scenario)
	if err != nil {
		return nil, err
	}
	return s.Run(st, seed)
}

func failIf(t *trace.Trace, codes trace.Verdict) error {
	if slices.ContainsFunc(t.Verdict(), func(c trace.Code) bool { return slices.Contains(codes, c) }) {
		return exit(exitOccurred)
	}
	return nil
}

func newReplay() *cobra.Command {
	var f form
	var x executed
	cmd := &cobra.Command{
		Use:   "replay SCHEDULE|-",
		Short: "Run a schedule again, as every run prints it",
		Long: `Run a schedule again: the line that every run prints last. The same schedule
gives the same events, byte for byte. With - the schedule is read from standard
input. Text before "lockstep1," is skipped, so that the whole line
can be given, and a whole printed run piped in.`,
		Example: `  lockstep run setnx crash-holding --plain | lockstep replay -
  lockstep replay 'schedule  lockstep1,...'`,
		Args: exactly("SCHEDULE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			_, done, err := x.start(nil)
			if err != nil {
				return err
			}
			defer done(&err)
			text := args[0]
			if text == "-" {
				var err error
				if text, err = readAll(cmd.InOrStdin()); err != nil {
					return err
				}
			}
			schedule, err := sim.ParseSchedule(findSchedule(text), scenarios.FindStrategy)
			if err != nil {
				return err
			}
			trace, err := scenarios.Replay(schedule)
			if err != nil {
				return err
			}
			return f.print(cmd.OutOrStdout(), trace)
		},
	}
	f.flags(cmd)
	x.flags(cmd)
	return cmd
}

// readAll reads standard input, which has to hold something.
func readAll(r io.Reader) (string, error) {
	const most = 16 << 20
	data, err := io.ReadAll(io.LimitReader(r, most))
	if err != nil {
		return "", fmt.Errorf("cannot read standard input: %w", err)
	}
	if strings.TrimSpace(string(data)) == "" {
		return "", errors.New("standard input is empty: expected a schedule")
	}
	return string(data), nil
}

// findSchedule extracts the last schedule from a text: a copied line, a run as text or as
// JSON. Without a schedule it returns the text, whose beginning the parser then refuses.
func findSchedule(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'`+"`", r) })
	for _, word := range slices.Backward(words) {
		if at := strings.Index(word, sim.ScheduleVersion+","); at >= 0 {
			return word[at:]
		}
	}
	return text
}
