package behaviour

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/explore/driver"
	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/naming"
	"lockstep/sim/explore/readings"
	"lockstep/sim/trace"
)

// Retold runs what clients and servers were seen to do once more with tokens of other texts: so many first operations
// and commands and a few of each kind, for each way to choose tokens in [naming.Disguises]. It fails with [Unlike] if
// anything but these texts differs then: the lock looks into tokens. It ends early, with the cause, when ctx is done, as
// the histories of a lock that counts are long. It must not be called while workers run.
func (s *Servers) Retold(ctx context.Context, first int) (err error) {
	spare := make([][]*driver.Driver, len(s.clients.cfg.Clients)+1)
	outcomes, answers := s.clients.tellingOutcomes(first), s.tellingAnswers(first)
	disguises := naming.Disguises
	if !s.clients.tokened.Load() {
		disguises = disguises[:1] // nobody has tokens, so all ways are one
	}
	for _, d := range disguises {
		if err = s.retold(ctx, d, outcomes, answers, spare); err != nil {
			break
		}
	}
	for _, d := range slices.Concat(spare...) {
		err = errors.Join(err, d.Close())
	}
	return err
}

// retold is Retold with one of the disguises. It takes the drivers that are left, and leaves its own.
func (s *Servers) retold(ctx context.Context, d naming.Disguise, outcomes, answers []uint32, spare [][]*driver.Driver) error {
	clients, err := newClients(s.clients.cfg, s.clients.memory, d.Of, spare)
	if err != nil {
		return &Unlike{Client: s.clients.name(0), Once: "its first operation", Again: "an error (" + err.Error() + ")"}
	}
	defer clients.leave()
	other := newServers(s.Server, clients.cfg, clients, s.timed)
	r := &retelling{ctx: ctx, servers: s, to: other, disguise: d, histories: map[uint32]uint32{}}
	for _, id := range outcomes {
		e := s.clients.Outcomes.Entries.At(id)
		if e.Value.untaken != nil && e.Value.untaken.Load() {
			continue
		}
		if _, err := r.follow(e.Key); err != nil {
			return err
		}
	}
	return s.unlike(ctx, other, answers, r.text, func(conn int) int { return conn })
}

// tellingOutcomes chooses what clients run once more. A kind is what a client has done and seen, tokens and large
// numbers aside, since it began a cycle with alike fields: code may look into tokens in a place that is come to late.
func (k *Clients) tellingOutcomes(first int) []uint32 {
	var number readings.Numbering
	kinds := make([]uint32, k.histories.Count.Load())
	step := func(from uint32, thread uint8, seen Observation, to *History) uint32 {
		text := fmt.Appendf(nil, "%d %d %d ", kinds[from], thread, seen.Kind)
		if seen.Kind == SawReply {
			text = append(text, readings.Masked(*k.Replies.Value(uint32(seen.Value)), k.tokens.At)...)
		}
		for i := range int(to.Count) {
			p := to.plan(i)
			text = fmt.Appendf(text, " %d %d %s", p.Kind, p.Mark, readings.Masked(*k.commands.Value(p.Command), k.tokens.At))
		}
		return number.Of(string(text))
	}
	for id := uint32(1); int(id) < len(kinds); id++ {
		h := k.At(id)
		if kinds[id] = step(h.parent, h.thread, h.seen, h); h.BetweenCycles {
			kinds[id] = number.Of(readings.Masked(*k.fields.Value(h.fields), k.tokens.At))
		}
	}
	return readings.FewOfEach(k.Outcomes.Len(), first, func(id uint32) uint32 {
		e := k.Outcomes.Entries.At(id)
		return step(e.Key.From, e.Key.Thread, e.Key.Seen, k.At(e.Value.To))
	})
}

// tellingAnswers chooses which commands are executed once more. A kind is a command in a situation of its server.
func (s *Servers) tellingAnswers(first int) []uint32 {
	var number readings.Numbering
	return readings.FewOfEach(s.answers.Len(), first, func(id uint32) uint32 {
		q := s.answers.Entries.At(id).Key
		args := intern.Unpack(*s.commands.Value(q.Command)) // a script's digest is the second
		return number.Of(strings.Join(args[:min(2, len(args))], " ") + readings.Situation(args, *s.Snapshot(q.Snapshot), s.clients.tokens.At))
	})
}

// leave leaves the drivers to the next clients.
func (k *Clients) leave() {
	for client, replayers := range k.pool {
		for _, r := range replayers {
			if r.driver != nil {
				k.spare[client] = append(k.spare[client], r.driver)
			}
		}
	}
}

// retelling is a run of known histories with other tokens.
type retelling struct {
	ctx       context.Context
	servers   *Servers
	to        *Servers
	disguise  naming.Disguise
	histories map[uint32]uint32 // under the other tokens, of those that were asked for
}

// history returns what becomes of a history.
func (r *retelling) history(id uint32) (to uint32, err error) {
	to, known := r.histories[id]
	if known {
		return to, nil
	}
	h := r.servers.clients.At(id)
	if to = r.to.clients.Begin[h.client]; h.parent != 0 {
		to, err = r.follow(h.Came())
	}
	r.histories[id] = to
	return to, err
}

// follow makes a transition, and compares its outcome with the known one.
func (r *retelling) follow(tr Transition) (to uint32, err error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	k := r.servers.clients
	from, err := r.history(tr.From)
	if err != nil {
		return 0, err
	}
	was, err := k.After(tr)
	if err != nil {
		return 0, err
	}
	now := tr
	if now.From = from; tr.Seen.Kind == SawReply {
		now.Seen.Value = int64(r.to.replies.ID(r.text(*k.Replies.Value(uint32(tr.Seen.Value)))))
	}
	out, err := r.to.clients.After(now)
	var unlike *Unlike
	thread := int(tr.Thread)
	if err != nil {
		h := k.At(was.To)
		unlike = &Unlike{Client: k.name(h.client), Once: k.planText(h.plan(thread)), Again: "an error (" + err.Error() + ")"}
	} else {
		unlike, thread = k.unlike(was, r.to.clients, out, r.command)
	}
	if unlike == nil {
		return out.To, nil
	}
	if unlike.Source = k.lineAfter(was.To, thread); unlike.Source.File == "" && err == nil {
		unlike.Source = r.to.clients.lineAfter(out.To, thread)
	}
	return 0, unlike
}

// lineAfter finds the line that a thread has reached in a history.
func (k *Clients) lineAfter(id uint32, thread int) (at trace.Source) {
	p, err := k.take(id)
	if err != nil {
		return at
	}
	defer k.giveBack(p, nil)
	defer k.alone()()
	at = k.lineAt(p, k.pathTo(id), thread)
	p.at = nowhere
	return at
}

func (r *retelling) command(id uint32) uint32 {
	if id != 0 {
		id = r.to.commands.ID(r.text(*r.servers.commands.Value(id)))
	}
	return id
}

// text returns a text with the other tokens in place of those in it.
func (r *retelling) text(s string) string { return r.disguise.Text(s, r.servers.clients.tokens.At) }
