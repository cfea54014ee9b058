package scenarios

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lockstep/sim"
	"lockstep/sim/fault"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

var (
	randomSeed  = flag.Uint64("scripts.seed", 1, "where TestRandomScripts begins")
	randomCount = flag.Int("scripts.count", 30, "how many scripts TestRandomScripts writes")
)

// Scripts that no person would write, under every strategy in turn: each loads and
// ends, within the bounds, in a trace whose schedule gives the same trace again,
// also in a world that was used for something else meanwhile.
func TestRandomScripts(t *testing.T) {
	testenv.LongRaced(t)
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
	bare.Notes, bare.Events = nil, slices.Clone(tr.Events)
	for i := range bare.Events {
		if e := &bare.Events[i]; e.Held() { // whether its script waits is not in a schedule
			e.Note = "the schedule doesn't let it act yet"
		}
	}
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
	b.WriteString(w.some(50, "  replicas: "+w.one("1", "2")+"\n"))
	b.WriteString(w.some(20, "  scripts: cold\n"))
	b.WriteString(w.some(20, "  resource: fenced\n"))
	b.WriteString(w.some(10, "  tokens: "+w.one("same", "mangled")+"\n"))
	b.WriteString("script:\n")
	for range 3 + w.IntN(20) {
		b.WriteString("  - " + w.step(cache) + "\n")
	}
	return b.String()
}

func either(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

func (w writer) step(cache bool) string {
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
		return w.one("say: Look.", "{say: Look., under: [setnx, redlock]}", "{ask: Well?, answer: "+w.one(answers...)+"}")
	case 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18:
		return w.fault(cache)
	}
}

// fault is a step that makes a fault of any kind.
func (w writer) fault(cache bool) string {
	steps := FaultSteps()
	for {
		forms := steps[w.one(sortedKeys(steps)...)]
		s := forms[w.IntN(len(forms))]
		if s.Spec.Cache && !cache {
			continue
		}
		args := make([]string, len(s.Params))
		for i, param := range s.Params {
			args[i] = w.arg(param.Type, len(args) == 1 && param.Key == "")
		}
		return s.text(args)
	}
}

// arg is a parameter. One that is the whole step can be a list of clients.
func (w writer) arg(t fault.ParamType, alone bool) string {
	switch t {
	case fault.ParamClient:
		if alone {
			return w.clients()
		}
		return w.client()
	case fault.ParamClients:
		return w.one("-", "A", "C+A")
	case fault.ParamNode:
		return w.one("n1", "n2", "[n1, n3]", "pivot", "all", "n5")
	case fault.ParamReplica:
		return w.one("n1r1", "n1r2")
	case fault.ParamHalf:
		return "" // the form says which
	case fault.ParamDirection:
		return w.one("both", "requests", "replies")
	case fault.ParamSpan:
		return w.one("0s", w.duration())
	case fault.ParamJump:
		return w.one("12s", "-3s", "1ms")
	case fault.ParamCount:
		return w.one("1", "2")
	}
	panic(fmt.Sprintf("a parameter of the unknown type %d", t))
}

func (w writer) position() string {
	if w.IntN(3) == 0 {
		return w.one(sortedKeys(places)...)
	}
	return w.one("before", "after") + " " + w.one(sortedKeys(phases)...) + " " + w.one("first", "last", "2", "3", "-2")
}
