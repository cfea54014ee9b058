package resp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// command is a command as a client sends it.
func command(words ...string) string {
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
		{command("PING"), []string{"PING"}, ""},
		{command("GET", "k") + "*1", []string{"GET", "k"}, "*1"},
		{command("SET", "", "a\r\nb"), []string{"SET", "", "a\r\nb"}, ""},
		{command("SET", "k", "*1\r\n$4\r\nPING\r\n"), []string{"SET", "k", "*1\r\n$4\r\nPING\r\n"}, ""},
		{command(make([]string, 40)...), make([]string, 40), ""},
		{"*01\r\n$+4\r\nPING\r\n", []string{"PING"}, ""}, // as Redis's own string2ll would not, but no client sends it
	} {
		args, taken, err := Parse([]byte(tc.in))
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
		_, taken, err := Parse([]byte(in))
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

// commands is what Parse finds, one after the other.
func commands(in []byte) (all [][]string, rest []byte, err error) {
	for {
		args, taken, err := Parse(in)
		if err != nil || taken == 0 {
			return all, in, err
		}
		all, in = append(all, args), in[taken:]
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
		if got := Text([]byte(in)); got != want {
			t.Errorf("%q reads %s, expected %s", in, got, want)
		}
	}
}

// seeds are byte strings in which a parser may go astray.
var seeds = []string{
	command("PING"), command("GET", "k") + command("DEL", "k"), command("SET", "k", "a\r\nb", "NX", "PX", "10") + "*1\r\n$4\r\nPI",
	"*2\r\n$3\r\nGET\r\n$-1\r\n", "*1\r\n$4\r\nPING\n\n", "*-1\r\n", "*", "*1000000\r\n", "PING\r\n", command(""), "*1" + strings.Repeat("0", 40),
	"*1\r\n$0\r\n\r\n*1\r\n$0\r\n\r\n", "*+1\r\n$04\r\nPING\r\n", command("MULTI") + command("TTL", "k") + command("EXEC"),
}

// FuzzParseCommand: no bytes make the parser panic, and it finds the commands that a
// simple parser finds.
func FuzzParseCommand(f *testing.F) {
	for _, in := range seeds {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
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
	})
}

// A reply is read whole, and nothing behind it.
func TestRead(t *testing.T) {
	for _, reply := range []string{"+OK\r\n", "-ERR no\r\n", ":42\r\n", "$-1\r\n", "$0\r\n\r\n", "$4\r\na\r\nb\r\n", "*-1\r\n", "*0\r\n",
		"*2\r\n*2\r\n:1\r\n$1\r\nx\r\n$-1\r\n"} {
		in := bufio.NewReader(strings.NewReader(reply + "+NEXT\r\n"))
		got, err := Read(in)
		if err != nil || string(got) != reply {
			t.Errorf("%q: read %q, %v", reply, got, err)
		}
		if rest, err := Read(in); err != nil || string(rest) != "+NEXT\r\n" {
			t.Errorf("%q: behind it %q, %v", reply, rest, err)
		}
		for i := range reply {
			if got, err := Read(bufio.NewReader(strings.NewReader(reply[:i]))); err == nil {
				t.Errorf("%q was read as %q", reply[:i], got)
			}
		}
	}
	for _, no := range []string{"OK\r\n", "\r\n", "+OK\n", "$x\r\n", "$99999999999\r\n", "*1\r\nfoo\r\n", strings.Repeat("*1\r\n", 200) + ":1\r\n"} {
		if _, err := Read(bufio.NewReader(strings.NewReader(no))); !errors.Is(err, errProtocol) {
			t.Errorf("%.40q: %v", no, err)
		}
	}
}

// What Append writes Parse reads, and Words.
func TestAppend(t *testing.T) {
	for _, words := range [][]string{{"PING"}, {"SET", "", "a\r\nb"}} {
		command := Append([]byte("before"), words...)
		got, err := Words(command[len("before"):])
		if err != nil || !slices.Equal(got, words) {
			t.Errorf("%q: %q, %v", words, got, err)
		}
	}
	if got, err := Words([]byte("*0\r\n")); err != nil || got != nil {
		t.Errorf("an empty list: %q, %v", got, err)
	}
	for _, no := range []string{"", "+OK\r\n", "*1\r\n:1\r\n", "*-1\r\n", "*1\r\n$1\r\nx\r\n+"} {
		if got, err := Words([]byte(no)); err == nil {
			t.Errorf("%q: %q", no, got)
		}
	}
}
