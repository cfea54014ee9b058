// Package debrief says what a win in the game has shown: what broke and on which line of the code, which lock withstands that, and what
// came of the same moves with it.
package debrief

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/levels"
	"lockstep/tui/tried"
)

// Win is a game that was won.
type Win struct {
	Run    *trace.Trace // of the reader's moves, to the end if the goal is judged there
	Goal   trace.Code
	Moral  string // the lesson of the level, or empty
	Score  Score
	Other  *Other // nil while it is computed
	Replay string // which key plays the same moves with the other lock, in a sentence; empty if none does
	Next   string // the keys that go on from here, in a sentence
	Theme  *draw.Theme
}

// Broken is the line of code by which a game was won, that whose command completed the violation, with
// the client whose command it was, and the line's text.
func Broken(t *trace.Trace, goal trace.Code) (at trace.Source, by int, text string) {
	i := slices.IndexFunc(t.Violations, func(v trace.Violation) bool { return v.Code == goal })
	if i < 0 {
		return at, trace.None, ""
	}
	v := &t.Violations[i]
	for i := len(v.Events) - 1; i >= 0; i-- {
		e := &t.Events[v.Events[i]-1]
		file := path.Base(e.Source.File)
		code, known := strategies.Text(file)
		if e.Source.File == "" || !known {
			continue
		}
		lines := strings.Split(code, "\n")
		if e.Source.Line < 1 || e.Source.Line > len(lines) {
			continue
		}
		return trace.Source{File: file, Line: e.Source.Line}, e.Client, strings.TrimSpace(lines[e.Source.Line-1])
	}
	return at, trace.None, ""
}

// reached is the last line of its lock's code that a client came to.
func reached(t *trace.Trace, client int) (line int) {
	for i := range t.Events {
		if e := &t.Events[i]; e.Client == client && e.Source.File != "" {
			line = e.Source.Line
		}
	}
	return line
}

// Brief says what broke, on which line, which lock withstands that, what the level teaches, and how to go on.
func (w *Win) Brief(width int) []draw.Line {
	t := draw.Paragraphs{Width: width}
	if i := slices.IndexFunc(w.Run.Violations, func(v trace.Violation) bool { return v.Code == w.Goal }); i >= 0 {
		t.Add(draw.Breach, "!! ", trace.Capital(w.Run.Violations[i].Text)+".")
	}
	if at, by, text := Broken(w.Run, w.Goal); text != "" {
		lead := "The line that did it, run by %s (%s:%d):"
		if w.Goal == trace.PD && reached(w.Run, by) == at.Line { // by itself the line is innocent: the commands after it are missing
			lead = "%s sent nothing more after this line (%s:%d):"
		}
		t.Add(draw.Plain, "   ", fmt.Sprintf(lead, w.Run.Clients[by], at.File, at.Line))
		t.Add(draw.Strong, "     ", text)
	}
	switch d := w.Other; {
	case d == nil:
		t.Add(draw.Dim, "", "Replaying the same moves under another lock.")
	case d.Proven:
		w.tellProven(&t)
	}
	if w.Moral != "" {
		t.Add(draw.Plain, "", w.Moral)
	}
	t.Add(draw.Plain, "", w.Score.Brief())
	t.Add(draw.Strong, "", w.Next)
	return t.Lines
}

// tellProven names the other lock, by its commands: the reader may not have met it. Where levels break that, too, it is said, or it would be
// taken for a lock to use.
func (w *Win) tellProven(t *draw.Paragraphs) {
	lock := w.Other.Lock
	text := lock
	if s, known := strategies.Get(lock); known {
		text += fmt.Sprintf(" (%s)", s.Summary)
	}
	text += fmt.Sprintf(" withstands this level (of all its schedules, none shows %s)", w.Goal.Named())
	about := levels.About(lock, nil)
	if about == nil {
		t.Add(draw.Good, w.Theme.Granted+" ", "Another lock, "+text+".")
		return
	}
	t.Add(draw.Plain, w.Theme.Mild+" ", "Another lock, "+text+", but "+levels.Numbered(about)+draw.Either(len(about) == 1, " breaks it", " break it")+" by other mishaps.")
}

// More has the brief, and after a gap the score in full, the outcome of the same moves with the other lock, and the other violations. The
// help explains the probe.
func (w *Win) More(width int) []draw.Line {
	t := draw.Paragraphs{Width: width, Lines: w.Brief(width)}
	t.Gap()
	t.Add(draw.Plain, "", w.Score.Text())
	own := w.Run.Verdict()
	w.tellOther(&t)
	beside := w.codes("your moves", own)
	if d := w.Other; d != nil && d.Run != nil {
		beside = append(beside, w.codes("those with "+d.Lock, slices.DeleteFunc(d.Run.Verdict(), func(c trace.Code) bool { return slices.Contains(own, c) }))...)
	}
	if len(beside) > 0 {
		t.Add(draw.Dim, "", "Not asked for here: "+strings.Join(beside, "; ")+".")
	}
	return t.Lines
}

// tellOther says what came of the same moves with the other lock.
func (w *Win) tellOther(t *draw.Paragraphs) {
	switch d := w.Other; {
	case d == nil:
	case d.Run != nil:
		text := tried.Elsewhere(d.Lock, d.Run, d.Same, w.Goal)
		if slices.Contains(d.Run.Verdict(), w.Goal) {
			t.Add(draw.Breach, w.Theme.Bad+" ", text)
			break
		}
		t.Add(draw.Plain, "", strings.TrimSpace(text+" "+w.Replay))
	case d.Err == nil:
		t.Add(draw.Dim, "", fmt.Sprintf("Each lock that was tried has %s within the same bounds, too.", w.Goal.Named()))
	case d.Err != nil:
		t.Add(draw.Dim, "", "The same moves can't be replayed under another lock: "+d.Err.Error())
	}
}

// codes says what else some moves led to, in brief: the level is about its goal.
func (w *Win) codes(by string, codes trace.Verdict) []string {
	var named []string
	for _, code := range codes {
		if code != w.Goal {
			named = append(named, fmt.Sprintf("%s (%s)", code.Named(), code))
		}
	}
	if named == nil {
		return nil
	}
	return []string{by + " also led to " + trace.List(named)}
}
