package cli

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"lockstep/sim/explore/report"
	"lockstep/strategies"
)

// The text can be read back by its columns: each begins where its head does, and
// none runs into the next.
func TestTextMatrixReadsBack(t *testing.T) {
	cells := matrix()
	var b strings.Builder
	if err := textMatrix(&b, cells); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if len(line) > report.Page || strings.TrimRight(line, " ") != line {
			t.Errorf("a line of %d columns: %q", len(line), line)
		}
	}
	got := map[string]string{}
	bands, _, _ := strings.Cut(b.String(), "\n\nIn each cell ")
	for _, band := range strings.Split(bands, "\n\n") {
		readBand(t, got, strings.Split(band, "\n"))
	}
	for i := range cells {
		c := &cells[i]
		key := c.Strategy.Name + " under " + c.Scenario.Name
		if got[key] != verdictText(c) {
			t.Errorf("%s is %q, want %q", key, got[key], verdictText(c))
		}
		delete(got, key)
	}
	if len(got) > 0 {
		t.Errorf("there is more than the matrix: %v", got)
	}
}

// readBand reads the verdicts below the heads of one band.
func readBand(t *testing.T, into map[string]string, lines []string) {
	t.Helper()
	numbers, names, rows := lines[0], lines[1], lines[2:]
	heads := regexp.MustCompile(`\S+`).FindAllStringIndex(numbers, -1)
	cell := func(line string, i int) string {
		end := len(line)
		if i+1 < len(heads) {
			end = min(end, heads[i+1][0])
		}
		text := line[min(heads[i][0], end):end]
		if end < len(line) && !strings.HasSuffix(text, "  ") {
			t.Errorf("%q runs into the next column in\n%s", text, line)
		}
		return strings.TrimSpace(text)
	}
	for i := range heads {
		name := cell(names, i)
		if number := cell(numbers, i); strategies.All()[len(into)/len(rows)].Name != name || number != fmt.Sprint(len(into)/len(rows)+1) {
			t.Errorf("column %s is headed %q", number, name)
		}
		for _, row := range rows {
			scenario, _, _ := strings.Cut(row, " ")
			into[name+" under "+scenario] = cell(row, i)
		}
	}
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "3": {3}, "1-2": {1, 2}, "1-3,5,7-8": {1, 2, 3, 5, 7, 8}} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v is %q, want %q", numbers, got, want)
		}
	}
}
