package behaviour

import (
	"strconv"
	"time"

	"lockstep/sim/redis"
)

// A reading may be stored: a script writes down how long a record still lives, or a client for how
// long it has waited, and whoever finds the number later decides by it. Its reply is no reading,
// and differs in nothing else from a token's. So as soon as some number was seen to be stored that
// has followed a reading, the numbers in all replies are taken for spans.

// maxStored is the longest span in a reply that is taken for one, in milliseconds. Stamps are
// no spans: those who find them compare them with a clock of their own, so the thresholds of that
// clock are theirs. So a number that has followed true time is none that was stored.
const maxStored = int64(5 * 24 * time.Hour / time.Millisecond)

// stores keeps in mind whether a word is a number that is another after another reading.
func (f *finder) stores(word, after string) {
	n, no := strconv.ParseInt(word, 10, 64)
	m, not := strconv.ParseInt(after, 10, 64)
	f.k.storesSpans = f.k.storesSpans || no == nil && not == nil && n != m && min(n, m) >= 0 && max(n, m) <= maxStored
}

// storesAt is stores for the values of a key.
func (f *finder) storesAt(x, y *redis.Key) {
	f.stores(x.Value, y.Value)
	for i := range min(len(x.Items), len(y.Items)) {
		f.stores(x.Items[i], y.Items[i])
	}
}

// storesIn is stores for all commands in which the doings of a pair differ, which are alike: after
// two readings of a monotonic clock, or of how long a key still lives.
func (f *finder) storesIn(from uint32, after measured, p *pair) {
	kind := after.seen.Kind
	if kind == SawWall || kind == SawReply && !f.lives[f.kindOf(f.asked(from, after.thread))] {
		return
	}
	one, two := f.k.At(p.a), f.k.At(p.b)
	for i := range int(one.Count) {
		a, b := one.Threads[i].Command, two.Threads[i].Command
		if a == b {
			continue
		}
		others := unpack(*f.k.commands.Value(b))
		for n, text := range unpack(*f.k.commands.Value(a)) {
			f.stores(text, others[n])
		}
	}
}

// measures reports whether a number in the reply to a command of a kind may be a reading.
func (f *finder) measures(kind string, v int64) bool {
	return f.lives[kind] || f.tells[kind] || f.k.storesSpans && v >= 0 && v <= maxStored
}
