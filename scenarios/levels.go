package scenarios

import (
	"slices"

	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Level is a game: a reader schedules the clients of a lock by hand until it shows a
// violation. The bounds are so tight that the lock can be broken by the flaw alone that
// the level is about: within the same bounds the lock named by Withstands can't be broken.
// A test searches both.
type Level struct {
	Lesson     string // of the course
	Title      string
	Strategy   string            // the lock to break
	Goal       trace.Code        // the violation that wins
	Faults     explore.FaultKind // the kind of fault of which a schedule may have one
	Clients    int               // 0 is two
	Withstands string            // the lock that no schedule within the same bounds breaks so
	Moves      int               // of the least way to the goal, as a reader counts them
	Task       string            // the goal, in words
	Moral      string            // the lesson of a win
}

// Name names the level in links and in the reader's progress.
func (l *Level) Name() string { return l.Strategy + "." + l.Goal.String() + "." + l.Faults.String() }

// Bounds are the bounds of the level for the lock to break, or for the one that withstands:
// the clients, each of which takes the lock once, and the level's faults.
func (l *Level) Bounds(s strategies.Strategy) explore.Bounds {
	b := explore.Defaults(s)
	b.Cycles, b.Faults = 1, explore.Budget{}
	b.Clients = max(b.Clients, l.Clients)
	b.Faults[l.Faults] = 1
	return b
}

// Levels lists the levels in the order of the course. The caller owns the slice.
func Levels() []Level { return slices.Clone(levels) }

var levels = []Level{
	{
		Lesson: "setnx", Title: "A holder that dies", Strategy: "setnx", Goal: trace.PD, Faults: explore.Crash, Withstands: "naive-del", Moves: 4,
		Task:  "Let a client die in such a way that nobody ever gets the lock again.",
		Moral: "A record without an expiry outlives its owner. With PX, an expiry in milliseconds, it goes away by itself.",
	},
	{
		Lesson: "expiry", Title: "Between SETNX and EXPIRE", Strategy: "setnx-expire", Goal: trace.PD, Faults: explore.Crash, Withstands: "naive-del", Moves: 4,
		Task:  "This record expires, if it gets so far. Block the lock for ever all the same.",
		Moral: "A client can die between any two commands. SET with NX and PX is one command, so nothing comes between.",
	},
	{
		Lesson: "expiry", Title: "A reply that doesn't come", Strategy: "setnx-expire", Goal: trace.PD, Faults: explore.ReplyLost, Withstands: "naive-del", Moves: 5,
		Task:  "Nobody dies this time. Lose one reply, and block the lock for ever.",
		Moral: "A client that hears nothing gives up, and its record stays. Where one command stores the expiry too, it stays for one TTL.",
	},
	{
		Lesson: "stamps", Title: "Decided by an old reading", Strategy: "timestamp-del", Goal: trace.DG, Faults: explore.Crash, Clients: 3, Withstands: "naive-del", Moves: 15,
		Task:  "Get two clients to hold the lock at once. One may die, but nobody has to.",
		Moral: "A client that takes over decides by what it read earlier, and the record may be another's by then. A server that expires the key itself leaves nothing to take over.",
	},
	{
		Lesson: "clocks", Title: "By whose clock", Strategy: "getset-equal", Goal: trace.DG, Faults: explore.ClientClock, Withstands: "naive-del", Moves: 12,
		Task:  "One client's wall clock may jump. Get both to hold the lock.",
		Moral: "A stamp is compared with the reader's clock. A TTL runs on the server's clock alone.",
	},
	{
		Lesson: "release", Title: "DEL doesn't ask", Strategy: "naive-del", Goal: trace.FR, Faults: explore.Pause, Withstands: "setpx-lua", Moves: 7,
		Task:  "Pause one client, and let its DEL remove the other's record.",
		Moral: "DEL removes any record. After a pause the record was another client's.",
	},
	{
		Lesson: "lua", Title: "Between GET and DEL", Strategy: "get-then-del", Goal: trace.FR, Faults: explore.Pause, Withstands: "setpx-lua", Moves: 9,
		Task:  "This lock asks with GET whose record it is. Let its DEL remove the other's record all the same.",
		Moral: "GET was true when it was answered, and DEL came later. A script compares and deletes in one step.",
	},
	{
		Lesson: "lua", Title: "WATCH without MULTI", Strategy: "setpx-watch-bare", Goal: trace.FR, Faults: explore.Pause, Withstands: "setpx-watch", Moves: 13,
		Task:  "This one watches the key before it looks. Let it remove the other's record.",
		Moral: "WATCH calls off an EXEC and nothing else. Without MULTI the DEL runs at once.",
	},
	{
		Lesson: "network", Title: "A command that arrives twice", Strategy: "naive-del", Goal: trace.FR, Faults: explore.Duplicate, Withstands: "setpx-lua", Moves: 7,
		Task:  "Nobody is paused. One request may arrive a second time: let it remove the other's record.",
		Moral: "A command that is sent again must do no harm the second time. A compare-and-delete then finds another's token.",
	},
	{
		Lesson: "network", Title: "Refused by its own record", Strategy: "setpx-lua", Goal: trace.FN, Faults: explore.ReplyLost, Withstands: "setpx-get", Moves: 3,
		Task:  "Lose one reply, so that a client is told no while its own record is stored.",
		Moral: "No reply says nothing about what was done. A client that asks again with its token learns whether it has the lock.",
	},
	{
		Lesson: "pauses", Title: "The right lock, and an update lost", Strategy: "setpx-lua", Goal: trace.SW, Faults: explore.Pause, Withstands: "fenced", Moves: 12,
		Task:  "The release is right. Pause one client so that its write lands on top of a newer holder's.",
		Moral: "No lock stops a client that wakes up too late. The resource can, if each write carries a number that only grows.",
	},
	{
		Lesson: "fencing", Title: "A number drawn too late", Strategy: "fenced-late", Goal: trace.SW, Faults: explore.Pause, Withstands: "fenced", Moves: 16,
		Task:  "The resource refuses lower numbers. Let the late client have the higher one.",
		Moral: "The number has to come with the grant. Drawn by a second command, it is in the order of the drawing.",
	},
	{
		Lesson: "clock", Title: "The server's clock", Strategy: "setpx-lua", Goal: trace.DG, Faults: explore.ServerClock, Withstands: "getset-equal", Moves: 5,
		Task:  "The server's clock may jump. Get both clients to hold the lock.",
		Moral: "A TTL trusts the server's clock. A stamp doesn't, but trusts the clients' clocks instead.",
	},
	{
		Lesson: "redlock", Title: "How long did the vote take", Strategy: "redlock-no-elapsed", Goal: trace.DG, Faults: explore.Pause, Withstands: "redlock", Moves: 15,
		Task:  "A majority of three servers decides. Pause one client so that both have a majority.",
		Moral: "Votes that took longer than the TTL are worth nothing. Redlock reads its clock after the last vote, and refuses itself.",
	},
}
