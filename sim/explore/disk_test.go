package explore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"lockstep/sim/explore/disk"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// diskBounds are bounds of searches that differ in what states and tables have.
func diskBounds(name string) Bounds {
	lock, kind, _ := strings.Cut(name, " ")
	s, _ := strategies.Get(lock)
	b := Defaults(s)
	switch b.Cycles, b.Faults = 1, (Budget{Crash: 1, Pause: 1}); kind {
	case "crash":
		b.Faults = Budget{Crash: 1}
	case "two servers":
		b.Nodes = 2
	case "twice":
		b.Cycles = 2
	case "held up":
		b.Faults = Budget{Pause: 1, HoldRequest: 1, Duplicate: 1}
	case "any cycles":
		b.Cycles, b.Faults, b.Codes = Any, Budget{Crash: Any, Pause: Any}, trace.Verdict{trace.DG, trace.FR, trace.PD}
	}
	return b
}

// diskSearches are the searches that are made on disk: with two cycles and locks that acquire
// twice, with threads and redlock's servers, true time, transactions, requests that arrive twice,
// draws, and without bounds.
var diskSearches = []string{"setpx-lua twice", "setpx-lua any cycles", "getset-expired crash", "redlock two servers", "watchdog", "setpx-watch", "fenced held up"}

// smallRoom is so little memory that states go to disk many times in each level.
const smallRoom = 40_000

// TestOnDisk: a search on disk has the result that it has in memory, and leaves nothing.
func TestOnDisk(t *testing.T) {
	testenv.Long(t) // TestKilledOnDisk is short
	t.Parallel()
	for i, name := range diskSearches {
		if i > 0 && !testenv.Whole() { // for time
			continue
		}
		t.Run(name, func(t *testing.T) {
			b := diskBounds(name)
			want := unkilled(t, name)
			for _, room := range []int64{smallRoom, 0} {
				if room == 0 && i > 0 {
					break
				}
				dir := filepath.Join(t.TempDir(), "search")
				if got := outcomeOf(t, b, Options{Disk: dir, room: room}); got != want {
					t.Errorf("with %d bytes of memory\n%s\nand in memory\n%s", room, got, want)
				}
				if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the directory is still there: %v", err)
				}
			}
		})
	}
}

// cutOff leaves a search on disk that is cut off.
func cutOff(t *testing.T) (dir string, b Bounds) {
	t.Helper()
	dir, b = filepath.Join(t.TempDir(), "search"), diskBounds("setpx-lua twice")
	ctx, cancel := context.WithCancelCause(t.Context())
	r, err := Run(ctx, b, Options{Disk: dir, stir: func() { cancel(errors.New("enough")) }})
	if err != nil || !r.Kept || r.Why != "enough" {
		t.Fatal(r, err)
	}
	return dir, b
}

// endsLate is a context that ends while a search concludes: when that looks at it for the second time.
type endsLate struct {
	context.Context
	end        context.CancelFunc
	concluding bool
	looks      int
}

func (l *endsLate) Err() error {
	if l.concluding {
		if l.looks++; l.looks == 2 {
			l.end()
		}
	}
	return l.Context.Err()
}

// TestConcludedLater: a search on disk whose time is up when all its situations are known, but not yet the least schedules
// of what it has found, is kept, and another one concludes it.
func TestConcludedLater(t *testing.T) {
	t.Parallel()
	const name = "setpx-lua twice"
	dir, b := filepath.Join(t.TempDir(), "search"), diskBounds(name)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := &endsLate{Context: ctx, end: cancel}
	r, err := run(l, b, Options{Disk: dir, Workers: 1, Progress: func(p Progress) { l.concluding = l.concluding || p.Concluding }})
	if err != nil || r.Complete || !strings.HasPrefix(r.Why, "the search for the least schedule with ") {
		t.Fatal(r, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "search.json")); err != nil || !r.Kept {
		t.Errorf("kept %t, and %v", r.Kept, err)
	}
	if got, want := outcomeOf(t, b, Options{Disk: dir}), unkilled(t, name); got != want {
		t.Errorf("after it was cut off\n%s\nand in memory\n%s", got, want)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
}

// TestOtherBounds: a directory with the search of other bounds, or another lock, is refused.
func TestOtherBounds(t *testing.T) {
	dir, b := cutOff(t)
	for want, change := range map[string]func(b *Bounds){
		"another lock: setpx-lua, and not setnx":        func(b *Bounds) { b.Strategy = strategy(t, "setnx") },
		"another number of clients: 2, and not 3":       func(b *Bounds) { b.Clients = 3 },
		"another number of cycles: 2, and not any":      func(b *Bounds) { b.Cycles = Any },
		"another budget of faults: 1 crash of a client": func(b *Bounds) { b.Faults = Budget{} },
		"another set of codes":                          func(b *Bounds) { b.Codes = trace.Verdict{trace.DG} },
		"another caller: plain, and not checks":         func(b *Bounds) { b.Checks = true },
		"another TTL: 12s, and not 13s":                 func(b *Bounds) { b.TTL += 1e9 },
		"another number of tries: 1, and not 2":         func(b *Bounds) { b.Tries = 2 },
	} {
		other := b
		change(&other)
		if _, err := Run(t.Context(), other, Options{Disk: dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	if r, err := Run(t.Context(), b, Options{Disk: dir}); err != nil || r.Kept || !r.Complete {
		t.Error(r, err)
	}
}

// TestEveryBoundIsClaimed: no field of Bounds can be another one in a search that goes on.
func TestEveryBoundIsClaimed(t *testing.T) {
	for i := range reflect.TypeFor[Bounds]().NumField() {
		b := diskBounds("setpx-lua twice")
		b.Tries, b.Nodes = 1, 1 // as 0 is
		before := fmt.Sprint(claims(&b, &Options{}))
		field := reflect.ValueOf(&b).Elem().Field(i)
		switch v := field.Addr().Interface().(type) {
		case *strategies.Strategy:
			*v = strategy(t, "setnx")
		case *Budget:
			v[Failover]++
		case *trace.Verdict:
			*v = trace.Verdict{trace.DG}
		case *bool:
			*v = !*v
		case *string:
			*v += "x"
		default:
			if field.CanInt() {
				field.SetInt(field.Int() + 1)
			} else if field.CanUint() {
				field.SetUint(field.Uint() + 1)
			}
		}
		name := reflect.TypeFor[Bounds]().Field(i).Name
		irrelevant := name == "Watch" || name == "Waits" || name == "ByName" // the watch ends what hangs; on disk waits end when they do, and all states are followed
		if irrelevant != (fmt.Sprint(claims(&b, &Options{})) == before) {
			t.Errorf("with another %s a search on disk would go on", name)
		}
	}
}

// TestOtherBuild: a search that another build has left is refused, for its ids may stand for
// other states, and its directory stays as it is.
func TestOtherBuild(t *testing.T) {
	testenv.Long(t) // TestOtherBounds is short
	dir, b := cutOff(t)
	mine, err := disk.Program()
	if err != nil {
		t.Fatal(err)
	}
	const other = "0123456789ab"
	pretend := func(was, is string) {
		manifest := filepath.Join(dir, "search.json")
		data, err := os.ReadFile(manifest)
		if err == nil {
			err = os.WriteFile(manifest, []byte(strings.Replace(string(data), was, is, 1)), 0o600)
		}
		if err != nil || !strings.Contains(string(data), was) {
			t.Fatal(was, err)
		}
	}
	pretend(mine, other)
	want := fmt.Sprintf("another build of lockstep: %s, and not %s", other, mine)
	if _, err := Run(t.Context(), b, Options{Disk: dir}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
	pretend(other, mine)
	if r, err := Run(t.Context(), b, Options{Disk: dir}); err != nil || r.Kept || !r.Complete {
		t.Error(r, err)
	}
}

// unkilled is the result of a search in memory, which is made once: several tests compare with it.
func unkilled(t *testing.T, name string) string {
	t.Helper()
	once, _ := searchedInMemory.LoadOrStore(name, sync.OnceValue(func() string { return outcomeOf(t, diskBounds(name), Options{}) }))
	return once.(func() string)()
}

var searchedInMemory sync.Map // by the name of a search: func() string

func outcomeOf(t *testing.T, b Bounds, opt Options) string {
	t.Helper()
	opt.Workers = 2
	r, err := Run(context.Background(), b, opt)
	if err != nil {
		t.Fatal(err)
	}
	return textOf(r)
}

// textOf is all that a search has found.
func textOf(r *Result) string {
	var text strings.Builder
	fmt.Fprintf(&text, "complete %t %q, closed %t, depth %d: %d states, %d transitions, %d commands, %d draws, probed %t, found %s %s, %q, %+v, %+v\n",
		r.Complete, r.Why, r.Closed, r.Depth, r.States, r.Transitions, r.Commands, r.Draws, r.Probed, r.Found, r.Unconfirmed, r.Undecided, r.Vacuity, r.Near)
	for _, v := range r.Violated {
		fmt.Fprintf(&text, "%s %d/%d/%d %s %s\n", v.Code, len(v.Faults), v.Switches, v.Steps, v.Trace.Hash, v.Schedule)
	}
	return text.String()
}
