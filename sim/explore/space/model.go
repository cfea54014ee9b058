package space

import (
	"errors"
	"time"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/instants"
	"lockstep/sim/explore/spent"
	"lockstep/sim/monitor"
	"lockstep/sim/redis"
)

// NewModel starts the clients' drivers and the server of a search. It fails if the bounds
// make no sense, or if the lock can't be made.
func NewModel(b Bounds, timed bool) (*Model, error) {
	cfg, err := b.Config()
	if err != nil {
		return nil, err
	}
	cfg.Draws = true
	clients, err := behaviour.NewClients(cfg, behaviour.Memory{Closures: b.Remembers, Readings: b.ClockGoesOn, Uncounted: b.Endless()})
	if err != nil {
		return nil, err
	}
	servers, err := behaviour.NewServers(cfg, clients, timed)
	if err != nil {
		return nil, errors.Join(err, clients.Close())
	}
	m := &Model{Bounds: b, Config: cfg, Clients: clients, Servers: servers, quorum: cfg.Strategy.Quorum(),
		ttl: int32(cfg.TTL / time.Millisecond), timeout: int32(cfg.Timeout / time.Millisecond), timed: timed, listers: newListers(&b)}
	m.instants, m.Budget = instants.First(m.ttl, m.timeout, b.Jumps()), b.Faults
	m.forget()
	m.Width = b.Clients + len(cfg.Nodes) + 1
	m.idleProbe = m.start().clients[b.Clients]
	return m, nil
}

// forget drops all states, and keeps the behaviours that they have shown.
func (m *Model) forget() {
	m.ids, m.spent = m.newTables(), nil
	if m.Bounds.Endless() && !m.Bounds.Others && !m.keepsSpent {
		m.spent = spent.In(m.Clients, m.Servers)
	}
	m.habits = &habits{clients: m.Clients, inboxes: m.ids.inboxes, timeout: m.timeout, resource: m.Config.Resource, checks: m.Bounds.Checks, endless: m.Bounds.Endless(), goesOn: m.Bounds.Remembers || m.Bounds.ClockGoesOn, drops: m.drops(), extend: m.Bounds.Extend, spares: monitor.Local, eachStep: m.eachStep, early: m.WakesEarly()}
}

// Spent reports whether nothing could have come of all requests that were dropped because of that. If something
// could, the next round keeps them.
func (m *Model) Spent() bool {
	switch {
	case m.spent == nil || m.spent.StillDone(m.bare()) && !m.spent.Potent(m.snapshots()):
		return true
	case m.spent.Learnt():
		m.neverDone = true
	default:
		m.KeepSpent()
	}
	return false
}

// bare returns the snapshot of a server with which every schedule begins.
func (m *Model) bare() uint32 { return m.start().nodes[0].snapshot }

// KeepSpent keeps the requests of which nothing can come any more, in all rounds from now on.
func (m *Model) KeepSpent() { m.keepsSpent, m.spent = true, nil }

// Close ends the server and the clients' drivers. It fails if one of these does.
func (m *Model) Close() error {
	m.Servers.Server.Close()
	return m.Clients.Close()
}

// Elsewhen returns a function that makes models of brief schedules that begin later and whose leases last longer, with the instants known now.
func (m *Model) Elsewhen() func(later, longer time.Duration) (*Model, error) {
	b, timed, in := m.Bounds.Brief(), m.timed, m.instants
	return func(later, longer time.Duration) (*Model, error) {
		other, err := NewModel(b, timed)
		if err == nil {
			other.instants, other.epoch = in.Longer(longer).For(other.Clients), later.Milliseconds()
		}
		return other, err
	}
}

// Timed reports whether true time belongs to the model's states.
func (m *Model) Timed() bool { return m.timed }

// Executed returns how many commands were executed, how many operations client code has
// performed, and at how many places it draws.
func (m *Model) Executed() (commands, operations, draws int) {
	return m.Servers.Ran, m.Clients.Outcomes.Len(), m.Clients.Drawn()
}

// Recheck fails if client code that runs once more does otherwise: see
// [behaviour.Clients.Recheck].
func (m *Model) Recheck() error { return m.Clients.Recheck() }

// start returns the state in which every schedule begins.
func (m *Model) start() *state {
	s := m.blank()
	for i := range m.Clients.Begin {
		s.clients[i] = client{history: m.Clients.Begin[i], since: unset}
		s.clients[i].turn[0] = 1
	}
	var scripts []string
	for _, script := range m.Config.Strategy.Scripts {
		scripts = append(scripts, redis.ScriptText(script))
	}
	for i := range s.nodes {
		s.nodes[i] = node{snapshot: m.Servers.ID(redis.Snapshot{Scripts: scripts, Millis: m.epoch}), owner: monitor.Nobody}
	}
	s.world = world{}
	copy(s.world.left[:], m.Budget[:])
	return &s
}

// Begin takes the explorer to the state in which every schedule begins, and returns that.
func (x *Explorer) Begin() []uint32 {
	x.s.copyFrom(x.start())
	return x.StateID()
}

// StateID returns the packed state that the explorer is in.
func (x *Explorer) StateID() []uint32 {
	state := make([]uint32, x.Width)
	for i := range x.Bounds.Clients {
		state[i] = x.ids.clients.ID(x.s.clients[i])
	}
	for i := range x.s.nodes {
		state[x.Bounds.Clients+i] = x.ids.nodes.ID(x.s.nodes[i])
	}
	state[x.Width-1] = x.ids.worlds.ID(x.s.world)
	return state
}

// StepByStep turns partial-order reduction off, for good: each step of a client is a choice of
// its own. If lasting is set, for livelocks, a record goes at any moment of the millisecond that
// ends its life. It must be called before any state is made.
func (m *Model) StepByStep(lasting bool) {
	m.eachStep, m.lasting = true, lasting
	m.forget()
}
