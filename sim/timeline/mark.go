package timeline

import (
	"lockstep/sim/trace"
)

// Mark is the sign for an event in its lanes. A view has a shape for each mark, or a reason
// for having none.
type Mark uint8

// The marks.
const (
	NoMark   Mark = iota
	Bad           // completes a violation
	Sends         // a command leaves a client
	Retries       // a client waits before it asks again
	Granted       // a client gets the lock
	Refused       // it is refused
	Enters        // it enters the critical section
	Leaves        // it leaves it
	Releases      // it releases
	Extends       // its lease goes on
	Reads         // reads the resource, or the database behind it
	Writes        // writes the resource
	Rejected      // the resource refuses an access
	Crashes       // a client crashes
	Resumes       // a client or a node goes on
	Fails         // a client fails to acquire, to extend or to release
	GivesUp       // it has waited long enough for a reply
	Loses         // a command or its reply is lost
	Falls         // a node goes down
	Jumps         // a clock jumps, or something is lost, replaced, changed from outside

	Marks // the number of marks
)

// Weight orders marks that fall on one place: a view shows the heaviest. An event that proves a
// violation, and the command that it answers, come before all others; 0 is for events without a mark.
func (t *Timeline) Weight(e *trace.Event) int {
	w := markWeights[t.Mark(e)]
	if w > 0 && (t.Proves(e) || t.fatal[e.Seq]) {
		w += proofWeight
	}
	return w
}

// proofWeight is more than any mark's own weight.
const proofWeight = 10

var markWeights = [Marks]int{
	Sends: 1, Retries: 2, Extends: 3, Refused: 4, Releases: 4, Fails: 4, GivesUp: 4, Loses: 4, Enters: 5, Leaves: 5, Resumes: 5,
	Granted: 6, Jumps: 6, Reads: 7, Writes: 7, Rejected: 7, Crashes: 8, Falls: 8, Bad: 9,
}

// lanes is a set of kinds of lane in which an event stands.
type lanes uint8

const (
	onClient lanes = 1 << iota // the lane of its client's deeds
	onNode                     // the lane of its node's record, and the majority's
	onStore
)

// Arrow is the direction of a message, for views with a column for each actor.
type Arrow uint8

// The arrows.
const (
	NoArrow   Arrow = iota
	ToNode          // a command, from the client to the node
	FromNode        // its reply, or the news that there will be none
	ToStore         // an access, from the client to the resource
	FromStore       // its refusal
)

// row is the part of a kind of event that every view needs.
type row struct {
	mark  Mark
	why   string // of NoMark: the reason
	on    lanes
	arrow Arrow
}

// table has a row for each kind of event. An event that proves a violation is
// pointed out in its lanes even if it has no mark.
var table = withFaults([trace.Kinds]row{
	trace.KindNone:          {why: "it does not occur"},
	trace.KindWant:          {why: "the client has only its errand: the acquisition follows", on: onClient},
	trace.KindAcquire:       {why: "the belief's bar begins here", on: onClient},
	trace.KindGranted:       {mark: Granted, on: onClient},
	trace.KindRefused:       {mark: Refused, on: onClient},
	trace.KindFailed:        {mark: Fails, on: onClient},
	trace.KindEnter:         {mark: Enters, on: onClient},
	trace.KindLeave:         {mark: Leaves, on: onClient},
	trace.KindRelease:       {mark: Releases, on: onClient},
	trace.KindReleased:      {why: "the lease was over when the release began, which has a mark", on: onClient},
	trace.KindReleaseFailed: {mark: Fails, on: onClient},
	trace.KindExtend:        {why: "its command has a mark", on: onClient},
	trace.KindExtended:      {mark: Extends, on: onClient},
	trace.KindExtendFailed:  {mark: Fails, on: onClient},
	trace.KindDone:          {why: "the bar of the deeds ends here", on: onClient},
	trace.KindLapse:         {why: "the belief's bar changes here", on: onClient},

	trace.KindSend:        {mark: Sends, on: onClient, arrow: ToNode},
	trace.KindExecute:     {why: "the record's bar shows what it changed; only one that completes a violation is bad", on: onNode},
	trace.KindReceive:     {why: "what the client makes of the reply has a mark", on: onClient, arrow: FromNode},
	trace.KindTimeout:     {mark: GivesUp, on: onClient},
	trace.KindUnreachable: {mark: Loses, on: onNode},
	trace.KindDisconnect:  {mark: Loses, on: onClient, arrow: FromNode},
	trace.KindLost:        {mark: Loses, on: onClient},
	trace.KindBlock:       {why: "the client's command has a mark, and so has what comes of it", on: onNode},
	trace.KindPush:        {why: "the subscriber's receipt has an arrow", on: onNode},

	trace.KindClock: {why: "it changes nothing by itself", on: onClient},
	trace.KindSleep: {mark: Retries, on: onClient},
	trace.KindAwait: {mark: Retries, on: onClient},
	trace.KindWake:  {why: "what the client does next has a mark", on: onClient},

	trace.KindRead:   {mark: Reads, on: onClient | onStore, arrow: ToStore},
	trace.KindWrite:  {mark: Writes, on: onClient | onStore, arrow: ToStore},
	trace.KindQuery:  {mark: Reads, on: onClient | onStore, arrow: ToStore},
	trace.KindReject: {mark: Rejected, on: onClient | onStore, arrow: FromStore},
	trace.KindUpdate: {mark: Jumps, on: onStore},

	trace.KindExpire: {why: "the record's bar ends here", on: onNode},

	trace.KindReplicate: {why: "the bar of the replica's record shows what it changed", on: onNode},
	trace.KindSync:      {why: "the bar of the replica's record shows what was copied", on: onNode},

	trace.KindPause:   {why: "the bar of the deeds changes here", on: onClient},
	trace.KindResume:  {mark: Resumes, on: onClient},
	trace.KindCrash:   {mark: Crashes, on: onClient},
	trace.KindHang:    {why: "the bar of the deeds changes here", on: onClient},
	trace.KindDown:    {mark: Falls, on: onNode},
	trace.KindUp:      {mark: Resumes, on: onNode},
	trace.KindNetwork: {why: "it concerns a link, which has no lane; the commands that meet it have marks"},
	trace.KindStop:    {why: "the bar of the deeds ends here", on: onClient},
})

// withFaults adds the rows of the faults that are marked alike, which their meanings tell apart.
func withFaults(rows [trace.Kinds]row) [trace.Kinds]row {
	for k := range trace.Kind(trace.Kinds) {
		switch {
		case k.Means() == "":
		case k.AtClient():
			rows[k] = row{mark: Jumps, on: onClient}
		case k.AtNode():
			rows[k] = row{mark: Jumps, on: onNode}
		}
	}
	return rows
}

// Mark returns the mark of an event, or NoMark.
func (t *Timeline) Mark(e *trace.Event) Mark {
	switch {
	case (e.Kind == trace.KindWrite || e.Kind == trace.KindExecute) && t.Completes(e):
		return Bad
	case e.Kind == trace.KindSleep && e.Phase != trace.PhaseAcquire:
		return NoMark // work, or the wait between two cycles
	}
	return table[e.Kind].mark
}

// In reports whether an event stands in a lane: there its mark is drawn, and there
// it is pointed out if it proves a violation.
func (t *Timeline) In(l Lane, e *trace.Event) bool {
	on := table[e.Kind].on
	switch l.Kind {
	case Deeds:
		return on&onClient != 0 && e.Client == l.Index
	case Record:
		return on&onNode != 0 && e.Node == l.Index
	case Majority:
		return on&onNode != 0
	case Store:
		return on&onStore != 0
	}
	return false
}

// Doer returns the client that is the actor of an event, or trace.None if a node, the network
// or the resource is.
func (t *Timeline) Doer(e *trace.Event) int {
	if !e.Kind.AtClient() {
		return trace.None
	}
	return e.Client
}

// NodeOf returns the node that is the actor of an event, or trace.None.
func NodeOf(e *trace.Event) int {
	if !e.Kind.AtNode() {
		return trace.None
	}
	return e.Node
}

// ArrowOf returns the direction of an event's message.
func ArrowOf(e *trace.Event) Arrow { return table[e.Kind].arrow }

// Touches reports whether the event is an access to the resource or to the
// database behind it, be it refused.
func Touches(e *trace.Event) bool {
	a := table[e.Kind].arrow
	return a == ToStore || a == FromStore
}
