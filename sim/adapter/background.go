package adapter

import (
	"context"
	"time"
)

// background is the work of a process between calls: its timers go off. A thread of the client
// sleeps until the first is due, gives the process that time, and waits for the replies to
// the commands that it sends then.
type background struct {
	start func(func()) // starts a thread of the client
	alarm int64        // when the timer is due for which a thread sleeps; 0 is never
	state state
	late  bool // the newest reply was waited for in vain
}

// state is the activity of a thread of the background.
type state int

const (
	still     state = iota // nothing
	moving                 // it has given the process something, which hasn't come to rest
	expecting              // it waits for a reply. The process rests, and a call may begin
)

// await has the thread of a call wait until the background is out of a state.
func (s *session) await(st state) {
	for s.state == st {
		_ = s.clock.Sleep(context.Background(), time.Millisecond) // the context has no end
	}
}

// rest has a thread sleep until the process's first timer is due, if it has one.
func (s *session) rest(due int64) {
	if !s.program.hello.Background || due == s.alarm {
		return
	}
	if s.alarm = due; due == 0 {
		return
	}
	s.start(func() {
		s.sleep(context.Background(), max(0, due-s.clock.Monotonic().Microseconds()))
		if s.alarm != due {
			return // the process has cleared that timer
		}
		s.alarm = 0
		if s.during == "" && s.state == still { // or the timer goes off in the call, or is due after it
			s.tend(due)
		}
	})
}

// tend lets timers go off, and carries out the operations of the process then.
func (s *session) tend(due int64) {
	for on := (Message{Type: "go", Time: due}); ; {
		s.state = moving
		s.send(on)
		m := s.idle()
		on.Time = 0
		switch {
		case s.sendAll():
		case len(s.unreplied) == 0:
			s.state = still
			s.rest(m.Time)
			return
		default:
			s.state = expecting
			any := s.receiveNext()
			if s.during != "" { // a call has begun, and its thread goes on
				s.state, s.late = still, !any
				return
			}
			s.state = moving
			if !any && m.Time > 0 {
				on.Time = s.clock.Monotonic().Microseconds()
			}
		}
	}
}

// idle waits until the process says that it is idle.
func (s *session) idle() Message {
	for {
		m, any := s.message()
		switch {
		case !any:
		case m.Type == "idle":
			return m
		case m.Type == "clock":
			s.answer(m, nil)
		default:
			s.fail("has sent %s between calls, and can send clock or idle there", m.text())
		}
	}
}
