// Package legend explains the glyphs of a diagram in the words of its legend.
package legend

import (
	"strings"

	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// Frame explains the glyphs around bars and marks, which a reader can do without rather than without those.
func Frame(g *draw.Glyphs) []draw.Sign {
	return []draw.Sign{
		{g.Enter + " " + g.Leave, "enters and leaves the critical section; on a redis row: stored and gone"},
		{g.Pointer, "the row of who did the last event"}, {g.Link, "joins the rows of the last event"},
		{g.Gap, "time passes, not to scale"}, {g.Chasm, "very much time passes"},
	}
}

// Lanes explains the glyphs of the lanes: in ASCII some of them look like some of the axis. A legend has the words before a colon. The signs that
// a run is there to show come first, and then those of most runs in the order in which they appear: so a sign that comes moves few others.
func Lanes(g *draw.Glyphs) []draw.Sign {
	return []draw.Sign{
		{g.Bad, "violation: it breaks a property; the worst code first"}, {g.Reject, "rejected: by the resource"},
		{g.Awake, "runs"}, {g.Send, "sends: a command to a server"}, {g.Wants, "wants: the lock, and doesn't have it yet"}, {g.Granted, "granted: it has the lock"},
		{g.Refused, "refused, or waits before it asks again"}, {g.Inside, "inside: the critical section"}, {g.Read, "reads: the resource"}, {g.Write, "writes: the resource"},
		{g.Paused, "paused"}, {g.Held, "held up: the script has others act, which is no fault of this client"}, {g.Lapsed, "lease over: it still believes that it has the lock"},
		{g.Resume, "is back: a client or a server"}, {g.Extend, "extends: the lease; on a redis row: another expiry"}, {g.Release, "frees: the lock"}, {g.Crash, "crashes"},
		{g.Lost, "lost: a command or its reply"}, {g.GivesUp, "timeout: it gives up waiting for a reply"}, {g.Fails, "fails: to acquire, extend or release"},
		{g.Down, "down: a server"}, {g.Retired, "out of service: a server that no client goes to any more, as a replica has taken over"}, {g.Fault, "a client's or a server's clock jumps"}, {g.Fault, "a client's process, or a thread of it, ends"},
		{g.Fault, "a server loses a key or its scripts, takes over, or is written to from outside"}, {g.Fault, "on the resource's row: the database has a new version"},
		{g.Nobody, "no majority: no client has its record on most servers"},
	}
}

// Meaning is that of an event whose sign has several, as a legend has it: of that for all that befalls a client, a server or the resource, and
// of that for a refusal, after which not everybody asks again. All other signs have one, in Lanes.
func Meaning(k trace.Kind) string {
	switch k {
	case trace.KindUpdate:
		return "new version"
	case trace.KindRefused:
		return "refused"
	case trace.KindSleep, trace.KindAwait:
		return "waits"
	}
	means := k.Means()
	for _, words := range briefFaults {
		means = strings.ReplaceAll(means, words[0], words[1])
	}
	return means
}

// briefFaults are the meanings of faults in fewer words.
var briefFaults = [][2]string{
	{"another program writes the key", "written from outside"}, {"its process is told to exit", "told to exit"}, {"it takes over", "takes over"},
	{"it forgets its scripts", "scripts forgotten"}, {"it drops a key", "drops a key"}, {"a thread of it ends", "thread ends"}, {"its clock jumps", "clock jumps"},
}
