package sim

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lockstep/sim/redis"
	"lockstep/sim/resp"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// seam is a connection outside of any thread: its node executes at once.
func seam(t testing.TB) (*World, *conn) {
	w := newWorld(t, config(t, "setnx", "A"))
	return w, &conn{world: w, client: w.clients[0]}
}

// feed writes the parts to a connection as new and returns what the server says.
func feed(t *testing.T, w *World, c *conn, parts ...[]byte) string {
	t.Helper()
	c.reset()
	for _, n := range w.nodes {
		n.Reset(redis.Config{})
	}
	for _, part := range parts {
		if n, err := c.Write(part); err != nil || n != len(part) {
			t.Fatalf("writing %q: %d, %v", part, n, err)
		}
	}
	return string(c.rest) + "|" + string(c.partial)
}

// TestCommandsInPieces: go-redis writes through a buffer of 1 KiB, so a large
// command arrives in pieces; and a reply larger than its buffer is read in pieces.
func TestCommandsInPieces(t *testing.T) {
	big := strings.Repeat("0123456789", 1000)
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		pipe := l.rdb.Pipeline()
		pipe.Set(ctx, "a", big, 0)
		pipe.Set(ctx, "b", "small", 0)
		a, b := pipe.Get(ctx, "a"), pipe.Get(ctx, "b")
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, err
		}
		if a.Val() != big || b.Val() != "small" {
			return nil, fmt.Errorf("a has %d bytes, b is %q", len(a.Val()), b.Val())
		}
		return &strategies.Lease{}, nil
	}, toyKeep)
	w := newWorld(t, configOf(s, "A"))
	run(t, w)
	if count(w, trace.KindGranted) != 1 || count(w, trace.KindSend) != 4 || count(w, trace.KindExecute) != 4 || count(w, trace.KindReceive) != 4 {
		t.Errorf("it went otherwise:\n%s", strings.Join(story(w, trace.KindFailed, trace.KindSend, trace.KindExecute, trace.KindReceive), "\n"))
	}
}

// FuzzSeam: where the bytes of commands are cut into two writes makes no difference
// to what arrives at the server.
func FuzzSeam(f *testing.F) {
	for _, in := range []string{
		"*1\r\n$4\r\nPING\r\n", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n",
		"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\na\r\nb\r\n*1\r\n$4\r\nPI", "*1\r\n$0\r\n\r\n*1\r\n$0\r\n\r\n",
		"*1\r\n$5\r\nMULTI\r\n*2\r\n$3\r\nTTL\r\n$1\r\nk\r\n*1\r\n$4\r\nEXEC\r\n",
	} {
		f.Add([]byte(in), 5)
	}
	w, echo := seam(f)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		if !harmless(in) {
			return
		}
		whole := feed(t, w, echo, in)
		cut = max(0, min(cut, len(in)))
		if parts := feed(t, w, echo, in[:cut], in[cut:]); parts != whole {
			t.Fatalf("%q, cut at %d: %q instead of %q", in, cut, parts, whole)
		}
		var bytewise [][]byte
		for i := range in {
			bytewise = append(bytewise, in[i:i+1])
		}
		if parts := feed(t, w, echo, bytewise...); parts != whole {
			t.Fatalf("%q, byte by byte: %q instead of %q", in, parts, whole)
		}
	})
}

// harmless keeps the fuzzer from bytes that are no commands, and from commands that
// block, or whose answer isn't the same twice.
func harmless(in []byte) bool {
	for {
		args, taken, err := resp.Parse(in)
		switch {
		case err != nil:
			return false
		case taken == 0:
			return true
		}
		switch strings.ToUpper(args[0]) {
		case "PING", "ECHO", "GET", "SET", "DEL", "TTL", "MULTI", "EXEC", "":
		default:
			return false
		}
		in = in[taken:]
	}
}
