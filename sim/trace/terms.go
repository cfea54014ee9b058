package trace

import (
	"slices"
	"strings"
)

// ProbeAsks says of the probe who it is and how often it asks. That differs from run to run, so no text gives a number.
const ProbeAsks = "a client that comes when all others are done, and asks whether the lock can still be had: at once, and when a request arrives that was still under way; " +
	"if it is refused, again a lease after the last thing that is due; and if a record that nobody will remove is in its way even then, a last time ten years later"

// Terms are the further words of the screens and of Redis's commands, for readers who meet them
// there for the first time.
var Terms = []Word{
	{"virtual time", "the run's own time, which the simulator sets: a wait of a year takes no longer than one of a millisecond"},
	{"TTL", "time to live: after so long Redis deletes a key by itself; the length of a lease is usually the same. It keeps the key through the last millisecond: one stored at 1ms with 10 s to live is gone at 10.002s"},
	{"token", "a value that only its holder knows, stored in the record, so that a client can tell its own record from another's"},
	{"fencing token", "a number that grows with each grant; a resource that checks it refuses a client whose grant is older. Also called a fence"},
	{"holder", "the client that has the lock, by its own belief, by Redis's record, or by both: where they differ, a lock is about to fail"},
	{"believer", "a client that was granted the lock and has not begun to release it, whether or not its lease is still live. The row \"believers\" counts them: two are a violation if the leases of both are live, or both are in the critical section"},
	{"critical section", "the work that only the holder of the lock is to do"},
	{"redis", "in the diagram, the row of the server's record: the truth, whatever the clients think"},
	{"does", "in the diagram, the row of a client's actions"},
	{"thinks", "in the diagram, the row of a client's belief: that it wants the lock, has it, or had it longer than its lease"},
	{"broken", "in the diagram, the row of the violations, each at the instant at which it is complete; those for which there is no room stand behind the one before"},
	{"lapse", "the instant at which a client's own clock says that its lease is over; the client may not look. It counts from before it sent its command, and some locks take off a margin for clocks that drift: the lease is over before the record is gone"},
	{"drift", "the difference that builds up between two clocks that run at slightly different rates. A lock that heeds it takes a little off its lease: \"10s less 102ms in case clocks drift apart\" is 1 % of the TTL and 2 ms, as in Redlock"},
	{"who sends to whom", "the view of a run with a row for each event and a column for each client and server, and arrows from who sends to who receives; in a narrow window the key for the next view leads to it"},
	{"lock gone", "in brackets behind an event: it has removed the record under the key lock, or the record has expired. Behind one that stores or moves it stands the record with the time that it has left"},
	{"probe", ProbeAsks + ". It tells a lock that is blocked for ever from one that is free"},
	{"n1", "the first Redis server; n2, n3 and so on are further ones, and n1r1 is the first replica of n1"},
	{"pivot", "the server whose record completes a majority: n1 of one, n3 of five"},
	{"majority", "more than half of the servers: a lock on several servers is held by a client whose record is on as many"},
	{"replica", "a server that copies another one's keys, a little later; a failover makes it the one that is asked"},
	{"fault", "a thing that goes wrong and that a schedule may contain: a pause, a crash, a lost reply, a clock that jumps"},
	{"pause", "a time in which a process does nothing and notices nothing: a garbage collection, a stopped machine, a long wait for the processor. A client that could act while a step of a script only waits is paused, too; one that stands still because the script has others act is held up, which is none of the story's pauses. The work that a client has asked another service for goes on meanwhile"},
	{"held up", "in the run of a script, said of a client that could act while the script has others act first: it is none of the story's pauses"},
	{"step", "one action of one client, the least thing that a schedule chooses; in a script, one entry of it; in a lesson, one run"},
	{"move", "one entry of a schedule, or one choice in the game: a client's next command, a span of time, or a fault"},
	{"switch", "a change from one client to another between two steps: of two schedules, the one with fewer switches is easier to follow"},
	{"state", "in a run, everything that clients and servers know at an instant; in a search, one situation, however many schedules lead to it"},
	{"bounds", "the limits of a search or a level: how many clients and cycles, and how many faults of each kind"},
	{"cycle", "one time through a client's errand: acquire, work, release"},
	{"par", "the least number of moves, steps and faults that reach a level's goal, found by a search"},
	{"evidence", "the events that prove a violation, numbered in the diagram and in the list"},
	{"chapter", "a part of a run that begins with words of its script"},
	{"watchdog", "a second thread of a client, which extends the lease while the first works"},
	{"efficiency", "the use of a lock in which a second holder only wastes work"},
	{"correctness", "the use of a lock in which a second holder destroys something"},
	{"lock", "a promise that of several clients one at a time does something; here it is a key in Redis and code that asks for it"},
	{"acquire", "to ask for the lock: the part of a lock's code that stores the record, and returns a lease or a refusal"},
	{"release", "to give the lock back: the part of a lock's code that removes the record"},
	{"extend", "to ask for more time: the part of a lock's code that moves the record's expiry"},
	{"refused", "said of a client that asked for the lock and was told no; it asks again if its code does so"},
	{"command", "one request to Redis, such as SET or DEL; Redis carries out one after another"},
	{"reply", "a server's answer to a command, which can be lost although the command was carried out"},
	{"server", "a Redis server, also called a node"},
	{"crash", "the end of a process at any point, after which nothing of its code runs any more"},
	{"clock", "a process's or a server's own idea of the time, which can jump or run too fast"},
	{"key", "the name under which Redis stores a value; a lock is one key"},
	{"property", "a rule that a lock ought to keep, such as that nobody removes another's record; breaking it is a violation"},
	{"violation", "an instant at which a property is broken; its kind has a code of two or three letters"},
	{"SET", "the command that stores a value under a key; NX, XX, PX, EX and GET are its options"},
	{"NX", "an option of SET: store only if the key does not exist, so that one of several clients succeeds"},
	{"XX", "an option of SET: store only if the key exists"},
	{"PX", "an option of SET: the key's time to live, in milliseconds"},
	{"EX", "an option of SET: the key's time to live, in seconds"},
	{"SETNX", "SET with NX and without a time to live, an older command"},
	{"GET", "the command that returns a key's value; as an option of SET, it returns the value that was there before"},
	{"MGET", "GET for several keys at once"},
	{"GETSET", "the command that stores a value and returns the one that was there before, in one step"},
	{"DEL", "the command that removes a key, whoever stored it"},
	{"UNLINK", "DEL whose memory is freed later"},
	{"DELEX", "the command that removes a key under a condition, such as IFEQ"},
	{"IFEQ", "an option of SET and DELEX: only if the key has this value"},
	{"EXISTS", "the command that says whether a key is there"},
	{"EXPIRE", "the command that gives a key that is there a time to live, in seconds"},
	{"PEXPIRE", "the command that gives a key that is there a time to live, in milliseconds"},
	{"PTTL", "the command that returns a key's remaining time to live, in milliseconds"},
	{"INCR", "the command that adds one to a number"},
	{"EVAL", "the command that runs a Lua script on the server, in which no other command comes between"},
	{"EVALSHA", "EVAL of a script that the server has already, named by its hash"},
	{"SCRIPT", "the commands that load a Lua script into the server, for EVALSHA"},
	{"WATCH", "the command after which an EXEC does nothing if the key has changed meanwhile"},
	{"UNWATCH", "the command that ends a WATCH"},
	{"MULTI", "the command that begins a transaction: what follows is carried out together, by EXEC"},
	{"EXEC", "the command that carries out a transaction"},
	{"DISCARD", "the command that calls off a transaction"},
	{"HSET", "the command that stores a field of a hash"},
	{"HGET", "the command that returns a field of a hash"},
	{"PUBLISH", "the command that sends a message to all subscribers of a channel"},
	{"SUBSCRIBE", "the command by which a client hears of messages in a channel"},
	{"WAIT", "the command that waits until replicas have received what was written"},
}

// OfDiagram reports whether a word is the name of one of the diagram's rows: elsewhere it is an ordinary one.
func (w Word) OfDiagram() bool { return strings.HasPrefix(w.Meaning, "in the diagram, ") }

// Background are words of the field, and of advice and titles, that screens use where they need no
// help: explain knows them, and the help of screens leaves them out.
var Background = []Word{
	{"misfortune", "all that a scenario lets go wrong, in its order: another lock under the same misfortune meets the same pauses, crashes and losses at the same places of its protocol"},
	{"seed", "the number from which a run draws its tokens and its random delays; the same seed and the same schedule give the same run, byte for byte (--seed)"},
	{"ok", "the verdict of a run in which no property broke. It says nothing of other runs, and recommends no lock"},
	{"(ok)", "in lists of runs: nothing broke in this one, but the lock is broken in another one that it has to withstand whatever its use, such as a late release; the player names that"},
	{"work", "the time between a client's read of the resource and its write, spent waiting for another service, such as a database. It passes while the client is paused, too: one that is paused for 10s in its 2s of work finds it done when it goes on"},
	{"level", "a task of the game (lockstep play): a lock to break, with the violation to reach and the faults that are allowed"},
	{"goal", "the violation that a level of the game is to reach"},
	{"lesson", "a part of the course (lockstep course): some locks in a row, of which each answers the failure of the one before"},
	{"matrix", "the table of all runs: each lock under each scenario (lockstep matrix)"},
	{"quorum", "the number of servers whose agreement counts: of a lock on several servers, a majority of them"},
	{"Redlock", "the algorithm that locks on several independent servers: a client holds the lock if a majority has stored its record in much less time than the lease lasts"},
	{"Redisson", "a Redis client for Java with locks of many kinds; its RLock counts entries of its owner in a hash (lockstep explain reentrant), and its watchdog extends it"},
	{"Sentinel", "the processes that watch a Redis master and promote one of its replicas when it is down. The replica may lack the last writes, such as a lock's record: to a lock this is one server with a failover, and lockstep advise --servers replicas says which lock is enough there"},
	{"Cluster", "Redis spread over several masters, each with a part of the keys and with replicas. A lock's key is on one of them, so to a lock this is one server with a failover, and not the several servers of Redlock: lockstep advise --servers replicas says which lock is enough there"},
	{"expiry", "the instant at which Redis deletes a record by itself (see TTL), so that a lock whose holder died is free again. A holder that is late loses its lock by it, and isn't told"},
	{"master", "the server of a group that takes the writes; the others are its replicas"},
	{"failover", "a replica becomes the master. Replication is asynchronous, so it may lack the last writes of the old one"},
	{"split brain", "two servers are masters at once, each for some of the clients"},
	{"eviction", "a server that is short of memory drops a key before its time is up"},
	{"fsync", "the command by which a server has what it wrote put on the disk: appendfsync always does so before it replies, everysec once a second, and without either a restart loses everything"},
	{"idempotency key", "a name that a request carries, so that its receiver recognises a second copy and does the work once. It then protects what must not be done twice, such as a payment, and a lock only saves work. It takes one idempotency key for each payment, made before the lock is asked for and the same in every retry and every client, and a receiver that keeps it as long as a retry can come. It does not protect a change that is computed from what was read, such as a new balance: that takes a fencing token or a version"},
	{"payment", "the usual example of work that must not be done twice. Whether a lock is enough for it depends on what the payment system can check: lockstep advise asks"},
	{"compare-and-delete", "to remove a record only if it has one's own token, in one step: as a script, by WATCH, GET, MULTI, DEL and EXEC, or by DELEX IFEQ"},
	{"stamp", "a time as the record's value: the instant at which the lock is over by its holder's clock, for others to compare with theirs"},
	{"jitter", "a random part of the wait before a client asks again, so that clients don't go on in step"},
	{"vote", "in a lock on several servers, the record of a client on one of them"},
	{"fault model", "the faults that a claim or a search allows; what it leaves out is listed with each result"},
	{"counterexample", "a schedule in which a property is broken: a search prints the least one"},
	{"interleaving", "one order in which the steps of several clients can happen"},
	{"playlist", "a file with a run on each line, which lockstep present shows to a room, one after another"},
	{"miniredis", "the Redis in Go that runs in this program and executes the commands"},
	{"Lua", "the language of the scripts that Redis executes in one step, by EVAL"},
	{"API", "the interface of another service, which may not be able to check a fencing token"},
	{"UPDATE", "the command of SQL that changes rows; with WHERE token <= 34 or WHERE version = 7 it refuses a client whose lock is lost"},
	{"RLock", "Redisson's lock, which its owner can take again: lockstep explain reentrant"},
}

// AllWords are the words, the terms and the words of the background.
func AllWords() []Word { return slices.Concat(Words, Terms, Background) }

// Lookup finds a word or a term, in any case; n2 and the other servers are n1's.
func Lookup(name string) (Word, bool) {
	if strings.EqualFold(name, "fence") {
		name = "fencing token"
	}
	if len(name) == 2 && name[0] == 'n' && name[1] >= '1' && name[1] <= '9' {
		name = "n1"
	}
	for _, list := range [][]Word{Words, Terms, Background} {
		if i := slices.IndexFunc(list, func(w Word) bool { return strings.EqualFold(w.Name, name) || strings.EqualFold(w.Name+"s", name) }); i >= 0 {
			return list[i], true
		}
	}
	return Word{}, false
}

// endings are those that a word can have in a sentence.
var endings = []string{"", "s", "es", "d", "ed"}

// TermsIn are the words and terms that stand in a text, in the order of their lists. Those in
// capitals are meant as commands and stand so; the others may begin a sentence, or be several.
func TermsIn(text string) []Word { return WordsIn(text, slices.Concat(Words, Terms)) }

// WordsIn are those of the words that stand in a text, as [TermsIn] finds them.
func WordsIn(text string, words []Word) (found []Word) {
	separate := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-')
	}
	exact := " " + strings.Join(strings.FieldsFunc(text, separate), " ") + " "
	lower := strings.ToLower(exact)
	for _, w := range words {
		in, name := lower, w.Name
		if name == strings.ToUpper(name) {
			in = exact
		}
		if slices.ContainsFunc(endings, func(end string) bool { return strings.Contains(in, " "+name+end+" ") }) {
			found = append(found, w)
		}
	}
	return found
}
