// Package offers has the faults of a search as moves of the engine: for menus, and for random schedules.
package offers

import (
	"slices"
	"sync"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/space"
	"lockstep/sim/fault"
	"lockstep/sim/process"
)

// Offer is a fault that a person who schedules by hand can choose from a menu.
type Offer struct {
	Does  string     // goes on with a sentence that begins with the actor's name
	Next  bool       // it is of the client's next request, and Does goes on with a sentence of that
	Moves []sim.Move // without the client's step
}

// All lists the faults that client or node i can have within some bounds, in the order of
// the kinds of fault. If the moves made so far contain the first part of a fault in two
// parts, the second part is offered. Clocks jump by as much as the
// search has them jump, or its least schedules would take moves that are not in the menu.
func All(b *bounds.Bounds, client bool, i int, made []sim.Move) (offers []Offer) {
	done := func(o Offer) bool {
		return slices.ContainsFunc(made, func(mv sim.Move) bool { return mv.Fault != nil && mv.Fault.String() == o.Moves[0].Fault.String() })
	}
	var second [space.ChoiceKinds]bool // of a fault in two parts
	for k := range space.ChoiceKinds {
		second[k.Then()] = true
	}
	for kind, n := range b.Faults {
		for k := range space.ChoiceKinds {
			if n == 0 || k.Needs() != bounds.FaultKind(kind) || client == (k.Scope() == space.OfNode) || second[k] {
				continue
			}
			items := offered(k, uint8(i), b.ClockJump())
			if then := k.Then(); then != space.Acts && slices.ContainsFunc(items, done) {
				items = offered(then, uint8(i), b.ClockJump())
			}
			offers = append(offers, items...)
		}
	}
	return offers
}

// offered returns the items of a kind's menu for one client or node.
func offered(k space.ChoiceKind, who uint8, jump time.Duration) (offers []Offer) {
	m := &space.Model{}
	for _, name := range bounds.Names {
		m.Config.Clients = append(m.Config.Clients, process.Config{Name: name})
	}
	for _, item := range k.Menu() {
		item.Who, item.By = who, item.By*int32(jump/time.Millisecond)
		moves := slices.DeleteFunc(m.Play(item.Choice), func(mv sim.Move) bool { return mv.Fault == nil })
		offers = append(offers, Offer{item.Does, k.Scope() == space.OfStep, moves})
	}
	return offers
}

// KindOf returns the kind of fault that one of the engine's is in a search, or is a part of. It reports false if a search has
// none such, and of a fault that ends another.
func KindOf(f fault.Fault) (bounds.FaultKind, bool) {
	k, is := kindsOf()[fault.SpecOf(f).Word]
	return k, is
}

// kindsOf has the kinds by the words of the engine's faults.
var kindsOf = sync.OnceValue(func() map[string]bounds.FaultKind {
	kinds := map[string]bounds.FaultKind{}
	for k := range space.ChoiceKinds {
		for _, f := range k.Makes() {
			if s := fault.SpecOf(f); !s.Ends {
				kinds[s.Word] = k.Needs()
			}
		}
	}
	return kinds
})
