package intern

// Summarised interns values, and keeps a summary of each.
type Summarised[K comparable, S any] struct {
	Table[K]
	summaries Chunks[S]
}

// NewSummarised returns a table that computes summaries by a function.
func NewSummarised[K comparable, S any](make func(*K) S) *Summarised[K, S] {
	t := new(Summarised[K, S])
	var none S
	t.summaries.Add(none) // id 0 means none
	t.Begin()
	t.Added = func(k *K) { t.summaries.Add(make(k)) }
	return t
}

// Summary returns the summary of the value with an id.
func (t *Summarised[K, S]) Summary(id uint32) *S { return t.summaries.At(id) }
