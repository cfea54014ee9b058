package explore

import (
	"errors"
	"time"

	"lockstep/sim"
)

// newModel builds what a search needs to begin: its clients' first moments, and
// nodes that hold nothing yet.
func newModel(b Bounds) (*model, error) {
	m, err := buildModel(b, false)
	if err != nil {
		return nil, err
	}
	wall, err := m.looksAtWalls()
	if err != nil {
		return nil, errors.Join(err, m.close())
	}
	if !wall {
		return m, nil
	}
	if err := m.close(); err != nil {
		return nil, err
	}
	return buildModel(b, true)
}

func buildModel(b Bounds, wall bool) (*model, error) {
	cfg, err := b.Config()
	if err != nil {
		return nil, err
	}
	k, err := newClients(cfg, b.Remembers)
	if err != nil {
		return nil, err
	}
	v, err := newServers(cfg, k)
	if err != nil {
		return nil, errors.Join(err, k.close())
	}
	m := &model{bounds: b, cfg: cfg, k: k, v: v, tables: newTables(), quorum: cfg.Strategy.Quorum(),
		ttl: int32(cfg.TTL / time.Millisecond), timeout: int32(cfg.Timeout / time.Millisecond), wall: wall, timed: wall}
	v.asks = wall
	m.width = b.Clients + len(cfg.Nodes) + 1
	m.idleProbe = m.start().clients[b.Clients]
	return m, nil
}

func (m *model) close() error {
	m.v.server.Close()
	return m.k.close()
}

// looksAtWalls finds out, by letting one client run alone, whether the strategy
// looks at wall clocks. If one does so later, and only then, the search ends with
// an error.
func (m *model) looksAtWalls() (bool, error) {
	x := m.explorer()
	x.s.copyFrom(m.start())
	for range 1000 {
		if _, any := x.next(0); any {
			x.follow(move{kind: acts})
		} else if by, due := x.due(); due && !x.k.at(x.s.clients[0].moment).over {
			x.advance(by)
		} else {
			break
		}
		if x.err != nil {
			return false, x.err
		}
	}
	return x.seen.wall, nil
}

// start is the situation in which every schedule begins.
func (m *model) start() *situation {
	s := m.blank()
	for i := range s.clients {
		s.clients[i] = client{moment: m.k.begin[i], since: unset, stamp: unset}
		s.clients[i].turn[0] = 1
	}
	var scripts []string
	for _, script := range m.cfg.Strategy.Scripts {
		scripts = append(scripts, sim.ScriptText(script))
	}
	for i := range s.nodes {
		s.nodes[i] = node{memory: m.v.number(sim.Memory{Scripts: scripts}), owner: -1}
	}
	s.world = world{left: m.bounds.Faults}
	return &s
}

// first takes the explorer to where every schedule begins, and returns that state.
func (x *explorer) first() []uint32 {
	x.s.copyFrom(x.start())
	return x.number()
}

// number is the state of the situation in which the explorer is.
func (x *explorer) number() []uint32 {
	state := make([]uint32, x.width)
	for i := range x.bounds.Clients {
		state[i] = x.clientIDs.id(x.s.clients[i])
	}
	for i := range x.s.nodes {
		state[x.bounds.Clients+i] = x.nodeIDs.id(x.s.nodes[i])
	}
	state[x.width-1] = x.worldIDs.id(x.s.world)
	return state
}
