package tui

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
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with testdata/name, or writes it with -update.
func golden(t *testing.T, name, got string) {
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
		t.Fatalf("%v (go test ./tui -update writes it)", err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s differs (go test ./tui -update writes it anew).\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// plainTheme has no escape sequences, so that a frame is its text.
func plainTheme(ascii bool) *theme { return newTheme(rendererOf(termenv.Ascii), false, ascii) }

func rendererOf(p termenv.Profile) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(p)
	r.SetHasDarkBackground(true)
	return r
}

// looks are the themes, each with the characters that it draws with.
func looks() map[string]*theme {
	light := rendererOf(termenv.TrueColor)
	light.SetHasDarkBackground(false)
	return map[string]*theme{
		"dark":  newTheme(rendererOf(termenv.TrueColor), false, false),
		"light": newTheme(light, false, false),
		"mono":  newTheme(newRenderer(rendererOf(termenv.Ascii), "", true), true, false),
		"ascii": plainTheme(true),
	}
}

var sizes = [][2]int{{80, 24}, {120, 30}, {140, 40}, {200, 60}}

// eachFrame runs a test for all sizes in one look, which has no escape sequences, and
// for all looks in one size, in which every pane has its place.
func eachFrame(t *testing.T, screen string, test func(t *testing.T, name string, w, h int, th *theme)) {
	for look, th := range looks() {
		for _, size := range sizes {
			if look != "ascii" && size != sizes[len(sizes)-1] {
				continue
			}
			name := fmt.Sprintf("%s-%dx%d-%s", screen, size[0], size[1], look)
			t.Run(name, func(t *testing.T) { test(t, name, size[0], size[1], th) })
		}
	}
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

// unwrapped is text without its line breaks.
func unwrapped(s string) string { return strings.Join(strings.Fields(s), " ") }

// firstLine is a frame's header.
func firstLine(s string) string {
	l, _, _ := strings.Cut(s, "\n")
	return l
}

// stripped is a frame's text.
func stripped(frame string) string {
	lines := strings.Split(ansi.Strip(frame), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// lineText is the text of a line.
func lineText(l line) string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// linesText is the text of lines, each ended.
func linesText(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(lineText(l) + "\n")
	}
	return b.String()
}

// fitsEveryWindow holds a picture of a layout to windows of many sizes: nothing overlaps,
// and every row is there.
func fitsEveryWindow(t *testing.T, picture func(w, h int) string) {
	t.Helper()
	for _, w := range []int{minWidth, 81, 119, 140, 200, 260} {
		for h := minHeight; h <= 70; h++ {
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
