package code

import (
	"fmt"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/timeline"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/tuitest"
)

func TestJoinedCode(t *testing.T) {
	code := strings.Split("func f() {\n  x := g()\n  if x {\n    return 1 // why\n  }\n  for {\n    h()\n    k()\n  }\n}\nif k() {\n  l()\n}", "\n")
	all := strings.Split("func f() {\n  x := g()\n  if x { return 1 } // why\n  for {\n    h()\n    k()\n  }\n}\nif k() { l() }", "\n")
	for line, want := range []int{0, 1, 2, 3, 0, 3, 4, 5, 6, 7, 8, 9, 0, 9} {
		short, places := Joined(code, line)
		at := places[0]
		if line == 4 || line == 12 { // it stands in a block, which stays
			if len(short) != len(all)+2 || short[at-1] != code[line-1] {
				t.Errorf("line %d: %d of %q", line, at, short)
			}
		} else if !slices.Equal(short, all) || at != want {
			t.Errorf("line %d: %d of %q", line, at, short)
		}
	}
}

// tokens are what a compiler reads of code: no comments, and no ends of lines.
func tokens(code []string) (all []string) {
	text := []byte(strings.Join(code, "\n") + "\n")
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile("", files.Base(), len(text)), text, nil, 0)
	for {
		switch _, tok, lit := s.Scan(); {
		case tok == token.EOF:
			return all
		case tok != token.SEMICOLON || lit != "\n":
			all = append(all, tok.String()+lit)
		}
	}
}

// Joined code is the same code: a comment swallows nothing of it.
func TestJoinedCodeIsTheSame(t *testing.T) {
	joined := 0
	for _, file := range strategies.Files() {
		code := Of(file)
		for line := range code {
			short, _ := Joined(code, line)
			joined += len(code) - len(short)
			if got, want := tokens(short), tokens(code); !slices.Equal(got, want) {
				t.Fatalf("%s, at line %d: %q", file, line, short)
			}
		}
	}
	if joined == 0 {
		t.Error("nothing was joined")
	}
}

// bare is a text without its blanks, and without the marks of comments: each row of a folded one has its own.
func bare(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), ""), "//", "")
}

// What continues a comment has its mark, and the indent of the comment if that has a line of its own.
func TestFoldedCommentsStayComments(t *testing.T) {
	for line, want := range map[string][]string{
		"  // one two three four": {"  // one two", "  // three", "  // four"},
		"  g(x) // one two tree":  {"  g(x) // one", "      // two", "      // tree"},
		"  call(a, b) // why":     {"  call(a, b)", "      // why"},
		"  // 浅谈 Redis 分布式锁":      {"  // 浅谈", "  // Redis", "  // 分布式锁"},
		"  // 分布式锁实现":             {"  // 分布式锁", "  // 实现"},
	} {
		if got := folded(line, 14); !slices.Equal(got, want) {
			t.Errorf("%q is folded to %q, want %q", line, got, want)
		}
	}
}

// here is where one client stands.
func here(text []string, line int) []Place {
	return []Place{{File: File{Lines: text}, Line: line, Stands: true, Name: "A"}}
}

// The line on which a client stands is whole in a window of any size that has room for it, wherever in a file it is;
// a mark is beside it, and nothing is beside the line of a client that stands nowhere.
func TestTheLineIsWhole(t *testing.T) {
	th, folds := tuitest.PlainTheme(false), 0
	for _, lock := range strategies.All() {
		text := Of(lock.File)
		for _, size := range [][2]int{{37, 5}, {37, 6}, {60, 12}, {99, 26}} {
			for line := 1; line <= len(text); line++ {
				if !testenv.Some(line, 4) {
					continue
				}
				c := draw.NewCanvas(size[0], size[1], th.More)
				Draw(c, draw.Rect(0, 0, size[0], size[1]), here(text, line), th)
				short, places := Joined(text, line)
				at := places[0]
				if at == 0 {
					continue
				}
				if draw.Width(short[at-1]) > size[0]-2 {
					folds++
				}
				if got, want := bare(c.Render(th)), "A"+th.Pointer+bare(short[at-1]); !strings.Contains(got, want) {
					t.Fatalf("%s:%d in %v: there is no %q in\n%s", lock.File, line, size, want, c.Render(th))
				}
			}
		}
	}
	if folds == 0 {
		t.Error("no line was folded")
	}
}

// A command further down is whole before a client stands on it, in a window half as wide as the least screen; and
// where there are rows beyond the function, so are its other lines.
func TestCommandsAreWhole(t *testing.T) {
	th := tuitest.PlainTheme(false)
	text := Of("setnx_expire.go")
	shown := func(w, h int, at []Place) string {
		c := draw.NewCanvas(w, h, th.More)
		Draw(c, draw.Rect(0, 0, w, h), at, th)
		return c.Render(th)
	}
	at := here(text, LineOf(text, "setNX("))
	if got := shown(39, 7, at); !strings.Contains(bare(got), bare("if err := l.rdb.Expire(ctx, l.key, l.opt.TTL).Err();")) {
		t.Errorf("EXPIRE is cut:\n%s", got)
	}
	if got := shown(39, 16, at); strings.Contains(strings.Join(strings.Split(got, "\n")[1:14], ""), th.More) || !strings.Contains(bare(got), bare("return &Lease{Token: token}, nil }")) {
		t.Errorf("there is room, and a line is cut:\n%s", got)
	}
	for h := 3; h < 12; h++ {
		if first := strings.Split(shown(38, h, []Place{{File: File{Lines: text}, Line: LineOf(text, ") Acquire(")}}), "\n")[0]; !strings.HasPrefix(first, "  func ") {
			t.Errorf("where nobody stands, %d rows begin with %q", h, first)
		}
	}
}

// Where the rows are too few for a function, its comments and its last brace yield to the ends of its lines.
func TestCodeComesBeforeComments(t *testing.T) {
	th := tuitest.PlainTheme(false)
	for file, at := range map[string]string{"naive_del.go": "setPXNX(", "get_then_del.go": "setPXNX("} {
		text := Of(file)
		c := draw.NewCanvas(39, 7, th.More)
		Draw(c, draw.Rect(0, 0, 39, 7), here(text, LineOf(text, at)), th)
		got := c.Render(th)
		if _, body, _ := strings.Cut(got, "\n"); strings.Contains(body, th.More) || strings.Contains(got, "//") {
			t.Errorf("%s: cut, or commented:\n%s", file, got)
		}
	}
	text := Of("get_then_del.go")
	c := draw.NewCanvas(99, 40, th.More)
	if Draw(c, draw.Rect(0, 0, 99, 40), here(text, LineOf(text, "rdb.Del(")), th); !strings.Contains(c.Render(th), "// ") {
		t.Errorf("there is room for comments:\n%s", c.Render(th))
	}
}

// The head of a function is whole where rows are left over by its lines, and so is that of one that follows.
func TestHeadsAreWholeWhereThereIsRoom(t *testing.T) {
	th := tuitest.PlainTheme(false)
	text := Of("setnx_expire.go")
	c := draw.NewCanvas(60, 26, th.More)
	Draw(c, draw.Rect(0, 0, 60, 26), []Place{{File: File{Lines: text}, Line: LineOf(text, ") Acquire(")}}, th)
	for _, want := range []string{") Acquire(ctx context.Context) (*Lease, error) {", ") try(ctx context.Context) (*Lease, error) {"} {
		if got := c.Render(th); !strings.Contains(bare(got), bare(want)) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
}

// Where a violation is complete outside the lock's code, the line is marked whose command it came of, and that is said; where
// no command did it, nothing is.
func TestLineThatAViolationCameOf(t *testing.T) {
	marked := 0
	for _, c := range []struct{ scenario, lock string }{{"late-release", "naive-del"}, {"pause-past-ttl", "setpx-lua"}} {
		sc, err := scenarios.Find(c.scenario)
		if err != nil {
			t.Fatal(err)
		}
		st, err := scenarios.FindStrategy(c.lock)
		if err != nil {
			t.Fatal(err)
		}
		run, err := sc.Run(st, 1)
		if err != nil {
			t.Fatal(err)
		}
		r, text := timeline.New(run), Of(st.File)
		for _, b := range r.Breaches {
			if e := r.Event(b.Pos); e.Source.File != "" {
				continue
			}
			v := StandingAt(r, b.Pos, r.StateAt(b.Pos), st.File, text, 100, tuitest.PlainTheme(false))
			said := strings.Contains(v.Note, "sent at the line that is marked")
			if said != (c.lock == "naive-del") {
				t.Errorf("%s under %s, %s: %q", c.lock, c.scenario, b.Code, v.Note)
			}
			if said {
				marked++
				if line := text[v.Lines[v.Focus]-1]; !strings.Contains(line, ".Del(ctx, l.key)") {
					t.Errorf("%s: the line in focus is %q", b.Code, line)
				}
			}
		}
	}
	if marked < 2 {
		t.Errorf("%d lines were marked", marked)
	}
}

// Sentences of a comment that are wider than a pane are set anew as a whole, and no row of them has a word or two alone; lists
// and examples keep their lines, and so does a comment that has room.
func TestCommentsAreSetAnew(t *testing.T) {
	text := []string{"// Value and expiry are set in one command, and", "// the token is unique.", "//", "//  acquire   SET", "//  release   DEL", "func f() {}"}
	for width, want := range map[int]string{
		60: "// Value and expiry are set in one command, and|// the token is unique.|//|//  acquire   SET|//  release   DEL|func f() {}",
		44: "// Value and expiry are set in one command,|// and the token is unique.|//|//  acquire   SET|//  release   DEL|func f() {}",
	} {
		var rows []string
		for i := 0; i < len(text); {
			var line string
			line, i = paragraph(text, i, width)
			rows = append(rows, folded(line, width)...)
		}
		if got := strings.Join(rows, "|"); got != want {
			t.Errorf("%d columns: %s", width, got)
		}
	}
}

// Clients that share a file have it once, in the whole width: each of their names stands at its line, both where that is the same, and
// the line of one that stands outside of the window, or in another file, is below it, whole, in a window of any size.
func TestEachClientHasItsLine(t *testing.T) {
	th, apart, together := tuitest.PlainTheme(false), 0, 0
	text := Of("setnx_expire.go")
	other := File{Name: "redlock.go", Lines: Of("redlock.go")}
	file := File{Name: "setnx_expire.go", Lines: text}
	first, second := LineOf(text, "setNX("), LineOf(text, ".rdb.Del(")
	for _, size := range [][2]int{{78, 7}, {78, 14}, {118, 10}, {198, 30}} {
		for _, b := range []Place{{File: file, Line: first}, {File: file, Line: LineOf(text, ".rdb.Expire(")}, {File: file, Line: second}, {File: other, Line: LineOf(other.Lines, "func (l *Redlock) ")}} {
			for _, swap := range []bool{false, true} {
				a := Place{File: file, Line: first, Stands: true, Name: "A"}
				b.Stands, b.Name = true, "B"
				all := []Place{a, b}
				if swap {
					all = []Place{b, a}
				}
				c := draw.NewCanvas(size[0], size[1], th.More)
				Draw(c, draw.Rect(0, 0, size[0], size[1]), all, th)
				got := c.Render(th)
				if b.Line == a.Line && b.File.Name == a.File.Name {
					together++
					if n := strings.Count(got, "won, err := setNX("); n != 1 || !strings.Contains(got, "AB"+th.Pointer) {
						t.Errorf("%v: %d times, or the names are not at it:\n%s", size, n, got)
					}
					continue
				}
				for _, p := range all {
					if want := p.Name + th.Pointer + bare(p.File.Lines[p.Line-1]); !strings.Contains(bare(got), want) {
						t.Errorf("%v: there is no %q in\n%s", size, want, got)
					}
				}
				if strings.Contains(got, fmt.Sprintf("// line %d", b.Line)) || strings.Contains(got, fmt.Sprintf("// %s:%d", other.Name, b.Line)) {
					apart++
				}
			}
		}
	}
	if apart == 0 || together == 0 {
		t.Errorf("%d lines are outside of the window, and %d are both clients'", apart, together)
	}
}
