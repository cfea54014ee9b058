package audit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/redis/redistest"
	"lockstep/strategies"
)

// alike are the strategies that no log of one server tells from another, which it names instead.
var alike = map[string]string{
	"setpx-autoretry": "setpx-lua", // its requests differ from those of setpx-lua only when one is lost
	"setpx-subscribe": "setpx-lua", // and a channel
	"fenced":          "setpx-lua", // its counter is another key
	"fenced-late":     "setpx-lua",
}

// TestLocksAreRecognised: each strategy on one server is used by two clients of a real Redis, and
// is found in what that server's MONITOR prints.
func TestLocksAreRecognised(t *testing.T) {
	server := &realRedis{redistest.Start(t)}
	log := server.monitor(t)
	lacking := map[string]bool{"setpx-wait": true} // there is no replica to wait for
	for _, s := range strategies.All() {
		if s.Nodes > 1 || lacking[s.Name] {
			continue
		}
		if err := server.uses(s); err != nil {
			if strings.Contains(err.Error(), "unknown command") {
				t.Logf("%s: this server lacks a command: %v", s.Name, err)
				lacking[s.Name] = true
				continue
			}
			t.Fatalf("%s: %v", s.Name, err)
		}
	}
	entries, others, err := Read(strings.NewReader(log()))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Audit(entries, others)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range strategies.All() {
		i := slices.IndexFunc(r.Locks, func(l *Lock) bool { return l.Key == "of-"+s.Name })
		if s.Nodes > 1 || lacking[s.Name] {
			continue
		}
		if i < 0 {
			t.Errorf("%s is not seen to be a lock", s.Name)
			continue
		}
		l, want := r.Locks[i], s.Name
		if other := alike[want]; other != "" {
			want = other
		}
		t.Logf("%-22s granted %d, refused %d; %v; %v; %s; extends %t: %v", s.Name, l.Granted, l.Refused, l.Takes, l.Gives, l.Token, l.Extends, l.Like)
		if !slices.Contains(l.Like, want) {
			t.Errorf("%s is taken for one of %v: name it beside them in sim/audit/like.go, or in alike here, if no log tells it from another: %+v", s.Name, l.Like, l)
		}
		if l.Granted < 2 || l.Refused < 1 {
			t.Errorf("%s: %d grants and %d refusals, and there were two of the first and one of the second", s.Name, l.Granted, l.Refused)
		}
		for _, f := range l.Findings {
			if f.Kind != NoExpiry {
				t.Errorf("%s: nothing went wrong, and the audit finds %+v", s.Name, f)
			}
		}
	}
}

// realRedis is a Redis server of this machine's own.
type realRedis struct{ socket string }

func (r *realRedis) client() *redis.Client {
	return redis.NewClient(&redis.Options{Network: "unix", Addr: r.socket, DisableIdentity: true})
}

// monitor listens to the server. Its result returns what has been printed until then.
func (r *realRedis) monitor(t *testing.T) (log func() string) {
	t.Helper()
	conn, err := net.Dial("unix", r.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	in := bufio.NewReader(conn)
	if _, err := io.WriteString(conn, "MONITOR\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return func() string {
		client := r.client()
		defer client.Close() //nolint:errcheck // nothing depends on it
		if err := client.Set(context.Background(), "the-end", "1", 0).Err(); err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			all.WriteString(line)
			if strings.Contains(line, "the-end") {
				return all.String()
			}
		}
	}
}

// uses lets one client have the lock, another be refused and then have it, too, and extend it if
// it can be.
func (r *realRedis) uses(s strategies.Strategy) error {
	ctx := context.Background()
	var locks []strategies.Lock
	for range 2 {
		client := r.client()
		defer client.Close() //nolint:errcheck // nothing depends on it
		o := strategies.Options{TTL: time.Minute, Retry: strategies.Retry{Tries: 1}, Clock: strategies.NewSystemClock(),
			Token: strategies.RandomToken, Random: strategies.RandomDuration, Go: func(func()) {}}
		locks = append(locks, s.New([]*redis.Client{client}, "of-"+s.Name, o))
	}
	first, err := locks[0].Acquire(ctx)
	if err != nil {
		return err
	}
	if _, err := locks[1].Acquire(ctx); !errors.Is(err, strategies.ErrNotAcquired) {
		return fmt.Errorf("a second client gets %w", err)
	}
	if x, is := locks[0].(strategies.Extender); is {
		if err := x.Extend(ctx, first); err != nil {
			return err
		}
	}
	if err := locks[0].Release(ctx, first); err != nil {
		return err
	}
	second, err := locks[1].Acquire(ctx)
	if err != nil {
		return err
	}
	return locks[1].Release(ctx, second)
}
