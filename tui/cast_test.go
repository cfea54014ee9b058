package tui

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"lockstep/scenarios"
	"lockstep/strategies"
)

// A recording is one of asciinema's version 2, always the same, and shows the run to its end in about a
// minute: every frame fills its terminal, and the violation is on the screen.
func TestCast(t *testing.T) {
	sc, err := scenarios.Find("late-release")
	if err != nil {
		t.Fatal(err)
	}
	st, _ := strategies.Get("naive-del")
	run, err := sc.Run(st, 1)
	if err != nil {
		t.Fatal(err)
	}
	var b, again bytes.Buffer
	if err := Cast(&b, run); err != nil {
		t.Fatal(err)
	}
	if err := Cast(&again, run); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Errorf("the same run gives another recording: %v", err)
	}
	dec := json.NewDecoder(&b)
	var head struct{ Version, Width, Height int }
	if err := dec.Decode(&head); err != nil || head.Version != 2 || head.Width != castWidth || head.Height != castHeight {
		t.Fatalf("%v, %+v", err, head)
	}
	last, frames, shown := -1.0, 0, ""
	for dec.More() {
		var event [3]any
		if err := dec.Decode(&event); err != nil {
			t.Fatal(err)
		}
		at, text := event[0].(float64), event[2].(string)
		if at < last || event[1] != "o" {
			t.Errorf("after %v comes %v, %v", last, at, event[1])
		}
		if last = at; text == "" {
			continue
		}
		frames++
		lines := strings.Split(text, "\r\n")
		if len(lines) != castHeight {
			t.Fatalf("frame %d has %d lines", frames, len(lines))
		}
		for _, l := range lines {
			if ansi.StringWidth(l) > castWidth {
				t.Errorf("frame %d: %q is too wide", frames, l)
			}
		}
		shown = ansi.Strip(text)
		if frames == 1 && strings.Contains(shown, "FOREIGN RELEASE") {
			t.Error("the first frame shows the end")
		}
	}
	if frames < 20 || last < 40 || last > 65 || !strings.Contains(shown, "FR") {
		t.Errorf("%d frames in %v seconds end with\n%s", frames, last, shown)
	}
}
