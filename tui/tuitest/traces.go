package tuitest

import (
	"fmt"
	"strings"
	"time"

	"lockstep/sim"
)

// Script builds a trace event by event: a hand-written run, for tests only.
type Script struct {
	sim.Trace
	at time.Duration
}

// Add appends an event, and returns its Seq.
func (s *Script) Add(kind sim.Kind, client, node int, change ...func(*sim.Event)) int {
	e := sim.Event{Seq: len(s.Events) + 1, At: s.at, Kind: kind, Client: client, Node: node, Ref: sim.None}
	for _, c := range change {
		c(&e)
	}
	s.Events = append(s.Events, e)
	return e.Seq
}

func (s *Script) say(kind sim.NoteKind, text, answer string) {
	s.Notes = append(s.Notes, sim.Note{At: s.at, Seq: len(s.Events) + 1, Kind: kind, Text: text, Answer: answer, Index: len(s.Notes) + 1})
}

func (s *Script) broken(code sim.Code, text string, seqs ...int) {
	s.Violations = append(s.Violations, sim.Violation{Code: code, At: s.at, Events: seqs, Text: text})
}

func by(d time.Duration) func(*sim.Event) { return func(e *sim.Event) { e.By = d } }

// Value sets what an access to the store read or wrote.
func Value(v, version int64) func(*sim.Event) {
	return func(e *sim.Event) { e.Value, e.Version = v, version }
}

func from(file string, line int) func(*sim.Event) {
	return func(e *sim.Event) { e.Source = sim.Source{File: file, Line: line} }
}

// acquire is a client that asks and gets: four events, two milliseconds.
func (s *Script) acquire(client int, token string) (granted int) {
	const file = "strategies/setpx_lua.go"
	args := []string{"set", "lock", token, "px", "3000", "nx"}
	s.Add(sim.KindAcquire, client, sim.None)
	s.Add(sim.KindSend, client, 0, from(file, 53), func(e *sim.Event) { e.Args, e.Phase = args, sim.PhaseAcquire })
	s.at += time.Millisecond
	s.Add(sim.KindExecute, client, 0, from(file, 53), func(e *sim.Event) {
		e.Args, e.Reply, e.Acq = args, "OK", 1
		e.Changes = []sim.Change{{Key: "lock", After: &sim.Record{Value: token, Expires: s.at + 3*time.Second}}}
	})
	s.at += time.Millisecond
	s.Add(sim.KindReceive, client, 0, func(e *sim.Event) { e.Reply = "OK" })
	return s.Add(sim.KindGranted, client, sim.None, by(s.at+2900*time.Millisecond), func(e *sim.Event) { e.Token = token })
}

// PauseTrace is A paused inside the critical section until its lease and its
// record are over, and B in there with it when it wakes up and writes.
func PauseTrace() *sim.Trace {
	s := &Script{Trace: sim.Trace{
		Strategy: "setpx-lua", Scenario: "pause-past-ttl", Title: "A pause outlives the lease", Seed: 1,
		Clients: []string{"A", "B", "probe"}, Nodes: []string{"n1"}, Key: "lock", TTL: 3 * time.Second, Need: 1, Masters: 1,
	}}
	s.say(sim.NoteSay, "A takes the lock and enters.", "")
	s.acquire(0, "tokA")
	s.Add(sim.KindEnter, 0, sim.None)
	s.Add(sim.KindRead, 0, sim.None, Value(0, 0))
	s.say(sim.NoteSay, "A is stopped, by a garbage collection, say. It won't notice.", "")
	s.at += 500 * time.Millisecond
	s.Add(sim.KindPause, 0, sim.None)
	s.at = 2902 * time.Millisecond
	s.Add(sim.KindLapse, 0, sim.None)
	s.at = 3001 * time.Millisecond
	s.Add(sim.KindExpire, sim.None, 0, func(e *sim.Event) {
		e.Changes = []sim.Change{{Key: "lock", Before: &sim.Record{Value: "tokA", Expires: s.at}}}
	})
	s.say(sim.NoteAsk, "Who believes by now to have the lock?", "A")
	s.at = 4 * time.Second
	s.acquire(1, "tokB")
	enter := s.Add(sim.KindEnter, 1, sim.None)
	s.broken(sim.OV, "B enters the critical section while A is inside", 6, enter)
	read := s.Add(sim.KindRead, 1, sim.None, Value(0, 0))
	s.say(sim.NoteSay, "A wakes up, still \"knows\" that it holds\nthe lock, and writes.", "")
	s.at += 600 * time.Millisecond
	s.Add(sim.KindResume, 0, sim.None, by(s.at-502*time.Millisecond))
	write := s.Add(sim.KindWrite, 0, sim.None, Value(1, 1))
	s.broken(sim.SW, "A writes although B, who got the lock later, has already been there", read, write)
	s.Add(sim.KindLeave, 0, sim.None)
	s.Add(sim.KindDone, 0, sim.None)
	s.Add(sim.KindLeave, 1, sim.None)
	s.Add(sim.KindDone, 1, sim.None)
	s.at += 10 * 365 * 24 * time.Hour
	s.acquire(2, "tokP")
	s.Add(sim.KindDone, 2, sim.None)
	return &s.Trace
}

// Crowd is a long run on several nodes: clients that take turns.
func Crowd(clients, nodes, events int) *sim.Trace {
	s := &Script{Trace: sim.Trace{
		Strategy: "redlock", Scenario: "crowd", Title: "Many take turns", Seed: 1, Key: "lock", TTL: 3 * time.Second, Need: nodes/2 + 1, Masters: nodes,
	}}
	for i := range clients {
		s.Clients = append(s.Clients, string(rune('A'+i)))
	}
	for i := range nodes {
		s.Nodes = append(s.Nodes, fmt.Sprintf("n%d", i+1))
	}
	for turn := 0; len(s.Events) < events; turn++ {
		c := turn % clients
		if turn%10 == 0 {
			s.say(sim.NoteSay, fmt.Sprintf("Turn %d is %s's.", turn, s.Clients[c]), "")
		}
		grant := s.acquire(c, "t")
		s.Add(sim.KindEnter, c, sim.None)
		s.Add(sim.KindWrite, c, sim.None, Value(int64(turn), int64(turn)))
		if turn%100 == 99 {
			s.broken(sim.DG, "so it goes", grant, len(s.Events))
		}
		s.at += 200 * time.Millisecond
		s.Add(sim.KindLeave, c, sim.None)
		s.Add(sim.KindRelease, c, sim.None)
		s.at += time.Millisecond
		s.Add(sim.KindExecute, c, turn%nodes, func(e *sim.Event) {
			e.Args, e.Reply = []string{"del", "lock"}, "1"
			e.Changes = []sim.Change{{Key: "lock", Before: &sim.Record{Value: "t"}}}
		})
		s.Add(sim.KindReleased, c, sim.None)
	}
	s.Events = s.Events[:events]
	return &s.Trace
}

// WideTrace has names and words of two columns a character, and what may not
// reach a terminal.
func WideTrace() *sim.Trace {
	t := PauseTrace()
	t.Clients = []string{"顧客一", "客二二二二", "probe"}
	t.Notes[0].Text = strings.Repeat("租約到期之後，甲還以為自己持有鎖。", 20) + "\x1b[2J\tend"
	return t
}
