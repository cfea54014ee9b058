package timeline

import (
	"strings"
	"testing"
	"time"

	"lockstep/sim/trace"
)

// run builds a trace of clients A and B, a probe and one node, event by event.
type run struct{ trace.Trace }

func newRun() *run {
	return &run{trace.Trace{
		Clients: []string{"A", "B", trace.Probe}, Nodes: []string{"n1"}, Masters: 1, Need: 1, Key: "lock", TTL: 10 * time.Second,
	}}
}

const (
	a, b, probe = 0, 1, 2
	second      = time.Second
)

// add appends an event of a client's, or of the node's if it is a node's kind.
func (r *run) add(at time.Duration, k trace.Kind, client int, more ...func(*trace.Event)) {
	e := trace.Event{Seq: len(r.Events) + 1, At: at, Kind: k, Client: client, Node: 0, Ref: trace.None, Acq: 1, Phase: trace.PhaseAcquire}
	for _, m := range more {
		m(&e)
	}
	r.Events = append(r.Events, e)
}

func stores(value string, expires time.Duration) func(*trace.Event) {
	return func(e *trace.Event) {
		e.Changes = []trace.Change{{Key: "lock", After: &trace.Record{Value: value, Expires: expires}, Stored: true}}
	}
}

func drops(e *trace.Event) { e.Changes = []trace.Change{{Key: "lock"}} }

func until(deadline time.Duration) func(*trace.Event) {
	return func(e *trace.Event) { e.By = deadline }
}

// pausePastTTL is the run in which A sleeps through its lease, and writes after B
// has got the lock.
func pausePastTTL() *run {
	r := newRun()
	r.add(0, trace.KindAcquire, a)
	r.add(0, trace.KindSend, a)
	r.add(0, trace.KindExecute, a, stores("A1", 10*second))
	r.add(0, trace.KindReceive, a)
	r.add(0, trace.KindGranted, a, until(10*second))
	r.add(0, trace.KindEnter, a)
	r.add(second, trace.KindPause, a)
	r.add(10*second, trace.KindLapse, a)
	r.add(10*second, trace.KindExpire, trace.None, drops)
	r.add(11*second, trace.KindAcquire, b)
	r.add(11*second, trace.KindSend, b)
	r.add(11*second, trace.KindExecute, b, stores("B1", 21*second))
	r.add(11*second, trace.KindGranted, b, until(21*second))
	r.add(12*second, trace.KindResume, a)
	r.add(12*second, trace.KindWrite, a)
	r.Notes = []trace.Note{{Seq: 1, Index: 1}, {Seq: 7, Index: 2}, {Seq: 7, Index: 3}, {Seq: 14, Index: 4}}
	r.Violations = []trace.Violation{{Code: trace.OV, Events: []int{5, 13}}, {Code: trace.SW, Events: []int{13, 15}}}
	return r
}

var barLetters = [...]string{
	Empty: " ", Awake: "-", Paused: "p", PausedInside: "P", Hung: "h", Inside: "#", Crashed: "x", Wants: ".", Believes: "=", Lapsed: "~",
	Down: "v", Split: "?",
}

var markLetters = [Marks]string{
	NoMark: " ", Bad: "X", Sends: "s", Retries: "t", Granted: "g", Refused: "n", Enters: "[", Leaves: "]", Releases: "v", Extends: "e",
	Reads: "o", Writes: "w", Rejected: "0", Crashes: "+", Resumes: "r", Fails: "f", GivesUp: "u", Loses: "l", Falls: "d", Jumps: "!",
}

// picture draws a timeline with one letter a position: each lane's bars, and under
// them its marks if it has any.
func picture(t *Timeline) string {
	var p strings.Builder
	line := func(text string) { p.WriteString(strings.TrimRight(text, " ") + "\n") }
	for _, l := range t.Lanes() {
		bars, marks := "", " "
		for _, s := range t.Spans(l) {
			letter := ""
			switch s.Kind {
			case Stored, Enough:
				letter = t.Clients[s.Client]
			case Count:
				letter = string(rune('0' + s.Count))
			default:
				letter = barLetters[s.Kind]
			}
			bars += strings.Repeat(letter, s.Next-s.First)
		}
		for i := range t.Events {
			letter := " "
			if e := &t.Events[i]; t.In(l, e) {
				letter = markLetters[t.Mark(e)]
			}
			marks += letter
		}
		if strings.TrimSpace(bars) != "" {
			line(bars)
		}
		if strings.TrimSpace(marks) != "" {
			line(marks)
		}
	}
	return p.String()
}

func checkPicture(t *testing.T, r *run, want string) {
	t.Helper()
	if got := picture(New(&r.Trace)); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("got:\n%swant:%s", got, want)
	}
}

// In this order: what A does, its marks and what it believes; the same of B; what
// the node holds; how many believe; what the resource saw.
func TestPictureOfAPauseThatOutlivesTheLease(t *testing.T) {
	checkPicture(t, pausePastTTL(), `
------#PPPPPPP##
  s  g[       rX
 ....===~~~~~~~~
----------------
           s g
          ...===
   AAAAAA   BBBB
0000011111111222
               X
`)
}

// A node that goes down, a command that arrives there, a record that gets its
// expiry later, a client that hangs, one that is refused and crashes, and a probe.
func TestPictureOfFailures(t *testing.T) {
	r := newRun()
	r.add(0, trace.KindExecute, a, stores("A1", trace.Never))
	r.add(0, trace.KindExecute, a, func(e *trace.Event) {
		e.Changes = []trace.Change{{Key: "lock", Before: &trace.Record{Value: "A1", Expires: trace.Never}, After: &trace.Record{Value: "A1", Expires: 10 * second}}}
	})
	r.add(0, trace.KindHang, a)
	r.add(0, trace.KindAcquire, b)
	r.add(0, trace.KindRefused, b)
	r.add(0, trace.KindDown, trace.None, drops)
	r.add(0, trace.KindUnreachable, b)
	r.add(0, trace.KindUp, trace.None)
	r.add(0, trace.KindLost, b)
	r.add(0, trace.KindQuery, b)
	r.add(0, trace.KindUpdate, trace.None)
	r.add(0, trace.KindCrash, b)
	r.add(0, trace.KindAcquire, probe)
	r.add(0, trace.KindGranted, probe, until(trace.Never))
	checkPicture(t, r, `
---hhhhhhhhhhhh
------------xxx
     n   lo +
    .
---------------
              g
             .=
 AAAAAvv
      dlr
000000000000001
          o!
`)
	tl := New(&r.Trace)
	if spans := tl.Spans(Lane{Kind: Record}); len(spans) != 5 || spans[1].Expiry() != "no expiry" || spans[2].Expiry() == "no expiry" {
		t.Errorf("a record that gets its expiry later is another bar: %+v", spans)
	}
}

// A lock on three nodes, of which A gets two, one after the other.
func TestPictureOfAMajority(t *testing.T) {
	r := newRun()
	r.Nodes, r.Masters, r.Need = []string{"n1", "n2", "n3"}, 3, 2
	on := func(n int) func(*trace.Event) { return func(e *trace.Event) { e.Node = n } }
	r.add(0, trace.KindExecute, a, on(0), stores("A1", trace.Never))
	r.add(0, trace.KindExecute, b, on(1), stores("B1", trace.Never))
	r.add(0, trace.KindExecute, a, on(2), stores("A1", trace.Never))
	checkPicture(t, r, `
----
----
 AAA
  BB
   A
 ??A
0000
`)
}

func TestSpansCoverTheRun(t *testing.T) {
	tl := New(&pausePastTTL().Trace)
	for _, l := range tl.Lanes() {
		next := 0
		for i, s := range tl.Spans(l) {
			if s.First != next || s.Next <= s.First || i > 0 && s.Bar == tl.Spans(l)[i-1].Bar {
				t.Errorf("%v: span %d is %+v, and the one before it ends at %d", l, i, s, next)
			}
			for pos := s.First; pos < s.Next; pos++ {
				if got := tl.Bar(l, pos); got != s.Bar {
					t.Errorf("%v: at position %d is %+v in a span of %+v", l, pos, got, s.Bar)
				}
			}
			next = s.Next
		}
		if next != tl.Last()+1 {
			t.Errorf("%v: the spans end at %d of %d", l, next, tl.Last()+1)
		}
	}
	if got := tl.Length(Span{First: 7, Next: 14}); got != 11*second {
		t.Errorf("the pause from 1s to 12s lasts %s", got)
	}
	if got := tl.Length(Span{First: 14, Next: 16}); got != 0 {
		t.Errorf("from the resumption to the end of the run are %s", got)
	}
}

// A view with a place for every third position sees the bars at these only.
func TestSeenSkipsBarsBetweenPlaces(t *testing.T) {
	tl := New(&pausePastTTL().Trace)
	var got string
	for _, s := range tl.Seen(Lane{Deeds, a}, []int{0, 3, 5, 15}) {
		got += strings.Repeat(barLetters[s.Kind], s.Next-s.First)
	}
	if want := "---#"; got != want {
		t.Errorf("seen %q, want %q: the pause lies between two places", got, want)
	}
	if most := tl.MostBelievers(5, 15); most != 2 {
		t.Errorf("at most %d believe after position 5, want 2", most)
	}
	if most := tl.MostBelievers(4, 4); most != 0 {
		t.Errorf("%d believe at position 4, want none", most)
	}
}

func TestChapters(t *testing.T) {
	tl := New(&pausePastTTL().Trace)
	for pos, want := range map[int]struct{ chapter, said, next, previous int }{
		0: {1, 1, 6, 0}, 5: {1, 1, 6, 0}, 6: {2, 2, 13, 0}, 7: {2, 2, 13, 6}, 13: {3, 1, 15, 6}, 15: {3, 1, 15, 13},
	} {
		if got := tl.Chapter(pos); got != want.chapter {
			t.Errorf("position %d is in chapter %d, want %d", pos, got, want.chapter)
		}
		if got := len(tl.Said(pos)); got != want.said {
			t.Errorf("at position %d, %d notes are said, want %d", pos, got, want.said)
		}
		if got := tl.NextChapter(pos); got != want.next {
			t.Errorf("after position %d the next chapter is at %d, want %d", pos, got, want.next)
		}
		if got := tl.PreviousChapter(pos); got != want.previous {
			t.Errorf("before position %d the last chapter is at %d, want %d", pos, got, want.previous)
		}
	}
	if got := tl.Told(); got != 15 {
		t.Errorf("the story is told at %d, want 15", got)
	}
}

func TestBreached(t *testing.T) {
	tl := New(&pausePastTTL().Trace)
	for pos, want := range map[int][2]int{12: {0, 0}, 13: {1, 1}, 14: {1, 0}, 15: {2, 1}} {
		if all, fresh := tl.Breached(pos); len(all) != want[0] || len(fresh) != want[1] {
			t.Errorf("at position %d, %d are complete and %d fresh, want %v", pos, len(all), len(fresh), want)
		}
	}
}

// Whatever was left out before a Seq, its place is between its neighbours.
func TestBeforeAndAfter(t *testing.T) {
	r := newRun()
	for range 3 {
		r.add(0, trace.KindClock, a)
	}
	r.Events[2].Seq = 9
	tl := New(&r.Trace)
	for seq, want := range map[int][2]int{1: {0, 1}, 2: {1, 2}, 5: {2, 3}, 9: {2, 3}, 12: {3, 3}} {
		if got := [2]int{tl.Before(seq), tl.After(seq)}; got != want {
			t.Errorf("before and after #%d are positions %v, want %v", seq, got, want)
		}
	}
}

func TestWordsAreMarkedUntilTheirEventsHaveHappened(t *testing.T) {
	r := pausePastTTL()
	r.Notes = []trace.Note{{Seq: 1, Text: "A asks."}, {Seq: 7, At: second, Text: "That was A."}, {Seq: 7, At: second, Text: "A holds it."}, {Seq: 7, At: second, Kind: trace.NoteAsk}}
	tl := New(&r.Trace)
	for _, c := range []struct {
		note, pos int
		shown     time.Duration
		want      string
	}{
		{0, 0, 0, "Next: "}, {0, 3, 0, "In progress: "}, {0, tl.Last(), 12 * second, "(at 0s) "},
		{1, 6, second, ""}, {1, 6, 0, "(at 1s) "}, // nothing happens before the next words
		{2, 6, second, "Next: "}, {2, 6, 0, "Next, at 1s: "}, {2, 6, 5 * second, "From 1s on: "},
		{2, 7, second, "In progress: "},
		{2, tl.After(9), 11 * second, "From 1s on: "},
		{2, tl.Last(), second, ""}, {2, tl.Last(), 12 * second, "(at 1s) "},
		{3, 6, second, ""}, // a question tells nothing
	} {
		if past := tl.Past(&r.Notes[c.note], c.pos); past != (c.pos == tl.Last()) {
			t.Errorf("note %d at %d: told no more: %t", c.note, c.pos, past)
		}
		if got := tl.Marked(&r.Notes[c.note], c.pos, c.shown); got != c.want {
			t.Errorf("note %d at %d: %q, want %q", c.note, c.pos, got, c.want)
		}
	}
}

// What the probe does after the story is none of the words that close it.
func TestClosingWordsAreNotMarked(t *testing.T) {
	r := pausePastTTL()
	r.Clients = append(r.Clients, trace.Probe)
	last := len(r.Events)
	r.Notes = []trace.Note{{Seq: 14, At: 12 * second, Text: "A wakes up."}, {Seq: last + 1, At: 12 * second, Text: "That was it."}}
	r.Events = append(r.Events, trace.Event{Seq: last + 1, At: 12 * second, Kind: trace.KindAcquire, Client: len(r.Clients) - 1, Node: trace.None})
	tl := New(&r.Trace)
	if got := tl.Marked(&r.Notes[1], last, 12*second); got != "" {
		t.Errorf("the story is over, and its last words are marked %q", got)
	}
	if tl.Past(&r.Notes[1], last) || tl.Past(&r.Notes[0], last-1) {
		t.Error("words are not told although they close the story, or it goes on")
	}
	if got := tl.Marked(&r.Notes[0], last-1, 12*second); got != "In progress: " {
		t.Errorf("before A's last event its words are marked %q", got)
	}
}

func TestEndedOnlyOnceTheProbeHasGone(t *testing.T) {
	r := pausePastTTL()
	if tl := New(&r.Trace); tl.Ended(tl.Last()) {
		t.Error("a schedule without a probe has ended")
	}
	r.Clients = append(r.Clients, trace.Probe)
	r.Events = append(r.Events, trace.Event{Seq: len(r.Events) + 1, At: r.Events[len(r.Events)-1].At, Kind: trace.KindDone, Client: len(r.Clients) - 1, Node: trace.None})
	tl := New(&r.Trace)
	if tl.Ended(tl.Last() - 1) {
		t.Error("the run has ended before the probe's end")
	}
	if !tl.Ended(tl.Last()) {
		t.Error("the probe has gone, and the run has not ended")
	}
}

// A record tells its expiry as long as it is there, and when it has got there; not where something else ended it, and none before that.
func TestRecordsTellNoExpiryThatTheyDidNotReach(t *testing.T) {
	r := pausePastTTL()
	r.add(13*second, trace.KindEvict, trace.None, drops)
	tl := New(&r.Trace)
	told := 0
	for _, s := range tl.Spans(Lane{Kind: Record, Index: 0}) {
		if s.Kind != Stored {
			continue
		}
		there := tl.RecordTexts(s.Bar, 0, s.Next-1, s.Next-1)[0]
		if there != "lock="+tl.Clients[s.Client]+", "+s.Expiry() {
			t.Errorf("as long as it is there: %q", there)
		}
		if s.Next > tl.Last() {
			continue
		}
		expired := tl.Event(s.Next).Kind == trace.KindExpire
		if got := tl.RecordTexts(s.Bar, 0, s.Next-1, tl.Last())[0]; (got == there) != expired {
			t.Errorf("after event %d: %q", s.Next, got)
		}
		told++
	}
	if told < 2 {
		t.Errorf("only %d records end", told)
	}
}
