package tui

import (
	"fmt"
	"strings"

	"lockstep/sim"
)

// longestLine is as wide as prose may be: the eye finds the next line no more
// beyond this.
const longestLine = 78

// narration is what the scenario says at a position: the evidence of a
// violation first, if one has just happened, then the notes.
func narration(r *reel, pos, width int, revealed bool) []line {
	width = min(width, longestLine)
	var lines []line
	add := func(k ink, prefix, text string) {
		for i, s := range wrap(text, width-2) {
			if i > 0 {
				prefix = strings.Repeat(" ", textWidth(prefix))
			}
			lines = append(lines, line{{" ", inkPlain}, {prefix + s, k}})
		}
	}
	_, fresh := r.breached(pos)
	for _, b := range fresh {
		add(inkBreach, "", fmt.Sprintf("!! %s: %s (%s)", b.Code, b.Text, seqs(b.Events)))
	}
	for i, n := range r.notes(pos) {
		if i > 0 || len(fresh) > 0 {
			lines = append(lines, nil)
		}
		switch text := prose(n.Text); n.Kind {
		case sim.NoteAsk:
			add(inkStrong, "", "? "+text)
			switch {
			case n.Answer == "":
			case revealed:
				add(inkGood, "  ", "Answer: "+n.Answer)
			default:
				add(inkDim, "  ", "(enter shows the answer)")
			}
		case sim.NoteMissed:
			add(inkDim, "", "~ "+text)
		default:
			add(inkPlain, "", text)
		}
	}
	if len(lines) == 0 {
		add(inkDim, "", "The right arrow key lets the next event happen, ] everything up to the next chapter, and ! everything up to the next violation.")
	}
	return lines
}

// asks reports whether a question stands at exactly this position.
func (r *reel) asks(pos int) bool {
	for _, n := range r.trace.Notes {
		if n.Kind == sim.NoteAsk && r.position(n.Seq) == pos {
			return true
		}
	}
	return false
}

// prose joins the lines of a paragraph, as they were broken in the script for
// the script's width. An empty line and an indented one stay.
func prose(s string) string {
	var b strings.Builder
	for i, l := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		switch {
		case i == 0:
		case l == "" || strings.HasPrefix(l, " ") || strings.HasSuffix(b.String(), "\n"):
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		b.WriteString(l)
	}
	return b.String()
}

func seqs(list []int) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = fmt.Sprintf("#%d", s)
	}
	return strings.Join(parts, " ")
}
