package advice

import (
	"cmp"
	"slices"
	"strings"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Class is a kind of mishap, by the way to be spared it.
type Class int

const (
	Overrun   Class = iota // the lease ends while its holder works: no lock can prevent that
	Loss                   // a server loses data, or errs about the time
	Misuse                 // the program around the lock is wrong
	Stuck                  // nobody is granted the lock
	Unclassed              // none of these
)

// Text says what happens, as a clause: "the lease ends during the work".
func (c Class) Text() string {
	switch c {
	case Overrun:
		return "the lease ends during the work"
	case Loss:
		return "a server loses the record"
	case Misuse:
		return "the lock is misused"
	case Stuck:
		return "nobody gets the lock"
	}
	return "something else happens"
}

// mishap says in words what happens in some scenarios.
type mishap struct {
	text      string
	class     Class
	scenarios []string
	of        tokens // other locks fail there of something else
	setting   string // of a server, by which it doesn't happen; may be empty
}

// The settings of a server by which it keeps its data, and the time.
const (
	durable = "appendonly yes, appendfsync always"
	evictNo = "maxmemory-policy noeviction"
	slewing = "slew the clock, never step it"
)

// mishaps are those of all scenarios in which a lock that is recommended fails, by class, and of each the one that most have
// to reckon with first.
var mishaps = []mishap{
	{"a pause", Overrun, []string{pastLease, "pause-after-check", "pause-replies-in-flight", minted, setBack}, tokenless, ""},
	{"work that takes too long", Overrun, []string{"watchdog-dies", "stampede-slow"}, anyLock, ""},
	{"a holder that is cut off", Overrun, []string{"cut-off"}, anyLock, ""},
	{"a failover", Loss, failovers, tokenless, ""},
	{"a failover, which can lose the counter of tokens", Loss, failovers, fencing, ""},
	{"a restart or a power cut that loses data", Loss, []string{"restart-no-fsync", "power-cut", oneNode}, tokenless, durable},
	{"an eviction of the lock's record", Loss, []string{eviction}, anyLock, evictNo},
	{"a counter of tokens that is lost (in a restart or a power cut)", Loss, []string{"fence-lost", "restart-no-fsync", "power-cut"}, fencing, durable},
	{"a jump of a server's clock", Loss, []string{jump}, anyLock, slewing},
	{"a release or a commit at the wrong time", Misuse, []string{"worker-exit", "commit-after-release"}, anyLock, ""},
	{"clients that go on without the lock", Misuse, []string{"fail-open", "stampede-fallthrough"}, anyLock, ""},
	{"readers whom the resource doesn't check", Misuse, []string{"fenced-write-unfenced-read"}, fencing, ""},
	{"two clients that draw the same token", Misuse, []string{sameToken}, anyLock, ""},
	{"votes that keep splitting, where all retry after the same wait", Stuck, []string{"split-vote"}, anyLock, ""},
}

// tokens says whether a mishap is one of locks with fencing tokens, or of those without: in a scenario about tokens
// a lock that has none meets another mishap.
type tokens uint8

const (
	anyLock tokens = iota
	fencing
	tokenless
)

// applies reports whether a scenario is about something that the lock has: tokens, or a vote of which one server is left.
func applies(scenario string, lock strategies.Strategy) bool {
	switch scenario {
	case minted, "fence-lost", "fence-lost.always", "fenced-write-unfenced-read", "fenced-write-unfenced-read.both":
		return lock.Fences
	case oneNode:
		return lock.Nodes > 1
	}
	return true
}

func (t tokens) of(s strategies.Strategy) bool { return t == anyLock || (t == fencing) == s.Fences }

// mishapOf is the mishap of a lock in a scenario: nil if there are no words for it.
func mishapOf(scenario string, lock strategies.Strategy) *mishap {
	i := slices.IndexFunc(mishaps, func(m mishap) bool { return slices.Contains(m.scenarios, scenario) && m.of.of(lock) })
	if i < 0 {
		return nil
	}
	return &mishaps[i]
}

// Mishaps says in words what happens in some runs of the lock, each mishap once, in their order; and how many of the runs it has no
// words for.
func (a *Advice) Mishaps(runs []Run) (texts []string, wordless int) {
	met := map[*mishap]bool{}
	for _, r := range runs {
		m := mishapOf(r.Scenario, a.Lock)
		if met[m] = true; m == nil {
			wordless++
		}
	}
	for i := range mishaps {
		if met[&mishaps[i]] {
			texts = append(texts, mishaps[i].text)
		}
	}
	return texts, wordless
}

// Setting is the setting of a server that prevents the mishap in a run of the lock: "" if none is known.
func (a *Advice) Setting(r *Run) string {
	if m := mishapOf(r.Scenario, a.Lock); m != nil {
		return m.setting
	}
	return ""
}

// uncalled says why the answers don't call for runs in which the lock fails, by their causes: mishaps that a setting of a server
// prevents are named, with the setting if the whole is wanted. It is empty if there are none that have a reason.
func (a *Advice) uncalled(runs []Run, whole bool) string {
	var reasons, settings []string
	met := func(is func(m *mishap) bool) bool {
		return slices.ContainsFunc(runs, func(r Run) bool {
			m := mishapOf(r.Scenario, a.Lock)
			return len(r.Broken) > 0 && m != nil && is(m)
		})
	}
	if met(func(m *mishap) bool { return m.class == Overrun }) && slices.ContainsFunc(a.Runs, func(r Run) bool { return r.Scenario == pastLease }) {
		reasons = append(reasons, "other ways in which the lease ends during the work (the pause past it stands for them)")
	}
	if met(func(m *mishap) bool { return m.class == Misuse }) {
		reasons = append(reasons, "what the code around the lock can rule out")
	}
	for i := range mishaps {
		if m := &mishaps[i]; m.setting != "" && met(func(o *mishap) bool { return o == m }) {
			settings = append(settings, m.text+pick(whole, " ("+m.setting+")", ""))
		}
	}
	if settings != nil {
		reasons = append(reasons, "what a server's setup can rule out: "+trace.List(settings))
	}
	return either(reasons)
}

// Kind is a class of runs that no question is about, and its effect for the reader.
type Kind struct {
	Class
	To Effect
}

// Effect is a run's consequence for the reader.
type Effect int

const (
	Decisive  Effect = iota // the lock is enough as long as that doesn't happen
	Uncounted               // Decisive, as the counter of the lock's tokens is lost with its record
	Covered                 // two are at work, and with the lock's cure the same work is done once
	Versioned               // two are at work, and their work isn't a request that is sent twice: a version check keeps the harm away
	Accepted                // it costs work, which the answers accept
	Refused                 // it costs work, as the resource refuses late writes
)

// compare has those first that decide.
func (k Kind) compare(other Kind) int {
	return cmp.Or(cmp.Compare(k.To, other.To), cmp.Compare(k.Class, other.Class))
}

// Text says what happens in the runs of the kind, and what follows.
func (k Kind) Text() string {
	happens := k.Class.Text()
	follows := map[Effect]string{Decisive: "rule it out", Uncounted: "rule it out", Covered: "with the key, paid once", Versioned: "needs a version check", Accepted: "it costs only work", Refused: "it costs only work"}[k.To]
	switch {
	case k.To == Versioned: // whether it is late or misuse comes to the same
		happens = "a stale value is stored"
	case k.Class == Misuse && k.To != Covered:
		follows = "see that it isn't"
	case k.Class == Loss && k.To == Uncounted: // both begin alike and come to the opposite, so each names the difference
		happens = "a server loses the counter of tokens"
	case k.Class == Loss && k.To == Refused:
		happens = "a server loses the record alone"
	}
	return happens + "; " + follows
}

// Kind is that of one of the runs of Elsewhere.
func (a *Advice) Kind(r *Run) Kind {
	class := Unclassed
	if m := mishapOf(r.Scenario, a.Lock); m != nil {
		class = m.class
	}
	switch {
	case len(r.Broken) == 0 && a.Lock.Fences:
		return Kind{class, Refused}
	case len(r.Broken) == 0:
		return Kind{class, Accepted}
	case a.covers(r) && slices.Contains(changes, r.Scenario):
		return Kind{class, Versioned}
	case a.covers(r):
		return Kind{class, Covered}
	case class == Loss && a.Lock.Fences:
		return Kind{class, Uncounted}
	}
	return Kind{class, Decisive}
}

// changes are the scenarios in which a value goes wrong that is computed and then stored, in a cache or a transaction. A key, by
// which a request is known again, does nothing for that.
var changes = []string{"stampede-slow", "stampede-fallthrough", "commit-after-release"}

// covers reports whether a run shows nothing that does harm any more with the lock's cure. By the answers that are
// given then no second effect does: it matters only whether somebody gets the lock.
func (a *Advice) covers(r *Run) bool {
	if a.Cured() == "" {
		return false
	}
	return !slices.ContainsFunc(r.Broken, func(c trace.Code) bool { return c == trace.PD || c == trace.LV })
}

// classes are the mishaps of some runs, by class: "the lease ends during the work (a pause, a holder that is cut off)". They can do
// without the mishaps.
func (a *Advice) classes(runs []Run, whole bool) (all []string) {
	for c := Overrun; c < Unclassed; c++ {
		its := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return a.Kind(&r).Class != c })
		if texts, _ := a.Mishaps(its); texts != nil {
			all = append(all, c.Text()+pick(whole, " ("+strings.Join(texts, ", ")+")", ""))
		}
	}
	return all
}
