package tui

import (
	"testing"
)

func TestJointKeepsTheStoryTogether(t *testing.T) {
	late := pauseTrace()
	for i := range late.Events { // the same story, but A took longer to get the lock
		if i > 2 {
			late.Events[i].At += 7e8
		}
	}
	j := newJoint(newReel(pauseTrace()), newReel(late))
	at := func(pos int) step { return j.steps[j.arrives(0, pos)] }
	for _, chapter := range j.reels[0].chapters {
		if s := at(chapter); s[0] != chapter || s[1] != chapter {
			t.Errorf("where the one is told what stands at %d, they are at %v", chapter, s)
		}
	}
	if last := j.steps[j.last()]; last != (step{j.reels[0].last(), j.reels[1].last()}) {
		t.Errorf("they end at %v", last)
	}
	for i := 1; i < len(j.steps); i++ {
		for side := range 2 {
			if d := j.steps[i][side] - j.steps[i-1][side]; d < 0 || d > 1 {
				t.Fatalf("step %d moves one of them by %d", i, d)
			}
		}
	}
}
