package monitor

import "lockstep/sim/trace"

// Rank is the place of a grant in the order of those that still matter: 0 is none, and
// a higher one is newer.
//
// Invariant: a rank is below 32. There are at most three for each of nine clients, and
// whenever one is added [Facts.CanonicaliseRanks] closes the gaps. The search has no gaps in
// them at all, so that situations with the same order of grants are equal.
type Rank uint8

// Owner is the acquisition whose command stored a record: a [trace.Acquisition] in four
// bytes. Its number can't overflow, because a run has at most 100,000 events, and even an
// acquisition that is refused at once takes two of them.
type Owner struct {
	Client int16 // index, or trace.None
	N      uint16
}

// Nobody is the owner of an absent record.
var Nobody = Owner{Client: trace.None}

// OwnerOf returns an acquisition as an owner.
func OwnerOf(a trace.Acquisition) Owner { return Owner{int16(a.Client), uint16(a.N)} }

// Extension says whether a client had the lock when the newest command of its unreported
// extension was executed. It decides whether the extension may report success: a loss after
// that instant, while the reply is in flight, is unknowable to any extension.
type Extension uint8

// The states of an extension.
const (
	NoExtension      Extension = iota // no command of one has been executed
	ExtensionHeld                     // the lock was the client's
	ExtensionTooLate                  // the client had lost it before
)

// Reading says whether a client's knowledge of the resource is current, in its current
// acquisition.
type Reading uint8

// The states of a reading.
const (
	Unread   Reading = iota // it has not read it
	UpToDate                // no other client has written since
	Outdated                // another client has written since: to write now would lose that update
)

// Client is the facts about one client. The search embeds it in its packed state, so it is
// comparable, small, and without padding.
//
// Invariant: Live implies Believes. Believes implies Granted.
// Invariant: Granter is 0 or Asked is 0: a record that was stored decides over a question.
// Invariant: a client that has crashed has no other field set than Touched.
type Client struct {
	Acquired uint16      // its calls of Acquire: the N of its current or last acquisition
	Phase    trace.Phase // of its main thread
	Granted  bool        // this acquisition has led to a lease
	Believes bool        // it has been granted the lock, and has not begun to release it
	Live     bool        // it believes, and its own clock has not reached the lease's deadline
	Inside   bool        // the critical section
	Lost     bool        // it believes, but too few servers have had its record since the grant
	Crashed  bool

	Extension Extension
	Reading   Reading

	Granter Rank // of the command that stored its record: it orders grants
	Asked   Rank // of its last command, as long as no record of it was stored
	Touched Rank // the newest grant with which it has touched the resource
}

// Told applies an event of the client's own to its facts. It depends on this client alone;
// [Facts.Told] adds the servers and the other clients. live says of a grant or an extension
// whether the lease's deadline is still to come.
func (c *Client) Told(kind trace.Kind, live bool) {
	switch kind {
	case trace.KindAcquire:
		*c = Client{Acquired: c.Acquired + 1, Phase: trace.PhaseAcquire, Touched: c.Touched}
	case trace.KindGranted:
		c.Phase, c.Granted, c.Believes, c.Live, c.Extension = trace.PhaseHold, true, true, live, NoExtension
		if c.Granter == 0 { // Redis replied OK and has stored nothing: the record's expiry had passed
			c.Granter = c.Asked
		}
		c.Asked = 0
	case trace.KindExtended:
		c.Live = live && c.Believes
	case trace.KindWant, trace.KindRefused, trace.KindFailed, trace.KindReleased, trace.KindReleaseFailed, trace.KindDone:
		c.Phase = trace.PhaseIdle
	case trace.KindEnter:
		c.Phase, c.Inside = trace.PhaseWork, true
	case trace.KindLeave:
		c.Phase, c.Inside = trace.PhaseHold, false
	case trace.KindRelease:
		c.Phase, c.Believes, c.Live = trace.PhaseRelease, false, false
	case trace.KindLapse:
		c.Live = false
	case trace.KindStop:
		c.Inside = false
	case trace.KindCrash:
		*c = Client{Crashed: true, Touched: c.Touched}
	}
}

// ForgetCycle drops the facts that no rule uses between two cycles. The search does it where
// histories join. The last acquisition still counts as granted, so a late command of it is
// not ranked.
func (c *Client) ForgetCycle() {
	*c = Client{Acquired: c.Acquired, Granted: true, Live: c.Live, Touched: c.Touched}
}

// Ranks returns the set of ranks that the client refers to, one bit each.
func (c *Client) Ranks() uint32 { return 1<<c.Granter | 1<<c.Asked | 1<<c.Touched }

// Accessed applies an access to the resource that is accepted. It depends on this client alone;
// [Facts.Accessed] adds the other clients.
func (c *Client) Accessed(write bool) {
	if !write {
		c.Reading = UpToDate
	}
	c.Touched = max(c.Touched, c.Granter)
}

// CloseRanks gives the ranks that the client refers to the numbers that they have without gaps
// among all that are used, one bit each.
func (c *Client) CloseRanks(used uint32) {
	c.Granter, c.Asked, c.Touched = dense(used, c.Granter), dense(used, c.Asked), dense(used, c.Touched)
}

// current reports whether a command belongs to the acquisition that the client is in.
func (c *Client) current(n uint16) bool { return !c.Crashed && c.Acquired == n }
