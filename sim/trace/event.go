package trace

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Phase is a client's place in its protocol. Scripts stop clients by it, because it means
// the same under every strategy.
type Phase uint8

// The phases, in the order in which a client passes through them.
const (
	PhaseIdle    Phase = iota // before the first Acquire, between two cycles, and at the end
	PhaseAcquire              // inside Acquire
	PhaseHold                 // granted, not yet inside the critical section; or just outside it again
	PhaseWork                 // inside the critical section
	PhaseRelease              // inside Release
	PhaseExtend               // inside Extend
)

var phaseNames = [...]string{"idle", "acquire", "hold", "work", "release", "extend"}

// String returns the phase's word in scripts.
func (p Phase) String() string { return phaseNames[p] }

// Never is the expiry of a record that does not expire.
const Never time.Duration = -1

// Record is a node's value under one key.
type Record struct {
	Value   string
	Expires time.Duration // the true instant at which it is gone, or Never
}

// Left returns the record's remaining life at a true instant, as PTTL would give it: Redis
// drops a key one millisecond after the last of its life.
func (r Record) Left(now time.Duration) time.Duration {
	return max(0, (r.Expires - now - time.Millisecond).Truncate(time.Millisecond))
}

func (r Record) text(now time.Duration) string {
	if r.Expires == Never {
		return r.Value + " (no expiry)"
	}
	return fmt.Sprintf("%s (%s left)", r.Value, Duration(r.Left(now)))
}

// Change is the change of one key of one node by one event. A nil Record is an absent key.
type Change struct {
	Key           string
	Before, After *Record
	Stored        bool // a command stored the value, even if it is the one that was there
}

func (c Change) text(now time.Duration) string {
	switch {
	case c.After == nil:
		return c.Key + " gone"
	case c.Before != nil && c.Before.Value == c.After.Value && c.Stored:
		return fmt.Sprintf("%s = %s, once more", c.Key, c.After.text(now))
	case c.Before != nil && c.Before.Value == c.After.Value && c.Before.Expires != c.After.Expires:
		return fmt.Sprintf("%s = %s, expiry moved", c.Key, c.After.text(now))
	default:
		return fmt.Sprintf("%s = %s", c.Key, c.After.text(now))
	}
}

// Effect is a command's effect on a record, as far as rules depend on it. It has no values
// and no instants, so the search can memoise it.
type Effect struct {
	Touched bool // there was any effect
	Before  bool // there was a record before
	After   bool // there is a record after
	Stored  bool // a value was stored in it
	Changed bool // its value is different
	Longer  bool // it lives longer than it would have
	Shorter bool // it lives less long than it would have
	Later   bool // its expiry is a later instant, not counting Never
}

// Effect returns the effect of the change on its key.
func (c *Change) Effect() Effect {
	e := Effect{Touched: true, Before: c.Before != nil, After: c.After != nil, Stored: c.Stored}
	if e.Before && e.After {
		e.Changed = c.Before.Value != c.After.Value
		was, is := c.Before.Expires, c.After.Expires
		e.Longer = was != Never && (is == Never || is > was)
		e.Shorter = was != is && !e.Longer
		e.Later = is > was
	}
	return e
}

// Apart returns another effect, or this one if the two are the same apart from how long the record
// lives.
func (e Effect) Apart(o Effect) Effect {
	moves := func(e Effect) bool { return !e.Touched || e.Before && e.After && !e.Stored && !e.Changed }
	same := o
	same.Longer, same.Shorter, same.Later = e.Longer, e.Shorter, e.Later
	if same == e || moves(e) && moves(o) {
		return e
	}
	return o
}

// ChangesHands reports whether the record belongs from now on to the command with this
// effect: the record is new, or a value was stored in it, even an equal one. A counter
// keeps its first owner.
func (e Effect) ChangesHands(counter bool) bool {
	return e.After && (!e.Before || (e.Stored || e.Changed) && !counter)
}

// Source is the line of code that caused an event. File is relative to the
// package, e.g. strategies/setnx.go, and empty where no strategy code was involved.
type Source struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Event is one atomic step of a run, at one true virtual instant.
//
// Invariant: events have one total order, Seq, from 1 and without gaps; At never decreases in
// that order. Nothing else breaks ties.
type Event struct {
	Seq    int
	At     time.Duration // since the start of the run, on no clock that anybody in it can read
	Kind   Kind
	Client int // index, or None
	Thread int // within the client; 0 is the main thread
	Node   int // index, or None

	Phase   Phase // of the client's thread, for sends and the events that follow from them
	Cycle   int   // the round of the client's program, from 1
	Command int   // the number of the command in its phase, from 1
	Acq     int   // the client's acquisition to which it belongs: the N of an Acquisition
	Copy    bool  // of an execution: the command had arrived before, and has no second reply
	Ref     int   // Seq of the event that this one answers (request -> execution -> reply), or None

	Args    []string // the command, for sends and executions
	Reply   string   // in the form of redis-cli
	Changes []Change
	By      time.Duration // a length or a distance; for Lapse and Granted the deadline's true instant (Never: none); for Network see HeldUp, where Never is until it is freed, and OfLink
	Token   string
	Fence   int64
	Value   int64  // the resource's value after the event; of a query and an update, the database's version
	Version int64  // the number of writes that the resource has accepted
	Note    string // an error's text, or a fault's
	Source  Source
}

// None is the index of no client, no node and no event.
const None = -1

// Probe is the name of the extra client that every run has, after all others. It does nothing
// until the script is over, and then tests whether the lock can still be had.
const Probe = "probe"

// Duration returns a span as people write it: 1.5s, 12ms, 0s.
func Duration(d time.Duration) string {
	switch {
	case d == Never:
		return "never"
	case d >= 48*time.Hour && d%(24*time.Hour) == 0:
		return strconv.FormatInt(int64(d/(24*time.Hour)), 10) + " days"
	case d >= time.Hour || d <= -time.Hour:
		return d.Round(time.Second).String()
	case d >= time.Second || d <= -time.Second:
		return strconv.FormatFloat(float64(d)/float64(time.Second), 'f', -1, 64) + "s" // one division, rounded once
	case d%time.Millisecond == 0:
		return strconv.FormatInt(int64(d/time.Millisecond), 10) + "ms"
	default:
		return d.String()
	}
}

// Instant returns a point in virtual time as text, in seconds.
func Instant(at time.Duration) string {
	return strconv.FormatFloat(at.Seconds(), 'f', 6, 64)
}

// CommandText returns a command as redis-cli would take it. A script is shortened to its
// first statement: the strategy's file has the whole script.
func CommandText(args []string) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(argText(args, i, a))
	}
	return b.String()
}

func argText(args []string, i int, a string) string {
	switch {
	case i == 0:
		return strings.ToUpper(a)
	case i == 1 && strings.EqualFold(args[0], "eval"):
		lines := strings.Split(strings.TrimSpace(a), "\n")
		if len(lines) > 1 {
			return strconv.Quote(strings.TrimSpace(lines[0]) + " ...")
		}
		return strconv.Quote(lines[0])
	case i == 1 && strings.EqualFold(args[0], "evalsha") && len(a) > 7:
		return a[:7]
	case i > 0 && isOption(a):
		return strings.ToUpper(a)
	}
	return WordText(a)
}

// WordText returns one word of a command or a reply, quoted if it could be mistaken for
// several words, or for none.
func WordText(a string) string {
	if a == "" || strings.ContainsAny(a, " \r\n\"'") || !printable(a) {
		return strconv.Quote(a)
	}
	return a
}

func isOption(a string) bool {
	switch strings.ToUpper(a) {
	case "NX", "XX", "PX", "EX", "PXAT", "EXAT", "GET", "KEEPTTL", "IFEQ":
		return true
	}
	return false
}

func printable(s string) bool {
	for _, r := range s {
		if !strconv.IsPrint(r) {
			return false
		}
	}
	return true
}
