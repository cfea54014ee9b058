package behaviour

import (
	"errors"
	"fmt"

	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// Refusal is the error of a lock that does something of which the search has no model. To
// search on would be to claim something of schedules that nobody has looked at.
type Refusal struct {
	Client string       // its name
	What   string       // the command, or whatever else the client does
	Why    string       // the reason, and what to do
	Source trace.Source // the line of the lock's code, if it is known
}

// Error names what is refused, the client, the line and what to do.
func (r *Refusal) Error() string {
	return fmt.Sprintf("the search can't follow %s of %s%s: %s", r.What, r.Client, at(r.Source), r.Why)
}

// Refuse turns a server's error about a command that a thread of a client has sent into a
// [Refusal] with the line of code, and returns any other error as it is. The history is the
// one at which the client has sent the command, or a later one; 0 if it is no longer known.
func (k *Clients) Refuse(err error, client int, history uint32, thread int, command uint32) error {
	var u *redis.Unmodelled
	if !errors.As(err, &u) {
		return err
	}
	what := u.What
	if u.Script {
		what += " in a script"
	}
	return &Refusal{Client: k.name(client), What: what, Why: u.Why, Source: k.sourceOf(history, thread, command)}
}

// sourceOf finds the line from which a thread has sent a command: at a history, or at the
// last of its predecessors at which the thread was about to send it.
func (k *Clients) sourceOf(id uint32, thread int, command uint32) trace.Source {
	for ; id != 0; id = k.At(id).parent {
		if op := k.At(id).plan(thread); !op.Over && op.Kind == process.OpSend && op.Command == command {
			break
		}
	}
	if id == 0 {
		return trace.Source{}
	}
	r, err := k.take(id)
	if err != nil {
		return trace.Source{}
	}
	defer k.giveBack(r, nil) // after alone's end, for the order of locks
	defer k.alone()()
	r.at = nowhere
	return k.lineAt(r, k.pathTo(id), thread)
}
