package pane

import (
	"slices"
	"strings"
	"testing"
)

func TestJoinedCode(t *testing.T) {
	code := strings.Split("func f() {\n  x := g()\n  if x {\n    return 1 // why\n  }\n  for {\n    h()\n    k()\n  }\n}\nif k() {\n  l()\n}", "\n")
	all := strings.Split("func f() {\n  x := g()\n  if x { return 1 }\n  for {\n    h()\n    k()\n  }\n}\nif k() { l() }", "\n")
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
