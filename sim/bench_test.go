package sim

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockstep/strategies"
)

// BenchmarkSetNX compares one SETNX through everything (strategy, go-redis, seam,
// scheduler, monitors, miniredis; recording off) with what it could be at best:
//
//	pipe    go-redis to miniredis over miniredis's own in-process connection
//	direct  go-redis to miniredis's dispatcher, on a connection that hands each
//	        command over by a function call: no goroutine, no scheduler, no monitor
//
// The project's bound is 1.6 times pipe. direct is the harder yardstick.
func BenchmarkSetNX(b *testing.B) {
	b.Run("pipe", func(b *testing.B) {
		m := miniredis.NewMiniRedis()
		defer m.Close()
		benchmarkBare(b, func(context.Context, string, string) (net.Conn, error) { return m.Dial() })
	})
	b.Run("direct", func(b *testing.B) {
		w := newWorld(b, config(b, "setnx", "A"))
		benchmarkBare(b, func(context.Context, string, string) (net.Conn, error) {
			return &conn{world: w, client: w.clients[0]}, nil // outside of a thread: answered on the spot
		})
	})
	b.Run("world", benchmarkWorld)
}

func benchmarkBare(b *testing.B, dial func(context.Context, string, string) (net.Conn, error)) {
	rdb := redis.NewClient(&redis.Options{Dialer: dial, Protocol: 2, MaxRetries: -1, ReadTimeout: -2, WriteTimeout: -2,
		DisableIdentity: true, MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
	defer rdb.Close() //nolint:errcheck // nothing depends on it
	lock := strategies.NewSetNX(rdb, "lock", strategies.Options{
		Retry: strategies.Retry{Tries: 1}, Token: func() string { return "A1-0000" }})
	ctx := context.Background()
	if _, err := lock.Acquire(ctx); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := lock.Acquire(ctx); err != strategies.ErrNotAcquired {
			b.Fatal(err)
		}
	}
}

// benchmarkWorld lets A hold the lock and B ask for it again and again.
func benchmarkWorld(b *testing.B) {
	cfg := config(b, "setnx", "A", "B")
	cfg.Retry = strategies.Retry{Tries: 1}
	cfg.Clients[0].Work = time.Hour
	cfg.Clients[1].Cycles = 1 << 40
	w := newWorld(b, cfg)
	a, both := SetOf(0), SetOf(1)
	restart := func() {
		if err := w.Reset(cfg, false); err != nil {
			b.Fatal(err)
		}
		for w.Where(0).Phase != PhaseWork {
			w.Step(a)
		}
	}
	restart()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		asked := w.clients[1].acquired
		for w.clients[1].acquired == asked {
			if !w.Step(both) {
				b.StopTimer()
				restart()
				b.StartTimer()
				asked = w.clients[1].acquired
			}
		}
	}
}
