package certificate

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/solo"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Certificate is a set of situations, of which each has a schedule that leads to it.
type Certificate struct {
	Header
	Rows  []Row // the first is the situation in which every schedule begins
	Needs Needs
}

// Header says what a certificate claims, and of which lock.
type Header struct {
	Lock     string        `json:"lock"`     // its name
	Config   string        `json:"config"`   // the engine's, as a schedule without moves has it, with a client for each spare process
	Places   int           `json:"clients"`  // how many clients run at a time; others take the places of those that crash
	Codes    []string      `json:"codes"`    // which no schedule violates
	Faults   Faults        `json:"faults"`   // that happen, besides pauses
	Grid     time.Duration `json:"grid"`     // between two instants at which clients act
	Far      time.Duration `json:"far"`      // longer than any span that the lock's code tells from a longer one
	Given    bool          `json:"given"`    // the strategy may expose no deadline, so that the sending of the granting command counts
	Version  string        `json:"lockstep"` // the build that wrote it
	Behavior string        `json:"behavior"` // a digest of the lock's behaviour, see run.behavior
}

// Faults says which faults happen, in any number.
type Faults struct {
	Crash     bool `json:"crash"`
	ReplyLost bool `json:"reply-lost"`
}

// Row is a situation: how it is reached, and the digest of its text.
type Row struct {
	Parent int // the row before it, whose index is less; 0 for row 0
	Move   Move
	Digest Digest
}

// Move leads from one situation to the next.
type Move struct {
	Kind  MoveKind
	Place uint8 // of the client, from 0; of Ticks 0
}

// MoveKind is a kind of move.
type MoveKind uint8

// The kinds of move. Their numbers are part of the format.
const (
	Steps      MoveKind = iota // the client performs its next operation
	LosesReply                 // it does, and the reply to its command is lost
	Crashes                    // its process ends, and another takes its place
	Ticks                      // time passes to the next multiple of the grid
	moveKinds
)

// String reads "A steps".
func (m Move) String() string {
	who := string(rune('A' + m.Place))
	switch m.Kind {
	case Steps:
		return who + " steps"
	case LosesReply:
		return who + " steps, and its reply is lost"
	case Crashes:
		return who + " crashes, and another client takes its place"
	}
	return "time passes"
}

// Digest is the beginning of the SHA-256 of a text.
type Digest [16]byte

func digestOf(text []byte) (d Digest) {
	sum := sha256.Sum256(text)
	copy(d[:], sum[:])
	return d
}

// Needs are the spans on which the code of clients still depends, by the digest of a
// client's past since its cycle began: see [run.localKey]. Of a client that is not in it,
// nothing depends on such a span any more. The check proves that.
type Needs map[Digest]Need

// Need is a set of spans.
type Need uint8

// The spans. Their numbers are part of the format.
const (
	Reading Need = 1 << iota // since the cycle's first reading of the monotonic clock
	Sending                  // since the last command on a connection was sent
)

// NeedOf is the set of those that are set.
func NeedOf(reading, sending bool) (n Need) {
	if reading {
		n |= Reading
	}
	if sending {
		n |= Sending
	}
	return n
}

// Resolve finds a strategy by its name.
type Resolve func(name string) (strategies.Strategy, error)

// setup is a header in the terms of the engine.
type setup struct {
	*Header
	cfg   sim.Config
	codes trace.Verdict
	needs Needs
}

// The longest span that a situation can have, in time and in steps of the grid: far more than a search
// that closes needs, and no more than can be added up.
const (
	maxFar   = 365 * 24 * time.Hour
	maxSteps = 10_000
)

// setup reads the header. It fails if a check can't prove its claim.
func (h *Header) setup(resolve Resolve) (*setup, error) {
	schedule, err := sim.ParseSchedule(h.Config, resolve)
	if err != nil {
		return nil, fmt.Errorf("the certificate's configuration: %w", err)
	}
	s := &setup{Header: h, cfg: schedule.Config}
	for _, name := range h.Codes {
		code, known := trace.ParseCode(name)
		if !known {
			return nil, fmt.Errorf("the certificate claims %q, which is no code", name)
		}
		if !provable(code) {
			return nil, fmt.Errorf("a certificate can't claim %s: it depends on more than a situation has", code)
		}
		s.codes = append(s.codes, code)
	}
	switch {
	case s.cfg.Strategy.Name != h.Lock:
		return nil, fmt.Errorf("the certificate is of %s, and its configuration of %s", h.Lock, s.cfg.Strategy.Name)
	case len(s.codes) == 0:
		return nil, errors.New("the certificate claims nothing")
	case h.Places < 1 || h.Places > len(s.cfg.Clients):
		return nil, fmt.Errorf("the certificate is of %d clients, and its configuration has %d", h.Places, len(s.cfg.Clients))
	case h.Grid < time.Millisecond || h.Far < h.Grid || h.Grid%time.Millisecond != 0 || h.Far%h.Grid != 0, h.Far > maxFar || h.Far/h.Grid > maxSteps:
		return nil, fmt.Errorf("the certificate's grid is %s, and its longest span %s: these don't fit", h.Grid, h.Far)
	case s.cfg.Latency != 0 || s.cfg.Replicas != 0 || s.cfg.Workload != trace.Counter:
		return nil, errors.New("the certificate's configuration has latencies, replicas or a workload of its own, of which a check knows nothing")
	case h.Given && s.cfg.Clients[0].Extend:
		return nil, errors.New("a certificate can't be of callers that extend leases without deadlines")
	}
	return s, s.plain()
}

// provable reports whether all facts that decide about a code are in a situation's text.
func provable(c trace.Code) bool {
	return c == trace.DG || c == trace.FR || c == trace.PD || c == trace.OV
}

// Provable lists the codes that a certificate can claim.
func Provable() (v trace.Verdict) {
	for _, c := range trace.Codes {
		if provable(c) {
			v = append(v, c)
		}
	}
	return v
}

// path lists the moves that lead to a row.
func (c *Certificate) path(row int) (moves []Move) {
	for ; row > 0; row = c.Rows[row].Parent {
		moves = append(moves, c.Rows[row].Move)
	}
	for i, j := 0, len(moves)-1; i < j; i, j = i+1, j-1 {
		moves[i], moves[j] = moves[j], moves[i]
	}
	return moves
}

// Cycles is how often each client asks for the lock in a certificate's configuration: more often
// than on the way to any situation.
const Cycles = 200

// plain fails if the configuration has a setting that a claim doesn't mention: clients that differ,
// or are slow, or give up; another seed; another kind of token.
func (s *setup) plain() error {
	c := s.cfg
	first := c.Clients[0]
	want := sim.Config{Strategy: c.Strategy, Scenario: "explore", Key: "lock", Record: c.Record, TTL: c.TTL, Timeout: c.Timeout, Retry: strategies.Retry{Tries: 1},
		Seed: 1, Resource: c.Resource, Draws: true, Nodes: []redis.Config{{}}}
	if c.Retry.Tries > 1 {
		want.Retry = c.Strategy.Retry
		want.Retry.Tries = c.Retry.Tries
	}
	if c.Tick != 0 {
		want.Tick = time.Millisecond
	}
	for i := range c.Clients {
		want.Clients = append(want.Clients, process.Config{Name: string(rune('A' + i)), Rate: 1, Cycles: Cycles, Checks: first.Checks, Extend: first.Extend})
	}
	is, plain := strings.Split(sim.Schedule{Config: c}.String(), ","), strings.Split(sim.Schedule{Config: want}.String(), ",")
	for i, word := range is {
		if i >= len(plain) || plain[i] != word {
			return fmt.Errorf("the certificate's configuration has %q, of which its claim says nothing", word)
		}
	}
	return nil
}

// record fails if the rules would use another key than that of the lock's record.
func (s *setup) record() (err error) {
	w, err := sim.New(s.cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	cfg := s.cfg
	cfg.Clients = slices.Clone(cfg.Clients)
	for i := range cfg.Clients {
		cfg.Clients[i].Cycles = 2
	}
	alone, err := solo.Play(w, cfg)
	if err != nil {
		return err
	}
	is := s.cfg.RecordKey()
	switch key, err := alone.Record(""); {
	case alone.Granted == 0:
		return errors.New("the lock was never acquired, even with nothing going wrong, so nothing violates anything")
	case err == nil && key != is:
		return fmt.Errorf("the certificate's configuration takes %q for the lock's record, which is %q", is, key)
	case err == nil:
		return nil
	}
	_, err = alone.Record(is) // of several keys the writer has chosen one
	return err
}
