package monitor

import "lockstep/sim/trace"

// Rule is the rule for one violation: the kinds of event on which it is checked, and its
// condition on the facts.
type Rule struct {
	Code trace.Code
	// On has the kinds of event on which the condition is checked. A command and a write
	// are judged by the facts before them, all other events by the facts after.
	On []trace.Kind
	// Broken is the condition. It returns the clients whose rights the actor violates, the
	// actor itself if the rule concerns no other client, or none.
	Broken func(f *Facts, actor int) Clients
	// Spared is a condition that is quick to check in a state, and under which the rule
	// can't be broken. Without one the search never treats such an event as local to a
	// client.
	Spared Condition
	// Elsewhere names the place that decides about a violation that is no condition on one
	// event, and the reason. Such a rule has no Broken.
	Elsewhere string
	// NotSearched is the reason why the exhaustive search omits the rule, if it does.
	NotSearched string

	// prove makes the violation. It takes the event by value: a pointer that is given to it
	// would have every event of every run escape to the heap.
	prove func(m *Monitor, e trace.Event, with Clients)
}

// Condition is a set of conditions under which a client's step is local to it.
type Condition uint8

// The conditions.
const (
	Unowned     Condition = 1 << iota // no record on any server is the client's
	Alone                             // no other client is in the critical section
	Undisturbed                       // its reading isn't outdated, no other client's is up to date, and none has touched the resource with a newer grant
)

// Rules has a rule for each violation, worst first.
var Rules = [...]Rule{
	{Code: trace.SW, On: []trace.Kind{trace.KindWrite}, Broken: staleWrite, Spared: Undisturbed, prove: (*Monitor).proveStaleWrite},
	{Code: trace.DG, On: []trace.Kind{trace.KindGranted, trace.KindExtended}, Broken: doubleGrant, prove: (*Monitor).proveDoubleGrant},
	{Code: trace.OV, On: []trace.Kind{trace.KindEnter}, Broken: overlap, Spared: Alone, prove: (*Monitor).proveOverlap},
	{Code: trace.FR, On: []trace.Kind{trace.KindExecute}, Broken: foreignRelease, prove: (*Monitor).proveForeignRelease},
	{Code: trace.PD, Elsewhere: "it is about the future: a further client asks at the end, by Monitor.NeverGranted in the engine and space.Explorer.DeadlockedIn in the search"},
	{Code: trace.LV, Elsewhere: "it is about the future: Monitor.livelock finds a situation that comes round again",
		NotSearched: "no schedule of a search shows it; if it is asked to, the search reads it off the graph of all its situations, when that has closed"},
	{Code: trace.GAP, On: []trace.Kind{trace.KindExtended}, Broken: brokenContinuity, prove: (*Monitor).proveBrokenContinuity},
	{Code: trace.FN, On: []trace.Kind{trace.KindRefused, trace.KindFailed}, Broken: falseRefusal, Spared: Unowned, prove: (*Monitor).proveFalseRefusal},
	{Code: trace.UA, Elsewhere: "it is about the future: a further client asks at the end, and Monitor.NeverGranted counts the servers that are up",
		NotSearched: "it takes servers that stay down, or a key with other data, and a search has neither"},
	{Code: trace.BD, Elsewhere: "it lasts: Monitor.refusal opens a spell of blocking, and Monitor.relief closes it",
		NotSearched: "every lease does it after a crash, and it is no failure"},
	{Code: trace.DN, Elsewhere: "it is about the future, as UA is: Monitor.NeverGranted tells the two apart",
		NotSearched: "in a search no server stays down, and it is no failure"},
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

// Searched returns the codes that the search looks for, worst first.
func Searched() (v trace.Verdict) {
	for i := range Rules {
		if Rules[i].NotSearched == "" {
			v = append(v, Rules[i].Code)
		}
	}
	return v
}

// Local reports whether an event of a client's own is local to it, and under which
// conditions: it changes only that client's facts, and can break no rule. As a write is judged by the
// facts before it, its conditions are on these.
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

// staleWrite: the writer's grant is older than that of another client that has already
// touched the resource, or another client has written since the writer read. A writer
// without the lock has no grant that could be older, but it can lose an update.
//
// A cache only goes wrong when it goes back to an older version. A rebuild doesn't depend on
// the cache, so an equal or newer version is harmless, however old the writer's grant is.
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

// overlap: two clients are inside the critical section, with or without live leases.
func overlap(f *Facts, actor int) (with Clients) {
	for i, o := range f.clients {
		if i != actor && o.Inside {
			with |= only(i)
		}
	}
	return with
}

// foreignRelease: the command touched the record of another client's acquisition that is
// unfinished or has led to a live lease. Taking over a dead record is legitimate, and so is
// writing the same record again.
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

// brokenContinuity: an extension reported success although the client had lost the lock
// when the extension's last command was executed.
func brokenContinuity(f *Facts, actor int) Clients {
	if c := f.clients[actor]; c.Lost && c.Extension != ExtensionHeld {
		return only(actor)
	}
	return 0
}

// falseRefusal: the client's own value is stored on as many servers as a holder needs, and
// Acquire refuses. Fewer records don't make a lock, but they may still block others.
func falseRefusal(f *Facts, actor int) Clients {
	if f.Owns(actor) {
		return only(actor)
	}
	return 0
}
