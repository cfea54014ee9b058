// Package monitor holds the rules: one for each violation of mutual exclusion, over a
// small set of facts.
//
// The same rules judge a run of the engine and every step of the exhaustive search.
// Both interpreters keep [Facts], a [Client] each and the owner of the lock's record at each
// address, and change them by the same transitions: a client's report ([Facts.Told]), a
// server's execution of a command ([Facts.Executed]), an access that the resource accepts
// ([Facts.Accessed]), a record's change of owner ([Facts.Recount]). A transition checks the
// rules on its kind of event and returns those that it broke. The search needs only that.
// The engine's [Monitor] folds events into facts, and proves each finding: by events and a
// sentence, from the trace's state alone.
//
// A violation that isn't a condition on one event stands in the table, too, with the
// reason and the place where it is decided: see [Rules].
package monitor
