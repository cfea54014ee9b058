package game

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/fault"
	"lockstep/sim/trace"
	"lockstep/tui/deeds"
	"lockstep/tui/draw"
)

// option is a move that can be made now, named by its effect. The name comes from the
// engine: each option is played ahead, and its events say what it is.
type option struct {
	ink    draw.Ink
	name   string
	moves  []sim.Move
	client int           // whose move it is, or trace.None
	source trace.Source  // of a client's step: the line of its command
	does   trace.Kind    // of a client's step: the kind of its event
	due    time.Duration // of a client's step: the time until its own wait is over, or 0
}

// group is whose move an option is: a client's by its place, that of time, or that of a server.
func (o *option) group() int {
	if o.client == trace.None && len(o.moves) > 0 && o.moves[0].Wait > 0 {
		return trace.None - 1
	}
	return o.client
}

// peek plays moves ahead, and returns the events that they lead to.
func (s *Game) peek(moves ...sim.Move) (*trace.Trace, []trace.Event, error) {
	t, err := scenarios.Replay(sim.Schedule{Config: s.cfg, Moves: append(s.here.Moves(), moves...)})
	if err != nil {
		return nil, nil, err
	}
	return t, t.Events[min(s.Run.Last(), len(t.Events)):], nil
}

// offer lists the moves that can be made here: each client's step and the faults that can
// befall it, the passing of time to each instant at which something happens by itself, and
// the faults of servers.
func (s *Game) offer() {
	s.options, s.next = nil, make([]option, len(s.cfg.Clients))
	for i := range s.cfg.Clients {
		if st := &s.State.Clients[i]; st.Crashed || st.Stopped {
			continue
		}
		var able bool
		if s.next[i], able = s.step(i); able {
			s.options = append(s.options, s.next[i])
		}
		s.next[i].due = s.wakes(i)
		s.options = append(s.options, s.faultsOf(s.cfg.Clients[i].Name, i, s.next[i])...)
	}
	waits := s.instants()
	s.clients, s.waits = len(s.options), len(waits)
	s.options = append(s.options, waits...)
	for i := range s.cfg.Nodes {
		s.options = append(s.options, s.faultsOf(s.Run.Nodes[i], i, option{client: trace.None})...)
	}
	s.most = max(s.most, len(s.options))
}

// mostSteps is the greatest number of steps in one move of a client: between two things
// that others can see there are few.
const mostSteps = 16

// step is the move by which a client does the next thing that others can see, or reads a
// reply, with the steps before it that nobody sees. No step follows it: the least way to a
// goal needs none.
func (s *Game) step(client int) (option, bool) {
	o := option{ink: draw.ClientInk(client), client: client}
	var told []trace.Event
	var run *trace.Trace
	for n := 1; n <= mostSteps; n++ {
		move := sim.Move{Who: sim.SetOf(client), Count: n}
		t, events, err := s.peek(move)
		if err != nil || slices.ContainsFunc(events, func(e trace.Event) bool { return e.At > s.now || e.Kind == trace.KindPause && e.Client != client }) {
			break // it would have to wait, and others for it
		}
		if len(events) == len(told) { // a silent step, or none
			continue
		}
		told, run, o.moves = events, t, []sim.Move{move}
		if len(t.Violations) > len(s.Run.Violations) || slices.ContainsFunc(events, func(e trace.Event) bool { return e.Client == client && s.grain().Ends(e.Kind) }) {
			break
		}
	}
	if run == nil {
		return o, false
	}
	text, last := deeds.Of(run, told, client, s.grain())
	if last != nil {
		o.source, o.does = last.Source, last.Kind
	}
	o.name = s.cfg.Clients[client].Name + ": " + text
	if s.State.Clients[client].Paused {
		o.name += pauseEnds
	}
	return o, true
}

// pauseEnds is said of a step by which a client's pause ends.
const pauseEnds = " (its pause ends)"

// faultsOf lists the faults of a client or a server that can happen now. In a level these
// are the ones that are left of its faults.
func (s *Game) faultsOf(actor string, i int, step option) (all []option) {
	client := step.client != trace.None
	add := func(f explore.Offer) {
		o := option{ink: draw.Strong, client: step.client, name: actor + ": " + deeds.Fault(f.Does, f.Moves[0].Fault), moves: f.Moves, does: step.does}
		if client {
			o.ink = step.ink
		}
		if f.Next {
			if step.does != trace.KindSend {
				return
			}
			name, ends := strings.CutSuffix(step.name, pauseEnds)
			o.name, o.moves = name+", "+f.Does+draw.Either(ends, pauseEnds, ""), append(slices.Clone(f.Moves), step.moves...)
		}
		if _, _, err := s.peek(o.moves...); err == nil {
			all = append(all, o)
		}
	}
	if s.quest == nil {
		for _, f := range s.menu[actor] {
			if _, pause := f.Fault.(fault.Pause); pause && s.State.Clients[i].Paused {
				continue // by the time that passed: another pause would change nothing
			}
			add(explore.Offer{Does: f.Does, Moves: sim.MovesOf(f.Fault)})
		}
		return all
	}
	made := s.here.Moves()
	for k, n := range s.bounds.Faults {
		if n == 0 {
			continue
		}
		b := *s.bounds
		b.Faults = explore.Budget{}
		b.Faults[k] = n
		for _, o := range explore.Offers(&b, client, i, made) {
			if used(made, o.Moves[0].Fault) < int(n) {
				add(o)
			}
		}
	}
	return all
}

// used counts the faults of one kind.
func used(made []sim.Move, f fault.Fault) (n int) {
	for _, m := range made {
		if m.Fault != nil && reflect.TypeOf(m.Fault) == reflect.TypeOf(f) {
			n++
		}
	}
	return n
}

// mostWaits is the greatest number of instants that are offered at a time.
const mostWaits = 4

// instants lists the moves to instants to which time can pass: those at which something happens by
// itself within two leases, and a second.
func (s *Game) instants() (all []option) {
	var due []time.Duration
	if _, events, err := s.peek(sim.Move{Wait: 2*s.cfg.TTL + time.Second}); err == nil {
		for i := range events {
			if d := events[i].At - s.now; d > 0 { // one that is paused then has something to do from then on: a reply, say
				due = append(due, d)
			}
		}
	}
	for i := range s.cfg.Clients {
		if d := s.next[i].due; d > 0 {
			due = append(due, d)
		}
	}
	if len(due) == 0 && s.State.LockRecord(0) != nil && (s.stamped() || s.quest == nil) {
		due = append(due, s.cfg.TTL+time.Second)
	}
	slices.Sort(due)
	due = slices.Compact(due)
	due = due[:min(len(due), mostWaits)]
	if i, is := slices.BinarySearch(due, time.Second); !is && s.quest == nil { // no goal needs time to stop where nothing is due: see sim/explore/SOUNDNESS.md
		due = slices.Insert(due, i, time.Second)
	}
	s.still = draw.Either(len(due) == 0, s.undue(), "")
	for _, d := range due {
		o, paused := s.wait(d)
		if s.mayPause(len(paused)) {
			all = append(all, o)
		} else if s.still == "" {
			s.still = stands(paused, s.bounds.Faults[explore.Pause])
		}
	}
	if len(all) > 0 {
		s.still = "" // some time can pass
	}
	return all
}

// undue says why time can't pass where nothing comes of it: a client that has begun and could act may not be paused, or nothing happens by
// itself before somebody acts.
func (s *Game) undue() string {
	var able, begun []string
	for i := range s.next {
		if len(s.next[i].moves) > 0 {
			able = append(able, s.Run.Clients[i])
			if s.Run.Begun(i, s.Run.Last()) {
				begun = append(begun, s.Run.Clients[i])
			}
		}
	}
	if len(able) == 0 {
		return "time can't pass: nothing is due"
	}
	if s.mayPause(len(begun)) {
		return "time can't pass: nothing is due before " + draw.Either(len(able) > 1, "one of ", "") + trace.List(able) + " acts"
	}
	return "time can't pass before " + draw.Either(len(begun) > 1, "one of ", "") + trace.List(begun) + " acts: " + noPause(s.bounds.Faults[explore.Pause])
}

// stamped reports whether clients judge a stored stamp by their clocks: it runs out without an event.
func (s *Game) stamped() bool {
	return !s.cfg.Strategy.NoTTL && slices.ContainsFunc(s.Run.Events, func(e trace.Event) bool { return e.Kind == trace.KindClock })
}

// stands says why time can't pass: a client that has begun and could act all the while would be paused by it, and that is a fault.
// One that has not begun may come at any time.
func stands(paused []string, pauses uint8) string {
	return "time can't pass while " + trace.List(paused) + " can go on: " + noPause(pauses)
}

// noPause is the rule by which a client that could act has to.
func noPause(allowed uint8) string {
	return draw.Either(allowed == 0, "this level allows no pause", "the pauses allowed are used up")
}

// mayPause reports whether time may pass while so many further clients have something to do: where the pauses
// of the bounds are used up, that breaks the rules.
func (s *Game) mayPause(further int) bool {
	if s.quest == nil || further == 0 {
		return true
	}
	made := 0
	for i := range s.Run.Events {
		if e := &s.Run.Events[i]; e.Kind == trace.KindPause && e.Client != trace.None {
			made++
		}
	}
	return made+further <= int(s.bounds.Faults[explore.Pause])
}

// wakes is the time until a client's own wait is over: a sleep, or that for a reply. It is
// 0 if the client waits for nothing.
func (s *Game) wakes(client int) time.Duration {
	c := &s.State.Clients[client]
	for i := s.Run.Last() - 1; i >= 0 && (c.Asleep || c.Pending != nil); i-- {
		e := &s.Run.Events[i]
		switch {
		case e.Client != client || e.Thread != 0:
		case c.Asleep && e.Kind == trace.KindSleep:
			return e.At + e.By - s.now
		case !c.Asleep && e.Kind == trace.KindSend:
			d := e.At + s.cfg.Timeout - s.now
			if d <= 0 || !s.timesOut(client, d) {
				d = 0
			}
			return d
		}
	}
	return 0
}

// timesOut reports whether a client finds no reply after some time.
func (s *Game) timesOut(client int, d time.Duration) bool {
	_, events, err := s.peek(sim.Move{Wait: d}, sim.Move{Who: sim.SetOf(client), Count: 1})
	return err == nil && slices.ContainsFunc(events, func(e trace.Event) bool { return e.Client == client && e.Kind == trace.KindTimeout })
}

// wait is the move by which time passes, named by the events at its end, and the clients that it pauses.
func (s *Game) wait(d time.Duration) (o option, paused []string) {
	o = option{ink: draw.Strong, client: trace.None, moves: []sim.Move{{Wait: d}}}
	o.name = "time to " + trace.Brief(s.now+d)
	t, events, err := s.peek(sim.Move{Wait: d}, sim.Move{Wait: 1}) // a client that is paused by the least more could have gone on at d
	if err != nil {
		return o, nil
	}
	var last []string
	for i := range events {
		switch e := &events[i]; {
		case e.Kind == trace.KindPause && e.Client != trace.None && e.At == s.now+d:
			if s.next[e.Client].due != d {
				last = append(last, t.Clients[e.Client]+" can go on")
			}
		case e.Kind == trace.KindPause && e.Client != trace.None:
			paused = append(paused, t.Clients[e.Client])
		case e.At == s.now+d:
			last = append(last, s.happens(t, e))
		}
	}
	for i := range s.cfg.Clients {
		if s.next[i].due == d {
			last = append(last, s.cfg.Clients[i].Name+draw.Either(s.State.Clients[i].Asleep, " wakes up", " can time out next"))
		}
	}
	if len(last) > 2 {
		last = append(last[:2], fmt.Sprintf("and %d more", len(last)-2))
	}
	if len(last) == 0 && d == time.Second { // always offered, so that a little time can pass
		last = []string{draw.Either(slices.ContainsFunc(events, func(e trace.Event) bool { return e.At < s.now+d && e.Kind != trace.KindPause }), "nothing more is due by then", "nothing is due")}
	} else if len(last) == 0 && d > s.cfg.TTL {
		last = []string{draw.Either(s.stamped(), "a stamp taken now has run out by then", "nothing is due, and a lease is shorter")}
	}
	o.name += draw.Either(len(last) > 0, ": ", "") + strings.Join(last, ", ")
	if len(paused) > 0 {
		o.name += " (" + trace.List(paused) + draw.Either(len(paused) == 1, " is", " are") + " paused)"
	}
	return o, paused
}

// happens says what happens by itself, with the owner of a record in the place of the
// server's name.
func (s *Game) happens(t *trace.Trace, e *trace.Event) string {
	if e.Kind == trace.KindExpire && e.Node != trace.None && len(e.Changes) > 0 && e.Changes[0].Key == s.State.Key {
		at := ""
		if len(t.Nodes) > 1 {
			at = " on " + t.Nodes[e.Node]
		}
		if rec := s.State.LockRecord(e.Node); rec != nil && rec.Owner != trace.Nobody {
			return t.Clients[rec.Owner.Client] + "'s record expires" + at
		}
	}
	if e.Kind == trace.KindLapse {
		return t.Clients[e.Client] + "'s lease is over"
	}
	return t.Actor(e) + " " + t.Text(e)
}
