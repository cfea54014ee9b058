package course

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/tui/draw"
	"lockstep/tui/tuitest"
)

func TestScreens(t *testing.T) {
	tuitest.EachFrame(t, "course", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), th)
		tuitest.Golden(t, name, tuitest.Open(t, w, h, app, New(app), nil).View())
	})
}

func coursePicture(w, h int) string {
	header, list, lesson, rules, wall := arrangeCourse(w, h, 28)
	return tuitest.Parts(w, h, append(rules, wall), map[string]draw.Rectangle{"h": header, "l": list, "t": lesson, "f": draw.Rect(0, h-1, w, 1)})
}

func TestLayouts(t *testing.T) {
	var b strings.Builder
	for _, size := range tuitest.Sizes {
		w, h := size[0], size[1]
		fmt.Fprintf(&b, "course, %dx%d\n%s\n", w, h, tuitest.Thumbnail(coursePicture(w, h)))
	}
	tuitest.Golden(t, "layouts-course", b.String())
	tuitest.FitsEveryWindow(t, coursePicture)
}
