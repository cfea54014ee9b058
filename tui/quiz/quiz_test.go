package quiz

import (
	"regexp"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/tuitest"
)

// TestChoicesInColumns: short choices stand side by side, in as few rows as have room for them, and long ones below each other.
func TestChoicesInColumns(t *testing.T) {
	for _, c := range []struct {
		choices, want string
	}{
		{"A/B/C/D", "   1 A  2 B  3 C  4 D"},
		{"A's record/B's record/C's record/none", "   1 A's record  2 B's record|   3 C's record  4 none"},
		{"A has it, and B/nobody at all", "   1 A has it, and B|   2 nobody at all"},
	} {
		lines := draw.Paragraphs{Width: 33}
		list(&lines, strings.Split(c.choices, "/"), Columns)
		var got []string
		for _, l := range lines.Lines {
			got = append(got, tuitest.LineText(l))
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%s: %q", c.choices, s)
		}
	}
}

// instant is that which a question is about, in its words.
var instant = regexp.MustCompile(`(?:At |returned \()([0-9.]+(?:ms|s|m|h|µs))`)

// TestAnswersAreToldWithTheirInstant: over the whole course, wherever the answer to a question is told with the question, it is that of the instant that
// is told with it.
func TestAnswersAreToldWithTheirInstant(t *testing.T) {
	checked := 0
	for _, lesson := range scenarios.Course() {
		for _, step := range lesson.Steps {
			sc, err := scenarios.Find(step.Scenario)
			if err != nil {
				t.Fatal(err)
			}
			st, err := scenarios.FindStrategy(step.Strategy)
			if err != nil {
				t.Fatal(err)
			}
			made, err := sc.Run(st, 1)
			if err != nil {
				t.Fatal(err)
			}
			run := timeline.New(made)
			for _, stays := range []bool{false, true} {
				z := Of(run)
				z.stays = stays
				for i := range z.all {
					q := &z.all[i]
					if !q.Script || q.Right < 0 || strings.Contains(q.Lead, "worst") {
						continue
					}
					for _, told := range []string{z.truth(q), z.untold(q), z.stated(q, "", "You said: x.")} {
						checked++
						m := instant.FindStringSubmatch(told)
						if m == nil {
							t.Errorf("%s under %s: %q has no instant", st.Name, sc.Name, told)
						} else if !trueAt(run, m[1], q.Choices[q.Right]) {
							t.Errorf("%s under %s: %q is not so at %s", st.Name, sc.Name, told, m[1])
						}
					}
				}
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d answers", checked)
	}
}

// trueAt reports whether an answer is that of a position in an instant.
func trueAt(run *timeline.Timeline, at, answer string) bool {
	for pos := 1; pos <= run.Last(); pos++ {
		if trace.Brief(run.When(pos)) != at && trace.Brief(run.Now(pos)) != at {
			continue
		}
		var believers, records []string
		m := &run.Moments[pos]
		for c := range m.Clients {
			if m.Clients[c].Believed {
				believers = append(believers, run.Clients[c])
			}
			for n := range m.Nodes {
				if m.Nodes[n].Present && m.Nodes[n].Owner == c {
					records = append(records, run.Clients[c]+"'s record")
					break
				}
			}
		}
		if len(believers) == 0 {
			believers = []string{"nobody"}
		}
		if len(records) == 0 {
			records = []string{trace.NoRecord}
		}
		if answer == trace.List(believers) || answer == trace.List(records) {
			return true
		}
	}
	return false
}
