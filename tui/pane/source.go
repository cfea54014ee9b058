package pane

import (
	"strings"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/code"
	"lockstep/tui/draw"
)

// SourceFile is the file of package strategies in which the last command so far
// was sent: usually the strategy's own, sometimes one that it shares with others.
func SourceFile(r *timeline.Timeline, pos int, own string) string {
	for p := pos; p > 0; p-- {
		if file, is := strings.CutPrefix(r.Event(p).Source.File, "strategies/"); is {
			if _, found := strategies.Text(file); found {
				return file
			}
		}
	}
	return own
}

// SourceLines is a strategy's code, with the names of the clients beside the
// line on which each of them stands, and the line of the cursor's event lit.
// The second result is the line to keep in sight, from 0.
func SourceLines(r *timeline.Timeline, pos int, s *trace.State, file string, text []string, width int) ([]draw.Line, int) {
	standing := map[int][]int{} // by line, from 1
	lit, focus := 0, 0
	for i := range s.Clients {
		if c := &s.Clients[i]; c.Source.File == "strategies/"+file && c.InStrategy() {
			standing[c.Source.Line] = append(standing[c.Source.Line], i)
			focus = c.Source.Line
		}
	}
	if e := r.Event(pos); e != nil && e.Source.File == "strategies/"+file {
		lit, focus = e.Source.Line, e.Source.Line
	}
	for p := pos; p > 0 && focus == 0; p-- { // no client is in this file: stay where the last one was
		if e := r.Event(p); e.Source.File == "strategies/"+file {
			focus = e.Source.Line
		}
	}
	if focus == 0 {
		focus = code.LineOf(text, ") Acquire(") // and not at the imports
	}
	const gutter = 3
	names := shortNames(r.Clients)
	lines := make([]draw.Line, 0, len(text))
	for i, text := range text {
		l := draw.Line{}
		used := 0
		for _, client := range standing[i+1] {
			name := names[client]
			l = append(l, draw.Text(name, draw.ClientInk(client)))
			used += draw.Width(name)
		}
		l = append(l, draw.Text(strings.Repeat(" ", max(gutter-used, 1)), draw.Plain))
		k := draw.Dim
		switch {
		case i+1 == lit:
			k = draw.Pick
			text += strings.Repeat(" ", max(width-l.Width()-draw.Width(text), 0))
		case standing[i+1] != nil:
			k = draw.Strong
		case !strings.HasPrefix(strings.TrimSpace(text), "//"):
			k = draw.Plain
		}
		lines = append(lines, append(l, draw.Text(text, k)))
	}
	return lines, max(focus-1, 0)
}
