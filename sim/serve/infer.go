package serve

import (
	"crypto/sha1"
	"encoding/hex"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"lockstep/sim/audit"
	"lockstep/sim/trace"
)

// This file infers the actions of clients from their commands. A client calls Acquire when it sends a
// command that can take the lock and holds none; it is granted when it is sent the reply after which
// its value is stored at enough nodes, until the record's expiry; it is refused when that reply
// is another. Its removal of the record is a release, and another life for it an extension. So a
// grant is certain as far as the servers go. A client may yet think otherwise: it may have
// stopped to believe in its lease before the record expires, or go on to believe in it after that.

// Inferred says how sure the grants, refusals and releases of a live trace are.
const Inferred = "grants and releases are inferred from commands: certain at the servers, likely in the clients"

// intent is how a request may concern the lock.
type intent uint8

const (
	ignores intent = iota
	takes
	gives
	extends
)

// lesson is the intent and the effect of a request, as far as they have been found.
type lesson struct {
	intent intent
	longer time.Duration // the record's new expiry, if it is later than before
	moved  bool
}

// callsOf finds the commands that a script calls.
var callsOf = regexp.MustCompile(`(?i)call\s*\(\s*['"]([a-z]+)['"]`)

// scriptCalls reports whether a script calls one of the commands.
func scriptCalls(text string, names ...string) bool {
	return slices.ContainsFunc(callsOf.FindAllStringSubmatch(text, -1), func(m []string) bool {
		return slices.Contains(names, strings.ToUpper(m[1]))
	})
}

// intentOf reads a request. holds says whether its client holds the lock.
func (s *Server) intentOf(args []string, holds bool) intent {
	name := strings.ToUpper(args[0])
	text := ""
	switch {
	case name == "SCRIPT" && len(args) == 3 && strings.EqualFold(args[1], "LOAD"):
		s.knows(args[2])
	case (name == "EVAL" || name == "EVAL_RO") && len(args) > 2:
		text = args[1]
		s.knows(text)
	case strings.HasPrefix(name, "EVALSHA") && len(args) > 2:
		text = s.scripts[strings.ToLower(args[1])]
	case audit.Takes(args) != "":
		return takes
	case audit.Removes(args):
		return gives
	case audit.Expires(args):
		return extends
	}
	canTake := scriptCalls(text, "SET", "SETNX", "HSET", "HSETNX", "INCR", "HINCRBY")
	switch {
	case holds && scriptCalls(text, "DEL", "UNLINK"):
		return gives
	case holds && scriptCalls(text, "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT"):
		return extends
	case canTake:
		return takes
	}
	return ignores
}

// knows remembers a script for those who call it by its digest.
func (s *Server) knows(text string) {
	sum := sha1.Sum([]byte(text))
	s.scripts[hex.EncodeToString(sum[:])] = text
}

// begins records the call that a request seems to be a part of, before it is sent.
func (s *Server) begins(r *request) {
	c := &s.state.Clients[r.client]
	r.learns.intent = s.intentOf(r.args, c.Lease.Believed)
	keys := audit.Keys(r.args)
	if s.head.Key == "" && r.learns.intent == takes && len(keys) > 0 {
		s.head.Key = keys[0]
		s.rebuild(len(s.head.Clients))
		c = &s.state.Clients[r.client]
	}
	if !slices.Contains(keys, s.head.Key) {
		r.learns.intent = ignores
	}
	e := trace.Event{Client: r.client, Node: trace.None, Ref: trace.None}
	switch r.learns.intent {
	case takes:
		if c.Lease.Believed || c.Phase == trace.PhaseAcquire {
			return
		}
		e.Kind = trace.KindAcquire
	case gives:
		switch {
		case c.Lease.Believed:
			e.Kind = trace.KindRelease
		case c.Phase == trace.PhaseAcquire:
			e.Kind = trace.KindRefused // it gives back its part of a majority
		}
	case extends:
		if c.Lease.Believed && !c.Extends {
			e.Kind = trace.KindExtend
		}
	}
	if e.Kind != trace.KindNone {
		s.emit(&e)
	}
}

// phase returns the phase of the call that a request is a part of.
func (s *Server) phase(r *request) trace.Phase {
	c := &s.state.Clients[r.client]
	if r.learns.intent == extends && c.Extends {
		return trace.PhaseExtend
	}
	return c.Phase
}

func (s *Server) acquired(client int) int { return s.state.Clients[client].Acquired }

// learn notes the effect of a request on the lock's record.
func (s *Server) learn(r *request, changes []trace.Change) {
	for i := range changes {
		if ch := &changes[i]; ch.Key == s.head.Key && ch.Before != nil && ch.After != nil && ch.Before.Expires != ch.After.Expires {
			r.learns.moved, r.learns.longer = true, ch.After.Expires
		}
	}
}

// concludes records the outcome that a client learns from a reply.
func (s *Server) concludes(r *request) {
	c := &s.state.Clients[r.client]
	e := trace.Event{Client: r.client, Node: trace.None, Ref: trace.None}
	switch {
	case c.Phase == trace.PhaseAcquire && r.learns.intent == takes:
		if until, has := s.held(r.client); has {
			e.Kind, e.By, e.Token = trace.KindGranted, until, s.token(r.client)
		} else if len(s.nodes) == 1 {
			e.Kind = trace.KindRefused
		}
	case c.Phase == trace.PhaseRelease && r.learns.intent == gives:
		e.Kind = trace.KindReleased
	case c.Extends && r.learns.intent == extends:
		e.Kind, e.Note = trace.KindExtendFailed, "the record has got no other life"
		if r.learns.moved && c.Lease.Believed {
			e.Kind, e.By, e.Note = trace.KindExtended, r.learns.longer, ""
		}
	}
	if e.Kind != trace.KindNone {
		s.emit(&e)
	}
}

// held reports whether a client's value is stored at enough nodes, and until when.
func (s *Server) held(client int) (until time.Duration, has bool) {
	var ends []time.Duration
	for i := range s.nodes {
		if r := s.state.LockRecord(i); r != nil && r.Owner == s.state.Acquisition(client) {
			if r.Expires == trace.Never {
				ends = append(ends, 1<<62)
			} else {
				ends = append(ends, r.Expires)
			}
		}
	}
	if len(ends) < s.head.Need {
		return 0, false
	}
	slices.Sort(ends)
	if until = ends[len(ends)-s.head.Need]; until == 1<<62 {
		until = trace.Never
	}
	return until, true
}

// token returns the value that a client has stored.
func (s *Server) token(client int) string {
	for i := range s.nodes {
		if r := s.state.LockRecord(i); r != nil && r.Owner == s.state.Acquisition(client) {
			return r.Value
		}
	}
	return ""
}

// nextLapse returns the instant at which the next lease lapses, or trace.Never.
func (s *Server) nextLapse() time.Duration {
	at := trace.Never
	for i := range s.clients {
		if l := &s.state.Clients[i].Lease; l.Live && l.Deadline != trace.Never && (at == trace.Never || l.Deadline < at) {
			at = l.Deadline
		}
	}
	return at
}

// lapses ends the leases whose records have expired.
func (s *Server) lapses() {
	for i := range s.clients {
		if l := &s.state.Clients[i].Lease; l.Live && l.Deadline != trace.Never && l.Deadline <= s.now {
			s.emit(&trace.Event{Kind: trace.KindLapse, Client: i, Node: trace.None, Ref: trace.None, By: l.Deadline})
			s.leaves(i)
		}
	}
}

// leaves records that a client is no more, if its lease is over and nothing can come of it: it has no connection and no
// name, so the next connection is another client. A client with a name may come back, and still believe that it has the lock.
func (s *Server) leaves(client int) {
	if client == trace.None || !s.unnamed[client] {
		return
	}
	if l := &s.state.Clients[client].Lease; !l.Believed || l.Live {
		return
	}
	for c := range s.sessions {
		if c.client == client {
			return
		}
	}
	s.emit(&trace.Event{Kind: trace.KindCrash, Client: client, Node: trace.None, Ref: trace.None, Note: ": its connection has ended, and its lease is over"})
}

func portOf(a net.Addr) int {
	if t, is := a.(*net.TCPAddr); is {
		return t.Port
	}
	return 0
}
