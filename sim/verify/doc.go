// Package verify replays runs on real Redis servers, and compares every reply and, after
// every step of a server, every key's value and its remaining life.
//
// There are two kinds of servers. An [Exact] starts its own, whose wall clocks it sets: a
// library put before the C library has redis-server read the time from a file. So all of a
// run is replayed at its very instants: expiries to the millisecond, jumps of clocks,
// restarts with and without an append-only file, power cuts, replicas that lag, WAIT, and
// promotion. A [Live] uses a server that runs already. It waits real time, and can neither
// restart the server nor set its clock, so it takes the runs, or the parts of runs, that
// need none of that.
//
// docs/fidelity.md has the results, and the differences that are known.
package verify
