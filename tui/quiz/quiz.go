// Package quiz has a run's questions asked and answered: a question is asked at a position before its
// answer is on the screen. The reader answers, or doesn't; then the run goes on to the event that
// decides it, and there the answer is judged and explained. So it is the quiz that says where one key
// stops on its way through a run.
package quiz

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// Quiz is the questions of a run, and the reader's answers so far.
type Quiz struct {
	run     *timeline.Timeline
	all     []timeline.Question
	guesses map[id]int   // the choice, or None to be shown the answer
	on      map[int]int  // by position: how often the reader has gone on there to a further answer
	turns   map[int]int  // by position: how often the reader has gone on there without leaving it
	just    map[int]id   // by position: of several questions there, the one that has just been answered, until the reader goes on
	behind  map[int]bool // the positions at which the reader has gone on to the words behind the question
	seen    int          // the last position that has been on the screen
	stays   bool         // for a room: each is asked up to its answer, and not only where it is asked first; and without numbers of events
}

// id tells the questions of a run apart: those of its script can stand at one position.
type id struct{ pos, note int }

func idOf(q *timeline.Question) id { return id{q.Pos, q.Note} }

// None is no choice.
const None = -1

// Of is the quiz of a run.
func Of(run *timeline.Timeline) *Quiz {
	z := Without(run)
	z.all = run.Questions()
	return z
}

// Without is a run in which nothing is asked.
func Without(run *timeline.Timeline) *Quiz {
	return &Quiz{run: run, guesses: map[id]int{}, on: map[int]int{}, turns: map[int]int{}, just: map[int]id{}, behind: map[int]bool{}}
}

// All are the questions, in the order of asking.
func (z *Quiz) All() []timeline.Question { return z.all }

// Ahead reports whether an answer is still to come after a position.
func (z *Quiz) Ahead(pos int) bool {
	return slices.ContainsFunc(z.all, func(q timeline.Question) bool { return q.Until > pos })
}

// OnlyScript leaves the questions that the author of a script has written.
func (z *Quiz) OnlyScript() {
	z.all = slices.DeleteFunc(z.all, func(q timeline.Question) bool { return !q.Script })
}

// Settled are the questions whose answers have been on the screen.
func (z *Quiz) Settled() []timeline.Question {
	return slices.DeleteFunc(slices.Clone(z.all), func(q timeline.Question) bool { return q.Until > z.seen })
}

// AwaitsVerdict reports whether the worst that comes of the run has been asked for at a position, and the answer has never been on the screen.
func (z *Quiz) AwaitsVerdict(pos int) bool {
	return slices.ContainsFunc(z.all, func(q timeline.Question) bool { return q.ForVerdict() && q.Pos <= pos && z.seen < q.Until })
}

// Resume takes over a reader's answers, passes and progress in the run before, or in another version of it: of the questions that are the same,
// and at a position that is the same place as one there.
func (z *Quiz) Resume(old *Quiz, was, pos int) {
	if z.run.Last() == old.run.Last() && slices.EqualFunc(z.all, old.all, func(q, o timeline.Question) bool {
		return idOf(&q) == idOf(&o) && q.Until == o.Until && alike(&q, &o)
	}) {
		z.guesses, z.on, z.turns, z.just, z.behind, z.seen = old.guesses, old.on, old.turns, old.just, old.behind, max(z.seen, old.seen)
		return
	}
	taken := map[int]bool{}
	for i := range z.all {
		q := &z.all[i]
		for j := range old.all {
			o := &old.all[j]
			if guess, answered := old.guesses[idOf(o)]; answered && !taken[j] && alike(q, o) {
				z.guesses[idOf(q)], taken[j] = guess, true
				break
			}
		}
	}
	if len(z.due(pos)) == len(old.due(was)) {
		z.on[pos], z.turns[pos], z.behind[pos] = old.on[was], old.turns[was], old.behind[was]
	}
	z.seen = max(z.seen, old.run.PlaceIn(z.run, old.seen))
}

// alike reports whether two questions read the same.
func alike(q, o *timeline.Question) bool {
	return o.Script == q.Script && o.Text == q.Text && o.Then == q.Then && slices.Equal(o.Choices, q.Choices)
}

// Leave leaves out the questions that were settled in another run by the same answer. One whose answer is another one here is asked: the
// two runs are compared for that.
func (z *Quiz) Leave(settled []timeline.Question) {
	z.all = slices.DeleteFunc(z.all, func(q timeline.Question) bool {
		return slices.ContainsFunc(settled, func(o timeline.Question) bool { return q.SettledBy(&o) })
	})
}

// OnlyFew leaves those questions of a run that plays by itself that the script asks, and the last other one
// before the first violation: each takes some seconds to read.
func (z *Quiz) OnlyFew() {
	last := None
	for i, q := range z.all {
		if !q.Script && len(z.run.Breaches) > 0 && q.Until <= z.run.Breaches[0].Pos {
			last = i
		}
	}
	var few []timeline.Question
	for i, q := range z.all {
		if q.Script || i == last {
			few = append(few, q)
		}
	}
	z.all = few
}

// Stay has each question asked at every position up to its answer: a class that steps there by events keeps it in sight. It sees no numbers
// of events, and so the questions have none.
func (z *Quiz) Stay() { z.stays = true }

// At is the question that is asked at a position, or nil: of several that a script asks there, or that a room has been asked before, the
// first without an answer, and else the one that was asked last. None is asked while an answer is still to be told there.
func (z *Quiz) At(pos int) (at *timeline.Question) {
	if z.More(pos) {
		return nil
	}
	just, stands := z.just[pos]
	var open *timeline.Question
	for i := range z.all {
		q := &z.all[i]
		if stands && idOf(q) == just {
			return q
		}
		if q.Pos != pos && !(z.stays && q.Pos < pos && pos < q.Until) {
			continue
		}
		switch at = q; {
		case z.answered(q):
		case q.Pos == pos:
			return q
		case open == nil:
			open = q
		}
	}
	if open != nil {
		return open
	}
	return at
}

// MoreAnswers reports whether a room is told a further answer at a position when it goes on: each is told by itself, and the last one with
// everything else.
func (z *Quiz) MoreAnswers(pos int) bool { return z.stays && z.on[pos]+1 < len(z.due(pos)) }

// More reports whether a room is told a further answer at a position when it goes on, or asked a question there: after the answers.
func (z *Quiz) More(pos int) bool {
	return z.stays && z.on[pos]+1 < len(z.due(pos))+draw.Either(z.begins(pos), 1, 0)
}

// Turned reports whether a room has gone on at a position from the answers there to the next question, which stands by itself.
func (z *Quiz) Turned(pos int) bool {
	n := len(z.due(pos))
	return z.stays && n > 0 && z.on[pos] >= n
}

// GoBack has the reader go back at a position, from a question to one before it that was passed there, or to the answers before it, and from
// the words behind a question to that. It reports whether there was any of these.
func (z *Quiz) GoBack(pos int) bool {
	delete(z.just, pos)
	back := z.passedBefore(pos)
	switch {
	case back != nil:
		delete(z.guesses, idOf(back))
	case z.Turned(pos):
		z.on[pos] = len(z.due(pos)) - 1
	case z.stays && z.behind[pos]:
		z.behind[pos] = false
		if q := z.At(pos); q != nil && z.awaits(q) {
			delete(z.guesses, idOf(q))
		}
	default:
		return false
	}
	z.turns[pos] = max(z.turns[pos]-1, 0)
	return true
}

// passedBefore is, for a room, the last question that was asked at a position before the one at hand and was passed, or nil.
func (z *Quiz) passedBefore(pos int) (last *timeline.Question) {
	at := z.At(pos)
	for i := range z.all {
		switch q := &z.all[i]; {
		case q == at || !z.stays || q.Pos > pos:
			return last
		case q.Pos == pos && z.answered(q) && z.said(q) == "":
			last = q
		}
	}
	return last
}

// Said are the script's words at a position. Those behind a question that is asked among them wait until the reader goes on.
func (z *Quiz) Said(pos int) []trace.Note {
	said, q := z.run.Said(pos), z.At(pos)
	if q == nil || q.Pos != pos || z.behind[pos] {
		return said
	}
	asked := slices.IndexFunc(said, func(n trace.Note) bool { return n.Kind == trace.NoteAsk && n.Index == q.Note })
	if asked < 0 || z.run.Before(said[asked].Seq) != pos {
		return said
	}
	return append(said[:asked:asked], slices.DeleteFunc(slices.Clone(said[asked:]), func(n trace.Note) bool { return n.Kind == trace.NoteSay })...)
}

// Recap tells a room again, if there is room for it, the words before the steps that the picture shows, above the outcome of these.
// As long as not all of the steps have been, the words are marked.
func (z *Quiz) Recap(t *draw.Paragraphs, pos int, fits bool) {
	if !fits {
		return
	}
	shown, through := z.shownWords(pos), slices.Contains(z.run.Chapters, pos)
	for _, n := range shown {
		t.Add(draw.Plain, "", draw.Either(through, "", z.run.Marked(&n, pos, z.run.Now(pos)))+n.Prose())
	}
	if _, fresh := z.run.Breached(pos); len(shown) > 0 && len(fresh) > 0 && !z.Early(pos) { // an answer brings a gap along
		t.Gap()
	}
}

// shownWords are, for a room, the script's words for the steps that the picture shows first at a position: those of the chapter before, where one
// begins, and those of its own, where a violation has come of them. A room has had them before the steps. They go when the steps are over,
// and never stand where the run is summed up.
func (z *Quiz) shownWords(pos int) (shown []trace.Note) {
	if !z.stays || pos == 0 || pos == z.run.Last() {
		return nil
	}
	said, begins := z.run.Said(pos), slices.Contains(z.run.Chapters, pos)
	if begins {
		said = z.run.Said(z.run.PreviousChapter(pos))
	}
	for _, n := range said {
		at := z.run.Before(n.Seq)
		if n.Kind == trace.NoteSay && !z.run.Over(at) && (begins || z.done(&n, pos)) && z.current(at, pos, begins) {
			shown = append(shown, n)
		}
	}
	return shown
}

// current reports whether the steps behind words at one position are those that a room sees at a later one: it is the first stop after the
// words or, unless the next words begin there, within a [timeline.Burst] after that.
func (z *Quiz) current(at, pos int, next bool) bool {
	first := z.NextTold(at, true)
	return pos <= first || !next && z.run.When(pos)-z.run.When(first) < timeline.Burst
}

// done reports whether a room sees at a position the outcome of a chapter's words.
func (z *Quiz) done(n *trace.Note, pos int) bool {
	at := z.run.Before(n.Seq)
	return n.Kind == trace.NoteSay && z.stays && at < pos && !z.run.Over(at) && (z.broken(at, pos) || z.run.Over(pos))
}

// Told are those of them that are told there: not a question, which has been asked before; to a class not the words for the author; and to a
// room not those whose outcome it sees: see Recap.
func (z *Quiz) Told(pos int, class bool) []trace.Note {
	return slices.DeleteFunc(slices.Clone(z.Said(pos)), func(n trace.Note) bool {
		return n.Kind == trace.NoteAsk && n.Answer != "" || hidden(&n, class) || z.done(&n, pos)
	})
}

// hidden reports whether a note is for the author of a script, and not for a class: that a fault was not made is for both.
func hidden(n *trace.Note, class bool) bool {
	return n.Kind == trace.NoteMissed && class && n.About != trace.Unmade
}

// GoOn has the reader go on at a position, which gives up the question at hand. It reports whether there is more to tell at the
// position itself: a further answer, a further question, or words behind a question.
func (z *Quiz) GoOn(pos int) (more bool) {
	defer func() { z.turns[pos] += draw.Either(more, 1, 0) }()
	if _, stands := z.just[pos]; stands {
		delete(z.just, pos)
		return true
	}
	if z.More(pos) {
		z.on[pos]++
		return true
	}
	if q := z.Open(pos); q != nil {
		z.guesses[idOf(q)] = None
		if z.Open(pos) != nil {
			return true
		}
	}
	z.Answer(pos, None)
	if len(z.Said(pos)) == len(z.run.Said(pos)) {
		return false
	}
	z.behind[pos] = true
	return true
}

// begins reports whether a question is asked at a position for the first time.
func (z *Quiz) begins(pos int) bool {
	return slices.ContainsFunc(z.all, func(q timeline.Question) bool { return q.Pos == pos })
}

// Open is the question at a position as long as it has no answer, or nil.
func (z *Quiz) Open(pos int) *timeline.Question {
	if q := z.At(pos); q != nil && !z.answered(q) {
		return q
	}
	return nil
}

func (z *Quiz) answered(q *timeline.Question) bool {
	_, is := z.guesses[idOf(q)]
	return is
}

// See tells the quiz that a position is on the screen. A question whose answer has been there before, because the reader jumped past
// it, is passed. A room has the words that stood there when it was led up to the question: a presenter has looked through the run before.
func (z *Quiz) See(pos int) {
	z.seen = max(z.seen, pos)
	for i := range z.all {
		if q := &z.all[i]; !z.stays && q.Pos == pos && q.Until <= z.seen && !z.answered(q) {
			z.guesses[idOf(q)] = None
		}
	}
}

// Takes is the question at a position if it takes an answer, or nil: it has none of the reader's, and if it was passed, its answer has not
// been on the screen.
func (z *Quiz) Takes(pos int) *timeline.Question {
	if q := z.Open(pos); q != nil {
		return q
	}
	if q := z.At(pos); q != nil && z.awaits(q) && !z.recalls(q, pos) {
		return q
	}
	return nil
}

// Recalls reports whether the question at a position is only recalled there.
func (z *Quiz) Recalls(pos int) bool {
	q := z.At(pos)
	return q != nil && z.recalls(q, pos)
}

// recalls reports whether a question that a room has been asked before is only recalled at a position: it takes an answer where it was asked.
func (z *Quiz) recalls(q *timeline.Question, pos int) bool {
	return z.stays && q.Pos < pos && z.answered(q)
}

// shown reports whether a reader who has given no answer to a question has seen its answer.
func (z *Quiz) shown(q *timeline.Question) bool {
	return !z.stays && z.said(q) == "" && z.seen >= q.Until
}

// awaits reports whether a question that was passed still takes an answer. In a room it does wherever it is on the screen: one key too many takes
// it from the class, and one back gives it back, though its answer has been shown.
func (z *Quiz) awaits(q *timeline.Question) bool {
	guess, answered := z.guesses[idOf(q)]
	return answered && guess == None && (z.stays || z.seen < q.Until)
}

// GivenUp reports whether the question at a position was passed without an answer of the reader's.
func (z *Quiz) GivenUp(pos int) bool {
	q := z.At(pos)
	return q != nil && z.answered(q) && z.guesses[idOf(q)] == None
}

// Answer takes the reader's prediction of the question at a position, or None to be shown it and all others there. The first
// one stays.
func (z *Quiz) Answer(pos, choice int) {
	if q := z.At(pos); choice != None && q != nil && z.awaits(q) && !z.recalls(q, pos) {
		z.guesses[idOf(q)] = choice
		return
	}
	for q := z.Open(pos); q != nil; q = z.Open(pos) {
		z.guesses[idOf(q)] = choice
		if choice != None {
			if z.Open(pos) != nil { // the next question waits until the reader goes on: a room sees its answer
				z.just[pos] = idOf(q)
			}
			return
		}
	}
}

// Passed is the last question that was asked before a position and takes an answer where it was asked, or nil.
func (z *Quiz) Passed(pos int) *timeline.Question {
	for i := len(z.all) - 1; i >= 0; i-- {
		if q := &z.all[i]; q.Pos < pos && (!z.answered(q) || z.awaits(q)) {
			return q
		}
	}
	return nil
}

// Next is where one key goes on to, in every screen: to the next words, question, answer, violation or refusal (that a client doesn't get the lock is one the first time), in a
// room to the end of the story that the probe follows, and else to the end.
func (z *Quiz) Next(pos int) int {
	to := z.ToViolation(pos, z.run.NextChapter(pos))
	for at := z.run.NextRefusal(pos, to); at < to; at = z.run.NextRefusal(at, to) {
		if !z.epilogue(at) && z.run.Through(at) < to { // else it is told there, with the words to come
			to = at
		}
	}
	if at := z.turnedAway(pos, to); z.run.Through(at) < to && !z.epilogue(at) {
		to = at
	}
	if end := z.run.StoryEnd(); z.probed(end) && pos < end && end < to {
		to = end
	}
	for i := range z.all {
		q := &z.all[i]
		if q.Pos > pos && q.Pos < to { // also if it has been answered: a reader who comes by again stops at the same places
			to = q.Pos
		}
		if q.Pos <= pos && pos < q.Until && q.Until < to && (q == z.At(pos) || z.answered(q)) {
			to = q.Until
		}
	}
	return to
}

// turnedAway is the first position between two at which a client is refused the lock for the first time, or the later one. It is none while a question
// is under way: who has the lock then may be its answer.
func (z *Quiz) turnedAway(pos, before int) int {
	for at := pos + 1; at < before; at++ {
		if z.run.TurnedAway(at) && !slices.ContainsFunc(z.all, func(q timeline.Question) bool { return q.Pos <= at && at < q.Until }) {
			return at
		}
	}
	return before
}

// probed reports whether the probe shows a room a violation, after the end of the story, and the words that led to that end still stand there: the outcome of
// its last steps is to be seen before that.
func (z *Quiz) probed(end int) bool {
	told := func(n trace.Note) bool { return n.Kind == trace.NoteSay && !z.run.Past(&n, end) }
	return z.stays && slices.ContainsFunc(z.run.Said(end), told) && slices.ContainsFunc(z.run.Breaches, func(b timeline.Breach) bool { return b.Pos > end && z.run.Probing(z.run.Event(b.Pos)) })
}

// epilogue reports whether a failing release or extension comes after all words and the last violation: everything to see has been seen.
// An access that the resource refuses is none: the refusal prevents the harm of a violation.
func (z *Quiz) epilogue(pos int) bool {
	return len(z.run.Breaches) > 0 && pos > z.run.Told() && z.run.Event(pos).Kind != trace.KindReject
}

// NextTold is Next, past stops at which nothing is told: a class is not told the words that are for the script's author, and nobody is
// told an answer twice.
func (z *Quiz) NextTold(pos int, class bool) int {
	to := z.Next(pos)
	for z.silent(to, class, z.answered) {
		to = z.Next(to)
	}
	return to
}

// Chapters counts, from 1, the chapters that have begun at a position, and all there are in which a class is told something: the
// script's author, who is told more, counts the same ones, and so does a reader who has left a question open.
func (z *Quiz) Chapters(pos int) (begun, all int) {
	for _, at := range z.run.Chapters {
		if z.silent(at, true, func(*timeline.Question) bool { return true }) {
			continue
		}
		if all++; at <= pos {
			begun++
		}
	}
	return begun, all
}

// Slides counts the screens that the key that goes on leads to, up to the one at hand and with the first, and all there are in the run: with no
// question answered, so that no answer changes the count, and as a room is told it: the script's author, who is told more, counts the same ones.
func (z *Quiz) Slides(pos int) (at, all int) {
	walked := Without(z.run)
	walked.all, walked.stays = z.all, z.stays
	for stop, turn := 0, 0; ; {
		all++
		if stop < pos || stop == pos && turn <= z.turns[pos] {
			at = all
		}
		switch {
		case stop == z.run.Last():
			return at, all
		case walked.GoOn(stop):
			turn++
		default:
			stop, turn = walked.NextTold(stop, true), 0
		}
	}
}

// Slide has these counts in words.
func (z *Quiz) Slide(pos int) string {
	at, all := z.Slides(pos)
	return fmt.Sprintf("slide %d/%d ", at, all)
}

// PreviousTold is where one key goes back to: the last position before this one at which NextTold stops on its way
// from the beginning, or the beginning.
func (z *Quiz) PreviousTold(pos int, class bool) (at int) {
	for to := z.NextTold(0, class); at < to && to < pos; to = z.NextTold(to, class) {
		at = to
	}
	return at
}

// silent reports whether nothing is told at a position at which a chapter begins: its words are for the script's author, or a question
// whose answer a violation has shown before. Which questions are answered by then is an argument.
func (z *Quiz) silent(pos int, class bool, answered func(*timeline.Question) bool) bool {
	_, fresh := z.run.Breached(pos)
	at := z.run.Finished(pos)
	if pos == z.run.Last() || len(fresh) > 0 || z.begins(pos) || z.run.Refusal(at) != "" || z.run.TurnedAway(at) || !slices.Contains(z.run.Chapters, pos) {
		return false
	}
	judged := slices.ContainsFunc(z.all, func(q timeline.Question) bool {
		return q.Until == pos && answered(&q) || q.Script && q.Said == pos && !(z.early(&q) && answered(&q)) // see Judge
	})
	return !judged && !slices.ContainsFunc(z.run.Said(pos), func(n trace.Note) bool {
		return !(hidden(&n, class) || n.Kind == trace.NoteAsk && n.Answer != "")
	})
}

// ToViolation is a position, or that of the first violation on the way to it: no key but that for the end
// passes one.
func (z *Quiz) ToViolation(pos, to int) int {
	for _, b := range z.run.Breaches {
		if b.Pos > pos && b.Pos < to {
			return b.Pos
		}
	}
	return to
}

// ToQuestion is a position, or that of the first open question on the way to it.
func (z *Quiz) ToQuestion(pos, to int) int {
	for i := range z.all {
		if q := &z.all[i]; q.Pos > pos && q.Pos < to && !z.answered(q) {
			to = q.Pos
		}
	}
	return to
}

// Teller is how a screen tells of a quiz.
type Teller struct {
	Glyphs *draw.Glyphs
	Enter  string                            // the key that goes on
	Score  func(q *timeline.Question) string // of the predictions so far, this one among them
	Known  func(why string) bool             // it is on the screen already
	Form   Form                              // of the choices
	Author bool                              // of the script reads it, who has notes
}

// Form is how the choices of a question stand below it.
type Form uint8

// The forms, that with the fewest rows first.
const (
	Paragraph Form = iota // one after the other
	Columns               // in a list, side by side if they are short, and without the key that goes on, which a footer has
	List                  // each in a line of its own, and that key below them
	Recalling             // like that, and a question that is judged stands again before its answer
)

// Ask tells the question at a position, with its choices; where it has been asked before, and is left to be answered by the
// run, that it is still open. No other question stands beside it, but the answer that has just been given to the one before it.
func (z *Quiz) Ask(t *draw.Paragraphs, pos int, by *Teller) {
	q := z.At(pos)
	if q == nil {
		return
	}
	t.Gap()
	text, said := z.worded(q, pos), z.said(q)
	if before := z.before(q); before != "" && z.Open(pos) == q {
		t.Add(draw.Plain, "  ", before)
	}
	if q.Pos == pos && !z.behind[pos] {
		for _, words := range z.run.Leading(q) {
			t.Add(draw.Plain, "", words)
			t.Gap()
		}
	}
	switch on := by.Enter + " goes on: the run will tell."; {
	case z.answered(q) && (q.Pos < pos || z.behind[pos] || z.shown(q)):
		z.open(t, q, pos, by)
	case said != "":
		t.Add(draw.Strong, "? ", z.which(q)+text)
		t.Add(draw.Strong, "  ", said+" "+on)
	case by.Form == Paragraph:
		t.Add(draw.Strong, "? ", z.which(q)+text)
		t.Add(draw.Strong, "  ", z.choices(q)+"Or "+on)
	default:
		t.Add(draw.Strong, "? ", z.which(q)+strings.TrimSpace(text+" "+q.Lead))
		list(t, q.Choices, by.Form)
		if by.Form >= List {
			t.Add(draw.Strong, "  ", "Or "+on)
		}
	}
	if note := q.TellsEarly(); note != "" && by.Author {
		t.Add(draw.Dim, "~ ", trace.Capital(note))
	}
}

// which says of a question which it is of several that are asked at one place: the screens of these differ in nothing else but its words.
func (z *Quiz) which(q *timeline.Question) string {
	at, all := z.place(q)
	if all < 2 {
		return ""
	}
	return fmt.Sprintf("Question %d of %d here. ", at, all)
}

// place is the number of a question among those that are asked where it is, and how many these are.
func (z *Quiz) place(q *timeline.Question) (at, all int) {
	for i := range z.all {
		if z.all[i].Pos == q.Pos {
			all++
		}
		if &z.all[i] == q {
			at = all
		}
	}
	return at, all
}

// before is the reader's answer to the question before one at the same place, or nothing: the key that gave it has led on to this one.
func (z *Quiz) before(q *timeline.Question) (text string) {
	for i := range z.all {
		o := &z.all[i]
		if o == q {
			break
		}
		if said := z.said(o); o.Pos == q.Pos {
			at, all := z.place(o)
			text = draw.Either(said == "", "", fmt.Sprintf("To question %d of %d here y%s", at, all, strings.TrimPrefix(said, "Y")))
		}
	}
	return text
}

// list numbers choices.
func list(t *draw.Paragraphs, choices []string, form Form) {
	const indent = 3 // of a list
	width := 0
	for _, c := range choices {
		width = max(width, draw.Width(c)+len("1   ")) // its number, and air behind it
	}
	columns := 1
	if form == Columns {
		columns = min(max((t.Width-indent)/width, 1), len(choices))
		rows := (len(choices) + columns - 1) / columns
		columns = (len(choices) + rows - 1) / rows // no emptier last row than need be
	}
	for i := 0; i < len(choices); i += columns {
		if columns == 1 {
			t.Add(draw.Strong, fmt.Sprintf("  %d ", i+1), choices[i])
			continue
		}
		row := strings.Repeat(" ", indent-1)
		for j := i; j < min(i+columns, len(choices)); j++ {
			row += draw.Pad(fmt.Sprintf("%d %s", j+1, choices[j]), width)
		}
		t.Lines = append(t.Lines, draw.Line{draw.Text(" ", draw.Plain), draw.Text(strings.TrimRight(row, " "), draw.Strong)})
	}
}

// open says of a question that has been asked before that its answer is still to come, and as long as it takes one, how. A room is
// reminded of it in a line: on the way to the answer, the events are to be read.
func (z *Quiz) open(t *draw.Paragraphs, q *timeline.Question, pos int, by *Teller) {
	head, choices := "Asked before: ", z.said(q)
	switch {
	case z.recalls(q, pos):
		head, choices = "", draw.Either(choices != "", choices, "The run will tell.")
	case z.shown(q):
		head, choices = "Passed: ", "Its answer has been on the screen."
	case q == z.Takes(pos):
		head, choices = "The run will tell: ", z.choices(q)
	}
	t.Add(draw.Strong, "? ", strings.TrimSpace(head+z.worded(q, pos)+" "+choices))
}

// broken reports whether a violation has come between two positions.
func (z *Quiz) broken(from, to int) bool {
	return slices.ContainsFunc(z.run.Breaches, func(b timeline.Breach) bool { return from < b.Pos && b.Pos <= to })
}

// Carried reports whether the question at a position was asked at an earlier one.
func (z *Quiz) Carried(pos int) bool {
	q := z.At(pos)
	return q != nil && q.Pos < pos
}

func (z *Quiz) worded(q *timeline.Question, pos int) string {
	return q.Worded(z.text(q), z.run.Now(pos))
}

// text is a question with the moment that it is about, by numbers of events only where these are on the screen.
func (z *Quiz) text(q *timeline.Question) string {
	return draw.Either(z.stays && q.Spoken != "", q.Spoken, q.Text)
}

// said is the reader's answer to a question, or nothing.
func (z *Quiz) said(q *timeline.Question) string {
	if guess, answered := z.guesses[idOf(q)]; answered && guess != None {
		return "You say: " + q.Choices[guess] + "."
	}
	return ""
}

// choices are the answers to choose from, in one paragraph.
func (z *Quiz) choices(q *timeline.Question) string {
	var b strings.Builder
	b.WriteString(draw.Either(q.Lead != "", q.Lead+" ", ""))
	for i, c := range q.Choices {
		fmt.Fprintf(&b, "%d %s", i+1, c+draw.Either(i+1 < len(q.Choices), "; ", ". "))
	}
	return b.String()
}

// Judge tells of the answers at a position: of those that its event decides, how the reader's was, and of
// those to the script's own questions what they are, as they are part of its story. A room is told one, and a further one each time
// that it goes on.
func (z *Quiz) Judge(t *draw.Paragraphs, pos int, by *Teller) {
	due := z.due(pos)
	if z.MoreAnswers(pos) {
		due = due[:z.on[pos]+1]
	}
	for _, q := range due {
		t.Gap()
		if q.Until == pos && z.answered(q) {
			z.judge(t, q, by)
			continue
		}
		t.Add(draw.Good, "", z.untold(q))
		if q.Until == pos && !by.Known(q.Why) {
			t.Add(draw.Plain, "  ", q.Why)
		}
	}
}

// due are the questions whose answers are told at a position, in the order of asking.
func (z *Quiz) due(pos int) (all []*timeline.Question) {
	for i := range z.all {
		q := &z.all[i]
		told := z.early(q) && z.answered(q) // before its words
		if q.Until == pos && z.answered(q) || q.Script && q.Said == pos && !told {
			all = append(all, q)
		}
	}
	return all
}

// Early reports whether the answers at a position are told before all else: a further one is to come there, or one is told before the
// words of a script's question, where a violation shows it.
func (z *Quiz) Early(pos int) bool {
	return z.MoreAnswers(pos) || slices.ContainsFunc(z.all, func(q timeline.Question) bool { return q.Until == pos && z.early(&q) && z.answered(&q) })
}

func (z *Quiz) early(q *timeline.Question) bool { return q.Script && q.Until < q.Said }

// judge judges an answer, and explains the right one.
func (z *Quiz) judge(t *draw.Paragraphs, q *timeline.Question, by *Teller) {
	right := q.Choices[q.Right]
	judged := func(text string) string {
		if by.Form == Recalling {
			text = z.stated(q, "", text)
		}
		return text + " " + by.Score(q)
	}
	switch g := z.guesses[idOf(q)]; {
	case g == None:
		t.Add(draw.Good, "", z.truth(q))
	case slices.Contains(q.Lesser, g):
		t.Add(draw.Strong, "", judged("You said: "+q.Choices[g]+". True, but not the worst: "+right+"."))
	case g == q.Right:
		t.Add(draw.Good, by.Glyphs.Granted+" ", judged("You said: "+right+". Right."))
	default:
		t.Add(draw.Breach, by.Glyphs.Bad+" ", judged("You said: "+q.Choices[g]+". It is: "+right+"."))
	}
	if !by.Known(q.Why) {
		t.Add(draw.Plain, "  ", q.Why)
	}
}

// untold is the answer to a script's question that nobody has answered. A reader who has come here by another way has never seen it
// asked: so it is said which is which.
func (z *Quiz) untold(q *timeline.Question) string {
	return z.stated(q, "Question passed: ", "Answer: "+rightOf(q))
}

// truth is a question with its right answer.
func (z *Quiz) truth(q *timeline.Question) string { return z.stated(q, "", rightOf(q)) }

// rightOf is the right answer as a sentence.
func rightOf(q *timeline.Question) string { return trace.Capital(q.Choices[q.Right]) + "." }

// stated is a question, after a word for it, with the words on its answer. It has the moment that it is about: the answer may be another
// one at that at which it was asked, or at which it is told.
func (z *Quiz) stated(q *timeline.Question, question, answer string) string {
	return question + z.text(q) + " " + answer
}

// Words are how many words ask at a position, and how many judge.
func (z *Quiz) Words(pos int, tell *Teller) (asked, judged int) {
	ask, judge := draw.Paragraphs{Width: draw.LongestLine}, draw.Paragraphs{Width: draw.LongestLine}
	z.Ask(&ask, pos, tell)
	z.Judge(&judge, pos, tell)
	return draw.Words(ask.Lines), draw.Words(judge.Lines)
}
