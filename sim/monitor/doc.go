// Package monitor holds the rules: one for each violation of mutual exclusion, over a
// small set of facts.
//
// The same rules judge a run of the engine and every step of the exhaustive search.
// Both hosts keep [Facts], a [Client] each and the owner of the lock's record at each
// address, and change them by the same transitions: what a client lets be known
// ([Facts.Told]), what a server executes ([Facts.Executed]), what the resource accepts
// ([Facts.Accessed]), what becomes of records ([Facts.Recount]). A transition looks at
// the rules that its kind of event concerns and returns those that it broke. The search
// wants no more than that. The engine's [Monitor] folds events into facts, and proves
// each finding: the events and the sentence, from the trace's state alone.
//
// A violation that isn't a condition on one event stands in the table, too, with the
// reason and the place where it is decided: see [Rules].
package monitor
