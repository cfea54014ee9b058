package explore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"lockstep/sim"
	"lockstep/sim/explore/behaviour"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// beginSeries gives client i, which is about to ask for the lock, the first of its series of
// tokens of which nothing is left: in no record, in no request that is held up or could
// arrive twice, and in no memory of any client. Its acquisition has the number of the series.
func (x *explorer) beginSeries(i int) behaviour.Observation {
	var used behaviour.SeriesSet
	for n := range x.s.nodes {
		nd := &x.s.nodes[n]
		used |= x.servers.SeriesIn(nd.snapshot) | x.seriesOwned(int(nd.owner.Client), nd.owner.N)
		if nd.behind.snapshot != 0 {
			used |= x.servers.SeriesIn(nd.behind.snapshot) | x.seriesOwned(int(nd.behind.owner.Client), nd.behind.owner.N)
		}
	}
	requests := func(list []request) {
		for _, req := range list {
			used |= x.clients.SeriesInCommand(req.command) | x.seriesOwned(int(req.client), req.acquired)
		}
	}
	requests(x.ids.helds.get(x.s.world.held))
	for n := range x.bounds.Clients {
		c := &x.s.clients[n]
		requests(x.ids.sents.get(c.sentBefore))
		if !c.Crashed {
			used |= x.history(n).Series
		}
	}
	series, free := used.Free(i)
	if !free {
		x.fail(fmt.Errorf("tokens of %d acquisitions of one client are in use at a time", behaviour.SeriesEach))
	}
	x.s.clients[i].Acquired = uint16(series)
	return behaviour.Observation{Kind: behaviour.SawSeries, Value: int64(series)}
}

// seriesOwned returns the series of a client's nth acquisition.
func (x *explorer) seriesOwned(client int, n uint16) (set behaviour.SeriesSet) {
	if client >= 0 && client < x.bounds.Clients && n > 0 {
		set = set.With(client, behaviour.Series(n-1))
	}
	return set
}

// rests reports whether all clients are between two cycles, or gone, in the state that the
// explorer views, and no request is held up: the lock must be free then, or become free.
func (x *explorer) rests() bool {
	for _, s := range x.summaries {
		if s.lives() && !s.between {
			return false
		}
	}
	return x.world.held == 0
}

// restless explains why a lock can't be searched without a bound on cycles, or returns nil.
func (b *Bounds) restless() error {
	switch s := b.Strategy; {
	case !b.endless():
		for k, n := range b.Faults {
			if n == Any {
				return fmt.Errorf("a search with any number of %s has any number of cycles, too", FaultKind(k).Words(2))
			}
		}
		return nil
	case slices.ContainsFunc(b.Faults[ReplyLost+1:], func(n uint8) bool { return n == Any }):
		return fmt.Errorf("a search can have any number of %s, %s and %s, and of other faults so many as are stated", Crash.Words(2), Pause.Words(2), ReplyLost.Words(2))
	case b.Switches > 0:
		return errors.New("a bound on switches bounds the cycles, too")
	case s.Fences || s.Counter:
		return fmt.Errorf("%s counts, and its numbers grow from cycle to cycle: a search of it needs a bound on cycles", s.Name)
	case b.Remembers:
		return fmt.Errorf("%s may keep something of each cycle in variables of a closure: a search of it needs a bound on cycles", s.Name)
	}
	return nil
}

// errRestless is the error of a search without a bound on cycles that meets true time.
var errRestless = fmt.Errorf("the lock reads a clock that shows true time, which grows from cycle to cycle: a search of it needs a bound on cycles")

// concludeEndless finds the least schedules of a search without bounds within smaller bounds,
// where the engine confirms them. A violation that isn't found there is not decided: the
// situations of such a search stand for many schedules each. It also has the engine play
// random schedules.
func (m *model) concludeEndless(ctx context.Context, r *Result) error {
	if err := m.clients.Recheck(); err != nil {
		return err
	}
	if err := r.smaller(ctx); err != nil {
		return err
	}
	for _, c := range r.Found {
		if r.Find(c) == nil {
			r.Complete, r.Closed = false, false
			r.Why = fmt.Sprintf("a situation shows %s, and no schedule within smaller bounds does", c.Named())
		}
	}
	r.Found = slices.DeleteFunc(r.Found, func(c trace.Code) bool { return r.Find(c) == nil })
	exact, err := newModel(m.bounds, false)
	if err != nil {
		return err
	}
	defer exact.close() //nolint:errcheck // its drivers have nothing to lose
	p := exact.newPlayer()
	w, err := sim.New(p.cfg)
	if err != nil {
		return err
	}
	for seed := range uint64(samples) {
		err = errors.Join(err, p.agree(w, seed))
	}
	return errors.Join(err, w.Close())
}

// player plays choices of a search without bounds in the engine, in which a client that takes
// the place of another after a crash is a client of its own.
type player struct {
	model  // with more clients in its configuration
	search *model
	as     []uint8 // for each client of the search, the engine's client that is in its place
	was    []uint8 // for each client of the engine, the search's
}

// newPlayer returns a player, with spare clients.
func (m *model) newPlayer() *player {
	p := &player{model: *m, search: m}
	p.cfg.Clients = slices.Clone(p.cfg.Clients)
	for len(p.cfg.Clients) < sim.MaxClients {
		c := p.cfg.Clients[0]
		c.Name = string(rune('A' + len(p.cfg.Clients)))
		p.cfg.Clients = append(p.cfg.Clients, c)
	}
	return p
}

// play returns the choice as moves of the engine, or reports that there is no client left.
func (p *player) play(c choice) ([]sim.Move, bool) {
	row := c.row()
	if row.of == ofNode || row.of == ofTime {
		return p.model.play(c), true
	}
	who := c.who
	if c.kind == frees && p.as[who] != who {
		return nil, false // whose request it is of those that were in this place isn't known here
	}
	c.who = p.as[who]
	if c.kind == crashes && p.bounds.Faults[Crash] == Any {
		if len(p.was) == len(p.cfg.Clients) {
			return nil, false
		}
		p.as[who], p.was = uint8(len(p.was)), append(p.was, who)
	}
	return p.model.play(c), true
}

// steps is the number of choices in a random schedule of a search without bounds.
const steps = 200

// agree plays a random schedule in both the search and the engine, and fails where they
// differ.
func (p *player) agree(w *sim.World, seed uint64) error {
	if err := w.Reset(p.cfg, false); err != nil {
		return err
	}
	p.as, p.was = nil, nil
	for i := range p.bounds.Clients {
		p.as, p.was = append(p.as, uint8(i)), append(p.was, uint8(i))
	}
	rng, x := rand.New(rand.NewPCG(seed, 7)), p.search.explorer()
	x.s.copyFrom(p.search.start())
	x.reduce = seed%2 == 0
	var all codes
	var choices []choice
	var moves []sim.Move
	for range steps {
		x.view(x.stateID())
		if choices = x.enabled(choices); len(choices) == 0 {
			return nil
		}
		c := choices[rng.IntN(len(choices))]
		if c.kind != acts && rng.IntN(2) > 0 {
			c = choices[rng.IntN(len(choices))]
		}
		x.choose(c)
		if c.ops = x.ops; x.err != nil {
			return x.err
		}
		all |= x.found
		made, fits := p.play(c)
		if !fits {
			return nil
		}
		moves = append(moves, made...)
		if err := w.Play(made, nil); err != nil {
			return err
		}
		if err := p.differ(x, w, all); err != nil {
			return fmt.Errorf("without bounds %w\n%s", err, sim.Schedule{Config: p.cfg, Moves: moves})
		}
	}
	return nil
}

// differ fails unless the search and the engine agree on violations, clients and nodes. The
// names of tokens and the numbers of acquisitions are the engine's own.
func (p *player) differ(x *explorer, w *sim.World, found codes) error {
	if real := codesOf(w.Verdict()) & x.bounds.codes(); real&^found != 0 { // leases are rounded up
		return fmt.Errorf("the search finds %s, and the engine %s", found, real)
	}
	if a, b := p.searched(x), p.played(x, w); !bytes.Equal(a, b) {
		return fmt.Errorf("the search has\n%s\nand the engine\n%s", a, b)
	}
	return nil
}

func (p *player) searched(x *explorer) (text []byte) {
	for i := range p.bounds.Clients {
		c := &x.s.clients[i]
		text = clientPicture(text, i, c.Crashed, c.Phase, 0, c.Live, c.Inside, false)
	}
	for i, n := range x.s.nodes {
		text = nodePicture(text, i)
		for _, k := range x.servers.Snapshot(n.snapshot).Keys {
			text = keyPicture(text, k.Name, "", k.Left)
			if k.Name == x.cfg.RecordKey() {
				text = ownerPicture(text, int(n.owner.Client), 0)
			}
		}
	}
	return text
}

func (p *player) played(x *explorer, w *sim.World) (text []byte) {
	s := w.State()
	for i := range p.bounds.Clients {
		c := &s.Clients[p.as[i]]
		text = clientPicture(text, i, c.Crashed, c.Phase, 0, c.Lease.Live || x.s.clients[i].Live, c.Lease.Inside, false)
	}
	for addr, i := range s.Primary {
		text = nodePicture(text, addr)
		for _, r := range s.Nodes[i].Records {
			left := redis.Immortal
			if r.Expires != trace.Never {
				left = r.Left(w.Now()).Milliseconds()
			}
			text = keyPicture(text, r.Key, "", left)
			if r.Key == p.cfg.RecordKey() {
				owner := r.Owner.Client
				if owner >= 0 {
					owner = int(p.was[owner])
				}
				text = ownerPicture(text, owner, 0)
			}
		}
	}
	return text
}

// small returns bounds that show most of what a lock does.
func (b Bounds) small() Bounds {
	b.Cycles, b.Clients = 2, min(2, b.Clients)
	for k := range b.Faults {
		if b.Faults[k] = min(1, b.Faults[k]); FaultKind(k) > ReplyLost {
			b.Faults[k] = 0
		}
	}
	return b
}

// digitize lets time stop at the multiples of a grid, of which all spans are multiples that
// clients begin. It learns them from a small search. It fails if client code tells spans
// apart otherwise than by their being over: by the digital clocks of Henzinger, Manna and
// Pnueli (1992) every ordering of such ends is met with at multiples, as long as no condition
// is strict.
func (m *model) digitize(ctx context.Context, opt Options) error {
	opt.Progress = nil
	return with(m.bounds.small(), func(small *model) error {
		s, err := small.rounds(ctx, opt)
		if err != nil {
			return err
		}
		switch in := small.instants; {
		case small.timed:
			return errRestless
		case len(in.left)+len(in.readings)+len(in.later) > 0:
			return errors.New("the lock's code compares a clock, or how long a record still lives, with a span of its own: a search of it needs a bound on cycles")
		case s.why != "":
			return errors.New(s.why)
		}
		m.instants.digitize(append(small.sleeps(small.reached()), m.timeout, m.ttl))
		m.servers.ExpireEarly()
		return nil
	})
}

// errDropped is the error of a client that reads its clock although it was not known to.
var errDropped = errors.New("a span since a reading was dropped that is still needed")

// know begins another round with empty tables. If clients is set, spans since readings are
// dropped as soon as nothing is known to depend on them.
func (m *model) know(clients bool) {
	m.forget()
	if clients {
		m.habits.needs = m.clients.Needs()
	}
}

// drops is the set of the codes that a search without bounds doesn't look for.
func (m *model) drops() codes {
	if !m.bounds.endless() {
		return 0
	}
	return searched &^ m.bounds.codes()
}

// drop clears what no longer matters of a client, as far as that is known.
func (l *local) drop(h *behaviour.History) {
	if c := l.c; l.endless {
		if at := int(c.history); l.needs != nil && at < len(l.needs.Reading) {
			if c.since > dropped && !l.needs.Reading[at] {
				c.since = dropped
			}
			for t := range int(h.Count) {
				if p := &h.Threads[t]; !p.Over && p.Kind == process.OpReceive && !c.waits[t] && !l.needs.Sending[at] {
					c.sent[t] = dropped
				}
			}
			if !l.needs.Given && c.Phase == trace.PhaseAcquire {
				c.grantSent = dropped
			}
		}
		if h.BetweenCycles {
			c.Acquired = 0 // the series of the next acquisition is one of which nothing is left
		}
		c.drop(l.drops)
	}
}

// drop clears the facts that are needed for nothing but the given codes.
func (c *client) drop(unsought codes) {
	if unsought.has(trace.SW) {
		c.Granter, c.Asked, c.Touched, c.Reading = 0, 0, 0, monitor.Unread
	}
	if unsought.has(trace.GAP) {
		c.Extension, c.Lost = monitor.NoExtension, false
	}
}
