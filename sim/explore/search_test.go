package explore

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"lockstep/strategies"
)

func TestTry(t *testing.T) {
	name := os.Getenv("S")
	if name == "" {
		t.Skip()
	}
	s, _ := strategies.Get(name)
	b := Defaults(s)
	b.Faults = Budget{}
	b.Faults[Crash], b.Faults[Pause], b.Faults[ReplyLost] = 1, 2, 1
	start := time.Now()
	n := 0
	r, err := Run(context.Background(), b, Options{Progress: func(p Progress) {
		if n++; n%25 == 0 {
			fmt.Printf("%+v %d moments\n", p, 0)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s: %d states, %d transitions, %s\n", name, r.States, r.Transitions, time.Since(start))
	for _, v := range r.Violated {
		fmt.Printf("  %s faults=%d switches=%d steps=%d %s\n", v.Code, len(v.Faults), v.Switches, v.Steps, v.Trace.Schedule)
	}
}
