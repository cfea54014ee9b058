package tui

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim"
)

// traceLines is the end of the list of events up to a position, skip lines
// before its end, in at most n lines. Violations stand below the event that completed them.
func traceLines(r *reel, pos, n, skip, width int) []line {
	var lines []line
	for p := pos; p > 0 && len(lines) < n+skip; p-- {
		_, fresh := r.breached(p)
		for _, b := range slices.Backward(fresh) {
			lines = append(lines, line{{fmt.Sprintf("%12s!! %s  %s", "", b.Code, b.Text), inkBreach}})
		}
		e := r.event(p)
		head := fmt.Sprintf(" %11s #%-4d ", sim.Instant(e.At), e.Seq)
		name, k := r.trace.Actor(e), inkStrong
		if client := r.clientOf(e); client != sim.None {
			k = clientInk(client)
		}
		l := line{{head, inkDim}, {fmt.Sprintf("%-6s", name), k}, {fmt.Sprintf(" %-9s ", e.Kind), inkDim}, {r.trace.Text(e), inkPlain}}
		if p == pos {
			l = l.lit(width)
		}
		lines = append(lines, l)
	}
	lines = lines[min(skip, len(lines)):]
	slices.Reverse(lines)
	return lines[max(len(lines)-n, 0):]
}

// lit is the line as the selected one of its list, over the whole width.
func (l line) lit(width int) line {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	b.WriteString(strings.Repeat(" ", max(width-l.width(), 0)))
	return line{{b.String(), inkPick}}
}
