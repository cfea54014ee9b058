// Package audit reads the output of Redis's MONITOR, finds the keys that are used as locks,
// and says how they are taken and given back and what went wrong in the log.
//
// MONITOR prints commands and no replies. So the commands on those keys are executed once more,
// by a [lockstep/sim/redis.Node] at the times that the log states: whether a SET NX was granted
// and when a record expired is computed, and not guessed. The keys before the log began are
// not known: a key counts as absent until a command on it says otherwise, and conclusions from
// that are marked.
//
// The commands of a script are in the log, too, and so are those of a client after its SET NX. Where
// these don't fit the computed state, a server has lost a record, say, and that is a [Contradiction].
// Where a script's commands prove whose record was stored, the replay goes on from that.
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
	"no losses on a server's own account: a record that a restart, a failover, an eviction or a jump of the server's clock has taken counts as there, and the next holder as refused, unless commands of scripts in the log, or a release by one who was refused, say otherwise",
	"no releases that are sent twice, or by a stranger: a DEL of a connection that doesn't have the lock counts as the holder's own, sent through another connection of its pool, unless a script with the holder's token comes later",
	"no clocks and no deadlines of clients: a lease counts as live until its TTL is over on the server, or until its release is executed; a client may think otherwise, may have crashed, and may be on its way to release",
	"no winners of stamps: where the values are times, and a client takes over a stamp that has passed, its own clock decides whether it has won; only its later commands are compared with those of others",
	"no owners of counts: of a counter, or a hash that counts entries, the first connection counts as the holder, and of a hash's owner the log doesn't tell which of its leases it means",
	"no other names of a key: what RENAME, MOVE, COPY, RESTORE and SWAPDB do to it is not followed",
	"no other servers: one server of a Redlock looks like a lock of its own",
	"nothing of what a client does between two commands: whether it still works under a lock that it has lost shows only when it gives it back or extends it",
}
