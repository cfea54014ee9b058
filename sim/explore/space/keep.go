package space

import (
	"slices"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/instants"
	"lockstep/sim/explore/intern"
)

// Kept lists the tables to whose ids packed states refer, those before others that refer to
// them. The memos are functions of these.
func (m *Model) Kept() []intern.Kept {
	t := m.ids
	return slices.Concat(m.Clients.Kept(), m.Servers.Kept(), []intern.Kept{t.inboxes.Kept(), t.helds.Kept(), t.sents.Kept(), t.reads.Kept(),
		t.worlds.Kept(nil), t.nodes.Kept(nil), t.clients.Kept(nil)})
}

// Known is a model's knowledge when a round begins, besides its tables.
type Known struct {
	Instants      instants.Set
	Budget        Budget
	Deeds         []behaviour.Deed
	Unprobed      int
	Probed, Early bool // see [behaviour.Servers.ExpireEarly]
	Lasting       bool // records stay to their end: see [Model.Digitize]
	Drops         bool // spans since readings on which, as Needs say, nothing depends
	Needs         behaviour.Needs
}

// Known returns the model's knowledge, for another process to Recall.
func (m *Model) Known() Known {
	k := Known{Instants: *m.instants, Budget: m.Budget, Deeds: m.deeds, Unprobed: m.Unprobed, Probed: m.Probed, Early: m.Servers.Early, Lasting: m.lasting}
	if k.Drops = m.habits.needs != nil; k.Drops {
		k.Needs = *m.habits.needs
	}
	return k
}

// Recall gives a new model the knowledge of another. Its tables are still to be restored.
func (m *Model) Recall(k Known) {
	m.instants, m.Budget, m.deeds, m.Unprobed, m.Probed, m.lasting = k.Instants.For(m.Clients), k.Budget, k.Deeds, k.Unprobed, k.Probed, k.Lasting
	if k.Early {
		m.Servers.ExpireEarly()
	}
	if m.forget(); k.Drops {
		m.habits.needs = &k.Needs
	}
}
