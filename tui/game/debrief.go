package game

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
)

// debriefMsg is the same moves, replayed under the lock that withstands them.
type debriefMsg struct {
	of     *quest
	lock   string
	run    *trace.Trace
	proven bool // no schedule within the bounds breaks that lock so
	err    error
}

// review replays the moves under another lock, and has a search say whether any schedule
// breaks that one.
func (s *Game) review() tea.Cmd {
	c := s.quest
	candidates := rivals(s.cfg.Strategy)
	if c.withstands != "" {
		candidates = []string{c.withstands}
	}
	run, moves, events := s.Run.Trace, s.here.line(), []int(nil)
	for _, b := range moves {
		t, err := scenarios.Replay(sim.Schedule{Config: s.cfg, Moves: b.moves()})
		if err != nil {
			return nil
		}
		events = append(events, len(t.Events))
	}
	find, bounds, goal := s.NewGuide, *c.bounds, c.goal
	return func() tea.Msg {
		m := debriefMsg{of: c}
		for _, name := range candidates {
			other, known := strategies.Get(name)
			if !known {
				continue
			}
			b := bounds
			b.Strategy, b.Resource = other, resourceOf(other)
			g, err := find(b, goal)
			if err != nil {
				m.err = err
				continue
			}
			h, err := g.From(context.Background(), nil)
			_ = g.Close() // nothing is written
			if err != nil || h.Reachable && c.withstands == "" {
				continue
			}
			m.lock, m.proven = name, !h.Reachable
			cfg, err := b.Config()
			if err != nil {
				m.err = err
				continue
			}
			cfg.Scenario = "same-moves"
			e := echo{cfg: cfg, of: run, drains: goal == trace.PD}
			if m.run, m.err = e.play(moves, events); m.err == nil {
				m.run.Title = "The same moves"
			}
			return m
		}
		return m
	}
}

func resourceOf(s strategies.Strategy) sim.Resource {
	if s.Fences {
		return sim.Fenced
	}
	return sim.Plain
}

// rivals are the locks that may withstand what has broken one, the simplest first.
func rivals(s strategies.Strategy) []string {
	if s.Nodes > 1 {
		return []string{"redlock"}
	}
	return []string{"naive-del", "setpx-lua", "setpx-get", "fenced", "getset-equal"}
}

// echo plays the moves of one lock's run with another lock. Moves are the same if they
// take each client to the same place in its protocol: commands differ from lock to lock.
type echo struct {
	cfg   sim.Config
	of    *trace.Trace
	moves []sim.Move

	drains bool // at the end somebody asks whether the lock can still be had
}

// place is how far a client has come: the number of calls, results and accesses in all its
// cycles, and of the commands that it has sent since.
type place struct{ cycle, marks, commands int }

// mark reports whether an event is one that all locks have.
func mark(k trace.Kind) bool {
	switch k {
	case trace.KindAcquire, trace.KindGranted, trace.KindRefused, trace.KindFailed, trace.KindEnter, trace.KindRead, trace.KindWrite, trace.KindReject,
		trace.KindLeave, trace.KindRelease, trace.KindReleased, trace.KindReleaseFailed, trace.KindDone:
		return true
	}
	return false
}

// placeOf is a client's place after events.
func placeOf(events []trace.Event, client int) (p place, in trace.Phase) {
	for i := range events {
		e := &events[i]
		switch {
		case e.Client != client:
			continue
		case mark(e.Kind):
			p.marks++
			p.commands = 0
			switch e.Kind {
			case trace.KindAcquire:
				p.cycle, p.marks = p.cycle+1, 1
				in = trace.PhaseAcquire
			case trace.KindRelease:
				in = trace.PhaseRelease
			default:
				in = trace.PhaseIdle
			}
		case e.Kind == trace.KindSend:
			p.commands++
		}
	}
	return p, in
}

// play plays all moves: events are the lengths of the original run after each.
func (e *echo) play(line []*branch, events []int) (*trace.Trace, error) {
	for i, b := range line {
		for _, m := range b.made {
			if m.Count == 0 {
				e.moves = append(e.moves, m)
				if _, err := e.run(); err != nil { // it can't happen to this lock
					e.moves = e.moves[:len(e.moves)-1]
				}
				continue
			}
			for client := range e.cfg.Clients {
				if m.Who.Has(client) {
					e.follow(client, events[i])
				}
			}
		}
	}
	if e.drains {
		e.moves = append(e.moves, sim.Move{Fault: sim.Drain{}})
	}
	return e.run()
}

func (e *echo) run() (*trace.Trace, error) {
	return scenarios.Replay(sim.Schedule{Config: e.cfg, Moves: e.moves})
}

// midway reports whether a client sends another command in the call in which it is after
// some events of the original run.
func (e *echo) midway(client, events int) bool {
	for i := events; i < len(e.of.Events); i++ {
		switch ev := &e.of.Events[i]; {
		case ev.Client != client:
		case ev.Kind == trace.KindSend:
			return true
		case mark(ev.Kind):
			return false
		}
	}
	return false
}

// follow has a client step until it is where it was after some events of the original run.
// Where that lock was between two commands of a call, this one stops at the worst place: in
// Acquire behind its commands, in Release before the last.
func (e *echo) follow(client, events int) {
	want, phase := placeOf(e.of.Events[:events], client)
	midway := e.midway(client, events)
	at := map[int]int{} // the number of steps after which a number of commands was sent in the call
	sent, steps := 0, 0
	for silent := 0; silent < mostSteps; steps++ {
		t, err := e.run()
		if err != nil {
			return
		}
		now, _ := placeOf(t.Events, client)
		if now.cycle > want.cycle || now.cycle == want.cycle && now.marks > want.marks {
			break
		}
		if now.cycle == want.cycle && now.marks == want.marks {
			if want.commands == 0 {
				return
			}
			at[now.commands], sent = steps, max(sent, now.commands)
		}
		e.moves = append(e.moves, sim.Move{Who: sim.SetOf(client), Count: 1})
		next, err := e.run()
		if err != nil || len(next.Events) > 0 && len(t.Events) > 0 && next.Events[len(next.Events)-1].At > t.Events[len(t.Events)-1].At && next.Events[len(t.Events)].Client != client {
			e.moves = e.moves[:len(e.moves)-1]
			return
		}
		if silent++; len(next.Events) > len(t.Events) {
			silent = 0
		}
	}
	stop := sent
	if midway && phase == trace.PhaseRelease {
		stop = min(want.commands, sent-1)
	}
	if back, known := at[stop]; known && want.commands > 0 {
		e.moves = e.moves[:len(e.moves)-(steps-back)]
	}
}

// brokenLine is the line of code whose command completed a violation: the file and the
// line's number, and its text.
func brokenLine(t *trace.Trace, v *trace.Violation) (where, text string) {
	for i := len(v.Events) - 1; i >= 0; i-- {
		e := &t.Events[v.Events[i]-1]
		file := path.Base(e.Source.File)
		code, known := strategies.Text(file)
		if e.Source.File == "" || !known {
			continue
		}
		lines := strings.Split(code, "\n")
		if e.Source.Line < 1 || e.Source.Line > len(lines) {
			continue
		}
		return fmt.Sprintf("%s:%d", file, e.Source.Line), strings.TrimSpace(lines[e.Source.Line-1])
	}
	return "", ""
}

// debriefing says what broke, on which line, which lock withstands, and what comes next.
func (s *Game) debriefing(width int) []draw.Line {
	t := draw.Paragraphs{Width: width}
	for i := range s.Run.Violations {
		v := &s.Run.Violations[i]
		if v.Code != s.goal {
			continue
		}
		t.Add(draw.Breach, "!! ", v.Code.Name()+": "+v.Text+".")
		if where, text := brokenLine(s.Run.Trace, v); where != "" {
			t.Add(draw.Plain, "   ", where+"  "+text)
		}
		break
	}
	if s.moral != "" {
		t.Add(draw.Strong, "", s.moral)
	}
	s.tellOthers(&t)
	switch d := s.debrief; {
	case d == nil:
		t.Add(draw.Dim, "", "Replaying the same moves under another lock.")
	case d.run != nil:
		text := fmt.Sprintf("The same moves leave %s whole: %s.", d.lock, lastReply(d.run))
		if d.proven {
			text += " No schedule of this level breaks it so: all were searched."
		}
		t.Add(draw.Good, s.Theme.Granted+" ", text)
	case d.err == nil:
		t.Add(draw.Dim, "", "No lock that was tried withstands this within the same bounds.")
	case d.err != nil:
		t.Add(draw.Dim, "", "The same moves can't be replayed under another lock: "+d.err.Error())
	}
	text, k := s.outlook()
	t.Add(k, "", text)
	return t.Lines
}

// tellOthers explains the signs of the end that the goal doesn't explain: other codes in the header,
// and the probe.
func (s *Game) tellOthers(t *draw.Paragraphs) {
	for _, code := range s.Run.Verdict() {
		if code != s.goal {
			t.Add(draw.Dim, "", fmt.Sprintf("%s, %s: %s.", code, code.Name(), code.Meaning()))
		}
	}
	if i := slices.Index(s.Run.Clients, trace.Probe); i >= 0 && s.Run.Begun(i, s.Run.Last()) {
		t.Add(draw.Dim, "", "The probe is a client that comes when all others are done, and asks whether the lock can still be had.")
	}
}

// lastReply is the last command of a run, with its reply.
func lastReply(t *trace.Trace) string {
	for i := len(t.Events) - 1; i >= 0; i-- {
		if e := &t.Events[i]; e.Kind == trace.KindExecute || e.Kind == trace.KindReject {
			return "at " + trace.Brief(e.At) + " " + t.Text(e)
		}
	}
	return "nothing was asked of Redis"
}
