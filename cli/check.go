package cli

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockstep/cli/tryout"
	"lockstep/scenarios"
	"lockstep/sim/explore"
	"lockstep/sim/explore/certificate"
	"lockstep/sim/explore/report"
)

// checking is the values of a check's flags.
type checking struct {
	part    string
	seed    uint64
	workers int
	given   func(flag string) bool
}

func newCheck() *cobra.Command {
	x := &checking{}
	cmd := &cobra.Command{
		Use:   "check FILE|FOLDER...",
		Short: "Check scripts and playlists, or the proof of a search",
		Long: `Check a script, a FILE.yaml: it is run under each lock that its "expect" names, and so is
each of its variants; printed is what was expected and what came. FILE.yaml.VARIANT checks
one variant alone. The exit status is 1 when something is to be mended, and the last line
counts it: a verdict that is not as expected (the lines that expect what came are printed, to
be pasted), or a line marked !!: a fault that isn't made, or a step that may be why a lock
breaks. What is marked ~ is a note: it may stay, and the exit status is 0 with it. It is 2
when the script can't be run.

Or check a playlist for lockstep present: each of its runs is made, and those of scripts of
your own are compared in the same way with what the script expects of that lock.

A FOLDER stands for the scripts and playlists in it and below it. Of several files each is
checked, the last line counts them, and the exit status is the worst.

Or check a certificate, which lockstep explore --certificate has written: the set of
all situations that a lock can come to. The engine is taken to each of them, every
step and every fault is tried there, and what comes of it must be in the set and
break nothing. The search takes no part in that.

With --part, that is done for so many of the situations, drawn at random: enough to
notice a certificate that is wrong in many places, and no proof.

The exit status is 0 when nothing is wrong in what was checked, 1 when the
certificate proves nothing, 2 when it can't be read or is of another version of
the lock, and 3 when the check was interrupted.`,
		Example: `  lockstep check my.yaml
  lockstep check my.yaml.saved
  lockstep check talk.txt lessons
  lockstep explore setpx-lua --cycles any --faults crash=any,pause=any,reply-lost=any \
      --codes DG,FR,PD --certificate setpx-lua.proof
  lockstep check setpx-lua.proof
  lockstep check setpx-lua.proof --part 5%`,
		Args: func(cmd *cobra.Command, args []string) error { return exactly("FILE")(cmd, args[:min(len(args), 1)]) },
		RunE: x.run,
	}
	x.given = func(flag string) bool { return cmd.Flags().Changed(flag) }
	f := cmd.Flags()
	f.StringVar(&x.part, "part", "100%", "check so much of it, drawn at random")
	f.Uint64Var(&x.seed, "seed", 0, "of the draw (default a fresh one, which is printed)")
	f.IntVar(&x.workers, "workers", 0, "how many cores to use (default all)")
	return cmd
}

func (x *checking) run(cmd *cobra.Command, args []string) error {
	files, err := tryout.Files(args)
	if err != nil {
		return err
	}
	if len(files) == 1 {
		return x.one(cmd, files[0], nil)
	}
	came, listed := map[int]int{}, tryout.Listed{}
	worst := exitOK
	for _, path := range files {
		status := statusOf(x.one(cmd, path, listed), cmd.ErrOrStderr())
		came[status]++
		worst = max(worst, status)
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%d files: %d in order, %d not, %d that can't be checked\n", len(files), came[exitOK], came[exitOccurred], came[exitUsage]+came[exitPartial]); err != nil {
		return err
	}
	return exit(worst)
}

func (x *checking) one(cmd *cobra.Command, path string, listed tryout.Listed) error {
	check, err := tryout.Of(path)
	if err != nil {
		return err
	}
	if check != nil {
		inOrder, err := check(unbroken(cmd.OutOrStdout()), path, listed)
		if err == nil && !inOrder {
			err = exit(exitOccurred)
		}
		return err
	}
	opt := certificate.Options{Resolve: scenarios.FindStrategy, Workers: x.workers, Seed: x.seed}
	if opt.Part, err = percentage(x.part); err != nil {
		return err
	}
	if x.workers < 0 {
		return fmt.Errorf("--workers: it takes one or more, or 0 for one a core, and not %d", x.workers)
	}
	if !x.given("seed") {
		opt.Seed = rand.Uint64()
	}
	c, err := readCertificate(path)
	if err != nil {
		return err
	}
	ctx, _, done := (&exploration{given: x.given}).context(cmd.Context())
	defer done()
	p := newProgress(cmd.ErrOrStderr())
	opt.Progress = p.checked
	r, err := certificate.Check(ctx, c, opt)
	p.end()
	var refuted *certificate.Refuted
	switch {
	case errors.As(err, &refuted):
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", c.Lock, refuted); err != nil {
			return err
		}
		return exit(exitOccurred)
	case errors.Is(err, errInterrupted):
		fmt.Fprintf(cmd.ErrOrStderr(), "lockstep: the check was interrupted, and proves nothing\n")
		return exit(exitPartial)
	case err != nil:
		return err
	}
	return tryout.Proved(cmd.OutOrStdout(), c, r, opt.Seed)
}

func readCertificate(path string) (*certificate.Certificate, error) {
	f, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificate: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	c, err := certificate.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// percentage reads "5%" or "0.5%" as a part of 1.
func percentage(text string) (float64, error) {
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !strings.HasSuffix(text, "%") || !(n > 0 && n <= 100) {
		return 0, fmt.Errorf("--part: %q is no percentage from above 0%% to 100%%", text)
	}
	if n == 100 {
		return 0, nil // the whole
	}
	return n / 100, nil
}

// keepCertificate writes the certificate of a search, or says why there is none.
func (x *exploration) keepCertificate(errs io.Writer, r *explore.Result) error {
	if r.Certificate == nil {
		why := "the search has found " + r.Found.String()
		if len(r.Found) == 0 {
			why = r.Why
		}
		fmt.Fprintf(errs, "lockstep: there is no certificate, so %s is not written: %s\n", x.certificate, why)
		return nil
	}
	r.Certificate.Version = version()
	return replaceFile(x.certificate, r.Certificate.Write)
}

// checked shows the progress of a check.
func (p *progress) checked(done, of int) {
	if !p.live {
		return
	}
	took := time.Since(p.start)
	left := time.Duration(float64(took) / float64(done) * float64(of-done))
	line := fmt.Sprintf("%s of %s situations, %s to go", report.Grouped(int64(done)), report.Grouped(int64(of)), left.Round(time.Second))
	fmt.Fprint(p.w, report.Live(line))
}
