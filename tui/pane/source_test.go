package pane

import (
	"go/scanner"
	"go/token"
	"slices"
	"strings"
	"testing"

	"lockstep/strategies"
)

func TestJoinedCode(t *testing.T) {
	code := strings.Split("func f() {\n  x := g()\n  if x {\n    return 1 // why\n  }\n  for {\n    h()\n    k()\n  }\n}\nif k() {\n  l()\n}", "\n")
	all := strings.Split("func f() {\n  x := g()\n  if x { return 1 } // why\n  for {\n    h()\n    k()\n  }\n}\nif k() { l() }", "\n")
	for line, want := range []int{0, 1, 2, 3, 0, 3, 4, 5, 6, 7, 8, 9, 0, 9} {
		short, at := Joined(code, line)
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
		code := Code(file)
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
