package explore

import (
	"errors"
	"time"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/monitor"
	"lockstep/sim/redis"
)

// with calls a function with a model. In the first, states that differ only in when they
// happen are equal, and sleeps have any length. If that meets a reading of true time, it
// calls the function again, with a model in which true time belongs to the state; and if it
// meets a sleep for a fraction of a millisecond, with bounds that round sleeps.
func with(b Bounds, do func(*model) error) error {
	for timed := false; ; {
		if timed && b.endless() {
			return errRestless
		}
		m, err := newModel(b, timed)
		if err != nil {
			return err
		}
		switch err = do(m); {
		case errors.Is(err, behaviour.ErrTimed):
			timed = true
		case errors.Is(err, behaviour.ErrFraction) && !b.WholeSleeps:
			b.WholeSleeps = true
		default:
			return errors.Join(err, m.close())
		}
		if err := m.close(); err != nil {
			return err
		}
	}
}

// newModel starts the clients' drivers and the server of a search. It fails if the bounds
// make no sense, or if the lock can't be made.
func newModel(b Bounds, timed bool) (*model, error) {
	cfg, err := b.Config()
	if err != nil {
		return nil, err
	}
	cfg.Draws = true
	clients, err := behaviour.NewClients(cfg, b.Remembers, b.endless())
	if err != nil {
		return nil, err
	}
	servers, err := behaviour.NewServers(cfg, clients, timed)
	if err != nil {
		return nil, errors.Join(err, clients.Close())
	}
	m := &model{bounds: b, cfg: cfg, clients: clients, servers: servers, quorum: cfg.Strategy.Quorum(),
		ttl: int32(cfg.TTL / time.Millisecond), timeout: int32(cfg.Timeout / time.Millisecond), timed: timed, listers: newListers(&b)}
	m.instants, m.budget = m.firstInstants(), b.Faults
	m.forget()
	m.width = b.Clients + len(cfg.Nodes) + 1
	m.idleProbe = m.start().clients[b.Clients]
	return m, nil
}

// forget drops all states, and keeps the behaviours that they have shown.
func (m *model) forget() {
	m.ids = m.newTables()
	m.habits = &habits{clients: m.clients, inboxes: m.ids.inboxes, timeout: m.timeout, checks: m.bounds.Checks, endless: m.bounds.endless(), drops: m.drops(), extend: m.bounds.Extend, spares: monitor.Local}
}

func (m *model) close() error {
	m.servers.Server.Close()
	return m.clients.Close()
}

// executed returns how many commands were executed, how many operations client code has
// performed, and at how many places it draws.
func (m *model) executed() (commands, operations, draws int) {
	return m.servers.Ran, m.clients.Outcomes.Len(), m.clients.Drawn()
}

// recheck fails if client code that runs once more does otherwise: see
// [behaviour.Clients.Recheck].
func (m *model) recheck() error { return m.clients.Recheck() }

// start returns the state in which every schedule begins.
func (m *model) start() *state {
	s := m.blank()
	for i := range s.clients {
		s.clients[i] = client{history: m.clients.Begin[i], since: unset}
		s.clients[i].turn[0] = 1
	}
	var scripts []string
	for _, script := range m.cfg.Strategy.Scripts {
		scripts = append(scripts, scriptText(script))
	}
	for i := range s.nodes {
		s.nodes[i] = node{snapshot: m.servers.ID(redis.Snapshot{Scripts: scripts}), owner: monitor.Nobody}
	}
	s.world = world{}
	copy(s.world.left[:], m.budget[:])
	return &s
}

// first takes the explorer to the state in which every schedule begins, and returns that.
func (x *explorer) first() []uint32 {
	x.s.copyFrom(x.start())
	return x.stateID()
}

// stateID returns the packed state that the explorer is in.
func (x *explorer) stateID() []uint32 {
	state := make([]uint32, x.width)
	for i := range x.bounds.Clients {
		state[i] = x.ids.clients.ID(x.s.clients[i])
	}
	for i := range x.s.nodes {
		state[x.bounds.Clients+i] = x.ids.nodes.ID(x.s.nodes[i])
	}
	state[x.width-1] = x.ids.worlds.ID(x.s.world)
	return state
}
