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
	hidden int // of laneHidden: the number of rows that don't fit
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
	savesNodes   // the nodes in two rows
	savesIdle    // the probe in one row, and those that have done nothing yet: they think nothing, either
	savesBreach  // the broken properties stand in the title, too; and nobody has come to the store yet
	savesStore   // accesses stand in the clients' rows, too
	savesVotes   // the state pane has them
	savesClients // each client in one row
)

// PlanLanes chooses the lanes for a number of rows. The probe has none until it acts: it is no
// client of the script. With few rows it gives up, in this order: empty rows, a row for each node, the second row of the probe and of
// clients that have done nothing yet, the rows of the damage, the nodes' records. A client's deeds and its belief share a row only
// in windows that have no room for two; a window with LeastRows has. The records of the
// nodes and the believers are never given up.
func PlanLanes(r *timeline.Timeline, pos, rows int) []Lane {
	return planLanes(r, startedAt(r, pos), rows, airy)
}

// FillLanes chooses the lanes for rows that nothing else is to have.
func FillLanes(r *timeline.Timeline, pos, rows int) []Lane {
	return planLanes(r, startedAt(r, pos), rows, func(int) int { return 0 })
}

// SteadyLanes chooses the lanes for a run that goes on: they are those of the clients, of Redis and of the store
// whether these have begun or not, so that none comes or goes from one event to the next. The probe alone comes
// when it acts. Either they fill the rows, or they leave some, as PlanLanes does.
func SteadyLanes(r *timeline.Timeline, pos, rows int, fill bool) []Lane {
	started := startedAt(r, pos)
	steady := func(l timeline.Lane) bool {
		return l.Kind == timeline.Store || r.Clients[l.Index] != trace.Probe || started(l)
	}
	if fill {
		return planLanes(r, steady, rows, func(int) int { return 0 })
	}
	return planLanes(r, steady, rows, airy)
}

// startedAt reports whether anything has happened up to a position in the lane of a client or of the store.
func startedAt(r *timeline.Timeline, pos int) func(timeline.Lane) bool {
	return func(l timeline.Lane) bool {
		if l.Kind == timeline.Store {
			return !untouched(r, l, pos)
		}
		return r.Begun(l.Index, pos)
	}
}

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

func planLanes(r *timeline.Timeline, started func(timeline.Lane) bool, rows int, spare func(saving int) int) []Lane {
	var lanes []Lane
	for saving := savesNothing; saving <= savesClients; saving++ {
		lanes = lanesFor(r, started, saving)
		if len(lanes) <= rows-spare(saving) {
			return lanes
		}
	}
	const tail = 2 // the nodes, the believers
	if keep := rows - tail - 1; keep >= 0 {
		hidden := len(lanes) - rows + 1
		cut := append(lanes[:keep:keep], Lane{kind: laneHidden, hidden: hidden})
		return append(cut, lanes[len(lanes)-tail:]...)
	}
	return lanes[len(lanes)-max(min(rows, tail), 0):]
}

// LeastRows is how many rows a diagram needs, the axis included, in which every client has one
// row for what it does and one for what it thinks.
func LeastRows(r *timeline.Timeline, pos int) int {
	return AxisRows + len(lanesFor(r, startedAt(r, pos), savesVotes))
}

// StoreRows is how many rows a diagram needs that has also the row of the store.
func StoreRows(r *timeline.Timeline, pos int) int {
	return AxisRows + len(lanesFor(r, startedAt(r, pos), savesBreach))
}

// WholeRows is how many rows a diagram needs that has all rows of the damage.
func WholeRows(r *timeline.Timeline, pos int) int {
	return AxisRows + len(lanesFor(r, startedAt(r, pos), savesIdle))
}

// FewestRows is how many rows a diagram needs, the axis included, in which no client is left out.
func FewestRows(r *timeline.Timeline, pos int) int {
	return AxisRows + len(lanesFor(r, startedAt(r, pos), savesClients))
}

func lanesFor(r *timeline.Timeline, started func(timeline.Lane) bool, saving int) []Lane {
	var lanes []Lane
	add := func(l Lane) { lanes = append(lanes, l) }
	air := func() {
		if saving < savesBlanks {
			add(Lane{kind: laneBlank})
		}
	}
	for _, l := range r.Lanes() {
		if leavesOut(r, l, started, saving) {
			continue
		}
		if l.Kind == timeline.Believers {
			air()
		}
		if l.Kind == timeline.Deeds && inOneRow(r, l, saving) {
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
func inOneRow(r *timeline.Timeline, l timeline.Lane, saving int) bool {
	return saving >= savesClients || saving >= savesIdle && r.Clients[l.Index] == trace.Probe
}

// leavesOut reports whether a way of saving rows gives up a lane.
func leavesOut(r *timeline.Timeline, l timeline.Lane, started func(timeline.Lane) bool, saving int) bool {
	switch together := saving >= savesNodes && len(r.Nodes) > 1; l.Kind {
	case timeline.Deeds, timeline.Belief:
		idle := !started(l)
		if l.Kind == timeline.Belief && (saving >= savesIdle && idle || inOneRow(r, l, saving)) {
			return true
		}
		return idle && r.Clients[l.Index] == trace.Probe
	case timeline.Record:
		return together
	case timeline.Majority:
		return !together
	case timeline.Store:
		return saving >= savesStore || saving >= savesBreach && !started(l)
	case timeline.Violations:
		return saving >= savesBreach
	}
	return false
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
			return "redis", ""
		}
		return t.Nodes[l.Index], "redis"
	case timeline.Majority:
		return "redis", fmt.Sprintf("%d/%d", t.Need, len(t.Nodes))
	case timeline.Believers:
		return "believers", ""
	case timeline.Store:
		return "store", ""
	case timeline.Violations:
		return "broken", ""
	}
	return "", ""
}

// LeftOut names the rows of a run's diagram that have something to show at a position and are not among
// the lanes: neither by themselves nor in one row with another. It is empty where all are.
func LeftOut(r *timeline.Timeline, pos int, lanes []Lane) string {
	var rows, thinking []string
	for _, l := range r.Lanes() {
		if slices.ContainsFunc(lanes, func(o Lane) bool {
			return o.own() && (o.Lane == l || o.kind == laneClient && l == timeline.Lane{Kind: timeline.Belief, Index: o.Index})
		}) {
			continue
		}
		broken, _ := r.Breached(pos)
		switch {
		case l.Kind == timeline.Belief && r.Begun(l.Index, pos):
			thinking = append(thinking, r.Clients[l.Index])
		case l.Kind == timeline.Store && !untouched(r, l, pos), l.Kind == timeline.Violations && len(broken) > 0:
			name, _ := Lane{Lane: l}.label(r.Trace)
			rows = append(rows, name)
		}
	}
	if len(thinking) > 0 {
		rows = append([]string{"what " + trace.List(thinking) + draw.Either(len(thinking) > 1, " think", " thinks")}, rows...)
	}
	return strings.Join(rows, ", ")
}
