package behaviour

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lockstep/sim/explore/alike"
	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/readings"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/resp"
)

// The values at which code changes its mind.
type (
	Thresholds = readings.Thresholds
	Reading    = readings.Reading
	Told       = readings.Told
)

// Thresholds looks for values at which the code changes its mind. Wherever the same code has been run after two readings and
// has done different things, at once or later after equal observations, it runs the code at readings in between, and bisects
// to the value from which on it differs. Two doings are the same if they differ in numbers alone that have grown or shrunk
// with the reading. Only histories that have been reached count, and those on the way to them; and of commands that read a
// server's clock, those on snapshots that were met with.
//
// It must not be called while workers run. It fails as [Clients.After] and [Servers.Run] do, and
// is cut short when ctx is done.
func (k *Clients) Thresholds(ctx context.Context, s *Servers, reached []uint32, met map[uint32]bool) (*Thresholds, error) {
	f := &finder{ctx: ctx, reached: k.onTheWay(reached), met: met, k: k, s: s, found: &Thresholds{}, compares: maxCompares, probes: maxProbes, lives: map[string]bool{}, tellings: map[string][]readings.Telling{}, tells: map[string]bool{}, passed: maxPassed, unasked: map[string]bool{}}
	f.limit = k.Outcomes.Len() + maxRuns
	k.trying = true
	defer func() { k.trying = false }()
	f.passedTo()
	if err := f.servers(); err != nil {
		return nil, err
	}
	err := f.clients()
	f.found.Unprobed += len(f.unasked)
	return f.found, err
}

// onTheWay returns for each history whether it is one of those given, or leads to one.
func (k *Clients) onTheWay(to []uint32) []bool {
	way := make([]bool, k.histories.Count.Load())
	for _, id := range to {
		for ; id != 0 && !way[id]; id = k.At(id).parent {
			way[id] = true
		}
	}
	return way
}

// maxCompares is the number of comparisons of two histories after which the finder gives up.
const maxCompares = 2_000_000

// maxRuns is the number of pieces of code that the finder runs before it gives up. Where every value is a threshold, because
// code computes in a way that the finder doesn't understand, there would be millions.
const maxRuns = 50_000

// manyValues is the number of values between two at which code may change its mind. Where it does at each millisecond,
// because it writes a reading in a way that the finder doesn't understand, there would be a million; and a search can't
// stop at so many as these.
const manyValues = 60

// finder is a search for thresholds.
type finder struct {
	ctx      context.Context //nolint:containedctx // it lives as long as one call
	k        *Clients
	s        *Servers
	reached  []bool          // by history
	met      map[uint32]bool // snapshots
	found    *Thresholds
	children [][]edge        // by history
	inner    []uint32        // histories that have any; see inOrder
	compares int             // that may still be made
	probes   int             // pieces of code that may still be run for probes
	limit    int             // of outcomes, beyond which no more code is run
	ages     bool            // the answers that are compared are to questions at two lives of a key
	hopeless bool            // code changes its mind at nearly every value
	tells    map[string]bool // and those whose reply tells the time
	lasts    lasting         // how spans may change, before the clock is read so often,
	reads    int
	at       uint32          // at a history, or 0
	states   bool            // the content of a lock's fields where a cycle has ended is a doing, too
	leaves   bool            // after a probe the lock had something else in its fields
	loose    bool            // numbers make no difference that are sent, slept for or told: a draw follows
	lives    map[string]bool // kinds of command, see kindOf, whose reply tells how long a key still lives
	tellings map[string][]readings.Telling
	spans    []int64 // from readings of true time to thresholds after them
	written  map[string][]int64

	asks    map[string][]Question // on which commands are tried with other numbers, by shape
	passed  int                   // comparisons of answers to such that may still be made
	unasked map[string]bool       // shapes of which some were not made
}

// edge is a transition that has been made.
type edge struct {
	thread uint8
	seen   Observation
	to     uint32
}

// tired reports whether the finder gives up, and keeps that in mind.
func (f *finder) tired() bool {
	f.found.Cut = f.found.Cut || f.compares < 0 || f.k.Outcomes.Len() > f.limit || f.ctx.Err() != nil
	return f.found.Cut || f.hopeless
}

// restless reports whether code changes its mind at too many values between two, which a thread has read at a history
// (or at 0), and keeps that in mind: nothing is decided then.
func (f *finder) restless(values int, from uint32, thread uint8) bool {
	if f.hopeless = f.hopeless || values > manyValues; f.hopeless && !f.found.Restless {
		f.found.Restless, f.found.Line = true, f.k.lineBy(from, int(thread))
	}
	return f.hopeless
}

// clients compares the doings of clients after different readings and replies.
func (f *finder) clients() error {
	f.children = make([][]edge, f.k.histories.Count.Load())
	for _, n := range f.k.inOrder() {
		e := f.k.Outcomes.Entries.At(n)
		if !f.reached[e.Key.From] || !f.reached[e.Value.To] {
			continue
		}
		if len(f.children[e.Key.From]) == 0 {
			f.inner = append(f.inner, e.Key.From)
		}
		f.children[e.Key.From] = append(f.children[e.Key.From], edge{e.Key.Thread, e.Key.Seen, e.Value.To})
	}
	f.probeDraws()
	for known := !f.k.storesSpans; known != f.k.storesSpans; {
		known = f.k.storesSpans
		f.probeClients()
		if err := f.compareAll(); err != nil {
			return err
		}
	}
	if err := f.storedAtServers(); err != nil {
		return err
	}
	slices.Sort(f.found.Wall)
	f.found.Wall = slices.Compact(f.found.Wall)
	return nil
}

// compareAll compares the doings of clients after readings that are next to each other.
func (f *finder) compareAll() error {
	for _, from := range f.inner {
		groups := f.groups(from)
		for _, key := range slices.Sorted(maps.Keys(groups)) {
			group := groups[key]
			for i := 1; i < len(group); i++ {
				if err := f.compare(from, group[i-1], group[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// measured is an edge with the number that was observed.
type measured struct {
	edge
	value int64
	with  func(int64) (Observation, bool) // the observation with another number
}

// groups returns the edges from a history that differ in one number of their observation alone, in the order of that number.
func (f *finder) groups(from uint32) map[string][]measured {
	edges := f.children[from]
	groups := map[string][]measured{}
	for _, e := range edges {
		switch e.seen.Kind {
		case SawMono, SawMonoLapsed, SawWall:
			kind := e.seen.Kind
			if kind == SawWall {
				f.found.Read = append(f.found.Read, e.seen.Value)
			}
			key := fmt.Sprint(e.thread, kind)
			groups[key] = append(groups[key], measured{e, e.seen.Value, func(v int64) (Observation, bool) { return Observation{kind, v}, true }})
		case SawReply:
			kind := f.kindOf(f.asked(from, e.thread))
			if !f.measures(kind, 0) {
				continue
			}
			if ms, ok := resp.Moment(*f.k.Replies.Value(uint32(e.seen.Value))); ok && kind == "TIME" {
				key := fmt.Sprint(e.thread, kind)
				groups[key] = append(groups[key], measured{e, ms, func(v int64) (Observation, bool) {
					return Observation{SawReply, int64(f.k.Replies.ID(resp.MomentReply(v)))}, true
				}})
				continue
			}
			lines := strings.Split(*f.k.Replies.Value(uint32(e.seen.Value)), "\r\n")
			for i := range lines {
				for _, n := range f.readingsIn(kind, lines, i) {
					key := fmt.Sprint(e.thread, i, n.From, readings.With(lines, i, n, "?"))
					groups[key] = append(groups[key], measured{e, n.Value, func(v int64) (Observation, bool) {
						return Observation{SawReply, int64(f.k.Replies.ID(readings.With(lines, i, n, n.Padded(lines[i], v))))}, true
					}})
				}
			}
		}
	}
	for _, g := range groups {
		slices.SortFunc(g, func(a, b measured) int { return int(min(1, max(-1, a.value-b.value))) })
	}
	return groups
}

// asked returns the id of the command to which a thread waits for the reply, or 0. Of several that were sent together, the
// replies come in their order.
func (f *finder) asked(at uint32, thread uint8) uint32 {
	conn, had := f.k.At(at).Threads[thread].Conn, 0 // replies to the first of them
	var sent []uint32                               // the last first
	for from := f.k.At(at).parent; from != 0; at, from = from, f.k.At(from).parent {
		p := &f.k.At(from).Threads[thread]
		if f.k.At(at).thread != thread || p.Over || p.Conn != conn {
			continue
		}
		if p.Kind == process.OpSend {
			sent = append(sent, p.Command)
		} else if p.Kind == process.OpReceive && len(sent) > 0 {
			break
		} else if p.Kind == process.OpReceive {
			had++
		}
	}
	if had >= len(sent) {
		return 0
	}
	return sent[len(sent)-1-had]
}

// kindOf returns the name of a command, with the script if it is a call of one.
func (f *finder) kindOf(command uint32) string {
	args := intern.Unpack(*f.k.commands.Value(command))
	return strings.Join(args[:min(2, len(args))], " ")
}

// pair is two histories that have come from two readings by equal observations.
type pair struct {
	a, b   uint32
	parent *pair
	step   // from the parent
}

// step is an edge from a first history. The observation in the second is the same, or, if it echoes, an echo.
type step struct {
	edge
	echoes bool
}

// inSecond is the observation on a step from the second of two histories.
func (f *finder) inSecond(s step, a, b uint32) Observation {
	if s.echoes {
		return f.echoed(s.seen, a, b)
	}
	return s.seen
}

// compare looks for the first differences between the doings after two observations, and for
// the thresholds between their values.
func (f *finder) compare(from uint32, a, b measured) error {
	if d := b.value - a.value; d == 0 || d == 1 && !f.inSeconds(from, a) {
		return nil // there is nothing in between
	}
	f.begins(from, a)
	queue, seen := []*pair{{a: a.to, b: b.to}}, map[[2]uint32]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		if p.a == p.b || seen[[2]uint32{p.a, p.b}] {
			continue
		}
		seen[[2]uint32{p.a, p.b}] = true
		if f.compares--; f.tired() {
			return nil
		}
		if !f.alike(p.a, p.b, b.value-a.value) || !f.alikeReports(from, a, b, p) {
			return f.bisect(from, a, b, p)
		}
		f.storesIn(from, a, p)
		if err := f.rounds(from, a, p); err != nil {
			return err
		}
		for _, x := range f.children[p.a] {
			for _, y := range f.children[p.b] {
				if x.thread == y.thread && x.seen == y.seen {
					queue = append(queue, &pair{x.to, y.to, p, step{edge: x}})
				}
			}
		}
	}
	return nil
}

// inSeconds reports whether a reading is TTL's reply. Of two replies that are next to each other one may begin
// anywhere in a second.
func (f *finder) inSeconds(from uint32, m measured) bool {
	return m.seen.Kind == SawReply && alike.ToldBy(f.kindOf(f.asked(from, m.thread))) == alike.ToldSeconds
}

// path lists the steps by which a pair was reached.
func (p *pair) path() (steps []step) {
	for ; p.parent != nil; p = p.parent {
		steps = append(steps, p.step)
	}
	slices.Reverse(steps)
	return steps
}

// alikeReports compares the reports on the last step to a pair.
func (f *finder) alikeReports(from uint32, a, b measured, p *pair) bool {
	x, y := Transition{From: from, Thread: a.thread, Seen: a.seen}, Transition{From: from, Thread: b.thread, Seen: b.seen}
	if p.parent != nil {
		x = Transition{From: p.parent.a, Thread: p.thread, Seen: p.seen}
		y = Transition{From: p.parent.b, Thread: p.thread, Seen: f.inSecond(p.step, p.parent.a, p.parent.b)}
	}
	one, _ := f.k.Outcomes.Get(x)
	two, _ := f.k.Outcomes.Get(y)
	return f.sameReports(*one, *two, b.value-a.value)
}

func (f *finder) sameReports(a, b Outcome, by int64) bool {
	one, two := *f.k.Reports.At(a.Reports), *f.k.Reports.At(b.Reports)
	return slices.EqualFunc(one, two, func(r, q Report) bool {
		d := int64(q.Deadline - r.Deadline)
		q.Deadline, q.Read = r.Deadline, r.Read
		return r == q && (d == 0 || f.loose || alike.Follows(d, by))
	})
}

// bisect finds the values between those of two observations at which the doings change that differ at a pair.
func (f *finder) bisect(from uint32, a, b measured, p *pair) error {
	path := p.path()
	for lo, n := a.value, 0; lo < b.value && !f.restless(n, from, a.thread) && !f.tired(); n++ {
		same, err := f.same(from, a, lo, b.value, path)
		if err != nil || same {
			return err
		}
		hi, guesses := b.value, f.guesses(from, a, path)
		for low := lo; hi-low > 1; {
			mid := low + (hi-low)/2
			if len(guesses) > 0 {
				mid, guesses = guesses[0], guesses[1:]
				if mid <= low || mid >= hi {
					continue
				}
			}
			same, err := f.same(from, a, lo, mid, path)
			if err != nil {
				return err
			}
			if same {
				low = mid
			} else {
				hi = mid
			}
		}
		f.keep(from, a, lo, hi, path)
		lo = hi
	}
	return nil
}

// keep adds a threshold to those that were found, up to which code behaves as after the reading
// lo, by the path that follows.
func (f *finder) keep(from uint32, a measured, lo, v int64, path []step) {
	t := f.found
	h := f.k.At(from)
	if a.seen.Kind == SawDraw {
		below := h.Threads[a.thread].Below
		for _, v := range []int64{v - 1, v} {
			seen, _ := a.with(v)
			readings.Add(&t.Drawn, readings.Draw{Below: below, Number: seen.Value})
		}
		return
	}
	switch r := (Reading{At: int32(v), Last: h.Read, Nth: f.readings(from), Earlier: h.Earlier}); a.seen.Kind {
	case SawWall:
		if age, seconds := f.age(from, a, lo, v, path); age > 0 {
			list := &t.Ages
			if seconds {
				list = &t.Seconds
			}
			readings.Add(list, age)
			break
		}
		if f.told(from, v, path); slices.Contains(t.Wall, v) {
			break
		}
		t.Wall = append(t.Wall, v)
		for _, r := range f.readBefore(from) {
			readings.Add(&f.spans, v-r)
		}
	case SawReply:
		kind := f.kindOf(f.asked(from, a.thread))
		list, spans := f.spansOf(kind), &t.Stored
		if f.lives[kind] {
			spans = &t.Millis
		}
		for _, how := range f.tellings[kind] {
			for _, left := range how.Lives(v) {
				readings.Add(spans, left)
			}
		}
		if f.tells[kind] {
			list, v = &t.Server, readings.SinceStart(v)
		} else if v < 0 { // the negative of a remaining span
			v = 1 - v
		}
		readings.Add(list, v)
	default:
		if !slices.ContainsFunc(t.Mono, func(o Reading) bool { return o.At == r.At && o.Last == r.Last && o.Nth == r.Nth }) {
			t.Mono = append(t.Mono, r)
		}
	}
}

// rounds finds out whether code has rounded the number that it puts into a text with more: a
// value that is greater by 1 gives the same text. In such a text numbers may seem to follow
// values that are whole seconds apart, and all in between matter.
func (f *finder) rounds(from uint32, m measured, p *pair) error {
	one, two := f.k.At(p.a), f.k.At(p.b)
	for i := range int(one.Count) {
		if !f.mixes(one.Threads[i].Command, two.Threads[i].Command) {
			continue
		}
		at, same, err := f.walk(from, m, m.value, m.value+1, p.path())
		f.found.Rounds = f.found.Rounds || same && f.k.At(at[0]).Threads[i].Command == f.k.At(at[1]).Threads[i].Command
		return err
	}
	return nil
}

// mixes reports whether two commands that are alike differ in numbers within a text.
func (f *finder) mixes(a, b uint32) bool {
	return a != b && alike.Mix(intern.Unpack(*f.k.commands.Value(a)), intern.Unpack(*f.k.commands.Value(b)))
}

// same reports whether a client does the same after two values of an observation and the rest of a path.
func (f *finder) same(from uint32, m measured, a, b int64, path []step) (bool, error) {
	_, same, err := f.walk(from, m, a, b, path)
	return same, err
}

// walk goes along a path after two values of an observation, as long as a client does the same,
// and reports where it has come to and whether that is so.
func (f *finder) walk(from uint32, m measured, a, b int64, path []step) (at [2]uint32, same bool, err error) {
	before := [2]uint32{from, from}
	seen := [2]Observation{}
	seen[0], _ = m.with(a)
	seen[1], _ = m.with(b)
	thread := m.thread
	for n := 0; ; n++ {
		var outs [2]Outcome
		for i := range outs {
			if outs[i], err = f.k.After(Transition{From: before[i], Thread: thread, Seen: seen[i]}); err != nil {
				return at, false, err
			}
			at[i] = outs[i].To
		}
		if !f.alike(at[0], at[1], b-a) || !f.sameReports(outs[0], outs[1], b-a) {
			return at, false, nil
		}
		if n == len(path) || at[0] == at[1] {
			return at, true, nil
		}
		before, thread = at, path[n].thread
		seen[0], seen[1] = path[n].seen, f.inSecond(path[n], at[0], at[1])
	}
}

// alike reports whether two histories are about to do the same, but for numbers that have
// followed a reading which was greater by the given difference.
func (f *finder) alike(from, to uint32, by int64) bool {
	a, b := f.k.At(from), f.k.At(to)
	f.at = from
	if a.Count != b.Count || a.BetweenCycles != b.BetweenCycles || a.Over != b.Over || a.Closed != b.Closed || a.Given != b.Given ||
		f.states && a.fields != b.fields && !alike.Fields(*f.k.fields.Value(a.fields), *f.k.fields.Value(b.fields), by) {
		return false
	}
	for i := range int(a.Count) {
		p, q := a.Threads[i], b.Threads[i]
		if f.loose && p.Kind == q.Kind && !p.Over && !q.Over {
			q.Sleep, q.Wait, q.Fence = p.Sleep, min(max(q.Wait, -1), 1)*max(p.Wait, 1), p.Fence
		}
		if p == q {
			continue
		}
		if !f.alikeCommands(p.Command, q.Command, by) || !f.loose && p.Command != q.Command && !f.alikeAtServers(p.Command, q.Command, by) || p.Sleep != q.Sleep && !alike.Follows(int64(q.Sleep-p.Sleep), by) ||
			p.Wait != q.Wait && (min(p.Wait, q.Wait) <= 0 || !alike.Follows(int64(q.Wait-p.Wait), by)) ||
			p.Fence != q.Fence && !alike.Follows(int64(q.Fence-p.Fence), by) {
			return false
		}
		f.sleeps(i, int64(f.k.Waits(&q)-f.k.Waits(&p)))
		q.Command, q.Sleep, q.Wait, q.Fence = p.Command, p.Sleep, p.Wait, p.Fence
		if p != q {
			return false
		}
	}
	return true
}

func (f *finder) alikeCommands(a, b uint32, by int64) bool {
	if a == b {
		return true
	}
	if a == 0 || b == 0 {
		return false
	}
	return slices.EqualFunc(intern.Unpack(*f.k.commands.Value(a)), intern.Unpack(*f.k.commands.Value(b)), func(x, y string) bool { return alike.Texts(x, y, by) || f.loose && alike.ButNumbers(x, y) })
}

// asked is a question that was asked.
type asked struct {
	q     Question
	value int64 // of the aspect
	of    aspect
}

// aspect is a number in a snapshot: the time, how long a key still lives, or one that was stored.
type aspect struct {
	kind      aspectKind
	key       int // its index
	text, nth int // of a number that was stored: which text of the key it is in, and which number it is there
}

type aspectKind uint8

const (
	ofClock aspectKind = iota
	ofLife
	ofStored
)

// servers compares the answers of servers on snapshots that differ in the remaining life of one key, or in the time.
func (f *finder) servers() error {
	groups := map[string][]asked{}
	var order []string
	add := func(q Question, snap redis.Snapshot, of aspect, v int64) {
		id := fmt.Sprintf("%d %d %v %#v", q.Conn, q.Command, of, snap)
		if len(groups[id]) == 0 {
			order = append(order, id)
		}
		groups[id] = append(groups[id], asked{q, v, of})
	}
	for n := uint32(1); n <= uint32(f.s.answers.Len()); n++ {
		e := f.s.answers.Entries.At(n)
		snap := *f.s.Snapshot(e.Key.Snapshot)
		if e.Value.Asks {
			f.tells[f.kindOf(e.Key.Command)] = true
		}
		if e.Value.Asks && f.met[e.Key.Snapshot] {
			f.found.Read = append(f.found.Read, snap.Millis)
			v := snap.Millis
			snap.Millis = 0
			add(e.Key, snap, aspect{kind: ofClock}, v)
			snap.Millis = v
		}
		for i, k := range snap.Keys {
			if k.Left != redis.Immortal && !readings.Ageless(f.kindOf(e.Key.Command)) {
				of := aspect{kind: ofLife, key: i}
				add(e.Key, f.varied(snap, of, 0), of, k.Left)
			}
		}
	}
	return f.bisectServers(groups, order)
}

// bisectServers bisects between the questions of each group that are next to each other, and probes further ones.
func (f *finder) bisectServers(groups map[string][]asked, order []string) error {
	for _, id := range order {
		if f.tired() {
			return nil
		}
		group := groups[id]
		slices.SortFunc(group, func(a, b asked) int { return int(min(1, max(-1, a.value-b.value))) })
		for i := 1; i < len(group); i++ {
			a, b := group[i-1], group[i]
			if err := f.bisectServer(a.q, b.q, a.of, a.value, b.value); err != nil {
				return err
			}
		}
	}
	return f.probeServers(groups)
}

// varied returns a snapshot with another number in one aspect.
func (f *finder) varied(snap redis.Snapshot, of aspect, v int64) redis.Snapshot {
	if of.kind == ofClock {
		snap.Millis = v
		return snap
	}
	snap.Keys = slices.Clone(snap.Keys)
	if k := &snap.Keys[of.key]; of.kind == ofLife {
		k.Left = v
	} else {
		*k = f.k.withStored(*k, of, v)
	}
	return snap
}

// bisectServer finds the values between two at which a server's answer changes.
func (f *finder) bisectServer(q, last Question, of aspect, a, b int64) error {
	f.ages, f.lasts, f.at = of.kind == ofLife, of.kind.lasts(), 0
	if kind := f.kindOf(q.Command); f.ages && alike.ToldBy(kind) != alike.ToldOtherwise {
		f.lives[kind] = true // and does nothing else: the client that is told decides by it
		return nil
	}
	snap := *f.s.Snapshot(q.Snapshot)
	at := func(v int64) (Answer, error) {
		q.Snapshot = f.s.ID(f.varied(snap, of, v))
		return f.s.Run(q)
	}
	end, err := at(b)
	if err != nil {
		return err
	}
	if begin, err := at(a); err == nil && f.ages && begin.Reply != end.Reply {
		kind := f.kindOf(q.Command)
		f.lives[kind] = true
		f.tellings[kind] = readings.Learn(f.tellings[kind], a, b, *f.k.Replies.Value(begin.Reply), *f.k.Replies.Value(end.Reply), f.k.tokens.At)
	}
	for lo, n := a, 0; lo < b && !f.restless(n, 0, 0) && !f.tired(); n++ {
		from, err := at(lo)
		if err != nil || f.alikeAnswers(from, end, b-lo) {
			return err
		}
		hi := b
		for low := lo; hi-low > 1; {
			mid := low + (hi-low)/2
			got, err := at(mid)
			if err != nil {
				return err
			}
			if f.alikeAnswers(from, got, mid-lo) {
				low = mid
			} else {
				hi = mid
			}
		}
		list := [...]*[]int64{&f.found.Server, &f.found.Left, &f.found.Stored}[of.kind]
		to, err := at(hi)
		if err != nil {
			return err
		}
		if to.Effect = from.Effect.Apart(to.Effect); f.ages && f.alikeAnswers(from, to, hi-lo) {
			list = &f.found.Longer
		}
		readings.Add(list, hi)
		lo = hi
	}
	return nil
}

// alikeAnswers reports whether two answers are the same but for numbers that have followed a
// span which was longer by the given difference.
func (f *finder) alikeAnswers(a, b Answer, by int64) bool {
	if a.Effect != b.Effect {
		return false
	}
	text := func(id uint32) []string { return strings.Split(*f.k.Replies.Value(id), "\r\n") }
	one, told := resp.Moment(*f.k.Replies.Value(a.Reply))
	two, both := resp.Moment(*f.k.Replies.Value(b.Reply))
	if told && both {
		if two-one != by {
			return false
		}
	} else if !slices.EqualFunc(text(a.Reply), text(b.Reply), func(x, y string) bool { return alike.Texts(x, y, by) }) {
		return false
	}
	s, t := f.s.Snapshot(a.Snapshot), f.s.Snapshot(b.Snapshot)
	return slices.EqualFunc(s.Keys, t.Keys, func(x, y redis.Key) bool {
		left := x.Left == y.Left || x.Left != redis.Immortal && y.Left != redis.Immortal && alike.Follows(y.Left-x.Left, by)
		if x.Name != y.Name || x.Type != y.Type || !left || !alike.Texts(x.Value, y.Value, by) {
			return false
		}
		f.given(&x, y.Left-x.Left)
		if f.ages {
			f.storesAt(&x, &y)
		}
		return true
	})
}
