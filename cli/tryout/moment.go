package tryout

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// moments has the notes on questions that speak of an action of a client ("once B has asked"), and are asked of another moment: they stand
// below a step that has run it to its end, where the answer may be another one, or above all its actions.
func moments(s *scenarios.Scenario, t *trace.Trace) (lines []string) {
	run := timeline.New(t)
	for _, q := range ofScript(t) {
		if q.Moment == 0 || q.Moment != q.At || q.Dated() != "" {
			continue
		}
		for client, name := range t.Clients {
			says := regexp.MustCompile(`(?i)\b(once|as soon as|by the time|right after|when|after|before) ` + regexp.QuoteMeta(name) + `\b[^,.?!]*`).FindString(q.Then)
			if says == "" {
				continue
			}
			if idleUntil(run, &q, client) && !beforeIt.MatchString(says) {
				lines = append(lines, fmt.Sprintf("%s: asked of %s, and this question says %q: %s does nothing before a step below the question. Move the question below the step in which %[4]s does that, and end the step there: \"run: %[4]s, to: work\" (or granted, read, release).",
					s.NoteAt(q.Note), trace.Brief(q.Moment), strings.TrimSpace(says), name))
			} else if earlier := earlierMoment(run, &q, client); earlier > 0 {
				lines = append(lines, fmt.Sprintf("%s: asked of %s, after %s has ended: this question says %q, and at %s the holders or the records are others. If it means such a moment, end the step there, and let %[3]s go on below the question: \"run: %[3]s, to: work\" (or granted, read, release), or \"run: %[3]s, for: 1s\".",
					s.NoteAt(q.Note), trace.Brief(q.Moment), name, strings.TrimSpace(says), trace.Brief(run.When(earlier))))
			}
		}
	}
	return lines
}

// misdated has the warnings on questions that say how much later it is, and are asked before that time has passed, where the answer would be
// another one after it: a class would be told the wrong one.
func misdated(s *scenarios.Scenario, t *trace.Trace) (lines []string) {
	run := timeline.New(t)
	for _, q := range ofScript(t) {
		words, span := q.Later()
		if q.ForVerdict() || span <= 0 || hasPassed(run, &q, span) {
			continue
		}
		if then := q.At + span; !run.SameHolders(until(run, then), q.Said) {
			lines = append(lines, fmt.Sprintf("%s: asked of %s, and this question says %q: at %s the holders or the records are others, and its answer may be. Move it below the step in which that time passes.",
				s.NoteAt(q.Note), trace.Brief(q.At), words, trace.Brief(then)))
		}
	}
	return lines
}

// hasPassed reports whether something stands or happens about a span before a question, of which it can be that much later.
func hasPassed(run *timeline.Timeline, q *timeline.Question, span time.Duration) bool {
	from, to := q.At-2*span, q.At-span/2
	for _, n := range run.Notes {
		if n.At >= from && n.At <= to {
			return true
		}
	}
	for pos := 1; pos <= q.Said; pos++ {
		if at := run.When(pos); at >= from && at <= to {
			return true
		}
	}
	return false
}

// until is the last position of a run up to an instant.
func until(run *timeline.Timeline, at time.Duration) (pos int) {
	for pos < run.Last() && run.When(pos+1) <= at {
		pos++
	}
	return pos
}

// beforeIt is a moment that a client has yet to come to.
var beforeIt = regexp.MustCompile(`(?i)^before `)

// idleUntil reports whether a client does something below a question, and nothing above it.
func idleUntil(run *timeline.Timeline, q *timeline.Question, client int) bool {
	for pos := 1; pos <= run.Last(); pos++ {
		if run.Event(pos).Client == client {
			return pos > q.Said
		}
	}
	return false
}

// earlierMoment is the first position at which the holders or the records are others than at a question's own place, though they have changed
// since the words or the question above it, and a client has acted; if that client has got the lock and ended between. It is 0 if there is none.
func earlierMoment(run *timeline.Timeline, q *timeline.Question, client int) (first int) {
	from, acted, got, ended := 0, false, false, false
	for _, n := range run.Notes {
		if n.Index < q.Note && (n.Kind == trace.NoteSay || n.Kind == trace.NoteAsk) {
			from = run.Before(n.Seq)
		}
	}
	for pos := from + 1; pos <= q.Said; pos++ {
		e := run.Event(pos)
		acted = acted || e.Client == client
		got = got || e.Client == client && e.Kind == trace.KindGranted
		ended = ended || e.Client == client && e.Kind == trace.KindDone
		if acted && first == 0 && !run.SameHolders(pos, from) && !run.SameHolders(pos, q.Said) {
			first = pos
		}
	}
	if !got || !ended {
		return 0
	}
	return first
}
