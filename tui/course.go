package tui

func newCourse(s *stage) room                           { return newHome(s) }
func (h *home) comparePicker(row, column, pos int) room { return nil }
