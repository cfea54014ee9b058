package process

import (
	"context"
	"time"

	"lockstep/sim/trace"
)

// NewProbe makes the probe of a host: a client that tests, after the script, whether the
// lock can still be had. See [trace.Probe].
func (rt *Runtime) NewProbe(index int, addrs []string, resends int) *Client {
	c := rt.NewClient(index, trace.Probe, addrs, resends)
	c.program = c.probing
	return c
}

// ProbeConfig returns the probe's part of a run's configuration.
func ProbeConfig() Config { return Config{Name: trace.Probe, Rate: 1, Cycles: 1} }

// LastPatience is the probe's wait before its last attempt: after it nothing in the world
// changes by itself any more, and stamps of any clock have passed.
const LastPatience = 10 * 365 * 24 * time.Hour

// probing is the probe's program. It tries to acquire at once; again whenever a request
// that was in flight has arrived; after a refusal, again when the host's patience is over;
// and a last time if a record that may still disappear obstructs the lock. A refusal after
// that is one for ever.
func (c *Client) probing(t *Thread) {
	ctx, host := context.Background(), c.rt.host
	for try, refusals := 1, 0; ; try++ {
		t.mark(trace.KindAcquire, try)
		lease, err := c.acquire(ctx)
		c.acquireReturned(t, try, lease, err)
		if err == nil {
			t.mark(trace.KindRelease, try)
			c.releaseReturned(t, try, c.lock.Release(ctx, lease))
		}
		in, arrives := host.NextArrival()
		switch {
		case arrives:
			t.do(Op{Kind: OpSleep, Sleep: in})
			continue
		case err == nil:
		case refusals == 0 || refusals == 1 && host.Obstructed():
			refusals++
			t.do(Op{Kind: OpSleep, Sleep: host.Patience(refusals)})
			continue
		default:
			host.NeverGranted()
		}
		t.note(trace.Event{Kind: trace.KindDone})
		return
	}
}
