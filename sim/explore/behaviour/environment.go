package behaviour

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/explore/flight"
	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/naming"
	"lockstep/sim/process"
)

// Deed is a client's act on a server at one instant: a command, or a transaction from its WATCH to its EXEC. Its tokens
// are variables. An environment may do it at any time, in place of any client.
type Deed []DeedStep

// DeedStep is a command of a deed, with the reply that it must have; the reply is 0 if any will do.
type DeedStep struct{ Command, Reply uint32 }

// Of the clients that have series, two are none of a search with an environment.
const (
	variables = 2 // its series stand for tokens of others in deeds
	// Environment is the client in whose name the environment acts.
	Environment = 3
)

// Deeds adds to a list of deeds those that clients are about to do in some histories, and reports whether any of them is
// new. A client's own tokens become tokens of the environment, and all others variables.
func (k *Clients) Deeds(deeds []Deed, histories []uint32) (_ []Deed, more bool) {
	for _, id := range histories {
		h := k.At(id)
		for t := range int(h.Count) {
			p := &h.Threads[t]
			if p.Over || p.Kind != process.OpSend {
				continue
			}
			deed, does := k.deed(id, p)
			if !does {
				continue
			}
			deed = k.general(deed, h.client)
			if !slices.ContainsFunc(deeds, func(known Deed) bool { return slices.Equal(known, deed) }) {
				deeds, more = append(deeds, deed), true
			}
		}
	}
	return deeds, more
}

// deed returns the deed of a client that sends a command, or reports that the command does nothing yet, as it is queued.
func (k *Clients) deed(id uint32, p *Operation) (deed Deed, does bool) {
	begun := k.transaction(id, p.Conn)
	multi := slices.IndexFunc(begun, func(s DeedStep) bool { return k.words(s.Command)[0] == "MULTI" })
	switch {
	case multi < 0:
		return Deed{{Command: p.Command}}, true
	case k.words(p.Command)[0] != "EXEC":
		return nil, false
	}
	var watched []string
	for _, s := range begun[:multi] { // other commands were executed at once, and are deeds of their own
		switch words := k.words(s.Command); {
		case words[0] == "WATCH":
			watched = append(watched, words[1:]...)
			deed = append(deed, DeedStep{Command: s.Command})
		case words[0] == "GET" && slices.Contains(watched, words[1]):
			deed = append(deed, s) // it would read the same now, or EXEC does nothing
		}
	}
	for _, s := range append(begun[multi:], DeedStep{Command: p.Command}) {
		deed = append(deed, DeedStep{Command: s.Command})
	}
	return deed, true
}

// transaction lists the commands that a client has sent on a connection since its first WATCH
// or MULTI after the last transaction, with the replies that it has read.
func (k *Clients) transaction(id uint32, conn uint8) (steps []DeedStep) {
	var unread []int // the steps of the requests whose replies it hasn't read; -1 for those that are none
	for _, at := range k.pathTo(id) {
		h := k.At(at)
		if h.BetweenCycles {
			steps, unread = nil, nil
			continue
		}
		p := k.At(h.parent).Threads[h.thread]
		switch {
		case p.Conn != conn:
		case p.Kind == process.OpSend:
			step := -1
			switch word := k.words(p.Command)[0]; {
			case word == "EXEC" || word == "DISCARD" || word == "UNWATCH":
				steps = nil
				for i := range unread {
					unread[i] = -1
				}
			case word == "WATCH" || word == "MULTI" || len(steps) > 0:
				step = len(steps)
				steps = append(steps, DeedStep{Command: p.Command})
			}
			unread = append(unread, step)
		case p.Kind == process.OpReceive && len(unread) > 0:
			if unread[0] >= 0 && h.seen.Kind == SawReply {
				steps[unread[0]].Reply = uint32(h.seen.Value)
			}
			unread = unread[1:]
		}
	}
	return steps
}

// words returns a command's words, the first in capitals.
func (k *Clients) words(command uint32) []string {
	words := intern.Unpack(*k.commands.Value(command))
	words[0] = strings.ToUpper(words[0])
	return words
}

// Sends returns the first of these commands that a client has sent, or nothing.
func (k *Clients) Sends(names ...string) string {
	for id := range uint32(k.histories.Count.Load()) {
		h := k.At(id)
		for _, p := range h.Threads[:h.Count] {
			if p.Over || p.Kind != process.OpSend {
				continue
			}
			if word := k.words(p.Command)[0]; slices.Contains(names, word) {
				return word
			}
		}
	}
	return ""
}

// general returns a client's deed with variables for tokens.
func (k *Clients) general(deed Deed, client int) Deed {
	var r naming.Renaming
	var own, others uint8
	for bit := range k.seriesOfDeed(deed).All {
		if bit/naming.SeriesEach == client {
			r.Series[bit] = Environment*naming.SeriesEach + own
			own++
		} else {
			r.Series[bit] = variables*naming.SeriesEach + others
			others++
		}
	}
	return k.renamedDeed(deed, &r)
}

func (k *Clients) seriesOfDeed(deed Deed) (set naming.SeriesSet) {
	for _, s := range deed {
		set |= k.SeriesInCommand(s.Command)
		if s.Reply != 0 {
			set |= k.SeriesInReply(s.Reply)
		}
	}
	return set
}

func (k *Clients) renamedDeed(deed Deed, r *naming.Renaming) Deed {
	to := make(Deed, len(deed))
	for i, s := range deed {
		to[i] = DeedStep{k.Command(s.Command, r), k.Reply(s.Reply, r)}
	}
	return to
}

// Instances lists the forms of a deed in a state in which the given series are in use: each of
// its own tokens is one of the environment's, or a fresh one; each other is any that is in
// use, or a fresh one. Different tokens stay different. It fails if too many are in use.
func (k *Clients) Instances(deed Deed, used naming.SeriesSet) (list []Deed, err error) {
	var bits []int
	for bit := range k.seriesOfDeed(deed).All {
		bits = append(bits, bit)
	}
	fresh := used
	for range bits {
		n, free := fresh.Free(Environment)
		if !free {
			return nil, fmt.Errorf("tokens of %d acquisitions of others are in use at a time, as where each leaves one behind: search it with --clients 2 or 3", naming.SeriesEach)
		}
		fresh = fresh.With(Environment, n)
	}
	var r naming.Renaming
	var assign func(n int, taken naming.SeriesSet)
	assign = func(n int, taken naming.SeriesSet) {
		if n == len(bits) {
			list = append(list, k.renamedDeed(deed, &r))
			return
		}
		for to := range (fresh &^ taken).All {
			if bits[n]/naming.SeriesEach == Environment && to/naming.SeriesEach != Environment {
				continue
			}
			r.Series[bits[n]] = uint8(to)
			assign(n+1, taken|1<<to)
		}
	}
	assign(0, 0)
	return list, nil
}

// Do makes a deed on a snapshot. It returns the answers to its commands, or false if one of
// them has another reply than it must have.
func (s *Servers) Do(deed Deed, snapshot uint32, answer func(Question) (Answer, error)) (answers []Answer, done bool, err error) {
	for _, step := range deed {
		a, err := answer(Question{Snapshot: snapshot, Conn: flight.Nobodys, Command: step.Command})
		if err != nil {
			return nil, false, err
		}
		if text := *s.replies.Value(a.Reply); step.Reply != 0 && a.Reply != step.Reply && text != "$-1\r\n" && text != "_\r\n" {
			return nil, false, nil // a record that has expired doesn't count as changed
		}
		answers, snapshot = append(answers, a), a.Snapshot
	}
	if len(answers) > 0 {
		answers[len(answers)-1].Snapshot = s.Without(snapshot, flight.Nobodys)
	}
	return answers, true, nil
}
