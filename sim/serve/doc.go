// Package serve puts simulated servers behind sockets, so that programs in any language are
// their clients.
//
// A [Server] has a node, of package redis, for each address that it listens on. Each connection belongs to
// a client: the one that CLIENT SETNAME names, or else one named after the connection's port.
// A request passes a gate on its way to the node, and its reply passes it on the way back; there they
// can be held, lost or delayed. Virtual time goes with real time, or stands still until it is told to
// advance. Everything that happens is an event of one trace.
//
// One goroutine owns the nodes, the gate and the trace; sessions and controls send it
// functions to call. It never waits for a client: replies go into a buffer of limited size,
// and a client that doesn't read them loses its connection.
//
// A server sees commands and no calls of Acquire. So the grants, refusals and releases in
// its trace are inferred: see infer.go, which says from what.
package serve
