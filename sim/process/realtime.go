package process

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"lockstep/sim/trace"
)

// Timer is a timer of package time that client code has made. It goes by the machine's clock, of
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
		if t, is := timerOf(records[i].Stack()); is {
			all[t] += records[i].AllocObjects
		}
	}
	return all
}

// makers are the functions that make timers, whoever calls them.
var makers = []string{"time.AfterFunc", "time.NewTimer", "time.NewTicker"}

// timerOf reports whether a stack, at which memory was allocated, is that of client code which
// makes a timer: of functions of Go's own library, package time among them, which such code has called.
func timerOf(stack []uintptr) (t Timer, is bool) {
	frames := runtime.CallersFrames(stack)
	times := false
	for {
		f, more := frames.Next()
		switch {
		case t.Source.File != "":
			if strings.HasSuffix(f.Function, "process.(*Client).guard") {
				return t, true
			}
		case isLibrary(f):
			t.Call = f.Function
			times = times || slices.Contains(makers, f.Function)
		case !times:
			return t, false
		default:
			if t.Source = strategySource(f); t.Source.File == "" {
				return t, false // of go-redis or the simulator
			}
		}
		if !more {
			return t, false
		}
	}
}
