package behaviour

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// Unlike is the error of a lock for which other names make a difference. A search without a
// bound on cycles takes the names of tokens, and of clients, for interchangeable.
type Unlike struct {
	Client      string // its name
	Once, Again string // what follows equal observations under the two names, in words
	Source      trace.Source
}

// Error names the difference, and what to do.
func (u *Unlike) Error() string {
	return fmt.Sprintf("the lock does otherwise with other tokens%s: after the same observations but for the names of tokens and clients, %s once goes on with %s and once with %s; "+
		"a search without a bound on cycles needs code that compares tokens for nothing but equality: search within a bound on cycles", at(u.Source), u.Client, u.Once, u.Again)
}

// text returns a text with the tokens' new names.
func (k *Clients) text(s string, r *Renaming) string {
	var to []byte
	for i := 0; i < len(s); i++ {
		bit, nth, is := k.seriesAt(s[i:])
		if !is {
			continue
		}
		if to == nil {
			to = []byte(s)
		}
		copy(to[i:], k.tokens[r.Series[bit]][nth])
		i += tokenLength - 1
	}
	if to == nil {
		return s
	}
	return string(to)
}

// Command returns the id of a command under new names.
func (k *Clients) Command(id uint32, r *Renaming) uint32 {
	if id == 0 {
		return 0
	}
	return k.commands.ID(k.text(*k.commands.Value(id), r))
}

// Reply returns the id of a reply under new names.
func (k *Clients) Reply(id uint32, r *Renaming) uint32 {
	if id == 0 {
		return 0
	}
	return k.Replies.ID(k.text(*k.Replies.Value(id), r))
}

// renamed is the key of a history under new names: those of the client and of the series that
// the history knows, as others make no difference.
type renamed struct {
	history uint32
	client  uint8
	series  [AllSeries]uint8 // 0 for those that it doesn't know
}

// Rename returns the history of the client that history's client becomes, after the same
// observations under new names. It runs the lock's code where that isn't known yet, and fails
// with [Unlike] if the code goes on in another way.
func (k *Clients) Rename(id uint32, r *Renaming) (uint32, error) {
	h := k.At(id)
	to := r.Clients[h.client]
	if int(to) == h.client && r.keeps(h.Series|h.Own) {
		return id, nil
	}
	if h.parent == 0 {
		return k.Begin[to], nil
	}
	key := renamed{history: id, client: to}
	for bit := range (h.Series | h.Own).All {
		key.series[bit] = r.Series[bit] + 1
	}
	if known, is := k.renamed.Get(key); is {
		return *known, nil
	}
	from, err := k.Rename(h.parent, r)
	if err != nil {
		return 0, err
	}
	was, err := k.After(Transition{h.parent, h.thread, h.seen})
	if err != nil {
		return 0, err
	}
	out, err := k.After(Transition{from, h.thread, k.observed(h, r)})
	if err != nil {
		return 0, err
	}
	if unlike, thread := k.alike(was, out, r); unlike != nil {
		if p, err := k.take(id); err == nil {
			unlike.Source = k.lineAt(p, k.pathTo(id), thread)
			p.at = nowhere
			k.giveBack(p, nil)
		}
		return 0, unlike
	}
	k.renamed.Put(key, out.To)
	return out.To, nil
}

// observed returns what a client has observed last, under new names.
func (k *Clients) observed(h *History, r *Renaming) Observation {
	seen := h.seen
	switch seen.Kind {
	case SawReply:
		seen.Value = int64(k.Reply(uint32(seen.Value), r))
	case SawSeries:
		seen.Value = int64(r.Series[h.client*SeriesEach+int(seen.Value)]) % SeriesEach
	}
	return seen
}

// alike returns how the second outcome differs from the first under new names, and in which
// thread, or nil.
func (k *Clients) alike(was, is Outcome, r *Renaming) (u *Unlike, thread int) {
	a, b := k.At(was.To), k.At(is.To)
	for i := range int(max(a.Count, b.Count)) {
		p, q := a.plan(i), b.plan(i)
		if p.Command = k.Command(p.Command, r); p != q {
			return &Unlike{Client: k.name(a.client), Once: k.planText(p), Again: k.planText(q)}, i
		}
	}
	if !slices.Equal(*k.Reports.At(was.Reports), *k.Reports.At(is.Reports)) || a.Closed != b.Closed || a.Conns != b.Conns || a.Given != b.Given ||
		a.BetweenCycles != b.BetweenCycles || a.Over != b.Over || a.Read != b.Read || r.On(a.Series) != b.Series || r.On(a.Own) != b.Own {
		return &Unlike{Client: k.name(a.client), Once: "one report, deadline or connection", Again: "another"}, 0
	}
	return nil, 0
}

// Rename returns the id of a snapshot under new names.
func (s *Servers) Rename(id uint32, r *Renaming) uint32 {
	snap := *s.Snapshot(id)
	snap.Keys = slices.Clone(snap.Keys)
	for i := range snap.Keys {
		snap.Keys[i] = snap.Keys[i].Renamed(func(text string) string { return s.clients.text(text, r) })
	}
	slices.SortFunc(snap.Keys, func(a, b redis.Key) int { return strings.Compare(a.Name, b.Name) })
	snap.Peers = slices.Clone(snap.Peers)
	for i := range snap.Peers {
		peer := &snap.Peers[i]
		if client := peer.Conn >> 4; client < SeriesClients {
			peer.Conn = int(r.Clients[client])<<4 | peer.Conn&15
		}
		peer.Commands = slices.Clone(peer.Commands)
		for n, words := range peer.Commands {
			peer.Commands[n] = slices.Clone(words)
			for w, word := range words {
				peer.Commands[n][w] = s.clients.text(word, r)
			}
		}
	}
	slices.SortFunc(snap.Peers, func(a, b redis.OpenTxn) int { return a.Conn - b.Conn })
	return s.ID(snap)
}

// Alike does everything once more that the first n clients and the servers were seen to do:
// with the clients' names exchanged, and with those of the series of each. It fails with
// [Unlike] if that makes a difference. The histories are those that the search has reached.
func (s *Servers) Alike(histories []uint32, n int) error {
	for _, r := range Reversals(n) {
		for _, id := range histories {
			if id == 0 { // of a client that has crashed
				continue
			}
			if _, err := s.clients.Rename(id, r); err != nil {
				return err
			}
		}
		if err := s.unlike(r); err != nil {
			return err
		}
	}
	return nil
}

// unlike executes everything that was executed in the search once more under new names, and
// fails with [Unlike] unless what follows differs in nothing but names.
func (s *Servers) unlike(r *Renaming) error {
	executed := uint32(s.answers.Len())
	for id := uint32(1); id <= executed; id++ {
		entry := s.answers.Entries.At(id)
		q, was := entry.Key, entry.Value
		conn := q.Conn
		if client := conn >> 4; client < SeriesClients {
			conn = uint16(r.Clients[client])<<4 | conn&15
		}
		is, err := s.Run(Question{Snapshot: s.Rename(q.Snapshot, r), Conn: conn, Command: s.clients.Command(q.Command, r)})
		if err != nil {
			return err
		}
		was.Snapshot, was.Reply = s.Rename(was.Snapshot, r), s.clients.Reply(was.Reply, r)
		if was != is {
			words := unpack(*s.commands.Value(q.Command))
			return &Unlike{Client: "Redis", Once: fmt.Sprintf("%q", *s.replies.Value(was.Reply)),
				Again: fmt.Sprintf("%q to %s", *s.replies.Value(is.Reply), trace.CommandText(words))}
		}
	}
	return nil
}

// beginsWith refuses a lock that draws tokens when it is made: a client that takes the place
// of one that has crashed would draw the same.
func (k *Clients) beginsWith(r *replayer, client int) error {
	if tokens, _ := r.driver.Draws(); tokens > 0 && k.memory.Uncounted {
		return &Refusal{Client: k.name(client), What: "a token that is drawn when the lock is made",
			Why: "in a search without a bound on cycles each acquisition draws its own; draw it in Acquire, or search within a bound on cycles"}
	}
	return nil
}

// overdrawn refuses a cycle that draws more tokens than a series has.
func (k *Clients) overdrawn(r *replayer, client int) error {
	tokens, _ := r.driver.Draws()
	if !k.memory.Uncounted || tokens <= process.SeriesFrom+(r.series+1)*process.SeriesTokens {
		return nil
	}
	return &Refusal{Client: k.name(client), What: "so many tokens in one cycle",
		Why: fmt.Sprintf("without a bound on cycles it follows %d of a client; draw fewer, or search within a bound on cycles", process.SeriesTokens)}
}
