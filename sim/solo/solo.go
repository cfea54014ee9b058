// Package solo plays a lock in which nothing goes wrong and nobody contends.
package solo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockstep/sim"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Solo has the facts on a lock from a run in which nothing goes wrong and nobody contends: each
// client in turn has the servers to itself until its program ends. A search plays one first,
// to learn the name of the lock's record, and whether the lock can be had at all.
type Solo struct {
	Granted  int    // grants, of all clients
	Released int    // releases that the lock reported as done
	Extends  bool   // the lock can extend its leases
	Extended int    // calls of Extend that it reported as done
	Failure  string // the first error of Acquire, refusals aside, with its line; empty if there was none

	grants []grant
}

// grant has the keys that one acquisition left behind on the servers.
//
// Invariant: gone is a part of keys, and both are sorted.
type grant struct {
	client string
	keys   []string // that the acquisition stored and that were there at the grant, on as many servers as a holder needs; or on fewer, if there are no others
	gone   []string // those of them that were gone when Release had returned
	apart  []string // the keys on each server, if none was on enough of them
}

// Play resets a world to the configuration and plays its solo, up to the bounds of a run: a
// lock that asks for ever comes to no end even then. It does so twice, and fails with
// [Unsteady] if the lock doesn't do the same: work that code does only once in this process, such
// as by a sync.Once in a variable of a package, would be done before anybody looks, and each
// process of its own does it.
//
// It fails with [Astray] if the lock has a goroutine that is no thread while a client holds it.
func Play(w *sim.World, cfg sim.Config) (*Solo, error) {
	once, err := play(w, cfg, true)
	if err != nil {
		return nil, err
	}
	again, err := play(w, cfg, false)
	if err != nil {
		return nil, err
	}
	if err := steady(once, again); err != nil {
		return nil, err
	}
	s := newSolo(again)
	_, s.Extends = w.Lock(0).(strategies.Extender)
	return s, nil
}

// play plays the solo once. It looks for goroutines if it is told to, at the grants of the first
// client: all run the same code.
func play(w *sim.World, cfg sim.Config, looks bool) (*trace.Trace, error) {
	if err := w.Reset(cfg, true); err != nil {
		return nil, err
	}
	w.Guard()
	for i := range cfg.Clients {
		for !w.Position(i).Over && w.Step(sim.SetOf(i)) {
			if looks && i == 0 && w.Position(i).About == trace.KindEnter {
				if at, any := w.Strays(i); any {
					return nil, &Astray{Client: cfg.Clients[i].Name, Source: at}
				}
			}
		}
	}
	return w.Trace()
}

// Astray is the error of a lock that starts a goroutine by itself, which is still there when a
// client has the lock, as one that renews a lease whenever a time.Ticker ticks.
type Astray struct {
	Client string       // its name
	Source trace.Source // the line that starts the goroutine
}

// Error names the client and the line.
func (a *Astray) Error() string {
	return fmt.Sprintf("%s's code starts a goroutine at %s:%d: %s", a.Client, a.Source.File, a.Source.Line, OutOfTime)
}

// OutOfTime says what is wrong with such a goroutine, and what to do.
const OutOfTime = "virtual time doesn't reach it, so nothing of what it does later would happen; " +
	"start threads by Options.Go, and wait in them by Options.Clock.Sleep"

// Unsteady is the error of a lock that doesn't do the same when its solo is played again.
type Unsteady struct {
	Client      string       // its name
	Once, Again string       // the two that differ, in words
	Command     string       // the command's name, if the lock does the same and a server's reply differs
	Source      trace.Source // the line of the second, if it is known
}

// Error names the client and the difference.
func (u *Unsteady) Error() string {
	if u.Command != "" {
		return fmt.Sprintf("%s of %s: %s", u.Command, u.Client, OfMore)
	}
	return fmt.Sprintf("the lock doesn't do the same when it is run again from its beginning: first %s goes on with %s, and then with %s", u.Client, u.Once, u.Again)
}

// OfMore says what is wrong with a command that is replied to in another way when all is run again.
const OfMore = "its reply isn't the same when the lock is run again from its beginning: it tells of more than keys and their values"

// steady fails with [Unsteady] if two runs of one schedule differ.
func steady(once, again *trace.Trace) error {
	if once.Hash == again.Hash {
		return nil
	}
	text := func(t *trace.Trace, n int) string {
		if n >= len(t.Events) {
			return "nothing"
		}
		if e := &t.Events[n]; e.Kind == trace.KindSend {
			return trace.CommandText(e.Args)
		}
		return t.Text(&t.Events[n])
	}
	for n := range max(len(once.Events), len(again.Events)) {
		if a, b := text(once, n), text(again, n); a != b {
			u := &Unsteady{Once: a, Again: b}
			if t := again; n < len(t.Events) {
				e := &t.Events[n]
				u.Client, u.Source = t.Actor(e), e.Source
				if e.Kind == trace.KindExecute && n < len(once.Events) && slices.Equal(e.Args, once.Events[n].Args) {
					u.Client, u.Command = t.Clients[e.Client], strings.ToUpper(e.Args[0])
				}
			} else {
				u.Client = once.Actor(&once.Events[n])
			}
			return u
		}
	}
	return nil // they differ in details that nobody sees
}

// soloReader folds the events of a solo.
type soloReader struct {
	*Solo
	t       *trace.Trace
	present []map[string]bool // by server: the keys that it has
	stored  []map[string]bool // by server: the keys that the current acquisition has stored
	source  trace.Source      // of the newest event that has one
}

func newSolo(t *trace.Trace) *Solo {
	r := &soloReader{Solo: new(Solo), t: t}
	for range t.Masters {
		r.present, r.stored = append(r.present, map[string]bool{}), append(r.stored, map[string]bool{})
	}
	for i := range t.Events {
		r.apply(&t.Events[i])
	}
	return r.Solo
}

func (r *soloReader) apply(e *trace.Event) {
	if e.Source.File != "" {
		r.source = e.Source
	}
	for _, ch := range e.Changes {
		if e.Node >= r.t.Masters {
			break // a replica, which only follows
		}
		r.present[e.Node][ch.Key] = ch.After != nil
		if ch.After != nil && e.Phase == trace.PhaseAcquire {
			r.stored[e.Node][ch.Key] = true
		}
	}
	switch e.Kind {
	case trace.KindAcquire:
		for _, keys := range r.stored {
			clear(keys)
		}
	case trace.KindGranted:
		r.Granted++
		r.grants = append(r.grants, r.grant(r.t.Clients[e.Client]))
	case trace.KindExtended:
		if e.Thread == 0 { // the caller's: the lock may extend by itself, too
			r.Extended++
		}
	case trace.KindFailed:
		if r.Failure == "" {
			r.Failure = e.Note
			if r.source.File != "" {
				r.Failure += fmt.Sprintf(" (at %s:%d)", r.source.File, r.source.Line)
			}
		}
	case trace.KindReleased, trace.KindReleaseFailed:
		if e.Kind == trace.KindReleased {
			r.Released++
		}
		g := &r.grants[len(r.grants)-1]
		for _, key := range g.keys {
			if r.count(r.present, key) == 0 {
				g.gone = append(g.gone, key)
			}
		}
	}
}

// grant sorts the keys that the current acquisition has stored and that are still there.
func (r *soloReader) grant(client string) grant {
	g := grant{client: client}
	var few []string
	for node, keys := range r.stored {
		for key := range keys {
			switch {
			case !r.present[node][key]:
			case r.count(r.present, key) >= r.t.Need:
				g.keys = append(g.keys, key)
			default:
				few = append(few, key)
				g.apart = append(g.apart, fmt.Sprintf("%q on %s", key, r.t.Nodes[node]))
			}
		}
	}
	if len(g.keys) == 0 { // the lock takes too few votes for enough: that is for the search to find
		g.keys = few
	} else {
		g.apart = nil
	}
	slices.Sort(g.apart)
	slices.Sort(g.keys)
	g.keys = slices.Compact(g.keys)
	return g
}

// count returns the number of servers in whose set a key is.
func (r *soloReader) count(sets []map[string]bool, key string) (n int) {
	for _, keys := range sets {
		if keys[key] {
			n++
		}
	}
	return n
}

// ErrNoRecord is the error of a lock that was granted although it had stored nothing.
var ErrNoRecord = errors.New("the lock's record was never seen: Acquire returned a lease, and had stored no key that was still there; what a thread of its own stores doesn't count")

// Record returns the key of the lock's record: the only key that an acquisition leaves
// behind; or, of several, the only one that its release removes, since a counter of fencing
// tokens, for one, stays. If the name is given, Record only checks that the record was there
// at each grant. It returns "" if there was no grant; and fails with [ErrNoRecord], or with
// an error that names the keys between which it can't decide, or those that differ between
// clients or cycles.
func (s *Solo) Record(given string) (string, error) {
	record, first := "", ""
	for i := range s.grants {
		g := &s.grants[i]
		key, err := g.record(given)
		switch {
		case err != nil:
			return "", err
		case record == "":
			record, first = key, g.client
		case key != record && g.client != first:
			return "", fmt.Errorf("%s's record is %q, and %s's is %q: clients that lock different keys keep nobody out; "+
				"the key must depend on nothing but the key that New is given", first, record, g.client, key)
		case key != record:
			return "", fmt.Errorf("%s's record is %q in one cycle, and %q in another: a search needs a lock that has one record; "+
				"the key must depend on nothing but the key that New is given", first, record, key)
		}
	}
	return record, nil
}

// Stays reports whether a record is still there whenever a release has returned.
func (s *Solo) Stays(record string) bool {
	return len(s.grants) > 0 && !slices.ContainsFunc(s.grants, func(g grant) bool { return slices.Contains(g.gone, record) })
}

func (g *grant) record(given string) (string, error) {
	switch {
	case given != "" && slices.Contains(g.keys, given):
		return given, nil
	case given != "" && len(g.keys) > 0:
		return "", fmt.Errorf("the record is said to be %q, and when %s had the lock there was no such key: there was %s", given, g.client, quoted(g.keys))
	case len(g.keys) == 1:
		return g.keys[0], nil
	case len(g.gone) == 1:
		return g.gone[0], nil
	case len(g.keys) > 1 && len(g.apart) > 0:
		return "", fmt.Errorf("the record must have one name on all servers, and %s stores %s", g.client, trace.List(g.apart))
	case len(g.keys) > 1:
		return "", fmt.Errorf("the keys %s could each be the lock's record: they are there while %s has the lock, and its release removes %s; "+
			"name it: set Bounds.Record to one of them", quoted(g.keys), g.client, removed(g.gone))
	}
	return "", ErrNoRecord
}

// removed words how many of several keys a release removes, if it isn't one.
func removed(gone []string) string {
	if len(gone) == 0 {
		return "none of them"
	}
	return quoted(gone)
}

func quoted(keys []string) string {
	var all []string
	for _, key := range keys {
		all = append(all, fmt.Sprintf("%q", key))
	}
	return trace.List(all)
}
