package suggest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestDidYouMean(t *testing.T) {
	known := []string{"pause", "resume", "run", "up", "A", "B"}
	for word, want := range map[string]string{
		"puase": "pause", "PAUSE": "pause", "pausee": "pause", "rn": "run", "rnu": "run", "u": "up", "a": "A",
		"x": "", "C": "", "foo": "", "pour": "", "rub": "run", "zz": "", "explode": "", "": "",
		strings.Repeat("pause", 1000): "",
	} {
		got := Hint(word, known)
		if want != "" {
			want = fmt.Sprintf("; did you mean %q?", want)
		}
		if got != want {
			t.Errorf("%.20q: got %q, want %q", word, got, want)
		}
	}
	if !slices.Equal(known, []string{"pause", "resume", "run", "up", "A", "B"}) {
		t.Error("the list of known words was changed")
	}
}

func TestPartsOfNames(t *testing.T) {
	known := []string{"setnx", "naive-del", "setpx-get", "setpx-lua", "watchdog", "setpx-watch"}
	for word, want := range map[string]string{
		"naive":     `; did you mean "naive-del"?`,
		"NAIVE":     `; did you mean "naive-del"?`,
		"lua":       `; did you mean "setpx-lua"?`,
		"watch":     `; did you mean "watchdog"?`, // it begins with it
		"setpx":     `; did you mean "setnx", "setpx-get", "setpx-lua" or "setpx-watch"?`,
		"-l":        "",
		"naive-del": `; did you mean "naive-del"?`,
	} {
		if got := Hint(word, known); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	terms := []string{"step", "state", "foreign release", "stale write", "stale-deadline", "late-release", "ttl-of-a-record"}
	for word, want := range map[string]string{
		"stael":   `; did you mean "stale write" or "stale-deadline"?`, // two letters are swapped, and two others make it a step
		"Relaese": `; did you mean "foreign release" or "late-release"?`,
		"steps":   `; did you mean "step"?`,
		"tt":      "",
	} {
		if got := Hint(word, terms); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("redlock-of-%02d", i))
	}
	if got := Hint("redlock", many); !strings.HasSuffix(got, `"redlock-of-05", or one of 14 more?`) {
		t.Errorf("of many names: %q", got)
	}
}
