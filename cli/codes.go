package cli

import (
	"fmt"
	"strings"

	"lockstep/sim/trace"
)

// codesHelp explains the codes, worst first.
func codesHelp() string {
	var b strings.Builder
	b.WriteString("The verdict of a run is the set of violations that the monitors saw, worst first:\n")
	for _, c := range trace.Codes {
		b.WriteString(wrap(fmt.Sprintf("  %-4s", c), 7, c.Name()+": "+c.Meaning()))
	}
	b.WriteString("  ok   none of these\n")
	return b.String()
}
