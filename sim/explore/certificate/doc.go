// Package certificate checks the result of a search without bounds by means of the engine
// alone.
//
// # What it proves
//
// A certificate is a set of situations. The check takes the engine, sim.World, to each of them
// by its schedule, makes every move that the engine allows there, and writes down where each
// leads. If the situation in which every schedule begins is in the set, every move leads from
// the set into the set, and none breaks a rule that the certificate names, then the set is an
// inductive invariant: no schedule of these moves, however long, breaks one.
//
// The check shares nothing with the search: this package imports none of its packages. Of the
// search it takes the schedules, and for each client's past whether its code still depends
// on a span ([Needs]), which it checks at every step. That there are enough schedules, the
// check finds out by itself. Digests come from the engine, and not from the states of the
// search.
//
// # Moves
//
// A client performs its next operation; it does, and the reply is lost; its process ends and
// another takes its place; or time passes to the next multiple of a grid, even if a client could
// have acted. The check asks the engine which of them are possible.
//
// # Situations
//
// A situation is a text. It has, for each client: the results that its code has seen since its cycle
// began, and the contents of its lock's fields from earlier ones; its threads' next operations, and for how
// long they wait; its phase and its lease; and its connections. For each server it
// has the keys, with values, remaining lives and owners, and the scripts cached. Spans count
// from the situation's own instant in units of the grid; tokens have names by the order in
// which they occur; a lease ends at the first multiple of the grid from its deadline on.
// Readings of clocks that nothing depends on any more are left out.
//
// # What is trusted
//
// That runs with equal texts go on alike, up to the names of tokens and the instant: client
// code is a function of the results it has seen (a lock that keeps something in variables of closures
// isn't), compares tokens for nothing but equality, and does at spans beyond Header.Far as it
// does at Far. The check tries that: it comes to each situation several times, by other processes
// and at another time, after a detour at random; it waits for long where waiting changes nothing;
// and it follows some long schedules at random. That a schedule which stops time at multiples
// of the grid, and lets records expire at the very end of their TTL, stands for those that
// don't: see SOUNDNESS.md of the search. Random schedules that do neither try that. And the engine: its commands, its monitor and its drain.
//
// # The format
//
// A line "lockstep certificate 1"; a line with a [Header] in JSON; and, compressed by DEFLATE
// (RFC 1951), the rows and the needs. Integers are unsigned varints of package encoding/binary.
//
//	number of rows, then for each row:
//	    integer   how many rows before it its parent is; 0 for the first
//	    byte      the move that leads from its parent to it: a MoveKind
//	    byte      the client's place
//	    16 bytes  the digest of its text
//	number of needs, then for each:
//	    16 bytes  the digest of a client's past
//	    byte      a Need
package certificate
