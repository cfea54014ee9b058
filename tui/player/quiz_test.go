package player_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/quiz"
	"lockstep/tui/tuitest"
)

// ranCourse are the runs of the course, once a test has asked for them.
var ranCourse = map[string]*timeline.Timeline{}

// courseRuns are the runs of the course, by their steps. Tests share them, and none is parallel.
func courseRuns(t *testing.T) map[string]*timeline.Timeline {
	t.Helper()
	testenv.LongRaced(t)
	for _, l := range scenarios.Course() {
		for _, step := range l.Steps {
			if ranCourse[step.ID()] == nil {
				ranCourse[step.ID()] = timeline.New(tuitest.RealRun(t, step.Strategy, step.Scenario))
			}
		}
	}
	return ranCourse
}

// One key passes no words, no violation, no question and no answer in any run of the course, and from each
// question that is not the script's it comes to the answer before anything else is asked.
func TestNextPassesNothing(t *testing.T) {
	for id, run := range courseRuns(t) {
		z := quiz.Of(run)
		at := []int{0}
		for pos := 0; pos < run.Last(); {
			z.Answer(pos, quiz.None)
			to := z.Next(pos)
			if to <= pos {
				t.Fatalf("%s: from %d to %d", id, pos, to)
			}
			pos = to
			at = append(at, pos)
		}
		for _, c := range run.Chapters {
			if !slices.Contains(at, c) {
				t.Errorf("%s: the words at %d are passed", id, c)
			}
		}
		for _, b := range run.Breaches {
			if !slices.Contains(at, b.Pos) {
				t.Errorf("%s: %s at %d is passed", id, b.Code, b.Pos)
			}
		}
		open := 0 // the position of an answer to come
		for _, q := range z.All() {
			if !slices.Contains(at, q.Pos) || !slices.Contains(at, q.Until) {
				t.Errorf("%s: %q at %d, or its answer at %d, is passed", id, q.Text, q.Pos, q.Until)
			}
			if q.Pos < open && !q.Script {
				t.Errorf("%s: %q is asked while another question is open", id, q.Text)
			}
			open = max(open, q.Until)
		}
	}
}

// Who jumps to a violation, and goes on from there or once more from the beginning, is asked nothing whose answer has been on the
// screen, neither there nor in a room.
func TestJumpPassesQuestions(t *testing.T) {
	passed, told := 0, 0
	for id, run := range courseRuns(t) {
		for _, b := range run.Breaches {
			z := quiz.Of(run)
			by := &quiz.Teller{Enter: "enter", Score: func(*timeline.Question) string { return "" }, Known: func(string) bool { return true }}
			seen := 0
			walk := func(pos int) {
				for steps := 0; ; steps++ {
					z.See(pos)
					seen = max(seen, pos)
					asked, judged := draw.Paragraphs{Width: 1000}, draw.Paragraphs{Width: 1000}
					z.Ask(&asked, pos, by)
					z.Judge(&judged, pos, by)
					text, q := fmt.Sprint(asked.Lines), z.At(pos)
					if q != nil && q.Until <= seen {
						passed++
						if z.Takes(pos) != nil || strings.Contains(text, "the run will tell") || !strings.Contains(text, "Passed: ") {
							t.Errorf("%s: %s was seen at %d, and then %d says %s", id, b.Code, b.Pos, pos, text)
						}
					}
					if text := fmt.Sprint(judged.Lines); strings.Contains(text, "Answer: ") {
						told++
						if !strings.Contains(text, "Question passed: ") {
							t.Errorf("%s: %s at %d, and then %d says %s", id, b.Code, b.Pos, pos, text)
						}
					}
					if pos == run.Last() || steps > run.Last() {
						return
					}
					if !z.GoOn(pos) {
						pos = z.NextTold(pos, false)
					}
				}
			}
			z.See(0)
			walk(b.Pos)
			walk(0)
		}
	}
	if passed == 0 || told == 0 {
		t.Errorf("%d questions are passed, and %d told of", passed, told)
	}
}

// One key tells a room the answer to each question before the run ends.
func TestRoomIsTold(t *testing.T) {
	for id, run := range courseRuns(t) {
		z := quiz.Of(run)
		z.Stay()
		by := &quiz.Teller{Enter: "enter", Score: func(*timeline.Question) string { return "" }, Known: func(string) bool { return true }}
		told := ""
		for pos := 0; ; {
			z.See(pos)
			judged := draw.Paragraphs{Width: 1000}
			z.Judge(&judged, pos, by)
			told += fmt.Sprint(judged.Lines)
			if pos == run.Last() {
				break
			}
			if !z.GoOn(pos) {
				pos = z.NextTold(pos, true)
			}
		}
		for _, q := range z.All() {
			if !strings.Contains(told, trace.Capital(q.Choices[q.Right])+".") {
				t.Errorf("%s: nobody is told the answer to %q", id, q.Text)
			}
		}
	}
}

// A script's question is answered on a screen of the instant of which it asks, and on no screen at which one key stops
// before that the holders or the records are those of its answer.
func TestScriptsQuestionIsAnsweredAtItsInstant(t *testing.T) {
	asked := 0
	for id, run := range courseRuns(t) {
		z := quiz.Of(run)
		for _, q := range z.All() {
			if !q.Script || !strings.HasPrefix(q.Text, "At ") { // one about the verdict is of no instant
				continue
			}
			asked++
			if text := q.Worded(q.Text, run.Now(q.Pos)); strings.HasPrefix(text, "Later, at ") != (run.Now(q.Pos) < run.Now(q.Until)) {
				t.Errorf("%s: %q is asked where the screen says %s", id, text, trace.Brief(run.Now(q.Pos)))
			}
			if now := trace.Brief(run.Now(q.Until)); !strings.HasPrefix(q.Text, "At "+now+": ") && !strings.HasPrefix(q.Text, "At "+now+", after ") {
				t.Errorf("%s: %q is answered where the screen says %s", id, q.Text, now)
			}
			z.Answer(q.Pos, quiz.None)
			for pos := z.Next(q.Pos); pos < q.Until; pos = z.Next(pos) {
				z.Answer(pos, quiz.None)
				if a := answerAt(run, &q, pos); a == q.Choices[q.Right] {
					t.Errorf("%s: %q is answered at %d, and at %d the screen shows %s", id, q.Text, q.Until, pos, a)
				}
			}
		}
	}
	if asked == 0 {
		t.Error("no script asks anything")
	}
	run := courseRuns(t)["late-release/naive-del"]
	i := slices.IndexFunc(run.Questions(), func(q timeline.Question) bool { return q.Script })
	if q := run.Questions()[i]; q.Until != run.Breaches[0].Pos || !strings.HasPrefix(q.Text, "At 15.001s, after A's DEL: Whose record") {
		t.Errorf("%q is answered at %d, and FR, which shows that there is no record, is complete at %d", q.Text, q.Until, run.Breaches[0].Pos)
	}
}

// answerAt is what would be right of a question about records or holders at another position.
func answerAt(run *timeline.Timeline, q *timeline.Question, pos int) string {
	s := run.StateAt(pos)
	var names []string
	records := slices.Contains(q.Choices, "no client's record")
	for i, name := range run.Clients {
		if !records && s.Clients[i].Lease.Believed {
			names = append(names, name)
		}
		if rec := s.LockRecord(0); records && rec != nil && rec.Owner.Client == i {
			names = append(names, name+"'s record")
		}
	}
	switch {
	case names == nil && records:
		return "no client's record"
	case names == nil:
		return "nobody"
	}
	return trace.List(names)
}

// The words about the key that goes on are the same for each question: whether the next thing is its answer would tell the
// class when it is decided.
func TestHintTellsNothing(t *testing.T) {
	said := map[bool]int{}
	for id, run := range courseRuns(t) {
		z := quiz.Of(run)
		for _, q := range z.All() {
			lines := draw.Paragraphs{Width: 1000}
			z.Ask(&lines, q.Pos, &quiz.Teller{Enter: "enter"})
			if text := fmt.Sprint(lines.Lines); !strings.Contains(text, "Or enter goes on: the run will tell.") || strings.Count(text, "enter") != 1 {
				t.Errorf("%s: at %d: %v", id, q.Pos, lines.Lines)
			}
			z.Answer(q.Pos, quiz.None)
			said[z.Next(q.Pos) == q.Until]++
		}
	}
	if said[true] == 0 || said[false] == 0 {
		t.Errorf("%d questions are answered by one key, and %d are not", said[true], said[false])
	}
}
