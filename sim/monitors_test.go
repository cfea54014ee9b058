package sim

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/fault"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// hand writes a run's events by hand, for what no client would do by itself or not
// at that very instant. Monitors see nothing but events, so they can't tell.
type hand struct {
	t *testing.T
	w *World
}

func newHand(t *testing.T, strategy string) *hand {
	return &hand{t, newWorld(t, config(t, strategy, "A", "B", "C"))}
}

func (h *hand) emit(e trace.Event) *hand {
	e.Ref, e.Acq = trace.None, 0
	if e.Client != trace.None {
		e.Acq = h.w.State().Clients[e.Client].Acquired
		if e.Kind == trace.KindAcquire {
			e.Acq++
		}
		e.Phase = h.w.State().Clients[e.Client].Phase
	}
	h.w.emit(&e)
	return h
}

// at is now; it may not go back.
func (h *hand) at(now time.Duration) *hand {
	h.w.now = now
	return h
}

// does is an event of a client's own.
func (h *hand) does(name string, kinds ...trace.Kind) *hand {
	h.t.Helper()
	i, _ := h.w.Client(name)
	for _, kind := range kinds {
		h.emit(trace.Event{Kind: kind, Client: i, Node: trace.None, By: trace.Never})
	}
	return h
}

// granted gives a client a lease until then.
func (h *hand) granted(name string, until time.Duration) *hand {
	i, _ := h.w.Client(name)
	return h.emit(trace.Event{Kind: trace.KindGranted, Client: i, Node: trace.None, By: until})
}

func (h *hand) extended(name string, until time.Duration) *hand {
	i, _ := h.w.Client(name)
	return h.emit(trace.Event{Kind: trace.KindExtended, Client: i, Node: trace.None, By: until})
}

// sets is a client's command that makes the lock's record so; "" removes it. It
// executes on n1.
func (h *hand) sets(name, value string, expires time.Duration) *hand {
	i, _ := h.w.Client(name)
	return h.emit(trace.Event{Kind: trace.KindExecute, Client: i, Node: 0, Args: []string{"CMD"}, Changes: []trace.Change{h.change(value, expires)}})
}

// expires is the end of the lock's record by itself.
func (h *hand) expires() *hand {
	return h.emit(trace.Event{Kind: trace.KindExpire, Client: trace.None, Node: 0, Changes: []trace.Change{h.change("", 0)}})
}

func (h *hand) change(value string, expires time.Duration) trace.Change {
	ch := trace.Change{Key: h.w.cfg.Key}
	if r := h.w.State().LockRecord(0); r != nil {
		before := r.Record
		ch.Before = &before
	}
	if value != "" {
		ch.After = &trace.Record{Value: value, Expires: expires}
	}
	return ch
}

// accesses are a read or a write of the resource.
func (h *hand) accesses(name string, kinds ...trace.Kind) *hand {
	i, _ := h.w.Client(name)
	for _, kind := range kinds {
		h.emit(trace.Event{Kind: kind, Client: i, Node: trace.None, Version: h.w.State().Store.Version + 1})
	}
	return h
}

func (h *hand) verdict(want string) *hand {
	h.t.Helper()
	expectVerdict(h.t, h.w, want)
	return h
}

// holds takes a client through a whole acquisition.
func (h *hand) holds(name string, until time.Duration) *hand {
	return h.does(name, trace.KindAcquire).sets(name, name+"1", until).granted(name, until)
}

const sec = time.Second

// DG. Leases are half-open intervals: what ends at an instant has ended when
// anything else happens at it, if the end comes first. Between two things that
// happen at one instant their order decides, for it is an order of cause, too: a
// client that has begun to release has done so before the next one acquires.

func TestDoubleGrant(t *testing.T) {
	newHand(t, "setpx-lua").holds("A", 10*sec).verdict("ok").at(9*sec).holds("B", 20*sec).verdict("DG FR")
	newHand(t, "setpx-lua").holds("A", trace.Never).at(1000*sec).expires().holds("B", trace.Never).verdict("DG")

	// All ways in which a lease ends.
	for name, end := range map[string]func(*hand){
		"it lapses":   func(h *hand) { h.at(10*sec).does("A", trace.KindLapse) },
		"it releases": func(h *hand) { h.does("A", trace.KindRelease) },
		"it crashes":  func(h *hand) { h.does("A", trace.KindCrash) },
		"it was over when it was granted": func(h *hand) {
			h.at(11*sec).does("A", trace.KindRelease, trace.KindReleased, trace.KindAcquire).granted("A", 11*sec)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHand(t, "setpx-lua").holds("A", 10*sec)
			h.at(9 * sec).expires()
			end(h)
			h.holds("B", 20*sec).verdict("ok")
		})
	}

	// Three at once are three pairs.
	h := newHand(t, "setpx-lua").holds("A", 10*sec).expires().holds("B", 10*sec).expires().holds("C", 10*sec).verdict("DG")
	if n := len(h.w.monitor.Violations()); n != 3 {
		t.Errorf("three clients at once are %d double grants", n)
	}
}

// TestDoubleGrantByExtension: a lease that lives again is live, too.
func TestDoubleGrantByExtension(t *testing.T) {
	h := newHand(t, "setpx-lua").holds("A", 10*sec).at(10*sec).expires().does("A", trace.KindLapse).holds("B", 20*sec).verdict("ok")
	h.does("A", trace.KindExtend).extended("A", 21*sec).verdict("DG GAP")
	h = newHand(t, "setpx-lua").holds("A", 10*sec).at(10*sec).expires().does("A", trace.KindLapse).holds("B", 20*sec)
	h.does("A", trace.KindExtend).extended("A", 10*sec).verdict("GAP") // extended, to an instant that has come
}

// TestGrantAtTheDeadline makes B's grant fall on the very instant of A's deadline,
// and on the nanosecond before.
func TestGrantAtTheDeadline(t *testing.T) {
	for early, want := range map[time.Duration]string{0: "ok", time.Nanosecond: "DG"} {
		w := newWorld(t, configOf(toy(toyTake, toyKeep), "A", "B"))
		until(t, w, "A", trace.KindGranted) // until 10s
		inject(t, w, fault.Evict{Node: "n1"})
		w.Wait(10*sec - 2*time.Millisecond - w.Now() - early)
		until(t, w, "B", trace.KindGranted)
		if w.Now() != 10*sec-early {
			t.Fatalf("B gets the lock at %s", w.Now())
		}
		expectVerdict(t, w, want)
	}
}

// TestOrderWithinAnInstant: what ends by itself comes before what arrives. B's DEL,
// which was sent before A even asked, arrives at the very instant of A's deadline:
// it deletes a record whose lease is over.
func TestOrderWithinAnInstant(t *testing.T) {
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		if token := l.Token(); token[0] == 'B' {
			return nil, l.rdb.Del(ctx, l.key).Err()
		}
		return toyTake(ctx, l)
	}, toyKeep)
	for early, want := range map[time.Duration]string{0: "ok", time.Nanosecond: "FR"} {
		cfg := configOf(s, "A", "B")
		cfg.Timeout = time.Minute
		w := newWorld(t, cfg)
		inject(t, w, fault.Slow{Client: "B", Node: "n1", Request: 10*sec - early, Reply: 0})
		until(t, w, "B", trace.KindSend)
		until(t, w, "A", trace.KindGranted) // until 10s
		w.Wait(10*sec - w.Now())
		expectVerdict(t, w, want)
	}
}

// OV.

func TestOverlap(t *testing.T) {
	in := func() *hand { return newHand(t, "setpx-lua").holds("A", 10*sec).does("A", trace.KindEnter) }
	in().at(10*sec).expires().does("A", trace.KindLapse).holds("B", 20*sec).verdict("ok").does("B", trace.KindEnter).verdict("OV")
	in().at(10*sec).expires().does("A", trace.KindLapse).holds("B", 20*sec).does("A", trace.KindLeave).does("B", trace.KindEnter).verdict("ok")
	in().at(10*sec).expires().does("A", trace.KindCrash).holds("B", 20*sec).does("B", trace.KindEnter).verdict("ok")
	in().at(10*sec).expires().does("A", trace.KindStop, trace.KindLapse).holds("B", 20*sec).does("B", trace.KindEnter).verdict("ok")
}

// TestOverlapOfAPausedHolder is design.md's claim 2 in its least form: no double
// grant, and yet two in the critical section.
func TestOverlapOfAPausedHolder(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	until(t, w, "A", trace.KindRead)
	inject(t, w, fault.Pause{Client: "A"})
	w.Wait(11 * sec)
	until(t, w, "B", trace.KindWrite)
	expectVerdict(t, w, "OV")
	inject(t, w, fault.Resume{Client: "A"})
	run(t, w)
	expectVerdict(t, w, "SW OV")
}

// SW.

func TestStaleWrite(t *testing.T) {
	both := func() *hand {
		return newHand(t, "setpx-lua").holds("A", 10*sec).at(10*sec).expires().does("A", trace.KindLapse).holds("B", 20*sec)
	}
	both().accesses("B", trace.KindRead).accesses("A", trace.KindWrite).verdict("SW")
	both().accesses("B", trace.KindWrite).accesses("A", trace.KindWrite).verdict("SW")
	both().accesses("A", trace.KindWrite).accesses("B", trace.KindRead, trace.KindWrite).verdict("ok") // nobody was harmed
	both().accesses("A", trace.KindRead).accesses("B", trace.KindRead, trace.KindWrite).verdict("ok")  // the older only reads
	both().accesses("B", trace.KindRead, trace.KindWrite).accesses("A", trace.KindRead).verdict("ok")  // even after
	both().accesses("A", trace.KindRead, trace.KindWrite).accesses("B", trace.KindRead, trace.KindWrite).verdict("ok")
	both().accesses("B", trace.KindReject).accesses("A", trace.KindWrite).verdict("ok") // a refused access is no touch

	// What is newer is decided by the granting commands, not by when Acquire returned.
	late := newHand(t, "setpx-lua").does("A", trace.KindAcquire).sets("A", "A1", 5*sec)
	late.at(5*sec).expires().holds("B", 20*sec).granted("A", 5*sec)
	late.accesses("B", trace.KindRead).accesses("A", trace.KindWrite).verdict("SW")

	// So are grants whose record was over before it was stored: there is no change.
	dead := func() *hand {
		h := newHand(t, "pxat-client-clock").holds("A", 10*sec).accesses("A", trace.KindRead).at(10*sec).expires().does("A", trace.KindLapse)
		h.does("B", trace.KindAcquire).emit(trace.Event{Kind: trace.KindExecute, Client: 1, Node: 0, Args: []string{"SET"}})
		return h.granted("B", 20*sec)
	}
	dead().accesses("B", trace.KindRead, trace.KindWrite).verdict("ok")
	dead().accesses("B", trace.KindRead).accesses("A", trace.KindWrite).verdict("SW")
}

// TestGrantsKeepTheirOrder: what is executed once more, or late, makes no grant
// newer than it is.
func TestGrantsKeepTheirOrder(t *testing.T) {
	again := func(h *hand, duplicate bool) *hand {
		ch := h.change("A1", 20*sec)
		return h.emit(trace.Event{Kind: trace.KindExecute, Copy: duplicate, Client: 0, Node: 0, Args: []string{"SET"}, Changes: []trace.Change{ch}})
	}
	for name, h := range map[string]*hand{
		"a duplicate before the grant": func() *hand {
			h := newHand(t, "setpx-lua").does("A", trace.KindAcquire).sets("A", "A1", 5*sec).at(5 * sec).expires()
			h.holds("B", 6*sec).at(6*sec).expires().does("B", trace.KindLapse)
			return again(h, true).granted("A", 5*sec)
		}(),
		"a duplicate after the grant": func() *hand {
			h := newHand(t, "setpx-lua").holds("A", 5*sec).at(5*sec).expires().does("A", trace.KindLapse)
			h.holds("B", 6*sec).at(6*sec).expires().does("B", trace.KindLapse)
			return again(h, true)
		}(),
		"a late request after the grant": func() *hand {
			h := newHand(t, "setpx-lua").holds("A", 5*sec).at(5*sec).expires().does("A", trace.KindLapse)
			h.holds("B", 6*sec).at(6*sec).expires().does("B", trace.KindLapse)
			return again(h, false)
		}(),
	} {
		h.accesses("B", trace.KindRead).accesses("A", trace.KindWrite)
		if len(h.w.monitor.Violations()) != 1 || h.w.monitor.Violations()[0].Code != trace.SW {
			t.Errorf("%s: %+v", name, h.w.monitor.Violations())
		}
		h.accesses("B", trace.KindWrite)
		if last := h.w.monitor.Violations()[len(h.w.monitor.Violations())-1]; !strings.Contains(last.Text, "an update is lost") {
			t.Errorf("%s: the newer holder's write is stale: %s", name, last.Text)
		}
	}
}

func TestLostUpdate(t *testing.T) {
	// Two callers that go ahead without the lock: neither grant is newer.
	h := newHand(t, "setpx-lua").does("A", trace.KindAcquire, trace.KindFailed).does("B", trace.KindAcquire, trace.KindFailed)
	h.accesses("A", trace.KindRead).accesses("B", trace.KindRead, trace.KindWrite).accesses("A", trace.KindWrite).verdict("SW")
	if text := h.w.monitor.Violations()[0].Text; text != "A overwrites what B wrote since A read: an update is lost" {
		t.Error(text)
	}

	// A write that comes too late destroys the update of who has read and written since its own read.
	for read, want := range map[bool]string{true: "who got the lock later, has already read: B's update is lost", false: "who got the lock later, has already read"} {
		h := newHand(t, "setpx-lua").holds("A", 10*sec)
		if read {
			h.accesses("A", trace.KindRead)
		}
		h.at(10*sec).expires().does("A", trace.KindLapse).holds("B", 20*sec).accesses("B", trace.KindRead, trace.KindWrite).accesses("A", trace.KindWrite).verdict("SW")
		if text := h.w.monitor.Violations()[0].Text; !strings.HasSuffix(text, want) {
			t.Errorf("A has read: %v, and it is said that %q", read, text)
		}
	}

	// It destroys all updates that were made since then, and not just the first.
	h = newHand(t, "setpx-lua").holds("A", 10*sec).accesses("A", trace.KindRead).at(10*sec).expires().does("A", trace.KindLapse)
	h.holds("B", 20*sec).accesses("B", trace.KindRead, trace.KindWrite).at(20*sec).expires().does("B", trace.KindLapse)
	h.holds("C", 30*sec).accesses("C", trace.KindRead, trace.KindWrite, trace.KindWrite).accesses("A", trace.KindWrite)
	if text := h.w.monitor.Violations()[0].Text; !strings.HasSuffix(text, ": B's and C's updates are lost") {
		t.Errorf("two have written since A read, and it is said that %q", text)
	}

	// The newer holder's own read is older than the older one's last write.
	h = newHand(t, "setpx-lua").holds("A", 10*sec).at(10*sec).expires().does("A", trace.KindLapse).holds("B", 20*sec)
	h.accesses("B", trace.KindRead).accesses("A", trace.KindWrite).accesses("B", trace.KindWrite)
	if n := len(h.w.monitor.Violations()); n != 2 {
		t.Errorf("A's stale write and B's loss of it are %d violations", n)
	}

	none := func() *hand {
		return newHand(t, "setpx-lua").does("A", trace.KindAcquire, trace.KindFailed).does("B", trace.KindAcquire, trace.KindFailed)
	}
	none().accesses("A", trace.KindRead, trace.KindWrite).accesses("B", trace.KindRead, trace.KindWrite).verdict("ok")
	none().accesses("A", trace.KindWrite).accesses("B", trace.KindWrite).verdict("ok") // nobody has read
	none().accesses("A", trace.KindRead).accesses("B", trace.KindRead, trace.KindWrite).accesses("A", trace.KindRead, trace.KindWrite).verdict("ok")
	h = none().accesses("A", trace.KindRead).accesses("B", trace.KindWrite)
	h.does("A", trace.KindAcquire, trace.KindFailed).accesses("A", trace.KindWrite).verdict("ok") // what it read was another time
}

// FR.

func TestForeignRelease(t *testing.T) {
	held := func() *hand { return newHand(t, "setpx-lua").holds("A", 10*sec).at(sec) }
	for what, h := range map[string]*hand{
		"removes":  held().sets("B", "", 0),
		"replaces": held().sets("B", "B1", 10*sec),
		"prolongs": held().sets("B", "A1", 11*sec),
		"shortens": held().sets("B", "A1", 9*sec),
	} {
		h.verdict("FR")
		if text := h.w.monitor.Violations()[0].Text; !strings.Contains(text, " "+what+" A's record") {
			t.Errorf("%s: %s", what, text)
		}
	}
	if text := held().sets("B", "A1", trace.Never).w.monitor.Violations()[0].Text; !strings.Contains(text, "prolongs") {
		t.Errorf("for ever is longer than any time: %s", text)
	}
	held().sets("B", "A1", 10*sec).verdict("ok") // as it was
	held().sets("A", "", 0).verdict("ok")
	held().sets("A", "A1", 20*sec).verdict("ok")

	// Its Acquire has not returned yet: a record without a lease.
	newHand(t, "setpx-lua").does("A", trace.KindAcquire).sets("A", "A1", 10*sec).sets("B", "", 0).verdict("FR")
	// Another key is none of this monitor's business.
	h := held()
	h.emit(trace.Event{Kind: trace.KindExecute, Client: 1, Node: 0, Args: []string{"DEL"}, Changes: []trace.Change{{Key: "other", Before: &trace.Record{Value: "A1", Expires: trace.Never}}}}).verdict("ok")
}

// TestTakeover: a record whose lease is over can be had.
func TestTakeover(t *testing.T) {
	for name, end := range map[string]func(*hand){
		"lapsed":    func(h *hand) { h.at(10*sec).does("A", trace.KindLapse) },
		"releasing": func(h *hand) { h.does("A", trace.KindRelease) },
		"released":  func(h *hand) { h.does("A", trace.KindRelease, trace.KindReleased) },
		"crashed":   func(h *hand) { h.does("A", trace.KindCrash) },
		"trying again, with another token": func(h *hand) {
			h.does("A", trace.KindRelease, trace.KindReleaseFailed, trace.KindAcquire)
		},
	} {
		for _, how := range []func(*hand) *hand{
			func(h *hand) *hand { return h.sets("B", "", 0) },
			func(h *hand) *hand { return h.sets("B", "B1", 30*sec) },
		} {
			t.Run(name, func(t *testing.T) {
				h := newHand(t, "getset-equal").holds("A", 10*sec)
				end(h)
				how(h).verdict("ok")
			})
		}
	}
	refused := newHand(t, "setpx-lua").does("A", trace.KindAcquire).sets("A", "A1", 10*sec).does("A", trace.KindFailed)
	refused.sets("B", "", 0).verdict("FN") // A was told that it has failed; it won't come back for it
}

// TestCountersStayTheirCreators: a refused attempt counts a counter up, which takes
// nothing from anybody; giving it more time does.
func TestCountersStayTheirCreators(t *testing.T) {
	h := newHand(t, "incr-expire").does("A", trace.KindAcquire).sets("A", "1", 10*sec).granted("A", 10*sec)
	h.does("B", trace.KindAcquire).sets("B", "2", 10*sec).verdict("ok").does("B", trace.KindRefused).verdict("ok")
	if r := h.w.State().LockRecord(0); r.Owner.Client != 0 || r.Value != "2" {
		t.Errorf("the record is %+v", r)
	}
	h.sets("B", "2", 11*sec).verdict("FR")
}

// TestForeignReleaseByToys is the same done by clients: every way to harm.
func TestForeignReleaseByToys(t *testing.T) {
	for what, harm := range map[string][]any{
		"removes": cmd("del", "lock"), "replaces": cmd("set", "lock", "mine", "keepttl"),
		"prolongs": cmd("pexpire", "lock", 60_000), "shortens": cmd("pexpire", "lock", 5000),
	} {
		s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
			lease, err := toyTake(ctx, l)
			if err != nil {
				l.rdb.Do(ctx, harm...)
			}
			return lease, err
		}, toyKeep)
		w := newWorld(t, configOf(s, "A", "B"))
		until(t, w, "A", trace.KindGranted)
		until(t, w, "B", trace.KindRefused)
		if got := w.Verdict(); got[0] != trace.FR || w.State().LockRecord(0) != nil && w.State().LockRecord(0).Owner.Client == 1 && got.String() != "FR FN" {
			t.Errorf("%s: %s", what, got)
		}
		if text := w.monitor.Violations()[0].Text; !strings.Contains(text, " "+what+" A's record") {
			t.Errorf("%s: %s", what, text)
		}
	}
}

// PD and BD.

func TestDeadlock(t *testing.T) {
	for strategy, want := range map[string]string{"setnx": "PD", "setpx-lua": "BD", "getset-equal": "BD", "incr-expire": "BD"} {
		w := newWorld(t, config(t, strategy, "A", "B"))
		until(t, w, "A", trace.KindGranted)
		inject(t, w, fault.Crash{Client: "A"})
		if got := drained(t, w); got != want {
			t.Errorf("%s: %s, expected %s", strategy, got, want)
		}
	}
}

// TestStampOfAFastClock blocks for as long as the clock that wrote it is fast: the
// probe waits ten years before it calls that for ever.
func TestStampOfAFastClock(t *testing.T) {
	for offset, want := range map[time.Duration]string{0: "BD", time.Hour: "BD", trace.MaxSpan: "BD"} {
		cfg := config(t, "getset-equal", "A", "B")
		cfg.Clients[0].Offset = offset
		w := newWorld(t, cfg)
		until(t, w, "A", trace.KindGranted)
		inject(t, w, fault.Crash{Client: "A"})
		if got := drained(t, w); got != want {
			t.Errorf("%s fast: %s, expected %s", offset, got, want)
		}
	}
}

// TestNoDeadlock: no deadlock is reported where no record blocks.
func TestNoDeadlock(t *testing.T) {
	for name, play := range map[string]func(*World){
		"nothing happens":      func(*World) {},
		"everybody has been":   func(w *World) { run(t, w) },
		"the holder is paused": func(w *World) { until(t, w, "A", trace.KindRead); inject(t, w, fault.Pause{Client: "A"}) },
		"the holder goes on":   func(w *World) { until(t, w, "A", trace.KindRead) },
		"the holder was evicted": func(w *World) {
			until(t, w, "A", trace.KindRead)
			inject(t, w, fault.Evict{Node: "n1"}, fault.Crash{Client: "A"})
		},
		"a crash before the send": func(w *World) { until(t, w, "A", trace.KindAcquire); inject(t, w, fault.Crash{Client: "A"}) },
	} {
		w := newWorld(t, config(t, "setnx", "A", "B"))
		play(w)
		if got := drained(t, w); got != "ok" {
			t.Errorf("%s: %s\n%s", name, got, strings.Join(story(w), "\n"))
		}
	}
}

// TestBoundedBlocking is open from the first refusal that only an orphan is to
// blame for, until the orphan is gone.
func TestBoundedBlocking(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	until(t, w, "A", trace.KindGranted)
	w.Wait(3*sec - w.Now())
	inject(t, w, fault.Crash{Client: "A"})
	run(t, w)
	expectVerdict(t, w, "BD")
	v := w.monitor.Violations()[0]
	if len(w.monitor.Violations()) != 1 || v.At != 10*sec+2*time.Millisecond || !strings.Contains(v.Text, "what A left behind kept others out for 7s") {
		t.Errorf("%+v", w.monitor.Violations())
	}

	// Waiting for a live client is no violation.
	w = newWorld(t, config(t, "setpx-lua", "A", "B"))
	w.cfg.Clients[0].Work = 9 * sec
	run(t, w)
	expectVerdict(t, w, "ok")

	// Nor is an orphan that no client met with.
	w = newWorld(t, config(t, "setpx-lua", "A", "B"))
	until(t, w, "A", trace.KindGranted)
	inject(t, w, fault.Crash{Client: "A"})
	w.Wait(11 * sec)
	run(t, w)
	expectVerdict(t, w, "ok")
}

// UA and DN.

// TestUnavailability is judged at the end of a run, when nobody holds the lock. A lock that
// cannot be had then has broken a promise if most of its servers are up, and none if not,
// however many it needs.
func TestUnavailability(t *testing.T) {
	for _, tc := range []struct {
		strategy, verdict, says string
		faults                  []fault.Fault
	}{
		{"setpx-lua", "ok", "", nil},
		{"setpx-lua", "DN", "nobody can have the lock: its server is down", []fault.Fault{fault.Down{Node: "n1"}}},
		{"setpx-lua", "ok", "", []fault.Fault{fault.Down{Node: "n1"}, fault.Up{Node: "n1"}}},
		{"setpx-lua", "UA", "nobody holds the lock, its server is up, and yet nobody can have it", []fault.Fault{fault.Occupy{Node: "n1"}}},
		{"setpx-lua", "DN", "nobody can have the lock: its server is down", []fault.Fault{fault.Occupy{Node: "n1"}, fault.Down{Node: "n1"}}},
		{"redlock", "ok", "", []fault.Fault{fault.Down{Node: "n1"}, fault.Down{Node: "n5"}}},
		{"redlock", "ok", "", []fault.Fault{fault.Occupy{Node: "n1"}, fault.Down{Node: "n5"}}},
		{"redlock", "UA", "nobody holds the lock, 3 of its 5 servers are up, and yet nobody can have it", []fault.Fault{fault.Occupy{Node: "n1"}, fault.Down{Node: "n4"}, fault.Down{Node: "n5"}}},
		{"redlock", "DN", "nobody can have the lock: 2 of its 5 servers are up, and that is no majority", []fault.Fault{fault.Down{Node: "n1"}, fault.Down{Node: "n4"}, fault.Down{Node: "n5"}}},
		{"redlock-hyperf", "ok", "", []fault.Fault{fault.Occupy{Node: "n1"}}}, // an answer that it counts
		{"redlock-hyperf", "UA", "nobody holds the lock, 4 of its 5 servers are up, and yet nobody can have it", []fault.Fault{fault.Down{Node: "n1"}}},
		{"redlock-hyperf", "DN", "nobody can have the lock: 2 of its 5 servers are up, and that is no majority", []fault.Fault{fault.Down{Node: "n1"}, fault.Down{Node: "n2"}, fault.Down{Node: "n3"}}},
		{"setpx-lua", "ok", "", []fault.Fault{fault.Cut{Client: "A", Node: "n1", Direction: fault.Both}, fault.Cut{Client: "B", Node: "n1", Direction: fault.Both}}}, // the lock can be had, by others
	} {
		cfg := config(t, tc.strategy, "A", "B")
		cfg.Retry = strategies.Retry{Tries: 1}
		w := newWorld(t, cfg)
		inject(t, w, tc.faults...)
		run(t, w)
		if err := w.Drain(); err != nil {
			t.Fatal(err)
		}
		expectVerdict(t, w, tc.verdict)
		if found := w.monitor.Violations(); len(found) > 0 && (found[0].Text != tc.says || len(found[0].Events) != 1+causes(tc.faults)) {
			t.Errorf("%s, %v: %+v", tc.strategy, tc.faults, found)
		}
	}
}

// causes counts the faults that a proof names: servers that are down, and keys with other data
// on servers that are not.
func causes(faults []fault.Fault) (n int) {
	down := map[string]bool{}
	for _, f := range faults {
		if d, is := f.(fault.Down); is {
			down[d.Node] = true
			n++
		}
	}
	for _, f := range faults {
		if o, is := f.(fault.Occupy); is && !down[o.Node] {
			n++
		}
	}
	return n
}

// TestHeldIsNotUnavailable: a client that holds the lock at the end of the run is no reason
// to ask whether another one could have it.
func TestHeldIsNotUnavailable(t *testing.T) {
	w := newWorld(t, config(t, "setnx", "A", "B"))
	until(t, w, "A", trace.KindEnter)
	inject(t, w, fault.Pause{Client: "A"}, fault.Down{Node: "n1"})
	if err := w.Drain(); err != nil {
		t.Fatal(err)
	}
	expectVerdict(t, w, "ok")
}

// LV.

// polite clients raise a flag each, and take it down again if they see the
// other's: in step, they do so for ever.
func polite(delay func(l *toyLock) time.Duration) strategies.Strategy {
	return toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		token := l.Token()
		mine, others := "flag"+token[:1], map[string]string{"A": "flagB", "B": "flagA", "p": "flagA"}[token[:1]]
		for {
			l.rdb.Set(ctx, mine, 1, 0)
			n, err := l.rdb.Exists(ctx, others).Result()
			if err != nil {
				return nil, err
			}
			if n == 0 {
				return toyTake(ctx, l)
			}
			l.rdb.Del(ctx, mine)
			if err := l.Clock.Sleep(ctx, delay(l)); err != nil {
				return nil, err
			}
		}
	}, func(ctx context.Context, l *toyLock, lease *strategies.Lease) error {
		l.rdb.Del(ctx, "flag"+lease.Token[:1])
		return toyDrop(ctx, l, lease)
	})
}

func TestLivelock(t *testing.T) {
	same := func(*toyLock) time.Duration { return 100 * time.Millisecond }
	w := newWorld(t, configOf(polite(same), "A", "B"))
	for len(w.monitor.Violations()) == 0 && w.Step(SetOf(0, 1)) {
	}
	expectVerdict(t, w, "LV")
	v := w.monitor.Violations()[0]
	if v.Text != "2 clients keep trying and nobody gets the lock: events #20 to #42 repeat" || len(v.Events) != 2 {
		t.Errorf("%+v", v)
	}
	// The lasso is what it is called: what lies between the two events comes again.
	first, last := v.Events[0], v.Events[1]
	for range 200 {
		w.Step(SetOf(0, 1))
	}
	tr := traceOf(t, w)
	for i := first; i < last; i++ {
		a, b := tr.Events[i], tr.Events[i+last-first]
		if a.Kind != b.Kind || a.Client != b.Client || b.At-a.At != 106*time.Millisecond {
			t.Fatalf("%s\n%s", tr.Line(&a), tr.Line(&b))
		}
	}
	if len(w.monitor.Violations()) != 1 {
		t.Errorf("once is enough: %+v", w.monitor.Violations())
	}
}

// What takes a fault each time to come round again is no livelock.
func TestNoLivelockByFaults(t *testing.T) {
	w := newWorld(t, configOf(polite(func(*toyLock) time.Duration { return 100 * time.Millisecond }), "A", "B"))
	for n := range 400 {
		w.Step(SetOf(0, 1))
		if n%10 == 0 {
			inject(t, w, fault.Pause{Client: "A"})
			inject(t, w, fault.Resume{Client: "A"})
		}
	}
	expectVerdict(t, w, "ok")
}

func TestNoLivelock(t *testing.T) {
	for name, delay := range map[string]func(*toyLock) time.Duration{
		"different delays": func(l *toyLock) time.Duration { return time.Duration(100+50*(l.Token()[0]-'A')) * time.Millisecond },
		"random delays":    func(l *toyLock) time.Duration { return 50*time.Millisecond + l.Random(100*time.Millisecond) },
	} {
		w := newWorld(t, configOf(polite(delay), "A", "B"))
		run(t, w)
		if count(w, trace.KindGranted) != 2 {
			t.Errorf("%s: %d are granted", name, count(w, trace.KindGranted))
		}
		expectVerdict(t, w, "ok")
	}
	// Drawing lots, and drawing the same ones every time, is no cycle either: what
	// comes next needn't be what came the last time.
	w := newWorld(t, configOf(polite(func(l *toyLock) time.Duration { return 100*time.Millisecond + l.Random(1) }), "A", "B"))
	for range 2000 {
		w.Step(SetOf(0, 1))
	}
	expectVerdict(t, w, "ok")
	// Trying again and again while a client holds the lock is no livelock.
	cfg := config(t, "setnx", "A", "B", "C")
	cfg.Clients[0].Work = 10 * sec
	w = newWorld(t, cfg)
	run(t, w)
	expectVerdict(t, w, "ok")
}

// TestNoLivelockWhereAnotherKeyCounts: the lock's own record comes round again, and what its clients count elsewhere doesn't.
func TestNoLivelockWhereAnotherKeyCounts(t *testing.T) {
	w := newWorld(t, configOf(toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		for {
			n, err := l.rdb.Incr(ctx, "tries").Result()
			if err != nil {
				return nil, err
			}
			if n%8 == 0 {
				return toyTake(ctx, l)
			}
			if err := l.Clock.Sleep(ctx, 100*time.Millisecond); err != nil {
				return nil, err
			}
		}
	}, toyDrop), "A", "B"))
	run(t, w)
	if count(w, trace.KindGranted) != 1 { // and the other was refused
		t.Errorf("%d are granted", count(w, trace.KindGranted))
	}
	expectVerdict(t, w, "ok")
}

// TestNoLivelockWhereClientsAreToldOtherThings: all records are as before when B begins to wait, and so is A's next step.
// But A has been told that it is the second to ask, and the time before that it was the first.
func TestNoLivelockWhereClientsAreToldOtherThings(t *testing.T) {
	cfg := configOf(toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		for {
			if err := l.rdb.Incr(ctx, "asking").Err(); err != nil {
				return nil, err
			}
			l.rdb.Decr(ctx, "asking")
			if err := l.Clock.Sleep(ctx, 100*time.Millisecond); err != nil {
				return nil, err
			}
		}
	}, toyDrop), "A", "B")
	cfg.Latency = 0 // no time passes while one waits for the other
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindReceive)
	until(t, w, "B", trace.KindSleep)
	until(t, w, "A", trace.KindSleep)
	until(t, w, "B", trace.KindReceive)
	until(t, w, "A", trace.KindReceive)
	until(t, w, "B", trace.KindSleep)
	expectVerdict(t, w, "ok")
}

// GAP.

// toyExtender prolongs a lease by any means.
type toyExtender struct {
	toyLock
	extend func(context.Context, *toyLock, *strategies.Lease) error
}

func (l *toyExtender) Extend(ctx context.Context, lease *strategies.Lease) error {
	return l.extend(ctx, &l.toyLock, lease)
}

func extending(extend func(context.Context, *toyLock, *strategies.Lease) error) strategies.Strategy {
	s := toy(toyTake, toyKeep)
	plain := s.New
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return &toyExtender{toyLock: *plain(nodes, key, o).(*toyLock), extend: extend}
	}
	return s
}

// prolong sets the key's expiry anew, whatever it holds, or writes it anew.
func prolong(ctx context.Context, l *toyLock, lease *strategies.Lease) error {
	sent := l.Clock.Monotonic()
	if err := l.rdb.Set(ctx, l.key, lease.Token, l.TTL).Err(); err != nil {
		return err
	}
	lease.Deadline = sent + l.TTL
	return nil
}

func TestBrokenContinuity(t *testing.T) {
	for name, tc := range map[string]struct {
		meanwhile func(*testing.T, *World)
		want      string
	}{
		"nothing":    {func(*testing.T, *World) {}, "ok"},
		"a pause":    {func(_ *testing.T, w *World) { w.Wait(5 * sec) }, "ok"},
		"expiry":     {func(_ *testing.T, w *World) { w.Wait(11 * sec) }, "GAP"},
		"eviction":   {func(t *testing.T, w *World) { inject(t, w, fault.Evict{Node: "n1"}) }, "GAP"},
		"a restart":  {func(t *testing.T, w *World) { inject(t, w, fault.Down{Node: "n1"}, fault.Up{Node: "n1"}) }, "GAP"},
		"clock step": {func(t *testing.T, w *World) { inject(t, w, fault.NodeStep{Node: "n1", By: time.Hour}) }, "GAP"},
		"another one has been": {func(t *testing.T, w *World) {
			w.Wait(11 * sec)
			until(t, w, "B", trace.KindDone)
			w.Wait(10 * sec)
		}, "OV GAP"},
		"another one is there": {func(t *testing.T, w *World) { w.Wait(11 * sec); until(t, w, "B", trace.KindRead) }, "DG OV FR GAP"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := configOf(extending(prolong), "A", "B")
			cfg.Clients[0].Extend = true
			w := newWorld(t, cfg)
			until(t, w, "A", trace.KindWake) // it is about to extend
			tc.meanwhile(t, w)
			until(t, w, "A", trace.KindExtended)
			expectVerdict(t, w, tc.want)
		})
	}
}

// TestGapWhileTheReplyIsOnItsWay: A's record expires after its extension was
// executed, and before A reads so. What the reply says was true.
func TestGapWhileTheReplyIsOnItsWay(t *testing.T) {
	cfg := configOf(extending(prolong), "A")
	cfg.Clients[0].Extend = true
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindExtend)
	for w.Position(0).Sent == 0 || !w.Position(0).Landed {
		w.Step(SetOf(0))
	}
	w.Wait(11 * time.Second)
	until(t, w, "A", trace.KindExtended)
	expectVerdict(t, w, "ok")
}

// TestEqualValueIsAnotherOwner: B stores the very value that is there, and the
// record is B's from then on although not a byte of it has changed.
func TestEqualValueIsAnotherOwner(t *testing.T) {
	same := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		return &strategies.Lease{Token: "same"}, l.rdb.Set(ctx, l.key, "same", 0).Err()
	}, toyDrop)
	for name, cfg := range map[string]Config{"on the master": configOf(same, "A", "B"), "on a replica": configOf(same, "A", "B")} {
		t.Run(name, func(t *testing.T) {
			on := 0
			if name == "on a replica" {
				cfg.Replicas, on = 1, 1
			}
			w := newWorld(t, cfg)
			until(t, w, "A", trace.KindEnter)
			until(t, w, "B", trace.KindRead)
			w.Wait(time.Second)
			if r := w.State().LockRecord(on); r.Owner.Client != 1 {
				t.Errorf("%+v is not B's", r)
			}
			until(t, w, "A", trace.KindWrite)
			expectVerdict(t, w, "SW DG OV FR")
			until(t, w, "B", trace.KindReleased)
			until(t, w, "A", trace.KindReleased)
			expectVerdict(t, w, "SW DG OV FR") // what A's release removes is nobody's any more
		})
	}
}

// TestExtensionOfALeaseWithoutDeadline: it goes on for a TTL from when the
// extending command was sent.
func TestExtensionOfALeaseWithoutDeadline(t *testing.T) {
	silent := extending(func(ctx context.Context, l *toyLock, _ *strategies.Lease) error {
		return l.rdb.PExpire(ctx, l.key, l.TTL).Err()
	})
	plain := silent.New
	silent.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		l := plain(nodes, key, o).(*toyExtender)
		l.acquire = func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
			lease, err := toyTake(ctx, l)
			if err == nil {
				lease.Deadline = 0
			}
			return lease, err
		}
		return l
	}
	cfg := configOf(silent, "A")
	cfg.Clients[0].Extend, cfg.Clients[0].Work = true, 8*time.Second
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindExtend)
	sent := w.Now()
	until(t, w, "A", trace.KindExtended)
	if got := w.State().Clients[0].Lease.Deadline; got != sent+cfg.TTL {
		t.Errorf("the lease lapses at %s, and was extended by %s at %s", got, cfg.TTL, sent)
	}
}

// TestCheckKnowsOfRenewals: a careful caller whose lease is renewed by another
// thread counts from the last renewal that it has heard of, not from the grant.
func TestCheckKnowsOfRenewals(t *testing.T) {
	for _, tt := range []struct {
		ends   time.Duration // of the renewal, before the work is done
		writes bool
	}{
		{14 * time.Second, true}, // the last one was sent after ten seconds
		{1 * time.Second, false}, // before the first
		{4 * time.Second, false}, // after the first, which is good for ten more
	} {
		cfg := config(t, "watchdog", "A")
		cfg.Clients[0].Checks, cfg.Clients[0].Work = true, 15*time.Second
		w := newWorld(t, cfg)
		until(t, w, "A", trace.KindEnter)
		for next, any := w.Next(); w.Ready(everybody(w)) || any && next <= tt.ends; next, any = w.Next() {
			if !w.Step(everybody(w)) {
				t.Fatal("nothing is left to do")
			}
		}
		inject(t, w, fault.EndThread{Client: "A"})
		run(t, w, "A")
		if got := count(w, trace.KindWrite) == 1; got != tt.writes {
			t.Errorf("the renewal ended at %s, and A writes after 15s: %t; want %t", tt.ends, got, tt.writes)
		}
	}
}

// TestGapIsOfThisLease: what an earlier lease has lost is forgotten.
func TestGapIsOfThisLease(t *testing.T) {
	h := newHand(t, "setpx-lua").holds("A", 10*sec).at(10*sec).expires().does("A", trace.KindLapse, trace.KindRelease, trace.KindReleaseFailed)
	h.holds("A", 20*sec).does("A", trace.KindExtend).extended("A", 30*sec).verdict("ok")
	h.at(20*sec).expires().does("A", trace.KindExtend, trace.KindExtendFailed).verdict("ok") // it says so itself
}

// FN.

func TestFalseRefusal(t *testing.T) {
	w := landed(t, "A") // see TestDropReply for the whole story
	inject(t, w, fault.Drop{Client: "A", Reply: true})
	upTo(t, w)
	expectVerdict(t, w, "FN")
	told, err := w.Trace()
	if err != nil {
		t.Fatal(err)
	}
	if v := told.Violations; len(v) != 1 || !strings.HasPrefix(v[0].Text, "A gives up without an answer from n1, which counts as a refusal, while n1 stores its value A1-") {
		t.Errorf("%v", v)
	}

	// An error is no answer, and is told in other words than a refusal.
	for kind, want := range map[trace.Kind]string{trace.KindRefused: "A is told that it has not got the lock while n1 ", trace.KindFailed: "A gives up with an error, which counts as a refusal, while n1 "} {
		h := newHand(t, "setpx-lua").does("A", trace.KindAcquire).sets("A", "A1", 10*sec).does("A", kind).verdict("FN")
		run, err := h.w.Trace()
		if err != nil {
			t.Fatal(err)
		}
		if v := run.Violations; len(v) != 1 || !strings.HasPrefix(v[0].Text, want) {
			t.Errorf("%s: %v, want %s", kind, v, want)
		}
	}
	newHand(t, "setpx-lua").does("A", trace.KindAcquire).sets("A", "A1", 10*sec).at(10*sec).expires().does("A", trace.KindRefused).verdict("ok")
	newHand(t, "setpx-lua").does("A", trace.KindAcquire).does("A", trace.KindRefused).verdict("ok")
	newHand(t, "setpx-lua").holds("B", 10*sec).does("A", trace.KindAcquire).does("A", trace.KindRefused).verdict("ok")
	// A record of one's own of another time is in the way, but it isn't this lock.
	h := newHand(t, "setpx-lua").holds("A", 10*sec).does("A", trace.KindRelease, trace.KindReleaseFailed, trace.KindAcquire).does("A", trace.KindRefused)
	h.verdict("ok")
}

// TestFalseRefusalNeedsAQuorum: on fewer nodes than a holder needs, a record is no lock.
func TestFalseRefusalNeedsAQuorum(t *testing.T) {
	for nodes, want := range map[int]string{2: "ok", 3: "FN"} {
		h := newHand(t, "redlock").does("A", trace.KindAcquire)
		for n := range nodes {
			h.emit(trace.Event{Kind: trace.KindExecute, Client: 0, Node: n, Args: []string{"SET"}, Changes: []trace.Change{{Key: "lock", After: &trace.Record{Value: "A1", Expires: 10 * sec}}}})
		}
		h.does("A", trace.KindRefused).verdict(want)
	}
}

// TestViolationsProveThemselves: each names events that there are, in order, and
// the last is the one at which it was reported.
func TestViolationsProveThemselves(t *testing.T) {
	each(t, func(t *testing.T, s strategies.Strategy) {
		w := newWorld(t, wild(configOf(s, "A", "B")))
		for seed := range uint64(20) {
			tr := recorded(t, w, wild(configOf(s, "A", "B")), seed)
			for _, v := range tr.Violations {
				last := 0
				for _, seq := range v.Events {
					if seq <= last || seq > len(tr.Events) {
						t.Fatalf("seed %d: %s names %v of %d events\n%s", seed, v.Code, v.Events, len(tr.Events), tr.Schedule)
					}
					last = seq
				}
				if at := tr.Events[last-1].At; at != v.At {
					t.Fatalf("seed %d: %s was found at %s, and its last event was at %s\n%s", seed, v.Code, v.At, at, tr.Schedule)
				}
			}
		}
	})
}

// TestCodes have names, meanings, and an order.
func TestCodes(t *testing.T) {
	if named := trace.SW.Named() + ", " + trace.OV.Named(); named != "a stale write, overlapping critical sections" || trace.SW.Name() != "stale write" {
		t.Error(named)
	}
	for _, c := range trace.Codes {
		again, found := trace.ParseCode(c.String())
		if !found || again != c || c.Name() == "" || c.Meaning() == "" || c.Failure() == slices.Contains([]trace.Code{trace.UA, trace.BD, trace.DN}, c) {
			t.Errorf("%v: its row of sim/trace/code.go is incomplete, or it is merely reported and not in this test's list of those", c)
		}
	}
	if _, found := trace.ParseCode("XX"); found {
		t.Error("XX is a code")
	}
	if v := (trace.Verdict{trace.BD, trace.SW, trace.BD, trace.OV}).Sorted(); v.String() != "SW OV BD" || v.Worst() != "SW" {
		t.Error(v)
	}
	if v := (trace.Verdict{}); v.String() != "ok" || v.Worst() != "ok" || len(v.Strings()) != 0 {
		t.Error(v)
	}
}
