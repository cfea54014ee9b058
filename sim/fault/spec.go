package fault

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim/parse"
	"lockstep/sim/trace"
)

// Spec describes one kind of fault. The engine, schedules, scripts, their reference, saved
// scenarios, random schedules, the sandbox's menu and the search's list of omitted faults all
// follow this one description: see [Kinds].
type Spec struct {
	Word  string     // the kind's word in schedules
	Step  string     // its key in scripts, with the value if that is always the same; empty if scripts don't have it
	Many  string     // its plural, for a search's list of the faults that its schedules don't have
	Says  string     // a sentence for a narration, with %s for the first parameter; empty if the event's text suffices
	Event trace.Kind // the event that it emits, by which timelines mark it; KindNone if it emits none
	Ends  bool       // it undoes another fault, and so is not listed among a search's omissions
	Cache bool       // it concerns the database behind a cache, and no other workload
	Menu  []MenuItem // its entries in the sandbox's menu, or scriptsOnly

	// Example is the step in a script, beginning with its key, and Means its effect.
	// They are the kind's row in the table of steps of docs/scenarios.md, which editors and the
	// program show, too. Kinds with the same key share that row: Means of the second follows its
	// Example there, behind those of the first. Both are empty if scripts don't have the kind.
	Example, Means string

	// Breaks is the assumption of the claims about locks that a fault of this kind can
	// break: see package claims. It is empty if a right lock has to bear the fault.
	Breaks string

	params []Param
	of     func(Fault) ([]Param, bool)
	parse  func(*parse.Fields) Fault
}

// MenuItem is an entry of the sandbox's menu: a fault by its effect.
type MenuItem struct {
	Does string                   // goes on with a sentence that begins with the actor's name: "crashes"
	Make func(actor string) Fault // actor names a client if the kind's first parameter is one, otherwise a server
}

// scriptsOnly is the menu of a kind that the sandbox leaves to scripts.
var scriptsOnly = []MenuItem{}

// ParamType is the type of a fault's parameter.
type ParamType uint8

// The types of parameters. A schedule has names as they are.
const (
	ParamClient    ParamType = iota // a client's name
	ParamClients                    // several of them, or none
	ParamNode                       // a server's name
	ParamReplica                    // the name of a server that is a replica
	ParamHalf                       // the request of an exchange, or its reply
	ParamDirection                  // of a link
	ParamSpan                       // a duration of 0 or more
	ParamJump                       // the distance of a clock's jump: back if it is negative
	ParamCount                      // an ordinal number, from 1
)

// Param is one parameter of a kind of fault.
type Param struct {
	Type     ParamType
	Key      string // its key in a script; empty if it is the step's own value
	Optional bool   // a script may leave it out; the loader has its default

	omitted bool // it is the last, and schedules leave it out if it is 1
	to      any  // the fault's field
}

func (p Param) optional() Param {
	p.Optional = true
	return p
}

// last makes a count optional, in scripts and schedules.
func (p Param) last() Param {
	p.Optional, p.omitted = true, true
	return p
}

// The constructors of parameters bind each to the fault's field.
func withClient(key string, to *string) Param { return Param{Type: ParamClient, Key: key, to: to} }
func withClients(key string, to *[]string) Param {
	return Param{Type: ParamClients, Key: key, Optional: true, to: to}
}
func withNode(key string, to *string) Param    { return Param{Type: ParamNode, Key: key, to: to} }
func withReplica(key string, to *string) Param { return Param{Type: ParamReplica, Key: key, to: to} }
func withDirection(key string, to *Direction) Param {
	return Param{Type: ParamDirection, Key: key, Optional: true, to: to}
}
func withCount(key string, to *int) Param {
	return Param{Type: ParamCount, Key: key, Optional: true, to: to}
}
func withSpan(key string, to *time.Duration) Param { return Param{Type: ParamSpan, Key: key, to: to} }
func withJump(key string, to *time.Duration) Param { return Param{Type: ParamJump, Key: key, to: to} }

// withHalf has no key of its own: in scripts the client's key is the half's word.
func withHalf(to *bool) Param { return Param{Type: ParamHalf, to: to} }

// spec completes a description with the parameters of the fault's type.
func spec[T Fault](s Spec, params func(*T) []Param) Spec {
	s.params = params(new(T))
	s.of = func(f Fault) ([]Param, bool) {
		own, is := f.(T)
		return params(&own), is
	}
	s.parse = func(f *parse.Fields) Fault {
		own := new(T)
		for _, p := range params(own) {
			p.read(f)
		}
		return *own
	}
	return s
}

// read takes the parameter's word from a schedule.
func (p Param) read(f *parse.Fields) {
	switch to := p.to.(type) {
	case *string:
		*to = f.Next()
	case *[]string:
		*to = f.Names()
	case *bool:
		parse.Read(f, to, halfOf)
	case *Direction:
		parse.Read(f, to, ParseDirection)
	case *int:
		parse.Read(f, to, parse.Number)
	case *time.Duration:
		if p.Type == ParamJump {
			readJump(f, to)
		} else {
			readSpan(f, to)
		}
	}
}

// text is the parameter's word in a schedule.
func (p Param) text() string {
	switch v := p.to.(type) {
	case *string:
		return *v
	case *[]string:
		if len(*v) == 0 {
			return "-"
		}
		return strings.Join(*v, "+")
	case *bool:
		return Half(*v)
	case *Direction:
		return v.String()
	case *int:
		return fmt.Sprint(*v)
	case *time.Duration:
		return v.String()
	}
	panic("fault: a parameter of no type")
}

// Kinds lists the kinds of fault, in the order of their table.
func Kinds() []Spec { return slices.Clone(table) }

// SpecOf returns the description of a fault's kind.
func SpecOf(f Fault) Spec {
	s, _ := specOf(f)
	return *s
}

func specOf(f Fault) (*Spec, []Param) {
	for i := range table {
		if params, is := table[i].of(f); is {
			return &table[i], params
		}
	}
	panic(fmt.Sprintf("fault: a fault of no kind: %T", f))
}

// Params lists the parameters of faults of this kind, in the order of schedules.
func (s *Spec) Params() []Param { return slices.Clone(s.params) }

// Args returns a fault's parameters as words of a schedule, in the order of
// [Spec.Params].
func Args(f Fault) []string {
	_, params := specOf(f)
	args := make([]string, len(params))
	for i, p := range params {
		args[i] = p.text()
	}
	return args
}

// Make returns the fault of this kind with these parameters: it is the inverse of [Args]. A
// count that schedules leave out may lack.
// Its error names a parameter that cannot be read, or a wrong number of them.
func (s *Spec) Make(args ...string) (Fault, error) {
	parts := parse.Fields{Parts: slices.Clone(args)}
	if n := len(s.params); n == len(args)+1 && s.params[n-1].omitted {
		parts.Parts = append(parts.Parts, "1")
	}
	parts.Expect(len(s.params))
	f := s.parse(&parts)
	return f, parts.Err
}

// text is a fault's form in a schedule.
func text(f Fault) string {
	s, params := specOf(f)
	text := s.Word
	for _, p := range params {
		if n, is := p.to.(*int); is && p.omitted && *n <= 1 {
			continue
		}
		text += "/" + p.text()
	}
	return text
}

// Parse reads a fault in the form of its String. Its errors name the wrong word.
func Parse(text string) (Fault, error) {
	name, rest, _ := strings.Cut(text, "/")
	known := make([]string, len(table))
	for i := range table {
		if known[i] = table[i].Word; known[i] == name {
			var args []string
			if rest != "" {
				args = strings.Split(rest, "/")
			}
			return table[i].Make(args...)
		}
	}
	return nil, fmt.Errorf("unknown fault %q: it is one of %s", name, strings.Join(known, ", "))
}

// Half is the word of a half of an exchange: the request, or its reply.
func Half(reply bool) string {
	if reply {
		return "reply"
	}
	return "request"
}

// CheckJump checks that a clock that is off already, and jumps, stays within the bounds of a configuration, outside of which it
// could overflow.
func CheckJump(offset, by time.Duration) error {
	if by < -trace.MaxSpan || by > trace.MaxSpan {
		return fmt.Errorf("cannot jump by %s, but by up to %s", by, trace.MaxSpan)
	}
	if off := offset + by; off < -trace.MaxSpan || off > trace.MaxSpan {
		return fmt.Errorf("would be off by %s, and can be by %s", off, trace.MaxSpan)
	}
	return nil
}

// CheckDelay checks the delay of a message.
func CheckDelay(d time.Duration) error {
	if d < 0 || d > trace.MaxSpan {
		return fmt.Errorf("a message cannot take %s: it can take 0s to %s", d, trace.MaxSpan)
	}
	return nil
}

// The types of words that only a run's faults and servers have.

func readSpan(f *parse.Fields, to *time.Duration) {
	parse.Read(f, to, parse.Duration)
	if f.Err == nil {
		f.Err = CheckDelay(*to)
	}
}

func readJump(f *parse.Fields, to *time.Duration) {
	parse.Read(f, to, parse.Duration)
	if f.Err == nil {
		f.Err = CheckJump(0, *to)
	}
}

// halfOf is the inverse of Half.
func halfOf(s string) (reply bool, err error) {
	switch s {
	case Half(true):
		return true, nil
	case Half(false):
		return false, nil
	}
	return false, fmt.Errorf("%q is neither request nor reply", s)
}
