package docs_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/cli"
	"lockstep/docs"
	"lockstep/scenarios"
	"lockstep/sim/monitor"
	"lockstep/sim/trace"
	"lockstep/sim/verify"
	"lockstep/strategies"
	"lockstep/tui"
	"lockstep/tui/draw"
)

var update = flag.Bool("update", false, "rewrite what is generated in the documents")

// documents are all of them, from this folder.
func documents(t *testing.T) []string {
	t.Helper()
	files := []string{"../README.md"}
	for _, pattern := range []string{"*.md", "failures/*.md", "sources/*.md"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	return files
}

// A generated part begins with a comment that says what it is, and ends at the
// end of the fenced block, of the table or of the list that follows. One that
// consists of more begins with the word begin and lasts until the word end.
var generated = regexp.MustCompile("(?ms)^<!-- begin ([^\n]*) -->\n.*?^<!-- end -->\n|" +
	"^<!-- ([^\n]*) -->\n(?:```.*?^```\n|(?:\\|[^\n]*\n)+|(?:- [^\n]*\n)*)")

func TestGeneratedPartsAreFresh(t *testing.T) {
	for _, file := range documents(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		comments := 0
		fresh := generated.ReplaceAllStringFunc(string(data), func(part string) string {
			comments += strings.Count(part, "<!--")
			return regenerate(t, file, part)
		})
		if fresh, err = linked(file, fresh); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if all := strings.Count(string(data), "<!--"); comments != all {
			t.Errorf("%s: %d comments, of which %d belong to generated parts", file, all, comments)
		}
		switch {
		case fresh == string(data):
		case *update:
			if err := os.WriteFile(file, []byte(fresh), 0o644); err != nil { //nolint:gosec // a document is for everybody
				t.Fatal(err)
			}
			if file == "scenarios.md" {
				docs.Written(fresh)
			}
		default:
			t.Errorf("%s is stale: go test ./docs -update\n%s", file, firstDifference(string(data), fresh))
		}
	}
}

// firstDifference is the first line in which a document and what it should be differ.
func firstDifference(was, is string) string {
	old, now := strings.Split(was, "\n"), strings.Split(is, "\n")
	for i := range min(len(old), len(now)) {
		if old[i] != now[i] {
			return fmt.Sprintf("line %d is\n%s\nand should be\n%s", i+1, old[i], now[i])
		}
	}
	return fmt.Sprintf("it has %d lines, and should have %d", len(old), len(now))
}

// regenerate makes a part anew; where it can't, the part stays as it is.
func regenerate(t *testing.T, file, part string) string {
	t.Helper()
	m := generated.FindStringSubmatch(part)
	if m[1] == "links" {
		return part // see linked
	}
	body, err := generate(m[1]+m[2], part)
	if errors.Is(err, errKeep) {
		return part
	}
	if err != nil {
		t.Errorf("%s: <!-- %s -->: %s", file, m[1]+m[2], err)
		return part
	}
	if m[1] != "" {
		return fmt.Sprintf("<!-- begin %s -->\n%s<!-- end -->\n", m[1], body)
	}
	return fmt.Sprintf("<!-- %s -->\n%s", m[2], body)
}

// generate makes a part from its comment, and from what is written by hand in it.
func generate(what, part string) (string, error) {
	kind, rest, _ := strings.Cut(what, " ")
	switch kind {
	case "player":
		return player(rest)
	case "explore":
		return searched(rest)
	case "codes":
		return codes(), nil
	case "rules":
		return ruleSections(), nil
	case "words":
		return wordTable(), nil
	case "trace":
		return record(rest)
	case "outcomes":
		return outcomes(rest)
	case "rebuilds":
		return rebuilds(rest)
	case "field":
		return field(rest)
	case "pages":
		return index()
	case "packages":
		return packageTable(rest)
	case "matrix":
		return matrix()
	case "likes":
		return likes(), nil
	case "claims":
		return claimsText(), nil
	case "file":
		data, err := os.ReadFile(filepath.Join("..", rest))
		return "```" + strings.TrimPrefix(filepath.Ext(rest), ".") + "\n" + string(data) + "```\n", err
	case "begun":
		return begun()
	case "fails":
		return fails(rest)
	case "statements":
		return statementTable(rest)
	case "standings":
		return standingTable()
	case "works":
		return workTable()
	case "scale":
		return scaleTable(rest)
	case "deeds":
		return deedTable(), nil
	case "fidelity":
		return fidelity(rest)
	case "faults":
		return faultRows(part)
	}
	return "", fmt.Errorf("unknown kind of part %q", kind)
}

func player(spec string) (string, error) {
	var strategy, scenario, keys string
	var width, height int
	if _, err := fmt.Sscanf(spec, "%s %s %dx%d %s", &strategy, &scenario, &width, &height, &keys); err != nil {
		return "", err
	}
	st, err := scenarios.FindStrategy(strategy)
	if err != nil {
		return "", err
	}
	s, err := scenarios.Find(scenario)
	if err != nil {
		return "", err
	}
	view := tui.Snapshot(tui.Options{Strategy: st, Scenario: s, Seed: 1}, width, height, keys)
	return "```\n" + view + "\n```\n", nil
}

// searched is what a search prints. Its status is that of one that has come to its
// end. One without a bound on cycles takes seconds, and is made where programs are built.
func searched(args string) (string, error) {
	if strings.Contains(args, "--cycles any") && !builds() {
		return "", errKeep
	}
	var out, errs strings.Builder
	if status := cli.Main(append([]string{"explore"}, strings.Fields(args)...), strings.NewReader(""), &out, &errs); status > 1 {
		return "", fmt.Errorf("exit status %d: %s", status, errs.String())
	}
	return "```\n" + out.String() + "```\n", nil
}

func codes() string {
	var b strings.Builder
	b.WriteString("| code | name | | counts as |\n| --- | --- | --- | --- |\n")
	for _, c := range trace.Codes {
		counts := "reported"
		if c.Failure() {
			counts = "failure"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c, c.Name(), c.Meaning(), counts)
	}
	return b.String()
}

// ruleSections has a section for each rule.
func ruleSections() string {
	var b strings.Builder
	for i := range monitor.Rules {
		r := &monitor.Rules[i]
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "### %s\n\n%s\n\n%s\n", r.Code, r.Text, strings.Join(draw.Wrap("Tests: `"+strings.Join(r.Tests, "`, `")+"`.", 120), "\n"))
	}
	return b.String()
}

// deedTable has the faults that are one command at a real server.
func deedTable() string {
	var b strings.Builder
	b.WriteString("| in the run | on the real server |\n| --- | --- |\n")
	for k := range trace.Kind(trace.Kinds) {
		if words := verify.Deed(k); words != nil {
			fmt.Fprintf(&b, "| a server: %s | `%s` |\n", k.Means(), strings.Join(words, " "))
		}
	}
	return b.String()
}

func wordTable() string {
	var b strings.Builder
	b.WriteString("| word | meaning |\n| --- | --- |\n")
	for _, w := range trace.Words {
		fmt.Fprintf(&b, "| %s | %s |\n", w.Name, w.Meaning)
	}
	return b.String()
}

// The tables of docs/scenarios.md name every key that the loader knows, and no
// other. The loader itself is asked: it lists what it knows when it refuses.
func TestScenarioKeysAreDocumented(t *testing.T) {
	for table, script := range map[int]string{
		docs.Parts:  "zzzzzzzzz: 1",
		docs.Setup:  "setup: {zzzzzzzzz: 1}",
		docs.Client: "setup: {clients: {A: {zzzzzzzzz: 1}}}",
		docs.Steps:  "title: x\nscript: [{zzzzzzzzz: 1}]",
	} {
		var documented []string
		for _, r := range docs.Reference(table).Rows {
			documented = append(documented, r.Key)
		}
		slices.Sort(documented)
		if documented, known := slices.Compact(documented), loaderKnows(t, script); !slices.Equal(documented, known) {
			t.Errorf("%s\nthe document has %v\nthe loader knows %v", docs.Reference(table).Heading, documented, known)
		}
	}
}

func loaderKnows(t *testing.T, script string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.yaml")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := scenarios.Load(file)
	if err == nil {
		t.Fatalf("the loader accepts %q", script)
	}
	_, list, found := strings.Cut(err.Error(), "it is one of ")
	if !found {
		_, list, found = strings.Cut(err.Error(), "there is only ")
	}
	if !found {
		t.Fatalf("no list of known words in: %s", err)
	}
	return strings.Split(list, ", ")
}

// The example is one that a reader can trust: it gives what it says.
func TestExampleHoldsWhatItExpects(t *testing.T) {
	s, err := scenarios.Load("example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	stated := 0
	for _, st := range strategies.All() {
		want, states := s.Expect(st.Name)
		if !states {
			continue
		}
		stated++
		trace, err := s.Run(st, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := trace.Verdict(); !slices.Equal(got, want) {
			t.Errorf("%s: %s, expected %s", st.Name, got, want)
		}
	}
	if stated == 0 {
		t.Error("the example expects nothing")
	}
}

// TestPagesSayWhatACommandIs: before its first command a page says how a reader comes by the program, and how else it is called.
func TestPagesSayWhatACommandIs(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile("(?m)(`|^    )(lockstep|go run \\.) [a-z-]+")
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		first := command.FindIndex(text)
		if first == nil || page == "CONTRIBUTING.md" { // whose readers have the sources
			continue
		}
		if before := string(text[:first[0]]); !strings.Contains(before, "`go build -o lockstep .` makes of") || !strings.Contains(before, "`go run .`") {
			t.Errorf("%s: it doesn't say what lockstep is before %q", page, text[first[0]:first[1]])
		}
	}
}
