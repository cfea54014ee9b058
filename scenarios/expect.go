package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/suggest"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// expectation is the verdict that a scenario expects of one strategy.
type expectation struct {
	verdict trace.Verdict
	atLeast bool   // others may occur besides
	because string // the cause of the verdict in this schedule
	at      string // the file and line of that
	under   value  // the place where the strategy is named
	given   value  // that of the verdict
}

// expect reads a list of verdicts, each with the strategies that it is expected of and the
// reason. Strategies with the same verdict for different reasons stand in different
// entries.
func (l *loader) expect(v value) error {
	if v.what() != "a list" {
		return v.wants("a list of verdicts, each with the strategies under which it is expected")
	}
	l.s.expect = map[string]expectation{}
	var err error
	for _, item := range v.list() {
		err = both(err, l.expectOne(item))
	}
	return err
}

func (l *loader) expectOne(v value) error {
	var e expectation
	var under value
	several := false
	err := v.fields(map[string]func(value) error{
		"verdict": func(v value) (err error) {
			e.given, several = v, several || e.given.node != nil
			e.verdict, err = verdict(v, aVerdict)
			return err
		},
		"includes": func(v value) (err error) {
			e.given, e.atLeast, several = v, true, several || e.given.node != nil
			if e.verdict, err = verdict(v, "a code, or a list of codes"); err == nil && len(e.verdict) == 0 {
				err = v.errorf("\"includes\" has codes that occur, perhaps beside others; that none does is \"verdict: ok\"")
			}
			return err
		},
		"under": func(v value) error { under = v; return nil },
		"because": func(v value) error {
			e.at = v.place()
			return into(&e.because, value.sentence)(v)
		},
	})
	switch {
	case err == nil && several:
		return v.errorf("this entry has both: \"verdict\" lists all codes that occur, \"includes\" some of them")
	case err == nil && e.given.node == nil:
		return v.errorf("this entry has no verdict: ok, or a list of codes")
	case err == nil && under.node == nil:
		return v.errorf("this entry does not say under which strategies")
	case under.node == nil:
		return err
	}
	for _, s := range under.list() {
		name, wrong := s.strategy()
		if wrong != nil {
			err = both(err, wrong)
			continue
		}
		if _, again := l.s.expect[name]; again {
			return s.errorf("the verdict of %s is here twice", name)
		}
		e.under = s
		l.s.expect[name] = e
	}
	return err
}

// strategy is a lock's name.
func (v value) strategy() (string, error) {
	name, err := v.text("a strategy, or a list of them")
	if err != nil {
		return "", err
	}
	if name == "all" {
		return "", v.errorf("\"all\" is no lock: they are named one by one, as a list")
	}
	if _, err := FindStrategy(name); err != nil {
		return "", v.wrap(err)
	}
	return name, nil
}

// aVerdict names the values of a verdict.
const aVerdict = "ok, or a list of codes"

// verdict is ok, a code, or a list of codes; needs says which of them go here.
func verdict(v value, needs string) (trace.Verdict, error) {
	words := v.list()
	if len(words) == 0 {
		return nil, v.errorf("%s is empty: it needs %s", v.subject(), needs)
	}
	all := trace.Verdict{}
	for _, w := range words {
		codes, err := word(w, needs, func(s string) (trace.Verdict, error) {
			if all := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }); len(all) > 1 {
				return nil, fmt.Errorf("%q is no code: several are a list, as in [%s]", suggest.Clip(s), suggest.Clip(strings.Join(all, ", ")))
			}
			return ParseCode(s)
		})
		switch {
		case err != nil:
			return nil, err
		case len(codes) == 0 && len(words) > 1:
			return nil, w.errorf("\"ok\" is no code: it stands alone")
		case len(codes) == 1 && slices.Contains(all, codes[0]):
			return nil, w.errorf("%s is here twice", codes)
		}
		all = append(all, codes...)
	}
	return all.Sorted(), nil
}

// ParseCode reads a violation's code, or "ok", which is none.
func ParseCode(s string) (trace.Verdict, error) {
	if s == "ok" {
		return nil, nil
	}
	if c, found := trace.ParseCode(strings.ToUpper(s)); found {
		return trace.Verdict{c}, nil
	}
	return nil, suggest.Unknown("code", s, append(trace.Verdict(trace.Codes).Strings(), "ok"))
}

// Expect is the verdict that the scenario expects of a strategy, and whether it
// expects any.
func (s *Scenario) Expect(strategy string) (trace.Verdict, bool) {
	e, of := s.expected(strategy)
	return e.verdict, of != ""
}

// Meets reports whether a verdict is one that the scenario expects of a strategy. Where it expects nothing, every one is.
func (s *Scenario) Meets(strategy string, is trace.Verdict) bool {
	e, of := s.expected(strategy)
	return of == "" || e.verdict.Met(is, e.atLeast)
}

// ExpectsAtLeast reports whether other codes may occur besides those that it expects of a strategy.
func (s *Scenario) ExpectsAtLeast(strategy string) bool {
	e, _ := s.expected(strategy)
	return e.atLeast
}

// Because is why the scenario expects that verdict.
func (s *Scenario) Because(strategy string) string {
	e, _ := s.expected(strategy)
	return e.because
}

// BecauseAt is that of a script in a file, with its file and line.
func (s *Scenario) BecauseAt(strategy string) (at, because string) {
	e, of := s.expected(strategy)
	if of == "" || e.because == "" {
		return "", ""
	}
	return e.at, e.because
}

// ExpectsLike names the lock whose stated verdict a strategy shares because it is like
// that lock. It is "" where the scenario names the strategy itself, or expects nothing.
func (s *Scenario) ExpectsLike(strategy string) string {
	if _, of := s.expected(strategy); of != strategy {
		return of
	}
	return ""
}

// expected is the scenario's expectation of a strategy, and the strategy that it is stated
// for, or "" where there is none. A user's file has only the expectations that it states.
// A built-in scenario covers the whole catalogue: a lock that it doesn't name is expected
// to fare as the one that it is like, for the same reason, told with its own commands.
func (s *Scenario) expected(strategy string) (e expectation, of string) {
	stated := func(name string) bool {
		_, is := s.expect[name]
		return is
	}
	switch {
	case s.builtin:
		of = strategies.Nearest(strategy, stated)
	case stated(strategy):
		of = strategy
	}
	e = s.expect[of]
	e.because = strategies.Reworded(strategy, of, e.because)
	return e, of
}
