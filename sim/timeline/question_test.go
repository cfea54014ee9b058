package timeline_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// courseRuns calls a test with each run of the course.
func courseRuns(t *testing.T, test func(t *testing.T, tl *timeline.Timeline)) {
	for _, l := range scenarios.Course() {
		for _, step := range l.Steps {
			t.Run(l.Name+"/"+step.ID(), func(t *testing.T) {
				sc, err := scenarios.Find(step.Scenario)
				if err != nil {
					t.Fatal(err)
				}
				st, err := scenarios.FindStrategy(step.Strategy)
				if err != nil {
					t.Fatal(err)
				}
				run, err := sc.Run(st, 1)
				if err != nil {
					t.Fatal(err)
				}
				test(t, timeline.New(run))
			})
		}
	}
}

// Every run of the course asks for a prediction, and asks before the answer is known: what
// decides it has not happened yet, and neither has any violation that it is about.
func TestCourseAsksBeforeTheAnswer(t *testing.T) {
	courseRuns(t, func(t *testing.T, tl *timeline.Timeline) {
		all := tl.Questions()
		if len(all) == 0 {
			t.Error("asks nothing")
		}
		for i, q := range all {
			switch {
			case q.Pos < 0 || q.Until <= q.Pos || q.Until > tl.Last():
				t.Errorf("%q is asked at %d, and answered at %d", q.Text, q.Pos, q.Until)
			case i > 0 && q.Pos <= all[i-1].Pos:
				t.Errorf("%q is asked at %d, with another", q.Text, q.Pos)
			case len(q.Choices) < 2 || len(q.Choices) > 5 || q.Right < 0 || q.Right >= len(q.Choices) || q.Why == "":
				t.Errorf("%q offers %q, of which %d is right: %s", q.Text, q.Choices, q.Right, q.Why)
			}
			distinct := slices.Clone(q.Choices)
			slices.Sort(distinct)
			if len(slices.Compact(distinct)) < len(q.Choices) {
				t.Errorf("%q offers one answer twice: %q", q.Text, q.Choices)
			}
			if _, fresh := tl.Breached(q.Until); len(fresh) > 0 && q.Pos >= fresh[0].Pos {
				t.Errorf("%q is asked when %s is complete", q.Text, fresh[0].Code)
			}
		}
	})
}

// While a question about an instant is open, an author's next words are not told: they would tell what it asks. One for the verdict stays open
// under them, and is asked before those above it in the file where its choices would else be ruled out.
func TestNoWordsComeWhileAQuestionIsOpen(t *testing.T) {
	asked := 0
	test := func(t *testing.T, tl *timeline.Timeline) {
		for _, q := range tl.Questions() {
			if q.Lead != "" { // for the worst that comes of it all
				continue
			}
			asked++
			for pos := q.Pos + 1; pos < q.Until; pos++ {
				for _, n := range tl.Said(pos) {
					if n.Kind == trace.NoteSay && tl.Before(n.Seq) == pos && strings.HasPrefix(tl.Marked(&n, pos, tl.Now(pos)), "Next") {
						t.Errorf("%q is asked at %d and answered at %d; at %d the screen says %q", q.Text, q.Pos, q.Until, pos, n.Prose())
					}
				}
			}
		}
	}
	courseRuns(t, test)
	test(t, runOf(t, "naive-del", `title: Late
setup:
  clients: {A: , B: {work: 5s}, C: }
script:
  - say: A stops before its release, and B comes.
  - run: A
    to: release
  - wait: 12s
  - run: B
    to: work
  - say: A wakes up.
  - run: A
  - say: C comes, and gets the lock beside B.
  - run: C
    to: work
  - ask: Who believes?
    answer: holders
  - ask: What comes of it?
    answer: verdict
  - run: [B, C]
`))
	if asked < 20 {
		t.Errorf("only %d questions are asked", asked)
	}
}

// A question whose instant has two answers, as something happens in it before the question is on the screen or after it is
// answered, is asked of an event.
func TestQuestionOfAnInstantWithTwoAnswers(t *testing.T) {
	tl := runOf(t, "naive-del", `title: Late
setup:
  clients: {A: , B: {work: 5s}}
  ttl: 10s
script:
  - run: A
    to: release
  - hold: A
  - run: A
    for: 12s
  - run: B
    to: work
  - say: B is inside when A's old release arrives.
  - free: A
  - run: [A, B]
    for: 1s
  - ask: Whose record does Redis hold now?
    answer: record
`)
	q := tl.Questions()[0]
	if want := "At 13.004s, right after event #27 of "; !strings.HasPrefix(q.Text, want) || !strings.HasSuffix(q.Text, ": Whose record does Redis hold now?") || q.Choices[q.Right] != trace.NoRecord {
		t.Errorf("%q, answered %q", q.Text, q.Choices[q.Right])
	}
	if want := "At 13.004s, after A's DEL: "; !strings.HasPrefix(q.Spoken, want) {
		t.Errorf("%q is said to a room, and not %q", q.Spoken, want)
	}
	if e := tl.Event(q.Until); e.Seq != 27 || e.Args[0] != "DEL" && e.Args[0] != "del" {
		t.Errorf("it is answered at #%d", e.Seq)
	}
}

// A question for the record says of which moment of an instant in which a command is carried out, whatever that command does.
func TestQuestionForTheRecordNamesTheCommand(t *testing.T) {
	const late = "title: Late\nsetup:\n  clients: {A: , B: {work: 5s}}\n  ttl: 10s\nscript:\n  - say: A stops.\n  - run: A\n    to: release\n  - wait: 12s\n  - run: B\n    to: work\n" +
		"  - say: A wakes up.\n  - run: A\n    to: after release first\n  - ask: Whose record is it?\n    answer: "
	for _, tt := range [][3]string{{"naive-del", "record", ", after A's DEL: "}, {"setpx-lua", "record", ", after A's script: "}, {"naive-del", "holders", ""}} {
		q := runOf(t, tt[0], late+tt[1]+"\n").Questions()
		i := slices.IndexFunc(q, func(q timeline.Question) bool { return q.Script })
		if !strings.Contains(q[i].Text, tt[2]) || tt[2] == "" && strings.Contains(q[i].Text, "after") {
			t.Errorf("%s: it is asked %q", tt[0], q[i].Text)
		}
	}
}

// A question for the record after a release is about what the release does: a stale write before it doesn't tell, and where the release
// itself shows the answer it is answered, be it the very last step of the client or not.
func TestQuestionForTheRecordWaitsForTheRelease(t *testing.T) {
	const late = "title: Late\nsetup:\n  clients: {A: , B: {work: 5s}}\n  ttl: 8s\nscript:\n  - say: A stops.\n  - run: A\n    to: read\n  - pause: A\n  - wait: 10s\n  - run: B\n    to: read\n" +
		"  - say: A wakes up, writes, and gives the lock back.\n  - run: A\n  - ask: %s\n    answer: record\n"
	for _, tt := range [][4]string{ // what a room is asked, and what has happened last where it is answered
		{"setpx-lua", "Whose record is it?", "Later, at 10.006s: Whose record is it?", "A's release fails"},
		{"setpx-lua", "Once A is through, whose record is it?", "Later: Once A is through, whose record is it?", "A's release fails"},
		{"naive-del", "Whose record is it?", "Later, at 10.005s, after A's DEL: Whose record is it?", "FR"},
		{"naive-del", "Whose record is it after A is through?", "Later: Whose record is it after A is through?", "FR"},
		{"naive-del", "Once A is through, whose record is it?", "Later: Once A is through, whose record is it?", "FR"},
	} {
		tl := runOf(t, tt[0], fmt.Sprintf(late, tt[1]))
		q := tl.Questions()[slices.IndexFunc(tl.Questions(), func(q timeline.Question) bool { return q.Script })]
		last := tl.Refusal(tl.Finished(q.Until))
		if _, fresh := tl.Breached(q.Until); len(fresh) > 0 {
			last = fresh[0].Code.String()
		}
		if got := q.Worded(q.Text, 0); got != tt[2] || !strings.Contains(last, tt[3]) || q.TellsEarly() != "" {
			t.Errorf("%s: %q, answered at #%d (%s), with the note %q", tt[0], got, tl.Event(q.Until).Seq, last, q.TellsEarly())
		}
	}
}

// A question offers the same choices under a lock under which two have it and under one under which they don't: a pair that stands there only
// where it is the answer gives that away.
func TestChoicesDontTellTheAnswer(t *testing.T) {
	const third = "title: Third\nsetup:\n  clients: {A: , B: {work: 5s}, C: }\n  retry: {tries: 1}\nscript:\n  - say: A stops.\n  - run: A\n    to: release\n  - wait: 12s\n  - run: B\n    to: work\n  - run: A\n" +
		"  - say: C comes.\n  - run: C\n    for: 10ms\n  - ask: Who believes that it has the lock?\n    answer: holders\n"
	of := func(lock string) timeline.Question {
		all := runOf(t, lock, third).Questions()
		return all[slices.IndexFunc(all, func(q timeline.Question) bool { return q.Script })]
	}
	broken, whole := of("naive-del"), of("setpx-lua")
	if want := []string{"nobody", "A", "B", "C", "B and C"}; !slices.Equal(broken.Choices, want) || !slices.Equal(whole.Choices, want) {
		t.Errorf("%q and %q", broken.Choices, whole.Choices)
	}
	if broken.Choices[broken.Right] != "B and C" || whole.Choices[whole.Right] != "B" {
		t.Errorf("answered %q and %q", broken.Choices[broken.Right], whole.Choices[whole.Right])
	}
}

// A question that names its instant itself is asked, and answered, of that and without another one; any other of that at which its answer shows,
// unless a whole lease goes by in between: whether it has ended something is then the question.
func TestQuestionThatNamesItsInstant(t *testing.T) {
	const lost = "title: Lost\nsetup:\n  clients: {A: , B: {insist: 2s}}\n  retry: {tries: 1}\n  ttl: %s\nscript:\n  - say: A asks.\n  - run: A\n    to: after acquire first\n  - drop: {reply: A}\n  - run: A\n  - wait: 60s\n" +
		"  - ask: %s\n    answer: record\n  - say: B comes.\n"
	for asked, want := range map[string]string{
		"Whose record is it when B comes at 63s?":         "Whose record is it when B comes at 63s?",
		"Whose record is it a minute later?":              "Whose record is it a minute later?",
		"Whose record is it, with a lease of 10s?":        "Later, at 3s: Whose record is it, with a lease of 10s?",
		"Whose record is it at 2 of the servers?":         "Later, at 3s: Whose record is it at 2 of the servers?",
		"Whose record is it?":                             "Later, at 3s: Whose record is it?",
		"After how many minutes does B come, at 60 s or?": "After how many minutes does B come, at 60 s or?",
	} {
		q := runOf(t, "setnx", fmt.Sprintf(lost, "2m", asked)).Questions()[0]
		if got := q.Worded(q.Text, 0); got != want || (q.TellsEarly() != "") != (got == q.Then) {
			t.Errorf("%q, with the note %q", got, q.TellsEarly())
		}
		q, want = runOf(t, "setnx", fmt.Sprintf(lost, "10s", asked)).Questions()[0], strings.Replace(want, "at 3s", "at 63s", 1)
		if got := q.Worded(q.Text, 0); got != want || !strings.HasSuffix(q.TellsEarly(), "the false refusal (FN) at 3s, a whole lease before, may tell its answer: see whether it does") {
			t.Errorf("after a lease: %q, with the note %q", got, q.TellsEarly())
		}
	}
}

// What is printed has an answer with the moment of which a screen asks, and not of the question's place.
func TestAnswerIsPrintedAsOfItsMoment(t *testing.T) {
	const late = "title: Late\nsetup:\n  clients: {A: , B: {work: 5s}}\nscript:\n  - say: A stops.\n  - run: A\n    to: release\n  - until: 12s\n  - run: B\n    to: work\n" +
		"  - say: A wakes up.\n  - run: A\n    to: done\n  - until: 16s\n  - ask: Whose record is it?\n    answer: record\n  - ask: What comes of it?\n    answer: verdict\n"
	var b strings.Builder
	if err := timeline.Plain(&b, runOf(t, "naive-del", late).Trace); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nanswer    At 12.003s, after A's DEL: Whose record is it? no client's record\n", "\nanswer    What comes of it? FR\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// Of a replica that has taken over without the record the cause is that it hadn't got it; of one that has got it, and of a record that
// was removed before, it is not.
func TestWhyAReplicaHasNoRecord(t *testing.T) {
	const begin = "title: Over\nsetup:\n  clients: {A: {work: 5s}, B: }\n  replicas: 1\n  lag: 20ms\nscript:\n  - say: A.\n  - run: A\n    to: read\n"
	const end = "  - down: n1\n  - failover: {to: n1r1}\n  - ask: Whose record is it?\n    answer: record\n"
	const hasnt = "n1r1 became the master at %s without A's record, as what n1 stored at 1ms had not come to it by then."
	behind := strings.Replace(begin, "  - run: A\n", "  - lag: {replica: n1r1, by: 5s}\n  - run: A\n", 1)
	for _, tt := range []struct{ lock, script, want string }{
		{"setpx-lua", begin + end, fmt.Sprintf(hasnt, "2ms")},
		{"setpx-lua", begin + "  - run: A\n  - wait: 1s\n" + end, "A's EVALSHA removed A's record at "},
		{"setpx-lua", begin + "  - wait: 1s\n" + end, "n1r1 stores A1-"},
		{"setpx-wait", behind + end, fmt.Sprintf(hasnt, "42ms")}, // the other replica had it, and loses it as it copies the new master
	} {
		q := runOf(t, tt.lock, tt.script).Questions()
		i := slices.IndexFunc(q, func(q timeline.Question) bool { return q.Script })
		if !strings.HasPrefix(q[i].Why, tt.want) {
			t.Errorf("%s, %q: %q", tt.lock, tt.script, q[i].Why)
		}
	}
}

// A question for the verdict is asked where it stands, and at the words before only where at its own place some of its choices
// are ruled out.
func TestVerdictIsAskedWhereAllIsOpen(t *testing.T) {
	const begin, asked = "title: Well\nsetup:\n  clients: {A: , B: {work: 5s}}\n  ttl: 10s\nscript:\n  - say: A.\n", "  - ask: Well?\n    answer: verdict\n"
	const late = begin + "  - run: A\n    to: release\n  - wait: 12s\n  - run: B\n    to: work\n"
	const stale = begin + "  - run: A\n    to: read\n  - pause: A\n  - wait: 12s\n  - run: B\n  - say: A wakes up.\n  - run: A\n"
	for _, tt := range []struct {
		name, lock, script string
		earlier            bool
	}{
		{"it is still to come", "naive-del", late + asked + "  - run: A\n", false},
		{"worse can follow, and the screen shows FR", "naive-del", late + "  - run: A\n" + asked + "  - run: B\n", true},
		{"the screen shows the worst", "setpx-lua", stale + asked, true},
		{"no harm is done", "setpx-lua", late + "  - run: A\n" + asked + "  - run: B\n", false},
		{"all is over", "setpx-lua", late + "  - run: all\n" + asked, true},
	} {
		tl := runOf(t, tt.lock, tt.script)
		all := tl.Questions()
		q := all[slices.IndexFunc(all, func(q timeline.Question) bool { return q.Script })]
		n := tl.Notes[slices.IndexFunc(tl.Notes, func(n trace.Note) bool { return n.Kind == trace.NoteAsk && n.Index == q.Note })]
		if own := tl.Before(n.Seq); q.Pos < own != tt.earlier {
			t.Errorf("%s: it stands at %d, and is asked at %d", tt.name, own, q.Pos)
		}
	}
}

// The answers are true: judged by the events alone, by other rules than those that made the
// questions.
func TestAnswersAreTrue(t *testing.T) {
	checked := map[string]int{}
	courseRuns(t, func(t *testing.T, tl *timeline.Timeline) {
		for _, q := range tl.Questions() {
			answer := q.Choices[q.Right]
			last := tl.Event(q.Until)
			if q.Script {
				checked["script"]++
				answersLikeTheNote(t, tl, &q)
			}
			switch {
			case strings.Contains(q.Text, "Does the resource let it write?"):
				checked["write"]++
				if (answer == "yes") != (last.Kind == trace.KindWrite) {
					t.Errorf("%q: %s, and the event is %s", q.Text, answer, tl.Line(last))
				}
			case strings.HasSuffix(q.Text, "get the lock?"):
				checked["entry"]++
				if strings.HasPrefix(answer, "yes") != (last.Kind == trace.KindGranted) {
					t.Errorf("%q: %s, and the event is %s", q.Text, answer, tl.Line(last))
				}
				if strings.Contains(answer, "still believe") != (last.Kind == trace.KindGranted && tl.StateAt(q.Until).Believers() > 1) {
					t.Errorf("%q: %s, and %s", q.Text, answer, tl.Holders(tl.StateAt(q.Until)))
				}
				alone, beside := q.Choices[1], q.Choices[2] // where A's lease is over, but A doesn't know, one of them is wrong
				if !strings.HasSuffix(alone, "nobody else believes that it has it") || !strings.Contains(beside, " still believe") {
					t.Errorf("%q: %q and %q are not about the same, what others believe", q.Text, alone, beside)
				}
			case strings.HasSuffix(q.Text, "What does it do?"):
				if strings.Contains(q.Text, "EVAL") {
					t.Errorf("%q can't be answered: nobody knows a script by its digest", q.Text)
				}
				checked["release"]++
				foreign := slices.ContainsFunc(tl.Breaches, func(b timeline.Breach) bool { return b.Code == trace.FR && b.Pos == q.Until })
				if foreign && !strings.HasPrefix(answer, "it removes") || last.Reply == "0" && answer != "it changes nothing" {
					t.Errorf("%q: %s, and the event is %s", q.Text, answer, tl.Line(last))
				}
			}
		}
	})
	for _, kind := range []string{"write", "entry", "release", "script"} {
		if checked[kind] < 3 {
			t.Errorf("only %d questions of the kind %s in the course", checked[kind], kind)
		}
	}
}

// TestAnswersHaveReasons: an answer where nothing breaks says whose record Redis has and since when, or by what the last one
// went, and a script that spares a record is said to compare.
func TestAnswersHaveReasons(t *testing.T) {
	for _, tt := range []struct{ lock, scenario, question, want string }{
		{"naive-del", "late-release", "B's request arrives at 12.001s.", "Redis had no record: A's record expired at 10.002s. (#17, reply: OK)"},
		{"naive-del", "late-release", "C's request arrives at 16.001s.", "Redis had no record: A's DEL removed B's record at 15.001s. (#32, reply: OK)"},
		{"naive-del", "late-release", "B goes to the resource", "It carries no fencing token, so the resource can't tell that C got the lock later, at 16.002s."},
		{"naive-del", "late-release", "B's DEL lock arrives", "Redis had C's record, since 16.001s, and DEL doesn't ask whose it is. (#43, reply: 1)"},
		{"get-then-del", "late-release", "C's request arrives at 16.001s.", "Redis had B's record, since 12.001s. (#32, reply: nil)"},
		{"get-then-del", "late-release", "At 15.002s: Whose record", "n1 stores B1-a586 (B's), since 12.001s."},
		{"naive-del", "late-release", "At 15.001s, after A's DEL: Whose record", "A's DEL removed B's record at 15.001s."},
		{"setpx-lua", "release-gap", "A's release, a script", "Redis had B's record, since 12.001s: B1-a586. The command compares that with A1-e39f, and leaves it. (#27, reply: 0)"},
		{"getset-equal", "clock-skew", "B's request arrives at 1.003s.", "Redis had A's record, since 1ms, and B's GETSET replaced it. (#22, reply: 1010000)"},
		{"setpx-lua", "failover", "B's request arrives at 3ms.", "Redis had no record: n1r1 became the master at 2ms without A's record, as what n1 stored at 1ms had not come to it by then. (#14, reply: OK)"},
		{"fenced", "pause-past-ttl", "A goes to the resource", "Resource refuses A: fence 1 is older than 2"},
	} {
		all := runUnder(t, tt.lock, tt.scenario).Questions()
		i := slices.IndexFunc(all, func(q timeline.Question) bool { return strings.HasPrefix(q.Text, tt.question) })
		if i < 0 || !strings.HasPrefix(all[i].Why, tt.want) {
			t.Errorf("%s under %s: %q is not explained by %q: %+v", tt.lock, tt.scenario, tt.question, tt.want, all)
		}
	}
}

// answersLikeTheNote: a script's question has the answer that the scenario has computed. That of
// a record names its owner behind the value.
func answersLikeTheNote(t *testing.T, tl *timeline.Timeline, q *timeline.Question) {
	t.Helper()
	if q.Script && q.Then != q.Text && !(strings.HasPrefix(q.Text, "At ") && strings.HasSuffix(q.Text, ": "+q.Then)) {
		t.Errorf("%q is not what its author has written, after its instant: %q", q.Text, q.Then)
	}
	for _, n := range tl.Notes {
		if n.Kind != trace.NoteAsk || q.Then != n.Prose() && !strings.HasSuffix(q.Text, n.Prose()) {
			continue
		}
		got := q.Choices[q.Right]
		if n.About == "verdict" {
			if got == "nothing goes wrong" != (n.Answer == "ok") {
				t.Errorf("%q: %s, and the scenario says %s", q.Text, got, n.Answer)
			}
			return
		}
		if n.About == "record" && n.Answer != trace.NoRecord && !strings.HasPrefix(q.Why, "n1 stores ") {
			t.Errorf("%q is answered so: %s", q.Text, q.Why)
		}
		if n.About == "record" && strings.HasSuffix(got, "'s record") && strings.Contains(n.Answer, "("+strings.TrimSuffix(got, "'s record")+"'s)") ||
			n.Answer == trace.NoRecord && got == trace.NoRecord || trace.List(strings.Split(n.Answer, ", ")) == got {
			return
		}
		t.Errorf("%q: %s, and the scenario says %s", q.Text, got, n.Answer)
	}
}

// A cause names what the violation began with.
func TestCauses(t *testing.T) {
	for run, want := range map[[2]string]string{
		{"release-gap", "get-then-del"}:    "A is paused at 1.004s, A's record expires at 10.002s, Redis stores B's record at 12.001s; so A's DEL removes B's record (get_then_del.go:56).",
		{"crash-holding", "setnx"}:         "A crashes at 1.002s; so nobody alive holds the lock, and what A left behind never goes away.",
		{"server-clock-jump", "setpx-lua"}: "n1's clock jumps at 5.002s, A's record expires at 5.002s; so B gets the lock while A's lease is live.",
		{"takeover-race", "timestamp-del"}: "B's DEL removes A's record (timestamp_del.go:61).", // nothing but the two of them led to it
	} {
		sc, err := scenarios.Find(run[0])
		if err != nil {
			t.Fatal(err)
		}
		st, err := scenarios.FindStrategy(run[1])
		if err != nil {
			t.Fatal(err)
		}
		tr, err := sc.Run(st, 1)
		if err != nil {
			t.Fatal(err)
		}
		tl := timeline.New(tr)
		if got := tl.Cause(tl.Breaches[0]); got != want {
			t.Errorf("%v: %s", run, got)
		}
	}
}

var (
	granted = regexp.MustCompile(`(\w+) gets the lock at ([0-9.]+\w*)`)
	stored  = regexp.MustCompile(`stores (\w+)'s record at ([0-9.]+\w*)`)
)

// A client gets the lock at the instant at which it is told so, in every cause of every run; the
// storing of its record, which comes before that, has a word of its own.
func TestCausesNameInstantsOfTheirEvents(t *testing.T) {
	told := [2]int{}
	courseRuns(t, func(t *testing.T, tl *timeline.Timeline) {
		for _, b := range tl.Breaches {
			cause := tl.Cause(b)
			for i, kind := range []trace.Kind{trace.KindGranted, trace.KindExecute} {
				for _, m := range [...]*regexp.Regexp{granted, stored}[i].FindAllStringSubmatch(cause, -1) {
					told[i]++
					if !slices.ContainsFunc(tl.Events, func(e trace.Event) bool {
						return e.Kind == kind && e.Client != trace.None && tl.Clients[e.Client] == m[1] && trace.Brief(e.At) == m[2]
					}) {
						t.Errorf("no %v of %s at %s: %s", kind, m[1], m[2], cause)
					}
				}
			}
		}
	})
	if told[0] == 0 || told[1] == 0 {
		t.Errorf("causes tell of %d grants and %d records", told[0], told[1])
	}
}

// ownRun runs a lock under a script of somebody's own, whose last step is the question.
func ownRun(t *testing.T, lock, ask string) *timeline.Timeline {
	t.Helper()
	return runOf(t, lock, "title: Own\nsetup:\n  clients: {A: , B: {work: 5s}}\n  ttl: 10s\nscript:\n  - say: A takes the lock.\n  - run: A\n    to: before release first\n"+
		"  - say: A stalls.\n  - wait: 12s\n  - run: B\n    to: work\n  - say: A wakes up.\n  - run: A\n  - run: B\n  - ask: "+ask+"\n")
}

// TestWordsAboveAQuestionComeBeforeIt: where nothing but a wait stands between words and a question, they are told where it is asked; those below
// it are not.
func TestWordsAboveAQuestionComeBeforeIt(t *testing.T) {
	tl := runOf(t, "naive-del", "title: Own\nsetup:\n  clients: {A: {work: 20s}}\nscript:\n  - say: A works.\n  - run: A\n    to: work\n  - wait: 2s\n"+
		"  - say: Two more seconds go by.\n  - wait: 2s\n  - ask: Who has it?\n    answer: holders\n  - say: A goes on.\n  - run: A\n")
	q := tl.Questions()[0]
	words := tl.Leading(&q)
	if len(words) != 1 || words[0] != "Later, at 2.002s: Two more seconds go by." || q.Pos > 0 {
		t.Errorf("asked at %d, after %v", q.Pos, words)
	}
}

// TestAnswerAtTheRefusalOfItsInstant: the slide of a refusal shows who has the lock then, so a question of that very instant is answered there,
// though its words name the moment.
func TestAnswerAtTheRefusalOfItsInstant(t *testing.T) {
	tl := runOf(t, "setpx-lua", "title: Own\nsetup:\n  clients: {A: , B: {work: 5s}}\n  ttl: 10s\nscript:\n  - say: A takes the lock.\n  - run: A\n    to: before release first\n"+
		"  - wait: 12s\n  - run: B\n    to: work\n  - say: A wakes up.\n  - run: A\n  - ask: Who has the lock once A is through?\n    answer: holders\n  - say: B goes on.\n  - run: B\n")
	q := tl.Questions()[0]
	if last := tl.Refusal(tl.Finished(q.Until)); last == "" || tl.When(q.Until) != q.At || q.Tells != "" {
		t.Errorf("answered at %s with %q, and is asked of %s: %q", tl.When(q.Until), last, q.At, q.Tells)
	}
}

// A question that ends a script is asked at the words before it, where nothing that decides it is on the
// screen, whether or not a property breaks.
func TestLastQuestionIsAskedBeforeItsAnswer(t *testing.T) {
	for lock, want := range map[string]string{"naive-del": "two have it at once, or one loses it unnoticed", "setpx-lua": "nothing goes wrong"} {
		tl := ownRun(t, lock, "What has come of this now?\n    answer: verdict")
		var q timeline.Question
		for _, all := range tl.Questions() {
			if all.Script {
				q = all
			}
		}
		if !strings.HasPrefix(q.Text, "In the end: ") || !strings.HasSuffix(q.Text, " What has come of this now?") || q.Then != "What has come of this now?" {
			t.Errorf("%s: %q, and then %q", lock, q.Text, q.Then)
		}
		if _, said := slices.BinarySearch(tl.Chapters, q.Pos); !said || tl.Over(q.Pos) || len(tl.Breaches) > 0 && q.Pos >= tl.Breaches[0].Pos {
			t.Errorf("%s: asked at %d of %v", lock, q.Pos, tl.Chapters)
		}
		if q.Choices[q.Right] != want {
			t.Errorf("%s: %s", lock, q.Choices[q.Right])
		}
	}
}

// A question about the verdict that stands before what decides it is answered where that has happened, and nothing of the
// answer is to be seen in the question: its words and its choices are the same under every lock.
func TestVerdictIsToldWhenItHasHappened(t *testing.T) {
	var offered []string
	for lock, want := range map[string]string{"naive-del": "an update is lost, or stored too late", "setnx": "nothing goes wrong"} {
		tl := runOf(t, lock, "title: Own\nsetup:\n  clients: {A: , B: {work: 1s}}\n  ttl: 10s\nscript:\n  - say: A takes the lock and reads.\n"+
			"  - run: A\n    to: read\n  - pause: A\n  - wait: 12s\n  - say: B gets it.\n  - run: B\n    to: read\n  - ask: Does one spoil the other's work?\n    answer: verdict\n"+
			"  - say: A wakes up.\n  - resume: A\n  - run: A\n  - say: B goes on.\n  - run: B\n")
		for _, q := range tl.Questions() {
			if !q.Script {
				continue
			}
			if got := q.Choices[q.Right]; got != want || q.Text != "Does one spoil the other's work?" {
				t.Errorf("%s: %q is answered with %s", lock, q.Text, got)
			}
			if q.Said < q.Until {
				t.Errorf("%s: answered at %d, and told at %d", lock, q.Until, q.Said)
			}
			if lost := slices.IndexFunc(tl.Breaches, func(b timeline.Breach) bool { return b.Code == trace.SW }); lost >= 0 && q.Until != tl.Breaches[lost].Pos {
				t.Errorf("%s: answered at %d, and the update is lost at %d", lock, q.Until, tl.Breaches[lost].Pos)
			}
			offered = append(offered, strings.Join(q.Choices, "; "))
		}
	}
	if len(offered) != 2 || offered[0] != offered[1] {
		t.Errorf("offered are %q", offered)
	}
}

// A violation after which a worse one could follow decides no verdict: that is told at the end of the run, be there further
// words, or questions, to come; and a question that stands behind such a violation is asked before it, after those above it.
func TestVerdictIsToldWhenNothingWorseCanFollow(t *testing.T) {
	const begin = "title: Own\nsetup:\n  clients: {A: , B: {work: 2s, insist: 3s}}\n  ttl: 10s\nscript:\n  - say: A does its work.\n  - run: A\n    to: release\n  - crash: A\n" +
		"  - say: B asks.\n  - ask: How will it end?\n    answer: verdict\n  - run: B\n    for: 24s\n"
	for _, later := range []string{"", "  - ask: What went wrong?\n    answer: verdict\n", "  - say: B is through.\n"} {
		tl := runOf(t, "naive-del", begin+later)
		q := tl.Questions()[0]
		if b := tl.Breaches; len(b) != 1 || q.Text != "How will it end?" || q.Until != tl.Last() || q.Said != q.Until {
			t.Errorf("with %q behind it: %q is answered at %d, and told at %d; broken is %v", later, q.Text, q.Until, q.Said, b)
		}
	}
	tl := runOf(t, "fenced", "title: Own\nsetup:\n  clients: {A: {work: 5s}, B: {work: 5s}}\n  ttl: 10s\nscript:\n  - say: A reads.\n  - run: A\n    to: read\n  - wait: 1s\n"+
		"  - say: Redis evicts the record.\n  - evict: n1\n  - run: B\n    to: read\n  - say: Both write.\n  - ask: Who has it?\n    answer: holders\n  - ask: What will come of it?\n    answer: verdict\n  - run: [A, B]\n    for: 10s\n")
	all := slices.DeleteFunc(tl.Questions(), func(q timeline.Question) bool { return !q.Script })
	if len(all) != 2 || all[0].Then != "Who has it?" {
		t.Fatalf("asked are %+v", all)
	}
	q, refused := all[1], slices.IndexFunc(tl.Events, func(e trace.Event) bool { return e.Kind == trace.KindReject })
	if b := tl.Breaches; q.Pos >= b[0].Pos || !slices.Contains(tl.Chapters, q.Pos) || refused < q.Pos || q.Until != tl.Last() {
		t.Errorf("asked at %d, answered at %d; broken is %v, and A is refused at %d", q.Pos, q.Until, b, refused)
	}
}

// Of records it is asked in words for records, be there none.
func TestQuestionOfRecordsSpeaksOfRecords(t *testing.T) {
	tl := ownRun(t, "setpx-lua", "What does Redis store now?\n    answer: record")
	for _, q := range tl.Questions() {
		if !q.Script {
			continue
		}
		if q.Choices[q.Right] != "no client's record" || !strings.HasPrefix(q.Why, "B's EVALSHA removed B's record at 18.007s.") || slices.Contains(q.Choices, "nobody") {
			t.Errorf("%q: %q, of which %d is right: %s", q.Text, q.Choices, q.Right, q.Why)
		}
		return
	}
	t.Error("asks nothing")
}

// A question says of a command what it does: one that arrives again was not sent again, one that a server doesn't run decides
// nothing, and one server has no two records of a lock.
func TestQuestionsAreOfWhatHappens(t *testing.T) {
	again := 0
	courseRuns(t, func(t *testing.T, tl *timeline.Timeline) {
		for _, q := range tl.Questions() {
			decides := tl.Event(q.Pos + 1)
			if strings.HasSuffix(q.Text, "What does it do?") {
				if sends := strings.Contains(q.Text, " sends "); sends || strings.Contains(q.Text, "a second time") != decides.Copy {
					t.Errorf("%q is asked of %s", q.Text, tl.Line(decides))
				}
				if strings.Contains(decides.Reply, "NOSCRIPT") {
					t.Errorf("%q is asked of %s", q.Text, tl.Line(decides))
				}
				if decides.Copy {
					again++
				}
			}
			for _, c := range q.Choices {
				if len(tl.Nodes) == 1 && strings.Contains(c, "'s record and ") {
					t.Errorf("%q offers %q of one server", q.Text, c)
				}
			}
		}
	})
	if again == 0 {
		t.Error("nothing arrives a second time")
	}
}

// Nobody who answers that the lock is never had again is told that somebody is only kept waiting, and nobody who gets it is
// said never to: as the probe finds it.
func TestNeverIsNever(t *testing.T) {
	never := 0
	for _, sc := range scenarios.All() {
		for _, lock := range []string{"setnx", "setpx-lua", "redlock", "redlock-hyperf", "redlock-strict-errors", "watchdog"} {
			st, err := scenarios.FindStrategy(lock)
			if err != nil {
				t.Fatal(err)
			}
			run, err := sc.Run(st, 1)
			if err != nil {
				t.Fatal(err)
			}
			tl := timeline.New(run)
			asked, had := false, false
			for i := range run.Events {
				if e := &run.Events[i]; e.Client != trace.None && run.Clients[e.Client] == trace.Probe {
					asked, had = true, had || e.Kind == trace.KindGranted
				}
			}
			for _, q := range tl.Questions() {
				if len(q.Choices) != 5 {
					continue
				}
				switch says := strings.HasPrefix(q.Choices[q.Right], "nobody ever"); {
				case slices.Contains(run.Verdict(), trace.LV): // no client is ever through, and no probe comes
				case says && (!asked || had), asked && !had && strings.HasPrefix(q.Choices[q.Right], "a free lock"):
					t.Errorf("%s under %s: %q is answered with %q; the probe has asked: %t, has had it: %t", lock, sc.Name, q.Text, q.Choices[q.Right], asked, had)
				case says:
					never++
				}
			}
		}
	}
	if never < 3 {
		t.Errorf("never in %d runs", never)
	}
}

// TestEachQuestionOfAScriptIsAsked: also where two stand in one place, or one violation shows the answers to both.
func TestEachQuestionOfAScriptIsAsked(t *testing.T) {
	const begin = "title: Own\nsetup:\n  clients: {A: , B: {work: 1s}}\n  ttl: 10s\nscript:\n  - say: A takes the lock and reads.\n  - run: A\n    to: read\n" +
		"  - pause: A\n  - wait: 12s\n  - say: B gets it.\n  - run: B\n    to: read\n"
	for name, script := range map[string]string{
		"in one place":          begin + "  - ask: Who has it?\n    answer: holders\n  - ask: What is stored?\n    answer: record\n  - run: [A, B]\n",
		"around a violation":    begin + "  - ask: Who has it?\n    answer: holders\n  - resume: A\n  - run: A\n  - ask: Does it go well?\n    answer: verdict\n",
		"three in one place":    begin + "  - ask: Who has it?\n    answer: holders\n  - ask: What is stored?\n    answer: record\n  - ask: Who has it now?\n    answer: holders\n",
		"five in one place":     begin + strings.Repeat("  - ask: Who has it?\n    answer: holders\n", 5) + "  - run: [A, B]\n",
		"before one violation":  begin + "  - resume: A\n  - run: A\n  - ask: Does it go well?\n    answer: verdict\n  - ask: And all in all?\n    answer: verdict\n",
		"of a verdict and more": begin + "  - ask: Does it go well?\n    answer: verdict\n  - ask: What is stored?\n    answer: record\n  - resume: A\n  - run: A\n",
	} {
		for _, lock := range []string{"naive-del", "setpx-lua", "fenced", "setnx", "redlock"} {
			asked, seen, tl := 0, map[int]bool{}, runOf(t, lock, script)
			if all := tl.Questions(); len(all) < strings.Count(script, "ask:") || !slices.IsSortedFunc(all, func(a, b timeline.Question) int { return a.Pos - b.Pos }) {
				t.Errorf("%s, %s: questions %+v", name, lock, all)
			}
			for _, q := range tl.QuestionsApart() {
				if q.Script {
					asked++
				}
				if seen[q.Pos] || q.Pos < 0 || q.Pos >= q.Until {
					t.Errorf("%s, %s: %q is asked at %d, and answered at %d", name, lock, q.Text, q.Pos, q.Until)
				}
				seen[q.Pos] = true
			}
			if want := strings.Count(script, "ask:"); asked != want {
				t.Errorf("%s, %s: %d questions are asked, of %d", name, lock, asked, want)
			}
		}
	}
}

// TestGoneIsOfTheRun: why there is no record is told of the run up to there. That nobody has stored one is said only where no event before has, and
// whose record has gone only where there was one of that client's.
func TestGoneIsOfTheRun(t *testing.T) {
	owned := regexp.MustCompile(`\b([A-Z])'s record`)
	checked := map[bool]int{}
	for i, sc := range scenarios.All() {
		for j, st := range strategies.All() {
			if !testenv.Some(i*7+j, 12) {
				continue
			}
			run, err := sc.Run(st, 1)
			if err != nil {
				t.Fatal(err)
			}
			tl, stored := timeline.New(run), map[string]bool{}
			for pos := range tl.Last() + 1 {
				if e := tl.Event(pos); e != nil && e.Node != trace.None {
					if rec := tl.StateAt(pos).LockRecord(e.Node); rec != nil {
						name := ""
						if rec.Owner != trace.Nobody {
							name = tl.Clients[rec.Owner.Client]
						}
						stored[name] = true
					}
				}
				state := tl.StateAt(pos)
				if slices.ContainsFunc(tl.Chapters, func(at int) bool { return at == pos }) && !slices.ContainsFunc(state.Primary, func(n int) bool { return state.LockRecord(n) != nil }) {
					why := tl.Gone(pos)
					checked[len(stored) > 0]++
					if (why == "Nobody has stored one.") != (len(stored) == 0) {
						t.Errorf("%s under %s at %d, where records of %v were stored: %s", st.Name, sc.Name, pos, stored, why)
					}
					for _, m := range owned.FindAllStringSubmatch(why, -1) {
						if !stored[m[1]] {
							t.Errorf("%s under %s at %d: %s", st.Name, sc.Name, pos, why)
						}
					}
				}
			}
		}
	}
	if checked[true] == 0 || checked[false] == 0 {
		t.Errorf("checked: %v", checked)
	}
}

// Of several servers it is said by what the record of each has gone, be the last one a client's that never had the lock.
func TestGoneFromSeveralServers(t *testing.T) {
	tl := runOf(t, "redlock", "title: Tried\nsetup:\n  clients: {A: , B: }\nscript:\n  - say: A.\n  - run: A\n  - cut: {client: B, nodes: [n2, n3, n4, n5]}\n  - say: B.\n  - run: B\n    for: 2s\n  - wait: 1s\n  - ask: Whose record does Redis hold then?\n    answer: record\n")
	for _, q := range tl.Questions() {
		if q.Script {
			t.Logf("%s %s %s", q.Text, q.Choices[q.Right], q.Why)
			if !strings.Contains(q.Why, "removed A's record from n2, n3, n4 and n5 by ") || !strings.Contains(q.Why, "removed B's record from n1 at ") {
				t.Errorf("%q", q.Why)
			}
		}
	}
}
