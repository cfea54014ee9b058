package cli

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/sim/audit"
	"lockstep/sim/explore/report"
	"lockstep/sim/resp"
	"lockstep/sim/trace"
)

// auditing is the values of an audit's flags.
type auditing struct {
	server string
	during time.Duration
	failOn string // kinds with commas between them
	asJSON bool
}

func newAudit() *cobra.Command {
	x := &auditing{}
	cmd := &cobra.Command{
		Use:   "audit FILE|-",
		Short: "Find the locks in what MONITOR printed, and what went wrong",
		Long: `Read what Redis's MONITOR printed, from a file, from standard input (-), or from a
server for a stated time (--redis). It finds the keys that are used as locks, says
which lock of the catalogue each is like and what that falls to, and what went
wrong in the log: ` + kindsText() + `.

MONITOR prints no replies, so the commands on those keys are executed once more,
by a simulated server at the times in the log. What that can't show is printed
last. MONITOR takes up to half of a server's throughput: keep the time short.

The exit status is 0, or 1 if the log shows what --fail-on names, and 2 when the
input has to be mended.`,
		Example: `  redis-cli monitor > log.txt          # and stop it after a while
  lockstep audit log.txt
  lockstep audit --redis redis://localhost:6379 --for 10s
  lockstep audit log.txt --fail-on two-holders,foreign-release,no-expiry`,
		Args: func(cmd *cobra.Command, args []string) error {
			if x.server != "" {
				return noArgs(cmd, args)
			}
			return exactly("FILE|-")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := x.read(cmd, args)
			if err != nil {
				return err
			}
			return x.print(cmd.OutOrStdout(), r)
		},
	}
	f := cmd.Flags()
	f.StringVar(&x.server, "redis", "", "ask this server, such as redis://:PASSWORD@HOST:6379, for what it is doing")
	f.DurationVar(&x.during, "for", 10*time.Second, "how long, with --redis")
	f.StringVar(&x.failOn, "fail-on", "", "let the exit status be 1 if the log shows one of these `KINDS`")
	f.BoolVar(&x.asJSON, "json", false, "print as JSON")
	return cmd
}

func kindsText() string {
	var names []string
	for _, k := range audit.Kinds() {
		names = append(names, fmt.Sprintf("%s (%s)", k.Text(), k))
	}
	return strings.Join(names, ", ")
}

// read reads the log.
func (x *auditing) read(cmd *cobra.Command, args []string) (*audit.Report, error) {
	if err := x.checkKinds(); err != nil {
		return nil, err
	}
	if x.server != "" {
		text, err := monitor(cmd.Context(), x.server, x.during)
		if err != nil {
			return nil, err
		}
		return auditOf(strings.NewReader(text), x.address())
	}
	if args[0] == "-" {
		return auditOf(cmd.InOrStdin(), "standard input")
	}
	file, err := os.Open(args[0])
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing is written
	return auditOf(file, args[0])
}

// checkKinds fails if --fail-on names a kind that there isn't.
func (x *auditing) checkKinds() error {
	var names []string
	for _, k := range audit.Kinds() {
		names = append(names, k.String())
	}
	for _, name := range x.kinds() {
		if !slices.Contains(names, name) {
			return fmt.Errorf("--fail-on: %q is no kind of finding; there are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// kinds are those of --fail-on.
func (x *auditing) kinds() []string {
	return strings.FieldsFunc(x.failOn, func(r rune) bool { return r == ',' || r == ' ' })
}

func auditOf(in io.Reader, name string) (*audit.Report, error) {
	entries, others, err := audit.Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r, err := audit.Audit(entries, others)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// address is the server without its password.
func (x *auditing) address() string {
	if o, err := goredis.ParseURL(x.server); err == nil {
		return o.Addr
	}
	return "the server"
}

// monitor returns a server's commands during some time, as MONITOR prints them. It fails with an error
// that has no password in it. go-redis can't be asked: its Monitor loses lines that arrive at once.
func monitor(ctx context.Context, url string, during time.Duration) (string, error) {
	o, err := goredis.ParseURL(url)
	if err != nil {
		return "", errors.New("--redis: it is to be a URL such as redis://localhost:6379")
	}
	conn, err := dialRedis(ctx, o)
	if err != nil {
		return "", fmt.Errorf("%s: %w", o.Addr, err)
	}
	defer conn.Close() //nolint:errcheck // nothing depends on it
	asks := [][]string{{"MONITOR"}}
	switch {
	case o.Username != "":
		asks = [][]string{{"AUTH", o.Username, o.Password}, {"MONITOR"}}
	case o.Password != "":
		asks = [][]string{{"AUTH", o.Password}, {"MONITOR"}}
	}
	log, err := listen(ctx, conn, asks, during)
	if err != nil {
		return "", fmt.Errorf("%s: %w", o.Addr, err)
	}
	return log, nil
}

// listen sends commands, each of which must be answered by OK, and returns the lines that come
// after that, until the time is over or somebody has had enough.
func listen(ctx context.Context, conn net.Conn, asks [][]string, during time.Duration) (string, error) {
	if err := conn.SetDeadline(time.Now().Add(during)); err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })()
	in := bufio.NewReader(conn)
	for _, words := range asks {
		if _, err := conn.Write(resp.Append(nil, words...)); err != nil {
			return "", err
		}
		switch reply, err := in.ReadString('\n'); {
		case err != nil:
			return "", fmt.Errorf("no reply to %s: %w", words[0], err)
		case !strings.HasPrefix(reply, "+"):
			return "", fmt.Errorf("%s: %s", words[0], strings.TrimSpace(strings.TrimPrefix(reply, "-")))
		}
	}
	var all strings.Builder
	for {
		switch line, err := in.ReadString('\n'); {
		case errors.Is(err, os.ErrDeadlineExceeded): // perhaps amid a line, which is dropped
			return all.String(), nil
		case err != nil:
			return "", err
		default:
			all.WriteString(line)
		}
	}
}

func dialRedis(ctx context.Context, o *goredis.Options) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, o.Network, o.Addr)
	if err != nil || o.TLSConfig == nil {
		return conn, err
	}
	return tls.Client(conn, o.TLSConfig), nil
}

// print prints a report, and fails if it has a finding of a kind that --fail-on names.
func (x *auditing) print(w io.Writer, r *audit.Report) error {
	if x.asJSON {
		if err := writeJSON(w, r); err != nil {
			return err
		}
	} else {
		printAudit(w, r)
	}
	for _, l := range r.Locks {
		if slices.ContainsFunc(l.Findings, func(f audit.Finding) bool { return slices.Contains(x.kinds(), f.Kind.String()) }) {
			return exit(exitOccurred)
		}
	}
	return nil
}

func printAudit(w io.Writer, r *audit.Report) {
	fmt.Fprintf(w, "%s of %s, %s to %s UTC", report.Count(r.Commands, "command"), report.Count(r.Clients, "connection"), r.From.Format("2006-01-02 15:04:05.000"), r.To.Format("15:04:05.000"))
	if r.Others > 0 {
		fmt.Fprintf(w, "; %s left out that MONITOR has not printed", report.Count(r.Others, "line"))
	}
	fmt.Fprint(w, "\n")
	if len(r.Locks) == 0 {
		fmt.Fprint(w, "\nNo key in it is used as a lock: nobody sent SETNX, SET with NX, or a counter that expires and is removed.\n")
	}
	for _, l := range r.Locks {
		printLock(w, l)
	}
	fmt.Fprint(w, "\nWhat a log can't show\n")
	for _, line := range audit.Blind {
		fmt.Fprint(w, wrap(" ", 4, line))
	}
}

// examples is the number of findings of a kind that are printed.
const examples = 3

func printLock(w io.Writer, l *audit.Lock) {
	fmt.Fprintf(w, "\n%s", l.Key)
	if l.Keys > 1 {
		fmt.Fprintf(w, "  (%s)", report.Count(l.Keys, "key"))
	}
	fmt.Fprintf(w, "\n  %s, %s\n", report.Count(l.Granted, "grant"), report.Count(l.Refused, "refusal"))
	fmt.Fprintf(w, "  taken by %s, with %s\n", orNothing(l.Takes), l.Token)
	fmt.Fprintf(w, "  given back by %s", orNothing(l.Gives))
	if l.Extends {
		fmt.Fprint(w, "; extended")
	}
	fmt.Fprint(w, "\n")
	if l.Doubt != "" {
		fmt.Fprint(w, wrap(" ", 4, l.Doubt))
	}
	printLike(w, l)
	if len(l.Findings) == 0 {
		fmt.Fprint(w, "  in this log: nothing went wrong that a log can show\n")
	}
	for _, k := range audit.Kinds() {
		printFindings(w, k, slices.DeleteFunc(slices.Clone(l.Findings), func(f audit.Finding) bool { return f.Kind != k }))
	}
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", or ")
}

// printLike prints which lock of the catalogue this one is like, and the scenarios under which
// that lock fails: the runs are computed now.
func printLike(w io.Writer, l *audit.Lock) {
	if len(l.Like) == 0 {
		fmt.Fprint(w, "  like no lock of the catalogue\n")
		return
	}
	fmt.Fprintf(w, "  like %s\n", strings.Join(l.Like, ", or "))
	for _, f := range falls(l.Like[0]) {
		fmt.Fprint(w, asCalled(fmt.Sprintf("  falls to %s: %s  (lockstep run %s %s)\n", f.scenario, f.verdict, l.Like[0], f.scenario)))
	}
}

// fall is a scenario under which a lock fails.
type fall struct {
	scenario string
	verdict  trace.Verdict
	own      int // how many of the failures are the lock's own: the sound lock has none of them
}

// sound is the lock with which others are compared: any lock with a lease has its failures, too.
const sound = "setpx-lua"

// falls are the scenarios under which a lock fails, those first that show its own flaws.
func falls(lock string) (list []fall) {
	failures := func(lock string, s *scenarios.Scenario) (v trace.Verdict) {
		if t, err := runOnce(lock, s.Name, 1); err == nil {
			v = t.Verdict().Failures()
		}
		return v
	}
	for _, s := range scenarios.All() {
		f := fall{scenario: s.Name, verdict: failures(lock, s)}
		if len(f.verdict) == 0 {
			continue
		}
		common := failures(sound, s)
		for _, c := range f.verdict {
			if !slices.Contains(common, c) {
				f.own++
			}
		}
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b fall) int { return cmp.Compare(b.own, a.own) })
	return list[:min(len(list), examples)]
}

func printFindings(w io.Writer, k audit.Kind, list []audit.Finding) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "  in this log: %s (%d)\n", k.Text(), len(list))
	for i, f := range list {
		if i == examples {
			fmt.Fprintf(w, "    and %d more\n", len(list)-i)
			break
		}
		sure := f.Sure.String()
		if f.Why != "" {
			sure += ": " + f.Why
		}
		fmt.Fprint(w, wrap("   ", 6, fmt.Sprintf("line %d, %s: %s (%s)", f.Line, f.At.Format("15:04:05.000"), f.Text, sure)))
	}
}
