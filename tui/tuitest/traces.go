package tuitest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Script builds a trace event by event: a hand-written run, for tests only.
type Script struct {
	trace.Trace
	at time.Duration
}

// Add appends an event, and returns its Seq.
func (s *Script) Add(kind trace.Kind, client, node int, change ...func(*trace.Event)) int {
	e := trace.Event{Seq: len(s.Events) + 1, At: s.at, Kind: kind, Client: client, Node: node, Ref: trace.None}
	for _, c := range change {
		c(&e)
	}
	s.Events = append(s.Events, e)
	return e.Seq
}

func (s *Script) say(kind trace.NoteKind, text, answer string) {
	s.Notes = append(s.Notes, trace.Note{At: s.at, Seq: len(s.Events) + 1, Kind: kind, Text: text, Answer: answer, Index: len(s.Notes) + 1})
}

func (s *Script) broken(code trace.Code, text string, seqs ...int) {
	s.Violations = append(s.Violations, trace.Violation{Code: code, At: s.at, Events: seqs, Text: text})
}

func by(d time.Duration) func(*trace.Event) { return func(e *trace.Event) { e.By = d } }

// Value sets the value that an access to the resource read or wrote.
func Value(v, version int64) func(*trace.Event) {
	return func(e *trace.Event) { e.Value, e.Version = v, version }
}

// at sets the line on which a client waits: the first in a lock's file that contains a text.
func at(file, text string) func(*trace.Event) {
	source, _ := strategies.Text(file)
	before, _, found := strings.Cut(source, text)
	if !found {
		panic(file + " has no " + text)
	}
	return func(e *trace.Event) {
		e.Source = trace.Source{File: "strategies/" + file, Line: 1 + strings.Count(before, "\n")}
	}
}

// ExpiryTrace is a record that is stored without an expiry, gets one, has it prolonged, and loses it.
func ExpiryTrace() *trace.Trace {
	s := &Script{Trace: trace.Trace{Strategy: "setnx-expire", Scenario: "expiry", Key: "lock", Clients: []string{"A"},
		Nodes: []string{"redis"}, Masters: 1, Need: 1, TTL: 10 * time.Second}}
	var was *trace.Record
	for i, expires := range []time.Duration{trace.Never, 10_003 * time.Millisecond, 24 * time.Second, trace.Never} {
		is := &trace.Record{Value: "A1", Expires: expires}
		s.Add(trace.KindExecute, 0, 0, func(e *trace.Event) {
			e.Args, e.Acq, e.Command = [][]string{{"setnx", "lock", "A1"}, {"expire", "lock", "10"}, {"pexpireat", "lock", "24000"}, {"persist", "lock"}}[i], 1, i+1
			e.Changes = []trace.Change{{Key: "lock", Before: was, After: is}}
		})
		was = is
		s.at += 4 * time.Second
		s.Add(trace.KindWake, 0, trace.None)
	}
	return &s.Trace
}

// EndlessTrace is a client that polls until it gives up, and a probe that polls, too, and then once more
// after ten years.
func EndlessTrace() *trace.Trace {
	s := &Script{Trace: trace.Trace{Strategy: "setnx", Scenario: "endless", Key: "lock", Clients: []string{"A", trace.Probe},
		Nodes: []string{"n1"}, Masters: 1, Need: 1, TTL: 10 * time.Second}}
	poll := func(client int) {
		s.Add(trace.KindAcquire, client, trace.None)
		s.Add(trace.KindSend, client, 0, func(e *trace.Event) { e.Args = []string{"setnx", "lock", "1"} })
		s.at += 2 * time.Millisecond
		s.Add(trace.KindRefused, client, trace.None)
		s.at += 2 * time.Second
	}
	for range 12 {
		poll(0)
	}
	poll(1)
	s.at += 10 * 365 * 24 * time.Hour
	poll(1)
	return &s.Trace
}

// acquire is a client that asks all masters and gets the lock: two milliseconds.
func (s *Script) acquire(client int, token string) (granted int) {
	args, line := []string{"set", "lock", token, "px", "3000", "nx"}, at("setpx_lua.go", "setPXNX(")
	s.Add(trace.KindAcquire, client, trace.None)
	for n := range s.Masters {
		s.Add(trace.KindSend, client, n, line, func(e *trace.Event) { e.Args, e.Phase = args, trace.PhaseAcquire })
	}
	s.at += time.Millisecond
	for n := range s.Masters {
		s.Add(trace.KindExecute, client, n, line, func(e *trace.Event) {
			e.Args, e.Reply, e.Acq, e.Changes = args, "OK", 1, []trace.Change{{Key: "lock", After: s.record(token)}}
		})
	}
	s.at += time.Millisecond
	for n := range s.Masters {
		s.Add(trace.KindReceive, client, n, func(e *trace.Event) { e.Reply = "OK" })
	}
	return s.Add(trace.KindGranted, client, trace.None, by(s.at+2900*time.Millisecond), func(e *trace.Event) { e.Token = token })
}

// record is one that is stored now for three seconds: Redis drops it a millisecond after the last of them.
func (s *Script) record(token string) *trace.Record {
	return &trace.Record{Value: token, Expires: s.at + 3001*time.Millisecond}
}

// release is a client that deletes its record from all masters, or is told by each that it has none.
func (s *Script) release(client int, token string, stored bool) {
	end, reply := trace.KindReleaseFailed, "0"
	if stored {
		end, reply = trace.KindReleased, "1"
	}
	s.Add(trace.KindRelease, client, trace.None)
	s.at += time.Millisecond
	for n := range s.Masters {
		s.Add(trace.KindExecute, client, n, func(e *trace.Event) {
			if e.Args, e.Reply = []string{"evalsha", "da22512", "1", "lock", token}, reply; stored {
				e.Changes = []trace.Change{{Key: "lock", Before: &trace.Record{Value: token}}}
			}
		})
	}
	s.Add(end, client, trace.None)
}

// PauseTrace is A paused inside the critical section until its lease and its
// record are over, and B in there with it when it wakes up and writes.
func PauseTrace() *trace.Trace {
	t := *pause() // which is most of the runs of a shelf
	t.Events, t.Notes, t.Violations = slices.Clone(t.Events), slices.Clone(t.Notes), slices.Clone(t.Violations)
	return &t
}

var pause = sync.OnceValue(func() *trace.Trace {
	s := &Script{Trace: trace.Trace{
		Strategy: "setpx-lua", Scenario: "pause-past-ttl", Title: "A pause outlives the lease", Seed: 1,
		Clients: []string{"A", "B", "probe"}, Nodes: []string{"n1"}, Key: "lock", TTL: 3 * time.Second, Need: 1, Masters: 1,
	}}
	s.say(trace.NoteSay, "A takes the lock and enters.", "")
	s.acquire(0, "tokA")
	s.Add(trace.KindEnter, 0, trace.None)
	s.Add(trace.KindRead, 0, trace.None, Value(0, 0))
	s.say(trace.NoteSay, "A is stopped, by a garbage collection, say. It won't notice.", "")
	s.at += 500 * time.Millisecond
	s.Add(trace.KindPause, 0, trace.None)
	s.at = 2902 * time.Millisecond
	s.Add(trace.KindLapse, 0, trace.None)
	s.at = 3002 * time.Millisecond
	s.Add(trace.KindExpire, trace.None, 0, func(e *trace.Event) {
		e.Changes = []trace.Change{{Key: "lock", Before: &trace.Record{Value: "tokA", Expires: s.at}}}
	})
	s.say(trace.NoteAsk, "Who believes that it has the lock?", "A")
	s.at = 4 * time.Second
	s.acquire(1, "tokB")
	enter := s.Add(trace.KindEnter, 1, trace.None)
	s.broken(trace.OV, "B enters the critical section while A is inside", 6, enter)
	read := s.Add(trace.KindRead, 1, trace.None, Value(0, 0))
	s.say(trace.NoteSay, "A wakes up, still \"knows\" that it holds\nthe lock, and writes.", "")
	s.at += 600 * time.Millisecond
	s.Add(trace.KindResume, 0, trace.None, by(s.at-502*time.Millisecond))
	write := s.Add(trace.KindWrite, 0, trace.None, Value(1, 1))
	s.broken(trace.SW, "A writes although B, who got the lock later, has already read", read, write)
	s.Add(trace.KindLeave, 0, trace.None)
	s.release(0, "tokA", false)
	s.Add(trace.KindDone, 0, trace.None)
	s.Add(trace.KindLeave, 1, trace.None)
	s.release(1, "tokB", true)
	s.Add(trace.KindDone, 1, trace.None)
	s.at += 10 * 365 * 24 * time.Hour
	s.acquire(2, "tokP")
	s.release(2, "tokP", true)
	s.Add(trace.KindDone, 2, trace.None)
	return &s.Trace
})

// Crowd is a long run on several nodes: clients that take turns.
func Crowd(clients, nodes, events int) *trace.Trace {
	s := &Script{Trace: trace.Trace{
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
			s.say(trace.NoteSay, fmt.Sprintf("Turn %d is %s's.", turn, s.Clients[c]), "")
		}
		token := "tok" + s.Clients[c]
		grant := s.acquire(c, token)
		s.Add(trace.KindEnter, c, trace.None)
		s.Add(trace.KindWrite, c, trace.None, Value(int64(turn), int64(turn)))
		if turn%100 == 99 {
			s.broken(trace.DG, "so it goes", grant, len(s.Events))
		}
		s.at += 200 * time.Millisecond
		s.Add(trace.KindLeave, c, trace.None)
		s.release(c, token, true)
	}
	s.Events = s.Events[:events]
	return &s.Trace
}

// WideTrace has names and words of two columns a character, and control characters,
// which may not reach a terminal.
func WideTrace() *trace.Trace {
	t := PauseTrace()
	t.Clients = []string{"顧客一", "客二二二二", "probe"}
	t.Notes[0].Text = strings.Repeat("租約到期之後，甲還以為自己持有鎖。", 20) + "\x1b[2J\tend"
	return t
}

// CacheTrace is a cache that A rebuilds, the database behind it that somebody changes meanwhile, and B,
// whose rebuild is superfluous.
func CacheTrace() *trace.Trace {
	s := &Script{Trace: trace.Trace{
		Strategy: "setpx-lua", Scenario: "stampede", Workload: trace.Cache,
		Clients: []string{"A", "B", "probe"}, Nodes: []string{"n1"}, Key: "lock", Need: 1, Masters: 1,
	}}
	s.Add(trace.KindRead, 0, trace.None)
	s.Add(trace.KindQuery, 0, trace.None, Value(1, 0))
	s.Add(trace.KindUpdate, trace.None, trace.None, Value(2, 0))
	s.Add(trace.KindQuery, 1, trace.None, Value(2, 0))
	s.Add(trace.KindWrite, 0, trace.None, Value(1, 1))
	s.Add(trace.KindWrite, 1, trace.None, Value(2, 2))
	return &s.Trace
}
