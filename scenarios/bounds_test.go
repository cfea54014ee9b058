package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// A script that would never end is stopped, and told where: at the step that
// it was at.
func TestBounds(t *testing.T) {
	testenv.LongRaced(t)
	const years = int(trace.MaxTime / (365 * 24 * time.Hour))
	for i, tt := range []struct{ name, strategy, yaml, want string }{
		{
			"somebody asks every nanosecond", "setpx-lua", `title: x
setup:
  latency: 0s
  retry: {tries: 0, delay: 1ns}
script:
  - run: A
    to: work
  - say: B asks.
  - run: B
`, "test.yaml:9: the run was stopped after 100000 events: nothing ends it, as B asks for the lock again and again; `retry: {tries: 1}` in its setup lets each client ask once",
		},
		{
			"a thousand cycles of eight clients, without work or latency", "naive-del", `title: x
setup:
  latency: 0s
  retry: {tries: 0, delay: 1us, jitter: 1us}
  clients:
` + clients("A B C D E F G H", "{work: 0s, cycles: 1000}") + `script:
  - run: all
    for: 1h
`, "test.yaml:15: the run was stopped after 100000 events: nothing ends it",
		},
		{
			"somebody polls for a year", "naive-del", `title: x
setup:
  clients: {A: {work: 8760h}, B: }
  ttl: 8760h
  retry: {tries: 0, delay: 200ms}
script:
  - run: A
    to: work
  - run: B
    within: 8760h
`, "test.yaml:9: the run was stopped after 100000 events: nothing ends it, as B asks for the lock again and again; `retry: {tries: 1}` in its setup lets each client ask once",
		},
		{
			"looking ahead for a year", "naive-del", `title: x
setup:
  clients: {A: {work: 8760h}, B: }
  ttl: 8760h
  retry: {tries: 0, delay: 200ms}
script:
  - run: A
    to: work
  - run: B
    to: before release last
    within: 8760h
`, "test.yaml:9: the run was stopped after 100000 events: nothing ends it, as B asks for the lock again and again; `retry: {tries: 1}` in its setup lets each client ask once",
		},
		{
			"years of waiting", "setnx", in(strings.Repeat("  - wait: 8760h\n", years+1)),
			fmt.Sprintf("test.yaml:%d: the run was stopped at %d days: it would go on for more than %d years of virtual time", 2+years+1, 365*years, years),
		},
		{
			"years of clients asking once a year", "setnx", `title: x
setup:
  clients: {A: , B: {insist: 8760h}}
  retry: {tries: 1}
script:
  - run: A
    to: after acquire first
  - crash: A
` + strings.Repeat("  - run: B\n    for: 8760h\n", years+1),
			fmt.Sprintf("test.yaml:%d: the run was stopped at ", 9+2*(years-1)),
		},
		{
			"ten years too many for the probe", "setnx", in("  - run: A\n    to: after acquire first\n  - crash: A\n" + strings.Repeat("  - wait: 8760h\n", years-1)),
			fmt.Sprintf("test.yaml:%d: after this, the last step: the run was stopped at ", 5+years-1),
		},
		{
			"a clock that is set forward for ever", "getset-equal", in(strings.Repeat("  - clock: {client: A, by: 8760h}\n", 400) + "  - run: A\n"),
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if 0 < i && i < 4 {
				testenv.Long(t) // a hundred thousand events, as of the first
			}
			_, err := script(t, tt.yaml).Run(strategy(t, tt.strategy), 1)
			switch {
			case err == nil && tt.want != "":
				t.Fatalf("it ended; want %s", tt.want)
			case err != nil && (tt.want == "" || !strings.HasPrefix(err.Error(), tt.want)):
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
		})
	}
}

func clients(names, settings string) string {
	var b strings.Builder
	for _, name := range strings.Fields(names) {
		b.WriteString("    " + name + ": " + settings + "\n")
	}
	return b.String()
}

// An impossible configuration is reported with the line of the setup.
func TestSetupThatNoRunCanHave(t *testing.T) {
	// Every part of a setup is checked when it is read, so this takes a client
	// that the loader cannot refuse: the bounds of loader and engine must agree.
	for _, yaml := range []string{
		with("  ttl: 8760h\n  timeout: 8760h\n  latency: 8760h\n  retry: {tries: 0, delay: 8760h, jitter: 8760h}\n"),
		with("  clients:\n" + clients("A B C D E F G H", "{work: 8760h, insist: 8760h, offset: -8760h, rate: 0.1, cycles: 1000}")),
		with("  clients: {A: {offset: 8760h, rate: 10}}\n  ttl: 1ms\n"),
	} {
		s := script(t, yaml)
		for _, name := range []string{"setpx-lua", "redlock"} {
			cfg := s.Config(strategy(t, name), 1)
			if err := cfg.Validate(); err != nil {
				t.Errorf("the loader accepts what the engine refuses: %v\nof\n%s", err, yaml)
			}
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"512MB": 512_000_000, "2GiB": 2 << 30, "1.5KiB": 1536, "1KB": 1000} {
		if got, err := ParseSize(text); got != want || err != nil {
			t.Errorf("%s is %d, %v", text, got, err)
		}
	}
}
