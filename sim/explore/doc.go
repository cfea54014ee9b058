// Package explore searches every schedule of a lock within bounds: it is an explicit-state
// model checker whose transitions are executed by the lock's real code and by real Redis commands.
//
// # Packages
//
//   - explore itself has the bounds, the states, the choices, the search, and the least
//     schedules of what it finds.
//   - behaviour learns how clients and servers behave. A client's next operation is a
//     function of its history, and a server's reply and next snapshot are a function of
//     its snapshot and the command, so each is executed once and memoised.
//   - driver runs one client's code outside of any world, on behalf of behaviour.
//   - intern has the tables that workers share: memos, ids of equal values, the visited
//     set.
//   - report puts a result into words, and locktest is the search as a function for tests
//     of other modules.
//
// # States
//
// A state (state.go) has a part for each client: its history, and what of its lease, its
// replies and its connections still matters; a part for each node: its snapshot, and the
// owner of the lock's record; and the rest: the resource, requests that are held up, and
// what is left of the budget of faults. Times are spans from the state's own instant, so
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
//     the same way.
//
// The search is breadth-first, on all cores (search.go). If it is cut off, its result covers
// all shorter schedules. The least schedule of each violation is looked for afterwards in
// the order of cost, by Dijkstra's algorithm (shortest.go). The engine
// replays it, and then again without each of its faults in turn, to tell which of them the
// violation needs (essential.go).
//
// # Two interpreters
//
// The engine, sim.World, interprets schedules too, one at a time, with latencies, rates of
// clocks and partitions that would swell a packed state. So there are two interpreters. They
// share the client code and its interface to a host (package process), the execution of
// commands (package redis), and the rules by which events are judged (package monitor, whose
// facts are a part of the state). The table of choices (choice.go) relates the rest: each
// row has what a choice does to a state, and the engine's moves that do the same.
//
// # Bounds
//
// A result holds within its [Bounds] and says nothing of schedules beyond: so many clients
// and cycles, so many faults of each kind, no latency (a message that takes long is a pause
// or a request that is held up), all clocks at the same rate. [Bounds.Outside] lists what is
// left out.
//
// # Why to believe it
//
// Tests compare the search with the engine on random schedules of every lock, after every
// choice, within the search's own bounds and within random ones (TestFaithful,
// TestFaithfulWidely); and with a brute-force walk through all schedules that memoises
// nothing and reduces nothing (TestBruteForce). Every search repeats a part of that: it
// plays random schedules in both interpreters, replays histories to notice a lock that isn't
// deterministic, and has the engine confirm every counterexample. It fails when they
// disagree.
package explore
