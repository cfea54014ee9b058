package scenarios

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"lockstep/scenarios/text"
	"lockstep/sim"
	"lockstep/sim/testenv"
)

// FuzzLoad: whatever somebody writes, it is refused with a message that begins
// with the file's name and fits on a line, or it runs, and its schedule gives
// the same run again.
func FuzzLoad(f *testing.F) {
	testenv.LongRaced(f)
	for _, s := range All() {
		if s.Name != s.base() {
			continue // a variant is in the same file
		}
		data, err := builtin.ReadFile(s.file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	for _, tt := range refusals {
		f.Add(tt.yaml)
	}
	f.Fuzz(func(t *testing.T, yaml string) {
		if len(yaml) > 8<<10 {
			return // the parser's time grows with the square of some rubbish
		}
		s, err := read("fuzz.yaml", "fuzz.yaml", []byte(yaml))
		if err != nil {
			checkMessage(t, err)
			return
		}
		hold(s)
		for _, name := range []string{"setpx-lua", "redlock"} {
			trace, err := s.Run(strategy(t, name), 1)
			if err != nil {
				checkMessage(t, err)
				continue
			}
			schedule, err := sim.ParseSchedule(trace.Schedule, FindStrategy)
			if err != nil {
				t.Fatalf("%s: the schedule can't be read: %v\n%s", name, err, trace.Schedule)
			}
			again, err := s.play(schedule)
			if err != nil {
				t.Fatalf("%s: the schedule can't be played: %v\n%s", name, err, trace.Schedule)
			}
			if again.Hash != trace.Hash {
				differ(t, name+" replayed\n"+trace.Schedule, plain(t, again), plain(t, trace))
			}
		}
	})
}

func checkMessage(t *testing.T, err error) {
	t.Helper()
	if several, are := err.(problems); are { //nolint:errorlint // only the outermost has lines
		for _, e := range several {
			checkMessage(t, e)
		}
		return
	}
	said := err.Error()
	if !strings.HasPrefix(said, "fuzz.yaml:") || !utf8.ValidString(said) || strings.ContainsFunc(said, text.Forbidden) || strings.ContainsAny(said, "\n\t") {
		t.Errorf("the message is %q", said)
	}
	if len(said) > 1000 {
		t.Errorf("the message has %d bytes: %s", len(said), said)
	}
}

// hold keeps a script from taking long, which is not what is tested here: there
// are few steps and cycles, nobody polls fast, and no run takes long.
func hold(s *Scenario) {
	s.script = s.script[:min(len(s.script), 20)]
	atMost := func(d *time.Duration, most time.Duration) { *d = min(*d, most) }
	atLeast := func(d *time.Duration, least time.Duration) { *d = max(*d, least) }
	for i := range s.script {
		switch a := s.script[i].action.(type) {
		case run:
			atMost(&a.within, 5*time.Second)
			if a.span > 0 {
				atMost(&a.span, 5*time.Second)
			}
			s.script[i].action = a
		}
	}
	for i := range s.setup.clients {
		c := &s.setup.clients[i]
		c.Cycles = min(c.Cycles, 3)
		if c.Insist > 0 {
			atLeast(&c.Insist, 100*time.Millisecond)
		}
	}
	if r := &s.setup.retry; r.delay != nil {
		slow := max(*r.delay, 100*time.Millisecond)
		r.delay = &slow
	}
	if s.setup.ttl != 0 {
		atLeast(&s.setup.ttl, 10*time.Millisecond) // a watchdog acts every third of it
	}
}
