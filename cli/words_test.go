package cli

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
)

// Every command that a run shows, with its options, can be looked up.
func TestCommandsAreExplained(t *testing.T) {
	n := -1
	option := regexp.MustCompile(`^[A-Z]{2,}$`)
	known := map[string]bool{}
	for _, c := range scenarios.Part(1, func(*scenarios.Scenario, strategies.Strategy) bool { n++; return testenv.Some(n, 40) }) {
		if c.Err != nil {
			t.Fatal(c.Err)
		}
		for i := range c.Trace.Events {
			e := &c.Trace.Events[i]
			if e.Kind != trace.KindSend {
				continue
			}
			for _, word := range e.Args {
				if name := strings.ToUpper(word); (word == e.Args[0] || option.MatchString(word)) && !known[name] {
					known[name] = true
					if _, err := explain(name); err != nil {
						t.Errorf("%s under %s sends %s: %s", c.Strategy.Name, c.Scenario.Name, trace.CommandText(e.Args), err)
					}
				}
			}
		}
	}
	if !known["PX"] || !known["DEL"] {
		t.Errorf("no run has shown PX and DEL: %v", known)
	}
}

// Every sign's meaning has a word that can be looked up, unless it is everyday English.
func TestLegendIsExplained(t *testing.T) {
	everyday := []string{"runs", "resumes", "time passes, not to scale", "very much time passes", "you are here"}
	theme := draw.NewTheme(lipgloss.NewRenderer(io.Discard), true, false)
	for _, s := range pane.Legend(&theme.Glyphs, nil) {
		terms := trace.TermsIn(s[1])
		if len(terms) == 0 && !slices.Contains(everyday, s[1]) {
			t.Errorf("%q has no word that can be looked up", s[1])
		}
		for _, w := range terms {
			if text, err := explain(w.Name); err != nil || !strings.Contains(text, w.Meaning[:10]) {
				t.Errorf("%s: %v, %s", w.Name, err, text)
			}
		}
	}
	for _, word := range strings.Fields("n1 n3 PX NX switch step probe move fault believers resource redis thinks does broken") {
		if _, err := explain(word); err != nil {
			t.Error(err)
		}
	}
}
