package resp

import (
	"bytes"
	"errors"
	"fmt"
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
	case '*':
		size, err := strconv.Atoi(body)
		if err != nil || size < 0 {
			return "nil", rest
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
