package behaviour

import (
	"errors"
	"fmt"
	"time"

	"lockstep/sim/explore/driver"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// The errors of locks that a search can't follow: see package unfit.
type (
	Refusal        = unfit.Refusal
	Nondeterminism = unfit.Nondeterminism
	Endless        = unfit.Endless
	Remembering    = unfit.Remembering
	Unlike         = unfit.Unlike
)

func at(s trace.Source) string { return unfit.At(s) }

// MaxSpan is the longest sleep, TTL or timeout that a search can represent: it counts in 32
// bits of milliseconds, and adds up a few such spans.
const MaxSpan = 48 * time.Hour

// maxDeadline bounds how far ahead of its cycle's first reading a lease's deadline can be. A cycle can take several spans.
const maxDeadline = 5 * MaxSpan

// MaxConns is the number of connections that one client can use within a cycle: states have a bit for each.
const MaxConns = 16

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
	return k.lineBy(id, thread)
}

// lineBy finds the line of a thread's operation at a history, or nothing if that is 0.
func (k *Clients) lineBy(id uint32, thread int) trace.Source {
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

// Outlives refuses a lock of which a thread sleeps on, at a history, when its client would ask again.
func (k *Clients) Outlives(id uint32, thread int) error {
	return &Refusal{Client: k.name(int(k.At(id).client)), What: "a thread that sleeps when its cycle is over", Source: k.lineBy(id, thread),
		Why: "without a bound on cycles a client asks again when its threads have ended, and this one could meet with what the next cycle does; end it in Release, by cancelling the context of its sleep, or search within a bound on cycles"}
}

// LeavesOpen is the error of a client whose cycle ends, after a history, though a command has something open on a connection.
func (k *Clients) LeavesOpen(id uint32, command string) error {
	if !k.memory.Uncounted {
		return unfit.ErrStaysOpen
	}
	return &Refusal{Client: k.name(k.At(id).client), What: "a " + command + " that is open when its cycle is over", Source: k.lineBy(id, 0),
		Why: "without a bound on cycles a client has new connections in each; end it by EXEC, DISCARD, UNWATCH or Close, or search within a bound on cycles"}
}

// unfit returns the reason why a search can't represent an operation, or nil.
func (k *Clients) unfit(client, thread int, op driver.Operation) error {
	refuse := func(what, why string) error {
		return &unfitOperation{Refusal{Client: k.name(client), What: what, Why: why}, thread}
	}
	switch {
	case op.Over:
		return nil
	case op.Conn >= MaxConns:
		return refuse(fmt.Sprintf("connection number %d", op.Conn+1), fmt.Sprintf("it follows %d of a client within a cycle; use one and keep it", MaxConns))
	case op.Kind == process.OpDraw && k.memory.Uncounted:
		return refuse("a random number", "without a bound on cycles it can't choose between all that there are, and which of them matter may show much later; draw nothing but tokens (no jitter), or search within a bound on cycles")
	case op.Timeout != 0:
		return refuse("a wait with a timeout of its own", "it knows the timeout of its bounds alone; leave out WithTimeout, and set Strategy.Timeout")
	case op.Sleep%time.Millisecond != 0:
		return unfit.ErrFraction
	case op.Wait > 0 && op.Wait%time.Millisecond != 0:
		return refuse("a wait of "+op.Wait.String(), "it counts in whole milliseconds; pass such a timeout")
	case op.Wait > MaxSpan:
		return refuse("a wait of "+trace.Duration(op.Wait), "it counts up to "+trace.Duration(MaxSpan)+"; use a shorter timeout, or none")
	case op.Sleep > MaxSpan && client < len(k.cfg.Clients):
		return refuse("a sleep of "+trace.Duration(op.Sleep), "it counts up to "+trace.Duration(MaxSpan)+"; use a shorter one")
	}
	return nil
}

// sleepOf returns a sleep in milliseconds. The probe's may be longer than a search counts:
// it is ended by the search, and not by time.
func sleepOf(op driver.Operation) int32 { return int32(min(op.Sleep, MaxSpan) / time.Millisecond) }

// waitOf returns the timeout that a call has set for its wait, in milliseconds, or Forever.
func waitOf(op driver.Operation) int32 {
	if op.Wait == process.Forever {
		return Forever
	}
	return int32(op.Wait / time.Millisecond)
}

// deadlineOf returns a lease's deadline in milliseconds since the cycle's first reading. It is
// rounded up, which is exact: time stands still at whole milliseconds only, and at those a
// lease is live before its deadline if and only if it is before the next whole one. Of the probe it
// only counts that it has a lease: it may have waited for longer than a search counts.
func (k *Clients) deadlineOf(client int, since time.Duration) (int32, error) {
	if within := max(-maxDeadline, min(maxDeadline, since)); client >= len(k.cfg.Clients) {
		since = within
	} else if since != within {
		return 0, &Refusal{Client: k.name(client), What: "a lease with a deadline " + since.String() + " after the cycle's first reading of the clock",
			Why: "it counts up to " + trace.Duration(maxDeadline) + "; use a shorter TTL, and the monotonic clock"}
	}
	millis := since / time.Millisecond // towards 0
	if since%time.Millisecond > 0 {
		millis++
	}
	return int32(millis), nil
}

// located adds to a refusal the line of the operation that a thread performs by a
// transition, or after it is about to perform.
func (k *Clients) located(r *replayer, tr Transition, err error) error {
	refusal, is := err.(*unfitOperation)
	if !is {
		if refusal, is := err.(*Refusal); is {
			refusal.Source = k.lineAt(r, k.pathTo(tr.From), int(tr.Thread))
		}
		return err
	}
	r.driver.RecordSources(true)
	defer r.driver.RecordSources(false)
	if _, err := k.walk(r, k.pathTo(tr.From)); err == nil {
		if _, err := k.feed(r, k.At(tr.From).client, tr); err == nil {
			refusal.Source = r.driver.Operation(refusal.thread).Source
		}
	}
	return &refusal.Refusal
}

// unfitOperation is the refusal of the next operation of a thread.
type unfitOperation struct {
	Refusal
	thread int
}

// Unwrap returns the refusal.
func (u *unfitOperation) Unwrap() error { return &u.Refusal }

// unseen refuses a lock with a field that a fingerprint can't look into.
func (k *Clients) unseen(client int, err error) error {
	var u *driver.Unseen
	if !errors.As(err, &u) {
		return err
	}
	return &Refusal{Client: k.name(client), What: u.Error(),
		Why: "it can't see what that holds from one cycle to the next; keep it in a plain field, a map, or behind a pointer or an atomic.Pointer, or set Remembers"}
}
