package sim

import (
	"context"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"lockstep/sim/fault"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// heard are the events by which a waiter learns of a release, or doesn't.
var heard = []trace.Kind{trace.KindPush, trace.KindReceive, trace.KindAwait, trace.KindTimeout, trace.KindDisconnect, trace.KindLost, trace.KindGranted, trace.KindFailed}

// awaiting is a world in which A has the lock and B waits for its message.
func awaiting(t *testing.T) *World { // A at 0.002s; four commands of B take 2ms each
	t.Helper()
	w := newWorld(t, config(t, "setpx-subscribe", "A", "B"))
	until(t, w, "A", trace.KindEnter)
	until(t, w, "B", trace.KindAwait)
	return w
}

// expectEnd is expectStory for the events from an index on.
func expectEnd(t *testing.T, w *World, from int, want string) {
	t.Helper()
	all := w.trace.Events
	w.trace.Events = all[from:]
	defer func() { w.trace.Events = all }()
	expectStory(t, w, want, heard...)
}

func TestMessageWakesWaiter(t *testing.T) {
	w := awaiting(t)
	from := len(w.trace.Events)
	until(t, w, "A", trace.KindDone)
	until(t, w, "B", trace.KindGranted)
	expectEnd(t, w, from, `
		1.011 n1 => B [message, lock:released, A1]
		1.012 A  <- n1 1
		1.012 B  <- n1 [message, lock:released, A1]
		1.014 B  <- n1 OK
		1.014 B  has the lock, token B3, lease until 10.91s (10s less 102ms in case clocks drift apart)`)
	if v := drained(t, w); v != "ok" {
		t.Error(v)
	}
}

// TestLostMessage: the record's expiry wakes the waiter all the same. A message that is lost
// takes with it all later ones of the connection.
func TestLostMessage(t *testing.T) {
	w := awaiting(t)
	from := len(w.trace.Events)
	until(t, w, "A", trace.KindRelease)
	w.Step(SetOf(0))
	w.Wait(time.Millisecond)
	inject(t, w, fault.Drop{Client: "B", Reply: true})
	until(t, w, "B", trace.KindGranted)
	expectEnd(t, w, from, `
		1.011  n1  => B [message, lock:released, A1]
		1.011  net n1's message [message, lock:released, A1] to B is lost
		10.003 B   no message from n1 in 9.993s
		10.005 B   <- n1 OK
		10.005 B   has the lock, token B3, lease until 19.901s (10s less 102ms in case clocks drift apart)`)
}

// TestCrashedHolderPublishesNothing: as above, and nothing was lost.
func TestCrashedHolderPublishesNothing(t *testing.T) {
	w := awaiting(t)
	from := len(w.trace.Events)
	inject(t, w, fault.Crash{Client: "A"})
	until(t, w, "B", trace.KindGranted)
	expectEnd(t, w, from, `
		10.003 B no message from n1 in 9.993s
		10.005 B <- n1 OK
		10.005 B has the lock, token B3, lease until 19.901s (10s less 102ms in case clocks drift apart)`)
}

// TestLateSubscription: a message is not kept for those that subscribe later. The attempt after
// the confirmation is what helps.
func TestLateSubscription(t *testing.T) {
	w := newWorld(t, config(t, "setpx-subscribe", "A", "B"))
	until(t, w, "A", trace.KindEnter)
	until(t, w, "B", trace.KindReceive) // it is refused
	until(t, w, "A", trace.KindDone)
	until(t, w, "B", trace.KindGranted)
	if count(w, trace.KindPush) != 0 || count(w, trace.KindAwait) != 0 {
		t.Errorf("nobody was there to get a message:\n%s", strings.Join(story(w), "\n"))
	}
}

// TestRestartEndsSubscriptions: the subscriber learns that its connection has ended. go-redis
// connects anew and subscribes again, for the next wait.
func TestRestartEndsSubscriptions(t *testing.T) {
	w := awaiting(t)
	from := len(w.trace.Events)
	inject(t, w, fault.Down{Node: "n1"}, fault.Up{Node: "n1"})
	until(t, w, "B", trace.KindFailed)
	expectEnd(t, w, from, `
		0.011 B <- n1 connection closed
		0.011 B gives up: n1: connection refused`)

	w = newWorld(t, configOf(toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		if l.Token()[0] == 'B' {
			l.rdb.Publish(ctx, "c", "x")
			return nil, strategies.ErrNotAcquired
		}
		sub := l.rdb.Subscribe(ctx, "c")
		for range 4 { // its own confirmation, the end, the second confirmation, the message
			_, _ = sub.Receive(ctx)
		}
		return nil, strategies.ErrNotAcquired
	}, toyKeep), "A", "B"))
	until(t, w, "A", trace.KindAwait)
	inject(t, w, fault.Down{Node: "n1"}, fault.Up{Node: "n1"})
	until(t, w, "A", trace.KindAwait)
	until(t, w, "B", trace.KindDone)
	until(t, w, "A", trace.KindRefused)
	expectStory(t, w, `
		0.002 A  <- n1 [subscribe, c, 1]
		0.002 A  waits for a message from n1
		0.003 A  <- n1 connection closed
		0.005 A  <- n1 [subscribe, c, 1]
		0.005 A  waits for a message from n1
		0.006 n1 => A [message, c, x]
		0.007 B  <- n1 1
		0.007 A  <- n1 [message, c, x]`, heard[:len(heard)-1]...)
}

// TestCutLinkLosesMessages: neither the message nor the end of the connection gets through.
func TestCutLinkLosesMessages(t *testing.T) {
	w := awaiting(t)
	from := len(w.trace.Events)
	inject(t, w, fault.Cut{Client: "B", Node: "n1", Direction: fault.Replies})
	until(t, w, "A", trace.KindDone)
	inject(t, w, fault.Down{Node: "n1"}, fault.Up{Node: "n1"}, fault.Heal{Client: "B", Node: "n1"})
	until(t, w, "B", trace.KindGranted)
	expectEnd(t, w, from, `
		1.011  n1  => B [message, lock:released, A1]
		1.011  net n1's message [message, lock:released, A1] to B is lost
		1.012  A   <- n1 1
		1.012  net n1's end of the connection to B is lost
		10.003 B   no message from n1 in 9.993s
		10.005 B   <- n1 OK
		10.005 B   has the lock, token B3, lease until 19.901s (10s less 102ms in case clocks drift apart)`)
}

// TestClosedSubscriptionGetsNothing: from when the server hears of it. A crash tells it
// nothing.
func TestClosedSubscriptionGetsNothing(t *testing.T) {
	ctx := context.Background()
	publish := func(after time.Duration, crash bool) int64 {
		var receivers int64
		w := newWorld(t, configOf(toy(func(_ context.Context, l *toyLock) (*strategies.Lease, error) {
			if l.Token()[0] == 'A' {
				sub := l.rdb.Subscribe(ctx, "c")
				if _, err := sub.ReceiveTimeout(ctx, time.Second); err != nil {
					t.Error(err)
				}
				if crash {
					_, _ = sub.Receive(ctx)
				}
				_ = sub.Close()
			} else {
				receivers = l.rdb.Publish(ctx, "c", "x").Val()
			}
			return nil, strategies.ErrNotAcquired
		}, toyKeep), "A", "B"))
		if crash {
			until(t, w, "A", trace.KindAwait)
			inject(t, w, fault.Crash{Client: "A"})
		} else {
			until(t, w, "A", trace.KindDone)
		}
		w.Wait(after)
		until(t, w, "B", trace.KindDone)
		return receivers
	}
	for _, tt := range []struct {
		after time.Duration
		crash bool
		want  int64
	}{{0, false, 0}, {time.Hour, true, 1}} {
		if got := publish(tt.after, tt.crash); got != tt.want {
			t.Errorf("closed %s ago, by a crash %t: %d receivers", tt.after, tt.crash, got)
		}
	}
}

// TestTimeoutsAreExact: the timeout of a call arrives to the nanosecond, and runs by the
// client's own clock.
func TestTimeoutsAreExact(t *testing.T) {
	const timeout = 1234567891 * time.Nanosecond
	for _, rate := range []float64{1, 2} {
		cfg := configOf(toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
			sub := l.rdb.Subscribe(ctx, "c")
			_, err := sub.ReceiveTimeout(ctx, 5*time.Second)
			if err != nil {
				return nil, err
			}
			_, err = sub.ReceiveTimeout(ctx, timeout)
			return nil, err
		}, toyKeep), "A")
		cfg.Clients[0].Rate = rate
		w := newWorld(t, cfg)
		until(t, w, "A", trace.KindAwait)
		from := w.Now()
		until(t, w, "A", trace.KindTimeout)
		if got, want := w.Now()-from, time.Duration(float64(timeout)/rate); got < want || got > want+1 {
			t.Errorf("at rate %g it waits for %s, and should for %s", rate, got, want)
		}
	}
}

// TestWaitsForEver: a wait without a timeout that nothing ends leaves nothing to do. The probe waits, too.
func TestWaitsForEver(t *testing.T) {
	w := newWorld(t, configOf(toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		_, err := l.rdb.Subscribe(ctx, "c").ReceiveMessage(ctx)
		return nil, err
	}, toyKeep), "A"))
	until(t, w, "A", trace.KindAwait)
	if w.Step(SetOf(0)) {
		t.Errorf("something is due:\n%s", strings.Join(story(w), "\n"))
	}
	if v := drained(t, w); v != "UA" {
		t.Error(v)
	}
}

// TestWaitsOutsideOfVirtualTime: they are refused, by name and with the line, and no run hangs.
func TestWaitsOutsideOfVirtualTime(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		waits      func(context.Context, *goredis.PubSub)
	}{
		{"channel", "PubSub.Channel receives on goroutines", func(_ context.Context, sub *goredis.PubSub) { <-sub.Channel() }},
		{"both", "PubSub.Channel receives on goroutines", func(_ context.Context, sub *goredis.PubSub) {
			for range sub.ChannelWithSubscriptions(goredis.WithChannelHealthCheckInterval(0)) {
				continue
			}
		}},
		{"context", "the deadline of a context", func(ctx context.Context, sub *goredis.PubSub) {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			_, _ = sub.ReceiveMessage(ctx)
		}},
		{"goroutine", "start threads by Options.Go", func(ctx context.Context, sub *goredis.PubSub) {
			done := make(chan error)
			go func() {
				_, err := sub.ReceiveMessage(ctx)
				done <- err
			}()
			<-done
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := drive(t, toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
				sub := l.rdb.Subscribe(ctx, "c")
				defer sub.Close() //nolint:errcheck // it is of no interest
				tt.waits(ctx, sub)
				return nil, strategies.ErrNotAcquired
			}, toyKeep))
			if p == nil || !strings.Contains(p.Error(), tt.want) || !strings.Contains(p.Error(), " at sim/pubsub_test.go:") {
				t.Errorf("panic %v", p)
			}
		})
	}
}

// TestFailoverEndsSubscriptions: a client that is led to the new master learns that its
// connection to the old one has ended; one that stays doesn't.
func TestFailoverEndsSubscriptions(t *testing.T) {
	for _, stay := range [][]string{nil, {"B"}} {
		cfg := config(t, "setpx-subscribe", "A", "B")
		cfg.Replicas = 1
		w := newWorld(t, cfg)
		until(t, w, "A", trace.KindEnter)
		until(t, w, "B", trace.KindAwait)
		inject(t, w, fault.Failover{To: "n1r1", Stay: stay})
		w.Wait(10 * time.Millisecond)
		w.Step(SetOf(1))
		if got, want := count(w, trace.KindDisconnect), 1-len(stay); got != want {
			t.Errorf("stay %v: %d connections end, expected %d", stay, got, want)
		}
	}
}
