package scenarios

import (
	"lockstep/sim/trace"
)

// Lesson is a step of the course: one thing that can happen to a lock, and the
// ladder of locks that answer it, each the failure of the one before.
type Lesson struct {
	Name  string // for links and for remembering what was done
	Title string
	Text  string
	Rungs []Rung
}

// Rung is one lock under the lesson's scenario. What its text claims of the run is
// Verdict; a test holds the engine to it, and to every rung making a difference.
type Rung struct {
	Scenario string
	Strategy string
	Verdict  trace.Verdict
	Text     string
}

// Course is the lessons in order. The slice is the caller's.
func Course() []Lesson {
	return []Lesson{
		{
			Name: "why", Title: "Why lock at all",
			Text: "An entry of a cache has expired, and three requests find it gone. Each of them would rebuild it from the database, which takes a while; " +
				"meanwhile what is in the database changes. One is enough to rebuild it, and more than one is too many. A lock is an agreement on who.",
			Rungs: []Rung{
				{"stampede-fallthrough", "setnx", trace.Verdict{trace.SW, trace.OV}, "A has the lock. B and C are refused and rebuild all the same. They read newer data and are done sooner, and then A puts the older version over theirs. A lock protects only against those who heed it."},
				{"stampede-fallthrough.wait", "setnx", nil, "The same three, and those who are refused wait and look again. Nobody overwrites anybody. All that follows is about one question: is whoever holds the lock really the only one?"},
			},
		},
		{
			Name: "setnx", Title: "SETNX: the first lock",
			Text: "SETNX stores a key if there is none, and says whether it did: whoever stored it has the lock, and DEL gives it back. " +
				"Nobody else gets in. But nobody says what happens if the holder never comes back.",
			Rungs: []Rung{
				{"crash-holding", "setnx", trace.Verdict{trace.PD}, "A takes the lock and dies. Its record has no end, so B asks for ever."},
				{"crash-holding", "setnx-expire", trace.Verdict{trace.BD}, "With an EXPIRE behind the SETNX, Redis buries the dead: B waits for what is left of the TTL, and goes on."},
			},
		},
		{
			Name: "expiry", Title: "Expiry: two commands",
			Text: "SETNX and EXPIRE are two commands. Between any two commands a process can die, a connection can break, a reply can get lost. " +
				"Ask of every lock: what if it stops right here?",
			Rungs: []Rung{
				{"crash-mid-acquire", "setnx-expire", trace.Verdict{trace.PD}, "A dies between the two. The record is there, the expiry is not: blocked for ever, again."},
				{"crash-mid-acquire", "naive-del", trace.Verdict{trace.BD}, "SET NX PX stores the value and the expiry in one command. There is no between."},
			},
		},
		{
			Name: "stamps", Title: "Stamps: who takes over",
			Text: "Before SET had options, the expiry was put into the value: a stamp, which others read, and take over once it has passed. " +
				"So the decision that a lock is over moves from the server to the clients, and each of them decides by itself.",
			Rungs: []Rung{
				{"takeover-race", "timestamp-del", trace.Verdict{trace.SW, trace.DG, trace.OV, trace.FR}, "Both have read the old stamp. A deletes it and takes the lock; B deletes, as it thinks, the old stamp, but it is A's."},
				{"takeover-race", "getset-equal", trace.Verdict{trace.FR}, "GETSET tells the second that it came too late. Only one gets in; but the loser has overwritten the winner's stamp."},
				{"takeover-race", "naive-del", nil, "If the server counts the time, there is nothing to take over: a key that is over is gone, and one SET finds it gone."},
			},
		},
		{
			Name: "clocks", Title: "Stamps: by whose clock",
			Text: "A stamp means something only to those whose clock agrees with the writer's. Clocks of machines differ: by milliseconds on a good day, " +
				"by minutes after somebody has set one by hand.",
			Rungs: []Rung{
				{"clock-skew", "getset-equal", trace.Verdict{trace.DG, trace.OV, trace.FR}, "B's clock is twelve seconds fast. By it A's lock is over, while A is at work."},
				{"clock-skew", "naive-del", nil, "The key lives by the server's clock alone. B's may be as wrong as it likes."},
			},
		},
		{
			Name: "release", Title: "Release: whose lock is it",
			Text: "A lock that expires can be over before its holder is done. By then it may be somebody else's, and a DEL that doesn't ask takes it away from him. " +
				"One overrun, and from there on everybody releases the next one's lock.",
			Rungs: []Rung{
				{"late-release", "naive-del", trace.Verdict{trace.DG, trace.OV, trace.FR}, "A overruns its lease, and B gets the lock, rightly. Then A's DEL removes B's record, and C walks in."},
				{"late-release", "get-then-del", nil, "A asks first: the value is not the token that A has stored. It leaves it alone."},
			},
		},
		{
			Name: "lua", Title: "Lua: ask and delete at once",
			Text: "GET and DEL are, once more, two commands. What A has been told by GET was true when it was told.",
			Rungs: []Rung{
				{"release-gap", "get-then-del", trace.Verdict{trace.DG, trace.OV, trace.FR}, "GET says: yours. Then the key expires, B takes the lock, and A's DEL, already decided, arrives."},
				{"release-gap", "setpx-lua", nil, "A script compares and deletes while nothing else runs in Redis. The gap is not smaller, it is not there."},
			},
		},
		{
			Name: "network", Title: "Network: what you aren't told",
			Text: "A reply that doesn't arrive says nothing about what was done. Whoever then sends the command again may do it twice; " +
				"whoever gives up may have the lock without knowing it.",
			Rungs: []Rung{
				{"duplicate-release", "naive-del", trace.Verdict{trace.SW, trace.DG, trace.OV, trace.FR}, "A's release arrives twice. In between B has taken the lock; the second DEL is for B's record."},
				{"duplicate-release", "setpx-lua", nil, "The second time the comparison fails: the value is B's token."},
				{"reply-lost", "setpx-lua", trace.Verdict{trace.FN, trace.BD}, "Not everything can be mended: A was told nothing, gives up, and its own record keeps everybody out until it expires. That is the price of not knowing, and the TTL is its limit."},
			},
		},
		{
			Name: "pauses", Title: "Pauses: the late sleeper",
			Text: "A process can stop anywhere, for any time: garbage collection, a swapped page, a closed laptop. It notices nothing. " +
				"The lease runs out meanwhile, and no lock can reach into a process and wake it up.",
			Rungs: []Rung{
				{"pause-past-ttl", "naive-del", trace.Verdict{trace.SW, trace.OV, trace.FR}, "A sleeps past its lease inside the critical section, wakes up beside B, overwrites B's data, and then deletes B's lock."},
				{"pause-past-ttl", "setpx-lua", trace.Verdict{trace.SW, trace.OV}, "The right release spares B's lock. It can't spare B's data: A writes all the same."},
				{"pause-past-ttl", "fenced", trace.Verdict{trace.OV}, "Now the lock hands out a number that only grows, and the store refuses whoever comes with a lower one than it has seen. A is still in there with B, and can do no harm."},
			},
		},
		{
			Name: "fencing", Title: "Fencing: a number that grows",
			Text: "A fencing token makes the resource the judge: it has seen the numbers of all who came, and refuses whoever comes late. " +
				"Everything depends on the numbers being in the order of the grants.",
			Rungs: []Rung{
				{"fence-minted-late", "fenced-late", trace.Verdict{trace.SW, trace.OV}, "The number is drawn after the lock was got, by a second command. A pauses between the two: its lock expires, B draws 1, and A, who is late, draws 2. The store believes A."},
				{"fence-minted-late", "fenced", nil, "Lock and number come from one script. Whoever gets the lock later has the higher number, however long anybody sleeps."},
				{"fence-lost", "fenced", trace.Verdict{trace.SW, trace.OV}, "And the counter has to survive. The server restarts without it, B is given 1, which A has as well, and the store can't tell them apart."},
			},
		},
		{
			Name: "clock", Title: "Time: the server's own clock",
			Text: "A key lives as long as the server's clock says. So a lock with an expiry trusts a clock, even if no client looks at one.",
			Rungs: []Rung{
				{"server-clock-jump", "setpx-lua", trace.Verdict{trace.DG, trace.OV}, "The server's clock jumps by a TTL: A's key is over for Redis, and not for A."},
				{"server-clock-jump", "getset-equal", nil, "A stamp doesn't care about the server's clock: it trusts the clients' instead. No lock with an expiry is without a clock to trust; you choose whose."},
			},
		},
		{
			Name: "replication", Title: "Replication: the copy lags",
			Text: "A replica makes Redis survive the death of a server. But it is copied to after the client was answered: what was promised last may not be there yet " +
				"when the replica takes over.",
			Rungs: []Rung{
				{"failover", "setpx-lua", trace.Verdict{trace.SW, trace.DG, trace.OV}, "The master says yes to A and dies. The replica, now master, has never heard of A, and says yes to B."},
				{"failover", "setpx-wait", nil, "WAIT asks how many replicas have the write. A counts on the lock only when one has it, and here they are alike."},
				{"failover-wait", "setpx-wait", trace.Verdict{trace.DG, trace.OV}, "One replica has acknowledged, the other one is promoted. WAIT counts copies, it doesn't choose the next master."},
				{"failover-wait.acked", "setpx-wait", nil, "Only if every replica that could be promoted has it, it doesn't matter which one is. And then one slow replica keeps everybody from the lock."},
			},
		},
		{
			Name: "redlock", Title: "Redlock: a majority decides",
			Text: "Ask five independent servers; whoever has three of them within the lease has the lock. One may die, and nothing stops. " +
				"The algorithm is short, and every line of it is needed.",
			Rungs: []Rung{
				{"minority-down", "redlock-strict-errors", trace.Verdict{trace.FN, trace.BD}, "Two servers are down. This client has its three votes, and fails: a dead server is an error to it. Its keys stay behind and refuse everybody until they expire."},
				{"minority-down", "redlock", nil, "Redlock counts a dead server as a vote that it didn't get. Three are enough."},
				{"pause-replies-in-flight", "redlock-no-elapsed", trace.Verdict{trace.SW, trace.DG, trace.OV}, "How long did the voting take? A sleeps while its votes are on their way, and all of them expire. Who doesn't subtract that time has a lease on nothing."},
				{"pause-replies-in-flight", "redlock", nil, "Redlock looks at its clock before the first request and after the last reply, and refuses itself a lease that is over."},
				{"clock-steps-back", "redlock-wall-clock", trace.Verdict{trace.SW, trace.DG, trace.OV}, "It has to be a clock that can't be set. By the wall clock, which was set back, the voting took no time at all."},
				{"clock-steps-back", "redlock", nil, "A monotonic clock measures how much time has passed, and nobody can set it."},
				{"split-vote", "redlock", trace.Verdict{trace.LV}, "And a majority has a price of its own: three clients get two, two and one of the votes, all give up, all come back at the same instant."},
				{"split-vote.jitter", "redlock", nil, "Waiting for a random time is no ornament. It is what ends the tie."},
			},
		},
		{
			Name: "critics", Title: "Redlock's critics",
			Text: "Kleppmann wrote in 2016 what Redlock rests on: that no server forgets, that clocks run alike, that no client sleeps too long. " +
				"Sanfilippo, its author, answered. Here you can see what happens when an assumption breaks.",
			Rungs: []Rung{
				{"restart-no-fsync", "redlock", trace.Verdict{trace.DG, trace.OV}, "One of A's three servers restarts empty, and votes once more, for B. Each has a majority. That no key is lost was an assumption about every single server."},
				{"restart-no-fsync.always", "redlock", nil, "If a server writes its promise to disk before it makes it, it can restart at any time. So can one that stays away until every lease is over."},
				{"pause-past-ttl", "redlock", trace.Verdict{trace.SW, trace.OV}, "But five servers are no help to a client that sleeps: the same pause as before, at five times the price."},
				{"pause-past-ttl", "fenced", trace.Verdict{trace.OV}, "What helps is the number that grows, and a store that looks at it. For that, one server is enough."},
			},
		},
		{
			Name: "which", Title: "Which lock should I use",
			Text: "If two at once only costs work twice: SET NX PX with a unique token, released by a script, with a TTL well above the work. " +
				"If two at once destroys something: make the thing itself refuse the late one, with a fencing token, a version, or a transaction; the lock then only saves work. " +
				"More servers buy availability, not that.",
			Rungs: []Rung{
				{"stampede", "setpx-lua", nil, "For saving work. One rebuild at a time is all that a lock can do; that the second and the third are not needed, whoever has the lock must look for himself."},
				{"pause-past-ttl", "setpx-lua", trace.Verdict{trace.SW, trace.OV}, "But don't let anything depend on it: this is the right lock, used rightly, and an update is lost."},
				{"pause-past-ttl", "fenced", trace.Verdict{trace.OV}, "For correctness: two may be inside, only one can write."},
			},
		},
	}
}

// ID names the rung within its lesson.
func (r Rung) ID() string { return r.Scenario + "/" + r.Strategy }
