// Package sim runs real lock code against real Redis commands in virtual time.
//
// # How it works
//
// A [World] holds clients and nodes. A client runs a strategy's ordinary
// go-redis code in a coroutine; a node is a miniredis. The seam between the two
// is the connection: the client's go-redis gets a dialer that returns an
// in-process net.Conn, so the simulator sees every command that the library
// sends, retries and pipelines included. Client code runs in package process and
// reaches its surroundings through [process.Host]; a World is one such host.
//
// One thread runs at a time. A thread hands control back at every point at
// which it could observe or affect the world: a request sent, a reply received,
// a clock read, a sleep, an access to the resource, entering and leaving the
// critical section. The next step is a choice ([Move]), and the list of
// choices is the run's [Schedule]: the same schedule gives the same events,
// byte for byte.
//
// A request has two halves. Its execution at the node and the delivery of its
// reply are separate, so that a crash, a loss or a delay can fall in between.
//
// # Time
//
// True virtual time is one number. It moves only when a schedule lets it: from
// one instant at which something is due to the next. Within an instant, expiry
// and lapse come first (leases and records are half-open intervals: at the very
// instant of its deadline a lease is over), then the network, then
// sleepers. Every client and node has clocks of its own that are functions of true
// time; nothing that runs in the world can read true time itself.
//
// # What comes out
//
// Every atomic thing that happens is a [trace.Event], and a [trace.State] is the fold of
// events. The rules of package monitor report violations; a [trace.Trace] is the list of
// the events with the violations. Every picture of a run is made from its trace alone.
package sim
