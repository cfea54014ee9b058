// Package sim runs real lock code against real Redis commands in virtual time.
//
// # Parts
//
// A [World] is the engine of a run: scheduler, network, replication, resource and faults.
// The packages below it know no World:
//
//   - trace: events, the state that they add up to, verdicts, text, JSON and the hash.
//   - redis: one server, which is a miniredis with a clock, a disk and a script engine of
//     its own. resp reads the protocol, and spelling the words of commands as Redis does.
//   - process: client code. It runs a strategy's go-redis code in coroutines, on a
//     [process.Host].
//   - fault: the kinds of fault as data, with their words and parameters. Their effects are here.
//   - monitor: the rules for violations, which the search shares.
//   - timeline: lanes, bars and marks, for every picture of a run. export draws Mermaid, SVG
//     and HTML from it.
//
// Package adapter makes a lock in another process a strategy: its commands go out on a
// simulated client's connections. spawn starts such processes, and sees that none is left.
//
// These packages stand above the World:
//
//   - explore searches all schedules of a lock within bounds, and has the engine replay its
//     findings. campaign, a module of its own, searches many locks within many bounds.
//   - solo runs a lock by itself.
//   - verify compares runs with real servers.
//   - serve puts simulated servers behind sockets.
//   - bubble makes a strategy of a lock library, for tests.
//
// Some stand by themselves: claims lists the claims about locks, each of which a test of this
// package tries to refute; audit reads the log of a real server; parse reads the words of a schedule;
// suggest words the errors about unknown names; and testenv tells tests how much they are to do.
//
// # A run
//
// [World.Reset] starts a run with a [Config]. Client code reaches the World through
// [process.Host] alone. For Redis that is a connection: go-redis gets a dialer that returns
// an in-process net.Conn, so the simulator sees the bytes that the library really sends,
// retries and pipelines included.
//
// One thread runs at a time. A thread hands control back at every point at which it could
// observe or affect the world: a request sent, a reply received, a clock read, a sleep, an
// access to the resource, entering and leaving the critical section. At each step the
// schedule decides: of a set of clients the thread that has been ready longest acts, time
// passes, or a [fault.Fault] is injected. A [Schedule] lists these decisions as [Move] values, of
// which one may stand for several steps of the same clients. The same schedule gives the
// same events, byte for byte. [World.Drain] ends a run and tests whether the lock can still be had.
//
// A request has two halves. Its execution at the node and the delivery of its reply are
// separate, so that a crash, a loss or a delay can fall in between.
//
// # Time
//
// True virtual time is one number. It advances only when a move says so: to the next
// instant at which something is due, or by a given span. Within an instant, expiry and lapse come first (leases and
// records are half-open intervals: at the instant of its deadline a lease is over), then
// the network, then the waking of threads. Every client and every node has clocks of its own
// that are functions of true time, and client code and servers see only those.
//
// # Results
//
// Every atomic step is a [trace.Event]. A [trace.State] folds the events, a monitor judges
// them, and a [trace.Trace] is the list of the events with the violations found. Every view
// of a run shows its trace and nothing else.
package sim
