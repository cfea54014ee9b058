package code

import (
	"strings"

	"lockstep/tui/draw"
)

// Place is the line of a file, from 1, around which a window shows it. A client that stands there has a mark beside it.
type Place struct {
	Line   int
	Stands bool
	Mark   string // of two columns
	Ink    draw.Ink
}

const (
	margin      = "  "
	leastHeaded = 6 // rows, above whose first one the head of the function stands, if it has scrolled away
	before      = 4 // the share of a window that is above the line: that which comes next says more
	further     = 4 // columns by which the rows of one line are indented after its first
)

// Draw shows the lines around a place. That on which a client stands is whole, in as many rows as it takes. So are those
// after it that send commands, on which it will stand, and others as far as the rows after the function's end would do
// nothing for it; the rest end at the edge. What is shown begins with the function, where it has room for the line; where it has not
// enough rows for the code, comments are left out.
func Draw(c *draw.Canvas, r draw.Rectangle, code []string, at Place, th *draw.Theme) {
	code, focus := Joined(code, at.Line)
	width, whole := r.W-draw.Width(margin), []string(nil)
	if cramped(code, focus, width, r.H) {
		code, focus = uncommented(code, focus)
	}
	if at.Stands && focus > 0 {
		whole = folded(code[focus-1], width)
	}
	more := max(len(whole)-1, 0) // rows
	begin := min(max(focus-1-r.H/before, 0), max(len(code)+more-r.H, 0))
	head := headOf(code, focus-1)
	switch {
	case head >= 0 && (head >= begin || !at.Stands && focus-head <= r.H):
		begin = beginOf(code, head, r.H-more)
	case head >= 0 && r.H >= leastHeaded:
		c.Line(r.X, r.Y, r.W, draw.Line{draw.Text(draw.Fit(margin+code[head], r.W-2, "")+" "+th.More, draw.Dim)}) // lines are left out
		r, begin = draw.Rect(r.X, r.Y+1, r.W, r.H-1), begin+1
	}
	begin = max(begin, min(focus-1, focus+more-r.H))
	y := 0
	for n, rows := range unfolded(code, begin, focus, at.Stands, width, r.H) {
		mark, k := draw.Text(margin, at.Ink), draw.Plain
		switch {
		case begin+n+1 == focus && at.Stands:
			mark, k = draw.Text(at.Mark, at.Ink), draw.Pick
		case len(rows) > 0 && strings.HasPrefix(strings.TrimSpace(rows[0]), "//"):
			k = draw.Dim
		}
		for i, text := range rows {
			if y == r.H {
				return
			}
			if y == r.H-1 && i < len(rows)-1 {
				text += " " + th.More
			}
			c.Line(r.X, r.Y+y, r.W, draw.Line{mark, draw.Text(text, k)}.Fitted(r.W, th.More))
			mark = draw.Text(margin, at.Ink)
			y++
		}
	}
}

// cramped reports whether the function in which a line is, from 1, has more rows of a width than there are.
func cramped(code []string, focus, width, height int) bool {
	begin := headOf(code, focus-1)
	if begin < 0 {
		return false
	}
	rows := 0
	for i := begin; i < len(code) && (i == begin || code[i-1] != "}"); i++ {
		rows += len(folded(code[i], width))
	}
	return rows > height
}

// uncommented is code without its comments, and the place of a line in it, from 1. What is said at that line stays.
func uncommented(code []string, line int) (bare []string, at int) {
	for i, text := range code {
		n := commentOf(text)
		if n == 0 && i+1 != line {
			continue
		}
		if n > 0 && i+1 != line {
			letters := []rune(text)
			text = strings.TrimRight(string(letters[:len(letters)-n]), " ")
		}
		bare = append(bare, text)
		if i+1 == line {
			at = len(bare)
		}
	}
	return bare, at
}

// beginOf is the first line to show, from 0, of a function that begins at head: the beginning of a declaration before it,
// or of its comment, if from there on all fits into so many rows, and else that of the function.
func beginOf(code []string, head, rows int) int {
	for i := max(len(code)-rows, 0); i < head; i++ {
		if code[i] != "" && (i == 0 || code[i-1] == "") {
			return i
		}
	}
	return head
}

// unfolded are the rows of each line from begin on, for a window of a height.
func unfolded(code []string, begin, focus int, stands bool, width, height int) (parts [][]string) {
	end, used := len(code), 0 // after the function
	for i := begin; i < len(code); i++ {
		rows := code[i : i+1]
		if i+1 == focus && stands || i+1 > focus && sends(code[i]) {
			rows = folded(code[i], width)
		}
		parts = append(parts, rows)
		if i < end {
			used += len(rows)
		}
		if end == len(code) && i+1 >= focus && strings.HasPrefix(code[i], "}") {
			end = i + 1
		}
	}
	spare := height - used
	if last := end - 1; spare <= 0 && last > begin && last+1 != focus && code[last] == "}" { // that a function ends says less than the end of a line
		parts[last-begin], spare = nil, spare+1
	}
	for kind := body; kind <= comment; kind++ {
		for i := begin; i < end; i++ {
			if kindOf(code[i]) != kind {
				continue
			}
			if rows := folded(code[i], width); len(parts[i-begin]) == 1 && len(rows)-1 <= spare {
				parts[i-begin] = rows
				spare -= len(rows) - 1
			}
		}
	}
	for i := max(end, begin); i < len(code); i++ { // the heads of functions that follow: to them all rows are spare
		if strings.HasPrefix(code[i], "func ") {
			parts[i-begin] = folded(code[i], width)
		}
	}
	rest := height
	for _, rows := range parts {
		rest -= len(rows)
	}
	for i := begin; i < len(code); i++ { // no line is cut above an empty row
		if rows := folded(code[i], width); len(rows)-len(parts[i-begin]) <= rest {
			rest -= len(rows) - len(parts[i-begin])
			parts[i-begin] = rows
		}
	}
	return parts
}

// The kinds of lines, in the order in which spare rows go to them: the name of a function is at the beginning of its head,
// and what a comment says the code says, too.
const (
	body = iota
	head
	comment
)

func kindOf(line string) int {
	switch {
	case strings.HasPrefix(line, "func "):
		return head
	case commentOf(line) == 0:
		return comment
	}
	return body
}

// sends reports whether a line of code has the connection to a server in it.
func sends(line string) bool {
	return strings.Contains(line, "rdb") && !strings.HasPrefix(strings.TrimSpace(line), "//")
}

// folded is a line of code in rows of a width: the first ones end where a reader of code breaks a line, if they can. What
// continues a comment is one, too.
func folded(line string, width int) (rows []string) {
	rest, indent := []rune(line), ""
	comment := commentOf(line)
	for draw.Width(indent+string(rest)) > width {
		n := 1 // runes that have room, of which some are two columns wide
		for room := width - draw.Width(indent) - draw.Width(string(rest[0])); n < len(rest); n++ {
			if room -= draw.Width(string(rest[n])); room < 0 {
				break
			}
		}
		least := depth(string(rest)) + 1
		if comment == 0 && len(rows) == 0 {
			least += len("//") // its mark stands alone in no row
		}
		for end := n; end > least; end-- {
			if strings.ContainsRune(" (,", rest[end-1]) || rest[end-1] == ')' && end < len(rest) && rest[end] == '.' {
				n = end
				break
			}
		}
		rows = append(rows, strings.TrimRight(indent+string(rest[:n]), " "))
		rest = []rune(strings.TrimLeft(string(rest[n:]), " "))
		switch {
		case comment == 0:
			indent = strings.Repeat(" ", depth(line)) + "// "
		case len(rest) < comment:
			indent = strings.Repeat(" ", depth(line)+further) + "// "
		default:
			indent = strings.Repeat(" ", depth(line)+further)
		}
	}
	return append(rows, indent+string(rest))
}

// commentOf is how many runes of a line its comment has, with its mark: 0 if the line is nothing else, and -1 if it has none.
func commentOf(line string) int {
	if strings.HasPrefix(strings.TrimSpace(line), "//") {
		return 0
	}
	if i := strings.Index(line, " // "); i >= 0 {
		return len([]rune(line[i+1:]))
	}
	return -1
}

// headOf is the line, from 0, that begins the function in which another line is, or -1.
func headOf(code []string, at int) int {
	for i := at; i >= 0 && i < len(code); i-- {
		switch {
		case strings.HasPrefix(code[i], "func "):
			return i
		case strings.HasPrefix(code[i], "}"):
			return -1
		}
	}
	return -1
}
