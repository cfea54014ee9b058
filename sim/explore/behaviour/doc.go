// Package behaviour learns how clients and servers behave, each piece once, and keeps
// the answers for the workers of a search.
//
// A client's next operation is a function of its [History]: clients share nothing but
// Redis and the resource. Histories form a tree, in which a [Transition] leads from one
// history to the next by an [Observation]. [Clients] runs the lock's real code once for
// each transition, on a driver that is at the transition's history, and memoises the
// [Outcome].
//
// A server's reply and next snapshot are a function of its snapshot and the command.
// [Servers] asks real Redis once for each such pair ([Question]) and memoises the
// [Answer].
//
// The package knows neither states nor violations nor the order of a search: it answers
// questions, and may be asked by several workers at the same time.
package behaviour
