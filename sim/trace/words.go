package trace

// Word is a word that the program and its documents use in one meaning.
type Word struct{ Name, Meaning string }

// Words are those words, from the parts of a run to the judgement on it.
var Words = []Word{
	{"node", "one Redis server: a miniredis with its own clock and its own persistence, possibly a replica of another node"},
	{"client", "one simulated process: its own wall clock and monotonic clock, its own go-redis connections, one instance of a strategy, one or more threads (a watchdog is a second thread)"},
	{"strategy", "a way to lock: acquire, release, possibly extend; plain go-redis code in strategies/"},
	{"resource", "the thing that the lock protects. It lives outside Redis, records each client's reads and writes, and may check fencing tokens. Its row in the diagram has a dot for each access, with the client's name"},
	{"lease", "a lock that ends by itself, at its deadline, unless it is extended before. In the code it is the result that a strategy hands its caller on success: token, deadline, and a fencing token if it has one"},
	{"record", "the value that a node stores under the lock's key; it belongs to the acquisition whose command stored it"},
	{"grant", "the instant at which Acquire returned a lease. Of two grants, the newer is the one whose granting command was executed later; fencing tokens do not define the order. The granting command is the one that stored the record, or, where Redis reported success and stored nothing because the expiry was already past, the last one executed"},
	{"event", "one atomic thing that happened, at one virtual instant; events have one total order, by time and then by number"},
	{"trace", "the complete list of a run's events; every picture and every export is a view of one"},
	{"schedule", "the list of choices that produced a trace: the same schedule always gives the same trace, byte for byte"},
	{"scenario", "a script that steers a schedule and narrates it; it works with every strategy"},
	{"monitor", "watches the events, and reports one kind of violation with the events that prove it"},
	{"verdict", "the set of codes that the monitors reported of a run; \"ok\" if there is none"},
}
