package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/serve"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/tuitest"
)

// fake is a server on which two clients hold the lock at a time.
type fake struct {
	view     serve.View
	controls []string
}

func (f *fake) View() serve.View    { return f.view }
func (f *fake) Addresses() []string { return []string{"127.0.0.1:7379"} }

func (f *fake) Do(control string) error {
	f.controls = append(f.controls, control)
	if control == "wrong" {
		return fmt.Errorf("unknown control %q", control)
	}
	if control == "many" {
		return fmt.Errorf("it is one of %s", strings.Join(manyControls, ", "))
	}
	return nil
}

func newFake() *fake {
	const ms = time.Millisecond
	record := func(value string, until time.Duration) *trace.Record {
		return &trace.Record{Value: value, Expires: until}
	}
	t := &trace.Trace{Clients: []string{"A", "B"}, Nodes: []string{"n1"}, Masters: 1, Need: 1, Key: "lock"}
	add := func(at time.Duration, e trace.Event) {
		e.Seq, e.At = len(t.Events)+1, at
		t.Events = append(t.Events, e)
	}
	take := func(at time.Duration, client int, value string) {
		args := []string{"SET", "lock", value, "NX", "PX", "5000"}
		add(at, trace.Event{Kind: trace.KindAcquire, Client: client, Node: trace.None})
		add(at, trace.Event{Kind: trace.KindSend, Client: client, Args: args, Acq: 1})
		add(at, trace.Event{Kind: trace.KindExecute, Client: client, Args: args, Acq: 1, Reply: "OK", Changes: []trace.Change{{Key: "lock", After: record(value, at+5001*ms), Stored: true}}})
		add(at, trace.Event{Kind: trace.KindReceive, Client: client, Reply: "OK"})
		add(at, trace.Event{Kind: trace.KindGranted, Client: client, Node: trace.None, Token: value, By: at + 5001*ms})
	}
	take(0, 0, "A1")
	add(2000*ms, trace.Event{Kind: trace.KindEvict, Client: trace.None, Changes: []trace.Change{{Key: "lock", Before: record("A1", 5001*ms)}}})
	take(3000*ms, 1, "B1")
	t.Violations = []trace.Violation{{Code: trace.DG, At: 3000 * ms, Events: []int{5, 11}, Text: "A and B hold the lock at a time"}}
	waiting := []serve.Waiting{{ID: 12, Client: "A", Node: "n1", Command: "DEL lock", Why: "held"}, {ID: 13, Client: "B", Node: "n1", Command: "GET lock", Why: "held"}}
	return &fake{view: serve.View{Trace: t, Now: 3500 * ms, Goes: true, Shut: true, Waiting: waiting, Connections: 2}}
}

func open(f *fake) *Screen {
	l := New(f, tuitest.PlainTheme(false))
	l.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	return l
}

func press(l *Screen, keys ...string) {
	for _, k := range keys {
		l.Update(tuitest.KeyMsg(k))
	}
}

func TestScreen(t *testing.T) {
	l := open(newFake())
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}, {80, 25}, {81, 33}} {
		l.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		frame := l.View()
		lines := strings.Split(frame, "\n")
		if len(lines) != size[1] {
			t.Errorf("%v: %d rows", size, len(lines))
		}
		for i, line := range lines {
			if w := draw.Width(line); w > size[0] {
				t.Errorf("%v: row %d has %d columns", size, i, w)
			}
		}
		for _, want := range []string{"127.0.0.1:7379", "3.500000", "time runs", "gate closed", "2 connections", "DG", "lock:  ", "A and B", "on their way", "#12   A -> n1  DEL lock  held",
			"#11", "A and B hold the lock at a time", "q quit"} {
			if !strings.Contains(frame, want) {
				t.Errorf("%v: no %q in\n%s", size, want, frame)
			}
		}
	}
	l.Update(tea.WindowSizeMsg{Width: 40, Height: 10})
	if frame := l.View(); !strings.Contains(frame, "lockstep needs") {
		t.Errorf("in a small window:\n%s", frame)
	}
}

func TestKeys(t *testing.T) {
	f := newFake()
	l := open(f)
	press(l, "r", "down", "d", "l", "w", "t", "g", "space", "+", ":")
	press(l, strings.Split("cut", "")...)
	press(l, "space", "A", "enter", ":", "x", "esc", "d")
	want := []string{"release 12", "drop 13", "lose-reply 13", "delay 13 5s", "late 13 5s", "open", "stop", "advance 1s", "cut A", "drop 13"}
	if !slices.Equal(f.controls, want) {
		t.Errorf("got  %q\nwant %q", f.controls, want)
	}
	press(l, ":wrong", "enter") // keys that arrive together all count
	if frame := l.View(); !strings.Contains(frame, `unknown control "wrong"`) {
		t.Errorf("the error isn't shown:\n%s", frame)
	}
	press(l, ":many", "enter")
	if frame := strings.Join(strings.Fields(l.View()), " "); !strings.Contains(frame, strings.Join(manyControls, ", ")) || !strings.Contains(frame, ":all q quit") {
		t.Errorf("a long error is cut:\n%s", l.View())
	}
	f.view.Waiting = nil
	l.Update(tickMsg{})
	n := len(f.controls)
	press(l, "d")
	if frame := l.View(); len(f.controls) != n || !strings.Contains(frame, "no request is on its way: g holds those that come") {
		t.Errorf("a key without a request:\n%s", frame)
	}
}

// A long record is shown by its end.
func TestLongRecord(t *testing.T) {
	f := newFake()
	for len(f.view.Trace.Events) < 3*mostEvents {
		e := trace.Event{Kind: trace.KindSend, Client: 0, Args: []string{"GET", "lock"}, Seq: len(f.view.Trace.Events) + 1, At: 4 * time.Second}
		f.view.Trace.Events = append(f.view.Trace.Events, e)
	}
	l := open(f)
	if l.run.Last() != mostEvents || !strings.Contains(l.View(), fmt.Sprint("#", 3*mostEvents)) {
		t.Errorf("%d events in\n%s", l.run.Last(), l.View())
	}
}

// manyControls are more than a row of 80 columns takes.
var manyControls = strings.Fields(strings.Repeat("hold open release drop lose-reply delay late ", 3))
