package tui

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"lockstep/scenarios"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/progress"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with testdata/name, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./tui -update writes it)", err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s differs (go test ./tui -update writes it anew).\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// plainTheme has no escape sequences, so that a frame is its text.
func plainTheme(ascii bool) *theme { return newTheme(rendererOf(termenv.Ascii), false, ascii) }

func rendererOf(p termenv.Profile) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(p)
	r.SetHasDarkBackground(true)
	return r
}

// script builds a trace event by event: a hand-written run, for tests only.
type script struct {
	trace.Trace
	at time.Duration
}

func (s *script) add(kind trace.Kind, client, node int, change ...func(*trace.Event)) int {
	e := trace.Event{Seq: len(s.Events) + 1, At: s.at, Kind: kind, Client: client, Node: node, Ref: trace.None}
	for _, c := range change {
		c(&e)
	}
	s.Events = append(s.Events, e)
	return e.Seq
}

func (s *script) say(kind trace.NoteKind, text, answer string) {
	s.Notes = append(s.Notes, trace.Note{At: s.at, Seq: len(s.Events) + 1, Kind: kind, Text: text, Answer: answer, Index: len(s.Notes) + 1})
}

func (s *script) broken(code trace.Code, text string, seqs ...int) {
	s.Violations = append(s.Violations, trace.Violation{Code: code, At: s.at, Events: seqs, Text: text})
}

func by(d time.Duration) func(*trace.Event) { return func(e *trace.Event) { e.By = d } }

func value(v, version int64) func(*trace.Event) {
	return func(e *trace.Event) { e.Value, e.Version = v, version }
}

func from(file string, line int) func(*trace.Event) {
	return func(e *trace.Event) { e.Source = trace.Source{File: file, Line: line} }
}

// acquire is a client that asks and gets: four events, two milliseconds.
func (s *script) acquire(client int, token string) (granted int) {
	const file = "strategies/setpx_lua.go"
	args := []string{"set", "lock", token, "px", "3000", "nx"}
	s.add(trace.KindAcquire, client, trace.None)
	s.add(trace.KindSend, client, 0, from(file, 53), func(e *trace.Event) { e.Args, e.Phase = args, trace.PhaseAcquire })
	s.at += time.Millisecond
	s.add(trace.KindExecute, client, 0, from(file, 53), func(e *trace.Event) {
		e.Args, e.Reply, e.Acq = args, "OK", 1
		e.Changes = []trace.Change{{Key: "lock", After: &trace.Record{Value: token, Expires: s.at + 3*time.Second}}}
	})
	s.at += time.Millisecond
	s.add(trace.KindReceive, client, 0, func(e *trace.Event) { e.Reply = "OK" })
	return s.add(trace.KindGranted, client, trace.None, by(s.at+2900*time.Millisecond), func(e *trace.Event) { e.Token = token })
}

// pauseTrace is A paused inside the critical section until its lease and its
// record are over, and B in there with it when it wakes up and writes.
func pauseTrace() *trace.Trace {
	s := &script{Trace: trace.Trace{
		Strategy: "setpx-lua", Scenario: "pause-past-ttl", Title: "A pause outlives the lease", Seed: 1,
		Clients: []string{"A", "B", "probe"}, Nodes: []string{"n1"}, Key: "lock", TTL: 3 * time.Second, Need: 1, Masters: 1,
	}}
	s.say(trace.NoteSay, "A takes the lock and enters.", "")
	s.acquire(0, "tokA")
	s.add(trace.KindEnter, 0, trace.None)
	s.add(trace.KindRead, 0, trace.None, value(0, 0))
	s.say(trace.NoteSay, "A is stopped, by a garbage collection, say. It won't notice.", "")
	s.at += 500 * time.Millisecond
	s.add(trace.KindPause, 0, trace.None)
	s.at = 2902 * time.Millisecond
	s.add(trace.KindLapse, 0, trace.None)
	s.at = 3001 * time.Millisecond
	s.add(trace.KindExpire, trace.None, 0, func(e *trace.Event) {
		e.Changes = []trace.Change{{Key: "lock", Before: &trace.Record{Value: "tokA", Expires: s.at}}}
	})
	s.say(trace.NoteAsk, "Who believes by now to have the lock?", "A")
	s.at = 4 * time.Second
	s.acquire(1, "tokB")
	enter := s.add(trace.KindEnter, 1, trace.None)
	s.broken(trace.OV, "B enters the critical section while A is inside", 6, enter)
	read := s.add(trace.KindRead, 1, trace.None, value(0, 0))
	s.say(trace.NoteSay, "A wakes up, still \"knows\" that it holds\nthe lock, and writes.", "")
	s.at += 600 * time.Millisecond
	s.add(trace.KindResume, 0, trace.None, by(s.at-502*time.Millisecond))
	write := s.add(trace.KindWrite, 0, trace.None, value(1, 1))
	s.broken(trace.SW, "A writes although B, who got the lock later, has already been there", read, write)
	s.add(trace.KindLeave, 0, trace.None)
	s.add(trace.KindDone, 0, trace.None)
	s.add(trace.KindLeave, 1, trace.None)
	s.add(trace.KindDone, 1, trace.None)
	s.at += 10 * 365 * 24 * time.Hour
	s.acquire(2, "tokP")
	s.add(trace.KindDone, 2, trace.None)
	return &s.Trace
}

// crowd is a long run on several nodes: clients that take turns.
func crowd(clients, nodes, events int) *trace.Trace {
	s := &script{Trace: trace.Trace{
		Strategy: "redlock", Scenario: "crowd", Title: "Many take turns", Seed: 1, Key: "lock", TTL: 3 * time.Second, Need: nodes/2 + 1, Masters: nodes,
	}}
	for i := range clients {
		s.Clients = append(s.Clients, string(rune('A'+i)))
	}
	for i := range nodes {
		s.Nodes = append(s.Nodes, fmt.Sprintf("n%d", i+1))
	}
	for turn := 0; len(s.Events) < events; turn++ {
		c := turn % clients
		if turn%10 == 0 {
			s.say(trace.NoteSay, fmt.Sprintf("Turn %d is %s's.", turn, s.Clients[c]), "")
		}
		grant := s.acquire(c, "t")
		s.add(trace.KindEnter, c, trace.None)
		s.add(trace.KindWrite, c, trace.None, value(int64(turn), int64(turn)))
		if turn%100 == 99 {
			s.broken(trace.DG, "so it goes", grant, len(s.Events))
		}
		s.at += 200 * time.Millisecond
		s.add(trace.KindLeave, c, trace.None)
		s.add(trace.KindRelease, c, trace.None)
		s.at += time.Millisecond
		s.add(trace.KindExecute, c, turn%nodes, func(e *trace.Event) {
			e.Args, e.Reply = []string{"del", "lock"}, "1"
			e.Changes = []trace.Change{{Key: "lock", Before: &trace.Record{Value: "t"}}}
		})
		s.add(trace.KindReleased, c, trace.None)
	}
	s.Events = s.Events[:events]
	return &s.Trace
}

// shelf is a library whose runs are given. What stands on it does not change
// with the catalogue, so the goldens don't either.
func shelf(run func(scenario, strategy string) (*trace.Trace, error)) *library {
	lib := &library{
		scenarios: []*scenarios.Scenario{
			{Name: "pause-past-ttl", Title: "A pause outlives the lease", Shows: "no lock can stop a client that wakes up too late"},
			{Name: "crowd", Title: "Many take turns", Shows: "nothing goes wrong"},
		},
		lessons: []scenarios.Lesson{
			{Name: "pauses", Title: "Pauses", Text: "A process can stop anywhere, for any time, and notices nothing of it.", Rungs: []scenarios.Rung{
				{Scenario: "pause-past-ttl", Strategy: "naive-del", Verdict: trace.Verdict{trace.SW, trace.OV}, Text: "A sleeps past its lease."},
				{Scenario: "pause-past-ttl", Strategy: "setpx-lua", Verdict: trace.Verdict{trace.SW, trace.OV}, Text: "The right release is no help."},
			}},
			{Name: "crowds", Title: "Crowds", Text: "Many want it.", Rungs: []scenarios.Rung{
				{Scenario: "crowd", Strategy: "redlock", Text: "They take turns."},
			}},
		},
		run: func(s *scenarios.Scenario, st strategies.Strategy, _ uint64) (*trace.Trace, error) {
			return run(s.Name, st.Name)
		},
	}
	for i := range 18 {
		lib.scenarios = append(lib.scenarios, &scenarios.Scenario{Name: fmt.Sprintf("misfortune-%d", i+1), Title: fmt.Sprintf("Misfortune %d", i+1), Shows: "what can happen"})
	}
	for _, name := range strings.Fields("setnx setnx-expire incr-expire timestamp-del getset-equal getset-expired naive-del get-then-del fixed-value setpx-lua fenced redlock redlock-hyperf") {
		st, found := strategies.Get(name)
		if !found {
			panic(name)
		}
		lib.strategies = append(lib.strategies, st)
	}
	return lib
}

// handmade is the shelf of most tests.
func handmade(scenario, strategy string) (*trace.Trace, error) {
	if scenario == "crowd" {
		return crowd(3, 5, 300), nil
	}
	t := pauseTrace()
	t.Strategy = strategy
	return t, nil
}

// app is a root under test, with the commands that it returns run at once.
type app struct {
	*root
	t testing.TB
}

// newApp opens the player on the shelf's first scenario.
func newApp(t testing.TB, w, h int, th *theme, run func(string, string) (*trace.Trace, error)) *app {
	lib := shelf(run)
	return openApp(t, w, h, lib, Options{Strategy: lib.strategies[lib.strategy("setpx-lua")], Scenario: lib.scenarios[0], Seed: 1}, th)
}

// newHomeApp opens the matrix.
func newHomeApp(t testing.TB, w, h int, th *theme, run func(string, string) (*trace.Trace, error)) *app {
	a := openApp(t, w, h, shelf(run), Options{Seed: 1}, th)
	a.explore, a.newGuide, a.now = handmadeSearch, func(explore.Bounds, trace.Code) (hinter, error) { return parrot{}, nil }, func() time.Time { return time.Time{} }
	return a
}

func openApp(t testing.TB, w, h int, lib *library, o Options, th *theme) *app {
	o.Exports = []Export{{Name: "text", About: "what --plain prints", Extension: ".txt",
		Write: func(w io.Writer, t *trace.Trace) error { return t.Plain(w) }}}
	a := &app{newRoot(lib, &progress.Diary{}, o, th), t}
	a.do(a.Init())
	a.send(tea.WindowSizeMsg{Width: w, Height: h})
	return a
}

func (a *app) send(msg tea.Msg) {
	_, cmd := a.Update(msg)
	a.do(cmd)
}

// do runs a command and sends its message, but for timers, which tests set off themselves.
func (a *app) do(cmd tea.Cmd) {
	if cmd == nil || a.playing() {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			a.do(c)
		}
	case nil, tea.QuitMsg, tea.SuspendMsg:
	default:
		a.send(msg)
	}
}

// player is the player that is open, on top or below a list; nil if there is none.
func (a *app) player() *player {
	for _, r := range slices.Backward(a.rooms) {
		switch r := r.(type) {
		case *player:
			return r
		case *shown:
			return r.player
		}
	}
	return nil
}

// playing reports whether a room has set a timer.
func (a *app) playing() bool {
	return slices.ContainsFunc(a.rooms, func(r room) bool {
		switch r := r.(type) {
		case *player:
			return r.playing
		case *shown:
			return r.playing
		case *compare:
			return r.playing
		}
		return false
	})
}

// press types keys, separated by blanks; "space" is the space bar.
func (a *app) press(keys string) {
	for _, k := range strings.Fields(keys) {
		a.send(keyMsg(k))
	}
}

func keyMsg(k string) tea.KeyMsg {
	named := map[string]tea.KeyType{
		"left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown, "enter": tea.KeyEnter,
		"esc": tea.KeyEsc, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace, "tab": tea.KeyTab, "home": tea.KeyHome, "end": tea.KeyEnd, "space": tea.KeySpace,
	}
	if kind, is := named[k]; is {
		msg := tea.KeyMsg{Type: kind}
		if k == "space" {
			msg.Runes = []rune{' '}
		}
		return msg
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
}

// strippedFrame is the frame's text.
func strippedFrame(a *app) string {
	lines := strings.Split(ansi.Strip(a.View()), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
