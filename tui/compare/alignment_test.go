package compare

import (
	"testing"

	"lockstep/sim/timeline"
	"lockstep/tui/tuitest"
)

func TestAlignmentKeepsTheStoryTogether(t *testing.T) {
	late := tuitest.PauseTrace()
	for i := range late.Events { // the same story, but A took longer to get the lock
		if i > 2 {
			late.Events[i].At += 7e8
		}
	}
	j := timeline.Align(timeline.New(tuitest.PauseTrace()), timeline.New(late))
	at := func(pos int) timeline.Step { return j.Steps[j.Arrives(0, pos)] }
	for _, chapter := range j.Runs[0].Chapters {
		if s := at(chapter); s[0] != chapter || s[1] != chapter {
			t.Errorf("where the one is told what stands at %d, they are at %v", chapter, s)
		}
	}
	if last := j.Steps[j.Last()]; last != (timeline.Step{j.Runs[0].Last(), j.Runs[1].Last()}) {
		t.Errorf("they end at %v", last)
	}
	for i := 1; i < len(j.Steps); i++ {
		for side := range 2 {
			if d := j.Steps[i][side] - j.Steps[i-1][side]; d < 0 || d > 1 {
				t.Fatalf("step %d moves one of them by %d", i, d)
			}
		}
	}
}
