package code

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
)

// FileAt is the file of package strategies in which the last command so far
// was sent: usually the strategy's own, sometimes one that it shares with others.
func FileAt(r *timeline.Timeline, pos int, own string) string {
	for p := pos; p > 0; p-- {
		if file, is := SentIn(r.Event(p)); is {
			return file
		}
	}
	return own
}

// SentIn is the file of package strategies in which an event is at a line, if it is in any.
func SentIn(e *trace.Event) (file string, is bool) {
	if file, is = strings.CutPrefix(e.Source.File, "strategies/"); is {
		_, is = strategies.Text(file)
	}
	return file, is
}

// Standing is a strategy's code with the clients that stand in it.
type Standing struct {
	Rows   []draw.Line // as wide as the pane: a line of code that is wider has several
	Texts  []string    // of the rows, without the gutter
	Lines  []int       // of the rows, from 1
	Focus  int         // the row to keep in sight, from 0
	Script Script      // that the line in focus runs, if the file has it
	Bare   bool        // comments are left out
	Note   string      // why the cursor's event is at none of the lines, or empty
}

// Script is the declaration of a Lua script, and its lines.
type Script struct {
	Rows        []draw.Line
	First, Last int
}

// StandingAt sets a file for a pane of a width: the names of the clients stand beside the line on which each of them
// stands, and a pointer beside the line of the cursor's event, which is lit, too; or, where a violation is complete at no line
// of the lock's, beside that of the command by which it came about.
func StandingAt(r *timeline.Timeline, pos int, s *trace.State, file string, text []string, width int, th *draw.Theme) Standing {
	clients := map[int][]int{} // by line, from 1
	focus := 0
	for i := range s.Clients {
		if c := &s.Clients[i]; c.Source.File == "strategies/"+file && c.InStrategy() {
			clients[c.Source.Line] = append(clients[c.Source.Line], i)
			focus = c.Source.Line
		}
	}
	lit, note := litAt(r, pos, s, file)
	if lit > 0 {
		focus = lit
	}
	for p := pos; p > 0 && focus == 0; p-- { // no client is in this file: stay where the last one was
		if e := r.Event(p); e.Source.File == "strategies/"+file {
			focus = e.Source.Line
		}
	}
	if focus == 0 {
		focus = LineOf(text, ") Acquire(") // and not at the imports
	}
	v := Standing{Note: note}
	names := draw.ShortNames(r.Clients)
	beside := map[int]draw.Line{} // the names, by line
	room := gutter
	for line, standing := range clients {
		beside[line] = namesOf(standing, names, max(gutter-2, width/4), th)
		room = max(room, beside[line].Width()+2)
	}
	for i, next := 0, 0; i < len(text); i = next {
		var line string
		if line, next = paragraph(text, i, width-room); i < focus && focus <= next {
			v.Focus = len(v.Rows)
		}
		l, k := draw.Line{draw.Text(" ", draw.Plain)}, draw.Dim
		if i+1 == lit {
			l[0] = draw.Text(th.Pointer, draw.Here)
		}
		l = append(l, beside[i+1]...)
		switch {
		case i+1 == lit:
			k = draw.Pick
		case clients[i+1] != nil:
			k = draw.Strong
		case !strings.HasPrefix(strings.TrimSpace(line), "//"):
			k = draw.Plain
		}
		for _, row := range folded(line, width-room) {
			l = append(l, draw.Text(strings.Repeat(" ", room-l.Width()), draw.Plain))
			v.Texts, v.Lines = append(v.Texts, row), append(v.Lines, i+1)
			if i+1 == lit {
				row = draw.Pad(row, width-l.Width())
			}
			v.Rows, l = append(v.Rows, append(l, draw.Text(row, k))), nil
		}
	}
	v.Script = scriptOf(text, focus, width)
	return v
}

// Beheaded leaves out the lines above the file's first declaration, with the comment there, which says how the lock fails.
func (v *Standing) Beheaded(text []string) {
	first := slices.IndexFunc(text, func(l string) bool {
		word, _, _ := strings.Cut(l, " ")
		return slices.Contains([]string{"type", "func", "var", "const"}, word)
	})
	n, _ := slices.BinarySearch(v.Lines, first+1)
	n = min(n, v.Focus)
	v.Rows, v.Texts, v.Lines, v.Focus = v.Rows[n:], v.Texts[n:], v.Lines[n:], v.Focus-n
}

// Uncommented leaves out the rows of the lines that are comments, of a file that is set without its comments: see Bare.
func (v *Standing) Uncommented(text []string) {
	all := *v
	v.Rows, v.Texts, v.Lines, v.Bare = nil, nil, nil, true
	for i, line := range all.Lines {
		if commentOf(text[line-1]) == 0 && i != all.Focus {
			continue
		}
		if i == all.Focus {
			v.Focus = len(v.Rows)
		}
		v.Rows, v.Texts, v.Lines = append(v.Rows, all.Rows[i]), append(v.Texts, all.Texts[i]), append(v.Lines, line)
	}
}

// Bare is code without its comments, line by line.
func Bare(text []string) (bare []string) {
	for _, l := range text {
		if n := commentOf(l); n >= 0 {
			letters := []rune(l)
			l = strings.TrimRight(string(letters[:len(letters)-n]), " ")
		}
		bare = append(bare, draw.Either(commentOf(l) == 0, "", l))
	}
	return bare
}

// Ask brings a line, from 1, of which is asked into sight, with a mark of its own and the words that explain it.
func (v *Standing) Ask(text []string, line, width int, of string) {
	at := slices.Index(v.Lines, line)
	if at < 0 {
		return
	}
	row := slices.Clone(v.Rows[at])
	row[0], row[len(row)-1].Ink = draw.Text("?", draw.Here), draw.Strong
	v.Rows[at], v.Focus, v.Script = row, at, scriptOf(text, line, width)
	v.Note = fmt.Sprintf("? is the line of %s, of which is asked.", of)
}

// paragraph is the line of code at an index, from 0, and the index of the next one. Lines of a comment that are sentences are one line
// where one of them is wider than a pane: each folded by itself would end in a row of a word or two.
func paragraph(text []string, at, width int) (line string, next int) {
	sentence := func(i int) (words string, is bool) {
		words, is = strings.CutPrefix(strings.TrimSpace(text[i]), "// ")
		return words, is && words != "" && !strings.ContainsAny(words[:1], " -")
	}
	line, next = text[at], at+1
	wide := draw.Width(line) > width
	if _, is := sentence(at); !is {
		return line, next
	}
	for ; next < len(text) && depth(text[next]) == depth(text[at]); next++ {
		words, is := sentence(next)
		if !is {
			break
		}
		line, wide = line+" "+words, wide || draw.Width(text[next]) > width
	}
	if !wide {
		return text[at], at + 1
	}
	return line, next
}

// litAt is the line that has the pointer, or 0, and the note on it, if there is one.
func litAt(r *timeline.Timeline, pos int, s *trace.State, file string) (line int, note string) {
	if e := r.Event(pos); e != nil && e.Source.File == "strategies/"+file {
		return e.Source.Line, outside(r, pos, s)
	}
	_, fresh := r.Breached(pos)
	for _, b := range fresh {
		if e := r.Command(b); e != nil && e.Source.File == "strategies/"+file {
			return e.Source.Line, fmt.Sprintf("%s came of %s's %s at %s, sent at the line that is marked.", b.Code, r.Clients[e.Client], strings.ToUpper(e.Args[0]), trace.Brief(e.At))
		}
	}
	return 0, outside(r, pos, s)
}

// End is the row after those of the line in focus.
func (v *Standing) End() int {
	end := v.Focus
	for end < len(v.Rows) && v.Lines[end] == v.Lines[v.Focus] {
		end++
	}
	return end
}

// gutter is the room beside the code, for the pointer and a name. Where several clients stand on a line it is wider: the
// code is not cut for it.
const gutter = 4

// namesOf are the names of clients, as many as a width has room for.
func namesOf(clients []int, names []string, width int, th *draw.Theme) (l draw.Line) {
	for i, client := range clients {
		rest := 0 // the sign that there are more
		if i+1 < len(clients) {
			rest = draw.Width(th.More)
		}
		if i > 0 && l.Width()+draw.Width(names[client])+rest > width {
			return append(l, draw.Text(th.More, draw.Dim))
		}
		l = append(l, draw.Text(names[client], draw.ClientInk(client)))
	}
	return l
}

// outside says of an event that is at no line of the lock's code that its client's caller does that.
func outside(r *timeline.Timeline, pos int, s *trace.State) string {
	e := r.Event(pos)
	if e == nil || e.Client == trace.None || e.Node != trace.None || e.Source.File != "" || s.Clients[e.Client].Stopped {
		return ""
	}
	switch c := &s.Clients[e.Client]; c.Phase {
	case trace.PhaseHold, trace.PhaseWork:
		return fmt.Sprintf("%s is in its caller's code now, at no line of the lock's.", r.Clients[e.Client])
	}
	return ""
}

// scriptOf is the declaration of the Lua script that a line of code, from 1, runs.
func scriptOf(text []string, line, width int) (s Script) {
	if line < 1 || line > len(text) {
		return s
	}
	before, _, runs := strings.Cut(text[line-1], ".Run(")
	if !runs {
		return s
	}
	name := before[strings.LastIndexAny(before, " \t(=")+1:]
	from := slices.IndexFunc(text, func(l string) bool { return strings.HasPrefix(l, "var "+name+" = redis.NewScript(`") })
	if from < 0 {
		return s
	}
	s.First = from + 1
	for i, l := range text[from:] {
		for _, row := range folded(l, width-gutter) {
			s.Rows = append(s.Rows, draw.Line{draw.Text(strings.Repeat(" ", gutter)+row, draw.Plain)})
		}
		if s.Last = from + i + 1; strings.HasSuffix(l, "`)") {
			return s
		}
	}
	return Script{}
}
