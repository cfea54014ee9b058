package docs_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/trace"

	"github.com/goccy/go-yaml"
)

// articles are the names of the files in docs/sources that have the statements of one
// article each.
var articles = []string{"chinese", "japanese", "english"}

// statement is one thing that an article says, or one piece of its code, and how it compares
// with the program.
type statement struct {
	Part    string // of the article
	Quote   string // a few of its words, to find the place
	Says    string // it, in words of ours
	Stands  string // a word of standings
	Runs    []shownBy
	At      string // the document or the file that tells it, from docs/sources
	Because string // why no run shows it
	Remark  string
}

// shownBy is a run with its verdict, and with a detail to look for.
type shownBy struct {
	Lock, Scenario, Verdict string
	Event                   string // a part of an event's text, or of a violation's; none if the verdict says it
	Rebuilds                []int  // of the cache: how many there were, and how many were needed; none if it isn't about them
}

// standing is a relation between a statement and the program.
type standing struct{ word, means string }

// standings are all of them, in the order of the summary. Told needs a place, open a reason, and
// all others need runs.
var standings = []standing{
	{"shown", "runs show it"},
	{"partly", "runs show it, and others that it has limits"},
	{"refuted", "runs show the opposite"},
	{"contradicted", "the article's own code, run, does something else"},
	{"outdated", "it was true of an older Redis; a run shows a newer one"},
	{"told", "a definition or a hint: no run, but a document or a file says it"},
	{"open", "nothing shows it yet, for the reason given"},
}

// statements reads an article's statements. It refuses unknown keys.
func statements(article string) ([]statement, error) {
	file := filepath.Join("sources", article+".yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all struct{ Statements []statement }
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&all); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return all.Statements, nil
}

// check makes the statement's runs, and reports the first mistake in its form or in them.
func (s *statement) check() error {
	known := slices.ContainsFunc(standings, func(k standing) bool { return k.word == s.Stands })
	runs, at, because := len(s.Runs) > 0, s.At != "", s.Because != ""
	switch {
	case !known:
		return fmt.Errorf("it stands as %q, which is none of %v", s.Stands, standings)
	case s.Part == "" || s.Quote == "" || s.Says == "":
		return fmt.Errorf("part, quote or says is missing")
	case (s.Stands == "told") != at, (s.Stands == "open") != because, runs == (at || because):
		return fmt.Errorf("%q has runs: %t, a place: %t, a reason: %t", s.Stands, runs, at, because)
	}
	if at {
		if err := leads(s.At); err != nil {
			return err
		}
	}
	for _, r := range s.Runs {
		if err := r.check(); err != nil {
			return fmt.Errorf("%s under %s: %w", r.Lock, r.Scenario, err)
		}
	}
	return nil
}

// leads reports why a link from docs/sources leads nowhere: there is no such file, or no such
// heading in it.
func leads(link string) error {
	file, heading, _ := strings.Cut(link, "#")
	data, err := os.ReadFile(filepath.Join("sources", file))
	if err != nil || heading == "" {
		return err
	}
	for line := range strings.Lines(string(data)) {
		if title, is := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); is && strings.HasPrefix(line, "#") &&
			anchor(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(title)), " ", "-")) == heading {
			return nil
		}
	}
	return fmt.Errorf("%s has no heading #%s", file, heading)
}

// check makes the run.
func (r *shownBy) check() error {
	t, err := r.run()
	if err != nil {
		return err
	}
	if got := t.Verdict().String(); got != r.Verdict {
		return fmt.Errorf("the verdict is %s, not %s", got, r.Verdict)
	}
	if made, needed := t.Rebuilds(); r.Rebuilds != nil && !slices.Equal(r.Rebuilds, []int{made, needed}) {
		return fmt.Errorf("there are %d rebuilds of which %d are needed, not %v", made, needed, r.Rebuilds)
	}
	if r.Event != "" && !r.sees(t) {
		return fmt.Errorf("no event or violation has %q: see go run . run %s %s --plain", r.Event, r.Lock, r.Scenario)
	}
	return nil
}

func (r *shownBy) run() (*trace.Trace, error) {
	s, err := scenarios.Find(r.Scenario)
	if err != nil {
		return nil, err
	}
	row, err := ran(s)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(row.cells, func(c cell) bool { return c.strategy.Name == r.Lock })
	if at < 0 {
		_, err := scenarios.FindStrategy(r.Lock)
		return nil, err
	}
	return row.cells[at].trace, nil
}

// sees reports whether the run has the detail.
func (r *shownBy) sees(t *trace.Trace) bool {
	return slices.ContainsFunc(t.Violations, func(v trace.Violation) bool { return strings.Contains(v.Text, r.Event) }) ||
		slices.ContainsFunc(t.Events, func(e trace.Event) bool {
			return strings.Contains(t.Actor(&e)+" "+t.Text(&e), r.Event)
		})
}

// text is the run in a table.
func (r *shownBy) text() string {
	text := fmt.Sprintf("`%s` under [%s](../matrix.md#%s): %s", r.Lock, r.Scenario, anchor(r.Scenario), r.Verdict)
	if r.Rebuilds != nil {
		text += fmt.Sprintf(", %d rebuilds, %d needed", r.Rebuilds[0], r.Rebuilds[1])
	}
	if r.Event != "" {
		text += ", `" + r.Event + "`"
	}
	return text
}

// statementTable makes the table of an article: statements ARTICLE
func statementTable(article string) (string, error) {
	all, err := statements(article)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| part | it says | | where to see it |\n| --- | --- | --- | --- |\n")
	for _, s := range all {
		var where []string
		for _, r := range s.Runs {
			where = append(where, r.text())
		}
		switch {
		case s.At != "":
			where = append(where, fmt.Sprintf("[%s](%s)", strings.TrimLeft(s.At, "./"), s.At))
		case s.Because != "":
			where = append(where, s.Because)
		}
		if s.Remark != "" {
			where = append(where, s.Remark)
		}
		stands := s.Stands
		if s.Stands != "shown" && s.Stands != "told" {
			stands = "**" + stands + "**"
		}
		fmt.Fprintf(&b, "| %s | `%s` %s | %s | %s |\n", cellText(s.Part), cellText(s.Quote), cellText(s.Says), stands, cellText(strings.Join(where, "<br>")))
	}
	return b.String(), nil
}

// standingTable counts the statements of each article: standings
func standingTable() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "| | means | %s |\n| --- | --- |%s\n", strings.Join(articles, " | "), strings.Repeat(" --- |", len(articles)))
	counts := map[string]int{}
	for _, article := range articles {
		all, err := statements(article)
		if err != nil {
			return "", err
		}
		for _, s := range all {
			counts[article+s.Stands]++
		}
	}
	for _, k := range standings {
		fmt.Fprintf(&b, "| %s | %s |", k.word, k.means)
		for _, article := range articles {
			fmt.Fprintf(&b, " %d |", counts[article+k.word])
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// TestStatements makes every run that a page about an article names, and compares its verdict
// and its events with those on the page. A statement that nothing shows needs a reason.
func TestStatements(t *testing.T) {
	for _, article := range articles {
		all, err := statements(article)
		if err != nil {
			t.Fatal(err)
		}
		open := 0
		for i := range all {
			if err := all[i].check(); err != nil {
				t.Errorf("sources/%s.yaml, statement %d, %q: %v", article, i+1, all[i].Quote, err)
			}
			if all[i].Stands == "open" {
				open++
			}
		}
		t.Logf("%s: %d statements, %d of them open", article, len(all), open)
	}
}

// TestStatementChecks: a statement is refused if its form or its run is not as it says.
func TestStatementChecks(t *testing.T) {
	good := statement{
		Part: "p", Quote: "q", Says: "s", Stands: "shown",
		Runs: []shownBy{{Lock: "naive-del", Scenario: "late-release", Verdict: "SW DG OV FR", Event: "A's DEL removes B's record"}},
	}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(*statement)
		want   string
	}{
		"an unknown standing":    {func(s *statement) { s.Stands = "so" }, `"so"`},
		"no quote":               {func(s *statement) { s.Quote = "" }, "missing"},
		"shown by nothing":       {func(s *statement) { s.Runs = nil }, "runs: false"},
		"open without a reason":  {func(s *statement) { s.Stands = "open" }, "a reason: false"},
		"open, with a run":       {func(s *statement) { s.Stands, s.Because = "open", "x" }, "runs: true"},
		"told nowhere":           {func(s *statement) { s.Stands, s.Runs, s.At = "told", nil, "nowhere.md" }, "nowhere.md"},
		"another verdict":        {func(s *statement) { s.Runs[0].Verdict = "ok" }, "DG OV FR, not ok"},
		"an event that isn't":    {func(s *statement) { s.Runs[0].Event = "A's DEL removes C's record" }, "no event or violation"},
		"rebuilds without cache": {func(s *statement) { s.Runs[0].Rebuilds = []int{2, 1} }, "0 rebuilds"},
		"a lock that isn't":      {func(s *statement) { s.Runs[0].Lock = "naive-delete" }, "naive-delete"},
		"a scenario that isn't":  {func(s *statement) { s.Runs[0].Scenario = "late-releases" }, "late-releases"},
	} {
		s := good
		s.Runs = slices.Clone(good.Runs)
		tt.change(&s)
		if err := s.check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, expected %q", name, err, tt.want)
		}
	}
}
