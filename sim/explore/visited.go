package explore

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strconv"

	"lockstep/sim/explore/counts"
	"lockstep/sim/explore/disk"
	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/space"
)

// visited is the visited set of a search, which goes level by level.
type visited interface {
	// AddAll is [intern.Visited.AddAll].
	AddAll(states []uint32, digests []uint64) []uint64
	// batches calls do with the states of the level, in pieces, and in several parts if they
	// aren't all in memory. It ends when do reports false.
	batches(do func(pieces int, read func(piece int, into []uint32) []uint32) (goOn bool)) error
	// advance ends the level. It returns the number of states in the next.
	advance(level level) (states int64, err error)
	sizes() (states, memory, disk int64) // the latter in bytes
}

// pieceStates is the number of states that a worker takes at once.
const pieceStates = 64

// inMemory is a visited set in memory. In each shard, the states of a level follow those of
// the level before.
type inMemory struct {
	*intern.Visited
	from, to [intern.Shards]uint32 // of the level
}

func (v *inMemory) batches(do func(int, func(int, []uint32) []uint32) bool) error {
	type piece struct {
		shard    int
		from, to uint32
	}
	var pieces []piece
	for i := range intern.Shards {
		for at := v.from[i]; at < v.to[i]; at += pieceStates {
			pieces = append(pieces, piece{i, at, min(at+pieceStates, v.to[i])})
		}
	}
	do(len(pieces), func(n int, into []uint32) []uint32 {
		p := pieces[n]
		return v.Read(p.shard, p.from, p.to, into)
	})
	return nil
}

func (v *inMemory) advance(level) (states int64, err error) {
	v.from = v.to
	v.to, _ = v.Sizes()
	for i := range v.to {
		states += int64(v.to[i] - v.from[i])
	}
	return states, nil
}

func (v *inMemory) sizes() (states, memory, disk int64) {
	_, n := v.Sizes()
	return int64(n), int64(v.Bytes()), 0
}

// onDisk is a visited set that goes on on disk.
type onDisk struct {
	*disk.Set
	width int
}

func (v *onDisk) batches(do func(int, func(int, []uint32) []uint32) bool) error {
	return v.Batches(func(states []uint32) bool {
		size := pieceStates * v.width
		return do((len(states)+size-1)/size, func(n int, into []uint32) []uint32 {
			return append(into[:0], states[n*size:min((n+1)*size, len(states))]...)
		})
	})
}

func (v *onDisk) advance(l level) (int64, error) { return v.Advance(l) }

func (v *onDisk) sizes() (states, memory, disk int64) { return v.Progress() }

// level is the record that a search on disk makes at the end of a level, besides its states.
type level struct {
	Depth, Followed int64
	Found           uint32
	Stats           counts.Stats
	Commands        int
}

// level returns how far the search has come.
func (s *search) level() level {
	return level{Depth: s.depth.Load(), Followed: s.followed.Load(), Found: s.found.Load(), Stats: s.stats(), Commands: s.Servers.Ran}
}

// stats returns the counts of all workers, and of a process whose search was resumed.
func (s *search) stats() counts.Stats {
	all := s.before.Stats
	for _, x := range s.pool {
		all.Add(&x.Stats)
	}
	return all
}

// attempt has the settings that distinguish one model of a search from another: see withModel.
type attempt struct{ Timed, WholeSleeps, ClockGoesOn, Remembers bool }

func attemptOf(m *space.Model) attempt {
	return attempt{m.Timed(), m.Bounds.WholeSleeps, m.Bounds.ClockGoesOn, m.Bounds.Remembers}
}

// openDisk opens the directory of a search on disk, and returns the model with which it goes
// on, or begins. Until the result is called, the garbage collector keeps to the memory.
func (o *Options) openDisk(b *Bounds) (a attempt, done func(finished bool) error, err error) {
	program, err := disk.Program()
	if err != nil {
		return a, nil, err
	}
	if o.dir, err = disk.Open(o.Disk, append(claims(b, o), disk.Claim{Name: "build of lockstep", Value: program})); err != nil {
		return a, nil, err
	}
	if o.dir.Left() {
		err = o.dir.Round(&a)
	} else {
		a = attempt{WholeSleeps: b.WholeSleeps, ClockGoesOn: b.ClockGoesOn, Remembers: b.Remembers}
	}
	collector := debug.SetMemoryLimit(-1)
	if o.Memory > 0 {
		debug.SetMemoryLimit(min(collector, o.Memory/10*9))
	}
	return a, func(finished bool) error {
		debug.SetMemoryLimit(collector)
		if finished {
			return o.dir.Remove()
		}
		return o.dir.Close()
	}, err
}

// inMemory returns the options of a small search that goes before.
func (o Options) inMemory() Options {
	o.Progress, o.dir, o.stir = nil, nil, nil
	return o
}

// closeSet gives up the memory of a set that is on disk, too.
func (o *Options) closeSet() error {
	if o.dir == nil {
		return nil
	}
	return o.dir.CloseSet()
}

func asked(is bool) string {
	if is {
		return "asked for"
	}
	return "not asked for"
}

// claims is all on which the states of a search depend, but for the program.
func claims(b *Bounds, opt *Options) []disk.Claim {
	clients := strconv.Itoa(b.Clients)
	if b.Others {
		clients = "any"
	}
	cycles := strconv.Itoa(b.Cycles)
	if b.Endless() {
		cycles = "any"
	}
	return []disk.Claim{{Name: "lock", Value: b.Strategy.Name}, {Name: "number of clients", Value: clients}, {Name: "number of cycles", Value: cycles},
		{Name: "number of tries", Value: strconv.Itoa(max(1, b.Tries))}, {Name: "retries", Value: fmt.Sprint(b.Strategy.Retry)}, {Name: "number of servers", Value: strconv.Itoa(cmp.Or(b.Nodes, b.Strategy.Nodes))},
		{Name: "budget of faults", Value: b.Faults.String()}, {Name: "set of codes", Value: b.CodeSet().String()}, {Name: "caller", Value: b.Caller()},
		{Name: "resource", Value: fmt.Sprint(b.Resource)}, {Name: "TTL", Value: b.TTL.String()}, {Name: "timeout", Value: cmp.Or(b.Timeout, b.Strategy.Timeout).String()},
		{Name: "record", Value: strconv.Quote(b.Record)}, {Name: "bound on switches", Value: strconv.Itoa(b.Switches)},
		{Name: "memory between cycles", Value: asked(b.Remembers)}, {Name: "monotonic clock between cycles", Value: asked(b.ClockGoesOn)}, {Name: "resolution of sleeps", Value: asked(b.WholeSleeps)},
		{Name: "certificate", Value: asked(opt.Certify)}}
}

// begin puts the first state into the visited set, or takes the set from disk. It returns the
// number of states to begin with.
func (s *search) begin() (states int64, err error) {
	first := s.Explorer()
	dir := s.opt.dir
	if dir == nil {
		v := &inMemory{Visited: intern.NewVisited(s.Width)}
		v.AddAll(first.Begin(), nil)
		s.visited = v
		return v.advance(level{})
	}
	limits := disk.Limits{Memory: cmp.Or(s.opt.room, s.opt.Memory/shareOfStates), Workers: s.workers()}
	var set *disk.Set
	if dir.Left() {
		set, err = s.resume(limits)
	} else {
		known := s.Known()
		set, err = dir.Begin(attemptOf(s.Model), level{}, intern.Append(nil, &known), s.tables(), first.Begin(), limits)
	}
	if err != nil {
		return 0, err
	}
	s.visited = &onDisk{set, s.Width}
	return set.Frontier(), nil
}

// shareOfStates is the part of the memory that states may take: a third. Their tables and
// the garbage that isn't collected yet need the rest.
const shareOfStates = 3

// resume takes the set from disk, and the search to where it was. It fails if the lock does
// otherwise now, as one in another process can although this program is the same.
func (s *search) resume(limits disk.Limits) (set *disk.Set, err error) {
	if err := s.opt.dir.Level(&s.before); err != nil {
		return nil, err
	}
	recall := func(from []byte) (disk.Tables, error) {
		var known space.Known
		_, err := intern.Read(from, &known)
		s.Recall(known)
		return s.tables(), err
	}
	if set, err = s.opt.dir.Resume(recall, s.Width, limits); err != nil {
		return nil, err
	}
	s.depth.Store(s.before.Depth)
	s.followed.Store(s.before.Followed)
	s.found.Store(s.before.Found)
	s.Servers.Ran = s.before.Commands
	if err := s.Clients.Recheck(); err != nil {
		return nil, fmt.Errorf("the search in %s was begun with a lock that does otherwise, or: %w", s.opt.Disk, err)
	}
	states, memory, stored := set.Progress()
	s.opt.progress(Progress{States: states, Transitions: s.before.Followed, Depth: int(s.before.Depth), Frontier: int(set.Frontier()), Bytes: int(memory), Disk: stored, Resumed: true})
	return set, nil
}

// tables are those to whose ids the states refer.
func (s *search) tables() disk.Tables {
	return disk.Tables{Kept: s.Kept(),
		Note: func() []byte {
			untaken := s.Clients.Untaken()
			return intern.Append(nil, &untaken)
		},
		Recall: func(note []byte) error {
			var untaken []uint32
			_, err := intern.Read(note, &untaken)
			s.Clients.SetUntaken(untaken)
			return err
		}}
}
