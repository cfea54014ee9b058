package explore

import (
	"context"
	"fmt"
	"testing"

	"lockstep/sim/explore/space"
)

// BenchmarkSearch measures the speed of a search, on one core and on two; the part of its
// transitions that are memoised, and need neither client code nor Redis; and the memory that
// a state takes in the visited set.
func BenchmarkSearch(b *testing.B) {
	for _, name := range []string{"setpx-lua", "setnx-expire", "getset-equal", "watchdog"} {
		if testing.Short() && (name == "getset-equal" || name == "watchdog") {
			continue // a minute
		}
		for workers := 1; workers <= 2; workers++ {
			b.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(b *testing.B) { benchmarkSearch(b, name, workers) })
		}
	}
}

func benchmarkSearch(b *testing.B, name string, workers int) {
	bounds := Defaults(strategy(b, name))
	bounds.Faults = Budget{Crash: 1, Pause: 2, ReplyLost: 1}
	var states, transitions, executed, bytes int64
	b.ReportAllocs()
	for range b.N {
		b.StopTimer()
		m, err := space.NewModel(bounds, name == "getset-equal")
		if err != nil {
			b.Fatal(err)
		}
		s := &search{Model: m, opt: Options{Workers: workers}}
		b.StartTimer()
		if err := s.run(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		n, size, _ := s.visited.sizes()
		states += int64(n)
		transitions += s.followed.Load()
		executed += int64(m.Servers.Ran) + m.Clients.Ran.Load()
		bytes += size
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
	b.ReportMetric(float64(states)/float64(b.N), "states")
	b.ReportMetric(100*(1-float64(executed)/float64(transitions)), "%remembered")
	b.ReportMetric(float64(bytes)/float64(states), "B/state")
}
