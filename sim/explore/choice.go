package explore

import (
	"fmt"
	"slices"
	"time"

	"lockstep/sim"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// choice is one transition that can be chosen in a state: a client acts, something
// goes wrong, or time passes.
type choice struct {
	kind choiceKind
	who  uint8 // the client, or the node
	by   int32 // of time that passes, or of a clock that jumps
	n    uint8 // which of the client's held requests, from 1
	ops  uint8 // how many operations of the client it was
}

type choiceKind uint8

// The kinds of choice, in the order in which those of a state are listed.
const (
	acts choiceKind = iota
	actsAndLosesReply
	actsAndIsHeldUp
	crashes
	repeats
	jumpsClient
	frees
	fallsBehind
	takesOver
	restarts
	jumpsServer
	passes
	choiceKinds
)

// choiceRow describes a kind of choice: all that the search, its replays, its budget
// and its results know of it.
type choiceRow struct {
	of choiceScope

	// fault is what it takes of the budget, or noFault. There is one row for each kind of
	// fault, and it has the words of that: as flags write it, of one, and of several.
	fault     FaultKind
	needs     FaultKind // of a row that costs noFault: without which there is no such choice, or noFault
	flag      string
	one, many string

	// list adds the choices of this kind that client or node i has, if the budget has the
	// fault. It is called in every state and must not allocate. A step needs none.
	list  func(x *explorer, to []choice, i int) []choice
	apply func(x *explorer, c choice)
	wrong func(c choice) string // what goes wrong by it, in words; nil if nothing does

	// play is the choice as moves of a schedule, which any world can play; read is the
	// inverse for moves that begin with a fault: it returns how many of the moves make
	// the choice, or 0. Of a choice by which a client acts, the step comes later.
	play   func(m *model, c choice) []sim.Move
	read   func(x *explorer, f, then sim.Fault) (c choice, n int)
	then   choiceKind   // the choice that ends what this one begins, and comes without a fault of its own; acts if none
	menu   []choiceItem // what a person who schedules by hand can choose of it
	covers []sim.Fault  // the kinds that are in schedules by it, besides those that it plays
}

// choiceItem is an entry of a menu. Of a clock's jump it has only the direction.
type choiceItem struct {
	label string
	choice
}

// choiceScope says for what a kind of choice is listed.
type choiceScope uint8

const (
	ofStep choiceScope = iota // of a client that can act; at more than acts it sends a request
	ofClient
	ofRequests // those that are held up, in the order in which they were sent
	ofNode
	ofTime
)

// choiceRows is the table of all kinds of choice.
var choiceRows = [choiceKinds]choiceRow{
	acts: {
		fault: noFault, needs: noFault,
		apply: func(x *explorer, c choice) { x.act(c, goes) },
		play:  func(_ *model, c choice) []sim.Move { return []sim.Move{c.step()} },
	},
	actsAndLosesReply: {
		fault: ReplyLost, flag: "reply-lost", one: "lost reply", many: "lost replies",
		apply: func(x *explorer, c choice) { x.act(c, losesReply) },
		wrong: func(c choice) string { return fmt.Sprintf("the reply to %s's request is lost", names[c.who]) },
		play: func(m *model, c choice) []sim.Move {
			return append(movesOf(sim.LoseReply{Client: m.client(c)}), c.step())
		},
		read: func(_ *explorer, f, _ sim.Fault) (choice, int) {
			_, is := f.(sim.LoseReply)
			return choice{kind: actsAndLosesReply}, count(is, 1)
		},
		covers: []sim.Fault{sim.Drop{}},
		menu:   []choiceItem{{label: "lose next reply"}},
	},
	actsAndIsHeldUp: {
		fault: HoldRequest, flag: "delay", one: "request held up", many: "requests held up",
		apply: func(x *explorer, c choice) { x.act(c, heldUp) },
		wrong: func(c choice) string { return names[c.who] + "'s request is held up" },
		play: func(m *model, c choice) []sim.Move {
			return append(movesOf(sim.Hold{Client: m.client(c)}), c.step())
		},
		read: func(_ *explorer, f, _ sim.Fault) (choice, int) {
			_, is := f.(sim.Hold)
			return choice{kind: actsAndIsHeldUp}, count(is, 1)
		},
		covers: []sim.Fault{sim.Delay{}},
		menu:   []choiceItem{{label: "hold next request"}},
	},
	crashes: {
		of:    ofClient,
		fault: Crash, flag: "crash", one: "crash of a client", many: "crashes of clients",
		list: func(x *explorer, to []choice, i int) []choice {
			if x.summaries[i].lives() {
				to = append(to, choice{kind: crashes, who: uint8(i)})
			}
			return to
		},
		apply: func(x *explorer, c choice) { x.crash(int(c.who)) },
		wrong: func(c choice) string { return names[c.who] + " crashes" },
		play:  func(m *model, c choice) []sim.Move { return movesOf(sim.Crash{Client: m.client(c)}) },
		read: func(_ *explorer, f, _ sim.Fault) (choice, int) {
			v, is := f.(sim.Crash)
			return choice{kind: crashes, who: clientOf(v.Client)}, count(is, 1)
		},
		menu: []choiceItem{{label: "crash"}},
	},
	repeats: {
		of:    ofClient,
		fault: Duplicate, flag: "duplicate", one: "request that arrives twice", many: "requests that arrive twice",
		list: func(x *explorer, to []choice, i int) []choice {
			if x.summaries[i].repeats {
				to = append(to, choice{kind: repeats, who: uint8(i)})
			}
			return to
		},
		apply: func(x *explorer, c choice) { x.repeat(int(c.who)) },
		wrong: func(c choice) string { return names[c.who] + "'s request arrives twice" },
		play:  func(m *model, c choice) []sim.Move { return movesOf(sim.Duplicate{Client: m.client(c)}) },
		read: func(x *explorer, f, _ sim.Fault) (choice, int) {
			v, is := f.(sim.Duplicate)
			who := clientOf(v.Client)
			return choice{kind: repeats, who: who}, count(is && v.After == 0 && x.s.clients[who].last != 0, 1)
		},
		menu: []choiceItem{{label: "send again"}},
	},
	jumpsClient: {
		of:    ofClient,
		fault: ClientClock, flag: "client-clock", one: "jump of a client's wall clock", many: "jumps of clients' wall clocks",
		list: func(x *explorer, to []choice, i int) []choice {
			if x.timed && x.summaries[i].lives() {
				to = append(to, choice{kind: jumpsClient, who: uint8(i), by: x.ttl + overStamp},
					choice{kind: jumpsClient, who: uint8(i), by: -x.ttl - overStamp})
			}
			return to
		},
		apply: func(x *explorer, c choice) { x.s.clients[c.who].wall += c.by },
		wrong: func(c choice) string {
			return fmt.Sprintf("%s's wall clock jumps by %s", names[c.who], trace.Duration(c.span()))
		},
		play: func(m *model, c choice) []sim.Move {
			return movesOf(sim.WallStep{Client: m.client(c), By: c.span()})
		},
		read: func(_ *explorer, f, _ sim.Fault) (choice, int) {
			v, is := f.(sim.WallStep)
			return choice{kind: jumpsClient, who: clientOf(v.Client), by: millis(v.By)}, count(is, 1)
		},
		menu: []choiceItem{{"clock on", choice{by: 1}}, {"clock back", choice{by: -1}}},
	},
	frees: {
		of: ofRequests, fault: noFault, needs: HoldRequest,
		list: func(x *explorer, to []choice, _ int) []choice {
			var nth [len(names)]uint8
			for _, l := range x.ids.helds.get(x.world.held) {
				if !l.queued {
					nth[l.client]++
					to = append(to, choice{kind: frees, who: l.client, n: nth[l.client]})
				}
			}
			return to
		},
		apply: func(x *explorer, c choice) { x.free(c.who, c.n) },
		play: func(m *model, c choice) []sim.Move {
			return movesOf(sim.Free{Client: m.client(c), N: int(c.n)})
		},
		read: func(_ *explorer, f, _ sim.Fault) (choice, int) {
			v, is := f.(sim.Free)
			return choice{kind: frees, who: clientOf(v.Client), n: uint8(v.N)}, count(is, 1)
		},
		menu: []choiceItem{{"free it", choice{n: 1}}},
	},
	fallsBehind: {
		of:    ofNode,
		fault: Failover, flag: "failover", one: "failover to a replica that has fallen behind", many: "failovers to replicas that have fallen behind",
		list: func(_ *explorer, to []choice, i int) []choice {
			return append(to, choice{kind: fallsBehind, who: uint8(i)})
		},
		apply: func(x *explorer, c choice) { x.fallBehind(int(c.who)) },
		then:  takesOver,
		wrong: func(c choice) string {
			return fmt.Sprintf("n%d's replica falls behind, and is made the master", c.who+1)
		},
		play: func(_ *model, c choice) []sim.Move {
			return movesOf(sim.Lag{Replica: c.node() + "r1", By: 1000 * time.Hour})
		},
		read: func(_ *explorer, f, _ sim.Fault) (choice, int) {
			v, is := f.(sim.Lag)
			return choice{kind: fallsBehind, who: nodeOf(v.Replica)}, count(is, 1)
		},
		menu: []choiceItem{{label: "replica falls behind"}},
	},
	takesOver: {
		of: ofNode, fault: noFault, needs: Failover, // which was paid for when the replica fell behind
		list: func(x *explorer, to []choice, i int) []choice {
			if x.nodes[i].behind {
				to = append(to, choice{kind: takesOver, who: uint8(i)})
			}
			return to
		},
		apply: func(x *explorer, c choice) { x.takeOver(int(c.who)) },
		play: func(_ *model, c choice) []sim.Move {
			return movesOf(sim.Down{Node: c.node()}, sim.Failover{To: c.node() + "r1"})
		},
		read: func(x *explorer, f, then sim.Fault) (choice, int) {
			_, falls := f.(sim.Down)
			v, is := then.(sim.Failover)
			who := nodeOf(v.To)
			return choice{kind: takesOver, who: who}, count(falls && is && x.s.nodes[who].behind.snapshot != 0, 2)
		},
		menu: []choiceItem{{label: "fail over"}},
	},
	restarts: {
		of:    ofNode,
		fault: Restart, flag: "restart", one: "restart of a server with nothing on disk", many: "restarts of servers with nothing on disk",
		list: func(_ *explorer, to []choice, i int) []choice {
			return append(to, choice{kind: restarts, who: uint8(i)})
		},
		apply: func(x *explorer, c choice) { x.restart(int(c.who)) },
		wrong: func(c choice) string { return c.node() + " restarts, empty" },
		play: func(_ *model, c choice) []sim.Move {
			return movesOf(sim.Down{Node: c.node()}, sim.Up{Node: c.node()})
		},
		read: func(_ *explorer, f, then sim.Fault) (choice, int) {
			down, falls := f.(sim.Down)
			up, is := then.(sim.Up)
			return choice{kind: restarts, who: nodeOf(up.Node)}, count(falls && is && up.Node == down.Node, 2)
		},
		covers: []sim.Fault{sim.ForgetScripts{}}, // a restart empties the cache of scripts, too
		menu:   []choiceItem{{label: "restart, empty"}},
	},
	jumpsServer: {
		of:    ofNode,
		fault: ServerClock, flag: "server-clock", one: "jump of a server's clock", many: "jumps of servers' clocks",
		list: func(x *explorer, to []choice, i int) []choice {
			return append(to, choice{kind: jumpsServer, who: uint8(i), by: x.ttl + overStamp},
				choice{kind: jumpsServer, who: uint8(i), by: -x.ttl - overStamp})
		},
		apply: func(x *explorer, c choice) { x.stepClock(int(c.who), c.by) },
		wrong: func(c choice) string {
			return fmt.Sprintf("%s's clock jumps by %s", c.node(), trace.Duration(c.span()))
		},
		play: func(_ *model, c choice) []sim.Move {
			return movesOf(sim.NodeStep{Node: c.node(), By: c.span()})
		},
		read: func(_ *explorer, f, _ sim.Fault) (choice, int) {
			v, is := f.(sim.NodeStep)
			return choice{kind: jumpsServer, who: nodeOf(v.Node), by: millis(v.By)}, count(is, 1)
		},
		menu: []choiceItem{{"clock on", choice{by: 1}}, {"clock back", choice{by: -1}}},
	},
	passes: {
		of:    ofTime, // it takes as many pauses as begin by it: none, often
		fault: Pause, flag: "pause", one: "pause of a client", many: "pauses of clients",
		list: func(x *explorer, to []choice, _ int) []choice { return x.passing(to) },
		apply: func(x *explorer, c choice) {
			if _, n := x.idle(); n > 0 {
				x.spend(Pause, n)
			}
			x.advance(c.by)
		},
		play:   func(_ *model, c choice) []sim.Move { return []sim.Move{{Wait: c.span()}} },
		covers: []sim.Fault{sim.Pause{}},
	},
}

// makes are faults of the kinds that are in schedules by choices of this kind.
func (r *choiceRow) makes() []sim.Fault {
	faults := slices.Clone(r.covers)
	for _, m := range r.play(&model{cfg: sim.Config{Clients: make([]process.Config, 1)}}, choice{}) {
		if m.Fault != nil {
			faults = append(faults, m.Fault)
		}
	}
	return faults
}

// row is the choice's row of the table.
func (c choice) row() *choiceRow { return &choiceRows[c.kind] }

// faulty: something goes wrong by it, other than that somebody may be paused.
func (c choice) faulty() bool { return c.row().fault != noFault && c.kind != passes }

// acts reports whether a client makes a step by it.
func (c choice) acts() bool { return c.kind <= actsAndIsHeldUp }

// step is the client's part in the choice, as a move of a schedule.
func (c choice) step() sim.Move {
	return sim.Move{Who: sim.SetOf(int(c.who)), Count: int(max(1, c.ops))}
}

func (c choice) span() time.Duration { return time.Duration(c.by) * time.Millisecond }

func (c choice) node() string { return fmt.Sprintf("n%d", c.who+1) }

func (m *model) client(c choice) string { return m.cfg.Clients[c.who].Name }

func movesOf(faults ...sim.Fault) (moves []sim.Move) {
	for _, f := range faults {
		moves = append(moves, sim.Move{Fault: f})
	}
	return moves
}

// count is n if something is, and else 0.
func count(is bool, n int) int {
	if is {
		return n
	}
	return 0
}

func millis(d time.Duration) int32 { return int32(d / time.Millisecond) }

// nodeOf is the index of a server, or of that whose replica it is.
func nodeOf(name string) uint8 {
	if name == "" {
		return 0
	}
	return name[1] - '1'
}

// clientOf is the index of a client of a search.
func clientOf(name string) uint8 {
	for i, n := range names {
		if n == name {
			return uint8(i)
		}
	}
	return 0
}

// play is the choice as moves of a schedule.
func (m *model) play(c choice) []sim.Move { return c.row().play(m, c) }

// schedule is a path of choices as moves of a schedule.
func (m *model) schedule(path []choice) (moves []sim.Move) {
	for _, c := range path {
		moves = append(moves, m.play(c)...)
	}
	return moves
}

// lister is what a row says of when there are such choices.
type lister struct {
	kind  choiceKind
	fault FaultKind
	list  func(x *explorer, to []choice, i int) []choice
}

// listers are those of which there can be choices within some bounds, by scope. A kind
// of which the budget has none costs nothing in each state.
type listers [ofTime + 1][]lister

func newListers(b *Bounds) (l listers) {
	for i := range choiceRows {
		row := &choiceRows[i]
		needs := row.fault
		if needs == noFault {
			needs = row.needs
		}
		if needs == noFault || row.of == ofTime || b.Faults[needs] > 0 {
			l[row.of] = append(l[row.of], lister{choiceKind(i), row.fault, row.list})
		}
	}
	return l
}

// enabled lists the choices that there are in the state that the explorer views.
func (x *explorer) enabled(to []choice) []choice {
	to = to[:0]
	if x.over() {
		return to
	}
	left := &x.world.left
	for i, g := range x.summaries {
		if g.acts && x.turns(i) {
			to = append(to, choice{kind: acts, who: uint8(i)})
			for _, l := range x.listers[ofStep][1:] {
				if g.sends && left[l.fault] > 0 {
					to = append(to, choice{kind: l.kind, who: uint8(i)})
				}
			}
		}
		for _, l := range x.listers[ofClient] {
			if left[l.fault] > 0 {
				to = l.list(x, to, i)
			}
		}
	}
	for _, l := range x.listers[ofRequests] {
		to = l.list(x, to, 0)
	}
	for i := range x.nodes {
		for _, l := range x.listers[ofNode] {
			if l.fault == noFault || left[l.fault] > 0 {
				to = l.list(x, to, i)
			}
		}
	}
	for _, l := range x.listers[ofTime] {
		to = l.list(x, to, 0)
	}
	return to
}

// choose makes one choice, in a situation that is the explorer's own.
func (x *explorer) choose(c choice) {
	x.found, x.ops = 0, 0
	row := c.row()
	if c.faulty() {
		x.spend(row.fault, 1)
	}
	row.apply(x, c)
}

// Offer is something that a person who schedules by hand can make go wrong, by its
// label.
type Offer struct {
	Label string
	Moves []sim.Move
}

// Offers lists the faults of client or node i that the bounds have any of, in the order
// of the kinds of fault. made are the moves so far, by which the first part of a fault
// in two parts may be done. Clocks jump by a TTL and a second.
func (b *Bounds) Offers(client bool, i int, made []sim.Move) (offers []Offer) {
	m := &model{}
	for _, name := range names {
		m.cfg.Clients = append(m.cfg.Clients, process.Config{Name: name})
	}
	for k, n := range b.Faults {
		for j := range choiceRows {
			row := &choiceRows[j]
			own := row.fault == FaultKind(k) || row.fault == noFault && row.needs == FaultKind(k)
			if !own || n == 0 || client == (row.of == ofNode) || choiceKind(j) == faultRows[k].then {
				continue
			}
			done := func(o Offer) bool {
				return slices.ContainsFunc(made, func(v sim.Move) bool { return v.Fault != nil && v.Fault.String() == o.Moves[0].Fault.String() })
			}
			items := m.offered(row, uint8(i), b.TTL)
			if row.then != acts && slices.ContainsFunc(items, done) {
				items = m.offered(&choiceRows[row.then], uint8(i), b.TTL)
			}
			offers = append(offers, items...)
		}
	}
	return offers
}

// offered are the items of a row's menu, of one client or node.
func (m *model) offered(row *choiceRow, who uint8, ttl time.Duration) (offers []Offer) {
	for _, item := range row.menu {
		c := item.choice
		c.who, c.by = who, c.by*millis(ttl+time.Second)
		moves := slices.DeleteFunc(row.play(m, c), func(v sim.Move) bool { return v.Fault == nil })
		offers = append(offers, Offer{item.label, moves})
	}
	return offers
}
