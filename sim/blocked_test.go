package sim

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/fault"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// turnstile is a lock whose free token lies in a list: a client waits for it by BLPOP, for 5s,
// and gives it back by RPUSH. C puts the token there, and takes nothing.
func turnstile() strategies.Strategy {
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		token := l.Token()
		if token[0] == 'C' {
			l.rdb.RPush(ctx, "free", "token")
			return nil, strategies.ErrNotAcquired
		}
		_, err := l.rdb.BLPop(ctx, 5*time.Second, "free").Result()
		if err == redis.Nil {
			return nil, strategies.ErrNotAcquired
		}
		return &strategies.Lease{Token: token}, err
	}, func(ctx context.Context, l *toyLock, _ *strategies.Lease) error {
		return l.rdb.RPush(ctx, "free", "token").Err()
	})
	s.NoTTL = true
	return s
}

var queued = []trace.Kind{trace.KindBlock, trace.KindExecute, trace.KindGranted, trace.KindRefused, trace.KindFailed, trace.KindLost, trace.KindTimeout}

// TestLongestWaitIsServedFirst, and the next when the first gives the token back.
func TestLongestWaitIsServedFirst(t *testing.T) {
	w := newWorld(t, configOf(turnstile(), "A", "B", "C"))
	until(t, w, "B", trace.KindSend)
	w.Wait(10 * time.Millisecond)
	until(t, w, "A", trace.KindSend)
	w.Wait(10 * time.Millisecond)
	until(t, w, "C", trace.KindDone)
	for w.Step(SetOf(0, 1)) {
	}
	expectStory(t, w, `
		0.001 n1 B: BLPOP free 5 waits for an element
		0.011 n1 A: BLPOP free 5 waits for an element
		0.021 n1 C: RPUSH free token = 1 [free = [token] (no expiry)]
		0.021 n1 B: BLPOP free 5 = [free, token] [free gone]
		0.022 C  is refused
		0.022 B  has the lock, token B1, no deadline
		1.023 n1 B: RPUSH free token = 1 [free = [token] (no expiry)]
		1.023 n1 A: BLPOP free 5 = [free, token] [free gone]
		1.024 A  has the lock, token A1, no deadline
		2.025 n1 A: RPUSH free token = 1 [free = [token] (no expiry)]`, queued...)
}

// TestWaitEndsInVirtualTime: it ends with nil, and its timeout is the server's.
func TestWaitEndsInVirtualTime(t *testing.T) {
	w := newWorld(t, configOf(turnstile(), "A"))
	until(t, w, "A", trace.KindRefused)
	expectStory(t, w, `
		0.001 n1 A: BLPOP free 5 waits for an element
		5.001 n1 A: BLPOP free 5 = nil
		5.002 A  is refused`, queued...)
}

// TestDeadWaiterSwallowsElement: a server serves a client that has crashed, and a reply that is
// lost takes its element with it.
func TestDeadWaiterSwallowsElement(t *testing.T) {
	for _, f := range []fault.Fault{fault.Crash{Client: "A"}, fault.LoseReply{Client: "A"}} {
		w := newWorld(t, configOf(turnstile(), "A", "B", "C"))
		if _, is := f.(fault.LoseReply); is {
			inject(t, w, f)
		}
		until(t, w, "A", trace.KindSend)
		w.Wait(time.Millisecond)
		if _, is := f.(fault.Crash); is {
			inject(t, w, f)
		}
		until(t, w, "B", trace.KindSend)
		w.Wait(time.Millisecond)
		until(t, w, "C", trace.KindDone)
		for w.Step(SetOf(0, 1)) {
		}
		if n := count(w, trace.KindGranted); n != 0 {
			t.Errorf("%s: the element was handed out twice", f)
		}
		if count(w, trace.KindRefused) != 2 { // B and C
			t.Errorf("%s: B is not refused", f)
		}
	}
}

// TestRestartEndsWaits: the client learns that its connection has ended.
func TestRestartEndsWaits(t *testing.T) {
	w := newWorld(t, configOf(turnstile(), "A", "C"))
	until(t, w, "A", trace.KindSend)
	w.Wait(time.Millisecond)
	inject(t, w, fault.Down{Node: "n1"}, fault.Up{Node: "n1"})
	until(t, w, "A", trace.KindFailed)
	until(t, w, "C", trace.KindDone)
	if r := w.state.Nodes[0].Records; len(r) != 1 || r[0].Key != "free" {
		t.Errorf("what was pushed after the restart went to a connection before it: %v", r)
	}
}

// TestHangingUpEndsWait: go-redis closes the connection ten seconds after the server should
// have answered. The server, which has not heard of the wait before, forgets it then.
func TestHangingUpEndsWait(t *testing.T) {
	w := newWorld(t, configOf(turnstile(), "A", "C"))
	until(t, w, "A", trace.KindSend)
	inject(t, w, fault.Delay{Client: "A", Reply: false, By: 15 * time.Second})
	until(t, w, "A", trace.KindTimeout)
	w.Wait(time.Second)
	until(t, w, "C", trace.KindDone)
	expectStory(t, w, `
		15     n1 A: BLPOP free 5 waits for an element
		15     A  no reply from n1 in 15s: timeout
		16.001 n1 C: RPUSH free token = 1 [free = [token] (no expiry)]
		16.002 C  is refused`, trace.KindBlock, trace.KindExecute, trace.KindTimeout, trace.KindRefused)
}

// TestWithTimeout: a call waits as long as its own client says, and the next as long as the
// configuration does.
func TestWithTimeout(t *testing.T) {
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		if err := l.rdb.WithTimeout(500 * time.Millisecond).Ping(ctx).Err(); err == nil {
			return nil, errors.New("no timeout")
		}
		return nil, l.rdb.Ping(ctx).Err()
	}, toyDrop)
	w := newWorld(t, configOf(s, "A"))
	for range 2 {
		inject(t, w, fault.LoseReply{Client: "A"})
		until(t, w, "A", trace.KindTimeout)
	}
	expectStory(t, w, `
		0.5 A no reply from n1 in 500ms: timeout
		3.5 A no reply from n1 in 3s: timeout`, trace.KindTimeout)
}
