package behaviour

import (
	"sync/atomic"

	"lockstep/sim/explore/intern"
)

// Kept lists the tables in which clients' behaviour is known, those before others that refer to
// them. Everything else that is memoised is a function of these.
func (k *Clients) Kept() []intern.Kept {
	return []intern.Kept{k.commands.Kept(nil), k.Replies.Kept(nil), k.fields.Kept(nil), k.Reports.Kept(k.Reports.Add), k.histories.Kept(k.add),
		k.Outcomes.Kept(func(id uint32) {
			atomic.CompareAndSwapUint32(k.firstTransition.At(k.Outcomes.Entries.At(id).Key.From), 0, id)
		}), k.fresh.Kept(nil), k.draws.Kept(nil)}
}

// Untaken lists the ids of the transitions that no schedule has taken so far.
func (k *Clients) Untaken() (ids []uint32) {
	for id := uint32(1); id <= uint32(k.Outcomes.Len()); id++ {
		if u := k.Outcomes.Entries.At(id).Value.untaken; u != nil && u.Load() {
			ids = append(ids, id)
		}
	}
	return ids
}

// SetUntaken sets the transitions that no schedule has taken. No worker may run, and no
// transition may have been tried before.
func (k *Clients) SetUntaken(ids []uint32) {
	k.tokened.Store(true) // in another process, maybe
	for _, id := range ids {
		u := new(atomic.Bool)
		u.Store(true)
		k.Outcomes.Entries.At(id).Value.untaken = u
	}
}

// Kept lists the tables in which the servers' behaviour is known. They refer to those of the clients.
func (s *Servers) Kept() []intern.Kept {
	return []intern.Kept{s.snapshots.Kept(nil), s.answers.Kept(nil)}
}
