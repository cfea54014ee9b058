package space

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/flight"
	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// Choice is one transition that can be chosen in a state: a client acts, something
// goes wrong, or time passes.
type Choice struct {
	Kind ChoiceKind
	Who  uint8 // the client, or the node
	By   int32 // milliseconds by which time passes, or a clock jumps
	N    uint8 // which of the client's held requests, from 1; or of its executed ones, counted back from the last, which is 1
	ops  uint8 // how many operations the client performed, once the choice is made: besides the first those that follow a call of Acquire, and readings of replies

	Number int64 // that a client draws, in nanoseconds; of Acts a reading near by in milliseconds, plus 1: see readings
}

// ChoiceKind is a kind of choice; choiceRows describes each.
type ChoiceKind uint8

// The kinds of choice, in the order in which those of a state are listed.
const (
	Acts ChoiceKind = iota
	ActsAndLosesReply
	ActsAndIsHeldUp
	Draws
	Crashes
	Repeats
	JumpsClient
	Frees
	FreesAndLosesReply
	FallsBehind
	TakesOver
	Restarts
	Evicts
	JumpsServer
	Passes
	ChoiceKinds // their number
)

// choiceRow describes a kind of choice for the search, its replays, its budget and its
// results.
type choiceRow struct {
	of ChoiceScope

	fault FaultKind // that the choice costs, or NoFault; each kind of fault has one row, but for replies, which also are lost to requests that were held up
	needs FaultKind // of a row that costs NoFault: the fault that must be in the bounds for such a choice, or NoFault

	// list appends the enabled choices of this kind for client or node i, given that the
	// budget has the fault. It is called in every state and must not allocate. It is nil
	// for steps.
	list  func(x *Explorer, to []Choice, i int) []Choice
	apply func(x *Explorer, c Choice) // the transition of the explorer's state
	wrong func(c Choice) string       // the fault in words; nil if it is none

	// play returns the moves of a schedule by which the engine makes the choice. read is
	// the inverse for moves that begin with a fault: it returns the choice and the number
	// of moves that make it, or 0. Where a client acts by the choice, its step comes later.
	play   func(m *Model, c Choice) []sim.Move
	read   func(x *Explorer, f, then fault.Fault) (c Choice, n int)
	then   ChoiceKind    // the choice that completes this one, and costs no fault of its own; acts if none
	menu   []Item        // the choices of this kind that a person who schedules by hand has
	covers []fault.Fault // the engine's kinds of fault that the choice stands for, besides those that it plays
}

// Item is an entry of the menu of a person who schedules by hand. The jump of a clock has only its direction.
type Item struct {
	Does string // goes on with a sentence that begins with the actor's name, or with its next command if the choice is of that
	Choice
}

// ChoiceScope tells for what kind of thing the choices of a kind are listed.
type ChoiceScope uint8

const (
	OfStep     ChoiceScope = iota // a client that can act; for all kinds but acts it has to send a request
	OfClient                      // a client, whatever it is doing
	OfRequests                    // the requests that are held up, in the order in which they were sent
	OfNode                        // a server
	OfDraw                        // a client that draws a random number, before anything else can happen
	OfTime                        // all together
)

// choiceRows is the table of all kinds of choice.
var choiceRows = [ChoiceKinds]choiceRow{
	Acts: {
		fault: bounds.NoFault, needs: bounds.NoFault,
		apply: func(x *Explorer, c Choice) { x.act(c, goes) },
		play:  func(_ *Model, c Choice) []sim.Move { return []sim.Move{c.step()} },
	},
	ActsAndLosesReply: {
		fault: bounds.ReplyLost,
		apply: func(x *Explorer, c Choice) { x.act(c, losesReply) },
		wrong: func(c Choice) string { return "the reply to " + bounds.Names[c.Who] + "'s request is lost" },
		play: func(m *Model, c Choice) []sim.Move {
			return append(sim.MovesOf(fault.LoseReply{Client: m.client(c)}), c.step())
		},
		read:   reads(func(fault.LoseReply) Choice { return Choice{Kind: ActsAndLosesReply} }),
		covers: []fault.Fault{fault.Drop{}},
		menu:   []Item{{Does: "and the reply is lost"}},
	},
	ActsAndIsHeldUp: {
		fault: bounds.HoldRequest,
		apply: func(x *Explorer, c Choice) { x.act(c, heldUp) },
		wrong: func(c Choice) string { return bounds.Names[c.Who] + "'s request is held up" },
		play: func(m *Model, c Choice) []sim.Move {
			return append(sim.MovesOf(fault.Hold{Client: m.client(c)}), c.step())
		},
		read:   reads(func(fault.Hold) Choice { return Choice{Kind: ActsAndIsHeldUp} }),
		covers: []fault.Fault{fault.Delay{}},
		menu:   []Item{{Does: "held up on its way"}},
	},
	Draws: {
		of: OfDraw, fault: bounds.NoFault, needs: bounds.NoFault,
		list:  func(x *Explorer, to []Choice, i int) []Choice { return x.drawing(to, i) },
		apply: func(x *Explorer, c Choice) { x.draw(c) },
		play: func(_ *Model, c Choice) []sim.Move {
			moves := []sim.Move{{Who: sim.SetOf(int(c.Who)), Draws: true, Draw: time.Duration(c.Number)}}
			if c.ops > 1 {
				moves = append(moves, sim.Move{Who: sim.SetOf(int(c.Who)), Count: int(c.ops - 1)})
			}
			return moves
		},
	},
	Crashes: {
		of:    OfClient,
		fault: bounds.Crash,
		list:  func(x *Explorer, to []Choice, i int) []Choice { return has(x.summaries[i].lives(), to, Crashes, i) },
		apply: func(x *Explorer, c Choice) { x.crash(int(c.Who)) },
		wrong: func(c Choice) string { return bounds.Names[c.Who] + " crashes" },
		play:  func(m *Model, c Choice) []sim.Move { return sim.MovesOf(fault.Crash{Client: m.client(c)}) },
		read:  reads(func(f fault.Crash) Choice { return Choice{Kind: Crashes, Who: bounds.ClientOf(f.Client)} }),
		menu:  []Item{{Does: "crashes"}},
	},
	Repeats: {
		of:    OfClient,
		fault: bounds.Duplicate,
		list:  func(x *Explorer, to []Choice, i int) []Choice { return x.repeating(to, i) },
		apply: func(x *Explorer, c Choice) { x.repeat(int(c.Who), int(c.N)) },
		wrong: func(c Choice) string { return bounds.Names[c.Who] + "'s request arrives twice" },
		play: func(m *Model, c Choice) []sim.Move {
			return sim.MovesOf(fault.Duplicate{Client: m.client(c), N: int(c.N)})
		},
		read: func(x *Explorer, f, _ fault.Fault) (Choice, int) {
			got, is := f.(fault.Duplicate)
			c := Choice{Kind: Repeats, Who: bounds.ClientOf(got.Client), N: uint8(max(1, got.N))}
			return c, count(is && got.After == 0 && flight.Again(x.ids.sents.Get(x.s.clients[c.Who].sentBefore), int(c.N)) != nil, 1)
		},
		menu: []Item{{"its last request arrives once more", Choice{N: 1}}},
	},
	JumpsClient: {
		of:    OfClient,
		fault: bounds.ClientClock,
		list: func(x *Explorer, to []Choice, i int) []Choice {
			if x.timed && x.summaries[i].lives() {
				by := int32(x.Bounds.ClockJump().Milliseconds())
				to = append(to, Choice{Kind: JumpsClient, Who: uint8(i), By: by}, Choice{Kind: JumpsClient, Who: uint8(i), By: -by})
			}
			return to
		},
		apply: func(x *Explorer, c Choice) { x.stepWall(int(c.Who), c.By) },
		wrong: func(c Choice) string {
			return bounds.Names[c.Who] + "'s wall clock jumps by " + trace.Duration(c.span())
		},
		play: func(m *Model, c Choice) []sim.Move {
			return sim.MovesOf(fault.WallStep{Client: m.client(c), By: c.span()})
		},
		read: reads(func(f fault.WallStep) Choice {
			return Choice{Kind: JumpsClient, Who: bounds.ClientOf(f.Client), By: millis(f.By)}
		}),
		menu: []Item{{"its clock jumps ahead", Choice{By: 1}}, {"its clock jumps back", Choice{By: -1}}},
	},
	Frees: {
		of: OfRequests, fault: bounds.NoFault, needs: bounds.HoldRequest,
		list:  func(x *Explorer, to []Choice, _ int) []Choice { return x.freeing(to, Frees, (*flight.Request).HeldUp) },
		apply: func(x *Explorer, c Choice) { x.free(c.Who, c.N, false) },
		play:  func(m *Model, c Choice) []sim.Move { return sim.MovesOf(fault.Free{Client: m.client(c), N: int(c.N)}) },
		read: func(_ *Explorer, f, _ fault.Fault) (Choice, int) {
			got, is := f.(fault.Free)
			return Choice{Kind: Frees, Who: bounds.ClientOf(got.Client), N: uint8(got.N)}, count(is && got.N <= MaxList, 1)
		},
		menu: []Item{{"what was held up arrives", Choice{N: 1}}},
	},
	FreesAndLosesReply: {
		of: OfRequests, fault: bounds.ReplyLost,
		list: func(x *Explorer, to []Choice, _ int) []Choice {
			return x.freeing(to, FreesAndLosesReply, (*flight.Request).Awaited)
		},
		apply: func(x *Explorer, c Choice) { x.free(c.Who, c.N, true) },
		wrong: func(c Choice) string {
			return "the reply to " + bounds.Names[c.Who] + "'s request that was held up is lost"
		},
		play: func(m *Model, c Choice) []sim.Move {
			return sim.MovesOf(fault.LoseHeldReply{Client: m.client(c), N: int(c.N)}, fault.Free{Client: m.client(c), N: int(c.N)})
		},
		read: func(_ *Explorer, f, then fault.Fault) (Choice, int) {
			got, is := f.(fault.LoseHeldReply)
			return Choice{Kind: FreesAndLosesReply, Who: bounds.ClientOf(got.Client), N: uint8(got.N)}, count(is && got.N <= MaxList && then == fault.Fault(fault.Free(got)), 2)
		},
		menu: []Item{{"what was held up arrives, and its reply is lost", Choice{N: 1}}},
	},
	FallsBehind: {
		of:    OfNode,
		fault: bounds.Failover,
		list:  func(_ *Explorer, to []Choice, i int) []Choice { return has(true, to, FallsBehind, i) },
		apply: func(x *Explorer, c Choice) { x.fallBehind(int(c.Who)) },
		then:  TakesOver,
		wrong: func(c Choice) string { return c.node() + "'s replica falls behind, and is made the master" },
		play: func(_ *Model, c Choice) []sim.Move {
			return sim.MovesOf(fault.Lag{Replica: c.node() + "r1", By: 1000 * time.Hour})
		},
		read: func(_ *Explorer, f, _ fault.Fault) (Choice, int) {
			got, is := f.(fault.Lag)
			return Choice{Kind: FallsBehind, Who: bounds.NodeOf(got.Replica)}, count(is && got.By >= 1000*time.Hour, 1)
		},
		menu: []Item{{Does: "its replica falls behind"}},
	},
	TakesOver: {
		of: OfNode, fault: bounds.NoFault, needs: bounds.Failover,
		list:  func(x *Explorer, to []Choice, i int) []Choice { return has(x.nodes[i].behind, to, TakesOver, i) },
		apply: func(x *Explorer, c Choice) { x.takeOver(int(c.Who)) },
		play: func(_ *Model, c Choice) []sim.Move {
			return sim.MovesOf(fault.Down{Node: c.node()}, fault.Failover{To: c.node() + "r1"})
		},
		read: func(x *Explorer, f, then fault.Fault) (Choice, int) {
			_, falls := f.(fault.Down)
			got, is := then.(fault.Failover)
			who := bounds.NodeOf(got.To)
			return Choice{Kind: TakesOver, Who: who}, count(falls && is && x.s.nodes[who].behind.snapshot != 0, 2)
		},
		menu: []Item{{Does: "its replica takes over"}},
	},
	Restarts: {
		of:    OfNode,
		fault: bounds.Restart,
		list:  func(_ *Explorer, to []Choice, i int) []Choice { return has(true, to, Restarts, i) },
		apply: func(x *Explorer, c Choice) { x.restart(int(c.Who)) },
		wrong: func(c Choice) string { return c.node() + " restarts, empty" },
		play: func(_ *Model, c Choice) []sim.Move {
			return sim.MovesOf(fault.Down{Node: c.node()}, fault.Up{Node: c.node()})
		},
		read: func(_ *Explorer, f, then fault.Fault) (Choice, int) {
			down, falls := f.(fault.Down)
			up, is := then.(fault.Up)
			return Choice{Kind: Restarts, Who: bounds.NodeOf(up.Node)}, count(falls && is && up.Node == down.Node, 2)
		},
		menu: []Item{{Does: "restarts, empty"}},
	},
	Evicts: {
		of:    OfNode,
		fault: bounds.Evict,
		list:  func(x *Explorer, to []Choice, i int) []Choice { return has(x.nodes[i].record, to, Evicts, i) },
		apply: func(x *Explorer, c Choice) { x.evict(int(c.Who)) },
		wrong: func(c Choice) string { return c.node() + " drops the lock's record before its time" },
		play:  func(_ *Model, c Choice) []sim.Move { return sim.MovesOf(fault.Evict{Node: c.node()}) },
		read:  reads(func(f fault.Evict) Choice { return Choice{Kind: Evicts, Who: bounds.NodeOf(f.Node)} }),
		menu:  []Item{{Does: "drops the key"}},
	},
	JumpsServer: {
		of:    OfNode,
		fault: bounds.ServerClock,
		list: func(x *Explorer, to []Choice, i int) []Choice {
			by := int32(x.Bounds.ClockJump().Milliseconds())
			return append(to, Choice{Kind: JumpsServer, Who: uint8(i), By: by}, Choice{Kind: JumpsServer, Who: uint8(i), By: -by})
		},
		apply: func(x *Explorer, c Choice) { x.stepClock(int(c.Who), c.By) },
		wrong: func(c Choice) string { return c.node() + "'s clock jumps by " + trace.Duration(c.span()) },
		play:  func(_ *Model, c Choice) []sim.Move { return sim.MovesOf(fault.NodeStep{Node: c.node(), By: c.span()}) },
		read: reads(func(f fault.NodeStep) Choice {
			return Choice{Kind: JumpsServer, Who: bounds.NodeOf(f.Node), By: millis(f.By)}
		}),
		menu: []Item{{"its clock jumps ahead", Choice{By: 1}}, {"its clock jumps back", Choice{By: -1}}},
	},
	Passes: {
		of:    OfTime, // it costs a pause for each client that could have acted: often none
		fault: bounds.Pause,
		list:  func(x *Explorer, to []Choice, _ int) []Choice { return x.passing(to) },
		apply: func(x *Explorer, c Choice) {
			if _, n := x.Idle(); n > 0 {
				x.spend(bounds.Pause, n)
			}
			x.advance(c.By)
		},
		play:   func(_ *Model, c Choice) []sim.Move { return []sim.Move{{Wait: c.span()}} },
		covers: []fault.Fault{fault.Pause{}},
	},
}

// has appends the choice of a kind for client or node i, if it is enabled.
func has(enabled bool, to []Choice, kind ChoiceKind, i int) []Choice {
	if enabled {
		to = append(to, Choice{Kind: kind, Who: uint8(i)})
	}
	return to
}

// reads returns the read of a row whose choices are one fault, of one type.
func reads[F fault.Fault](choice func(F) Choice) func(x *Explorer, f, then fault.Fault) (Choice, int) {
	return func(_ *Explorer, f, _ fault.Fault) (c Choice, n int) {
		if own, is := f.(F); is {
			c, n = choice(own), 1
		}
		return c, n
	}
}

// Makes returns a fault of each of the engine's kinds that choices of the kind make.
func (k ChoiceKind) Makes() []fault.Fault {
	r := &choiceRows[k]
	faults := slices.Clone(r.covers)
	for _, m := range r.play(&Model{Config: sim.Config{Clients: make([]process.Config, 1)}}, Choice{}) {
		if m.Fault != nil {
			faults = append(faults, m.Fault)
		}
	}
	return faults
}

// Scope returns the kind of thing for which choices of the kind are listed.
func (k ChoiceKind) Scope() ChoiceScope { return choiceRows[k].of }

// Fault returns the kind of fault that a choice of the kind costs, or NoFault.
func (k ChoiceKind) Fault() FaultKind { return choiceRows[k].fault }

// Then returns the kind of choice that completes one of this kind, or Acts.
func (k ChoiceKind) Then() ChoiceKind { return choiceRows[k].then }

// Needs returns the kind of fault that must be in the bounds for a choice of the kind: that which it
// costs, or of which it is a part; or NoFault.
func (k ChoiceKind) Needs() FaultKind {
	if row := &choiceRows[k]; row.fault == bounds.NoFault {
		return row.needs
	}
	return choiceRows[k].fault
}

// Menu returns the choices of the kind that a person who schedules by hand has.
func (k ChoiceKind) Menu() (list []Item) {
	for _, item := range choiceRows[k].menu {
		item.Kind = k
		list = append(list, item)
	}
	return list
}

// row returns the choice's row of the table.
func (c Choice) row() *choiceRow { return &choiceRows[c.Kind] }

// Fault returns the kind of fault that the choice costs, or [NoFault].
func (c Choice) Fault() FaultKind { return c.row().fault }

// Wrong returns the fault in words.
func (c Choice) Wrong() string { return c.row().wrong(c) }

// Completes reports whether the choice is the second part of another, which is a fault in two
// parts.
func (c Choice) Completes(first Choice) bool {
	then := first.row().then
	return then != Acts && c.Kind == then && c.Who == first.Who
}

// Faulty reports whether the choice is a fault, pauses aside.
func (c Choice) Faulty() bool { return c.row().fault != bounds.NoFault && c.Kind != Passes }

// Acts reports whether a client acts by the choice.
func (c Choice) Acts() bool { return c.Kind <= ActsAndIsHeldUp }

// step returns the move of a schedule that is the client's part in the choice.
func (c Choice) step() sim.Move {
	return sim.Move{Who: sim.SetOf(int(c.Who)), Count: int(max(1, c.ops))}
}

func (c Choice) span() time.Duration { return time.Duration(c.By) * time.Millisecond }

func (c Choice) node() string { return fmt.Sprintf("n%d", c.Who+1) }

func (m *Model) client(c Choice) string { return m.Config.Clients[c.Who].Name }

// count returns n, or 0 if the condition doesn't hold.
func count(is bool, n int) int {
	if is {
		return n
	}
	return 0
}

// millis returns a span of up to [behaviour.MaxSpan] in milliseconds.
func millis(d time.Duration) int32 { return int32(d / time.Millisecond) }

// Read returns the choice that moves make which begin with a fault, and the number of moves
// that belong to it.
func Read(x *Explorer, moves []sim.Move) (Choice, int, error) {
	f, then := moves[0].Fault, fault.Fault(nil)
	if len(moves) > 1 {
		then = moves[1].Fault
	}
	for i := range choiceRows {
		if choiceRows[i].read == nil {
			continue
		}
		if c, n := choiceRows[i].read(x, f, then); n > 0 {
			return c, n, nil
		}
	}
	if _, down := f.(fault.Down); down {
		return Choice{}, 0, errors.New("a node that is down and stays down is nothing that a search does")
	}
	return Choice{}, 0, fmt.Errorf("%q is nothing that a search does", f)
}

// Outside lists, in words, the faults and other events that no schedule within some bounds has.
func Outside(b *Bounds) string {
	var covered []fault.Fault
	for k := range ChoiceKinds {
		covered = append(covered, k.Makes()...)
	}
	return b.Outside(covered)
}

// Play returns the choice as moves of a schedule.
func (m *Model) Play(c Choice) []sim.Move { return c.row().play(m, c) }

// Schedule returns a path of choices as moves of a schedule. Time that passes from one
// instant to the next, and on, is one move.
func (m *Model) Schedule(path []Choice) (moves []sim.Move) {
	for i, c := range path {
		if c.Kind == Passes && i > 0 && path[i-1].Kind == Passes {
			moves[len(moves)-1].Wait += c.span()
			continue
		}
		moves = append(moves, m.Play(c)...)
	}
	return moves
}

// lister is the part of a row that lists choices.
type lister struct {
	kind  ChoiceKind
	fault FaultKind
	list  func(x *Explorer, to []Choice, i int) []Choice
}

// listers are the rows that can have choices within some bounds, by scope. A kind of fault
// that isn't in the budget costs nothing in each state.
type listers [OfTime + 1][]lister

func newListers(b *Bounds) (l listers) {
	for i := range choiceRows {
		row, needs := &choiceRows[i], ChoiceKind(i).Needs()
		if needs == bounds.NoFault || row.of == OfTime || b.Faults[needs] > 0 {
			l[row.of] = append(l[row.of], lister{ChoiceKind(i), row.fault, row.list})
		}
	}
	return l
}

// enabled lists the choices that are enabled in the state that the explorer views, in a
// slice that it reuses.
func (x *Explorer) enabled(to []Choice) []Choice {
	to = to[:0]
	left := &x.world.left
	if x.Over() && (left[bounds.Duplicate] == 0 || !slices.ContainsFunc(x.summaries, func(s *summary) bool { return s.repeats != 0 })) {
		return to
	}
	for i, s := range x.summaries {
		if s.draws != 0 {
			return x.drawing(to, i)
		}
	}
	for i, s := range x.summaries {
		if s.acts && x.turns(i) {
			to = append(to, Choice{Kind: Acts, Who: uint8(i)})
			if s.reads != 0 {
				to = x.readings(to, i)
			}
			for _, row := range x.listers[OfStep][1:] {
				if (s.sends || s.asksAndSends && x.Reduce) && left[row.fault] > 0 {
					to = append(to, Choice{Kind: row.kind, Who: uint8(i)})
				}
			}
		}
		for _, row := range x.listers[OfClient] {
			if left[row.fault] > 0 {
				to = row.list(x, to, i)
			}
		}
	}
	for _, row := range x.listers[OfRequests] {
		if row.fault == bounds.NoFault || left[row.fault] > 0 {
			to = row.list(x, to, 0)
		}
	}
	for i := range x.nodes {
		for _, row := range x.listers[OfNode] {
			if row.fault == bounds.NoFault || left[row.fault] > 0 {
				to = row.list(x, to, i)
			}
		}
	}
	for _, row := range x.listers[OfTime] {
		to = row.list(x, to, 0)
	}
	return to
}

// Enabled lists the choices that are enabled in the state that the explorer views, in a
// slice of its own.
func (x *Explorer) Enabled() []Choice {
	x.choices = x.enabled(x.choices)
	return x.choices
}

// Choose makes one choice in the explorer's own state. It returns the choice with the operations that
// the client performed, for [Model.Play].
func (x *Explorer) Choose(c Choice) Choice {
	x.Found, x.ops, x.executed = 0, 0, x.executed[:0]
	row := c.row()
	if c.Faulty() {
		x.spend(row.fault, 1)
	}
	row.apply(x, c)
	x.dropUnsought()
	c.ops = x.ops
	return c
}

// dropUnsought clears the facts that are needed for nothing but codes that aren't sought.
func (x *Explorer) dropUnsought() {
	if x.habits.drops != 0 {
		for i := range x.s.clients {
			x.s.clients[i].drop(x.habits.drops)
		}
	}
}
