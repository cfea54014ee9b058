package explore

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/space"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

func strategy(t testing.TB, name string) strategies.Strategy {
	t.Helper()
	s, known := strategies.Get(name)
	if !known {
		t.Fatalf("there is no strategy %s", name)
	}
	return s
}

// What is cut off is cut off soon: else that takes tests longer than all that they are about.
func init() { looked = 20 * time.Millisecond }

// endless are bounds too large to be searched to the end. The code that is sought isn't
// violated, so there is no least schedule to be looked for afterwards.
func endless(t testing.TB) Bounds {
	b := Defaults(strategy(t, "setpx-lua"))
	b.Codes = trace.Verdict{trace.GAP}
	b.Clients, b.Cycles, b.Faults = 4, 9, Budget{Crash: 2, Pause: 9, ReplyLost: 2}
	return b
}

// TestLimits: a search that is cut off says so, and claims nothing.
func TestLimits(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		r, err := Run(context.Background(), endless(t), Options{Memory: 4 << 20})
		incomplete(t, r, err, "the memory limit was reached")
	})
	t.Run("memory of the small search before", func(t *testing.T) {
		testenv.Long(t)
		b := Defaults(strategy(t, "setpx-watch"))
		b.Cycles, b.Faults = Any, Budget{Crash: Any, Pause: Any, ReplyLost: Any, HoldRequest: 1}
		_, err := Run(context.Background(), b, Options{Memory: 1, Disk: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), "is kept in memory and didn't come to its end: the memory limit was reached") {
			t.Errorf("%v: it doesn't say which search was too big", err)
		}
	})
	t.Run("cancelled before it begins", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New("the reader has had enough"))
		r, err := Run(ctx, endless(t), Options{})
		incomplete(t, r, err, "the reader has had enough")
	})
	t.Run("cancelled on the way", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		seen := int64(0)
		r, err := Run(ctx, endless(t), Options{Progress: func(p Progress) {
			seen = p.States
			cancel(errors.New("enough"))
		}})
		incomplete(t, r, err, "enough")
		if r.States < seen {
			t.Errorf("there were %d states already, and in the end %d", seen, r.States)
		}
	})
}

func incomplete(t *testing.T, r *Result, err error, why string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if r.Complete || r.Why != why {
		t.Errorf("complete %t, because %q; want %q", r.Complete, r.Why, why)
	}
	for _, c := range trace.Codes {
		if r.Holds(c) {
			t.Errorf("it claims that there is no %s", c)
		}
	}
}

// TestGarbageIsNotTaken: memory that nobody holds any more doesn't end a search, however seldom the program collects it.
func TestGarbageIsNotTaken(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	opt := Options{Memory: heap() + 64<<20}
	for range 128 {
		dropped = make([]byte, 1<<20)
	}
	dropped = nil
	if heap() <= opt.Memory {
		t.Fatal("the garbage was collected before it was looked at")
	}
	if opt.full() {
		t.Error("there is nothing but garbage, and the limit is reached")
	}
	held := make([]byte, 128<<20)
	if !opt.full() {
		t.Error("twice the limit is held, and it isn't reached")
	}
	runtime.KeepAlive(held)
}

var dropped []byte // lest the compiler puts it on the stack

// TestCancelledLate: a search that is cancelled while it looks for the least schedules still
// has the violations that it has found, and doesn't claim that their codes hold.
func TestCancelledLate(t *testing.T) {
	b := Defaults(strategy(t, "naive-del"))
	m, err := space.NewModel(b, false)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // nothing is written
	r := &Result{Bounds: b, Complete: true, Found: trace.Verdict{trace.DG}}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := conclude(ctx, m, r, trace.SetOf(trace.DG), Options{}, nil); err != nil {
		t.Fatal(err)
	}
	incomplete(t, r, nil, "the search for the least schedule with a double grant was cut off")
	if len(r.Violated) != 0 {
		t.Errorf("%d schedules came from nowhere", len(r.Violated))
	}
}

// TestCancelledWhileItRetells: a search that is cancelled while what its clients did runs once more with other tokens,
// which takes long for a lock that counts, claims nothing.
func TestCancelledWhileItRetells(t *testing.T) {
	b := Defaults(strategy(t, "setpx-lua"))
	b.Cycles, b.Faults = 1, Budget{}
	for name, retells := range map[string]func(context.Context, *Result, *space.Model) error{
		"within bounds": retell,
		"without": func(ctx context.Context, r *Result, m *space.Model) error {
			return r.unlessOver(ctx, m.Servers.Alike(ctx, m.Reached(), m.Bounds.Clients))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := space.NewModel(b, false)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close() //nolint:errcheck // nothing is written
			if _, err := rounds(t.Context(), m, Options{}); err != nil {
				t.Fatal(err)
			}
			r := &Result{Bounds: b, Complete: true}
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errors.New("enough"))
			incomplete(t, r, retells(ctx, r, m), "enough")
		})
	}
}

// TestBounds: bounds that make no sense are refused, before anything is searched.
func TestBounds(t *testing.T) {
	for name, spoil := range map[string]func(*Bounds){
		"nobody":            func(b *Bounds) { b.Clients = 0 },
		"too many":          func(b *Bounds) { b.Clients = 5 },
		"no cycle":          func(b *Bounds) { b.Cycles = 0 },
		"nodes":             func(b *Bounds) { b.Nodes = 3 },
		"TTL":               func(b *Bounds) { b.TTL = 1500 * time.Microsecond },
		"negative switches": func(b *Bounds) { b.Switches = -1 },
		"too many switches": func(b *Bounds) { b.Switches = bounds.MaxSwitches + 1 },
		"bounded blocking":  func(b *Bounds) { b.Codes = trace.Verdict{trace.BD} },
		"negative timeout":  func(b *Bounds) { b.Timeout = -1; b.Strategy.Timeout = -1 },
	} {
		b := Defaults(strategy(t, "setpx-lua"))
		spoil(&b)
		if r, err := Run(context.Background(), b, Options{}); err == nil {
			t.Errorf("%s: searched, with %d states", name, r.States)
		}
	}
}
