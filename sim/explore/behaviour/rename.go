package behaviour

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/naming"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// Command returns the id of a command under new names.
func (k *Clients) Command(id uint32, r *naming.Renaming) uint32 {
	if id == 0 {
		return 0
	}
	return k.commands.ID(k.tokens.Renamed(*k.commands.Value(id), r))
}

// Reply returns the id of a reply under new names.
func (k *Clients) Reply(id uint32, r *naming.Renaming) uint32 {
	if id == 0 {
		return 0
	}
	return k.Replies.ID(k.tokens.Renamed(*k.Replies.Value(id), r))
}

// SeriesInCommand returns the series of which tokens occur in a command.
func (k *Clients) SeriesInCommand(id uint32) naming.SeriesSet { return *k.commands.Summary(id) }

// SeriesInReply returns the series of which tokens occur in a reply.
func (k *Clients) SeriesInReply(id uint32) naming.SeriesSet {
	return k.tokens.Series(k.Replies.Value(id))
}

// renamed is the key of a history under new names: those of the client and of the series that
// the history knows, as others make no difference. Within a bound on cycles it isn't followed of
// which clients it knows, and the key has the names of all.
type renamed struct {
	history uint32
	client  uint8
	series  [naming.AllSeries]uint8 // 0 for those that it doesn't know
}

// Rename returns the history of the client that history's client becomes, after the same observations under new names. It
// runs the lock's code where that isn't known yet, and fails with [Unlike] if the code goes on in another way.
func (k *Clients) Rename(id uint32, r *naming.Renaming) (uint32, error) {
	h := k.At(id)
	to := r.Client(h.client)
	if to == h.client && k.memory.Uncounted && r.Keeps(h.Series|h.Own) {
		return id, nil
	}
	if h.parent == 0 {
		if unlike, _ := k.alike(Outcome{To: id}, Outcome{To: k.Begin[to]}, r); unlike != nil {
			return 0, unlike
		}
		return k.Begin[to], nil
	}
	key := renamed{history: id, client: uint8(to)}
	for bit := range (h.Series | h.Own).All {
		key.series[bit] = r.Series[bit] + 1
	}
	if !k.memory.Uncounted {
		copy(key.series[:], r.Clients[:])
	}
	if known, is := k.renamed.Get(key); is {
		return *known, nil
	}
	if err, none := k.unrenamed.Load(key); none {
		return 0, err.(error)
	}
	out, err := k.renamedAfter(h.Came(), r)
	if err != nil {
		k.unrenamed.Store(key, err)
		return 0, err
	}
	k.renamed.Put(key, out.To)
	return out.To, nil
}

// renamedAfter returns the outcome of a transition under new names.
func (k *Clients) renamedAfter(tr Transition, r *naming.Renaming) (Outcome, error) {
	from, err := k.Rename(tr.From, r)
	if err != nil {
		return Outcome{}, err
	}
	was, err := k.After(tr)
	if err != nil {
		return Outcome{}, err
	}
	out, err := k.After(Transition{from, tr.Thread, k.observed(k.At(tr.From).client, tr.Seen, r)})
	if err != nil {
		return Outcome{}, err
	}
	if unlike, thread := k.alike(was, out, r); unlike != nil {
		unlike.Source = k.lineAfter(was.To, thread)
		return Outcome{}, unlike
	}
	return out, nil
}

// observed returns a client's observation under new names.
func (k *Clients) observed(client int, seen Observation, r *naming.Renaming) Observation {
	switch seen.Kind {
	case SawReply:
		seen.Value = int64(k.Reply(uint32(seen.Value), r))
	case SawSeries:
		seen.Value = int64(r.Series[client*naming.SeriesEach+int(seen.Value)]) % naming.SeriesEach
	}
	return seen
}

// Interchange makes the nth transition once more that was made, with clients' names exchanged, if a schedule has taken it.
// It fails with [Unlike] if it doesn't lead to the same under these names: also between two cycles, where many lead to one
// history, and that has come of the first of them alone.
func (k *Clients) Interchange(n uint32, r *naming.Renaming) error {
	e := k.Outcomes.Entries.At(n)
	if e.Value.untaken != nil && e.Value.untaken.Load() {
		return nil
	}
	out, err := k.renamedAfter(e.Key, r)
	if err != nil {
		return err
	}
	to, err := k.Rename(e.Value.To, r)
	if err == nil && to != out.To {
		return k.another(k.At(to))
	}
	return err
}

// alike returns how the second outcome differs from the first under new names, and in which thread, or nil.
func (k *Clients) alike(was, is Outcome, r *naming.Renaming) (u *Unlike, thread int) {
	u, thread = k.unlike(was, k, is, func(id uint32) uint32 { return k.Command(id, r) })
	if a, b := k.At(was.To), k.At(is.To); u == nil && (r.On(a.Series) != b.Series || r.On(a.Own) != b.Own) {
		u = k.another(a)
	}
	return u, thread
}

// unlike returns how an outcome of the other clients differs from one of these, apart from the
// names in commands, and in which thread; or nil. A command of these has another id with those.
func (k *Clients) unlike(was Outcome, other *Clients, is Outcome, command func(uint32) uint32) (u *Unlike, thread int) {
	a, b := k.At(was.To), other.At(is.To)
	for i := range int(max(a.Count, b.Count)) {
		p, q := a.plan(i), b.plan(i)
		if p.Command = command(p.Command); p != q {
			return &Unlike{Client: k.name(a.client), Once: other.planText(p), Again: other.planText(q)}, i
		}
	}
	if !slices.Equal(*k.Reports.At(was.Reports), *other.Reports.At(is.Reports)) || a.Closed != b.Closed || a.Conns != b.Conns || a.Given != b.Given ||
		a.BetweenCycles != b.BetweenCycles || a.Over != b.Over || a.Read != b.Read {
		return k.another(a), 0
	}
	return nil, 0
}

// another is how a history differs from one with equal operations.
func (k *Clients) another(h *History) *Unlike {
	return &Unlike{Client: k.name(h.client), Once: "one report, deadline, connection or field", Again: "another"}
}

// Rename returns the id of a snapshot under new names.
func (s *Servers) Rename(id uint32, r *naming.Renaming) uint32 {
	return s.ID(s.Snapshot(id).Renamed(func(text string) string { return s.clients.tokens.Renamed(text, r) }, r.Conn))
}

// Alike does everything once more that the first n clients and the servers were seen to do: with tokens that provoke a
// difference (see [Servers.Retold]), with the clients' names exchanged, and with those of the series of each. It fails
// with [Unlike] if that makes a difference, and with the cause when ctx is done before. The histories are those that
// the search has reached.
func (s *Servers) Alike(ctx context.Context, histories []uint32, n int) error {
	if err := s.Retold(ctx, math.MaxInt); err != nil {
		return err
	}
	reversals := naming.Reversals(n)
	for _, r := range reversals {
		var least unfit.Least
		for _, id := range histories {
			if id == 0 { // of a client that has crashed
				continue
			}
			if ctx.Err() != nil {
				return cmp.Or(least.Err(), context.Cause(ctx))
			}
			_, err := s.clients.Rename(id, r)
			least.Add(err)
		}
		if err := least.Err(); err != nil {
			return err
		}
	}
	return s.Interchanged(ctx, reversals[:])
}

// Interchanged has servers do everything once more that they were seen to do, with the clients' names exchanged in these
// ways, and fails with [Unlike] if that makes a difference: they execute commands, and tell subscribers which keys have
// gone, of several at once in the order of their names. It must not be called while commands are executed.
func (s *Servers) Interchanged(ctx context.Context, ways []*naming.Renaming) error {
	all := s.tellingAnswers(math.MaxInt)
	for _, r := range ways {
		text := func(text string) string { return s.clients.tokens.Renamed(text, r) }
		if err := cmp.Or(s.unlike(ctx, s, all, text, r.Conn), s.toldUnlike(text, r.Conn)); err != nil {
			return err
		}
	}
	return nil
}

// toldUnlike fails with [Unlike] unless subscribers are told the same of keys that have gone by themselves, under other
// names.
func (s *Servers) toldUnlike(text func(string) string, conn func(int) int) error {
	renamed := func(id uint32) uint32 { return s.ID(s.Snapshot(id).Renamed(text, conn)) }
	same := func(was, is Aged) bool {
		return is == Aged{Snapshot: renamed(was.Snapshot), Expired: was.Expired, Sent: s.renamedMessages(was.Sent, s, text, conn)}
	}
	differs := &Unlike{Client: "Redis", Once: "messages about keys that have gone", Again: "others"}
	for id := range uint32(s.aged.Len()) {
		e := s.aged.Entries.At(id + 1)
		if e.Value.Sent != 0 && !same(e.Value, s.Age(renamed(e.Key.snapshot), e.Key.by)) {
			return differs
		}
	}
	for id := range uint32(s.snapshots.Len()) {
		if s.Subscribers(id+1) > 0 && !same(s.Evicted(id+1), s.Evicted(renamed(id+1))) {
			return differs
		}
	}
	return nil
}

// unlike executes some of the search's commands once more on other servers, under other names, and fails with [Unlike]
// unless the answers differ in nothing but names: with the least error, as the ids of questions depend on the pace of
// the workers that have asked them.
func (s *Servers) unlike(ctx context.Context, other *Servers, answers []uint32, text func(string) string, conn func(int) int) error {
	renamed := func(id uint32) uint32 { return other.ID(s.Snapshot(id).Renamed(text, conn)) }
	var least unfit.Least
	for _, id := range answers {
		if ctx.Err() != nil {
			return cmp.Or(least.Err(), context.Cause(ctx))
		}
		entry := s.answers.Entries.At(id)
		q, was := entry.Key, entry.Value
		is, err := other.Run(Question{Snapshot: renamed(q.Snapshot), Conn: uint16(conn(int(q.Conn))), Command: other.commands.ID(text(*s.commands.Value(q.Command)))})
		least.Add(err)
		was.Snapshot, was.Reply = renamed(was.Snapshot), other.replies.ID(text(*s.replies.Value(was.Reply)))
		was.Sent = s.renamedMessages(was.Sent, other, text, conn)
		if err == nil && was != is {
			words := intern.Unpack(*s.commands.Value(q.Command))
			least.Add(&Unlike{Client: "Redis", Once: fmt.Sprintf("%q", *other.replies.Value(was.Reply)),
				Again: fmt.Sprintf("%q to %s", *other.replies.Value(is.Reply), trace.CommandText(words))})
		}
	}
	return least.Err()
}

// beginsWith refuses a lock that draws tokens when it is made: a client that takes the place
// of one that has crashed would draw the same.
func (k *Clients) beginsWith(r *replayer, client int) error {
	tokens, _ := r.driver.Draws()
	if k.tokened.CompareAndSwap(false, tokens > 0); tokens > 0 && k.memory.Uncounted {
		return &Refusal{Client: k.name(client), What: "a token that is drawn when the lock is made",
			Why: "in a search without a bound on cycles each acquisition draws its own; draw it in Acquire, or search within a bound on cycles"}
	}
	return nil
}

// overdrawn refuses a cycle that draws more tokens than a series has.
func (k *Clients) overdrawn(r *replayer, client int) error {
	tokens, _ := r.driver.Draws()
	if k.tokened.CompareAndSwap(false, tokens > 0); !k.memory.Uncounted || tokens <= process.SeriesFrom+(r.series+1)*process.SeriesTokens {
		return nil
	}
	return &Refusal{Client: k.name(client), What: "so many tokens in one cycle",
		Why: fmt.Sprintf("without a bound on cycles it follows %d of a client; draw fewer, or search within a bound on cycles", process.SeriesTokens)}
}
