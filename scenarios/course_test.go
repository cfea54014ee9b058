package scenarios

import (
	"slices"
	"testing"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// Each text of the course claims something of its run, and the run shows it; and a
// step is one because it changes something.
func TestCourseIsTrue(t *testing.T) {
	testenv.LongRaced(t)
	seen := map[string]string{}
	for _, l := range Course() {
		for i, s := range l.Steps {
			if before := seen[s.ID()]; before != "" {
				t.Errorf("%s, step %d plays %s, which the lesson %s has played: its questions have been answered", l.Name, i+1, s.ID(), before)
			}
			seen[s.ID()] = l.Name
			tr := cell{s.Scenario, s.Strategy}.of(t)
			if got := tr.Verdict(); !slices.Equal(got, s.Verdict) {
				t.Errorf("%s, step %d, %s under %s: the course says %s, the run %s", l.Name, i+1, s.Strategy, s.Scenario, s.Verdict, got)
			}
			if i > 0 && slices.Equal(s.Verdict, l.Steps[i-1].Verdict) {
				t.Errorf("%s, step %d changes nothing", l.Name, i+1)
			}
		}
	}
}

// Where the story is that one client was paused, no other one looks paused: in these runs, of which the first is
// what the program opens on, nobody is kept from acting only because the script has another one act first.
func TestTheStoryAlonePauses(t *testing.T) {
	testenv.LongRaced(t)
	for _, scenario := range []string{"late-release", "release-gap", "pause-past-ttl"} {
		for _, lock := range []string{"naive-del", "get-then-del", "setpx-lua"} {
			tr := cell{scenario, lock}.of(t)
			for i := range tr.Events {
				if e := &tr.Events[i]; e.Kind == trace.KindPause && e.Note != "" {
					t.Errorf("%s under %s: %s", lock, scenario, timed(tr, e))
				}
			}
		}
	}
}

// The course is read as strictly as a scenario.
func TestCourseRefusals(t *testing.T) {
	const step = "      - {scenario: failover, strategy: redlock, verdict: ok, text: x}\n"
	in := func(steps string) string {
		return "lessons:\n  - name: a\n    title: b\n    text: c\n    steps:\n" + steps
	}
	const other = "      - {scenario: failover, strategy: setnx, verdict: [DG], text: x}\n"
	if _, err := readCourse("c.yaml", []byte(in(step+other))); err != nil {
		t.Fatalf("a course that is right: %v", err)
	}
	for _, tt := range []struct{ yaml, want string }{
		{"", "c.yaml:1: the file is empty; the course has lessons"},
		{"lessons: []\n", "c.yaml:1: the course has no lessons"},
		{"lessons: x\n", `c.yaml:1: "lessons" needs a list of lessons, and got "x"`},
		{"lesson: []\n", `c.yaml:1: unknown key "lesson"; did you mean "lessons"?`},
		{"lessons:\n  - name: a\n    titel: b\n", `c.yaml:3: unknown key "titel"; did you mean "title"?`},
		{"lessons:\n  - name: a\n", "c.yaml:2: a lesson has a name, a title and a text"},
		{in(step), "c.yaml:2: the lesson a has fewer than two steps: a step is there to differ from the one before"},
		{in(step + step), "c.yaml:7: failover/redlock is here twice: it is on line 6 already"},
		{in(step + "      - {scenario: failovr, strategy: setnx, verdict: ok, text: x}\n"), `c.yaml:7: unknown scenario "failovr"; did you mean "failover"?`},
		{in(step + "      - {scenario: failover, strategy: redlok, verdict: ok, text: x}\n"), `c.yaml:7: unknown lock "redlok"; did you mean "redlock"?`},
		{in(step + "      - {scenario: failover, strategy: setnx, verdict: DX, text: x}\n"), `c.yaml:7: unknown code "DX"; did you mean "DG"?`},
		{in(step + "      - {scenario: failover, strategy: setnx, text: x}\n"), "c.yaml:7: a step has a scenario, a strategy, a verdict and a text"},
		{in(step + other + step + "  - name: a\n    title: b\n    text: c\n    steps:\n" + step + other), "c.yaml:8: failover/redlock is here twice: it is on line 6 already"},
		{in(step+other) + in(step + other)[len("lessons:\n"):], "c.yaml:8: a is here twice: it is on line 2 already"},
	} {
		if _, err := readCourse("c.yaml", []byte(tt.yaml)); err == nil || err.Error() != tt.want {
			t.Errorf("%s\n got %v\nwant %s", tt.yaml, err, tt.want)
		}
	}
}
