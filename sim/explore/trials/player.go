package trials

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/offers"
	"lockstep/sim/fault"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Op is one thing that a schedule does: steps of a client, a span of time, or a fault with all
// its moves, so that half of a fault is never dropped.
type Op struct {
	Who    int           // the client that acts
	Count  int           // so many of its steps, if any
	Wait   time.Duration // or time passes
	Faults []fault.Fault // or these are injected, one after the other
}

// Cost is a schedule's use of the bounds of a search.
type Cost struct {
	Clients, Cycles int           // that have acted; that the busiest has begun
	Faults          bounds.Budget // by kind
}

// total is the number of faults.
func (c *Cost) total() (n int) {
	for _, k := range c.Faults {
		n += int(k)
	}
	return n
}

// Within reports whether bounds that contain the other schedule contain this one.
func (c *Cost) Within(o *Cost) bool {
	for k := range c.Faults {
		if c.Faults[k] > o.Faults[k] {
			return false
		}
	}
	return c.Clients <= o.Clients && c.Cycles <= o.Cycles
}

// String returns the cost as bounds are written: clients=2 cycles=1 faults: ..., with the faults as --faults takes them.
func (c *Cost) String() string {
	return fmt.Sprintf("clients=%d cycles=%d faults: %s", c.Clients, c.Cycles, c.Faults)
}

// Player plays schedules in the engine, and adds up their costs. It learns of time from the
// engine alone.
type Player struct {
	World  *sim.World // of the last run
	Config sim.Config // of that
	Record bool       // keep the events, for a trace

	worlds  map[shape]*sim.World
	threads bool // the lock has started a thread
	acted   [bounds.MaxClients]bool
	paused  [bounds.MaxClients]bool // since they have acted last
	lags    bool                    // a replica has fallen behind
	cost    Cost
	wrong   []Wrong // if the events are kept
	pauses  [bounds.MaxClients]struct {
		at    int
		since time.Duration
	} // the last of each client, as one of wrong
}

// Wrong is a fault that a schedule has had.
type Wrong struct {
	Kind bounds.FaultKind
	Text string // in words
}

// shape has the numbers that a world can't change from one run to the next.
type shape struct{ clients, replicas int }

// Begin starts a run.
func (p *Player) Begin(cfg sim.Config) (err error) {
	p.Config = cfg
	construct := cfg.Strategy.New
	cfg.Strategy.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		start := o.Go
		o.Go = func(f func()) {
			p.threads = true
			start(f)
		}
		return construct(nodes, key, o)
	}
	p.acted, p.paused, p.lags, p.threads = [bounds.MaxClients]bool{}, [bounds.MaxClients]bool{}, false, false
	p.cost, p.wrong = Cost{}, p.wrong[:0]
	if p.World, err = p.worldOf(cfg); err != nil {
		return err
	}
	return p.World.Reset(cfg, p.Record)
}

// worldOf returns a world for a configuration: it takes as long to make one as a hundred runs.
func (p *Player) worldOf(cfg sim.Config) (*sim.World, error) {
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

// Close releases the resources of the player's worlds.
func (p *Player) Close() (err error) {
	for _, w := range p.worlds {
		err = errors.Join(err, w.Close())
	}
	return err
}

// Play starts a run and makes its ops. Those that don't fit where they are, such as steps of a
// client that waits, are skipped.
func (p *Player) Play(cfg sim.Config, ops []Op) error {
	if err := p.Begin(cfg); err != nil {
		return err
	}
	for i := range ops {
		p.Do(&ops[i])
	}
	return p.World.Err()
}

// Do makes an op, and reports whether it did anything.
func (p *Player) Do(o *Op) bool {
	switch {
	case o.Wait > 0:
		p.wait(o.Wait)
		return true
	case len(o.Faults) > 0:
		return p.inject(o.Faults)
	}
	n := 0
	for n < o.Count && p.step(o.Who) {
		n++
	}
	return n > 0
}

// step lets a client act, unless it waits for something.
func (p *Player) step(i int) bool {
	if !p.World.Ready(sim.SetOf(i)) || !p.World.Step(sim.SetOf(i)) {
		return false
	}
	if p.paused[i] {
		p.ends(i)
	}
	p.acted[i], p.paused[i] = true, false
	return true
}

// wait lets time pass, from one instant at which anything is due to the next: a client that
// wakes up on the way could act from then on.
func (p *Player) wait(d time.Duration) {
	for end := p.World.Now() + d; p.World.Now() < end && p.World.Err() == nil; {
		for i := range p.World.Clients() {
			if p.Pauses(i) {
				p.pause(i)
			}
		}
		to := end
		if next, any := p.World.Next(); any && next > p.World.Now() {
			to = min(next, end)
		}
		p.World.Wait(to - p.World.Now())
	}
}

// pause begins a client's pause.
func (p *Player) pause(i int) {
	p.paused[i] = true
	p.cost.Faults[bounds.Pause]++
	if p.Record {
		p.pauses[i].at, p.pauses[i].since = len(p.wrong), p.World.Now()
		p.wrong = append(p.wrong, Wrong{Kind: bounds.Pause})
	}
}

// ends tells how long a client's pause has lasted.
func (p *Player) ends(i int) {
	if p.Record {
		p.wrong[p.pauses[i].at].Text = fmt.Sprintf("%s is paused for %s", p.Config.Clients[i].Name, trace.Duration(p.World.Now()-p.pauses[i].since))
	}
}

// Wrong returns the faults of a run whose events are kept.
func (p *Player) Wrong() []Wrong {
	for i, still := range p.paused {
		if still {
			p.ends(i)
		}
	}
	return slices.Clone(p.wrong)
}

// Pauses reports whether it is a client's fault if time passes now: in the middle of a cycle
// the client could act. A client that comes later, for the first time or again, is nobody's
// fault; but if it has threads that go on between its cycles, they may be paused.
func (p *Player) Pauses(i int) bool {
	c := &p.World.State().Clients[i]
	if c.Crashed || c.Paused || p.paused[i] || c.Acquired == 0 || !p.World.Ready(sim.SetOf(i)) {
		return false
	}
	return p.threads || !p.between(i)
}

// between reports whether a client's next operation is to ask for the lock.
func (p *Player) between(i int) bool {
	return p.World.Position(i).About == trace.KindAcquire
}

// inject makes a fault happen. Where it can't, it costs nothing.
func (p *Player) inject(faults []fault.Fault) bool {
	last := faults[len(faults)-1]
	if _, takesOver := last.(fault.Failover); takesOver && !p.lags {
		return false // a search doesn't count a failover that loses nothing
	}
	for n, f := range faults {
		if n == 0 && p.World.Enabled(f) != nil || p.World.Inject(f) != nil {
			return false
		}
	}
	switch last.(type) {
	case fault.Lag:
		p.lags = true
	case fault.Failover:
		p.lags = false
	}
	if kind, counts := KindOf(last); counts {
		p.cost.Faults[kind]++
		if p.Record {
			p.wrong = append(p.wrong, Wrong{kind, fmt.Sprintf("a %s (%s)", kind.Words(1), last)})
		}
	}
	return true
}

// KindOf returns the kind that a fault counts as, and false for the end of one that has been
// counted. A fault of several moves is counted by its last.
func KindOf(f fault.Fault) (bounds.FaultKind, bool) {
	switch f.(type) {
	case fault.Up:
		return bounds.Restart, true
	case fault.Failover, fault.Free:
		return 0, false
	}
	if kind, is := offers.KindOf(f); is {
		return kind, true
	}
	panic("a fault without a cost: " + f.String())
}

// Cost returns the cost of the run so far.
func (p *Player) Cost() Cost {
	s := p.cost
	s.Cycles = 1
	for i := range p.World.Clients() {
		if p.acted[i] {
			s.Clients++
		}
		s.Cycles = max(s.Cycles, p.World.State().Clients[i].Cycle)
	}
	s.Clients = max(1, s.Clients)
	return s
}

// Verdict returns the violations of the run so far.
func (p *Player) Verdict() trace.Verdict { return p.World.Verdict() }

// Deadlocks ends the run, and reports whether the lock can never be had again. All that is
// held up arrives first.
func (p *Player) Deadlocks() bool {
	for i := range p.World.Clients() {
		for p.World.Inject(fault.Free{Client: p.Config.Clients[i].Name, N: 1}) == nil {
		}
	}
	return p.World.Drain() == nil && slices.Contains(p.World.Verdict(), trace.PD)
}

// Shows plays a schedule, and reports whether it violates a code.
func (p *Player) Shows(cfg sim.Config, ops []Op, c trace.Code) bool {
	if p.Play(cfg, ops) != nil {
		return false
	}
	if c == trace.PD {
		return p.Deadlocks()
	}
	return slices.Contains(p.Verdict(), c)
}

// Line returns the schedule that was played last as the engine writes it, moves only.
func (p *Player) Line() string {
	_, moves, _ := strings.Cut(p.World.Schedule().String(), ",--,")
	return moves
}
