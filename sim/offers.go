package sim

import "lockstep/sim/fault"

// Offer is a fault that a person can choose in the sandbox.
type Offer struct {
	Does  string // goes on with a sentence that begins with the actor's name
	Fault fault.Fault
}

// Offers lists the menu's faults of a client or a server, by its name. It leaves out faults
// that would change nothing now. It lists faults that can't happen now for another reason,
// so that the menu doesn't change with every message.
func (w *World) Offers(actor string) (offers []Offer) {
	of := fault.ParamNode
	if _, is := w.Client(actor); is {
		of = fault.ParamClient
	}
	for _, kind := range fault.Kinds() {
		for _, item := range kind.Menu {
			if kind.Params()[0].Type != of {
				continue
			}
			f := item.Make(actor)
			if _, idle := w.Enabled(f).(NoEffect); !idle {
				offers = append(offers, Offer{item.Does, f})
			}
		}
	}
	return offers
}
