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

// eachNote calls a function with each run of the catalogue, and with each of its notes: the words as one line, the position at
// which they begin to be told, and that of the next words.
func eachNote(t *testing.T, do func(at cell, tl *timeline.Timeline, words string, from, until int)) {
	t.Helper()
	for at, c := range matrix() {
		if c.Err != nil {
			continue
		}
		tl := timeline.New(c.Trace)
		for i := range tl.Notes {
			from := tl.Before(tl.Notes[i].Seq)
			until := tl.NextChapter(from)
			if i+1 == len(tl.Notes) {
				until = tl.Last()
			}
			do(at, tl, strings.Join(strings.Fields(tl.Notes[i].Text), " "), from, until)
		}
	}
}

// saidDeed is a deed of a client that words can tell, with the kinds of events of which one is to be there.
type saidDeed struct {
	told  *regexp.Regexp
	kinds []trace.Kind
}

const who = `\b([A-D])(?: [a-z]+,)?(?: (?:then|first|also))? `

var (
	got     = []trace.Kind{trace.KindGranted}
	written = []trace.Kind{trace.KindWrite, trace.KindReject}

	// present are deeds in the present, which the words tell of what comes until the next ones.
	present = []saidDeed{
		{regexp.MustCompile(who + `(?:gets|takes) the lock`), got},
		{regexp.MustCompile(who + `gets it\b`), got},
		{regexp.MustCompile(who + `writes\b`), written},
		{regexp.MustCompile(who + `commits\b`), written},
		{regexp.MustCompile(who + `releases\b`), []trace.Kind{trace.KindRelease}},
		{regexp.MustCompile(who + `(?:asks for|wants) the lock`), []trace.Kind{trace.KindAcquire, trace.KindWant}},
		{regexp.MustCompile(who + `finishes\b`), []trace.Kind{trace.KindDone}},
		{regexp.MustCompile(who + `gives up\b`), []trace.Kind{trace.KindRefused, trace.KindFailed}},
		{regexp.MustCompile(who + `(?:dies|crashes)\b`), []trace.Kind{trace.KindCrash}},
	}
	// past are deeds that the words tell as done.
	past = []saidDeed{
		{regexp.MustCompile(who + `has (?:got |taken |)the lock`), got},
		{regexp.MustCompile(who + `has (?:worked|done its work|begun to acquire|read the value)`), []trace.Kind{trace.KindWake, trace.KindRead}},
		{regexp.MustCompile(`\b([A-D])'s (?:first )?command was executed`), []trace.Kind{trace.KindExecute}},
		{regexp.MustCompile(who + `has released`), []trace.Kind{trace.KindReleased, trace.KindRelease}},
		{regexp.MustCompile(who + `has given up`), []trace.Kind{trace.KindRefused, trace.KindFailed}},
		{regexp.MustCompile(who + `is (?:done|through)\b`), []trace.Kind{trace.KindDone}},
		{regexp.MustCompile(who + `has been (?:refused|told)\b`), []trace.Kind{trace.KindRefused, trace.KindFailed}},
	}
	clauses = regexp.MustCompile(`[.;:!?] `)
	doubt   = regexp.MustCompile(`(?i)\b(if|where|unless|may|would|could|whether|once|only|before|after|when|until|does|is to|then it will|is about to|nobody)\b`)
)

// What the words tell as done has been done before them, and what they tell in the present is done until the next words:
// under each lock of the catalogue, unless they say "if". No outcome is told where the screen doesn't show it yet, but in the
// words that open the run, which say so themselves.
func TestWordsAreTrueUnderEachLock(t *testing.T) {
	testenv.LongRaced(t)
	claims := [2]int{}
	eachNote(t, func(at cell, tl *timeline.Timeline, words string, from, until int) {
		for _, clause := range clauses.Split(words, -1) {
			if doubt.MatchString(clause) {
				continue
			}
			for tense, deeds := range [][]saidDeed{present, past} {
				for _, d := range deeds {
					for _, m := range d.told.FindAllStringSubmatch(clause, -1) {
						claims[tense]++
						stage := tl.Events[from:until]
						if tense == 1 {
							stage = tl.Events[:from]
						}
						if !slices.ContainsFunc(stage, func(e trace.Event) bool {
							return e.Client != trace.None && tl.Clients[e.Client] == m[1] && slices.Contains(d.kinds, e.Kind)
						}) {
							t.Errorf("%s under %s: %q", at.strategy, at.scenario, clause)
						}
						if tense == 0 && from > 0 && slices.Equal(d.kinds, got) {
							t.Errorf("%s under %s tells what the screen doesn't show yet: %q", at.strategy, at.scenario, clause)
						}
					}
				}
			}
		}
	})
	if claims[0] < 500 || claims[1] < 100 {
		t.Errorf("only %d claims were found", claims)
	}
}

// The words on the screen beside a question don't tell its answer: neither that the resource lets a client write, nor that a
// client gets the lock or doesn't, nor whose record a release removes.
func TestWordsDontAnswerQuestions(t *testing.T) {
	testenv.LongRaced(t)
	asked := map[string]int{}
	for at, c := range matrix() {
		if c.Err != nil {
			continue
		}
		tl := timeline.New(c.Trace)
		for _, q := range tl.Questions() {
			name, _, _ := strings.Cut(strings.TrimPrefix(q.Text, "The script that is to release "), "'s ")
			name, _, _ = strings.Cut(name, " ")
			var tells *regexp.Regexp
			switch {
			case q.Script:
				continue
			case strings.HasSuffix(q.Text, "Does the resource let it write?"):
				asked["write"]++
				tells = regexp.MustCompile(`\b(?:writes|commits|caches)\b`)
			case strings.HasSuffix(q.Text, "get the lock?"):
				asked["entry"]++
				tells = regexp.MustCompile(`\b` + name + `(?:,[^.,]*,)? (?:gets (?:it|the lock)|takes (?:it|the lock)|is refused|has it)\b`)
			case strings.HasSuffix(q.Text, "What does it do?"):
				asked["release"]++
				tells = regexp.MustCompile(`\b(?:removes|deletes) (?:[A-D]'s|its own) record`)
			default:
				continue
			}
			for _, n := range tl.Said(q.Pos) {
				for _, clause := range clauses.Split(strings.Join(strings.Fields(n.Text), " "), -1) {
					if tells.MatchString(clause) && (strings.HasSuffix(q.Text, "write?") || !doubt.MatchString(clause)) {
						t.Errorf("%s under %s: %q is asked beside %q", at.strategy, at.scenario, q.Text, clause)
					}
				}
			}
		}
	}
	for _, kind := range []string{"write", "entry", "release"} {
		if asked[kind] < 20 {
			t.Errorf("only %d questions of the kind %s", asked[kind], kind)
		}
	}
}

// The readers of the built-in scripts are told nothing that is for a script's author: of its positions and steps.
func TestReadersAreToldNothingForAuthors(t *testing.T) {
	testenv.LongRaced(t)
	authors := regexp.MustCompile(`stands at|does not get to|window|script|there is no n\d|it leaves|its program|"[a-z]+ ?[a-z0-9]*"`)
	told := map[string]bool{}
	eachNote(t, func(at cell, tl *timeline.Timeline, words string, from, _ int) {
		for i := range tl.Notes {
			if n := &tl.Notes[i]; n.Kind == trace.NoteMissed && !told[n.Text] {
				told[n.Text] = true
				if authors.MatchString(n.Text) {
					t.Errorf("%s under %s: %s", at.strategy, at.scenario, n.Text)
				}
			}
		}
	})
	for _, want := range []string{"C has been refused, and is through.", "With naive-del that moment does not come, so the story ends here."} {
		if !told[want] {
			t.Errorf("nobody is told %q, but %v", want, told)
		}
	}
}

// A client whose work an exception has ended is not said to hang, or to be dead, or to hold the lock as if it used it.
func TestAnExceptionIsNoHang(t *testing.T) {
	for _, lock := range []string{"setpx-lua", "watchdog", "setnx"} {
		tl := timeline.New(cell{"no-finally", lock}.of(t))
		wrong := regexp.MustCompile(`(?i)hang|HUNG|nobody alive|A holds the lock`)
		state, thrown := tl.NewState(), false
		for pos := 1; pos <= tl.Last(); pos++ {
			e := tl.Event(pos)
			state.Apply(e)
			if thrown = thrown || e.Kind == trace.KindHang; !thrown || tl.Probing(e) {
				continue
			}
			texts := []string{tl.Text(e), state.Clients[0].Doing(), tl.Holders(state)}
			_, fresh := tl.Breached(pos)
			for _, b := range fresh {
				texts = append(texts, b.Text)
			}
			for _, text := range texts {
				if wrong.MatchString(text) {
					t.Fatalf("%s: %s", lock, text)
				}
			}
			if bar := tl.Bar(timeline.Lane{Kind: timeline.Deeds, Index: 0}, pos).Kind; bar == timeline.Hung {
				t.Fatalf("%s: it is drawn as a hang", lock)
			}
		}
		if !thrown {
			t.Errorf("%s: there is no exception", lock)
		}
	}
}
