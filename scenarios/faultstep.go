package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/fault"
	"lockstep/sim/suggest"
	"lockstep/sim/trace"
)

// FaultStep is one form of a step that makes a kind of fault. Most kinds have one
// form; those about one half of an exchange have two, "request: A" and "reply: A".
// The loader reads, and the saver writes, all of them by their parameters.
type FaultStep struct {
	Spec   fault.Spec
	Key    string        // the word that the step begins with
	Object string        // the word after it, if that is always the same
	Params []fault.Param // in the order of schedules; that of a half has no key

	half string
}

// FaultSteps lists the forms of all kinds that scripts can say, by the steps' words.
func FaultSteps() map[string][]FaultStep {
	all := map[string][]FaultStep{}
	for _, s := range fault.Kinds() {
		if s.Step == "" {
			continue
		}
		key, object, _ := strings.Cut(s.Step, ": ")
		step := FaultStep{Spec: s, Key: key, Object: object, Params: s.Params()}
		if !slices.ContainsFunc(step.Params, isHalf) {
			all[key] = append(all[key], step)
			continue
		}
		for _, half := range []string{"request", "reply"} {
			step.half, step.Params = half, s.Params()
			step.Params[0].Key = half // whose it is
			all[key] = append(all[key], step)
		}
	}
	return all
}

func isHalf(param fault.Param) bool { return param.Type == fault.ParamHalf }

// Bare reports whether the step's own value is its object, or its first parameter.
func (s *FaultStep) Bare() bool { return len(s.Params) == 0 || s.Params[0].Key == "" }

// text is the step, with parameters as schedules write them.
func (s *FaultStep) text(args []string) string {
	own, more := s.Object, []string(nil)
	for i, param := range s.Params {
		text := args[i]
		if isHalf(param) || param.Optional && param.Type != fault.ParamSpan && text == usual[param.Type] {
			continue
		}
		if param.Type == fault.ParamClients {
			text = "[" + strings.ReplaceAll(text, "+", ", ") + "]"
		}
		if param.Key == "" {
			own = text
			continue
		}
		more = append(more, param.Key+": "+text)
	}
	switch {
	case !s.Bare():
		return s.Key + ": {" + strings.Join(more, ", ") + "}"
	case more == nil:
		return s.Key + ": " + own
	}
	return "{" + s.Key + ": " + own + ", " + strings.Join(more, ", ") + "}"
}

// usual is the value of an optional parameter in a step that leaves it out. A duration is
// never left out: 0s says more than nothing.
var usual = map[fault.ParamType]string{fault.ParamClients: "-", fault.ParamNode: "all", fault.ParamDirection: "both", fault.ParamCount: "1", fault.ParamSpan: "0s"}

// example is a complete step without optional parameters.
func (s *FaultStep) example() string {
	values := map[fault.ParamType]string{fault.ParamClient: "A", fault.ParamNode: "n1", fault.ParamReplica: "n1r1", fault.ParamSpan: "5s", fault.ParamJump: "12s"}
	step, args := *s, []string(nil)
	step.Params = slices.DeleteFunc(slices.Clone(s.Params), func(param fault.Param) bool { return param.Optional })
	for _, param := range step.Params {
		args = append(args, values[param.Type])
	}
	return step.text(args)
}

// faultStep is a fault in the language of scripts.
func faultStep(f fault.Fault) (string, error) {
	spec, args := fault.SpecOf(f), fault.Args(f)
	for _, steps := range FaultSteps() {
		for _, s := range steps {
			if s.Spec.Word == spec.Word && (s.half == "" || slices.Contains(args, s.half)) {
				return s.text(args), nil
			}
		}
	}
	return "", fmt.Errorf("a script has no words for %s", f)
}

// fault reads a step, which has one of the forms.
func (l *loader) fault(forms []FaultStep, v value, more []entry) (action, error) {
	given, known := map[string][]string{}, map[string]func(value) error{}
	for _, s := range forms {
		for _, param := range s.Params {
			if !isHalf(param) {
				known[param.Key] = func(v value) (err error) {
					given[param.Key], err = l.words(param, v, len(s.Params) == 1)
					return err
				}
			}
		}
	}
	own := known[""]
	delete(known, "")
	err := error(nil)
	switch {
	case forms[0].Object != "":
		err = l.object(&forms[0], v)
	case own != nil:
		err = own(v)
	default:
		err = v.fields(known)
		known = nil
	}
	if err == nil {
		err = rest(more, known)
	}
	if err != nil {
		return nil, err
	}
	return chosen(forms, v, given)
}

// chosen is the action of the form that has the given keys.
func chosen(forms []FaultStep, at value, given map[string][]string) (action, error) {
	wrong, examples := "these keys don't go together", []string(nil)
	for i := range forms {
		if forms[i].allows(given) {
			wrong, examples = "something is missing", append(examples, forms[i].example())
		}
		if forms[i].fits(given) {
			return forms[i].action(at, given)
		}
	}
	if examples == nil {
		for i := range forms {
			examples = append(examples, forms[i].example())
		}
	}
	return nil, at.errorf("%s: write %s", wrong, strings.Join(examples, ", or "))
}

// object reads a word that is always the same.
func (l *loader) object(s *FaultStep, v value) error {
	what, err := v.text("the word " + s.Object)
	switch {
	case err != nil:
		return err
	case what != s.Object:
		return v.wrap(suggest.Unknown("thing to "+s.Key, what, []string{s.Object}))
	case s.Spec.Cache && l.s.setup.workload != trace.Cache:
		return v.errorf("there is no database: it goes with \"workload: cache\"")
	}
	return nil
}

// words reads a parameter: one word as schedules write it, or a list of them where the
// step makes a fault for each.
func (l *loader) words(param fault.Param, v value, alone bool) (words []string, err error) {
	var word string
	switch param.Type {
	case fault.ParamClient:
		if param.Key == "" && alone {
			return l.clientList(v)
		}
		word, err = l.clientName(v)
	case fault.ParamClients:
		words, err = l.clientList(v)
		word = strings.Join(words, "+")
	case fault.ParamNode:
		return nodeList(v)
	case fault.ParamReplica:
		word, err = replicaName(v)
	case fault.ParamDirection:
		var d fault.Direction
		d, err = direction(v)
		word = d.String()
	case fault.ParamSpan:
		var d time.Duration
		d, err = notNegative(v)
		word = d.String()
	case fault.ParamJump:
		var d time.Duration
		if d, err = v.duration(); err == nil && d == 0 {
			err = v.errorf("%s is 0: a clock jumps forward, as by 12s, or back, as by -3s", v.subject())
		}
		word = d.String()
	case fault.ParamCount:
		var n int
		if n, err = v.integer(); err == nil && n < 1 {
			err = v.errorf("%s is %d, and counts from 1", v.subject(), n)
		}
		word = strconv.Itoa(n)
	default:
		return nil, v.errorf("scripts have no words for this parameter")
	}
	return []string{word}, err
}

func direction(v value) (fault.Direction, error) {
	return word(v, "a direction", named("direction", fault.ParseDirection, fault.Both, fault.Requests, fault.Replies))
}

// allows reports whether a step of this form can have these keys.
func (s *FaultStep) allows(given map[string][]string) bool {
	for key := range given {
		if !slices.ContainsFunc(s.Params, func(param fault.Param) bool { return param.Key == key && !isHalf(param) }) {
			return false
		}
	}
	return true
}

// fits reports whether these keys make a whole step of this form.
func (s *FaultStep) fits(given map[string][]string) bool {
	return s.allows(given) && !slices.ContainsFunc(s.Params, func(param fault.Param) bool {
		_, is := given[param.Key]
		return !is && !param.Optional && !isHalf(param)
	})
}

// action is the action of a step of this form.
func (s *FaultStep) action(at value, given map[string][]string) (action, error) {
	a := faultAction{step: s, args: make([]string, len(s.Params)), each: -1}
	for i, param := range s.Params {
		words, is := given[param.Key]
		if !is {
			words = []string{usual[param.Type]}
		}
		if isHalf(param) {
			words = []string{s.half}
		}
		if a.args[i] = words[0]; len(words) > 1 || param.Type == fault.ParamNode {
			a.each, a.names = i, words
		}
	}
	_, err := s.Spec.Make(a.args...)
	return a, at.wrap(err)
}

// faultAction is a fault, or one for each client or node of a list. Nodes are resolved
// when the step is due, because "pivot" depends on the strategy.
type faultAction struct {
	step  *FaultStep
	args  []string // as schedules write them
	each  int      // the parameter of which there is a list, or -1
	names []string // the list
}

func (a faultAction) do(r *runner) error {
	faults, missing, err := a.faults(r)
	if missing != nil {
		r.unmade(missing)
	}
	for _, f := range faults {
		if err := r.w.Inject(f); err != nil && !a.refused(r, f) {
			r.unmade(fmt.Errorf("%s: %w", a.step.Spec.Word, err))
		}
	}
	return err
}

// refused notes that a fault had nothing to act on as its client was refused the lock.
func (a faultAction) refused(r *runner, f fault.Fault) bool {
	client, is := r.w.Client(fault.Args(f)[0])
	return is && r.keptOut(client, fmt.Sprintf("so %q had nothing to act on.", a.step.Key))
}

// faults lists the faults that the step makes now; missing names those of its nodes that
// the strategy doesn't have.
func (a faultAction) faults(r *runner) (all []fault.Fault, missing, err error) {
	names := a.names
	if a.each < 0 {
		names = []string{""}
	} else if a.step.Params[a.each].Type == fault.ParamNode {
		names, missing = r.nodes(names)
	}
	for _, name := range names {
		args := slices.Clone(a.args)
		if a.each >= 0 {
			args[a.each] = name
		}
		f, err := a.step.Spec.Make(args...)
		if err != nil {
			return nil, missing, err
		}
		all = append(all, f)
	}
	return all, missing, nil
}
