package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/strategies"
)

// resp is a command as a client sends it.
func resp(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

func TestParseCommand(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want []string // nil: not complete
		rest string
	}{
		{"", nil, ""},
		{"*", nil, "*"},
		{"*1\r", nil, "*1\r"},
		{"*1\r\n$4\r\nPING", nil, "*1\r\n$4\r\nPING"},
		{"*1\r\n$4\r\nPING\r", nil, "*1\r\n$4\r\nPING\r"},
		{resp("PING"), []string{"PING"}, ""},
		{resp("GET", "k") + "*1", []string{"GET", "k"}, "*1"},
		{resp("SET", "", "a\r\nb"), []string{"SET", "", "a\r\nb"}, ""},
		{resp("SET", "k", "*1\r\n$4\r\nPING\r\n"), []string{"SET", "k", "*1\r\n$4\r\nPING\r\n"}, ""},
		{resp(make([]string, 40)...), make([]string, 40), ""},
		{"*01\r\n$+4\r\nPING\r\n", []string{"PING"}, ""}, // as Redis's own string2ll would not, but no client sends it
	} {
		args, taken, err := parseCommand([]byte(tc.in))
		if err != nil || !slices.Equal(args, tc.want) || tc.in[taken:] != tc.rest {
			t.Errorf("%.60q: %q, %q left, %v", tc.in, args, tc.in[taken:], err)
		}
	}
}

func TestParseCommandErrors(t *testing.T) {
	for in, want := range map[string]string{
		"PING\r\n":                     `protocol error: expected '*', got 'P'`,
		"\r\n":                         `protocol error: expected '*', got '\r'`,
		"*0\r\n":                       `protocol error: a command of 0 words`,
		"*-1\r\n":                      `protocol error: a command of -1 words`,
		"*x\r\n":                       `protocol error: invalid length "x"`,
		"*\r\n":                        `protocol error: invalid length ""`,
		"*1\n":                         `protocol error: a line that does not end in CR LF`,
		"*1048577\r\n":                 `protocol error: invalid length "1048577"`,
		"*99999999999999999999\r\n":    `protocol error: invalid length "99999999999999999999"`,
		"*1" + strings.Repeat("0", 40): `protocol error: a length of more than 30 characters`,
		"*1\r\n+PING\r\n":              `protocol error: expected '$', got '+'`,
		"*1\r\n$-1\r\n":                `protocol error: a word of length -1`,
		"*1\r\n$536870913\r\n":         `protocol error: invalid length "536870913"`,
		"*1\r\n$3\r\nPING\r\n":         `protocol error: a word longer than its length says`,
		"*1\r\n$4\r\nPING\n\n":         `protocol error: a word longer than its length says`,
	} {
		_, taken, err := parseCommand([]byte(in))
		if !errors.Is(err, errProtocol) || err.Error() != want || taken != 0 {
			t.Errorf("%.40q: %d bytes, %v; expected %s", in, taken, err, want)
		}
	}
}

// reference reads commands the slow and obvious way: all that are complete, and
// what is left.
func reference(in string) (commands [][]string, rest string, err error) {
	for in != "" {
		var args []string
		after, words, err := referenceLine(in, '*')
		if err != nil || after == in {
			return commands, in, err
		}
		if words < 1 || words > maxArgs {
			return commands, in, errProtocol
		}
		for len(args) < words {
			body, size, err := referenceLine(after, '$')
			if err != nil || body == after {
				return commands, in, err
			}
			if size < 0 || size > maxBulk {
				return commands, in, errProtocol
			}
			if len(body) < size+2 {
				return commands, in, nil
			}
			if body[size:size+2] != "\r\n" {
				return commands, in, errProtocol
			}
			args = append(args, body[:size])
			after = body[size+2:]
		}
		commands = append(commands, args)
		in = after
	}
	return commands, in, nil
}

// referenceLine reads one length; if it returns in itself, the line isn't complete.
func referenceLine(in string, mark byte) (after string, n int, err error) {
	if in == "" {
		return in, 0, nil
	}
	if in[0] != mark {
		return in, 0, errProtocol
	}
	line, after, found := strings.Cut(in, "\n")
	if len(line) > 31 || !found && len(in) > 31 {
		return in, 0, errProtocol
	}
	if !found {
		return in, 0, nil
	}
	text, crlf := strings.CutSuffix(line[1:], "\r")
	if !crlf {
		return in, 0, errProtocol
	}
	if n, err = strconv.Atoi(text); err != nil {
		return in, 0, errProtocol
	}
	return after, n, nil
}

// commands is what parseCommand finds, one after the other.
func commands(in []byte) (all [][]string, rest []byte, err error) {
	for {
		args, taken, err := parseCommand(in)
		if err != nil || taken == 0 {
			return all, in, err
		}
		all, in = append(all, args), in[taken:]
	}
}

// seam is a connection outside of any thread: its node executes at once.
func seam(t testing.TB) (*World, *conn) {
	w := newWorld(t, config(t, "setnx", "A"))
	return w, &conn{world: w, client: w.clients[0]}
}

// FuzzParseCommand: no bytes make the reader panic; it finds the commands that a
// simple reader finds; and where the bytes are cut into two writes makes no
// difference to what arrives at the server.
func FuzzParseCommand(f *testing.F) {
	for _, in := range []string{
		resp("PING"), resp("GET", "k") + resp("DEL", "k"), resp("SET", "k", "a\r\nb", "NX", "PX", "10") + "*1\r\n$4\r\nPI",
		"*2\r\n$3\r\nGET\r\n$-1\r\n", "*1\r\n$4\r\nPING\n\n", "*-1\r\n", "*", "*1000000\r\n", "PING\r\n", resp(""), "*1" + strings.Repeat("0", 40),
		"*1\r\n$0\r\n\r\n*1\r\n$0\r\n\r\n", "*+1\r\n$04\r\nPING\r\n", resp("MULTI") + resp("TTL", "k") + resp("EXEC"),
	} {
		f.Add([]byte(in), 5)
	}
	w, echo := seam(f)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		before := bytes.Clone(in)
		got, rest, err := commands(in)
		want, left, wantErr := reference(string(in))
		if (err != nil) != (wantErr != nil) || !reflect.DeepEqual(got, want) || string(rest) != left {
			t.Fatalf("%q:\ngot      %q, %q left, %v\nexpected %q, %q left, %v", in, got, rest, err, want, left, wantErr)
		}
		if err != nil && !errors.Is(err, errProtocol) {
			t.Fatalf("%q: %v is no protocol error", in, err)
		}
		if !bytes.Equal(in, before) {
			t.Fatalf("%q has become %q", before, in)
		}
		if err != nil || !harmless(got) {
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

// harmless keeps the fuzzer from commands that block, or whose answer isn't the
// same twice, in the server that answers the seam.
func harmless(all [][]string) bool {
	for _, args := range all {
		switch strings.ToUpper(args[0]) {
		case "PING", "ECHO", "GET", "SET", "DEL", "TTL", "MULTI", "EXEC", "":
		default:
			return false
		}
	}
	return true
}

// feed writes the parts to a connection as new and returns what the server says.
func feed(t *testing.T, w *World, c *conn, parts ...[]byte) string {
	t.Helper()
	c.reset()
	for _, n := range w.nodes {
		n.reset(NodeConfig{})
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
	if count(w, KindGranted) != 1 || count(w, KindSend) != 4 || count(w, KindExecute) != 4 || count(w, KindReceive) != 4 {
		t.Errorf("it went otherwise:\n%s", strings.Join(story(w, KindFailed, KindSend, KindExecute, KindReceive), "\n"))
	}
}

// TestReplyText: replies read as redis-cli would show them, on one line.
func TestReplyText(t *testing.T) {
	for in, want := range map[string]string{
		"+OK\r\n":                              "OK",
		"-ERR no\r\n":                          "error ERR no",
		":-2\r\n":                              "-2",
		"$-1\r\n":                              "nil",
		"_\r\n":                                "nil",
		"*-1\r\n":                              "nil",
		"*0\r\n":                               "[]",
		"$0\r\n\r\n":                           `""`,
		"$5\r\nhello\r\n":                      "hello",
		"$3\r\na b\r\n":                        `"a b"`,
		"$4\r\na\r\nb\r\n":                     `"a\r\nb"`,
		"*2\r\n:1\r\n*2\r\n+QUEUED\r\n$-1\r\n": "[1, [QUEUED, nil]]",
		"":                                     `""`,
		"$9\r\ncut":                            "nil",
		"*3\r\n:1\r\n":                         "[1]",
	} {
		if got := replyText([]byte(in)); got != want {
			t.Errorf("%q reads %s, expected %s", in, got, want)
		}
	}
}
