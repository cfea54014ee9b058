package cli

import (
	"context"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/explore"
)

// A search's answer is the first row; where rows go off a terminal it is the last one, too.
func TestAnswerIsRepeatedOnATerminal(t *testing.T) {
	st, err := scenarios.FindStrategy("setnx")
	if err != nil {
		t.Fatal(err)
	}
	b := explore.Defaults(st)
	b.Cycles = 1
	r, err := explore.Run(context.Background(), b, explore.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	answer := headline(r) + "\n"
	if got := strings.Join(strings.Fields(answer), " "); got != "setnx: "+r.Summary() {
		t.Errorf("the answer is %s", got)
	}
	for _, again := range []bool{true, false} {
		text, err := resultText(r, again)
		if err != nil || !strings.HasPrefix(text, answer) || strings.HasSuffix(text, "\n\n"+answer) != again {
			t.Errorf("on a terminal %v: %v\n%s", again, err, text)
		}
	}
}
