package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lockstep/scenarios"
	"lockstep/sim/redis"
	"lockstep/sim/serve"
	"lockstep/tui"
)

// serving is the values of serve's flags.
type serving struct {
	serve.Config
	display
	plain       bool
	save        string
	persistence string
}

// passwordVariable is the environment's variable with the password, which isn't seen in lists of
// processes as a flag is.
const passwordVariable = "LOCKSTEP_PASSWORD"

func newServe() *cobra.Command {
	x := &serving{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Be a Redis for your programs: hold, lose, delay what they send",
		Long: `Put simulated Redis servers on loopback, for locks in any language. Each connection
is a client: the one that CLIENT SETNAME names, or else its port. Everything that
they send is shown, and every grant, refusal and release that it amounts to; two
holders at a time are told at once. Requests can be held at a gate and released,
lost or answered late; servers restarted, their clocks set; time stopped.

On a terminal a screen shows it. Anywhere else, or with --plain, each event is a
line, and controls are read from standard input:

` + controlsHelp() + `
A REQUEST is its number, or a client, whose oldest request it is. A NODE may be left
out if there is one. help, save FILE and quit do what they say.`,
		Example: `  lockstep serve                          # then: redis-cli -p 7379 SET lock A NX PX 5000
  lockstep serve --nodes 3 --save run.html
  lockstep serve --save mine.yaml         # then: lockstep run setpx-lua mine.yaml
  echo 'next A lose-reply' | lockstep serve --plain`,
		Args: noArgs,
		RunE: x.run,
	}
	x.flags(cmd)
	x.display.flags(cmd)
	return cmd
}

func (x *serving) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&x.Bind, "bind", "127.0.0.1", "the `ADDRESS` to listen on")
	f.IntVarP(&x.Port, "port", "p", 7379, "of the first server; the others have those after it, and 0 means any that is free")
	f.IntVar(&x.Nodes, "nodes", 1, "independent servers, as for Redlock")
	f.StringVar(&x.Password, "requirepass", "", "the `PASSWORD` that clients must give; or set "+passwordVariable)
	f.StringVar(&x.persistence, "persistence", "none", "of the servers: none, everysec or always")
	f.StringVar(&x.Key, "key", "", "the lock's `KEY`; without it, the first that is used as a lock")
	f.BoolVar(&x.Hold, "hold", false, "begin with the gate closed: requests wait until they are released")
	f.BoolVar(&x.Stopped, "stopped", false, "begin with time standing still")
	f.IntVar(&x.MaxClients, "max-clients", 1024, "connections at a time")
	f.IntVar(&x.MaxRequest, "max-request", 1<<20, "bytes of a request")
	f.IntVar(&x.MaxRecord, "max-record", 256<<20, "bytes of memory for the record; when it is full, nothing is executed any more")
	f.BoolVar(&x.plain, "plain", false, "print each event as a line, also on a terminal")
	f.StringVar(&x.save, "save", "", "write the record to this `FILE` at the end, in the form that its name implies: "+strings.Join(formatNames(), ", ")+", or a scenario (.yaml)")
}

func controlsHelp() string {
	var b strings.Builder
	for _, c := range serve.Controls {
		fmt.Fprintf(&b, "  %-24s %s\n", strings.TrimSpace(c.Name+" "+c.Args), c.About)
	}
	return b.String()
}

// check refuses values that can't be.
func (x *serving) check() (err error) {
	x.Password = cmp.Or(x.Password, os.Getenv(passwordVariable))
	if x.Persistence, err = redis.ParsePersistence(x.persistence); err != nil {
		return fmt.Errorf("--persistence: %w", err)
	}
	const most = 9
	for _, limit := range []struct {
		flag            string
		value, min, max int
	}{{"nodes", x.Nodes, 1, most}, {"max-clients", x.MaxClients, 1, 1 << 20}, {"max-request", x.MaxRequest, 64, 512 << 20}, {"max-record", x.MaxRecord, 1 << 16, 1 << 40}, {"port", x.Port, 0, 1<<16 - most}} {
		if limit.value < limit.min || limit.value > limit.max {
			return fmt.Errorf("--%s is between %d and %d, and not %d", limit.flag, limit.min, limit.max, limit.value)
		}
	}
	if ip := net.ParseIP(x.Bind); x.Password == "" && x.Bind != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--bind %s lets other machines in: set a password, by --requirepass or in %s", x.Bind, passwordVariable)
	}
	if x.save != "" {
		if _, err := chooseFormat("", x.save); err != nil && !isScenario(x.save) {
			return err
		}
		return canReplace(x.save)
	}
	return nil
}

func (x *serving) run(cmd *cobra.Command, _ []string) error {
	if err := x.check(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	x.Start = time.Duration(time.Now().UnixNano())
	if !x.plain && terminal(cmd.OutOrStdout()) && terminal(cmd.InOrStdin()) {
		s, err := serve.Listen(x.Config)
		if err != nil {
			return err
		}
		err = tui.Live(s, x.look())
		return errors.Join(err, s.Close(), x.write(s, x.save))
	}
	out := &lines{to: cmd.OutOrStdout()}
	x.Event = out.print
	s, err := serve.Listen(x.Config)
	if err != nil {
		return err
	}
	out.print("listening on " + strings.Join(s.Addresses(), ", "))
	out.print(serve.Inferred)
	x.control(ctx, s, cmd.InOrStdin(), out)
	return errors.Join(s.Close(), x.write(s, x.save))
}

// lines writes lines, from any goroutine.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lines) print(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.to, line)
}

// control carries out controls until one says quit, or a signal comes.
func (x *serving) control(ctx context.Context, s *serve.Server, in io.Reader, out *lines) {
	typed := make(chan string)
	go func() {
		for scan := bufio.NewScanner(in); scan.Scan(); {
			select {
			case typed <- strings.TrimSpace(scan.Text()):
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case line := <-typed:
			if line == "quit" {
				return
			}
			if err := x.do(s, line, out); err != nil {
				out.print("error: " + err.Error())
			}
		}
	}
}

func (x *serving) do(s *serve.Server, line string, out *lines) error {
	switch word, rest, _ := strings.Cut(line, " "); word {
	case "help":
		out.print(strings.TrimRight(controlsHelp(), "\n"))
		return nil
	case "save":
		return x.write(s, strings.TrimSpace(rest))
	}
	return s.Do(line)
}

// write writes the record to a file, if it has a name: as a scenario, if that ends like one, or else as
// a run is exported.
func (x *serving) write(s *serve.Server, file string) error {
	if file == "" {
		return nil
	}
	if isScenario(file) {
		text, err := scenarios.FromLive(s.Trace())
		if err != nil {
			return fmt.Errorf("%s is not written: %w", file, err)
		}
		return replaceFile(file, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	f, err := chooseFormat("", file)
	if err != nil {
		return err
	}
	return replaceFile(file, func(w io.Writer) error { return f.write(w, s.Trace()) })
}

func isScenario(file string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(filepath.Ext(file)))
}
