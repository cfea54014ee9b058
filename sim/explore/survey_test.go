package explore

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"lockstep/strategies"
)

func TestSurvey(t *testing.T) {
	want := os.Getenv("S")
	for _, s := range strategies.All() {
		if want != "" && s.Name != want {
			continue
		}
		b := Defaults(s)
		b.Faults = Budget{}
		switch os.Getenv("F") {
		case "a":
			b.Faults[Crash], b.Faults[Pause] = 1, 1
			b.Cycles = 1
		case "b":
			b.Faults[Crash], b.Faults[Pause], b.Faults[ReplyLost] = 1, 1, 1
			b.Cycles = 1
		case "d":
			b.Faults[Crash], b.Faults[Pause], b.Faults[ReplyLost] = 1, 1, 1
		case "c":
			b.Faults[Crash], b.Faults[Pause] = 1, 1
		}
		start := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		r, err := Run(ctx, b, Options{})
		cancel()
		if err != nil {
			fmt.Println(s.Name, err)
			continue
		}
		fmt.Printf("%s: %t %d states, %d transitions, cmd %d op %d %s vac %+v near %+v\n", s.Name, r.Complete, r.States, r.Transitions, r.Commands, r.Operations, time.Since(start).Round(time.Millisecond), r.Vacuity, r.Near)
		for _, v := range r.Violated {
			text := v.Trace.Schedule
			fmt.Printf("    {%q, %d, %d, %d} %s\n", v.Code, v.Faults, v.Switches, v.Steps, text[len(text)-min(len(text), 80):])
		}
	}
}
