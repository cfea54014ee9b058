package behaviour

import (
	"lockstep/sim/explore/alike"
	"lockstep/sim/redis"
)

// Time stops where spans end that are fixed: some constant time after an instant. A sleep for as long as something
// took ends at 2 t - s, and so does a life as long as another is old.

// lasting says how the fixed spans may change that code begins after a greater reading.
type lasting uint8

const (
	mayDoBoth lasting = iota // where it isn't known what is read; or of lives, which may end at an instant of true time
	getsLonger
	getsShorter
)

// begins notes how spans may change after a reading, the last of a monotonic clock before them.
func (f *finder) begins(from uint32, m measured) {
	f.lasts, f.reads = mayDoBoth, f.readings(from)
	switch {
	case m.seen.Kind == SawMono || m.seen.Kind == SawMonoLapsed:
		f.lasts, f.reads = getsShorter, f.reads+1
	case m.seen.Kind == SawReply && alike.ToldBy(f.kindOf(f.asked(from, m.thread))) != alike.ToldOtherwise:
		f.lasts = getsLonger
	}
}

// lasts is the same for an aspect of a snapshot.
func (a aspectKind) lasts() lasting { return [...]lasting{getsShorter, getsLonger, mayDoBoth}[a] }

// grows reports whether a span that is longer by so much has no fixed end. If the clock is read again, it may have one.
func (f *finder) grows(by int64) bool {
	return (f.lasts == getsLonger && by < 0 || f.lasts == getsShorter && by > 0) && f.found.Measured == "" && (f.at == 0 || f.readings(f.at) == f.reads)
}

// sleeps looks at a thread's sleep, which is longer by so much after a greater reading.
func (f *finder) sleeps(thread int, by int64) {
	if f.grows(by) {
		f.found.Measured = "the lock sleeps" + at(f.k.lineBy(f.at, thread)) + " for a time that it has measured, which ends at no fixed time after any step: a search stops where fixed spans end; let the lock sleep for a constant, or until an instant"
	}
}

// given looks at a key's life, which is longer by so much after a greater reading.
func (f *finder) given(key *redis.Key, by int64) {
	if key.Left != redis.Immortal && f.grows(by) {
		f.found.Measured = "the lock gives " + key.Name + " a life that it has measured, which ends at no fixed time after any step: a search stops where fixed spans end; give it a constant one, or let it end with another"
	}
}
