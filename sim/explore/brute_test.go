package explore

import (
	"context"
	"flag"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/space"
	"lockstep/sim/fault"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// brute is a brute-force search, which can't be wrong in the ways of the other one: it
// memoises nothing, has no states, and reduces nothing. It walks the tree of all schedules in
// a sim.World, by playing each from the start, and takes the enabled choices from the world
// alone, and from clocks that record when they are read.
type brute struct {
	t     testing.TB
	b     Bounds
	cfg   sim.Config
	m     *space.Model // says which moves make a choice
	w     *sim.World
	spies []*spy     // of the clients, and of the probe
	wall  bool       // the strategy looks at wall clocks
	path  []sim.Move // the schedule that the world has played
	least map[trace.Code]cost
	runs  int
}

// spy is a client's clock.
type spy struct {
	strategies.Clock
	w      *sim.World
	looked time.Duration // when it last looked at its wall clock, or -1
	asleep int           // threads
}

func (s *spy) Now() time.Time {
	now := s.Clock.Now()
	s.looked = s.w.Now()
	return now
}

func (s *spy) Sleep(ctx context.Context, d time.Duration) error {
	s.asleep++
	err := s.Clock.Sleep(ctx, d)
	s.asleep--
	return err
}

// spent is the cost of a schedule so far, with all else on which its choices depend.
type spent struct {
	cost
	left Budget
	last int // who acted last, or -1
	held [bounds.MaxClients]int
	then [sim.MaxNodes]space.ChoiceKind // completes the fault in two parts that has begun at the node; acts if none has
}

// option is one choice.
type option struct {
	moves []sim.Move
	kind  space.ChoiceKind
	who   int // of a client that acts, or -1
	holds int // how many requests of whose are held up more, or fewer
	whose int
	node  int // of a fault of a node
}

// fault is the kind of fault that the option costs, pauses aside, or bounds.NoFault.
func (o *option) fault() FaultKind {
	if o.kind == space.Passes {
		return bounds.NoFault
	}
	return o.kind.Fault()
}

// bruteForce returns the least cost of each code that any schedule within the bounds
// violates, and the number of schedules.
func bruteForce(t testing.TB, b Bounds) (map[trace.Code]cost, int) {
	cfg, err := b.Config()
	if err != nil {
		t.Fatal(err)
	}
	f := &brute{t: t, b: b, least: map[trace.Code]cost{}}
	construct := cfg.Strategy.New
	cfg.Strategy.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		s := &spy{Clock: o.Clock, w: f.w, looked: -1}
		f.spies, o.Clock = append(f.spies, s), s
		return construct(nodes, key, o)
	}
	f.cfg = cfg
	if f.m, err = space.NewModel(b, false); err != nil {
		t.Fatal(err)
	}
	defer f.m.Close() //nolint:errcheck // nothing is written
	if f.w, err = sim.New(cfg); err != nil {
		t.Fatal(err)
	}
	defer f.w.Close() //nolint:errcheck // nothing is written
	f.wall = f.looksAtWalls()
	f.replay()
	f.walk(spent{left: b.Faults, last: -1})
	return f.least, f.runs
}

func (f *brute) replay() {
	f.spies = f.spies[:0]
	if err := f.w.Reset(f.cfg, false); err != nil {
		f.t.Fatal(err)
	}
	if err := f.w.Play(f.path, nil); err != nil {
		f.t.Fatal(err)
	}
}

// looksAtWalls lets the first client run alone, and reports whether it reads its wall clock.
func (f *brute) looksAtWalls() bool {
	f.replay()
	for !f.w.Position(0).Over && f.w.Step(sim.SetOf(0)) {
	}
	return f.spies[0].looked >= 0
}

// walk tries all choices, one after the other, at the end of the current path.
func (f *brute) walk(s spent) {
	options := f.options(&s)
	if f.over(&s) {
		f.end(&s)
		return
	}
	if len(options) == 0 {
		f.runs++
	}
	for n := 0; n < len(options); n++ {
		if n > 0 {
			f.replay()
		}
		o, next := options[n], s
		sent := f.pending(o.who)
		if !f.take(o, &next) {
			continue
		}
		if now := f.pending(o.who); o.fault() == bounds.NoFault && now != nil && now != sent {
			options = append(options, f.fates(o.who, &s)...)
		}
		f.note(next.cost)
		size := len(f.path)
		f.path = append(f.path, o.moves...)
		f.walk(next)
		f.path = f.path[:size]
	}
}

// pending identifies the command that a client has sent last and whose reply it waits for.
func (f *brute) pending(i int) *string {
	if i < 0 || len(f.w.State().Clients[i].Pending) == 0 {
		return nil
	}
	return &f.w.State().Clients[i].Pending[0]
}

// options lists the choices, except those of a client that acts which depend on whether it
// sends a command by that.
func (f *brute) options(s *spent) (list []option) {
	for i := range f.b.Clients {
		if f.w.Ready(sim.SetOf(i)) && f.turns(s, i) {
			list = append(list, option{moves: []sim.Move{{Who: sim.SetOf(i), Count: 1}}, kind: space.Acts, who: i})
		}
		if !f.gone(i) {
			list = f.faults(list, s, space.OfClient, i)
		}
		for n := range s.held[i] {
			free := fault.Free{Client: bounds.Names[i], N: n + 1}
			list = append(list, option{moves: sim.MovesOf(free), kind: space.Frees, who: -1, whose: i, holds: -1})
			if s.left[ReplyLost] > 0 { // whether anybody waits for it is nothing that the walk knows
				list = append(list, option{moves: sim.MovesOf(fault.LoseHeldReply(free), free), kind: space.FreesAndLosesReply, who: -1, whose: i, holds: -1})
			}
		}
	}
	for n := range f.cfg.Nodes {
		list = f.faults(list, s, space.OfNode, n)
	}
	if by := f.next(); by > 0 && f.pauses() <= int(s.left[Pause]) {
		list = append(list, option{moves: []sim.Move{{Wait: by}}, kind: space.Passes, who: -1})
	}
	return list
}

// faults appends the faults that client or node i can have, which have no step of a client
// in them. The kinds of fault are those of the search, and so are the moves that make them.
// Whether one is enabled is the world's to say, and so is its effect.
func (f *brute) faults(list []option, s *spent, of space.ChoiceScope, i int) []option {
	for k := range space.ChoiceKinds {
		fault := k.Fault()
		switch {
		case k.Scope() != of, fault == ClientClock && !f.wall:
			continue
		case fault == bounds.NoFault && s.then[i] != k, fault != bounds.NoFault && s.left[fault] == 0:
			continue
		}
		for _, item := range k.Menu() {
			c := item.Choice
			c.Who, c.By = uint8(i), c.By*int32(f.jump().Milliseconds())
			for range items(k) {
				list = append(list, option{moves: f.m.Play(c), kind: k, who: -1, node: i})
				c.N++
			}
		}
	}
	return list
}

// items is how many choices of a kind an item of its menu stands for: any earlier request can
// arrive twice.
func items(k space.ChoiceKind) int {
	if k == space.Repeats {
		return bounds.Repeatable
	}
	return 1
}

// pauses returns a lower bound of the pauses that begin if time passes now: take finds the
// exact number, but has to try. A client that has not begun yet cannot be paused.
func (f *brute) pauses() (n int) {
	for i := range f.b.Clients {
		if c := &f.w.State().Clients[i]; c.Phase != trace.PhaseIdle && !c.Paused && f.w.Ready(sim.SetOf(i)) {
			n++
		}
	}
	return n
}

// jump is the span by which a clock jumps: enough to end any lease.
func (f *brute) jump() time.Duration { return f.cfg.TTL + 2*time.Second }

// fates lists the faults that the request of a client which is about to send can have.
func (f *brute) fates(i int, s *spent) (list []option) {
	for k := range space.ChoiceKinds {
		fault := k.Fault()
		if k.Scope() != space.OfStep || fault == bounds.NoFault || s.left[fault] == 0 {
			continue
		}
		o := option{moves: f.m.Play(space.Choice{Kind: k, Who: uint8(i)}), kind: k, who: i, whose: i}
		if fault == HoldRequest {
			o.holds = 1
		}
		list = append(list, o)
	}
	return list
}

func (f *brute) turns(s *spent, i int) bool {
	return f.b.Switches == 0 || s.last < 0 || s.last == i || int(s.switches) < f.b.Switches
}

// next returns the time until anything is due by itself, or until a TTL has passed since a
// client's reading of its wall clock; 0 is never.
func (f *brute) next() time.Duration {
	at, any := f.w.Next()
	for i := range f.b.Clients {
		c, read := &f.w.State().Clients[i], f.spies[i].looked
		if read < 0 || c.Crashed || c.Phase == trace.PhaseIdle { // between two cycles it has forgotten the reading
			continue
		}
		if over := read + f.jump(); over > f.w.Now() && (!any || over < at) {
			at, any = over, true
		}
	}
	if !any {
		return 0
	}
	return at - f.w.Now()
}

// take makes a choice and adds up its cost. It reports false if the choice isn't enabled, or
// costs more than the bounds have left.
func (f *brute) take(o option, s *spent) bool {
	var paused [bounds.MaxClients]bool
	for i := range f.b.Clients {
		paused[i] = f.w.State().Clients[i].Paused
	}
	if fault := o.moves[0].Fault; fault != nil && o.fault() != bounds.NoFault {
		err := f.w.Enabled(fault)
		if _, idle := err.(sim.NoEffect); err != nil && !idle { // nothing was sent yet that could arrive twice
			return false
		}
	}
	if err := f.w.Play(o.moves, nil); err != nil {
		f.t.Fatal(err)
	}
	if n := len(f.path); n == 0 || f.path[n-1].Wait == 0 || o.moves[0].Wait == 0 {
		s.steps++ // to wait once more is no further choice
	}
	if k := o.fault(); k != bounds.NoFault {
		s.faults++
		s.left[k]--
	}
	if o.who >= 0 {
		if s.last >= 0 && s.last != o.who {
			s.switches++
		}
		s.last = o.who
	}
	s.held[o.whose] += o.holds
	if then := o.kind.Then(); then != space.Acts || s.then[o.node] == o.kind {
		s.then[o.node] = then
	}
	if o.moves[0].Wait > 0 {
		for i := range f.b.Clients {
			if c := &f.w.State().Clients[i]; c.Paused && !paused[i] && c.Phase != trace.PhaseIdle { // to ask later is no pause
				if s.left[Pause] == 0 {
					return false
				}
				s.left[Pause]--
				s.faults++
			}
		}
	}
	return true
}

func (f *brute) note(c cost) {
	for _, code := range f.w.Verdict() {
		if code == trace.BD || code == trace.LV {
			continue
		}
		if best, any := f.least[code]; !any || c.less(best) {
			f.least[code] = c
		}
	}
}

// gone reports whether all threads of a client have ended.
func (f *brute) gone(i int) bool {
	return f.w.State().Clients[i].Crashed || f.w.Position(i).Over && f.spies[i].asleep == 0 && !f.w.Ready(sim.SetOf(i))
}

func (f *brute) over(s *spent) bool {
	for i := range f.b.Clients {
		if !f.gone(i) || s.held[i] > 0 {
			return false
		}
	}
	return true
}

// end is a schedule's end, at which the lock must be free.
func (f *brute) end(s *spent) {
	f.runs++
	if err := f.w.Drain(); err != nil {
		f.t.Fatal(err)
	}
	f.note(s.cost)
}

var everyKind = flag.Bool("brute", false, "TestBruteForce walks through all schedules of every lock under every kind of fault: minutes")

// TestBruteForce: within small bounds the search finds the same violations, at the same least
// costs, as a brute-force walk through all schedules. In the larger run of continuous integration each lock has the commonest faults and
// one more kind, a lock of two commands all of them.
func TestBruteForce(t *testing.T) {
	t.Parallel()
	kinds := FaultKind(len(Budget{}))
	for i, s := range strategies.All() {
		every := *everyKind || s.Name == "setnx-expire" && testenv.Whole()
		if !every && (!testenv.Some(i, 16) || !testenv.Whole() && slices.Contains(slow, s.Name)) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			for k := range kinds {
				if k == HoldRequest && slices.Contains(stamps, s.Name) {
					continue // the walk doesn't wait for stamps of clients that are done, and the search finds more
				}
				common := k == Pause || k == ReplyLost || testenv.Whole() && k == FaultKind(i)%kinds
				if k == Failover && s.Nodes > 1 || !every && !common {
					continue
				}
				b := Defaults(s)
				b.Cycles, b.Nodes, b.Switches, b.Faults = 1, min(b.Nodes, 2), 1, Budget{}
				b.Faults[k] = 1
				bruteForceAgrees(t, b)
				if every && (k == Pause || k == Restart) { // callers that look whether their lease is over, and extend it
					b.Checks, b.Extend = true, true
					bruteForceAgrees(t, b)
				}
			}
		})
	}
	t.Run("a reply to a request that was held up is lost", func(t *testing.T) {
		b := Defaults(strategy(t, "setpx-lua"))
		b.Cycles, b.Switches, b.Faults, b.TTL = 1, 1, Budget{ReplyLost: 1, HoldRequest: 1}, 900*time.Millisecond
		bruteForceAgrees(t, b)
	})
	for i, s := range strategies.All() { // a victim that goes on after the other has acted
		if !*everyKind && s.Name != "naive-del" && !(testenv.Whole() && i%5 == 0) {
			continue
		}
		t.Run("two switches "+s.Name, func(t *testing.T) {
			for _, k := range []FaultKind{Pause, ReplyLost, Duplicate}[:testenv.Quick(1, 3)] {
				b := Defaults(s)
				b.Cycles, b.Nodes, b.Switches, b.Faults = 1, 1, 2, Budget{}
				b.Faults[k] = 1
				bruteForceAgrees(t, b)
			}
		})
	}
}

// stamps are locks whose records are stamps of their clients' clocks.
var stamps = []string{"timestamp-del", "timestamp-overwritten", "getset-redisio", "getset-equal", "getset-expired"}

func bruteForceAgrees(t *testing.T, b Bounds) {
	start := time.Now()
	want, runs := bruteForce(t, b)
	d := time.Since(start)
	r, err := Run(context.Background(), b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[trace.Code]cost{}
	for _, v := range r.Violated {
		got[v.Code] = cost{int32(len(v.Faults)), int32(v.Switches), int32(v.Steps)}
	}
	t.Logf("%v: %d schedules in %s, %d states: %v", b.Faults, runs, d, r.States, want)
	if !r.Complete || !maps.Equal(got, want) {
		t.Errorf("faults %v, %d switches: of %d schedules the least violations are %v, the search finds %v", b.Faults, b.Switches, runs, want, got)
	}
}
