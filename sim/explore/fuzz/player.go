package fuzz

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/fault"
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

// op is one thing that a schedule of the fuzzer does: steps of a client, a span of time, or a
// fault with all its moves, so that half of a fault is never dropped.
type op struct {
	who    int           // the client that acts
	count  int           // so many of its steps, if any
	wait   time.Duration // or time passes
	faults []fault.Fault // or these are injected, one after the other
}

// spent is what a schedule takes of the bounds of a search.
type spent struct {
	clients, cycles int            // that have acted; that the busiest has begun
	faults          explore.Budget // by kind
	beyond          []string       // that no bounds of a search can contain
}

// total is the number of faults.
func (s *spent) total() (n int) {
	for _, k := range s.faults {
		n += int(k)
	}
	return n + len(s.beyond)
}

// within reports whether bounds that contain the other schedule contain this one.
func (s *spent) within(o *spent) bool {
	for k := range s.faults {
		if s.faults[k] > o.faults[k] {
			return false
		}
	}
	return s.clients <= o.clients && s.cycles <= o.cycles && len(s.beyond) <= len(o.beyond)
}

func (s *spent) String() string {
	text := fmt.Sprintf("clients=%d cycles=%d faults: %s", s.clients, s.cycles, s.faults)
	if len(s.beyond) > 0 {
		text += ", and " + strings.Join(s.beyond, ", ")
	}
	return text
}

// player plays schedules of one lock in the engine, and adds up what they cost. It learns of
// time from the engine alone.
type player struct {
	subject *subject
	worlds  map[shape]*sim.World
	world   *sim.World // of the last run
	config  sim.Config
	threads bool // the lock has started a thread
	record  bool // keep the events, for a trace

	acted [maxClients]bool
	lags  bool // a replica has fallen behind
	cost  spent
}

const maxClients = 3

// shape is what a world can't change from one run to the next.
type shape struct{ clients, replicas int }

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

// begin starts a run.
func (p *player) begin(s setting) error {
	b := s.bounds(p.subject)
	b.TTL = min(b.TTL, time.Hour) // a search refuses what is longer, and the engine plays it
	cfg, err := b.Config()
	if err != nil {
		return err
	}
	cfg.TTL, cfg.Seed = s.ttl, s.seed
	construct := cfg.Strategy.New
	cfg.Strategy.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		start := o.Go
		o.Go = func(f func()) {
			p.threads = true
			start(f)
		}
		return construct(nodes, key, o)
	}
	if p.world, err = p.worldOf(cfg); err != nil {
		return err
	}
	p.config = cfg
	p.acted, p.lags = [maxClients]bool{}, false
	p.cost = spent{}
	return p.world.Reset(cfg, p.record)
}

// worldOf returns a world for a configuration: it takes as long to make one as a hundred runs.
func (p *player) worldOf(cfg sim.Config) (*sim.World, error) {
	of := shape{len(cfg.Clients), cfg.Replicas}
	if w, made := p.worlds[of]; made {
		return w, nil
	}
	w, err := sim.New(cfg)
	if err != nil {
		return nil, err
	}
	if p.worlds == nil {
		p.worlds = map[shape]*sim.World{}
	}
	p.worlds[of] = w
	return w, nil
}

func (p *player) close() (err error) {
	for _, w := range p.worlds {
		err = errors.Join(err, w.Close())
	}
	return err
}

// play starts a run and makes its ops. Those that don't fit where they are, such as steps of a
// client that waits, are skipped.
func (p *player) play(s setting, ops []op) error {
	if err := p.begin(s); err != nil {
		return err
	}
	for i := range ops {
		p.do(&ops[i])
	}
	return p.world.Err()
}

// do makes an op, and reports whether it did anything.
func (p *player) do(o *op) bool {
	switch {
	case o.wait > 0:
		p.wait(o.wait)
		return true
	case len(o.faults) > 0:
		return p.inject(o.faults)
	}
	n := 0
	for n < o.count && p.step(o.who) {
		n++
	}
	return n > 0
}

// step lets a client act, unless it waits for something.
func (p *player) step(i int) bool {
	if !p.world.Ready(sim.SetOf(i)) || !p.world.Step(sim.SetOf(i)) {
		return false
	}
	p.acted[i] = true
	return true
}

// wait lets time pass, from one instant at which anything is due to the next: a client that
// wakes up on the way could act from then on.
func (p *player) wait(d time.Duration) {
	for end := p.world.Now() + d; p.world.Now() < end && p.world.Err() == nil; {
		for i := range p.world.Clients() {
			if p.pauses(i) {
				p.cost.faults[explore.Pause]++
			}
		}
		to := end
		if next, any := p.world.Next(); any && next > p.world.Now() {
			to = min(next, end)
		}
		p.world.Wait(to - p.world.Now())
	}
}

// pauses reports whether it is a client's fault if time passes now: in the middle of a cycle
// the client could act. A client that comes later, for the first time or again, is nobody's
// fault; but if it has threads that go on between its cycles, they may be paused.
func (p *player) pauses(i int) bool {
	c := &p.world.State().Clients[i]
	if c.Crashed || c.Paused || c.Acquired == 0 || !p.world.Ready(sim.SetOf(i)) {
		return false
	}
	at := p.world.Position(i)
	between := at.About == trace.KindAcquire
	return p.threads || !between
}

// inject makes a fault happen. Where it can't, it costs nothing.
func (p *player) inject(faults []fault.Fault) bool {
	_, takesOver := faults[len(faults)-1].(fault.Failover)
	if takesOver && !p.lags {
		return false // a failover that loses nothing is not what a search calls one
	}
	for n, f := range faults {
		if n == 0 && p.world.Enabled(f) != nil || p.world.Inject(f) != nil {
			return false
		}
	}
	last := faults[len(faults)-1]
	switch last.(type) {
	case fault.Lag:
		p.lags = true
	case fault.Failover:
		p.lags = false
	}
	if kind, counts := kindOf(last); counts {
		p.cost.faults[kind]++
	}
	return true
}

// kindOf returns the kind that a fault counts as, and false for the end of one that has been
// counted. What has several moves is counted by the last.
func kindOf(f fault.Fault) (explore.FaultKind, bool) {
	switch f.(type) {
	case fault.Up:
		return explore.Restart, true
	case fault.Failover, fault.Free:
		return 0, false
	}
	if kind, is := explore.KindOf(f); is {
		return kind, true
	}
	panic("a fault without a cost: " + f.String())
}

// spent returns the cost of the run so far.
func (p *player) spent() spent {
	s := p.cost
	s.cycles = 1
	for i := range p.world.Clients() {
		if p.acted[i] {
			s.clients++
		}
		s.cycles = max(s.cycles, p.world.State().Clients[i].Cycle)
	}
	s.clients = max(1, s.clients)
	return s
}

// verdict returns the violations of the run so far.
func (p *player) verdict() trace.Verdict { return p.world.Verdict() }

// deadlocks ends the run, and reports whether the lock can never be had again. All that is
// held up arrives first.
func (p *player) deadlocks() bool {
	for i := range p.world.Clients() {
		for p.world.Inject(fault.Free{Client: p.config.Clients[i].Name, N: 1}) == nil {
		}
	}
	return p.world.Drain() == nil && slices.Contains(p.world.Verdict(), trace.PD)
}

// shows plays a schedule, and reports whether it violates a code.
func (p *player) shows(s setting, ops []op, c trace.Code) bool {
	if p.play(s, ops) != nil {
		return false
	}
	if c == trace.PD {
		return p.deadlocks()
	}
	return slices.Contains(p.verdict(), c)
}

// line returns the schedule that was played last as the engine writes it, moves only.
func (p *player) line() string {
	_, moves, _ := strings.Cut(p.world.Schedule().String(), ",--,")
	return moves
}
