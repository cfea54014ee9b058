package trace

import (
	"fmt"
	"reflect"
	"testing"
	"time"
)

// notHashed are the fields of an event that its encoding leaves out, each with the
// reason. A field that is neither here nor encoded fails TestHashCoversEveryFact.
var notHashed = map[string]string{
	"Event.Note":   "prose for people, or the text of somebody else's error",
	"Event.Source": "a line of source code, which an edited comment moves",
}

// hashed is an event with something in every field, so that each can be changed.
func hashed() Event {
	return Event{
		Seq: 7, At: 3 * time.Millisecond, Kind: KindExecute, Client: 1, Thread: 1, Node: 2,
		Phase: PhaseAcquire, Cycle: 1, Command: 2, Acq: 3, Ref: 6,
		Args: []string{"set", "lock", "a"}, Reply: "OK",
		Changes: []Change{{Key: "lock", Before: &Record{"b", Never}, After: &Record{"a", time.Second}}},
		By:      time.Second, Token: "a", Fence: 4, Value: 5, Version: 6, Note: "why", Source: Source{"setnx.go", 12},
	}
}

func hashOf(e Event) string {
	t := Trace{Clients: []string{"A", "B"}, Nodes: []string{"n1", "n2", "n3"}, Events: []Event{e}}
	t.Seal()
	return t.Hash
}

// Events that differ in one fact hash differently; in what is merely told of them,
// alike. The fields are found by reflection: a new one has to be encoded, or to be
// listed above with a reason.
func TestHashCoversEveryFact(t *testing.T) {
	want := hashOf(hashed())
	known := map[string]bool{}
	each := func(name string, change func(*Event)) {
		t.Helper()
		e := hashed()
		change(&e)
		reason, out := notHashed[name]
		known[name] = true
		switch changed := hashOf(e) != want; {
		case out && changed:
			t.Errorf("%s is hashed, and listed as left out: %s", name, reason)
		case !out && !changed:
			t.Errorf("%s is not hashed: encode it, or list it in notHashed with the reason", name)
		}
	}
	eachField("Event", func(e *Event) reflect.Value { return reflect.ValueOf(e).Elem() }, each)
	eachField("Change", func(e *Event) reflect.Value { return reflect.ValueOf(&e.Changes[0]).Elem() }, each)
	eachField("Record", func(e *Event) reflect.Value { return reflect.ValueOf(e.Changes[0].After).Elem() }, each)
	eachField("Record", func(e *Event) reflect.Value { return reflect.ValueOf(e.Changes[0].Before).Elem() }, each)
	for name := range notHashed {
		if !known[name] {
			t.Errorf("notHashed lists %s, and there is no such field", name)
		}
	}
}

// eachField calls try for every field of the struct that at finds in an event, with
// a function that changes this field alone. Of a list it changes the length;
// elements are structs whose fields have their own turn, or texts.
func eachField(name string, at func(*Event) reflect.Value, try func(string, func(*Event))) {
	e := hashed()
	for i := range at(&e).NumField() {
		field := name + "." + at(&e).Type().Field(i).Name
		try(field, func(e *Event) { alter(field, at(e).Field(i)) })
		if f := at(&e).Field(i); f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.String {
			try(field, func(e *Event) { alter(field, at(e).Field(i).Index(1)) })
		}
	}
}

// alter gives a field another value.
func alter(name string, f reflect.Value) {
	switch f.Kind() {
	case reflect.Int, reflect.Int64:
		f.SetInt(f.Int() + 1)
	case reflect.Uint8: // a kind or a phase: the one before, since each has a name
		f.SetUint(f.Uint() - 1)
	case reflect.Bool:
		f.SetBool(!f.Bool())
	case reflect.String:
		f.SetString(f.String() + "x")
	case reflect.Slice:
		f.Set(f.Slice(0, f.Len()-1))
	case reflect.Pointer:
		f.SetZero()
	case reflect.Struct:
		for i := range f.NumField() {
			alter(name, f.Field(i))
		}
	default:
		panic(fmt.Sprintf("%s is a %s: say here how to change one", name, f.Kind()))
	}
}

// What stands in one field can't be taken for a part of the next.
func TestHashIsUnambiguous(t *testing.T) {
	seen := map[string]string{}
	try := func(name string, change func(*Event)) {
		e := hashed()
		change(&e)
		h := hashOf(e)
		if other, same := seen[h]; same {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[h] = name
	}
	try("three words", func(e *Event) { e.Args = []string{"get", "a", "b"} })
	try("two words, joined behind", func(e *Event) { e.Args = []string{"get", "ab"} })
	try("two words, joined before", func(e *Event) { e.Args = []string{"geta", "b"} })
	try("an empty word", func(e *Event) { e.Args = []string{"get", "", "ab"} })
	try("a word moved into the reply", func(e *Event) { e.Args, e.Reply = []string{"get"}, "abOK" })
	try("no command", func(e *Event) { e.Args, e.Reply = nil, "" })
	try("an absent key", func(e *Event) { e.Changes[0].Before = nil })
	try("a key with nothing in it", func(e *Event) { e.Changes[0].Before = &Record{} })
	try("the other way round", func(e *Event) { e.Changes[0].Before, e.Changes[0].After = nil, e.Changes[0].Before })
	try("a client in the place of its thread", func(e *Event) { e.Client, e.Thread = e.Client-1, e.Thread+1 })
	try("nobody", func(e *Event) { e.Client = None })
}

// The order of events counts, and so does where one ends and the next begins.
func TestHashOfSeveralEvents(t *testing.T) {
	a, b := hashed(), hashed()
	b.Seq++
	seen := map[string]bool{}
	for _, events := range [][]Event{nil, {a}, {b}, {a, b}, {b, a}, {a, b, a}} {
		trace := Trace{Clients: []string{"A", "B"}, Nodes: []string{"n1", "n2", "n3"}, Events: events}
		trace.Seal()
		if seen[trace.Hash] {
			t.Errorf("%d events hash as others do: %s", len(events), trace.Hash)
		}
		seen[trace.Hash] = true
	}
}

// Words for a run are no part of it: names, notes, and the monitors' findings.
func TestHashOfOtherWords(t *testing.T) {
	trace := Trace{Clients: []string{"A", "B"}, Nodes: []string{"n1", "n2", "n3"}, Events: []Event{hashed()}}
	trace.Seal()
	want := trace.Hash
	trace.Clients, trace.Nodes = []string{"Alice", "Bob"}, []string{"east", "west", "north"}
	trace.Strategy, trace.Scenario, trace.Title, trace.Schedule = "a", "b", "c", "d"
	trace.Notes = []Note{{Seq: 1, Text: "look"}}
	trace.Violations = []Violation{{Code: SW, Events: []int{7}, Text: "harm"}}
	if trace.Seal(); trace.Hash != want {
		t.Errorf("in other words it hashes to %s, and was %s", trace.Hash, want)
	}
}
