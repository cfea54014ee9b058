package tui

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/sim/timeline"
)

// picture draws a layout with a letter for each pane.
func picture(w, h int, l layout) string {
	c := newCanvas(w, h, "~")
	for _, p := range []struct {
		r      rect
		letter string
	}{
		{l.header, "h"}, {l.main, "M"}, {l.status, "e"}, {l.told, "n"}, {l.trace, "t"}, {l.state, "S"}, {l.source, "C"}, {l.footer, "f"},
	} {
		for y := p.r.y; y < p.r.y+p.r.h; y++ {
			for x := p.r.x; x < p.r.x+p.r.w; x++ {
				if was := c.at(x, y).s; was != "" {
					return fmt.Sprintf("%s overlaps %s at %d, %d", p.letter, was, x, y)
				}
				c.put(x, y, p.letter, inkPlain)
			}
		}
	}
	for _, r := range append(l.rules, l.wall) {
		c.fill(r, "-", inkPlain)
	}
	return c.render(plainTheme(true))
}

// thumbnail keeps every tenth column of a picture, which is enough to see it by.
func thumbnail(s string) string {
	var b strings.Builder
	for _, l := range strings.Split(s, "\n") {
		for x := 5; x < len(l); x += 10 {
			b.WriteByte(l[x])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestLayouts(t *testing.T) {
	var b strings.Builder
	for _, size := range [][2]int{{80, 24}, {119, 33}, {80, 34}, {120, 30}, {140, 40}, {200, 60}} {
		for _, source := range []bool{false, true} {
			l := arrange(size[0], size[1], wishes{source: source, main: func(rows int) int { return min(rows, 10) }})
			fmt.Fprintf(&b, "%dx%d, source toggled %v\n%s\n", size[0], size[1], source, thumbnail(picture(size[0], size[1], l)))
		}
	}
	golden(t, "layouts", b.String())
}

// parts draws named rectangles, each with its letter, and reports overlaps.
func parts(w, h int, rules []rect, named map[string]rect) string {
	c := newCanvas(w, h, "~")
	for _, r := range rules {
		c.fill(r, "-", inkPlain)
	}
	for letter, r := range named {
		for y := r.y; y < r.y+r.h; y++ {
			for x := r.x; x < r.x+r.w; x++ {
				if was := c.at(x, y).s; was != "" {
					return fmt.Sprintf("%s overlaps %s at %d, %d", letter, was, x, y)
				}
				c.put(x, y, letter, inkPlain)
			}
		}
	}
	return c.render(plainTheme(true))
}

func homePicture(w, h, scenarios, strategies int) string {
	l := arrangeHome(w, h, 26, scenarios, strategies)
	return parts(w, h, l.rules, map[string]rect{"h": l.header, "s": l.heads, "n": l.names, "M": l.grid, "t": l.story, "f": {0, h - 1, w, 1}})
}

func comparePicture(w, h int, lanes [2]int) string {
	l := arrangeCompare(w, h, lanes)
	return parts(w, h, []rect{l.titles[0], l.titles[1], l.differs}, map[string]rect{"h": l.header, "U": l.halves[0], "L": l.halves[1], "t": l.told, "f": {0, h - 1, w, 1}})
}

func coursePicture(w, h int) string {
	header, list, lesson, rules, wall := arrangeCourse(w, h, 28)
	return parts(w, h, append(rules, wall), map[string]rect{"h": header, "l": list, "t": lesson, "f": {0, h - 1, w, 1}})
}

func TestLayoutsOfTheOtherScreens(t *testing.T) {
	var b strings.Builder
	for _, size := range sizes {
		w, h := size[0], size[1]
		fmt.Fprintf(&b, "matrix of 45 by 28, %dx%d\n%s\n", w, h, thumbnail(homePicture(w, h, 45, 28)))
		fmt.Fprintf(&b, "compare, 7 and 12 lanes, %dx%d\n%s\n", w, h, thumbnail(comparePicture(w, h, [2]int{7, 12})))
		fmt.Fprintf(&b, "course, %dx%d\n%s\n", w, h, thumbnail(coursePicture(w, h)))
	}
	golden(t, "layouts-other", b.String())
}

func TestOtherLayoutsFitEveryWindow(t *testing.T) {
	for _, w := range []int{minWidth, 81, 119, 140, 200, 260} {
		for h := minHeight; h <= 70; h++ {
			for _, n := range [][2]int{{1, 1}, {7, 12}, {45, 28}} {
				for name, pic := range map[string]string{"home": homePicture(w, h, n[0], n[1]), "compare": comparePicture(w, h, n), "course": coursePicture(w, h)} {
					if strings.Contains(pic, "overlaps") {
						t.Fatalf("%s of %v at %dx%d: %s", name, n, w, h, pic)
					}
					if rows := strings.Count(pic, "\n") + 1; rows != h {
						t.Fatalf("%s of %v at %dx%d has %d rows", name, n, w, h, rows)
					}
				}
			}
		}
	}
}

func TestLayoutCoversEveryWindow(t *testing.T) {
	for _, w := range []int{minWidth, 81, sideFrom - 1, sideFrom, 140, roomyWidth - 1, roomyWidth, 260} {
		for h := minHeight; h <= 64; h += 1 + h/40 {
			for _, rows := range []int{1, 8, 30, 200} {
				for _, source := range []bool{false, true} {
					l := arrange(w, h, wishes{source: source, main: func(int) int { return rows }})
					pic := picture(w, h, l)
					if strings.Contains(pic, "overlaps") {
						t.Fatalf("%dx%d: %s", w, h, pic)
					}
					for y, row := range strings.Split(pic, "\n") {
						if len(row) != w || strings.Contains(row, " ") {
							t.Fatalf("%dx%d, %d rows wished: row %d has a hole:\n%s", w, h, rows, y, pic)
						}
					}
					if l.told.h < leastTold {
						t.Fatalf("%dx%d: the narration has %d rows", w, h, l.told.h)
					}
				}
			}
		}
	}
}

func TestLanesSaveRows(t *testing.T) {
	var b strings.Builder
	pause, crowded := timeline.New(pauseTrace()), timeline.New(crowd(4, 5, 100))
	for _, p := range []struct {
		r         *timeline.Timeline
		pos, rows int
	}{{pause, 0, 20}, {pause, 0, 11}, {pause, pause.Last(), 11}, {pause, pause.Last(), 7}, {crowded, 50, 30}, {crowded, 50, 14}, {crowded, 50, 11}, {crowded, 50, 8}, {crowded, 50, 6}, {crowded, 50, 2}} {
		lanes := plan(p.r, p.pos, p.rows)
		if len(lanes) > p.rows {
			t.Errorf("%d lanes in %d rows", len(lanes), p.rows)
		}
		fmt.Fprintf(&b, "%d rows at %d:", p.rows, p.pos)
		for _, l := range lanes {
			name, what := l.label(p.r.Trace)
			if l.kind == laneHidden {
				name = fmt.Sprintf("(%d hidden)", l.hidden)
			}
			fmt.Fprintf(&b, " |%s", strings.TrimSpace(name+" "+what))
		}
		b.WriteByte('\n')
	}
	golden(t, "lanes", b.String())
}
