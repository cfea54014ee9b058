// Package liveness reads off the graph of a search without bounds, once that has closed, two answers
// that no single schedule shows: whether those who keep asking for a lock that nobody holds are
// ever granted it, and after how long at the latest.
//
// # What is looked at
//
// The graph has all states that any schedule reaches, whatever has gone wrong before. This package
// judges how schedules go on from there when nothing goes wrong any more: no
// client crashes, no reply is lost, and no time passes while a client could act. So the
// assumptions are that faults end; that messages and code take no time, while all orders of
// the steps at one instant are looked at; that each client that can act goes on; that time
// goes on; and that somebody keeps asking: as long as time passes, a client is in Acquire.
// With faults of any number that don't end, every lock can be kept from everybody.
//
// # What is decided
//
// A livelock (LV) is a cycle in that graph in which time passes, two or more clients are in
// Acquire whenever it does, no lease is live, no record is that of a client which is dead, and
// nobody is granted the lock: the notion of the engine's monitor. A cycle that is found is a
// [Lasso], which the engine is to play.
//
// The longest wait for a free lock (BD) is the length in time of the longest path on which
// no lease is live, nobody is granted the lock, and at least one client is in Acquire
// whenever time passes. There is one unless such paths go round.
//
// Both are refused, with the reason, where the graph doesn't tell: see [Result.Because].
package liveness
