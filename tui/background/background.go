// Package background finds out whether a terminal is dark. It waits no longer than it is told to, where
// termenv waits up to five seconds for a terminal that doesn't answer.
package background

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Patience is how long a terminal has for its answer. A mute one costs as much at the start; an answer that came
// later would be taken for keys.
const Patience = time.Second

// Dark reports whether the terminal has a dark background. It asks, unless the environment knows; one that
// doesn't say is taken for dark, as most are.
func Dark(tty *os.File) bool {
	if last := os.Getenv("COLORFGBG"); last != "" {
		if colour, err := strconv.Atoi(last[strings.LastIndex(last, ";")+1:]); err == nil {
			return colour < 7 || colour == 8
		}
	}
	for _, mute := range []string{"dumb", "screen", "tmux", "linux"} { // these don't hand the answer on, or have none
		if strings.HasPrefix(os.Getenv("TERM"), mute) {
			return true
		}
	}
	dark, _ := ask(tty, Patience)
	return dark
}

// question asks for the background, and then for the terminal's kind: every terminal answers that, so that the
// end of the first answer is known where there is none.
const question = "\x1b]11;?\x1b\\\x1b[c"

var (
	colour = regexp.MustCompile(`\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})`)
	kind   = regexp.MustCompile(`\x1b\[\?[0-9;]*c`)
)

// complete reports whether a terminal has said all that it was asked.
func complete(answer []byte) bool { return kind.Match(answer) }

// darkness reads an answer. It is false, too, if there is no colour in it.
func darkness(answer []byte) (dark, said bool) {
	m := colour.FindSubmatch(answer)
	if m == nil {
		return true, false
	}
	var part [3]float64
	for i := range part {
		digits := string(bytes.ToLower(m[i+1]))
		n, err := strconv.ParseUint(digits, 16, 32)
		if err != nil {
			return true, false
		}
		part[i] = float64(n) / float64(uint64(1)<<(4*len(digits))-1)
	}
	return 0.299*part[0]+0.587*part[1]+0.114*part[2] < 0.5, true
}
