package scenarios_test

import (
	"regexp"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// A reason that says over what a client writes is true of the run: the other one's last access before that is the read, or the write.
func TestReasonsSayOverWhatIsWritten(t *testing.T) {
	said := regexp.MustCompile(`writes over what ([A-Z]\w*) has (read|written)`)
	checked := 0
	for _, s := range scenarios.All() {
		for _, st := range strategies.All() {
			reason := s.Because(st.Name)
			for _, m := range said.FindAllStringSubmatch(reason, -1) {
				run := scenarios.Ran(t, s.Name, st.Name)
				checked++
				last, so := trace.Kind(0), false
				for i := range run.Events {
					switch e := &run.Events[i]; {
					case e.Kind != trace.KindRead && e.Kind != trace.KindWrite:
					case run.Clients[e.Client] == m[1]:
						last = e.Kind
					case e.Kind == trace.KindWrite && last == map[string]trace.Kind{"read": trace.KindRead, "written": trace.KindWrite}[m[2]]:
						so = true
					}
				}
				if !so {
					t.Errorf("%s under %s: %q is not so", st.Name, s.Name, m[0])
				}
			}
		}
	}
	if checked == 0 {
		t.Error("no reason says that")
	}
}
