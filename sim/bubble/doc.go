// Package bubble puts a lock library, unmodified, into the simulator: it makes a
// [strategies.Strategy] of it, for scenarios and for the search, in tests. See docs/libraries.md.
//
// # How
//
// A lock of package strategies stops at every point at which it touches the world, because it
// gets its clock and its threads from the simulator. A library takes time from package time and
// starts goroutines of its own. So it runs in a bubble of package testing/synctest, one for each
// process of a client. There its goroutines run freely and time is virtual.
//
// A bubble moves only when it is given a stimulus: a call begins, time has passed, replies have
// arrived. It then runs until all of its goroutines wait, and no other bubble moves meanwhile.
// The commands that it has sent by then are sorted by node, and the client's thread carries them out
// as operations of the simulator. All commands that were sent at once go out before the first reply
// is awaited, so they overlap; and the replies to them are handed over together, when the last
// has come or has timed out.
//
// The search needs that the same history leads to the same operations. Commands are sorted, and
// crypto/rand reads from a stream that is seeded with the client's next token. Anything that
// still wavers, such as the default delay of redsync, which comes from math/rand, ends the search with
// an error that says what was done once and what the other time.
//
// # Time
//
// The bubble's clock follows the client's monotonic clock. The client's thread reads that at each
// stimulus, in a step of its own: before a call, and after the replies to its commands. All
// that the library does between two stimuli happens at one instant of its clock. A pause can
// begin before each command and before each reading, and so in particular between a reading
// and the sending of the next command.
//
// When the library waits for nothing but time, its thread sleeps until its next timer goes off. A
// second bubble, which has had the same stimuli, is run ahead to find out when that is.
//
// # What is not covered
//
//   - A timer that goes off while replies are awaited is heeded when they have come, as if the
//     process had been paused that long. So is one that goes off between calls, at the next call,
//     unless [Library.Background] is set. [Stats] counts both.
//   - A call that returns before all replies have come leaves the others for the next. [Stats]
//     counts that, too.
//   - The bubble has one clock. Jumps of a client's wall clock don't reach it.
//   - A reply times out after the strategy's Timeout, whatever deadline the library sets.
//   - Subscriptions, and commands that wait at the server.
package bubble
