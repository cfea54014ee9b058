package cli

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/spf13/cobra"

	"lockstep/sim/explore/report"
	"lockstep/sim/testenv"
	"lockstep/tui/draw"
)

func TestLinesAreBrokenBetweenWords(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"short", "short"},
		{"a fencing token grows with each grant", "a fencing token grows\n  with each grant"},
		{"  --token  grows with each grant", "  --token  grows with\n           each grant"},
		{"schedule  lockstep1,naive-del,late-release,A12,B3", "schedule  lockstep1,naive-del,late-release,A12,B3"},
		{"see lockstep1,naive-del,late-release and then more", "see lockstep1,naive-del,late-release\n  and then more"},
		{"progress of a search\rthat writes over its own line", "progress of a search\rthat writes over its own line"},
	} {
		if got := fitLine(tt.line, 22); got != tt.want {
			t.Errorf("%q is broken so:\n%s\nwant\n%s", tt.line, got, tt.want)
		}
	}
}

// What the commands say fits a terminal, but for words that are longer than a line; and it is the same text.
func TestTextsFitTheTerminal(t *testing.T) {
	screen, tty, err := pty.Open()
	testenv.Need(t, err)
	defer func() { screen.Close(); tty.Close() }() //nolint:errcheck // of a test
	page := report.Page
	defer func() { report.Page = page }()
	const width = 64
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: width}); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"--help", "explain --help", "audit --help", "explain claim 3", "explain FR", "explain fencing", "explain glossary",
		"advise --for correctness", "run naive-del late-release --plain", "list", "run naive-del", "explain zzz"} {
		report.Page = page
		text := said(t, screen, tty, strings.Fields(args))
		for _, l := range strings.Split(text, "\r\n") {
			longest := 0
			for _, w := range strings.Fields(l) {
				longest = max(longest, draw.Width(w))
			}
			if draw.Width(l) > width && longest < width/2 {
				t.Errorf("lockstep %s: %d columns are too many for %d: %q", args, draw.Width(l), width, l)
			}
		}
		report.Page = page
		out, errs, _ := run(t, "", strings.Fields(args)...)
		if got, want := strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(out+errs), " "); got != want {
			t.Errorf("lockstep %s says on a terminal\n%s\nand elsewhere\n%s", args, got, want)
		}
	}
}

// said is what the program prints to a terminal.
func said(t *testing.T, screen, tty *os.File, args []string) string {
	t.Helper()
	const end = "\x04 that was all"
	all := make(chan string)
	go func() {
		var text strings.Builder
		for buf := make([]byte, 4096); !strings.Contains(text.String(), end); {
			n, err := screen.Read(buf)
			text.Write(buf[:n])
			if err != nil {
				break
			}
		}
		all <- text.String()
	}()
	Main(args, strings.NewReader(""), tty, tty)
	if _, err := tty.WriteString(end); err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(<-all, end)
	return text
}

// What is piped is set for 80 columns, or for COLUMNS, and is the same text; a trace has its lines whole.
func TestTextsFitThePipe(t *testing.T) {
	page := report.Page
	defer func() { report.Page = page }()
	elsewhere := map[string]string{}
	for columns, width := range map[string]int{"": 80, "64": 64} {
		t.Setenv("COLUMNS", columns)
		for _, args := range []string{"explain --help", "explain claim 3", "explain FR", "explain late-release", "explain steps", "list", "advise --for correctness"} {
			report.Page = page
			text := piped(t, strings.Fields(args))
			for l := range strings.Lines(text) {
				if l = strings.TrimSuffix(l, "\n"); draw.Width(l) > width {
					t.Errorf("lockstep %s | cat: %d columns are too many for %d: %q", args, draw.Width(l), width, l)
				}
			}
			report.Page = page
			out, known := elsewhere[args]
			if !known {
				out, _, _ = run(t, "", strings.Fields(args)...)
				elsewhere[args] = out
			}
			if strings.Join(strings.Fields(text), " ") != strings.Join(strings.Fields(out), " ") {
				t.Errorf("lockstep %s says to a pipe\n%s\nand elsewhere\n%s", args, text, out)
			}
		}
		args := strings.Fields("run naive-del late-release --plain")
		if out, _, _ := run(t, "", args...); piped(t, args) != out {
			t.Error("the lines of a trace are broken")
		}
	}
}

// piped is what the program prints to a pipe.
func piped(t *testing.T, args []string) string {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	all := make(chan string)
	go func() {
		text, _ := io.ReadAll(from) //nolint:errcheck // what is lost is missed
		all <- string(text)
	}()
	Main(args, strings.NewReader(""), to, io.Discard)
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return <-all
}

// TestHelpFitsAScreen: all commands are to be seen at once, each in a row of its own.
func TestHelpFitsAScreen(t *testing.T) {
	help := must(t, "", "--help")
	if n := strings.Count(help, "\n"); n > 40 {
		t.Errorf("the help has %d lines:\n%s", n, help)
	}
	for line := range strings.SplitSeq(help, "\n") {
		if draw.Width(line) > 80 {
			t.Errorf("%d columns: %s", draw.Width(line), line)
		}
	}
	for _, c := range newRoot().Commands() {
		if row := "\n  " + c.Name() + " "; (strings.Count(help, row) != 1) != c.Hidden && c.Name() != "completion" {
			t.Errorf("%s has no row of its own:\n%s", c.Name(), help)
		}
	}
}

// TestHelpIsSetForThePage: no line of a command's help is too long for a narrow page, none but the last of a paragraph is
// shorter than it need be, and no word is lost.
func TestHelpIsSetForThePage(t *testing.T) {
	was := report.Page
	t.Cleanup(func() { report.Page = was })
	report.Page = 60
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		lines := strings.Split(reset(c.Long), "\n")
		if !slices.Equal(strings.Fields(strings.Join(lines, "\n")), strings.Fields(asCalled(c.Long))) {
			t.Errorf("%s: other words", c.Name())
		}
		for i, l := range lines {
			if l == "" || l[0] == ' ' {
				continue
			}
			if draw.Width(l) > report.Page && strings.Contains(l, " ") {
				t.Errorf("%s: too long: %s", c.Name(), l)
			}
			if i+1 < len(lines) && lines[i+1] != "" && lines[i+1][0] != ' ' {
				if next, _, _ := strings.Cut(lines[i+1], " "); draw.Width(l+" "+next) <= report.Page {
					t.Errorf("%s: %q has room for %q", c.Name(), l, next)
				}
			}
		}
		for _, sub := range c.Commands() {
			each(sub)
		}
	}
	each(newRoot())
}
