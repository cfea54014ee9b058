package player_test

import (
	"testing"

	"lockstep/tui/draw"
	"lockstep/tui/told"
)

// TestNoEvidenceGoesThatCanBeScrolledTo: a room would take a number that the ruler has and the words have not for a fault.
func TestNoEvidenceGoesThatCanBeScrolledTo(t *testing.T) {
	s := told.Story{Evidence: told.Part{From: 1, To: 3}, Current: told.Part{From: 2, To: 3}, Scrolls: true, Width: 40}
	for _, text := range []string{"the cause", "[1] n1 goes down", "[2] B has the lock", "the words"} {
		s.Lines = append(s.Lines, draw.Line{draw.Text(text, draw.Plain)})
	}
	if lines, _ := s.Squeezed(3); len(lines) != len(s.Lines) {
		t.Errorf("%v", lines)
	}
}

// TestCurrentGoesWhole: an event of the evidence that the status row has, too, yields with all of its lines.
func TestCurrentGoesWhole(t *testing.T) {
	s := told.Story{Evidence: told.Part{From: 1, To: 4}, Current: told.Part{From: 2, To: 4}, Width: 40, More: func(int, bool) string { return "more" }}
	for _, text := range []string{"the cause", "[1] n1 goes down", "[2] B has the lock, lease until 9.9s", "    (10s less 102ms)", "the words"} {
		s.Lines = append(s.Lines, draw.Line{draw.Text(text, draw.Plain)})
	}
	for rows, want := range map[int]int{5: 5, 4: 3, 3: 3} {
		lines, _ := s.Squeezed(rows)
		if len(lines) != want || lines[len(lines)-1][0].Text != "the words" {
			t.Errorf("in %d rows: %v", rows, lines)
		}
	}
}
