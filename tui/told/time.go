package told

import (
	"strings"
	"time"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// PerWord is how long a reader takes for a word that is told, at the usual speed.
const PerWord = 215 * time.Millisecond

// PerAsked is how long a reader takes for a word of a question, with the time to think.
const PerAsked = 280 * time.Millisecond

// wordsOfEvidence is how many words an event takes that proves a violation.
const wordsOfEvidence = 6

// Words counts those of a script and of violations that a reader sees for the first time at a position. The words that open
// a run stay while its first events happen: nobody is to wait for those.
func Words(run *timeline.Timeline, pos int) (words int) {
	for _, n := range run.Said(pos) {
		if pos > 0 && run.Before(n.Seq) == pos && (n.Kind != trace.NoteAsk || n.Answer == "") { // a question with an answer is a quiz's
			words += len(strings.Fields(n.Prose()))
		}
	}
	_, fresh := run.Breached(pos)
	for _, b := range fresh {
		words += len(strings.Fields(b.Text)) + len(b.Events)*wordsOfEvidence
	}
	return words
}
