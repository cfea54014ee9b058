package places_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/sim/explore/places"
	"lockstep/sim/redis"
)

// tokenAt finds tokens of two clients.
func tokenAt(text string) int {
	if len(text) >= 2 && (text[0] == 'A' || text[0] == 'B') && text[1] >= '0' && text[1] <= '9' {
		return 2
	}
	return 0
}

// situation is one in which a question with some words is asked, and two keys are stored.
func situation(word, one, two string) places.Place {
	return places.Situation([]string{"EVAL", "digest", word}, redis.Snapshot{Keys: []redis.Key{{Name: "lock", Value: one, Left: 5}, {Name: "next", Value: two, Left: 7}}}, tokenAt)
}

// TestSituation: what may decide tells situations apart; who has a token, stamps and digests don't.
func TestSituation(t *testing.T) {
	stamp, long := "1700000000000", `{"host":"worker","stage":"pending","at":5}`
	base := situation("A1", "A1", "B1")
	for name, c := range map[string]struct {
		place places.Place
		same  bool
	}{
		"the other way around":    {situation("B1", "B1", "A1"), true},
		"one has both":            {situation("A1", "A1", "A1"), false},
		"another's":               {situation("A1", "B1", "B1"), false},
		"three":                   {situation("A1", "B1", "A2"), false},
		"a word besides":          {situation("A1", "A1", "B1 waits"), false},
		"another number of words": {situation("", "A1", "B1"), false},
	} {
		if is := c.place.Text == base.Text; is != c.same {
			t.Errorf("%s: %t: %s, and %s", name, is, c.place.Text, base.Text)
		}
	}
	for name, c := range map[string]struct {
		one, two string
		same     bool
	}{
		"stamps":                  {stamp, "1700000009999", true},
		"generations":             {"7", "8", false},
		"stages in long texts":    {long, strings.Replace(long, "pending", "held", 1), false},
		"numbers in long texts":   {long, strings.Replace(long, "5", "6", 1), true},
		"dates":                   {"2026-01-02T03:04:05.678Z", "2026-01-02T03:04:06.001Z", true},
		"digests":                 {"state of 9f86d081884c7d659a2feaa0", "state of 60303ae22b998861bce3b28f", true},
		"words as long as digest": {"state of misunderstandings", "state of counterexamplesss", false},
	} {
		if is := situation("", c.one, "").Text == situation("", c.two, "").Text; is != c.same {
			t.Errorf("%s: %t", name, is)
		}
	}
}

// TestTell: a number tells situations apart if there are few, and doesn't if there are many.
func TestTell(t *testing.T) {
	var all []places.Place
	for i := range 3 * places.FewStates {
		all = append(all, situation("", []string{"4000", "2000", "5000"}[i%3], strconv.Itoa(1_700_000_000+i)))
	}
	chosen := places.Few(all, 1, func(p *places.Place) string { return p.Text }, func(p *places.Place) *places.Place { return p })
	var states []string
	for _, p := range chosen {
		states = append(states, p.States)
	}
	for _, number := range []string{"4000", "2000", "5000"} {
		if !slices.ContainsFunc(states, func(s string) bool { return strings.Contains(s, " "+number) }) {
			t.Errorf("none is with %s: %q", number, states)
		}
	}
	if most := 1 + 3; len(chosen) > most {
		t.Errorf("%d are taken, not %d: %q", len(chosen), most, states)
	}
}
