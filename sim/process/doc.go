// Package process runs the code of one simulated process: an ordinary go-redis lock in
// coroutines that stop at every operation by which they observe or affect the world.
//
// A [Client] is such a process: its clocks, its go-redis with connections that lead only
// to a [Host], one instance of the lock, and the program that uses it. Its code runs on a
// [Thread], which announces each of its operations ([Op]) before that has any effect. The
// thread goes on when the host lets it, with the result that the host has put into the
// operation: a reply, a reading of a clock, an error.
//
// There are two hosts. The world (package sim) performs operations in the order of a
// schedule, on servers that it simulates. The search's driver (sim/explore/driver) feeds
// one client with an observation to learn the client's next operation. Client code can't
// tell them apart.
package process
