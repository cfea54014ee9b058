package export

import (
	"fmt"
	"strings"

	"lockstep/sim/trace"
)

// header names the run and the properties that broke.
func (d *drawing) header(width int) *block {
	b := &block{}
	y := 8
	for _, line := range fold(d.heading(), (width-2*margin)/12) {
		y += 24
		b.text("ls-large ls-bold ls-fg", margin, y, line)
	}
	y += 3
	for _, line := range fold(fmt.Sprintf("%s under %s, TTL %s, seed %d", d.Strategy, d.Scenario, trace.Brief(d.TTL), d.Seed), (width-2*margin)/8) {
		y += 17
		b.text("ls-normal ls-dim", margin, y, line)
	}
	y += 12
	x := margin
	badge := func(class, letters, text string) {
		w := textWidth(text, normal) + 16
		if x+w > width-margin && x > margin {
			x, y = margin, y+28
		}
		b.rect(class, x, y, w, 24, "")
		b.text("ls-normal ls-bold "+letters, x+8, y+17, text)
		x += w + 8
	}
	for _, c := range d.Verdict() {
		flag, letters := flagged(c)
		badge(flag, letters, fmt.Sprintf("%s %s %s", severity(c), c, c.Name()))
	}
	if len(d.Violations) == 0 {
		badge("ls-count", "ls-fg", "ok: "+strings.ToLower(nothingBroke[:1])+nothingBroke[1:])
	}
	b.height = y + 36
	return b
}

func (r *annotated) heading() string {
	if r.Title == "" {
		return r.Scenario
	}
	return r.Title
}

// reasons tells why each property broke, and by which events, and explains the
// marks that occur.
func (d *drawing) reasons(width int) *block {
	b := &block{}
	y := 8
	columns := (width-2*margin)*100/(normal*61) - 19
	for i := range d.Violations {
		v := &d.Violations[i]
		y += 6
		for j, line := range fold(fmt.Sprintf("%s (%s)", v.Text, seqs(v.Events)), columns) {
			y += 17
			if j == 0 {
				ink := "ls-alarm"
				if !v.Code.Failure() {
					ink = "ls-fg"
				}
				b.text("ls-normal ls-bold "+ink, margin, y, fmt.Sprintf("%s %-3s", severity(v.Code), v.Code))
				b.text("ls-normal ls-dim ls-end", margin+textWidth(strings.Repeat("0", 17), normal), y, trace.Brief(v.At))
			}
			b.text("ls-normal ls-fg", margin+textWidth(strings.Repeat("0", 19), normal), y, line)
		}
	}
	b.height = d.legend(b, y+14, width)
	return b
}

// severity stands before a code: a violation that is only reported is no failure, and has no alarm.
func severity(c trace.Code) string {
	if c.Failure() {
		return alarm
	}
	return "~"
}

// alarm is the sign of a failure.
const alarm = "!!"

// flagged are the classes of a flag with a code, and of the letters on it.
func flagged(c trace.Code) (flag, letters string) {
	if c.Failure() {
		return "ls-flag", "ls-onflag"
	}
	return "ls-count", "ls-fg"
}

func seqs(list []int) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = fmt.Sprintf("#%d", s)
	}
	return strings.Join(parts, " ")
}

// legend explains the marks that occur, and returns the y at which it ends.
func (d *drawing) legend(b *block, y, width int) int {
	x := margin
	entry := func(text string, draw func(x, y int)) {
		w := 26 + textWidth(text, small) + 14
		if x+w > width-margin {
			x, y = margin, y+20
		}
		draw(x+9, y+8)
		b.text("ls-small ls-dim", x+26, y+12, text)
		x += w
	}
	box := func(class string) func(x, y int) {
		return func(x, y int) { b.rect(class, x-9, y-6, 22, 12, "") }
	}
	b.line("ls-rule", margin, y-6, width-margin, y-6)
	for _, bar := range barWords {
		if _, is := d.used[kindOfBar(bar.class)]; is {
			entry(bar.what, box(bar.class))
		}
	}
	for _, g := range glyphWords {
		if _, is := d.used[g.name]; is {
			entry(g.what, func(x, y int) { b.glyph(g.name, glyphClass(g.name, "0"), x, y, "") })
		}
	}
	if _, is := d.used[idle]; is {
		entry(idleWords, func(x, y int) { b.printf(`<circle class="ls-f0" cx="%d" cy="%d" r="2"/>`, x, y) })
	}
	if len(d.Violations) > 0 {
		entry("proves it", func(x, y int) { b.printf(`<circle class="ls-ring" cx="%d" cy="%d" r="7"/>`, x, y) })
	}
	return y + 28
}
