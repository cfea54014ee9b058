// Package site writes the course as a static site: a page of contents, and a page with a player for each
// step of each lesson.
package site

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"

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

// entry is a step in the page of contents.
type entry struct {
	Page, Strategy, Title, Text string
	Verdict                     trace.Verdict
}

// Fails reports whether the step's run shows a failure, and not only what every lock must bear.
func (e entry) Fails() bool { return len(e.Verdict) > 0 && e.Verdict[0].Failure() }

type chapter struct {
	Number      int
	Title, Text string
	Steps       []entry
}

// name is the file of a step; both numbers count from 0.
func name(lessons []scenarios.Lesson, lesson, step int) string {
	return fmt.Sprintf("%02d-%s-%d.html", lesson+1, lessons[lesson].Name, step+1)
}

// Course makes the site of some lessons. A step's page shows the lesson's next step beside it, in step,
// where that is under the same scenario: the cure below the failure. The same lessons give the same bytes.
func Course(lessons []scenarios.Lesson) ([]File, error) {
	var files []File
	var contents []chapter
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
			c.Steps = append(c.Steps, entry{page, t.Strategy, t.Title, l.Steps[j].Text, t.Verdict()})
		}
		contents = append(contents, c)
	}
	var b bytes.Buffer
	if err := index.Execute(&b, contents); err != nil {
		return nil, err
	}
	return append(files, File{Index, b.Bytes()}), nil
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
