package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/spf13/cobra"

	"lockstep/docs"
	"lockstep/docs/failures"
	"lockstep/docs/sources"
	"lockstep/scenarios"
	"lockstep/scenarios/reference"
	"lockstep/scenarios/sample"
	"lockstep/sim/claims"
	"lockstep/sim/explore/report"
	"lockstep/sim/suggest"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
)

func newExplain() *cobra.Command {
	var script, page bool
	cmd := &cobra.Command{
		Use:   "explain NAME",
		Short: "Explain a code, lock, scenario, claim, step of scripts or word",
		Long: `Explain a code such as FR, a lock, a scenario, a way to fail such as fencing, a
claim about locks with its conditions, a step or a setting of scripts, a sign of
the diagram, or a word of the screens such as lease, probe or PX. The runs of a lock or a scenario are made for it; those of a code are as the
scenarios expect them, to which the tests hold the engine. claims lists all
claims, glossary all words, and steps, settings and positions what a script can
have (scripting has all three).`,
		Example: `  lockstep explain FR
  lockstep explain setpx-lua
  lockstep explain pause-past-ttl
  lockstep explain fencing
  lockstep explain claim 3
  lockstep explain lease
  lockstep explain steps
  lockstep explain lose
  lockstep explain late-release --script > my.yaml
  lockstep explain failover --page`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("explain needs a NAME:\n  a code                     FR\n  a lock                     setpx-lua (lockstep list has all)\n  a scenario                 late-release (lockstep list has all)\n  a way to fail              fencing\n  a claim about locks        claim 3 (claims lists all)\n  a word of the screens      lease (glossary lists all)\n  a step or setting          lose (steps, settings and positions list all)\n  a sign of the diagram      ▽\n  a script of your own       lockstep new my.yaml writes one")
			}
			return nil // a name may be several words
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return explicable(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if script || page {
				text, err := asWritten(strings.Join(args, " "), page)
				if err != nil {
					return err
				}
				_, err = io.WriteString(cmd.OutOrStdout(), text) // a file, which is not set anew
				return err
			}
			text, err := explain(strings.Join(args, " "))
			if err != nil && len(args) > 1 {
				if _, wrong := explain(args[0]); wrong == nil {
					err = fmt.Errorf("unknown name %q: lockstep explain takes one name at a time, such as %s", strings.Join(args, " "), args[0])
				}
			}
			if about := explainCommand(cmd.Root(), args); err != nil && about != "" {
				text, err = about, nil
			}
			if err != nil {
				return err
			}
			_, err = io.WriteString(prose(cmd.OutOrStdout()), text)
			return err
		},
	}
	cmd.Flags().BoolVar(&script, "script", false, "print a scenario's script as it is written, and nothing else")
	cmd.Flags().BoolVar(&page, "page", false, "print the whole page on a way to fail as it is written, or with model the rules, and nothing else")
	cmd.MarkFlagsMutuallyExclusive("script", "page")
	return cmd
}

// explainCommand says of a command what it is for, and where its help is; "" if there is none of that name, or if its
// arguments name one within it.
func explainCommand(root *cobra.Command, name []string) string {
	cmd, rest, err := root.Find(name)
	if err != nil || cmd == root || len(rest) > 0 {
		return ""
	}
	return wrap(cmd.Name()+":", 2, fmt.Sprintf("a command: %s. Its help: lockstep %s --help.", lowered(cmd.Short), cmd.Name()))
}

// lowered is a sentence's beginning within another one.
func lowered(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// explicable are all names that can be explained.
func explicable() (names []string) {
	names = trace.Verdict(trace.Codes).Strings()
	for _, c := range trace.Codes {
		names = append(names, c.Name())
	}
	names = append(append(names, scenarios.StrategyNames()...), scenarios.Names()...)
	for _, p := range failures.Pages() {
		names = append(names, p.Name)
	}
	for _, w := range trace.AllWords() {
		names = append(names, w.Name)
	}
	names = append(append(names, scriptWords()...), "claims", "glossary")
	for i := range claims.All {
		names = append(names, fmt.Sprintf("claim-%d", i+1))
	}
	return names
}

// explainClaim is a claim with all its conditions, and with the ways in which tests break these.
func explainClaim(n int) string {
	c := &claims.All[n-1]
	var b strings.Builder
	b.WriteString(wrap(fmt.Sprintf("Claim %d:", n), 2, c.Text))
	b.WriteString("\n" + unlabelled(c.Tried()))
	if len(c.Assumptions) > 0 {
		b.WriteString("\nIt assumes\n")
	}
	for _, a := range c.Assumptions {
		b.WriteString(wrap("  - that", 4, a.Text+"."))
		var broken []string
		for _, by := range a.Breaches {
			text := by.Text
			if by.Scenario != "" {
				text += fmt.Sprintf(" (lockstep run %s %s)", by.Lock, by.Scenario)
			}
			broken = append(broken, text)
		}
		b.WriteString(wrap("    Broken by:", 6, strings.Join(broken, "; ")))
	}
	return b.String()
}

// explainClaims are the claims that a name asks for: one by its number in full, or a list of
// all.
func explainClaims(name string) (texts []string, err error) {
	lower := strings.ToLower(name)
	word := strings.TrimRight(lower, "0123456789")
	number, numbered := lower[len(word):], len(word) < len(lower)
	if word != "claim" && word != "claims" {
		word, number, numbered = strings.Cut(strings.ReplaceAll(lower, " ", "-"), "-")
	}
	switch {
	case word != "claim" && word != "claims":
		return nil, nil
	case !numbered:
		all := ""
		for i := range claims.All {
			all += claimText(i + 1)
		}
		return []string{all}, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(claims.All) {
		return nil, fmt.Errorf("there is no claim %s: lockstep explain claim 1 to claim %d explain them, and lockstep explain claims lists them", suggest.Clip(number), len(claims.All))
	}
	return []string{explainClaim(n)}, nil
}

// glossary lists the words that can be explained, by their meanings.
func glossary() string {
	words := trace.AllWords()
	slices.SortFunc(words, func(x, y trace.Word) int { return strings.Compare(strings.ToLower(x.Name), strings.ToLower(y.Name)) })
	var b strings.Builder
	for _, w := range words {
		b.WriteString(wrap(w.Name+":", 2, w.Meaning+"."))
	}
	return b.String()
}

// claimText is a claim, and where its conditions are.
func claimText(n int) string {
	label, text := fmt.Sprintf("Claim %d:", n), claims.All[n-1].Text
	if k := len(claims.All[n-1].Assumptions); k > 0 {
		label = fmt.Sprintf("Claim %d (tested, not proved; %s):", n, report.Count(k, "condition"))
		text += fmt.Sprintf(" The conditions: lockstep explain claim %d.", n)
	}
	return wrap(label, 2, text)
}

// explainWord is a word with its meaning, and where more is to be read.
func explainWord(w trace.Word) string {
	text := unlabelled(w.Name + ": " + w.Meaning + ".")
	if slices.Contains(trace.Words, w) {
		text += "\nThe rules that depend on it: lockstep explain model --page\n"
	}
	return text
}

// codeOf finds a code by its letters or by its name, such as double grant. A deadlock is a
// permanent one: the last word of a name is enough if it is no word with a meaning of its own.
func codeOf(name string) (trace.Code, bool) {
	if code, is := trace.ParseCode(strings.ToUpper(name)); is {
		return code, true
	}
	name = strings.ReplaceAll(strings.ToLower(name), "-", " ")
	if i := slices.IndexFunc(trace.Codes, func(c trace.Code) bool { return strings.ToLower(c.Name()) == name }); i >= 0 {
		return trace.Codes[i], true
	}
	if _, is := trace.Lookup(name); is {
		return 0, false
	}
	last := func(c trace.Code) bool { return strings.HasSuffix(strings.ToLower(c.Name()), " "+name) }
	if i := slices.IndexFunc(trace.Codes, last); i >= 0 && !slices.ContainsFunc(trace.Codes[i+1:], last) {
		return trace.Codes[i], true
	}
	return 0, false
}

// explainSign is a sign of the diagram, in either set of signs, as the legend has it, with the words of that.
func explainSign(name string) (texts []string) {
	for _, ascii := range []bool{false, true} {
		theme := draw.NewTheme(lipgloss.NewRenderer(io.Discard), true, ascii)
		var text string
		var words []trace.Word
		for _, s := range pane.Legend(&theme.Glyphs, nil) {
			if s[0] == name || slices.Contains(strings.Fields(s[0]), name) {
				text += wrap(s[0]+" ", 4, "in the diagram: "+s[1]+".")
				words = append(words, trace.TermsIn(s[1])...)
			}
		}
		for i, w := range words {
			if !slices.Contains(words[:i], w) {
				text += wrap("  "+w.Name+":", 6, w.Meaning+".")
			}
		}
		if text != "" {
			return []string{text}
		}
	}
	return nil
}

// explain tells of everything with that name: a scenario and a page may share one.
func explain(name string) (string, error) {
	var texts []string
	script := explainScript(strings.ToLower(name))
	step := script != "" && reference.Step(strings.ToLower(name))
	if step { // the line to copy comes first
		texts = append(texts, script)
	}
	code, isCode := codeOf(name)
	if isCode {
		text, err := explainCode(code)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	if w, is := trace.Lookup(name); is { // a word's meaning comes before its failures
		texts = append(texts, explainWord(w))
	}
	if st, err := scenarios.FindStrategy(name); err == nil {
		texts = append(texts, explainLock(st))
	}
	if i := slices.Index(scenarios.Names(), name); i >= 0 {
		texts = append(texts, explainScenario(scenarios.All()[i]))
	}
	for _, p := range failures.Pages() {
		if p.Name == name && !(isCode && p.IsAbout(code.Name())) && !slices.Contains(scenarios.Names(), name) { // those have its text
			texts = append(texts, explainPage(p))
		}
	}
	if name == "glossary" {
		texts = append(texts, glossary())
	}
	if script != "" && !step {
		texts = append(texts, script)
	}
	if name == "scenario" || name == "template" {
		texts = append(texts, wrap("A script of your own:", 2, "lockstep new my.yaml writes one to start from, and lockstep explain scripting lists what it can have."))
	}
	about, err := explainClaims(name)
	if err != nil {
		return "", err
	}
	texts = append(texts, about...)
	if len(texts) == 0 {
		texts = explainSign(name)
	}
	if len(texts) > 0 {
		return strings.Join(texts, "\n"), nil
	}
	if only := suggest.Begun(name, explicable()); only != "" {
		return explain(only)
	}
	err = suggest.Unknown("name", name, explicable())
	if !strings.Contains(err.Error(), "did you mean") { // the names are too many to list
		err = fmt.Errorf("unknown name %q: it is a code (%s), a lock or a scenario of lockstep list, a way to fail such as fencing, a claim (claim 1 to claim %d), a step or a setting of scripts (lockstep explain steps, lockstep explain settings) or a word of the screens (lockstep explain glossary)", name, strings.Join(trace.Verdict(trace.Codes).Strings(), ", "), len(claims.All))
	}
	return "", err
}

func explainCode(code trace.Code) (string, error) {
	cells := sample.Expected()
	var b strings.Builder
	counts := "It counts against a lock."
	if !code.Failure() {
		counts = "It is reported, and does not count against a lock."
	}
	fmt.Fprintf(&b, "%s (%s)\n\n%s", trace.Capital(code.Name()), code, unlabelled(sentence(code.Meaning())+" "+counts))
	pages := failures.Showing(code.String())
	if i := slices.IndexFunc(pages, func(p failures.Page) bool { return p.IsAbout(code.Name()) }); i >= 0 {
		fmt.Fprintf(&b, "\n%s\n%s", unlabelled(pages[i].Intro), wrap("Remedy:", 2, pages[i].Remedy))
	}
	if c := sample.OfCode(cells, code); c != nil {
		t, err := c.Scenario.Run(c.Strategy, 1)
		if err != nil {
			return "", err
		}
		writeExample(&b, t, code)
	}
	explainWhere(&b, cells, code)
	for i, c := range claims.All {
		if slices.Contains(c.Never, code.String()) {
			b.WriteString("\n" + claimText(i+1))
		}
	}
	whole := ""
	for i, p := range pages {
		if i == 0 {
			b.WriteString("\nThe ways to it, each with lockstep explain\n")
		}
		fmt.Fprintf(&b, "  %-18s %s\n", p.Name, p.Title)
		if p.IsAbout(code.Name()) {
			whole = "\n" + wholePage(&p)
		}
	}
	return b.String() + whole, nil
}

// explainWhere tells which locks show a code, and in how many scenarios.
func explainWhere(b *strings.Builder, cells []sample.Cell, code trace.Code) {
	shown := map[string]int{}
	for i := range cells {
		if c := &cells[i]; slices.Contains(c.Verdict, code) {
			shown[c.Strategy.Name]++
		}
	}
	var some, none []string
	for _, name := range scenarios.StrategyNames() {
		if shown[name] == 0 {
			none = append(none, name)
			continue
		}
		some = append(some, fmt.Sprintf("%s %d", name, shown[name]))
	}
	fmt.Fprintf(b, "\nIn how many of %d scenarios\n", len(scenarios.All()))
	b.WriteString(wrap(" ", 2, orNone(some)))
	if len(none) > 0 {
		b.WriteString(wrap("  in none:", 4, strings.Join(none, ", ")))
	}
}

// writeExample says in a line how a run fails, and how to see it.
func writeExample(b *strings.Builder, t *trace.Trace, code trace.Code) {
	fmt.Fprintf(b, "\nFor example\n%s  lockstep run %s %s\n", wrap(" ", 2, report.Headline(t, code)), t.Strategy, t.Scenario)
}

// writeFailure tells how the first lesson of some runs fails, with its worst code; nothing if all withstand.
func writeFailure(b *strings.Builder, cells []scenarios.Cell) {
	if c := sample.Failing(cells); c != nil {
		b.WriteString("\n" + wrap(fmt.Sprintf("With %s under %s:", c.Strategy.Name, c.Scenario.Name), 2, c.Scenario.Because(c.Strategy.Name)))
		writeExample(b, c.Trace, c.Trace.Verdict()[0])
	}
}

func explainLock(st strategies.Strategy) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", st.Name, st.Summary)
	cells := scenarios.Part(1, func(_ *scenarios.Scenario, s strategies.Strategy) bool { return s.Name == st.Name })
	writeFailure(&b, cells)
	fmt.Fprintf(&b, "\nUnder %d scenarios, just run\n", len(cells))
	b.WriteString(byVerdict(cells, func(c *scenarios.Cell) string { return c.Scenario.Name }))
	for i, c := range claims.All {
		if !slices.Contains(c.Of, st.Name) {
			continue
		}
		b.WriteString("\n" + claimText(i+1))
		if slices.ContainsFunc(cells, func(run scenarios.Cell) bool { return shows(&run, c.Never) }) {
			b.WriteString(wrap(" ", 2, fmt.Sprintf("In each run above that shows %s a condition is broken.", strings.Join(c.Never, " or "))))
		}
	}
	b.WriteString("\n")
	items := []report.Item{{Label: "source", Text: sources.Addressed(st.Source)}, {Label: "code", Text: "strategies/" + st.File}, {Label: "servers", Text: fmt.Sprint(st.Nodes)}}
	if st.Like != "" {
		items = append(items, report.Item{Label: "like", Text: st.Like + ": " + st.LikeBecause})
	}
	printer(func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }).items(items)
	fmt.Fprintf(&b, "\nAll schedules: lockstep explore %s\n", st.Name)
	return b.String()
}

// shows reports whether a run shows one of some codes.
func shows(c *scenarios.Cell, codes []string) bool {
	return c.Err == nil && slices.ContainsFunc(c.Trace.Verdict(), func(code trace.Code) bool { return slices.Contains(codes, code.String()) })
}

// explainScenario says first what fails and how, in a sentence, a run and the page of that name, if there is one; then what each lock does.
func explainScenario(s *scenarios.Scenario) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n%s", s.Name, s.Title, unlabelled(sentence("it shows that "+s.Shows)))
	cells := scenarios.Part(1, func(other *scenarios.Scenario, _ strategies.Strategy) bool { return other == s })
	writeFailure(&b, cells)
	more := ""
	for _, p := range failures.Pages() {
		switch base, _, _ := strings.Cut(s.Name, "."); {
		case p.Name == s.Name:
			b.WriteString("\n" + toldOnPage(&p))
			more += fmt.Sprintf("The whole page: lockstep explain %s --page\n", p.Name)
		case slices.Contains(p.Scenarios, base):
			more += fmt.Sprintf("More: lockstep explain %s\n", p.Name)
		}
	}
	fmt.Fprintf(&b, "\n%d locks, just run\n", len(cells))
	b.WriteString(byVerdict(cells, func(c *scenarios.Cell) string { return c.Strategy.Name }))
	fmt.Fprintf(&b, "\n%sIts script: lockstep explain %s --script\n", more, s.Name)
	if s.Source != "" {
		b.WriteString(wrap("Source:", 2, sources.Addressed(s.Source)))
	}
	return b.String()
}

// asWritten is a page, or else a script.
func asWritten(name string, page bool) (string, error) {
	if page {
		return pageText(name)
	}
	return scriptOf(name)
}

// pageText is the page on a way to fail, as it is written, or that of the rules.
func pageText(name string) (string, error) {
	names := []string{"model"}
	for _, p := range failures.Pages() {
		if p.Name == name {
			return p.Text, nil
		}
		names = append(names, p.Name)
	}
	if name == names[0] {
		return docs.Model, nil
	}
	return "", fmt.Errorf("--page: %w", suggest.Unknown("page", name, names))
}

// scriptOf is the script of a built-in scenario, as it is written.
func scriptOf(name string) (string, error) {
	if i := slices.Index(scenarios.Names(), name); i >= 0 {
		return scenarios.All()[i].Text(), nil
	}
	return "", fmt.Errorf("--script: %w", suggest.Unknown("scenario", name, scenarios.Names()))
}

func explainPage(p failures.Page) string {
	return toldOnPage(&p) + "\n" + wrap("Scenarios:", 2, strings.Join(p.Scenarios, ", ")) + wholePage(&p)
}

// toldOnPage is a page's title, codes, introduction and remedy.
func toldOnPage(p *failures.Page) string {
	return fmt.Sprintf("%s  (%s)\n\n%s\n%s", p.Title, strings.Join(p.Shows, ", "), unlabelled(p.Intro), wrap("Remedy:", 2, p.Remedy))
}

// wholePage says which commands show the outcome of a page's first scenario under each lock, and the whole page.
func wholePage(p *failures.Page) string {
	return wrap("What each lock does there:", 2, fmt.Sprintf("lockstep explain %s; a run of it with its trace: lockstep run LOCK %[1]s --plain", p.Scenarios[0])) +
		fmt.Sprintf("The whole page: lockstep explain %s --page\n", p.Name)
}

// byVerdict lists the cells by their verdicts, the worst first.
func byVerdict(cells []scenarios.Cell, name func(*scenarios.Cell) string) string {
	var verdicts []trace.Verdict
	names := map[string][]string{}
	for i := range cells {
		c := &cells[i]
		if c.Err != nil {
			continue
		}
		v := c.Trace.Verdict()
		if names[v.String()] == nil {
			verdicts = append(verdicts, v)
		}
		names[v.String()] = append(names[v.String()], name(c))
	}
	slices.SortStableFunc(verdicts, func(x, y trace.Verdict) int {
		if len(x) == 0 || len(y) == 0 {
			return len(y) - len(x) // ok comes last
		}
		return slices.Compare(x, y)
	})
	var b strings.Builder
	for _, v := range verdicts {
		b.WriteString(wrap(fmt.Sprintf("  %-12s", v), 15, strings.Join(names[v.String()], ", ")))
	}
	return b.String()
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// sentence begins a text with a capital and ends it with a full stop.
func sentence(s string) string {
	return trace.Capital(strings.TrimRight(s, ".")) + "."
}
