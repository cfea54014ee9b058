package tryout

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/quiz"
)

// now is a word of a question that means the moment at which it is asked, and not the one that its answer is about.
var now = regexp.MustCompile(`(?i)\bnow\b`)

// late is a question of a script that says "now", in a run under a lock: it is asked before the event that decides it, even in the same instant.
type late struct {
	where, lock     string
	asked, answered time.Duration
	done            string // the last thing that has happened by the answer; empty if nothing has
}

// lates are such questions of a run.
func lates(s *scenarios.Scenario, t *trace.Trace) (all []late) {
	run := timeline.New(t)
	for _, q := range run.QuestionsApart() {
		if !q.Script {
			continue
		}
		asked, answered := run.Now(q.Pos), run.When(q.Until)
		if n := noteOf(t, q.Note); n != nil && n.About != "verdict" && now.MatchString(n.Text) {
			all = append(all, late{s.NoteAt(q.Note), t.Strategy, asked, answered, lastDone(run, q.Pos, q.Until)})
		}
	}
	return all
}

// deeds say what a client has done or suffered after an event, behind its name.
var deeds = map[trace.Kind]string{
	trace.KindAcquire: "has asked", trace.KindGranted: "has the lock", trace.KindRefused: "has been refused", trace.KindFailed: "has been told of an error",
	trace.KindEnter: "is at work", trace.KindLeave: "has done its work", trace.KindReleased: "has released", trace.KindReleaseFailed: "has failed to release",
	trace.KindDone: "has finished", trace.KindPause: "is paused", trace.KindResume: "goes on", trace.KindCrash: "has crashed",
}

// lastDone is the last thing that has happened between two positions.
func lastDone(run *timeline.Timeline, from, to int) string {
	sent := map[int]bool{} // by client, whether a command of its has come after the event at hand
	for pos := to; pos > from; pos-- {
		switch e := run.Event(pos); {
		case e.Kind == trace.KindSend && e.Client != trace.None:
			sent[e.Client] = true
		case e.Kind == trace.KindAcquire && e.Client != trace.None && !sent[e.Client]:
			return run.Clients[e.Client] + " wants the lock; nothing is sent yet"
		case e.Kind == trace.KindFailover:
			return "a replica has taken over"
		case e.Client == trace.None && slices.ContainsFunc(e.Changes, func(c trace.Change) bool { return c.Key == run.Key && c.After == nil }):
			return "the record is gone"
		case e.Client != trace.None && deeds[e.Kind] != "":
			return run.Clients[e.Client] + " " + deeds[e.Kind]
		}
	}
	return ""
}

// advise says of each question that says "now" what to write, which has to be true under all locks under which it is asked.
func advise(all []late) (lines []string) {
	for len(all) > 0 {
		first := all[0]
		of := slices.DeleteFunc(slices.Clone(all), func(l late) bool { return l.where != first.where })
		all = slices.DeleteFunc(all, func(l late) bool { return l.where == first.where })
		instants, done := sayingsOf(of, func(l *late) (lock, text string) {
			if l.asked == l.answered {
				return l.lock, fmt.Sprintf("it is asked at %s, and something happens in that instant before its answer", trace.Brief(l.asked))
			}
			return l.lock, fmt.Sprintf("it is asked at %s, while its answer is about %s", trace.Brief(l.asked), trace.Brief(l.answered))
		}), sayingsOf(of, func(l *late) (lock, text string) { return l.lock, either(l.done, "nothing has happened") })
		text := fmt.Sprintf("%s: this question says \"now\"; %s. ", first.where, instants.text(true))
		text += fmt.Sprintf("Leave it out, or write \"then\": the moment is put before the question. By then: %s.", done.text(true))
		lines = append(lines, text)
	}
	return lines
}

// idleCrashes has the notes on clients that crash before they have sent a command: that some steps of a client lead into the middle of an
// acquisition under one lock doesn't mean that they do under another, and no server has seen anything of this one.
func idleCrashes(t *trace.Trace) (lines []string) {
	sent := map[int]bool{}
	for i := range t.Events {
		switch e := &t.Events[i]; {
		case e.Kind == trace.KindSend:
			sent[e.Client] = true
		case e.Kind == trace.KindCrash && !sent[e.Client]:
			name := t.Clients[e.Client]
			lines = append(lines, fmt.Sprintf("at %s: %s crashes before it has sent a command, so this run says nothing of %s under a crash in the middle; \"run: %s, to: after acquire first\" leads behind its first command under every lock.", trace.Brief(e.At), name, t.Strategy, name))
		}
	}
	return lines
}

// toldEarly has the notes on questions that are open while something may tell their answer.
func toldEarly(s *scenarios.Scenario, t *trace.Trace) (lines []string) {
	for _, q := range ofScript(t) {
		if text := q.TellsEarly(); text != "" {
			lines = append(lines, s.NoteAt(q.Note)+": "+text)
		}
	}
	return lines
}

// moved is a question of a script that a class is asked elsewhere than it is written: earlier, as the screen would show its answer by its place,
// in words above it or, for the verdict, in steps; or after one that stands below it. Under a lock under which it has its place it says nothing.
type moved struct {
	where, lock     string
	asked, answered string
}

// movedOf has the questions of a run, and says of those that are asked earlier, in another order than they are written, or of another instant than
// that of their place. Those that runs before have settled aren't asked.
func movedOf(s *scenarios.Scenario, t *trace.Trace, settled []timeline.Question) (all []moved) {
	run := timeline.New(t)
	asks := quiz.Of(run)
	asks.Stay()
	asks.OnlyScript()
	asks.Leave(settled)
	for _, n := range t.Notes {
		if n.Kind != trace.NoteAsk {
			continue
		}
		m := moved{where: s.NoteAt(n.Index), lock: t.Strategy}
		if at := slices.IndexFunc(asks.All(), func(q timeline.Question) bool { return q.Note == n.Index }); at >= 0 {
			q := asks.All()[at]
			if how, is := displaced(s, run, asks, &q); is {
				m.asked, m.answered = fmt.Sprintf("slide %d%s", slideOf(asks, &q), how), answerOf(&q)
			}
		}
		all = append(all, m)
	}
	return all
}

// displaced reports whether a question is asked after one that stands below it, before one or words that stand above it or, one for the verdict,
// before steps; or of another instant than that of its place, which is told with the answer.
func displaced(s *scenarios.Scenario, run *timeline.Timeline, asks *quiz.Quiz, q *timeline.Question) (how string, is bool) {
	line := func(note int) string {
		at := s.NoteAt(note)
		return "line " + at[strings.LastIndex(at, ":")+1:]
	}
	if below := overtaking(asks, q); below != nil {
		return ", after the question at " + line(below.Note), true
	}
	otherwise, told := false, ", before the words at "
	for _, n := range run.Notes {
		later := run.Before(n.Seq) > q.Pos
		switch {
		case n.Kind == trace.NoteSay && !later:
			told = ", after the words at " + line(n.Index) + " and before those at "
		case later && n.Kind == trace.NoteSay && n.Index < q.Note:
			return told + line(n.Index), true
		case later && n.Index == q.Note && n.About == "verdict":
			return ", before the last steps above it", true
		case n.Kind == trace.NoteAsk && n.Index == q.Note && q.Moment > 0 && n.At != q.Moment:
			otherwise = true
		}
	}
	if above := slices.IndexFunc(asks.All(), func(o timeline.Question) bool { return o.Note < q.Note && o.Pos > q.Pos }); above >= 0 {
		return ", before the question at " + line(asks.All()[above].Note), true
	}
	return "", otherwise
}

// overtaking is the first question that stands below another one and is asked before it, or nil.
func overtaking(asks *quiz.Quiz, q *timeline.Question) *timeline.Question {
	all := asks.All()
	if at := slices.IndexFunc(all, func(o timeline.Question) bool { return o.Note > q.Note && o.Pos < q.Pos }); at >= 0 {
		return &all[at]
	}
	return nil
}

// slideOf is the slide on which a question is asked.
func slideOf(asks *quiz.Quiz, q *timeline.Question) int {
	slide, _ := asks.Slides(q.Pos)
	for _, o := range asks.All() {
		if o.Until == q.Pos || o.Pos == q.Pos && o.Note < q.Note { // each has a slide of its own, before this one's
			slide++
		}
	}
	return slide
}

// answerOf is a question's answer, with the instant of which it is asked, for its author to see whether that is the one that he means.
func answerOf(q *timeline.Question) string {
	answer := strings.TrimSuffix(q.Choices[q.Right], ".")
	if q.Moment > 0 {
		answer += ", as of " + trace.Brief(q.Moment)
	}
	return answer
}

// elsewhere lists the questions that are asked elsewhere than at their place, with the slide, so that their author isn't surprised in front of a
// class; and under which locks, unless it is under all. That is no note: there is nothing to change.
func elsewhere(all []moved) (text string) {
	for len(all) > 0 {
		first := all[0]
		other := func(m moved) bool { return m.where != first.where }
		of := slices.DeleteFunc(slices.Clone(all), other)
		all = slices.DeleteFunc(all, func(m moved) bool { return !other(m) })
		asked := slices.DeleteFunc(slices.Clone(of), func(m moved) bool { return m.asked == "" })
		if len(asked) == 0 {
			continue
		}
		said := sayingsOf(asked, func(m *moved) (lock, text string) { return m.lock, m.asked + " (answer: " + m.answered + ")" })
		text += "    " + first.where + ": " + said.text(len(asked) == len(of)) + "\n"
	}
	if text == "" {
		return ""
	}
	return "  for your information, nothing to do: these questions are asked on another slide than their lines say, where the screen doesn't tell the answer yet (one for holders or record always comes before the step that decides it):\n" + text
}

// saying is something that is said of locks.
type saying struct{ words, locks string }

type sayings []saying

// sayingsOf collects which locks something is said of.
func sayingsOf[T any](of []T, what func(*T) (lock, text string)) (all sayings) {
	for i := range of {
		lock, text := what(&of[i])
		at := slices.IndexFunc(all, func(s saying) bool { return s.words == text })
		if at < 0 {
			all = append(all, saying{text, lock})
		} else if !slices.Contains(strings.Split(all[at].locks, ", "), lock) {
			all[at].locks += ", " + lock
		}
	}
	return all
}

// text says it once where it holds for every lock, or else for which ones.
func (s sayings) text(every bool) string {
	if every && len(s) == 1 {
		return s[0].words
	}
	var said []string
	for _, one := range s {
		said = append(said, "under "+one.locks+" "+one.words)
	}
	return strings.Join(said, "; ")
}

// ofScript are the questions of a run that its script asks.
func ofScript(t *trace.Trace) []timeline.Question {
	return slices.DeleteFunc(timeline.New(t).Questions(), func(q timeline.Question) bool { return !q.Script })
}

// notAgain says which questions of a run a room is not asked again, as a run before has settled them.
func notAgain(s *scenarios.Scenario, all, before []timeline.Question) (lines []string) {
	for i := range all {
		if slices.ContainsFunc(before, func(o timeline.Question) bool { return all[i].SettledBy(&o) }) {
			lines = append(lines, s.NoteAt(all[i].Note)+": not asked here, as an earlier run has asked it and shown the same answer. There is nothing to change.")
		}
	}
	return lines
}

func either(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}

// unsaid says where a run breaks something first before any words: an audience would miss them. It is empty if it doesn't.
func unsaid(t *trace.Trace) string {
	if len(t.Violations) == 0 {
		return ""
	}
	first := &t.Violations[0]
	if told(t, slices.Max(first.Events)) {
		return ""
	}
	return fmt.Sprintf("at %s: nothing is said before the violation (%s): an audience sees it and isn't told what happens. Put a \"say\" before the step that leads to it.",
		trace.Brief(first.At), first.Code)
}

// noteOf is the note of an Index.
func noteOf(t *trace.Trace, index int) *trace.Note {
	for i := range t.Notes {
		if t.Notes[i].Index == index {
			return &t.Notes[i]
		}
	}
	return nil
}

// told reports whether words stand before an event.
func told(t *trace.Trace, seq int) bool {
	for i := range t.Notes {
		if n := &t.Notes[i]; n.Kind == trace.NoteSay && n.Seq <= seq {
			return true
		}
	}
	return false
}
