package monitor

import "lockstep/sim/trace"

// Rule is one violation: when it is looked for, and by what condition on the facts it is
// there.
type Rule struct {
	Code trace.Code
	// On are the kinds of event at which the condition is looked at. A command and a
	// write are judged by the facts before them, all else by those after.
	On []trace.Kind
	// Broken is the condition: the clients whose rights the actor violates, or the actor
	// itself where it is about nobody else, or none.
	Broken func(f *Facts, actor int) Clients
	// Spared is a condition that can be read off a state quickly, and under which the rule
	// can't be broken. Without one the search never takes such an event for a client's own
	// business.
	Spared Condition
	// Elsewhere says who decides about a violation that isn't a condition on one event, and
	// why. Such a rule has no Broken.
	Elsewhere string
	// NotSearched says why the exhaustive search doesn't look for it, if it doesn't.
	NotSearched string

	// prove makes the violation. It takes the event by value: a pointer that is given to it
	// would have every event of every run escape to the heap.
	prove func(m *Monitor, e trace.Event, with Clients)
}

// Condition is a set of conditions under which a client's own step is nobody else's
// business.
type Condition uint8

// The conditions.
const (
	Unowned Condition = 1 << iota // no record on any server is the client's
	Alone                         // nobody else is in the critical section
)

// Rules are all violations, worst first.
var Rules = [...]Rule{
	{Code: trace.SW, On: []trace.Kind{trace.KindWrite}, Broken: staleWrite, prove: (*Monitor).proveStaleWrite},
	{Code: trace.DG, On: []trace.Kind{trace.KindGranted, trace.KindExtended}, Broken: doubleGrant, prove: (*Monitor).proveDoubleGrant},
	{Code: trace.OV, On: []trace.Kind{trace.KindEnter}, Broken: overlap, Spared: Alone, prove: (*Monitor).proveOverlap},
	{Code: trace.FR, On: []trace.Kind{trace.KindExecute}, Broken: foreignRelease, prove: (*Monitor).proveForeignRelease},
	{Code: trace.PD, Elsewhere: "it is about the future: a further client asks at the end, by Monitor.Deadlocked in the engine and explorer.deadlocked in the search"},
	{Code: trace.LV, Elsewhere: "it is about the future: Monitor.livelock finds a situation that comes round again",
		NotSearched: "the search joins histories that come to the same situation, so it has no order in which one could come round again"},
	{Code: trace.GAP, On: []trace.Kind{trace.KindExtended}, Broken: brokenContinuity, prove: (*Monitor).proveBrokenContinuity},
	{Code: trace.FN, On: []trace.Kind{trace.KindRefused, trace.KindFailed}, Broken: falseRefusal, Spared: Unowned, prove: (*Monitor).proveFalseRefusal},
	{Code: trace.BD, Elsewhere: "it lasts: Monitor.refusal opens a spell of blocking, and Monitor.relief closes it",
		NotSearched: "every lease does it after a crash, and it is no failure"},
}

// rulesOn are the rules by the kind of event that they look at.
var rulesOn = byKind()

func byKind() (on [1 << 8][]*Rule) {
	for i := range Rules {
		for _, kind := range Rules[i].On {
			on[kind] = append(on[kind], &Rules[i])
		}
	}
	return on
}

// Searched are the codes that the search looks for, worst first.
func Searched() (v trace.Verdict) {
	for i := range Rules {
		if Rules[i].NotSearched == "" {
			v = append(v, Rules[i].Code)
		}
	}
	return v
}

// Local reports whether an event that a client lets be known is its own business, and
// under which conditions: it changes nothing but that client's facts, and can break no
// rule.
func Local(kind trace.Kind) (under Condition, local bool) {
	if kind == trace.KindGranted {
		return 0, false // whether it has lost its records already depends on the servers
	}
	for _, r := range rulesOn[kind] {
		if r.Spared == 0 {
			return 0, false
		}
		under |= r.Spared
	}
	return under, true
}

// staleWrite: the writer's grant is older than that of another client that has touched
// the resource already, or somebody has written since the writer read. A writer that went
// ahead without the lock has no grant that could be older, but it can lose an update.
//
// A cache only goes wrong when it goes back to an older version. A rebuild depends on
// nothing in the cache, so the same version again, or a newer one, harms nobody, however
// old the writer's grant is.
func staleWrite(f *Facts, actor int) (with Clients) {
	c := f.clients[actor]
	if f.Workload == trace.Cache {
		if f.act.value < f.Cached {
			return only(actor)
		}
		return 0
	}
	if c.Granted {
		for i, o := range f.clients {
			if i != actor && o.Touched > c.Granter {
				with |= only(i)
			}
		}
	}
	if with == 0 && c.Reading == Outdated {
		return only(actor)
	}
	return with
}

// doubleGrant: two clients' leases are live at one instant. Leases are half-open
// intervals, [granted, ended), and a lease ends before anything else happens at that
// instant: so a grant at the very deadline of another lease is in order.
func doubleGrant(f *Facts, actor int) (with Clients) {
	if !f.clients[actor].Live {
		return 0
	}
	for i, o := range f.clients {
		if i != actor && o.Live {
			with |= only(i)
		}
	}
	return with
}

// overlap: two clients are inside the critical section, whatever their leases say.
func overlap(f *Facts, actor int) (with Clients) {
	for i, o := range f.clients {
		if i != actor && o.Inside {
			with |= only(i)
		}
	}
	return with
}

// foreignRelease: the command touched a record of another's acquisition that is under way
// or has led to a live lease. Taking over a dead record is legitimate, and so is writing
// the same record again.
func foreignRelease(f *Facts, actor int) Clients {
	e, owner := f.act.effect, f.act.owner
	if !e.Before || int(owner.Client) == actor || !f.under(owner) {
		return 0
	}
	if !e.After || (e.Stored || e.Changed) && !f.Counter || e.Longer || e.Shorter {
		return only(int(owner.Client))
	}
	return 0
}

// brokenContinuity: an extension reported success although the lock had been out of the
// client's hands when its last command was executed.
func brokenContinuity(f *Facts, actor int) Clients {
	if c := f.clients[actor]; c.Lost && c.Extension != ExtensionHeld {
		return only(actor)
	}
	return 0
}

// falseRefusal: the client's own value is stored, on as many servers as a holder needs,
// and it is told that it has not got the lock. Fewer records don't make a lock, but they
// may still block others.
func falseRefusal(f *Facts, actor int) Clients {
	if f.Owns(actor) {
		return only(actor)
	}
	return 0
}
