// Package audit reads what Redis's MONITOR has printed, finds the keys that are used as locks,
// and says how they are taken and given back and what went wrong in the log.
//
// MONITOR prints commands and no replies. So the commands on those keys are executed once more,
// by a [lockstep/sim/redis.Node] at the times that the log states: whether a SET NX was granted
// and when a record expired is computed, and not guessed. What was there before the log began is
// not known: a key counts as absent until a command on it says otherwise, and what follows from
// that is marked.
//
// A log can't show more than the servers see: no pause of a client, no code, and no other
// server. [Blind] lists it.
package audit

// Blind are the limits of an audit, in words.
var Blind = []string{
	"no replies: the commands were executed once more, by a simulated server, at the times in the log",
	"no branches of scripts: where one asks EXISTS of a key and then sends SET, that counts as SET NX, as the scripts of Node's redlock mean it",
	"no state before its first line: a key counts as absent until a command shows that it is there",
	"no clients: holders are told apart by their tokens and, without these, by their connections, which a pool shares",
	"no other servers: one server of a Redlock looks like a lock of its own",
	"nothing of what a client does between two commands: whether it still works under a lock that it has lost shows only when it gives it back or extends it",
}
