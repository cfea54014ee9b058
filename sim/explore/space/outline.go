package space

import (
	"fmt"
	"slices"
	"strconv"

	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/flight"
	"lockstep/sim/explore/picture"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// Outline describes the state that the explorer is in, without the parts that depend on its
// instant alone: the contents of records, and clients' memories.
func (x *Explorer) Outline() string {
	text := make([]byte, 0, 256)
	for i := range x.Bounds.Clients {
		c := &x.s.clients[i]
		text = picture.Client(text, bounds.Names[i], c.Crashed, c.Phase, int(c.Acquired), c.Live, c.Inside, c.paused)
		if c.Crashed {
			continue
		}
		for t, p := range x.history(i).Threads {
			text = strconv.AppendBool(strconv.AppendBool(append(text, byte('a'+p.Kind)), p.Over), c.waits[t])
			text = strconv.AppendBool(text, p.Kind == process.OpReceive && x.local(i).replyOn(p.Conn) >= 0)
		}
	}
	for i, n := range x.s.nodes {
		text = picture.Node(text, i)
		for _, k := range x.Servers.Snapshot(n.snapshot).Keys {
			text = picture.Key(text, k.Name, "", k.Left)
		}
		text = picture.Owner(text, int(n.owner.Client), int(n.owner.N))
	}
	return string(text)
}

// Picture describes a state of the search by the facts that a world shows, too: see picture.Of. Without names
// it leaves out tokens, the values of keys, the numbers of acquisitions, and pauses.
func (x *Explorer) Picture(text []byte, names bool) []byte {
	for i := range x.Bounds.Clients {
		c := &x.s.clients[i]
		n, paused := int(c.Acquired), c.paused && c.Phase != trace.PhaseIdle // between cycles it makes no difference
		if !names {
			n, paused = 0, false
		}
		text = picture.Client(text, bounds.Names[i], c.Crashed, c.Phase, n, c.Live, c.Inside, paused)
		if _, acts := x.readyOf(i); names {
			text = picture.Acts(text, acts)
		}
	}
	for i, n := range x.s.nodes {
		text = picture.Node(text, i)
		if names {
			text = picture.Lasting(text, x.Servers.Subscribers(n.snapshot), flight.WaitingAt(x.ids.helds.Get(x.s.world.held), uint8(i)))
			text = picture.Keys(text, x.Servers.Snapshot(n.snapshot).Keys, x.Config.RecordKey(), int(n.owner.Client), int(n.owner.N))
		} else {
			text = picture.Nameless(text, x.Servers.Snapshot(n.snapshot).Keys, x.Config.RecordKey(), int(n.owner.Client))
		}
	}
	return text
}

// Live reports whether the lease of a client lives.
func (x *Explorer) Live(client int) bool { return x.s.clients[client].Live }

// AsksAhead reports whether a client is about to ask for the lock while a thread of its own runs.
func (x *Explorer) AsksAhead(client int) bool {
	h := x.history(client)
	return h.Threads[0].Asks() && !h.Single()
}

// ChooseLocal is Choose, and fails if the choice is a local step that leads to another state as such.
func (x *Explorer) ChooseLocal(c Choice) (Choice, error) {
	before, counted := x.StateID(), x.Stats
	c = x.Choose(c)
	if !x.Reduce || x.Err != nil {
		return c, x.Err
	}
	after, stats := x.StateID(), x.Stats
	x.Stats = counted
	if to, local := x.localStep(c, before, nil); local && (!slices.Equal(to, after) || x.Stats != stats || x.Found != 0) {
		return c, fmt.Errorf("the search takes a step of client %d for its own business, and it isn't", c.Who)
	}
	x.Stats = stats
	return c, nil
}
