package sim

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/fault"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// What A and B do here is one SET NX each; the network does the rest.
const exchange = `
	0     A  -> n1 SET lock A1 PX 10000 NX`

// sending is a world in which A's SET is in flight.
func sending(t *testing.T, clients ...string) *World {
	t.Helper()
	w := newWorld(t, config(t, "setpx-lua", clients...))
	until(t, w, "A", trace.KindSend)
	return w
}

// landed is one in which it has been executed, and its reply is in flight.
func landed(t *testing.T, clients ...string) *World {
	t.Helper()
	w := sending(t, clients...)
	w.Wait(time.Millisecond)
	return w
}

// upTo lets A act until it has learnt, or not, whether it has the lock.
func upTo(t *testing.T, w *World) {
	t.Helper()
	for {
		at := w.Position(0)
		if began := at.Cycle > 0; began && at.Phase != trace.PhaseAcquire || !w.Step(SetOf(0)) {
			break
		}
	}
	mustGoOn(t, w)
}

var traffic = []trace.Kind{trace.KindSend, trace.KindExecute, trace.KindReceive, trace.KindTimeout, trace.KindUnreachable, trace.KindDisconnect, trace.KindLost, trace.KindNetwork,
	trace.KindGranted, trace.KindRefused, trace.KindFailed}

func TestDropRequest(t *testing.T) {
	w := sending(t, "A")
	inject(t, w, fault.Drop{Client: "A", Reply: false})
	upTo(t, w)
	expectStory(t, w, exchange+`
		0   net A's request to n1 is lost: SET lock A1 PX 10000 NX
		3   A   no reply from n1 in 3s: timeout
		3   A   gives up: timeout waiting for n1`, traffic...)
	if w.State().LockRecord(0) != nil {
		t.Error("what did not arrive was executed")
	}
}

func TestDropReply(t *testing.T) {
	w := landed(t, "A")
	inject(t, w, fault.Drop{Client: "A", Reply: true})
	upTo(t, w)
	expectStory(t, w, exchange+`
		0.001 n1  A: SET lock A1 PX 10000 NX = OK [lock = A1 (10s left)]
		0.001 net n1's reply to A's SET lock A1 PX 10000 NX is lost
		3     A   no reply from n1 in 3s: timeout
		3     A   gives up: timeout waiting for n1`, traffic...)
	expectVerdict(t, w, "FN")
}

// TestLoseReply: of a client that waits for a reply, that one is lost, wherever it is, and of any other
// the reply to its next request.
func TestLoseReply(t *testing.T) {
	const lost = `
		0.001 net n1's reply to A's SET lock A1 PX 10000 NX is lost
		3     A   no reply from n1 in 3s: timeout
		3     A   gives up: timeout waiting for n1`
	const executed = `
		0.001 n1  A: SET lock A1 PX 10000 NX = OK [lock = A1 (10s left)]`
	w := landed(t, "A")
	inject(t, w, fault.LoseReply{Client: "A"})
	upTo(t, w)
	expectStory(t, w, exchange+executed+lost, traffic...)

	w = sending(t, "A")
	inject(t, w, fault.LoseReply{Client: "A"})
	upTo(t, w)
	expectStory(t, w, exchange+`
		0 net the reply to A's request will be lost: SET lock A1 PX 10000 NX`+executed+lost, traffic...)

	w = newWorld(t, config(t, "setpx-lua", "A"))
	inject(t, w, fault.LoseReply{Client: "A"})
	upTo(t, w)
	expectStory(t, w, `
		0 net the reply to A's next request will be lost`+exchange+executed+lost, traffic...)

	w = landed(t, "A")
	w.Wait(time.Millisecond) // it is there: A has but to read it
	inject(t, w, fault.LoseReply{Client: "A"})
	upTo(t, w)
	expectStory(t, w, exchange+executed+`
		0.002 net the reply to A's next request will be lost
		0.002 A   <- n1 OK
		0.002 A   has the lock, token A1, lease until 9.898s (10s less 102ms in case clocks drift apart)`, traffic...)
}

// TestDropNothing: one half of a request can be lost while it is in flight, once.
func TestDropNothing(t *testing.T) {
	w := sending(t, "A", "B")
	for _, f := range []fault.Fault{fault.Drop{Client: "A", Reply: true}, fault.Delay{Client: "A", Reply: true, By: time.Second}, fault.Drop{Client: "B", Reply: false}} {
		if w.Inject(f) == nil {
			t.Errorf("%s: there is none", f)
		}
	}
	inject(t, w, fault.Drop{Client: "A", Reply: false})
	if w.Inject(fault.Drop{Client: "A", Reply: false}) == nil || w.Inject(fault.Delay{Client: "A", Reply: false, By: time.Second}) == nil {
		t.Error("it is lost, and can be lost or held up once more")
	}
	w = landed(t, "A")
	if w.Inject(fault.Drop{Client: "A", Reply: false}) == nil {
		t.Error("the request has arrived, and can still be lost")
	}
	w.Wait(time.Millisecond)
	if w.Inject(fault.Drop{Client: "A", Reply: true}) == nil {
		t.Error("the reply is there, though not read, and can still be lost")
	}
	upTo(t, w)
	if w.Inject(fault.Drop{Client: "A", Reply: true}) == nil {
		t.Error("the reply was read, and can still be lost")
	}
}

// TestLateReplyIsNotUnderWayForEver: a reply that arrives where nobody waits any
// more has arrived.
func TestLateReplyIsNotUnderWayForEver(t *testing.T) {
	w := landed(t, "A")
	inject(t, w, fault.Delay{Client: "A", Reply: true, By: 5 * time.Second})
	upTo(t, w) // it gives up at 3s
	inject(t, w, fault.Delay{Client: "A", Reply: true, By: time.Second})
	w.Wait(time.Second)
	for _, f := range []fault.Fault{fault.Drop{Client: "A", Reply: true}, fault.Delay{Client: "A", Reply: true, By: time.Second}} {
		if err := w.Inject(f); err == nil {
			t.Errorf("%s: it came a while ago", f)
		}
	}
}

// TestLateRequest: a request that arrives when its sender has given up is executed
// all the same: an orphan, which no client knows of and which blocks for a TTL.
func TestLateRequest(t *testing.T) {
	w := sending(t, "A", "B")
	inject(t, w, fault.Delay{Client: "A", Reply: false, By: 5 * time.Second})
	upTo(t, w)
	w.Wait(2 * time.Second)
	expectStory(t, w, exchange+`
		0 net A's request is held up for 5s: SET lock A1 PX 10000 NX
		3 A   no reply from n1 in 3s: timeout
		3 A   gives up: timeout waiting for n1
		5 n1  A: SET lock A1 PX 10000 NX = OK [lock = A1 (10s left)]`, traffic...)
	until(t, w, "B", trace.KindGranted)
	if w.Now() < 15*time.Second+time.Millisecond || w.Now() > 16*time.Second {
		t.Errorf("B gets the lock at %s", w.Now())
	}
	expectVerdict(t, w, "BD")
}

// TestDelay: what is held up arrives that much after the fault, not after the send.
func TestDelay(t *testing.T) {
	w := sending(t, "A")
	inject(t, w, fault.Delay{Client: "A", Reply: false, By: 2 * time.Second})
	w.Wait(time.Second)
	inject(t, w, fault.Delay{Client: "A", Reply: false, By: 500 * time.Millisecond}) // sooner than before
	w.Wait(500 * time.Millisecond)
	inject(t, w, fault.Delay{Client: "A", Reply: true, By: 700 * time.Millisecond})
	upTo(t, w)
	expectStory(t, w, `
		1.5 n1 A: SET lock A1 PX 10000 NX = OK [lock = A1 (10s left)]
		2.2 A  has the lock, token A1, lease until 9.898s (10s less 102ms in case clocks drift apart)`, trace.KindExecute, trace.KindGranted, trace.KindFailed)
}

// TestDuplicate: the server executes it twice, and there is no second reply.
func TestDuplicate(t *testing.T) {
	w := landed(t, "A")
	inject(t, w, fault.Duplicate{Client: "A", After: time.Second, N: 1})
	upTo(t, w)
	w.Wait(2 * time.Second)
	expectStory(t, w, exchange+`
		0.001 n1  A: SET lock A1 PX 10000 NX = OK [lock = A1 (10s left)]
		0.001 net A's request will arrive once more, in 1s: SET lock A1 PX 10000 NX
		0.002 A   <- n1 OK
		0.002 A   has the lock, token A1, lease until 9.898s (10s less 102ms in case clocks drift apart)
		1.001 n1  A: SET lock A1 PX 10000 NX = nil`, traffic...)
	if w.Inject(fault.Drop{Client: "A", Reply: true}) == nil || w.Inject(fault.Drop{Client: "A", Reply: false}) == nil {
		t.Error("a duplicate counts as a request under way")
	}
}

// TestDuplicateRelease is what redis-py's and others' resends did: a DEL that comes
// twice removes the next holder's record.
func TestDuplicateRelease(t *testing.T) {
	w := newWorld(t, config(t, "naive-del", "A", "B"))
	run(t, w, "A")
	inject(t, w, fault.Duplicate{Client: "A", After: time.Second, N: 1})
	until(t, w, "B", trace.KindEnter)
	w.Wait(time.Second)
	expectVerdict(t, w, "FR")
	if w.State().LockRecord(0) != nil {
		t.Error("B's record is still there")
	}
}

// TestDuplicateWait: a WAIT has no second reply either.
func TestDuplicateWait(t *testing.T) {
	cfg := configOf(toyDo(cmd("set", "k", "v"), cmd("wait", 1, 1000), cmd("get", "k")), "A")
	cfg.Replicas, cfg.Lag = 1, 100*time.Millisecond
	w := newWorld(t, cfg)
	for range 2 {
		until(t, w, "A", trace.KindReceive)
	}
	inject(t, w, fault.Duplicate{Client: "A", After: 0, N: 1})
	run(t, w)
	expectStory(t, w, `
		0.001 n1 A: SET k v = OK [k = v (no expiry)]
		0.201 n1 A: WAIT 1 1000 = 1
		0.202 n1 A: WAIT 1 1000 = 1
		0.203 n1 A: GET k = v`, trace.KindExecute)
	if count(w, trace.KindReceive) != 3 {
		t.Error(strings.Join(story(w), "\n"))
	}
}

// TestDuplicateOutsideOfATransaction: what is sent again is sent on another
// connection, and doesn't become part of a transaction on the first.
func TestDuplicateOutsideOfATransaction(t *testing.T) {
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		l.rdb.Incr(ctx, "n")
		pipe := l.rdb.TxPipeline()
		pipe.Get(ctx, "n")
		pipe.Get(ctx, "n")
		_, err := pipe.Exec(ctx)
		return &strategies.Lease{}, err
	}, toyKeep)
	w := newWorld(t, configOf(s, "A"))
	until(t, w, "A", trace.KindReceive)
	inject(t, w, fault.Duplicate{Client: "A", After: time.Second, N: 1})
	until(t, w, "A", trace.KindSend)
	w.Wait(2 * time.Second)
	until(t, w, "A", trace.KindSend)
	w.Wait(time.Millisecond)
	if err := w.Inject(fault.Duplicate{Client: "A", After: time.Second, N: 1}); err == nil || err.Error() != "A's GET n is part of a transaction: nobody sends it again without the rest" {
		t.Error(err)
	}
	run(t, w)
	expectStory(t, w, `
		0.001 n1 A: INCR n = 1 [n = 1 (no expiry)]
		0.003 n1 A: MULTI = OK
		1.002 n1 A: INCR n = 2 [n = 2 (no expiry)]
		2.003 n1 A: GET n = QUEUED
		2.004 n1 A: GET n = QUEUED
		2.004 n1 A: EXEC = [2, 2]`, trace.KindExecute)
}

// TestCut: either direction of a link can be cut, or both, and only what is sent
// afterwards is lost.
func TestCut(t *testing.T) {
	for d, want := range map[fault.Direction]string{
		fault.Both: `
			0     net the link between A and n1 is cut
			0.001 n1  A: SET lock A1 PX 10000 NX = OK [lock = A1 (10s left)]
			0.001 net n1's reply to A's SET lock A1 PX 10000 NX is lost
			3     A   gives up: timeout waiting for n1`,
		fault.Requests: `
			0     net the link between A and n1 is cut for requests
			0.001 n1  A: SET lock A1 PX 10000 NX = OK [lock = A1 (10s left)]
			0.002 A   has the lock, token A1, lease until 9.898s (10s less 102ms in case clocks drift apart)`,
		fault.Replies: `
			0     net the link between A and n1 is cut for replies
			0.001 n1  A: SET lock A1 PX 10000 NX = OK [lock = A1 (10s left)]
			0.001 net n1's reply to A's SET lock A1 PX 10000 NX is lost
			3     A   gives up: timeout waiting for n1`,
	} {
		w := sending(t, "A")
		inject(t, w, fault.Cut{Client: "A", Node: "n1", Direction: d})
		upTo(t, w)
		expectStory(t, w, want, trace.KindNetwork, trace.KindExecute, trace.KindLost, trace.KindGranted, trace.KindFailed)
	}
	w := sending(t, "A")
	w.Wait(time.Millisecond)
	inject(t, w, fault.Cut{Client: "A", Node: "n1", Direction: fault.Both}) // too late for both halves
	upTo(t, w)
	expectStory(t, w, "0.002 A has the lock, token A1, lease until 9.898s (10s less 102ms in case clocks drift apart)", trace.KindLost, trace.KindGranted, trace.KindFailed)
}

// TestCutBeforeSending loses the request, if that is the direction.
func TestCutBeforeSending(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	inject(t, w, fault.Cut{Client: "A", Node: "n1", Direction: fault.Requests})
	until(t, w, "B", trace.KindGranted) // B's link is another
	upTo(t, w)
	expectStory(t, w, `
		0.002 B   has the lock, token B1, lease until 9.898s (10s less 102ms in case clocks drift apart)
		0.002 net A's request to n1 is lost: SET lock A1 PX 10000 NX
		3.002 A   gives up: timeout waiting for n1`, trace.KindLost, trace.KindGranted, trace.KindFailed)
}

// TestHeal ends a cut for what is sent from then on.
func TestHeal(t *testing.T) {
	cfg := config(t, "setpx-lua", "A")
	cfg.Clients[0].Insist = time.Second
	w := newWorld(t, cfg)
	inject(t, w, fault.Cut{Client: "A", Node: "n1", Direction: fault.Requests}, fault.Cut{Client: "A", Node: "n1", Direction: fault.Replies})
	until(t, w, "A", trace.KindFailed)
	inject(t, w, fault.Heal{Client: "A", Node: "n1"})
	until(t, w, "A", trace.KindGranted)
	expectStory(t, w, `
		0     net the link between A and n1 is cut for requests
		0     net the link between A and n1 is cut for replies
		0     net A's request to n1 is lost: SET lock A1 PX 10000 NX
		3     A   gives up: timeout waiting for n1
		3     net the link between A and n1 is whole again
		4.002 A   has the lock, token A2, lease until 13.898s (10s less 102ms in case clocks drift apart)`, trace.KindNetwork, trace.KindLost, trace.KindGranted, trace.KindFailed)
}

// TestSlow sets each direction's latency, for what is sent from then on.
func TestSlow(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	inject(t, w, fault.Slow{Client: "A", Node: "n1", Request: 30 * time.Millisecond, Reply: 500 * time.Millisecond})
	run(t, w, "A")
	expectStory(t, w, `
		0     net the link between A and n1 takes 30ms for a request, 500ms for a reply
		0.03  n1  A: SET lock A1 PX 10000 NX = OK [lock = A1 (10s left)]
		0.53  A   <- n1 OK
		1.56  n1  A: EVALSHA script 1 lock A1 = 1 [lock gone]
		2.06  A   <- n1 1`, trace.KindNetwork, trace.KindExecute, trace.KindReceive)
}

// TestNoLatency: at no latency everything happens at one instant, in order.
func TestNoLatency(t *testing.T) {
	cfg := config(t, "setpx-lua", "A")
	cfg.Latency, cfg.Clients[0].Work = 0, 0
	w := newWorld(t, cfg)
	run(t, w)
	if w.Now() != 0 || count(w, trace.KindReleased) != 1 {
		t.Errorf("it took %s:\n%s", w.Now(), strings.Join(story(w), "\n"))
	}
}

// pipeliner sends three commands at once and says what it got back.
var pipeliner = toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
	pipe := l.rdb.Pipeline()
	one, two, three := pipe.Incr(ctx, "n"), pipe.Incr(ctx, "n"), pipe.Incr(ctx, "n")
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	if one.Val() != 1 || two.Val() != 2 || three.Val() != 3 {
		panic("replies have changed places")
	}
	return &strategies.Lease{}, nil
}, toyKeep)

// TestConnectionsKeepOrder: what goes over one connection is executed in the order
// in which it was sent, and answered in that order, however long any of it takes.
func TestConnectionsKeepOrder(t *testing.T) {
	w := newWorld(t, configOf(pipeliner, "A"))
	until(t, w, "A", trace.KindSend)
	inject(t, w, fault.Delay{Client: "A", Reply: false, By: time.Second})
	until(t, w, "A", trace.KindGranted)
	expectStory(t, w, `
		0     A  -> n1 INCR n
		0     A  -> n1 INCR n
		0     A  -> n1 INCR n
		1     n1 A: INCR n = 1 [n = 1 (no expiry)]
		1     n1 A: INCR n = 2 [n = 2 (no expiry)]
		1     n1 A: INCR n = 3 [n = 3 (no expiry)]
		1.001 A  <- n1 1
		1.001 A  <- n1 2
		1.001 A  <- n1 3`, trace.KindSend, trace.KindExecute, trace.KindReceive)

	w = newWorld(t, configOf(pipeliner, "A"))
	until(t, w, "A", trace.KindSend)
	w.Wait(time.Millisecond)
	inject(t, w, fault.Delay{Client: "A", Reply: true, By: time.Second}) // the first reply, and nothing else is sent yet
	until(t, w, "A", trace.KindGranted)
	expectStory(t, w, "1.001 A <- n1 1\n1.001 A <- n1 2\n1.001 A <- n1 3", trace.KindReceive)
}

// TestDelayOfWhatIsWaiting: what has overtaken others, and waits for them, can still
// be held up.
func TestDelayOfWhatIsWaiting(t *testing.T) {
	w := newWorld(t, configOf(pipeliner, "A"))
	until(t, w, "A", trace.KindSend)
	inject(t, w, fault.Delay{Client: "A", Reply: false, By: time.Second})
	until(t, w, "A", trace.KindSend)
	until(t, w, "A", trace.KindSend)
	w.Wait(500 * time.Millisecond)
	inject(t, w, fault.Delay{Client: "A", Reply: false, By: 2 * time.Second}) // the third
	until(t, w, "A", trace.KindGranted)
	expectStory(t, w, `
		1   n1 A: INCR n = 1 [n = 1 (no expiry)]
		1   n1 A: INCR n = 2 [n = 2 (no expiry)]
		2.5 n1 A: INCR n = 3 [n = 3 (no expiry)]`, trace.KindExecute)
}

// TestConnectionsLoseTheRest: after something is lost on a connection, nothing that
// comes after it on that connection arrives. The next connection is another matter.
func TestConnectionsLoseTheRest(t *testing.T) {
	w := newWorld(t, configOf(pipeliner, "A", "B"))
	until(t, w, "A", trace.KindSend)
	inject(t, w, fault.Drop{Client: "A", Reply: false})
	run(t, w)
	expectStory(t, w, `
		0 net A's request to n1 is lost: INCR n
		0 net A's request to n1 is lost: INCR n
		0 net A's request to n1 is lost: INCR n
		3 A   gives up: timeout waiting for n1`, trace.KindLost, trace.KindFailed)
	if count(w, trace.KindGranted) != 1 { // B
		t.Error(strings.Join(story(w), "\n"))
	}

	w = newWorld(t, configOf(pipeliner, "A"))
	until(t, w, "A", trace.KindSend)
	w.Wait(time.Millisecond)
	inject(t, w, fault.Drop{Client: "A", Reply: true}) // the first, and the others are yet to be sent
	run(t, w)
	if count(w, trace.KindExecute) != 3 || count(w, trace.KindLost) != 3 || count(w, trace.KindReceive) != 0 {
		t.Error(strings.Join(story(w), "\n"))
	}

	w = newWorld(t, configOf(pipeliner, "A"))
	for range 3 {
		until(t, w, "A", trace.KindSend)
	}
	w.Wait(time.Millisecond)
	inject(t, w, fault.Drop{Client: "A", Reply: true}) // the third
	run(t, w)
	expectStory(t, w, `
		0.001 n1  A: INCR n = 1 [n = 1 (no expiry)]
		0.001 n1  A: INCR n = 2 [n = 2 (no expiry)]
		0.001 n1  A: INCR n = 3 [n = 3 (no expiry)]
		0.001 net n1's reply to A's INCR n is lost
		0.002 A   <- n1 1
		0.002 A   <- n1 2
		3     A   gives up: timeout waiting for n1`, trace.KindLost, trace.KindFailed, trace.KindExecute, trace.KindReceive)
}

// TestTransactionsKeepOrder: held up in its middle, a transaction is still one.
func TestTransactionsKeepOrder(t *testing.T) {
	for k := range 3 {
		w := newWorld(t, configOf(toy(watchedTake, watchedDrop), "A"))
		for range 3 + k { // WATCH, EXISTS, and then MULTI, SET, EXEC
			until(t, w, "A", trace.KindSend)
		}
		inject(t, w, fault.Delay{Client: "A", Reply: false, By: time.Second})
		until(t, w, "A", trace.KindGranted)
		got := story(w, trace.KindExecute)
		if len(got) != 5 || !strings.Contains(got[2], "MULTI = OK") || !strings.Contains(got[3], "SET lock A1 EX 10 = QUEUED") || !strings.Contains(got[4], "EXEC = [OK]") {
			t.Errorf("with the %d. part held up:\n%s", k+1, strings.Join(got, "\n"))
		}
	}
}

// TestUnderWayAtARestart: a connection doesn't survive its server, and nor does
// what is in flight on it.
func TestUnderWayAtARestart(t *testing.T) {
	w := sending(t, "A")
	inject(t, w, fault.Down{Node: "n1"}, fault.Up{Node: "n1"})
	upTo(t, w)
	expectStory(t, w, exchange+`
		0.001 n1 has ended the connection: A's SET lock A1 PX 10000 NX is not answered
		0.002 A  <- n1 connection closed
		0.002 A  gives up: n1: connection refused`, traffic...)
}

// TestReconnectAfterATransaction: what is over, by EXEC, DISCARD or UNWATCH, isn't
// missed: a library that has an idle connection and finds it closed opens another.
func TestReconnectAfterATransaction(t *testing.T) {
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		if err := l.rdb.Watch(ctx, func(*redis.Tx) error { return nil }, l.key); err != nil {
			return nil, err
		}
		return watchedTake(ctx, l)
	}, watchedDrop)
	cfg := configOf(s, "A")
	cfg.Clients[0].Cycles = 2
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindGranted)
	inject(t, w, fault.Down{Node: "n1"}, fault.Up{Node: "n1"})
	run(t, w)
	if count(w, trace.KindReleaseFailed) != 1 || count(w, trace.KindGranted) != 2 || count(w, trace.KindUnreachable) != 0 {
		t.Error(strings.Join(story(w), "\n"))
	}
}

// TestReconnect: a client that has lost its connection gets another one, and its
// handshake leaves no event.
func TestReconnect(t *testing.T) {
	cfg := config(t, "setpx-lua", "A")
	cfg.Clients[0].Insist = time.Second
	w := newWorld(t, cfg)
	inject(t, w, fault.Down{Node: "n1"})
	until(t, w, "A", trace.KindFailed)
	inject(t, w, fault.Up{Node: "n1"})
	until(t, w, "A", trace.KindGranted)
	expectStory(t, w, `
		0     A  -> n1 SET lock A1 PX 10000 NX
		0.001 n1 is down: A's SET lock A1 PX 10000 NX is not answered
		0.002 A  <- n1 connection refused
		0.002 A  gives up: n1: connection refused
		1.002 A  -> n1 SET lock A2 PX 10000 NX
		1.003 n1 A: SET lock A2 PX 10000 NX = OK [lock = A2 (10s left)]
		1.004 A  <- n1 OK
		1.004 A  has the lock, token A2, lease until 10.9s (10s less 102ms in case clocks drift apart)`, traffic...)
}

// waiting lets A's WAIT wait at n1, whose replica is slow.
func waiting(t *testing.T) *World {
	t.Helper()
	cfg := config(t, "setpx-wait", "A")
	cfg.Replicas, cfg.Lag = 1, 300*time.Millisecond
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindReceive)
	until(t, w, "A", trace.KindSend)
	w.Wait(10 * time.Millisecond)
	return w
}

// TestWaitIsNotUnderWay: a WAIT that has arrived, and waits, is no request that the
// network could still lose or hold up, and no reply yet.
func TestWaitIsNotUnderWay(t *testing.T) {
	for _, reply := range []bool{false, true} {
		for _, f := range []fault.Fault{fault.Drop{Client: "A", Reply: reply}, fault.Delay{Client: "A", Reply: reply, By: time.Second}} {
			w := waiting(t)
			if err := w.Inject(f); err == nil || err.Error() != "no "+fault.Half(reply)+" of A is under way" {
				t.Errorf("%s: %v", f, err)
			}
			run(t, w)
			expectStory(t, w, "0.602 A has the lock, token A1, lease until 9.898s (10s less 102ms in case clocks drift apart)", trace.KindGranted)
		}
	}
}

// TestWaitEndsWithItsConnection: a server that goes down, or becomes a replica, ends
// the connections of those who wait.
func TestWaitEndsWithItsConnection(t *testing.T) {
	w := waiting(t)
	inject(t, w, fault.Down{Node: "n1"}, fault.Up{Node: "n1"})
	until(t, w, "A", trace.KindDisconnect)
	expectStory(t, w, `
		0.012 n1 has ended the connection: A's WAIT 1 1000 is not answered
		0.013 A  <- n1 connection closed`, trace.KindUnreachable, trace.KindDisconnect)

	w = waiting(t)
	inject(t, w, fault.Failover{To: "n1r1", Stay: []string{"A"}}, fault.Rejoin{Server: "n1"})
	until(t, w, "A", trace.KindReceive)
	expectStory(t, w, `
		0.002 A <- n1 OK
		0.013 A <- n1 error UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)`, trace.KindReceive)
}

// TestWaitBlocksItsConnection: what comes after a WAIT on its connection is executed
// after it, and not at all if it ends with the connection.
func TestWaitBlocksItsConnection(t *testing.T) {
	for _, down := range []bool{false, true} {
		w := pipelined(t, 1000)
		until(t, w, "A", trace.KindReceive)
		want := `
			0.001 n1 A: SET k v = OK [k = v (no expiry)]
			0.201 n1 A: WAIT 1 1000 = 1
			0.201 n1 A: INCR n = 1 [n = 1 (no expiry)]`
		if down {
			inject(t, w, fault.Down{Node: "n1"})
			want = `
			0.001 n1 A: SET k v = OK [k = v (no expiry)]
			0.002 n1 has ended the connection: A's WAIT 1 1000 is not answered
			0.002 n1 has ended the connection: A's INCR n is not answered`
		}
		run(t, w)
		expectStory(t, w, want, trace.KindExecute, trace.KindUnreachable)
	}
}

// pipelined is a client whose pipeline has a WAIT in it, at a server with a replica.
func pipelined(t *testing.T, millis int) *World {
	t.Helper()
	cfg := configOf(toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		pipe := l.rdb.Pipeline()
		pipe.Set(ctx, "k", "v", 0)
		pipe.Do(ctx, "WAIT", 1, millis)
		pipe.Incr(ctx, "n")
		_, err := pipe.Exec(ctx)
		return nil, cmp.Or(err, strategies.ErrNotAcquired)
	}, toyKeep), "A")
	cfg.Replicas, cfg.Lag = 1, 100*time.Millisecond
	return newWorld(t, cfg)
}

// TestBehindAWait: a request that has arrived behind a WAIT is not in flight, as that is not;
// what has not goes with the connection, like what waits; and nothing is done for a
// client that is gone.
func TestBehindAWait(t *testing.T) {
	w := pipelined(t, 1000)
	until(t, w, "A", trace.KindReceive)
	if err := w.Inject(fault.Drop{Client: "A", Reply: false}); err == nil {
		t.Error("a request that has arrived is lost")
	}

	w = pipelined(t, 1000)
	for range 3 {
		until(t, w, "A", trace.KindSend)
	}
	inject(t, w, fault.Delay{Client: "A", Reply: false, By: 50 * time.Millisecond})
	w.Wait(5 * time.Millisecond)
	inject(t, w, fault.Failover{To: "n1r1"}, fault.Rejoin{Server: "n1"}, fault.Failover{To: "n1"})
	run(t, w)
	expectStory(t, w, "0.05 n1 has ended the connection: A's INCR n is not answered", trace.KindUnreachable)

	w = pipelined(t, 5000)
	inject(t, w, fault.Down{Node: "n1r1"})
	until(t, w, "A", trace.KindTimeout)
	w.Wait(3 * time.Second)
	expectStory(t, w, `
		0.001 n1 A: SET k v = OK [k = v (no expiry)]
		5.001 n1 A: WAIT 1 5000 = 0
		5.001 n1 has ended the connection: A's INCR n is not answered`, trace.KindExecute, trace.KindUnreachable)
}

// TestWaitForEver: the drain doesn't wait for a WAIT that nobody waits for.
func TestWaitForEver(t *testing.T) {
	w := pipelined(t, 0)
	inject(t, w, fault.Down{Node: "n1r1"})
	until(t, w, "A", trace.KindTimeout)
	before := w.events
	drained(t, w)
	if w.events > before+100 {
		t.Errorf("%d more events", w.events-before)
	}
}

// TestWaitInATransaction waits for nothing, and its answer stands among the others.
func TestWaitInATransaction(t *testing.T) {
	cfg := configOf(toyDo(cmd("SET", "k", "v"), cmd("MULTI"), cmd("SET", "k", "w"), cmd("WAIT", 1, 1000), cmd("EXEC")), "A")
	cfg.Replicas = 1
	w := newWorld(t, cfg)
	run(t, w)
	expectStory(t, w, `
		0.002 A <- n1 OK
		0.004 A <- n1 OK
		0.006 A <- n1 QUEUED
		0.008 A <- n1 QUEUED
		0.01  A <- n1 [OK, 1]`, trace.KindReceive)
}

// TestWaitAtAReplica: a WAIT that reaches a server which has become a replica is
// refused at once.
func TestWaitAtAReplica(t *testing.T) {
	cfg := config(t, "setpx-wait", "A")
	cfg.Replicas, cfg.Lag = 1, 300*time.Millisecond
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindReceive)
	until(t, w, "A", trace.KindSend)
	inject(t, w, fault.Failover{To: "n1r1"}, fault.Rejoin{Server: "n1"})
	until(t, w, "A", trace.KindReceive)
	expectStory(t, w, `
		0.002 A <- n1 OK
		0.004 A <- n1 error ERR WAIT cannot be used with replica instances.`, trace.KindReceive)
}

// TestReplicaRefusesWrites: what reaches a server that has become a replica meanwhile
// writes nothing; nor does a script.
func TestReplicaRefusesWrites(t *testing.T) {
	cfg := config(t, "setpx-lua", "A")
	cfg.Replicas = 1
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindSend)
	inject(t, w, fault.Failover{To: "n1r1"}, fault.Rejoin{Server: "n1"})
	run(t, w)
	expectStory(t, w, `
		0.001 n1 A: SET lock A1 PX 10000 NX = error READONLY You can't write against a read only replica.
		0.002 A  gives up: READONLY You can't write against a read only replica.`, trace.KindExecute, trace.KindFailed)
}

// TestWaitIsWaitedFor: after the script nobody is stopped whose WAIT may yet be
// answered, even if the record is gone by then.
func TestWaitIsWaitedFor(t *testing.T) {
	cfg := config(t, "setpx-wait", "A")
	cfg.TTL, cfg.Replicas, cfg.Lag = 300*time.Millisecond, 1, 300*time.Millisecond
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindReceive)
	until(t, w, "A", trace.KindSend)
	w.Wait(400 * time.Millisecond)
	drained(t, w)
	expectStory(t, w, "0.602 A is stopped: the run is over", trace.KindStop)
}

// TestReplyComesFromWhoAnswered: a reply that is read after a failover, or waited for
// in vain, is the old master's.
func TestReplyComesFromWhoAnswered(t *testing.T) {
	for _, lost := range []bool{false, true} {
		cfg := config(t, "setpx-lua", "A")
		cfg.Replicas = 1
		w := newWorld(t, cfg)
		until(t, w, "A", trace.KindExecute)
		if lost {
			inject(t, w, fault.Drop{Client: "A", Reply: true})
		}
		inject(t, w, fault.Failover{To: "n1r1"})
		run(t, w)
		for _, e := range w.trace.Events {
			if (e.Kind == trace.KindReceive || e.Kind == trace.KindTimeout) && e.Phase == trace.PhaseAcquire && e.Node != 0 {
				t.Errorf("%s, of %s", e.Kind, w.nodes[e.Node].Name)
			}
		}
		want := ""
		if lost {
			want = "3 A gives up: timeout waiting for n1"
		}
		expectStory(t, w, want, trace.KindFailed)
	}
}
