// Package unfit has the errors of locks that a search can't follow, or not in the model that it has of them.
package unfit

import (
	"errors"
	"fmt"

	"lockstep/sim/trace"
)

// ErrTimed is the error of an untimed model when a client first reads its wall clock, or
// a command first reads a server's clock: the search has to begin again with true time in
// its states.
var ErrTimed = errors.New("true time matters")

// ErrFraction is the error of a client that sleeps for a fraction of a millisecond, in a
// configuration whose timers have no resolution: the search has to begin again with one.
var ErrFraction = errors.New("a sleep is no whole number of milliseconds")

// ErrStaysOpen is the error of a client that leaves something open on a connection at the end of its cycle, a
// subscription or a WATCH, in a model in which its connections end with that: the search has to begin again with
// histories that don't join there.
var ErrStaysOpen = errors.New("what a connection has open outlives its cycle")

// ErrRestless is the error of a search without a bound on cycles that meets true time.
var ErrRestless = errors.New("the lock reads a clock that shows true time, which grows from cycle to cycle: a search of it needs a bound on cycles")

// ErrCutShort is the error of a search without a bound on cycles whose time or memory was used up before it could begin:
// it decides nothing, and nothing is wrong with it.
var ErrCutShort = errors.New("a search without a bound on cycles begins with one of 2 clients within small bounds, which is kept in memory and didn't come to its end")

// ErrWokeEarly is the error of a search in which waits may end at any time, and which decides nothing so.
var ErrWokeEarly = errors.New("where waits may end at any time, the lock is not seen to hold")

// ErrDropped is the error of a client that reads its clock although it was not known to.
var ErrDropped = errors.New("a span since a reading was dropped that is still needed")

// ErrKeepsReadings is the error of a lock that keeps readings of its clock from one cycle to
// the next, in a model in which clocks make a leap then.
var ErrKeepsReadings = errors.New("the lock keeps readings of a clock from one cycle to the next")

// ErrFine is the error of a grid with too many multiples.
var ErrFine = errors.New("the lock's spans make too many instants")

// ByName is the error of a search that has taken the names of clients for interchangeable. If they aren't, it may be none
// of the lock's: the search has to begin again with states that differ in names.
type ByName struct{ Cause error }

// Error returns the cause.
func (e *ByName) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *ByName) Unwrap() error { return e.Cause }

// Unlearned is the reason why a search's instants may not suffice.
type Unlearned string

// Error returns the reason.
func (e Unlearned) Error() string { return string(e) }

// IsUnlearned reports whether an error ends a search for the sake of its instants alone.
func IsUnlearned(err error) bool {
	_, is := err.(Unlearned) //nolint:errorlint // it is never wrapped
	return is
}

// Refusal is the error of a lock that does something of which the search has no model. To
// search on would be to claim something of schedules that nobody has looked at.
type Refusal struct {
	Client string       // its name
	What   string       // the command, or another action of the client
	Why    string       // the reason, and what to do
	Source trace.Source // the line of the lock's code, if it is known
}

// Error names the refused action, the client and the line, and says what to do.
func (r *Refusal) Error() string {
	return fmt.Sprintf("the search can't follow %s of %s%s: %s", r.What, r.Client, At(r.Source), r.Why)
}

// Nondeterminism is the error of a strategy that does different things after the same
// observations: it depends on a global variable, on package time, on the order of a map.
type Nondeterminism struct {
	Client      string       // its name
	Once, Again string       // the two operations, in words
	Source      trace.Source // the line of one of the two, if it is known
}

// Error names the client and the two operations.
func (n *Nondeterminism) Error() string {
	return fmt.Sprintf("the lock is not deterministic%s: having seen the same, %s once goes on with %s and once with %s; "+
		"does it look at a global variable, at package time or rand, at the order of a map?", At(n.Source), n.Client, n.Once, n.Again)
}

// Endless is the error of a strategy that never comes to an end within a cycle.
type Endless struct {
	Client     string       // its name
	Operations int          // how many it had performed when it was given up
	Source     trace.Source // the line of the last, if it is known
}

// Error names the client and the number of its operations.
func (e *Endless) Error() string {
	return fmt.Sprintf("%s has done %d operations and comes to no end%s: nothing that it sees stops it; "+
		"a lock must give up after a number of tries, such as Options.Retry.Tries", e.Client, e.Operations, At(e.Source))
}

// At returns a line as part of a sentence, " at FILE:LINE", or nothing.
func At(s trace.Source) string {
	if s.File == "" {
		return ""
	}
	return fmt.Sprintf(" at %s:%d", s.File, s.Line)
}

// Remembering is the error of a lock that knows more of earlier cycles than its fields show:
// variables that a closure has captured, a variable of the package. Two of its histories were
// joined, because the fields were equal, and then it went on in two ways.
type Remembering struct {
	Client      string       // its name
	Once, Again string       // how it goes on, in words
	Source      trace.Source // the line of one of the two, if it is known
}

// Error names the client and the two operations.
func (r *Remembering) Error() string {
	return fmt.Sprintf("the lock keeps something from one cycle to the next that its fields don't show%s: with equal fields, %s goes on once with %s and once with %s; "+
		"does it keep a variable in a closure, or in its package? Keep it in a field", At(r.Source), r.Client, r.Once, r.Again)
}

// Unlike is the error of a lock for which other names make a difference. A search without a
// bound on cycles takes the names of tokens, and of clients, for interchangeable.
type Unlike struct {
	Client      string // its name
	Once, Again string // the outcomes of equal observations under the two names, in words
	Source      trace.Source
}

// Error names the difference, and says what to do.
func (u *Unlike) Error() string {
	return "the lock does " + u.Difference() + "; " +
		"a search without a bound on cycles needs code that compares tokens for nothing but equality: search within a bound on cycles"
}

// Difference is the difference as part of a sentence.
func (u *Unlike) Difference() string {
	return fmt.Sprintf("otherwise with other tokens%s: after the same observations but for the names of tokens and clients, %s once goes on with %s and once with %s",
		At(u.Source), u.Client, u.Once, u.Again)
}
