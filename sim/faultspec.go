package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim/trace"
)

// FaultSpec describes one kind of fault. The engine, schedules, scripts, saved
// scenarios, random schedules, the sandbox's menu and the search's account of what
// it leaves out all follow this one description: see [Faults].
type FaultSpec struct {
	Word  string     // in schedules
	Step  string     // in scripts, with what it is done to if that is always the same; empty if no script says it
	Many  string     // several of them, as the results of a search list what is in none of its schedules
	Says  string     // a sentence for a narration, with %s for the first parameter; empty if the event tells
	Event trace.Kind // the event that it leaves, by which timelines mark it; KindNone if it leaves none
	Ends  bool       // it puts something right, and so is never what a schedule lacks
	Cache bool       // it is about the database behind a cache, and there is none under another workload
	Menu  []MenuItem // what the sandbox offers of it, or scriptsOnly

	params []Param
	of     func(Fault) ([]Param, bool)
	parse  func(*fields) Fault
}

// MenuItem is an entry of the sandbox's menu: a fault by its label.
type MenuItem struct {
	Label string
	Make  func(actor string) Fault // of a client if the kind's first parameter is one, else of a server
}

// scriptsOnly is the menu of a kind that the sandbox leaves to scripts.
var scriptsOnly = []MenuItem{}

// ParamType says what a fault's parameter is about.
type ParamType uint8

// The types of parameters. A name stands in a schedule as it is.
const (
	ParamClient    ParamType = iota // a client's name
	ParamClients                    // several of them, or none
	ParamNode                       // a server's name
	ParamReplica                    // the name of a server that is a replica
	ParamHalf                       // the request of an exchange, or its reply
	ParamDirection                  // of a link
	ParamSpan                       // how long something takes: 0 or more
	ParamJump                       // how far a clock jumps: forward, or back if it is negative
	ParamCount                      // which of several, from 1
)

// Param is one parameter of a kind of fault.
type Param struct {
	Type     ParamType
	Key      string // in a script; empty if it is the step's own value
	Optional bool   // a script may leave it out: see the loader for what it is then

	to any // the fault's field
}

func (p Param) optional() Param {
	p.Optional = true
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

// withHalf: it has no key of its own: in scripts the client's key is the half's word.
func withHalf(to *bool) Param { return Param{Type: ParamHalf, to: to} }

// spec completes a description with the parameters of the fault's type.
func spec[T Fault](s FaultSpec, params func(*T) []Param) FaultSpec {
	s.params = params(new(T))
	s.of = func(f Fault) ([]Param, bool) {
		own, is := f.(T)
		return params(&own), is
	}
	s.parse = func(words *fields) Fault {
		own := new(T)
		for _, p := range params(own) {
			p.read(words)
		}
		return *own
	}
	return s
}

// read takes the parameter's word from a schedule.
func (p Param) read(words *fields) {
	switch to := p.to.(type) {
	case *string:
		*to = words.word()
	case *[]string:
		*to = words.names()
	case *bool:
		*to = words.half()
	case *Direction:
		*to = words.direction()
	case *int:
		words.int(to)
	case *time.Duration:
		if p.Type == ParamJump {
			words.jump(to)
		} else {
			words.span(to)
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
		return halfName(*v)
	case *Direction:
		return v.String()
	case *int:
		return fmt.Sprint(*v)
	case *time.Duration:
		return v.String()
	}
	panic("sim: a parameter of no type")
}

// Faults lists the kinds of fault.
func Faults() []FaultSpec { return slices.Clone(faultTable) }

// SpecOf is the description of a fault's kind.
func SpecOf(f Fault) FaultSpec {
	s, _ := specOf(f)
	return *s
}

func specOf(f Fault) (*FaultSpec, []Param) {
	for i := range faultTable {
		if params, is := faultTable[i].of(f); is {
			return &faultTable[i], params
		}
	}
	panic(fmt.Sprintf("sim: a fault of no kind: %T", f))
}

// Params lists what a fault of this kind has, in the order of schedules.
func (s *FaultSpec) Params() []Param { return slices.Clone(s.params) }

// Args are a fault's parameters as words of a schedule, in the order of [FaultSpec.Params].
func Args(f Fault) []string {
	_, params := specOf(f)
	args := make([]string, len(params))
	for i, p := range params {
		args[i] = p.text()
	}
	return args
}

// Make is the fault of this kind with such parameters: the inverse of [Args].
func (s *FaultSpec) Make(args ...string) (Fault, error) {
	words := fields{parts: slices.Clone(args)}
	words.expect(len(s.params))
	f := s.parse(&words)
	return f, words.err
}

// faultText is a fault's form in a schedule.
func faultText(f Fault) string {
	s, params := specOf(f)
	text := s.Word
	for _, p := range params {
		text += "/" + p.text()
	}
	return text
}

// ParseFault reads a fault as its String prints it.
func ParseFault(text string) (Fault, error) {
	name, rest, _ := strings.Cut(text, "/")
	known := make([]string, len(faultTable))
	for i := range faultTable {
		if known[i] = faultTable[i].Word; known[i] == name {
			var args []string
			if rest != "" {
				args = strings.Split(rest, "/")
			}
			return faultTable[i].Make(args...)
		}
	}
	return nil, fmt.Errorf("unknown fault %q: it is one of %s", name, strings.Join(known, ", "))
}

// Offer is a fault that a person can choose, by its label.
type Offer struct {
	Label string
	Fault Fault
}

// Offers lists the menu's faults of a client or a server, by its name. Those that
// would change nothing now are left out; those that can't happen now for another
// reason are listed, so that the menu doesn't change with every message.
func (w *World) Offers(actor string) (offers []Offer) {
	of := ParamNode
	if _, is := w.Client(actor); is {
		of = ParamClient
	}
	for i := range faultTable {
		for _, item := range faultTable[i].Menu {
			if faultTable[i].params[0].Type != of {
				continue
			}
			f := item.Make(actor)
			if _, idle := w.Enabled(f).(NoEffect); !idle {
				offers = append(offers, Offer{item.Label, f})
			}
		}
	}
	return offers
}
