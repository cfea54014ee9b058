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

// late is a question of a script that says "now", in a run under a lock: it is asked before what decides it, be that in the same instant.
type late struct {
	where, lock     string
	asked, answered time.Duration
	done            string // what has happened last by the answer; empty if nothing has
}

// lates are such questions of a run.
func lates(s *scenarios.Scenario, t *trace.Trace) (all []late) {
	run := timeline.New(t)
	for _, q := range run.QuestionsApart() {
		if !q.Script {
			continue
		}
		asked, answered := run.When(q.Pos), run.When(q.Until)
		if n := noteOf(t, q.Note); n != nil && n.About != "verdict" && now.MatchString(n.Text) {
			all = append(all, late{s.NoteAt(q.Note), t.Strategy, asked, answered, lastDone(run, q.Pos, q.Until)})
		}
	}
	return all
}

// deeds are what a client has done or suffered after an event, behind its name.
var deeds = map[trace.Kind]string{
	trace.KindAcquire: "has asked", trace.KindGranted: "has the lock", trace.KindRefused: "has been refused", trace.KindFailed: "has been told of an error",
	trace.KindEnter: "is at work", trace.KindLeave: "has done its work", trace.KindReleased: "has released", trace.KindReleaseFailed: "has failed to release",
	trace.KindDone: "has finished", trace.KindPause: "is paused", trace.KindResume: "goes on", trace.KindCrash: "has crashed",
}

// lastDone is the last thing that has happened between two positions.
func lastDone(run *timeline.Timeline, from, to int) string {
	for pos := to; pos > from; pos-- {
		switch e := run.Event(pos); {
		case e.Kind == trace.KindFailover:
			return "a replica has taken over"
		case (e.Kind == trace.KindExpire || e.Kind == trace.KindEvict) && slices.ContainsFunc(e.Changes, func(c trace.Change) bool { return c.Key == run.Key }):
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
				return l.lock, fmt.Sprintf("it is asked at %s, before what happens in that instant, while its answer is about the moment after that", trace.Brief(l.asked))
			}
			return l.lock, fmt.Sprintf("it is asked at %s, while its answer is about %s", trace.Brief(l.asked), trace.Brief(l.answered))
		}), sayingsOf(of, func(l *late) (lock, text string) { return l.lock, either(l.done, "nothing has happened") })
		text := fmt.Sprintf("%s: this question says \"now\"; %s. ", first.where, instants.text(true))
		text += fmt.Sprintf("Leave it out, or write \"then\": the moment is put before the question. By then: %s.", done.text(true))
		lines = append(lines, text)
	}
	return lines
}

// moved is a question of a script that a class is asked earlier than it is written, as what is on the screen by its place would answer it: before
// words above it or, one for the verdict, before steps. Under a lock under which it has its place it says nothing.
type moved struct {
	where, lock     string
	asked, answered string
}

// movedOf has the questions of a run, and says of those that are asked earlier, or of another instant than that of their place.
func movedOf(s *scenarios.Scenario, t *trace.Trace) (all []moved) {
	run := timeline.New(t)
	asks := quiz.Of(run)
	asks.Stay()
	asks.OnlyScript()
	for _, n := range t.Notes {
		if n.Kind != trace.NoteAsk {
			continue
		}
		all = append(all, moved{where: s.NoteAt(n.Index), lock: t.Strategy})
		at := slices.IndexFunc(asks.All(), func(q timeline.Question) bool { return q.Note == n.Index })
		if at < 0 {
			continue
		}
		q := asks.All()[at]
		if slices.ContainsFunc(t.Notes, func(n trace.Note) bool {
			says, verdict := n.Kind == trace.NoteSay && n.Index < q.Note, n.Index == q.Note && n.About == "verdict"
			otherwise := n.Kind == trace.NoteAsk && n.Index == q.Note && q.Moment > 0 && n.At != q.Moment // asked of an earlier instant
			return (says || verdict) && run.Before(n.Seq) > q.Pos || otherwise
		}) {
			slide, _ := asks.Slides(q.Pos)
			for _, o := range asks.All() {
				if o.Until == q.Pos || o.Pos == q.Pos && o.Note < q.Note { // each has a slide of its own, before this one's
					slide++
				}
			}
			m := &all[len(all)-1]
			m.asked, m.answered = fmt.Sprintf("asked on slide %d", slide), answerOf(&q)
		}
	}
	return all
}

// answerOf is a question's answer, with the instant of which it is asked, for its author to see whether that is the one that he means.
func answerOf(q *timeline.Question) string {
	answer := strings.TrimSuffix(q.Choices[q.Right], ".")
	if q.Moment > 0 {
		answer += ", as of " + trace.Brief(q.Moment)
	}
	return answer
}

// earlier says of each question that is asked before its place where that is, so that its author isn't surprised in front of a class; and
// under which locks, unless it is under all.
func earlier(all []moved) (lines []string) {
	for len(all) > 0 {
		first := all[0]
		other := func(m moved) bool { return m.where != first.where }
		of := slices.DeleteFunc(slices.Clone(all), other)
		all = slices.DeleteFunc(all, func(m moved) bool { return !other(m) })
		early := slices.DeleteFunc(slices.Clone(of), func(m moved) bool { return m.asked == "" })
		if len(early) == 0 {
			continue
		}
		said := sayingsOf(early, func(m *moved) (lock, text string) {
			return m.lock, m.asked + ", before the screen gives it away; the answer is " + m.answered
		})
		lines = append(lines, first.where+": "+said.text(len(early) == len(of))+".")
	}
	return lines
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
