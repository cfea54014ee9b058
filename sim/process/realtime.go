package process

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"lockstep/sim/trace"
)

// Timer is a timer of package time that client code has made. It follows the machine's clock, of
// which hardly any passes in a run, so it doesn't go off.
type Timer struct {
	Call   string       // the function that has made it, such as "time.AfterFunc"
	Source trace.Source // the line that calls that
}

// timing is held while the profile of the memory has all that is allocated.
var timing sync.Mutex

// MakesTimer runs a function that drives clients, and reports whether their code has made a
// timer meanwhile. The runtime has no list of timers, but its profile of the memory tells which
// lines have allocated one. It takes two collections of garbage until the profile is complete.
func MakesTimer(drive func()) (made Timer, any bool) {
	timing.Lock()
	defer timing.Unlock()
	before := timersMade()
	func() {
		usual := runtime.MemProfileRate
		runtime.MemProfileRate = 1
		defer func() { runtime.MemProfileRate = usual }()
		drive()
	}()
	runtime.GC()
	runtime.GC()
	for t, n := range timersMade() {
		if n > before[t] && (!any || t.before(made)) {
			made, any = t, true
		}
	}
	return made, any
}

// before orders timers by their lines, so that the same one is always named.
func (t Timer) before(o Timer) bool {
	return t.Source.File < o.Source.File || t.Source.File == o.Source.File && t.Source.Line < o.Source.Line
}

// timersMade counts the timers that client code has made in this process, as far as the profile
// of the memory has them.
func timersMade() map[Timer]int64 {
	records := make([]runtime.MemProfileRecord, 1000)
	n, fits := runtime.MemProfile(records, true)
	for !fits {
		records = make([]runtime.MemProfileRecord, 2*n)
		n, fits = runtime.MemProfile(records, true)
	}
	all := map[Timer]int64{}
	for i := range records[:n] {
		r := &records[i]
		t, known := stacks[r.Stack0]
		if !known {
			t = timerOf(r.Stack())
			stacks[r.Stack0] = t
		}
		if t.Call != "" {
			all[t] += r.AllocObjects
		}
	}
	return all
}

// stacks are the timers that are made at stacks, or zero. The profile has every stack again for each search, and to look at
// thousands took longer than a small search.
var stacks = map[[32]uintptr]Timer{} // guarded by timing

// makers are the functions that make timers, whoever calls them.
var makers = []string{"time.AfterFunc", "time.NewTimer", "time.NewTicker"}

// timerOf returns the timer that is made at a stack at which memory was allocated: of functions of Go's own library,
// package time among them, which client code has called. It is zero if none is.
func timerOf(stack []uintptr) (t Timer) {
	frames := runtime.CallersFrames(stack)
	times := false
	for {
		f, more := frames.Next()
		switch {
		case t.Source.File != "":
			if strings.HasSuffix(f.Function, "process.(*Client).guard") {
				return t
			}
		case isLibrary(f):
			t.Call = f.Function
			times = times || slices.Contains(makers, f.Function)
		case !times:
			return Timer{}
		default:
			if t.Source = strategySource(f); t.Source.File == "" {
				return Timer{} // of go-redis or the simulator
			}
		}
		if !more {
			return Timer{}
		}
	}
}
