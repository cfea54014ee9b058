package scenarios

import (
	"bufio"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/resp"
	"lockstep/sim/serve"
	"lockstep/sim/trace"
)

// TestLiveSessionsAsScenarios records what clients did to a served node, and plays it with locks of the
// catalogue.
func TestLiveSessionsAsScenarios(t *testing.T) {
	for _, tc := range []struct {
		name, session string
		verdicts      map[string]string
	}{
		{"a release after the lease", "A SET lock A1 NX PX 3000; ! advance 3500ms; B SET lock B1 NX PX 3000; B SET lock B1 NX PX 3000; A DEL lock",
			map[string]string{"naive-del": "OV FR", "setpx-lua": "OV"}},
		{"a holder that never comes back", "- SET lock A1 NX PX 3000; ! advance 3500ms; B SET lock B1 NX PX 3000; B DEL lock", map[string]string{"setpx-lua": "ok", "setnx": "PD"}},
		{"an eviction", "A SET lock A1 NX PX 3000; ! evict; ! say gone; B SET lock B1 NX PX 3000", map[string]string{"setpx-lua": "SW DG OV", "fenced": "DG OV"}},
		{"a lost reply", "! next A lose-reply; A SET lock A1 NX PX 3000; ! advance 1s; B SET lock B1 NX PX 3000", map[string]string{"setpx-lua": "FN BD", "setnx": "PD FN"}},
		{"a restart with a disk", "A SET lock A1 NX PX 3000; ! restart; ! jump 1s; ! power-cut; ! up; ! flush-scripts; A DEL lock", map[string]string{"setpx-lua": "ok"}},
		{"names that no scenario can have", "py-A SET lock A1 NX PX 3000; ! advance 3500ms; py_A SET lock B1 NX PX 3000; a.very.long.name.indeed SET lock C1 NX PX 3000; n1 SET lock D1 NX PX 3000; py-A DEL lock",
			map[string]string{"naive-del": "OV FR", "setpx-lua": "OV"}},
	} {
		file := recorded(t, tc.session)
		for lock, want := range tc.verdicts {
			s, err := read("live.yaml", "live", file)
			if err != nil {
				t.Fatalf("%s: %s\n%s", tc.name, err, file)
			}
			strategy, err := FindStrategy(lock)
			if err != nil {
				t.Fatal(err)
			}
			run, err := s.Run(strategy, 1)
			if err != nil {
				t.Fatalf("%s: %s\n%s", tc.name, err, file)
			}
			if got := run.Verdict().String(); got != want {
				t.Errorf("%s: %s shows %s, want %s\n%s", tc.name, lock, got, want, file)
			}
		}
	}
}

// nameless is a connection without a name, for one command.
const nameless = "-"

// recorded plays a session: commands of clients, and controls after an exclamation mark.
func recorded(t *testing.T, session string) []byte {
	t.Helper()
	s, err := serve.Listen(serve.Config{Stopped: true, Persistence: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing is written
	conns, lost := map[string]net.Conn{}, false
	for part := range strings.SplitSeq(session, ";") {
		who, what, _ := strings.Cut(strings.TrimSpace(part), " ")
		if who == "!" {
			if err := s.Do(what); err != nil {
				t.Fatal(err)
			}
			lost = strings.HasSuffix(what, "lose-reply")
			clear(conns) // a restart ends them
			continue
		}
		c := conns[who]
		if c == nil {
			if c, err = net.Dial("tcp", s.Addresses()[0]); err != nil {
				t.Fatal(err)
			}
			defer c.Close() //nolint:errcheck // nothing more is expected from it
			conns[who] = c
			if who != nameless {
				ask(t, c, "CLIENT SETNAME "+who)
			}
		}
		if lost {
			lost = false
			send(t, c, what)
			losesAReply(t, s)
			continue
		}
		ask(t, c, what)
		if who == nameless { // this was all
			_ = c.Close()
			until(t, "the connection ends", func() bool { return s.View().Connections == 0 })
		}
	}
	file, err := FromLive(s.Trace())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func send(t *testing.T, c net.Conn, line string) {
	t.Helper()
	if _, err := c.Write(resp.Append(nil, strings.Fields(line)...)); err != nil {
		t.Fatal(err)
	}
}

func ask(t *testing.T, c net.Conn, line string) {
	t.Helper()
	send(t, c, line)
	if _, err := resp.Read(bufio.NewReader(c)); err != nil { // there is one reply at a time
		t.Fatal(err)
	}
}

// losesAReply waits until a server has lost one.
func losesAReply(t *testing.T, s *serve.Server) {
	t.Helper()
	until(t, "a reply is lost", func() bool {
		return slices.ContainsFunc(s.View().Trace.Events, func(e trace.Event) bool { return e.Kind == trace.KindLost })
	})
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	over, next := time.NewTimer(time.Minute), time.NewTicker(time.Millisecond)
	defer over.Stop()
	defer next.Stop()
	for !is() {
		select {
		case <-next.C:
		case <-over.C:
			t.Fatalf("it never happens that %s", what)
		}
	}
}
