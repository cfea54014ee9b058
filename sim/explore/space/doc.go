// Package space is the transition system that a search explores: the states of a lock's
// clients and servers, and the choices that lead from one state to another within [Bounds].
// A [Model] is shared by all workers of a search, and an [Explorer] makes choices for one
// of them.
//
// # States
//
// A state (state.go) has a part for each client: its history, and the facts of its lease, its
// replies and its connections that still matter; a part for each node: its snapshot, and the
// owner of the lock's record; and the rest: the resource, requests that are held up, and
// the rest of the budget of faults. Times are spans from the state's own instant, so
// that states which differ only in when they happen are equal. As soon as a wall clock or a
// server's clock is read, the search begins again with a model in which true time belongs
// to the state (model.go). The state is a canonical form: it drops cycles that have ended,
// and replaces the order of threads and of grants by dense ranks.
//
// Parts are interned, and a packed state is the slice of their ids. The visited set keeps
// packed states whole, so a collision of digests cannot merge two of them.
//
// # Choices
//
// In each state the enabled choices are steps of clients, faults of which the budget has
// any left, and the passing of time to the next instant at which anything is due (choice.go,
// effect.go, time.go); and where a lock draws a random number, the number
// ([behaviour.Clients.Draws]). Time that passes while a client could have acted is a pause of that
// client, and takes one from the budget. Two things keep the search small and lose no finding:
//
//   - Partial-order reduction: an operation that commutes with all that others may do is
//     performed together with the step before it (local.independent).
//   - Local steps: a client's step that depends on that client alone is made through a view
//     from which nothing else can be reached (local.go). It is memoised in the client's
//     summary, and applied without unpacking the state (summary.go). A crash is memoised in
//     the same way, and so is the passing of time for a client.
//
// # Two interpreters
//
// The engine, sim.World, interprets schedules too, one at a time, with latencies, rates of
// clocks and partitions that would swell a packed state. So there are two interpreters. They
// share the client code and its interface to a host (package process), the execution of
// commands (package redis), and the rules by which events are judged (package monitor, whose
// facts are a part of the state). The table of choices (choice.go) relates the rest: each
// row has a choice's effect on a state, and the engine's moves that do the same.
package space
