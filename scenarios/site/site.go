// Package site writes the course, or a playlist, as a static site: a page of contents, and a page with a player for each
// step of each lesson, or for each run.
package site

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"lockstep/scenarios"
	"lockstep/sim/export"
	"lockstep/sim/trace"
)

//go:embed index.html
var indexText string

// Parsing cannot fail on a template that a test has executed.
var index = template.Must(template.New("index").Parse(indexText))

// File is a file of the site.
type File struct {
	Name    string
	Content []byte
}

// Index is the name of the page of contents.
const Index = "index.html"

// entry is a step in the page of contents. Texts may be empty.
type entry struct {
	Opening, Page, Strategy, Title string
	Lock, Shows                    string   // descriptions of the lock and of the scenario
	Breaches                       []breach // in the order of the run
	Because                        string   // the reason that the script gives for the verdict
	Unmet                          string   // that the verdict is not the one that the script expects
	Text                           string
	Verdict                        trace.Verdict
	Asks                           bool // its page asks its reader about it, who is to see it before the answer
}

// breach is the first violation of a code in a run, in words.
type breach struct {
	trace.Code
	Text string
}

// describe has the contents tell what a reader who hasn't seen the run must know of it.
func (e *entry) describe(s *scenarios.Showing, t *trace.Trace) {
	e.Lock, e.Shows = s.Strategy.Summary, shown(s.Scenario.Shows)
	for i := range t.Violations {
		v := &t.Violations[i]
		if !slices.ContainsFunc(e.Breaches, func(b breach) bool { return b.Code == v.Code }) {
			e.Breaches = append(e.Breaches, breach{v.Code, sentence(v.Text)})
		}
	}
	text, met := t.Expectation()
	if !met {
		e.Unmet = sentence(text)
		return // the reason is one for another verdict
	}
	e.Because = sentence(s.Scenario.Because(s.Strategy.Name))
}

// shown makes a sentence of the "shows" of a scenario: a script has a clause, or the end of "it shows".
func shown(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if slices.Contains([]string{"that", "what", "how", "why", "when", "where", "whether"}, first) {
		s = "it shows " + s
	}
	return sentence(s)
}

// sentence is a clause, or a sentence, as a sentence.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	if s = trace.Capital(s); strings.ContainsRune(".!?", rune(s[len(s)-1])) {
		return s
	}
	return s + "."
}

// asks reports whether a run's script asks its readers something.
func asks(t *trace.Trace) bool {
	return slices.ContainsFunc(t.Notes, func(n trace.Note) bool { return n.Kind == trace.NoteAsk && n.Answer != "" })
}

// Fails reports whether the step's run shows a failure, and not only codes that every lock must bear.
func (e entry) Fails() bool { return len(e.Verdict) > 0 && e.Verdict[0].Failure() }

// Names are the codes of the verdict in words.
func (e entry) Names() string {
	var names []string
	for _, c := range e.Verdict {
		names = append(names, fmt.Sprintf("%s (%s)", c.Name(), c))
	}
	return strings.Join(names, ", ")
}

type chapter struct {
	Number      int // or 0
	Title, Text string
	Steps       []entry
}

// contents are a site's first page.
type contents struct {
	Title, About string // the second only where a browser names the page
	Chapters     []chapter
}

func (c *contents) file() (File, error) {
	var b bytes.Buffer
	err := index.Execute(&b, c)
	return File{Index, b.Bytes()}, err
}

// name is the file of a step; both numbers count from 0.
func name(lessons []scenarios.Lesson, lesson, step int) string {
	return fmt.Sprintf("%02d-%s-%d.html", lesson+1, lessons[lesson].Name, step+1)
}

// Course makes the site of some lessons. A step's page shows the lesson's next step beside it, in step,
// where that is under the same scenario: the cure below the failure. The same lessons give the same bytes.
func Course(lessons []scenarios.Lesson) ([]File, error) {
	var files []File
	list := contents{Title: "How Redis locks fail", About: ": a course"}
	for i := range lessons {
		l := &lessons[i]
		c := chapter{Number: i + 1, Title: l.Title, Text: l.Text}
		for j := range l.Steps {
			t, err := record(&l.Steps[j])
			if err != nil {
				return nil, err
			}
			p := export.Page{Links: links(lessons, i, j)}
			if j+1 < len(l.Steps) && l.Steps[j+1].Scenario == l.Steps[j].Scenario {
				if p.Other, err = record(&l.Steps[j+1]); err != nil {
					return nil, err
				}
			}
			page := name(lessons, i, j)
			files = append(files, File{page, []byte(p.HTML(t))})
			c.Steps = append(c.Steps, entry{Page: page, Strategy: t.Strategy, Title: t.Title, Text: l.Steps[j].Text, Verdict: t.Verdict(), Asks: asks(t)})
		}
		list.Chapters = append(list.Chapters, c)
	}
	first, err := list.file()
	return append(files, first), err
}

// Playlist makes the site of a playlist: a page of contents with its runs in order, their descriptions and violations, and the
// words before and after them; and a page for each. A run that is followed by another lock's under the same scenario has that below, as a
// step of the course has, unless the script asks about it on the next page.
func Playlist(list scenarios.Playlist) ([]File, error) {
	var files []File
	all := list.Showings
	c, title := chapter{}, cmp.Or(list.Title, "A playlist")
	page := func(i int) string { return fmt.Sprintf("%02d-%s.html", i+1, all[i].Strategy.Name) }
	for i := range all {
		s := &all[i]
		t, err := s.Scenario.Run(s.Strategy, 1)
		if err != nil {
			return nil, err
		}
		p := export.Page{Links: []export.Link{{To: Index, Text: title}}, Before: s.Opening, After: s.Closing}
		if i > 0 {
			p.Links = append(p.Links, export.Link{To: page(i - 1), Text: "Back"})
		}
		if i+1 < len(all) {
			next := &all[i+1]
			p.Links = append(p.Links, export.Link{To: page(i + 1), Text: "Next"})
			if next.Scenario.Name == s.Scenario.Name && next.Strategy.Name != s.Strategy.Name {
				below, err := next.Scenario.Run(next.Strategy, 1)
				if err != nil {
					return nil, err
				}
				if !asks(below) {
					p.Other = below
				}
			}
		}
		e := entry{Opening: s.Opening, Page: page(i), Strategy: t.Strategy, Title: t.Title, Text: s.Closing, Verdict: t.Verdict(), Asks: asks(t)}
		e.describe(s, t)
		if i > 0 && all[i-1].Scenario.Name == s.Scenario.Name { // it has been told, right above
			e.Title, e.Shows = "", ""
		}
		files = append(files, File{page(i), []byte(p.HTML(t))})
		c.Steps = append(c.Steps, e)
	}
	start := contents{Title: title, Chapters: []chapter{c}}
	first, err := start.file()
	return append(files, first), err
}

func record(step *scenarios.LessonStep) (*trace.Trace, error) {
	st, err := scenarios.FindStrategy(step.Strategy)
	if err != nil {
		return nil, err
	}
	sc, err := scenarios.Find(step.Scenario)
	if err != nil {
		return nil, err
	}
	return sc.Run(st, 1)
}

// links lead from a step to the contents, to the step before and to the one behind.
func links(lessons []scenarios.Lesson, lesson, step int) []export.Link {
	all := []export.Link{{To: Index, Text: fmt.Sprintf("Lesson %d: %s", lesson+1, lessons[lesson].Title)}}
	switch {
	case step > 0:
		all = append(all, export.Link{To: name(lessons, lesson, step-1), Text: "Back"})
	case lesson > 0:
		all = append(all, export.Link{To: name(lessons, lesson-1, len(lessons[lesson-1].Steps)-1), Text: "Back"})
	}
	switch {
	case step+1 < len(lessons[lesson].Steps):
		all = append(all, export.Link{To: name(lessons, lesson, step+1), Text: "Next"})
	case lesson+1 < len(lessons):
		all = append(all, export.Link{To: name(lessons, lesson+1, 0), Text: "Next lesson"})
	}
	return all
}
