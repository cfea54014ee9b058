package verify

import (
	"os"
	"strings"
	"testing"
	"time"

	"lockstep/sim/resp"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// ownLab is a folder for servers. It skips the test where there can be none.
func ownLab(t *testing.T) *lab {
	t.Helper()
	testenv.Need(t, Tools())
	l, err := newLab()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// ownServer is one server, whose clock shows the beginning of a run.
func ownServer(t *testing.T, aof bool) *server {
	t.Helper()
	s, err := ownLab(t).newServer(aof, false, trace.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ownPair are two servers of which one can follow the other.
func ownPair(t *testing.T) (master, replica *server) {
	t.Helper()
	l := ownLab(t)
	var pair [2]*server
	for i := range pair {
		var err error
		if pair[i], err = l.newServer(false, true, trace.Epoch); err != nil {
			t.Fatal(err)
		}
	}
	return pair[0], pair[1]
}

// At 11.999 s a key with a TTL of 12 s has one millisecond, at 12 s none and is still there,
// and at 12.001 s it is gone. The clock of the server goes where it is told.
func TestClockIsOurs(t *testing.T) {
	s := ownServer(t, false)
	if _, err := s.ask("SET", "k", "v", "PX", "12000"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		at   time.Duration
		want string
	}{
		{0, "12000"}, {11999 * time.Millisecond, "1"}, {12 * time.Second, "0"}, {12*time.Second + 999*time.Microsecond, "0"},
		{time.Second / 2, "11500"}, {12001 * time.Millisecond, "-2"},
	} {
		if err := s.clock.set(trace.Epoch.Add(tc.at)); err != nil {
			t.Fatal(err)
		}
		reply, err := s.ask("PTTL", "k")
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Text(reply); got != tc.want {
			t.Errorf("at %s: PTTL %s, want %s", tc.at, got, tc.want)
		}
	}
}

// The reason for Resync: a master that comes back empty empties its replicas.
func TestReplicasCopyAMasterThatComesBack(t *testing.T) {
	testenv.Long(t)
	master, replica := ownPair(t)
	ask := func(s *server, want string, args ...string) {
		t.Helper()
		reply, err := s.ask(args...)
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Text(reply); got != want {
			t.Errorf("%q: got %s, want %s", args, got, want)
		}
	}
	ask(master, "OK", "SET", "k", "v")
	if err := replica.follow(master); err != nil {
		t.Fatal(err)
	}
	ask(replica, "v", "GET", "k")
	master.kill()
	if err := master.start(); err != nil {
		t.Fatal(err)
	}
	err := until("the replica has found its master again", func() (bool, error) {
		id, err1 := master.info("replication", "master_replid")
		copied, err2 := replica.info("replication", "master_replid")
		status, err3 := replica.info("replication", "master_link_status")
		return id == copied && status == "up", firstOf(err1, err2, err3)
	})
	if err != nil {
		t.Fatal(err)
	}
	ask(replica, "nil", "GET", "k")
}

func firstOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// A real server gives up a WAIT when its timeout has passed, not when it is reached.
func TestWaitOutlastsItsTimeout(t *testing.T) {
	s := ownServer(t, false)
	c, err := s.dial()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.send("WAIT", "1", "100"); err != nil {
		t.Fatal(err)
	}
	blocked := func(want string) {
		t.Helper()
		for range 2 { // it looks once each time before it sleeps
			if _, err := s.ask("PING"); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.info("clients", "blocked_clients"); err != nil || got != want {
			t.Errorf("%s clients are blocked, want %s; %v", got, want, err)
		}
	}
	blocked("1")
	for _, tc := range []struct {
		at   time.Duration
		want string
	}{{100 * time.Millisecond, "1"}, {101 * time.Millisecond, "0"}} {
		if err := s.clock.set(trace.Epoch.Add(tc.at)); err != nil {
			t.Fatal(err)
		}
		blocked(tc.want)
	}
}

// A real WAIT asks for the replicas that have what its master had written at the connection's last command.
func TestWaitIsOfItsConnection(t *testing.T) {
	master, replica := ownPair(t)
	var conns [2]*conn
	for i := range conns {
		var err error
		if conns[i], err = master.dial(); err != nil {
			t.Fatal(err)
		}
	}
	idle, writer := conns[0], conns[1]
	_, err1 := idle.ask("PING")
	err2 := replica.follow(master)
	err3 := replica.catchUp(master) // from here on nothing reaches the replica
	if err := firstOf(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		by   *conn
		args []string
		want string
	}{
		{writer, []string{"SET", "k", "v"}, "OK"},
		{idle, []string{"WAIT", "1", "0"}, "1"},
	} {
		if reply, err := tc.by.ask(tc.args...); err != nil || resp.Text(reply) != tc.want {
			t.Fatalf("%q: %s, want %s; %v", tc.args, resp.Text(reply), tc.want, err)
		}
	}
	if err := writer.send("WAIT", "1", "0"); err != nil {
		t.Fatal(err)
	}
	err := until("the writer's WAIT blocks", func() (bool, error) {
		blocked, err := master.info("clients", "blocked_clients")
		return blocked == "1", err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestEverysecIsReplayedWithoutItsOwnFsync(t *testing.T) {
	s := ownServer(t, true)
	reply, err := s.ask("CONFIG", "GET", "appendfsync")
	if err != nil || resp.Text(reply) != "[appendfsync, no]" {
		t.Fatalf("%s, %v", resp.Text(reply), err)
	}
	for _, value := range []string{"first", "second"} { // what has a reply is in the file
		if _, err := s.ask("SET", "k", value); err != nil {
			t.Fatal(err)
		}
		path, err := s.log()
		if err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(path); err != nil || !strings.HasSuffix(string(data), value+"\r\n") {
			t.Errorf("the file ends in %q, %v", data[max(0, len(data)-40):], err)
		}
	}
}

// A trace says that a key with 12 s has 11.998 s left half a millisecond after the first of
// them, and PTTL says 11,999: so do the replays.
func TestRemainingLifeIsCountedInWholeMilliseconds(t *testing.T) {
	const now = 1500 * time.Microsecond
	gone := 12*time.Second + time.Millisecond // the instant after its last millisecond
	if left := (trace.Record{Expires: gone}).Left(now); left != 11998*time.Millisecond {
		t.Errorf("the trace says %s", left)
	}
	if left := remaining(gone, now, 0); left != 11999 {
		t.Errorf("the replay expects %d ms", left)
	}
	s := ownServer(t, false)
	if _, err := s.ask("SET", "k", "v", "PX", "12000"); err != nil {
		t.Fatal(err)
	}
	if err := s.clock.set(trace.Epoch.Add(now)); err != nil {
		t.Fatal(err)
	}
	if reply, err := s.ask("PTTL", "k"); err != nil || resp.Text(reply) != "11999" {
		t.Errorf("the server says %s, %v", resp.Text(reply), err)
	}
}
