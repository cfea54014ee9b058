package adapter

import (
	"fmt"
	"strings"
)

// Failure is the error of a process that doesn't keep to the protocol, or has come to an end
// where it shouldn't. A run or a search can't go on then. It reaches the caller as the value of
// a [process.Panic], which knows the client.
type Failure struct {
	Command string // that was started
	What    string // went wrong
	During  string // the call that it was at, if it was at one
	Last    string // what it did last, if that is known
	Printed string // what it has printed since then, or the end of that
}

// Breach marks it as one of the protocol: see [process.Breach].
func (*Failure) Breach() {}

// Error says what went wrong, during which call, what the process did before, and what it has printed.
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
