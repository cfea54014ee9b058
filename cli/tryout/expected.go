package tryout

import (
	"fmt"
	"strconv"
	"strings"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// entry is a script's expectation of one lock, as its file has it.
type entry struct {
	verdict, lock, because string

	atLeast bool // it lists some of the codes
	another bool // the reason is that of another verdict
}

func entryOf(s *scenarios.Scenario, lock string, v trace.Verdict) entry {
	e := entry{verdict: "ok", lock: lock}
	if len(v) > 0 {
		e.verdict = "[" + strings.Join(v.Strings(), ", ") + "]"
	}
	if was, stated := s.Expect(lock); stated { // the reason is kept for another verdict as well: a paste loses nothing of the author's
		e.because = s.Because(lock)
		e.another = e.because != "" && !s.Meets(lock, v)
		if e.atLeast = s.ExpectsAtLeast(lock) && s.Meets(lock, v); e.atLeast {
			e.verdict = "[" + strings.Join(was.Strings(), ", ") + "]"
		}
	}
	return e
}

// reread asks the author for the reasons that were given for another verdict than came. It is empty if there are none.
func reread(all []entry) string {
	var locks []string
	for _, e := range all {
		if e.another {
			locks = append(locks, e.lock)
		}
	}
	switch len(locks) {
	case 0:
		return ""
	case 1:
		return ". The reason given for " + locks[0] + " was written for another verdict, so read it again"
	}
	return ". The reasons given for " + trace.List(locks) + " were written for other verdicts, so read them again"
}

// String is the entry as a line of the file's list.
func (e entry) String() string {
	key := "verdict"
	if e.atLeast {
		key = "includes"
	}
	text := fmt.Sprintf("- {%s: %s, under: [%s]", key, e.verdict, e.lock)
	if e.because != "" {
		text += ", because: " + strconv.Quote(e.because)
	}
	return text + "}"
}

// expectation is the part of a script in which it would expect the verdicts that came, to be put in the place of its own. Locks with the same
// verdict for the same reason share an entry.
func expectation(all []entry) string {
	var shared []entry
	for _, e := range all {
		with := -1
		for i := range shared {
			if shared[i].verdict == e.verdict && shared[i].atLeast == e.atLeast && shared[i].because == e.because {
				with = i
			}
		}
		if with < 0 {
			shared = append(shared, e)
			continue
		}
		shared[with].lock += ", " + e.lock
	}
	text := "expect:\n"
	for _, e := range shared {
		text += "  " + e.String() + "\n"
	}
	return text
}

// examples are the locks of which a script without expectations is told what it could expect.
var examples = []string{"naive-del", "setpx-lua"}

// expectable is the expectation that a script without one could have of the examples; it is empty if it can't be run with them.
func expectable(s *scenarios.Scenario) string {
	var all []entry
	for _, name := range examples {
		st, err := scenarios.FindStrategy(name)
		if err != nil {
			continue
		}
		if v, err := verdictOf(s, st); err == nil {
			all = append(all, entryOf(s, name, v))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return expectation(all)
}

func verdictOf(s *scenarios.Scenario, st strategies.Strategy) (trace.Verdict, error) {
	t, err := s.Run(st, 1)
	if err != nil {
		return nil, err
	}
	return t.Verdict(), nil
}

// toPaste introduces lines of a script with an instruction. The lines stand further in where they are a variant's.
func toPaste(s *scenarios.Scenario, why, then, lines string) string {
	where, indent := "", ""
	if variant := strings.TrimPrefix(s.Name, s.Path()+"."); variant != s.Name {
		where, indent = " of the variant "+variant, "    "
	}
	text := fmt.Sprintf("  %s%s; a \"verdict\" names every code that comes (\"includes: [SW]\" asks for some of them)%s:\n", why, where, then)
	for line := range strings.Lines(lines) {
		text += "\n" + strings.TrimRight(indent+line, "\n")
	}
	return text + "\n\n"
}
