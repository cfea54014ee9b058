package docs_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// matrix makes docs/matrix.md's tables, one for each page of failures, and the
// list of what happened in each cell that is not ok.
func matrix() (string, error) {
	all, err := pages()
	if err != nil {
		return "", err
	}
	var tables, list strings.Builder
	for _, p := range all {
		rows, err := p.rows()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&tables, "### [%s](%s)\n\n", p.title, p.file)
		matrixTable(&tables, rows)
		for i := range rows {
			matrixList(&list, &rows[i])
		}
	}
	return tables.String() + "## What did it\n\n" + list.String(), nil
}

// likes is the table of the locks that are like another.
func likes() string {
	var b strings.Builder
	b.WriteString("| lock | is like | in common |\n| --- | --- | --- |\n")
	for _, st := range strategies.All() {
		if st.Like == "" {
			continue
		}
		common := st.LikeBecause
		for _, theirs := range slices.Sorted(maps.Keys(st.Instead)) {
			common += fmt.Sprintf("; %s for %s", st.Instead[theirs], theirs)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", st.Name, st.Like, cellText(common))
	}
	return b.String()
}

// matrixTable has a row for each strategy: the scenarios of one page are few.
func matrixTable(b *strings.Builder, rows []row) {
	b.WriteString("| |")
	for _, r := range rows {
		fmt.Fprintf(b, " [%s](#%s) |", r.scenario.Name, anchor(r.scenario.Name))
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(rows)) + "\n")
	for i, st := range strategies.All() {
		fmt.Fprintf(b, "| %s |", st.Name)
		for _, r := range rows {
			b.WriteString(" " + verdictText(r.cells[i].trace.Verdict()) + " |")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

// verdictText makes what counts against a lock stand out.
func verdictText(v trace.Verdict) string {
	if slices.ContainsFunc(v, trace.Code.Failure) {
		return "**" + v.String() + "**"
	}
	return v.String()
}

// anchor is what a heading of that text is linked by.
func anchor(heading string) string { return strings.ReplaceAll(heading, ".", "") }

func matrixList(b *strings.Builder, r *row) {
	fmt.Fprintf(b, "### %s\n\n%s. Callers: %s.\n\n", r.scenario.Name, r.scenario.Title, rowCallers(r))
	fell := false
	for _, o := range r.outcomes() {
		v := worst(o.trace)
		if v == nil {
			continue
		}
		fell = true
		last := &o.trace.Events[v.Events[len(v.Events)-1]-1]
		fmt.Fprintf(b, "- %s %s", verdictText(o.verdict), strings.Join(o.stated, ", "))
		if len(o.like) > 0 {
			fmt.Fprintf(b, "; like them %s", strings.Join(o.like, ", "))
		}
		if o.because != "" {
			fmt.Fprintf(b, ": %s", o.because)
		}
		fmt.Fprintf(b, "\n  %s of %s: %s, #%d at %s: `%s %s`\n", v.Code, o.strategies()[0], v.Text, last.Seq, trace.Instant(last.At),
			o.trace.Actor(last), o.trace.Text(last))
	}
	if !fell {
		b.WriteString("- nothing, under any strategy\n")
	}
	b.WriteString("\n")
}

// rowCallers says what the callers of a scenario do, and under which strategies
// they do something else than under most.
func rowCallers(r *row) string {
	under := map[string][]string{}
	var ways []string
	for _, c := range r.cells {
		way := r.scenario.Caller(c.strategy)
		if under[way] == nil {
			ways = append(ways, way)
		}
		under[way] = append(under[way], c.strategy.Name)
	}
	slices.SortStableFunc(ways, func(a, b string) int { return len(under[b]) - len(under[a]) })
	text := ways[0]
	for _, way := range ways[1:] {
		text += fmt.Sprintf(". Under %s: %s", strings.Join(under[way], ", "), way)
	}
	return text
}
