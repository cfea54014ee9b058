package resp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"lockstep/sim/trace"
)

// errProtocol is a real server's error before it closes the connection.
var errProtocol = errors.New("protocol error")

// The limits of Redis itself, so that a malformed length is an error here too
// and not an attempt to allocate.
const (
	maxArgs = 1024 * 1024
	maxBulk = 512 * 1024 * 1024
)

// Parse reads the first command of buf, an array of bulk strings, as clients send commands.
// It returns the length of the command in bytes, or 0 if the command isn't complete yet. It
// fails if the bytes can't begin a command.
func Parse(buf []byte) (args []string, taken int, err error) {
	if len(buf) == 0 {
		return nil, 0, nil
	}
	count, pos, err := parseLength(buf, 0, '*', maxArgs)
	if err != nil || pos == 0 {
		return nil, 0, err
	}
	if count < 1 {
		return nil, 0, fmt.Errorf("%w: a command of %d words", errProtocol, count)
	}
	type span struct{ from, to int }
	var few [16]span // most commands fit, and then the spans stay on the stack
	spans := few[:0]
	for range count {
		size, next, err := parseLength(buf, pos, '$', maxBulk)
		if err != nil || next == 0 {
			return nil, 0, err
		}
		if size < 0 {
			return nil, 0, fmt.Errorf("%w: a word of length %d", errProtocol, size)
		}
		if len(buf)-next < size+2 {
			return nil, 0, nil
		}
		if buf[next+size] != '\r' || buf[next+size+1] != '\n' {
			return nil, 0, fmt.Errorf("%w: a word longer than its length says", errProtocol)
		}
		spans = append(spans, span{next, next + size})
		pos = next + size + 2
	}
	text := string(buf[:pos]) // one allocation for all the words
	args = make([]string, len(spans))
	for i, s := range spans {
		args[i] = text[s.from:s.to]
	}
	return args, pos, nil
}

// parseLength reads a line such as "*3" or "$10" at pos, and returns the number and the
// position of the next line, or 0 for that if the line isn't complete.
func parseLength(buf []byte, pos int, mark byte, limit int) (n, next int, err error) {
	if pos >= len(buf) {
		return 0, 0, nil
	}
	if buf[pos] != mark {
		return 0, 0, fmt.Errorf("%w: expected %q, got %q", errProtocol, mark, buf[pos])
	}
	eol := bytes.IndexByte(buf[pos:min(len(buf), pos+32)], '\n')
	if eol < 0 {
		if len(buf) >= pos+32 {
			return 0, 0, fmt.Errorf("%w: a length of more than 30 characters", errProtocol)
		}
		return 0, 0, nil
	}
	line := buf[pos+1 : pos+eol]
	if len(line) == 0 || line[len(line)-1] != '\r' {
		return 0, 0, fmt.Errorf("%w: a line that does not end in CR LF", errProtocol)
	}
	n, err = strconv.Atoi(string(line[:len(line)-1]))
	if err != nil || n > limit {
		return 0, 0, fmt.Errorf("%w: invalid length %q", errProtocol, line[:len(line)-1])
	}
	return n, pos + eol + 1, nil
}

// Text returns a reply as redis-cli would show it, on one line.
func Text(reply []byte) string {
	text, _ := element(reply)
	return text
}

func element(b []byte) (text string, rest []byte) {
	line, rest, found := bytes.Cut(b, []byte("\r\n"))
	if !found || len(line) == 0 {
		return strconv.Quote(string(b)), nil
	}
	body := string(line[1:])
	switch line[0] {
	case '+':
		return body, rest
	case '-':
		return "error " + body, rest
	case ':':
		return body, rest
	case '_':
		return "nil", rest
	case '$':
		size, err := strconv.Atoi(body)
		if err != nil || size < 0 || len(rest) < size+2 {
			return "nil", rest
		}
		return trace.WordText(string(rest[:size])), rest[size+2:]
	case ',', '#':
		return body, rest
	case '*', '~', '>', '%':
		size, err := strconv.Atoi(body)
		if err != nil || size < 0 {
			return "nil", rest
		}
		if line[0] == '%' {
			size *= 2
		}
		var parts []string
		for i := 0; i < size && len(rest) > 0; i++ {
			var part string
			part, rest = element(rest)
			parts = append(parts, part)
		}
		return "[" + strings.Join(parts, ", ") + "]", rest
	}
	return strconv.Quote(string(line)), rest
}

// Append appends a command to buf in the form in which clients send it.
func Append(buf []byte, args ...string) []byte {
	buf = fmt.Appendf(buf, "*%d\r\n", len(args))
	for _, a := range args {
		buf = fmt.Appendf(buf, "$%d\r\n%s\r\n", len(a), a)
	}
	return buf
}

// maxDepth is how deep the replies that Read takes may be nested. Redis's scripts reply with
// less.
const maxDepth = 100

// Read reads one reply, and returns its bytes. It fails if the connection does, or if the
// bytes can't be a reply of RESP2 or RESP3.
func Read(in *bufio.Reader) ([]byte, error) { return read(in, nil, 0) }

// read appends a reply to buf.
func read(in *bufio.Reader, buf []byte, depth int) ([]byte, error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	buf = append(buf, line...)
	if len(line) < 3 || line[len(line)-2] != '\r' || depth > maxDepth {
		return nil, fmt.Errorf("%w: %.40q is no reply", errProtocol, line)
	}
	switch mark := line[0]; mark {
	case '+', '-', ':', '_', ',', '#':
		return buf, nil
	case '$', '*', '~', '%':
		size, err := strconv.Atoi(string(line[1 : len(line)-2]))
		if err != nil || size > maxBulk {
			return nil, fmt.Errorf("%w: %.40q is no length", errProtocol, line)
		}
		if mark == '$' {
			return readBulk(in, buf, size)
		}
		if mark == '%' {
			size *= 2
		}
		for range size {
			if buf, err = read(in, buf, depth+1); err != nil {
				return nil, err
			}
		}
		return buf, nil
	}
	return nil, fmt.Errorf("%w: %.40q is no reply", errProtocol, line)
}

// readBulk appends the word of a bulk string, of which the length has been read: -1 is none.
func readBulk(in *bufio.Reader, buf []byte, size int) ([]byte, error) {
	if size < 0 {
		return buf, nil
	}
	from := len(buf)
	buf = append(buf, make([]byte, size+2)...)
	_, err := io.ReadFull(in, buf[from:])
	return buf, err
}

// Elements returns the replies of which an array, a set or a map consists: of a map each key, and
// then its value. It returns nil for any other reply, and for one that is broken.
func Elements(reply []byte) (all [][]byte) {
	line, rest, found := bytes.Cut(reply, []byte("\r\n"))
	if !found || len(line) == 0 || !strings.ContainsRune("*~%", rune(line[0])) {
		return nil
	}
	for in := bufio.NewReader(bytes.NewReader(rest)); ; {
		element, err := read(in, nil, 1)
		if err != nil {
			return all
		}
		all = append(all, element)
	}
}

// Words returns the bulk strings of a reply that is an array of them. It fails on any other
// reply.
func Words(reply []byte) ([]string, error) {
	if len(reply) > 0 && reply[0] == '*' {
		if words, rest, err := Parse(reply); err == nil && rest == len(reply) {
			return words, nil
		}
		if string(reply) == "*0\r\n" {
			return nil, nil
		}
	}
	return nil, fmt.Errorf("expected a list of words, got %.200s", Text(reply))
}
