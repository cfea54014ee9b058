// Package outside reads the source of a lock for what a search doesn't have: the machine's clock,
// its timers and sleeps, numbers drawn at random, files, processes and networks, the names of
// process and machine, and variables that all clients would share.
//
// A search runs the lock's code, but it can't see such a call: no time passes in it, and what it
// returns isn't the client's own. So a lock that takes over where time.Since is five seconds would
// never take over, and hold. [Find] says where a lock does such things, so that nobody is told that
// it holds.
//
// It follows the code from the lock's Acquire, Release and Extend, and from its constructor: through
// functions and methods of its package and of all packages that this imports, but for Go's own,
// go-redis, and the simulator's. Types come from go/types, which takes what is in those for
// unknown. Where a call goes through an interface, or its receiver has such an unknown type, all methods of
// the name count of those types that the made lock has in it or that the followed code names.
//
// It doesn't follow what Go's own packages and go-redis call back, but for functions that are passed
// as such, and the hooks of go-redis; nor a parameter that a closure has from the function around it;
// nor assembly, C, and package reflect.
package outside

import (
	"errors"
	"go/types"
	"slices"
	"strings"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Use is one use of what a search doesn't have.
type Use struct {
	What   string       // such as "time.Now", or "the variable held"
	Why    string       // it is no use in a search, and what to do
	Source trace.Source // the line
	// Reason is why its author says that it doesn't matter, in a comment on the line that begins
	// with [Directive]; empty if there is none. What such a line calls isn't followed.
	Reason string
}

// Directive begins a comment, at the end of a line, that gives the reason why what the line does
// outside the search has no influence on what the lock does.
const Directive = "//lockstep:outside"

// ErrNoSource is the error of Find for a program whose sources aren't on the machine, or that was
// built with -trimpath.
var ErrNoSource = errors.New("the lock's source isn't here to be read")

// Find reads the source of a lock. The uses are in the order of files and lines. It fails if the
// source can't be read. A lock of the simulator's own kinds, a library in a bubble or another program, has
// a clock of its own there, and what it can't do is refused there: nothing of it is read.
func Find(s strategies.Strategy) ([]Use, error) {
	g := made(s)
	r := &reader{uses: map[Use]bool{}, values: g.types, seen: map[body]bool{}, live: map[named]bool{}, dynamics: map[named]bool{},
		captives: map[*types.Var]bool{}, loader: newLoader()}
	for _, f := range g.roots {
		if err := r.root(f); err != nil {
			return nil, err
		}
	}
	if err := r.follow(); err != nil {
		return nil, err
	}
	for _, u := range g.uses {
		r.uses[u] = true
	}
	return sorted(r.uses), nil
}

func sorted(set map[Use]bool) []Use {
	var all []Use
	for u := range set {
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b Use) int {
		if c := strings.Compare(a.Source.File, b.Source.File); c != 0 {
			return c
		}
		if c := a.Source.Line - b.Source.Line; c != 0 {
			return c
		}
		return strings.Compare(a.What, b.What)
	})
	return all
}
