package process

import (
	"strings"
	"testing"
	"time"

	"lockstep/sim/resp"
	"lockstep/sim/trace"
)

// echo is a host whose servers answer each command with its words.
type echo struct{ heard *[]string }

func (e echo) Dial(*Conn) Line { return e }
func (e echo) Exchange(args []string) []byte {
	*e.heard = append(*e.heard, strings.Join(args, "|"))
	return []byte("+OK\r\n")
}
func (echo) HangUp()                                   {}
func (e echo) Renew() Line                             { return e }
func (echo) Reset()                                    {}
func (echo) Announced(*Thread) bool                    { return false }
func (echo) Started(*Thread)                           {}
func (echo) Ended(*Thread)                             {}
func (echo) Tell(*trace.Event)                         {}
func (echo) Drew()                                     {}
func (echo) GrantSent(int) time.Duration               { return 0 }
func (echo) LeaseLive(int) bool                        { return false }
func (echo) AwaitLapse(*Client, time.Duration)         {}
func (echo) NextArrival() (in time.Duration, any bool) { return 0, false }
func (echo) Obstructed() bool                          { return false }
func (echo) Patience(int) time.Duration                { return 0 }
func (echo) NeverGranted()                             {}

// feed writes the parts to a new connection, outside of any thread, and returns the
// commands that arrive and the bytes that are left.
func feed(t *testing.T, parts ...[]byte) string {
	t.Helper()
	var heard []string
	c := NewRuntime(echo{&heard}).NewClient(0, "A", []string{"n1"}, 0)
	defer c.Close() //nolint:errcheck // nothing is open
	conn := c.Dial(0)
	for _, part := range parts {
		if n, err := conn.Write(part); err != nil || n != len(part) {
			t.Fatalf("writing %q: %d, %v", part, n, err)
		}
	}
	return strings.Join(heard, "\n") + "\n" + string(conn.partial)
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
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		if !wellFormed(in) {
			return
		}
		whole := feed(t, in)
		cut = max(0, min(cut, len(in)))
		if parts := feed(t, in[:cut], in[cut:]); parts != whole {
			t.Fatalf("%q, cut at %d: %q instead of %q", in, cut, parts, whole)
		}
		var bytewise [][]byte
		for i := range in {
			bytewise = append(bytewise, in[i:i+1])
		}
		if parts := feed(t, bytewise...); parts != whole {
			t.Fatalf("%q, byte by byte: %q instead of %q", in, parts, whole)
		}
	})
}

// wellFormed reports whether a server would read the bytes to their end, or wait for
// more: after an error it would hang up.
func wellFormed(in []byte) bool {
	for {
		_, taken, err := resp.Parse(in)
		if err != nil || taken == 0 {
			return err == nil
		}
		in = in[taken:]
	}
}

// TestBuffersOfSubscriptions: go-redis makes the buffers of a subscription's connection as small as all others.
func TestBuffersOfSubscriptions(t *testing.T) {
	c := NewRuntime(echo{new([]string)}).NewClient(0, "A", []string{"n1"}, 0)
	defer c.Close() //nolint:errcheck // nothing is open
	for _, name := range []string{"ReadBufferSize", "WriteBufferSize"} {
		if size := field(bufferOptions(c.redis[0]), name); !size.IsValid() || size.Int() != bufferSize {
			t.Errorf("%s is %v: does this version of go-redis keep it otherwise than 9.22 does?", name, size)
		}
	}
}
