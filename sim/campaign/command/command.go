// Package command is the command line of campaigns. A module with locks of its own has a main of
// three lines that calls it with these.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"lockstep/sim/campaign/hush"
	"lockstep/sim/campaign/job"
	"lockstep/sim/campaign/queue"
	"lockstep/sim/campaign/store"
)

// The exit statuses are those of lockstep explore.
const (
	exitOK       = 0
	exitViolated = 1 // some schedule violates a code that its lock isn't known to violate
	exitUsage    = 2 // the input has to be mended, or the surroundings
	exitPartial  = 3 // something is not decided, or the campaign was interrupted
)

// exit is an error of which the user has been told.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// program is the state that all commands share.
type program struct {
	locks   job.Locks
	version job.Version
	queue   string
	results string
	jobs    int
	secrets hush.Secrets
	out     io.Writer
	errs    io.Writer
}

// Main runs the command line for locks that a module has, and those of the catalogue, and returns
// the exit status. The first Ctrl-C ends it in order, the second at once.
func Main(args []string, out, errs io.Writer, own ...job.Lock) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return execute(ctx, args, out, errs, own)
}

func execute(ctx context.Context, args []string, out, errs io.Writer, own job.Locks) int {
	secrets := hush.Of(append(slices.Clone(args), os.Getenv("LOCKSTEP_QUEUE"), os.Getenv("LOCKSTEP_RESULTS"))...)
	out, errs = secrets.Writer(out), secrets.Writer(errs)
	p := &program{secrets: secrets, out: out, errs: errs}
	err := p.prepare(own)
	if err == nil {
		root := p.root()
		root.SetArgs(args)
		root.SetOut(out)
		root.SetErr(errs)
		err = root.ExecuteContext(ctx)
	}
	var status exit
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return int(status)
	}
	fmt.Fprintf(errs, "lockstep-campaign: %s\n", err)
	return exitUsage
}

func (p *program) prepare(own job.Locks) (err error) {
	if p.version, err = job.Current(); err != nil {
		return err
	}
	catalogue, err := job.Catalogue()
	if err != nil {
		return err
	}
	p.locks = append(catalogue, own...)
	seen := map[string]bool{}
	for _, name := range p.locks.Names() {
		if seen[name] {
			return fmt.Errorf("two locks are called %s: give the module's own another name", name)
		}
		seen[name] = true
	}
	return nil
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "lockstep-campaign",
		Short: "Searches many locks within many bounds, on one machine or on many",
		Long: `A campaign is a file that names locks, bounds, callers, resources and TTLs. All their
combinations are searched, and random schedules are played by ranges of seeds. Results
are kept in a bucket: a campaign that was interrupted goes on from there, and after a
change only what has changed is searched again.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	f := root.PersistentFlags()
	f.StringVar(&p.queue, "queue", os.Getenv("LOCKSTEP_QUEUE"), "the `URL` of a Redis that holds the queue: redis://, rediss:// for TLS, redis-socket://; also LOCKSTEP_QUEUE.\nA password stands in the URL or in REDISCLI_AUTH; without a queue, this process does the work")
	f.Lookup("queue").DefValue = ""
	f.StringVar(&p.results, "results", envOr("LOCKSTEP_RESULTS", "lockstep-results"), "where results are kept: a folder, or the `URL` of a bucket: s3://, gs://, azblob://; also LOCKSTEP_RESULTS")
	f.Lookup("results").DefValue = "lockstep-results"
	f.IntVar(&p.jobs, "jobs", runtime.NumCPU(), "how many jobs this process carries out at a time, each on one core")
	root.AddCommand(p.run(), p.worker(), p.plan(), p.measure(), p.one())
	return root
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// exactly refuses any other number of arguments than the named ones.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s needs a %s; see %s --help", cmd.CommandPath(), names[len(args)], cmd.CommandPath())
		case len(args) > len(names):
			return fmt.Errorf("%s got %q, which is one argument too many", cmd.CommandPath(), args[len(names)])
		}
		return nil
	}
}

// open opens the bucket, and connects to the queue or, if there is none, embeds one.
func (p *program) open(ctx context.Context) (*store.Bucket, *queue.Server, error) {
	if p.jobs < 1 {
		return nil, nil, fmt.Errorf("--jobs: a process carries out one job or more at a time, not %d", p.jobs)
	}
	if p.jobs < runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(p.jobs) // one core for each, the garbage collector included
	}
	bucket, err := store.Open(ctx, p.results, p.secrets)
	if err != nil {
		return nil, nil, fmt.Errorf("--results: %w", err)
	}
	var server *queue.Server
	if p.queue == "" {
		server, err = queue.Embed(ctx)
	} else {
		server, err = queue.Connect(ctx, p.queue, p.secrets)
	}
	if err != nil {
		return nil, nil, errors.Join(err, bucket.Close())
	}
	return bucket, server, nil
}

// log writes a line to standard error.
func (p *program) log(text string) { fmt.Fprintf(p.errs, "lockstep-campaign: %s\n", text) }

// terminal reports whether a stream is an interactive terminal.
func terminal(stream any) bool {
	f, is := stream.(*os.File)
	return is && isatty.IsTerminal(f.Fd())
}
