// Package process runs the code of one simulated process: an ordinary go-redis lock
// in coroutines that stop wherever they observe or affect anything.
//
// A [Client] is such a process: its clocks, its go-redis with connections that lead
// nowhere but to a [Host], one instance of the lock, and the program that uses it. Its
// code runs on a [Thread], which announces each of its operations ([Op]) before
// anything comes of it, and goes on when the host says so, with what the host has put
// into the operation: a reply, a reading of a clock, an error.
//
// There are two hosts. The world (package sim) performs operations in the order of a
// schedule, on servers that it simulates. The search's driver (sim/explore/behaviour)
// feeds one client with whatever observation it wants to know the consequence of.
// Client code can't tell them apart.
package process
