package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"lockstep/sim/campaign/job"
	"lockstep/sim/campaign/plan"
	"lockstep/sim/campaign/queue"
	"lockstep/sim/campaign/report"
	"lockstep/sim/campaign/store"
	searches "lockstep/sim/explore/report"
	"lockstep/sim/suggest"
)

// running is the values of the flags of run.
type running struct {
	*program
	form    string
	noTimes bool
	files   []string
	live    io.Writer // the terminal, or nil
	mu      sync.Mutex
	shown   time.Time
}

// forms are the forms of a report.
var forms = map[string]func(*report.Report, io.Writer) error{
	"text":  (*report.Report).Text,
	"json":  func(r *report.Report, w io.Writer) error { _, err := w.Write(r.JSON()); return err },
	"junit": (*report.Report).JUnit,
	"html":  (*report.Report).HTML,
}

// formNames are their names in the order of the help.
var formNames = []string{"text", "json", "junit", "html"}

func (p *program) run() *cobra.Command {
	r := &running{program: p}
	cmd := &cobra.Command{
		Use:   "run FILE.yaml",
		Short: "Carry out a campaign, and print its report",
		Long: `Carry out a campaign, and print its report. What is known already is not searched again:
an interrupted campaign goes on where it was.

The exit status is 0 when nothing is violated that isn't said to be known, 1 when
something is, 2 when the input has to be mended, and 3 when something is not decided
or the campaign was interrupted.`,
		Example: `  lockstep-campaign run nightly.yaml
  lockstep-campaign run nightly.yaml --queue rediss://queue.example:6379 --results s3://locks --write html=report.html --write junit=junit.xml`,
		Args: exactly("FILE.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&r.form, "form", "text", "print the report as "+strings.Join(formNames, ", "))
	f.StringArrayVar(&r.files, "write", nil, "write it as well in another form to a file: `FORM=FILE`, as in html=report.html")
	f.BoolVar(&r.noTimes, "no-times", false, "leave out all times: the report of the same campaign is the same then, byte for byte")
	return cmd
}

func (r *running) run(ctx context.Context, file string) error {
	outputs, err := r.outputs()
	if err != nil {
		return err
	}
	c, err := plan.Load(file, r.locks, r.version.Engine)
	if err != nil {
		return err
	}
	bucket, server, err := r.open(ctx)
	if err != nil {
		return err
	}
	defer bucket.Close() //nolint:errcheck // each write has been confirmed
	defer server.Close() //nolint:errcheck // there is nothing left to tell it
	if terminal(os.Stderr) {
		r.live = os.Stderr
	}
	results, err := r.results(ctx, bucket, server, c)
	r.clear()
	if err != nil {
		r.log(fmt.Sprintf("%s; what is done is in %s, and the same command goes on from there", err, r.secrets.Hide(r.program.results)))
		return exit(exitPartial)
	}
	rep := report.Make(c, r.version.Engine, results, !r.noTimes)
	last, err := bucket.Last(ctx, c.Name)
	if err != nil {
		return err
	}
	rep.Compare(report.Parse(last))
	for _, o := range outputs {
		if err := o.write(rep); err != nil {
			return err
		}
	}
	if err := bucket.Keep(ctx, c.Name, rep.JSON()); err != nil {
		return err
	}
	return status(rep)
}

// results carries out the campaign, without a queue in this process.
func (r *running) results(ctx context.Context, bucket *store.Bucket, server *queue.Server, c *plan.Campaign) ([]job.Result, error) {
	co := &queue.Coordinator{Server: server, Bucket: bucket, Version: r.version, Log: r.say, Progress: r.show, Secrets: r.secrets}
	if r.queue != "" {
		return co.Results(ctx, c.Jobs)
	}
	working, stop := context.WithCancel(ctx)
	w := &queue.Worker{Server: server, Bucket: bucket, Locks: r.locks, Version: r.version, Jobs: r.jobs, Log: r.say, Secrets: r.secrets}
	ended := make(chan error, 1)
	go func() { ended <- w.Run(working) }()
	results, err := co.Results(ctx, c.Jobs)
	stop()
	return results, errors.Join(err, <-ended)
}

// status is the report as an exit status.
func status(r *report.Report) error {
	n := r.Counts()
	switch {
	case n[report.Violated] > 0:
		return exit(exitViolated)
	case n[report.Undecided] > 0:
		return exit(exitPartial)
	}
	return nil
}

// often is how often the progress is shown; where it isn't a line that is overwritten, seldom.
const (
	often  = 200 * time.Millisecond
	seldom = time.Minute
)

func (r *running) show(p queue.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	every := seldom
	if r.live != nil {
		every = often
	}
	if r.shown.IsZero() {
		r.shown = p.Started
	}
	if time.Since(r.shown) < every {
		return
	}
	r.shown = time.Now()
	if r.live != nil {
		fmt.Fprint(r.live, searches.Live(p.String()))
		return
	}
	r.log(p.String())
}

func (r *running) say(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
	r.log(text)
}

func (r *running) clear() {
	if r.live != nil {
		fmt.Fprint(r.live, searches.Live(""))
	}
}

// output is a place that a report is written to.
type output struct {
	form string
	path string // empty: standard output
	out  io.Writer
}

// outputs are those that the flags ask for.
func (r *running) outputs() ([]output, error) {
	all := []output{{r.form, "", r.out}}
	for _, f := range r.files {
		form, path, found := strings.Cut(f, "=")
		if !found || path == "" {
			return nil, fmt.Errorf("--write: %q is no FORM=FILE, as in html=report.html", f)
		}
		all = append(all, output{form, path, nil})
	}
	for _, o := range all {
		if forms[o.form] == nil {
			flag := "--form"
			if o.path != "" {
				flag = "--write"
			}
			return nil, fmt.Errorf("%s: %w", flag, suggest.Unknown("form", o.form, formNames))
		}
	}
	return all, nil
}

// write writes the report. A file is replaced as a whole.
func (o output) write(r *report.Report) error {
	if o.path == "" {
		return forms[o.form](r, o.out)
	}
	temp := o.path + ".new"
	f, err := os.Create(temp)
	if err != nil {
		return fmt.Errorf("--write: %w", err)
	}
	err = errors.Join(forms[o.form](r, f), f.Close())
	if err == nil {
		err = os.Rename(temp, o.path)
	}
	if err != nil {
		return fmt.Errorf("--write: %w", errors.Join(err, os.Remove(temp)))
	}
	return nil
}

// plan prints the jobs of a campaign.
func (p *program) plan() *cobra.Command {
	return &cobra.Command{
		Use:   "plan FILE.yaml",
		Short: "Print the jobs of a campaign, and carry out none",
		Args:  exactly("FILE.yaml"),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := plan.Load(args[0], p.locks, p.version.Engine)
			if err != nil {
				return err
			}
			var b strings.Builder
			for i := range c.Jobs {
				fmt.Fprintf(&b, "%s  %s\n", c.Jobs[i].Name(), c.Jobs[i].About())
			}
			for _, line := range c.Omitted() {
				fmt.Fprintln(&b, line)
			}
			_, err = io.WriteString(p.out, b.String())
			return err
		},
	}
}
