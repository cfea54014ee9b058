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
	by   int32 // milliseconds by which time passes, or a clock jumps
	n    uint8 // which of the client's held requests, from 1; or of its executed ones, counted back from the last, which is 1
	ops  uint8 // how many operations the client performed, once the choice is made: besides the first, calls of Acquire and readings of up to maxList replies

	number int64 // that a client draws, in nanoseconds
}

// choiceKind is a kind of choice; choiceRows describes each.
type choiceKind uint8

// The kinds of choice, in the order in which those of a state are listed.
const (
	acts choiceKind = iota
	actsAndLosesReply
	actsAndIsHeldUp
	draws
	crashes
	repeats
	jumpsClient
	frees
	fallsBehind
	takesOver
	restarts
	evicts
	jumpsServer
	passes
	choiceKinds
)

// FaultKind is a kind of fault that a search can make, and that its budget counts. The
// kind of choice that costs it describes it: see choiceRows.
type FaultKind uint8

// The kinds of fault.
const (
	Crash       FaultKind = iota // a client's process ends
	Pause                        // a client could act, and time passes
	ReplyLost                    // a command is executed, and its reply is lost
	HoldRequest                  // a request is held up, for as long as it takes
	Duplicate                    // a request arrives twice
	Restart                      // a node restarts, empty
	ClientClock                  // a client's wall clock jumps, by a TTL and some, forward or back
	ServerClock                  // a node's clock jumps, by as much
	Failover                     // a replica falls behind, and is made the master when that dies
	Evict                        // a node drops the lock's record before its time
	faultKinds

	noFault = faultKinds
)

// faultRows are the rows of the kinds of choice that cost each kind of fault.
var faultRows = func() (rows [faultKinds]*choiceRow) {
	for i := range choiceRows {
		if f := choiceRows[i].fault; f != noFault {
			rows[f] = &choiceRows[i]
		}
	}
	return rows
}()

// choiceRow describes a kind of choice for the search, its replays, its budget and its
// results.
type choiceRow struct {
	of choiceScope

	// fault is the kind of fault that the choice costs, or noFault. Each kind of fault has
	// one row, with its names: in flags, for one of them, and for several.
	fault     FaultKind
	needs     FaultKind // of a row that costs noFault: the fault that must be in the bounds for such a choice, or noFault
	flag      string
	one, many string
	// onMaster: the fault changes a master in a way that the search's replicas don't
	// follow, so bounds can't have it together with a failover.
	onMaster bool

	// list appends the enabled choices of this kind for client or node i, given that the
	// budget has the fault. It is called in every state and must not allocate. It is nil
	// for steps.
	list  func(x *explorer, to []choice, i int) []choice
	apply func(x *explorer, c choice) // the transition of the explorer's state
	wrong func(c choice) string       // the fault in words; nil if it is none

	// play returns the moves of a schedule by which the engine makes the choice. read is
	// the inverse for moves that begin with a fault: it returns the choice and the number
	// of moves that make it, or 0. Where a client acts by the choice, its step comes later.
	play   func(m *model, c choice) []sim.Move
	read   func(x *explorer, f, then sim.Fault) (c choice, n int)
	then   choiceKind   // the choice that completes this one, and costs no fault of its own; acts if none
	menu   []choiceItem // the choices of this kind that a person who schedules by hand has
	covers []sim.Fault  // the engine's kinds of fault that the choice stands for, besides those that it plays
}

// choiceItem is an entry of a menu. The jump of a clock has only its direction.
type choiceItem struct {
	label string
	choice
}

// choiceScope tells for what kind of thing the choices of a kind are listed.
type choiceScope uint8

const (
	ofStep choiceScope = iota // a client that can act; for all kinds but acts it has to send a request
	ofClient
	ofRequests // the requests that are held up, in the order in which they were sent
	ofNode
	ofDraw // a client that draws a random number, before anything else can happen
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
	draws: {
		of: ofDraw, fault: noFault, needs: noFault,
		list:  func(x *explorer, to []choice, i int) []choice { return x.drawing(to, i) },
		apply: func(x *explorer, c choice) { x.draw(c) },
		play: func(_ *model, c choice) []sim.Move {
			moves := []sim.Move{{Who: sim.SetOf(int(c.who)), Draws: true, Draw: time.Duration(c.number)}}
			if c.ops > 1 {
				moves = append(moves, sim.Move{Who: sim.SetOf(int(c.who)), Count: int(c.ops - 1)})
			}
			return moves
		},
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
			got, is := f.(sim.Crash)
			return choice{kind: crashes, who: clientOf(got.Client)}, count(is, 1)
		},
		menu: []choiceItem{{label: "crash"}},
	},
	repeats: {
		of:    ofClient,
		fault: Duplicate, flag: "duplicate", one: "request that arrives twice", many: "requests that arrive twice",
		list:  func(x *explorer, to []choice, i int) []choice { return x.repeating(to, i) },
		apply: func(x *explorer, c choice) { x.repeat(int(c.who), int(c.n)) },
		wrong: func(c choice) string { return names[c.who] + "'s request arrives twice" },
		play: func(m *model, c choice) []sim.Move {
			return movesOf(sim.Duplicate{Client: m.client(c), N: int(c.n)})
		},
		read: func(x *explorer, f, _ sim.Fault) (choice, int) {
			got, is := f.(sim.Duplicate)
			c := choice{kind: repeats, who: clientOf(got.Client), n: uint8(max(1, got.N))}
			return c, count(is && got.After == 0 && x.repeatable(&x.s.clients[c.who], int(c.n)) != nil, 1)
		},
		menu: []choiceItem{{"send again", choice{n: 1}}},
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
		apply: func(x *explorer, c choice) { x.stepWall(int(c.who), c.by) },
		wrong: func(c choice) string {
			return fmt.Sprintf("%s's wall clock jumps by %s", names[c.who], trace.Duration(c.span()))
		},
		play: func(m *model, c choice) []sim.Move {
			return movesOf(sim.WallStep{Client: m.client(c), By: c.span()})
		},
		read: func(_ *explorer, f, _ sim.Fault) (choice, int) {
			got, is := f.(sim.WallStep)
			return choice{kind: jumpsClient, who: clientOf(got.Client), by: millis(got.By)}, count(is, 1)
		},
		menu: []choiceItem{{"clock on", choice{by: 1}}, {"clock back", choice{by: -1}}},
	},
	frees: {
		of: ofRequests, fault: noFault, needs: HoldRequest,
		list: func(x *explorer, to []choice, _ int) []choice {
			var nth [len(names)]uint8
			for _, req := range x.ids.helds.get(x.world.held) {
				if !req.queued {
					nth[req.client]++
					to = append(to, choice{kind: frees, who: req.client, n: nth[req.client]})
				}
			}
			return to
		},
		apply: func(x *explorer, c choice) { x.free(c.who, c.n) },
		play: func(m *model, c choice) []sim.Move {
			return movesOf(sim.Free{Client: m.client(c), N: int(c.n)})
		},
		read: func(_ *explorer, f, _ sim.Fault) (choice, int) {
			got, is := f.(sim.Free)
			return choice{kind: frees, who: clientOf(got.Client), n: uint8(got.N)}, count(is && got.N <= maxList, 1)
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
			got, is := f.(sim.Lag)
			return choice{kind: fallsBehind, who: nodeOf(got.Replica)}, count(is, 1)
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
			got, is := then.(sim.Failover)
			who := nodeOf(got.To)
			return choice{kind: takesOver, who: who}, count(falls && is && x.s.nodes[who].behind.snapshot != 0, 2)
		},
		menu: []choiceItem{{label: "fail over"}},
	},
	restarts: {
		of:    ofNode,
		fault: Restart, flag: "restart", one: "restart of a server with nothing on disk", many: "restarts of servers with nothing on disk", onMaster: true,
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
	evicts: {
		of:    ofNode,
		fault: Evict, flag: "evict", one: "eviction of the lock's record", many: "evictions of the lock's record", onMaster: true,
		list: func(x *explorer, to []choice, i int) []choice {
			if x.nodes[i].record {
				to = append(to, choice{kind: evicts, who: uint8(i)})
			}
			return to
		},
		apply: func(x *explorer, c choice) { x.evict(int(c.who)) },
		wrong: func(c choice) string { return c.node() + " drops the lock's record before its time" },
		play:  func(_ *model, c choice) []sim.Move { return movesOf(sim.Evict{Node: c.node()}) },
		read: func(_ *explorer, f, _ sim.Fault) (choice, int) {
			got, is := f.(sim.Evict)
			return choice{kind: evicts, who: nodeOf(got.Node)}, count(is, 1)
		},
		menu: []choiceItem{{label: "lose the key"}},
	},
	jumpsServer: {
		of:    ofNode,
		fault: ServerClock, flag: "server-clock", one: "jump of a server's clock", many: "jumps of servers' clocks", onMaster: true,
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
			got, is := f.(sim.NodeStep)
			return choice{kind: jumpsServer, who: nodeOf(got.Node), by: millis(got.By)}, count(is, 1)
		},
		menu: []choiceItem{{"clock on", choice{by: 1}}, {"clock back", choice{by: -1}}},
	},
	passes: {
		of:    ofTime, // it costs a pause for each client that could have acted: often none
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

// makes returns a fault of each of the engine's kinds that choices of this kind make.
func (r *choiceRow) makes() []sim.Fault {
	faults := slices.Clone(r.covers)
	for _, m := range r.play(&model{cfg: sim.Config{Clients: make([]process.Config, 1)}}, choice{}) {
		if m.Fault != nil {
			faults = append(faults, m.Fault)
		}
	}
	return faults
}

// Scope returns what the choices of the kind are listed for.
func (k choiceKind) Scope() choiceScope { return choiceRows[k].of }

// Fault returns the kind of fault that a choice of the kind costs, or NoFault.
func (k choiceKind) Fault() FaultKind { return choiceRows[k].fault }

// Then returns the kind of choice that completes one of this kind, or Acts.
func (k choiceKind) Then() choiceKind { return choiceRows[k].then }

// Menu returns the choices of the kind that a person who schedules by hand has. The jump of a
// clock has only its direction.
func (k choiceKind) Menu() (list []choice) {
	for _, item := range choiceRows[k].menu {
		c := item.choice
		c.kind = k
		list = append(list, c)
	}
	return list
}

// OnMaster reports whether the fault changes a master in a way that replicas don't follow, so
// that bounds can't have it together with a failover.
func (k FaultKind) OnMaster() bool { return faultRows[k].onMaster }

// row returns the choice's row of the table.
func (c choice) row() *choiceRow { return &choiceRows[c.kind] }

// fault returns the kind of fault that the choice costs, or noFault.
func (c choice) fault() FaultKind { return c.row().fault }

// wrong returns the fault in words.
func (c choice) wrong() string { return c.row().wrong(c) }

// completes reports whether the choice is the second part of another, which is a fault in two
// parts.
func (c choice) completes(first choice) bool {
	then := first.row().then
	return then != acts && c.kind == then && c.who == first.who
}

// faulty reports whether the choice is a fault, pauses aside.
func (c choice) faulty() bool { return c.row().fault != noFault && c.kind != passes }

// acts reports whether a client acts by the choice.
func (c choice) acts() bool { return c.kind <= actsAndIsHeldUp }

// step returns the move of a schedule that is the client's part in the choice.
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

// count returns n, or 0 if the condition doesn't hold.
func count(is bool, n int) int {
	if is {
		return n
	}
	return 0
}

// millis returns a span of up to behaviour.MaxSpan in milliseconds.
func millis(d time.Duration) int32 { return int32(d / time.Millisecond) }

// nodeOf returns the index of a server, or of a replica's master, by its name.
func nodeOf(name string) uint8 {
	if name == "" {
		return 0
	}
	return name[1] - '1'
}

// clientOf returns the index of a client by its name.
func clientOf(name string) uint8 {
	for i, n := range names {
		if n == name {
			return uint8(i)
		}
	}
	return 0
}

// play returns the choice as moves of a schedule.
func (m *model) play(c choice) []sim.Move { return c.row().play(m, c) }

// schedule returns a path of choices as moves of a schedule. Time that passes from one
// instant to the next, and on, is one move.
func (m *model) schedule(path []choice) (moves []sim.Move) {
	for i, c := range path {
		if c.kind == passes && i > 0 && path[i-1].kind == passes {
			moves[len(moves)-1].Wait += c.span()
			continue
		}
		moves = append(moves, m.play(c)...)
	}
	return moves
}

// lister is the part of a row that lists choices.
type lister struct {
	kind  choiceKind
	fault FaultKind
	list  func(x *explorer, to []choice, i int) []choice
}

// listers are the rows that can have choices within some bounds, by scope. A kind of fault
// that isn't in the budget costs nothing in each state.
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

// enabled lists the choices that are enabled in the state that the explorer views, in a
// slice that it reuses.
func (x *explorer) enabled(to []choice) []choice {
	to = to[:0]
	if x.over() {
		return to
	}
	left := &x.world.left
	for i, s := range x.summaries {
		if s.draws != 0 {
			return x.drawing(to, i)
		}
	}
	for i, s := range x.summaries {
		if s.acts && x.turns(i) {
			to = append(to, choice{kind: acts, who: uint8(i)})
			for _, row := range x.listers[ofStep][1:] {
				if s.sends && left[row.fault] > 0 {
					to = append(to, choice{kind: row.kind, who: uint8(i)})
				}
			}
		}
		for _, row := range x.listers[ofClient] {
			if left[row.fault] > 0 {
				to = row.list(x, to, i)
			}
		}
	}
	for _, row := range x.listers[ofRequests] {
		to = row.list(x, to, 0)
	}
	for i := range x.nodes {
		for _, row := range x.listers[ofNode] {
			if row.fault == noFault || left[row.fault] > 0 {
				to = row.list(x, to, i)
			}
		}
	}
	for _, row := range x.listers[ofTime] {
		to = row.list(x, to, 0)
	}
	return to
}

// enabledHere lists the choices that are enabled in the state that the explorer views, in a
// slice of its own.
func (x *explorer) enabledHere() []choice {
	x.choices = x.enabled(x.choices)
	return x.choices
}

// choose makes one choice in the explorer's own state.
func (x *explorer) choose(c choice) {
	x.found, x.ops = 0, 0
	row := c.row()
	if c.faulty() {
		x.spend(row.fault, 1)
	}
	row.apply(x, c)
	if x.habits.drops != 0 {
		for i := range x.s.clients {
			x.s.clients[i].drop(x.habits.drops)
		}
	}
}

// Offer is a fault that a person who schedules by hand can choose from a menu.
type Offer struct {
	Label string     // in the menu
	Moves []sim.Move // without the client's step
}

// Offers lists the faults that client or node i can have within the bounds, in the order of
// the kinds of fault. If the moves made so far contain the first part of a fault in two
// parts, the second part is offered. Clocks jump by a TTL and a second.
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
				return slices.ContainsFunc(made, func(mv sim.Move) bool { return mv.Fault != nil && mv.Fault.String() == o.Moves[0].Fault.String() })
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

// offered returns the items of a row's menu for one client or node.
func (m *model) offered(row *choiceRow, who uint8, ttl time.Duration) (offers []Offer) {
	for _, item := range row.menu {
		c := item.choice
		c.who, c.by = who, c.by*millis(ttl+time.Second)
		moves := slices.DeleteFunc(row.play(m, c), func(mv sim.Move) bool { return mv.Fault == nil })
		offers = append(offers, Offer{item.label, moves})
	}
	return offers
}
