package pane

import (
	"regexp"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/timeline"
	"lockstep/tui/draw"
	"lockstep/tui/tuitest"
)

// whole are the words of a lane, none of them cut or with a foreign sign inside.
var whole = regexp.MustCompile(`^((paused|held up)( inside( for [\dmhs.]+)?|( for)? [\dmhs.]+( inside)?)?|hangs( for good)?|ended by an exception|failed|crashed|wants it|down|no majority|` +
	`\w+ ((holds( the lock)?|thinks so|held it, (then only thinks so|thinks so)|thinks it holds( the lock)?)(, fence \d+)?|has enough nodes)|\w+, fence \d+|lease over, unseen|over, unseen|\S+=[\w?]+(, (expires [\dmhsy.]+|no expiry))?|` +
	`([A-Z]+ )?under way(, paused( for)? [\dmhs.]+)?|tests whether the lock can still be had|[A-Z]{2,3}( [A-Z]{2,3})*|[\w?]+|\d+ (client|row)s? left out: .*)$`)

// cutWord is a word of which marks have left some letters; names of clients and counts of believers are words, too.
func cutWord(r *timeline.Timeline, s string) bool {
	if len(s) < 2 || strings.Trim(s, "0123456789") == "" {
		return false
	}
	for _, word := range strings.Fields("paused failed hangs crashed down probe redis") {
		if s == word {
			return false
		}
	}
	if !whole.MatchString(s) {
		return true
	}
	if strings.ContainsAny(s, " =") || strings.ToUpper(s) == s {
		return false
	}
	for _, name := range r.Clients {
		if s == name || strings.HasPrefix(name, s) {
			return false
		}
	}
	return true
}

// In every frame of every run of the course, at three widths, no label of a bar has a mark among its letters.
func TestNoMarkInALabel(t *testing.T) {
	th := tuitest.PlainTheme(false)
	for _, l := range scenarios.Course() {
		for _, step := range l.Steps {
			st, _ := scenarios.FindStrategy(step.Strategy)
			sc, _ := scenarios.Find(step.Scenario)
			tr, err := sc.Run(st, 1)
			if err != nil {
				t.Fatal(err)
			}
			r := timeline.New(tr)
			for _, size := range [][2]int{{80, 10}, {120, 18}, {200, 40}} {
				axis := newAxis(r, size[0]-LabelWidth, 0)
				for pos := range r.Last() + 1 {
					if !testenv.Some(pos, testenv.Quick(16, 8)) {
						continue
					}
					c := draw.NewCanvas(size[0], size[1], th.More)
					lanes := FillLanes(r, pos, size[1]-AxisRows)
					DrawTimeline(c, draw.Rect(0, 0, c.W, c.H), Scene{Timeline: r, Pos: pos, Axis: axis, Column: axis.Cols[pos], All: axis.Width(), Lanes: lanes, Theme: th})
					for i := range lanes {
						if lanes[i].kind == laneVotes {
							continue
						}
						for x, e := range marked(r, lanes[i].Lane, axis, pos, size[0]-LabelWidth) {
							if s := c.Char(LabelWidth+x, AxisRows+i); lanes[i].own() && (s == " " || s >= "a" && s <= "z") && !wasDown(r, lanes[i].Lane, pos) {
								t.Fatalf("%s at %v, event %d: a label lies over the mark of event %d:\n%s", step.ID(), size, pos, e, c.Render(th))
							}
						}
						for _, chunk := range chunks(c, AxisRows+i) {
							if cutWord(r, chunk) {
								t.Fatalf("%s at %v, event %d: %q:\n%s", step.ID(), size, pos, chunk, c.Render(th))
							}
						}
					}
				}
			}
		}
	}
}

// chunks are what stands in a row of the plot between signs.
func chunks(c *draw.Canvas, y int) []string {
	var row strings.Builder
	for x := LabelWidth; x < c.W; x++ {
		s := c.Char(x, y)
		if s == "" || !strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,.=?-_") {
			s = "\x00"
		}
		row.WriteString(s)
	}
	var all []string
	for _, chunk := range strings.FieldsFunc(row.String(), func(r rune) bool { return r == 0 }) {
		if chunk = strings.TrimSpace(chunk); chunk != "" {
			all = append(all, chunk)
		}
	}
	return all
}

// marked are the columns of the plot in which a lane has a mark, with an event of it.
func marked(r *timeline.Timeline, l timeline.Lane, axis *Axis, pos, width int) map[int]int {
	at := map[int]int{}
	for i := range r.Events[:pos] {
		x := axis.Cols[i+1] - axis.Window(pos, width)
		if e := &r.Events[i]; r.In(l, e) && r.Weight(e) > 0 && x >= 0 && x < width {
			at[x] = e.Seq
		}
	}
	return at
}

// wasDown reports whether a server was down before: that word stays where commands failed.
func wasDown(r *timeline.Timeline, l timeline.Lane, pos int) bool {
	for i := range pos + 1 {
		if l.Kind == timeline.Record && r.Bar(l, i).Kind == timeline.Down {
			return true
		}
	}
	return false
}
