package scenarios

import (
	"strings"
	"testing"
)

// A script that expects a lost update and holds a client before its read is told so, with the line and the place that its
// author may have meant; and nothing of the kind where the verdict is as expected, or shows more than was expected.
func TestMissingCodeNamesTheHold(t *testing.T) {
	const text = `title: x
setup: {clients: {A: , B: {work: 5s}}}
script:
  - {run: A, to: PLACE}
  - wait: 11s
  - run: B
    to: HERE
  - run: WHO
expect:
  - {verdict: [WANT], under: naive-del}
`
	const missed = "not as expected: the file expects SW OV FR and no other code (test.yaml:10), and the verdict is "
	const instead = `; "to: read" is the place after the read`
	for _, tt := range []struct{ first, place, who, want, told string }{
		{"read", "work", "A", "SW, OV, FR", missed + `OV FR; B was held at "work" (test.yaml:7), before its read, until after A's write (#20)` + instead},
		{"read", "granted", "A", "SW, OV, FR", missed + `FR; B was held at "granted" (test.yaml:7), before its read, until after A's write (#19)` + instead},
		{"read", "read", "A", "SW, OV, FR", "as expected: SW OV FR"},
		{"read", "work", "A", "OV, FR", "as expected: OV FR"},
		{"read", "work", "A", "OV", "not as expected: the file expects OV and no other code (test.yaml:10), and the verdict is OV FR"},
		{"before release last", "release", "B", "SW, OV, FR", missed + `ok; no step lets A go on from "before release last" (test.yaml:4): it went on when the script was over`},
		{"before release last", "work", "A", "SW, OV, FR", missed + `FR; no step lets B go on from "work" (test.yaml:7), before its read: it read when the script was over` + instead},
	} {
		yaml := strings.NewReplacer("PLACE", tt.first, "HERE", tt.place, "WHO", tt.who, "WANT", tt.want).Replace(text)
		got, _ := mustRun(t, script(t, yaml), "naive-del").Expectation()
		if got, _, _ = strings.Cut(got, "; in this run"); got != tt.told {
			t.Errorf("A to %s, B to %s, %s goes on:\ngot  %s\nwant %s", tt.first, tt.place, tt.who, got, tt.told)
		}
	}
}

// The place "read" is that after the first access of the work.
func TestReadIsAfterTheFirstAccess(t *testing.T) {
	const text = "title: x\nscript:\n  - {run: A, to: PLACE}\n  - wait: 11s\n  - run: B\n"
	for _, lock := range []string{"naive-del", "redlock"} {
		got := mustRun(t, script(t, strings.Replace(text, "PLACE", "read", 1)), lock)
		want := mustRun(t, script(t, strings.Replace(text, "PLACE", "after work first", 1)), lock)
		if got.Hash != want.Hash {
			t.Errorf("%s: read is not after work first:\n%s", lock, plain(t, got))
		}
	}
}

// What an author may have meant by a position that there isn't is one that there is.
func TestMeantPositionsExist(t *testing.T) {
	for wrong, right := range meant {
		if _, err := parsePosition(wrong); err == nil {
			t.Errorf("%q is a position", wrong)
		}
		if _, err := parsePosition(right); err != nil {
			t.Errorf("of %q it is said %q: %v", wrong, right, err)
		}
	}
}
