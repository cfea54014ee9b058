package adapter

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Failure is the error of a process that doesn't keep to the protocol, or has come to an end
// where it shouldn't. A run or a search can't go on then. It reaches the caller as the value of
// a [process.Panic], which knows the client.
type Failure struct {
	Command string // that was started
	What    string // went wrong
	During  string // the call that it was at, if it was at one
	Last    string // its last action, if that is known
	Printed string // the line or two of its output since then that tell the cause
}

// Breach marks it as one of the protocol: see [process.Breach].
func (*Failure) Breach() {}

// Error says what went wrong, during which call, what the process did before, and what it has printed of it.
func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the process of %q %s", f.Command, f.What)
	if f.During != "" {
		fmt.Fprintf(&b, ", during %s", f.During)
	}
	if f.Last != "" {
		fmt.Fprintf(&b, "\n  it did last: %s", f.Last)
	}
	if f.Printed != "" {
		b.WriteString("\n  it printed:\n    " + strings.ReplaceAll(f.Printed, "\n", "\n    "))
	}
	return b.String()
}

// In the output of a process in distress: the lines that say what is wrong, those that say
// where in its program, and those of a stack or of a quotation, which say neither.
var (
	named     = regexp.MustCompile(`^(Uncaught )?[\w.$]*(Error|Exception)( \[\w+\])?(:|$)`)
	complaint = regexp.MustCompile(`(?i)(error|exception|panic|fatal|not found|no such|cannot|can't|could not|denied)`)
	place     = regexp.MustCompile(`^\s+(File ".*", line \d+|at .*[/\\][^/\\]+:\d+:\d+\)?|#0 .*\(\d+\))`)
	frame     = regexp.MustCompile(`^\s*(File ".*", line \d+|at .*|#\d+ .*|\^+|throw .*|Traceback .*|code: '.*)`)
)

// cause picks the line or two out of a process's output that tell why it has failed: the
// complaint, and where in its program that comes from. Without a complaint, they are the last two.
func cause(printed string) string {
	var lines []string
	for line := range strings.Lines(printed) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimRight(line, " \r\n\t"))
		}
	}
	complains := named.MatchString
	if !slices.ContainsFunc(lines, complains) {
		complains = func(line string) bool { return complaint.MatchString(line) && !frame.MatchString(line) }
	}
	where := func(line string) bool { return place.MatchString(line) && !strings.Contains(line, "node:") }
	at, from := slices.IndexFunc(lines, complains), -1
	if python := strings.Contains(printed, "Traceback (most recent call last)"); python { // the error comes last there
		for i, line := range lines {
			switch {
			case where(line):
				from = i
			case complains(line):
				at = i
			}
		}
	} else if at >= 0 {
		if from = slices.IndexFunc(lines[at:], where); from >= 0 {
			from += at
		}
	}
	switch {
	case at < 0:
		lines = lines[max(0, len(lines)-2):]
	case from < 0:
		lines = lines[at : at+1]
	default:
		lines = []string{lines[at], lines[from]}
	}
	for i, line := range lines {
		const most = 300
		if line = strings.TrimSpace(line); len(line) > most {
			line = strings.ToValidUTF8(line[:most], "") + "..."
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}
