// Package cli is the command line: it parses arguments, runs the named scenario or search,
// and prints a view of the resulting trace. It stands between main and the packages
// below so that main stays thin and the commands can be tested as functions.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/sim/suggest"
	"lockstep/sim/trace"
)

// The exit statuses.
const (
	exitOK       = 0
	exitOccurred = 1 // the event that the caller asked to be told about has occurred
	exitUsage    = 2 // the input has to be corrected
	exitPartial  = 3 // a search has not finished, and so proves nothing
)

// exit is an error that has already been reported to the user, if it had to be.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Main runs the command line and returns the exit status.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	return execute(context.Background(), args, in, out, errs)
}

// execute is Main until ctx is done; then a search ends with its findings so far.
func execute(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) (status int) {
	defer catchBroken(&status, errs)
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	fitPage(out)
	return statusOf(root.ExecuteContext(ctx), errs)
}

// catchBroken tells the author of a scenario or a lesson what is wrong with it, without a stack.
func catchBroken(status *int, errs io.Writer) {
	switch broken := recover().(type) {
	case nil:
	case scenarios.Broken:
		*status = statusOf(broken, errs)
	default:
		panic(broken)
	}
}

// statusOf is the exit status after an error, which it prints unless that has been done.
func statusOf(err error, errs io.Writer) int {
	var status exit
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return int(status)
	}
	text := err.Error()
	if list := (interface{ Unwrap() []error })(nil); errors.As(err, &list) { // of several mistakes each has a line
		text = strings.ReplaceAll(text, "\n", "\nlockstep: ")
	}
	fmt.Fprintf(unbroken(errs), "lockstep: %s\n", text)
	return exitUsage
}

func newRoot() *cobra.Command {
	var show display
	root := &cobra.Command{
		Use:   "lockstep",
		Short: "Shows how Redis locks fail, by running real lock code in virtual time",
		Long:  "Lockstep shows how Redis locks fail, by running real lock code in virtual time.",
		Example: `  lockstep                                      in a terminal: learn and play
  lockstep course 6                             one lesson of the course`,
		Version:       version(),
		Args:          noArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if terminal(cmd.OutOrStdout()) && terminal(cmd.InOrStdin()) {
				return show.home()
			}
			return printMatrix(cmd.OutOrStdout(), cmd.ErrOrStderr(), textMatrix)
		},
	}
	show.flags(root)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.InitDefaultHelpFlag()
	root.Flags().Lookup("help").Hidden = true                              // the last line says it, and all is to fit a screen
	root.Flags().Bool("version", false, "print the version of this build") // cobra's own would take -v, too
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fitPage(cmd.OutOrStdout())
		io.WriteString(prose(cmd.OutOrStdout()), reset(strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)))+"\n\n"+cmd.UsageString()) //nolint:errcheck // as cobra's own
	})
	group := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
		for _, c := range commands {
			c.GroupID = title
		}
		root.AddCommand(commands...)
	}
	group("To learn and to teach", newCourse(), newPlay(), newPresent(), newAdvise(), newExplain(), newList())
	group("To see what happens", newRun(), newMatrix(), newExplore(), newReplay(), newExport(), newVerify())
	group("For locks and scripts of your own", newNew(), newCheck(), newServe(), newAudit(), newCampaign())
	root.SetHelpCommandGroupID("To learn and to teach")
	root.CompletionOptions.HiddenDefaultCmd = true
	refuseUnknown(root)
	return root
}

// refuseUnknown has cobra's own commands refuse a word that they don't know, as the others do: they would print their help,
// and succeed.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args = noArgs
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				cmd, left, err := root.Find(args)
				if err != nil || !cmd.HasSubCommands() {
					return err
				}
				return noArgs(cmd, left)
			}
		}
	}
}

// noArgs refuses arguments, and takes the first for a misspelt command.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return fmt.Errorf("%s takes no arguments, and got %q", cmd.Name(), args[0])
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return fmt.Errorf("%w (see %s --help)", suggest.Unknown("command", args[0], names), cmd.CommandPath())
}

// exactly refuses any other number of arguments than the named ones.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 1 && len(names) == 2 && names[0] == "LOCK":
			return oneOfTwo(cmd, args[0])
		case len(args) < len(names):
			return fmt.Errorf("%s needs a %s (see %s --help)", cmd.Name(), names[len(args)], cmd.CommandPath())
		case len(args) > len(names):
			return fmt.Errorf("%s got %q, which is one argument too many", cmd.Name(), args[len(names)])
		}
		return nil
	}
}

// oneOfTwo says which one of a lock and a scenario is missing.
func oneOfTwo(cmd *cobra.Command, given string) error {
	switch {
	case filepath.Ext(given) == ".txt":
		return fmt.Errorf("%s takes a LOCK and a SCENARIO, and %s is neither; if it is a playlist, lockstep present %[2]s shows it: a playlist has no other form", cmd.Name(), quoted(given))
	case namesScenario(given):
		return fmt.Errorf("%s needs a LOCK before the scenario, as in %s naive-del %s; lockstep list names the locks", cmd.Name(), cmd.CommandPath(), quoted(given))
	}
	return fmt.Errorf("%s needs a SCENARIO (see %s --help)", cmd.Name(), cmd.CommandPath())
}

// namesScenario reports whether a name is that of a scenario, or of a file with one.
func namesScenario(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	return isScenario(name) || slices.Contains(scenarios.Names(), base)
}

// atMostOne refuses more arguments than one.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s got %q, which is one argument too many", cmd.Name(), args[1])
	}
	return nil
}

// terminal reports whether a stream is an interactive terminal.
func terminal(stream any) bool {
	f, is := stream.(*os.File)
	return is && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// parseCodes reads a list such as "DG,FR". Its error for a word that is no code suggests the codes that the flag is for.
func parseCodes(flag, list string, sensible trace.Verdict) (trace.Verdict, error) {
	var codes trace.Verdict
	for _, word := range words(list) {
		code, is := trace.ParseCode(strings.ToUpper(word))
		if !is {
			return nil, fmt.Errorf("--%s: %w", flag, suggest.Unknown("code", word, sensible.Strings()))
		}
		codes = append(codes, code)
	}
	return codes, nil
}

// words are those of a list with commas or blanks between them.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
