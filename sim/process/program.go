package process

import (
	"context"
	"errors"
	"time"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// main is the program of every client: acquire, do the workload's job, release;
// as often as its configuration says.
func (c *Client) main(t *Thread) {
	cfg, job := c.cfg, jobs[c.settings.Workload]
	for cycle := 1; cycle <= cfg.Cycles; cycle++ {
		job.begin(t, cycle)
		for !c.attempt(t, cycle, job, cfg) && cfg.Insist > 0 {
			t.do(Op{Kind: OpSleep, Sleep: cfg.Insist})
		}
	}
	t.note(trace.Event{Kind: trace.KindDone, Cycle: cfg.Cycles})
}

// attempt asks for the lock once, and does the job if it may. It reports whether
// there is nothing more to be done in this cycle.
func (c *Client) attempt(t *Thread, cycle int, job job, cfg *Config) bool {
	if job.served(t) {
		return true
	}
	ctx := context.Background()
	t.mark(trace.KindAcquire, cycle)
	lease, err := c.acquire(ctx)
	c.acquireReturned(t, cycle, lease, err)
	switch {
	case err == nil:
	case cfg.goesAhead(err):
		c.goAhead(t, cycle, job, cfg)
		return true
	default:
		return false
	}
	t.mark(trace.KindEnter, cycle)
	commit := job.work(c, t, lease, cfg)
	t.mark(trace.KindLeave, cycle)
	c.keptItsWord(lease)
	c.release(t, cycle, lease)
	if commit != nil {
		t.do(*commit)
	}
	return true
}

// release gives a lease up. Its token comes back as the client has kept it.
func (c *Client) release(t *Thread, cycle int, lease *strategies.Lease) {
	t.mark(trace.KindRelease, cycle)
	if c.settings.Tokens == MangledTokens {
		lease.Token = mangled(lease.Token)
	}
	c.releaseReturned(t, cycle, c.lock.Release(context.Background(), lease))
}

// acquire calls the lock's Acquire. It panics, naming the method's line, if that returns
// neither a lease nor an error. A lease that comes with an error doesn't count, by Go's convention:
// many a lock returns an empty one along with the error.
func (c *Client) acquire(ctx context.Context) (*strategies.Lease, error) {
	lease, err := c.lock.Acquire(ctx)
	if lease == nil && err == nil {
		panic(&Panic{Client: c.Name, Source: c.acquireSource(), Value: breach(
			"Acquire returns neither a lease nor an error: it must return a lease, or strategies.ErrNotAcquired if another client has the lock, or the error of a command")})
	}
	return lease, err
}

// keptItsWord panics, naming the line of Acquire, if the deadline of a lease has become another
// while no Extend ran. The monitors and the search know only the deadline that Acquire and Extend
// return, so they would judge a lease that its caller no longer has.
func (c *Client) keptItsWord(lease *strategies.Lease) {
	if lease.Deadline != c.promised {
		panic(&Panic{Client: c.Name, Source: c.acquireSource(), Value: breach(
			"the deadline of a lease has become another while no Extend ran: leave Deadline 0 if a thread keeps the lease alive, as each of its renewals counts then, or move it in Extend")})
	}
}

// goAhead does the job without a lease, as a caller does that doesn't wait for a broken lock
// service, or for another holder.
func (c *Client) goAhead(t *Thread, cycle int, job job, cfg *Config) {
	t.mark(trace.KindEnter, cycle)
	_ = job.work(c, t, &strategies.Lease{}, &Config{Work: cfg.Work}) // which commits inside
	t.mark(trace.KindLeave, cycle)
	t.Phase = trace.PhaseIdle
}

// writeBack works, and writes the result to the resource, unless it finds that its lease is
// over. A caller whose transaction ends later gets the write back, to perform it then.
func (c *Client) writeBack(t *Thread, lease *strategies.Lease, cfg *Config, value int64) (commit *Op) {
	if cfg.Work > 0 {
		t.do(Op{Kind: OpSleep, Sleep: cfg.Work})
	}
	if cfg.Extend && !c.extend(t, lease) || c.over(lease, cfg) {
		return nil
	}
	if cfg.CommitLast {
		return &Op{Kind: OpWrite, Fence: lease.Fence, Value: value}
	}
	t.do(Op{Kind: OpWrite, Fence: lease.Fence, Value: value})
	return nil
}

// over is the check of a careful caller: is my lease over, by my own clock? Where the
// strategy exposes no deadline, the one that the lease was given counts, see granted.
func (c *Client) over(lease *strategies.Lease, cfg *Config) bool {
	if !cfg.Checks || !c.exposes && c.settings.Strategy.NoTTL {
		return false
	}
	now := clientClock{c}.Monotonic()
	if !c.exposes {
		return !c.rt.host.LeaseLive(c.Index)
	}
	return now >= lease.Deadline
}

// extend prolongs the lease, if the strategy can. It reports whether the caller
// may go on.
func (c *Client) extend(t *Thread, lease *strategies.Lease) bool {
	extender, can := c.lock.(strategies.Extender)
	if !can {
		return true
	}
	accesses := t.Command
	t.mark(trace.KindExtend, 0)
	err := extender.Extend(context.Background(), lease)
	c.promised = lease.Deadline
	t.Phase, t.Command = trace.PhaseWork, accesses
	if err != nil {
		t.note(trace.Event{Kind: trace.KindExtendFailed, Note: errorText(err)})
		return false
	}
	deadline := c.deadline(lease)
	c.exposes = lease.Deadline != 0 // it may have been given one, or have lost it
	t.note(trace.Event{Kind: trace.KindExtended, By: deadline})
	c.rt.host.AwaitLapse(c, deadline)
	return true
}

func (c *Client) acquireReturned(t *Thread, cycle int, lease *strategies.Lease, err error) {
	t.Phase, t.Command = trace.PhaseHold, 0
	switch {
	case errors.Is(err, strategies.ErrNotAcquired):
		t.Phase = trace.PhaseIdle
		t.note(trace.Event{Kind: trace.KindRefused, Cycle: cycle})
	case err != nil:
		t.Phase = trace.PhaseIdle
		t.note(trace.Event{Kind: trace.KindFailed, Cycle: cycle, Note: errorText(err)})
	default:
		c.granted(t, cycle, lease)
	}
}

// granted makes the lease live until the first of the events that end one, and
// sets the timer for its lapse.
//
// A strategy that exposes no deadline is given one: its reading of the monotonic
// clock when it sent the granting command, or the last that extended it, plus the
// TTL.
func (c *Client) granted(t *Thread, cycle int, lease *strategies.Lease) {
	deadline := c.deadline(lease)
	c.lease, c.exposes, c.promised = lease, lease.Deadline != 0, lease.Deadline
	t.note(trace.Event{Kind: trace.KindGranted, Cycle: cycle, By: deadline, Token: lease.Token, Fence: lease.Fence})
	c.rt.host.AwaitLapse(c, deadline)
}

// Renew extends the lease after a command of a background thread has prolonged its record;
// the host calls it. If the strategy exposes no deadline, the new one is a TTL after that
// command was sent, as at the grant.
func (c *Client) Renew(t *Thread) {
	if c.exposes {
		return
	}
	deadline := c.deadline(&strategies.Lease{})
	t.note(trace.Event{Kind: trace.KindExtended, By: deadline})
	c.rt.host.AwaitLapse(c, deadline)
}

// reading returns the lease's deadline on the client's monotonic clock; 0 is none.
func (c *Client) reading(lease *strategies.Lease) time.Duration {
	if lease.Deadline != 0 || c.settings.Strategy.NoTTL {
		return lease.Deadline
	}
	return c.Mono.Read(c.rt.host.GrantSent(c.Index)) + c.settings.TTL
}

// deadline returns the true instant at which the client's clock reads the lease's deadline,
// or Never.
func (c *Client) deadline(lease *strategies.Lease) time.Duration {
	reading := c.reading(lease)
	if reading == 0 {
		return trace.Never
	}
	return max(c.Mono.When(reading), 0)
}

func (c *Client) releaseReturned(t *Thread, cycle int, err error) {
	t.Phase, t.Command = trace.PhaseIdle, 0
	if err != nil {
		t.note(trace.Event{Kind: trace.KindReleaseFailed, Cycle: cycle, Note: errorText(err)})
		return
	}
	t.note(trace.Event{Kind: trace.KindReleased, Cycle: cycle})
}

// mark announces a step of the client's own program, which is scheduled as others are.
func (t *Thread) mark(kind trace.Kind, cycle int) {
	t.do(Op{Kind: OpMark, Mark: kind, Cycle: cycle})
}

// note reports an event that follows from the step before. No other thread can come in
// between.
func (t *Thread) note(e trace.Event) {
	if t.dead {
		return
	}
	rt := t.Client.rt
	rt.told = e
	told := &rt.told
	told.Client, told.Thread, told.Node, told.Ref, told.Acq = t.Client.Index, t.Index, trace.None, trace.None, t.Client.Acquired
	told.Phase = t.Phase
	rt.host.Tell(told)
}

// TakeStep performs the client's part of a thread's OpMark: it sets the phase and the
// acquisition of the next commands. It returns the event of the step, which for an extension
// lacks the cycle. The event is valid until the next step or report of any thread.
func (t *Thread) TakeStep() *trace.Event {
	switch t.Op.Mark {
	case trace.KindAcquire:
		t.Phase, t.Command = trace.PhaseAcquire, 0
		t.Client.Acquired++
	case trace.KindEnter:
		t.Phase, t.Command = trace.PhaseWork, 0
	case trace.KindLeave:
		t.Phase, t.Command = trace.PhaseHold, 0
	case trace.KindExtend:
		t.Phase, t.Command = trace.PhaseExtend, 0
	case trace.KindRelease:
		t.Phase, t.Command = trace.PhaseRelease, 0
	}
	told := &t.Client.rt.told
	*told = trace.Event{Kind: t.Op.Mark, Client: t.Client.Index, Thread: t.Index, Node: trace.None, Ref: trace.None, Phase: t.Phase,
		Cycle: t.Op.Cycle, Acq: t.Client.Acquired}
	return told
}
