package tui

import (
	"fmt"
	"strings"
	"testing"
)

func TestCourseScreens(t *testing.T) {
	eachFrame(t, "course", func(t *testing.T, name string, w, h int, th *theme) {
		s := handmadeStage(shelf(handmade), th)
		golden(t, name, open(t, w, h, s, newCourse(s), nil).View())
	})
}

func coursePicture(w, h int) string {
	header, list, lesson, rules, wall := arrangeCourse(w, h, 28)
	return parts(w, h, append(rules, wall), map[string]rect{"h": header, "l": list, "t": lesson, "f": {0, h - 1, w, 1}})
}

func TestCourseLayouts(t *testing.T) {
	var b strings.Builder
	for _, size := range sizes {
		w, h := size[0], size[1]
		fmt.Fprintf(&b, "course, %dx%d\n%s\n", w, h, thumbnail(coursePicture(w, h)))
	}
	golden(t, "layouts-course", b.String())
	fitsEveryWindow(t, coursePicture)
}
