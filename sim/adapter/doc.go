// Package adapter makes a lock that lives in another process a client of a simulated world.
//
// A [Program] is a command that was started with a control connection. Its [Program.Strategy]
// is a lock like those of the catalogue, for scenarios and for the search, except that each
// instance of it is an execution of the lock in a process of that program: calls go there over
// the control connection, and the commands that the lock's own library sends to the addresses
// that it was given go out over connections of the simulated client. docs/protocol.md
// describes both at the level of the wire.
//
// Client code of the simulator has to be a function of its observations. So an execution
// never runs beside the world: after each stimulus (a call, a reply, the time) the host reads
// until the process either waits for a reply, or asks for the time, or is done, and only that
// takes part in the run. Other activity in a process, such as a second thread of its
// own, is not seen, and makes the lock waver.
package adapter
