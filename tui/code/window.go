package code

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
)

// File is a file of package strategies.
type File struct {
	Name  string
	Lines []string
}

// At is the file of a place in the code, and its line; a lock's own file and 0 if the place is in none of package strategies.
func At(at trace.Source, own string) (File, int) {
	if name, is := strings.CutPrefix(at.File, "strategies/"); is {
		if text, found := strategies.Text(name); found {
			return File{name, Lines(text)}, at.Line
		}
	}
	return File{own, Of(own)}, 0
}

// Place is the line of a file, from 1, at which a client is. One that stands there has its name beside it; one without a name
// has only its line in sight.
type Place struct {
	File   File
	Line   int
	Stands bool
	Broken bool // by the command of that line, the lock was
	Name   string
	Ink    draw.Ink
}

const (
	leastHeaded = 6 // rows, above whose first one the head of the function stands, if it has scrolled away
	leastWindow = 3 // rows, before those for clients elsewhere
	before      = 4 // the share of a window that is above the line: the code below says more
	further     = 4 // columns by which the rows of one line are indented after its first
)

// row is a row of a window: the clients that stand there, and the text.
type row struct {
	beside draw.Line
	text   draw.Span
}

// Draw shows the code that clients share, once: the lines around the first one's place, with the name of each client beside the line
// on which it stands. Those who stand beyond these lines, or in another file, have their line below.
func Draw(c *draw.Canvas, r draw.Rectangle, places []Place, th *draw.Theme) {
	gutter := draw.Width(th.Pointer) + 1
	for _, p := range places {
		gutter += max(draw.Width(p.Name), draw.Either(p.Stands, 1, 0)) // the code does not move as a client begins
	}
	var rows, apart []row
	for n := 0; ; n = len(apart) {
		var hidden []Place
		rows, hidden = window(places, r.W-gutter, r.H-n, th)
		apart = elsewhere(hidden, places[0].File.Name, r.W-gutter, th)
		apart = apart[:min(len(apart), max(r.H-leastWindow, 0))]
		if len(apart) <= n {
			break
		}
	}
	rows = rows[:min(len(rows), r.H-len(apart))]
	if len(apart) > 0 && len(rows)+len(apart) < r.H { // lines are left out
		rows = append(rows, row{text: draw.Text(th.More, draw.Dim)})
	}
	rows = append(rows, apart...)
	for y, row := range rows {
		l := append(row.beside, draw.Text(strings.Repeat(" ", max(gutter-row.beside.Width(), 0)), draw.Plain), row.text)
		c.Line(r.X, r.Y+y, r.W, l.Fitted(r.W, th.More))
	}
}

// beside are the names of the clients that stand on a line, with a mark, if any of them is to be named.
func beside(all []Place, th *draw.Theme) (l draw.Line) {
	mark := draw.Text(th.Pointer, draw.Here)
	for _, p := range slices.SortedFunc(slices.Values(all), func(a, b Place) int { return strings.Compare(a.Name, b.Name) }) {
		if p.Name != "" {
			l = append(l, draw.Text(p.Name, p.Ink))
		}
		if p.Broken {
			mark = draw.Text("!", draw.Breach)
		}
	}
	if len(l) > 0 {
		l = append(l, mark)
	}
	return l
}

// elsewhere are the lines of clients that stand at none of the lines of a window of a file: each in whole, and where it is.
func elsewhere(hidden []Place, file string, width int, th *draw.Theme) (rows []row) {
	for len(hidden) > 0 {
		p := hidden[0]
		same := func(o Place) bool { return o.Line == p.Line && o.File.Name == p.File.Name }
		var here, rest []Place
		for _, o := range hidden {
			if same(o) {
				here = append(here, o)
			} else {
				rest = append(rest, o)
			}
		}
		where := fmt.Sprintf("  // line %d", p.Line)
		if p.File.Name != file {
			where = fmt.Sprintf("  // %s:%d", p.File.Name, p.Line)
		}
		for i, text := range folded(strings.TrimSpace(p.File.Lines[p.Line-1])+where, width) {
			r := row{text: draw.Text(text, draw.Pick)}
			if i == 0 {
				r.beside = beside(here, th)
			}
			rows = append(rows, r)
		}
		hidden = rest
	}
	return rows
}

// window are the rows of a window about the first place, and the places at which a client stands that are not in it. Lines on
// which a client stands are whole, in as many rows as they take. So are those
// after the first place that send commands, on which it will stand, and others as far as the rows after the function's end would do
// nothing for it; the rest end at the edge. The window begins with the function, where it has room for the line; where it has not
// enough rows for the code, comments are left out.
func window(places []Place, width, height int, th *draw.Theme) (all []row, hidden []Place) {
	var here []Place // in the same file
	var lines []int
	for _, p := range places {
		if p.File.Name != places[0].File.Name {
			if p.Stands && p.Name != "" {
				hidden = append(hidden, p)
			}
			continue
		}
		here, lines = append(here, p), append(lines, p.Line)
	}
	code, lines := Joined(places[0].File.Lines, lines...)
	if cramped(code, lines[0], width, height) {
		code, lines = uncommented(code, lines)
	}
	standing := map[int][]Place{}
	for i, p := range here {
		if p.Stands && lines[i] > 0 {
			standing[lines[i]] = append(standing[lines[i]], p)
		}
	}
	begin, headed := beginAt(code, lines[0], standing, width, height)
	if headed {
		all = append(all, row{text: draw.Text(draw.Fit(code[headOf(code, lines[0]-1)], width-2, "")+" "+th.More, draw.Dim)}) // lines are left out
	}
	seen := map[int]bool{}
	for n, rows := range unfolded(code, begin, lines[0], standing, width, height-len(all)) {
		names, k := beside(standing[begin+n+1], th), draw.Plain
		switch {
		case names != nil:
			k = draw.Pick
		case len(rows) > 0 && strings.HasPrefix(strings.TrimSpace(rows[0]), "//"):
			k = draw.Dim
		}
		for i, text := range rows {
			if len(all) == height {
				break
			}
			seen[begin+n+1] = true
			if len(all) == height-1 && i < len(rows)-1 {
				text += " " + th.More
			}
			all, names = append(all, row{names, draw.Text(text, k)}), nil
		}
	}
	for i, p := range here {
		if p.Stands && p.Name != "" && lines[i] > 0 && !seen[lines[i]] {
			hidden = append(hidden, p)
		}
	}
	return all, hidden
}

// beginAt is the first line to show, from 0, and whether the head of the function, which has scrolled away, stands above it.
func beginAt(code []string, focus int, standing map[int][]Place, width, height int) (begin int, headed bool) {
	more, first := 0, focus-1 // rows, and the first line on which a client stands
	for line := range standing {
		if line <= focus {
			more += len(folded(code[line-1], width)) - 1
		}
		first = min(first, line-1)
	}
	begin = min(max(focus-1-max(height-2, 0)/before, 0), max(len(code)+more-height, 0))
	head := headOf(code, focus-1)
	switch {
	case head >= 0 && (head >= begin || standing[focus] == nil && focus-head <= height):
		begin = beginOf(code, head, height-more)
	case head >= 0 && height >= leastHeaded:
		headed = true
		begin, height = begin+1, height-1
	}
	for _, least := range []int{headOf(code, first), first} { // others that stand above are in sight, if they can be
		if first < begin && first < focus-1 && least >= 0 && focus-least+more <= height {
			return least, false
		}
	}
	return max(begin, min(focus-1, focus+more-height)), headed
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

// uncommented is code without its comments, and the places of lines in it, from 1. The comments at those lines stay.
func uncommented(code []string, lines []int) (bare []string, at []int) {
	at = make([]int, len(lines))
	for i, text := range code {
		n, kept := commentOf(text), slices.Contains(lines, i+1)
		if n == 0 && !kept {
			continue
		}
		if n > 0 && !kept {
			letters := []rune(text)
			text = strings.TrimRight(string(letters[:len(letters)-n]), " ")
		}
		bare = append(bare, text)
		for k, line := range lines {
			if line == i+1 {
				at[k] = len(bare)
			}
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
func unfolded(code []string, begin, focus int, standing map[int][]Place, width, height int) (parts [][]string) {
	end, used := len(code), 0 // after the function
	for i := begin; i < len(code); i++ {
		rows := code[i : i+1]
		if standing[i+1] != nil || i+1 > focus && sends(code[i]) {
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
	if last := end - 1; spare <= 0 && last > begin && last+1 != focus && standing[last+1] == nil && code[last] == "}" { // that a function ends says less than the end of a line
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
	if last := end - 1; spare > 0 && last >= begin && parts[last-begin] == nil { // nothing else had a use for its row
		parts[last-begin] = code[last:end]
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
// and the code says the same as a comment.
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

// folded is a line of code in rows of a width: the first ones end where a reader of code breaks a line, if they can. A row
// that continues a comment is one, too.
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
