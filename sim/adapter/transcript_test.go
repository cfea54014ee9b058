//go:build unix

package adapter_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"lockstep/sim/testenv"
)

// TestTranscript: docs/protocol.md shows what is said in the first executions of the examples,
// one that is synchronous and one that is not.
func TestTranscript(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	for l, under := range map[language]string{languages[0]: "pause-past-ttl", languages[2]: "reply-lost"} {
		t.Run(l.name, func(t *testing.T) {
			p := l.start(t)
			if l.folder == "python" && !strings.Contains(p.Strategy().Summary, "redis-py 4.3.4,") {
				testenv.Need(t, errors.New("the transcript is of redis-py 4.3.4, and this is "+p.Strategy().Summary))
			}
			first, text := 0, "```\n"
			path := regexp.MustCompile(`"/[^"]*/(fork|[0-9]+[.])`)
			p.Transcribe(func(fd int, line string) {
				if first == 0 && !strings.Contains(line, `"type":"fork"`) {
					first = fd
				}
				if fd == first {
					text += path.ReplaceAllString(line, `"/tmp/$1`) + "\n"
				}
			})
			if _, err := scenario(t, under).Run(p.Strategy(), 1); err != nil {
				t.Fatal(err)
			}
			text = regexp.MustCompile(`/tmp/[0-9]+[.]`).ReplaceAllString(text, "/tmp/7.") + "```\n"
			if !strings.Contains(string(page), text) {
				t.Errorf("docs/protocol.md hasn't the transcript of %s:\n%s", l.name, text)
			}
		})
	}
}
