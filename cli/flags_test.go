package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestFlagRefusals(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--theme pink", `--theme: unknown theme "pink": it is one of auto, dark, light, mono (see lockstep --help)`},
		{"run setnx crash-holding --theme drak", `--theme: unknown theme "drak"; did you mean "dark"? (see lockstep run --help)`},
		{"run setnx crash-holding --plain --theme drak", `--theme: unknown theme "drak"; did you mean "dark"? (see lockstep run --help)`},
		{"run setnx crash-holding --seed abc", `--seed: "abc" is not a whole number from 0 to 18446744073709551615 (see lockstep run --help)`},
		{"run setnx crash-holding --seed -1", `--seed: "-1" is not a whole number from 0 to 18446744073709551615 (see lockstep run --help)`},
		{"run setnx crash-holding --seed 18446744073709551616", `--seed: "18446744073709551616" is not a whole number from 0 to 18446744073709551615 (see lockstep run --help)`},
		{"run setnx crash-holding --json=maybe", `--json: "maybe" is neither true nor false, and the flag alone means true (see lockstep run --help)`},
		{"run setnx crash-holding --plan", `unknown flag "--plan"; did you mean "--plain"? (see lockstep run --help)`},
		{"explore setnx --goal FR", `unknown flag "--goal"; did you mean "--codes"? (see lockstep explore --help)`},
		{"play setnx --codes FR", `unknown flag "--codes"; did you mean "--goal"? (see lockstep play --help)`},
		{"run setnx crash-holding --codes FR", `unknown flag "--codes"; did you mean "--fail-on"? (see lockstep run --help)`},
		{"run setnx crash-holding -x", `unknown flag "-x" (see lockstep run --help)`},
		{"run setnx crash-holding --=x", `"--=x" is no flag (see lockstep run --help)`},
		{"run setnx crash-holding --plain --json", `--plain and --json exclude each other: give one of them (see lockstep run --help)`},
		{"replay - --json --plain", `--plain and --json exclude each other: give one of them (see lockstep replay --help)`},
		{"matrix --json --markdown", `--json and --markdown exclude each other: give one of them (see lockstep matrix --help)`},
		{"export setnx crash-holding -o", `--output needs a value (see lockstep export --help)`},
		{"explore setnx --clients two", `--clients: "two" is neither a number from 1 to 4 nor any`},
		{"explore setnx --tries two", `--tries: "two" is not a whole number (see lockstep explore --help)`},
		{"explore setnx --tries 9223372036854775808", `--tries: "9223372036854775808" is further from 0 than numbers go here (see lockstep explore --help)`},
		{"explore setnx --ttl 12", `--ttl: "12" is not a duration; write 300ms, 12s or 1m30s (see lockstep explore --help)`},
	} {
		out, errs, status := run(t, "", strings.Fields(tt.args)...)
		if want := "lockstep: " + tt.want + "\n"; errs != want || status != 2 || out != "" {
			t.Errorf("lockstep %s: exit status %d\n got %s\nwant %s\n out %q", tt.args, status, errs, want, out)
		}
	}
}

// No flag of any command, of any type, shows an error text of the libraries.
func TestNoFlagShowsTheLibraries(t *testing.T) {
	for _, cmd := range append(newRoot().Commands(), newRoot()) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "string" && f.Name != "theme" {
				return // any text will do as far as the flag library knows
			}
			errs := refused(t, cmd, "--"+f.Name+"=zzz")
			if !strings.HasPrefix(errs, "lockstep: --"+f.Name+`: `) || !strings.Contains(errs, `"zzz"`) {
				t.Errorf("%s --%s=zzz: %s", cmd.CommandPath(), f.Name, errs)
			}
			for _, raw := range []string{"strconv", "invalid", "parse", "time:", "argument"} {
				if strings.Contains(errs, raw) {
					t.Errorf("%s --%s=zzz speaks of %q: %s", cmd.CommandPath(), f.Name, raw, errs)
				}
			}
		})
	}
}

// refused is the error of a command that refuses a flag.
func refused(t *testing.T, cmd *cobra.Command, flag string) string {
	t.Helper()
	out, errs, status := run(t, "", append(strings.Fields(cmd.CommandPath())[1:], flag)...)
	if status != 2 || out != "" {
		t.Errorf("%s %s: exit status %d\n%s", cmd.CommandPath(), flag, status, out)
	}
	return errs
}
