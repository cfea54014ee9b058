package sim

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockstep/sim/redis"
	"lockstep/sim/trace"
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
		benchmarkBare(b, nil, func(context.Context, string, string) (net.Conn, error) { return m.Dial() })
	})
	b.Run("direct", func(b *testing.B) {
		var greeted func(context.Context, *goredis.Conn) error // a run's commands come after the handshake, too
		setnx := named("setnx")
		make := setnx.New
		setnx.New = func(nodes []*goredis.Client, key string, o strategies.Options) strategies.Lock {
			if greeted == nil { // A's; the probe makes one, too
				greeted = nodes[0].Options().OnConnect
			}
			return make(nodes, key, o)
		}
		w := newWorld(b, configOf(setnx, "A"))
		defer w.runtime.Prepare()()
		benchmarkBare(b, greeted, func(context.Context, string, string) (net.Conn, error) {
			return w.clients[0].Dial(0), nil // outside of a thread: answered on the spot
		})
	})
	b.Run("world", benchmarkWorld)
}

func benchmarkBare(b *testing.B, greeted func(context.Context, *goredis.Conn) error, dial func(context.Context, string, string) (net.Conn, error)) {
	rdb := goredis.NewClient(&goredis.Options{Dialer: dial, OnConnect: greeted, Protocol: 2, MaxRetries: -1, ReadTimeout: -2, WriteTimeout: -2,
		DisableIdentity: true, MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled, EndpointType: maintnotifications.EndpointTypeNone}})
	defer rdb.Close() //nolint:errcheck // nothing depends on it
	lock := strategies.NewSetNX(rdb, "lock", strategies.Options{
		Clock: strategies.NewSystemClock(), Retry: strategies.Retry{Tries: 1}, Token: func() string { return "A1-0000" }})
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
	askAgain(b, cfg, "PING")
}

// askAgain lets the last client call Acquire again and again, in vain, in a world
// that records nothing, after a command that nobody sent. If there is another client,
// it is in its critical section. An operation of the benchmark is one command. As in
// a replay, the steps of one client after the other are a single move.
func askAgain(b *testing.B, cfg Config, before ...string) {
	last := len(cfg.Clients) - 1
	cfg.Clients[last].Cycles = 1 << 40
	w := newWorld(b, cfg)
	restart := func() {
		if err := w.Reset(cfg, false); err != nil {
			b.Fatal(err)
		}
		w.nodes[0].Execute(0, redis.NewPeer(w.nodes[0]), before)
		for last > 0 && w.Position(0).Phase != trace.PhaseWork {
			w.Step(SetOf(0))
		}
	}
	restart()
	b.ReportAllocs()
	b.ResetTimer()
	for left := b.N; left > 0; {
		sent := len(w.sentMessages)
		w.Steps(SetOf(last), 4*left) // a command is at least so many: it is sent and arrives, and so does its reply
		left -= len(w.sentMessages) - sent
		if w.Err() != nil { // the run has become too long
			b.StopTimer()
			restart()
			b.StartTimer()
		}
	}
}

// BenchmarkEval compares a script with a plain command, in the plain engine: the
// whole way of a client's command, through go-redis, scheduler and monitors, with
// nothing recorded. Of each it sends ten for every call of Acquire, so that the
// call itself hardly counts. The project's bound for the ratio is 4.
//
//	get, set  a plain command
//	compare   the script that releases a lock, of a client that holds it not: one command within
//	fence     one that takes a lock with a fencing token, and the two commands within
//
// What it reports as commands/s are those that go over the wire, by one client on
// one core. The bound is 200,000 plain ones.
func BenchmarkEval(b *testing.B) {
	const compare = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`
	const fence = `if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return redis.call("INCR", KEYS[2]) end return redis.call("GET", KEYS[2])`
	plain := map[string]float64{}
	for _, bench := range []struct {
		name string
		args []any
	}{
		{"set", cmd("SET", "data", "B1-0000", "PX", 1000000)}, // the lock's key would be a false refusal each time, and a list of them
		{"get", cmd("GET", "lock")},
		{"compare", cmd("EVAL", compare, 1, "lock", "A1-0000")},
		{"fence", cmd("EVAL", fence, 2, "lock", "fence", "A1-0000", 10000)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			const each = 10
			commands := make([][]any, each)
			for i := range commands {
				commands[i] = bench.args
			}
			// A nil reply would be an error to go-redis, which takes long over errors, script or not.
			askAgain(b, configOf(toyDo(commands...), "A"), "MSET", "lock", "B1-0000", "fence", "1")
			one := b.Elapsed().Seconds() / float64(b.N)
			plain[bench.name] = one
			b.ReportMetric(1/one, "commands/s")
			if bench.args[0] == "EVAL" && plain["get"] > 0 {
				b.ReportMetric(one/((plain["get"]+plain["set"])/2), "times-plain")
			}
		})
	}
}

// BenchmarkRun is whole runs, from the first step to the last: two clients take a lock
// three times each, in a world that records nothing. What the strategies do besides
// sending commands is in the time, and so is the world's being set up again; and where
// a lock is released by a script, every other command is one.
func BenchmarkRun(b *testing.B) {
	for _, name := range []string{"setnx", "setpx-lua", "fenced", "redlock"} {
		b.Run(name, func(b *testing.B) {
			cfg := config(b, name, "A", "B")
			cfg.Clients[0].Cycles, cfg.Clients[1].Cycles = 3, 3
			w := newWorld(b, cfg)
			commands := 0
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Reset(cfg, false); err != nil {
					b.Fatal(err)
				}
				w.Steps(SetOf(0, 1), MaxEvents)
				commands += len(w.sentMessages)
			}
			if w.Err() != nil {
				b.Fatal(w.Err())
			}
			b.ReportMetric(float64(commands)/b.Elapsed().Seconds(), "commands/s")
		})
	}
}
