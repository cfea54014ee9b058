package behaviour

import (
	"fmt"
	"strconv"
	"strings"

	"lockstep/sim/explore/alike"
	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/readings"
	"lockstep/sim/redis"
)

// A reading may be stored: a script writes down how long a record still lives, or a client for how long it has waited, and
// a client that finds the number later decides by it. Its reply is no reading, and differs in nothing else from a token's. So as soon
// as some number was seen to be stored that has followed a reading, the numbers in all replies are taken for spans.

// stores keeps in mind whether a text has a number that is another after another reading.
func (f *finder) stores(text, after string) {
	if f.k.storesSpans || text == after {
		return
	}
	one, two := readings.Numbers(text, f.k.tokens.At), readings.Numbers(after, f.k.tokens.At)
	for i := range min(len(one), len(two)) {
		f.k.storesSpans = f.k.storesSpans || one[i].Value != two[i].Value
	}
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
		others := intern.Unpack(*f.k.commands.Value(b))
		for n, text := range intern.Unpack(*f.k.commands.Value(a)) {
			f.stores(text, others[n])
		}
	}
}

// echoed returns a client's observation in the history b where it observes seen in a, if it reads a number that it has sent,
// which was another one in b: not of a command that was refused, and if numbers become no longer.
func (f *finder) echoed(seen Observation, a, b uint32) Observation {
	if seen.Kind != SawReply {
		return seen
	}
	var sent alike.Echoes
	for ; a != b && a != 0 && b != 0; a, b = f.k.At(a).parent, f.k.At(b).parent {
		h := f.k.At(a)
		one, two := f.asked(h.parent, h.thread), f.asked(f.k.At(b).parent, h.thread)
		if h.seen.Kind == SawReply && one != two && one != 0 && two != 0 && !readings.Refuses(*f.k.Replies.Value(uint32(h.seen.Value))) {
			sent.Sent(intern.Unpack(*f.k.commands.Value(one)), intern.Unpack(*f.k.commands.Value(two)))
		}
	}
	text := *f.k.Replies.Value(uint32(seen.Value))
	if other := sent.In(text); other != text && len(other) == len(text) {
		seen.Value = int64(f.k.Replies.ID(other))
	}
	return seen
}

// measures reports whether a number in the reply to a command of a kind may be a reading.
func (f *finder) measures(kind string, v int64) bool {
	return f.lives[kind] || f.tells[kind] || f.k.storesSpans && v >= 0 && v <= readings.MaxStored
}

// readingsIn lists the numbers in a line of the reply to a command of a kind that may be readings.
func (f *finder) readingsIn(kind string, lines []string, i int) []readings.Number {
	if !readings.Payload(lines, i) {
		return nil
	}
	begin := len(lines[i]) - len(strings.TrimPrefix(lines[i], ":"))
	switch v, err := strconv.ParseInt(lines[i][begin:], 10, 64); {
	case err == nil && f.measures(kind, v):
		return []readings.Number{{From: begin, To: len(lines[i]), Value: v}}
	case err != nil && (f.k.storesSpans || f.lives[kind]) && begin == 0:
		return readings.Numbers(lines[i], f.k.tokens.At)
	}
	return nil
}

// spansOf returns the list of thresholds of the numbers in replies to commands of a kind.
func (f *finder) spansOf(kind string) *[]int64 {
	switch told := alike.ToldBy(kind); {
	case !f.lives[kind]:
		return &f.found.Stored
	case told == alike.ToldSeconds:
		return &f.found.Rounded
	case told == alike.ToldMillis:
		return &f.found.Millis
	}
	return &f.found.Replies
}

// storedAtServers compares the answers of servers on snapshots that differ in a number which was
// stored: a script, too, may decide by it.
func (f *finder) storedAtServers() error {
	if !f.k.storesSpans {
		return nil
	}
	groups := map[string][]asked{}
	var order []string
	for n := uint32(1); n <= uint32(f.s.answers.Len()); n++ {
		e := f.s.answers.Entries.At(n)
		snap := *f.s.Snapshot(e.Key.Snapshot)
		for _, q := range f.k.storedIn(e.Key, snap) {
			id := fmt.Sprintf("%d %d %v %#v", q.q.Conn, q.q.Command, q.of, f.varied(snap, q.of, 0))
			if len(groups[id]) == 0 {
				order = append(order, id)
			}
			groups[id] = append(groups[id], q)
		}
	}
	return f.bisectServers(groups, order)
}

// storedIn lists the numbers in the texts of keys on which a question was asked. The names of keys have none.
func (k *Clients) storedIn(q Question, snap redis.Snapshot) (list []asked) {
	for i, key := range snap.Keys {
		texts := 0
		key.Renamed(func(text string) string {
			if texts++; texts > 1 {
				for nth, n := range readings.Numbers(text, k.tokens.At) {
					list = append(list, asked{q, n.Value, aspect{ofStored, i, texts, nth}})
				}
			}
			return text
		})
	}
	return list
}

// withStored returns a key with another number in one of its texts.
func (k *Clients) withStored(key redis.Key, of aspect, v int64) redis.Key {
	texts := 0
	return key.Renamed(func(text string) string {
		if texts++; texts == of.text {
			return readings.Numbers(text, k.tokens.At)[of.nth].Replaced(text, strconv.FormatInt(v, 10))
		}
		return text
	})
}
