// Package behaviour is what a search has learnt of how clients and servers behave, each
// piece once.
//
// A client's next operation is a function of its [History]: clients share nothing but
// Redis and the resource, so its life is a tree, whose edges are the observations that
// it makes ([Transition]). [Clients] runs the lock's real code once for each edge, with
// a driver that stands at the history in question, and remembers the [Outcome].
//
// A server's reply and next snapshot are a function of its snapshot and the command.
// [Servers] asks real Redis once for each such pair ([Question]) and remembers the
// [Answer].
//
// Nothing here knows what a search looks for, or in which order.
package behaviour
