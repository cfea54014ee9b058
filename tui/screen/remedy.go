package screen

import (
	"fmt"
	"slices"

	"lockstep/scenarios/advice"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// remedies are the locks that are tried as those that withstand: the simplest first that is right, and last the
// one on several servers.
var remedies = []string{"setpx-lua", "setpx-get", "fenced", "setpx-wait", "naive-del", "getset-equal", "redlock"}

// Remedy is a lock that doesn't show a failure under a scenario in which another lock has shown it.
type Remedy struct {
	Code     trace.Code    // the failure
	Strategy int           // its place in the library
	Name     string        // of the lock
	Still    trace.Verdict // the failures that it does show: the other lock has shown them, too
	Bad      bool          // it fails where every lock has to hold, so nobody is to take it for that
	Later    bool          // the lesson comes to it
	Falls    string        // a scenario under which it fails, if that is to be said of it
	Servers  int           // on which it runs, where the other lock runs on one, or 0: a script may touch few of them
}

// Remedies are the remedies that are known for a run, by the failures.
type Remedies map[trace.Code]Remedy

// For is a remedy for the first of some violations, or nil.
func (r Remedies) For(shown []timeline.Breach) *Remedy {
	if len(shown) > 0 {
		if best, is := r[shown[0].Code]; is {
			return &best
		}
	}
	return nil
}

// Remedies finds a lock for each failure of a run, by runs that it makes: the expectation of a script's
// author proves nothing, nor does a run in which nobody has the lock, or the script's misfortune doesn't strike it. It takes the first of some, by their names, or else the first of a few others, the
// simplest first, that shows no failure at all; or else the first that doesn't show this one, and none that the run
// doesn't have. Where the lock has fencing
// tokens, those that have them, too, come before those without: their user's resource checks them. It may run
// beside the interface.
func (l *Library) Remedies(scenario, strategy int, t *trace.Trace, first []string) Remedies {
	shown := t.Verdict().Failures()
	struck := struckBy(t, l.Strategies[strategy])
	found, fallbacks := Remedies{}, slices.Clone(remedies)
	if l.Strategies[strategy].Fences {
		slices.SortStableFunc(fallbacks, func(x, y string) int { return l.unfenced(x) - l.unfenced(y) })
	}
	own := l.Strategies[strategy].Nodes > 1 // a reader who has several servers wants to go on without one of them
	fits := func(i int) bool {
		several := l.Strategies[i].Nodes > 1
		return several == own || several && serversFail(t)
	}
	for _, name := range slices.Concat(first, fallbacks) {
		i := l.Strategy(name)
		if i < 0 || i == strategy || !fits(i) {
			continue
		}
		if whole(found, shown) {
			break
		}
		other, err := l.Run(l.Scenarios[scenario], l.Strategies[i], t.Seed)
		if err != nil {
			continue
		}
		still := other.Verdict().Failures()
		if slices.ContainsFunc(still, func(c trace.Code) bool { return !slices.Contains(shown, c) }) {
			continue // it would break otherwise
		}
		if len(still) > 0 && heldUpPastLease(other) && !heldUpPastLease(t) {
			continue // the script's order of steps makes it fail
		}
		if struck.Spared(struckBy(other, l.Strategies[i])) != "" {
			continue // the script doesn't put it to the test
		}
		for _, c := range shown {
			if r, any := found[c]; !slices.Contains(still, c) && (!any || len(still) == 0 && len(r.Still) > 0) {
				r := l.remedy(c, i, still, slices.Contains(first, name))
				if n := l.Strategies[i].Nodes; n > 1 && !own {
					r.Servers = n
				}
				found[c] = r
			}
		}
	}
	return found
}

// remedy describes a lock that doesn't show a failure: whether it is bad, or comes later in the lesson, and the scenario
// to which it falls all the same, as the course shows it. The built-in scenarios expect the verdicts that their runs have:
// tests hold the engine to it.
func (l *Library) remedy(code trace.Code, strategy int, still trace.Verdict, later bool) Remedy {
	r := Remedy{Code: code, Strategy: strategy, Name: l.Strategies[strategy].Name, Still: still, Later: later}
	r.Falls = l.FallsTo(r.Name)
	r.Bad = r.Falls != ""
	if !r.Bad && !later {
		return r
	}
	if taught := l.taughtFall(strategy, code); taught != "" {
		r.Falls = taught
	}
	return r
}

// taughtFall is a scenario of the course to which a lock falls, if there is one: the first that shows a certain failure, or else
// the first. Holders who overlap while the resource refuses the late one's token are no such fall: the lock
// is for this case, and advice counts it for the lock, too.
func (l *Library) taughtFall(strategy int, code trace.Code) (first string) {
	lock := l.Strategies[strategy]
	for _, lesson := range l.Lessons {
		for _, step := range lesson.Steps {
			failures := step.Verdict.Failures()
			if step.Strategy != lock.Name || len(failures) == 0 || lock.Fences && slices.Equal(failures, trace.Verdict{trace.OV}) {
				continue
			}
			if slices.Contains(failures, code) {
				return step.Scenario
			}
			first = draw.Either(first == "", step.Scenario, first)
		}
	}
	return first
}

// FallsTo is the first scenario that a lock has to withstand whatever its use, and this one doesn't: "" if there is none,
// which alone makes no good lock.
func (l *Library) FallsTo(lock string) string {
	i := l.Strategy(lock)
	if i < 0 {
		return ""
	}
	name, _, _ := advice.Flaw(l.Strategies[i], func(scenario, lock string) (v trace.Verdict, known bool) {
		if sc := l.Named(scenario); sc >= 0 {
			return l.Scenarios[sc].Expect(lock)
		}
		return nil, false
	})
	return name
}

// whole reports whether each failure has a lock that shows none.
func whole(found Remedies, shown trace.Verdict) bool {
	return !slices.ContainsFunc(shown, func(c trace.Code) bool {
		r, any := found[c]
		return !any || !r.Stops()
	})
}

// unfenced is 0 for a lock with fencing tokens, and 1 for any other.
func (l *Library) unfenced(name string) int {
	if i := l.Strategy(name); i >= 0 && l.Strategies[i].Fences {
		return 0
	}
	return 1
}

// heldUpPastLease reports whether the script holds a client up until its lease is over: that is none of the script's misfortunes. It
// lets another act first that is refused under one lock, and asks again and again, and isn't under another.
func heldUpPastLease(t *trace.Trace) bool {
	s := t.NewState()
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind == trace.KindLapse && s.Clients[e.Client].Held {
			return true
		}
		s.Apply(e)
	}
	return false
}

// serversFail reports whether anything befalls a server in a run. Where nothing does, several servers
// withstand by accident a run that one doesn't: redlock takes servers that don't answer for a refusal, and a caller that
// goes ahead after errors doesn't go ahead after that.
func serversFail(t *trace.Trace) bool {
	return slices.ContainsFunc(t.Events, func(e trace.Event) bool {
		switch e.Kind {
		case trace.KindDown, trace.KindFailover, trace.KindNodeStep:
			return true
		}
		return e.Kind.Fault() && e.Node != trace.None && slices.ContainsFunc(e.Changes, func(c trace.Change) bool { return c.After == nil })
	})
}

// Stops reports whether the lock shows no failure at all.
func (r *Remedy) Stops() bool { return len(r.Still) == 0 }

// Betters reports whether no failure that the lock still shows is worse than the one that it doesn't.
func (r *Remedy) Betters() bool { return r.Stops() || r.Code < r.Still[0] }

// Recommended reports whether the lock can be ticked as the remedy: it shows no failure at all, and is not bad.
func (r *Remedy) Recommended() bool { return r.Stops() && !r.Bad }

// Text says which lock withstands the run, and recommends it for no other; or that it fails, too, and what it doesn't show. Of a
// lock that is bad, or comes later in the lesson, it says so, and what it falls to elsewhere.
func (r *Remedy) Text(key string) string {
	name := r.Name
	if r.Servers > 0 {
		name += fmt.Sprintf(" on %d servers", r.Servers)
	}
	if r.Later {
		name += ", shown later in this lesson,"
	}
	falls := ""
	if r.Falls != "" {
		falls = ", but still falls to " + r.Falls
	}
	switch {
	case !r.Stops():
		return fmt.Sprintf("%s shows no %s here, but %s: see why (%s).", name, r.Code, r.Still, key)
	case r.Later || r.Bad:
		return fmt.Sprintf("%s withstands this run%s (%s).", name, falls, key)
	}
	return fmt.Sprintf("Withstands this run: %s (%s).", name, key)
}
