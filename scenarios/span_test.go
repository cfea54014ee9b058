package scenarios

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"lockstep/sim/testenv"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// saidSpan is how long clients are said to be paused, or to have been so until then, in whole seconds.
var saidSpan = regexp.MustCompile(`\b(is|are|has been|have been) paused,? for (\w+) seconds`)

// pauses are how long the pauses of a run take that go on at a position or begin after it; or, of those that go on there, how long they have taken.
func pauses(tl *timeline.Timeline, pos int, soFar bool) (spans []time.Duration) {
	began := map[int]time.Duration{}
	for i, e := range tl.Events {
		if i == pos && soFar {
			break
		}
		at, known := began[e.Client]
		switch {
		case e.Kind == trace.KindPause:
			began[e.Client] = e.At
		case e.Kind == trace.KindResume && known:
			if delete(began, e.Client); i >= pos {
				spans = append(spans, e.At-at)
			}
		}
	}
	if soFar {
		for _, at := range began {
			spans = append(spans, tl.Now(pos)-at)
		}
	}
	return spans
}

// A pause that the words give a length has that length under every lock: the script may run another client to its end before it wakes
// the first.
func TestPausesTakeAsLongAsSaid(t *testing.T) {
	testenv.LongRaced(t)
	numbers := []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen"}
	claims := 0
	eachNote(t, func(at cell, tl *timeline.Timeline, words string, from, _ int) {
		for _, m := range saidSpan.FindAllStringSubmatch(words, -1) {
			seconds := time.Duration(slices.Index(numbers, m[2])) * time.Second
			if seconds < 0 {
				t.Errorf("%s: no number is %q in %q", at.scenario, m[2], words)
			}
			spans := pauses(tl, from, m[1] == "has been" || m[1] == "have been")
			if len(spans) == 0 { // this lock takes another way
				continue
			}
			claims++
			if !slices.ContainsFunc(spans, func(d time.Duration) bool { return d.Round(time.Second) == seconds }) {
				t.Errorf("%s under %s: the pauses take %v beside %q", at.strategy, at.scenario, spans, words)
			}
		}
	})
	if claims < 20 {
		t.Errorf("only %d claims were found", claims)
	}
}
