package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/testenv"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// whereItStands is what a client does next, and what was the last thing to
// happen, at the point of a run at which the script says "here".
func whereItStands(t testing.TB, tr *trace.Trace, client string) (last, next string) {
	t.Helper()
	here := slices.IndexFunc(tr.Notes, func(n trace.Note) bool { return n.Text == "here" })
	if here < 0 {
		t.Fatalf("the script never comes to \"here\":\n%s", plain(t, tr))
	}
	seq := tr.Notes[here].Seq
	if seq > 1 {
		last = told(tr, &tr.Events[seq-2])
	}
	for i := seq - 1; i < len(tr.Events); i++ {
		e := &tr.Events[i]
		if tr.Actor(e) == client && e.Kind != trace.KindPause && e.Kind != trace.KindResume && e.Kind != trace.KindClock {
			return last, told(tr, e)
		}
	}
	return last, ""
}

// anyToken is a token, whose end is random.
var anyToken = regexp.MustCompile(`\b([A-Z]\d+)-[0-9a-f]{4}\b`)

func told(trace *trace.Trace, e *trace.Event) string { return trace.Actor(e) + " " + trace.Text(e) }

// timed is the same with the instant before it.
func timed(tr *trace.Trace, e *trace.Event) string { return trace.Duration(e.At) + " " + told(tr, e) }

// of lists the events of a kind.
func of(tr *trace.Trace, kinds ...trace.Kind) (lines []string) {
	for i := range tr.Events {
		if e := &tr.Events[i]; slices.Contains(kinds, e.Kind) && tr.Actor(e) != trace.Probe {
			lines = append(lines, timed(tr, e))
		}
	}
	return lines
}

// missed lists the runner's notes.
func missed(tr *trace.Trace) (texts []string) {
	for _, n := range tr.Notes {
		if n.Kind == trace.NoteMissed {
			texts = append(texts, n.Text)
		}
	}
	return texts
}

func equal(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// A position means the same under every strategy, however many commands there
// are to it. A's token is what the seed gives; only its beginning is told here.
//
//	setpx-lua     SET | work | EVALSHA
//	get-then-del  SET | work | GET DEL
//	setnx-expire  SET EXPIRE | work | DEL
//	redlock       5 SET | work | 5 EVALSHA
//
// work is a read and, a second later, a write.
func TestPositions(t *testing.T) {
	for _, tt := range []struct{ strategy, position, last, next string }{
		{"setpx-lua", "acquire", "", "A wants the lock"},
		{"setpx-lua", "before acquire first", "A reads its monotonic clock: 100.000000 since boot", "A -> n1  SET lock A1"},
		{"setpx-lua", "before acquire last", "A reads its monotonic clock: 100.000000 since boot", "A -> n1  SET lock A1"},
		{"setpx-lua", "after acquire first", "n1 A: SET lock A1", "A <- n1  OK"},
		{"setpx-lua", "granted", "A has the lock, token A1", "A enters the critical section"},
		{"setpx-lua", "work", "A enters the critical section", "A reads the resource: 0"},
		{"setpx-lua", "before work first", "A enters the critical section", "A reads the resource: 0"},
		{"setpx-lua", "after work first", "A works for 1s", "A has done its work"},
		{"setpx-lua", "after work -2", "A works for 1s", "A has done its work"},
		{"setpx-lua", "before work last", "A has done its work", "A writes the resource: 1"},
		{"setpx-lua", "before work 2", "A has done its work", "A writes the resource: 1"},
		{"setpx-lua", "after work last", "A writes the resource: 1", "A leaves the critical section"},
		{"setpx-lua", "release", "A leaves the critical section", "A releases"},
		{"setpx-lua", "before release first", "A releases", "A -> n1  EVALSHA"},
		{"setpx-lua", "before release last", "A releases", "A -> n1  EVALSHA"},
		{"setpx-lua", "after release last", "n1 A: EVALSHA", "A <- n1  1"},
		{"setpx-lua", "done", "A has finished", ""},
		{"get-then-del", "before release last", "A <- n1  A1", "A -> n1  DEL lock"},
		{"get-then-del", "after release -2", "n1 A: GET lock = A1", "A <- n1  A1"},
		{"get-then-del", "after release 2", "n1 A: DEL lock = 1", "A <- n1  1"},
		{"setnx-expire", "after acquire first", "n1 A: SETNX lock A1", "A <- n1  1"},
		{"setnx-expire", "before acquire last", "A <- n1  1", "A -> n1  EXPIRE lock 10"},
		{"setnx-expire", "before acquire -2", "A wants the lock", "A -> n1  SETNX lock A1"},
		{"redlock", "before acquire last", "A <- n4  OK", "A -> n5  SET lock A1"},
		{"redlock", "after acquire -2", "n4 A: SET lock A1", "A <- n4  OK"},
		{"redlock", "before acquire 3", "A <- n2  OK", "A -> n3  SET lock A1"},
		{"redlock", "before release -5", "A releases", "A -> n1  EVALSHA"},
		{"setpx-lua", "before acquire change", "A reads its monotonic clock: 100.000000 since boot", "A -> n1  SET lock A1"},
		{"setnx-expire", "before acquire change", "A <- n1  1", "A -> n1  EXPIRE lock 10"},
		{"setpx-wait", "before acquire last", "A <- n1  OK", "A -> n1  WAIT 1 1000"},
		{"setpx-wait", "before acquire change", "A reads its monotonic clock: 100.000000 since boot", "A -> n1  SET lock A1"},
		{"fenced-late", "after acquire change", "n1 A: SET lock A1", "A <- n1  OK"}, // INCR changes the counter, which is no lock
		{"setpx-watch", "before release change", "A -> n1  DEL lock", "A -> n1  EXEC"},
		{"setpx-watch-bare", "before release last", "A <- n1  1", "A -> n1  UNWATCH"},
		{"setpx-watch-bare", "before release change", "A <- n1  A1", "A -> n1  DEL lock"},
		{"setpx-watch-bare", "after release change", "n1 A: DEL lock = 1", "A <- n1  1"},
		{"redlock", "before release change", "A <- n4  1", "A -> n5  EVALSHA"},
	} {
		t.Run(tt.strategy+"/"+tt.position, func(t *testing.T) {
			trace := mustRun(t, script(t, in("  - run: A\n    to: "+tt.position+"\n  - say: here\n  - run: A\n")), tt.strategy)
			equal(t, "the run could not get there", missed(trace))
			last, next := whereItStands(t, trace, "A")
			if !strings.HasPrefix(last, tt.last) || tt.last == "" && last != "" {
				t.Errorf("the last event is %q, want %q", last, tt.last)
			}
			if !strings.HasPrefix(next, tt.next) || tt.next == "" && next != "" {
				t.Errorf("what A does next is %q, want %q", next, tt.next)
			}
		})
	}
}

// A position that a strategy doesn't have: the client stops at the end of the
// phase, and the run says why.
func TestPositionsThatThereAreNot(t *testing.T) {
	for _, tt := range []struct{ strategy, position, why, next string }{
		{"setpx-lua", "before acquire 2", "under setpx-lua it leaves acquire earlier", "A enters"},
		{"setpx-lua", "after acquire -2", "under setpx-lua it leaves acquire earlier", "A enters"},
		{"setpx-lua", "before release 2", "it is through with its program", ""},
		{"setpx-lua", "before work 3", "under setpx-lua it leaves work earlier", "A releases"},
		{"setpx-lua", "before work -3", "under setpx-lua it leaves work earlier", "A releases"},
		{"setpx-lua", "after work -3", "under setpx-lua it leaves work earlier", "A releases"},
		{"redlock", "after acquire 6", "under redlock it leaves acquire earlier", "A enters"},
	} {
		t.Run(tt.strategy+"/"+tt.position, func(t *testing.T) {
			trace := mustRun(t, script(t, in("  - run: A\n    to: "+tt.position+"\n  - say: here\n  - run: A\n")), tt.strategy)
			equal(t, "said", missed(trace), fmt.Sprintf("A never stands at %q: %s", tt.position, tt.why))
			if _, next := whereItStands(t, trace, "A"); !strings.HasPrefix(next, tt.next) || tt.next == "" && next != "" {
				t.Errorf("what A does next is %q, want %q", next, tt.next)
			}
		})
	}
}

// Whether a command changes the record depends on the run: here A releases what
// has expired meanwhile, so that nothing is left to change. What it did in its
// first cycle doesn't count.
func TestNoCommandChangesTheRecord(t *testing.T) {
	for name, next := range map[string]string{"setpx-lua": "A has finished", "redlock": "A has finished", "naive-del": "A has finished"} {
		trace := mustRun(t, script(t, `title: x
setup:
  clients: {A: {cycles: 2}, B: }
script:
  - run: A
    to: done
  - run: A
    to: release
  - wait: 11s
  - run: A
    to: before release change
  - say: here
  - run: A
`), name)
		equal(t, name, missed(trace), `A never stands at "before release change": no command of its release changes the lock's record`)
		if last, _ := whereItStands(t, trace, "A"); last != next {
			t.Errorf("%s: the last event is %q, want %q", name, last, next)
		}
	}
}

// A client that is in the middle of a phase: what it has done there already
// counts as well, and can be too late to stand before.
func TestChangeThatIsPast(t *testing.T) {
	at := func(position string) *trace.Trace {
		return mustRun(t, script(t, in("  - run: A\n    to: after release 3\n  - run: A\n    to: "+position+"\n  - say: here\n  - run: A\n")), "setpx-watch-bare")
	}
	trace := at("after release change")
	equal(t, "A stands there already", missed(trace))
	if last, next := whereItStands(t, trace, "A"); last != "n1 A: DEL lock = 1  [lock gone]" || next != "A <- n1  1" {
		t.Errorf("A stands between %q and %q", last, next)
	}
	equal(t, "A is past it", missed(at("before release change")), `A never stands at "before release change": it is through with its program`)
}

// With one millisecond each way, redlock's fifth SET leaves after 8 ms. Who may
// run for 5 ms only cannot get there, and must not be told that the third, which
// is as far as it gets, is the last.
func TestLastIsNotTheLastInTime(t *testing.T) {
	trace := mustRun(t, script(t, in("  - run: A\n    to: before acquire last\n    within: 5ms\n  - say: here\n")), "redlock")
	equal(t, "said", missed(trace), `A does not get to "before acquire last" within 5ms`)
	if last, next := whereItStands(t, trace, "A"); !strings.HasPrefix(last, "n3 A: SET") || !strings.HasPrefix(next, "A <- n3") {
		t.Errorf("A stands between %q and %q", last, next)
	}
	if at := trace.Notes[1].At; at != 5*time.Millisecond {
		t.Errorf("and that at %s", at)
	}
}

// Commands are counted through all tries of one Acquire: A holds the lock, and
// each of B's three tries is one SET.
func TestLastOfSeveralTries(t *testing.T) {
	tr := mustRun(t, script(t, `title: x
setup:
  retry: {tries: 3, delay: 100ms, jitter: 0s}
script:
  - run: A
    to: work
  - run: B
    to: before acquire last
  - say: here
  - run: all
`), "naive-del")
	if last, next := whereItStands(t, tr, "B"); last != "B wakes up" || !strings.HasPrefix(next, "B -> n1  SET lock B3") {
		t.Errorf("B stands between %q and %q", last, next)
	}
	equal(t, "B's refusal", of(tr, trace.KindRefused), "208ms B is refused")
}

// To run ahead leaves no trace: the run is the same as with the number itself.
func TestRunAheadIsNotSeen(t *testing.T) {
	for _, name := range []string{"setpx-lua", "redlock", "getset-expired"} {
		last := mustRun(t, script(t, in("  - run: B\n    to: before acquire last\n  - run: A\n    to: before acquire last\n  - run: all\n")), name)
		n := map[string]string{"setpx-lua": "1", "redlock": "5", "getset-expired": "2"}[name]
		// A asks after B has stored: under getset-expired it reads, and is refused, again and again.
		first := mustRun(t, script(t, in("  - run: B\n    to: before acquire "+n+"\n  - run: A\n    to: before acquire last\n  - run: all\n")), name)
		if last.Hash != first.Hash || last.Schedule != first.Schedule {
			t.Errorf("%s: hash %s with \"last\", %s with %q", name, last.Hash, first.Hash, n)
		}
	}
}

// done is the end of a cycle, not of the program; a refusal ends the cycle of
// those who don't insist.
func TestDone(t *testing.T) {
	for _, tt := range []struct {
		name, clients, script string
		want                  []string // what has happened by then
		next                  string
	}{
		{
			"the first of three", "{A: {cycles: 3}, B: }", "  - run: A\n    to: done\n",
			[]string{"2ms A has the lock, token A1", "1.004s A is done releasing"}, "A wants the lock",
		},
		{
			"from the middle of it", "{A: {cycles: 3}, B: }", "  - run: A\n    to: before work last\n  - run: A\n    to: done\n",
			[]string{"2ms A has the lock, token A1", "1.004s A is done releasing"}, "A wants the lock",
		},
		{
			"the second of three", "{A: {cycles: 3}, B: }", "  - run: A\n    to: done\n  - run: A\n    to: done\n",
			[]string{"2ms A has the lock, token A1", "1.004s A is done releasing", "1.006s A has the lock, token A2", "2.008s A is done releasing"}, "A wants the lock",
		},
		{
			"refused, and through with it", "{A: , B: {cycles: 2}}", "  - run: A\n    to: work\n  - run: B\n    to: done\n",
			[]string{"2ms A has the lock, token A1", "4ms B is refused"}, "B wants the lock",
		},
		{
			"refused, and insisting", "{A: , B: {cycles: 2, insist: 2s}}", "  - run: A\n    to: work\n  - run: [A, B]\n    for: 1s\n  - run: B\n    to: done\n",
			[]string{"2ms A has the lock, token A1", "4ms B is refused", "2.006s B has the lock, token B2", "3.008s B is done releasing"}, "B wants the lock",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := mustRun(t, script(t, "title: x\nsetup:\n  clients: "+tt.clients+"\n  retry: {tries: 1}\nscript:\n"+tt.script+"  - say: here\n  - run: all\n"), "naive-del")
			_, next := whereItStands(t, tr, tt.next[:1])
			if next != tt.next {
				t.Errorf("next is %q, want %q", next, tt.next)
			}
			i := slices.IndexFunc(tr.Notes, func(n trace.Note) bool { return n.Text == "here" })
			before := *tr
			before.Events = tr.Events[:tr.Notes[i].Seq-1]
			var got []string
			for _, line := range of(&before, trace.KindGranted, trace.KindRefused, trace.KindReleased) {
				line, _, _ = strings.Cut(line, "-") // a token's random end
				got = append(got, line)
			}
			if tt.name == "refused, and insisting" {
				// A has its second of work, releases at about 1 s, and is done too.
				got = slices.DeleteFunc(got, func(line string) bool { return strings.HasSuffix(line, "A is done releasing") })
			}
			equal(t, "until then", got, tt.want...)
		})
	}
}

// otherwise: stop leaves out the rest of the script where there is nothing to
// show, and nothing where there is.
func TestOtherwiseStop(t *testing.T) {
	yaml := in("  - run: A\n    to: before acquire 2\n    otherwise: stop\n  - crash: A\n  - say: A has crashed.\n  - ask: Who has it?\n    answer: holders\n  - down: all\n  - ask: And now?\n    answer: holders\n")
	tr := mustRun(t, script(t, yaml), "setpx-lua")
	equal(t, "said", missed(tr),
		`A never stands at "before acquire 2": under setpx-lua it leaves acquire earlier`,
		"So the script ends here under setpx-lua, with the step at line 3 (otherwise: stop), and the rest of it is left out. Its questions at lines 8 and 11 are not asked.")
	equal(t, "what the rest would have done", of(tr, trace.KindCrash, trace.KindDown))
	if len(tr.Notes) != 2 {
		t.Errorf("notes: %+v", tr.Notes)
	}
	if v := tr.Verdict(); len(v) > 0 {
		t.Errorf("the verdict is %s, of a run in which A works and releases", v)
	}
	tr = mustRun(t, script(t, yaml), "setnx-expire")
	equal(t, "said", missed(tr))
	equal(t, "the rest", of(tr, trace.KindCrash, trace.KindDown), "2ms A crashes", "2ms n1 goes down  [lock gone]")

	// Also where the position isn't reached in time.
	tr = mustRun(t, script(t, in("  - run: A\n    to: work\n    within: 1ms\n    otherwise: stop\n  - crash: A\n")), "setpx-lua")
	equal(t, "said", missed(tr),
		`A does not get to "work" within 1ms`,
		"So the script ends here under setpx-lua, with the step at line 3 (otherwise: stop), and the rest of it is left out.")
	equal(t, "what the rest would have done", of(tr, trace.KindCrash))
}

// The answer to a question is found in the trace, at the point where it is
// asked; that of a prediction, at the end.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct{ name, strategy, yaml, want string }{
		{"nobody yet", "setpx-lua", in("  - run: A\n    to: acquire\n  - ask: Who?\n    answer: holders\n  - run: A\n    to: work\n"), "nobody"},
		{"nothing yet", "setpx-lua", in("  - run: A\n    to: acquire\n  - ask: What?\n    answer: record\n  - run: A\n    to: work\n"), trace.NoRecord},
		{"A", "setpx-lua", in("  - run: A\n    to: granted\n  - ask: Who?\n    answer: holders\n"), "A"},
		{"not yet, though Redis has it", "setpx-lua", in("  - run: A\n    to: after acquire last\n  - ask: Who?\n    answer: holders\n"), "nobody"},
		{"no longer, though Redis has it", "naive-del", in("  - run: A\n    to: before release last\n  - ask: Who?\n    answer: holders\n"), "nobody"},
		{"not the dead", "setpx-lua", in("  - run: A\n    to: work\n  - crash: A\n  - ask: Who?\n    answer: holders\n"), "nobody"},
		{"also whose lease is over", "setpx-lua", in("  - run: A\n    to: work\n  - wait: 11s\n  - ask: Who?\n    answer: holders\n"), "A"},
		{"both", "setpx-lua", in("  - run: A\n    to: work\n  - wait: 11s\n  - run: B\n    to: work\n  - ask: Who?\n    answer: holders\n"), "A, B"},
		{"whose count it is", "incr-expire", in("  - run: B\n    to: work\n  - ask: What?\n    answer: record\n"), "n1: 1 (B's)"},
		{"whose value it is, though another's lease is live", "fixed-value", in("  - run: A\n    to: work\n  - wait: 11s\n  - run: B\n    to: work\n  - ask: What?\n    answer: record\n"), "n1: locked (B's)"},
		{"nothing any more", "setnx-expire", in("  - run: B\n  - ask: What?\n    answer: record\n"), trace.NoRecord},
		{"on three of five", "redlock", in("  - cut: {client: A, nodes: [n2, n4]}\n  - run: A\n    to: work\n  - ask: What?\n    answer: record\n"), "n1: A1-* (A's), n3: A1-* (A's), n5: A1-* (A's)"},
		{"the end of it", "setnx", in("  - ask: How will it end?\n    answer: verdict\n  - run: A\n    to: work\n  - crash: A\n"), "PD"},
		{"a good end", "setnx", in("  - ask: How will it end?\n    answer: verdict\n  - run: all\n"), "ok"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trace := mustRun(t, script(t, tt.yaml), tt.strategy)
			if got := anyToken.ReplaceAllString(trace.Notes[0].Answer, "$1-*"); got != tt.want {
				t.Errorf("the answer is %q, want %q", got, tt.want)
			}
		})
	}
}

// A text says what is the case where a client believes that it has the lock, and else what is true of all: under each lock, and in
// a replay of its schedule.
func TestWordsForTheHolder(t *testing.T) {
	const words = "  - say: Nobody has it.\n    having: {B: B has it., A: A has it.}\n"
	s := script(t, in(words+"  - run: A\n    to: work\n"+words+"  - wait: 11s\n  - run: B\n    to: work\n"+words))
	for lock, want := range map[string][]string{"setpx-lua": {"Nobody has it.", "A has it.", "B has it."}, "setnx": {"Nobody has it.", "A has it.", "A has it."}} {
		tr := mustRun(t, s, lock)
		var said []string
		for _, n := range tr.Notes {
			if n.Kind == trace.NoteSay {
				said = append(said, n.Text)
			}
		}
		equal(t, lock, said, want...)
	}
}

// Under late-release, B is said not to have had the lock only where that is so.
func TestWhoHasHadNothingReleasesNothing(t *testing.T) {
	testenv.LongRaced(t)
	told := 0
	eachNote(t, func(at cell, tl *timeline.Timeline, words string, from, until int) {
		if strings.HasPrefix(words, "B has not had the lock") || strings.HasPrefix(words, "B has not got the lock") {
			told++
			if slices.ContainsFunc(tl.Events[:from], func(e trace.Event) bool {
				return e.Client != trace.None && tl.Clients[e.Client] == "B" && e.Kind == trace.KindGranted
			}) {
				t.Errorf("%s under %s: %s", at.strategy, at.scenario, words)
			}
		}
	})
	if told == 0 {
		t.Error("it is said nowhere")
	}
}

// A step that can do nothing under a strategy, or at that moment, says so and
// the script goes on.
func TestMissedSteps(t *testing.T) {
	for _, tt := range []struct {
		strategy, step string
		said, happened []string
	}{
		{"setnx", "down: n9", []string{"setnx runs on 1 node: there is no n9"}, nil},
		{"redlock", "down: n9", []string{"redlock runs on 5 nodes: there is no n9"}, nil},
		{"setnx", "down: [n1, n4, n5]", []string{"setnx runs on 1 node: there is no n4, n5"}, []string{"0ms n1 goes down"}},
		{"setnx", "down: pivot", nil, []string{"0ms n1 goes down"}},
		{"redlock", "down: pivot", nil, []string{"0ms n3 goes down"}},
		{"redlock", "down: [all]", nil, []string{"0ms n1 goes down", "0ms n2 goes down", "0ms n3 goes down", "0ms n4 goes down", "0ms n5 goes down"}},
		{"setnx", "up: n1", nil, nil}, // it is up
		{"setnx", "drop: {reply: A}", []string{"drop: no reply of A is under way"}, nil},
		{"setnx", "drop: {request: A}", []string{"drop: no request of A is under way"}, nil},
		{"setnx", "delay: {reply: B, by: 1s}", []string{"delay: no reply of B is under way"}, nil},
		{"setnx", "duplicate: {request: A}", []string{"duplicate: A has sent nothing that could arrive twice"}, nil},
		{"redlock", "clock: {node: [n2, n6], by: 1s}", []string{"redlock runs on 5 nodes: there is no n6"}, []string{"0ms n2 clock jumps by 1s"}},
		{"setnx", "cut: {client: A, nodes: n2}", []string{"setnx runs on 1 node: there is no n2"}, nil},
		{"setnx", "cut: {client: A}", nil, []string{"0ms net the link between A and n1 is cut"}},
		{"setnx", "free: A", []string{"free: no request of A is held up"}, nil},
		{"setnx", "crash: [A, B]", nil, []string{"0ms A crashes", "0ms B crashes"}},
		{"setnx", "clock: {client: B, by: -3s}", nil, []string{"0ms B wall clock jumps by -3s"}},
	} {
		t.Run(tt.strategy+"/"+tt.step, func(t *testing.T) {
			tr := mustRun(t, script(t, in("  - "+tt.step+"\n  - say: and so on\n")), tt.strategy)
			var said []string
			for _, why := range tt.said {
				said = append(said, "The step at line 3 is not carried out as written under "+tt.strategy+": "+why)
			}
			equal(t, "said", missed(tr), said...)
			equal(t, "happened", of(tr, trace.KindDown, trace.KindUp, trace.KindNetwork, trace.KindNodeStep, trace.KindCrash, trace.KindWallStep), tt.happened...)
			if last := tr.Notes[len(tr.Notes)-1]; last.Text != "and so on" {
				t.Errorf("the script ended with %q", last.Text)
			}
		})
	}
}

// What a setup says about a client shows in the events that it causes.
func TestClientSettings(t *testing.T) {
	for _, tt := range []struct {
		name, strategy, clients, script string
		kinds                           []trace.Kind
		want                            []string
	}{
		{ // A's stamp and B's are read off wall clocks that start at 1000 s.
			"offset", "getset-equal", "{A: {offset: 12s}, B: {offset: -3s}}",
			"  - run: B\n    to: before acquire first\n  - run: A\n    to: before acquire first\n",
			[]trace.Kind{trace.KindClock}, []string{"0ms B reads its wall clock: 997.000000", "0ms A reads its wall clock: 1012.000000"},
		},
		{ // A second of work on a clock that runs twice as fast is half a true one; A's lease
			// of 10 s less 102 ms for drift is over after 4.949 true seconds.
			"a fast clock", "setpx-lua", "{A: {rate: 2}}",
			"  - run: A\n    to: before work last\n  - wait: 5s\n",
			[]trace.Kind{trace.KindWake, trace.KindLapse}, []string{"502ms A has done its work", "4.949s A lease is over: its own clock reads the deadline"},
		},
		{ // On one that runs at half the rate it is two; the lease would last 19.796 s, but Redis drops the key after 10.
			"a slow clock", "setpx-lua", "{A: {rate: 0.5}}",
			"  - run: A\n    to: before work last\n  - wait: 20s\n",
			[]trace.Kind{trace.KindWake, trace.KindLapse, trace.KindExpire},
			[]string{"2.002s A has done its work", "10.002s n1 A's record expires 10s + 1ms after it was stored  [lock gone]", "19.796s A lease is over: its own clock reads the deadline"},
		},
		{
			"cycles", "naive-del", "{A: {cycles: 3, work: 0s}}", "  - run: A\n",
			[]trace.Kind{trace.KindEnter, trace.KindWrite, trace.KindDone},
			[]string{
				"2ms A enters the critical section", "2ms A writes the resource: 1",
				"6ms A enters the critical section", "6ms A writes the resource: 2",
				"10ms A enters the critical section", "10ms A writes the resource: 3", "12ms A has finished",
			},
		},
		{ // B asks at 2 ms, hears no at 4 ms, asks again after 700 ms, and so on until A has released at 1.003 s.
			"insist", "naive-del", "{A: , B: {insist: 700ms}}", "  - run: A\n    to: work\n  - run: all\n",
			[]trace.Kind{trace.KindRefused, trace.KindSleep, trace.KindDone},
			[]string{
				"2ms A works for 1s", "4ms B is refused", "4ms B sleeps for 700ms", "706ms B is refused", "706ms B sleeps for 700ms",
				"1.004s A has finished", "1.408s B works for 1s", "2.41s B has finished",
			},
		},
		{
			"no insisting", "naive-del", "{A: , B: {cycles: 2}}", "  - run: A\n    to: work\n  - run: all\n",
			[]trace.Kind{trace.KindRefused, trace.KindDone},
			[]string{"4ms B is refused", "6ms B is refused", "6ms B has finished", "1.004s A has finished"},
		},
		{
			"no setting at all", "naive-del", "[A]", "  - run: A\n",
			[]trace.Kind{trace.KindSleep, trace.KindDone}, []string{"2ms A works for 1s", "1.004s A has finished"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			yaml := "title: x\nsetup:\n  clients: " + tt.clients + "\n  retry: {tries: 1}\nscript:\n" + tt.script
			equal(t, "events", of(mustRun(t, script(t, yaml), tt.strategy), tt.kinds...), tt.want...)
		})
	}
}

// What a setup says about the run.
func TestSettings(t *testing.T) {
	for _, tt := range []struct {
		name, strategy, setup, script string
		kinds                         []trace.Kind
		want                          []string
	}{
		{ // No way takes any time; the work alone does.
			"no latency", "naive-del", "  latency: 0s\n", "  - run: A\n",
			[]trace.Kind{trace.KindGranted, trace.KindDone}, []string{"0ms A has the lock, token A1-*, lease until 10s", "1s A has finished"},
		},
		{
			"TTL", "naive-del", "  ttl: 3s\n", "  - run: A\n    to: work\n  - wait: 4s\n",
			[]trace.Kind{trace.KindLapse, trace.KindExpire}, []string{"3s A lease is over: 3s since it asked at 0s", "3.002s n1 A's record expires 3s + 1ms after it was stored  [lock gone]"},
		},
		{
			"timeout", "naive-del", "  timeout: 250ms\n", "  - down: n1\n  - cut: {client: A}\n  - run: A\n",
			[]trace.Kind{trace.KindTimeout}, []string{"250ms A no reply from n1 in 250ms: timeout"},
		},
		{
			"tries", "naive-del", "  retry: {tries: 2, delay: 50ms}\n", "  - run: A\n    to: work\n  - run: B\n",
			[]trace.Kind{trace.KindRefused}, []string{"56ms B is refused"},
		},
		{ // What was written before the last whole second survives: A's record of 1 ms does, at 5 s.
			"persistence", "naive-del", "  persistence: everysec\n", "  - run: A\n    to: work\n  - wait: 5s\n  - unplug: n1\n  - up: n1\n",
			[]trace.Kind{trace.KindDown, trace.KindUp},
			[]string{"5.002s n1 loses power  [lock gone]", "5.002s n1 comes back, with what appendfsync everysec had kept  [lock = A1-* (4.999s left)]"},
		},
		{
			"cold", "setpx-lua", "  scripts: cold\n", "  - run: A\n    to: release\n  - run: A\n",
			[]trace.Kind{trace.KindReceive},
			[]string{"2ms A <- n1  OK", "1.004s A <- n1  error NOSCRIPT No matching script. Please use EVAL.", "1.006s A <- n1  1"},
		},
		{
			"same tokens", "setpx-lua", "  tokens: same\n", "  - run: A\n    to: release\n  - run: A\n  - run: B\n    to: work\n",
			[]trace.Kind{trace.KindGranted},
			[]string{"2ms A has the lock, token same-for-all, lease until 9.898s (10s less 102ms in case clocks drift apart)", "1.006s B has the lock, token same-for-all, lease until 10.902s (10s less 102ms in case clocks drift apart)"},
		},
		{
			"mangled tokens", "get-then-del", "  tokens: mangled\n", "  - run: A\n",
			[]trace.Kind{trace.KindGranted, trace.KindReleaseFailed, trace.KindExpire},
			[]string{"2ms A has the lock, token A1-*, lease until 10s", "1.004s A release failed: lock not held", "10.002s n1 A's record expires 10s + 1ms after it was stored  [lock gone]"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trace := mustRun(t, script(t, "title: x\nsetup:\n"+tt.setup+"script:\n"+tt.script), tt.strategy)
			var got []string
			for _, line := range of(trace, tt.kinds...) {
				got = append(got, anyToken.ReplaceAllString(line, "$1-*"))
			}
			equal(t, "events", got, tt.want...)
		})
	}
}

// A client that is stopped when it has read is at work: no script keeps it from that. The pause begins when the work has
// ended, and the event and the cause say why it begins so late.
func TestPauseAfterWork(t *testing.T) {
	tr := mustRun(t, script(t, `
title: t
setup: {clients: {A: {work: 2s}, B: }}
script:
  - {run: A, to: after work first}
  - wait: 12s
  - {run: B, to: work}
  - run: A
`), "naive-del")
	equal(t, "pauses", of(tr, trace.KindPause)[:1], "2.002s A is paused: its work of 2s has ended, and the schedule doesn't let it act yet")
	tl := timeline.New(tr)
	if got := tl.Cause(tl.Breaches[0]); !strings.HasPrefix(got, "A, whose work of 2s has ended, is paused at 2.002s, ") {
		t.Error(got)
	}
}

// Who is paused by a step stays so until it is resumed, or run.
func TestPauseAndResume(t *testing.T) {
	yaml := "title: x\nsetup:\n  retry: {tries: 1}\nscript:\n  - run: A\n    to: work\n  - pause: A\n  - run: B\n  - wait: 2s\n"
	for _, more := range []string{"  - resume: A\n  - run: all\n", "  - run: A\n", "  - run: all\n"} {
		tr := mustRun(t, script(t, yaml+more), "naive-del")
		equal(t, more, of(tr, trace.KindPause, trace.KindResume, trace.KindRefused, trace.KindRead),
			"2ms A is paused", "4ms B is refused", "2.004s A goes on after 2.002s", "2.004s A reads the resource: 0")
	}
	// Without any of these it never goes on, and keeps what it has.
	tr := mustRun(t, script(t, yaml), "setnx")
	equal(t, "paused for good", of(tr, trace.KindPause, trace.KindResume, trace.KindRefused, trace.KindRead), "2ms A is paused", "4ms B is refused")
}

// A run without a position ends when all who run are through, or after a minute.
func TestRunsEnd(t *testing.T) {
	trace := mustRun(t, script(t, in("  - run: A\n  - say: here\n")), "naive-del")
	if at := trace.Notes[0].At; at != 1004*time.Millisecond {
		t.Errorf("A is through at %s", at)
	}
	trace = mustRun(t, script(t, "title: x\nsetup:\n  retry: {tries: 0, delay: 200ms}\nscript:\n  - run: A\n    to: work\n  - crash: A\n  - run: B\n  - say: here\n"), "setnx")
	if at := trace.Notes[0].At; at != time.Minute+2*time.Millisecond {
		t.Errorf("B has tried until %s", at)
	}
	trace = mustRun(t, script(t, in("  - run: A\n    for: 3s\n  - say: here\n")), "naive-del")
	if at := trace.Notes[0].At; at != 3*time.Second {
		t.Errorf("three seconds end at %s", at)
	}
}

// An until ends at its instant, however long the steps before it took, and whoever could have acted; the
// schedule has a wait in its place. Where they took longer, the error has the line.
func TestUntil(t *testing.T) {
	steps := "  - run: A\n    to: work\n  - until: 12s\n  - say: here\n  - run: B\n    to: work\n  - until: 12004ms\n  - say: there\n"
	for _, lock := range []string{"naive-del", "setnx-expire", "redlock"} {
		first, _, _ := strings.Cut(steps, "  - run: B")
		tr := mustRun(t, script(t, in(first)), lock)
		if at := tr.Notes[0].At; at != 12*time.Second {
			t.Errorf("%s: the instant is %s, want 12s", lock, at)
		}
	}
	tr := mustRun(t, script(t, in(steps)), "naive-del")
	if at := tr.Notes[1].At; at != 12004*time.Millisecond {
		t.Errorf("after B the instant is %s", at)
	}
	waits := mustRun(t, script(t, in(strings.Replace(steps, "until: 12s", "wait: 11998ms", 1))), "naive-del")
	if waits.Hash != tr.Hash || waits.Schedule != tr.Schedule {
		t.Errorf("a wait to the same instant gives another run:\n%s\n%s", waits.Schedule, tr.Schedule)
	}
	s := script(t, in("  - run: A\n  - until: 1s\n"))
	_, err := s.Run(strategy(t, "naive-del"), 1)
	if want := "4: 1s is past under naive-del: it is 1.004s when this step begins"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want ...%s", err, want)
	}
}

// Without a setup there are A and B, under the strategy's own settings.
func TestDefaults(t *testing.T) {
	st := strategy(t, "redlock")
	cfg := script(t, in("  - run: all\n")).Config(st, 7)
	if names := []string{cfg.Clients[0].Name, cfg.Clients[1].Name}; len(cfg.Clients) != 2 || names[0] != "A" || names[1] != "B" {
		t.Errorf("clients %+v", cfg.Clients)
	}
	if cfg.TTL != 10*time.Second || cfg.Latency != time.Millisecond || cfg.Timeout != st.Timeout || cfg.Retry != st.Retry ||
		cfg.Seed != 7 || len(cfg.Nodes) != 5 || cfg.Scenario != "test.yaml" {
		t.Errorf("configuration %+v", cfg)
	}
	changed := script(t, with("  retry: {jitter: 0s}\n")).Config(st, 1)
	if changed.Retry.Jitter != 0 || changed.Retry.Tries != st.Retry.Tries || changed.Retry.Delay != st.Retry.Delay {
		t.Errorf("only the jitter is set, and the policy is %+v", changed.Retry)
	}
}

// Who goes ahead without the lock is inside with nobody if the holder has left
// before, and its write is in order: it has no grant that could be older than the
// other's. If the holder is still there, an update is lost.
func TestFailOpenHarmsOnlyWhoIsInside(t *testing.T) {
	for _, c := range []struct{ step, want string }{
		{"{run: A}", "ok"},
		{"{run: A, to: work}", "SW OV"},
	} {
		tr := mustRun(t, script(t, `
title: t
setup: {clients: {A: {work: 10s}, B: {failopen: true}}, retry: {tries: 1}}
script:
  - `+c.step+`
  - cut: {client: B, nodes: all}
  - run: all
`), "setnx")
		if got := tr.Verdict().String(); got != c.want {
			t.Errorf("after %s the verdict is %s, not %s\n%s", c.step, got, c.want, proofs(tr))
		}
		for _, violation := range tr.Violations {
			if violation.Code == trace.SW && !strings.Contains(violation.Text, "A overwrites what B wrote") {
				t.Errorf("after %s: %q", c.step, violation.Text)
			}
		}
	}
}

// At a cache a cycle ends with the request, whether the client was served at once
// or rebuilt the entry first.
func TestDoneAtACache(t *testing.T) {
	tr := mustRun(t, script(t, `
title: x
setup: {workload: cache, clients: {A: {cycles: 3}}}
script:
  - {run: A, to: done}
  - say: rebuilt
  - {run: A, to: done}
  - say: served
  - {run: A, to: done}
  - say: served again
`), "setpx-lua")
	var got []string
	note := 0
	for i := range tr.Events {
		e := &tr.Events[i]
		for ; note < len(tr.Notes) && tr.Notes[note].Seq <= e.Seq; note++ {
			got = append(got, tr.Notes[note].Text)
		}
		switch e.Kind {
		case trace.KindWant, trace.KindRead, trace.KindWrite, trace.KindReleased, trace.KindDone:
			if tr.Clients[e.Client] == "A" {
				got = append(got, e.Kind.String())
			}
		}
	}
	want := []string{"want", "read", "write", "released", "rebuilt", "want", "read", "served", "want", "read", "done", "served again"}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nexpected\n%v", got, want)
	}
}

// An update that nobody is there to see is in the schedule all the same, and
// plays again with it.
func TestUpdateIsInTheSchedule(t *testing.T) {
	trace := mustRun(t, script(t, `
title: x
setup: {workload: cache, clients: [A]}
script:
  - update: database
  - run: A
`), "setpx-lua")
	if !strings.Contains(trace.Schedule, ",--,update,A:") {
		t.Errorf("%s", trace.Schedule)
	}
	if made, needed := trace.Rebuilds(); made != 1 || needed != 1 {
		t.Errorf("%d rebuilds, %d needed", made, needed)
	}
}

// A variant with clients of its own does not answer for those of the others.
func TestVariantWithoutACache(t *testing.T) {
	s := script(t, `
title: x
setup: {workload: cache, clients: {A: {recheck: true}}}
script: [run: A]
variants:
  count: {title: y, setup: {workload: counter, clients: [A]}}
`)
	for _, c := range []struct {
		s    *Scenario
		want string
	}{{s, "query"}, {s.variants[0], "write"}} {
		tr := mustRun(t, c.s, "setpx-lua")
		if cache := tr.Workload == trace.Cache; cache != (c.want == "query") {
			t.Errorf("%s has the workload %s", c.s.Name, tr.Workload)
		}
		if !slices.ContainsFunc(tr.Events, func(e trace.Event) bool { return e.Kind.String() == c.want }) {
			t.Errorf("%s: no %s", c.s.Name, c.want)
		}
	}
}

// A step is one operation of the client's own code, and no more.
func TestRunSteps(t *testing.T) {
	s := script(t, "title: x\nsetup: {clients: {A: {work: 0s}}, latency: 0s}\nscript:\n  - {run: A, steps: 3}\n  - say: one\n"+
		"  - {run: A, steps: 1}\n  - say: two\n  - {run: A, steps: 100}\n")
	trace := mustRun(t, s, "naive-del")
	var before []string
	for _, n := range trace.Notes[:2] {
		before = append(before, n.Text+": "+trace.Events[n.Seq-2].Kind.String())
	}
	// It begins, asks, and sends; the command is executed at once. Its reply is the
	// next step. Left are: enter, read, write, leave, release, send, receive.
	equal(t, "stands after", before, "one: execute", "two: granted")
	equal(t, "said", missed(trace), "A makes 7 steps, not 100: it has nothing more to do within 60s")
}

// Steps are the client's own: the time that passes until it can act is none.
func TestRunStepsWaits(t *testing.T) {
	for within, want := range map[string][]string{
		"6s": {"0ms A works for 5s", "5s A has done its work", "5s A writes the resource: 1"},
		"4s": {"0ms A works for 5s", "5s A has done its work", "5s A writes the resource: 1"}, // when the script is over, the run goes on
	} {
		s := script(t, "title: x\nsetup: {clients: {A: {work: 5s}}, latency: 0s}\nscript:\n  - {run: A, to: work}\n  - {run: A, steps: 1}\n"+
			"  - {run: A, steps: 2, within: "+within+"}\n  - say: here\n")
		tr := mustRun(t, s, "naive-del")
		equal(t, "events", of(tr, trace.KindSleep, trace.KindWake, trace.KindWrite), want...)
		here := tr.Notes[len(tr.Notes)-1].At
		if said := missed(tr); within == "6s" && (len(said) > 0 || here != 5*time.Second) ||
			within == "4s" && (len(said) != 1 || here != 4*time.Second) {
			t.Errorf("within %s: at %s, said %q", within, here, said)
		}
	}
}

// What meets the next request of a client.
func TestLoseHoldFree(t *testing.T) {
	setup := "title: x\nsetup: {latency: 0s, retry: {tries: 1}}\nscript:\n"
	tr := mustRun(t, script(t, setup+"  - lose: {reply: A}\n  - run: A\n"), "naive-del")
	equal(t, "lost", of(tr, trace.KindExecute, trace.KindTimeout)[1:2], "3s A no reply from n1 in 3s: timeout")
	tr = mustRun(t, script(t, setup+"  - hold: A\n  - {run: A, steps: 3}\n  - {run: B, to: work}\n  - free: A\n"), "naive-del")
	equal(t, "arrive", clientsOf(tr, trace.KindExecute)[:2], "B", "A")
}

func clientsOf(trace *trace.Trace, kind trace.Kind) (names []string) {
	for _, e := range trace.Events {
		if e.Kind == kind {
			names = append(names, trace.Clients[e.Client])
		}
	}
	return names
}

// A lock on several servers runs on as many as the setup says, and a schedule of
// it can be replayed; a lock on one server stays there.
func TestNodes(t *testing.T) {
	s := script(t, "title: x\nsetup: {nodes: 3}\nscript: [run: A]\n")
	trace := mustRun(t, s, "redlock")
	if len(trace.Nodes) != 3 || trace.Need != 2 {
		t.Errorf("nodes %v, of which a holder needs %d", trace.Nodes, trace.Need)
	}
	schedule, err := sim.ParseSchedule(trace.Schedule, FindStrategy)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Replay(schedule)
	if err != nil || again.Hash != trace.Hash {
		t.Errorf("replayed it is another run: %v", err)
	}
	if trace := mustRun(t, s, "setnx"); len(trace.Nodes) != 1 {
		t.Errorf("setnx runs on %v", trace.Nodes)
	}
}

// A resource can be plain, where the strategy would have it check.
func TestPlainResource(t *testing.T) {
	fenced, _ := strategies.Get("fenced")
	for setup, want := range map[string]sim.Resource{"{ttl: 1s}": sim.Fenced, "{resource: plain}": sim.Plain, "{resource: fenced-writes}": sim.FencedWrites} {
		if cfg := script(t, "title: x\nsetup: "+setup+"\nscript: [run: A]\n").Config(fenced, 1); cfg.Resource != want {
			t.Errorf("%s: %s", setup, cfg.Resource)
		}
	}
}

// TestThreadThatStandsStill: a step that waits keeps a lock's own thread from acting, too. Where the record expires of that, its author is
// told, by line, what to write for the client to go on.
func TestThreadThatStandsStill(t *testing.T) {
	const begin = "  - run: A\n    to: read\n"
	at := strings.Count(in(begin), "\n") + 1
	for _, tt := range []struct{ name, lock, step, want string }{
		{"a wait", "watchdog", "  - wait: 12s\n", fmt.Sprintf("test.yaml:%d: A's renewal thread, too, stands still while this step waits, and the record expires. "+
			"If A is to go on meanwhile, write \"run: A\" with \"for: 12s\" instead; if it is to stop, put \"pause: A\" before this step.", at)},
		{"a short wait", "watchdog", "  - wait: 1s\n", ""},
		{"A goes on", "watchdog", "  - run: A\n    for: 12s\n", ""},
		{"A is paused", "watchdog", "  - pause: A\n  - wait: 12s\n", ""},
		{"there is no such thread", "setpx-lua", "  - wait: 12s\n", ""},
	} {
		var want []string
		if tt.want != "" {
			want = []string{tt.want}
		}
		equal(t, tt.name, missed(mustRun(t, script(t, in(begin+tt.step)), tt.lock)), want...)
	}
}
