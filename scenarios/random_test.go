package scenarios

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lockstep/sim"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

var (
	randomSeed  = flag.Uint64("scripts.seed", 1, "where TestRandomScripts begins")
	randomCount = flag.Int("scripts.count", 60, "how many scripts TestRandomScripts writes")
)

// Scripts that nobody would write, under every strategy in turn: each loads and
// ends, within the bounds, in a trace whose schedule gives the same trace again,
// also in a world that was used for something else meanwhile.
func TestRandomScripts(t *testing.T) {
	all := strategies.All()
	for i := range *randomCount {
		seed := *randomSeed + uint64(i)
		yaml := writer{rand.New(rand.NewPCG(seed, 0))}.scenario()
		s, err := read("random.yaml", "random.yaml", []byte(yaml))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, yaml)
		}
		st := all[i%len(all)]
		complain := func(format string, args ...any) {
			t.Helper()
			t.Errorf("seed %d, %s: %s\n%s", seed, st.Name, fmt.Sprintf(format, args...), yaml)
		}
		trace, err := s.Run(st, seed)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "random.yaml:") {
				complain("%v", err)
			}
			continue
		}
		schedule, err := sim.ParseSchedule(trace.Schedule, FindStrategy)
		if err != nil {
			complain("its schedule can't be read: %v\n%s", err, trace.Schedule)
			continue
		}
		again, err := s.play(schedule)
		if err != nil {
			complain("its schedule can't be played: %v", err)
			continue
		}
		if got, want := plainWithoutMissed(t, again), plainWithoutMissed(t, trace); got != want || again.Hash != trace.Hash {
			complain("its schedule gives another run:\n%s", firstDifference(got, want))
		}
	}
}

// plainWithoutMissed is the trace as its schedule alone can tell it.
func plainWithoutMissed(t *testing.T, tr *trace.Trace) string {
	t.Helper()
	bare := *tr
	bare.Notes = nil
	for _, n := range tr.Notes {
		if n.Kind != trace.NoteMissed {
			bare.Notes = append(bare.Notes, n)
		}
	}
	return plain(t, &bare)
}

// writer writes scenarios at random.
type writer struct{ *rand.Rand }

func (w writer) one(of ...string) string { return of[w.IntN(len(of))] }

func (w writer) some(chance int, text string) string {
	if w.IntN(100) < chance {
		return text
	}
	return ""
}

func (w writer) duration() string {
	return w.one("1ms", "3ms", "50ms", "700ms", "2s", "5s", "9.9s", "11s")
}

func (w writer) client() string { return w.one("A", "B", "C") }

func (w writer) clients() string { return w.one(w.client(), w.client(), "[A, B]", "[C, A]", "all") }

func (w writer) nodes() string { return w.one("n1", "n2", "[n1, n3]", "pivot", "all", "n5") }

func (w writer) half() string { return w.one("request", "reply") }

func (w writer) scenario() string {
	var b strings.Builder
	cache := w.IntN(3) == 0
	b.WriteString("title: Nobody wrote this\nsetup:\n" + either(cache, "  workload: cache\n", "") + "  clients:\n")
	for _, name := range []string{"A", "B", "C"} {
		fmt.Fprintf(&b, "    %s: {work: %s, cycles: %d%s%s%s%s%s%s%s}\n", name, w.one("0s", "100ms", "1s", "12s"), 1+w.IntN(3),
			w.some(40, ", insist: "+w.one("100ms", "2s")), w.some(20, ", offset: "+w.one("12s", "-3s")),
			w.some(20, ", rate: "+w.one("0.5", "1.01", "3")), w.some(30, ", extend: true"), w.some(20, ", checks: true"),
			w.some(20, ", fallthrough: true"), either(cache, w.some(40, ", recheck: true"), ""))
	}
	b.WriteString(w.some(30, "  latency: "+w.one("0s", "2ms", "100ms")+"\n"))
	b.WriteString(w.some(30, "  timeout: "+w.one("1ms", "50ms", "4s")+"\n"))
	b.WriteString(w.some(30, "  ttl: "+w.one("500ms", "1.5s", "3s")+"\n"))
	b.WriteString(w.some(60, "  retry: {tries: "+w.one("1", "3", "0")+w.some(50, ", delay: 150ms")+w.some(50, ", jitter: "+w.one("0s", "80ms"))+"}\n"))
	b.WriteString(w.some(50, "  persistence: "+w.one("everysec", "always")+"\n"))
	b.WriteString(w.some(20, "  scripts: cold\n"))
	b.WriteString(w.some(20, "  resource: fenced\n"))
	b.WriteString(w.some(10, "  tokens: "+w.one("same", "mangled")+"\n"))
	b.WriteString("script:\n")
	for range 3 + w.IntN(20) {
		b.WriteString("  - " + either(cache && w.IntN(10) == 0, "update: database", w.step()) + "\n")
	}
	return b.String()
}

func either(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

func (w writer) step() string {
	switch w.IntN(24) {
	default:
		return "run: " + w.client() + "\n    to: " + w.position() + w.some(30, "\n    within: "+w.duration()) + w.some(5, "\n    otherwise: stop")
	case 0, 1, 2:
		return "run: " + w.clients() + "\n    for: " + w.duration()
	case 3:
		return "run: " + w.clients() + "\n    within: " + w.duration()
	case 4, 5:
		return "wait: " + w.duration()
	case 6:
		return "pause: " + w.clients()
	case 7:
		return "resume: " + w.clients()
	case 8:
		return "crash: " + w.client()
	case 9:
		return w.one("say: Look.", "{say: Look., under: [setnx, redlock]}", "{ask: Well?, answer: "+w.one(answers...)+"}")
	case 10:
		return "clock: {" + w.one("client: "+w.client(), "node: "+w.nodes()) + ", by: " + w.one("12s", "-3s", "1ms") + "}"
	case 11:
		return "drop: {" + w.half() + ": " + w.client() + "}"
	case 12:
		return "delay: {" + w.half() + ": " + w.client() + ", by: " + w.duration() + "}"
	case 13:
		return "duplicate: {request: " + w.client() + w.some(70, ", after: "+w.duration()) + "}"
	case 14:
		return "cut: {client: " + w.client() + w.some(60, ", nodes: "+w.nodes()) + w.some(50, ", direction: "+w.one("both", "requests", "replies")) + "}"
	case 15:
		return "heal: {client: " + w.client() + "}"
	case 16:
		return "slow: {client: " + w.client() + ", nodes: " + w.nodes() + ", request: " + w.duration() + ", reply: " + w.one("0s", "1ms", "60ms") + "}"
	case 17:
		return "down: " + w.nodes()
	case 18:
		return "up: " + w.nodes()
	case 19:
		return w.one("evict: ", "flush: ") + w.nodes()
	}
}

func (w writer) position() string {
	if w.IntN(3) == 0 {
		return w.one(sortedKeys(places)...)
	}
	return w.one("before", "after") + " " + w.one(sortedKeys(phases)...) + " " + w.one("first", "last", "2", "3", "-2")
}
