package adapter

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lockstep/sim/spawn"
)

// channel is the control connection of one process.
type channel struct {
	fd    int
	came  []byte
	ended bool           // the process's end is closed
	owner *spawn.Process // or nil: it was forked by another

	transcript func(fd int, line string) // of the program
}

// maxLine is the length of the longest message.
const maxLine = 1 << 20

// send sends a message. It fails if the process has ended, or doesn't read.
func (ch *channel) send(m Message) error {
	ch.note("> ", m.text())
	return transmit(ch.fd, append([]byte(m.text()), '\n'))
}

// quote has the transcript take down bytes.
func (ch *channel) quote(way string, what []byte) {
	if ch.transcript != nil {
		ch.note(way, strconv.Quote(string(what)))
	}
}

// note has the transcript take down a text, if there is a transcript.
func (ch *channel) note(way, what string) {
	if ch.transcript != nil {
		ch.transcript(ch.fd, way+what)
	}
}

// read takes in the bytes that have come.
func (ch *channel) read() {
	var ended bool
	ch.came, ended = receive(ch.fd, ch.came)
	ch.ended = ch.ended || ended
}

// line takes the first whole line off the bytes that have come, if there is one.
func (ch *channel) line() (line string, any bool) {
	end := bytes.IndexByte(ch.came, '\n')
	if end < 0 {
		return "", false
	}
	line = string(ch.came[:end])
	ch.came = append(ch.came[:0], ch.came[end+1:]...)
	return line, true
}

// next takes the first message off the bytes that have come, if there is one. It fails if that line
// is no message, if the process has ended, or if a line has no end.
func (ch *channel) next() (m Message, any bool, err error) {
	line, any := ch.line()
	switch {
	case any:
		ch.note("< ", line)
		if m, err = parseMessage(line); err != nil {
			return m, false, fmt.Errorf("has sent %.200q where a message should be: %w", line, err)
		}
		return m, true, nil
	case ch.ended:
		return m, false, errEnded
	case len(ch.came) > maxLine:
		return m, false, fmt.Errorf("has sent a line of more than %d bytes, which begins with %.60q", maxLine, ch.came)
	}
	return m, false, nil
}

var errEnded = errors.New("has ended, or has closed its control connection")

// greet waits for the message by which a process begins.
func (ch *channel) greet(patience time.Duration) (Message, error) {
	for {
		m, any, err := ch.next()
		if err != nil {
			return m, err
		}
		if any {
			if err := m.check(); err != nil {
				return m, fmt.Errorf("has sent %s: %w", m.text(), err)
			}
			return m, nil
		}
		if !await([]int{ch.fd}, patience) {
			return m, fmt.Errorf("has not said hello on its control connection, descriptor %d, within %s", controlFD, patience)
		}
		ch.read()
	}
}

// close ends the process: it reads the end of its control connection, or is killed.
func (ch *channel) close() { closeFD(ch.fd) }
