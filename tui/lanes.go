package tui

import (
	"fmt"

	"lockstep/sim"
	"lockstep/sim/trace"
)

// lane is a row of the timeline.
type lane struct {
	kind  laneKind
	index int // of the client or the node
}

type laneKind uint8

const (
	laneBlank     laneKind = iota
	laneDoes               // what a client does
	laneThinks             // what it believes
	laneClient             // both in one row, where rows are few
	laneNode               // what a node holds: the truth
	laneQuorum             // who has enough of the nodes
	laneVotes              // what each of them holds, at the cursor
	laneBelievers          // how many clients believe that they hold the lock
	laneStore              // the damage
	laneBreach             // which properties broke, and when
	laneHidden             // how many rows there was no room for
)

// The ways in which lanes save rows, tried one after another until they fit.
const (
	savesNothing = iota
	savesProbe   // the probe's rows, until it acts
	savesBlanks
	savesNodes   // the nodes in two rows
	savesClients // each client in one row
	savesVotes
	savesStore  // accesses stand in the clients' rows, too
	savesBreach // what broke stands in the title, too
)

// plan chooses the lanes for a number of rows. With few rows it gives up, in
// this order: the probe until it acts, air, a row for each node, the separate
// rows for doing and thinking, the rows of the damage. What Redis holds and who
// believes are never given up.
func plan(r *reel, pos, rows int) []lane {
	var lanes []lane
	for saving := savesNothing; saving <= savesBreach; saving++ {
		lanes = lanesFor(r, pos, saving)
		if room := rows - spare(saving); len(lanes) <= room {
			return lanes
		}
	}
	const tail = 2 // the nodes, the believers
	if keep := rows - tail - 1; keep >= 0 {
		hidden := len(lanes) - rows + 1
		cut := append(lanes[:keep:keep], lane{laneHidden, hidden})
		return append(cut, lanes[len(lanes)-tail:]...)
	}
	return lanes[len(lanes)-max(min(rows, tail), 0):]
}

// spare is how many rows a way of drawing lanes must leave to the narration
// beyond what that needs: air is for those who have plenty.
func spare(saving int) int {
	if saving < savesBlanks {
		return 3
	}
	return 0
}

func lanesFor(r *reel, pos, saving int) []lane {
	var lanes []lane
	air := func() {
		if saving < savesBlanks {
			lanes = append(lanes, lane{kind: laneBlank})
		}
	}
	for i, acts := range r.actors {
		switch {
		case !acts, saving >= savesProbe && r.trace.Clients[i] == sim.Probe && !r.acted(i, pos):
		case saving >= savesClients:
			lanes = append(lanes, lane{laneClient, i})
		default:
			lanes = append(lanes, lane{laneDoes, i}, lane{laneThinks, i})
			air()
		}
	}
	if nodes := len(r.trace.Nodes); nodes > 1 && saving >= savesNodes {
		lanes = append(lanes, lane{kind: laneQuorum})
		if saving < savesVotes {
			lanes = append(lanes, lane{kind: laneVotes})
		}
	} else {
		for i := range nodes {
			lanes = append(lanes, lane{laneNode, i})
		}
	}
	air()
	lanes = append(lanes, lane{kind: laneBelievers})
	if saving < savesStore {
		lanes = append(lanes, lane{kind: laneStore})
	}
	if saving < savesBreach {
		lanes = append(lanes, lane{kind: laneBreach})
	}
	return lanes
}

// acted reports whether a client has done anything before a position.
func (r *reel) acted(client, pos int) bool {
	return pos > r.begins[client]
}

// label is what stands to the left of a lane, in two parts: whose, and what.
func (l lane) label(t *trace.Trace) (name, what string) {
	switch l.kind {
	case laneDoes:
		return t.Clients[l.index], "does"
	case laneThinks:
		return "", "thinks"
	case laneClient:
		return t.Clients[l.index], ""
	case laneNode:
		if len(t.Nodes) == 1 {
			return "redis", ""
		}
		return t.Nodes[l.index], "redis"
	case laneQuorum:
		return "redis", fmt.Sprintf("%d/%d", t.Need, len(t.Nodes))
	case laneVotes:
		return "", "nodes"
	case laneBelievers:
		return "believers", ""
	case laneStore:
		return "store", ""
	case laneBreach:
		return "broken", ""
	}
	return "", ""
}
