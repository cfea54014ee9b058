package behaviour

import (
	"errors"
	"slices"
	"strings"

	"lockstep/sim/explore/driver"
	"lockstep/sim/explore/naming"
	"lockstep/sim/trace"
)

// Retold runs what clients and servers were seen to do once more with tokens of other texts, up
// to so many operations and commands, for each way to choose them in [naming.Disguises]. It fails with
// [Unlike] if anything but these texts differs then: the lock, or a script of its, looks into
// tokens. It must not be called while workers run.
func (s *Servers) Retold(most int) (err error) {
	spare := make([][]*driver.Driver, len(s.clients.cfg.Clients)+1)
	for _, d := range naming.Disguises {
		if err = s.retold(d, most, spare); err != nil {
			break
		}
	}
	for _, d := range slices.Concat(spare...) {
		err = errors.Join(err, d.Close())
	}
	return err
}

// retold is Retold with one of the disguises. It takes the drivers that are left, and leaves its own.
func (s *Servers) retold(d naming.Disguise, most int, spare [][]*driver.Driver) error {
	clients, err := newClients(s.clients.cfg, s.clients.memory, d.Of, spare)
	if err != nil {
		return &Unlike{Client: s.clients.name(0), Once: "its first operation", Again: "an error (" + err.Error() + ")"}
	}
	defer clients.leave()
	other := newServers(s.Server, clients.cfg, clients, s.timed)
	r := &retelling{servers: s, to: other, disguise: d, histories: map[uint32]uint32{}}
	outcomes := s.clients.Outcomes
	for id := range uint32(min(most, outcomes.Len())) {
		e := outcomes.Entries.At(id + 1)
		if e.Value.untaken != nil && e.Value.untaken.Load() {
			continue
		}
		if _, err := r.follow(e.Key); err != nil {
			return err
		}
	}
	return s.unlike(other, uint32(min(most, s.answers.Len())), r.text, func(conn int) int { return conn })
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
	if id == 0 {
		return 0
	}
	return r.to.commands.ID(r.text(*r.servers.commands.Value(id)))
}

// text returns a text with the other tokens in place of those in it.
func (r *retelling) text(s string) string {
	var to []byte
	for i := 0; i < len(s); i++ {
		n := r.servers.clients.tokenAt(s[i:])
		if n == 0 {
			continue
		}
		if to == nil {
			to = []byte(s)
		}
		copy(to[i:], r.disguise.Of(s[i:i+n]))
		i += n - 1
	}
	if to == nil {
		return s
	}
	return string(to)
}

// tokenAt returns the length of the token with which a text begins, or 0: the name of a client,
// a number, a dash, and four hexadecimal digits.
func (k *Clients) tokenAt(s string) int {
	n := 1
	switch {
	case s == "":
		return 0
	case strings.HasPrefix(s, trace.Probe):
		n = len(trace.Probe)
	case k.byName[s[0]] == 0:
		return 0
	}
	digits := n
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == digits || len(s) < n+5 || s[n] != '-' {
		return 0
	}
	for _, c := range []byte(s[n+1 : n+5]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return 0
		}
	}
	return n + 5
}
