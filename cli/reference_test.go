package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/docs"
	"lockstep/scenarios"
	"lockstep/scenarios/advice"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestScriptReference: each step, setting and position is explained with an example of it, and is
// in the list that has its name.
func TestScriptReference(t *testing.T) {
	all, err := explain("scripting")
	if err != nil {
		t.Fatal(err)
	}
	plain := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for table := range docs.Tables {
		rows := docs.Reference(table).Rows
		if len(rows) < 5 {
			t.Errorf("%s has %d rows", docs.Reference(table).Title, len(rows))
		}
		for _, r := range rows {
			text, err := explain(r.Key)
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range []string{text, all} {
				if !strings.Contains(plain(in), plain(r.Use)+" "+plain(meaning(r))[:3]) {
					t.Errorf("no %q in\n%s", r.Use, in)
				}
			}
			_, shown, found := strings.Cut(text, fmt.Sprintf("%s: %s", r.Key, docs.Reference(table).Row))
			_, shown, is := strings.Cut(shown, "such as")
			if !found || !is || !regexp.MustCompile(`(?m)^    .*\b`+r.Key+`\b`).MatchString(shown) {
				t.Errorf("%s has no example:\n%s", r.Key, text)
			}
		}
	}
}

// What a step means begins below an example, and is parted where it is long.
func TestLongMeaningsAreParted(t *testing.T) {
	text := must(t, "", "explain", "ask")
	for i, part := range strings.Split(text, "\n\n") {
		if n := strings.Count(strings.TrimSpace(part), "\n"); i == 1 && !strings.HasPrefix(part, "    - ask: ") || n > 4 {
			t.Errorf("part %d has %d lines more than one:\n%s", i, n, text)
		}
	}
}

// TestExamplesOfSettings: each is one that the loader takes.
func TestExamplesOfSettings(t *testing.T) {
	for table, around := range map[int]string{
		docs.Setup: "title: x\nsetup:\n  %s\nscript: [say: x]\n", docs.Steps: "title: x\nsetup: {replicas: 1, workload: cache}\nscript:\n  - %s\n",
		docs.Parts:  "title: x\nscript: [say: x]\n%s\n",
		docs.Client: "title: x\nsetup:\n  %s\nscript: [say: x]\n", docs.Positions: "title: x\nscript:\n  - %s\n",
	} {
		for _, r := range docs.Reference(table).Rows {
			for _, text := range scenarios.Examples(r.Key) {
				if _, step := scenarios.FaultSteps()[r.Key]; step && table != docs.Steps {
					continue
				}
				path := filepath.Join(t.TempDir(), "x.yaml")
				if err := os.WriteFile(path, fmt.Appendf(nil, around, text), 0o600); err != nil {
					t.Fatal(err)
				}
				if _, err := scenarios.Load(path); err != nil {
					t.Errorf("%s: %s", text, err)
				}
			}
		}
	}
}

// TestScriptIsPrinted: a script of the program's own is printed as a file that it takes, and that gives the same
// run.
func TestScriptIsPrinted(t *testing.T) {
	for i, s := range scenarios.All() {
		text, errs, status := run(t, "", "explain", s.Name, "--script")
		if status != 0 {
			t.Fatal(errs)
		}
		path := filepath.Join(t.TempDir(), "x.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, variant, _ := strings.Cut(s.Name, ".")
		if variant != "" {
			path += "." + variant
		}
		own, err := scenarios.Find(path)
		if err != nil {
			t.Fatal(err)
		}
		st := strategies.All()[i%len(strategies.All())]
		a, err := s.Run(st, 1)
		if err != nil {
			continue
		}
		b, err := own.Run(st, 1)
		if err != nil || len(a.Events) != len(b.Events) || a.Verdict().String() != b.Verdict().String() {
			t.Errorf("%s under %s: %v, %s and %s", st.Name, s.Name, err, a.Verdict(), b.Verdict())
		}
	}
	if _, errs, status := run(t, "", "explain", "setpx-lua", "--script"); status != 2 || !strings.Contains(errs, "--script: unknown scenario \"setpx-lua\"") {
		t.Errorf("exit status %d, %s", status, errs)
	}
}

// readers are words that readers of advice, screens and titles have asked for.
var readers = strings.Fields("drift misfortune seed level cluster sentinel redisson payment fence quorum deadlock livelock restart failover eviction master split-brain " +
	"idempotency-key double-grant permanent-deadlock stale-write compare-and-delete jitter stamp counterexample interleaving goal lesson matrix steps settings positions scripting")

// TestReadersWords: each has an entry, and so has each name in the advice and the glossary that is
// none of the language's: what has a capital within a sentence.
func TestReadersWords(t *testing.T) {
	var texts []string
	for _, q := range advice.Questions {
		texts = append(texts, q.Text, q.Hint)
		for _, a := range q.Answers {
			texts = append(texts, a.Text+" "+a.Example)
		}
	}
	for _, w := range trace.AllWords() {
		texts = append(texts, w.Meaning)
	}
	names := slices.Clone(readers)
	name := regexp.MustCompile(`[a-z,(/]\s*\b([A-Z][A-Za-z]+)\b`)
	known := strings.Fields("Redis A B Java Go Acquire Sentinels SQL WHERE") // of itself, of clients, of languages, and of the code of locks
	for _, text := range texts {
		for _, m := range name.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(known, m[1]) {
				names = append(names, m[1])
			}
		}
	}
	for _, n := range names {
		if _, err := explain(strings.ReplaceAll(n, "-", " ")); err != nil {
			if _, err := explain(n); err != nil {
				t.Error(err)
			}
		}
	}
	if len(names) < len(readers)+20 {
		t.Errorf("only %d names", len(names))
	}
}

// TestSignsAreExplained: each sign of the legend is explained by its own meaning.
func TestSignsAreExplained(t *testing.T) {
	for _, sign := range []string{"⊘", "◇", "✗", "░", "x"} {
		if text, err := explain(sign); err != nil || !strings.Contains(text, "in the diagram: ") {
			t.Errorf("%s: %v, %s", sign, err, text)
		}
	}
}
