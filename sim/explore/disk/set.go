package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"lockstep/sim/explore/intern"
)

// Set is the visited set of a search that goes level by level. It is in memory as long as it
// fits, and a copy of it is on disk. Add is safe for concurrent use, and all else is not.
//
// Invariant: each state that the set has is in one run, or is among those of the next level.
// Invariant: states in memory are in the set, but for those of the next level: of these, some may
// be in a run, unless the memory has the whole set.
type Set struct {
	dir     *Dir
	m       manifest // of the last level
	tables  *journal
	workers int
	room    int64 // bytes of memory that states may take

	memory   *intern.Visited
	most     int                   // states that have filled the memory; 0 until it was full
	others   atomic.Int64          // states of the set that aren't in memory
	stored   atomic.Int64          // bytes of all runs
	whole    bool                  // memory has all states
	from     [intern.Shards]uint32 // in memory, those of the next level begin here
	spilled  []*run                // states of the next level for which there was no room
	frontier *run                  // the states of this level; nil if there are none
	runs     []*run                // all states of earlier levels, the oldest first
	places   [][]place             // for each worker to sort with
}

// Begin begins a search, or a round of one, at a first state; the directory's files of
// another round are removed. round is for [Dir.Round] in another process, level for [Dir.Level],
// and known for Resume.
func (d *Dir) Begin(round, level any, known []byte, tables Tables, first []uint32, limits Limits) (*Set, error) {
	err := d.CloseSet()
	d.left, d.manifest = false, nil
	if err = errors.Join(err, d.sweep()); err != nil {
		return nil, err
	}
	s := d.newSet(len(first), limits)
	s.whole = true
	if s.m.Round, err = json.Marshal(round); err != nil {
		return nil, err
	}
	if s.tables, err = beginJournal(d.file(tablesName), tables, known); err != nil {
		return nil, d.explain(err)
	}
	d.set = s
	s.AddAll(first, nil)
	_, err = s.Advance(level)
	return s, err
}

// Resume goes on with the search that was left, at the end of its last level. recall gets the bytes
// that Begin was given as known, and returns the tables, which are then given the entries
// that they had.
func (d *Dir) Resume(recall func(known []byte) (Tables, error), width int, limits Limits) (*Set, error) {
	d.left = false
	if width != d.manifest.Width {
		return nil, fmt.Errorf("%s has states of %d parts, and not of %d: name another directory, or remove this one", d.path, d.manifest.Width, width)
	}
	if err := d.sweep(); err != nil {
		return nil, err
	}
	s := d.newSet(width, limits)
	s.m = *d.manifest
	var err error
	if s.tables, err = resumeJournal(d.file(tablesName), recall, s.m.Tables); err != nil {
		return nil, err
	}
	d.set = s
	for _, name := range s.m.Runs {
		r, err := open(d.file(name), name, width)
		if err != nil {
			return nil, err
		}
		s.runs = append(s.runs, r)
	}
	if s.m.Frontier != "" {
		s.frontier, err = open(d.file(s.m.Frontier), s.m.Frontier, width)
	}
	s.count()
	return s, err
}

// Limits of a set.
type Limits struct {
	Memory  int64 // bytes that states may take in memory; 0 is without limit
	Workers int   // goroutines that sort and merge
}

func (d *Dir) newSet(width int, l Limits) *Set {
	if l.Memory <= 0 {
		l.Memory = math.MaxInt64
	}
	return &Set{dir: d, m: manifest{Width: width}, memory: intern.NewVisited(width), room: l.Memory, workers: max(1, l.Workers), places: make([][]place, max(1, l.Workers))}
}

// AddAll adds states to the next level, as [intern.Visited.AddAll] does. States of earlier
// levels are taken out at its end.
func (s *Set) AddAll(states []uint32, digests []uint64) []uint64 {
	return s.memory.AddAll(states, digests)
}

// batch is the number of states that are read at once.
const batch = 1 << 16

// Batches calls do with the states of this level, a slice for as many as can be followed
// before the memory is looked at again, until do reports false.
func (s *Set) Batches(do func(states []uint32) (goOn bool)) error {
	if s.frontier == nil {
		return nil
	}
	states := make([]uint32, 0, batch*s.m.Width)
	for part := range parts {
		c := s.frontier.cursor(part)
		for more := true; more; {
			states = states[:0]
			for len(states) < batch*s.m.Width && int64(len(states))*4 <= s.room {
				if more = c.advance(); !more {
					break
				}
				states = append(states, c.state...)
			}
			if c.err != nil {
				return c.err
			}
			if len(states) > 0 && !do(states) {
				return nil
			}
			if err := s.spill(); err != nil {
				return s.dir.explain(err)
			}
		}
	}
	return nil
}

// spill writes the states of the next level to disk if the memory is full, and empties that. It
// keeps the memory that it has taken, so that is full again with as many states.
func (s *Set) spill() error {
	_, n := s.memory.Sizes()
	switch {
	case s.most == 0 && int64(s.memory.Bytes()) > s.room:
		s.most = n
	case s.most == 0 || n < s.most:
		return nil
	}
	r, err := s.write(nil, nil)
	if err != nil {
		return err
	}
	if r != nil {
		s.spilled = append(s.spilled, r)
	}
	s.memory.Clear()
	s.from, s.whole = [intern.Shards]uint32{}, false
	s.count()
	return nil
}

// Advance ends a level, and returns the number of states in the next. When it returns, the
// search can go on from there in another process, which gets level from [Dir.Level].
func (s *Set) Advance(level any) (states int64, err error) {
	old := s.files()
	if err = s.advance(level); err != nil {
		return 0, s.dir.explain(err)
	}
	for _, r := range old {
		if r != s.frontier && !slices.Contains(s.runs, r) {
			err = errors.Join(err, r.remove())
		}
	}
	s.count()
	return s.Frontier(), err
}

// count notes how many states and bytes there are, for goroutines that ask meanwhile.
func (s *Set) count() {
	states, size := s.m.States, int64(0)
	for _, r := range s.spilled {
		states += r.states
	}
	for _, r := range s.files() {
		size += r.size
	}
	for _, earlier := range s.from { // these are in memory, too
		states -= int64(earlier)
	}
	s.others.Store(states)
	s.stored.Store(size + s.m.Tables)
}

func (s *Set) advance(level any) error {
	known := s.runs
	if s.frontier != nil {
		known = append(slices.Clone(known), s.frontier)
	}
	against := known
	if s.whole {
		against = nil // a state that is new in memory is new
	}
	next, err := s.write(s.spilled, against)
	if err != nil {
		return err
	}
	if next != nil {
		err = next.file.Sync()
	}
	if err == nil {
		s.runs, err = s.compact(known)
	}
	if err != nil {
		return err
	}
	s.spilled, s.frontier = nil, next
	s.from, _ = s.memory.Sizes()
	if err := s.tables.append(); err != nil {
		return err
	}
	if s.m.Level, err = json.Marshal(level); err != nil {
		return err
	}
	s.m.Tables, s.m.Frontier, s.m.Runs = s.tables.size, "", nil
	for _, r := range s.runs {
		s.m.Runs = append(s.m.Runs, r.name)
	}
	if next != nil {
		s.m.Frontier, s.m.States = next.name, s.m.States+next.states
	}
	m := s.m
	return s.dir.commit(&m)
}

// files lists all runs.
func (s *Set) files() []*run {
	all := slices.Concat(s.runs, s.spilled)
	if s.frontier != nil {
		all = append(all, s.frontier)
	}
	return all
}

// write writes a run of the states of the next level that are in memory or in some runs, except
// those that are known. It returns nil if there are none.
func (s *Set) write(from, except []*run) (*run, error) {
	w, err := s.create()
	if err != nil {
		return nil, err
	}
	to, _ := s.memory.Sizes()
	err = s.each(func(worker, part int) error {
		known, err := knownIn(except, part)
		if err != nil {
			return err
		}
		states := sort(s.memory, part, s.m.Width, &s.from, &to, s.places[worker])
		s.places[worker] = states.order
		sources := []source{states}
		for _, r := range from {
			sources = append(sources, r.cursor(part))
		}
		return mergeInto(w.part(part), sources, known)
	})
	return finish(w, err)
}

// mergeInto writes a part of a run of the states that some sources have and that aren't known.
func mergeInto(p *partWriter, sources []source, known known) error {
	err := merge(sources, func(state []uint32) error {
		if is, err := known.has(state); is || err != nil {
			return err
		}
		return p.add(state)
	})
	if err != nil {
		return err
	}
	return p.flush()
}

func (s *Set) create() (*writer, error) {
	s.m.Files++
	name := fmt.Sprintf("%06d%s", s.m.Files, runSuffix)
	return create(s.dir.file(name), name, s.m.Width)
}

// finish ends the writing of a run, of which there is nothing left if it has failed or has no
// states.
func finish(w *writer, err error) (*run, error) {
	if err == nil && w.run.states > 0 {
		_, err = w.finish()
	}
	if err != nil || w.run.states == 0 {
		return nil, errors.Join(err, w.run.remove())
	}
	return w.run, nil
}

// mostRuns is the number of runs beyond which the newest are merged into one.
const mostRuns = 8

// compact merges runs if there are many of them: the newest, and of the others each that has
// no more states than those after it, so that a state is written only a few times.
func (s *Set) compact(runs []*run) ([]*run, error) {
	if len(runs) <= mostRuns {
		return runs, nil
	}
	first, newer := len(runs)-2, runs[len(runs)-1].states
	for newer += runs[first].states; first > 0 && runs[first-1].states <= newer; first-- {
		newer += runs[first-1].states
	}
	w, err := s.create()
	if err != nil {
		return nil, err
	}
	err = s.each(func(_, part int) error {
		var sources []source
		for _, r := range runs[first:] {
			sources = append(sources, r.cursor(part))
		}
		return mergeInto(w.part(part), sources, nil)
	})
	r, err := finish(w, err)
	if err != nil {
		return nil, err
	}
	return append(slices.Clone(runs[:first]), r), r.file.Sync()
}

// each has the workers do all parts.
func (s *Set) each(do func(worker, part int) error) error {
	var next atomic.Int64
	errs := make([]error, s.workers)
	var wg sync.WaitGroup
	for worker := range s.workers {
		wg.Go(func() {
			for errs[worker] == nil {
				part := int(next.Add(1)) - 1
				if part >= parts {
					return
				}
				errs[worker] = do(worker, part)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// explain adds to an error of writing where the search stands.
func (d *Dir) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; the end of the last level is in %s: when the cause is mended, such as a full disk, the same search goes on from there", err, d.path)
}

// Frontier returns the number of states in this level.
func (s *Set) Frontier() int64 {
	if s.frontier == nil {
		return 0
	}
	return s.frontier.states
}

// Progress returns the number of states so far, of which some may have been counted twice until
// the level ends, and the bytes that they take in memory and on disk. It may be called at any
// time.
func (s *Set) Progress() (states, memory, disk int64) {
	_, n := s.memory.Sizes()
	return s.others.Load() + int64(n), int64(s.memory.Bytes()), s.stored.Load()
}

func (s *Set) close() error {
	err := s.tables.close()
	for _, r := range s.files() {
		err = errors.Join(err, r.file.Close())
	}
	return err
}
