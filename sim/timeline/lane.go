package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim/trace"
)

// Lane is one row of the picture.
type Lane struct {
	Kind  LaneKind
	Index int // of the client or the node; 0 for the other kinds
}

// LaneKind is the subject of a lane.
type LaneKind uint8

// The kinds of lane, in the order in which they stand.
const (
	Deeds      LaneKind = iota // a client's actions
	Belief                     // its belief about its lease
	Record                     // a node's record: the truth
	Majority                   // the client whose records are on enough nodes
	Believers                  // the number of clients that believe that they hold the lock
	Store                      // the accesses to the resource
	Violations                 // the properties that broke, at their instants
)

// Lanes returns all lanes of the run, in order. A client has two even if it never
// begins, because a view that hides the future cannot know that; the probe has
// its two only if it acts. Several nodes have a lane for all of them beside their
// own. A view with little room leaves lanes out.
func (t *Timeline) Lanes() []Lane {
	var lanes []Lane
	for i := range t.Clients {
		if t.Acts(i) {
			lanes = append(lanes, Lane{Deeds, i}, Lane{Belief, i})
		}
	}
	for i := range t.Nodes {
		lanes = append(lanes, Lane{Record, i})
	}
	if len(t.Nodes) > 1 {
		lanes = append(lanes, Lane{Kind: Majority})
	}
	return append(lanes, Lane{Kind: Believers}, Lane{Kind: Store}, Lane{Kind: Violations})
}

// Acts reports whether a client belongs into the picture: every client does, but
// the probe only if the run needed it.
func (t *Timeline) Acts(client int) bool {
	return t.Begins[client] != trace.None || t.Clients[client] != trace.Probe
}

// Bar is the contents of a lane at a position. Bars are comparable: neighbouring positions
// with equal bars are one span. Fields that a kind does not mention are zero.
type Bar struct {
	Kind    BarKind
	Client  int           // of Believes, Lapsed, Wants, Stored, Enough: the client, or trace.None
	Written int           // of Stored: the Seq of the event that stored the record
	Expires time.Duration // of Stored: the record's true expiry, or trace.Never; one that is prolonged is another bar
	Count   int           // of Count: the number of believers
	Fence   int64         // of Believes: the fencing token that the client has with the lock, or 0
	Sent    int           // of Deeds: the Seq of the client's request that is held up or slow on its way, the oldest of several, or 0
}

// BarKind is the meaning of a bar.
type BarKind uint8

// The kinds of bar, by lane.
const (
	Empty BarKind = iota

	Awake        // Deeds: free to act
	Paused       // Deeds: paused outside the critical section
	PausedInside // Deeds: paused in it
	Held         // Deeds: held up by the script outside the critical section, which is no pause
	HeldInside   // Deeds: held up in it
	Hung         // Deeds: paused for good
	Failed       // Deeds: an exception has ended its work
	Inside       // Deeds: in the critical section
	Crashed      // Deeds

	Wants    // Belief: inside Acquire
	Believes // Belief: has a lease that is not over by its own clock
	Lapsed   // Belief: its clock says that the lease is over, and it goes on

	Stored  // Record: the lock's record
	Down    // Record: the node is down
	Retired // Record: the node runs, and no client goes to it any more

	Enough // Majority: one client's records are on enough nodes
	Split  // Majority: no client's records are

	Count // Believers
)

// Bar returns the contents of a lane at a position.
func (t *Timeline) Bar(l Lane, pos int) Bar {
	m := &t.Moments[pos]
	switch l.Kind {
	case Deeds:
		b := Bar{Kind: m.Clients[l.Index].deed()}
		if i := slices.IndexFunc(t.passages, func(p passage) bool { return p.client == l.Index && p.from <= pos && pos < p.to }); i >= 0 {
			b.Sent = t.passages[i].sent
		}
		return b
	case Belief:
		return m.Clients[l.Index].belief(l.Index)
	case Record:
		return m.Nodes[l.Index].bar()
	case Majority:
		switch {
		case m.Quorum.Owner != trace.None:
			return Bar{Kind: Enough, Client: m.Quorum.Owner}
		case m.Quorum.Split:
			return Bar{Kind: Split}
		}
	case Believers:
		return Bar{Kind: Count, Count: m.Believers}
	}
	return Bar{} // the resource and the violations are marks only
}

func (c *Client) deed() BarKind {
	switch {
	case c.Crashed:
		return Crashed
	case c.Threw:
		return Failed
	case c.Hung:
		return Hung
	case c.Held && c.Inside:
		return HeldInside
	case c.Held:
		return Held
	case c.Paused && c.Inside:
		return PausedInside
	case c.Paused:
		return Paused
	case c.Inside:
		return Inside
	case c.Stopped:
		return Empty
	}
	return Awake
}

func (c *Client) belief(client int) Bar {
	switch {
	case c.Believed && c.Live:
		return Bar{Kind: Believes, Client: client, Fence: c.Fence}
	case c.Believed:
		return Bar{Kind: Lapsed, Client: client}
	case c.Wants && !c.Crashed && !c.Stopped:
		return Bar{Kind: Wants, Client: client}
	}
	return Bar{}
}

func (n *Node) bar() Bar {
	switch {
	case !n.Up:
		return Bar{Kind: Down}
	case n.Successor != trace.None:
		return Bar{Kind: Retired}
	case n.Present:
		return Bar{Kind: Stored, Client: n.Owner, Written: n.Written, Expires: n.Expires}
	}
	return Bar{}
}

// Texts are the texts for the bar of a client's deeds, the longest first, with its length: its deed, and the request of
// its that is held up or slow on the way meanwhile. It is empty where the bar speaks for itself.
func (t *Timeline) Texts(b Bar, length string) (texts []string) {
	does := ""
	switch b.Kind {
	case Paused, PausedInside:
		does = "paused"
	case Held, HeldInside:
		does = "held up"
	}
	if b.Sent != 0 {
		sent := strings.ToUpper(t.Event(t.After(b.Sent)).Args[0]) + " under way"
		if does != "" {
			texts = append(texts, sent+", "+does+" for "+length, sent+", "+does+" "+length)
		}
		texts = append(texts, sent)
		if does == "" { // the same cells may have said before what it does
			texts = append(texts, "under way")
		}
	}
	if b.Kind == PausedInside || b.Kind == HeldInside {
		texts = append(texts, does+" inside for "+length, does+" "+length+" inside") // "inside 14.002s" reads like an instant
	}
	if does != "" {
		texts = append(texts, does+" for "+length, does+" "+length, does) // without the word it reads like one of the instants on the axis
	}
	return texts
}

// BeliefTexts are the texts for the bar of a client that believes from one position to another that it has the lock, the longest first. Where
// Redis has no record of it meanwhile, they say that it only thinks so. The number of its fencing token, by
// which a resource refuses one client and lets another in, goes last.
func (t *Timeline) BeliefTexts(b Bar, from, to int) []string {
	name := t.Clients[b.Client]
	texts := []string{name + " holds the lock", name + " holds", name}
	switch {
	case !t.thinks(b.Client, from, to):
	case t.had(b.Client, from, to):
		texts = []string{name + " held it, then only thinks so", name + " held it, thinks so", name}
	default:
		texts = []string{name + " thinks it holds the lock", name + " thinks it holds", name + " thinks so", name}
	}
	if b.Fence == 0 {
		return texts
	}
	with := fmt.Sprintf(", fence %d", b.Fence)
	return append([]string{texts[0] + with, texts[1] + with, name + with}, texts[1:]...)
}

// thinks reports whether a client has no record, or too few of them, at the last of some positions at which it believes that it holds the lock: or
// at that at which it begins to release, as that takes the record before the client has the reply.
func (t *Timeline) thinks(client, from, to int) bool {
	for pos := from + 1; pos <= to; pos++ {
		if e := t.Event(pos); e.Client == client && e.Kind == trace.KindRelease {
			to = pos
		}
	}
	return t.Moments[to].Quorum.Owner != client
}

// had reports whether a client has a record, or enough of them, at one of some positions.
func (t *Timeline) had(client, from, to int) bool {
	return slices.ContainsFunc(t.Moments[from:to+1], func(m Moment) bool { return m.Quorum.Owner == client })
}

// Expiry says when the record of a Stored bar expires: at each of its instants the same.
func (b Bar) Expiry() string {
	if b.Expires == trace.Never {
		return "no expiry"
	}
	return "expires " + trace.Brief(b.Expires)
}

// RecordTexts are the texts for the bar of a record that is on a node up to one position, seen from another, the longest first. Where it ended
// before its expiry, that is not told: it is an instant at which nothing happened to it.
func (t *Timeline) RecordTexts(b Bar, node, last, seen int) []string {
	who := "?"
	if b.Client != trace.None {
		who = t.Clients[b.Client]
	}
	texts := []string{t.Key + "=" + who, who}
	for pos := last + 1; pos <= seen; pos++ {
		if n := t.Moments[pos].Nodes[node].bar(); n != b {
			if b.Expires != trace.Never && n.Written != b.Written && t.Event(pos).Kind != trace.KindExpire {
				return texts
			}
			break
		}
	}
	return append([]string{texts[0] + ", " + b.Expiry()}, texts...)
}

// RetiredTexts are the texts for the bar of a node that is out of service from a position on, the longest first.
func (t *Timeline) RetiredTexts(node, pos int) []string {
	const out = "out of service"
	return []string{out + ": clients now go to " + t.Nodes[t.Moments[pos].Nodes[node].Successor], out, "unused"}
}

// EnoughTexts are the texts for the bar of a client that has enough nodes. Where one master is enough, that is its record there.
func (t *Timeline) EnoughTexts(client int) []string {
	name := t.Clients[client]
	if t.Need <= 1 {
		return []string{t.Key + "=" + name, name}
	}
	return []string{name + " has enough nodes", name}
}

// Span is a stretch throughout which a lane shows the same bar: half-open, from
// First up to but not including Next.
type Span struct {
	First, Next int
	Bar
}

// Spans returns the spans of a lane in order. They cover the positions from 0 to
// Last without a gap, and two neighbours differ: spans[i].Next == spans[i+1].First,
// and the last Next is Last()+1.
func (t *Timeline) Spans(l Lane) []Span {
	return spans(t.Last()+1, func(pos int) Bar { return t.Bar(l, pos) })
}

// Seen returns the spans of a lane in a view that shows only the positions at, ascending.
// They cover the indices of at as Spans covers the positions; a bar that begins and ends
// between two of them is missing.
func (t *Timeline) Seen(l Lane, at []int) []Span {
	return spans(len(at), func(i int) Bar { return t.Bar(l, at[i]) })
}

func spans(n int, bar func(int) Bar) []Span {
	var all []Span
	for i := range n {
		if b := bar(i); len(all) == 0 || all[len(all)-1].Bar != b {
			all = append(all, Span{First: i, Bar: b})
		}
		all[len(all)-1].Next = i + 1
	}
	return all
}

// Length returns the time for which a span of positions lasts, up to the end of the run.
func (t *Timeline) Length(s Span) time.Duration {
	return t.When(min(s.Next, t.Last())) - t.When(s.First)
}
