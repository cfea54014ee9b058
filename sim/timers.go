package sim

import "time"

// timerKind is the kind of a timer, and orders timers that are due at one instant: ends
// come before arrivals. Threads wake after both. A thread keeps its own time of waking
// (thread.due), because most waits for a reply end long before it.
type timerKind uint8

const (
	timerLapse     timerKind = iota // a lease's deadline on its holder's clock
	timerRequest                    // a request reaches its node
	timerReplicate                  // a write reaches a replica
	timerAck                        // a replica's acknowledgement reaches its master
	timerGiveUp                     // a command that blocks has waited long enough
	timerReply                      // a reply reaches its client
)

// timer is something that will happen at a known instant. It is dead if its
// subject has moved on: gen is compared with the subject's own.
type timer struct {
	at   time.Duration
	kind timerKind
	seq  uint64
	gen  uint32
	msg  *message
	cl   *client
	copy *replicatedWrite
}

func (a *timer) before(b *timer) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	if a.kind != b.kind {
		return a.kind < b.kind
	}
	return a.seq < b.seq
}

// timerQueue is a binary heap in (at, kind, seq) order: a total order, so that
// equal instants never depend on how the heap happens to be laid out. It is not
// container/heap because that boxes every element.
type timerQueue struct {
	items []timer
	seq   uint64
}

func (q *timerQueue) reset() { q.items, q.seq = q.items[:0], 0 }

func (q *timerQueue) push(t timer) {
	q.seq++
	t.seq = q.seq
	q.items = append(q.items, t)
	i := len(q.items) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !q.items[i].before(&q.items[parent]) {
			break
		}
		q.items[i], q.items[parent] = q.items[parent], q.items[i]
		i = parent
	}
}

func (q *timerQueue) pop() timer {
	top := q.items[0]
	last := len(q.items) - 1
	if last > 0 {
		q.items[0] = q.items[last]
	}
	q.items = q.items[:last]
	q.sink(0)
	return top
}

func (q *timerQueue) sink(i int) {
	for {
		least := 2*i + 1
		if right := least + 1; right < len(q.items) && q.items[right].before(&q.items[least]) {
			least = right
		}
		if least >= len(q.items) || !q.items[least].before(&q.items[i]) {
			return
		}
		q.items[i], q.items[least] = q.items[least], q.items[i]
		i = least
	}
}
