package player

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/sim/testenv"
	"lockstep/tui/draw"
	"lockstep/tui/layout"
	"lockstep/tui/tuitest"
)

// picture draws a layout with a letter for each pane.
func picture(w, h int, l layout.Layout) string {
	c := draw.NewCanvas(w, h, "~")
	for _, p := range []struct {
		r      draw.Rectangle
		letter string
	}{
		{l.Header, "h"}, {l.Main, "M"}, {l.Status, "e"}, {l.Told, "n"}, {l.Trace, "t"}, {l.State, "S"}, {l.Source, "C"}, {l.Footer, "f"},
	} {
		for y := p.r.Y; y < p.r.Y+p.r.H; y++ {
			for x := p.r.X; x < p.r.X+p.r.W; x++ {
				if was := c.Char(x, y); was != "" {
					return fmt.Sprintf("%s overlaps %s at %d, %d", p.letter, was, x, y)
				}
				c.Put(x, y, p.letter, draw.Plain)
			}
		}
	}
	for _, r := range append(l.Rules, l.Wall) {
		c.Fill(r, "-", draw.Plain)
	}
	return c.Render(tuitest.PlainTheme(true))
}

func TestLayouts(t *testing.T) {
	var b strings.Builder
	for _, size := range [][2]int{{80, 24}, {119, 33}, {80, 34}, {120, 30}, {140, 40}, {200, 60}} {
		for _, source := range []bool{false, true} {
			before := ""
			for _, across := range []bool{false, true} {
				l := layout.Arrange(size[0], size[1], layout.Wishes{Source: source, Across: across, Facts: 14, Main: func(rows int) int { return min(rows, 10) }})
				pic := tuitest.Thumbnail(picture(size[0], size[1], l))
				if pic != before {
					fmt.Fprintf(&b, "%dx%d, source toggled %v%s\n%s\n", size[0], size[1], source, draw.Either(across, ", the diagram across", ""), pic)
				}
				before = pic
			}
		}
	}
	tuitest.Golden(t, "layouts", b.String())
}

func TestLayoutCoversEveryWindow(t *testing.T) {
	for _, w := range []int{draw.MinWidth, 81, layout.SideFrom - 1, layout.SideFrom, 140, layout.RoomyWidth - 1, layout.RoomyWidth, 260} {
		for h := draw.MinHeight; h <= 64; h += 1 + h/40 {
			if !testenv.Some(w+h, testenv.Quick(6, 2)) {
				continue
			}
			for _, rows := range []int{1, 8, 30, 200} {
				for mode := range 4 {
					l := layout.Arrange(w, h, layout.Wishes{Source: mode&1 > 0, Across: mode&2 > 0, Facts: rows, Main: func(int) int { return rows }})
					pic := picture(w, h, l)
					if strings.Contains(pic, "overlaps") {
						t.Fatalf("%dx%d: %s", w, h, pic)
					}
					for y, row := range strings.Split(pic, "\n") {
						if len(row) != w || strings.Contains(row, " ") {
							t.Fatalf("%dx%d, %d rows wished: row %d has a hole:\n%s", w, h, rows, y, pic)
						}
					}
					if l.Told.H < layout.LeastTold {
						t.Fatalf("%dx%d: the narration has %d rows", w, h, l.Told.H)
					}
				}
			}
		}
	}
}

// More columns never make the diagram narrower than in the least window.
func TestDiagramIsNeverNarrower(t *testing.T) {
	for _, w := range []int{80, 100, 119, 120, 121, 160, 179, 180, 200, 260} {
		for _, h := range []int{24, 30, 34, 40, 45, 60} {
			for _, toggled := range []bool{false, true} {
				l := layout.Arrange(w, h, layout.Wishes{Source: toggled, Main: func(rows int) int { return min(rows, 10) }})
				if hidden := w < layout.RoomyWidth && toggled; !hidden && l.Main.W < draw.MinWidth {
					t.Errorf("%dx%d, source toggled %v: the diagram has %d columns", w, h, toggled, l.Main.W)
				}
			}
		}
	}
}
