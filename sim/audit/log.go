package audit

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Entry is one command in a log.
type Entry struct {
	Line int           // in the file, from 1
	At   time.Duration // since 1970, to the microsecond
	DB   int
	From string // the connection's address, or "lua" for a command of a script
	Args []string
}

// Malformed is the error of a log that has no line of MONITOR's.
type Malformed struct {
	Line int
	Text string
	Why  string
}

// Error names the line.
func (m *Malformed) Error() string {
	return fmt.Sprintf("line %d is none of MONITOR's: %s: %q", m.Line, m.Why, m.Text)
}

// maxLine is the length of the longest line that is read, in bytes.
const maxLine = 16 << 20

// Read reads a log. Lines that are none of MONITOR's, such as the OK at its beginning, are counted
// and left out. It fails with the reader's error, and with [Malformed] for the first such line if
// nothing else is in the log.
func Read(r io.Reader) (entries []Entry, others int, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var first *Malformed
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSuffix(lines.Text(), "\r")
		e, why := parse(text)
		if why == "" {
			e.Line = n
			entries = append(entries, e)
			continue
		}
		if text = strings.TrimPrefix(text, "+"); text == "" || text == "OK" {
			continue
		}
		if others++; first == nil {
			first = &Malformed{n, text[:min(len(text), 120)], why}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, 0, fmt.Errorf("cannot read the log: %w", err)
	}
	if len(entries) == 0 && first != nil {
		return nil, 0, first
	}
	return entries, others, nil
}

// parse reads a line such as
//
//	1339518083.107412 [0 127.0.0.1:60866] "set" "lock" "a \"token\""
//
// of the format that Redis documents: https://redis.io/docs/latest/commands/monitor/
func parse(line string) (e Entry, why string) {
	stamp, rest, _ := strings.Cut(strings.TrimPrefix(line, "+"), " ")
	secs, micros, dotted := strings.Cut(stamp, ".")
	s, err1 := strconv.ParseInt(secs, 10, 40)
	m, err2 := strconv.ParseInt(micros, 10, 32)
	if !dotted || err1 != nil || err2 != nil || len(micros) != 6 || m < 0 {
		return e, "it begins with no time"
	}
	e.At = time.Duration(s)*time.Second + time.Duration(m)*time.Microsecond
	if !strings.HasPrefix(rest, "[") {
		return e, "no [database address] after the time"
	}
	end := strings.Index(rest, "] \"")
	if end < 0 {
		return e, "no command after the address"
	}
	db, from, _ := strings.Cut(rest[1:end], " ")
	if e.DB, err1 = strconv.Atoi(db); err1 != nil {
		return e, "no number of a database"
	}
	e.From = from
	for rest = rest[end+2:]; rest != ""; rest = strings.TrimPrefix(rest, " ") {
		arg, n := quoted(rest)
		if n == 0 {
			return e, "an argument without its closing quote"
		}
		e.Args = append(e.Args, arg)
		rest = rest[n:]
	}
	return e, ""
}

// quoted reads a string in quotes, as Redis escapes it, at the beginning of a text. n is its
// length there, or 0 if there is none.
func quoted(text string) (s string, n int) {
	if !strings.HasPrefix(text, `"`) {
		return "", 0
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return b.String(), i + 1
		case text[i] != '\\':
			b.WriteByte(text[i])
			continue
		}
		if i++; i == len(text) {
			break
		}
		if at := strings.IndexByte("nrtab", text[i]); at >= 0 {
			b.WriteByte("\n\r\t\a\b"[at])
		} else if v, err := strconv.ParseUint(text[min(i+1, len(text)):min(i+3, len(text))], 16, 8); text[i] == 'x' && err == nil {
			b.WriteByte(byte(v))
			i += 2
		} else {
			b.WriteByte(text[i])
		}
	}
	return "", 0
}
