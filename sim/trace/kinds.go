package trace

import "fmt"

// Kind is the kind of an event. Its String is the word that traces, JSON and the terminal
// interface use.
type Kind uint8

// The kinds of event. Those of a client carry the client's index; those of a
// node carry the node's, and the client on whose behalf it acted if there is one.
const (
	KindNone Kind = iota

	// A client's use of the lock.
	KindWant          // wants the cached entry: a request has come in
	KindAcquire       // calls Acquire
	KindGranted       // Acquire returned a lease, which is live from this instant
	KindRefused       // Acquire returned ErrNotAcquired
	KindFailed        // Acquire returned another error: its effect on Redis is unknown to the client
	KindEnter         // enters the critical section
	KindLeave         // leaves it
	KindRelease       // calls Release: the lease is over, even if the record stays
	KindReleased      // Release returned without an error
	KindReleaseFailed // Release returned an error
	KindExtend        // calls Extend
	KindExtended      // Extend reported that the lease goes on without a gap
	KindExtendFailed  // Extend returned an error
	KindDone          // has finished its program
	KindLapse         // the client's own clock reads the lease's deadline

	// The two halves of a request, and their failures.
	KindSend        // a command left the client
	KindExecute     // a node executed it; the reply is in flight
	KindReceive     // the client read the reply
	KindTimeout     // the client gave up waiting for the reply
	KindUnreachable // a command arrived at a node that is down, or on a connection that the node has ended
	KindDisconnect  // the client learnt that; or that the connection on which it waits for messages is closed
	KindLost        // the network lost a request or a reply
	KindBlock       // a node keeps a command waiting for an element
	KindPush        // a node sent a published message to a subscriber

	// Time, as a client sees it.
	KindClock // reads one of its clocks
	KindSleep // goes to sleep
	KindWake  // its sleep is over
	KindAwait // waits for a published message

	// The resource.
	KindRead
	KindWrite
	KindQuery  // a client read the database behind the cache
	KindReject // the resource refused an access with an old fencing token
	KindUpdate // the database behind the cache has a new version

	// A node's own changes.
	KindExpire // a key expired
	KindEvict  // a key was dropped before its expiry
	KindFlush  // the script cache was emptied
	KindStray  // another program stored its data under the lock's key

	// Replication.
	KindReplicate // a write reached a replica
	KindSync      // a server became a replica, and copied its master
	KindFailover  // a replica was made the master

	// Faults.
	KindPause
	KindResume
	KindCrash
	KindHang      // its main thread stops for good, the others go on
	KindExit      // its process is told to exit, and another thread releases its lock
	KindThreadEnd // one of its other threads ends without a word
	KindWallStep  // a client's wall clock jumped
	KindNodeStep  // a node's clock jumped
	KindDown
	KindUp
	KindNetwork // a link was cut, healed, slowed; a message delayed or duplicated
	KindStop    // the run is over for a client, which didn't crash and does nothing more

	// Kinds is the number of kinds, KindNone included.
	Kinds = int(KindStop) + 1
)

// actor is the part of the world by which an event is done.
type actor uint8

const (
	byClient actor = iota
	byNode
	byNet   // the network, which loses and delays
	byStore // the resource
)

// row describes a kind of event.
type row struct {
	name  string
	by    actor
	text  func(*Trace, *Event) string
	fault bool
	means string // see Kind.Means
}

// event is the row of a kind that is no fault.
func event(name string, by actor, text func(*Trace, *Event) string) row {
	return row{name: name, by: by, text: text}
}

// fault is the row of a kind by whose events something goes wrong. It has a meaning if all views show it by the sign
// that such faults share, in the lane of its actor. Package timeline says how they show a fault that has none.
func fault(name string, by actor, text func(*Trace, *Event) string, means string) row {
	return row{name, by, text, true, means}
}

// kinds is the one table of the kinds of event. (Package timeline has another one, of the marks that views have for
// them, and derives there those of faults with a meaning.)
var kinds = [...]row{
	KindNone: event("none", byClient, says("")),

	KindWant:          event("want", byClient, says("wants what is cached")),
	KindAcquire:       event("acquire", byClient, acquireText),
	KindGranted:       event("granted", byClient, grantedText),
	KindRefused:       event("refused", byClient, says("is refused")),
	KindFailed:        event("failed", byClient, saysNote("gives up: ")),
	KindEnter:         event("enter", byClient, says("enters the critical section")),
	KindLeave:         event("leave", byClient, says("leaves the critical section")),
	KindRelease:       event("release", byClient, says("releases")),
	KindReleased:      event("released", byClient, says("is done releasing")),
	KindReleaseFailed: event("release-failed", byClient, saysNote("release failed: ")),
	KindExtend:        event("extend", byClient, says("extends")),
	KindExtended:      event("extended", byClient, func(_ *Trace, e *Event) string { return "extended, lease until " + Duration(e.By) }),
	KindExtendFailed:  event("extend-failed", byClient, saysNote("extension failed: ")),
	KindDone:          event("done", byClient, says("has finished")),
	KindLapse:         event("lapse", byClient, lapseText),

	KindSend: event("send", byClient, func(t *Trace, e *Event) string { return "-> " + t.Nodes[e.Node] + "  " + CommandText(e.Args) }),
	KindExecute: event("execute", byNode, func(t *Trace, e *Event) string {
		return t.Clients[e.Client] + ": " + CommandText(e.Args) + " = " + e.Reply + t.changesText(e)
	}),
	KindReceive: event("receive", byClient, func(t *Trace, e *Event) string { return "<- " + t.Nodes[e.Node] + "  " + e.Reply }),
	KindTimeout: event("timeout", byClient, func(t *Trace, e *Event) string {
		if e.Ref == None {
			return fmt.Sprintf("no message from %s in %s", t.Nodes[e.Node], Duration(e.By))
		}
		return fmt.Sprintf("no reply from %s in %s: timeout", t.Nodes[e.Node], Duration(e.By))
	}),
	KindUnreachable: event("unreachable", byNode, unreachableText),
	KindDisconnect:  event("disconnect", byClient, func(t *Trace, e *Event) string { return "<- " + t.Nodes[e.Node] + "  " + t.Disconnection(e) }),
	KindLost:        fault("lost", byNet, saysNote(""), ""),
	KindBlock: event("block", byNode, func(t *Trace, e *Event) string {
		return t.Clients[e.Client] + ": " + CommandText(e.Args) + " waits for an element"
	}),
	KindPush: event("push", byNode, func(t *Trace, e *Event) string { return "=> " + t.Clients[e.Client] + "  " + e.Reply }),

	KindClock: event("clock", byClient, func(_ *Trace, e *Event) string {
		since := ""
		if e.Note == "monotonic" { // its numbers compare with no instant of the run
			since = " since boot"
		}
		return fmt.Sprintf("reads its %s clock: %s%s", e.Note, Instant(e.By), since)
	}),
	KindSleep: event("sleep", byClient, sleepText),
	KindWake:  event("wake", byClient, wakeText),
	KindAwait: event("await", byClient, func(t *Trace, e *Event) string {
		if e.By == Never {
			return "waits for a message from " + t.Nodes[e.Node]
		}
		return fmt.Sprintf("waits for a message from %s, at most %s", t.Nodes[e.Node], Duration(e.By))
	}),

	KindRead:  event("read", byClient, func(t *Trace, e *Event) string { return t.Workload.readText(e.Value) + fenceText(e.Fence) }),
	KindWrite: event("write", byClient, func(t *Trace, e *Event) string { return t.Workload.writeText(e.Value) + fenceText(e.Fence) }),
	KindQuery: event("query", byClient, func(_ *Trace, e *Event) string {
		return fmt.Sprintf("queries the database: version %d%s", e.Value, fenceText(e.Fence))
	}),
	KindReject: event("reject", byStore, func(t *Trace, e *Event) string { return fmt.Sprintf("refuses %s: %s", t.Clients[e.Client], e.Note) }),
	KindUpdate: event("update", byStore, func(_ *Trace, e *Event) string {
		return fmt.Sprintf("the database has version %d from now on", e.Value)
	}),

	KindExpire: event("expire", byNode, func(t *Trace, e *Event) string { return t.expiring(e) + t.lifeOf(e) + t.changesText(e) }),
	KindEvict:  fault("evict", byNode, saysChanges("evicts"), "it drops a key"),
	KindFlush:  fault("script-flush", byNode, says("forgets its scripts"), "it forgets its scripts"),
	KindStray:  fault("stray", byNode, saysChanges("stores what another program writes"), "another program writes the key"),

	KindReplicate: event("replicate", byNode, func(t *Trace, e *Event) string {
		if e.Client == None {
			return "does as its master did" + t.changesText(e)
		}
		return "gets what " + t.Clients[e.Client] + " wrote" + t.changesText(e)
	}),
	KindSync:     event("sync", byNode, func(t *Trace, e *Event) string { return e.Note + t.changesText(e) }),
	KindFailover: fault("failover", byNode, saysNote(""), "it takes over"),

	KindPause:     fault("pause", byClient, pauseText, ""),
	KindResume:    event("resume", byClient, saysBy("goes on after ")),
	KindCrash:     fault("crash", byClient, saysNote("crashes"), ""),
	KindHang:      fault("hang", byClient, hangText, ""),
	KindExit:      fault("exit", byClient, says("is told to exit: a hook, in another thread, releases its lock"), "its process is told to exit"),
	KindThreadEnd: fault("thread-end", byClient, says("ends without a word"), "a thread of it ends"),
	KindWallStep:  fault("clock-step", byClient, saysBy("wall clock jumps by "), "its clock jumps"),
	KindNodeStep:  fault("node-clock-step", byNode, func(t *Trace, e *Event) string { return "clock jumps by " + Duration(e.By) + t.changesText(e) }, "its clock jumps"),
	KindDown:      fault("down", byNode, func(t *Trace, e *Event) string { return e.DownText() + t.changesText(e) }, ""),
	KindUp:        event("up", byNode, func(t *Trace, e *Event) string { return "comes back, " + e.Note + t.changesText(e) }),
	KindNetwork:   fault("network", byNet, saysNote(""), ""),
	KindStop:      event("stop", byClient, says("is stopped: the run is over")),
}

// String returns the kind's word, which formats and commands use; it never changes.
func (k Kind) String() string { return kinds[k].name }

// Fault reports whether something goes wrong by events of the kind: a fault has befallen a client, a server or the
// network. The end of a fault, such as a server that comes back, is none.
func (k Kind) Fault() bool { return kinds[k].fault }

// Means says, of a kind of fault whose sign views have for others, too, which one it is: "it drops a key". It is
// empty for all other kinds.
func (k Kind) Means() string { return kinds[k].means }

// AtClient reports whether events of the kind are a client's.
func (k Kind) AtClient() bool { return kinds[k].by == byClient }

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

// resource is the resource of a lock, as the actor of events, by its name in scripts.
const resource = "resource"

// Actor returns the name of the event's actor: a client, or one of its other threads, a node,
// the network, or the resource.
func (t *Trace) Actor(e *Event) string {
	switch kinds[e.Kind].by {
	case byNode:
		return t.Nodes[e.Node]
	case byNet:
		return "net"
	case byStore:
		return resource
	}
	if e.Thread > 0 {
		return fmt.Sprintf("%s/%d", t.Clients[e.Client], e.Thread+1)
	}
	return t.Clients[e.Client]
}

// Text returns the event in words, without its instant and its actor.
func (t *Trace) Text(e *Event) string { return kinds[e.Kind].text(t, e) }
