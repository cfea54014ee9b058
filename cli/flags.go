package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockstep/sim/suggest"
)

// flagError explains a wrong flag to its author. The flag library's own messages name
// functions of Go instead of the values that would be right.
func flagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		lacking *pflag.ValueRequiredError
		bad     *pflag.InvalidValueError
		odd     *pflag.InvalidSyntaxError
	)
	switch {
	case errors.As(err, &unknown):
		err = unknownFlag(cmd, unknown)
	case errors.As(err, &lacking):
		err = fmt.Errorf("--%s needs a value", lacking.GetFlag().Name)
	case errors.As(err, &bad):
		err = fmt.Errorf("--%s: %w", bad.GetFlag().Name, badValue(bad))
	case errors.As(err, &odd):
		err = fmt.Errorf("%q is no flag", odd.GetSpecifiedFlag())
	}
	return fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())
}

// codeFlags are the names under which commands take codes: a user who has learnt one of them tries it elsewhere.
var codeFlags = []string{"codes", "goal", "fail-on"}

func unknownFlag(cmd *cobra.Command, e *pflag.NotExistError) error {
	if letters := e.GetSpecifiedShortnames(); letters != "" {
		return fmt.Errorf("unknown flag \"-%s\"", e.GetSpecifiedName())
	}
	for _, name := range codeFlags { // before flags of similar spelling
		if slices.Contains(codeFlags, e.GetSpecifiedName()) && cmd.Flags().Lookup(name) != nil {
			return fmt.Errorf("unknown flag %q; did you mean %q?", "--"+e.GetSpecifiedName(), "--"+name)
		}
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
	return suggest.Unknown("flag", "--"+e.GetSpecifiedName(), known)
}

// badValue is the error of a flag with a wrong value: it tells the values that it takes.
func badValue(e *pflag.InvalidValueError) error {
	kind, value := e.GetFlag().Value.Type(), e.GetValue()
	switch kind {
	case "uint64":
		return fmt.Errorf("%q is not a whole number from 0 to %d", value, uint64(1<<64-1))
	case "int":
		if errors.Is(e, strconv.ErrRange) {
			return fmt.Errorf("%q is further from 0 than numbers go here", value)
		}
		return fmt.Errorf("%q is not a whole number", value)
	case "duration":
		return fmt.Errorf("%q is not a duration; write 300ms, 12s or 1m30s", value)
	case "bool":
		return fmt.Errorf("%q is neither true nor false, and the flag alone means true", value)
	}
	return e.Unwrap() // flags with types of their own have errors of their own
}

// exclusive refuses two flags that exclude each other. It does so before cobra, whose
// message speaks of groups of flags. Cobra is told all the same, so that the shell's
// completion no longer offers the second flag.
func exclusive(cmd *cobra.Command, one, other string) {
	cmd.MarkFlagsMutuallyExclusive(one, other)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed(one) && cmd.Flags().Changed(other) {
			return fmt.Errorf("--%s and --%s exclude each other: give one of them (see %s --help)", one, other, cmd.CommandPath())
		}
		return nil
	}
}
