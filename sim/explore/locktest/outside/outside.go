// Package outside reads the source of a lock for resources that a search doesn't have: the machine's clock,
// its timers and sleeps, numbers drawn at random, files, processes and networks, the names of
// process and machine, and variables that all clients would share.
//
// A search runs the lock's code, but it can't see such a call: no time passes in it, and its
// result isn't the client's own. So a lock that takes over where time.Since is five seconds would
// never take over, and hold. [Find] says where a lock does such things, so that nobody is told that
// it holds.
//
// It reads the test that runs, by golang.org/x/tools: the tested package with its tests, and those
// packages among all that these import which the lock's code gets to. Of Go's own, go-redis and the simulator's only the
// types are known. If any of it can't be read, it says so, and nothing is decided.
//
// There are three kinds of code. Code that runs later is the lock's: Acquire, Release, Extend, the
// functions that a made lock has in it, and all that these call or name; each use in it counts. The
// constructor's code runs early, once for each lock: the functions that it calls count, but a function that it only
// puts into a field is a default, which may be replaced; the real content of a made lock is seen by reflection,
// of one that was made for a single try. Code around the constructor, such as the test's, and code that sets packages'
// variables at first, isn't the lock's: there only the values from it count, once the lock's code looks at them.
//
// Functions, the types in interfaces, and whether memory is shared flow from place to place: through
// variables, parameters, results, closures, slices, maps and channels, and through the fields of structs, which are
// told apart by their type, not by the value that they are in. A call of an interface's method in
// the lock's code calls that of every type that later code makes an interface of, or that a made lock has in it.
// Functions that are handed to Go's own packages are called, and so are all methods of a type that is
// handed to them in an interface.
//
// A select counts if several of its channels may be ready, but for that of a context's end; and a loop over a map
// counts if it calls something that gets a context. Both are drawn by the runtime. Where else the lock does something
// for the order of a map, the search finds that it isn't deterministic wherever it runs that code again.
//
// Apart from that, it says where the lock's code changes memory that only a closure leads to, and that lives on from one
// cycle to the next (see [Found.Kept]). Memory behind a lock's fields isn't that. If a closure has captured the lock itself, or
// a value behind one of its pointers that is never set again, that is so as long as the constructor makes one value of
// the type, at one place; others of such a type count.
//
// Not seen are the machine's time zone in the texts of package time, memory that append writes behind the end of a
// shared slice, a context of all locks that one of them cancels, the output of a logger of all locks, and the content of
// a panic's value. A log that is written has no influence on a lock, and is no use.
package outside

import (
	"errors"
	"slices"
	"strings"
	"time"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Use is one use of a resource that a search doesn't have.
type Use struct {
	What   string       // such as "time.Now", or "the variable held"
	Why    string       // it is no use in a search, and what to do
	Source trace.Source // the line
	// Reason is why its author says that it doesn't matter, in a comment on the line that begins
	// with [Directive]; empty if there is none. Calls on such a line aren't followed.
	Reason string
}

// Directive begins a comment, at the end of a line, that gives the reason why the line's actions
// outside the search have no influence on the lock's.
const Directive = "//lockstep:outside"

// ErrNoSource is the error of Find for a program whose sources aren't on the machine, or aren't those that it
// was built from, or have errors.
var ErrNoSource = errors.New("its source can't be read")

// Found is the result of reading a lock's source, in the order of files and lines.
type Found struct {
	Uses []Use
	// Kept are the lines at which the lock's code changes memory that only a closure leads to, or a client of go-redis,
	// and that lives on from one cycle to the next: a search that doesn't allow for it (see explore.Bounds.Remembers)
	// takes it for nothing. Those that are excused are among the uses.
	Kept []Use
	// Spans are those that the lock's code could mean by its numbers, in whole milliseconds: random schedules
	// had better wait for these.
	Spans []time.Duration
}

// Find reads the source of a lock. It fails if that can't be read. A lock of the simulator's own kinds, a library in a bubble or another program, has
// a clock of its own there, and impossible operations are refused there: nothing of it is read.
func Find(s strategies.Strategy) (*Found, error) { return find(s, "") }

// find is Find which reads one of the simulator's own packages, too.
func find(s strategies.Strategy, wanted string) (*Found, error) {
	g := made(s)
	if path := g.constructor.pkg(); ours(path) && path != wanted && !g.foreign(wanted) {
		return &Found{}, nil
	}
	p, err := load(g.dirs(), wanted)
	for err == nil {
		var r *reader
		if r, err = p.reads(&g); err == nil && len(p.missing) == 0 {
			return &Found{sorted(r.uses), sorted(r.kept), r.spans()}, nil
		}
		if len(p.missing) > 0 { // again, with these
			p, err = p.more(wanted)
		}
	}
	return nil, err
}

// reads reads a lock.
func (p *program) reads(g *graph) (*reader, error) {
	p.Lock() // packages are built when they are needed
	defer p.Unlock()
	r := newReader(p, g)
	if err := r.roots(); err != nil {
		return nil, err
	}
	r.all()
	return r, nil
}

// foreign reports whether a lock has something in it that isn't the simulator's.
func (g *graph) foreign(wanted string) bool {
	for _, c := range g.fields {
		if path := c.function.pkg(); c.typ == nil && (!ours(path) || path == wanted) {
			return true
		}
	}
	for t := range g.types {
		if path := t.PkgPath(); !ours(path) || path == wanted {
			return true
		}
	}
	return false
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
