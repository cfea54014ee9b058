package intern

import (
	"math"
	oldrand "math/rand"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
)

// all has a field of each kind that a table may keep, exported or not.
type all struct {
	flag  bool
	Small uint8
	large int64
	Text  string
	parts [3]uint32
	lists [][]string
	inner struct{ at, to int16 }
	left  *int
}

// TestAppend: Read gives back what Append has been given, whatever comes after it, and fails
// if any of it is missing.
func TestAppend(t *testing.T) {
	check := func(flag bool, small uint8, large int64, text string, parts [3]uint32, lists [][]string, at int16) bool {
		v := all{flag: flag, Small: small, large: large, Text: text, parts: parts, lists: lists}
		v.inner.at = at
		v.left = new(int)
		data := Append(nil, &v)
		v.left = nil // pointers are left out
		var got all
		rest, err := Read(append(data, "rest"...), &got)
		if err != nil || string(rest) != "rest" || !reflect.DeepEqual(got, v) {
			t.Logf("%+v, %q, %v; want %+v", got, rest, err, v)
			return false
		}
		for n := 0; n < len(data); n += 1 + len(data)/50 {
			if _, err := Read(data[:n], &got); err == nil {
				t.Logf("%d bytes of %d do", n, len(data))
				return false
			}
		}
		return true
	}
	random := oldrand.New(oldrand.NewSource(1)) //nolint:gosec // it is to be the same each time
	if err := quick.Check(check, &quick.Config{MaxCount: 30, Rand: random}); err != nil {
		t.Error(err)
	}
	for _, lists := range [][][]string{nil, {}, {nil}, {{}}} { // code tells these apart
		v := all{lists: lists, large: math.MinInt64}
		var got all
		if _, err := Read(Append(nil, &v), &got); err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("%#v, %v; want %#v", got.lists, err, lists)
		}
	}
}

// TestKept: a table that is restored gives the same ids, whatever it had made for itself before,
// and refuses entries that belong elsewhere.
func TestKept(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	was := NewMemo[string, []int32]()
	for range 300 {
		was.Put(strings.Repeat("x", random.IntN(200)), []int32{random.Int32()})
	}
	var data []byte
	for id := range was.Len() {
		data = was.Kept(nil).Append(data, id+1)
	}
	restored := func(is *Memo[string, []int32]) (added []uint32, err error) {
		kept, rest := is.Kept(func(id uint32) { added = append(added, id) }), data
		for id := 1; id <= was.Len() && err == nil; id++ {
			rest, err = kept.Restore(rest, id)
		}
		return added, err
	}
	is := NewMemo[string, []int32]()
	first := was.Entries.At(1)
	is.Put(first.Key, first.Value)
	added, err := restored(is)
	if err != nil || is.Len() != was.Len() || len(added) != was.Len()-1 {
		t.Fatal(err, is.Len(), was.Len(), len(added))
	}
	for id := uint32(1); id <= uint32(was.Len()); id++ {
		if got, want := is.Entries.At(id), was.Entries.At(id); !reflect.DeepEqual(got, want) {
			t.Fatalf("number %d is %v, and was %v", id, got, want)
		}
	}
	other := NewMemo[string, []int32]()
	other.Put("another", nil)
	if _, err := restored(other); err == nil {
		t.Error("a table that has another first entry takes them")
	}
	late := NewMemo[string, []int32]()
	late.Put(first.Key, first.Value)
	late.Put(was.Entries.At(3).Key, was.Entries.At(3).Value)
	if _, err := restored(late); err == nil {
		t.Error("a table that has an entry under another id takes it once more")
	}
}
