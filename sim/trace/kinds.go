package trace

import "fmt"

// actor is the part of the world by which an event is done.
type actor uint8

const (
	byClient actor = iota
	byNode
	byNet   // the network, which loses and delays
	byStore // the resource
)

// kinds is the one table of the kinds of event: the word that traces, JSON and the terminal
// interface use, the actor, and the text. (Package timeline has another table by kind, for
// marks.)
var kinds = [...]struct {
	name string
	by   actor
	text func(*Trace, *Event) string
}{
	KindNone: {"none", byClient, says("")},

	KindWant:          {"want", byClient, says("wants what is cached")},
	KindAcquire:       {"acquire", byClient, acquireText},
	KindGranted:       {"granted", byClient, grantedText},
	KindRefused:       {"refused", byClient, says("is refused")},
	KindFailed:        {"failed", byClient, saysNote("gives up: ")},
	KindEnter:         {"enter", byClient, says("enters the critical section")},
	KindLeave:         {"leave", byClient, says("leaves the critical section")},
	KindRelease:       {"release", byClient, says("releases")},
	KindReleased:      {"released", byClient, says("is done releasing")},
	KindReleaseFailed: {"release-failed", byClient, saysNote("release failed: ")},
	KindExtend:        {"extend", byClient, says("extends")},
	KindExtended:      {"extended", byClient, func(_ *Trace, e *Event) string { return "extended, lease until " + Duration(e.By) }},
	KindExtendFailed:  {"extend-failed", byClient, saysNote("extension failed: ")},
	KindDone:          {"done", byClient, says("has finished")},
	KindLapse:         {"lapse", byClient, lapseText},

	KindSend: {"send", byClient, func(t *Trace, e *Event) string { return "-> " + t.Nodes[e.Node] + "  " + CommandText(e.Args) }},
	KindExecute: {"execute", byNode, func(t *Trace, e *Event) string {
		return t.Clients[e.Client] + ": " + CommandText(e.Args) + " = " + e.Reply + t.changesText(e)
	}},
	KindReceive: {"receive", byClient, func(t *Trace, e *Event) string { return "<- " + t.Nodes[e.Node] + "  " + e.Reply }},
	KindTimeout: {"timeout", byClient, func(t *Trace, e *Event) string {
		if e.Ref == None {
			return fmt.Sprintf("no message from %s in %s", t.Nodes[e.Node], Duration(e.By))
		}
		return fmt.Sprintf("no reply from %s in %s: timeout", t.Nodes[e.Node], Duration(e.By))
	}},
	KindUnreachable: {"unreachable", byNode, unreachableText},
	KindDisconnect:  {"disconnect", byClient, func(t *Trace, e *Event) string { return "<- " + t.Nodes[e.Node] + "  " + t.Disconnection(e) }},
	KindLost:        {"lost", byNet, saysNote("")},
	KindBlock: {"block", byNode, func(t *Trace, e *Event) string {
		return t.Clients[e.Client] + ": " + CommandText(e.Args) + " waits for an element"
	}},
	KindPush: {"push", byNode, func(t *Trace, e *Event) string { return "=> " + t.Clients[e.Client] + "  " + e.Reply }},

	KindClock: {"clock", byClient, func(_ *Trace, e *Event) string { return fmt.Sprintf("reads its %s clock: %s", e.Note, Instant(e.By)) }},
	KindSleep: {"sleep", byClient, sleepText},
	KindWake:  {"wake", byClient, wakeText},
	KindAwait: {"await", byClient, func(t *Trace, e *Event) string {
		if e.By == Never {
			return "waits for a message from " + t.Nodes[e.Node]
		}
		return fmt.Sprintf("waits for a message from %s, at most %s", t.Nodes[e.Node], Duration(e.By))
	}},

	KindRead:  {"read", byClient, func(t *Trace, e *Event) string { return t.Workload.readText(e.Value) + fenceText(e.Fence) }},
	KindWrite: {"write", byClient, func(t *Trace, e *Event) string { return t.Workload.writeText(e.Value) + fenceText(e.Fence) }},
	KindQuery: {"query", byClient, func(_ *Trace, e *Event) string {
		return fmt.Sprintf("queries the database: version %d%s", e.Value, fenceText(e.Fence))
	}},
	KindReject: {"reject", byStore, func(t *Trace, e *Event) string { return fmt.Sprintf("refuses %s: %s", t.Clients[e.Client], e.Note) }},
	KindUpdate: {"update", byStore, func(_ *Trace, e *Event) string {
		return fmt.Sprintf("the database has version %d from now on", e.Value)
	}},

	KindExpire: {"expire", byNode, func(t *Trace, e *Event) string { return "expires" + t.lifeOf(e) + t.changesText(e) }},
	KindEvict:  {"evict", byNode, saysChanges("evicts")},
	KindFlush:  {"script-flush", byNode, says("forgets its scripts")},
	KindStray:  {"stray", byNode, saysChanges("stores what another program writes")},

	KindReplicate: {"replicate", byNode, func(t *Trace, e *Event) string {
		return "gets what " + t.Clients[e.Client] + " wrote" + t.changesText(e)
	}},
	KindSync:     {"sync", byNode, func(t *Trace, e *Event) string { return e.Note + t.changesText(e) }},
	KindFailover: {"failover", byNode, saysNote("")},

	KindPause:     {"pause", byClient, pauseText},
	KindResume:    {"resume", byClient, saysBy("goes on after ")},
	KindCrash:     {"crash", byClient, saysNote("crashes")},
	KindHang:      {"hang", byClient, hangText},
	KindExit:      {"exit", byClient, says("is told to exit: a hook, in another thread, releases its lock")},
	KindThreadEnd: {"thread-end", byClient, says("ends without a word")},
	KindWallStep:  {"clock-step", byClient, saysBy("wall clock jumps by ")},
	KindNodeStep:  {"node-clock-step", byNode, func(t *Trace, e *Event) string { return "clock jumps by " + Duration(e.By) + t.changesText(e) }},
	KindDown:      {"down", byNode, func(t *Trace, e *Event) string { return e.DownText() + t.changesText(e) }},
	KindUp:        {"up", byNode, func(t *Trace, e *Event) string { return "comes back, " + e.Note + t.changesText(e) }},
	KindNetwork:   {"network", byNet, saysNote("")},
	KindStop:      {"stop", byClient, says("is stopped: the run is over")},
}

// String returns the kind's word, which formats and commands use; it never changes.
func (k Kind) String() string { return kinds[k].name }

// Fault reports whether something goes wrong by events of the kind: a fault has befallen a client, a server or the
// network. The end of a fault, such as a server that comes back, is none.
func (k Kind) Fault() bool {
	switch k {
	case KindPause, KindCrash, KindHang, KindExit, KindThreadEnd, KindWallStep, KindLost, KindNetwork,
		KindDown, KindNodeStep, KindFailover, KindEvict, KindFlush, KindStray:
		return true
	}
	return false
}

// AtNode reports whether events of the kind are a server's.
func (k Kind) AtNode() bool { return kinds[k].by == byNode }

// says makes the text of events without details.
func says(text string) func(*Trace, *Event) string {
	return func(*Trace, *Event) string { return text }
}

// saysNote makes a text that ends in the event's note.
func saysNote(text string) func(*Trace, *Event) string {
	return func(_ *Trace, e *Event) string { return text + e.Note }
}

// saysBy makes a text that ends in the event's span.
func saysBy(text string) func(*Trace, *Event) string {
	return func(_ *Trace, e *Event) string { return text + Duration(e.By) }
}

// DownText tells how a server stopped, without its effect on keys.
func (e *Event) DownText() string {
	if e.Note != "" {
		return e.Note
	}
	return "goes down"
}

// saysChanges makes a text that ends in the event's effect on its node's keys.
func saysChanges(text string) func(*Trace, *Event) string {
	return func(t *Trace, e *Event) string { return text + t.changesText(e) }
}

func hangText(_ *Trace, e *Event) string {
	if e.Note != "" {
		return "main thread ends by " + e.Note + ", without a release"
	}
	return "main thread hangs, for good"
}

func unreachableText(t *Trace, e *Event) string {
	why := "is down"
	if e.Note != "" {
		why = e.Note
	}
	return fmt.Sprintf("%s: %s's %s is not answered", why, t.Clients[e.Client], CommandText(e.Args))
}

// Disconnection says why a client has no reply, by its KindDisconnect: the server was down and refused
// the connection, or it had ended the one that the client had, and may be up again.
func (t *Trace) Disconnection(e *Event) string {
	if i := e.Ref - 1; i >= 0 && i < len(t.Events) && t.Events[i].Kind == KindUnreachable && t.Events[i].Note == "" {
		return "connection refused"
	}
	return "connection closed"
}

// Actor returns the name of the event's actor: a client, or one of its other threads, a node,
// the network, or the store.
func (t *Trace) Actor(e *Event) string {
	switch kinds[e.Kind].by {
	case byNode:
		return t.Nodes[e.Node]
	case byNet:
		return "net"
	case byStore:
		return "store"
	}
	if e.Thread > 0 {
		return fmt.Sprintf("%s/%d", t.Clients[e.Client], e.Thread+1)
	}
	return t.Clients[e.Client]
}

// Text returns the event in words, without its instant and its actor.
func (t *Trace) Text(e *Event) string { return kinds[e.Kind].text(t, e) }
