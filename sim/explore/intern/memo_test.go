package intern

import "testing"

// TestChunks: elements have the indices that Add has returned, and stay where they are.
func TestChunks(t *testing.T) {
	var list Chunks[uint32]
	var at []*uint32
	for i := range uint32(5000) {
		if n := list.Add(2 * i); n != i {
			t.Fatalf("element %d has the index %d", i, n)
		}
		at = append(at, list.At(i))
	}
	for i, p := range at {
		if *p != 2*uint32(i) || p != list.At(uint32(i)) {
			t.Fatalf("element %d is %d at %p, and was at %p", i, *list.At(uint32(i)), list.At(uint32(i)), p)
		}
	}
	if last := uint32(1)<<26 - 1; pieceOf(last) != len(list.pieces)-1 || before(len(list.pieces)-1) != 1<<25 {
		t.Errorf("element %d would be in piece %d of %d, which begins with %d", last, pieceOf(last), len(list.pieces), before(len(list.pieces)-1))
	}
}
