package pane

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// Lane is a row of the timeline's pane: a lane of the run, or a summary of
// several where rows are few.
type Lane struct {
	kind laneKind
	timeline.Lane
	hidden []string // of laneHidden: the clients whose rows don't fit
}

type laneKind uint8

const (
	laneOwn    laneKind = iota // the lane itself
	laneBlank                  // an empty row between groups
	laneClient                 // activity and belief in one row: Lane is that of the activity
	laneVotes                  // the record of each node, at the cursor
	laneHidden
)

// own reports whether the row stands for its Lane, not for an empty row or a summary.
func (l Lane) own() bool { return l.kind == laneOwn || l.kind == laneClient }

// The ways in which lanes save rows, tried one after another until they fit.
const (
	savesNothing = iota
	savesBlanks
	savesNodes   // several masters in two rows
	savesIdle    // the probe in one row, and idle clients, which believe nothing, either; no row of the resource or of violations that is empty
	savesDone    // those that have finished or crashed in one row
	savesStore   // accesses stand in the clients' rows, too
	savesVotes   // the state pane has them
	savesClients // each client in one row that does not believe that it has the lock
	savesCopies  // a master and its replicas in one row: at a failover that lacks which of them has the record
	savesBeliefs // those that do, too: their beliefs are then said to be left out
	savesProbe   // it is no client of the script
)

// PlanLanes chooses the lanes for a number of rows. The probe has none until it acts: it is no
// client of the script. With few rows it gives up, in this order: empty rows, a row for each node, the second row of the probe and of
// clients that have done nothing yet, and the rows of the damage where there is none; the second row of clients that have finished or crashed, the
// row of the resource, the votes of single nodes; at the end of a run those that took part in a violation keep theirs, and the probe has none. The deeds and the belief of a client that goes on share a row only
// in windows that have no room for two; a window with LeastRows has. Those of one that believes that it has the lock are the last to share
// one. The records of the nodes, the believers and the violations are never given up. Where not even one row for each client has room,
// those are left out, by name, that have least to do with the violations there.
func PlanLanes(r *timeline.Timeline, pos, rows int) []Lane {
	return planLanes(r, extentAt(r, pos), rows, airy)
}

// ChosenLanes are the lanes of clients, of the resource and of the violations that a screen chooses; those of the nodes in one row, and the
// believers. A client's deeds share a row with its belief where the belief's row is not chosen.
func ChosenLanes(r *timeline.Timeline, chosen func(timeline.Lane) bool) (lanes []Lane) {
	for _, l := range r.Lanes() {
		single := len(r.Nodes) == 1
		switch l.Kind {
		case timeline.Deeds:
			if !chosen(timeline.Lane{Kind: timeline.Belief, Index: l.Index}) && chosen(l) {
				lanes = append(lanes, Lane{kind: laneClient, Lane: l})
				continue
			}
		case timeline.Record, timeline.Majority:
			if single == (l.Kind == timeline.Record) {
				lanes = append(lanes, Lane{Lane: l})
			}
			continue
		case timeline.Believers:
			lanes = append(lanes, Lane{Lane: l})
			continue
		}
		if chosen(l) {
			lanes = append(lanes, Lane{Lane: l})
		}
	}
	return lanes
}

// FillLanes chooses the lanes for rows that nothing else is to have.
func FillLanes(r *timeline.Timeline, pos, rows int) []Lane {
	return planLanes(r, extentAt(r, pos), rows, func(int) int { return 0 })
}

// SteadyLanes chooses the lanes for a run that goes on: they are those of the clients, of Redis and of the resource
// whether these have begun or not, so that none comes or goes from one event to the next. The probe alone comes
// when it acts. Either they fill the rows, or they leave some, as PlanLanes does.
func SteadyLanes(r *timeline.Timeline, pos, rows int, fill bool) []Lane {
	now := extentAt(r, pos)
	steady := extent{
		started: func(l timeline.Lane) bool {
			return l.Kind == timeline.Store || ofClient(l) && r.Clients[l.Index] != trace.Probe || now.started(l)
		},
		done: func(int) bool { return false }, believes: func(int) bool { return true }, parties: now.parties, whole: savesDone,
	}
	if fill {
		return planLanes(r, steady, rows, func(int) int { return 0 })
	}
	return planLanes(r, steady, rows, airy)
}

// extent says how far a run has come.
type extent struct {
	started  func(timeline.Lane) bool // something has happened in the lane of a client or of the damage
	done     func(client int) bool    // a client has finished or crashed, does not believe that it has the lock, and has no part in a violation at the cursor
	believes func(client int) bool    // a client believes that it has the lock
	parties  func() []int             // the clients that take part in the violation at the cursor, or in the last one before it
	over     bool                     // the run has ended
	saved    bool                     // it has ended, and the resource has refused an access, which its row shows
	whole    int                      // the way of saving rows that gives up the row of the violations, where there are none
	records  bool                     // it is asked which of several servers' records there are, or has just been answered: each has its row, being asked about
}

func extentAt(r *timeline.Timeline, pos int) extent {
	proving, over := proving(r, pos), r.Ended(pos)
	if over { // nobody believes anything any more: a client that took part in a violation keeps its belief, as the picture is for that
		for _, b := range failures(r.Breaches) {
			proving = append(proving, r.Parties(b)...)
		}
	}
	return extent{
		started: func(l timeline.Lane) bool {
			switch l.Kind {
			case timeline.Store:
				return !untouched(r, l, pos)
			case timeline.Violations:
				broken, _ := r.Breached(pos)
				return len(broken) > 0
			}
			return r.Begun(l.Index, pos)
		},
		done: func(client int) bool {
			c := &r.Moments[pos].Clients[client]
			return (c.Stopped || c.Crashed) && !c.Believed && !slices.Contains(proving, client)
		},
		believes: func(client int) bool { return r.Moments[pos].Clients[client].Believed },
		parties:  func() []int { return parties(r, pos) },
		over:     over,
		saved:    over && slices.ContainsFunc(r.Events, func(e trace.Event) bool { return e.Kind == trace.KindReject }),
		whole:    savesIdle,
		records:  asksRecords(r, pos),
	}
}

// asksRecords reports whether the script asks at a position, or has just been answered, which of several servers' records there are.
func asksRecords(r *timeline.Timeline, pos int) bool {
	return len(r.Nodes) > 1 && slices.ContainsFunc(r.Notes, func(n trace.Note) bool {
		at := r.Before(n.Seq)
		return n.Kind == trace.NoteAsk && n.About == "record" && r.PreviousChapter(at) <= pos && pos <= at
	})
}

// proving are the clients of whom the evidence of the violations at a position tells: the belief of each belongs to it, unless it is
// of accesses to the resource, whose row says more.
func proving(r *timeline.Timeline, pos int) (clients []int) {
	_, fresh := r.Breached(pos)
	for _, b := range fresh {
		for _, seq := range b.Events {
			e := r.Event(r.After(seq))
			if timeline.Touches(e) {
				return nil
			}
			if e.Client != trace.None {
				clients = append(clients, e.Client)
			}
		}
	}
	return clients
}

// parties are the clients without which the violations at a position didn't come about; where none is complete there, those
// that were last.
func parties(r *timeline.Timeline, pos int) (clients []int) {
	all, fresh := r.Breached(pos)
	if len(fresh) == 0 && len(all) > 0 {
		_, fresh = r.Breached(all[len(all)-1].Pos)
	}
	for _, b := range fresh {
		clients = append(clients, r.Parties(b)...)
	}
	return clients
}

func ofClient(l timeline.Lane) bool { return l.Kind == timeline.Deeds || l.Kind == timeline.Belief }

// airy is the number of rows to spare in a way of saving rows.
func airy(saving int) int {
	if saving < savesBlanks {
		return airless
	}
	return 0
}

// airless is the number of rows that a diagram with empty rows must leave to the narration beyond its
// need: only tall windows have empty rows.
const airless = 3

func planLanes(r *timeline.Timeline, at extent, rows int, spare func(saving int) int) []Lane {
	var lanes []Lane
	for saving := savesNothing; saving <= savesProbe; saving++ {
		lanes = lanesFor(r, at, saving)
		if len(lanes) <= rows-spare(saving) {
			return lanes
		}
	}
	first := slices.IndexFunc(lanes, func(l Lane) bool { return !ofClient(l.Lane) }) // the nodes, the believers, the violations
	tail := lanes[first:]
	keep := rows - len(tail) - 1 // a row names the others
	if keep < 0 {
		return tail[len(tail)-max(min(rows, len(tail)), 0):]
	}
	kept, cut := slices.Clone(lanes[:first]), Lane{kind: laneHidden}
	part := at.parties()
	slices.SortStableFunc(kept, func(x, y Lane) int { return at.rank(x.Index, part) - at.rank(y.Index, part) })
	kept = kept[:keep]
	var shown []Lane
	for _, l := range lanes[:first] {
		if slices.ContainsFunc(kept, func(k Lane) bool { return k.Lane == l.Lane }) {
			shown = append(shown, l)
		} else {
			cut.hidden = append(cut.hidden, r.Clients[l.Index])
		}
	}
	return append(append(shown, cut), tail...)
}

// rank orders clients where some have no row: those first without whom the picture says least.
func (s *extent) rank(client int, part []int) int {
	rank := 0
	if !slices.Contains(part, client) {
		rank += 4
	}
	if !s.believes(client) {
		rank += 2
	}
	if s.done(client) {
		rank++
	}
	return rank
}

// LeastRows is how many rows a diagram needs, the axis included, in which every client has one
// row for its deeds and one for its belief.
func LeastRows(r *timeline.Timeline, pos int) int {
	return AxisRows + len(lanesFor(r, extentAt(r, pos), savesVotes))
}

// StoreRows is how many rows a diagram needs that has also the row of the resource, and one only for clients that have finished; and one for each node
// whose record is asked about. At the end of a run the row of the resource yields to the clients' beliefs, unless it has refused somebody.
func StoreRows(r *timeline.Timeline, pos int) int {
	at := extentAt(r, pos)
	return AxisRows + len(lanesFor(r, at, draw.Either(at.over && !at.records, savesStore, savesDone)))
}

// AllRows is how many rows a diagram needs, the axis included, that has those of idle clients and of damage that is still to come, too.
func AllRows(r *timeline.Timeline, pos int) int {
	return AxisRows + len(lanesFor(r, extentAt(r, pos), savesNodes))
}

// WholeRows is how many rows a diagram needs that has all rows with something to show.
func WholeRows(r *timeline.Timeline, pos int) int {
	return AxisRows + len(lanesFor(r, extentAt(r, pos), savesIdle))
}

// BelievingRows is how many rows a diagram needs, the axis included, that has the deeds of every client, and the beliefs of those who
// believe that they have the lock.
func BelievingRows(r *timeline.Timeline, pos int) int {
	return AxisRows + len(lanesFor(r, extentAt(r, pos), savesClients))
}

// FewestRows is how many rows a diagram needs, the axis included, in which no client is left out.
func FewestRows(r *timeline.Timeline, pos int) int {
	return AxisRows + len(lanesFor(r, extentAt(r, pos), savesBeliefs))
}

func lanesFor(r *timeline.Timeline, at extent, saving int) []Lane {
	var lanes []Lane
	add := func(l Lane) { lanes = append(lanes, l) }
	air := func() {
		if saving < savesBlanks {
			add(Lane{kind: laneBlank})
		}
	}
	for _, l := range r.Lanes() {
		if leavesOut(r, l, at, saving) {
			continue
		}
		if l.Kind == timeline.Believers {
			air()
		}
		if l.Kind == timeline.Deeds && inOneRow(r, l, at, saving) {
			add(Lane{kind: laneClient, Lane: l})
		} else {
			add(Lane{Lane: l})
		}
		switch {
		case l.Kind == timeline.Belief:
			air()
		case l.Kind == timeline.Majority && saving < savesVotes:
			add(Lane{kind: laneVotes})
		}
	}
	return lanes
}

// inOneRow reports whether a way of saving rows gives a client's activity and belief one row.
func inOneRow(r *timeline.Timeline, l timeline.Lane, at extent, saving int) bool {
	return saving >= savesBeliefs || saving >= savesClients && !at.believes(l.Index) || saving >= savesIdle && r.Clients[l.Index] == trace.Probe || saving >= savesDone && at.done(l.Index)
}

// leavesOut reports whether a way of saving rows gives up a lane.
func leavesOut(r *timeline.Timeline, l timeline.Lane, at extent, saving int) bool {
	switch together := len(r.Nodes) > 1 && saving >= savesRecords(r, at); l.Kind {
	case timeline.Deeds, timeline.Belief:
		idle := !at.started(l)
		if l.Kind == timeline.Belief && (saving >= savesIdle && idle || inOneRow(r, l, at, saving)) {
			return true
		}
		spare := saving >= savesProbe || saving >= savesStore && at.over && at.done(l.Index)
		return (idle || spare) && r.Clients[l.Index] == trace.Probe
	case timeline.Record:
		return together
	case timeline.Majority:
		return !together
	case timeline.Store:
		return saving >= draw.Either(at.saved, savesVotes, savesStore) || saving >= savesIdle && !at.started(l)
	case timeline.Violations:
		return saving >= at.whole && !at.started(l)
	}
	return false
}

// fewCopies is up to how many servers a master and its replicas have rows of their own where rows are few.
const fewCopies = 3

// savesRecords is the way of saving rows from which on the servers share one. Of several masters the majority counts; of a master and a
// replica that takes over from it, that the one has a record which the other lacks.
func savesRecords(r *timeline.Timeline, at extent) int {
	if at.records {
		return savesStore
	}
	return draw.Either(r.Masters == 1 && len(r.Nodes) <= fewCopies, savesCopies, savesNodes)
}

// untouched reports whether nothing has happened in a lane up to a position.
func untouched(r *timeline.Timeline, l timeline.Lane, pos int) bool {
	return !slices.ContainsFunc(r.Events[:pos], func(e trace.Event) bool { return r.In(l, &e) })
}

// label stands to the left of a lane, in two parts: the owner's name, and the subject.
func (l Lane) label(t *trace.Trace) (name, what string) {
	switch l.kind {
	case laneClient:
		return t.Clients[l.Index], "does"
	case laneVotes:
		return "", "nodes"
	case laneBlank, laneHidden:
		return "", ""
	}
	switch l.Kind {
	case timeline.Deeds:
		return t.Clients[l.Index], "does"
	case timeline.Belief:
		return "", "thinks"
	case timeline.Record:
		if len(t.Nodes) == 1 {
			return "redis", draw.Either(t.Nodes[0] == "redis", "", t.Nodes[0]) // as the events name it
		}
		return t.Nodes[l.Index], "redis"
	case timeline.Majority:
		if t.Need <= 1 { // no quorum: the master has the record
			return "redis", ""
		}
		return "redis", fmt.Sprintf("%d/%d", t.Need, len(t.Nodes))
	case timeline.Believers:
		return "believers", ""
	case timeline.Store:
		return "resource", ""
	case timeline.Violations:
		return "broken", ""
	}
	return "", ""
}

// Missing are the rows of a run's diagram that have something to show and are not among its lanes.
type Missing struct {
	Thinking []string // the clients without a row for their beliefs
	Rows     []string // the names of the others
}

// Missed finds the rows that have something to show up to a position and are not among the lanes: neither by themselves nor in one
// row with another, nor in one that names those it stands for. A row that a client has for its deeds and its belief lacks
// the belief where the client does something else than run.
func Missed(r *timeline.Timeline, pos int, lanes []Lane) (out Missing) {
	at := extentAt(r, pos)
	shown := func(l timeline.Lane) bool {
		return slices.ContainsFunc(lanes, func(o Lane) bool { return o.shows(r, l) })
	}
	for _, l := range r.Lanes() {
		switch {
		case l.Kind == timeline.Belief && slices.ContainsFunc(lanes, func(o Lane) bool { return o.kind == laneClient && o.Index == l.Index }) && covered(r, pos, l.Index):
			out.Thinking = append(out.Thinking, r.Clients[l.Index])
		case shown(l):
		case l.Kind == timeline.Belief && !shown(timeline.Lane{Kind: timeline.Deeds, Index: l.Index}): // the client is named
		case l.Kind == timeline.Belief && at.started(l):
			out.Thinking = append(out.Thinking, r.Clients[l.Index])
		case l.Kind == timeline.Deeds && at.started(l), (l.Kind == timeline.Store || l.Kind == timeline.Violations) && at.started(l):
			name, _ := Lane{Lane: l}.label(r.Trace)
			out.Rows = append(out.Rows, name)
		}
	}
	return out
}

// Idle counts the rows that have nothing to show up to a position and are not among the lanes. The probe has none until it acts.
func Idle(r *timeline.Timeline, pos int, lanes []Lane) (n int) {
	at := extentAt(r, pos)
	for _, l := range r.Lanes() {
		switch l.Kind {
		case timeline.Deeds, timeline.Belief:
			if r.Clients[l.Index] == trace.Probe {
				continue
			}
		case timeline.Store, timeline.Violations:
		default:
			continue
		}
		if !at.started(l) && !slices.ContainsFunc(lanes, func(o Lane) bool { return o.kind != laneClient && o.shows(r, l) }) && !(l.Kind == timeline.Deeds && slices.ContainsFunc(lanes, func(o Lane) bool { return o.shows(r, l) })) {
			n++
		}
	}
	return n
}

// Text counts and names the rows. It is empty where there are none.
func (m Missing) Text() (n int, names string) {
	rows := m.Rows
	if len(m.Thinking) > 0 {
		rows = append([]string{"what " + trace.List(m.Thinking) + draw.Either(len(m.Thinking) > 1, " think", " thinks")}, rows...)
	}
	return len(m.Thinking) + len(m.Rows), strings.Join(rows, ", ")
}

// With are the rows that are missing in either of two diagrams.
func (m Missing) With(o Missing) Missing {
	return Missing{union(m.Thinking, o.Thinking), union(m.Rows, o.Rows)}
}

// union has the elements of a, and then those of b that a lacks.
func union[T comparable](a, b []T) []T {
	all := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	return all
}

// covered reports whether up to a position a client has believed that it has the lock while it did something that lies over this in a
// row for both.
func covered(r *timeline.Timeline, pos, client int) bool {
	for p := range pos + 1 {
		if !r.Moments[p].Clients[client].Believed {
			continue
		}
		switch r.Bar(timeline.Lane{Kind: timeline.Deeds, Index: client}, p).Kind {
		case timeline.Awake, timeline.Crashed, timeline.Empty:
		default:
			return true
		}
	}
	return false
}

// shows reports whether a row shows a lane of the run, or names its client.
func (l Lane) shows(r *timeline.Timeline, o timeline.Lane) bool {
	if l.kind == laneHidden {
		return ofClient(o) && slices.Contains(l.hidden, r.Clients[o.Index])
	}
	return l.own() && (l.Lane == o || l.kind == laneClient && o == timeline.Lane{Kind: timeline.Belief, Index: l.Index})
}
