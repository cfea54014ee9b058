package fuzz

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/explore/trials"
	"lockstep/sim/monitor"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

var (
	seed = flag.Uint64("seed", 1, "where TestFuzz begins")
	runs = flag.Int("runs", testenv.Count(1, 30), "how many random schedules TestFuzz plays of each lock")
)

// subjects are all locks of the catalogue and of the collection.
func subjects() (all []*subject) {
	for _, s := range strategies.All() {
		all = append(all, &subject{name: s.Name, strategy: s})
	}
	return append(all, collection()...)
}

// miss is a violation that the engine shows, and the search does not find within bounds that
// contain the schedule.
type miss struct {
	lock  string
	code  trace.Code
	at    setting
	cost  spent
	moves string
	says  string
}

func (m *miss) String() string {
	return fmt.Sprintf("%s %s  %s ttl=%s extend=%t checks=%t seed=%d  [%s]\n    %s", m.lock, m.code, &m.cost, m.at.ttl, m.at.extend, m.at.checks, m.at.seed, m.says, m.moves)
}

// fuzzer fuzzes one lock.
type fuzzer struct {
	drawer
	draws func(*subject) error // plays a random schedule
	searcher
	covered map[about][]spent // costs of schedules that a search was found to cover
	misses  []*miss
	shown   []*miss          // that the search finds, too
	refused map[string]*miss // by the error
	shaky   []*miss          // that a fresh world doesn't show
	counts  struct{ runs, violations, shrunk, tooBig int }
}

func newFuzzer(of *subject, seed uint64) *fuzzer {
	f := &fuzzer{covered: map[about][]spent{}, refused: map[string]*miss{}}
	f.drawer = drawer{player: &player{subject: of}}
	f.Rand = rand.New(rand.NewPCG(seed, 11))
	f.draws = f.drawer.draw
	f.searcher = newSearcher()
	return f
}

// run plays one random schedule, and asks the search about what it shows.
func (f *fuzzer) run() error {
	f.counts.runs++
	if err := f.draws(f.subject); err != nil {
		if trials.Stopped(err) { // after a century, or too many events
			return nil
		}
		return err
	}
	cost, verdict := f.Cost(), f.Verdict()
	if f.IntN(3) == 0 && f.Deadlocks() {
		verdict = append(slices.Clone(verdict), trace.PD)
	}
	for _, c := range verdict {
		if slices.Contains(monitor.Searched(), c) {
			f.counts.violations++
			f.judge(c, &cost)
		}
	}
	return nil
}

// about is a code, and the settings between which no bounds contain others.
type about struct {
	code           trace.Code
	ttl            time.Duration
	extend, checks bool
}

func (f *fuzzer) about(c trace.Code) about { return about{c, f.s.ttl, f.s.extend, f.s.checks} }

// known reports whether a schedule contains one that is known already.
func (f *fuzzer) known(c trace.Code, cost *spent) bool {
	if slices.ContainsFunc(f.covered[f.about(c)], func(s spent) bool { return s.Within(cost) }) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(f.misses, f.shaky), func(m *miss) bool { return m.code == c && m.cost.Within(cost) })
}

func (f *fuzzer) judge(c trace.Code, cost *spent) {
	if f.known(c, cost) {
		return
	}
	f.counts.shrunk++
	ops, least := f.shrunk(f.s, f.Ops, c)
	if f.known(c, &least) {
		return
	}
	m := &miss{lock: f.subject.name, code: c, at: f.s, cost: least, moves: f.Line()}
	fresh := &player{subject: f.subject}
	defer fresh.Close() //nolint:errcheck // nothing is written
	if !fresh.shows(f.s, ops, c) {
		m.says = "not in a world that has run nothing yet"
		f.shaky = append(f.shaky, m)
		return
	}
	a := f.covers(f.subject, f.s, &least, c) // for all codes it would go on after it has found this one
	switch {
	case a.err != nil:
		m.says, _, _ = strings.Cut(a.err.Error(), "\n")
		f.refused[strings.Map(letters, m.says)] = m
		f.covered[f.about(c)] = append(f.covered[f.about(c)], least)
		return
	case slices.Contains(a.found, c):
		m.says = "found"
		f.shown = append(f.shown, m)
		f.covered[f.about(c)] = append(f.covered[f.about(c)], least)
		return
	case !a.complete:
		f.counts.tooBig++
		return
	default:
		m.says = "holds"
	}
	f.misses = append(f.misses, m)
}

// TestFuzz: within bounds that contain a random schedule the search finds what the engine
// shows.
func TestFuzz(t *testing.T) {
	all := subjects()
	t.Logf("-seed %d", *seed)
	for i, s := range all {
		if !testenv.Some(i, 12) {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			f := newFuzzer(s, *seed*1000+uint64(i))
			defer f.Close() //nolint:errcheck // nothing is written
			start := time.Now()
			for range *runs {
				if err := f.run(); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d runs, %d violations, %d shrunk, %d searches, %d too big, %s", f.counts.runs, f.counts.violations,
				f.counts.shrunk, len(f.answers), f.counts.tooBig, time.Since(start))
			f.report(t)
		})
	}
}

// report fails the test for each miss, unless an example says that the lock's are known.
func (f *fuzzer) report(t *testing.T) {
	t.Helper()
	complain := t.Errorf
	if known(f.subject.name) {
		complain = t.Logf
	}
	for _, m := range f.misses {
		complain("MISS %s", m)
	}
	for _, m := range f.shaky {
		complain("UNSTEADY %s", m)
	}
	for _, m := range f.refused {
		if internal(errors.New(m.says)) {
			complain("DISAGREES %s", m)
		} else {
			t.Logf("REFUSED %s", m)
		}
	}
	for _, m := range f.shown {
		t.Logf("FOUND %s", m)
	}
}

// known reports whether the search is known to be wrong about a lock.
func known(lock string) bool {
	return slices.ContainsFunc(examples, func(e example) bool { return e.lock == lock && (e.today == misses || e.today == fails) })
}

// letters drops what differs between two errors that say the same.
func letters(r rune) rune {
	if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
		return -1
	}
	return r
}
