package trace

import (
	"testing"
	"time"
)

// Events say why they happen then, as far as the trace tells.
func TestReasons(t *testing.T) {
	const ms = time.Millisecond
	tr := &Trace{Clients: []string{"A", Probe}, Nodes: []string{"n1"}, Key: "lock", TTL: 10 * time.Second}
	add := func(at time.Duration, e Event) *Event {
		e.Seq, e.At = len(tr.Events)+1, at
		tr.Events = append(tr.Events, e)
		return &tr.Events[len(tr.Events)-1]
	}
	record := &Record{Value: "A1", Expires: 10002 * ms}
	for _, x := range []struct {
		at   time.Duration
		e    Event
		want string
	}{
		{0, Event{Kind: KindAcquire, Acq: 1}, "wants the lock"},
		{0, Event{Kind: KindSend, Acq: 1}, ""},
		{1 * ms, Event{Kind: KindExecute, Args: []string{"set", "lock", "A1", "px", "10000"}, Changes: []Change{{Key: "lock", After: record}}}, ""},
		{2 * ms, Event{Kind: KindGranted, Acq: 1, Token: "A1", By: 9898 * ms}, "has the lock, token A1, lease until 9.898s (10s less 102ms in case clocks drift apart)"},
		{2 * ms, Event{Kind: KindSleep, Phase: PhaseWork, By: 20 * time.Second}, "works for 20s"},
		{2 * ms, Event{Kind: KindSleep, Phase: PhaseWork, Thread: 1, By: time.Second}, "sleeps for 1s"},
		{2 * ms, Event{Kind: KindPause, Note: "the schedule doesn't let it act yet"}, "is paused: the schedule doesn't let it act yet"},
		{2 * ms, Event{Kind: KindPause}, "is paused"},
		{9898 * ms, Event{Kind: KindLapse, Acq: 1, By: 9898 * ms}, "lease is over: 10s less 102ms in case clocks drift apart, since it asked at 0s"},
		{9899 * ms, Event{Kind: KindLapse, Acq: 1, By: 9899 * ms}, "lease is over: its own clock reads the deadline"},
		{10002 * ms, Event{Kind: KindExpire, Client: None, Changes: []Change{{Key: "lock", Before: record}}}, "A's record expires 10s + 1ms after it was stored  [lock gone]"},
		{10003 * ms, Event{Kind: KindExpire, Client: None, Changes: []Change{{Key: "lock", Before: record}}}, "A's record expires  [lock gone]"},
		{20002 * ms, Event{Kind: KindWake, Phase: PhaseWork}, "has done its work"},
		{20002 * ms, Event{Kind: KindPause, Note: "the schedule doesn't let it act yet"}, "is paused: its work of 20s has ended, and the schedule doesn't let it act yet"},
		{20002 * ms, Event{Kind: KindResume}, ""},
		{20002 * ms, Event{Kind: KindSleep, Phase: PhaseWork, By: ms}, "works for 1ms"},
		{20003 * ms, Event{Kind: KindPause, Note: "the schedule doesn't let it act yet"}, "is paused: its work of 1ms has ended, and the schedule doesn't let it act yet"},
		{20003 * ms, Event{Kind: KindWake, Phase: PhaseAcquire}, "wakes up"},
		{20004 * ms, Event{Kind: KindAcquire, Acq: 2}, "wants the lock"},
		{20004 * ms, Event{Kind: KindGranted, Acq: 2, By: 30004 * ms}, "has the lock, lease until 30.004s"},
		{20005 * ms, Event{Kind: KindExtend, Acq: 2}, "extends"},
		{20006 * ms, Event{Kind: KindExtended, Acq: 2, By: 30005 * ms}, "extended, lease until 30.005s"},
		{30005 * ms, Event{Kind: KindLapse, Acq: 2, By: 30005 * ms}, "lease is over: 10s since it asked at 20.005s"},
		{30006 * ms, Event{Kind: KindAcquire, Client: 1, Acq: 1}, "wants the lock, to test whether it can still be had"},
	} {
		if got := tr.Text(add(x.at, x.e)); x.want != "" && got != x.want {
			t.Errorf("at %v: %q, want %q", x.at, got, x.want)
		}
	}
}

// Where the end of a lease is told, it is said what it was counted from, as it isn't the end of the record.
func TestHoldersSayWhatALeaseIsCountedFrom(t *testing.T) {
	const ttl = 10 * time.Second
	for deadline, want := range map[time.Duration][2]string{
		ttl:                     {"A holds the lock; its lease ends at 10s.", "A thinks it has the lock; its lease ended at 10s (10s since it asked; Redis counts from when it stored the record)."},
		9898 * time.Millisecond: {"A holds the lock; its lease ends at 9.898s (10s less 102ms in case clocks drift apart).", "A thinks it has the lock; its lease ended at 9.898s (10s less 102ms in case clocks drift apart, since it asked; Redis counts from when it stored the record)."},
		ttl - time.Millisecond:  {"A holds the lock; its lease ends at 9.999s.", "A thinks it has the lock; its lease ended at 9.999s."},
	} {
		tr := &Trace{Clients: []string{"A"}, Nodes: []string{"n1"}, Key: "lock", TTL: ttl, Need: 1}
		tr.Events = []Event{{Seq: 1, Kind: KindAcquire, Acq: 1}, {Seq: 2, Kind: KindSend, Acq: 1}, {Seq: 3, At: 2 * time.Millisecond, Kind: KindGranted, Acq: 1, By: deadline}}
		lease := LeaseState{Believed: true, Live: true, Deadline: deadline}
		s := &State{Key: "lock", Primary: []int{0}, Clients: []ClientState{{Lease: lease}}, Nodes: []NodeState{{Up: true, Records: []HeldRecord{{Key: "lock", Owner: Acquisition{N: 1}}}}}}
		for i, live := range []bool{true, false} {
			s.Clients[0].Lease.Live = live
			if got := tr.Holders(s); got != want[i] {
				t.Errorf("%v: %q, want %q", deadline, got, want[i])
			}
		}
	}
}
