package behaviour

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/explore/driver"
	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/naming"
	"lockstep/sim/explore/places"
	"lockstep/sim/explore/readings"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/trace"
)

// Retold runs clients' operations and servers' commands once more with tokens of other texts: so many first operations
// and commands and a few of each kind, for each way to choose tokens in [naming.Disguises]. It fails with [Unlike] if
// anything but these texts differs then: the lock looks into tokens. It ends early, with the cause, when ctx is done, as
// the histories of a lock that counts are long. It must not be called while workers run.
func (s *Servers) Retold(ctx context.Context, first int) (err error) {
	spare := make([][]*driver.Driver, len(s.clients.cfg.Clients)+1)
	outcomes, answers := s.clients.tellingOutcomes(first), s.tellingAnswers(first)
	slices.Sort(outcomes) // that a client goes on from where it is, mostly
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
	clients.Finish(true)
	other := newServers(s.Server, clients.cfg, clients, s.timed)
	r := &retelling{servers: s, to: other, disguise: d, histories: map[uint32]counterpart{}}
	var least unfit.Least
	for _, id := range outcomes {
		if ctx.Err() != nil {
			return cmp.Or(least.Err(), context.Cause(ctx))
		}
		least.Add(r.follow(s.clients.Outcomes.Entries.At(id).Key).err)
	}
	if err := least.Err(); err != nil {
		return err
	}
	return s.unlike(ctx, other, answers, r.text, func(conn int) int { return conn })
}

// inOrder lists the transitions that schedules have taken: outwards from the clients' beginnings, and those from one history
// by their observations. Their ids depend on the workers' pace.
func (k *Clients) inOrder() (ids []uint32) {
	next := make([][]uint32, k.histories.Count.Load())
	for id := uint32(1); int(id) <= k.Outcomes.Len(); id++ {
		if e := k.Outcomes.Entries.At(id); e.Value.untaken == nil || !e.Value.untaken.Load() {
			next[e.Key.From] = append(next[e.Key.From], id)
		}
	}
	met := make([]bool, len(next))
	for queue := slices.Clone(k.Begin); len(queue) > 0; queue = queue[1:] {
		from := next[queue[0]]
		slices.SortFunc(from, k.byObservation)
		ids = append(ids, from...)
		for _, id := range from {
			if to := k.Outcomes.Entries.At(id).Value.To; !met[to] {
				met[to] = true
				queue = append(queue, to)
			}
		}
	}
	return ids
}

// byObservation compares two transitions from one history.
func (k *Clients) byObservation(a, b uint32) int {
	x, y := k.Outcomes.Entries.At(a).Key, k.Outcomes.Entries.At(b).Key
	if x.Thread == y.Thread && x.Seen.Kind == SawReply && y.Seen.Kind == SawReply {
		return strings.Compare(*k.Replies.Value(uint32(x.Seen.Value)), *k.Replies.Value(uint32(y.Seen.Value)))
	}
	return cmp.Or(cmp.Compare(x.Thread, y.Thread), cmp.Compare(x.Seen.Kind, y.Seen.Kind), cmp.Compare(x.Seen.Value, y.Seen.Value))
}

// tellingOutcomes chooses the transitions that clients run once more. A kind is a client's steps and observations, tokens
// and large numbers aside, since it began a cycle with alike fields: code may look into tokens in a place that is reached late.
func (k *Clients) tellingOutcomes(first int) []uint32 {
	ids := k.inOrder()
	if first >= len(ids) {
		return ids
	}
	var number readings.Numbering
	kinds, came := make([]uint32, k.histories.Count.Load()), make([]uint32, k.histories.Count.Load())
	return readings.FewOfEach(ids, first, func(id uint32) (kind uint32) {
		e := k.Outcomes.Entries.At(id)
		text := fmt.Appendf(nil, "%d %d %d ", kinds[e.Key.From], e.Key.Thread, e.Key.Seen.Kind)
		if e.Key.Seen.Kind == SawReply {
			text = append(text, places.Masked(*k.Replies.Value(uint32(e.Key.Seen.Value)), k.tokens.At)...)
		}
		to := k.At(e.Value.To)
		for i := range int(to.Count) {
			p := to.plan(i)
			text = fmt.Appendf(text, " %d %d %s", p.Kind, p.Mark, places.Masked(*k.commands.Value(p.Command), k.tokens.At))
		}
		kind = number.Of(string(text))
		if kinds[e.Value.To], came[e.Value.To] = kind, id; to.BetweenCycles { // it may have come another way
			kinds[e.Value.To], came[e.Value.To] = number.Of(places.Masked(*k.fields.Value(to.fields), k.tokens.At)), 0
		}
		return kind
	}, func(id uint32) uint32 { return came[k.Outcomes.Entries.At(id).Key.From] })
}

// tellingAnswers chooses which commands are executed once more. A kind is a command in a situation of its server. Those come
// first that were executed early, if that is known, or when the server had little.
func (s *Servers) tellingAnswers(first int) []uint32 {
	ids := make([]uint32, s.answers.Len())
	for i := range ids {
		ids[i] = uint32(i) + 1
	}
	if first >= len(ids) {
		return ids
	}
	slices.SortFunc(ids, func(a, b uint32) int {
		p, q := s.answers.Entries.At(a).Key, s.answers.Entries.At(b).Key
		x, y := s.snapshots.Entries.At(p.Snapshot), s.snapshots.Entries.At(q.Snapshot)
		return cmp.Or(cmp.Compare(x.Value.Millis, y.Value.Millis), cmp.Compare(len(x.Key), len(y.Key)), strings.Compare(x.Key, y.Key),
			cmp.Compare(p.Conn, q.Conn), strings.Compare(*s.commands.Value(p.Command), *s.commands.Value(q.Command)))
	})
	var number readings.Numbering
	return readings.FewOfEach(ids, first, func(id uint32) uint32 {
		q := s.answers.Entries.At(id).Key
		args := intern.Unpack(*s.commands.Value(q.Command)) // a script's digest is the second
		return number.Of(strings.Join(args[:min(2, len(args))], " ") + places.Situation(args, *s.Snapshot(q.Snapshot), s.clients.tokens.At).Text)
	}, func(uint32) uint32 { return 0 })
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
	servers   *Servers
	to        *Servers
	disguise  naming.Disguise
	histories map[uint32]counterpart // of those that were asked for
}

// counterpart is a history's equivalent under other tokens: another history, or an error if there is none.
type counterpart struct {
	id  uint32
	err error
}

// history returns the counterpart of a history.
func (r *retelling) history(id uint32) counterpart {
	to, known := r.histories[id]
	if known {
		return to
	}
	h := r.servers.clients.At(id)
	if to.id = r.to.clients.Begin[h.client]; h.parent != 0 {
		to = r.follow(h.Came())
	}
	r.histories[id] = to
	return to
}

// follow makes a transition, and compares its outcome with the known one.
func (r *retelling) follow(tr Transition) (to counterpart) {
	k := r.servers.clients
	from := r.history(tr.From)
	if from.err != nil {
		return from
	}
	was, err := k.After(tr)
	if err != nil {
		return counterpart{err: err}
	}
	now := tr
	if now.From = from.id; tr.Seen.Kind == SawReply {
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
		return counterpart{id: out.To}
	}
	if unlike.Source = k.lineAfter(was.To, thread); unlike.Source.File == "" && err == nil {
		unlike.Source = r.to.clients.lineAfter(out.To, thread)
	}
	return counterpart{err: unlike}
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
