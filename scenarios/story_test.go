package scenarios

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/testenv"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// The words of a script that say how a client stands, by the client's name in the first group. They hold until the next
// words.
var (
	saidAtWork = regexp.MustCompile(`\b([A-D])\b(?:, if it has (?:got )?it,| has accepted the lock, it)? (?:is (?:still )?at work|works on|works, if it has|is not paused|goes to work|goes on working)`)
	saidPaused = regexp.MustCompile(`\b([A-D])\b[^.;]* is paused\b`)
	saidNobody = regexp.MustCompile(`Nobody (?:will be|is) paused`)
	saidToGo   = regexp.MustCompile(`\b([A-D])\b (?:gets it|asks for the lock|takes the lock|gets the lock)[^.]*goes to work`)
)

// standing are the clients of which a pattern finds something said.
func standing(t *trace.Trace, pattern *regexp.Regexp, words string) (clients []int) {
	for _, m := range pattern.FindAllStringSubmatch(words, -1) {
		if i := slices.Index(t.Clients, m[1]); i >= 0 {
			clients = append(clients, i)
		}
	}
	return clients
}

// What the words say of a client, the rows beside them show: no client that is said to be at work is drawn paused or held
// up, each that is said to be paused is drawn so, and none is where the words say that saidNobody is.
func TestWordsAndRowsAgree(t *testing.T) {
	testenv.LongRaced(t)
	claims := 0
	for at, c := range matrix() {
		if c.Err != nil {
			continue
		}
		tl := timeline.New(c.Trace)
		missed := slices.ContainsFunc(tl.Notes, func(n trace.Note) bool { return n.Kind == trace.NoteMissed })
		for i := range tl.Notes {
			n := &tl.Notes[i]
			if n.Kind == trace.NoteMissed {
				continue
			}
			words := strings.Join(strings.Fields(n.Text), " ")
			from := tl.Before(n.Seq)
			until := tl.NextChapter(from)
			stage := tl.Moments[from : until+1]
			for _, client := range append(standing(tl.Trace, saidAtWork, words), standing(tl.Trace, saidToGo, words)...) {
				claims++
				if slices.ContainsFunc(stage, func(m timeline.Moment) bool { x := &m.Clients[client]; return x.Inside && x.Paused }) {
					t.Errorf("%s under %s: %s is paused or held up beside %q", at.strategy, at.scenario, tl.Clients[client], words)
				}
			}
			for _, client := range standing(tl.Trace, saidPaused, words) {
				claims++
				if !missed && !slices.ContainsFunc(stage, func(m timeline.Moment) bool { x := &m.Clients[client]; return x.Paused && !x.Held }) {
					t.Errorf("%s under %s: %s is never paused beside %q", at.strategy, at.scenario, tl.Clients[client], words)
				}
			}
			if saidNobody.MatchString(words) {
				claims++
				if slices.ContainsFunc(tl.Moments, func(m timeline.Moment) bool {
					return slices.ContainsFunc(m.Clients, func(x timeline.Client) bool { return x.Paused })
				}) {
					t.Errorf("%s under %s: somebody is paused or held up, and the words are %q", at.strategy, at.scenario, words)
				}
			}
		}
	}
	if claims < 500 {
		t.Errorf("only %d claims were found", claims)
	}
}

// A client that only waits for its turn in the script is told, drawn and described as held up, and not as paused; one that the
// story pauses is paused, even if it was held up at that instant.
func TestHeldUpIsNotPaused(t *testing.T) {
	testenv.LongRaced(t)
	held, both := 0, 0
	for at, c := range matrix() {
		if c.Err != nil {
			continue
		}
		tl := timeline.New(c.Trace)
		state := tl.NewState()
		for pos := 1; pos <= tl.Last(); pos++ {
			e := tl.Event(pos)
			before := e.Client != trace.None && state.Clients[e.Client].Held
			state.Apply(e)
			if e.Kind != trace.KindPause {
				continue
			}
			bar, doing := tl.Bar(timeline.Lane{Kind: timeline.Deeds, Index: e.Client}, pos).Kind, state.Clients[e.Client].Doing()
			waits := bar == timeline.Held || bar == timeline.HeldInside
			if told := strings.Contains(tl.Text(e), "is held up"); told != (e.Note != "") || told != waits || told != strings.HasSuffix(doing, "HELD UP") {
				t.Errorf("%s under %s: %s, drawn as %v: %q", at.strategy, at.scenario, timed(c.Trace, e), bar, doing)
			}
			if waits {
				held++
			} else if before {
				both++
			}
		}
	}
	if held == 0 || both == 0 {
		t.Errorf("%d clients were held up, and %d of those then paused", held, both)
	}
}

// Each foreign release of the run on which the program opens has words of its own, from just before it, and the reason that
// the end gives names both.
func TestEachForeignReleaseIsTold(t *testing.T) {
	tl := timeline.New(cell{"late-release", "naive-del"}.of(t))
	told := map[int]bool{}
	for _, b := range tl.Breaches {
		if b.Code != trace.FR {
			continue
		}
		said := tl.Said(b.Pos)
		if len(said) == 0 || told[said[0].Index] || !strings.Contains(said[0].Text, "begins its release") || tl.When(b.Pos)-said[0].At > tl.TTL/50 {
			t.Errorf("beside %q at %v stand %+v", b.Text, tl.When(b.Pos), said)
			continue
		}
		told[said[0].Index] = true
	}
	if len(told) != 2 {
		t.Errorf("%d foreign releases are told", len(told))
	}
	script, err := Find("late-release")
	if err != nil {
		t.Fatal(err)
	}
	if why := script.Because("naive-del"); !strings.Contains(why, "B's record") || !strings.Contains(why, "C's record") {
		t.Errorf("the reason is %q", why)
	}
}

var gotLater = regexp.MustCompile(`(\S+) writes although (\S+), who got the lock later`)

// Who is said to have got the lock later was told so later, in the same trace.
func TestWhoGotTheLockLater(t *testing.T) {
	testenv.LongRaced(t)
	claims := 0
	for at, c := range matrix() {
		if c.Err != nil {
			continue
		}
		granted := func(name string, before int) (seq int) {
			for i := range c.Trace.Events[:before] {
				if e := &c.Trace.Events[i]; e.Kind == trace.KindGranted && c.Trace.Clients[e.Client] == name {
					seq = e.Seq
				}
			}
			return seq
		}
		for i := range c.Trace.Violations {
			v := &c.Trace.Violations[i]
			m := gotLater.FindStringSubmatch(v.Text)
			if m == nil {
				continue
			}
			claims++
			if a, b := granted(m[1], v.Last()), granted(m[2], v.Events[0]); a >= b {
				t.Errorf("%s under %s: %s, and %s was granted it at #%d, %s at #%d", at.strategy, at.scenario, v.Text, m[1], a, m[2], b)
			}
		}
	}
	if claims == 0 {
		t.Error("nobody got a lock later")
	}
}
