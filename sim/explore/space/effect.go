package space

import (
	"errors"
	"slices"

	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/flight"
	"lockstep/sim/explore/instants"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
)

// act makes a client's next step, with the given fate of the request if it sends one.
func (x *Explorer) act(c Choice, f requestFate) {
	t, _ := x.readyOf(int(c.Who))
	x.turnTo(c.Who)
	x.number = c.Number
	x.macroStep(int(c.Who), t, f)
	x.number = 0
}

// draw lets a client draw a random number. It belongs to the step before, so it is no switch.
func (x *Explorer) draw(c Choice) {
	t, _ := x.readyOf(int(c.Who))
	x.number = c.Number
	x.macroStep(int(c.Who), t, goes)
	x.number = 0
}

// drawing appends the random numbers that a client can draw next.
func (x *Explorer) drawing(to []Choice, i int) []Choice {
	history := x.summaries[i].draws
	h := x.Clients.At(history)
	for t := range int(h.Count) {
		if p := &h.Threads[t]; p.Over || p.Kind != process.OpDraw {
			continue
		}
		numbers, err := x.Clients.Draws(history, t)
		if err != nil {
			x.fail(err)
		}
		for _, n := range numbers {
			to = append(to, Choice{Kind: Draws, Who: uint8(i), Number: n})
		}
		break
	}
	return to
}

// readings appends the steps in which a client's clock shows another reading than the multiple of the
// grid at which it is: that stands for all instants near by.
func (x *Explorer) readings(to []Choice, i int) []Choice {
	for _, r := range x.instants.Near(x.summaries[i].reads - 1) {
		to = append(to, Choice{Kind: Acts, Who: uint8(i), Number: int64(r) + 1})
	}
	return to
}

// turnTo counts a switch to another client, if the bounds limit switches.
func (x *Explorer) turnTo(who uint8) {
	if x.Bounds.Switches == 0 {
		return
	}
	w := &x.s.world
	if w.mover == who+1 {
		return
	}
	if w.mover != 0 {
		w.switched++
	}
	w.mover = who + 1
}

// turns reports whether the bound on switches lets client i act next.
func (x *Explorer) turns(i int) bool {
	w := x.world
	return x.Bounds.Switches == 0 || w.mover == 0 || int(w.mover) == i+1 || int(w.switched) < x.Bounds.Switches
}

// spend takes n faults from the budget.
func (x *Explorer) spend(k FaultKind, n uint8) {
	if x.s.world.left[k] != bounds.Any {
		x.s.world.left[k] -= n
	}
	x.Stats.Used[k] = true
}

// crash ends client i. Its requests in flight stay, and those that could arrive twice; of the
// client itself only the grant matters in which it last accessed the resource.
func (x *Explorer) crash(i int) {
	x.closeConns(i, 0xffff, 0, nil)
	if x.Bounds.Faults[bounds.Crash] == bounds.Any { // the requests under way are not the new process's
		x.replace(func(r *flight.Request) bool { return int(r.Client) == i })
	}
	x.s.clients[i] = x.dead(i, x.s.clients[i].Touched, x.s.clients[i].sentBefore)
	x.facts.CanonicaliseRanks()
}

// dead returns client i after it has crashed: it is gone; or where any number of clients may
// crash, another has taken its place.
func (m *Model) dead(i int, touched monitor.Rank, sent uint32) client {
	c := client{Client: monitor.Client{Touched: touched}, since: unset, sentBefore: sent}
	if c.Crashed = m.Bounds.Faults[bounds.Crash] != bounds.Any; !c.Crashed {
		c.history, c.turn[0] = m.Clients.Begin[i], 1
	}
	return c
}

// freeing appends the choices of a kind that let a request arrive which is held up, of those that fit.
func (x *Explorer) freeing(to []Choice, kind ChoiceKind, fits func(*flight.Request) bool) []Choice {
	for req, nth := range flight.Held(x.ids.helds.Get(x.world.held)) {
		if fits(req) {
			to = append(to, Choice{Kind: kind, Who: req.Client, N: nth})
		}
	}
	return to
}

// free lets the nth held request of a client arrive, and those that waited behind it. If
// another request on its connection is still held up before it, it waits for that. Its reply may be lost.
func (x *Explorer) free(who, nth uint8, lost bool) {
	held := slices.Clone(x.ids.helds.Get(x.s.world.held))
	at := flight.Nth(held, who, nth)
	held[at].Loses = held[at].Loses || lost
	first := held[at]
	due, kept := flight.Free(held, at)
	x.s.world.held, _ = x.ids.helds.Put(kept)
	if due == nil {
		return
	}
	x.arrive(due)
	x.endsWith(first)
	if !x.s.clients[first.Client].Crashed {
		x.settle(int(first.Client))
	}
}

// repeating appends the requests of client i that can arrive once more: of equal ones, the
// last.
func (x *Explorer) repeating(to []Choice, i int) []Choice {
	sent := x.ids.sents.Get(x.summaries[i].repeats)
	for at := len(sent) - 1; at >= 0; at-- {
		if !sent[at].Queued && !slices.Contains(sent[at+1:], sent[at]) {
			to = append(to, Choice{Kind: Repeats, Who: uint8(i), N: uint8(len(sent) - at)})
		}
	}
	return to
}

// repeat lets a request of client i arrive once more.
func (x *Explorer) repeat(i, n int) {
	c := &x.s.clients[i]
	sent := x.ids.sents.Get(c.sentBefore)
	req := *flight.Again(sent, n)
	if x.foresees() {
		c.sentBefore, _ = x.ids.sents.Put(slices.Delete(slices.Clone(sent), len(sent)-n, len(sent)-n+1))
		if x.s.world.left[bounds.Duplicate] > 0 {
			x.executed = append(x.executed, req)
		}
	}
	if x.execute(&req, false, true) {
		x.block(req, true)
	}
	for i := range x.s.clients {
		if x.s.world.left[bounds.Duplicate] == 0 { // nothing can arrive twice any more
			x.s.clients[i].sentBefore = 0
		}
		x.settle(i)
	}
}

// stepWall makes the wall clock of client i jump by so many milliseconds.
func (x *Explorer) stepWall(i int, by int32) {
	wall := int64(x.s.clients[i].wall) + int64(by)
	if wall != int64(int32(wall)) {
		x.fail(errors.New("a client's wall clock jumps by more than 24 days in all: the search counts in 32 bits of milliseconds; use a shorter TTL"))
		return
	}
	x.s.clients[i].wall = int32(wall)
}

// stepClock makes the clock of node i jump by so many milliseconds, which moves all its
// expiries.
func (x *Explorer) stepClock(i int, by int32) {
	n := &x.s.nodes[i]
	later := x.Servers.Age(n.snapshot, by)
	x.set(n, later)
	x.facts.Recount()
	x.publish(later.Sent)
}

// fallBehind makes the replica of node i fall behind: later writes don't reach it.
func (x *Explorer) fallBehind(i int) {
	n := &x.s.nodes[i]
	n.behind = replica{snapshot: x.Servers.Replicated(n.snapshot), owner: n.owner}
}

// restart empties node n, and ends its connections.
func (x *Explorer) restart(n int) {
	x.disconnect(n)
	nd := &x.s.nodes[n]
	nd.snapshot = x.Servers.Empty(nd.snapshot)
	nd.owner = monitor.Nobody
	x.facts.Recount()
}

// evict drops the lock's record from node n. Connections and all else that is stored stay.
func (x *Explorer) evict(n int) {
	nd := &x.s.nodes[n]
	without := x.Servers.Evicted(nd.snapshot)
	x.set(nd, without)
	x.facts.Recount()
	x.publish(without.Sent)
}

// takeOver replaces master n by its replica, which has fallen behind.
func (x *Explorer) takeOver(n int) {
	x.disconnect(n)
	nd := &x.s.nodes[n]
	*nd = node{snapshot: nd.behind.snapshot, owner: nd.behind.owner, failed: true}
	x.facts.Recount()
}

// disconnect ends the connections of node n.
func (x *Explorer) disconnect(n int) {
	peers := x.Servers.Snapshot(x.s.nodes[n].snapshot).Peers
	for _, txn := range peers {
		if c := &x.s.clients[flight.PeerClient(txn.Conn)]; !c.Crashed {
			c.gone |= 1 << flight.PeerConn(txn.Conn)
		}
	}
	w := &x.s.world
	held := slices.Clone(x.ids.helds.Get(w.held))
	for i := range held {
		if int(held[i].Addr) == n {
			held[i].Stale = true
		}
	}
	x.unblock(held, uint8(n))
	for _, txn := range peers {
		if txn.Subscribed() {
			x.message(uint16(txn.Conn), reply{refused: true})
		}
	}
}

// passing appends the choice that time passes to the next instant at which anything is due,
// if there is one and the budget has as many pauses as would begin.
func (x *Explorer) passing(to []Choice) []Choice {
	by, pauses := int32(0), uint8(0)
	for _, n := range x.nodes {
		by = instants.Sooner(by, n.due)
	}
	for _, s := range x.summaries {
		by = instants.Sooner(by, s.due)
		if s.idles {
			pauses++
		}
	}
	if x.world.held != 0 {
		for left := range flight.Patience(x.ids.helds.Get(x.world.held)) {
			by = instants.Sooner(by, x.instants.ToNext(left))
		}
	}
	by = instants.Sooner(by, x.instants.NextStamp(x.ids.reads.Get(x.world.reads), x.epoch+int64(x.world.now)))
	if by == 0 || pauses > x.world.left[bounds.Pause] {
		return to
	}
	return append(to, Choice{Kind: Passes, By: by})
}

// lives reports whether the client has neither crashed nor finished its program.
func (s *summary) lives() bool { return !s.crashed && !s.over }

// Over reports whether the schedule has ended in the state that the explorer views: all
// clients have ended, and no request is held up.
func (x *Explorer) Over() bool {
	return (x.world.held == 0 || flight.Holds(x.ids.helds.Get(x.world.held)) == 0) && !slices.ContainsFunc(x.summaries, (*summary).lives)
}
