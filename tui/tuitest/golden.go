package tuitest

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	_ "lockstep/sim/testenv" // for its garbage collector
	"lockstep/tui/draw"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Golden compares with testdata/name, or writes it with -update.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test with -update writes it)", err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s differs (go test with -update writes it anew).\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// PlainTheme has no escape sequences, so that a frame is its text.
func PlainTheme(ascii bool) *draw.Theme {
	return draw.NewTheme(RendererOf(termenv.Ascii), false, ascii)
}

// RendererOf is a renderer of a terminal with so many colours, on a dark background.
func RendererOf(p termenv.Profile) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(p)
	r.SetHasDarkBackground(true)
	return r
}

// Looks are the themes, each with the characters that it draws with.
func Looks() map[string]*draw.Theme {
	light := RendererOf(termenv.TrueColor)
	light.SetHasDarkBackground(false)
	return map[string]*draw.Theme{
		"dark":  draw.NewTheme(RendererOf(termenv.TrueColor), false, false),
		"light": draw.NewTheme(light, false, false),
		"mono":  draw.NewTheme(draw.NewRenderer(RendererOf(termenv.Ascii), "", true), true, false),
		"ascii": PlainTheme(true),
	}
}

// Sizes are the windows for which frames are kept.
var Sizes = [][2]int{{80, 24}, {120, 30}, {140, 40}, {200, 60}}

// EachFrame runs a test for all sizes in one look, which has no escape sequences, and
// for all looks in one size, large enough for every pane.
func EachFrame(t *testing.T, screen string, test func(t *testing.T, name string, w, h int, th *draw.Theme)) {
	for look, th := range Looks() {
		for _, size := range Sizes {
			if look != "ascii" && size != Sizes[len(Sizes)-1] {
				continue
			}
			name := fmt.Sprintf("%s-%dx%d-%s", screen, size[0], size[1], look)
			t.Run(name, func(t *testing.T) { test(t, name, size[0], size[1], th) })
		}
	}
}

// Thumbnail keeps every tenth column of a picture, which is enough to see it by.
func Thumbnail(s string) string {
	var b strings.Builder
	for _, l := range strings.Split(s, "\n") {
		for x := 5; x < len(l); x += 10 {
			b.WriteByte(l[x])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Parts draws named rectangles, each with its letter, and reports overlaps.
func Parts(w, h int, rules []draw.Rectangle, named map[string]draw.Rectangle) string {
	c := draw.NewCanvas(w, h, "~")
	for _, r := range rules {
		c.Fill(r, "-", draw.Plain)
	}
	for letter, r := range named {
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				if was := c.Char(x, y); was != "" {
					return fmt.Sprintf("%s overlaps %s at %d, %d", letter, was, x, y)
				}
				c.Put(x, y, letter, draw.Plain)
			}
		}
	}
	return c.Render(PlainTheme(true))
}

// Unwrapped is text without its line breaks.
func Unwrapped(s string) string { return strings.Join(strings.Fields(s), " ") }

// FirstLine is a frame's header.
func FirstLine(s string) string {
	l, _, _ := strings.Cut(s, "\n")
	return l
}

// Stripped is a frame's text.
func Stripped(frame string) string {
	lines := strings.Split(ansi.Strip(frame), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// LineText is the text of a line.
func LineText(l draw.Line) string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// LinesText is the text of lines, each ended.
func LinesText(lines []draw.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(LineText(l) + "\n")
	}
	return b.String()
}

// FitsEveryWindow holds a picture of a layout to windows of many sizes: nothing overlaps,
// and every row is there.
func FitsEveryWindow(t *testing.T, picture func(w, h int) string) {
	t.Helper()
	for _, w := range []int{draw.MinWidth, 81, 119, 140, 200, 260} {
		for h := draw.MinHeight; h <= 70; h++ {
			pic := picture(w, h)
			if strings.Contains(pic, "overlaps") {
				t.Fatalf("at %dx%d: %s", w, h, pic)
			}
			if rows := strings.Count(pic, "\n") + 1; rows != h {
				t.Fatalf("at %dx%d there are %d rows", w, h, rows)
			}
		}
	}
}
