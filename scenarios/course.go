package scenarios

import (
	"slices"
	"sync"

	"lockstep/sim/suggest"
	"lockstep/sim/trace"
)

// Lesson is a part of the course: one thing that can happen to a lock, and the
// locks that answer it, each the failure of the one before.
type Lesson struct {
	Name  string // for links, and for the reader's progress
	Title string
	Text  string
	Steps []LessonStep
}

// ID names the lesson within the course.
func (l Lesson) ID() string { return l.Name }

// LessonStep is a step of a lesson: one lock under one scenario. Verdict is the outcome
// that its text claims. A test checks that the engine agrees, and that every step differs
// from the one before.
type LessonStep struct {
	Scenario string
	Strategy string
	Verdict  trace.Verdict
	Text     string
}

// ID names the step within its lesson.
func (s LessonStep) ID() string { return s.Scenario + "/" + s.Strategy }

const courseFile = "course.yaml"

// Course returns the lessons in order. The caller owns the slice.
func Course() []Lesson {
	lessons := slices.Clone(loadCourse())
	for i := range lessons {
		lessons[i].Steps = slices.Clone(lessons[i].Steps)
	}
	return lessons
}

var loadCourse = sync.OnceValue(func() []Lesson {
	data, err := builtin.ReadFile(courseFile)
	var lessons []Lesson
	if err == nil {
		lessons, err = readCourse(courseFile, data)
	}
	if err != nil {
		panic(Broken{err})
	}
	return lessons
})

// readCourse reads the lessons from a document as strictly as a scenario is read:
// errors name the file, the line and the culprit.
func readCourse(file string, data []byte) ([]Lesson, error) {
	doc, err := parse(file, data, document{"the course", "lessons", "lessons: ..."})
	if err != nil {
		return nil, err
	}
	var lessons []Lesson
	if err := doc.fields(map[string]func(value) error{
		"lessons": into(&lessons, func(v value) ([]Lesson, error) { return each(v, "a list of lessons", lesson) }),
	}); err != nil {
		return nil, err
	}
	if len(lessons) == 0 {
		return nil, doc.errorf("the course has no lessons")
	}
	return lessons, nil
}

// each reads the elements of a list, and refuses two with the same ID.
func each[T interface{ ID() string }](v value, form string, read func(value) (T, error)) ([]T, error) {
	if v.what() != "a list" {
		return nil, v.wants(form)
	}
	var all []T
	first := map[string]int{}
	for _, item := range v.list() {
		x, err := read(item)
		if err != nil {
			return nil, err
		}
		if at, again := first[x.ID()]; again {
			return nil, item.errorf("%s is here twice: it is on line %d already", x.ID(), at)
		}
		first[x.ID()] = item.line()
		all = append(all, x)
	}
	return all, nil
}

func lesson(v value) (l Lesson, err error) {
	err = v.fields(map[string]func(value) error{
		"name":  into(&l.Name, value.sentence),
		"title": into(&l.Title, value.sentence),
		"text":  into(&l.Text, value.sentence),
		"steps": into(&l.Steps, func(v value) ([]LessonStep, error) { return each(v, "a list of steps", lessonStep) }),
	})
	switch {
	case err != nil:
		return l, err
	case l.Name == "" || l.Title == "" || l.Text == "":
		return l, v.errorf("a lesson has a name, a title and a text")
	case len(l.Steps) < 2:
		return l, v.errorf("the lesson %s has fewer than two steps: a step is there to differ from the one before", l.Name)
	}
	return l, nil
}

func lessonStep(v value) (s LessonStep, err error) {
	var given bool
	err = v.fields(map[string]func(value) error{
		"scenario": into(&s.Scenario, builtinName),
		"strategy": into(&s.Strategy, value.strategy),
		"text":     into(&s.Text, value.sentence),
		"verdict": func(v value) (err error) {
			given = true
			s.Verdict, err = verdict(v, aVerdict)
			return err
		},
	})
	if err == nil && (s.Scenario == "" || s.Strategy == "" || s.Text == "" || !given) {
		err = v.errorf("a step has a scenario, a strategy, a verdict and a text")
	}
	return s, err
}

// builtinName is the name of a built-in scenario.
func builtinName(v value) (string, error) {
	return word(v, "a scenario", func(name string) (string, error) {
		if !slices.Contains(Names(), name) {
			return "", suggest.Unknown("scenario", name, Names())
		}
		return name, nil
	})
}
