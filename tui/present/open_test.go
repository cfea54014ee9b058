package present

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/bubbles/key"

	"lockstep/tui/tuitest"
)

// twoQuestions is a script that asks two questions in one place.
const twoQuestions = `title: Own
script:
  - say: A comes.
  - run: A
    to: work
  - say: B comes.
  - run: [A, B]
  - ask: Whose record is there once B is through?
    answer: record
  - ask: What is the worst that comes of this?
    answer: verdict
`

// Where a class is asked for the verdict, the list of locks to compare with, which has theirs, would tell it. Its author's own "worst" is all that is said of
// that, an instant that would tell an answer is left out, and that nothing goes wrong is said once.
func TestOpenQuestionKeepsItsAnswer(t *testing.T) {
	a, p := openOwn(t, twoQuestions, "setpx-lua")
	offered := func() bool {
		return slices.ContainsFunc(p.FooterKeys(), func(b key.Binding) bool { return b.Help() == p.Keys.Compare.Help() })
	}
	if !offered() {
		t.Error("comparing isn't offered where nothing is open")
	}
	a.PressUntil("enter", "? Question 2 of 2 here. What is the worst that comes of this?")
	if v := tuitest.Unwrapped(a.View()); strings.Contains(v, "In the end") || strings.Contains(v, "At worst") {
		t.Error(v)
	}
	if a.Press("c"); offered() || !strings.Contains(a.View(), "Comparing would tell the answer to the question that is open.") {
		t.Errorf("offered %t:\n%s", offered(), a.View())
	}
	a.Press("pgup")
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "Later: Whose record is there once B is through?") {
		t.Error(v)
	}
	for p.Pos < p.Run.Last() {
		a.Press("enter")
	}
	a.Press("enter")
	if v := tuitest.Unwrapped(a.View()); strings.Count(strings.ToLower(v), "no property broke") != 1 || !offered() {
		t.Errorf("offered %t:\n%s", offered(), v)
	}
}

// The notice fits where the slide has no notes for its author.
func TestRehearsalWithoutNotesFits(t *testing.T) {
	a, _ := openOwn(t, "title: Own\nscript:\n  - say: A comes.\n  - run: A\n", "setpx-lua")
	if a.Press("T"); !strings.Contains(a.View(), "Rehearsal: no notes (~) here; the check command may have some. T ends it. ") {
		t.Error(a.View())
	}
}

// The author of a question that names an instant, and is open while something may tell its answer, is told so where it is asked; the room isn't.
func TestRehearsalTellsOfAQuestionsInstant(t *testing.T) {
	a, _ := openOwn(t, "title: Own\nsetup:\n  clients: {A: , B: {insist: 2s}}\n  retry: {tries: 1}\nscript:\n  - say: A asks.\n  - run: A\n    to: after acquire first\n  - drop: {reply: A}\n  - run: A\n  - wait: 60s\n"+
		"  - ask: Whose record is it at 63s?\n    answer: record\n  - say: B comes.\n", "setnx")
	const note = "~ This question is open until 63s, and the false refusal (FN) at 3s, a whole lease before, may tell its answer"
	if v := a.View(); !strings.Contains(v, "? Whose record is it at 63s?") || strings.Contains(v, "~ ") {
		t.Error(v)
	}
	if a.Press("T"); !strings.Contains(tuitest.Unwrapped(a.View()), note) {
		t.Error(a.View())
	}
}

// What comes of the last steps has a slide, with the words that lead to it, before that on which the probe shows what has become of the lock.
func TestStoryEndsBeforeTheProbe(t *testing.T) {
	a, p := openOwn(t, "title: Own\nscript:\n  - say: A dies.\n  - run: A\n    to: after acquire first\n  - crash: A\n  - say: A minute later B comes.\n  - until: 63s\n  - run: B\n    for: 5s\n", "setnx")
	for p.Run.Now(p.Pos) < 63*time.Second {
		a.Press("enter")
	}
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "B is refused") || !strings.Contains(v, "A minute later B comes.") || strings.Contains(v, "PERMANENT") {
		t.Error(v)
	}
	if a.Press("enter"); !strings.Contains(a.View(), "PERMANENT DEADLOCK") {
		t.Error(a.View())
	}
}
