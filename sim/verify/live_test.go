package verify

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/resp"
	"lockstep/sim/spawn"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// userServer is a server that goes by real time, with a key of its user's, and its address.
func userServer(t *testing.T) (s *server, address string) {
	t.Helper()
	testenv.Need(t, Tools())
	folder, err := spawn.New("lockstep-verify-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err = (&lab{Folder: folder}).newServer(false, false, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ask("SET", "lock", "the user's"); err != nil {
		t.Fatal(err)
	}
	return s, s.path("socket")
}

// undisturbed fails if the server has anything else than its user's key.
func undisturbed(t *testing.T, s *server) {
	t.Helper()
	for want, question := range map[string][]string{"[lock]": {"KEYS", "*"}, `"the user's"`: {"GET", "lock"}, "[]": {"PUBSUB", "CHANNELS"}} {
		reply, err := s.ask(question...)
		if err != nil || resp.Text(reply) != want {
			t.Errorf("%q: %s, %v; want %s", question, resp.Text(reply), err, want)
		}
	}
}

// shortRuns are runs that take less than a second and a half of real time, or are replayed
// for as long.
func shortRuns(t *testing.T, cells ...[2]string) (runs []Run) {
	t.Helper()
	for _, c := range cells {
		st, err := scenarios.FindStrategy(c[0])
		if err != nil {
			t.Fatal(err)
		}
		s, err := scenarios.Find(c[1])
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := s.Run(st, 1)
		if err != nil {
			t.Fatal(err)
		}
		r, err := RunOf(recorded, scenarios.FindStrategy)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	return runs
}

const shortest = 1500 * time.Millisecond

func live(t *testing.T, address string, runs []Run) *Report {
	t.Helper()
	all, _, err := NewLives(context.Background(), len(runs), []string{address}, shortest)
	if err != nil {
		t.Fatal(err)
	}
	r, err := All(context.Background(), runs, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLive(t *testing.T) {
	s, address := userServer(t)
	runs := shortRuns(t, [2]string{"setpx-lua", "script-flush"}, [2]string{"setpx-lua", "wrong-type"}, [2]string{"redlock", "contention"},
		[2]string{"setpx-watch", "release-gap"}, [2]string{"fenced", "pause-past-ttl"}, [2]string{"setpx-subscribe", "contention"},
		[2]string{"setnx-expire", "crash-mid-acquire"}, [2]string{"setpx-lua", "server-crash-mid-acquire"}, [2]string{"pxat-client-clock", "contention"})
	r := live(t, address, runs)
	if r.Replies < 30 || r.Keys < 20 || len(r.Found) > 0 {
		t.Errorf("%s", r)
	}
	for _, why := range []string{"a server that isn't ours can't be restarted", "a command has an instant of the simulated clock", "longer than 1.5s"} {
		if len(r.Stopped[why]) == 0 {
			t.Errorf("no run stops because %s:\n%s", why, r)
		}
	}
	undisturbed(t, s)
}

func TestLiveFindsPlantedMistakes(t *testing.T) {
	testenv.Long(t)
	s, address := userServer(t)
	whole := shortRuns(t, [2]string{"setpx-lua", "script-flush"})[0]
	var runs []Run
	for i, e := range whole.Trace.Events {
		if e.Kind != trace.KindExecute {
			continue
		}
		planted := *whole.Trace
		planted.Events = slices.Clone(whole.Trace.Events)
		planted.Events[i].Reply = "wrong"
		runs = append(runs, Run{Trace: &planted, Config: whole.Config})
	}
	r := live(t, address, runs)
	stopped, late := 0, 0
	for why, names := range r.Stopped {
		if stopped += len(names); strings.Contains(why, "late") { // on a busy machine
			late += len(names)
		}
	}
	if len(r.Found)+stopped != len(runs) || len(r.Found)+late == 0 {
		t.Errorf("%d mistakes were planted:\n%s", len(runs), r)
	}
	undisturbed(t, s)
}

func TestLiveRefusesAServerWithItsKeys(t *testing.T) {
	s, address := userServer(t)
	if _, err := s.ask("SET", Prefix+"somebody's", "v"); err != nil {
		t.Fatal(err)
	}
	_, _, err := NewLives(context.Background(), 1, []string{address}, shortest)
	if err == nil || !strings.Contains(err.Error(), Prefix+"somebody's") || !strings.Contains(err.Error(), "redis-cli") {
		t.Errorf("got %v, want an error that names the key and the way out", err)
	}
	if reply, err := s.ask("GET", Prefix+"somebody's"); err != nil || resp.Text(reply) != "v" {
		t.Errorf("the key is %s, %v", resp.Text(reply), err)
	}
}

func TestLiveNeedsThePassword(t *testing.T) {
	s, address := userServer(t)
	if _, err := s.ask("CONFIG", "SET", "requirepass", "secret"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("REDISCLI_AUTH", "")
	if _, _, err := NewLives(context.Background(), 1, []string{address}, shortest); err == nil || !strings.Contains(err.Error(), "REDISCLI_AUTH") {
		t.Errorf("without password: %v", err)
	}
	t.Setenv("REDISCLI_AUTH", "wrong")
	if _, _, err := NewLives(context.Background(), 1, []string{address}, shortest); err == nil || !strings.Contains(err.Error(), "WRONGPASS") {
		t.Errorf("with a wrong one: %v", err)
	}
	t.Setenv("REDISCLI_AUTH", "secret")
	all, version, err := NewLives(context.Background(), 1, []string{address}, shortest)
	if err != nil || !strings.Contains(version, " ") {
		t.Fatalf("%q, %v", version, err)
	}
	if err := all[0].Close(); err != nil {
		t.Error(err)
	}
}

// A replay that is interrupted removes its keys, too.
func TestLiveIsInterrupted(t *testing.T) {
	s, address := userServer(t)
	ctx, cancel := context.WithCancel(context.Background())
	runs := shortRuns(t, [2]string{"setnx", "crash-holding"})
	all, _, err := NewLives(ctx, 1, []string{address}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = until("there is a key of ours", func() (bool, error) {
			reply, err := s.ask("DBSIZE")
			return string(reply) == ":2\r\n", err
		})
		cancel()
	}()
	if _, err := All(ctx, runs, all, nil); err == nil {
		t.Error("a replay that is interrupted claims to be whole")
	}
	undisturbed(t, s)
}

// TestVersionOfAServer: Valkey is told from Redis by its INFO, and a server that forbids INFO
// by its HELLO. The replies are those of Valkey 8.1 (server.c, genValkeyInfoString; networking.c,
// helloCommand) in short.
func TestVersionOfAServer(t *testing.T) {
	const (
		forbidden = "-NOPERM User default has no permissions to run the 'info' command\r\n"
		valkey    = "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.3\r\n"
		redis     = "# Server\r\nredis_version:7.0.15\r\n"
		hello     = "*6\r\n$6\r\nserver\r\n$6\r\nvalkey\r\n$7\r\nversion\r\n$5\r\n8.1.3\r\n$5\r\nproto\r\n:2\r\n"
	)
	for _, tc := range []struct{ info, hello, want string }{
		{bulkReply(valkey), "", "Valkey 8.1.3"},
		{bulkReply(redis), "", "Redis 7.0.15"},
		{forbidden, hello, "Valkey 8.1.3"},
		{forbidden, "-ERR unknown command 'HELLO'\r\n", "a server that tells neither its name nor its version"},
	} {
		address := answering(t, map[string]string{"INFO": tc.info, "HELLO": tc.hello, "PING": "+PONG\r\n", "EVAL": "*1\r\n$1\r\n0\r\n"})
		all, version, err := NewLives(t.Context(), 1, []string{address}, shortest)
		if err != nil || version != tc.want {
			t.Errorf("INFO %q, HELLO %q: %q, %v; want %q", tc.info, tc.hello, version, err, tc.want)
		}
		if err := closeAll(all); err != nil {
			t.Error(err)
		}
	}
}

func bulkReply(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }

// answering is a server with a fixed reply to each command, and its address.
func answering(t *testing.T, replies map[string]string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var ended sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		ended.Wait()
	})
	ended.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			ended.Go(func() {
				defer func() { _ = c.Close() }()
				for in := bufio.NewReader(c); ; {
					request, err := resp.Read(in)
					if err != nil {
						return
					}
					words, err := resp.Words(request)
					if err != nil {
						return
					}
					_, _ = c.Write([]byte(replies[words[0]]))
				}
			})
		}
	})
	return l.Addr().String()
}
