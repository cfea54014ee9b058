package fuzz

import (
	"time"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/explore/trials"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// subject is a lock that is fuzzed.
type subject struct {
	name     string
	why      string // the violation that it commits
	strategy strategies.Strategy
	tries    int             // of each Acquire; 0 is 1
	nodes    int             // of a lock on several servers; 0 is as many as a search has by default
	extends  bool            // callers extend their lease, in each run
	draws    bool            // it draws random numbers
	ttl      time.Duration   // if it makes sense with only one
	spans    []time.Duration // waits that are likely to matter
}

type (
	op    = trials.Op
	spent = trials.Cost
)

const maxClients = 3

// setting is what a run is configured with, besides its lock.
type setting struct {
	clients, cycles int
	extend, checks  bool
	ttl             time.Duration
	replica         bool   // of the node, which can take over
	seed            uint64 // of the clients' draws
	tries           int    // of each Acquire
}

// bounds returns the bounds of a search in which clients are configured alike.
func (s *setting) bounds(of *subject) explore.Bounds {
	b := explore.Defaults(of.strategy)
	b.Clients, b.Cycles, b.Extend, b.Checks, b.TTL = s.clients, s.cycles, s.extend, s.checks, s.ttl
	b.Faults, b.Tries = explore.Budget{}, s.tries
	if of.nodes > 0 {
		b.Nodes = of.nodes
	}
	if of.strategy.Fences {
		b.Resource = sim.Fenced
	}
	if s.replica {
		b.Faults[explore.Failover] = 1
	}
	return b
}

// config returns the configuration of the engine.
func (s *setting) config(of *subject) (sim.Config, error) {
	b := s.bounds(of)
	b.TTL = min(b.TTL, time.Hour) // a search refuses what is longer, and the engine plays it
	cfg, err := b.Config()
	cfg.TTL, cfg.Seed = s.ttl, s.seed
	return cfg, err
}

// player plays schedules of one lock.
type player struct {
	trials.Drawer
	subject *subject
}

// begin starts a run.
func (p *player) begin(s setting) error {
	cfg, err := s.config(p.subject)
	if err != nil {
		return err
	}
	return p.Begin(cfg)
}

// play starts a run and makes its ops.
func (p *player) play(s setting, ops []op) error {
	cfg, err := s.config(p.subject)
	if err != nil {
		return err
	}
	return p.Play(cfg, ops)
}

// shows plays a schedule, and reports whether it violates a code.
func (p *player) shows(s setting, ops []op, c trace.Code) bool {
	cfg, err := s.config(p.subject)
	return err == nil && p.Shows(cfg, ops, c)
}

// shrunk shrinks a schedule: see [trials.Player.Shrunk].
func (p *player) shrunk(s setting, ops []op, c trace.Code) ([]op, spent) {
	cfg, _ := s.config(p.subject) // it was played
	return p.Shrunk(cfg, ops, c)
}

// drawer draws random schedules while it plays them.
type drawer struct {
	*player
	s     setting
	given *setting // of every run, or nil: it is drawn
}

// setting draws what a run is configured with.
func (d *drawer) setting(of *subject) setting {
	s := setting{clients: 2, cycles: 1 + d.IntN(3)/2, ttl: 12 * time.Second, seed: 1, tries: max(1, of.tries), extend: of.extends}
	if d.IntN(3) == 0 {
		s.clients = 3
	}
	if d.IntN(8) == 0 {
		s.cycles = 3
	}
	if of.strategy.Nodes > 1 && (of.nodes == 0 || d.IntN(3) > 0) {
		s.cycles = 1
	}
	if of.ttl > 0 {
		s.ttl = of.ttl
	} else if d.IntN(4) == 0 {
		s.ttl = [...]time.Duration{3 * time.Second, 900 * time.Millisecond}[d.IntN(2)]
	}
	if of.draws {
		s.seed = d.Uint64N(1000)
	}
	if of.strategy.Extends() && d.IntN(2) == 0 {
		s.extend = true
	}
	s.checks = d.IntN(6) == 0
	s.replica = of.strategy.Nodes == 1 && of.strategy.Replicas == 0 && d.IntN(10) == 0
	return s
}

// draw plays a random schedule: of any kind, or of few long runs of one client each.
func (d *drawer) draw(of *subject) error {
	if d.given != nil {
		d.s = *d.given
	} else {
		d.s = d.setting(of)
	}
	cfg, err := d.s.config(of)
	if err != nil {
		return err
	}
	d.Spans = of.spans
	if d.IntN(2) == 0 {
		return d.Draw(cfg)
	}
	var b explore.Budget
	for k := range b {
		switch kind := explore.FaultKind(k); {
		case kind.OnMaster() && d.s.replica, kind == explore.Failover && !d.s.replica: // no bounds have both
		case d.Kinds != nil:
			b[k] = min(1, d.Kinds[k])
		default:
			b[k] = 1
		}
	}
	b[explore.Pause] = uint8(d.IntN(3))
	return d.Within(cfg, &b)
}
