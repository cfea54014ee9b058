package trace

import (
	"slices"
	"time"
)

// State is the state of a run after an event: every client's beliefs, every node's records,
// the accesses that the resource has accepted. It is a fold over the events and knows
// nothing else, so the monitor, printers and the terminal interface that read a State can
// show only facts of the trace.
//
// Invariant: len(Primary) is the number of masters, and len(Nodes) is at least that.
type State struct {
	At      time.Duration
	Clients []ClientState
	Nodes   []NodeState // the masters, then the replicas
	Primary []int       // by address: the server that is the master there
	Store   StoreState

	Key     string // the lock's key: records under other keys have no owner
	Counter bool   // the record counts attempts, so a changed value is not a new owner

	Workload Workload
}

// Acquisition names one call of Acquire: the nth of a client.
type Acquisition struct {
	Client int
	N      int
}

// Nobody is the owner of a record that belongs to no acquisition.
var Nobody = Acquisition{Client: None}

// ClientState is the state of one client.
type ClientState struct {
	Phase    Phase
	Cycle    int
	Acquired int // its calls of Acquire: the N of its current or last Acquisition
	Began    int // Seq of the last acquire event, or None
	Lease    LeaseState
	Paused   bool
	Held     bool // paused, and not in the story: see HeldByScript
	Asleep   bool // sleeping of its own accord, or waiting for a published message
	Crashed  bool
	Hung     bool // its main thread will never go on
	Threw    bool // hung, because an exception has ended its work
	Stopped  bool // finished, or the run is over for it
	Extends  bool // a thread of it is inside Extend
	Rebuilds bool // it has queried the database, and not yet written the result to the cache
	Source   Source
	Pending  []string // the command whose reply it is waiting for
}

// LeaseState is a client's current or last lease.
//
// Invariant: Live implies Believed.
type LeaseState struct {
	// Believed: Acquire returned a lease, and the client has neither begun to release it
	// nor crashed. A caller that never checks its deadline acts on this.
	Believed bool
	// Live: believed, and the client's own clock has not reached the deadline.
	// The interval is half-open: at the deadline itself the lease is over.
	Live     bool
	Inside   bool // in the critical section
	Token    string
	Fence    int64
	Granted  int           // Seq of the granted event
	Granter  int           // Seq of the execution that stored the record: it orders grants
	asked    int           // Seq of Acquire's newest execution
	Deadline time.Duration // true instant at which it lapses, or Never
	Entered  int           // Seq of the enter event
}

// NodeState is one Redis server's memory.
type NodeState struct {
	Up      bool
	Records []HeldRecord // sorted by key
	Offset  time.Duration
	lost    []HeldRecord // its records when it went down
}

// HeldRecord is a record with its history.
type HeldRecord struct {
	Key string
	Record
	Owner   Acquisition // the acquisition whose command stored this value
	Written int         // Seq of the event that stored it
}

// StoreState is the resource that the lock protects.
type StoreState struct {
	Value   int64 // of a cache: the version that it has, 0 for none
	Version int64
	Fence   int64   // highest fencing token seen
	Touches []Touch // the accepted accesses, in order

	Database int64 // the version that the database behind a cache has; 0 where there is none
	Queries  int   // the number of rebuilds of the cache begun
	// Needless is the number of rebuilds that were not needed when they began: the cache
	// had an entry, or another client that was not dead or hung was rebuilding it.
	Needless int
}

// Touch is an accepted access to the resource.
type Touch struct {
	Seq     int
	By      Acquisition
	Granter int // the order of the toucher's grant
	Write   bool
	Version int64 // after the access
}

func newState(key string, counter bool, workload Workload, clients, nodes, masters int) *State {
	s := &State{Key: key, Counter: counter, Workload: workload, Primary: make([]int, masters)}
	s.Clients = make([]ClientState, clients)
	s.Nodes = make([]NodeState, nodes)
	s.Reset()
	return s
}

// Reset takes the state back to before the first event.
func (s *State) Reset() {
	s.At = 0
	for i := range s.Clients {
		s.Clients[i] = ClientState{Began: None, Lease: LeaseState{Granter: None, Granted: None, Entered: None, asked: None}}
	}
	for i := range s.Nodes {
		s.Nodes[i] = NodeState{Up: true, Records: s.Nodes[i].Records[:0], lost: s.Nodes[i].lost[:0]}
	}
	for i := range s.Primary {
		s.Primary[i] = i
	}
	s.Store = StoreState{Database: s.Workload.Database(), Touches: s.Store.Touches[:0]}
}

// Clone returns a copy that shares nothing with s.
func (s *State) Clone() *State {
	c := *s
	c.Clients = slices.Clone(s.Clients)
	c.Nodes = slices.Clone(s.Nodes)
	for i := range c.Nodes {
		c.Nodes[i].Records = slices.Clone(s.Nodes[i].Records)
		c.Nodes[i].lost = slices.Clone(s.Nodes[i].lost)
	}
	c.Primary = slices.Clone(s.Primary)
	c.Store.Touches = slices.Clone(s.Store.Touches)
	return &c
}

// Acquisition returns the client's current or last acquisition.
func (s *State) Acquisition(client int) Acquisition {
	return Acquisition{Client: client, N: s.Clients[client].Acquired}
}

// Under reports whether the acquisition is still its client's current one, and either
// unfinished or the source of a lease that is live.
func (s *State) Under(a Acquisition) bool {
	if a.Client == None || s.Clients[a.Client].Acquired != a.N {
		return false
	}
	c := &s.Clients[a.Client]
	return !c.Crashed && (c.Phase == PhaseAcquire || c.Lease.Live)
}

// LockRecord returns a node's record under the lock's key, or nil.
func (s *State) LockRecord(node int) *HeldRecord { return s.Nodes[node].find(s.Key) }

// Believers counts the clients that believe they hold the lock.
func (s *State) Believers() int {
	n := 0
	for i := range s.Clients {
		if s.Clients[i].Lease.Believed {
			n++
		}
	}
	return n
}

// Apply folds one event into the state.
func (s *State) Apply(e *Event) {
	s.At = e.At
	if e.Client != None {
		s.applyClient(e, &s.Clients[e.Client])
	}
	if e.Node != None {
		s.applyNode(e, &s.Nodes[e.Node])
	}
	switch e.Kind {
	case KindRead, KindWrite:
		s.Store.Value, s.Store.Version = e.Value, e.Version
		s.touch(e)
	case KindQuery:
		s.query(e)
		s.touch(e)
	case KindUpdate:
		s.Store.Database = e.Value
	}
}

func (s *State) touch(e *Event) {
	s.Store.Fence = max(s.Store.Fence, e.Fence)
	s.Store.Touches = append(s.Store.Touches, Touch{
		Seq: e.Seq, By: s.Acquisition(e.Client), Granter: s.Clients[e.Client].Lease.Granter,
		Write: e.Kind == KindWrite, Version: e.Version,
	})
}

// query counts a rebuild, before the client itself counts as rebuilding.
func (s *State) query(e *Event) {
	needless := s.Store.Value != 0
	for i := range s.Clients {
		c := &s.Clients[i]
		needless = needless || c.Rebuilds && !c.Hung
	}
	s.Store.Queries++
	if needless {
		s.Store.Needless++
	}
	s.Clients[e.Client].Rebuilds = true
}

func (s *State) applyClient(e *Event, c *ClientState) {
	switch e.Kind {
	case KindAcquire, KindRelease, KindExtend:
		c.Source = Source{} // that of the call before
	}
	if e.Source.File != "" && e.Kind != KindExecute {
		c.Source = e.Source
	}
	switch e.Kind {
	case KindWant:
		c.Phase, c.Cycle = PhaseIdle, e.Cycle
	case KindAcquire:
		c.Phase, c.Cycle, c.Began = PhaseAcquire, e.Cycle, e.Seq
		c.Acquired++
		c.Lease = LeaseState{Granter: None, Granted: None, Entered: None, asked: None}
	case KindGranted:
		c.Phase = PhaseHold
		l := &c.Lease
		l.Believed, l.Token, l.Fence, l.Granted, l.Deadline = true, e.Token, e.Fence, e.Seq, e.By
		l.Live = e.By == Never || e.By > e.At
		if l.Granter == None { // Redis replied OK and has stored nothing: the record's expiry had passed
			l.Granter = l.asked
		}
	case KindExecute:
		if e.Phase == PhaseAcquire && e.Acq == c.Acquired && !e.Copy {
			c.Lease.asked = e.Seq
		}
	case KindRefused, KindFailed, KindDone:
		c.Phase = PhaseIdle
		c.Stopped = c.Stopped || e.Kind == KindDone
	case KindEnter:
		c.Phase, c.Lease.Inside, c.Lease.Entered = PhaseWork, true, e.Seq
	case KindLeave:
		c.Phase, c.Lease.Inside, c.Rebuilds = PhaseHold, false, false
	case KindWrite:
		c.Rebuilds = false
	case KindRelease:
		c.Phase, c.Lease.Believed, c.Lease.Live = PhaseRelease, false, false
	case KindReleased, KindReleaseFailed:
		c.Phase = PhaseIdle
	case KindExtend:
		c.Extends = true
	case KindExtended:
		c.Extends, c.Lease.Deadline = false, e.By
		c.Lease.Live = c.Lease.Believed && (e.By == Never || e.By > e.At)
	case KindExtendFailed:
		c.Extends = false
	case KindLapse:
		c.Lease.Live = false
	default:
		c.applyProcess(e)
	}
}

// applyProcess applies the events that concern the process, not its use of the lock.
func (c *ClientState) applyProcess(e *Event) {
	switch e.Kind {
	case KindSend:
		c.Pending = e.Args
	case KindReceive, KindTimeout, KindDisconnect:
		c.Pending = nil
		c.Asleep = c.Asleep && e.Thread != 0
	case KindSleep, KindAwait:
		c.Asleep = c.Asleep || e.Thread == 0
	case KindWake:
		c.Asleep = c.Asleep && e.Thread != 0
	case KindPause:
		c.Paused, c.Held = true, e.Held()
	case KindResume:
		c.Paused, c.Held = false, false
	case KindCrash:
		c.Crashed, c.Paused, c.Held, c.Asleep, c.Rebuilds, c.Phase, c.Pending = true, false, false, false, false, PhaseIdle, nil
		c.Lease.Believed, c.Lease.Live, c.Lease.Inside = false, false, false
	case KindHang:
		c.Hung, c.Threw = true, e.Note != ""
	case KindStop:
		c.Stopped = true
		c.Lease.Inside, c.Rebuilds = false, false
	}
}

func (s *State) applyNode(e *Event, n *NodeState) {
	switch e.Kind {
	case KindDown:
		n.Up = false
		n.lost = append(n.lost[:0], n.Records...)
	case KindUp:
		n.Up = true
	case KindNodeStep:
		n.Offset += e.By
	case KindFailover:
		s.Primary[e.Value] = e.Node
	}
	for i := range e.Changes {
		s.applyChange(e, n, &e.Changes[i])
	}
}

func (s *State) applyChange(e *Event, n *NodeState, ch *Change) {
	i := 0
	for i < len(n.Records) && n.Records[i].Key < ch.Key {
		i++
	}
	found := i < len(n.Records) && n.Records[i].Key == ch.Key
	if ch.After == nil {
		if found {
			n.Records = slices.Delete(n.Records, i, i+1)
		}
		return
	}
	if !found {
		n.Records = slices.Insert(n.Records, i, HeldRecord{Key: ch.Key, Owner: Nobody, Written: e.Seq})
	}
	r := &n.Records[i]
	effect := Effect{Before: found, After: true, Stored: ch.Stored, Changed: r.Value != ch.After.Value} // as far as the state knows
	if effect.ChangesHands(s.Counter) {
		r.Owner, r.Written = s.owner(e, n, ch), e.Seq
		if s.grants(e, r.Owner) {
			s.Clients[e.Client].Lease.Granter = e.Seq
		}
	}
	r.Record = *ch.After
}

// grants reports whether a command that stored an acquisition's record orders its grant.
// After the grant only an extension does. A duplicate, or a command that one node executes
// late, makes no grant newer.
func (s *State) grants(e *Event, owner Acquisition) bool {
	if owner == Nobody || owner != s.Acquisition(owner.Client) || e.Kind != KindExecute || e.Copy {
		return false
	}
	return s.Clients[owner.Client].Lease.Granted == None || e.Phase == PhaseExtend
}

// owner returns the acquisition that a newly stored value belongs to. If a node restarts
// with an old value, the value has its old owner.
func (s *State) owner(e *Event, n *NodeState, ch *Change) Acquisition {
	if e.Kind == KindUp || e.Kind == KindSync {
		return s.formerOwner(n, ch)
	}
	if e.Client == None || ch.Key != s.Key {
		return Nobody
	}
	return Acquisition{Client: e.Client, N: e.Acq}
}

// formerOwner returns the value's owner on this node before it went down, or on another node
// from which it was copied.
func (s *State) formerOwner(n *NodeState, ch *Change) Acquisition {
	for i := range n.lost {
		if n.lost[i].Key == ch.Key && n.lost[i].Value == ch.After.Value {
			return n.lost[i].Owner
		}
	}
	for i := range s.Nodes {
		if r := s.Nodes[i].find(ch.Key); r != nil && &s.Nodes[i] != n && r.Value == ch.After.Value {
			return r.Owner
		}
	}
	return Nobody
}

func (n *NodeState) find(key string) *HeldRecord {
	for i := range n.Records {
		if n.Records[i].Key == key {
			return &n.Records[i]
		}
	}
	return nil
}
