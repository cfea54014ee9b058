package timeline

// CauseEvents returns the Seqs of the events that Cause names, and of the record's loss among them, or 0.
func (t *Timeline) CauseEvents(b Breach) (seqs []int, lost int) {
	for _, x := range t.clauses(b) {
		if seqs = append(seqs, x.seq); x.kind == loses {
			lost = x.seq
		}
	}
	return seqs, lost
}

// Gone returns why there is no record before an event.
func (t *Timeline) Gone(pos int) string {
	return (&quiz{Timeline: t, s: t.NewState()}).gone(pos)
}
