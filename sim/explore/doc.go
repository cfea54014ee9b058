// Package explore searches every schedule of a lock within bounds.
//
// # What is remembered
//
// A client's next operation is a function of what it has seen: clients share
// nothing but Redis and the resource. So its life is a tree of moments, whose edges
// are what it sees (a reply, a reading of a clock, that nobody answers), and its
// real code is run once for each edge, as a [behaviour.Driver] (clients.go). What a node
// does is a function of its memory and the command, and Redis is asked once for
// each such pair (servers.go). A search puts together what was seen: each of its
// transitions was really executed, and nearly all are answered from a table.
//
// # States
//
// A state says of each client at which moment it is, what of its lease, its
// replies and its connections still matters; of each node its memory and whose the
// lock's record is; and of the rest the resource, requests that are held up, and
// what is left of the budget of faults. The facts by which the rules judge are part of
// it: package monitor has both, for the search and for the engine (state.go, step.go).
// Spans are counted from the state's own instant, so that states which differ only in when
// they happen are one; unless somebody looks at true time, by a wall clock or a server's:
// then the search begins again with a model in which they are told apart (model.go).
//
// Equal parts have equal numbers, and a state is a handful of them (intern.go). The
// set of all keeps states whole: none is taken for another because digests agree
// (visited.go).
//
// # Choices
//
// In each state somebody acts, or something of the budget goes wrong, or time
// passes to the next instant at which anything is due; if anybody could have acted,
// that is a pause (choice.go, effect.go, time.go). Two things keep the number of states down and
// change nothing that could be found. Steps that nobody else can notice are done at
// once with the step before (local.silent). And a client's step that depends on nothing
// but that client is made through a view of it alone (local.go), remembered of it, and not
// worked out again in every state (summary.go); so is a crash.
//
// The search goes by depth, on all cores; what it has found when it is cut off is
// found in all shorter schedules (search.go). The least schedules are looked for
// afterwards, in the order of their cost (shortest.go); each is played by the whole
// engine, as is what happens without each of its faults (essential.go).
//
// # Why to believe it
//
// Tests compare the search with the whole engine on random schedules of every lock,
// within its own bounds and drawn ones, event by event (TestFaithful,
// TestFaithfulWidely), and with a walk through all schedules that remembers nothing
// (TestBruteForce). Every search does some of that itself, runs histories a second
// time to notice a lock that isn't deterministic, and fails rather than to say what
// the engine doesn't.
package explore
