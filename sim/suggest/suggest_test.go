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
