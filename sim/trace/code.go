package trace

import "strings"

// Code names a kind of violation. Codes are ordered, worst first.
type Code uint8

// The violations. See Name and Meaning for what each says.
const (
	SW  Code = iota // stale write, lost update
	DG              // double grant
	OV              // overlapping critical sections
	FR              // foreign release
	PD              // permanent deadlock
	LV              // livelock
	GAP             // broken continuity
	FN              // false refusal
	BD              // bounded blocking
)

// Codes lists them all, worst first.
var Codes = []Code{SW, DG, OV, FR, PD, LV, GAP, FN, BD}

var codes = [...]struct{ short, named, meaning string }{
	SW:  {"SW", "a stale write", "the resource accepted a write from a client although a holder with a newer grant had already touched it, or an update was lost; or a cache went back to an older version"},
	DG:  {"DG", "a double grant", "two clients' leases on the same lock are live at one instant"},
	OV:  {"OV", "overlapping critical sections", "two clients are inside the critical section at one instant"},
	FR:  {"FR", "a foreign release", "a client's command removed, replaced, prolonged or shortened another's record while its lease was live or its Acquire under way"},
	PD:  {"PD", "a permanent deadlock", "the lock can never be acquired again though no live client holds it"},
	LV:  {"LV", "a livelock", "clients keep trying, the lock is free or split, nobody ever wins"},
	GAP: {"GAP", "broken continuity", "an extension was reported as continuous although ownership had been lost in between"},
	FN:  {"FN", "a false refusal", "a client was told that it has not got the lock while its own value was stored"},
	BD:  {"BD", "bounded blocking", "nobody alive held the lock, and yet it could not be acquired for a time"},
}

// String is the code's short name, such as DG.
func (c Code) String() string { return codes[c].short }

// Name is the violation in two or three words.
func (c Code) Name() string {
	for _, article := range [...]string{"a ", "an "} {
		if name, found := strings.CutPrefix(codes[c].named, article); found {
			return name
		}
	}
	return codes[c].named
}

// Named is the name as it stands in a sentence: "a stale write", "overlapping critical
// sections".
func (c Code) Named() string { return codes[c].named }

// Meaning is its definition in a sentence.
func (c Code) Meaning() string { return codes[c].meaning }

// Failure reports whether the code counts against a lock. Bounded blocking is
// what every lease does after a crash, and is only reported.
func (c Code) Failure() bool { return c != BD }

// ParseCode finds a code by its short name, as String gives it.
func ParseCode(s string) (Code, bool) {
	for _, c := range Codes {
		if c.String() == s {
			return c, true
		}
	}
	return 0, false
}
