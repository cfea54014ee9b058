package flight

import (
	"reflect"
	"testing"

	"lockstep/sim/explore/intern"
)

// TestFree: requests on one connection arrive in the order in which they were sent.
func TestFree(t *testing.T) {
	first, behind := Request{Command: 1}, Request{Command: 2, Queued: true}
	second, last := Request{Command: 3}, Request{Command: 4, Queued: true}
	other := Request{Command: 5, Conn: 1}
	held := func() []Request { return []Request{first, behind, other, second, last} }

	due, kept := Free(held(), 0)
	if want := []Request{first, behind}; !reflect.DeepEqual(due, want) {
		t.Errorf("%v are due, expected %v: the third is held up by itself", due, want)
	}
	if want := []Request{other, second, last}; !reflect.DeepEqual(kept, want) {
		t.Errorf("%v are kept, expected %v", kept, want)
	}

	due, kept = Free(held(), 3)
	if due != nil || !kept[3].Queued || Holds(kept) != 2 {
		t.Errorf("%v are due, and %v kept: the first is held up before", due, kept)
	}
}

// TestClose: a connection that is closed with requests on it gets the last number that is left.
func TestClose(t *testing.T) {
	held := []Request{{Conn: 15, Orphan: true}, {Conn: 2}, {Conn: 2, Queued: true}, {Client: 1, Conn: 2}}
	moved, open := Close(held, 0, 0xffff, 1<<2, false)
	if want := []Moved{{2, 14}}; !reflect.DeepEqual(moved, want) {
		t.Errorf("moved %v, expected %v", moved, want)
	}
	if want := uint16(1<<2 | 1<<14 | 1<<15); open != want {
		t.Errorf("open are %b, expected %b", open, want)
	}
	orphan := Request{Conn: 14, Orphan: true, Stale: true}
	queued := orphan
	queued.Queued = true
	if want := []Request{{Conn: 15, Orphan: true}, orphan, queued, {Client: 1, Conn: 2}}; !reflect.DeepEqual(held, want) {
		t.Errorf("held up are %v, expected %v", held, want)
	}
	if again, _ := Close(held, 0, 0xffff, 0, false); again != nil {
		t.Errorf("moved again: %v", again)
	}
}

// TestExecuted: of a client's requests the last can arrive again, each at its place from the end.
func TestExecuted(t *testing.T) {
	var sent []Request
	for n, idle := range []bool{true, false, true, false} {
		sent = Executed(sent, Request{Command: uint32(n + 1), Conn: 3, Ago: 7}, idle, 3)
	}
	if got := Again(sent, 1); got == nil || *got != (Request{Command: 4, Orphan: true}) {
		t.Errorf("the last is %v", got)
	}
	if got := Again(sent, 2); got != nil {
		t.Errorf("one that can't do anything again is %v", got)
	}
	if got := Again(sent, 3); got == nil || got.Command != 2 {
		t.Errorf("the one before is %v", got)
	}
	if got := Again(sent, 4); got != nil {
		t.Errorf("there were no more than three: %v", got)
	}
	if idle := Executed(nil, Request{}, true, 1); len(idle) != 0 {
		t.Errorf("nothing is left of one that can't do anything again: %v", idle)
	}
}

// TestChoices: of some requests all sets are chosen that are not too great, the empty one last.
func TestChoices(t *testing.T) {
	var got [][]Request
	list := []Request{{Command: 1}, {Command: 2}}
	for chosen := range Choices(list, 1) {
		got = append(got, chosen)
	}
	if want := [][]Request{list[1:], list[:1], nil}; !reflect.DeepEqual(got, want) {
		t.Errorf("chosen are %v, expected %v", got, want)
	}
	for chosen := range Choices(nil, 0) {
		if got = nil; len(chosen) > 0 {
			t.Errorf("of none %v are chosen", chosen)
		}
	}
	if got != nil {
		t.Error("of none the empty set isn't chosen")
	}
}

// TestReplace: requests of a process that has crashed are told from those of the one in its place, in a list of its own; a list
// without any stays the same one.
func TestReplace(t *testing.T) {
	lists := intern.NewLists[Request]()
	id, _ := lists.Put([]Request{{Client: 1}, {Client: 2, Sender: Unheard}})
	replaced := Replace(lists, id, func(r *Request) bool { return r.Client == 2 })
	if got, want := lists.Get(replaced), []Request{{Client: 1}, {Client: 2, Sender: Replaced}}; !reflect.DeepEqual(got, want) || lists.Get(id)[1].Sender != Unheard {
		t.Errorf("%v became %v", lists.Get(id), got)
	}
	if same := Replace(lists, id, func(r *Request) bool { return r.Client == 3 }); same != id {
		t.Errorf("%v became %v", lists.Get(id), lists.Get(same))
	}
	if again := Copy(lists.Get(id)[1]); again.Sender != Same || !again.Orphan {
		t.Errorf("a copy of %v is %v", lists.Get(id)[1], again)
	}
}

// TestWithoutIn: the requests that are gone are taken out of their list, and of the rest it is told whether they are gone.
func TestWithoutIn(t *testing.T) {
	lists := intern.NewLists[Request]()
	id, _ := lists.Put([]Request{{Client: 1}, {Client: 2}})
	for _, c := range []struct {
		gone []bool
		want []Request
	}{{[]bool{false, false, true}, []Request{{Client: 1}, {Client: 2}}}, {[]bool{true, false, true}, []Request{{Client: 2}}}, {[]bool{true, true, true}, nil}} {
		kept, rest := WithoutIn(lists, id, c.gone)
		if got := lists.Get(kept); len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) || len(rest) != 1 || !rest[0] {
			t.Errorf("without %v there are %v, and the rest is %v", c.gone, got, rest)
		}
	}
}
