package trace

import "testing"

// TestKinds: every kind of event has a word of its own, and a text.
func TestKinds(t *testing.T) {
	if len(kinds) != Kinds {
		t.Errorf("the table has %d kinds of %d", len(kinds), Kinds)
	}
	seen := map[string]Kind{}
	for k := range Kind(Kinds) {
		row := kinds[k]
		if row.name == "" || row.text == nil {
			t.Errorf("kind %d, after %q, has no row in the table", k, kinds[max(k, 1)-1].name)
		}
		if other, twice := seen[row.name]; twice {
			t.Errorf("kinds %d and %d are both called %q", other, k, row.name)
		}
		seen[row.name] = k
	}
}
