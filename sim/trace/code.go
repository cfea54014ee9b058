package trace

import "strings"

// Code names a kind of violation. Codes are ordered, worst first.
type Code uint8

// The violations. See [Code.Meaning] for their definitions.
const (
	SW  Code = iota // stale write, lost update
	DG              // double grant
	OV              // overlapping critical sections
	FR              // foreign release
	PD              // permanent deadlock
	LV              // livelock
	GAP             // broken continuity
	FN              // false refusal
	UA              // unavailability
	BD              // bounded blocking
	DN              // outage
)

// Codes lists all codes, worst first.
var Codes = []Code{SW, DG, OV, FR, PD, LV, GAP, FN, UA, BD, DN}

// Harm is the effect of a violation on those who use the lock, in the order of how bad it is.
type Harm uint8

const (
	Delays  Harm = iota + 1 // somebody is kept waiting or turned away
	Blocks                  // nobody ever gets the lock again
	Shares                  // two have the lock at once, or one loses it unnoticed
	Damages                 // an update is lost, or stored too late
)

// reported are codes that don't count against a lock: see [Code.Failure].
const reported = true

var codes = [...]struct {
	short, named, meaning string
	harm                  Harm
	reported              bool
}{
	SW:  {"SW", "a stale write", "the resource accepted a write from a client although a holder with a newer grant had already touched it, or an update was lost; or a cache went back to an older version", Damages, !reported},
	DG:  {"DG", "a double grant", "two clients' leases on the same lock are live at one instant", Shares, !reported},
	OV:  {"OV", "overlapping critical sections", "two clients are inside the critical section at one instant", Shares, !reported},
	FR:  {"FR", "a foreign release", "a client's command removed, replaced, prolonged or shortened another's record while its lease was live or its Acquire under way", Shares, !reported},
	PD:  {"PD", "a permanent deadlock", "the lock can never be acquired again though no live client holds it", Blocks, !reported},
	LV:  {"LV", "a livelock", "clients keep trying, the lock is free or split, nobody ever wins", Blocks, !reported},
	GAP: {"GAP", "broken continuity", "an extension was reported as continuous although ownership had been lost in between", Shares, !reported},
	FN:  {"FN", "a false refusal", "a client was refused the lock, got an error or gave up waiting, while its own value was stored: it goes without, and the value can keep others out", Delays, !reported},
	UA:  {"UA", "unavailability", "nobody holds the lock, most of its servers are up, and yet nobody can have it", Delays, reported},
	BD:  {"BD", "bounded blocking", "nobody alive held the lock, and yet it could not be acquired for a time", Delays, reported},
	DN:  {"DN", "an outage", "nobody can have the lock because too few of its servers are up, which it never promised to survive", Delays, reported},
}

// String returns the code's short name, such as DG.
func (c Code) String() string { return codes[c].short }

// Name returns the violation in two or three words.
func (c Code) Name() string {
	for _, article := range [...]string{"a ", "an "} {
		if name, found := strings.CutPrefix(codes[c].named, article); found {
			return name
		}
	}
	return codes[c].named
}

// Named returns the name as a sentence has it: "a stale write", "overlapping critical
// sections".
func (c Code) Named() string { return codes[c].named }

// Meaning returns the violation's definition in a sentence.
func (c Code) Meaning() string { return codes[c].meaning }

// Failure reports whether the code counts against a lock. The others are only reported: every
// lease causes bounded blocking after a crash, every lock ends with the last of its servers,
// and a lock that nobody can have does no harm to its resource.
func (c Code) Failure() bool { return !codes[c].reported }

// Harm returns the effect of the violation on those who use the lock.
func (c Code) Harm() Harm { return codes[c].harm }

// ParseCode finds a code by its short name, the inverse of String. It returns false for an
// unknown name.
func ParseCode(s string) (Code, bool) {
	for _, c := range Codes {
		if c.String() == s {
			return c, true
		}
	}
	return 0, false
}

// CodeSet is a set of violations, to be added to quickly.
type CodeSet uint16

// SetOf returns the set of some codes.
func SetOf(codes ...Code) (cs CodeSet) {
	for _, c := range codes {
		cs |= 1 << c
	}
	return cs
}

// Has reports whether a code is in the set.
func (cs CodeSet) Has(c Code) bool { return cs>>c&1 != 0 }

// String lists them, worst first.
func (cs CodeSet) String() string { return cs.Verdict().String() }

// Verdict lists the codes of the set, worst first.
func (cs CodeSet) Verdict() (v Verdict) {
	for _, c := range Codes {
		if cs.Has(c) {
			v = append(v, c)
		}
	}
	return v
}
