package behaviour

import (
	"lockstep/sim/explore/alike"
	"lockstep/sim/redis"
)

// Time stops where spans end that are fixed: they end some constant time after an instant. So a sleep may get
// shorter with a later reading of a clock, and longer with a life that is left. A sleep for as long as something
// took ends at 2 t - s, though, and so does a life as long as another is old: where that comes between two
// other ends, none of the instants at which time stops may be.

// lasting is what may become of the spans that code begins after a greater reading.
type lasting uint8

const (
	mayDoBoth lasting = iota // where it isn't known what is read; or of lives, which may end at an instant of true time
	getsLonger
	getsShorter
)

// lastsAfter returns what may become of spans after a reading.
func (f *finder) lastsAfter(from uint32, m measured) lasting {
	switch {
	case m.seen.Kind == SawMono || m.seen.Kind == SawMonoLapsed:
		return getsShorter
	case m.seen.Kind == SawReply && alike.ToldBy(f.kindOf(f.asked(from, m.thread))) != alike.ToldOtherwise:
		return getsLonger
	}
	return mayDoBoth
}

// lasts is the same for an aspect of a snapshot.
func (a aspectKind) lasts() lasting { return [...]lasting{getsShorter, getsLonger, mayDoBoth}[a] }

// grows reports whether a span that has become longer by so much, after a greater reading, has no end that is
// a constant time after some instant.
func (l lasting) grows(by int64) bool { return l == getsLonger && by < 0 || l == getsShorter && by > 0 }

// sleeps looks at a sleep of a thread at a history, which is longer by so much after a greater reading.
func (f *finder) sleeps(id uint32, thread int, by int64) {
	if f.lasts.grows(by) && f.found.Measured == "" {
		f.found.Measured = "the lock sleeps" + at(f.k.lineBy(id, thread)) + " for a time that it has measured, which ends at no fixed time after any step: a search stops where fixed spans end; let the lock sleep for a constant, or until an instant"
	}
}

// given looks at a key's life, which is longer by so much after a greater reading.
func (f *finder) given(key *redis.Key, by int64) {
	if f.lasts.grows(by) && key.Left != redis.Immortal && f.found.Measured == "" {
		f.found.Measured = "the lock gives " + key.Name + " a life that it has measured, which ends at no fixed time after any step: a search stops where fixed spans end; give it a constant one, or let it end with another"
	}
}
