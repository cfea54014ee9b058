package explore

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// engineGraph is the graph of all that a few clients do in the engine, where time passes by single
// milliseconds and records live for as long as Redis lets them. It shares nothing with the search:
// it takes the engine to each situation by its moves, and writes down by itself where it is.
type engineGraph struct {
	t     testing.TB
	cfg   sim.Config // with spare clients
	b     Bounds
	w     *sim.World
	as    []int    // by place: the engine's client
	seen  []string // by the engine's client: what it has observed in this cycle
	began []time.Duration
	all   []engineState
	at    map[string]int
}

// engineState is a situation.
type engineState struct {
	from   int
	move   byte // of engineMoves
	next   []engineEdge
	asking int
	live   bool
	left   bool // a record of a client that is dead
}

// engineEdge leads to a situation, without any fault.
type engineEdge struct {
	to     int
	passes bool
	grants bool
}

// The moves: a millisecond passes; client i acts; it does and the reply is lost; its process ends.
const (
	tick    = 'T'
	acts    = '0'
	loses   = 'l'
	crashes = 'c'
	each    = 8 // moves of a kind, at most
)

// of reports whether a move is of a kind, and of which place.
func moveOf(move, kind byte) (place int, is bool) {
	return int(move - kind), move >= kind && move < kind+each
}

// bruteGraph walks through all situations.
func bruteGraph(t testing.TB, b Bounds) *engineGraph {
	cfg, err := b.Config()
	if err != nil {
		t.Fatal(err)
	}
	g := &engineGraph{t: t, b: b, cfg: cfg, at: map[string]int{}}
	for len(g.cfg.Clients) < sim.MaxClients {
		c := cfg.Clients[0]
		c.Name = string(rune('A' + len(g.cfg.Clients)))
		g.cfg.Clients = append(g.cfg.Clients, c)
	}
	if g.w, err = sim.New(g.cfg); err != nil {
		t.Fatal(err)
	}
	defer g.w.Close() //nolint:errcheck // nothing is written
	g.w.Observer = g.observe
	g.begin()
	g.add(-1, 0)
	for n := 0; n < len(g.all); n++ {
		g.expand(n)
	}
	return g
}

func (g *engineGraph) begin() {
	if err := g.w.Reset(g.cfg, false); err != nil {
		g.t.Fatal(err)
	}
	g.as, g.seen = nil, make([]string, len(g.cfg.Clients)+1)
	g.began = make([]time.Duration, len(g.cfg.Clients)+1)
	for i := range g.b.Clients {
		g.as = append(g.as, i)
	}
}

// observe keeps what a client observes until its cycle is over.
func (g *engineGraph) observe(client, thread int, op *process.Op) {
	g.seen[client] += fmt.Sprintf("%d:%d %s %q %v;", thread, op.Kind, op.Mark, op.Reply, op.Err)
}

// make makes a move.
func (g *engineGraph) make(move byte) {
	if move == tick {
		g.w.Wait(time.Millisecond)
	} else if place, is := moveOf(move, crashes); is {
		g.inject(fault.Crash{Client: g.cfg.Clients[g.as[place]].Name})
		g.as[place] = g.spare()
	} else {
		place, is := moveOf(move, acts)
		if !is {
			place, _ = moveOf(move, loses)
			g.inject(fault.LoseReply{Client: g.cfg.Clients[g.as[place]].Name})
		}
		who := g.as[place]
		g.w.Step(sim.SetOf(who))
		var s sim.Survey
		if g.w.Survey(who, &s); asksNext(&s) {
			g.seen[who] = ""
		}
	}
	if err := g.w.Err(); err != nil {
		g.t.Fatal(err)
	}
}

func (g *engineGraph) inject(f fault.Fault) {
	if err := g.w.Inject(f); err != nil {
		g.t.Fatal(err)
	}
}

// spare is the first of the engine's clients that nobody has been, or their number.
func (g *engineGraph) spare() int {
	last := slices.Max(g.as)
	for i := range g.cfg.Clients {
		if g.w.State().Clients[i].Crashed {
			last = max(last, i)
		}
	}
	return last + 1
}

// asksNext reports whether a client is about to ask for the lock, or to begin.
func asksNext(s *sim.Survey) bool {
	t := &s.Threads[0]
	return !t.Over && (!t.Started || t.Op.Kind == process.OpMark && t.Op.Mark == trace.KindAcquire)
}

// goTo takes the engine to a situation.
func (g *engineGraph) goTo(n int) {
	var path []byte
	for ; g.all[n].from >= 0; n = g.all[n].from {
		path = append(path, g.all[n].move)
	}
	g.begin()
	for i := len(path) - 1; i >= 0; i-- {
		g.make(path[i])
	}
}

var engineToken = regexp.MustCompile(`[A-Z][0-9]+-[0-9a-f]{4}`)

// text writes down where the engine is.
func (g *engineGraph) text() string {
	var b strings.Builder
	var s sim.Survey
	now := g.w.Now()
	for _, who := range g.as {
		c := &g.w.State().Clients[who]
		g.w.Survey(who, &s)
		fmt.Fprintf(&b, "\n%s %s %t %t", g.seen[who], c.Phase, c.Lease.Believed, c.Lease.Live)
		if c.Lease.Live && c.Lease.Deadline != trace.Never {
			fmt.Fprintf(&b, " %s", c.Lease.Deadline-now)
		}
		for i := range s.Threads {
			if t := &s.Threads[i]; t.Waits {
				fmt.Fprintf(&b, " %d waits %s", t.Op.Kind, t.Due-now)
			} else {
				fmt.Fprintf(&b, " %d %q", t.Op.Kind, t.Op.Args)
			}
		}
		for _, conn := range s.Conns {
			fmt.Fprintf(&b, " %q", conn.Inbox)
		}
	}
	for _, n := range g.w.State().Nodes {
		for _, r := range n.Records {
			fmt.Fprintf(&b, "\n%s=%s", r.Key, r.Value)
			if r.Expires != trace.Never {
				fmt.Fprintf(&b, " %s", r.Expires-now)
			}
			if r.Owner.Client >= 0 {
				fmt.Fprintf(&b, " of %t %t", g.left(&r), g.w.State().Clients[r.Owner.Client].Crashed)
			}
		}
	}
	known := map[string]string{}
	return engineToken.ReplaceAllStringFunc(b.String(), func(token string) string {
		if known[token] == "" {
			known[token] = fmt.Sprint("~", len(known))
		}
		return known[token]
	})
}

// left reports whether nobody is left whose record it is.
func (g *engineGraph) left(r *trace.HeldRecord) bool {
	for _, who := range g.as {
		if r.Owner == g.w.State().Acquisition(who) && g.w.State().Clients[who].Phase != trace.PhaseIdle {
			return false
		}
	}
	return true
}

// add adds the situation in which the engine is, and returns its number.
func (g *engineGraph) add(from int, move byte) int {
	key := g.text()
	if n, known := g.at[key]; known {
		return n
	}
	s := engineState{from: from, move: move}
	for _, who := range g.as {
		c := &g.w.State().Clients[who]
		if c.Phase == trace.PhaseAcquire {
			s.asking++
		}
		s.live = s.live || c.Lease.Live
	}
	for _, n := range g.w.State().Nodes {
		for i := range n.Records {
			if r := &n.Records[i]; r.Key == g.w.State().Key && r.Owner.Client >= 0 {
				s.left = s.left || g.w.State().Clients[r.Owner.Client].Crashed
			}
		}
	}
	g.at[key] = len(g.all)
	g.all = append(g.all, s)
	return len(g.all) - 1
}

// expand makes every move from a situation.
func (g *engineGraph) expand(n int) {
	g.goTo(n)
	var moves []byte
	var s sim.Survey
	could := false
	for place, who := range g.as {
		g.w.Survey(who, &s)
		if !g.w.Ready(sim.SetOf(who)) {
			continue
		}
		moves = append(moves, acts+byte(place))
		could = could || !asksNext(&s)
		if g.b.Faults[ReplyLost] > 0 && s.Threads[0].Op.Kind == process.OpSend {
			moves = append(moves, loses+byte(place))
		}
	}
	if !could || g.b.Faults[Pause] > 0 {
		moves = append(moves, tick)
	}
	for place := range g.as {
		if g.b.Faults[Crash] > 0 && g.spare() < len(g.cfg.Clients) {
			moves = append(moves, crashes+byte(place))
		}
	}
	for i, move := range moves {
		if i > 0 {
			g.goTo(n)
		}
		before := g.believers()
		g.make(move)
		to := g.add(n, move)
		if _, acted := moveOf(move, acts); acted || move == tick && !could {
			g.all[n].next = append(g.all[n].next, engineEdge{to, move == tick, g.believers() > before})
		}
	}
}

func (g *engineGraph) believers() (n int) {
	for _, who := range g.as {
		if g.w.State().Clients[who].Lease.Believed {
			n++
		}
	}
	return n
}

// livelock reports whether there is a cycle in which time passes, at least two clients ask whenever
// it does, nobody holds the lock, no record is a dead client's, and nobody is granted it.
func (g *engineGraph) livelock() bool {
	return g.rounds(2, func(s *engineState) bool { return !s.live && !s.left })
}

// rounds reports whether time can pass without end.
func (g *engineGraph) rounds(asking int, in func(*engineState) bool) bool {
	_, ends := g.longest(asking, in)
	return !ends
}

// goesOn reports whether the situations have a cycle of edges that are in: it takes away, again and
// again, those from which no edge leads to one that is left.
func (g *engineGraph) goesOn(in func(s *engineState, e *engineEdge) bool) bool {
	out := make([]int, len(g.all)) // edges to situations that are left
	from := make([][]int, len(g.all))
	for n := range g.all {
		s := &g.all[n]
		for i := range s.next {
			if e := &s.next[i]; in(s, e) {
				out[n]++
				from[e.to] = append(from[e.to], n)
			}
		}
	}
	var gone []int
	for n := range out {
		if out[n] == 0 {
			gone = append(gone, n)
		}
	}
	for i := 0; i < len(gone); i++ {
		for _, n := range from[gone[i]] {
			if out[n]--; out[n] == 0 {
				gone = append(gone, n)
			}
		}
	}
	return len(gone) < len(g.all)
}

// longest returns the most milliseconds that can pass, and whether there is a most. Where the
// situations go round, and not within one instant, there is none; else it is counted by Bellman and
// Ford's algorithm.
func (g *engineGraph) longest(asking int, in func(*engineState) bool) (most int, ends bool) {
	part := func(s *engineState, e *engineEdge) bool {
		return in(s) && !e.grants && (!e.passes || s.asking >= asking) && in(&g.all[e.to])
	}
	at := func(s *engineState, e *engineEdge) bool { return part(s, e) && !e.passes }
	if g.goesOn(part) && !g.goesOn(at) {
		return 0, false
	}
	far := make([]int, len(g.all))
	for changed := true; changed; {
		changed = false
		for n := len(g.all) - 1; n >= 0; n-- {
			s := &g.all[n]
			for i := range s.next {
				e := &s.next[i]
				if !part(s, e) {
					continue
				}
				by := far[e.to]
				if e.passes {
					by++
				}
				if by > far[n] {
					far[n], changed = by, true
				}
				if by > len(g.all) {
					return 0, false
				}
			}
			most = max(most, far[n])
		}
	}
	return most, true
}

// wait returns the longest wait for a free lock, or Never if there is no longest.
func (g *engineGraph) wait() time.Duration {
	most, ends := g.longest(1, func(s *engineState) bool { return !s.live })
	if !ends {
		return trace.Never
	}
	return time.Duration(most) * time.Millisecond
}
