// Package redis is one Redis server: a miniredis with a clock, a persistence policy
// and a script engine of its own, driven without a socket.
//
// A [Node] is the server of a world, which tells it the time and hands it one command
// after the other. A [Server] is a node apart from any world: the search gives it a
// [Snapshot] and a command, and gets the reply and the snapshot after it.
//
// Where miniredis differs from Redis (TTL rounding, the instant of expiry, forms of
// SET, READONLY at replicas, the speed and the isolation of scripts), override.go,
// script.go, lua.go and the package spelling make up the difference, and the conformance tests compare the
// result with a real server, reply by reply.
package redis
