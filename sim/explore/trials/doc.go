// Package trials plays random schedules of a lock in the engine, with waits of any length. It
// knows nothing of the states and the instants of a search, so it can doubt the search's claims.
//
// player.go plays a schedule and adds up its cost. A wait costs a pause of each client that
// could act in the middle of a cycle; to come later, for the first time or again, is free.
// draw.go draws schedules in which anything may happen at any time, which [Play] plays for a range of
// seeds, and within.go those that some bounds contain, of few long runs of one client each, by which
// [Refute] tries a claim. shrink.go leaves out all that a violation doesn't need.
package trials
