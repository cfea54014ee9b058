package monitor

import (
	"math/bits"

	"lockstep/sim/trace"
)

// Clients is a set of clients, one bit each.
type Clients uint32

func only(client int) Clients { return 1 << client }

// Facts is the view on which the rules decide. The caller owns the clients and owners that it
// points to: in the engine the monitor does, in the search the packed state.
type Facts struct {
	Quorum   int  // the number of servers whose records make a lock
	Counter  bool // the record counts attempts, so a changed value is not a new owner
	Workload trace.Workload
	Cached   int64 // of a cache: the version that it has

	clients []*Client
	owners  []*Owner // of the lock's record, by address
	act     act
	broken  []Finding
}

// act is the event to be judged: the details, besides the actor, that rules use.
type act struct {
	owner  Owner        // of a command: the owner of the record before it
	effect trace.Effect // of a command: on that record
	value  int64        // of a write: the value stored
}

// Finding is a rule that an event broke.
type Finding struct {
	*Rule
	// With has the clients whose rights were violated, or the actor if the rule concerns
	// no other client.
	With Clients
}

// NewFacts returns a view of the clients, and of the owners of the lock's record by address.
// The caller goes on to own both.
func NewFacts(clients []*Client, owners []*Owner) *Facts {
	return &Facts{clients: clients, owners: owners}
}

// Execution is a command that a server executes.
type Execution struct {
	Client int
	N      uint16 // of the acquisition to which the command belongs
	Phase  trace.Phase
	Copy   bool  // the command had arrived before, and has no second reply
	Dead   bool  // the process that sent it has crashed, and another is this client now, whose record isn't its own
	Owner  Owner // the owner of the lock's record on that server
	Effect trace.Effect
}

// Told applies an event of a client's own, and returns the rules that it breaks. The slice is
// valid until the next transition. A client that begins an acquisition, or crashes, may
// leave a gap in the ranks.
func (f *Facts) Told(client int, kind trace.Kind, live bool) []Finding {
	c := f.clients[client]
	c.Told(kind, live)
	if kind == trace.KindGranted { // the record may have been lost while the reply was in flight
		c.Lost = !f.Owns(client)
	}
	broken := f.check(kind, client)
	if kind == trace.KindExtended {
		c.Extension = NoExtension
	}
	return broken
}

// Executed applies a command's execution, except for the new owner of the record: the caller
// stores the owner that is returned, and then calls [Facts.Recount]. ranked says that the
// client's grant, if there will be one, is ordered by this command. The findings are valid
// until the next transition.
func (f *Facts) Executed(x *Execution) (owner Owner, ranked bool, broken []Finding) {
	c := f.clients[x.Client]
	own := !x.Copy && c.current(x.N)
	if own && x.Phase == trace.PhaseExtend {
		if c.Extension = ExtensionHeld; c.Lost {
			c.Extension = ExtensionTooLate
		}
	}
	f.act.owner, f.act.effect = x.Owner, x.Effect
	actor := x.Client
	if x.Dead {
		actor = trace.None
	}
	broken = f.check(trace.KindExecute, actor)
	owner = x.Owner
	switch {
	case !x.Effect.Touched:
	case !x.Effect.After:
		owner = Nobody
	case x.Effect.ChangesHands(f.Counter):
		owner = Owner{int16(x.Client), x.N}
		ranked = own && (!c.Granted || x.Phase == trace.PhaseExtend)
	}
	switch {
	case ranked:
		c.Granter, c.Asked = f.newest(), 0
		f.CanonicaliseRanks()
	case own && x.Phase == trace.PhaseAcquire && c.Granter == 0:
		if newest := f.newest(); c.Asked == 0 || c.Asked+1 != newest { // or it is the newest already
			c.Asked = newest
			f.CanonicaliseRanks()
		}
	}
	return owner, ranked, broken
}

// Accessed applies an access that the resource has accepted, and returns the rules that it
// breaks. value is the value that a write stores. The findings are valid until the next
// transition.
func (f *Facts) Accessed(client int, write bool, value int64) (broken []Finding) {
	c := f.clients[client]
	if write {
		f.act.value = value
		broken = f.check(trace.KindWrite, client)
		f.Cached = value
		for i, o := range f.clients {
			if i != client && o.Reading == UpToDate {
				o.Reading = Outdated
			}
		}
	}
	c.Accessed(write)
	f.CanonicaliseRanks()
	return broken
}

// Recount sets Lost of the believers that have lost too many of their records. The caller
// calls it whenever a record has another owner, or an address another server.
func (f *Facts) Recount() {
	for i, c := range f.clients {
		if c.Believes && !c.Lost && !f.Owns(i) {
			c.Lost = true
		}
	}
}

// Regained clears a client's Lost: its record was on a disk or on a replica all the time, and
// no other client could have got the lock meanwhile.
func (f *Facts) Regained(client int) {
	c := f.clients[client]
	c.Lost = false
	if c.Extension == ExtensionTooLate {
		c.Extension = ExtensionHeld
	}
}

// Owns reports whether enough servers hold the record of a client's current acquisition.
func (f *Facts) Owns(client int) bool {
	own, n := Owner{int16(client), f.clients[client].Acquired}, 0
	for _, o := range f.owners {
		if *o == own {
			n++
		}
	}
	return n >= f.Quorum
}

// under reports whether an acquisition is still its client's current one, and either
// unfinished or the source of a lease that is live.
func (f *Facts) under(o Owner) bool {
	if o.Client == trace.None {
		return false
	}
	c := f.clients[o.Client]
	return c.current(o.N) && (c.Phase == trace.PhaseAcquire || c.Live)
}

// CanonicaliseRanks numbers the grants that still matter from 1, in their order. There are
// at most three for each client. It reports whether any number has changed.
func (f *Facts) CanonicaliseRanks() (changed bool) {
	var used uint32
	for _, c := range f.clients {
		used |= c.Ranks()
	}
	if used |= 1; used&(used+1) == 0 {
		return false
	}
	for _, c := range f.clients {
		c.CloseRanks(used)
	}
	return true
}

// dense returns a rank's place among the ranks in use.
func dense(used uint32, r Rank) Rank { return Rank(bits.OnesCount32(used & (1<<r - 1))) }

// newest returns a rank above all others.
func (f *Facts) newest() Rank {
	top := Rank(0)
	for _, c := range f.clients {
		top = max(top, c.Granter, c.Asked, c.Touched)
	}
	return top + 1
}

// check returns the rules on this kind of event that are broken.
func (f *Facts) check(kind trace.Kind, client int) []Finding {
	f.broken = f.broken[:0]
	for _, r := range rulesOn[kind] {
		if with := r.Broken(f, client); with != 0 {
			f.broken = append(f.broken, Finding{r, with})
		}
	}
	return f.broken
}
