package draw

import (
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"one two three", 8, []string{"one two", "three"}},
		{"one two three", 13, []string{"one two three"}},
		{"", 5, []string{""}},
		{"a\n\nb", 5, []string{"a", "", "b"}},
		{"  kept indented", 9, []string{"  kept", "indented"}},
		{"unbreakable", 4, []string{"unbr", "eaka", "ble"}},
		{"租約到期", 4, []string{"租約", "到期"}},
		{"租約到期", 5, []string{"租約", "到期"}},
		{"租約，到期", 4, []string{"租", "約，", "到期"}}, // a comma begins no line
		{"，，，", 2, []string{"，", "，", "，"}},     // unless nothing else would fit
		{"x", 0, nil},
	} {
		if got := Wrap(c.text, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestWrapLosesNothing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	letters := []rune("ab c 租約，。é👍\t")
	for range 3000 {
		var text []rune
		for range rnd.IntN(40) {
			text = append(text, letters[rnd.IntN(len(letters))])
		}
		width := 2 + rnd.IntN(20)
		lines := Wrap(string(text), width)
		for _, l := range lines {
			if Width(l) > width {
				t.Fatalf("%q in %d columns: %q is too wide", string(text), width, l)
			}
		}
		if got, want := strings.Join(strings.Fields(strings.Join(lines, "")), ""), strings.Join(strings.Fields(string(text)), ""); got != want {
			t.Fatalf("%q in %d columns: %q", string(text), width, lines)
		}
	}
}

func TestFitMarksWhatItCuts(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"租約到期", 7, "租約到…"}, {"租約到期", 6, "租約…"}, {"abc", 1, "…"}, {"abc", 0, ""}, {"", 0, ""},
	} {
		if got := Fit(c.text, c.width, "…"); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// A frame is as large as its window wherever things are drawn, and half a wide
// character never stays.
func TestCanvasHoldsItsSize(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 8))
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	th := NewTheme(r, false, false)
	texts := []string{"租約到期之後", "plain", "é\u0301x", "👍🏽👍", "\x1b[2Jescape\x07", "a\tb", "\u200b\u200d"}
	for range 2000 {
		c := NewCanvas(1+rnd.IntN(12), 1+rnd.IntN(4), "…")
		for range 6 {
			c.Text(rnd.IntN(16)-2, rnd.IntN(6)-1, rnd.IntN(14), texts[rnd.IntN(len(texts))], Plain)
			c.Put(rnd.IntN(14)-1, rnd.IntN(5), "x", Plain)
		}
		frame := c.Render(th)
		lines := strings.Split(frame, "\n")
		if len(lines) != c.H {
			t.Fatalf("%d lines, not %d", len(lines), c.H)
		}
		for _, l := range lines {
			if w := lipgloss.Width(l); w > c.W {
				t.Fatalf("%q is %d wide in %d columns", l, w, c.W)
			}
		}
		if strings.ContainsAny(frame, "\x1b\x07\t") {
			t.Fatalf("a control reached the terminal: %q", frame)
		}
	}
}

// The last span hangs below its own beginning, and nothing of it is lost.
func TestHangingLine(t *testing.T) {
	l := Line{Text(" A  ", Strong), Text("outside the critical section, PAUSED", Plain)}
	got := []string{}
	for _, line := range l.Hanging(24) {
		text := ""
		for _, s := range line {
			text += s.Text
		}
		got = append(got, text)
	}
	want := []string{" A  outside the critical", "    section, PAUSED"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if whole := l.Hanging(l.Width()); len(whole) != 1 {
		t.Errorf("a line that fits hangs: %v", whole)
	}
	if late := (Line{Text(" a long beginning ", Plain), Text("and more", Plain)}).Hanging(20); len(late) != 1 {
		t.Errorf("there is no room below the last span, and it hangs: %v", late)
	}
}
