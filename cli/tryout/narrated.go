package tryout

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lockstep/scenarios"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// passage is the part of a run under a lock that follows words of a script, up to its next words.
type passage struct {
	where, words, lock string
	word               string   // for which it is listed
	before             string   // how things stand until then
	happens            []string // in the order of time
}

// tellsOutcome matches words that tell what comes of something, and may be false under some lock. Others, such as "A wakes up", say what the script
// does, which is the same under all.
var tellsOutcome = regexp.MustCompile(`(?i)\b(gets?|got|takes?|took|has|have|had|holds?|keeps?|kept|still|refus\w+|delet\w+|remov\w+|lose[sd]?|losing|lost|overwr\w+|stor(es?|ed)|writes?|wrote|written|fail\w*|succe\w+|break\w*|broke\w*|frees?|freed|enters?|entered|both|the two|two (of|at|hold|have|believe|work|are)|nobody|nothing|no|none|own|wrong\w*|late|stale|safe\w*|damag\w+|destroy\w*|belong\w*|surviv\w+|withst\w+|gone|with(out|in))\b`)

// tellsServers matches words that tell of servers: which there are depends on the lock.
var tellsServers = regexp.MustCompile(`(?i)\b(masters?|replicas?|servers?|nodes?|slaves?|primar(y|ies))\b`)

// risky is the word for which words may be false under some lock, or "": they tell an outcome, and not only of a case in which it is so.
func risky(words string) string {
	if strings.HasPrefix(words, "If ") {
		return ""
	}
	return tellsOutcome.FindString(words)
}

// passages are those of a run.
func passages(s *scenarios.Scenario, t *trace.Trace) (all []passage) {
	run := timeline.New(t)
	for i := range t.Notes {
		n := &t.Notes[i]
		servers := tellsServers.FindString(n.Prose())
		word := cmp.Or(risky(n.Prose()), servers)
		if n.Kind != trace.NoteSay || word == "" {
			continue
		}
		end := run.Last()
		for _, later := range t.Notes[i+1:] {
			if later.Kind == trace.NoteSay {
				end = run.Before(later.Seq)
				break
			}
		}
		at := run.Before(n.Seq)
		all = append(all, passage{s.NoteAt(n.Index), n.Prose(), t.Strategy, word, standing(run, at, servers != ""), happening(run, at, end)})
	}
	at, because := s.BecauseAt(t.Strategy)
	if word := risky(because); word != "" { // a class reads it at the end, of all that has happened
		all = append(all, passage{at, because, t.Strategy, word, "", happening(run, 0, run.Last())})
	}
	return all
}

// standing is who holds the lock at a position and, for words that tell of servers, which there are and which of them store its record.
func standing(run *timeline.Timeline, pos int, servers bool) string {
	state := run.StateAt(pos)
	text, _, _ := strings.Cut(strings.TrimSuffix(run.Holders(state), "."), "; its lease") // some locks let less than the TTL count
	if !servers {
		return text
	}
	var stored []string
	for i, node := range run.Nodes {
		if state.LockRecord(i) != nil {
			stored = append(stored, node)
		}
	}
	return fmt.Sprintf("%s; servers %s; record on %s", text, trace.List(run.Nodes), either(trace.List(stored), "none"))
}

// happening lists the events of the lock and of the resource between two positions, as far as an author's words may tell of them.
func happening(run *timeline.Timeline, from, to int) (all []string) {
	add := func(text string) {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	for pos := from + 1; pos <= to && !run.Ended(pos); pos++ {
		e := run.Event(pos)
		if refused := strings.TrimSuffix(run.Refusal(pos), "."); refused != "" {
			add(refused)
		}
		if e.Client != trace.None && run.Clients[e.Client] != trace.Probe && (e.Kind == trace.KindGranted || e.Kind == trace.KindRefused) {
			add(run.Clients[e.Client] + " " + deeds[e.Kind])
		}
		_, fresh := run.Breached(pos)
		for _, b := range fresh {
			add(b.Code.String() + ": " + b.Text)
		}
	}
	return all
}

// differs tells what a passage doesn't share with all that have the same words: how things stand before it, and in a row below, what comes then.
func (p *passage) differs(same []passage) string {
	then := slices.DeleteFunc(slices.Clone(p.happens), func(what string) bool {
		return !slices.ContainsFunc(same, func(q passage) bool { return !slices.Contains(q.happens, what) })
	})
	text := strings.Join(then, "; ")
	if slices.ContainsFunc(same, func(q passage) bool { return q.before != p.before }) {
		if text != "" {
			text = "\n        after it: " + text
		}
		return "before it: " + p.before + text
	}
	return either(text, "none of this")
}

// Listed are the words, by their places, that have been listed with the events after them, and the locks of these lists: of a script and
// a playlist that shows it, each is listed once.
type Listed map[string][]string

// orOwn is the list, or a new one for the only file, which has none.
func (l Listed) orOwn() Listed {
	if l == nil {
		return Listed{}
	}
	return l
}

// adds notes that words are listed under locks, and reports whether that is new.
func (l Listed) adds(where string, under []string) bool {
	fresh := slices.ContainsFunc(under, func(lock string) bool { return !slices.Contains(l[where], lock) })
	l[where] = append(l[where], under...)
	return fresh
}

// compared lists, for words that are told under several locks, the events after them under some of these only, unless that has been listed
// before. Whether words are true no program can tell.
func compared(all []passage, listed Listed) (text string) {
	for i := range all {
		first := &all[i]
		same := slices.DeleteFunc(slices.Clone(all[i:]), func(p passage) bool { return p.where != first.where })
		if slices.ContainsFunc(all[:i], func(p passage) bool { return p.where == first.where }) {
			continue
		}
		var lines, locks []string
		for _, p := range same {
			line := p.differs(same)
			if at := slices.Index(lines, line); at < 0 {
				lines, locks = append(lines, line), append(locks, p.lock)
			} else if !slices.Contains(strings.Split(locks[at], ", "), p.lock) {
				locks[at] += ", " + p.lock
			}
		}
		var under []string
		for _, p := range same {
			under = append(under, p.lock)
		}
		if len(lines) < 2 || !listed.adds(first.where, under) {
			continue
		}
		text += fmt.Sprintf("    %s: %q (%q)\n", first.where, strings.Join(strings.Fields(first.words), " "), first.word)
		for j := range lines {
			text += fmt.Sprintf("      %s: %s\n", locks[j], lines[j])
		}
	}
	if text == "" {
		return ""
	}
	return "  ~ what happens after these words differs between the locks, and each has a word (in brackets) that may tell of it. Whether they are true of all no program can tell: read them. " +
		"Those that are may stay; for others put \"under: [" + all[0].lock + "]\" below the \"say\", or give the lock a \"because\" of its own.\n" + text
}
